/* Which counters are measured on a chip: planned once, for all contexts and sessions. */
#ifndef WARPLIGHT_INJECT_PLANS_H
#define WARPLIGHT_INJECT_PLANS_H

#include <pthread.h>

#include "inject/profiler.h"
#include "inject/recorder.h"

struct plan {
    struct profiler_plan counters;
    uint64_t *names; /* of its metrics, as the ring knows them */
};

struct plans {
    char chip[32];
    bool is_part;               /* without the units that MIG instances share: L2, DRAM, links */
    struct plan quick, deep;    /* deep: only where the recorder's options ask for it */
    pthread_mutex_t evaluating; /* the objects that turn what was counted into values are no one's own */
};

/* Reads "metric=NAME" and then "deep=NAME" of the words of the options; before the first plan. */
void plans_read(const char *words);
/* The plans of the chip that p is open for. NULL and why. One caller at a time. */
struct plans *plans_find(struct recorder *r, struct profiler *p, bool is_part, struct refusal *why);
/* In the child of a fork. */
void plans_forget(void);

#endif
