#include "source/gpu_series.h"

#include <string.h>

/* Counters that are levels, in the units of run->series. */
static const struct {
    const char *name;
    size_t offset;
    enum counter_unit unit;
    double scale;
} levels[] = {
    {GPU_SERIES_SM_CLOCK, offsetof(struct gpu_sample, sm_clock), UNIT_HZ, 1},
    {"memory clock", offsetof(struct gpu_sample, memory_clock), UNIT_HZ, 1},
    {"power", offsetof(struct gpu_sample, power), UNIT_WATTS, 1e-3},
    {GPU_SERIES_TEMPERATURE, offsetof(struct gpu_sample, temperature), UNIT_CELSIUS, 1},
    {"memory temperature", offsetof(struct gpu_sample, memory_temperature), UNIT_CELSIUS, 1},
    {"memory used", offsetof(struct gpu_sample, memory_used), UNIT_BYTES, 1},
    {"GPU utilization", offsetof(struct gpu_sample, utilization), UNIT_RATIO, 1e-2},
    {"clock event reasons", offsetof(struct gpu_sample, clock_reasons), UNIT_NONE, 1},
    {"PCIe generation", offsetof(struct gpu_sample, pcie_generation), UNIT_NONE, 1},
    {"PCIe width", offsetof(struct gpu_sample, pcie_width), UNIT_NONE, 1},
};

bool gpu_series_has(size_t offset)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].offset == offset)
            return true;
    return false;
}

bool gpu_series_find(const char *name, size_t *offset, double *scale)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(levels[i].name, name) != 0)
            continue;
        *offset = levels[i].offset;
        *scale = levels[i].scale;
        return true;
    }
    return false;
}

static void add(struct run *run, uint32_t device, const char *name, enum counter_unit unit, int64_t time,
                double value)
{
    size_t row = sample_table_add(&run->samples);
    run->samples.time[row] = time;
    run->samples.value[row] = value;
    run->samples.series[row] = run_series(run, name, device, NONE, unit);
}

/* Reasons overlap (the driver acts on what the hardware does): the larger gain is the time held. */
static struct reading larger(struct reading a, struct reading b)
{
    if (!reading_is_known(a))
        return b;
    return reading_is_known(b) && b.value > a.value ? b : a;
}

/* The part of a gain that can have been in the time elapsed; the rest is kept for later. */
static struct reading take_held(int64_t *owed, struct reading gain, int64_t elapsed)
{
    if (!reading_is_known(gain))
        return gain;
    if (__builtin_add_overflow(*owed, gain.value, owed))
        *owed = 0; /* no such time can be: the counter is nonsense */
    int64_t held = min_ns(*owed, elapsed);
    *owed -= held;
    return reading_of(held);
}

void gpu_series_held(struct gpu_series *series, const struct gpu_sample *before,
                     const struct gpu_sample *sample, struct gpu_held *held)
{
    struct reading heat =
        larger(larger(reading_gain(before->software_thermal_time, sample->software_thermal_time),
                      reading_gain(before->hardware_thermal_time, sample->hardware_thermal_time)),
               reading_gain(before->thermal_time, sample->thermal_time));
    int64_t elapsed = sample->time_ns - before->time_ns;
    *held = (struct gpu_held){0};
    if (elapsed <= 0)
        return;
    held->power_cap = take_held(&series->power_cap_ns,
                                reading_gain(before->power_cap_time, sample->power_cap_time), elapsed);
    held->heat = take_held(&series->heat_ns, heat, elapsed);
    held->power_brake = take_held(&series->power_brake_ns,
                                  reading_gain(before->power_brake_time, sample->power_brake_time), elapsed);
}

static void add_held(struct run *run, uint32_t device, const char *name, struct reading held,
                     const struct gpu_sample *before, const struct gpu_sample *sample)
{
    if (reading_is_known(held))
        add(run, device, name, UNIT_RATIO, sample->time_ns,
            (double)held.value / (double)(sample->time_ns - before->time_ns));
}

static void add_levels(struct run *run, uint32_t device, const struct gpu_sample *sample)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct reading reading;
        memcpy(&reading, (const char *)sample + levels[i].offset, sizeof reading);
        if (reading_is_known(reading))
            add(run, device, levels[i].name, levels[i].unit, sample->time_ns,
                (double)reading.value * levels[i].scale);
    }
}

void gpu_series_add(struct gpu_series *series, struct run *run, uint32_t device,
                    const struct gpu_sample *before, const struct gpu_sample *sample)
{
    add_levels(run, device, sample);
    bool first = !series->begun;
    series->begun = true;
    if (first)
        return;
    struct gpu_held held;
    gpu_series_held(series, before, sample, &held);
    add_held(run, device, GPU_SERIES_POWER_CAP, held.power_cap, before, sample);
    add_held(run, device, GPU_SERIES_HEAT, held.heat, before, sample);
    add_held(run, device, GPU_SERIES_POWER_BRAKE, held.power_brake, before, sample);
}
