/* Findings from the counters of a kernel: one file a family, counter_*.c. A rule says what the hardware does
 * too much of, and what share of the kernel's time that costs; counters.c caps the saving, ranks and merges.
 *
 * Shares are of the kernel's time. The upper end assumes that the time follows the resource; the lower one
 * that half of it is hidden behind something else. doc/measured/kernels.md compares them with what was
 * gained. */
#ifndef WARPLIGHT_ANALYZE_FINDINGS_COUNTERS_H
#define WARPLIGHT_ANALYZE_FINDINGS_COUNTERS_H

#include "analyze/profiles.h"

struct counter_finder {
    struct report *report;
    const struct run *run;
    struct profile_row *row;
    const struct device *device;    /* NULL */
    const struct shape *shape;      /* NULL */
    const struct kernel_code *code; /* NULL */
    struct pressure pressure;
    double cycles; /* elapsed, of an SM; NAN */
};

/* What warps wait for where a kind of memory is slow. */
enum {
    WAITS_GLOBAL = 1u << STALL_LONG_SCOREBOARD | 1u << STALL_LG_THROTTLE,
    WAITS_SHARED = 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_MIO_THROTTLE,
};

/* What is less than this share of a kernel's time is no finding: counters themselves vary by as much. */
static const double counter_least = 0.05;

/* NAN where it is not known. */
double counter_value(const struct counter_finder *f, enum metric id);
/* Threads and warps of a block, blocks of the grid; 0 where not known. */
int64_t counter_block_threads(const struct counter_finder *f);
int64_t counter_block_warps(const struct counter_finder *f);
int64_t counter_grid_blocks(const struct counter_finder *f);
/* How much of the time that a resource is busy would follow if it did less: all of it at 80 % and more. */
double counter_weight(double pressure);
/* ratio with NAN where the whole is 0 or unknown. */
double counter_share(double part, double whole);
/* The value, or 0 where it is not known. */
double counter_known(double value);

/* Adds a finding that would save low to high of the kernel's time, high at most 1; NULL if that is too little
 * to say. Returns it for title, evidence and action; the pointer lives until the next add. */
struct finding *counter_add(struct counter_finder *f, const char *id, double low, double high,
                            double confidence);
void counter_evidence(struct finding *finding, struct msg evidence);
/* "most of it at reduce.cu:42", for the line that has most of `what` (above `ideal` if that is not
 * PLACE_OTHER); where no line has any, as where only the sampler looked at lines, the one at which warps wait
 * most for what it makes slow: waits are bits 1 << enum stall. Nothing where that is not known either. */
void counter_line(struct counter_finder *f, struct finding *finding, enum place_metric what,
                  enum place_metric ideal, unsigned waits);
/* The line at which warps wait most for one of those reasons. */
void counter_stall_line(struct counter_finder *f, struct finding *finding, unsigned waits);

void find_global_access(struct counter_finder *f); /* counter_memory.c */
void find_local_access(struct counter_finder *f);
void find_atomics(struct counter_finder *f);
void find_shared_access(struct counter_finder *f); /* counter_shared.c */
void find_idle_lanes(struct counter_finder *f);    /* counter_warps.c */
void find_idle_sms(struct counter_finder *f);      /* counter_grid.c */
void find_pipes(struct counter_finder *f);         /* counter_pipes.c */
void find_advised(struct counter_finder *f);       /* counter_advice.c */
void find_bound(struct counter_finder *f);         /* counter_bound.c; last */

#endif
