/* PCIe and NVLink of an NVIDIA GPU: what goes over them, and whether they are as they should be. */
#ifndef WARPLIGHT_SOURCE_NVML_LINK_H
#define WARPLIGHT_SOURCE_NVML_LINK_H

#include "model/machine.h"
#include "source/nvml.h"

struct nvml_traffic { /* counters so far, in bytes */
    int64_t time_ns;
    struct reading pcie_send, pcie_receive, nvlink_send, nvlink_receive;
    bool pcie_is_short; /* counts to 2^32 and begins anew */
};

/* A counter of the last minute, in steps of 5 s. */
enum { NVML_MINUTE_STEPS = 13 };
struct nvml_minute {
    struct {
        int64_t time_ns;
        struct reading total;
    } at[NVML_MINUTE_STEPS];
    int count; /* so far; the ring holds the last of them */
};

/* Of one device, over time. Zeroed: nothing seen yet. */
struct nvml_link {
    struct nvml_traffic last;
    struct nvml_minute replays, errors;
    bool pcie_was_busy, nvlink_was_busy; /* in the last period */
    int64_t looked_ns;                   /* at the states of NVLinks */
    struct reading nvlinks, nvlinks_active;
};

/* Fills in rates since the last call, counters, and a verdict on PCIe and NVLink: of each only while at least
 * 100 MB/s went over it in this and in the last period. is_first: rates begin anew.
 *
 * A verdict compares generation and width with what GPU and slot can both do (NVML's maximum); replays are
 * too many from nine a minute on, the limit of the vendor's DCGM (dcgm_gpu_hardware_limits.h); of NVLink,
 * errors are replays, recoveries and CRC errors of data. */
void nvml_link_rate(const struct nvml *n, nvml_device device, const struct gpu_facts *facts,
                    const struct gpu_sample *sample, bool is_first, struct nvml_link *link,
                    struct machine_detail *detail);
/* Only the rates since the last call of the same link; the first call fills in none. now: of CLOCK_REALTIME.
 */
void nvml_link_traffic(const struct nvml *n, nvml_device device, int64_t now, struct nvml_link *link,
                       struct machine_detail *detail);

#endif
