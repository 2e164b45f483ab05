/* What the driver's counters say of the busy time, and when they say nothing. */
#include "cmocka_all.h"
#include "make_report.h"

#include <string.h>

#include "view/view.h"

static const int64_t second = 1000000000;

static void add_sample(struct make_run *m, const char *series, int64_t time, double value)
{
    size_t row = sample_table_add(&m->run.samples);
    m->run.samples.time[row] = time;
    m->run.samples.value[row] = value;
    m->run.samples.series[row] = run_series(&m->run, series, m->device, NONE, UNIT_RATIO);
}

/* Busy from 0 to 4 s and from 8 s to 10 s. */
static void make_busy(struct make_run *m)
{
    make_run_init(m);
    make_launch(m, "a", -10, 10, 0, 4 * second);
    make_launch(m, "b", 20, 30, 8 * second, 10 * second);
}

static struct gpu_use use_of(struct make_run *m, const struct report_options *options)
{
    struct report report;
    run_seal(&m->run);
    report_build(&report, &m->run, options);
    struct gpu_use use = report.devices.at[0].use;
    report_release(&report);
    run_release(&m->run);
    return use;
}

static void assert_ratio(double got, double wanted)
{
    assert_true(fabs(got - wanted) < 1e-6);
}

static void shares_are_of_the_busy_time_weighted_by_time(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", 0, 0.99); /* of before: of no time that is known */
    add_sample(&m, "SMs with a warp", 1 * second, 0.8);
    add_sample(&m, "SMs with a warp", 4 * second, 0.4);
    add_sample(&m, "SMs with a warp", 10 * second, 0.1); /* of 6 s of which 4 were idle */
    add_sample(&m, "tensor cores active", 0, 0);
    add_sample(&m, "tensor cores active", 10 * second, 0.06);
    struct gpu_use use = use_of(&m, NULL);
    assert_ratio(use.sm_active_ratio, (0.8 + 3 * 0.4 + 6 * 0.1) / 6);
    assert_ratio(use.tensor_active_ratio, 0.1);
    assert_true(isnan(use.memory_bandwidth_ratio));
    assert_true(isnan(use.sm_occupancy_ratio));
}

static void only_the_window_counts(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    for (int i = 0; i <= 10; i++)
        add_sample(&m, "SMs with a warp", i * second, i <= 2 ? 0.5 : 0.9);
    struct gpu_use use = use_of(&m, &(struct report_options){.has_to = true, .to_ns = 2 * second});
    assert_ratio(use.sm_active_ratio, 0.5);
}

static double over_an_end(int64_t first, int64_t last, double value, const struct report_options *options)
{
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", first * second, 0);
    add_sample(&m, "SMs with a warp", last * second, value);
    return use_of(&m, options).sm_active_ratio;
}

/* Nobody knows how much of such a sample was before the end and how much after it, but where nothing ran
 * beyond. */
static void a_sample_over_an_end_of_the_window_counts_where_the_gpu_was_idle_beyond(void **state)
{
    (void)state;
    assert_ratio(over_an_end(-2, 12, 3.0 / 14, NULL), 0.5);
    struct report_options to_idle = {.has_to = true, .to_ns = 6 * second};
    assert_ratio(over_an_end(-1, 7, 3.0 / 8, &to_idle), 0.75);
    assert_true(isnan(over_an_end(-1, 9, 0.3, &to_idle)));
    struct report_options to_busy = {.has_to = true, .to_ns = 2 * second};
    assert_true(isnan(over_an_end(0, 10, 0.3, &to_busy)));
    struct report_options from_busy = {.has_from = true, .from_ns = 1 * second};
    assert_true(isnan(over_an_end(0, 10, 0.3, &from_busy)));
}

static void less_than_half_of_the_busy_time_says_nothing(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", 1 * second, 0.5);
    add_sample(&m, "SMs with a warp", 3 * second, 0.5); /* 2 s of 6 */
    assert_true(isnan(use_of(&m, NULL).sm_active_ratio));
}

static void more_than_all_of_the_busy_time_is_of_another_program(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", 0, 0.9);
    add_sample(&m, "SMs with a warp", 10 * second, 0.9); /* 9 s in 6 */
    assert_true(isnan(use_of(&m, NULL).sm_active_ratio));
}

static void of_a_recording_that_paused_nothing_is_said(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", 0, 0.1);
    add_sample(&m, "SMs with a warp", 10 * second, 0.1);
    vec_push(&m.run.marks, ((struct mark){5 * second, MARK_PAUSED, 0, NONE, NONE}));
    assert_true(isnan(use_of(&m, NULL).sm_active_ratio));
}

static void impossible_values_are_left_out(void **state)
{
    (void)state;
    struct make_run m;
    make_busy(&m);
    add_sample(&m, "SMs with a warp", 0, 0.3);
    add_sample(&m, "SMs with a warp", 1 * second, NAN);
    add_sample(&m, "SMs with a warp", 2 * second, 1e300);
    add_sample(&m, "SMs with a warp", 3 * second, -1);
    add_sample(&m, "SMs with a warp", 10 * second, 0.3);
    assert_ratio(use_of(&m, NULL).sm_active_ratio, 0.5);
}

static void screen_of(struct screen *screen, struct make_run *m)
{
    struct report report;
    *screen = (struct screen){.width = 100, .utf8 = true};
    run_seal(&m->run);
    report_build(&report, &m->run, NULL);
    text_report(screen, &report, &(struct view_options){.limit = UNKNOWN});
    report_release(&report);
    run_release(&m->run);
}

static void the_first_screen_has_one_line_of_what_is_known(void **state)
{
    (void)state;
    struct make_run m;
    struct screen screen;
    make_busy(&m);
    for (int i = 0; i <= 1; i++) {
        add_sample(&m, "SMs with a warp", i * 10 * second, 0.3);
        add_sample(&m, "memory bandwidth used", i * 10 * second, 0.06);
    }
    screen_of(&screen, &m);
    assert_non_null(
        strstr(str_text(&screen.text), "\n  While busy: SMs active 50.0 % · memory bandwidth 10.0 %\n"));
    screen_release(&screen);
    make_busy(&m);
    screen_of(&screen, &m);
    assert_null(strstr(str_text(&screen.text), "While busy"));
    screen_release(&screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_the_busy_time_weighted_by_time),
        cmocka_unit_test(only_the_window_counts),
        cmocka_unit_test(a_sample_over_an_end_of_the_window_counts_where_the_gpu_was_idle_beyond),
        cmocka_unit_test(less_than_half_of_the_busy_time_says_nothing),
        cmocka_unit_test(more_than_all_of_the_busy_time_is_of_another_program),
        cmocka_unit_test(of_a_recording_that_paused_nothing_is_said),
        cmocka_unit_test(impossible_values_are_left_out),
        cmocka_unit_test(the_first_screen_has_one_line_of_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
