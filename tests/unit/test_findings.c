/* findings_build(): what a finding claims fits into the time that there was. */
#include "cmocka_all.h"
#include "make_report.h"

#include <string.h>

static const struct finding *found(const struct report *report, const char *id)
{
    vec_each (&report->findings, finding) {
        if (strcmp(finding->id, id) == 0)
            return finding;
    }
    return NULL;
}

static void kernels_that_run_at_the_same_time_share_what_they_lose(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    for (int64_t s = 0; s < 4; s++) {
        uint32_t stream = run_stream(&m.run, m.process, m.device, 1, 10 + s);
        make_kernel(&m.run, stream, "dgemm_kernel", 1000 * s, 1000000 + 1000 * s, 0);
        make_kernel(&m.run, stream, "volta_dgemm_128x64_nn", 1000 * s, 1000000, 0);
    }
    run_seal(&m.run);
    struct report report;
    report_build(&report, &m.run, NULL);
    const struct finding *fp64 = found(&report, "kernel-fp64");
    assert_non_null(fp64);
    assert_in_range(fp64->lost_ns, 1002990, 1003000); /* not 8 ms */
    assert_true(fp64->saving_ns[1] <= report.devices.at[0].busy_ns);
    report_release(&report);
    run_release(&m.run);
}

static void overhead_outside_the_window_or_at_the_same_time_does_not_count(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t lanes[2] = {run_thread(&m.run, m.process, 1), run_thread(&m.run, m.process, 2)};
    for (int i = 0; i < 2; i++) {
        make_span(&m.run, lanes[i], SPAN_OVERHEAD, "Buffer Flush", 0, 400, 0);
        make_span(&m.run, lanes[i], SPAN_OVERHEAD, "Buffer Flush", 900, 1100, 0);
    }
    make_launch(&m, "k", 0, 10, 20, 2000);
    run_seal(&m.run);
    struct report_options options = {.has_from = true, .has_to = true, .from_ns = 1000, .to_ns = 2000};
    struct report report;
    report_build(&report, &m.run, &options);
    const struct finding *overhead = found(&report, "trust-profiler-overhead");
    assert_non_null(overhead);
    assert_int_equal(overhead->lost_ns, 100);
    report_release(&report);
    run_release(&m.run);
}

static void an_incomplete_recording_does_not_claim_that_nothing_was_lost(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_kernel(&m.run, m.stream, "k", 1000, 1100, 0);
    run_seal(&m.run);
    struct report report;
    report_build(&report, &m.run, NULL);
    const struct finding *lost = found(&report, "trust-lost-records");
    assert_non_null(lost);
    assert_null(strstr(lost->title.format, "{0} records were lost"));
    assert_non_null(strstr(lost->title.format, "does not say why"));
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_run_at_the_same_time_share_what_they_lose),
        cmocka_unit_test(overhead_outside_the_window_or_at_the_same_time_does_not_count),
        cmocka_unit_test(an_incomplete_recording_does_not_claim_that_nothing_was_lost),
    };
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
