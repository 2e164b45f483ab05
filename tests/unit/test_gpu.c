/* Readings and the fields of a GPU: unknown is not zero, and what is written can be read back. */
#include "cmocka_all.h"

#include <string.h>

#include "model/gpu.h"

static void a_zeroed_reading_says_that_nobody_looked(void **state)
{
    (void)state;
    struct gpu_sample sample = {0};
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        assert_int_equal(gpu_get(&sample, field).state, READING_UNREAD);
    gpu_missing(&sample, gpu_sample_fields, READING_ASLEEP);
    assert_int_equal(sample.power.state, READING_ASLEEP);
    assert_int_equal(sample.sync_boost_time.state, READING_ASLEEP);
}

static void every_state_has_a_name_of_its_own_and_a_meaning(void **state)
{
    (void)state;
    for (int i = 0; i < READING_STATES; i++) {
        assert_int_equal(reading_state_find(reading_state_name((enum reading_state)i)), i);
        assert_true(*reading_state_meaning((enum reading_state)i));
    }
    assert_int_equal(reading_state_find("of no name"), READING_STATES);
}

static void a_gain_is_known_only_between_two_known_readings(void **state)
{
    (void)state;
    struct reading lost = reading_missing(READING_LOST), none = reading_missing(READING_UNSUPPORTED);
    assert_int_equal(reading_gain(reading_of(3), reading_of(10)).value, 7);
    assert_int_equal(reading_gain(reading_of(3), lost).state, READING_LOST);
    assert_int_equal(reading_gain(none, reading_of(3)).state, READING_UNSUPPORTED);
    assert_int_equal(reading_gain(reading_of(10), reading_of(3)).state, READING_IMPLAUSIBLE);
    assert_int_equal(reading_gain(reading_of(INT64_MIN), reading_of(INT64_MAX)).state, READING_IMPLAUSIBLE);
}

static void what_no_gpu_can_have_is_implausible(void **state)
{
    (void)state;
    struct gpu_sample sample = {.temperature = reading_of(40000),
                                .power = reading_of(699125),
                                .utilization = reading_of(101),
                                .memory_used = reading_of(-1),
                                .energy = reading_missing(READING_LOST)};
    gpu_check(&sample, gpu_sample_fields);
    assert_int_equal(sample.temperature.state, READING_IMPLAUSIBLE);
    assert_int_equal(sample.utilization.state, READING_IMPLAUSIBLE);
    assert_int_equal(sample.memory_used.state, READING_IMPLAUSIBLE);
    assert_int_equal(sample.power.value, 699125);
    assert_int_equal(sample.energy.state, READING_LOST);
}

static void assert_text(enum gpu_unit unit, int64_t value, const char *text)
{
    struct str out = {0};
    int64_t back = -1;
    gpu_value_add(&out, unit, value);
    assert_string_equal(str_text(&out), text);
    if (gpu_value_parse(unit, text, &back))
        assert_int_equal(back, value);
    str_release(&out);
}

static void values_are_written_in_the_unit_of_their_key_and_read_back(void **state)
{
    (void)state;
    assert_text(GPU_MILLIWATTS, 699125, "699.125");
    assert_text(GPU_MILLIWATTS, 5, "0.005");
    assert_text(GPU_PERCENT, 7, "0.07");
    assert_text(GPU_PERCENT, 100, "1.00");
    assert_text(GPU_TENTHS, 90, "9.0");
    assert_text(GPU_HZ, 1980000000, "1980000000");
    assert_text(GPU_SWITCH, 1, "on");
    assert_text(GPU_COMPUTE_MODE, 7, "other");
    assert_text(GPU_REASONS, 0, "none");
    assert_text(GPU_REASONS, GPU_CLOCK_POWER_CAP | GPU_CLOCK_DISPLAY, "power-cap,display");
    assert_text(GPU_REASONS, 1 << 20, "other");
}

static void only_numbers_are_read(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "-", ".", "1.2345", "1e3", " 1", "0x10", "99999999999999999999", "1.2.3"};
    int64_t value = 42;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(gpu_value_parse(GPU_MILLIWATTS, wrong[i], &value));
    assert_int_equal(value, 42);
    assert_true(gpu_value_parse(GPU_MILLIWATTS, "-1.5", &value));
    assert_int_equal(value, -1500);
    assert_false(gpu_value_parse(GPU_SWITCH, "1", &value));
}

static void a_fact_is_found_with_its_number_or_its_reason(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    uint32_t source = run_add_source(&run, "test", "made by hand");
    run_fact(&run, source, "gpu.GPU-1.end.power_watts", "12.5", 4);
    run_fact(&run, source, "gpu.GPU-1.end.sm_clock_hz_why", "lost", 4);
    run_fact(&run, source, "gpu.GPU-1.end.memory_clock_hz_why", "of no name", 10);
    assert_int_equal(gpu_fact_reading(&run, "GPU-1", "end.power_watts", GPU_MILLIWATTS).value, 12500);
    assert_int_equal(gpu_fact_reading(&run, "GPU-1", "end.sm_clock_hz", GPU_HZ).state, READING_LOST);
    assert_int_equal(gpu_fact_reading(&run, "GPU-1", "end.memory_clock_hz", GPU_HZ).state, READING_FAILED);
    assert_int_equal(gpu_fact_reading(&run, "GPU-2", "end.power_watts", GPU_MILLIWATTS).state,
                     READING_UNREAD);
    assert_null(gpu_fact(&run, "GPU-1", "end.sm_clock_hz"));
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zeroed_reading_says_that_nobody_looked),
        cmocka_unit_test(every_state_has_a_name_of_its_own_and_a_meaning),
        cmocka_unit_test(a_gain_is_known_only_between_two_known_readings),
        cmocka_unit_test(what_no_gpu_can_have_is_implausible),
        cmocka_unit_test(values_are_written_in_the_unit_of_their_key_and_read_back),
        cmocka_unit_test(only_numbers_are_read),
        cmocka_unit_test(a_fact_is_found_with_its_number_or_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
