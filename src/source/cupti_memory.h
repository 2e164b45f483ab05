/* Books of one process's memory, kept from its allocations and releases: the curves of what is in use.
 *
 * Records come in no order. Those that are drained together are put in order of time; of a release that
 * comes before its allocation the moment is kept, so that the books still balance. */
#ifndef WARPLIGHT_SOURCE_CUPTI_MEMORY_H
#define WARPLIGHT_SOURCE_CUPTI_MEMORY_H

#include "model/run.h"

struct cupti_memory_event {
    int64_t time; /* on the run's clock */
    uint64_t address;
    int64_t bytes; /* of an allocation; of a pool, its size from now on */
    uint32_t curve;
    bool is_release;
};

struct cupti_memory_block { /* what was last heard of an address */
    int64_t time, bytes;
    bool is_live;
};

struct cupti_memory_curve {
    uint32_t series;
    int64_t now, peak;
    int64_t told_ns;    /* time of its last sample */
    int64_t pending_ns; /* time of the last change that is not told yet, UNKNOWN */
};

struct cupti_memory {
    struct map blocks_at; /* hash of address and curve → row of blocks */
    struct map curves_of; /* series → row of curves */
    VEC(struct cupti_memory_block) blocks;
    VEC(struct cupti_memory_curve) curves;
    VEC(struct cupti_memory_event) events; /* since the last cupti_memory_settle() */
    int64_t beyond;                        /* events at more addresses than are kept */
};

/* Row of the curve of that name; device may be NONE. */
uint32_t cupti_memory_curve(struct cupti_memory *m, struct run *run, const char *name, uint32_t device,
                            uint32_t process, enum counter_unit unit);
void cupti_memory_add(struct cupti_memory *m, const struct cupti_memory_event *event);
/* Moves a curve by so much: for what is counted rather than allocated. */
void cupti_memory_count(struct cupti_memory *m, struct run *run, uint32_t curve, int64_t time, int64_t more);
/* Adds samples for all events so far: one for each millisecond in which a curve moved, and each new peak. */
void cupti_memory_settle(struct cupti_memory *m, struct run *run);
void cupti_memory_release(struct cupti_memory *m);

#endif
