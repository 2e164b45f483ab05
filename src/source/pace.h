/* How often a question is asked that costs a CPU: at most every so often, and so rarely that its answers take
 * no more than a share of one. Drivers wait for the GPU's own processor actively, some ms for some questions.
 */
#ifndef WARPLIGHT_SOURCE_PACE_H
#define WARPLIGHT_SOURCE_PACE_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/time.h"

/* Zeroed: never asked. */
struct pace {
    int64_t due_ns, cpu_ns; /* CLOCK_MONOTONIC; of this thread when the question began */
    unsigned asked;
};

/* Whether to ask now; then pace_end() follows when there is an answer. */
static inline bool pace_begin(struct pace *p)
{
    if (p->asked && clock_ns(CLOCK_MONOTONIC) < p->due_ns)
        return false;
    p->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return true;
}

/* A share of one CPU, in ten thousandths; 0: as much as it takes. */
enum pace_share {
    PACE_AT_ONCE = 0,
    PACE_LINKS = 5,
    PACE_PROCESS_USE = 10,
    PACE_COUNTERS = 10,
    PACE_SM_PARTS = 30, /* some tenths of a ms: at each sample */
    PACE_SM = 10,
};

/* Next time in period_ns, or later: when the CPU time that it took is that share of the time gone by, but in
 * 10 s at most. Two answers make the first rate: the second one may come without waiting. */
static inline void pace_end(struct pace *p, int64_t period_ns, enum pace_share share)
{
    const int64_t most = INT64_C(10000000000), whole = 10000;
    int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - p->cpu_ns;
    int64_t pause = ++p->asked < 2 || !share ? 0 : min_ns(cost * whole / share, most);
    p->due_ns = clock_ns(CLOCK_MONOTONIC) + max_ns(period_ns, pause);
}

#endif
