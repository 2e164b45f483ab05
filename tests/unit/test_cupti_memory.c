/* The books of a process's memory: whatever order its records come in, they balance. */
#include "cmocka_all.h"
#include "source/cupti_memory.h"

static const int64_t ms = 1000 * 1000;

static void move(struct cupti_memory *m, uint32_t curve, int64_t time, uint64_t address, int64_t bytes)
{
    cupti_memory_add(m, &(struct cupti_memory_event){.time = time,
                                                     .address = address,
                                                     .bytes = bytes < 0 ? -bytes : bytes,
                                                     .curve = curve,
                                                     .is_release = bytes < 0});
}

static double last(const struct run *run)
{
    return run->samples.value[run->samples.count - 1];
}

static void a_release_before_its_allocation_balances(void **state)
{
    (void)state;
    struct run run;
    struct cupti_memory m = {0};
    run_init(&run);
    uint32_t curve = cupti_memory_curve(&m, &run, "memory allocated", NONE, NONE, UNIT_BYTES);
    move(&m, curve, 1 * ms, 1, 100);
    move(&m, curve, 9 * ms, 2, -50); /* heard of first */
    cupti_memory_settle(&m, &run);
    move(&m, curve, 5 * ms, 2, 50);
    cupti_memory_settle(&m, &run);
    assert_true(last(&run) == 100);
    move(&m, curve, 20 * ms, 2, 70); /* the address is used again */
    cupti_memory_settle(&m, &run);
    assert_true(last(&run) == 170);
    cupti_memory_release(&m);
    run_release(&run);
}

static void a_release_gives_back_what_was_allocated(void **state)
{
    (void)state;
    struct run run;
    struct cupti_memory m = {0};
    run_init(&run);
    uint32_t curve = cupti_memory_curve(&m, &run, "memory allocated", NONE, NONE, UNIT_BYTES);
    uint32_t other = cupti_memory_curve(&m, &run, "managed memory allocated", NONE, NONE, UNIT_BYTES);
    assert_int_equal(cupti_memory_curve(&m, &run, "memory allocated", NONE, NONE, UNIT_BYTES), curve);
    move(&m, curve, 1 * ms, 1, 100);
    move(&m, other, 1 * ms, 1, 30); /* the same address elsewhere */
    move(&m, curve, 3 * ms, 1, -1);
    move(&m, curve, 4 * ms, 7, -1000); /* of an allocation before the recording */
    cupti_memory_settle(&m, &run);
    assert_int_equal(m.curves.at[curve].now, 0);
    assert_int_equal(m.curves.at[curve].peak, 100);
    assert_int_equal(m.curves.at[other].now, 30);
    cupti_memory_release(&m);
    run_release(&run);
}

static void a_busy_allocator_costs_one_sample_a_millisecond_and_no_peak(void **state)
{
    (void)state;
    enum { TIMES = 1000 };
    struct run run;
    struct cupti_memory m = {0};
    run_init(&run);
    uint32_t curve = cupti_memory_curve(&m, &run, "memory allocated", NONE, NONE, UNIT_BYTES);
    for (int i = 0; i < TIMES; i++) {
        move(&m, curve, i * 10000, 1, 100 + (i == TIMES / 2));
        move(&m, curve, i * 10000 + 5000, 1, -100);
    }
    cupti_memory_settle(&m, &run);
    assert_in_range(run.samples.count, TIMES / 100, TIMES / 100 + 4);
    double peak = 0;
    for (size_t i = 0; i < run.samples.count; i++)
        peak = run.samples.value[i] > peak ? run.samples.value[i] : peak;
    assert_true(peak == 101);
    assert_true(last(&run) == 0);
    cupti_memory_release(&m);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_before_its_allocation_balances),
        cmocka_unit_test(a_release_gives_back_what_was_allocated),
        cmocka_unit_test(a_busy_allocator_costs_one_sample_a_millisecond_and_no_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
