#include "export/lanes.h"

static bool ends_first(struct lane_end a, struct lane_end b)
{
    return a.end != b.end ? a.end < b.end : a.lane < b.lane;
}

static bool lower(uint32_t a, uint32_t b)
{
    return a < b;
}

/* A binary heap over a VEC, for any element type and order. */
#define HEAP_PUSH(heap, value, before)                                                                       \
    do {                                                                                                     \
        size_t at_ = (heap)->count;                                                                          \
        vec_push(heap, value);                                                                               \
        while (at_ > 0 && before((heap)->at[at_], (heap)->at[(at_ - 1) / 2])) {                              \
            __typeof__(*(heap)->at) swap_ = (heap)->at[at_];                                                 \
            (heap)->at[at_] = (heap)->at[(at_ - 1) / 2];                                                     \
            (heap)->at[(at_ - 1) / 2] = swap_;                                                               \
            at_ = (at_ - 1) / 2;                                                                             \
        }                                                                                                    \
    } while (0)

#define HEAP_POP(heap, before)                                                                               \
    do {                                                                                                     \
        size_t at_ = 0, count_ = --(heap)->count;                                                            \
        (heap)->at[0] = (heap)->at[count_];                                                                  \
        for (;;) {                                                                                           \
            size_t child_ = 2 * at_ + 1;                                                                     \
            if (child_ >= count_)                                                                            \
                break;                                                                                       \
            child_ += child_ + 1 < count_ && before((heap)->at[child_ + 1], (heap)->at[child_]);             \
            if (!before((heap)->at[child_], (heap)->at[at_]))                                                \
                break;                                                                                       \
            __typeof__(*(heap)->at) swap_ = (heap)->at[at_];                                                 \
            (heap)->at[at_] = (heap)->at[child_];                                                            \
            (heap)->at[child_] = swap_;                                                                      \
            at_ = child_;                                                                                    \
        }                                                                                                    \
    } while (0)

uint32_t lanes_place(struct lanes *lanes, int64_t start, int64_t end)
{
    while (lanes->busy.count > 0 && lanes->busy.at[0].end <= start) {
        HEAP_PUSH(&lanes->free, lanes->busy.at[0].lane, lower);
        HEAP_POP(&lanes->busy, ends_first);
    }
    uint32_t lane;
    if (lanes->free.count > 0) {
        lane = lanes->free.at[0];
        HEAP_POP(&lanes->free, lower);
    } else {
        lane = lanes->count++;
    }
    HEAP_PUSH(&lanes->busy, ((struct lane_end){.end = end, .lane = lane}), ends_first);
    return lane;
}

void lanes_release(struct lanes *lanes)
{
    vec_release(&lanes->busy);
    vec_release(&lanes->free);
    lanes->count = 0;
}

bool nest_close(struct nest *nest, int64_t until, int64_t *end)
{
    if (nest->ends.count == 0 || nest->ends.at[nest->ends.count - 1] > until)
        return false;
    *end = nest->ends.at[--nest->ends.count];
    return true;
}

uint32_t nest_place(struct nest *nest, int64_t start, int64_t end)
{
    if (nest->ends.count > 0 && end > nest->ends.at[nest->ends.count - 1])
        return 1 + lanes_place(&nest->beside, start, end);
    vec_push(&nest->ends, end);
    return 0;
}

void nest_release(struct nest *nest)
{
    vec_release(&nest->ends);
    lanes_release(&nest->beside);
}
