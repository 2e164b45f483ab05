/* What the hardware held down, and what may be said about it. */
#include "cmocka_all.h"
#include "make_report.h"

#include <string.h>

#include "model/gpu.h"

#define UUID "GPU-1"
static const int64_t second = 1000000000;

static void add_sample(struct make_run *m, const char *series, enum counter_unit unit, int64_t time,
                       double value)
{
    size_t row = sample_table_add(&m->run.samples);
    m->run.samples.time[row] = time;
    m->run.samples.value[row] = value;
    m->run.samples.series[row] = run_series(&m->run, series, m->device, NONE, unit);
}

static void add_fact(struct make_run *m, const char *key, const char *value)
{
    struct str name = {0};
    str_addf(&name, GPU_FACT_PREFIX UUID ".%s", key);
    run_fact(&m->run, m->source, str_text(&name), value, strlen(value));
    str_release(&name);
}

/* A GPU that is busy for ten seconds and was watched once a second. */
static void make_busy(struct make_run *m, const char *series, double share, double mhz)
{
    make_run_init(m);
    m->run.devices.at[m->device].clock_hz = 2000000000;
    m->run.devices.at[m->device].uuid = intern_puts(&m->run.strings, UUID);
    make_launch(m, "gemm", 0, 10, 20, 10 * second);
    for (int i = 0; i <= 10; i++) {
        add_sample(m, GPU_SERIES_SM_CLOCK, UNIT_HZ, i * second, mhz * 1e6);
        add_sample(m, GPU_SERIES_TEMPERATURE, UNIT_CELSIUS, i * second, 60 + i);
        if (i > 0)
            add_sample(m, series, UNIT_RATIO, i * second, share);
    }
}

static const struct finding *report_of(struct report *report, struct make_run *m,
                                       const struct report_options *options, const char *id)
{
    run_seal(&m->run);
    report_build(report, &m->run, options);
    vec_each (&report->findings, finding)
        if (strcmp(finding->id, id) == 0)
            return finding;
    return NULL;
}

static void done(struct report *report, struct make_run *m)
{
    report_release(report);
    run_release(&m->run);
}

static void assert_near(int64_t ns, double seconds)
{
    assert_true(fabs((double)ns / 1e9 - seconds) < 1e-3);
}

static void a_power_limit_at_the_boards_maximum_is_information_and_saves_nothing(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_POWER_CAP, 1.0, 1500);
    add_fact(&m, "end.power_limit_watts", "700.000");
    add_fact(&m, "power_limit_max_watts", "700.000");
    const struct finding *cap = report_of(&report, &m, NULL, "health-power-cap");
    assert_non_null(cap);
    assert_int_equal(cap->severity, SEVERITY_INFO);
    assert_int_equal(cap->saving_ns[1], 0);
    assert_near(cap->lost_ns, 2.5);
    assert_string_equal(report.findings.at[0].id, "healthy");
    done(&report, &m);
}

static void a_power_limit_that_was_lowered_saves_a_part_of_what_it_costs(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_POWER_CAP, 0.8, 1000);
    add_fact(&m, "end.power_limit_watts", "400.000");
    add_fact(&m, "power_limit_max_watts", "700.000");
    add_fact(&m, "power_limit_default_watts", "700.000");
    const struct finding *cap = report_of(&report, &m, NULL, "health-power-cap");
    assert_non_null(cap);
    assert_int_equal(cap->severity, SEVERITY_WARN);
    assert_near(cap->lost_ns, 4.0);
    assert_near(cap->saving_ns[1], 3.2);
    assert_int_equal(cap->evidence.count, 4);
    done(&report, &m);
}

static void nothing_is_promised_about_limits_that_are_not_known(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_POWER_CAP, 0.8, 1000);
    add_fact(&m, "end.power_limit_watts_why", "no-permission");
    add_fact(&m, "power_limit_max_watts", "700.000");
    const struct finding *cap = report_of(&report, &m, NULL, "health-power-cap");
    assert_non_null(cap);
    assert_int_equal(cap->severity, SEVERITY_INFO);
    assert_int_equal(cap->saving_ns[1], 0);
    done(&report, &m);
}

static void nothing_is_lost_where_the_highest_clock_is_not_known(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_HEAT, 0.5, 1000);
    m.run.devices.at[m.device].clock_hz = 0;
    const struct finding *heat = report_of(&report, &m, NULL, "health-thermal");
    assert_non_null(heat);
    assert_int_equal(heat->lost_ns, 0);
    assert_int_equal(heat->severity, SEVERITY_INFO);
    done(&report, &m);
}

static void heat_is_an_alarm_when_it_costs_much(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_HEAT, 1.0, 1000);
    add_fact(&m, "slowdown_celsius", "87");
    const struct finding *heat = report_of(&report, &m, NULL, "health-thermal");
    assert_non_null(heat);
    assert_int_equal(heat->severity, SEVERITY_CRITICAL);
    assert_near(heat->lost_ns, 5.0);
    struct str text = {0};
    msg_render(&text, &heat->evidence.at[2], 0, 0);
    assert_string_equal(str_text(&text), "GPU temperature up to 70 °C; it slows down at 87 °C");
    str_release(&text);
    done(&report, &m);
}

static void less_than_a_hundredth_of_the_time_is_no_finding(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_HEAT, 0.009, 1000);
    assert_null(report_of(&report, &m, NULL, "health-thermal"));
    done(&report, &m);
}

static void only_the_chosen_window_counts(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    struct report_options options = {
        .has_from = true, .has_to = true, .from_ns = 2 * second + second / 2, .to_ns = 4 * second};
    make_busy(&m, GPU_SERIES_POWER_BRAKE, 1.0, 500);
    const struct finding *brake = report_of(&report, &m, &options, "health-power-brake");
    assert_non_null(brake);
    assert_near(brake->lost_ns, 1.125);
    done(&report, &m);
}

static void shares_that_cannot_be_and_moments_without_a_clock_are_left_out(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_busy(&m, GPU_SERIES_HEAT, 40.0, 1000);
    add_sample(&m, GPU_SERIES_HEAT, UNIT_RATIO, 5 * second + 1, 1.0);
    add_sample(&m, GPU_SERIES_HEAT, UNIT_RATIO, 6 * second, NAN);
    assert_null(report_of(&report, &m, NULL, "health-thermal"));
    done(&report, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_power_limit_at_the_boards_maximum_is_information_and_saves_nothing),
        cmocka_unit_test(a_power_limit_that_was_lowered_saves_a_part_of_what_it_costs),
        cmocka_unit_test(nothing_is_promised_about_limits_that_are_not_known),
        cmocka_unit_test(nothing_is_lost_where_the_highest_clock_is_not_known),
        cmocka_unit_test(heat_is_an_alarm_when_it_costs_much),
        cmocka_unit_test(less_than_a_hundredth_of_the_time_is_no_finding),
        cmocka_unit_test(only_the_chosen_window_counts),
        cmocka_unit_test(shares_that_cannot_be_and_moments_without_a_clock_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
