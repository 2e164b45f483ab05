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

/* What becomes a range of its own. */
enum profiler_ranges {
    PROFILER_KERNELS,  /* every kernel, which runs once: plans of one pass */
    PROFILER_REPLAYED, /* every kernel, which runs once for each pass; memory is restored in between */
    PROFILER_WHOLE, /* all that is launched between profiler_push() and profiler_pop(): plans of one pass */
    PROFILER_RANGES,
};

/* Where CUPTI puts what it counts; laid out once and used again, for it can be tens of MB. */
struct profiler_data {
    const struct profiler_plan *plan; /* that it is laid out for */
    uint8_t *at;
    size_t bytes;
};

/* A context that is measured. */
struct profiler_session {
    void *context;
    void *object;
    bool has_layout;             /* the object knows how the data below lie */
    enum profiler_ranges ranges; /* that the object, and what was started last, are for */
    struct profiler_data data[PROFILER_RANGES];
};

/* Loads CUPTI's profiling libraries and looks what the device can do; the context must be current. Returns 0,
 * or -1 and why. */
int profiler_open(struct profiler *p, const struct cupti *cupti, int device, struct refusal *why);
/* Plans to measure those of the metrics that the chip has, at most in so many passes: the
 * first ones that fit together. Returns 0, or -1 and why. */
int profiler_plan(struct profiler *p, const char *const *metrics, size_t count, size_t most_passes,
                  struct profiler_plan *plan, struct refusal *why);
/* Starts measuring what is launched in the context, which must be current, up to so many ranges (always the
 * same number for one kind of them). Returns 0, or -1 and why. */
int profiler_start(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                   enum profiler_ranges ranges, size_t most_ranges, struct refusal *why);
/* The beginning and the end of a range of PROFILER_WHOLE. */
void profiler_push(struct profiler *p, const struct profiler_session *s);
void profiler_pop(struct profiler *p, const struct profiler_session *s);
/* Ends it. Returns the number of ranges that were measured, or -1 and why. */
int64_t profiler_stop(struct profiler *p, struct profiler_session *s, struct refusal *why);
/* The order in which a measured kernel was launched, from 0, or -1. */
int64_t profiler_order(struct profiler *p, const struct profiler_session *s, size_t range);
/* Its values, one for each metric of the plan; false and why. Sessions that share a plan take turns. */
bool profiler_values(struct profiler *p, const struct profiler_session *s, size_t range,
                     double values[PROFILER_METRICS], struct refusal *why);
/* Gives the context free: for another kind of session, or for PC sampling. */
void profiler_leave(struct profiler *p, struct profiler_session *s);
/* The same for good: gives its memory back, too. */
void profiler_release(struct profiler *p, struct profiler_session *s);

#endif
