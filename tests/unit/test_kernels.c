/* kernels_build(): the table of kernels. */
#include "cmocka_all.h"
#include "make_report.h"

static uint32_t shaped(struct run *run, uint32_t stream, const char *name, int64_t start, int64_t end,
                       uint32_t blocks)
{
    uint32_t op = make_kernel(run, stream, name, start, end, 0);
    run->ops.shape[op] = run_shape(run, &(struct shape){.grid = {blocks, 1, 1},
                                                        .block = {256, 1, 1},
                                                        .regs_per_thread = 64,
                                                        .occupancy_percent = -1});
    return op;
}

static const struct kernel_row *row_of(const struct report *report, const char *name)
{
    vec_each (&report->kernels, row) {
        if (strcmp(run_text(report->run, row->name), name) == 0)
            return row;
    }
    fail_msg("no row for %s", name);
    return NULL;
}

static void rows_are_exact_and_sorted_by_total(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "b", 0, 10, 0);
    make_kernel(&m.run, m.stream, "a", 20, 60, 0);
    make_kernel(&m.run, m.stream, "b", 100, 130, 0);
    make_kernel(&m.run, m.stream, "b", 140, 144, 0);
    make_kernel(&m.run, m.stream, "b", 150, 155, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1, 160, 200, 0);
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_int_equal(report.kernels.count, 2);
    const struct kernel_row *b = &report.kernels.at[0], *a = &report.kernels.at[1];
    assert_string_equal(run_text(&m.run, b->name), "b");
    assert_int_equal(b->count, 4);
    assert_int_equal(b->total_ns, 49);
    assert_int_equal(b->min_ns, 4);
    assert_int_equal(b->median_ns, 8); /* between 5 and 10, half up */
    assert_int_equal(b->max_ns, 30);
    assert_int_equal(a->median_ns, 40);
    assert_true(near(b->busy_share_ratio, 49.0 / 129.0));
    assert_true(isnan(a->occupancy_ratio) && isnan(a->sm_fill_ratio));
    assert_int_equal(a->shape, NONE);
    assert_int_equal(a->shape_count, 0);
    report_release(&report);
    run_release(&m.run);
}

static void overlapping_kernels_of_one_stream_all_count(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, m.stream, "k", 50, 150, 0);
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_int_equal(report.kernels.at[0].total_ns, 200);
    assert_int_equal(report.kernels.at[0].covered_ns, 150); /* they overlap */
    assert_true(near(report.kernels.at[0].busy_share_ratio, 1.0));
    report_release(&report);
    run_release(&m.run);
}

static void kernels_without_length_count(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 10, 10, 0);
    make_kernel(&m.run, m.stream, "k", 20, 30, 0);
    make_kernel(&m.run, m.stream, "k", 40, 40, 0);
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_int_equal(report.kernels.at[0].count, 3);
    assert_int_equal(report.kernels.at[0].total_ns, 10);
    assert_int_equal(report.kernels.at[0].min_ns, 0);
    assert_int_equal(report.kernels.at[0].median_ns, 0);
    report_release(&report);
    run_release(&m.run);
}

static void a_window_clips_kernels(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, m.stream, "k", 100, 200, 0);
    make_kernel(&m.run, m.stream, "k", 200, 300, 0);
    make_kernel(&m.run, m.stream, "gone", 300, 400, 0);
    make_narrow_report(&report, &m.run, 40, 210);
    kernels_build(&report);
    assert_int_equal(report.kernels.count, 1);
    assert_int_equal(report.kernels.at[0].count, 3);
    assert_int_equal(report.kernels.at[0].total_ns, 170);
    assert_int_equal(report.kernels.at[0].min_ns, 10);
    assert_true(near(report.kernels.at[0].busy_share_ratio, 1.0));
    report_release(&report);
    run_release(&m.run);
}

static void sm_coverage_is_weighted_by_time(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    m.run.devices.at[m.device].sm_count = 100;
    shaped(&m.run, m.stream, "k", 0, 300, 10);       /* a tenth of the SMs */
    shaped(&m.run, m.stream, "k", 300, 400, 50);     /* half */
    shaped(&m.run, m.stream, "k", 400, 500, 5000);   /* all */
    make_kernel(&m.run, m.stream, "k", 500, 900, 0); /* nobody knows */
    make_report(&report, &m.run);
    kernels_build(&report);
    const struct kernel_row *row = row_of(&report, "k");
    assert_true(near(row->sm_fill_ratio, (300 * 0.1 + 100 * 0.5 + 100 * 1.0) / 500));
    assert_int_equal(row->shape_count, 3);
    report_release(&report);
    run_release(&m.run);
}

static void the_most_frequent_shape_speaks_for_the_kernel(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    m.run.devices.at[m.device].cc_major = 9;
    m.run.devices.at[m.device].sm_count = 132;
    shaped(&m.run, m.stream, "k", 0, 1000, 1);
    shaped(&m.run, m.stream, "k", 1000, 1001, 77);
    shaped(&m.run, m.stream, "k", 1001, 1002, 77);
    shaped(&m.run, m.stream, "other", 1002, 1003, 5);
    make_report(&report, &m.run);
    kernels_build(&report);
    const struct kernel_row *row = row_of(&report, "k");
    assert_int_equal(m.run.shapes.at[row->shape].grid[0], 77);
    assert_int_equal(row->shape_count, 2);
    assert_true(near(row->occupancy_ratio, 0.5)); /* 256 threads of 64 registers on 9.0 */
    assert_int_equal(row_of(&report, "other")->shape_count, 1);
    report_release(&report);
    run_release(&m.run);
}

static void devices_share_the_rows_but_not_the_coverage(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t second = run_device(&m.run, m.source, 1);
    uint32_t stream = run_stream(&m.run, m.process, second, 1, 7);
    m.run.devices.at[m.device].sm_count = 10;
    m.run.devices.at[second].sm_count = 20;
    shaped(&m.run, m.stream, "k", 0, 100, 10);
    shaped(&m.run, stream, "k", 0, 100, 10);
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_int_equal(report.kernels.count, 1);
    assert_int_equal(report.kernels.at[0].count, 2);
    assert_true(near(report.kernels.at[0].busy_share_ratio, 1.0));
    assert_true(near(report.kernels.at[0].sm_fill_ratio, 0.75));
    report_release(&report);
    run_release(&m.run);
}

static void names_are_classified_and_shortened(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "void ns::scale<double>(double*, double)", 0, 50, 0);
    make_kernel(&m.run, m.stream, "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", 50, 90, 0);
    uint32_t op = make_kernel(&m.run, m.stream, "opaque", 90, 110, 0);
    m.run.ops.comm[op] = (uint32_t)m.run.comms.count;
    vec_push(&m.run.comms, ((struct comm){.collective = intern_puts(&m.run.strings, "allreduce")}));
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_string_equal(report.kernels.at[0].short_name, "scale<double>");
    assert_true(report.kernels.at[0].is_fp64);
    assert_true(report.kernels.at[1].uses_tensor_cores && report.kernels.at[1].is_tuned_library);
    assert_true(report.kernels.at[2].is_comm); /* by metadata, not by name */
    report_release(&report);
    run_release(&m.run);
}

static void a_run_without_kernels_has_no_rows(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_report(&report, &m.run);
    kernels_build(&report);
    assert_int_equal(report.kernels.count, 0);
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_exact_and_sorted_by_total),
        cmocka_unit_test(overlapping_kernels_of_one_stream_all_count),
        cmocka_unit_test(kernels_without_length_count),
        cmocka_unit_test(a_window_clips_kernels),
        cmocka_unit_test(sm_coverage_is_weighted_by_time),
        cmocka_unit_test(the_most_frequent_shape_speaks_for_the_kernel),
        cmocka_unit_test(devices_share_the_rows_but_not_the_coverage),
        cmocka_unit_test(names_are_classified_and_shortened),
        cmocka_unit_test(a_run_without_kernels_has_no_rows),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
