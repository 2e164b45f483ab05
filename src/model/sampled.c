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

/* What a native function is settled against is exact, or surer than it. */
static bool bounds(uint8_t bounded, uint8_t kind)
{
    return is_call(kind) || (bounded == SPAN_NATIVE && kind == SPAN_OS);
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
        if (is_of(spans, i, kind) || (kind != SPAN_NATIVE && is_of(spans, i, SPAN_OS)))
            continue;
        if (bounds(kind, spans->kind[i]))
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

/* Lays [start, end) into the row, cut so that it nests; what is cut off becomes new rows. *pieces counts. */
static void lay(struct span_table *spans, size_t row, int64_t start, int64_t end, const struct exact *x,
                int *pieces)
{
    bool call = spans->kind[row] == SPAN_OS;
    for (int cuts = 0; cuts < MOST_PIECES && start < end; cuts++, ++*pieces) {
        int64_t cut = first_cut(x, start, end, call);
        if (*pieces > 0) {
            add_piece(spans, row, start, cut);
        } else {
            spans->start[row] = start;
            spans->end[row] = cut;
        }
        start = cut;
    }
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
    int pieces = 0;
    lay(spans, span, start, end, x, &pieces);
}

/* ---- native functions -----------------------------------------------------------------------------------
 */

/* Between two calls that follow each other faster nobody was seen often enough to be named. */
enum { SHORTEST_NATIVE_NS = 50 * 1000 };

static bool in_call(const struct exact *x, int64_t time)
{
    size_t begun = calls_begun(x, time);
    return begun > 0 && time < x->calls.at[begun - 1].end;
}

/* How far a function reaches that was seen at both edges; last and next are when others were, UNKNOWN if
 * there were none. */
static struct interval native_reach(const struct exact *x, struct interval seen, uint64_t id, int64_t last,
                                    int64_t next)
{
    enum { NS_PER_US = 1000 };
    struct interval first = place_of(x, seen.start), final = place_of(x, seen.end);
    int64_t before = (int64_t)(sampled_first_(id) >> 1) * NS_PER_US;
    int64_t after = (int64_t)sampled_second_(id) * NS_PER_US;
    if (!in_call(x, seen.start)) {
        if (last != UNKNOWN && last >= first.start)
            first.start = last + (seen.start - last) / 2;
        first.start = max_ns(first.start, seen.start - before);
    }
    if (!in_call(x, seen.end)) {
        if (next != UNKNOWN && next < final.end)
            final.end = seen.end + (next - seen.end) / 2;
        final.end = min_ns(final.end, seen.end + after);
    }
    return (struct interval){first.start, final.end};
}

/* Keeps of a function what lies in calls, if it was seen around one, else what lies between calls. Returns
 * whether anything is left. */
static bool lay_native(struct span_table *spans, size_t span, struct interval reach, bool calls,
                       const struct exact *x)
{
    int pieces = 0;
    for (int64_t start = reach.start, end; start < reach.end; start = end) {
        end = min_ns(reach.end, place_of(x, start).end);
        if (in_call(x, start) == calls && (calls || end - start >= SHORTEST_NATIVE_NS))
            lay(spans, span, start, end, x, &pieces);
    }
    return pieces > 0;
}

/* Settles the native functions of one thread, its spans [first, end), and marks those that nothing is left
 * of. */
static void settle_native(struct span_table *spans, size_t first, size_t end, const struct exact *x,
                          uint8_t *dropped)
{
    int64_t last = UNKNOWN, laid = INT64_MIN;
    for (size_t i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && !is_of(spans, next, SPAN_NATIVE); next++)
            ;
        if (!is_of(spans, i, SPAN_NATIVE))
            continue;
        struct interval seen = {spans->start[i], spans->end[i]};
        if (spans->id[i] != SAMPLED_SETTLED) {
            bool calls = (sampled_first_(spans->id[i]) & 1) && in_call(x, seen.start);
            struct interval reach =
                native_reach(x, seen, spans->id[i], last, next < end ? spans->start[next] : UNKNOWN);
            reach.start = max_ns(reach.start, laid); /* they do not overlap, but in a made-up file */
            laid = max_ns(laid, reach.end);
            spans->id[i] = SAMPLED_SETTLED;
            dropped[i] = !lay_native(spans, i, reach, calls, x);
        }
        last = seen.end;
    }
}

static void drop_spans(struct span_table *spans, const uint8_t *dropped, size_t count)
{
    uint32_t *kept = mem_resize(NULL, spans->count, sizeof *kept);
    size_t left = 0;
    for (size_t i = 0; i < spans->count; i++)
        if (i >= count || !dropped[i])
            kept[left++] = (uint32_t)i;
    if (left < spans->count) {
        spans->count = left;
        span_table_permute(spans, kept);
    }
    free(kept);
}

bool sampled_settle(struct run *run, enum span_kind kind)
{
    struct span_table *spans = &run->spans;
    struct exact exact = {0};
    bool any = false;
    size_t count = spans->count; /* pieces come behind */
    uint8_t *dropped = kind == SPAN_NATIVE ? mem_zalloc(count, 1) : NULL;
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
            if (kind == SPAN_NATIVE) {
                settle_native(spans, i, end, &exact, dropped);
                break;
            }
            settle(spans, i, &exact);
        }
    }
    if (any && dropped)
        drop_spans(spans, dropped, count);
    free(dropped);
    vec_release(&exact.calls);
    vec_release(&exact.ranges);
    return any;
}
