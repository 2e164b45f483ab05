/* Decoding of measured kernels: launches with their counters, and samples of instructions, as the injected
 * library wrote them into a slot. */
#ifndef WARPLIGHT_SOURCE_CUPTI_COUNTERS_H
#define WARPLIGHT_SOURCE_CUPTI_COUNTERS_H

#include "source/cupti_texts.h"

struct cupti_counters { /* of a process; zeroed: nothing yet */
    uint32_t profile;   /* of the latest launch, plus 1 */
    struct map places;  /* hash of cubin, function and pc → row of run->places */
    struct map samples; /* place << 32 | name → row of run->place_counters */
    VEC(struct ring_launch) totals;
    struct ring_plan plan; /* the latest; kind 0: none */
};

/* Adds a profile. */
void cupti_counters_launch(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           uint32_t source, uint32_t process, const struct ring_launch *launch);
/* Adds counters of the latest launch; false: they belong to another one, or are not sane. */
bool cupti_counters_values(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           const struct ring_counters *values);
/* Adds samples of an instruction, of no profile yet. False: they are not sane. */
bool cupti_counters_samples(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                            uint32_t source, const struct ring_pc *pc);
/* When the process has ended: has the measured launches of a kernel stand for all that there were. */
void cupti_counters_settle(struct cupti_counters *c, const struct cupti_texts *texts, struct run *run,
                           uint32_t source, uint32_t process);
void cupti_counters_release(struct cupti_counters *c);

/* When everything has been read: what was measured of a kernel in one pass, with no replay to disturb times
 * and caches, replaces the same counters where all passes were measured. */
void counters_prefer_unreplayed(struct run *run);
/* After that: gives samples, which only know their function, to the launch of it of which
 * most is known, and adds up the stalls of each such launch as counters of it. */
void counters_assign_samples(struct run *run);

#endif
