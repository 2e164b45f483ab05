/* Which rank the others wait for, from when each arrived at the collectives they share. Pure. */
#ifndef WARPLIGHT_ANALYZE_STRAGGLER_H
#define WARPLIGHT_ANALYZE_STRAGGLER_H

#include "analyze/analyze.h"

/* One rank's part in one collective: its kernel's start and end, on that rank's clock. */
struct arrival {
    uint64_t collective; /* equal for the parts of one collective, and only for them */
    uint32_t rank;       /* below the number of ranks */
    int64_t start, end;
};

struct straggler {
    uint32_t rank;      /* NONE: none stands out */
    size_t matched;     /* collectives that at least two ranks took part in */
    int64_t *offset_ns; /* per rank: how far its clock is ahead of the ranks' common one */
    int64_t *wait_ns;   /* per rank: own kernel's start to the last rank's, summed */
    int64_t *caused_ns; /* per rank: waiting of all others in collectives where it was the last */
};

/* Fills result; release it with straggler_release(). Reorders arrivals. wall_ns is the typical wall time of a
 * rank, against which waiting must matter. Clocks of ranks are not trusted to agree: a collective ends on all
 * its ranks within microseconds, so a constant offset per rank is estimated from the ends, and starts are
 * compared after it is taken off. What ends apart by nature (a send and its receive, a reduction to one rank)
 * shifts that estimate by no more than it is apart; drift within the recording is not corrected. */
void straggler_find(struct arrival *arrivals, size_t count, uint32_t ranks, int64_t wall_ns,
                    struct straggler *result);
void straggler_release(struct straggler *result);

#endif
