#include "source/machine_series.h"

#include <stdio.h>
#include <string.h>

#include "source/gpu_facts.h"

/* More would not be GPUs: devices come and go by key. */
enum { MOST_DEVICES = 1024 };

/* The unit of a counter, and what a value is multiplied by; 0 where it is no series. */
static double counter_scale(enum gpu_unit unit, enum counter_unit *counter)
{
    switch (unit) {
    case GPU_PERCENT:
        *counter = UNIT_RATIO;
        return 1e-2;
    case GPU_PERMILLE:
        *counter = UNIT_RATIO;
        return 1e-3;
    case GPU_BYTES:
        *counter = UNIT_BYTES;
        return 1;
    case GPU_BYTES_PER_S:
        *counter = UNIT_BYTES_PER_S;
        return 1;
    case GPU_MILLIWATTS:
        *counter = UNIT_WATTS;
        return 1e-3;
    case GPU_CELSIUS:
        *counter = UNIT_CELSIUS;
        return 1;
    default:
        return 0;
    }
}

/* What gpu_series_add() writes already. */
static bool is_written(const struct gpu_field *field)
{
    return field->offset == offsetof(struct machine_detail, power_cap) ||
           field->offset == offsetof(struct machine_detail, heat) ||
           field->offset == offsetof(struct machine_detail, power_brake);
}

static void add_detail(struct run *run, uint32_t device, int64_t time, const struct machine_detail *detail)
{
    for (const struct gpu_field *field = machine_detail_fields; field->key; field++) {
        enum counter_unit unit = UNIT_NONE;
        struct reading r = gpu_get(detail, field);
        double scale = counter_scale(field->unit, &unit);
        if (!reading_is_known(r) || scale == 0 || is_written(field))
            continue;
        size_t row = sample_table_add(&run->samples);
        run->samples.time[row] = time;
        run->samples.value[row] = (double)r.value * scale;
        run->samples.series[row] = run_series(run, field->title, device, NONE, unit);
    }
}

static struct machine_series_device *find_or_add(struct machine_series *series, struct run *run,
                                                 uint32_t source, const struct machine_device *d)
{
    vec_each (&series->devices, known)
        if (strcmp(known->key, d->key) == 0)
            return known;
    if (series->devices.count == MOST_DEVICES)
        return NULL;
    struct machine_series_device *added = vec_new(&series->devices);
    memcpy(added->key, d->key, sizeof added->key);
    /* The drivers' numbers are not one numbering: cardN of one may be GPU N of the other. */
    added->device = run_device(run, source, (int64_t)series->devices.count - 1);
    struct device *device = &run->devices.at[added->device];
    device->name = intern_puts(&run->strings, d->facts.name);
    device->uuid = intern_puts(&run->strings, d->key);
    device->vendor = d->vendor;
    if (reading_is_known(d->facts.memory))
        device->memory_bytes = d->facts.memory.value;
    struct gpu_facts facts = d->facts;
    memcpy(facts.uuid, d->key, sizeof facts.uuid);
    gpu_facts_static(run, source, &facts);
    return added;
}

void machine_series_add(struct machine_series *series, struct run *run, uint32_t source,
                        const struct machine_sample *sample)
{
    vec_each (&sample->devices, d) {
        if (d->state != READING_KNOWN)
            continue;
        struct machine_series_device *known = find_or_add(series, run, source, d);
        if (!known || d->sample.time_ns <= known->last.time_ns)
            continue;
        gpu_series_add(&known->series, run, known->device, &known->last, &d->sample);
        add_detail(run, known->device, d->sample.time_ns, &d->detail);
        known->last = d->sample;
    }
}

void machine_series_release(struct machine_series *series)
{
    vec_release(&series->devices);
}
