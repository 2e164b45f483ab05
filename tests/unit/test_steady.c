/* Which part of a run is steady, and that findings are about it while the ledger is about all. */
#include "cmocka_all.h"
#include "make_report.h"

#include <string.h>

enum { MS = 1000 * 1000, STEPS = 10 };

struct fixture {
    struct make_run m;
    struct report report;
};

/* A step of 10 ms: a range, then two kernels that the host issues late. */
static void add_step(struct fixture *f, int64_t start, int64_t length)
{
    make_span(&f->m.run, f->m.thread, SPAN_ANNOTATION, "step", start, start + length, 0);
    make_launch(&f->m, "first", start + 4 * MS, start + 4 * MS + 5000, start + 4 * MS + 10000,
                start + 6 * MS);
    make_launch(&f->m, "second", start + length - 3 * MS, start + length - 3 * MS + 5000,
                start + length - 3 * MS + 10000, start + length - MS);
}

/* Start-up of so much, in which the program makes its model and reads files; steps, of which the first takes
 * first_ns; and an end. */
static void build(struct fixture *f, int64_t startup_ns, int64_t first_ns, int64_t end_ns,
                  const struct report_options *options)
{
    *f = (struct fixture){0};
    make_run_init(&f->m);
    make_launch(&f->m, "initialize", 0, 5000, 10000, 20000);
    make_span(&f->m.run, f->m.thread, SPAN_OS, "read", 20000, startup_ns, 0);
    int64_t at = startup_ns;
    for (int i = 0; i < STEPS; i++) {
        int64_t length = i == 0 ? first_ns : 10 * MS;
        add_step(f, at, length);
        at += length;
    }
    make_span(&f->m.run, f->m.thread, SPAN_OS, "write", at, at + end_ns, 0);
    run_seal(&f->m.run);
    report_build(&f->report, &f->m.run, options);
}

static void release(struct fixture *f)
{
    report_release(&f->report);
    run_release(&f->m.run);
}

static const struct finding *found(const struct report *report, const char *id)
{
    vec_each (&report->findings, finding)
        if (strcmp(finding->id, id) == 0)
            return finding;
    return NULL;
}

static int64_t sum(const struct device_report *device)
{
    int64_t ns = 0;
    for (int a = 0; a < ACCOUNT_COUNT; a++)
        ns += device->ledger_ns[a];
    return ns;
}

static void findings_are_about_the_steps_where_start_up_takes_most_of_the_time(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, 1000 * MS, 10 * MS, 200 * MS, NULL);
    assert_non_null(f.report.steady);
    const struct device_report *all = &f.report.devices.at[0], *steady = &f.report.steady->devices.at[0];
    assert_int_equal(all->wall_ns, 1300 * MS);
    assert_int_equal(sum(all), all->wall_ns);
    assert_int_equal(sum(steady), steady->wall_ns);
    assert_int_equal(all->ledger_ns[IDLE_HOST_IO], 1000 * MS - 20000);
    assert_int_equal(steady->ledger_ns[IDLE_HOST_IO], 0);
    assert_true(steady->window.start >= 1000 * MS && steady->window.start < 1010 * MS);
    assert_int_equal(steady->window.end, 1099 * MS);
    assert_null(found(&f.report, "idle-host-io"));
    const struct finding *compute = found(&f.report, "idle-host-compute");
    assert_non_null(compute);
    assert_true(compute->lost_ns <= steady->wall_ns - steady->busy_ns);
    assert_true(f.report.steps.count >= STEPS - 1);
    release(&f);
}

static void the_first_step_is_start_up_where_it_loads_code(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, 100 * MS, 10 * MS, 0, NULL);
    assert_true(f.report.steady->window.start < 110 * MS);
    release(&f);
    build(&f, 100 * MS, 13 * MS, 0, NULL);
    assert_true(f.report.steps.rows.at[0].outlier);
    assert_true(f.report.steady->window.start >= 113 * MS);
    assert_null(found(&f.report, "imbalance-steps"));
    release(&f);
}

static void what_the_user_chose_is_not_cut(void **state)
{
    (void)state;
    struct fixture f;
    struct report_options all = {.has_from = true};
    build(&f, 1000 * MS, 10 * MS, 0, &all);
    assert_null(f.report.steady);
    assert_non_null(found(&f.report, "idle-host-io"));
    release(&f);
}

static void a_short_start_is_not_told_apart(void **state)
{
    (void)state;
    struct fixture f;
    build(&f, MS, 10 * MS, 0, NULL);
    assert_null(f.report.steady);
    release(&f);
}

static void work_of_the_gpu_is_no_start_up(void **state)
{
    (void)state;
    struct fixture f = {0};
    make_run_init(&f.m);
    make_launch(&f.m, "another phase", 0, 5000, 10000, 300 * MS);
    for (int i = 0; i < STEPS; i++)
        add_step(&f, 600 * MS + i * 10 * MS, 10 * MS);
    run_seal(&f.m.run);
    report_build(&f.report, &f.m.run, NULL);
    assert_true(f.report.steps.count >= STEPS - 1);
    assert_null(f.report.steady);
    release(&f);
}

static void without_repeated_work_nothing_is_left_out(void **state)
{
    (void)state;
    struct fixture f = {0};
    make_run_init(&f.m);
    make_launch(&f.m, "initialize", 0, 5000, 10000, 20000);
    make_span(&f.m.run, f.m.thread, SPAN_OS, "read", 20000, 1000 * MS, 0);
    make_launch(&f.m, "kernel", 1000 * MS, 1000 * MS + 5000, 1000 * MS + 10000, 1001 * MS);
    run_seal(&f.m.run);
    report_build(&f.report, &f.m.run, NULL);
    assert_null(f.report.steady);
    assert_non_null(found(&f.report, "idle-host-io"));
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_about_the_steps_where_start_up_takes_most_of_the_time),
        cmocka_unit_test(the_first_step_is_start_up_where_it_loads_code),
        cmocka_unit_test(what_the_user_chose_is_not_cut),
        cmocka_unit_test(a_short_start_is_not_told_apart),
        cmocka_unit_test(work_of_the_gpu_is_no_start_up),
        cmocka_unit_test(without_repeated_work_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
