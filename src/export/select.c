#include "export/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Half-open intervals touch; a moment belongs to the interval that begins with it. */
static bool overlaps(struct interval a, struct interval window)
{
    if (a.start == a.end)
        return a.start >= window.start && a.start < window.end;
    return a.start < window.end && a.end > window.start;
}

bool selects_op(const struct selection *s, size_t op)
{
    return overlaps(interval_of(s->run->ops.start[op], s->run->ops.end[op]), s->window);
}

bool selects_moment(const struct selection *s, int64_t time)
{
    return overlaps((struct interval){time, time}, s->window);
}

bool selects_interval(const struct selection *s, struct interval whole, struct interval *shown)
{
    *shown = (struct interval){max_ns(whole.start, s->cut.start), min_ns(whole.end, s->cut.end)};
    return overlaps(whole, s->cut);
}

bool selects_span(const struct selection *s, size_t span, struct interval *shown)
{
    return selects_interval(s, interval_of(s->run->spans.start[span], s->run->spans.end[span]), shown);
}

bool op_has_arrow(const struct run *run, size_t op)
{
    uint32_t call = run->ops.call[op];
    return call != NONE && run->ops.start[op] >= run->spans.start[call];
}

/* Backwards, so that the ops of a call are listed in order. */
static void chain_ops(struct selection *s)
{
    const struct run *run = s->run;
    s->first_op = mem_resize(NULL, run->spans.count, sizeof *s->first_op);
    s->next_op = mem_resize(NULL, run->ops.count, sizeof *s->next_op);
    if (run->spans.count)
        memset(s->first_op, 0xff, run->spans.count * sizeof *s->first_op);
    for (size_t i = run->ops.count; i-- > 0;) {
        uint32_t call = run->ops.call[i];
        s->next_op[i] = NONE;
        if (call == NONE || !selects_op(s, i))
            continue;
        s->next_op[i] = s->first_op[call];
        s->first_op[call] = (uint32_t)i;
        s->cut.start = min_ns(s->cut.start, run->spans.start[call]);
    }
}

static void extend(struct interval *extent, bool *any, struct interval more)
{
    *extent =
        *any ? (struct interval){min_ns(extent->start, more.start), max_ns(extent->end, more.end)} : more;
    *any = true;
}

static void find_extent(struct selection *s)
{
    const struct run *run = s->run;
    struct interval shown, *extent = &s->extent;
    bool any = false;
    for (size_t i = 0; i < run->ops.count; i++)
        if (selects_op(s, i))
            extend(extent, &any, interval_of(run->ops.start[i], run->ops.end[i]));
    for (size_t i = 0; i < run->spans.count; i++)
        if (selects_span(s, i, &shown))
            extend(extent, &any, shown);
    for (size_t i = 0; i < run->samples.count; i++)
        if (selects_moment(s, run->samples.time[i]))
            extend(extent, &any, interval_of(run->samples.time[i], run->samples.time[i]));
    vec_each (&run->marks, mark)
        if (selects_moment(s, mark->time))
            extend(extent, &any, interval_of(mark->time, mark->time));
    vec_each (&run->waits, wait)
        if (selects_interval(s, interval_of(wait->start, wait->end), &shown))
            extend(extent, &any, shown);
}

void selection_init(struct selection *s, const struct run *run, const struct export_options *options)
{
    *s = (struct selection){.run = run, .window = options->window};
    if (s->window.start == s->window.end)
        s->window = (struct interval){INT64_MIN, INT64_MAX};
    s->cut = s->window;
    chain_ops(s);
    find_extent(s);
}

void selection_release(struct selection *s)
{
    free(s->first_op);
    free(s->next_op);
}
