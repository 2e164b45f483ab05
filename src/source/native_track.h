/* Spans of what consecutive samples of a thread's CPU time saw in one function, and in the same one inside
 * it: from the first to the last of them, with how far they can reach beyond; see model/sampled.h. */
#ifndef WARPLIGHT_SOURCE_NATIVE_TRACK_H
#define WARPLIGHT_SOURCE_NATIVE_TRACK_H

#include "source/host_spans.h"
#include "source/native_code.h"

struct native_track {
    uint32_t thread; /* of the run */
    int64_t period_ns;
    int64_t last, last_delay_ns; /* sample */
    bool sampled;
    uint32_t function; /* 0: no span is open */
    uint32_t inside;   /* as in struct native_frame */
    bool around_driver;
    int64_t since, before_ns;
};

/* Samples come in order of time. delay_ns: how long the thread has waited for a CPU so far. A frame without
 * function ends what was open. */
void native_track_add(struct native_track *t, int64_t time, int64_t delay_ns,
                      const struct native_frame *frame, host_span_list *out);
/* Ends what was open long before now. */
void native_track_rest(struct native_track *t, int64_t now, host_span_list *out);
void native_track_end(struct native_track *t, host_span_list *out);

#endif
