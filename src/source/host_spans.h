/* What samples of one thread say about the time between them.
 *
 * Two samples see two moments; the kernel's accounts say how much of the time between the thread ran, and how
 * much it was ready but had no CPU: the rest it waited. So
 *
 * - a thread that has had no CPU in between is still in the same call, on the same stack: nothing is
 * uncertain;
 * - a call seen at either end is given what was waited: all of it if the thread ran at the other end, half of
 *   it if it waited there, too. Where a thread runs when it is looked at, its account can be a tick of the
 *   scheduler old, so that a call before is given at most half of the time;
 * - two samples in the same call on the same file are one span if hardly anything was run in between;
 * - waiting for a CPU comes right after the wait that it follows;
 * - frames change in the middle of what was run.
 *
 * Without accounts, what is different changes in the middle, and what is equal did not change.
 *
 * A call's span goes from its first to its last sample, and its id says how far it can reach beyond; see
 * model/sampled.h. */
#ifndef WARPLIGHT_SOURCE_HOST_SPANS_H
#define WARPLIGHT_SOURCE_HOST_SPANS_H

#include "source/proc_task.h"
#include "source/python_frames.h"

struct host_sample {
    int64_t time; /* ns, CLOCK_REALTIME */
    bool has_accounts;
    struct proc_accounts accounts;
    uint32_t call; /* text: what it waits in; 0: it runs */
    uint32_t file; /* text: on what; 0 not known */
};

/* A span that is complete; texts are ids of the sampler. */
struct host_span {
    int64_t start, end;
    uint64_t id;
    uint32_t thread, name, detail;
    uint8_t kind; /* enum span_kind */
};
typedef VEC(struct host_span) host_span_list;

/* What is counted of a frame at once. */
enum { HOST_FRAME_LINES = 8 };

/* A frame that is on the stack. */
struct host_frame {
    uint32_t name;
    uint32_t called_from; /* line of the frame around it */
    int64_t start;
    struct {
        uint32_t line, samples; /* that saw it there; 0: the place is free */
    } lines[HOST_FRAME_LINES];
};

struct host_track {
    uint32_t thread;        /* of the run */
    uint32_t no_cpu;        /* text: the name of waiting for a CPU */
    int64_t longest_gap_ns; /* between samples that belong together */
    bool sampled;
    struct host_sample last;
    int64_t call_since;     /* first sample of the call that it waits in */
    int64_t call_before_ns; /* how far that can reach back */
    int64_t settled;        /* nothing before this is added any more */
    int64_t stack_time;     /* last sample whose stack could be read */
    size_t depth;
    struct host_frame frames[PYTHON_STACK_MAX];
};

/* Whether the thread has not had a CPU since the last sample: it is where it was, and only its accounts need
 * to be read. */
bool host_track_stood_still(const struct host_track *t, const struct proc_accounts *accounts);
/* Adds a sample; stack is NULL where it could not be read, and has no frames where no Python code runs. */
void host_track_add(struct host_track *t, const struct host_sample *sample, const struct python_stack *stack,
                    host_span_list *out);
/* Ends what is open at the last sample. */
void host_track_end(struct host_track *t, host_span_list *out);

#endif
