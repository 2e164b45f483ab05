/* The library that the CUDA driver loads into a target because CUDA_INJECTION64_PATH names it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/activity.h"
#include "inject/recorder.h"

#define EXPORT __attribute__((visibility("default")))

struct recorder recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .range_slot = -1};

EXPORT int InitializeInjection(void);

static void fail(struct ring *ring, const char *message)
{
    snprintf(ring->message, sizeof ring->message, "%s", message);
    atomic_store_explicit(&ring->state, RING_FAILED, memory_order_release);
}

/* ---- keeping it flowing, and ending it ------------------------------------------------------------------
 */

/* Asks CUPTI for completed buffers now and then, so that a crash loses little and the live view lives. */
static void *flush_now_and_then(void *unused)
{
    (void)unused;
    struct recorder *r = &recorder;
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    while (!atomic_load_explicit(&r->closed, memory_order_relaxed)) {
        nanosleep(&pause, NULL);
        if (atomic_load_explicit(&r->closed, memory_order_relaxed))
            break;
        nvtx_flush(r);
        if (atomic_load_explicit(&r->ring->state, memory_order_acquire) == RING_RECORDING)
            r->cupti.ActivityFlushAll(CUPTI_FLUSH_COMPLETED);
    }
    return NULL;
}

static void start_flushing(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the application's signals stay its own */
    if (pthread_create(&thread, &attributes, flush_now_and_then, NULL) == 0)
        pthread_setname_np(thread, "warplight");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* At exit: everything that CUPTI still holds. Buffers are never freed, CUPTI may keep some. */
static void finish(void)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_relaxed) || !r->ring)
        return;
    bool recording = atomic_load_explicit(&r->ring->state, memory_order_acquire) == RING_RECORDING;
    if (recording)
        r->cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
    nvtx_flush(r);
    atomic_store_explicit(&r->closed, true, memory_order_relaxed);
    if (recording)
        atomic_store_explicit(&r->ring->state, RING_FINISHED, memory_order_release);
}

/* A child that was forked without exec must not write into its parent's ring. */
static void leave_to_parent(void)
{
    atomic_store_explicit(&recorder.closed, true, memory_order_relaxed);
}

/* ---- the ring -------------------------------------------------------------------------------------------
 */

static struct ring *open_ring(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%ld.ring", folder, (long)getpid()) >= (int)sizeof path)
        return NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    struct ring *ring = MAP_FAILED;
    if (ftruncate(fd, RING_FILE_BYTES) == 0)
        ring = mmap(NULL, RING_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ring == MAP_FAILED)
        return NULL;
    ring->version = RING_VERSION;
    ring->pid = (int32_t)getpid();
    memcpy(ring->magic, RING_MAGIC, sizeof ring->magic);
    return ring;
}

bool recorder_open(struct recorder *r)
{
    static _Atomic bool entered;
    if (!atomic_exchange(&entered, true)) {
        const char *folder = getenv(RING_ENV_DIR);
        r->ring = folder && *folder ? open_ring(folder) : NULL;
        if (r->ring) {
            r->ring->record_bytes[RING_RANGE] = sizeof(struct ring_range);
            pthread_atfork(NULL, NULL, leave_to_parent);
            atexit(finish);
            start_flushing();
        }
    }
    return r->ring != NULL;
}

/* ---- what is recorded -----------------------------------------------------------------------------------
 */

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

/* Logs the names of all calls of a domain, and switches off those that are not wanted where CUPTI can
 * (12.5+). */
static void choose_calls(struct recorder *r, int domain)
{
    enum { MOST_CALLS = 2048 }; /* CUDA 13.5 has some 900 of each; numbers are dense but for retired calls */
    bool runtime = domain == CUPTI_DOMAIN_RUNTIME;
    for (uint32_t cbid = 1; cbid < MOST_CALLS; cbid++) {
        const char *name = NULL;
        if (r->cupti.GetCallbackName(domain, cbid, &name) != CUPTI_OK || !name)
            continue;
        texts_add(r, runtime ? RING_TEXT_RUNTIME : RING_TEXT_DRIVER, cbid, name);
        if (runtime && r->cupti.ActivityEnableRuntimeApi &&
            has_prefix(name, noise, sizeof noise / sizeof *noise))
            r->cupti.ActivityEnableRuntimeApi(cbid, 0);
        if (!runtime && r->cupti.ActivityEnableDriverApi &&
            has_prefix(name, driver_calls, sizeof driver_calls / sizeof *driver_calls))
            r->cupti.ActivityEnableDriverApi(cbid, 1);
    }
}

static void enable_all(struct recorder *r)
{
    static const int extras[] = {ACTIVITY_MEMCPY,         ACTIVITY_MEMCPY_P2P, ACTIVITY_MEMSET,
                                 ACTIVITY_DEVICE,         ACTIVITY_RUNTIME,    ACTIVITY_OVERHEAD,
                                 ACTIVITY_SYNCHRONIZATION};
    cupti_result result = r->cupti.ActivityEnable(ACTIVITY_KERNEL);
    if (result != CUPTI_OK) {
        char message[RING_MESSAGE_BYTES];
        const char *text = "unknown error";
        r->cupti.GetResultString(result, &text);
        snprintf(message, sizeof message, "CUPTI refuses to record kernels: %s (%d)%s", text, result,
                 result == CUPTI_MULTIPLE_SUBSCRIBERS ? "; another profiler holds it in this process" : "");
        fail(r->ring, message);
        return;
    }
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        r->cupti.ActivityEnable(extras[i]);
    /* Only chosen driver calls; where CUPTI cannot choose, all of them, or kernels of Triton would have no
     * call. */
    if (!r->cupti.ActivityEnableDriverApi)
        r->cupti.ActivityEnable(ACTIVITY_DRIVER);
    choose_calls(r, CUPTI_DOMAIN_RUNTIME);
    choose_calls(r, CUPTI_DOMAIN_DRIVER);
    atomic_store_explicit(&r->ring->state, RING_RECORDING, memory_order_release);
}

static void chain(void)
{
    const char *path = getenv(RING_ENV_CHAIN);
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW);
    int (*initialize)(void) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjection");
    if (initialize)
        initialize();
}

static void set_clocks(struct recorder *r)
{
    struct timespec now;
    uint64_t cupti_ns = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    r->cupti.GetTimestamp(&cupti_ns);
    r->ring->realtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    r->ring->cupti_ns = (int64_t)cupti_ns;
}

int InitializeInjection(void)
{
    static _Atomic bool entered;
    if (atomic_exchange(&entered, true))
        return 1;
    struct recorder *r = &recorder;
    if (!recorder_open(r)) {
        chain();
        return 1;
    }
    char why[RING_MESSAGE_BYTES];
    if (cupti_open(&r->cupti, why, sizeof why) != 0) {
        fail(r->ring, why);
        chain();
        return 1;
    }
    _Static_assert(sizeof r->ring->cupti_path == sizeof r->cupti.path, "copied whole");
    memcpy(r->ring->cupti_path, r->cupti.path, sizeof r->ring->cupti_path);
    r->cupti.GetVersion(&r->ring->cupti_version);
    r->ring->driver_version = cupti_driver_version();
    if (r->cupti.SetThreadIdType)
        r->cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
    set_clocks(r);
    cupti_result result = r->cupti.ActivityRegisterCallbacks(buffers_request, buffers_complete);
    if (result != CUPTI_OK) {
        fail(r->ring, "CUPTI refuses our buffers: another profiler records activity in this process");
        chain();
        return 1;
    }
    enable_all(r);
    chain();
    return 1;
}
