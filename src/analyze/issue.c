#include "analyze/issue.h"

#include <string.h>

#include "base/sort.h"

static bool issues_or_waits(enum host_class class)
{
    return class == HOST_LAUNCH || class == HOST_COPY || class == HOST_SYNC || class == HOST_ALLOC;
}

/* A thread whose every span is an overhead record is a lane, not a thread that ran. */
static bool is_overhead_lane(const struct run *run, const struct thread *thread)
{
    for (uint32_t i = 0; i < thread->span_count; i++)
        if (run->spans.kind[thread->first_span + i] != SPAN_OVERHEAD)
            return false;
    return thread->span_count > 0;
}

/* Sorts span numbers by their start. */
static void sort_by_start(const struct run *run, uint32_t *spans, uint32_t count)
{
    int64_t *times = mem_resize(NULL, count, sizeof *times);
    for (uint32_t i = 0; i < count; i++)
        times[i] = run->spans.start[spans[i]];
    uint32_t *order = sort_order(&(struct sort_rows){.count = count, .time = times});
    if (order) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = spans[order[i]];
        memcpy(spans, order, count * sizeof *spans);
    }
    free(order);
    free(times);
}

static void add_span(uint32_t **spans, uint32_t *count, uint32_t span)
{
    if ((*count & (*count - 1)) == 0)
        *spans = mem_resize(*spans, *count ? (size_t)*count * 2 : 1, sizeof **spans);
    (*spans)[(*count)++] = span;
}

static void collect_thread(struct issue_index *index, uint32_t thread_index)
{
    const struct run *run = index->run;
    const struct thread *thread = &run->threads.at[thread_index];
    if (is_overhead_lane(run, thread)) {
        struct overhead_list *overheads = &index->overheads[run->processes.at[thread->process].source];
        for (uint32_t i = 0; i < thread->span_count; i++)
            add_span(&overheads->spans, &overheads->count, thread->first_span + i);
        return;
    }
    struct issue_list *list = &index->lists[thread->process];
    for (uint32_t i = thread->first_span; i < thread->first_span + thread->span_count; i++) {
        if (run->spans.kind[i] != SPAN_API || !issues_or_waits(host_span_class(index->names, i)))
            continue;
        add_span(&list->spans, &list->count, i);
        index->issued[thread_index]++;
    }
}

void issue_index_init(struct issue_index *index, const struct run *run, struct host_names *names)
{
    *index = (struct issue_index){.run = run, .names = names};
    index->lists = mem_zalloc(run->processes.count, sizeof *index->lists);
    index->overheads = mem_zalloc(run->sources.count, sizeof *index->overheads);
    index->issued = mem_zalloc(run->threads.count, sizeof *index->issued);
    index->main_thread = mem_resize(NULL, run->processes.count, sizeof *index->main_thread);
    index->feeder = mem_resize(NULL, run->processes.count, sizeof *index->feeder);
    memset(index->main_thread, 0xff, run->processes.count * sizeof *index->main_thread);
    memset(index->feeder, 0xff, run->processes.count * sizeof *index->feeder);
    for (uint32_t t = 0; t < run->threads.count; t++) {
        collect_thread(index, t);
        uint32_t *first = &index->main_thread[run->threads.at[t].process];
        uint32_t *second = &index->feeder[run->threads.at[t].process];
        if (index->issued[t] == 0)
            continue;
        if (*first == NONE || index->issued[t] > index->issued[*first]) {
            *second = *first;
            *first = t;
        } else if (*second == NONE || index->issued[t] > index->issued[*second]) {
            *second = t;
        }
    }
    for (size_t p = 0; p < run->processes.count; p++)
        sort_by_start(run, index->lists[p].spans, index->lists[p].count);
    for (size_t s = 0; s < run->sources.count; s++)
        sort_by_start(run, index->overheads[s].spans, index->overheads[s].count);
}

void issue_index_release(struct issue_index *index)
{
    for (size_t p = 0; p < index->run->processes.count; p++)
        free(index->lists[p].spans);
    for (size_t s = 0; s < index->run->sources.count; s++)
        free(index->overheads[s].spans);
    free(index->lists);
    free(index->overheads);
    free(index->issued);
    free(index->main_thread);
    free(index->feeder);
}

void issue_rewind(struct issue_index *index)
{
    for (size_t p = 0; p < index->run->processes.count; p++)
        index->lists[p].cursor = 0;
    for (size_t s = 0; s < index->run->sources.count; s++)
        index->overheads[s].cursor = 0;
}

/* Moves the cursor of the list to the first call that starts at or after time. Nearly always that is a few
 * steps away; calls that wait for each other across threads can make it jump. */
static void seek(const struct span_table *spans, struct issue_list *list, int64_t time)
{
    enum { NEAR = 16 };
    uint32_t low = list->cursor > NEAR ? list->cursor - NEAR : 0;
    uint32_t high = list->count - list->cursor > NEAR ? list->cursor + NEAR : list->count;
    if (low > 0 && spans->start[list->spans[low - 1]] >= time)
        low = 0;
    if (high < list->count && spans->start[list->spans[high]] < time)
        high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spans->start[list->spans[middle]] < time)
            low = middle + 1;
        else
            high = middle;
    }
    list->cursor = low;
}

int64_t issue_before(struct issue_index *index, uint32_t process, int64_t time)
{
    enum { LOOK_BACK = 8 }; /* calls of other threads that began before but end after time */
    const struct span_table *spans = &index->run->spans;
    struct issue_list *list = &index->lists[process];
    seek(spans, list, time);
    int64_t last = UNKNOWN;
    for (uint32_t back = 1; back <= LOOK_BACK && back <= list->cursor; back++) {
        int64_t end = spans->end[list->spans[list->cursor - back]];
        if (end <= time && end > last)
            last = end;
    }
    return last;
}

bool issue_drained(struct issue_index *index, uint32_t process, int64_t time)
{
    enum { REFILL = 8 }; /* launches that it takes to be ahead of the GPU again */
    struct issue_list *list = &index->lists[process];
    seek(&index->run->spans, list, time);
    for (uint32_t back = 1; back <= REFILL && back <= list->cursor; back++)
        if (host_span_class(index->names, list->spans[list->cursor - back]) == HOST_SYNC)
            return true;
    return false;
}

uint32_t issue_main_thread(const struct issue_index *index, uint32_t process)
{
    return index->main_thread[process];
}

uint32_t issue_main_thread_of_device(const struct issue_index *index, uint32_t device)
{
    const struct run *run = index->run;
    const struct device *d = &run->devices.at[device];
    if (d->op_count == 0)
        return NONE;
    uint32_t process = run->streams.at[run->ops.stream[d->first_op + d->op_count - 1]].process;
    return process == NONE ? NONE : index->main_thread[process];
}

uint32_t issue_feeder(const struct issue_index *index, uint32_t thread)
{
    uint32_t process = index->run->threads.at[thread].process;
    uint32_t main_thread = index->main_thread[process];
    uint32_t feeder = main_thread == thread ? index->feeder[process] : main_thread;
    return feeder == thread ? NONE : feeder;
}

struct overhead_hit issue_overhead(struct issue_index *index, uint32_t source, int64_t start, int64_t end)
{
    const struct span_table *spans = &index->run->spans;
    struct overhead_list *list = &index->overheads[source];
    while (list->cursor > 0 && spans->end[list->spans[list->cursor - 1]] > start)
        list->cursor--;
    while (list->cursor < list->count && spans->end[list->spans[list->cursor]] <= start)
        list->cursor++;
    if (list->cursor == list->count || spans->start[list->spans[list->cursor]] >= end)
        return (struct overhead_hit){end, end, NONE};
    uint32_t span = list->spans[list->cursor];
    return (struct overhead_hit){max_ns(start, spans->start[span]), min_ns(end, spans->end[span]), span};
}
