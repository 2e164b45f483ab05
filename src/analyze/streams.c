/* What each stream did, and how many ran at once: one sweep over a device's ops, which are sorted by start,
 * with a heap of the streams that are busy at the moment. */
#include <math.h>
#include <stdlib.h>

#include "analyze/analyze.h"

struct active {
    int64_t until; /* no later than the stream's real end: see stream_state.busy_until */
    uint32_t stream;
};

struct stream_state {
    int64_t ops, busy_ns, sum_ns, alone_ns;
    int64_t busy_until;
    bool is_active; /* has its one entry in the heap */
};

struct sweep {
    struct stream_state *streams; /* by stream */
    VEC(struct active) heap;      /* earliest until first */
    struct concurrency_report *report;
    int64_t now;
    int64_t busy_ns, stream_ns; /* time with a busy stream; the same times their number */
};

/* ---- heap ---------------------------------------------------------------------------------------------- */

static void heap_push(struct sweep *sweep, struct active entry)
{
    vec_push(&sweep->heap, entry);
    struct active *heap = sweep->heap.at;
    size_t at = sweep->heap.count - 1;
    while (at > 0 && heap[(at - 1) / 2].until > entry.until) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

/* Puts entry in the place of the earliest one. */
static void heap_replace_top(struct active *heap, size_t count, struct active entry)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && heap[child + 1].until < heap[child].until)
            child++;
        if (heap[child].until >= entry.until)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* ---- sweep --------------------------------------------------------------------------------------------- */

/* Books [now, until), during which the same streams are busy. */
static void book(struct sweep *sweep, int64_t until)
{
    int64_t ns = until - sweep->now, busy = (int64_t)sweep->heap.count;
    sweep->now = until;
    if (busy == 0 || ns <= 0)
        return;
    sweep->busy_ns += ns;
    sweep->stream_ns += ns * busy;
    if (busy == 1)
        sweep->streams[sweep->heap.at[0].stream].alone_ns += ns;
    else
        sweep->report->ns_at_least_two += ns;
    sweep->report->max_streams = max_ns(sweep->report->max_streams, busy);
}

static void advance(struct sweep *sweep, int64_t until)
{
    while (sweep->heap.count > 0 && sweep->heap.at[0].until <= until) {
        struct active top = sweep->heap.at[0];
        struct stream_state *stream = &sweep->streams[top.stream];
        if (stream->busy_until > top.until) { /* it got more work meanwhile */
            top.until = stream->busy_until;
            heap_replace_top(sweep->heap.at, sweep->heap.count, top);
            continue;
        }
        book(sweep, top.until);
        stream->is_active = false;
        struct active last = sweep->heap.at[--sweep->heap.count];
        if (sweep->heap.count > 0)
            heap_replace_top(sweep->heap.at, sweep->heap.count, last);
    }
    book(sweep, until);
}

static void add_op(struct sweep *sweep, uint32_t id, struct interval part)
{
    struct stream_state *stream = &sweep->streams[id];
    stream->ops++;
    if (part.start >= part.end)
        return;
    stream->sum_ns += part.end - part.start;
    advance(sweep, part.start);
    if (!stream->is_active) {
        stream->is_active = true;
        stream->busy_until = part.end;
        stream->busy_ns += part.end - part.start;
        heap_push(sweep, (struct active){part.end, id});
    } else if (part.end > stream->busy_until) {
        stream->busy_ns += part.end - stream->busy_until;
        stream->busy_until = part.end;
    }
}

static void sweep_device(struct report *report, const struct device_report *device,
                         struct stream_state *streams)
{
    const struct run *run = report->run;
    struct concurrency_report concurrency = {.device = device->device};
    struct sweep sweep = {.streams = streams, .report = &concurrency, .now = device->window.start};
    struct op_range range = ops_in_window(run, device->device, device->window);
    for (uint32_t op = range.first; op < range.end; op++)
        if (op_in_window(run->ops.start[op], run->ops.end[op], device->window))
            add_op(&sweep, run->ops.stream[op], op_clip(run, op, device->window));
    advance(&sweep, device->window.end);
    concurrency.mean_streams = sweep.busy_ns > 0 ? (double)sweep.stream_ns / (double)sweep.busy_ns : NAN;
    vec_push(&report->concurrency, concurrency);
    vec_release(&sweep.heap);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static int by_busy(const void *a, const void *b)
{
    const struct stream_row *left = a, *right = b;
    if (left->busy_ns != right->busy_ns)
        return left->busy_ns < right->busy_ns ? 1 : -1;
    return (left->stream > right->stream) - (left->stream < right->stream);
}

void streams_build(struct report *report)
{
    const struct run *run = report->run;
    struct stream_state *streams = mem_zalloc(run->streams.count, sizeof *streams);
    vec_each (&report->devices, device)
        sweep_device(report, device, streams);
    for (uint32_t s = 0; s < run->streams.count; s++) {
        const struct stream_state *stream = &streams[s];
        if (stream->ops == 0)
            continue;
        double alone = stream->busy_ns > 0 ? (double)stream->alone_ns / (double)stream->busy_ns : NAN;
        vec_push(&report->streams, ((struct stream_row){.stream = s,
                                                        .ops = stream->ops,
                                                        .busy_ns = stream->busy_ns,
                                                        .sum_ns = stream->sum_ns,
                                                        .alone_ratio = alone}));
    }
    if (report->streams.count > 0)
        qsort(report->streams.at, report->streams.count, sizeof *report->streams.at, by_busy);
    free(streams);
}
