/* What of a run an export holds: its window, the moments that it spans, and which ops each call launched. */
#ifndef WARPLIGHT_EXPORT_SELECT_H
#define WARPLIGHT_EXPORT_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"

struct selection {
    const struct run *run;
    struct interval window; /* of ops, samples and marks */
    struct interval cut;    /* of spans and waits: the window, from the earliest launching call on */
    struct interval extent; /* first and last moment that is shown; {0, 0} if nothing is */
    uint32_t *first_op;     /* by span: first selected op that it launched, NONE if there is none */
    uint32_t *next_op;      /* by op: next selected op of the same call, NONE after the last */
};

/* run must be sealed and outlive the selection. */
void selection_init(struct selection *s, const struct run *run, const struct export_options *options);
void selection_release(struct selection *s);

/* Where the times of a row do not make an interval, it counts as a moment at its start. */
static inline struct interval interval_of(int64_t start, int64_t end)
{
    return (struct interval){start, end < start ? start : end};
}

bool selects_op(const struct selection *s, size_t op);
bool selects_moment(const struct selection *s, int64_t time);
/* Whether an interval of the host or a wait is shown; `shown` is the part of it that is. */
bool selects_interval(const struct selection *s, struct interval whole, struct interval *shown);
/* Whether an arrow leads from the op's call to it. One that would point back in time is left out: the clocks
 * disagree, and the correlation still links the two. */
bool op_has_arrow(const struct run *run, size_t op);
bool selects_span(const struct selection *s, size_t span, struct interval *shown);

#endif
