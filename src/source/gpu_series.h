/* GPU samples as counters of a run. */
#ifndef WARPLIGHT_SOURCE_GPU_SERIES_H
#define WARPLIGHT_SOURCE_GPU_SERIES_H

#include "model/gpu.h"
#include "model/run.h"

/* What the driver counted of clocks held down and is not given out yet. It counts in steps that may be longer
 * than the time between two samples; no interval can have been held for longer than it lasted. */
struct gpu_series {
    int64_t power_cap_ns, heat_ns, power_brake_ns;
    bool begun;
};

/* How long clocks were held down, in ns, between two samples: never longer than the time between them. */
struct gpu_held {
    struct reading power_cap, heat, power_brake;
};
void gpu_series_held(struct gpu_series *series, const struct gpu_sample *before,
                     const struct gpu_sample *sample, struct gpu_held *held);

/* Adds what is known of a sample, and for what reason clocks were held down since the one before, as a share
 * of that time. The first call adds levels alone: what came before it is not the series' business. */
void gpu_series_add(struct gpu_series *series, struct run *run, uint32_t device,
                    const struct gpu_sample *before, const struct gpu_sample *sample);

/* Whether that member of struct gpu_sample is such a level. */
bool gpu_series_has(size_t offset);
/* The level of a series' name: its member's offset, and what values were multiplied by; false for others. */
bool gpu_series_find(const char *name, size_t *offset, double *scale);

#endif
