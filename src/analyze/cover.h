/* The union of intervals that come sorted by start, and how much of it lies between two moments. */
#ifndef WARPLIGHT_ANALYZE_COVER_H
#define WARPLIGHT_ANALYZE_COVER_H

#include "base/time.h"
#include "base/vec.h"

struct cover_piece {
    int64_t start, end;
    int64_t before; /* covered time before start */
};

/* A zeroed struct is a valid empty cover. */
struct cover {
    VEC(struct cover_piece) pieces; /* disjoint, ascending */
    size_t last_start;              /* pieces before the start of the last question */
};

/* start must not be less than that of the interval before. Empty intervals add nothing. */
static inline void cover_add(struct cover *cover, int64_t start, int64_t end)
{
    if (start >= end)
        return;
    int64_t before = 0;
    if (cover->pieces.count > 0) {
        struct cover_piece *last = &cover->pieces.at[cover->pieces.count - 1];
        if (start <= last->end) {
            last->end = max_ns(last->end, end);
            return;
        }
        before = last->before + (last->end - last->start);
    }
    vec_push(&cover->pieces, ((struct cover_piece){start, end, before}));
}

/* Covered time in [start, end); O(log n), and less if starts mostly grow from call to call and ends are near
 * the end of the cover. */
int64_t cover_between(struct cover *cover, int64_t start, int64_t end);
void cover_release(struct cover *cover);

#endif
