/* Theoretical occupancy: how many blocks of a launch fit on one SM at once, what stops one more, and what
 * would have to change for it. Occupancy is capacity, not efficiency: it says how many warps there are to
 * hide latency with, not whether there is any to hide.
 *
 * Source of rules and limits: cuda_occupancy.h of CUDA 13.0; compute capability 3.x from the table of the
 * CUDA C++ Programming Guide 11. The largest shared memory carve-out is assumed, as that header does; the
 * driver may have picked a smaller one. Partitioned caching (5.x, 6.x) is left out. Clusters do not change
 * how many blocks fit on an SM; whether all blocks of one find room at once depends on the GPU's GPCs. */
#ifndef WARPLIGHT_ANALYZE_OCCUPANCY_H
#define WARPLIGHT_ANALYZE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/run.h"

enum { OCCUPANCY_WARP = 32, OCCUPANCY_BLOCK_THREADS = 1024, OCCUPANCY_REGISTERS = 255 };

struct occupancy_launch {
    int64_t threads;      /* of a block, > 0 */
    int64_t registers;    /* of a thread, > 0 */
    int64_t shared_bytes; /* of a block, static and dynamic, without what is reserved */
    int64_t barriers;     /* named barriers of a block; 0: none, or not known */
};

enum occupancy_limit {
    LIMIT_WARPS,
    LIMIT_BLOCKS,
    LIMIT_REGISTERS,
    LIMIT_SHARED,
    LIMIT_BARRIERS,
    LIMIT_COUNT
};

/* Fixed names for machines, "registers"; and for people (msgid), "registers". */
const char *occupancy_limit_name(enum occupancy_limit limit);
const char *occupancy_limit_title(enum occupancy_limit limit);

/* Why not even one block fits. */
enum occupancy_refusal {
    REFUSAL_NONE,
    REFUSAL_THREADS,         /* more than 1024 threads a block */
    REFUSAL_REGISTERS,       /* more registers a thread than there can be */
    REFUSAL_BLOCK_REGISTERS, /* all threads of a block together need more registers than it may have */
    REFUSAL_SHARED,          /* more shared memory than a block may have */
    REFUSAL_BARRIERS,
};

/* In one sentence (msgid); NULL for REFUSAL_NONE. */
const char *occupancy_refusal_text(enum occupancy_refusal refusal);

struct occupancy {
    int32_t cc;                    /* 10 × major + minor */
    int32_t max_warps, max_blocks; /* per SM */
    int64_t warps_per_block;
    int64_t blocks_by[LIMIT_COUNT]; /* per SM; INT64_MAX: this does not limit it */
    int64_t blocks;                 /* the least of them */
    unsigned limiters;              /* bit 1 << enum occupancy_limit: every one that equals the least */
    double ratio;                   /* resident warps ÷ max_warps */
    enum occupancy_refusal refusal;
    int64_t shared_taken_bytes; /* of a block, rounded up and with what is reserved */
    int64_t shared_sm_bytes;    /* largest carve-out */
};

/* False if the device's limits are not known. */
bool occupancy_find(struct occupancy *occupancy, const struct device *device,
                    const struct occupancy_launch *launch);
/* A device of which nothing but its compute capability is known. */
struct device occupancy_device(int32_t cc);
/* The compute capabilities whose limits are known, ascending, from 5.0 on: 50, 52, … */
const int32_t *occupancy_capabilities(int *count);

/* What one more block per SM takes: at most that many registers and bytes and barriers, all of them together
 * where several limit equally; UNKNOWN: that need not change. */
struct occupancy_next {
    bool possible; /* false: warps or blocks are at the SM's own limit, or no value is low enough */
    struct occupancy_launch launch; /* with what must change changed */
    struct occupancy then;
    bool registers, shared, barriers; /* what must change */
};
void occupancy_next(struct occupancy_next *next, const struct device *device,
                    const struct occupancy_launch *launch);

/* A step of the curve over a resource: up to `most` of it, with all else as it is. */
struct occupancy_step {
    int64_t most;
    int64_t blocks; /* per SM */
    double ratio;
};

/* One launch on one compute capability, from all sides. */
struct occupancy_report {
    const char *name; /* of the kernel; NULL: none was named */
    const char *architecture;
    struct occupancy_launch launch;
    int64_t cluster; /* blocks of a cluster; UNKNOWN: none */
    struct occupancy now;
    struct occupancy_next next;
    int64_t
        better_block; /* the nearest block size with a higher occupancy, a multiple of 32; 0: there is none */
    struct occupancy better;
    int64_t free_registers;              /* the most registers that cost no block */
    VEC(struct occupancy_step) by_block; /* .most: threads of a block, each multiple of 32 */
    VEC(struct occupancy_step) by_registers, by_shared;
};

/* False if the compute capability is not known. Release it in either case. */
bool occupancy_build(struct occupancy_report *report, int32_t cc, const struct occupancy_launch *launch);
void occupancy_release(struct occupancy_report *report);

#endif
