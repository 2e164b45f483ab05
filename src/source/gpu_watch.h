/* What the GPUs of a recording are and how they were: as facts at its start and end, and as counters
 * meanwhile.
 *
 * The driver is asked in a process of its own (source/worker.h), which is given up when it does not answer.
 *
 * No GPU is woken: one is asked only once the target uses it, or while every NVIDIA GPU of the machine is
 * awake anyway (source/gpu_worker.h).
 *
 * Xids of the GPUs that the target uses become marks, as the driver and the kernel's log tell of them
 * (source/machine_events.h).
 *
 * Names of the facts: doc/internals/recording.md. */
#ifndef WARPLIGHT_SOURCE_GPU_WATCH_H
#define WARPLIGHT_SOURCE_GPU_WATCH_H

#include "source/gpu_series.h"
#include "source/gpu_worker.h"
#include "source/machine_events.h"
#include "source/worker.h"

struct gpu_seen {
    char uuid[GPU_UUID_BYTES];
    uint32_t device; /* of the run; NONE while the target has not used it */
    bool has_facts, has_sample;
    enum reading_state missing; /* why there are no samples (any more) */
    struct gpu_facts facts;
    struct gpu_sample first, last;
    struct gpu_series series;
};

struct gpu_watch {
    uint32_t source; /* of the run */
    struct worker worker;
    bool has_library;
    VEC(struct gpu_seen) gpus;
    struct machine_events events;
};

/* Starts the worker, and follows the kernel's log, or the file that WARPLIGHT_KMSG names. Call it while this
 * process has no other thread. Without one, the facts say so. */
void gpu_watch_open(struct gpu_watch *w, uint32_t source);
/* Tells the worker about new devices of the run and takes what it has said. Never blocks. */
void gpu_watch_poll(struct gpu_watch *w, struct run *run);
/* Takes the last values and writes the facts about the end. Waits at most a second for them. */
void gpu_watch_finish(struct gpu_watch *w, struct run *run);
void gpu_watch_close(struct gpu_watch *w);

#endif
