/* API calls by name, and what the way from a launch call to the start of its work costs. */
#include <math.h>
#include <stdlib.h>

#include "analyze/analyze.h"
#include "analyze/cover.h"
#include "analyze/tally.h"

struct calls {
    const struct run *run;
    struct launch_stats *stats;
    struct tally tally;    /* durations of calls by name */
    int64_t *launched;     /* by group of the tally */
    uint64_t *launching;   /* one bit a span: it started an op that was counted */
    struct cover *streams; /* by stream: when it was busy, up to the op at hand */
    int64_t *call_ns;      /* durations of launching calls */
    int64_t *delays;       /* of ops with a call */
    int64_t *floors;       /* call start → op start, on an idle device */
    size_t floor_count;
};

/* ---- calls by name ------------------------------------------------------------------------------------- */

static bool is_counted(const struct span_table *spans, size_t span, struct interval window)
{
    return spans->kind[span] == SPAN_API && op_in_window(spans->start[span], spans->end[span], window);
}

static void tally_calls(struct calls *c, struct interval window)
{
    const struct span_table *spans = &c->run->spans;
    tally_init(&c->tally, c->run->strings.count);
    for (size_t span = 0; span < spans->count; span++)
        if (is_counted(spans, span, window))
            tally_count(&c->tally, spans->name[span]);
    tally_layout(&c->tally);
    for (size_t span = 0; span < spans->count; span++)
        if (is_counted(spans, span, window))
            tally_add(&c->tally, spans->name[span],
                      min_ns(spans->end[span], window.end) - max_ns(spans->start[span], window.start));
}

static int by_total(const void *a, const void *b)
{
    const struct call_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns < right->total_ns ? 1 : -1;
    return (left->name > right->name) - (left->name < right->name);
}

static void make_rows(struct report *report, struct calls *c)
{
    vec_each (&c->tally.groups, group) {
        vec_push(&report->calls, ((struct call_row){
                                     .name = group->key,
                                     .count = group->count,
                                     .total_ns = group->total,
                                     .min_ns = group->min,
                                     .median_ns = tally_median(&c->tally, group),
                                     .max_ns = group->max,
                                     .launched_ops = c->launched[c->tally.group_of[group->key]],
                                 }));
    }
    if (report->calls.count > 0)
        qsort(report->calls.at, report->calls.count, sizeof *report->calls.at, by_total);
}

/* ---- launches ------------------------------------------------------------------------------------------ */

static void add_launching_call(struct calls *c, uint32_t call)
{
    uint64_t *word = &c->launching[call / 64], bit = 1ull << call % 64;
    if (*word & bit)
        return;
    *word |= bit;
    int64_t ns = c->run->spans.end[call] - c->run->spans.start[call];
    c->call_ns[c->stats->launches++] = ns;
    c->stats->call_total_ns += ns;
}

/* One op that has a call. idle_since: when the last of the ops before it on its device ended. */
static void add_launched(struct calls *c, uint32_t op, int64_t idle_since)
{
    const struct op_table *ops = &c->run->ops;
    struct launch_stats *stats = c->stats;
    uint32_t call = ops->call[op];
    int64_t start = ops->start[op];
    int64_t call_start = c->run->spans.start[call], call_end = c->run->spans.end[call];
    bool is_kernel = ops->kind[op] == OP_KERNEL;
    add_launching_call(c, call);
    uint32_t group = c->tally.group_of[c->run->spans.name[call]];
    if (group != NONE)
        c->launched[group]++;
    int64_t delay = max_ns(start - call_end, 0);
    if (delay > 0) {
        int64_t own = cover_between(&c->streams[ops->stream[op]], call_end, start);
        stats->delay_own_stream_ns += own;
        stats->delay_hardware_ns += delay - own;
    }
    stats->delay_total_ns += delay;
    stats->delay_max_ns = max_ns(stats->delay_max_ns, delay);
    c->delays[stats->delay_count++] = delay;
    stats->shorter_than_call += is_kernel && ops->end[op] - start < call_end - call_start;
    if ((is_kernel || ops->kind[op] == OP_GRAPH) && idle_since <= call_start && call_start <= start)
        c->floors[c->floor_count++] = start - call_start;
}

static void sweep_device(struct calls *c, const struct device_report *device)
{
    const struct op_table *ops = &c->run->ops;
    uint32_t end = ops_in_window(c->run, device->device, device->window).end;
    int64_t busy_until = INT64_MIN;
    for (uint32_t op = c->run->devices.at[device->device].first_op; op < end; op++) {
        if (ops->call[op] != NONE && op_in_window(ops->start[op], ops->end[op], device->window))
            add_launched(c, op, busy_until);
        cover_add(&c->streams[ops->stream[op]], ops->start[op], ops->end[op]);
        busy_until = max_ns(busy_until, ops->end[op]);
    }
}

static void finish_stats(struct calls *c, struct interval window)
{
    struct launch_stats *stats = c->stats;
    size_t calls = (size_t)stats->launches, delays = (size_t)stats->delay_count;
    stats->call_median_ns = stat_percentile(c->call_ns, calls, 0.5);
    stats->delay_median_ns = stat_percentile(c->delays, delays, 0.5);
    stats->delay_p95_ns = stat_percentile(c->delays, delays, 0.95);
    stats->floor_ns = stat_percentile(c->floors, c->floor_count, 0.05);
    stats->launches_per_s =
        window.end > window.start ? (double)stats->launches * 1e9 / (double)(window.end - window.start) : NAN;
    if (delays == 0)
        stats->delay_max_ns = UNKNOWN;
}

void calls_build(struct report *report)
{
    const struct run *run = report->run;
    struct calls c = {.run = run, .stats = &report->launches};
    size_t ops = 0;
    vec_each (&report->devices, device)
        ops += run->devices.at[device->device].op_count;
    tally_calls(&c, report->window);
    c.launched = mem_zalloc(c.tally.groups.count, sizeof *c.launched);
    c.launching = mem_zalloc(run->spans.count / 64 + 1, sizeof *c.launching);
    c.streams = mem_zalloc(run->streams.count, sizeof *c.streams);
    c.call_ns = mem_resize(NULL, ops, sizeof *c.call_ns);
    c.delays = mem_resize(NULL, ops, sizeof *c.delays);
    c.floors = mem_resize(NULL, ops, sizeof *c.floors);
    vec_each (&report->devices, device)
        sweep_device(&c, device);
    finish_stats(&c, report->window);
    make_rows(report, &c);
    for (size_t s = 0; s < run->streams.count; s++)
        cover_release(&c.streams[s]);
    free(c.launched);
    free(c.launching);
    free(c.streams);
    free(c.call_ns);
    free(c.delays);
    free(c.floors);
    tally_release(&c.tally);
}
