/* What is recorded through CUPTI, and switching it on and off while the program runs. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "capture/activity.h"
#include "inject/recorder.h"

static void fail(struct recorder *r, const char *why, const char *detail)
{
    recorder_note(r, why, detail);
    atomic_store_explicit(&r->ring->state, RING_FAILED, memory_order_release);
}

/* ---- what is recorded -----------------------------------------------------------------------------------
 */

/* Besides kernels, whose refusal is the sign that nothing can be recorded. */
static const int recorded_kinds[] = {ACTIVITY_MEMCPY,  ACTIVITY_MEMCPY_P2P, ACTIVITY_MEMSET,
                                     ACTIVITY_RUNTIME, ACTIVITY_OVERHEAD,   ACTIVITY_SYNCHRONIZATION};

/* Calls that neither move work nor wait for any: frequent and useless. Compared as prefixes. */
static const char *const noise[] = {
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaDeviceGetAttribute",
    "cudaFuncGetAttributes",
    "cudaOccupancy",
    "cudaThreadExchangeStreamCaptureMode",
    "cudaStreamGetPriority",
    "cudaEventQuery",
    "cudaGetDriverEntryPoint",
    "cudaDeviceGetStreamPriorityRange",
    "cudaGetFuncBySymbol",
    "__cuda",
};
/* Driver calls that programs make themselves to issue work, move memory, wait or load code. */
static const char *const driver_calls[] = {
    "cuLaunch",         "cuGraphLaunch",      "cuGraphInstantiate",
    "cuMemcpy",         "cuMemset",           "cuMemAlloc",
    "cuMemFree",        "cuMemCreate",        "cuMemMap",
    "cuMemHostAlloc",   "cuMemPrefetch",      "cuStreamSynchronize",
    "cuCtxSynchronize", "cuEventSynchronize", "cuStreamWaitEvent",
    "cuModuleLoad",     "cuLibraryLoad",      "cuLink",
};

static bool has_prefix(const char *name, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Switches single calls where CUPTI can (12.5+): those of the runtime that are noise off, those of the driver
 * that are wanted on, or off again. Logs the names of all calls, the first time. */
static void choose_calls(struct recorder *r, int domain, bool on)
{
    enum { MOST_CALLS = 2048 }; /* CUDA 13.5 has some 900 of each; numbers are dense but for retired calls */
    bool runtime = domain == CUPTI_DOMAIN_RUNTIME;
    for (uint32_t cbid = 1; cbid < MOST_CALLS; cbid++) {
        const char *name = NULL;
        if (r->cupti.GetCallbackName(domain, cbid, &name) != CUPTI_OK || !name)
            continue;
        if (!r->calls_named)
            texts_add(r, runtime ? RING_TEXT_RUNTIME : RING_TEXT_DRIVER, cbid, name);
        if (runtime && on && r->cupti.ActivityEnableRuntimeApi &&
            has_prefix(name, noise, sizeof noise / sizeof *noise))
            r->cupti.ActivityEnableRuntimeApi(cbid, 0);
        if (!runtime && r->cupti.ActivityEnableDriverApi &&
            has_prefix(name, driver_calls, sizeof driver_calls / sizeof *driver_calls))
            r->cupti.ActivityEnableDriverApi(cbid, on);
    }
}

/* Devices that existed before are recorded too, where CUPTI can say them (11.7+). */
static void enable_devices(struct recorder *r)
{
    if (!r->cupti.ActivityEnableAndDump || r->cupti.ActivityEnableAndDump(ACTIVITY_DEVICE) != CUPTI_OK)
        r->cupti.ActivityEnable(ACTIVITY_DEVICE);
}

/* Sources: cupti_result.h of CUDA 13; NVIDIA's page on ERR_NVGPUCTRPERM. */
static const struct {
    cupti_result result;
    const char *why;
} refusals[] = {
    {CUPTI_NO_PRIVILEGE, N_("the driver lets only administrators profile: run as root, or have "
                            "NVreg_RestrictProfilingToAdminUsers=0 "
                            "set for the module nvidia")},
    {CUPTI_MULTIPLE_SUBSCRIBERS, N_("another profiler holds CUPTI in this process: run the program without "
                                    "it (torch.profiler, nsys, ncu, …)")},
    {CUPTI_VGPU_NOT_ALLOWED, N_("this virtual GPU does not allow profiling: its administrator has to switch "
                                "it on (enable_profiling)")},
    {CUPTI_CONFIDENTIAL_COMPUTING,
     N_("the GPU is in confidential-computing mode, which allows no profiling")},
    {CUPTI_CMP, N_("NVIDIA's mining boards (CMP) do not allow profiling")},
    {CUPTI_MIG,
     N_("this MIG instance does not allow profiling: record on the whole GPU, or another instance")},
    {CUPTI_WSL, N_("the driver of Windows does not allow profiling under WSL: update it")},
    {CUPTI_NOT_INITIALIZED, N_("CUPTI cannot start with this driver: install the libcupti of a CUDA version "
                               "that the driver supports")},
};

static void say_refusal(struct recorder *r, cupti_result result)
{
    char detail[RING_MESSAGE_BYTES];
    const char *text = "unknown error";
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].result == result) {
            fail(r, refusals[i].why, "");
            return;
        }
    r->cupti.GetResultString(result, &text);
    snprintf(detail, sizeof detail, "%s (%d)", text, result);
    fail(r, N_("CUPTI refuses to record kernels: {0}"), detail);
}

static bool enable_all(struct recorder *r)
{
    /* Before kernels, and for good: CUPTI 13.0 crashes a program when this is enabled while several of its
     * threads launch graphs that are recorded by their nodes. */
    if (!r->options.graph_nodes)
        r->cupti.ActivityEnable(ACTIVITY_GRAPH);
    cupti_result result = r->cupti.ActivityEnable(ACTIVITY_KERNEL);
    if (result != CUPTI_OK) {
        say_refusal(r, result);
        return false;
    }
    for (size_t i = 0; i < sizeof recorded_kinds / sizeof *recorded_kinds; i++)
        r->cupti.ActivityEnable(recorded_kinds[i]);
    enable_devices(r);
    allocations_enable(r);
    /* Only chosen driver calls; where CUPTI cannot choose, all of them, or kernels of Triton would have no
     * call. */
    if (!r->cupti.ActivityEnableDriverApi)
        r->cupti.ActivityEnable(ACTIVITY_DRIVER);
    choose_calls(r, CUPTI_DOMAIN_RUNTIME, true);
    choose_calls(r, CUPTI_DOMAIN_DRIVER, true);
    r->calls_named = true;
    return true;
}

static void disable_all(struct recorder *r)
{
    r->cupti.ActivityDisable(ACTIVITY_KERNEL);
    for (size_t i = 0; i < sizeof recorded_kinds / sizeof *recorded_kinds; i++)
        r->cupti.ActivityDisable(recorded_kinds[i]);
    r->cupti.ActivityDisable(ACTIVITY_DEVICE);
    if (!r->options.graph_nodes)
        r->cupti.ActivityDisable(ACTIVITY_GRAPH);
    allocations_disable(r);
    if (r->cupti.ActivityEnableDriverApi)
        choose_calls(r, CUPTI_DOMAIN_DRIVER, false);
    /* Also where single calls were chosen: it is the whole of them that CUPTI asks the driver for. */
    r->cupti.ActivityDisable(ACTIVITY_DRIVER);
}

/* ---- on and off -----------------------------------------------------------------------------------------
 */

static void set_clocks(struct recorder *r)
{
    struct timespec now;
    uint64_t cupti_ns = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    r->cupti.GetTimestamp(&cupti_ns);
    atomic_store_explicit(&r->ring->realtime_ns, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                          memory_order_relaxed);
    atomic_store_explicit(&r->ring->cupti_ns, (int64_t)cupti_ns, memory_order_release);
}

/* Finds CUPTI, once a process. */
static bool find_cupti(struct recorder *r)
{
    const char *why;
    char detail[RING_MESSAGE_BYTES] = "";
    if (cupti_open(&r->cupti, &why, detail, sizeof detail) != 0) {
        fail(r, why, detail);
        return false;
    }
    _Static_assert(sizeof r->ring->cupti_path == sizeof r->cupti.path, "copied whole");
    memcpy(r->ring->cupti_path, r->cupti.path, sizeof r->ring->cupti_path);
    r->cupti.GetVersion(&r->cupti.version);
    r->ring->driver_version = cupti_driver_version();
    r->ring->cupti_version = r->cupti.version;
    return true;
}

/* Has it use our buffers. */
static bool open_cupti(struct recorder *r)
{
    if (r->opened)
        return true;
    if (!find_cupti(r))
        return false;
    if (r->options.counters)
        return r->opened = true;
    if (r->cupti.SetThreadIdType)
        r->cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
    buffers_learn_sizes(r);
    r->opened = r->cupti.ActivityRegisterCallbacks(buffers_request, buffers_complete) == CUPTI_OK;
    if (!r->opened)
        fail(r, N_("CUPTI refuses our buffers: another profiler records activity in this process"), "");
    return r->opened;
}

static void switch_on(struct recorder *r)
{
    if (!open_cupti(r))
        return;
    buffers_prepare(r);
    set_clocks(r);
    r->recording = r->options.counters ? counters_start(r) : enable_all(r);
    if (r->recording)
        atomic_store_explicit(&r->ring->state, RING_RECORDING, memory_order_release);
}

/* From here on nothing is selected, as before the first start; what CUPTI itself leaves in the program stays
 * (doc/internals/recording.md, "Pausing"). */
static void switch_off(struct recorder *r)
{
    if (r->options.counters)
        counters_stop(r);
    else
        disable_all(r);
    activities_flush(r);
    r->recording = false;
}

void activities_flush(struct recorder *r)
{
    if (!r->recording)
        return;
    if (r->options.counters) {
        counters_flush(r, true);
        return;
    }
    buffers_flush_all(r);
    buffers_count_dropped(r, NULL, 0);
}

bool activities_will_start(struct recorder *r)
{
    pthread_mutex_lock(&r->turn);
    bool will = r->cuda && !r->tried;
    pthread_mutex_unlock(&r->turn);
    return will;
}

void activities_follow(struct recorder *r, uint32_t wanted)
{
    pthread_mutex_lock(&r->turn);
    if (wanted == RING_RECORD && !r->cuda) {
        atomic_store_explicit(&r->ring->state, RING_STARTING, memory_order_release);
    } else if (wanted == RING_RECORD && !r->tried) {
        r->tried = true;
        switch_on(r);
    } else if (wanted != RING_RECORD) {
        if (r->recording)
            switch_off(r);
        r->tried = false; /* who was refused may be granted the next time */
        records_flush(r);
        if (wanted == RING_PAUSE)
            atomic_store_explicit(&r->ring->state, RING_PAUSED, memory_order_release);
    }
    pthread_mutex_unlock(&r->turn);
}
