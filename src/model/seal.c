/* The second pass over a run: sort, nest, link. Records of a source come in no particular order, so nothing
 * here trusts it. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "model/graphs.h"
#include "model/run.h"
#include "model/sampled.h"
#include "model/stray.h"

/* ---- sorting ------------------------------------------------------------------------------------------- */

static bool longer_op_first(const void *context, uint32_t a, uint32_t b)
{
    const struct op_table *ops = context;
    return ops->end[b] > ops->end[a];
}

/* Where two spans cover the same interval, the one of the outer kind encloses the other. */
static const uint8_t outer_rank[] = {
    [SPAN_ANNOTATION] = 0, [SPAN_PYTHON] = 1, [SPAN_OTHER] = 2, [SPAN_OP] = 3,
    [SPAN_NATIVE] = 4,     [SPAN_API] = 5,    [SPAN_OS] = 6,    [SPAN_OVERHEAD] = 7,
};

static bool outer_span_first(const void *context, uint32_t a, uint32_t b)
{
    const struct span_table *spans = context;
    if (spans->end[a] != spans->end[b])
        return spans->end[b] > spans->end[a];
    return outer_rank[spans->kind[b]] < outer_rank[spans->kind[a]];
}

static void sort_ops(struct run *run)
{
    struct op_table *ops = &run->ops;
    uint32_t *device = mem_resize(NULL, ops->count, sizeof *device);
    for (size_t i = 0; i < ops->count; i++)
        device[i] = run_op_device(run, i);
    uint32_t *order = sort_order(&(struct sort_rows){.count = ops->count,
                                                     .group = device,
                                                     .groups = (uint32_t)run->devices.count,
                                                     .time = ops->start,
                                                     .swap = longer_op_first,
                                                     .context = ops});
    free(device);
    if (order)
        op_table_permute(ops, order);
    free(order);
    for (size_t i = 0; i < ops->count; i++) {
        struct device *d = &run->devices.at[run_op_device(run, i)];
        if (d->op_count++ == 0)
            d->first_op = (uint32_t)i;
        int64_t length;
        if (__builtin_sub_overflow(ops->end[i], ops->start[i], &length))
            length = INT64_MAX;
        d->longest_op_ns = max_ns(d->longest_op_ns, length);
    }
}

static void sort_spans(struct run *run)
{
    struct span_table *spans = &run->spans;
    uint32_t *order = sort_order(&(struct sort_rows){.count = spans->count,
                                                     .group = spans->thread,
                                                     .groups = (uint32_t)run->threads.count,
                                                     .time = spans->start,
                                                     .swap = outer_span_first,
                                                     .context = spans});
    if (order)
        span_table_permute(spans, order);
    free(order);
}

static void place_spans(struct run *run)
{
    struct span_table *spans = &run->spans;
    for (size_t i = 0; i < spans->count; i++) {
        struct thread *t = &run->threads.at[spans->thread[i]];
        if (t->span_count++ == 0)
            t->first_span = (uint32_t)i;
    }
}

static void sort_samples(struct run *run)
{
    struct sample_table *samples = &run->samples;
    uint32_t *order = sort_order(&(struct sort_rows){.count = samples->count, .time = samples->time});
    if (order)
        sample_table_permute(samples, order);
    free(order);
}

static int mark_by_time(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;
    return (left->time > right->time) - (left->time < right->time);
}

static int wait_by_start(const void *a, const void *b)
{
    const struct wait *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* ---- nesting ------------------------------------------------------------------------------------------- */

/* Whoever looks for what surrounds a moment climbs the parents, so their number is bounded: what is nested
 * deeper is laid side by side at the last level. */
static void nest_spans(struct run *run)
{
    struct span_table *spans = &run->spans;
    uint32_t top = NONE, depth = 0; /* depth: top and the spans around it */
    for (size_t i = 0; i < spans->count; i++) {
        if (i > 0 && spans->thread[i] != spans->thread[i - 1]) {
            top = NONE;
            depth = 0;
        }
        for (; top != NONE && (spans->end[top] <= spans->start[i] || depth == RUN_DEPTH_MAX); depth--)
            top = spans->parent[top];
        spans->parent[i] = top;
        top = (uint32_t)i;
        depth++;
    }
}

/* ---- linking ------------------------------------------------------------------------------------------- */

/* Correlation ids of one process → span. Nearly always they are dense, so an array indexed by id serves. */
struct call_index {
    uint64_t first, last;
    size_t count;
    uint32_t *dense; /* last - first + 1 entries, or NULL */
    struct map sparse;
};

static void call_index_add(struct call_index *index, uint64_t id, uint32_t span)
{
    if (index->dense) {
        uint32_t *slot = &index->dense[id - index->first];
        if (*slot == NONE)
            *slot = span;
    } else if (map_get(&index->sparse, id) == MAP_ABSENT) {
        map_set(&index->sparse, id, span);
    }
}

static uint32_t call_index_find(const struct call_index *index, uint64_t id)
{
    if (!index->dense)
        return map_get(&index->sparse, id);
    return id < index->first || id > index->last ? NONE : index->dense[id - index->first];
}

static struct call_index *index_calls(const struct run *run)
{
    const struct span_table *spans = &run->spans;
    struct call_index *all = mem_zalloc(run->processes.count, sizeof *all);
    for (size_t i = 0; i < spans->count; i++) {
        uint64_t id = spans->id[i];
        if (spans->kind[i] != SPAN_API || id == 0)
            continue;
        struct call_index *index = &all[run->threads.at[spans->thread[i]].process];
        index->first = index->count == 0 || id < index->first ? id : index->first;
        index->last = index->count == 0 || id > index->last ? id : index->last;
        index->count++;
    }
    for (size_t p = 0; p < run->processes.count; p++) {
        struct call_index *index = &all[p];
        uint64_t range = index->last - index->first;
        if (index->count > 0 && range / 8 < index->count + 128) {
            index->dense = mem_resize(NULL, range + 1, sizeof *index->dense);
            memset(index->dense, 0xff, (range + 1) * sizeof *index->dense);
        }
    }
    for (size_t i = 0; i < spans->count; i++)
        if (spans->kind[i] == SPAN_API && spans->id[i] != 0)
            call_index_add(&all[run->threads.at[spans->thread[i]].process], spans->id[i], (uint32_t)i);
    return all;
}

static void link_ops(struct run *run)
{
    struct call_index *all = index_calls(run);
    struct op_table *ops = &run->ops;
    for (size_t i = 0; i < ops->count; i++) {
        uint32_t process = run->streams.at[ops->stream[i]].process;
        ops->call[i] = process == NONE || ops->correlation[i] == 0
                           ? NONE
                           : call_index_find(&all[process], ops->correlation[i]);
        /* Nobody launches what the driver moves by itself. */
        bool migrates = ops->kind[i] == OP_COPY && ops->dir[i] >= COPY_MANAGED_H2D;
        run->losses.unlinked += ops->call[i] == NONE && !migrates;
    }
    for (size_t p = 0; p < run->processes.count; p++) {
        free(all[p].dense);
        map_release(&all[p].sparse);
    }
    free(all);
}

/* A kernel is the collective in whose range it was launched. */
static void link_comms(struct run *run)
{
    const struct span_table *spans = &run->spans;
    struct op_table *ops = &run->ops;
    bool any = false;
    for (size_t i = 0; i < spans->count && !any; i++)
        any = spans->comm[i] != NONE;
    for (size_t i = 0; i < ops->count && any; i++) {
        if (ops->kind[i] != OP_KERNEL || ops->comm[i] != NONE)
            continue;
        uint32_t span = ops->call[i];
        while (span != NONE && spans->comm[span] == NONE)
            span = spans->parent[span];
        ops->comm[i] = span == NONE ? NONE : spans->comm[span];
    }
}

void run_seal(struct run *run)
{
    if (run->sealed)
        return;
    stray_drop(run);
    graphs_drop_doubles(run);
    sort_ops(run);
    sort_spans(run);
    if (sampled_settle(run, SPAN_PYTHON))
        sort_spans(run);
    if (sampled_settle(run, SPAN_NATIVE))
        sort_spans(run);
    if (sampled_settle(run, SPAN_OS))
        sort_spans(run);
    place_spans(run);
    sort_samples(run);
    if (run->marks.count)
        qsort(run->marks.at, run->marks.count, sizeof *run->marks.at, mark_by_time);
    if (run->waits.count)
        qsort(run->waits.at, run->waits.count, sizeof *run->waits.at, wait_by_start);
    nest_spans(run);
    link_ops(run);
    link_comms(run);
    run->sealed = true;
}
