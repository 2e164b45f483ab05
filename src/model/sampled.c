#include "model/sampled.h"

#include <stdlib.h>

/* Pieces that one span may be cut into: more means that the file is made up. */
enum { MOST_PIECES = 64 };

struct range {
    int64_t start, end;
    uint32_t parent; /* the range around it, NONE */
};

/* What the sampled spans of one thread are settled against. */
struct exact {
    VEC(struct interval) calls; /* API calls and overheads as a union, in time order */
    VEC(struct range) ranges;   /* everything else, by start; frames too, once they are settled */
};

static bool is_call(uint8_t kind)
{
    return kind == SPAN_API || kind == SPAN_OVERHEAD;
}

static void add_call(struct exact *x, int64_t start, int64_t end)
{
    struct interval *last = x->calls.count ? &x->calls.at[x->calls.count - 1] : NULL;
    if (last && start < last->end)
        last->end = max_ns(last->end, end);
    else
        vec_push(&x->calls, ((struct interval){start, end}));
}

static void add_range(struct exact *x, uint32_t *top, int64_t start, int64_t end)
{
    while (*top != NONE && x->ranges.at[*top].end <= start)
        *top = x->ranges.at[*top].parent;
    vec_push(&x->ranges, ((struct range){start, end, *top}));
    *top = (uint32_t)x->ranges.count - 1;
}

static bool is_of(const struct span_table *spans, size_t span, enum span_kind kind)
{
    return spans->kind[span] == kind && span_is_sampled(spans, span);
}

static void gather_exact(struct exact *x, const struct span_table *spans, size_t first, size_t end,
                         enum span_kind kind)
{
    uint32_t top = NONE;
    x->calls.count = x->ranges.count = 0;
    for (size_t i = first; i < end; i++) {
        if (is_of(spans, i, SPAN_OS) || is_of(spans, i, kind))
            continue;
        if (is_call(spans->kind[i]))
            add_call(x, spans->start[i], spans->end[i]);
        else
            add_range(x, &top, spans->start[i], spans->end[i]);
    }
}

/* ---- calls ----------------------------------------------------------------------------------------------
 */

/* How many calls start at or before time. */
static size_t calls_begun(const struct exact *x, int64_t time)
{
    size_t low = 0, high = x->calls.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->calls.at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The call, or the time between two calls, that time lies in. */
static struct interval place_of(const struct exact *x, int64_t time)
{
    size_t begun = calls_begun(x, time);
    if (begun > 0 && time < x->calls.at[begun - 1].end)
        return x->calls.at[begun - 1];
    return (struct interval){begun > 0 ? x->calls.at[begun - 1].end : INT64_MIN,
                             begun < x->calls.count ? x->calls.at[begun].start : INT64_MAX};
}

static int64_t out_of_call(const struct exact *x, int64_t time)
{
    size_t begun = calls_begun(x, time);
    if (begun == 0 || time >= x->calls.at[begun - 1].end)
        return time;
    const struct interval *call = &x->calls.at[begun - 1];
    return time - call->start <= call->end - time ? call->start : call->end;
}

/* ---- cutting --------------------------------------------------------------------------------------------
 */

/* The innermost range that began before time and has not ended, NONE. */
static uint32_t range_around(const struct exact *x, int64_t time)
{
    size_t low = 0, high = x->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->ranges.at[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t at = low > 0 ? (uint32_t)low - 1 : NONE;
    while (at != NONE && x->ranges.at[at].end <= time)
        at = x->ranges.at[at].parent;
    return at;
}

/* Where [start, end) must be cut so that its first piece crosses no edge; end if nowhere. */
static int64_t first_cut(const struct exact *x, int64_t start, int64_t end, bool at_calls)
{
    int64_t cut = end;
    uint32_t around = range_around(x, start);
    if (around != NONE)
        cut = min_ns(cut, x->ranges.at[around].end);
    for (uint32_t at = range_around(x, end); at != NONE && x->ranges.at[at].start > start;
         at = x->ranges.at[at].parent)
        cut = min_ns(cut, x->ranges.at[at].start);
    return at_calls ? min_ns(cut, place_of(x, start).end) : cut;
}

static void add_piece(struct span_table *spans, size_t of, int64_t start, int64_t end)
{
    size_t piece = span_table_add(spans);
    spans->start[piece] = start;
    spans->end[piece] = end;
    spans->id[piece] = spans->id[of];
    spans->name[piece] = spans->name[of];
    spans->thread[piece] = spans->thread[of];
    spans->detail[piece] = spans->detail[of];
    spans->kind[piece] = spans->kind[of];
    spans->comm[piece] = spans->comm[of];
}

static void settle(struct span_table *spans, size_t span, const struct exact *x)
{
    int64_t start = spans->start[span], end = spans->end[span];
    bool call = spans->kind[span] == SPAN_OS;
    if (call) {
        enum { NS_PER_US = 1000 };
        int64_t before = (int64_t)sampled_first_(spans->id[span]) * NS_PER_US;
        int64_t after = (int64_t)sampled_second_(spans->id[span]) * NS_PER_US;
        start = max_ns(start - before, place_of(x, start).start);
        end = min_ns(end + after, place_of(x, end).end);
        spans->id[span] = sampled_call_id(0, 0); /* a second time changes nothing */
    } else {
        start = out_of_call(x, start);
        end = out_of_call(x, end);
    }
    spans->start[span] = start;
    spans->end[span] = max_ns(start, end);
    for (int pieces = 1; pieces < MOST_PIECES && start < end; pieces++) {
        int64_t cut = first_cut(x, start, end, call);
        if (start == spans->start[span])
            spans->end[span] = cut;
        else
            add_piece(spans, span, start, cut);
        start = cut;
    }
}

bool sampled_settle(struct run *run, enum span_kind kind)
{
    struct span_table *spans = &run->spans;
    struct exact exact = {0};
    bool any = false;
    size_t count = spans->count; /* pieces come behind */
    for (size_t first = 0, end; first < count; first = end) {
        bool gathered = false;
        for (end = first; end < count && spans->thread[end] == spans->thread[first]; end++)
            ;
        for (size_t i = first; i < end; i++) {
            if (!is_of(spans, i, kind))
                continue;
            if (!gathered)
                gather_exact(&exact, spans, first, end, kind);
            gathered = any = true;
            settle(spans, i, &exact);
        }
    }
    vec_release(&exact.calls);
    vec_release(&exact.ranges);
    return any;
}
