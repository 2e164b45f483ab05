/* What counters say of kernels: launches put together, what bounds them, and how far they are from it. */
#ifndef WARPLIGHT_ANALYZE_PROFILES_H
#define WARPLIGHT_ANALYZE_PROFILES_H

#include "analyze/metrics.h"
#include "analyze/report.h"

struct profile_options {
    const char *kernel; /* part of the name, or a pattern with * and ?; NULL: all */
    bool has_raw;       /* counters under their own names, too */
};

/* Fills profiles and lines of a zeroed report, findings included; release it with report_release(). The run
 * must outlive it. O(counters + place counters). */
void profiles_build(struct report *report, const struct run *run, const struct profile_options *options);
void profiles_release(struct report *report);

/* Parts of profiles_build(). */
void roofline_build(const struct run *run, struct profile_row *row);
/* bound, level and bound_ratio, from how busy memory, issue and pipes were. */
void bound_build(struct profile_row *row);
/* report->lines, from the counters of places; row_of: profile → row. */
void lines_build(struct report *report, const uint32_t *row_of);
/* report->counters: means over the launches of a row. */
void raw_counters_build(struct report *report, const uint32_t *row_of);
/* Findings of a row that is otherwise complete. */
void counter_findings(struct report *report, struct profile_row *row);

/* "more threads", for people (msgid), and for machines. */
const char *undecided_title(enum undecided what);
const char *undecided_name(enum undecided what);
const char *bound_name(enum bound bound);              /* "memory"; for machines */
const char *level_name(enum memory_level level);       /* "DRAM", "L2", "L1"; the same in all languages */
const char *peak_source_name(enum peak_source source); /* also a msgid */

/* How busy the parts of the GPU were, of the time from start to end of the kernel (0–1); NAN. */
struct pressure {
    double dram, l2, l1, memory; /* memory: the busiest of all levels and of the pipes to them */
    double issue;                /* cycles in which a scheduler issued */
    double pipe;                 /* busiest arithmetic pipe */
    enum metric busiest_pipe;    /* METRIC_COUNT: not known */
    double compute;              /* issue and pipes */
};
struct pressure pressure_of(const struct profile_row *row);

#endif
