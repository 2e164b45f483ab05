/* Lanes: parallel tracks for slices that overlap, since viewers draw a track as one stack of nested slices
 * and drop or distort what does not nest. Slices are placed in ascending order of start; each goes to the
 * lowest lane that is free. O(log lanes) a slice. */
#ifndef WARPLIGHT_EXPORT_LANES_H
#define WARPLIGHT_EXPORT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct lane_end {
    int64_t end;
    uint32_t lane;
};

/* Lanes that hold one slice at a time. Zeroed is empty. */
struct lanes {
    VEC(struct lane_end) busy; /* heap, soonest end first */
    VEC(uint32_t) free;        /* heap, lowest lane first */
    uint32_t count;            /* lanes in use so far */
};

/* Returns the lane of the slice [start, end). A slice of no length takes its lane for that moment only. */
uint32_t lanes_place(struct lanes *lanes, int64_t start, int64_t end);
void lanes_release(struct lanes *lanes);

/* Slices that mostly nest, as the calls of a thread do: lane 0 is a stack, and what would stick out of the
 * slice that encloses its start goes to lanes beside it. Zeroed is empty. */
struct nest {
    VEC(int64_t) ends; /* of the open slices of lane 0, outermost first */
    struct lanes beside;
};

/* Closes the innermost open slice of lane 0 if it ends at or before `until`, and says when it ended. Call
 * until it returns false before each nest_place(), and once with INT64_MAX at the end. */
bool nest_close(struct nest *nest, int64_t until, int64_t *end);
/* Returns the lane of the slice; in lane 0 it stays open until nest_close() tells. */
uint32_t nest_place(struct nest *nest, int64_t start, int64_t end);
void nest_release(struct nest *nest);

#endif
