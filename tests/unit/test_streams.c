/* streams_build(): what each stream did and how many ran at once. */
#include "cmocka_all.h"
#include "make_report.h"

static void ops_that_overlap_on_one_stream_are_busy_once(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, m.stream, "k", 20, 50, 0);
    make_kernel(&m.run, m.stream, "k", 90, 120, 0);
    make_kernel(&m.run, m.stream, "k", 200, 200, 0);
    make_report(&report, &m.run);
    streams_build(&report);
    assert_int_equal(report.streams.count, 1);
    assert_int_equal(report.streams.at[0].ops, 4);
    assert_int_equal(report.streams.at[0].busy_ns, 120);
    assert_int_equal(report.streams.at[0].sum_ns, 160);
    assert_true(near(report.streams.at[0].alone_ratio, 1.0));
    assert_int_equal(report.concurrency.at[0].max_streams, 1);
    assert_true(near(report.concurrency.at[0].mean_streams, 1.0));
    assert_int_equal(report.concurrency.at[0].ns_at_least_two, 0);
    report_release(&report);
    run_release(&m.run);
}

static void three_streams_are_counted_exactly(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t b = run_stream(&m.run, m.process, m.device, 1, 8),
             c = run_stream(&m.run, m.process, m.device, 1, 9);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, b, "k", 50, 80, 0);
    make_kernel(&m.run, b, "k", 70, 130, 0); /* extends b while it is busy */
    make_kernel(&m.run, c, "k", 60, 65, 0);
    make_kernel(&m.run, c, "k", 200, 210, 0);
    make_report(&report, &m.run);
    streams_build(&report);
    /* 0–50 a; 50–60 ab; 60–65 abc; 65–100 ab; 100–130 b; 200–210 c */
    const struct stream_row *rows = report.streams.at;
    assert_int_equal(report.streams.count, 3);
    assert_int_equal(rows[0].stream, m.stream);
    assert_int_equal(rows[0].busy_ns, 100);
    assert_true(near(rows[0].alone_ratio, 0.5));
    assert_int_equal(rows[1].stream, b);
    assert_int_equal(rows[1].busy_ns, 80);
    assert_true(near(rows[1].alone_ratio, 30.0 / 80));
    assert_int_equal(rows[2].busy_ns, 15);
    assert_true(near(rows[2].alone_ratio, 10.0 / 15));
    const struct concurrency_report *concurrency = &report.concurrency.at[0];
    assert_int_equal(concurrency->max_streams, 3);
    assert_int_equal(concurrency->ns_at_least_two, 50);
    assert_true(near(concurrency->mean_streams, (100.0 + 80 + 15) / 140));
    report_release(&report);
    run_release(&m.run);
}

static void streams_of_other_devices_do_not_disturb(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t second = run_device(&m.run, m.source, 1);
    uint32_t stream = run_stream(&m.run, m.process, second, 1, 7);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, stream, "k", 0, 50, 0);
    make_report(&report, &m.run);
    streams_build(&report);
    assert_true(near(report.streams.at[0].alone_ratio, 1.0));
    assert_int_equal(report.concurrency.count, 2);
    assert_int_equal(report.concurrency.at[1].max_streams, 1);
    report_release(&report);
    run_release(&m.run);
}

static void a_window_clips_streams(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t b = run_stream(&m.run, m.process, m.device, 1, 8);
    make_kernel(&m.run, m.stream, "k", 0, 1000, 0);
    make_kernel(&m.run, b, "k", 90, 110, 0);
    make_kernel(&m.run, b, "k", 190, 400, 0);
    make_kernel(&m.run, b, "k", 500, 600, 0);
    make_narrow_report(&report, &m.run, 100, 200);
    streams_build(&report);
    assert_int_equal(report.streams.at[0].busy_ns, 100);
    assert_true(near(report.streams.at[0].alone_ratio, 0.8));
    assert_int_equal(report.streams.at[1].ops, 2);
    assert_int_equal(report.streams.at[1].busy_ns, 20);
    report_release(&report);
    run_release(&m.run);
}

static void many_streams_agree_with_counting_every_moment(void **state)
{
    (void)state;
    enum { STREAMS = 12, SPAN = 3000 };
    struct make_run m;
    struct report report;
    make_run_init(&m);
    static uint8_t busy[STREAMS][SPAN + 400];
    memset(busy, 0, sizeof busy);
    uint32_t streams[STREAMS], seed = 11;
    for (int s = 0; s < STREAMS; s++)
        streams[s] = run_stream(&m.run, m.process, m.device, 1, 100 + s);
    for (int i = 0; i < 500; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t s = (seed >> 24) % STREAMS, start = (seed >> 9) % SPAN,
                 length = seed % 31 == 0 ? 390 : seed % 40;
        make_kernel(&m.run, streams[s], "k", start, start + length, 0);
        memset(busy[s] + start, 1, length);
    }
    make_report(&report, &m.run);
    streams_build(&report);
    int64_t sums[STREAMS] = {0}, alone[STREAMS] = {0}, most = 0, two = 0, any = 0, all = 0;
    for (int t = 0; t < SPAN + 400; t++) {
        int64_t now = 0;
        for (int s = 0; s < STREAMS; s++)
            now += busy[s][t];
        for (int s = 0; s < STREAMS; s++) {
            sums[s] += busy[s][t];
            alone[s] += busy[s][t] && now == 1;
        }
        most = max_ns(most, now);
        two += now >= 2;
        any += now >= 1;
        all += now;
    }
    assert_int_equal(report.concurrency.at[0].max_streams, most);
    assert_int_equal(report.concurrency.at[0].ns_at_least_two, two);
    assert_true(near(report.concurrency.at[0].mean_streams, (double)all / (double)any));
    vec_each (&report.streams, row) {
        uint32_t s = (uint32_t)(m.run.streams.at[row->stream].id - 100);
        assert_int_equal(row->busy_ns, sums[s]);
        assert_true(near(row->alone_ratio, (double)alone[s] / (double)sums[s]));
    }
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_that_overlap_on_one_stream_are_busy_once),
        cmocka_unit_test(three_streams_are_counted_exactly),
        cmocka_unit_test(streams_of_other_devices_do_not_disturb),
        cmocka_unit_test(a_window_clips_streams),
        cmocka_unit_test(many_streams_agree_with_counting_every_moment),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
