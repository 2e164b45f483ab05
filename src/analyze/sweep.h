/* What a device did, moment by moment: the ledger's busy accounts as stretches of time (DESIGN §4). */
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

/* Calls emit() in time order for the stretches of the window in which something ran on the device. What is
 * left out is idle. Linear in the device's ops. */
void sweep_busy(struct comm_names *names, uint32_t device, struct interval window,
                void (*emit)(void *context, struct interval stretch, enum account account), void *context);

#endif
