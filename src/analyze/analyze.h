/* The analyses. Each is a pure function: it reads the sealed run and the parts of the report that the comment
 * names, and fills its own part. report_build() calls them in the order below. */
#ifndef WARPLIGHT_ANALYZE_ANALYZE_H
#define WARPLIGHT_ANALYZE_ANALYZE_H

#include "analyze/report.h"

/* window, devices[].ledger_ns busy accounts; gaps without cause */
void ledger_build(struct report *report, const struct report_options *options);
/* needs ledger: causes of gaps, devices[].ledger_ns idle accounts, culprits */
void gaps_build(struct report *report);
/* needs ledger, gaps: devices[].use */
void use_build(struct report *report);
/* needs ledger: kernels (and their share of busy time) */
void kernels_build(struct report *report);
/* needs ledger: copies and their overlap */
void copies_build(struct report *report);
/* API calls and launch statistics */
void calls_build(struct report *report);
/* framework operators */
void operators_build(struct report *report);
/* needs ledger, gaps: steps and outliers */
void steps_build(struct report *report);
/* streams and concurrency */
void streams_build(struct report *report);
/* memory curve and peak */
void memory_build(struct report *report);
/* needs ledger: collectives, ranks and stragglers */
void comms_build(struct report *report);
/* needs all of the above: Amdahl bounds */
void amdahl_build(struct report *report);
/* needs all of the above: findings, ranked */
void findings_build(struct report *report);

/* Every finding that the rules can make, in the order of their classes: id, class, one-line meaning (msgid).
 */
struct finding_info {
    const char *id;
    const char *class_;
    const char *meaning;
};
const struct finding_info *finding_list(size_t *count);

/* ---- helpers that the analyses share --------------------------------------------------------------------
 */

/* Range of run->ops of the device that holds every op inside the window, found in O(log n). It can hold
 * others too, as ops are sorted by start and a long one may begin well before the window: ask op_in_window().
 */
struct op_range {
    uint32_t first, end;
};
struct op_range ops_in_window(const struct run *run, uint32_t device, struct interval window);
/* The part of op inside the window; start >= end when none is. Several analyses clip durations with it. */
struct interval op_clip(const struct run *run, uint32_t op, struct interval window);
/* Whether an op that covers [start, end) belongs to the window: part of it lies inside, or it has no length
 * and its moment is not outside. */
static inline bool op_in_window(int64_t start, int64_t end, struct interval window)
{
    return start == end ? start >= window.start && start <= window.end
                        : start < window.end && end > window.start;
}

/* What an API call does, from its name, whatever the vendor. */
enum call_class {
    CALL_OTHER,
    CALL_LAUNCH, /* kernel or graph launch */
    CALL_COPY,   /* memcpy or memset */
    CALL_SYNC,   /* blocks until the device has finished something */
    CALL_ALLOC,  /* allocates or frees device or pinned memory */
    CALL_MODULE, /* loads code, compiles, initialises */
    CALL_QUERY,  /* returns at once: attributes, event records, stream waits */
};
enum call_class call_classify(const char *name);

/* What a kernel is, from its name. Every known family of the vendor libraries, not one pattern. */
struct kernel_class {
    bool is_comm;          /* NCCL, RCCL, NVSHMEM, MSCCL, custom all-reduce */
    bool is_tuned_library; /* hand-tuned vendor or well-known library kernel: cuBLAS, cuDNN, CUTLASS, flash
                              attention */
    bool is_matrix;        /* matrix product or convolution */
    bool uses_tensor_cores;
    bool is_fp64;
    bool is_fp32_simt; /* matrix product on the ordinary fp32 pipes (sgemm, ffma) */
};
struct kernel_class kernel_classify(const char *name);
/* Appends a readable short form of a kernel's demangled or mangled name: no return type, arguments or long
 * template lists, the functor that tells elementwise kernels apart kept. At most width columns. */
void kernel_shorten(struct str *out, const char *name, size_t width);

/* The value at p (0–1) of n values, linear between neighbours and rounded half up, so that p = 0.5 is the
 * exact median; reorders them, O(n). n = 0 gives UNKNOWN. */
int64_t stat_percentile(int64_t *values, size_t n, double p);

/* Theoretical occupancy (resident warps ÷ maximum) of a launch on a device, and resident blocks per SM; NAN
 * and 0 where the device's limits are not known. Source: CUDA occupancy calculator rules. */
double occupancy_of(const struct device *device, const struct shape *shape, int32_t *blocks_per_sm);

#endif
