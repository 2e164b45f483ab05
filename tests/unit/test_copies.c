/* copies_build(): the table of copies. */
#include "cmocka_all.h"
#include "make_report.h"

static uint32_t make_memset(struct run *run, uint32_t stream, enum mem_kind dst, int64_t bytes, int64_t start,
                            int64_t end)
{
    uint32_t op = make_op(run, stream, OP_MEMSET, "memset", start, end, 0);
    run->ops.bytes[op] = bytes;
    run->ops.dst[op] = dst;
    return op;
}

static const struct copy_row *row_of(const struct report *report, const char *kind)
{
    vec_each (&report->copies, row) {
        if (strcmp(row->kind, kind) == 0)
            return row;
    }
    fail_msg("no row for %s", kind);
    return NULL;
}

static void directions_and_kinds_make_rows_with_names(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, 1000, 0, 100, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1000, 100, 110, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 3000, 110, 140, 0);
    make_copy(&m.run, m.stream, COPY_D2H, MEM_DEVICE, MEM_PINNED, 8, 140, 141, 0);
    make_copy(&m.run, m.stream, COPY_D2D, MEM_DEVICE, MEM_DEVICE, 8, 141, 143, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_UNKNOWN, MEM_ARRAY, 8, 143, 146, 0);
    make_copy(&m.run, m.stream, COPY_MANAGED_H2D, MEM_MANAGED, MEM_MANAGED, 8, 146, 150, 0);
    make_copy(&m.run, m.stream, COPY_H2H, MEM_PAGEABLE, MEM_PINNED, 8, 150, 155, 0);
    make_memset(&m.run, m.stream, MEM_DEVICE, 8, 155, 161);
    make_memset(&m.run, m.stream, MEM_MANAGED, 8, 161, 168);
    make_kernel(&m.run, m.stream, "k", 168, 200, 0);
    make_report(&report, &m.run);
    copies_build(&report);
    assert_int_equal(report.copies.count, 9);
    static const char *const order[] = {"HtoD pageable",
                                        "HtoD pinned",
                                        "memset managed",
                                        "memset",
                                        "HtoH pageable to pinned",
                                        "migration HtoD managed to managed",
                                        "HtoD to array",
                                        "DtoD",
                                        "DtoH pinned"};
    for (size_t i = 0; i < report.copies.count; i++)
        assert_string_equal(report.copies.at[i].kind, order[i]);
    const struct copy_row *pinned = row_of(&report, "HtoD pinned");
    assert_int_equal(pinned->count, 2);
    assert_int_equal(pinned->bytes, 4000);
    assert_int_equal(pinned->total_ns, 40);
    assert_int_equal(pinned->min_ns, 10);
    assert_int_equal(pinned->median_ns, 20);
    assert_int_equal(pinned->max_ns, 30);
    assert_true(near(pinned->rate_bytes_per_s, 1e11));
    assert_true(row_of(&report, "memset")->is_memset);
    assert_true(near(pinned->overlapped_ratio, 0));
    report_release(&report);
    run_release(&m.run);
}

static void an_unknown_size_is_unknown_not_zero(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, UNKNOWN, 0, 100, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 500, 100, 200, 0);
    make_copy(&m.run, m.stream, COPY_D2H, MEM_DEVICE, MEM_PINNED, UNKNOWN, 200, 250, 0);
    make_report(&report, &m.run);
    copies_build(&report);
    const struct copy_row *mixed = row_of(&report, "HtoD pinned"), *unknown = row_of(&report, "DtoH pinned");
    assert_int_equal(mixed->bytes, 500);
    assert_int_equal(mixed->unknown_bytes_count, 1);
    assert_int_equal(mixed->small_count, 1);
    assert_true(near(mixed->rate_bytes_per_s, 5e9)); /* 500 bytes in the 100 ns of the copy that has a size */
    assert_true(unknown->bytes == UNKNOWN);
    assert_int_equal(unknown->small_count, 0);
    assert_true(isnan(unknown->rate_bytes_per_s));
    report_release(&report);
    run_release(&m.run);
}

static void small_means_below_64_kib(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 65535, 0, 10, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 65536, 10, 20, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 0, 20, 20, 0);
    make_report(&report, &m.run);
    copies_build(&report);
    assert_int_equal(report.copies.at[0].small_count, 2);
    assert_int_equal(report.copies.at[0].count, 3);
    report_release(&report);
    run_release(&m.run);
}

static void overlap_is_time_with_a_kernel_on_the_same_device(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t second = run_device(&m.run, m.source, 1);
    uint32_t other_device = run_stream(&m.run, m.process, second, 1, 7);
    uint32_t copies = run_stream(&m.run, m.process, m.device, 1, 13);
    make_kernel(&m.run, m.stream, "k", 0, 30, 0);
    make_kernel(&m.run, m.stream, "k", 20, 50, 0); /* overlapping kernels count once */
    make_op(&m.run, m.stream, OP_GRAPH, "graph", 80, 90, 0);
    make_kernel(&m.run, other_device, "k", 0, 1000, 0);
    make_copy(&m.run, copies, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1, 10, 110, 0); /* 40 + 10 of 100 */
    make_copy(&m.run, copies, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1, 40, 60, 0);  /* 10 of 20 */
    make_report(&report, &m.run);
    copies_build(&report);
    assert_true(near(report.copies.at[0].overlapped_ratio, 60.0 / 120.0));
    report_release(&report);
    run_release(&m.run);
}

static void a_window_clips_time_but_not_the_rate(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 60, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1000, 0, 100, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 1000, 200, 300, 0);
    make_narrow_report(&report, &m.run, 50, 150);
    copies_build(&report);
    assert_int_equal(report.copies.at[0].count, 1);
    assert_int_equal(report.copies.at[0].total_ns, 50);
    assert_int_equal(report.copies.at[0].bytes, 1000);
    assert_true(near(report.copies.at[0].rate_bytes_per_s, 1e10));
    assert_true(near(report.copies.at[0].overlapped_ratio, 10.0 / 50.0));
    report_release(&report);
    run_release(&m.run);
}

static void copies_without_length_have_neither_rate_nor_overlap(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 60, 0);
    make_copy(&m.run, m.stream, COPY_D2D, MEM_DEVICE, MEM_DEVICE, 1000, 30, 30, 0);
    make_report(&report, &m.run);
    copies_build(&report);
    assert_int_equal(report.copies.at[0].count, 1);
    assert_true(isnan(report.copies.at[0].rate_bytes_per_s));
    assert_true(isnan(report.copies.at[0].overlapped_ratio));
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_and_kinds_make_rows_with_names),
        cmocka_unit_test(an_unknown_size_is_unknown_not_zero),
        cmocka_unit_test(small_means_below_64_kib),
        cmocka_unit_test(overlap_is_time_with_a_kernel_on_the_same_device),
        cmocka_unit_test(a_window_clips_time_but_not_the_rate),
        cmocka_unit_test(copies_without_length_have_neither_rate_nor_overlap),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
