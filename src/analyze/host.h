/* What a host thread was doing at a moment, read from its nested spans. */
#ifndef WARPLIGHT_ANALYZE_HOST_H
#define WARPLIGHT_ANALYZE_HOST_H

#include "analyze/analyze.h"

/* What a span tells about why no GPU work was issued during it. */
enum host_class {
    HOST_GENERIC = 1, /* code runs: says nothing by itself */
    HOST_DATA_LOADING,
    HOST_IO,
    HOST_WAIT,
    HOST_SYNC, /* blocked in a call until the device has finished */
    HOST_ALLOC,
    HOST_COPY,
    HOST_LAUNCH,
    HOST_MODULE, /* loading, compiling, initialising */
    HOST_QUEUE,  /* launch queue full */
    HOST_PROFILER,
};

/* Remembers the class of each (name, kind), so that each distinct name is looked at once. */
struct host_names {
    const struct run *run;
    uint8_t *class_of; /* [name * SPAN_KINDS + kind], 0 not yet asked */
    uint8_t *library;  /* Python frames by name: 1 the user's own code, 2 library code, 0 not yet asked */
};

void host_names_init(struct host_names *names, const struct run *run);
void host_names_release(struct host_names *names);
enum host_class host_span_class(struct host_names *names, uint32_t span);
/* Whether a Python frame belongs to an installed library, the interpreter or a built-in. */
bool host_frame_is_library(struct host_names *names, uint32_t span);

/* A cursor over one thread's spans. Stretches are asked for in roughly increasing time: the cursor moves from
 * where it was, so that a pass over all gaps is linear. */
struct host_cursor {
    uint32_t next; /* first span of the thread whose start is after the last position */
};

/* One stretch during which the same span was innermost. */
struct host_stretch {
    int64_t start, end;
    uint32_t leaf; /* NONE: no span of the thread covers it */
};

/* Calls emit() for the stretches that tile [start, end) of the thread, in time order. */
void host_walk(const struct run *run, uint32_t thread, struct host_cursor *cursor, struct interval range,
               void (*emit)(void *context, const struct host_stretch *stretch), void *context);

#endif
