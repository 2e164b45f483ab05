/* Samples of a machine as counters of a run: the same series as those of a recording's GPUs
 * (source/gpu_series.h), and one for each field of struct machine_detail that is known. */
#ifndef WARPLIGHT_SOURCE_MACHINE_SERIES_H
#define WARPLIGHT_SOURCE_MACHINE_SERIES_H

#include "model/machine.h"
#include "source/gpu_series.h"

struct machine_series_device {
    char key[GPU_UUID_BYTES];
    uint32_t device; /* of the run */
    struct gpu_sample last;
    struct gpu_series series;
};

/* Zeroed: nothing added yet. */
struct machine_series {
    VEC(struct machine_series_device) devices;
};

/* Adds what is new of a sample to the unsealed run: devices and facts when they first appear, then values.
 * Times are CLOCK_REALTIME, as in a recording. */
void machine_series_add(struct machine_series *series, struct run *run, uint32_t source,
                        const struct machine_sample *sample);
void machine_series_release(struct machine_series *series);

#endif
