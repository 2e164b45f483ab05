/* What measuring costs, before anything runs: passes of counters on each chip that CUPTI's host interface
 * knows. Needs CUPTI, but neither a GPU nor its driver. */
#ifndef WARPLIGHT_SOURCE_COUNTER_PLAN_H
#define WARPLIGHT_SOURCE_COUNTER_PLAN_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct counter_chip {
    char name[32];       /* GH100 */
    size_t quick_passes; /* of all metrics of one-pass measuring: 1, or what does not fit is left out */
    size_t quick_count;  /* metrics that are measured */
    size_t deep_passes;  /* of --deep; 0: not asked for */
    size_t deep_count;
    VEC(const char *)
    missing; /* metrics asked for that the chip has not; of the caller or of counter_sets.h */
};

struct counter_plan {
    struct str library; /* the CUPTI that was asked */
    VEC(struct counter_chip) chips;
};

/* Plans for a chip, or for all (NULL). metrics as in struct measure_options, which must outlive the plan. */
int counter_plan_make(struct counter_plan *plan, const char *chip, char *const *metrics, size_t count,
                      struct err *err);
void counter_plan_release(struct counter_plan *plan);

#endif
