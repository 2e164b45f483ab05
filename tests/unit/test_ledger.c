/* The ledger: every nanosecond in exactly one account, Σ = wall. */
#include "cmocka_all.h"
#include "make_run.h"

#include "analyze/analyze.h"

static void build(struct report *report, struct make_run *m, const struct report_options *options)
{
    run_seal(&m->run);
    *report = (struct report){.run = &m->run};
    ledger_build(report, options);
    vec_each (&report->devices, ledger) {
        int64_t sum = 0;
        for (int a = 0; a < ACCOUNT_BUSY_COUNT; a++)
            sum += ledger->ledger_ns[a];
        assert_int_equal(sum, ledger->busy_ns);
        vec_each (&report->gaps, gap) {
            if (gap->device == ledger->device)
                sum += gap->end - gap->start;
        }
        assert_int_equal(sum, ledger->wall_ns);
    }
}

static void accounts_tell_overlap_from_exposed_time(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t side = run_stream(&m.run, m.process, m.device, 1, 8);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_copy(&m.run, side, COPY_H2D, MEM_PINNED, MEM_DEVICE, 10, 50, 150, 0);
    make_kernel(&m.run, side, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 300, 0);
    make_kernel(&m.run, m.stream, "k", 250, 270, 0);
    struct report report;
    build(&report, &m, NULL);
    const struct device_report *ledger = &report.devices.at[0];
    assert_int_equal(ledger->wall_ns, 300);
    assert_int_equal(ledger->ledger_ns[ACCOUNT_COMPUTE], 50);
    assert_int_equal(ledger->ledger_ns[ACCOUNT_COMPUTE_COPY], 50);
    assert_int_equal(ledger->ledger_ns[ACCOUNT_COPY], 50);
    assert_int_equal(ledger->ledger_ns[ACCOUNT_COMM], 80);
    assert_int_equal(ledger->ledger_ns[ACCOUNT_COMPUTE_COMM], 20);
    assert_int_equal(ledger->gap_count, 1);
    assert_int_equal(report.gaps.at[0].start, 150);
    assert_int_equal(report.gaps.at[0].end, 200);
    report_release(&report);
    run_release(&m.run);
}

static void overlapping_ops_of_one_stream_are_counted_once(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "long", 0, 100, 0);
    make_kernel(&m.run, m.stream, "inside", 10, 20, 0);
    make_kernel(&m.run, m.stream, "inside", 90, 120, 0);
    struct report report;
    build(&report, &m, NULL);
    assert_int_equal(report.devices.at[0].busy_ns, 120);
    assert_int_equal(report.devices.at[0].op_sum_ns, 140);
    assert_int_equal(report.gaps.count, 0);
    report_release(&report);
    run_release(&m.run);
}

static void the_window_is_all_that_was_recorded(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_OP, "before", -50, -10, 0);
    make_kernel(&m.run, m.stream, "k", 0, 10, 0);
    make_span(&m.run, m.thread, SPAN_OP, "after", 20, 40, 0);
    struct report report;
    build(&report, &m, NULL);
    assert_int_equal(report.devices.at[0].wall_ns, 90);
    assert_int_equal(report.gaps.count, 2);
    assert_int_equal(report.gaps.at[1].next_op, NONE);
    report_release(&report);
    run_release(&m.run);
}

static void a_chosen_window_clips_ops_and_gaps(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, m.stream, "k", 200, 300, 0);
    struct report_options options = {.has_from = true, .from_ns = 50, .has_to = true, .to_ns = 210};
    struct report report;
    build(&report, &m, &options);
    assert_true(report.narrowed);
    assert_int_equal(report.devices.at[0].wall_ns, 160);
    assert_int_equal(report.devices.at[0].busy_ns, 60);
    report_release(&report);
    run_release(&m.run);
}

static void a_window_without_overlap_is_empty_not_negative(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    struct report_options options = {.has_from = true, .from_ns = 500, .has_to = true, .to_ns = 400};
    struct report report;
    build(&report, &m, &options);
    assert_int_equal(report.devices.at[0].wall_ns, 0);
    report_release(&report);
    run_release(&m.run);
}

static void a_graph_launch_timed_as_one_is_busy(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_op(&m.run, m.stream, OP_GRAPH, "graph", 0, 100, 0);
    struct report report;
    build(&report, &m, NULL);
    assert_int_equal(report.devices.at[0].ledger_ns[ACCOUNT_COMPUTE], 100);
    report_release(&report);
    run_release(&m.run);
}

static void zero_length_ops_count_but_take_no_time(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 10, 10, 0);
    make_kernel(&m.run, m.stream, "k", 0, 5, 0);
    struct report report;
    build(&report, &m, NULL);
    assert_int_equal(report.devices.at[0].op_count, 2);
    assert_int_equal(report.devices.at[0].busy_ns, 5);
    assert_int_equal(report.devices.at[0].wall_ns, 10);
    report_release(&report);
    run_release(&m.run);
}

static void a_run_without_devices_has_no_ledger(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_OP, "op", 5, 25, 0);
    struct report report;
    build(&report, &m, NULL);
    assert_int_equal(report.devices.count, 0);
    assert_int_equal(report.window.end - report.window.start, 20);
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_tell_overlap_from_exposed_time),
        cmocka_unit_test(overlapping_ops_of_one_stream_are_counted_once),
        cmocka_unit_test(the_window_is_all_that_was_recorded),
        cmocka_unit_test(a_chosen_window_clips_ops_and_gaps),
        cmocka_unit_test(a_window_without_overlap_is_empty_not_negative),
        cmocka_unit_test(a_graph_launch_timed_as_one_is_busy),
        cmocka_unit_test(zero_length_ops_count_but_take_no_time),
        cmocka_unit_test(a_run_without_devices_has_no_ledger),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
