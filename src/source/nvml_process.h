/* The processes on an NVIDIA GPU, as NVML lists them: every process with a context, its memory, and how much
 * of the GPU it had lately. */
#ifndef WARPLIGHT_SOURCE_NVML_PROCESS_H
#define WARPLIGHT_SOURCE_NVML_PROCESS_H

#include "model/machine.h"
#include "source/nvml.h"

/* What NVML last said of a process; pid as the driver numbers it. */
struct nvml_use {
    unsigned pid;
    struct reading sm, memory, encoder, decoder, jpeg, optical_flow;
};

struct nvml_listed {
    struct machine_process process;          /* pid, type and readings */
    unsigned gpu_instance, compute_instance; /* of MIG; all ones: none */
};

typedef VEC(struct nvml_listed) nvml_list;

/* Of one device, over time. Zeroed: nothing seen yet. */
struct nvml_processes {
    unsigned long long since_us; /* the newest sample of use that was seen */
    int64_t use_time_ns;
    VEC(struct nvml_use) use;
    struct pace use_pace;
    enum reading_state use_why; /* KNOWN: use is what the driver sampled; who is not in it was idle */
};

/* Replaces list by the processes of a device. now_ns: CLOCK_REALTIME. Returns KNOWN, or why there is no list.
 */
enum reading_state nvml_processes(const struct nvml *n, nvml_device device, struct nvml_processes *state,
                                  int64_t now_ns, nvml_list *list);
void nvml_processes_release(struct nvml_processes *state);

#endif
