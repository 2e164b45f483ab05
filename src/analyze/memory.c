/* The memory curve of each process on each device, from the allocator's own counters. */
#include <math.h>
#include <string.h>

#include "analyze/analyze.h"

enum curve { CURVE_NONE, CURVE_ALLOCATED, CURVE_RESERVED };

/* Which curve each series is, and the row of report->memory that it belongs to. */
struct curve_of {
    enum curve curve;
    uint32_t row;
};

static enum curve curve_of_name(const char *name)
{
    return strcmp(name, "memory allocated") == 0  ? CURVE_ALLOCATED
           : strcmp(name, "memory reserved") == 0 ? CURVE_RESERVED
                                                  : CURVE_NONE;
}

static bool is_reported(const struct report *report, uint32_t device)
{
    vec_each (&report->devices, row) {
        if (row->device == device)
            return true;
    }
    return report->devices.count == 0 && !report->narrowed; /* memory without any GPU work is worth a row */
}

static uint32_t find_row(struct report *report, uint32_t device, uint32_t process)
{
    vec_each (&report->memory, row) {
        if (row->device == device && row->process == process)
            return (uint32_t)(row - report->memory.at);
    }
    vec_push(&report->memory, ((struct memory_report){
                                  .device = device,
                                  .process = process,
                                  .peak_allocated_bytes = UNKNOWN,
                                  .peak_reserved_bytes = UNKNOWN,
                                  .peak_time = UNKNOWN,
                                  .first_allocated_bytes = UNKNOWN,
                                  .last_allocated_bytes = UNKNOWN,
                                  .total_bytes = report->run->devices.at[device].memory_bytes,
                              }));
    return (uint32_t)(report->memory.count - 1);
}

static void add_sample(struct memory_report *row, enum curve curve, int64_t time, int64_t bytes)
{
    row->samples++;
    if (curve == CURVE_RESERVED) {
        row->peak_reserved_bytes = max_ns(row->peak_reserved_bytes, bytes);
        return;
    }
    if (row->first_allocated_bytes == UNKNOWN)
        row->first_allocated_bytes = bytes;
    row->last_allocated_bytes = bytes;
    if (bytes > row->peak_allocated_bytes) {
        row->peak_allocated_bytes = bytes;
        row->peak_time = time;
    }
}

void memory_build(struct report *report)
{
    const struct run *run = report->run;
    const struct sample_table *samples = &run->samples;
    struct curve_of *curves = mem_zalloc(run->series.count, sizeof *curves);
    for (size_t s = 0; s < run->series.count; s++) {
        const struct counter_series *series = &run->series.at[s];
        if (series->device != NONE && is_reported(report, series->device))
            curves[s].curve = curve_of_name(run_text(run, series->name));
        if (curves[s].curve != CURVE_NONE)
            curves[s].row = find_row(report, series->device, series->process);
    }
    for (size_t i = 0; i < samples->count; i++) {
        const struct curve_of *of = &curves[samples->series[i]];
        double bytes = samples->value[i];
        if (of->curve != CURVE_NONE && bytes >= 0 && bytes < 0x1p63 &&
            samples->time[i] >= report->window.start && samples->time[i] <= report->window.end)
            add_sample(&report->memory.at[of->row], of->curve, samples->time[i], (int64_t)bytes);
    }
    size_t kept = 0;
    vec_each (&report->memory, row) {
        if (row->samples > 0)
            report->memory.at[kept++] = *row;
    }
    report->memory.count = kept;
    free(curves);
}
