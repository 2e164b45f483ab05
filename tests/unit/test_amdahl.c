/* amdahl_build(): bounds from the ledger. */
#include "cmocka_all.h"
#include "make_report.h"

static void parts_sum_to_wall_and_bounds_follow(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 400, 0);
    make_kernel(&m.run, m.stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 400, 500, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1, 500, 600, 0);
    make_kernel(&m.run, m.stream, "k", 800, 1000, 0);
    make_report(&report, &m.run);
    amdahl_build(&report);
    assert_int_equal(report.amdahl.count, 1);
    const struct amdahl_report *row = &report.amdahl.at[0];
    assert_int_equal(row->wall_ns, 1000);
    assert_int_equal(row->gpu_ns, 600);
    assert_int_equal(row->comm_ns, 100);
    assert_int_equal(row->host_only_ns, 300); /* 200 idle, 100 exposed copy */
    assert_true(near(row->speedup_gpu_twice, 1000.0 / 700));
    assert_true(near(row->speedup_gpu_infinite, 1000.0 / 400));
    assert_true(near(row->speedup_second_gpu, 1000.0 / 700));
    report_release(&report);
    run_release(&m.run);
}

static void hidden_communication_counts_as_gpu_time(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t other = run_stream(&m.run, m.process, m.device, 1, 8);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, other, "ncclDevKernel_AllGather_RING_LL", 50, 120, 0);
    make_report(&report, &m.run);
    amdahl_build(&report);
    assert_int_equal(report.amdahl.at[0].gpu_ns, 100);
    assert_int_equal(report.amdahl.at[0].comm_ns, 20);
    assert_int_equal(report.amdahl.at[0].host_only_ns, 0);
    report_release(&report);
    run_release(&m.run);
}

static void a_gpu_that_never_waits_has_no_bound(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_report(&report, &m.run);
    amdahl_build(&report);
    assert_true(isinf(report.amdahl.at[0].speedup_gpu_infinite));
    assert_true(near(report.amdahl.at[0].speedup_gpu_twice, 2.0));
    report_release(&report);
    run_release(&m.run);
}

static void an_empty_window_has_no_speedup(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 50, 50, 0);
    make_report(&report, &m.run);
    amdahl_build(&report);
    assert_int_equal(report.amdahl.at[0].wall_ns, 0);
    assert_true(isnan(report.amdahl.at[0].speedup_gpu_twice));
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_to_wall_and_bounds_follow),
        cmocka_unit_test(hidden_communication_counts_as_gpu_time),
        cmocka_unit_test(a_gpu_that_never_waits_has_no_bound),
        cmocka_unit_test(an_empty_window_has_no_speedup),
    };
    return cmocka_run_group_tests_name("amdahl", tests, NULL, NULL);
}
