/* How the SMs were used while the GPU was busy, where the recording has the driver's counters of it (GPM).
 *
 * Each sample is a mean of the time since the one before it, so the samples of a series cover one stretch of
 * time without a hole. What the SMs did in it they did while the GPU was busy: the share of the busy time is
 * the sum over it by the busy part of it. A sample that reaches over an end of the window counts whole where
 * the GPU did nothing beyond, and not at all where it did: nobody knows how much of it was when. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "model/machine.h"

static const struct {
    size_t field; /* of struct machine_detail: its title is the name of the series */
    size_t ratio; /* of struct gpu_use */
} used[] = {
    {offsetof(struct machine_detail, sm_active), offsetof(struct gpu_use, sm_active_ratio)},
    {offsetof(struct machine_detail, sm_occupancy), offsetof(struct gpu_use, sm_occupancy_ratio)},
    {offsetof(struct machine_detail, tensor_active), offsetof(struct gpu_use, tensor_active_ratio)},
    {offsetof(struct machine_detail, memory_bandwidth), offsetof(struct gpu_use, memory_bandwidth_ratio)},
};
enum { USED = sizeof used / sizeof *used };

struct watched {
    int64_t before;      /* moment of the sample before the next one; UNKNOWN */
    int64_t first, last; /* of the stretch that the samples cover; UNKNOWN */
    double sum_ns;       /* Σ value × time */
};

static const char *title_of(size_t offset)
{
    for (const struct gpu_field *field = machine_detail_fields; field->key; field++)
        if (field->offset == offset)
            return field->title;
    return "";
}

/* USED × the row of the device, and which of them it is; NONE: another series. */
static uint32_t place_of(const struct report *report, const struct counter_series *series)
{
    if (series->device == NONE || series->process != NONE)
        return NONE;
    vec_each (&report->devices, device)
        for (uint32_t i = 0; device->device == series->device && i < USED; i++)
            if (strcmp(run_text(report->run, series->name), title_of(used[i].field)) == 0)
                return (uint32_t)(device - report->devices.at) * USED + i;
    return NONE;
}

static struct interval clip(int64_t start, int64_t end, struct interval window)
{
    start = max_ns(start, window.start);
    return (struct interval){start, max_ns(start, min_ns(end, window.end))};
}

/* The window, and the time around it in which the device did nothing. */
static struct interval with_quiet(const struct run *run, const struct device_report *report)
{
    const struct device *device = &run->devices.at[report->device];
    struct interval window = report->window, found = {INT64_MIN, INT64_MAX};
    for (size_t i = device->first_op; i < device->first_op + device->op_count; i++) {
        if (run->ops.start[i] < window.start)
            found.start = max_ns(found.start, min_ns(run->ops.end[i], window.start));
        if (run->ops.end[i] > window.end)
            found.end = min_ns(found.end, max_ns(run->ops.start[i], window.end));
    }
    return found;
}

static void add_sample(struct watched *w, int64_t time, double value, struct interval window,
                       struct interval quiet)
{
    const double most = 2; /* of a share: what is more is none */
    if (!(value >= 0 && value <= most))
        return;
    int64_t since = w->before;
    w->before = time;
    if (since == UNKNOWN || time <= window.start || since >= window.end || since < quiet.start ||
        time > quiet.end)
        return;
    w->first = w->first == UNKNOWN ? since : w->first;
    w->last = time;
    w->sum_ns += value * (double)((uint64_t)time - (uint64_t)since);
}

static int64_t busy_in(const struct report *report, const struct device_report *device, struct interval part)
{
    int64_t busy = part.end - part.start;
    vec_each (&report->gaps, gap) {
        struct interval idle = clip(gap->start, gap->end, part);
        if (gap->device == device->device)
            busy -= idle.end - idle.start;
    }
    return busy;
}

/* Known if at least half of the busy time is covered, and not where others must have used the GPU. */
static double share(const struct report *report, const struct device_report *device, const struct watched *w)
{
    const double rounding = 1.02;
    if (w->first == UNKNOWN)
        return NAN;
    int64_t busy = busy_in(report, device, clip(w->first, w->last, device->window));
    if (busy <= 0 || busy < device->busy_ns - busy)
        return NAN;
    double ratio = w->sum_ns / (double)busy;
    return ratio > rounding ? NAN : fmin(ratio, 1);
}

static bool was_paused(const struct run *run)
{
    vec_each (&run->marks, mark)
        if (mark->kind == MARK_PAUSED)
            return true;
    return false;
}

static void read_samples(const struct report *report, struct watched *watched)
{
    const struct run *run = report->run;
    uint32_t *places = mem_resize(NULL, run->series.count, sizeof *places);
    struct interval *quiet = mem_zalloc(report->devices.count, sizeof *quiet);
    for (size_t s = 0; s < run->series.count; s++) {
        uint32_t place = places[s] = place_of(report, &run->series.at[s]);
        if (place != NONE && quiet[place / USED].start == quiet[place / USED].end) /* not looked for yet */
            quiet[place / USED] = with_quiet(run, &report->devices.at[place / USED]);
    }
    for (size_t i = 0; i < run->samples.count; i++) {
        uint32_t place = places[run->samples.series[i]];
        if (place != NONE)
            add_sample(&watched[place], run->samples.time[i], run->samples.value[i],
                       report->devices.at[place / USED].window, quiet[place / USED]);
    }
    free(quiet);
    free(places);
}

void use_build(struct report *report)
{
    bool paused = was_paused(report->run); /* what ran meanwhile is not in the busy time */
    struct watched *watched = mem_zalloc(report->devices.count * USED, sizeof *watched);
    for (size_t i = 0; i < report->devices.count * USED; i++)
        watched[i].before = watched[i].first = UNKNOWN;
    read_samples(report, watched);
    for (size_t i = 0; i < report->devices.count * USED; i++) {
        struct device_report *device = &report->devices.at[i / USED];
        double ratio = paused ? NAN : share(report, device, &watched[i]);
        memcpy((char *)&device->use + used[i % USED].ratio, &ratio, sizeof ratio);
    }
    free(watched);
}
