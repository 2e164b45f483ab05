/* What NVML tells beyond struct gpu_sample: engines, links, and what the SMs do (GPM, on Hopper and later).
 */
#ifndef WARPLIGHT_SOURCE_NVML_DETAIL_H
#define WARPLIGHT_SOURCE_NVML_DETAIL_H

#include "model/machine.h"
#include "source/gpu_series.h"
#include "source/nvml.h"
#include "source/nvml_link.h"

/* Rates are of what counters gained. They are kept until the next ones, which take at least
 * NVML_RATE_PERIOD_NS (NVIDIA asks for 100 ms between two GPM samples) and longer where the driver takes long
 * to answer (source/pace.h). The counters of energy and of the time that clocks were held move in steps of
 * about that, and what one of them gained in 210 ms was off by half: they take NVML_STEPS_PERIOD_NS, before
 * which their rates are not known. */
#define NVML_RATE_PERIOD_NS  INT64_C(100000000)
#define NVML_STEPS_PERIOD_NS INT64_C(950000000) /* in reach of samples of a second */

/* Of one device, over time. Zeroed: nothing seen yet. */
struct nvml_detail {
    struct nvml_link link;
    struct gpu_sample rated, energized; /* where the current rates of time held and of energy began */
    struct pace link_pace, gpm_pace, gpm_dear_pace;
    struct gpu_series held;
    int gpm; /* 0: not asked, 1: there, -1: not there */
    enum reading_state gpm_why;
    nvml_gpm_sample gpm_samples[2]; /* the last two */
    int64_t gpm_time_ns;
    struct machine_detail last;
};

/* sample: of just now; is_dear: as nvml_sample_paced() returned it. */
void nvml_detail(const struct nvml *n, nvml_device device, struct nvml_detail *state,
                 const struct gpu_facts *facts, const struct gpu_sample *sample, bool is_dear,
                 struct machine_detail *detail);
/* Of it only what the SMs do (GPM) and the traffic of PCIe and NVLink, and only what is of now: the rest, and
 * what is not asked this time, is READING_UNREAD. now: of CLOCK_REALTIME. A state is for one of the two. */
void nvml_rates(const struct nvml *n, nvml_device device, struct nvml_detail *state, int64_t now,
                struct machine_detail *detail);
void nvml_detail_release(const struct nvml *n, struct nvml_detail *state);

#endif
