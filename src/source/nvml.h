/* NVIDIA's management library, opened at run time: no header and no library of the vendor is needed to build,
 * and a function that a driver lacks makes one value unsupported, never the library.
 *
 * Prototypes, structures and numbers are those that NVIDIA publishes in nvml.h (API 10 to 13) and in the
 * Python bindings nvidia-ml-py (BSD licence); only those that have not changed since they came are used.
 *
 * Any call may block for as long as the driver likes, a handle attaches its GPU (and wakes one that sleeps),
 * and the library crashes where the driver does: whoever must not stop calls it from a process of its own
 * (source/gpu_watch.h). Calls of different threads wait for each other inside the driver. */
#ifndef WARPLIGHT_SOURCE_NVML_H
#define WARPLIGHT_SOURCE_NVML_H

#include "base/err.h"
#include "model/gpu.h"
#include "source/pace.h"

typedef struct nvml_device_handle *nvml_device;

struct nvml_pci { /* nvmlPciInfo_t since API 9: _v3 */
    char bus_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32]; /* "00000000:3B:00.0" */
};

struct nvml_memory { /* nvmlMemory_t */
    unsigned long long total, free, used;
};

struct nvml_memory_v2 {
    unsigned version; /* size | 2 << 24 */
    unsigned long long total, reserved, free, used;
};

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml_temperature { /* nvmlTemperature_v1_t */
    unsigned version;     /* size | 1 << 24 */
    int sensor, celsius;
};

struct nvml_violation { /* nvmlViolationTime_t */
    unsigned long long reference_us, violation_ns;
};

struct nvml_field { /* nvmlFieldValue_t */
    unsigned id, scope;
    long long timestamp_us, latency_us;
    int type; /* enum nvml_type */
    int code; /* of this field alone */
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long sll;
        int i;
        unsigned short us;
    } value;
};

struct nvml_fabric {  /* nvmlGpuFabricInfo_v2_t */
    unsigned version; /* size | 2 << 24 */
    unsigned char cluster[16];
    int status; /* a return code */
    unsigned clique;
    unsigned char state;
    unsigned health;
};

struct nvml_process { /* nvmlProcessInfo_v2_t, of the calls _v2 and _v3 */
    unsigned pid;
    unsigned long long memory; /* all ones: not known */
    unsigned gpu_instance, compute_instance;
};

struct nvml_process_use { /* nvmlProcessUtilizationSample_t */
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder; /* percent */
};

struct nvml_process_use_info { /* nvmlProcessUtilizationInfo_v1_t */
    unsigned long long time_us;
    unsigned pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};

struct nvml_processes_use { /* nvmlProcessesUtilizationInfo_v1_t */
    unsigned version;       /* size | 1 << 24 */
    unsigned count;
    unsigned long long since_us;
    struct nvml_process_use_info *at;
};

typedef struct nvml_gpm_sample_handle *nvml_gpm_sample;
typedef struct nvml_event_set_handle *nvml_event_set;

struct nvml_event { /* nvmlEventData_t, of the call _v2 */
    nvml_device device;
    unsigned long long type, data; /* data: of an Xid, its code */
    unsigned gpu_instance, compute_instance;
};

struct nvml_gpm_support { /* nvmlGpmSupport_t */
    unsigned version;     /* 1 */
    unsigned supported;
};

struct nvml_gpm_metric { /* nvmlGpmMetric_t */
    unsigned id;
    int code;
    double value;
    char *short_name, *long_name, *unit;
};

/* nvmlGpmMetricsGet_t. Its array has as many entries as the newest API has metrics; a driver looks at count
 * of them. */
enum { NVML_GPM_METRICS = 340 };
struct nvml_gpm_metrics {
    unsigned version; /* 1 */
    unsigned count;
    nvml_gpm_sample before, after;
    struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};

/* X(member, symbol, older name with the same parameters or NULL, parameters) */
#define NVML_CALLS(X)                                                                                        \
    X(init, "nvmlInit_v2", "nvmlInit", (void))                                                               \
    X(shutdown, "nvmlShutdown", NULL, (void))                                                                \
    X(driver_version, "nvmlSystemGetDriverVersion", NULL, (char *, unsigned))                                \
    X(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion", (int *))          \
    X(by_uuid, "nvmlDeviceGetHandleByUUID", NULL, (const char *, nvml_device *))                             \
    X(by_bus, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId",                           \
      (const char *, nvml_device *))                                                                         \
    X(name, "nvmlDeviceGetName", NULL, (nvml_device, char *, unsigned))                                      \
    X(uuid, "nvmlDeviceGetUUID", NULL, (nvml_device, char *, unsigned))                                      \
    X(vbios, "nvmlDeviceGetVbiosVersion", NULL, (nvml_device, char *, unsigned))                             \
    X(pci, "nvmlDeviceGetPciInfo_v3", NULL, (nvml_device, struct nvml_pci *))                                \
    X(compute_capability, "nvmlDeviceGetCudaComputeCapability", NULL, (nvml_device, int *, int *))           \
    X(clock, "nvmlDeviceGetClockInfo", NULL, (nvml_device, int, unsigned *))                                 \
    X(max_clock, "nvmlDeviceGetMaxClockInfo", NULL, (nvml_device, int, unsigned *))                          \
    X(clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",  \
      (nvml_device, unsigned long long *))                                                                   \
    X(performance_state, "nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState", (nvml_device, int *))   \
    X(power, "nvmlDeviceGetPowerUsage", NULL, (nvml_device, unsigned *))                                     \
    X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL, (nvml_device, unsigned *))                       \
    X(power_limits, "nvmlDeviceGetPowerManagementLimitConstraints", NULL,                                    \
      (nvml_device, unsigned *, unsigned *))                                                                 \
    X(power_limit_default, "nvmlDeviceGetPowerManagementDefaultLimit", NULL, (nvml_device, unsigned *))      \
    X(energy, "nvmlDeviceGetTotalEnergyConsumption", NULL, (nvml_device, unsigned long long *))              \
    X(temperature, "nvmlDeviceGetTemperature", NULL, (nvml_device, int, unsigned *))                         \
    X(temperature_v, "nvmlDeviceGetTemperatureV", NULL, (nvml_device, struct nvml_temperature *))            \
    X(temperature_threshold, "nvmlDeviceGetTemperatureThreshold", NULL, (nvml_device, int, unsigned *))      \
    X(utilization, "nvmlDeviceGetUtilizationRates", NULL, (nvml_device, struct nvml_utilization *))          \
    X(memory, "nvmlDeviceGetMemoryInfo", NULL, (nvml_device, struct nvml_memory *))                          \
    X(memory_v2, "nvmlDeviceGetMemoryInfo_v2", NULL, (nvml_device, struct nvml_memory_v2 *))                 \
    X(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration", NULL, (nvml_device, unsigned *))               \
    X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", NULL, (nvml_device, unsigned *))                         \
    X(pcie_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration", NULL, (nvml_device, unsigned *))            \
    X(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth", NULL, (nvml_device, unsigned *))                      \
    X(mig_mode, "nvmlDeviceGetMigMode", NULL, (nvml_device, unsigned *, unsigned *))                         \
    X(fabric, "nvmlDeviceGetGpuFabricInfoV", NULL, (nvml_device, struct nvml_fabric *))                      \
    X(persistence_mode, "nvmlDeviceGetPersistenceMode", NULL, (nvml_device, int *))                          \
    X(compute_mode, "nvmlDeviceGetComputeMode", NULL, (nvml_device, int *))                                  \
    X(ecc_mode, "nvmlDeviceGetEccMode", NULL, (nvml_device, int *, int *))                                   \
    X(ecc_errors, "nvmlDeviceGetTotalEccErrors", NULL, (nvml_device, int, int, unsigned long long *))        \
    X(remapped_rows, "nvmlDeviceGetRemappedRows", NULL,                                                      \
      (nvml_device, unsigned *, unsigned *, unsigned *, unsigned *))                                         \
    X(violation, "nvmlDeviceGetViolationStatus", NULL, (nvml_device, int, struct nvml_violation *))          \
    X(fields, "nvmlDeviceGetFieldValues", NULL, (nvml_device, int, struct nvml_field *))                     \
    X(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", (unsigned *))                                    \
    X(by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", (unsigned, nvml_device *))    \
    X(index, "nvmlDeviceGetIndex", NULL, (nvml_device, unsigned *))                                          \
    X(mig_most, "nvmlDeviceGetMaxMigDeviceCount", NULL, (nvml_device, unsigned *))                           \
    X(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex", NULL, (nvml_device, unsigned, nvml_device *))     \
    X(gpu_instance, "nvmlDeviceGetGpuInstanceId", NULL, (nvml_device, unsigned *))                           \
    X(compute_instance, "nvmlDeviceGetComputeInstanceId", NULL, (nvml_device, unsigned *))                   \
    X(encoder, "nvmlDeviceGetEncoderUtilization", NULL, (nvml_device, unsigned *, unsigned *))               \
    X(decoder, "nvmlDeviceGetDecoderUtilization", NULL, (nvml_device, unsigned *, unsigned *))               \
    X(jpeg, "nvmlDeviceGetJpgUtilization", NULL, (nvml_device, unsigned *, unsigned *))                      \
    X(optical_flow, "nvmlDeviceGetOfaUtilization", NULL, (nvml_device, unsigned *, unsigned *))              \
    X(fan, "nvmlDeviceGetFanSpeed", NULL, (nvml_device, unsigned *))                                         \
    X(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                          \
      "nvmlDeviceGetComputeRunningProcesses_v2", (nvml_device, unsigned *, void *))                          \
    X(graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3",                                        \
      "nvmlDeviceGetGraphicsRunningProcesses_v2", (nvml_device, unsigned *, void *))                         \
    X(mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v3",                                           \
      "nvmlDeviceGetMPSComputeRunningProcesses_v2", (nvml_device, unsigned *, void *))                       \
    X(processes_use, "nvmlDeviceGetProcessesUtilizationInfo", NULL,                                          \
      (nvml_device, struct nvml_processes_use *))                                                            \
    X(process_use, "nvmlDeviceGetProcessUtilization", NULL,                                                  \
      (nvml_device, struct nvml_process_use *, unsigned *, unsigned long long))                              \
    X(virtualization, "nvmlDeviceGetVirtualizationMode", NULL, (nvml_device, int *))                         \
    X(gpm_support, "nvmlGpmQueryDeviceSupport", NULL, (nvml_device, struct nvml_gpm_support *))              \
    X(gpm_alloc, "nvmlGpmSampleAlloc", NULL, (nvml_gpm_sample *))                                            \
    X(gpm_free, "nvmlGpmSampleFree", NULL, (nvml_gpm_sample))                                                \
    X(gpm_get, "nvmlGpmSampleGet", NULL, (nvml_device, nvml_gpm_sample))                                     \
    X(gpm_metrics, "nvmlGpmMetricsGet", NULL, (struct nvml_gpm_metrics *))                                   \
    X(event_types, "nvmlDeviceGetSupportedEventTypes", NULL, (nvml_device, unsigned long long *))            \
    X(event_register, "nvmlDeviceRegisterEvents", NULL, (nvml_device, unsigned long long, nvml_event_set))   \
    X(event_set_new, "nvmlEventSetCreate", NULL, (nvml_event_set *))                                         \
    X(event_set_free, "nvmlEventSetFree", NULL, (nvml_event_set))                                            \
    X(event_wait, "nvmlEventSetWait_v2", NULL, (nvml_event_set, struct nvml_event *, unsigned))

struct nvml {
    void *library;
    bool initialized;
    bool is_fresh;       /* the caller's wish: every value is asked for each time, whatever it costs */
    char driver[80];     /* "580.159.04", "" unknown */
    struct reading cuda; /* 1000 × major + 10 × minor, of the driver */
    bool has_event_reason_fields; /* this driver numbers the thermal and brake counters as nvml_sample.c does
                                   */
    struct {
#define NVML_MEMBER(member, symbol, older, parameters) int(*member) parameters;
        NVML_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
    } call; /* NULL where the driver does not have it */
    struct {
#define NVML_MEMBER(member, symbol, older, parameters) bool member;
        NVML_CALLS(NVML_MEMBER)
#undef NVML_MEMBER
    } foreign;           /* calls that another library answers, in front of the driver's */
    char interposer[64]; /* its file name, "" none */
};

/* What a call that the driver does not have returns: NVML_ERROR_FUNCTION_NOT_FOUND. */
enum { NVML_OK = 0, NVML_ABSENT = 13 };
#define NVML_ASK(n, member, ...) ((n)->call.member ? (n)->call.member(__VA_ARGS__) : NVML_ABSENT)

/* Loads and initialises the library: WARPLIGHT_NVML, else the loader's, else WSL's. READING_KNOWN, or why
 * not; then err says so in a sentence (it may be NULL). Touches no GPU by itself. */
enum reading_state nvml_open(struct nvml *n, struct err *err);
/* Shuts the library down; it stays mapped. */
void nvml_close(struct nvml *n);
/* What a return code means for a value. */
enum reading_state nvml_state(int code);
/* A value as it came with a return code. */
static inline struct reading nvml_reading(int code, int64_t value)
{
    return code == NVML_OK ? reading_of(value) : reading_missing(nvml_state(code));
}

/* The same for a call that may be foreign: then its value is marked. */
static inline struct reading nvml_told(int code, int64_t value, bool foreign)
{
    struct reading r = nvml_reading(code, value);
    if (code == NVML_OK && foreign)
        r.state = READING_ALTERED;
    return r;
}

/* Attach a GPU by its UUID or PCI address, which wakes it. READING_KNOWN, or why not. */
enum reading_state nvml_find_uuid(const struct nvml *n, const char *uuid, nvml_device *device);
enum reading_state nvml_find_bus(const struct nvml *n, const char *bus, nvml_device *device);

/* What it is: about 20 calls, of which some go to the device. */
void nvml_facts(const struct nvml *n, nvml_device device, struct gpu_facts *facts);

/* How it is: NVML_LIGHT, what the driver answers at once, some µs for each of about 15 calls; or NVML_FULL,
 * also what hardly changes within seconds (limits, errors) and the counters for which it asks the GPU: 4 to
 * 15 ms of CPU on an H200 (doc/measured/machine.md). What is not asked for is READING_UNREAD. */
enum nvml_depth { NVML_LIGHT, NVML_FULL };
void nvml_sample(const struct nvml *n, nvml_device device, enum nvml_depth depth, struct gpu_sample *sample);

/* Whether a sample is of a GPU that has fallen off the bus. */
bool nvml_is_lost(const struct gpu_sample *sample);

/* Of one device, over time. Zeroed: nothing seen yet. */
struct nvml_paced {
    struct pace slow, dear;
    struct gpu_sample last;
};
/* The same, fit for 10 samples a second: what is dear to ask for is asked now and then, and keeps its last
 * value in between, unless the GPU is lost. Returns whether the dear counters (energy, heat, power brake) are
 * of now. */
bool nvml_sample_paced(const struct nvml *n, nvml_device device, struct nvml_paced *paced,
                       struct gpu_sample *sample);

/* The value of a field as it came with its own code, whatever its type. */
struct reading nvml_field_reading(const struct nvml_field *field);

#endif
