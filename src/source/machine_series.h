/* Samples of a machine as counters of a run: the same series as those of a recording's GPUs
 * (source/gpu_series.h), and one for each further field of devices, host and processes that is known.
 * source/machine_replay.h makes samples of them again; doc/formats/sample.md has the names. */
#ifndef WARPLIGHT_SOURCE_MACHINE_SERIES_H
#define WARPLIGHT_SOURCE_MACHINE_SERIES_H

#include "base/hash.h"
#include "model/machine.h"
#include "source/gpu_series.h"

/* Series of the host without a field of their own. */
#define MACHINE_SERIES_INTERVAL "time since the sample before" /* ns; its times are those of the samples */
#define MACHINE_SERIES_STATE    "state of the GPU"     /* enum reading_state: numbers are the format */
#define MACHINE_SERIES_START    "start of the process" /* ms since the epoch; with the pid the name of facts */
/* Facts: "process.PID.START.user"; "gpu.UUID.sampled.KEY_why". */
#define MACHINE_FACT_PROCESS "process."
#define MACHINE_FACT_MOMENT  "sampled"

/* The unit of a field's series, and what its values are multiplied by; 0 where there is none. */
double machine_series_scale(enum gpu_unit unit, enum counter_unit *counter);

struct machine_series_device {
    char key[GPU_UUID_BYTES];
    uint32_t device; /* of the run */
    int samples;
    struct gpu_sample last;
    struct gpu_series series;
};

/* Zeroed: nothing added yet. */
/* A process on a device. */
struct machine_series_process {
    int64_t pid, start_unix_ns;
    uint32_t device, process; /* of the run */
    uint32_t series[16];      /* by field, NONE: not yet */
};

struct machine_series {
    VEC(struct machine_series_device) devices;
    VEC(struct machine_series_process) processes;
    struct map by_process; /* pid, start and device → processes */
    bool begun;
};

/* Adds what is new of a sample to the unsealed run: devices and facts when they first appear, then values,
 * and Xids as marks. Times are CLOCK_REALTIME, as in a recording. */
void machine_series_add(struct machine_series *series, struct run *run, uint32_t source,
                        const struct machine_sample *sample);
/* Parts of it: what is known of a detail of the run's device, and an event as a mark (NONE: of no device). */
void machine_series_detail(struct run *run, uint32_t device, int64_t time,
                           const struct machine_detail *detail);
void machine_series_event(struct run *run, uint32_t device, const struct machine_event *event);
void machine_series_release(struct machine_series *series);

#endif
