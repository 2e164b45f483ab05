/* findings_build(): what a finding claims fits into the time that there was. */
#include "cmocka_all.h"
#include "make_report.h"

#include <string.h>

#include "base/i18n.h"

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

/* Twenty steps of 10 ms, two of which take 40 ms more: the host computes before it launches, or a kernel runs
 * longer. */
static void steps_of_which_two_are_slow(struct make_run *m, struct report *report, bool by_host)
{
    enum { MS = 1000 * 1000, STEPS = 20, SLOW_NS = 40 * MS };
    make_run_init(m);
    int64_t at = 0;
    for (int i = 0; i < STEPS; i++) {
        int64_t more = i == 7 || i == 15 ? SLOW_NS : 0;
        at += 3 * MS + (by_host ? more : 0);
        make_launch(m, "first", at, at + 5000, at + 10000, at + 3 * MS);
        at += 3 * MS;
        make_launch(m, "second", at, at + 5000, at + 10000, at + 4 * MS + (by_host ? 0 : more));
        at += 4 * MS + (by_host ? 0 : more);
    }
    run_seal(&m->run);
    report_build(report, &m->run, NULL);
}

static bool says(const struct finding *finding, const char *words)
{
    struct str text = {0};
    vec_each (&finding->evidence, evidence)
        msg_render(&text, evidence, 0, 0);
    bool found_words = strstr(str_text(&text), words) != NULL;
    str_release(&text);
    return found_words;
}

static void slow_steps_are_evidence_of_what_makes_them_slow_if_that_is_a_finding(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    steps_of_which_two_are_slow(&m, &report, true);
    assert_null(found(&report, "imbalance-steps"));
    const struct finding *host = found(&report, "idle-host-compute");
    assert_non_null(host);
    assert_true(says(host, "2 of 19 steps take longer than the others because of it, by 80.0 ms in all") ||
                says(host, "2 of 20 steps take longer than the others because of it, by 80.0 ms in all"));
    report_release(&report);
    run_release(&m.run);
}

static void slow_steps_that_nothing_else_explains_are_a_finding(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    steps_of_which_two_are_slow(&m, &report, false);
    const struct finding *steps = found(&report, "imbalance-steps");
    assert_non_null(steps);
    assert_in_range(steps->lost_ns, 79 * 1000 * 1000, 81 * 1000 * 1000);
    assert_true(says(steps, "most of it: kernels running"));
    report_release(&report);
    run_release(&m.run);
}

static void one_of_something_is_said_as_one(void **state)
{
    (void)state;
    struct str text = {0};
    for (int64_t n = 1; n <= 2; n++) {
        struct msg msg =
            msg_make_n(1, NP_("{0} in {1} stretch", "{0} in {1} stretches"), value_ns(5000), value_count(n));
        str_cut(&text, 0);
        msg_render(&text, &msg, 0, 0);
        assert_string_equal(str_text(&text), n == 1 ? "5.00 µs in 1 stretch" : "5.00 µs in 2 stretches");
    }
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_run_at_the_same_time_share_what_they_lose),
        cmocka_unit_test(slow_steps_are_evidence_of_what_makes_them_slow_if_that_is_a_finding),
        cmocka_unit_test(slow_steps_that_nothing_else_explains_are_a_finding),
        cmocka_unit_test(one_of_something_is_said_as_one),
        cmocka_unit_test(overhead_outside_the_window_or_at_the_same_time_does_not_count),
        cmocka_unit_test(an_incomplete_recording_does_not_claim_that_nothing_was_lost),
    };
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
