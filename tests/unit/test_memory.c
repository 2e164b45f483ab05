/* memory_build(): the allocator's curve, its peak and when. */
#include "cmocka_all.h"
#include "make_report.h"

static void make_sample(struct run *run, uint32_t series, int64_t time, double value)
{
    size_t i = sample_table_add(&run->samples);
    run->samples.time[i] = time;
    run->samples.value[i] = value;
    run->samples.series[i] = series;
}

static void the_peak_and_its_moment_are_found(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    m.run.devices.at[m.device].memory_bytes = 1 << 30;
    uint32_t allocated = run_series(&m.run, "memory allocated", m.device, m.process, UNIT_BYTES);
    uint32_t reserved = run_series(&m.run, "memory reserved", m.device, m.process, UNIT_BYTES);
    uint32_t power = run_series(&m.run, "power", m.device, NONE, UNIT_WATTS);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_sample(&m.run, allocated, 50, 700); /* samples come in any order */
    make_sample(&m.run, allocated, 10, 200);
    make_sample(&m.run, allocated, 90, 300);
    make_sample(&m.run, allocated, 60, 700); /* the first moment of the peak counts */
    make_sample(&m.run, reserved, 20, 4096);
    make_sample(&m.run, power, 20, 1e6);
    make_report(&report, &m.run);
    memory_build(&report);
    assert_int_equal(report.memory.count, 1);
    const struct memory_report *row = &report.memory.at[0];
    assert_int_equal(row->device, m.device);
    assert_int_equal(row->process, m.process);
    assert_int_equal(row->peak_allocated_bytes, 700);
    assert_int_equal(row->peak_time, 50);
    assert_int_equal(row->peak_reserved_bytes, 4096);
    assert_int_equal(row->first_allocated_bytes, 200);
    assert_int_equal(row->last_allocated_bytes, 300);
    assert_int_equal(row->total_bytes, 1 << 30);
    assert_int_equal(row->samples, 5);
    report_release(&report);
    run_release(&m.run);
}

static void samples_outside_the_window_and_of_the_host_are_left_out(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t allocated = run_series(&m.run, "memory allocated", m.device, m.process, UNIT_BYTES);
    uint32_t host = run_series(&m.run, "memory allocated", NONE, m.process, UNIT_BYTES);
    make_kernel(&m.run, m.stream, "k", 0, 1000, 0);
    make_sample(&m.run, allocated, 10, 900);
    make_sample(&m.run, allocated, 200, 100);
    make_sample(&m.run, allocated, 300, 150);
    make_sample(&m.run, allocated, 301, 999);
    make_sample(&m.run, host, 250, 5000);
    make_narrow_report(&report, &m.run, 100, 300);
    memory_build(&report);
    assert_int_equal(report.memory.count, 1);
    assert_int_equal(report.memory.at[0].peak_allocated_bytes, 150);
    assert_int_equal(report.memory.at[0].samples, 2);
    assert_true(report.memory.at[0].peak_reserved_bytes == UNKNOWN);
    report_release(&report);
    run_release(&m.run);
}

static void impossible_values_are_skipped(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t allocated = run_series(&m.run, "memory allocated", m.device, m.process, UNIT_BYTES);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_sample(&m.run, allocated, 10, NAN);
    make_sample(&m.run, allocated, 20, -5);
    make_sample(&m.run, allocated, 30, 1e300);
    make_report(&report, &m.run);
    memory_build(&report);
    assert_int_equal(report.memory.count, 0); /* nothing left to report */
    report_release(&report);
    run_release(&m.run);
}

static void processes_have_their_own_curves(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t other = run_process(&m.run, m.source, 200);
    uint32_t mine = run_series(&m.run, "memory allocated", m.device, m.process, UNIT_BYTES);
    uint32_t theirs = run_series(&m.run, "memory allocated", m.device, other, UNIT_BYTES);
    make_kernel(&m.run, m.stream, "k", 0, 100, 0);
    make_sample(&m.run, mine, 10, 1);
    make_sample(&m.run, theirs, 10, 2);
    make_report(&report, &m.run);
    memory_build(&report);
    assert_int_equal(report.memory.count, 2);
    assert_int_equal(report.memory.at[1].peak_allocated_bytes, 2);
    report_release(&report);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_and_its_moment_are_found),
        cmocka_unit_test(samples_outside_the_window_and_of_the_host_are_left_out),
        cmocka_unit_test(impossible_values_are_skipped),
        cmocka_unit_test(processes_have_their_own_curves),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
