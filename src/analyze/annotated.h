/* Ranges by which the program itself marks its steps: "ProfilerStep#3", "step 3", an NVTX range per batch. */
#ifndef WARPLIGHT_ANALYZE_ANNOTATED_H
#define WARPLIGHT_ANALYZE_ANNOTATED_H

#include "analyze/analyze.h"

/* The ranges of one thread whose names differ by digits at most, by start, not overlapping. */
struct annotated {
    uint32_t *spans; /* run->spans */
    size_t count;    /* 0: the run has no ranges that could mark steps */
    bool numbered;   /* their names do differ: the program counted them */
    bool named_step; /* the name speaks of a step, iteration or batch */
};

/* Chooses the ranges that mark the steps of the device's processes. issued[] are the moments, ascending, at
 * which the device's work was issued. At least three ranges must hold at least half of it. Linear in spans,
 * but for a search in issued[] for each range. */
void annotated_find(const struct run *run, uint32_t device, const int64_t *issued, size_t count,
                    struct annotated *annotated);
void annotated_release(struct annotated *annotated);

/* The range that covers the moment; NONE. */
uint32_t annotated_at(const struct annotated *annotated, const struct run *run, int64_t moment);
/* Whether steps cut as in struct sequence_steps and the ranges are the same steps, one for one. */
bool annotated_match(const struct annotated *annotated, const struct run *run, const int64_t *issued,
                     const uint32_t *cuts, size_t cut_count);

/* First index whose moment is at or after time. */
size_t issued_at_or_after(const int64_t *issued, size_t count, int64_t time);

#endif
