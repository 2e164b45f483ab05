#include "model/stray.h"

#include <stdlib.h>

enum { SAMPLES = 1024 }; /* starts of a source that stand for all of them */

/* The records of one source: where most of them lie. */
struct heap {
    size_t count, seen;
    int64_t *samples;
    size_t sample_count;
    int64_t low, high; /* what lies outside is stray */
};

int64_t stray_reach_ns(size_t records)
{
    enum { LOW_BITS = 49, HIGH_BITS = 57, SUM_BITS = 62 };
    int bits = HIGH_BITS;
    while (bits > LOW_BITS && (uint64_t)records >> (SUM_BITS - 1 - bits))
        bits--;
    return INT64_C(1) << bits;
}

static uint32_t op_source(const struct run *run, size_t op)
{
    return run->devices.at[run_op_device(run, op)].source;
}

static uint32_t span_source(const struct run *run, size_t span)
{
    return run->processes.at[run->threads.at[run->spans.thread[span]].process].source;
}

static void widen(struct interval *range, const int64_t *start, const int64_t *end, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        range->start = min_ns(range->start, start[i]);
        range->end = max_ns(range->end, end[i]);
    }
}

/* Nearly every run: nothing is far from anything. */
static bool all_near(const struct run *run, int64_t reach)
{
    struct interval range = {INT64_MAX, INT64_MIN};
    widen(&range, run->ops.start, run->ops.end, run->ops.count);
    widen(&range, run->spans.start, run->spans.end, run->spans.count);
    return range.start > range.end || (uint64_t)range.end - (uint64_t)range.start <= (uint64_t)reach;
}

/* Takes one start in so many of the source. */
static void sample(struct heap *heap, int64_t start)
{
    size_t stride = heap->count / SAMPLES + 1;
    if (!heap->samples)
        heap->samples = mem_resize(NULL, heap->count / stride + 1, sizeof *heap->samples);
    if (heap->seen++ % stride == 0)
        heap->samples[heap->sample_count++] = start;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void find_bounds(struct heap *heap, int64_t reach)
{
    if (heap->sample_count == 0)
        return;
    qsort(heap->samples, heap->sample_count, sizeof *heap->samples, ascending);
    int64_t middle = heap->samples[heap->sample_count / 2];
    if (__builtin_sub_overflow(middle, reach, &heap->low))
        heap->low = INT64_MIN;
    if (__builtin_add_overflow(middle, reach, &heap->high))
        heap->high = INT64_MAX;
}

static struct heap *find_heaps(const struct run *run, int64_t reach)
{
    struct heap *heaps = mem_zalloc(run->sources.count, sizeof *heaps);
    for (size_t i = 0; i < run->ops.count; i++)
        heaps[op_source(run, i)].count++;
    for (size_t i = 0; i < run->spans.count; i++)
        heaps[span_source(run, i)].count++;
    for (size_t i = 0; i < run->ops.count; i++)
        sample(&heaps[op_source(run, i)], run->ops.start[i]);
    for (size_t i = 0; i < run->spans.count; i++)
        sample(&heaps[span_source(run, i)], run->spans.start[i]);
    for (size_t s = 0; s < run->sources.count; s++)
        find_bounds(&heaps[s], reach);
    return heaps;
}

static bool is_stray(const struct heap *heap, int64_t start, int64_t end)
{
    return start < heap->low || end > heap->high;
}

void stray_drop(struct run *run)
{
    struct op_table *ops = &run->ops;
    struct span_table *spans = &run->spans;
    size_t records = ops->count + spans->count, kept_ops = 0, kept_spans = 0;
    int64_t reach = stray_reach_ns(records);
    if (all_near(run, reach))
        return;
    struct heap *heaps = find_heaps(run, reach);
    uint32_t *op_order = mem_resize(NULL, ops->count, sizeof *op_order);
    uint32_t *span_order = mem_resize(NULL, spans->count, sizeof *span_order);
    for (size_t i = 0; i < ops->count; i++)
        if (!is_stray(&heaps[op_source(run, i)], ops->start[i], ops->end[i]))
            op_order[kept_ops++] = (uint32_t)i;
    for (size_t i = 0; i < spans->count; i++)
        if (!is_stray(&heaps[span_source(run, i)], spans->start[i], spans->end[i]))
            span_order[kept_spans++] = (uint32_t)i;
    if (kept_ops + kept_spans < records) {
        ops->count = kept_ops;
        op_table_permute(ops, op_order);
        spans->count = kept_spans;
        span_table_permute(spans, span_order);
        run->losses.untimed += (int64_t)(records - kept_ops - kept_spans);
    }
    free(op_order);
    free(span_order);
    for (size_t s = 0; s < run->sources.count; s++)
        free(heaps[s].samples);
    free(heaps);
}
