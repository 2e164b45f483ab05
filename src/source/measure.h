/* Measures the kernels of a program with hardware counters while it runs, into profiles of a run. */
#ifndef WARPLIGHT_SOURCE_MEASURE_H
#define WARPLIGHT_SOURCE_MEASURE_H

#include "model/run.h"
#include "source/collect.h"
#include "source/target.h"

struct measure_options {
    const char *metrics; /* PerfWorks names, separated by commas, in place of those of counter_sets.h; NULL */
    bool stalls;         /* the warp sampler in place of counters */
    bool again;          /* the run has measured this program before: to that source */
    bool deep;           /* more metrics in several passes, of kernels that matter */
    uint32_t launches;   /* of each distinct kernel, grid and block; 0: every one */
    /* With deep: is told what several passes will cost on a chip, before the first kernel is run for them.
     * NULL */
    void (*on_plan)(const struct ring_plan *plan);
};

struct measure {
    struct target target;
    struct collect collect;
};

/* Runs argv (NULL-terminated) to its end, whatever becomes of the measuring. Afterwards the run holds what
 * was measured, m->target how the program ended, and collect_failure() why not everything was measured.
 * Returns a negative code only where the program was not started. */
int measure_run(struct measure *m, struct run *run, const struct measure_options *options, char *const *argv,
                struct err *err);
void measure_release(struct measure *m);

#endif
