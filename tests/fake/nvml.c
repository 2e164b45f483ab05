/* A stand-in for libnvidia-ml.so.1: a GPU with the UUID of the fake CUPTI's device, and more of them if
 * wanted. It proves plumbing, no number. With FAKE_NVML_OLD it is a driver of 2018, without the newer entry
 * points.
 *
 * FAKE_NVML_CODES=nvmlDeviceGetPowerUsage=3,…  what calls return instead of working
 * FAKE_NVML_HANG=SYMBOL                        that call never returns
 * FAKE_NVML_CRASH=SYMBOL                       that call ends the process
 * FAKE_NVML_LOST_AFTER=N                       after N full samples every call about the GPU says it is lost
 * FAKE_NVML_DRIVER=580.65.06                   the driver's version (default: 580.159.04)
 * FAKE_NVML_LOG=FILE                           the calls that attach something, one a line
 * FAKE_NVML_SM_CLOCK=MHZ                       default: 1500
 * FAKE_NVML_GPUS=N                             how many, on buses 3b, 3c, … (default: 1)
 * FAKE_NVML_BACK                               a lost GPU is there again when the library was opened anew
 * FAKE_NVML_PROCESSES=PID:MIB:SM,…             on the first GPU (default: none); SM in percent, - no sample
 * FAKE_NVML_XIDS=FILE                          a code a line: added lines are events of the first GPU
 * FAKE_NVML_FIELDS=ID=N,ID=+N,ID.SCOPE=N,…     values of fields; +N grows by N with each question
 * FAKE_NVML_DEAR=ID:US                         a question with that field takes so long on a CPU
 * FAKE_NVML_VIRTUAL=N                          nvmlGpuVirtualizationMode_t (default: 0)
 * FAKE_NVML_MPS                                those processes are clients of MPS
 * FAKE_NVML_FABRIC=N                           state of the NVLink fabric (default: 0, there is none)
 * FAKE_NVML_FABRIC_STATUS=CODE                 of a completed one (default: 0)
 * FAKE_NVML_MIG_PENDING=N                      the mode after a reset (default: as now)
 * FAKE_NVML_MIG=N                              instances of the first GPU; processes are in the first one
 *
 * With FAKE_NVML_QUOTA it lacks the calls that the fake libvgpu.so answers. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/nvml.h"

#define EXPORT    __attribute__((visibility("default")))
#define FAKE_UUID "GPU-00000000-0000-0000-0000-000000000000"

enum { LOST = 15, UNSUPPORTED = 3, INVALID = 2, NOT_FOUND = 6, TIMED_OUT = 10 };

static long full_samples, openings;
static long samples; /* counters grow by the sample, not by the clock: every run gives the same */

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : otherwise;
}

static bool is_chosen(const char *variable, const char *symbol)
{
    const char *chosen = getenv(variable);
    return chosen && strcmp(chosen, symbol) == 0;
}

static int code_of(const char *symbol)
{
    const char *codes = getenv("FAKE_NVML_CODES");
    size_t length = strlen(symbol);
    for (const char *c = codes; c && *c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
        if (strncmp(c, symbol, length) == 0 && c[length] == '=')
            return (int)strtol(c + length + 1, NULL, 10);
    return NVML_OK;
}

static void note(const char *symbol)
{
    const char *path = getenv("FAKE_NVML_LOG");
    FILE *log = path ? fopen(path, "ae") : NULL;
    if (!log)
        return;
    fprintf(log, "%s\n", symbol);
    fclose(log);
}

static int enter(const char *symbol, bool about_gpu)
{
    if (!about_gpu)
        note(symbol);
    while (is_chosen("FAKE_NVML_HANG", symbol))
        pause();
    if (is_chosen("FAKE_NVML_CRASH", symbol))
        __builtin_trap();
    bool is_back = getenv("FAKE_NVML_BACK") && openings > 1;
    if (about_gpu && !is_back && full_samples >= setting("FAKE_NVML_LOST_AFTER", 1000000))
        return LOST;
    return code_of(symbol);
}

#define CALL(symbol, parameters, about_gpu, ...)                                                             \
    EXPORT int symbol parameters;                                                                            \
    int symbol parameters                                                                                    \
    {                                                                                                        \
        int code = enter(#symbol, about_gpu);                                                                \
        if (code != NVML_OK)                                                                                 \
            return code;                                                                                     \
        __VA_ARGS__                                                                                          \
        return NVML_OK;                                                                                      \
    }
#define DEVICE nvml_device device
#define UNUSED (void)device;

enum { MOST_GPUS = 64, FIRST_BUS = 0x3b, MOST_MIG = 8 };
static char gpus[MOST_GPUS + MOST_MIG]; /* a handle is the address of one; instances come last */

static nvml_device gpu_at(long index)
{
    return (nvml_device)(void *)&gpus[index];
}

static int index_of(nvml_device device)
{
    return (int)((char *)device - gpus);
}

static bool is_instance(nvml_device device)
{
    return index_of(device) >= MOST_GPUS;
}

static long gpu_count(void)
{
    return setting("FAKE_NVML_GPUS", 1);
}

CALL(nvmlShutdown, (void), false, )
CALL(nvmlSystemGetDriverVersion, (char *text, unsigned size), false, {
    const char *version = getenv("FAKE_NVML_DRIVER");
    snprintf(text, size, "%s", version ? version : "580.159.04");
})
CALL(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *out), false, {
    if (strcmp(uuid, FAKE_UUID) != 0)
        return NOT_FOUND;
    *out = gpu_at(0);
})
CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, nvml_device *out), false, {
    long index = strtol(bus + 5, NULL, 16) - FIRST_BUS;
    if (index < 0 || index >= gpu_count())
        return NOT_FOUND;
    *out = gpu_at(index);
})
CALL(nvmlDeviceGetName, (DEVICE, char *text, unsigned size), true,
     snprintf(text, size, is_instance(device) ? "Fake GPU MIG 1g.10gb" : "Fake GPU");)
CALL(nvmlDeviceGetUUID, (DEVICE, char *text, unsigned size), true,
     snprintf(text, size, "%s-00000000-0000-0000-0000-%012x", is_instance(device) ? "MIG" : "GPU",
              (unsigned)index_of(device) % MOST_GPUS);)
CALL(nvmlDeviceGetVbiosVersion, (DEVICE, char *text, unsigned size), true,
     UNUSED snprintf(text, size, "96.00.\033[1m1");)
CALL(nvmlDeviceGetPciInfo_v3, (DEVICE, struct nvml_pci *pci), true,
     pci->bus = FIRST_BUS + (unsigned)index_of(device);)
CALL(nvmlDeviceGetCudaComputeCapability, (DEVICE, int *major, int *minor), true, UNUSED *major = 9;
     *minor = 0;)
CALL(nvmlDeviceGetMaxClockInfo, (DEVICE, int type, unsigned *mhz), true,
     UNUSED *mhz = type == 1 ? 1980 : 3201;)
CALL(nvmlDeviceGetClockInfo, (DEVICE, int type, unsigned *mhz), true,
     UNUSED *mhz = type == 1 ? (unsigned)setting("FAKE_NVML_SM_CLOCK", 1500) : 3201;)
CALL(nvmlDeviceGetPowerState, (DEVICE, int *state), true, UNUSED *state = 0;)
CALL(nvmlDeviceGetPowerUsage, (DEVICE, unsigned *mw), true, UNUSED *mw = 699125;)
CALL(nvmlDeviceGetEnforcedPowerLimit, (DEVICE, unsigned *mw), true, UNUSED *mw = 700000;)
CALL(nvmlDeviceGetPowerManagementLimitConstraints, (DEVICE, unsigned *low, unsigned *high), true,
     UNUSED *low = 200000;
     *high = 700000;)
CALL(nvmlDeviceGetPowerManagementDefaultLimit, (DEVICE, unsigned *mw), true, UNUSED *mw = 700000;)
CALL(nvmlDeviceGetTemperature, (DEVICE, int sensor, unsigned *celsius), true,
     UNUSED *celsius = sensor == 0 ? 63 : 40000;)
CALL(nvmlDeviceGetTemperatureThreshold, (DEVICE, int which, unsigned *celsius), true,
     UNUSED *celsius = which == 1 ? 87 : 92;)
CALL(nvmlDeviceGetUtilizationRates, (DEVICE, struct nvml_utilization *u), true,
     UNUSED *u = (struct nvml_utilization){.gpu = 99, .memory = 22};)
#ifndef FAKE_NVML_QUOTA
CALL(nvmlDeviceGetMemoryInfo, (DEVICE, struct nvml_memory *m), true,
     UNUSED *m = (struct nvml_memory){.total = 1ull << 34, .free = 1ull << 33, .used = 1ull << 33};)
#endif
CALL(nvmlDeviceGetCurrPcieLinkGeneration, (DEVICE, unsigned *value), true, UNUSED *value = 4;)
CALL(nvmlDeviceGetCurrPcieLinkWidth, (DEVICE, unsigned *value), true, UNUSED *value = 16;)
CALL(nvmlDeviceGetMaxPcieLinkGeneration, (DEVICE, unsigned *value), true, UNUSED *value = 5;)
CALL(nvmlDeviceGetMaxPcieLinkWidth, (DEVICE, unsigned *value), true, UNUSED *value = 16;)
CALL(nvmlDeviceGetPersistenceMode, (DEVICE, int *mode), true, UNUSED *mode = 1;)
CALL(nvmlDeviceGetComputeMode, (DEVICE, int *mode), true, UNUSED *mode = 3;)
CALL(nvmlDeviceGetEccMode, (DEVICE, int *mode, int *pending), true, UNUSED *mode = *pending = 1;)
CALL(nvmlDeviceGetTotalEccErrors, (DEVICE, int type, int scope, unsigned long long *count), true,
     UNUSED(void) scope;
     *count = type == 1 ? 2 : 1000;)
CALL(nvmlDeviceGetViolationStatus, (DEVICE, int policy, struct nvml_violation *v), true, {
    UNUSED samples += policy == 0; /* an old driver is asked this once a sample */
    v->violation_ns = policy == 0 ? (unsigned long long)samples * 20000000 : 0;
})

#ifdef FAKE_NVML_OLD
CALL(nvmlInit, (void), false, )
CALL(nvmlDeviceGetCurrentClocksThrottleReasons, (DEVICE, unsigned long long *mask), true, UNUSED *mask = 4;)
#else
#ifdef FAKE_NVML_QUOTA
extern int vgpu_is_there; /* what libvgpu.so has answers in this one's place */
CALL(nvmlInit_v2, (void), false, openings += vgpu_is_there;)
#else
CALL(nvmlInit_v2, (void), false, openings++;)
#endif
CALL(nvmlSystemGetCudaDriverVersion_v2, (int *version), false, *version = 13010;)
CALL(nvmlDeviceGetCurrentClocksEventReasons, (DEVICE, unsigned long long *mask), true, UNUSED *mask = 0x24;)
CALL(nvmlDeviceGetTemperatureV, (DEVICE, struct nvml_temperature *t), true, {
    UNUSED if (t->version != (sizeof *t | 1u << 24)) return 25;
    t->celsius = 63;
})
#ifndef FAKE_NVML_QUOTA
CALL(nvmlDeviceGetMemoryInfo_v2, (DEVICE, struct nvml_memory_v2 *m), true, {
    UNUSED if (m->version != (sizeof *m | 2u << 24)) return 25;
    m->total = 1ull << 34;
    m->used = 3ull << 30;
})
#endif
CALL(nvmlDeviceGetMigMode, (DEVICE, unsigned *mode, unsigned *pending), true,
     UNUSED *mode = getenv("FAKE_NVML_MIG") ? 1 : 0;
     *pending = (unsigned)setting("FAKE_NVML_MIG_PENDING", *mode);)
CALL(nvmlDeviceGetRemappedRows,
     (DEVICE, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed), true,
     UNUSED *correctable = 3;
     *uncorrectable = 1; *pending = 1; *failed = 0; full_samples++;)
/* What FAKE_NVML_FIELDS says of a field: of a scope before that of all. */
static bool chosen_field(struct nvml_field *f)
{
    enum { MOST_FIELDS = 512 };
    static unsigned long long asked[MOST_FIELDS];
    const char *choices = getenv("FAKE_NVML_FIELDS"), *found = NULL;
    char scoped[32], plain[32];
    snprintf(scoped, sizeof scoped, "%u.%u=", f->id, f->scope);
    snprintf(plain, sizeof plain, "%u=", f->id);
    for (const char *c = choices; c && *c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL) {
        if (strncmp(c, scoped, strlen(scoped)) == 0)
            found = c + strlen(scoped);
        else if (!found && strncmp(c, plain, strlen(plain)) == 0)
            found = c + strlen(plain);
    }
    if (!found || f->id >= MOST_FIELDS)
        return false;
    f->value.ull = strtoull(found, NULL, 10) * (*found == '+' ? ++asked[f->id] : 1);
    return true;
}

CALL(nvmlDeviceGetVirtualizationMode, (DEVICE, int *mode), true,
     UNUSED *mode = (int)setting("FAKE_NVML_VIRTUAL", 0);)
/* Counters of time grow by the question with their first one in it; one of it is asked once a sample. */
static void begin_fields(const struct nvml_field *fields, int count)
{
    const char *dear = getenv("FAKE_NVML_DEAR"), *us = dear ? strchr(dear, ':') : NULL;
    for (int i = 0; i < count; i++) {
        samples += fields[i].id == 74;
        if (!us || fields[i].id != (unsigned)strtoul(dear, NULL, 10))
            continue;
        int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + strtol(us + 1, NULL, 10) * 1000;
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
    }
}

CALL(nvmlDeviceGetFieldValues, (DEVICE, int count, struct nvml_field *fields), true, {
    UNUSED begin_fields(fields, count);
    for (int i = 0; i < count; i++) {
        struct nvml_field *f = &fields[i];
        f->type = 3;
        f->code = NVML_OK;
        f->value.ull = 0;
        if (chosen_field(f))
            continue;
        if (f->id == 74)
            f->value.ull = (unsigned long long)samples * 50000000;
        else if (f->id == 269)
            f->value.ull = (unsigned long long)samples * 10000000;
        else if (f->id == 83)
            f->value.ull = (unsigned long long)samples * 123456;
        else if (f->id == 82)
            f->type = 1, f->value.u = 50;
        else if (f->id == 271)
            f->code = UNSUPPORTED;
        else if (f->id > 271)
            f->code = INVALID;
    }
})

CALL(nvmlDeviceGetGpuFabricInfoV, (DEVICE, struct nvml_fabric *fabric), true, {
    UNUSED if (fabric->version != (sizeof *fabric | 2u << 24)) return 25;
    fabric->state = (unsigned char)setting("FAKE_NVML_FABRIC", 0);
    fabric->status = (int)setting("FAKE_NVML_FABRIC_STATUS", 0);
})

/* ---- what a sampler asks besides --------------------------------------------------------------------------
 */

CALL(nvmlDeviceGetCount_v2, (unsigned *count), false, *count = (unsigned)gpu_count();)
CALL(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvml_device *out), false, *out = gpu_at(index);)
CALL(nvmlDeviceGetIndex, (DEVICE, unsigned *index), true, *index = (unsigned)index_of(device);)
CALL(nvmlDeviceGetFanSpeed, (DEVICE, unsigned *percent), true, UNUSED *percent = 30;)
CALL(nvmlDeviceGetEncoderUtilization, (DEVICE, unsigned *percent, unsigned *period), true,
     UNUSED *percent = 11;
     *period = 1000;)
CALL(nvmlDeviceGetDecoderUtilization, (DEVICE, unsigned *percent, unsigned *period), true,
     UNUSED *percent = 22;
     *period = 1000;)
CALL(nvmlDeviceGetMaxMigDeviceCount, (DEVICE, unsigned *count), true, UNUSED *count = MOST_MIG;)
CALL(nvmlDeviceGetMigDeviceHandleByIndex, (DEVICE, unsigned index, nvml_device *out), true, {
    UNUSED if ((long)index >= setting("FAKE_NVML_MIG", 0)) return NOT_FOUND;
    *out = gpu_at(MOST_GPUS + (long)index);
})
CALL(nvmlDeviceGetGpuInstanceId, (DEVICE, unsigned *id), true,
     *id = 7 + (unsigned)index_of(device) - MOST_GPUS;)
CALL(nvmlDeviceGetComputeInstanceId, (DEVICE, unsigned *id), true, UNUSED *id = 0;)

struct listed {
    unsigned pid;
    unsigned long long mib;
    int sm; /* -1: no sample */
};

/* The entry at *text; false at the end. */
static bool next_listed(const char **text, struct listed *entry)
{
    char *end;
    if (!*text || !**text)
        return false;
    entry->pid = (unsigned)strtoul(*text, &end, 10);
    entry->mib = strtoull(end + 1, &end, 10);
    entry->sm = end[1] == '-' ? -1 : (int)strtol(end + 1, NULL, 10);
    *text = strchr(end, ',') ? strchr(end, ',') + 1 : NULL;
    return true;
}

CALL(nvmlDeviceGetComputeRunningProcesses_v3, (DEVICE, unsigned *count, struct nvml_process *out), true, {
    const char *text = index_of(device) == 0 ? getenv("FAKE_NVML_PROCESSES") : NULL;
    struct listed entry;
    unsigned found = 0;
    while (found < *count && next_listed(&text, &entry))
        out[found++] = (struct nvml_process){.pid = entry.pid,
                                             .memory = entry.mib << 20,
                                             .gpu_instance = getenv("FAKE_NVML_MIG") ? 7 : ~0u,
                                             .compute_instance = getenv("FAKE_NVML_MIG") ? 0 : ~0u};
    *count = found;
})
CALL(nvmlDeviceGetMPSComputeRunningProcesses_v3, (DEVICE, unsigned *count, struct nvml_process *out), true, {
    const char *text =
        index_of(device) == 0 && getenv("FAKE_NVML_MPS") ? getenv("FAKE_NVML_PROCESSES") : NULL;
    struct listed entry;
    unsigned found = 0;
    while (found < *count && next_listed(&text, &entry))
        out[found++] = (struct nvml_process){
            .pid = entry.pid, .memory = entry.mib << 20, .gpu_instance = ~0u, .compute_instance = ~0u};
    *count = found;
})
CALL(nvmlDeviceGetGraphicsRunningProcesses_v3, (DEVICE, unsigned *count, struct nvml_process *out), true,
     UNUSED(void) out;
     *count = 0;)
CALL(nvmlDeviceGetProcessesUtilizationInfo, (DEVICE, struct nvml_processes_use *use), true, {
    if (use->version != (sizeof *use | 1u << 24))
        return 25;
    const char *text = index_of(device) == 0 ? getenv("FAKE_NVML_PROCESSES") : NULL;
    struct listed entry;
    unsigned found = 0;
    while (found < use->count && next_listed(&text, &entry))
        if (entry.sm >= 0)
            use->at[found++] = (struct nvml_process_use_info){
                .time_us = use->since_us + 1, .pid = entry.pid, .sm = (unsigned)entry.sm, .encoder = 5};
    use->count = found;
})

/* GPM as on Hopper: a sample is the number of its taking. */
static long gpm_taken[4];
CALL(nvmlGpmQueryDeviceSupport, (DEVICE, struct nvml_gpm_support *support), true,
     UNUSED support->supported = 1;)
CALL(nvmlGpmSampleAlloc, (nvml_gpm_sample * out), false, {
    static int next;
    *out = (nvml_gpm_sample)(void *)&gpm_taken[next++ % 4];
})
CALL(nvmlGpmSampleFree, (nvml_gpm_sample sample), false, (void)sample;)
CALL(nvmlGpmSampleGet, (DEVICE, nvml_gpm_sample sample), true, {
    static long taken;
    UNUSED *(long *)(void *)sample = ++taken;
})
CALL(nvmlGpmMetricsGet, (struct nvml_gpm_metrics * get), false, {
    if (get->version != 1 || *(long *)(void *)get->before >= *(long *)(void *)get->after)
        return INVALID;
    for (unsigned i = 0; i < get->count; i++) {
        get->metrics[i].code = get->metrics[i].id == 11 ? UNSUPPORTED : NVML_OK;
        get->metrics[i].value = get->metrics[i].id == 13 ? 12345 : get->metrics[i].id + 0.5;
    }
})

/* Events: what FAKE_NVML_XIDS has beyond what was told. */
static int event_set;
CALL(nvmlEventSetCreate, (nvml_event_set * out), false, *out = (nvml_event_set)(void *)&event_set;)
CALL(nvmlEventSetFree, (nvml_event_set set), false, (void)set;)
CALL(nvmlDeviceGetSupportedEventTypes, (DEVICE, unsigned long long *types), true, UNUSED *types = 0x1b;)
CALL(nvmlDeviceRegisterEvents, (DEVICE, unsigned long long types, nvml_event_set set), true,
     { UNUSED if (types != 0x8 || set != (nvml_event_set)(void *)&event_set) return INVALID; })
CALL(nvmlEventSetWait_v2, (nvml_event_set set, struct nvml_event *event, unsigned timeout_ms), false, {
    static long told;
    char line[32];
    const char *path = getenv("FAKE_NVML_XIDS");
    FILE *file = path ? fopen(path, "re") : NULL;
    bool found = false;
    (void)set;
    (void)timeout_ms;
    if (file && fseek(file, told, SEEK_SET) == 0 && fgets(line, sizeof line, file) && strchr(line, '\n')) {
        told = ftell(file);
        *event = (struct nvml_event){.device = gpu_at(0), .type = 0x8, .data = strtoull(line, NULL, 10)};
        found = true;
    }
    if (file)
        fclose(file);
    if (!found)
        return TIMED_OUT;
})
#endif
