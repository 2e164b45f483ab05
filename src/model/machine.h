/* What a machine and its GPUs do at a moment: one struct machine_sample, whatever vendor or driver told it.
 *
 * Every number is a struct reading with a row in a table (model/gpu.h): who prints, writes or sorts walks
 * over the tables. Texts are fit for a terminal (utf8_visible()), and "" where they are not known. */
#ifndef WARPLIGHT_MODEL_MACHINE_H
#define WARPLIGHT_MODEL_MACHINE_H

#include "base/vec.h"
#include "model/gpu.h"

/* X(field, key, unit, kind, title), as in model/gpu.h. Ratios are shares of the time since the sample before;
 * rates are per second of it. */
#define MACHINE_HOST_FIELDS(X)                                                                               \
    X(load_1, "load_1min", GPU_HUNDREDTHS, GPU_LEVEL, N_("load, 1 minute"))                                  \
    X(load_5, "load_5min", GPU_HUNDREDTHS, GPU_LEVEL, N_("load, 5 minutes"))                                 \
    X(load_15, "load_15min", GPU_HUNDREDTHS, GPU_LEVEL, N_("load, 15 minutes"))                              \
    X(cpus, "cpu_count", GPU_COUNT, GPU_LEVEL, N_("CPUs"))                                                   \
    X(cpu_busy, "cpu_busy_ratio", GPU_PERMILLE, GPU_LEVEL, N_("CPU time used"))                              \
    X(cpu_wait, "cpu_iowait_ratio", GPU_PERMILLE, GPU_LEVEL, N_("CPU time waiting for I/O"))                 \
    X(memory, "memory_bytes", GPU_BYTES, GPU_LEVEL, N_("host memory"))                                       \
    X(memory_used, "memory_used_bytes", GPU_BYTES, GPU_LEVEL, N_("host memory used"))                        \
    X(swap, "swap_bytes", GPU_BYTES, GPU_LEVEL, N_("swap"))                                                  \
    X(swap_used, "swap_used_bytes", GPU_BYTES, GPU_LEVEL, N_("swap used"))

/* Of a device, beside struct gpu_sample. */
#define MACHINE_DETAIL_FIELDS(X)                                                                             \
    X(encoder, "encoder_ratio", GPU_PERCENT, GPU_LEVEL, N_("video encoder"))                                 \
    X(decoder, "decoder_ratio", GPU_PERCENT, GPU_LEVEL, N_("video decoder"))                                 \
    X(jpeg, "jpeg_ratio", GPU_PERCENT, GPU_LEVEL, N_("JPEG decoder"))                                        \
    X(optical_flow, "optical_flow_ratio", GPU_PERCENT, GPU_LEVEL, N_("optical flow"))                        \
    X(memory_reserved, "memory_reserved_bytes", GPU_BYTES, GPU_LEVEL, N_("memory kept by the driver"))       \
    X(memory_unseen, "memory_unattributed_bytes", GPU_BYTES, GPU_LEVEL,                                      \
      N_("memory of no process to be seen"))                                                                 \
    X(fan, "fan_ratio", GPU_PERCENT, GPU_LEVEL, N_("fan"))                                                   \
    X(hotspot, "hotspot_celsius", GPU_CELSIUS, GPU_LEVEL, N_("hotspot temperature"))                         \
    X(power_average, "power_average_watts", GPU_MILLIWATTS, GPU_LEVEL, N_("power from the energy counter"))  \
    X(power_cap, "power_cap_ratio", GPU_PERMILLE, GPU_LEVEL, N_("time clocks were held by power limit"))     \
    X(heat, "heat_ratio", GPU_PERMILLE, GPU_LEVEL, N_("time clocks were held by heat"))                      \
    X(power_brake, "power_brake_ratio", GPU_PERMILLE, GPU_LEVEL, N_("time clocks were held by power brake")) \
    X(pcie_receive, "pcie_receive_bytes_per_s", GPU_BYTES_PER_S, GPU_LEVEL, N_("PCIe to the GPU"))           \
    X(pcie_send, "pcie_send_bytes_per_s", GPU_BYTES_PER_S, GPU_LEVEL, N_("PCIe from the GPU"))               \
    X(nvlink_receive, "nvlink_receive_bytes_per_s", GPU_BYTES_PER_S, GPU_LEVEL, N_("NVLink to the GPU"))     \
    X(nvlink_send, "nvlink_send_bytes_per_s", GPU_BYTES_PER_S, GPU_LEVEL, N_("NVLink from the GPU"))         \
    X(pcie_replays, "pcie_replay_count", GPU_COUNT, GPU_LEVEL, N_("PCIe replays"))                           \
    X(graphics_active, "graphics_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("graphics or compute active"))   \
    X(sm_active, "sm_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("SMs with a warp"))                          \
    X(sm_occupancy, "sm_occupancy_ratio", GPU_PERMILLE, GPU_LEVEL, N_("warps of the SMs' limit"))            \
    X(tensor_active, "tensor_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("tensor cores active"))              \
    X(fp64_active, "fp64_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("FP64 pipes active"))                    \
    X(fp32_active, "fp32_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("FP32 pipes active"))                    \
    X(fp16_active, "fp16_active_ratio", GPU_PERMILLE, GPU_LEVEL, N_("FP16 pipes active"))                    \
    X(memory_bandwidth, "memory_bandwidth_ratio", GPU_PERMILLE, GPU_LEVEL, N_("memory bandwidth used"))      \
    X(pcie_link, "pcie_link", GPU_LINK, GPU_LEVEL, N_("PCIe link"))                                          \
    X(pcie_replays_lately, "pcie_replays_last_minute_count", GPU_COUNT, GPU_LEVEL,                           \
      N_("PCIe replays in the last minute"))                                                                 \
    X(nvlink_link, "nvlink_link", GPU_LINK, GPU_LEVEL, N_("NVLink"))                                         \
    X(nvlinks, "nvlink_count", GPU_COUNT, GPU_LEVEL, N_("NVLinks"))                                          \
    X(nvlinks_active, "nvlink_active_count", GPU_COUNT, GPU_LEVEL, N_("NVLinks that are up"))                \
    X(nvlink_errors, "nvlink_error_count", GPU_COUNT, GPU_LEVEL, N_("NVLink errors"))                        \
    X(recovery, "recovery_action", GPU_RECOVERY, GPU_LEVEL, N_("what the driver asks for"))                  \
    X(retired_correctable, "retired_pages_correctable_count", GPU_COUNT, GPU_LEVEL,                          \
      N_("pages retired for correctable errors"))                                                            \
    X(retired_uncorrectable, "retired_pages_uncorrectable_count", GPU_COUNT, GPU_LEVEL,                      \
      N_("pages retired for uncorrectable errors"))                                                          \
    X(retirement_pending, "page_retirement_pending", GPU_SWITCH, GPU_LEVEL,                                  \
      N_("page retirement waits for reset"))                                                                 \
    X(sharing, "sharing", GPU_SHARING, GPU_LEVEL, N_("shared by"))

/* Of a process on a device; the last two are of the process as a whole. */
#define MACHINE_PROCESS_FIELDS(X)                                                                            \
    X(memory, "gpu_memory_bytes", GPU_BYTES, GPU_LEVEL, N_("GPU memory"))                                    \
    X(sm, "sm_ratio", GPU_PERMILLE, GPU_LEVEL, N_("SMs or shader engines"))                                  \
    X(memory_active, "memory_ratio", GPU_PERMILLE, GPU_LEVEL, N_("memory traffic"))                          \
    X(copy, "copy_ratio", GPU_PERMILLE, GPU_LEVEL, N_("copy engines"))                                       \
    X(encoder, "encoder_ratio", GPU_PERMILLE, GPU_LEVEL, N_("video encoder"))                                \
    X(decoder, "decoder_ratio", GPU_PERMILLE, GPU_LEVEL, N_("video decoder"))                                \
    X(jpeg, "jpeg_ratio", GPU_PERMILLE, GPU_LEVEL, N_("JPEG decoder"))                                       \
    X(optical_flow, "optical_flow_ratio", GPU_PERMILLE, GPU_LEVEL, N_("optical flow"))                       \
    X(cpu, "cpu_ratio", GPU_PERMILLE, GPU_LEVEL, N_("CPU time, of one CPU"))                                 \
    X(host_memory, "host_memory_bytes", GPU_BYTES, GPU_LEVEL, N_("resident host memory"))

#define MACHINE_READING(field, ...) struct reading field;
struct machine_host {
    char name[GPU_NAME_BYTES];
    MACHINE_HOST_FIELDS(MACHINE_READING)
};

struct machine_detail {
    MACHINE_DETAIL_FIELDS(MACHINE_READING)
};

/* Values of NVML's enumerations (nvmlDeviceGpuRecoveryAction_t, nvmlGpuVirtualizationMode_t,
 * nvmlGpuFabricState_t). */
enum recovery_action {
    RECOVERY_NONE,
    RECOVERY_RESET,
    RECOVERY_NODE_REBOOT,
    RECOVERY_DRAIN_P2P,
    RECOVERY_DRAIN_AND_RESET,
    RECOVERY_IMEX_DOMAIN,
    RECOVERY_BUS_RESET,
    RECOVERY_SYSTEM_REBOOT
};
enum virtualization_mode { VIRTUALIZATION_NONE, VIRTUALIZATION_PASSTHROUGH, VIRTUALIZATION_VGPU };
enum fabric_state { FABRIC_UNSUPPORTED, FABRIC_NOT_STARTED, FABRIC_IN_PROGRESS, FABRIC_COMPLETED };

/* Whether a GPU is fit for work, as its driver says; no part of what is recorded. */
struct machine_health {
    struct reading mig_pending;                 /* the mode after a reset */
    struct reading fabric_state, fabric_status; /* status: NVML's code, of a completed one */
};

struct machine_device {
    char key[GPU_UUID_BYTES]; /* the same device in every sample: its UUID, else its PCI address */
    int64_t id;               /* the driver's number (as nvidia-smi, cardN); UNKNOWN */
    enum vendor vendor;
    char driver[32];          /* "nvidia", "amdgpu", "vfio-pci" */
    uint32_t parent;          /* of a MIG instance: the row of its GPU; else NONE */
    enum reading_state state; /* KNOWN: asked for this sample. STALE: readings are of sample.time_ns. Else why
                               * there are none */
    struct gpu_facts facts;
    struct gpu_sample sample; /* sample.time_ns is 0 while there has been none */
    struct machine_detail detail;
    char interposer[64]; /* the library that answers some calls in the driver's place ("libvgpu.so"); "" none
                          */
    struct machine_health health; /* UNREAD where nobody asked */
};

enum machine_process_type { /* a mask */
                            MACHINE_COMPUTE = 1,
                            MACHINE_GRAPHICS = 2,
                            MACHINE_MPS = 4, /* a client of the multi-process service */
};

enum { MACHINE_COMMAND_BYTES = 256, MACHINE_ID_BYTES = 80 };

/* One row for each device that the process uses. */
struct machine_process {
    uint32_t device;          /* row of devices */
    enum reading_state state; /* KNOWN: pid is a process that we can see. NO_PERMISSION: the driver's number
                               * names none here, as from within a container */
    int64_t pid;              /* as the driver gave it */
    int64_t start_unix_ns;    /* UNKNOWN; pid and start together never name two processes */
    int64_t parent_pid;       /* UNKNOWN */
    unsigned type;            /* enum machine_process_type */
    char user[32], name[64];
    char command[MACHINE_COMMAND_BYTES]; /* the beginning, arguments separated by spaces */
    char container[MACHINE_ID_BYTES];    /* id from the cgroup path */
    char pod[MACHINE_ID_BYTES];          /* Kubernetes pod uid */
    char job[MACHINE_ID_BYTES];          /* Slurm job id, with step: "4711.0" */
    MACHINE_PROCESS_FIELDS(MACHINE_READING)
};
#undef MACHINE_READING

/* An Xid of NVIDIA's driver (know/know.h says what it means) that came since the sample before. */
enum machine_teller { /* a mask */
                      MACHINE_TOLD_BY_NVML = 1,
                      MACHINE_TOLD_BY_KERNEL_LOG = 2,
};

enum { MACHINE_EVENT_BYTES = 240 };

struct machine_event {
    int64_t time_unix_ns; /* of the first one */
    int64_t code, count;  /* the same one may come many times; told by both, it counts once */
    uint32_t device;      /* row of devices; NONE: of none of them */
    unsigned told_by;     /* enum machine_teller */
    char bus[GPU_BUS_BYTES];
    char process[128];              /* "python3 (4711)", as the kernel log has it */
    char text[MACHINE_EVENT_BYTES]; /* the line of the kernel log, or its beginning */
};

/* A driver interface, or other place, that was looked for. */
struct machine_source {
    const char *name;         /* "NVML", "DRM", "kernel log" */
    enum reading_state state; /* KNOWN: it answers. NO_ANSWER: it hangs. Else why it cannot be used */
    int64_t since_unix_ns;    /* of NO_ANSWER: since when it owes one; else 0 */
    char version[80];         /* of the driver */
};

enum { MACHINE_DRIVERS = 2, MACHINE_KERNEL_LOG = MACHINE_DRIVERS, MACHINE_SOURCES };

/* Times are CLOCK_REALTIME. */
struct machine_sample {
    int64_t time_unix_ns;
    int64_t interval_ns; /* since the sample before; 0 for the first, which has no ratios and rates */
    struct machine_host host;
    VEC(struct machine_device) devices;    /* ordered by PCI address; MIG instances after their GPU */
    VEC(struct machine_process) processes; /* by device, then most memory first */
    struct machine_source sources[MACHINE_SOURCES];
    VEC(struct machine_event)
    events; /* in the order in which they came; those before the second sample are its */
};

/* Tables that end with a row without key; offsets are into the structs of their names. */
extern const struct gpu_field machine_host_fields[], machine_detail_fields[], machine_process_fields[];

/* Copies; to was initialised (zeroed) before, and its memory is used again. */
void machine_sample_copy(struct machine_sample *to, const struct machine_sample *from);
void machine_sample_release(struct machine_sample *sample);

#endif
