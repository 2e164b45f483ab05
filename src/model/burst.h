/* A graphics exception (Xid 13) has several lines in the kernel's log, within some ms: one for each SM that
 * met it, one of registers, and at last one of the channel with the process; NVML tells of some of them, too.
 * Of other codes each line is an event. Seen on an H200: doc/measured/machine.md. */
#ifndef WARPLIGHT_MODEL_BURST_H
#define WARPLIGHT_MODEL_BURST_H

#include <stdbool.h>

#include "base/time.h"

/* What was told of one code and GPU. Zeroed: nothing yet. */
struct burst {
    int64_t count;   /* of events */
    int64_t last_ns; /* on any clock, or UNKNOWN */
    bool is_open;    /* more of the last event may come */
};

/* Whether what is told at that time belongs to the event before. */
static inline bool burst_goes_on(const struct burst *b, int64_t time_ns)
{
    const int64_t most = 100000000;
    bool is_near =
        time_ns == UNKNOWN || b->last_ns == UNKNOWN || (time_ns >= b->last_ns && time_ns - b->last_ns < most);
    return b->is_open && is_near;
}

/* is_part: it is not the last word on its event, or may not be. */
static inline void burst_add(struct burst *b, int64_t time_ns, bool is_part)
{
    *b = (struct burst){b->count + !burst_goes_on(b, time_ns), time_ns, is_part};
}

#endif
