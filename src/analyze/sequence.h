/* Finds the repeated unit in a sequence of launches: the step of a training or inference loop that nobody
 * annotated. Pure: knows neither runs nor clocks. */
#ifndef WARPLIGHT_ANALYZE_SEQUENCE_H
#define WARPLIGHT_ANALYZE_SEQUENCE_H

#include "analyze/analyze.h"

/* One element per launch, or per moment at which the host waited for the device, in the order of issue. */
struct sequence {
    size_t count;
    uint32_t symbols;       /* every symbol is below it */
    const uint32_t *symbol; /* what was launched: equal work, equal symbol. Waits have one of their own */
    const uint32_t *ops;    /* GPU ops that the element started; 0: a wait */
    const int64_t *busy_ns; /* sum of their durations */
    const int64_t *gap_ns;  /* pause before the element: nothing was issued, and the host did not wait */
    const int64_t *wait_ns; /* how long the host waited for the device just before */
};

/* Steps found. Step i is the elements [cuts[i], cuts[i + 1]); cuts.count is the number of steps + 1, or 0. */
struct sequence_steps {
    VEC(uint32_t) cuts;
    size_t period;  /* launches (elements that are no waits) of the typical step */
    double quality; /* share of all launches that lie in steps like the typical one, 0–1 */
};

/* Fills steps (zeroed by the caller, who releases cuts). A unit counts if it repeats at least three times,
 * holds most of the launches and, when it is a single launch, starts many ops (a graph) or ends in a wait.
 * Of nested units the outermost is taken, unless it is only a number of inner ones with hardly anything
 * besides, or with more of the same besides (validation every so many steps). Identical launches are told
 * apart by the rhythm of the pauses between them, if there is one. O(n log n). */
void sequence_find(const struct sequence *sequence, struct sequence_steps *steps);

#endif
