#include "source/slow_step.h"

#include <stdlib.h>
#include <string.h>

static int by_length(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median(const struct slow_step_name *n)
{
    int64_t sorted[SLOW_STEP_LAST];
    size_t count = n->count < SLOW_STEP_LAST ? (size_t)n->count : SLOW_STEP_LAST;
    if (n->count < SLOW_STEP_SETTLED)
        return UNKNOWN;
    memcpy(sorted, n->last, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_length);
    return sorted[count / 2];
}

/* NULL: enough names are watched already. */
static struct slow_step_name *name_of(struct slow_step_watch *w, uint32_t name, uint32_t thread)
{
    vec_each (&w->names, n)
        if (n->name == name && n->thread == thread)
            return n;
    if (w->names.count == SLOW_STEP_NAMES)
        return NULL;
    vec_push(&w->names, ((struct slow_step_name){.name = name, .thread = thread}));
    return &w->names.at[w->names.count - 1];
}

/* Ranges end before those around them. */
static void note_parts(struct slow_step_watch *w, const struct slow_step_name *whole)
{
    if (whole->count < 2)
        return;
    vec_each (&w->names, n)
        if (n != whole && n->thread == whole->thread && n->count > 0 && n->start >= whole->start &&
            n->end <= whole->end)
            n->is_part = true;
}

static bool is_slow(const struct slow_step_watch *w, const struct slow_step *step)
{
    if (w->limit_ns > 0 && step->length_ns > w->limit_ns)
        return true;
    return w->ratio > 0 && step->median_ns != UNKNOWN &&
           (double)step->length_ns > w->ratio * (double)step->median_ns;
}

static bool look_at_step(struct slow_step_watch *w, const struct run *run, size_t span,
                         struct slow_step *step)
{
    const struct span_table *spans = &run->spans;
    bool chosen = w->name && strcmp(run_text(run, spans->name[span]), w->name) == 0;
    if (spans->kind[span] != SPAN_ANNOTATION || (w->name && !chosen))
        return false;
    struct slow_step_name *n = name_of(w, spans->name[span], spans->thread[span]);
    if (!n)
        return false;
    *step = (struct slow_step){
        .name = n->name, .length_ns = spans->end[span] - spans->start[span], .median_ns = median(n)};
    n->start = spans->start[span];
    n->end = spans->end[span];
    n->last[n->count++ % SLOW_STEP_LAST] = step->length_ns;
    note_parts(w, n);
    return (n->count > 1 || chosen) && !n->is_part && is_slow(w, step);
}

bool slow_step_look(struct slow_step_watch *w, const struct run *run, size_t first, struct slow_step *slow)
{
    bool any = false;
    if (w->limit_ns == 0 && w->ratio == 0)
        return false;
    for (size_t span = first; span < run->spans.count; span++) {
        struct slow_step step;
        if (!look_at_step(w, run, span, &step) || (any && step.length_ns <= slow->length_ns))
            continue;
        *slow = step;
        any = true;
    }
    return any;
}

void slow_step_hold(struct slow_step_watch *w, const struct compaction *c)
{
    vec_each (&w->names, n)
        compaction_string(c, &n->name);
}

void slow_step_release(struct slow_step_watch *w)
{
    vec_release(&w->names);
}
