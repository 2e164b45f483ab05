/* CUPTI's Range Profiler, as measuring kernels uses it: which counters in how many passes, a session in a
 * context in which every kernel becomes a range, and the values of those ranges. doc/internals/counters.md
 * says what was found out about it on hardware. */
#ifndef WARPLIGHT_INJECT_PROFILER_H
#define WARPLIGHT_INJECT_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cupti.h"
#include "inject/refusals.h"

enum { PROFILER_METRICS = 96 };

/* Which counters. */
struct profiler_plan {
    const char *metrics[PROFILER_METRICS]; /* that the chip has; not owned */
    size_t count;
    void *host; /* CUPTI's object that evaluates what was measured by this plan */
    uint8_t *image;
    size_t bytes;
    size_t passes;
};

struct profiler {
    char chip[32];
    cupti_result (*calls[24])(void *params);
};

/* A context that is measured. */
struct profiler_session {
    void *context;
    void *object;
    uint8_t *data;
    size_t data_bytes;
    const struct profiler_plan *plan; /* that data is laid out for */
    bool replays;
};

/* Loads CUPTI's profiling libraries and looks what the device can do; the context must be current. Returns 0,
 * or -1 and why. */
int profiler_open(struct profiler *p, const struct cupti *cupti, int device, struct refusal *why);
/* Plans to measure those of the metrics that the chip has, at most in so many passes: the
 * first ones that fit together. Returns 0, or -1 and why. */
int profiler_plan(struct profiler *p, const char *const *metrics, size_t count, size_t most_passes,
                  struct profiler_plan *plan, struct refusal *why);
/* Starts measuring every kernel that is launched in the context, which must be current, up to so many; with
 * replays, kernels run once for each pass, and memory is restored in between. */
int profiler_start(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                   bool replays, size_t most_ranges, struct refusal *why);
/* Ends it. Returns the number of kernels that were measured, or -1 and why. */
int64_t profiler_stop(struct profiler *p, struct profiler_session *s, struct refusal *why);
/* The order in which a measured kernel was launched, from 0, or -1. */
int64_t profiler_order(struct profiler *p, const struct profiler_session *s, size_t range);
/* Its values, one for each metric of the plan. */
bool profiler_values(struct profiler *p, const struct profiler_session *s, size_t range,
                     double values[PROFILER_METRICS]);
/* Gives the context free: for another kind of session, or for PC sampling. */
void profiler_leave(struct profiler *p, struct profiler_session *s);

#endif
