/* What a report says of the Xids of a recording. */
#include "cmocka_all.h"
#include "make_report.h"

#include <stdio.h>
#include <string.h>

static const int64_t second = 1000000000;

/* A GPU that is busy for ten seconds. */
static void make_busy(struct make_run *m)
{
    make_run_init(m);
    make_launch(m, "gemm", 0, 10, 20, 10 * second);
}

static void add_xid(struct make_run *m, int64_t time, const char *text)
{
    vec_push(&m->run.marks, ((struct mark){.time = time,
                                           .kind = MARK_XID,
                                           .text = intern_puts(&m->run.strings, text),
                                           .thread = NONE,
                                           .device = m->device}));
}

static void build(struct report *report, struct make_run *m, const struct report_options *options)
{
    run_seal(&m->run);
    report_build(report, &m->run, options);
}

static const struct finding *find(const struct report *report)
{
    vec_each (&report->findings, finding)
        if (strcmp(finding->id, "health-xid") == 0)
            return finding;
    return NULL;
}

static void done(struct report *report, struct make_run *m)
{
    report_release(report);
    run_release(&m->run);
}

static void the_first_of_the_worst_comes_before_all_findings(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m);
    add_xid(&m, 7 * second, "Xid 45: clean-up");
    add_xid(&m, 9 * second, "Xid 31: a fault, python3 (7)");
    add_xid(&m, 9 * second + 1, "Xid 31: a fault, python3 (7)");
    add_xid(&m, 9 * second + 2, "Xid 13: another");
    build(&report, &m, NULL);
    const struct finding *xid = &report.findings.at[0];
    assert_string_equal(xid->id, "health-xid");
    assert_int_equal(xid->severity, SEVERITY_CRITICAL);
    assert_int_equal(xid->device, m.device);
    assert_int_equal(xid->title.values[0].i, 31);
    assert_int_equal(xid->title.values[1].i, 9 * second);
    assert_int_equal(xid->evidence.count, 4); /* the process, how often, two others */
    struct str text = {0};
    msg_render(&text, &xid->title, false, 0);
    assert_non_null(strstr(str_text(&text), "the GPU raised Xid 31 (GPU memory page fault"));
    str_release(&text);
    done(&report, &m);
}

static void the_clean_up_after_a_killed_program_is_information(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m);
    add_xid(&m, 9 * second, "Xid 45: clean-up");
    build(&report, &m, NULL);
    assert_string_equal(report.findings.at[0].id, "healthy");
    assert_int_equal(find(&report)->severity, SEVERITY_INFO);
    done(&report, &m);
}

enum whose { OF_THE_GPU, OF_NO_GPU, OF_A_SECOND_GPU };

static void check_title(enum whose whose, const char *wanted)
{
    struct make_run m;
    struct report report;
    make_busy(&m);
    add_xid(&m, 9 * second, "Xid 999999: of which nobody knows");
    if (whose == OF_NO_GPU)
        m.run.marks.at[0].device = NONE;
    else if (whose == OF_A_SECOND_GPU)
        m.run.marks.at[0].device = run_device(&m.run, m.source, 5);
    build(&report, &m, NULL);
    struct str text = {0};
    msg_render(&text, &find(&report)->title, false, 0);
    assert_string_equal(str_text(&text), wanted);
    str_release(&text);
    done(&report, &m);
}

static void the_title_names_the_gpu_where_it_could_be_another(void **state)
{
    (void)state;
    check_title(OF_THE_GPU, "the GPU raised Xid 999999 at 9.00000 s");
    check_title(OF_NO_GPU, "a GPU that was not recorded raised Xid 999999 at 9.00000 s");
    check_title(OF_A_SECOND_GPU, "GPU 5 raised Xid 999999 at 9.00000 s");
}

static void an_xid_counts_outside_of_the_window_too(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m);
    add_xid(&m, 12 * second, "Xid 31: a fault");
    build(&report, &m, &(struct report_options){.has_to = true, .to_ns = second});
    assert_non_null(find(&report));
    done(&report, &m);
}

static void an_xid_is_told_where_the_gpu_did_nothing(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    add_xid(&m, second, "Xid 999999, of which nobody knows");
    build(&report, &m, NULL);
    const struct finding *xid = find(&report);
    assert_non_null(xid);
    assert_int_equal(xid->severity, SEVERITY_WARN);
    done(&report, &m);
}

static void other_marks_and_damaged_texts_are_none(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m);
    add_xid(&m, second, "nothing of the kind");
    add_xid(&m, second, "");
    vec_push(&m.run.marks, ((struct mark){second, MARK_INSTANT,
                                          intern_puts(&m.run.strings, "Xid 31: a user's"), NONE, m.device}));
    build(&report, &m, NULL);
    assert_null(find(&report));
    done(&report, &m);
}

static void many_different_ones_are_bounded(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "Xid %d", 1000 + i);
        add_xid(&m, i, text);
    }
    build(&report, &m, NULL);
    assert_int_equal(find(&report)->title.values[0].i, 1000);
    assert_int_equal(find(&report)->evidence.count, 3);
    done(&report, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_the_worst_comes_before_all_findings),
        cmocka_unit_test(the_clean_up_after_a_killed_program_is_information),
        cmocka_unit_test(the_title_names_the_gpu_where_it_could_be_another),
        cmocka_unit_test(an_xid_counts_outside_of_the_window_too),
        cmocka_unit_test(an_xid_is_told_where_the_gpu_did_nothing),
        cmocka_unit_test(other_marks_and_damaged_texts_are_none),
        cmocka_unit_test(many_different_ones_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
