/* Watches the ranges of a running program for a step that takes too long.
 *
 * A step is an annotation (NVTX range) that repeats on a thread and is not inside another one that repeats:
 * those are parts of it. Slow is what takes longer than a limit, or than ratio × the median of the last steps
 * of that name, once there were SLOW_STEP_SETTLED of them. At most SLOW_STEP_NAMES names a program are
 * watched, the first that come. */
#ifndef WARPLIGHT_SOURCE_SLOW_STEP_H
#define WARPLIGHT_SOURCE_SLOW_STEP_H

#include "model/compact.h"

enum { SLOW_STEP_NAMES = 256, SLOW_STEP_LAST = 63, SLOW_STEP_SETTLED = 8 };

struct slow_step_name {
    uint32_t name, thread; /* of the run */
    int64_t count;
    int64_t start, end; /* of the latest */
    bool is_part;       /* of another step */
    int64_t last[SLOW_STEP_LAST];
};

struct slow_step_watch {
    const char *name; /* of the steps; NULL: any */
    int64_t limit_ns; /* 0: not given */
    double ratio;     /* 0: not given */
    VEC(struct slow_step_name) names;
};

struct slow_step {
    uint32_t name;                /* of the run */
    int64_t length_ns, median_ns; /* UNKNOWN before there is a median */
};

/* Looks at the run's spans from row `first` on, in the order in which they ended. True if one of them was
 * slow: the slowest of them. */
bool slow_step_look(struct slow_step_watch *w, const struct run *run, size_t first, struct slow_step *slow);
/* Keeps its names when the run is compacted (model/compact.h). */
void slow_step_hold(struct slow_step_watch *w, const struct compaction *c);
void slow_step_release(struct slow_step_watch *w);

#endif
