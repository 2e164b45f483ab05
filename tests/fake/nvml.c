/* A stand-in for libnvidia-ml.so.1: one GPU with the UUID of the fake CUPTI's device. It proves plumbing, no
 * number. With FAKE_NVML_OLD it is a driver of 2018, without the newer entry points.
 *
 * FAKE_NVML_CODES=nvmlDeviceGetPowerUsage=3,…  what calls return instead of working
 * FAKE_NVML_HANG=SYMBOL                        that call never returns
 * FAKE_NVML_CRASH=SYMBOL                       that call ends the process
 * FAKE_NVML_LOST_AFTER=N                       after N full samples every call about the GPU says that it is
 * lost FAKE_NVML_DRIVER=580.65.06                   the driver's version (default: 580.159.04)
 * FAKE_NVML_LOG=FILE                           the calls that attach something, one a line
 * FAKE_NVML_SM_CLOCK=MHZ                       default: 1500 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/nvml.h"

#define EXPORT    __attribute__((visibility("default")))
#define FAKE_UUID "GPU-00000000-0000-0000-0000-000000000000"

enum { LOST = 15, UNSUPPORTED = 3, INVALID = 2, NOT_FOUND = 6 };

static long full_samples;
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
    if (about_gpu && full_samples >= setting("FAKE_NVML_LOST_AFTER", 1000000))
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

static nvml_device the_gpu(void)
{
    static char gpu;
    return (nvml_device)(void *)&gpu;
}

CALL(nvmlShutdown, (void), false, )
CALL(nvmlSystemGetDriverVersion, (char *text, unsigned size), false, {
    const char *version = getenv("FAKE_NVML_DRIVER");
    snprintf(text, size, "%s", version ? version : "580.159.04");
})
CALL(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *out), false, {
    if (strcmp(uuid, FAKE_UUID) != 0)
        return NOT_FOUND;
    *out = the_gpu();
})
CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, nvml_device *out), false, {
    if (strcmp(bus, "0000:3b:00.0") != 0)
        return NOT_FOUND;
    *out = the_gpu();
})
CALL(nvmlDeviceGetName, (DEVICE, char *text, unsigned size), true, UNUSED snprintf(text, size, "Fake GPU");)
CALL(nvmlDeviceGetUUID, (DEVICE, char *text, unsigned size), true, UNUSED snprintf(text, size, FAKE_UUID);)
CALL(nvmlDeviceGetVbiosVersion, (DEVICE, char *text, unsigned size), true,
     UNUSED snprintf(text, size, "96.00.\033[1m1");)
CALL(nvmlDeviceGetPciInfo_v3, (DEVICE, struct nvml_pci *pci), true, UNUSED pci->bus = 0x3b;)
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
CALL(nvmlDeviceGetMemoryInfo, (DEVICE, struct nvml_memory *m), true,
     UNUSED *m = (struct nvml_memory){.total = 1ull << 34, .free = 1ull << 33, .used = 1ull << 33};)
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
CALL(nvmlInit_v2, (void), false, )
CALL(nvmlSystemGetCudaDriverVersion_v2, (int *version), false, *version = 13010;)
CALL(nvmlDeviceGetCurrentClocksEventReasons, (DEVICE, unsigned long long *mask), true, UNUSED *mask = 0x24;)
CALL(nvmlDeviceGetTemperatureV, (DEVICE, struct nvml_temperature *t), true, {
    UNUSED if (t->version != (sizeof *t | 1u << 24)) return 25;
    t->celsius = 63;
})
CALL(nvmlDeviceGetMemoryInfo_v2, (DEVICE, struct nvml_memory_v2 *m), true, {
    UNUSED if (m->version != (sizeof *m | 2u << 24)) return 25;
    m->total = 1ull << 34;
    m->used = 3ull << 30;
})
CALL(nvmlDeviceGetMigMode, (DEVICE, unsigned *mode, unsigned *pending), true, UNUSED *mode = *pending = 0;)
CALL(nvmlDeviceGetRemappedRows,
     (DEVICE, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed), true,
     UNUSED *correctable = 3;
     *uncorrectable = 1; *pending = 1; *failed = 0; full_samples++;)
CALL(nvmlDeviceGetFieldValues, (DEVICE, int count, struct nvml_field *fields), true, {
    UNUSED samples++;
    for (int i = 0; i < count; i++) {
        struct nvml_field *f = &fields[i];
        f->type = 3;
        f->code = NVML_OK;
        f->value.ull = 0;
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
#endif
