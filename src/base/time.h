/* Time is int64_t nanoseconds on the one clock of a run. UNKNOWN marks an integer nobody measured: it is
 * never 0 and never takes part in arithmetic. */
#ifndef WARPLIGHT_BASE_TIME_H
#define WARPLIGHT_BASE_TIME_H

#include <stdint.h>

#define UNKNOWN INT64_MIN
#define NONE    UINT32_MAX /* an index or id that refers to nothing */

/* Half-open interval [start, end). */
struct interval {
    int64_t start;
    int64_t end;
};

static inline int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
