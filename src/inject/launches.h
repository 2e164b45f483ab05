/* Launches of kernels as CUPTI's callbacks show them, and the distinct kernels that they are of. */
#ifndef WARPLIGHT_INJECT_LAUNCHES_H
#define WARPLIGHT_INJECT_LAUNCHES_H

#include "capture/profiler.h"
#include "inject/graphs.h"
#include "inject/recorder.h"

enum { KERNELS = 1 << 14 }; /* distinct ones of a context that are known; a power of two */

/* A distinct kernel, grid and block; or a CUDA graph. */
struct kernel {
    const char *symbol; /* where the driver keeps the name; NULL: free */
    uint64_t name;      /* of the ring */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t registers, static_shared_bytes, local_bytes;
    bool excluded;          /* must not be measured */
    bool is_graph;          /* symbol is its handle, grid[0] its number */
    uint32_t graph_kernels; /* in it; 0 not known */
    /* For who measures. */
    bool deep;         /* measured in all passes */
    uint32_t launches; /* seen */
    uint32_t told;     /* of them, in the records of totals */
    uint32_t measured;
    double duration_ns; /* of the latest that was measured */
};

struct launch {
    struct kernel *kernel; /* NULL: there are too many, or it is neither a single kernel nor a graph */
    bool excluded;         /* must not be measured, also where it has no place among the kernels */
    int64_t number;        /* in the process */
    void *stream;
    uint32_t flags;  /* enum ring_launch_flags */
    bool is_single;  /* a kernel: not a graph, not a group of several devices */
    bool is_capture; /* only becomes a node of a graph */
};

/* What a call launches. kernels has KERNELS places; new ones are logged. */
struct launch launch_read(struct recorder *r, const struct driver *driver, int device, struct kernel *kernels,
                          uint32_t cbid, const struct callback_call *call);

#endif
