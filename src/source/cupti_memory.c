#include "source/cupti_memory.h"

#include <stdlib.h>

enum { MOST_BLOCKS = 1 << 22, LEAST_APART_NS = 1000 * 1000 };

uint32_t cupti_memory_curve(struct cupti_memory *m, struct run *run, const char *name, uint32_t device,
                            uint32_t process, enum counter_unit unit)
{
    uint32_t series = run_series(run, name, device, process, unit);
    uint32_t row = map_get(&m->curves_of, series);
    if (row != MAP_ABSENT)
        return row;
    row = (uint32_t)m->curves.count;
    map_set(&m->curves_of, series, row);
    vec_push(&m->curves, ((struct cupti_memory_curve){
                             .series = series, .told_ns = INT64_MIN / 2, .pending_ns = UNKNOWN}));
    return row;
}

void cupti_memory_add(struct cupti_memory *m, const struct cupti_memory_event *event)
{
    vec_push(&m->events, *event);
}

static void tell(struct run *run, struct cupti_memory_curve *curve, int64_t time)
{
    size_t row = sample_table_add(&run->samples);
    run->samples.time[row] = time;
    run->samples.value[row] = (double)curve->now;
    run->samples.series[row] = curve->series;
    curve->told_ns = time;
    curve->pending_ns = UNKNOWN;
}

void cupti_memory_count(struct cupti_memory *m, struct run *run, uint32_t row, int64_t time, int64_t more)
{
    struct cupti_memory_curve *curve = &m->curves.at[row];
    if (__builtin_add_overflow(curve->now, more, &curve->now))
        return; /* no allocator gives that much: the target's numbers are nonsense */
    bool is_peak = curve->now > curve->peak;
    curve->peak = is_peak ? curve->now : curve->peak;
    if (is_peak || time - curve->told_ns >= LEAST_APART_NS)
        tell(run, curve, time);
    else
        curve->pending_ns = time;
}

static struct cupti_memory_block *block_at(struct cupti_memory *m, const struct cupti_memory_event *e)
{
    uint64_t key = hash_pair(e->address, e->curve);
    uint32_t row = map_get(&m->blocks_at, key);
    if (row != MAP_ABSENT)
        return &m->blocks.at[row];
    if (m->blocks.count >= MOST_BLOCKS) {
        m->beyond++;
        return NULL;
    }
    map_set(&m->blocks_at, key, (uint32_t)m->blocks.count);
    vec_push(&m->blocks, ((struct cupti_memory_block){.time = INT64_MIN}));
    return &m->blocks.at[m->blocks.count - 1];
}

static void apply(struct cupti_memory *m, struct run *run, const struct cupti_memory_event *e)
{
    struct cupti_memory_block *block = block_at(m, e);
    if (!block || e->time < block->time)
        return; /* an allocation whose release was heard of first */
    int64_t before = block->is_live ? block->bytes : 0;
    *block = (struct cupti_memory_block){
        .time = e->time, .bytes = e->is_release ? 0 : e->bytes, .is_live = !e->is_release};
    if (block->bytes != before)
        cupti_memory_count(m, run, e->curve, e->time, block->bytes - before);
}

static int by_time(const void *a, const void *b)
{
    const struct cupti_memory_event *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    /* At one moment what is freed goes before what is allocated in its place. */
    return right->is_release - left->is_release;
}

void cupti_memory_settle(struct cupti_memory *m, struct run *run)
{
    if (m->events.count)
        qsort(m->events.at, m->events.count, sizeof *m->events.at, by_time);
    vec_each (&m->events, event)
        apply(m, run, event);
    m->events.count = 0;
    vec_each (&m->curves, curve)
        if (curve->pending_ns != UNKNOWN)
            tell(run, curve, curve->pending_ns);
}

void cupti_memory_release(struct cupti_memory *m)
{
    map_release(&m->blocks_at);
    map_release(&m->curves_of);
    vec_release(&m->blocks);
    vec_release(&m->curves);
    vec_release(&m->events);
    *m = (struct cupti_memory){0};
}
