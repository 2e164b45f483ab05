/* Rates of NVML's counters: those move in steps, and the first answer of a driver may be slow. */
#include "cmocka_all.h"

#include <poll.h>

#include "base/clock.h"
#include "source/nvml_detail.h"

static const int64_t millisecond = 1000000, start = INT64_C(1700000000000000000);

static int64_t counted_ns; /* when the slow driver had counted */

static int slow_fields(nvml_device device, int count, struct nvml_field *fields)
{
    (void)device;
    (void)count;
    (void)fields;
    poll(NULL, 0, 20);
    counted_ns = clock_ns(CLOCK_REALTIME);
    return NVML_OK;
}

static void a_sample_is_of_the_moment_at_which_its_counters_were_read(void **state)
{
    (void)state;
    static struct nvml n;
    struct gpu_sample sample;
    n = (struct nvml){.call.fields = slow_fields};
    nvml_sample(&n, NULL, NVML_LIGHT, &sample);
    assert_true(counted_ns > 0 && sample.time_ns >= counted_ns);
}

static int of_the_gpu; /* the return code of every question about it */

static int power_limit_of(nvml_device device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 700000;
    return of_the_gpu;
}

static int clock_of(nvml_device device, int domain, unsigned *mhz)
{
    (void)device;
    (void)domain;
    *mhz = 1980;
    return of_the_gpu;
}

static int memory_of(nvml_device device, struct nvml_memory *memory)
{
    (void)device;
    *memory = (struct nvml_memory){.total = 3, .used = 1, .free = 2};
    return of_the_gpu;
}

static void a_lost_gpu_keeps_no_value_of_before(void **state)
{
    (void)state;
    enum { LOST = 15 };
    static struct nvml n;
    struct nvml_paced paced = {0};
    struct gpu_sample sample;
    n = (struct nvml){.call = {.power_limit = power_limit_of, .clock = clock_of, .memory = memory_of}};
    of_the_gpu = NVML_OK;
    assert_true(nvml_sample_paced(&n, NULL, &paced, &sample));
    assert_true(reading_is_known(sample.power_limit));
    nvml_sample_paced(&n, NULL, &paced, &sample);
    assert_false(nvml_sample_paced(&n, NULL, &paced, &sample)); /* too soon, so that the limit is kept */
    assert_true(reading_is_known(sample.power_limit));
    of_the_gpu = LOST;
    assert_false(nvml_sample_paced(&n, NULL, &paced, &sample));
    assert_true(nvml_is_lost(&sample));
    assert_int_equal(sample.power_limit.state, READING_LOST);
    of_the_gpu = NVML_OK; /* and it is asked for at once when the GPU is back */
    assert_true(nvml_sample_paced(&n, NULL, &paced, &sample));
    assert_true(reading_is_known(sample.power_limit));
}

/* A GPU whose clocks are held all the time, at so many ms. */
static struct gpu_sample held_at(int64_t ms)
{
    enum { STEP_MS = 100, MILLIWATTS = 700000, JOULE_MS = 1000 };
    int64_t counted = ms / STEP_MS * STEP_MS;
    return (struct gpu_sample){.time_ns = start + ms * millisecond,
                               .power_cap_time = reading_of(counted * millisecond),
                               .thermal_time = reading_of(0),
                               .energy = reading_of(counted * MILLIWATTS / JOULE_MS)};
}

static struct machine_detail look(struct nvml_detail *state, int64_t ms)
{
    static const struct nvml absent;
    const struct gpu_facts facts = {0};
    struct gpu_sample sample = held_at(ms);
    struct machine_detail detail;
    nvml_detail(&absent, NULL, state, &facts, &sample, true, &detail);
    return detail;
}

static void a_share_of_less_than_a_second_is_not_known(void **state)
{
    (void)state;
    struct nvml_detail seen = {0};
    /* Two steps lie between, one of which the driver has not counted yet. */
    assert_int_equal(look(&seen, 101).power_cap.state, READING_UNREAD);
    assert_int_equal(look(&seen, 299).power_cap.state, READING_UNREAD);
    struct machine_detail detail = look(&seen, 101 + 999);
    assert_in_range(detail.power_cap.value, 900, 1000);
    assert_int_equal(detail.heat.value, 0);
    assert_in_range(detail.power_average.value, 630000, 770000);
    detail = look(&seen, 1200); /* within the next second that of the last one holds */
    assert_in_range(detail.power_cap.value, 900, 1000);
}

static void steps_even_out_over_time(void **state)
{
    (void)state;
    enum { SECONDS = 60, PERIOD_MS = 130 };
    struct nvml_detail seen = {0};
    int64_t sum = 0, count = 0;
    for (int64_t ms = 50; ms < SECONDS * 1000; ms += PERIOD_MS) {
        struct reading share = look(&seen, ms).power_cap;
        if (!reading_is_known(share))
            continue;
        assert_in_range(share.value, 850, 1000);
        sum += share.value;
        count++;
    }
    assert_true(count > 0 && sum / count >= 990);
}

static void a_clock_that_is_set_back_begins_anew(void **state)
{
    (void)state;
    struct nvml_detail seen = {0};
    look(&seen, 5000);
    look(&seen, 7000);
    look(&seen, 1000);
    assert_in_range(look(&seen, 2000).power_cap.value, 900, 1000);
}

static int traffic_fields(nvml_device device, int count, struct nvml_field *fields)
{
    enum { TYPE_ULLONG = 3 };
    static unsigned long long sent;
    (void)device;
    sent += 1 << 20;
    for (int i = 0; i < count; i++) {
        fields[i].type = TYPE_ULLONG;
        fields[i].value.ull = sent;
    }
    return NVML_OK;
}

static void traffic_is_not_known_where_the_clock_was_set_back(void **state)
{
    (void)state;
    static struct nvml n;
    struct nvml_link link = {0};
    struct machine_detail before = {0}, back = {0}, after = {0};
    n = (struct nvml){.call.fields = traffic_fields};
    nvml_link_traffic(&n, NULL, start, &link, &before);
    nvml_link_traffic(&n, NULL, start - 1000 * millisecond, &link, &back);
    nvml_link_traffic(&n, NULL, start, &link, &after);
    assert_int_equal(back.pcie_send.state, READING_UNREAD);
    assert_true(reading_is_known(after.pcie_send) && after.pcie_send.value == 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_of_the_moment_at_which_its_counters_were_read),
        cmocka_unit_test(a_lost_gpu_keeps_no_value_of_before),
        cmocka_unit_test(a_share_of_less_than_a_second_is_not_known),
        cmocka_unit_test(steps_even_out_over_time),
        cmocka_unit_test(a_clock_that_is_set_back_begins_anew),
        cmocka_unit_test(traffic_is_not_known_where_the_clock_was_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
