/* What a device did, moment by moment: busy accounts and idle time as stretches (doc/internals/ledger.md). */
#ifndef WARPLIGHT_ANALYZE_SWEEP_H
#define WARPLIGHT_ANALYZE_SWEEP_H

#include "analyze/analyze.h"

/* Remembers which kernel names are communication, so that each distinct name is looked at once. */
struct comm_names {
    const struct run *run;
    uint8_t *known; /* per name id: 0 not yet asked, 1 no, 2 yes */
};

void comm_names_init(struct comm_names *names, const struct run *run);
void comm_names_release(struct comm_names *names);
/* Whether the op is a collective: by its metadata, or by its kernel's name. Copies never are. */
bool op_is_comm(struct comm_names *names, uint32_t op);

/* A stretch of a device's time in which the same account ran, or nothing. */
struct sweep_stretch {
    int64_t start, end;
    bool busy;
    enum account account; /* where busy */
    uint32_t next_op; /* the op that starts at the end of an idle stretch; NONE at the end of the window */
};

/* Calls emit() in time order for the stretches that tile the window. An op of no length ends an idle stretch,
 * too. Linear in the device's ops. */
void sweep_device(struct comm_names *names, uint32_t device, struct interval window,
                  void (*emit)(void *context, const struct sweep_stretch *stretch), void *context);

#endif
