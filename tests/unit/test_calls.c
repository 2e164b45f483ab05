/* calls_build(): API calls by name, and the way from a launch call to the GPU. */
#include "cmocka_all.h"
#include "make_report.h"

static const struct call_row *row_of(const struct report *report, const char *name)
{
    vec_each (&report->calls, row) {
        if (strcmp(run_text(report->run, row->name), name) == 0)
            return row;
    }
    fail_msg("no row for %s", name);
    return NULL;
}

static void calls_are_tabled_by_name(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_launch(&m, "k", 0, 5, 10, 20);
    make_launch(&m, "k", 30, 39, 50, 60);
    make_span(&m.run, m.thread, SPAN_API, "cudaDeviceSynchronize", 40, 70, 0);
    make_span(&m.run, m.thread, SPAN_OP, "aten::mm", 0, 100, 0);
    make_report(&report, &m.run);
    calls_build(&report);
    assert_int_equal(report.calls.count, 2); /* operators are no calls */
    assert_string_equal(run_text(&m.run, report.calls.at[0].name), "cudaDeviceSynchronize");
    assert_int_equal(report.calls.at[0].launched_ops, 0);
    const struct call_row *launch = row_of(&report, "cudaLaunchKernel");
    assert_int_equal(launch->count, 2);
    assert_int_equal(launch->total_ns, 14);
    assert_int_equal(launch->min_ns, 5);
    assert_int_equal(launch->median_ns, 7);
    assert_int_equal(launch->max_ns, 9);
    assert_int_equal(launch->launched_ops, 2);
    report_release(&report);
    run_release(&m.run);
}

static void delay_counts_from_the_end_of_the_call_and_is_never_negative(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_launch(&m, "k", 0, 10, 15, 20);
    make_launch(&m, "k", 100, 110, 105, 120); /* starts inside its call */
    make_launch(&m, "k", 200, 210, 255, 265);
    make_kernel(&m.run, m.stream, "orphan", 300, 310, 0);
    make_report(&report, &m.run);
    calls_build(&report);
    const struct launch_stats *stats = &report.launches;
    assert_int_equal(stats->launches, 3);
    assert_int_equal(stats->call_total_ns, 30);
    assert_int_equal(stats->call_median_ns, 10);
    assert_int_equal(stats->delay_count, 3);
    assert_int_equal(stats->delay_total_ns, 50);
    assert_int_equal(stats->delay_median_ns, 5);
    assert_int_equal(stats->delay_max_ns, 45);
    assert_int_equal(stats->delay_p95_ns, 41); /* nine tenths of the way from 5 to 45 */
    assert_int_equal(stats->delay_own_stream_ns, 0);
    assert_int_equal(stats->delay_hardware_ns, 50);
    assert_true(near(stats->launches_per_s, 3e9 / 310));
    report_release(&report);
    run_release(&m.run);
}

static void waiting_behind_the_own_stream_is_told_from_the_rest(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t other = run_stream(&m.run, m.process, m.device, 1, 8);
    make_launch(&m, "first", 0, 10, 20, 100);
    make_kernel(&m.run, other, "elsewhere", 0, 1000, 0);
    make_kernel(&m.run, m.stream, "beside", 90, 110, 0); /* overlaps the first on its stream */
    make_launch(&m, "second", 30, 40, 150, 200);         /* 40–150: own stream busy 40–110 */
    make_report(&report, &m.run);
    calls_build(&report);
    assert_int_equal(report.launches.delay_total_ns, 10 + 110);
    assert_int_equal(report.launches.delay_own_stream_ns, 70);
    assert_int_equal(report.launches.delay_hardware_ns, 10 + 40);
    report_release(&report);
    run_release(&m.run);
}

static void the_floor_comes_from_launches_into_an_idle_device(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_launch(&m, "k", 0, 5, 8, 100);
    make_launch(&m, "k", 90, 95, 100, 110); /* the device was busy when it was called */
    make_launch(&m, "k", 200, 205, 212, 300);
    make_launch(&m, "k", 400, 405, 410, 420);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1, 501, 510, 99);
    make_span(&m.run, m.thread, SPAN_API, "cudaMemcpyAsync", 500, 520, 99); /* copies are no launches */
    make_report(&report, &m.run);
    calls_build(&report);
    assert_int_equal(report.launches.floor_ns, 8); /* of 8, 10, 12 the 5th percentile is 8.2 */
    report_release(&report);
    run_release(&m.run);
}

static void no_idle_launch_means_no_floor(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_launch(&m, "k", 10, 20, 100, 200);
    make_report(&report, &m.run);
    calls_build(&report);
    assert_true(report.launches.floor_ns == UNKNOWN);
    report_release(&report);
    run_release(&m.run);
}

static void one_call_that_starts_many_ops_is_one_launch(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", 0, 30, 5);
    make_kernel(&m.run, m.stream, "node", 40, 50, 5);
    make_kernel(&m.run, m.stream, "node", 50, 90, 5);
    make_copy(&m.run, m.stream, COPY_D2D, MEM_DEVICE, MEM_DEVICE, 8, 90, 95, 5);
    make_report(&report, &m.run);
    calls_build(&report);
    assert_int_equal(report.launches.launches, 1);
    assert_int_equal(report.launches.delay_count, 3);
    assert_int_equal(report.launches.call_total_ns, 30);
    assert_int_equal(row_of(&report, "cudaGraphLaunch")->launched_ops, 3);
    assert_int_equal(report.launches.shorter_than_call, 1); /* 10 < 30; the copy is no kernel */
    assert_int_equal(report.launches.floor_ns, 40);
    report_release(&report);
    run_release(&m.run);
}

static void a_window_keeps_calls_and_ops_inside_it(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_launch(&m, "k", 0, 10, 20, 90);
    make_launch(&m, "k", 30, 40, 100, 190); /* called before the window, runs inside it */
    make_launch(&m, "k", 130, 150, 200, 220);
    make_launch(&m, "k", 300, 310, 320, 330);
    make_narrow_report(&report, &m.run, 140, 250);
    calls_build(&report);
    const struct call_row *launch = row_of(&report, "cudaLaunchKernel");
    assert_int_equal(launch->count, 1);
    assert_int_equal(launch->total_ns, 10);
    assert_int_equal(report.launches.launches, 2);
    assert_int_equal(report.launches.delay_total_ns, 60 + 50);
    assert_int_equal(report.launches.delay_own_stream_ns, 50 + 40); /* what ran before the window counts */
    report_release(&report);
    run_release(&m.run);
}

static void a_run_without_calls_has_unknown_times_not_zeros(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_report(&report, &m.run);
    calls_build(&report);
    assert_int_equal(report.calls.count, 0);
    assert_int_equal(report.launches.launches, 0);
    assert_true(report.launches.call_median_ns == UNKNOWN);
    assert_true(report.launches.delay_median_ns == UNKNOWN);
    assert_true(report.launches.delay_max_ns == UNKNOWN);
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_tabled_by_name),
        cmocka_unit_test(delay_counts_from_the_end_of_the_call_and_is_never_negative),
        cmocka_unit_test(waiting_behind_the_own_stream_is_told_from_the_rest),
        cmocka_unit_test(the_floor_comes_from_launches_into_an_idle_device),
        cmocka_unit_test(no_idle_launch_means_no_floor),
        cmocka_unit_test(one_call_that_starts_many_ops_is_one_launch),
        cmocka_unit_test(a_window_keeps_calls_and_ops_inside_it),
        cmocka_unit_test(a_run_without_calls_has_unknown_times_not_zeros),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
