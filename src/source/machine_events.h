/* Xids as they come, from NVML and from the kernel's log: what both tell is one event.
 *
 * NVML does not tell of all (a GPU that fell off the bus, a hung firmware), and the log may not be readable:
 * each fills in for the other. */
#ifndef WARPLIGHT_SOURCE_MACHINE_EVENTS_H
#define WARPLIGHT_SOURCE_MACHINE_EVENTS_H

#include "model/burst.h"
#include "model/machine.h"
#include "source/kmsg.h"

struct machine_told { /* an event, and how often each told it */
    struct machine_event event;
    struct burst by_nvml, by_log;
};

struct machine_events {
    struct kmsg_follow log;
    VEC(struct machine_told) coming; /* for the next sample */
    VEC(struct machine_told) past;   /* lately in a sample; the other teller may be late */
};

/* path: of the kernel's log. */
void machine_events_open(struct machine_events *e, const char *path);
void machine_events_close(struct machine_events *e);
/* Reads what is new of the log. */
void machine_events_read(struct machine_events *e);
/* One that the driver told of: time, code and bus. */
void machine_events_add(struct machine_events *e, const struct machine_event *event);
/* Offers each that came to take(); one that it does not want (false) stays and is offered again. What the
 * other teller says later of one that was taken is no further event. */
typedef bool machine_event_take(void *context, const struct machine_event *event);
void machine_events_offer(struct machine_events *e, int64_t now_unix_ns, machine_event_take *take,
                          void *context);
/* Reads what is new of the log and moves everything into the sample, whose devices are there; says whether
 * the log can be read among its sources. */
void machine_events_take(struct machine_events *e, struct machine_sample *sample);

#endif
