/* The system's clocks, in ns. */
#ifndef WARPLIGHT_BASE_CLOCK_H
#define WARPLIGHT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What the clock shows now. CLOCK_REALTIME counts from the epoch and can step; CLOCK_MONOTONIC cannot. */
static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
