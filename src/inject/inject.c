/* The library that the CUDA driver loads into a target because CUDA_INJECTION64_PATH names it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/activity.h"
#include "inject/recorder.h"

#define EXPORT __attribute__((visibility("default")))

struct recorder recorder = {
    .start = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .closed = true};

EXPORT int InitializeInjection(void);

void recorder_note(struct recorder *r, const char *why)
{
    if (!atomic_exchange(&r->noted, true))
        snprintf(r->ring->message, sizeof r->ring->message, "%s", why);
}

static void fail(struct recorder *r, const char *why)
{
    recorder_note(r, why);
    atomic_store_explicit(&r->ring->state, RING_FAILED, memory_order_release);
}

static const int recorded_kinds[] = {ACTIVITY_MEMCPY,         ACTIVITY_MEMCPY_P2P, ACTIVITY_MEMSET,
                                     ACTIVITY_DEVICE,         ACTIVITY_RUNTIME,    ACTIVITY_OVERHEAD,
                                     ACTIVITY_SYNCHRONIZATION};

/* ---- keeping it flowing, and ending it ------------------------------------------------------------------
 */

/* Hands over everything that CUPTI still holds. Buffers are never freed, CUPTI may keep some. */
static void finish(void)
{
    struct recorder *r = &recorder;
    /* A child that was made without fork() has not run our handlers: the ring is its parent's. */
    if (atomic_load_explicit(&r->closed, memory_order_acquire) || r->pid != getpid())
        return;
    bool recording = atomic_load_explicit(&r->ring->state, memory_order_acquire) == RING_RECORDING;
    if (recording) {
        buffers_flush_all(r);
        buffers_count_dropped(r, NULL, 0);
    }
    torch_finish(r);
    records_flush(r);
    atomic_store_explicit(&r->closed, true, memory_order_release);
    if (atomic_load_explicit(&r->ring->state, memory_order_acquire) != RING_FAILED)
        atomic_store_explicit(&r->ring->state, RING_FINISHED, memory_order_release);
}

/* The recording has ended before the process: from now on it runs as if there were none. */
static void stop(struct recorder *r)
{
    if (atomic_load_explicit(&r->ring->state, memory_order_acquire) == RING_RECORDING) {
        r->cupti.ActivityDisable(ACTIVITY_KERNEL);
        for (size_t i = 0; i < sizeof recorded_kinds / sizeof *recorded_kinds; i++)
            r->cupti.ActivityDisable(recorded_kinds[i]);
        if (!r->cupti.ActivityEnableDriverApi)
            r->cupti.ActivityDisable(ACTIVITY_DRIVER);
    }
    finish();
    torch_follow(r);
}

/* Asks CUPTI for completed buffers now and then, so that a crash loses little and the live view lives. */
static void *flush_now_and_then(void *unused)
{
    (void)unused;
    struct recorder *r = &recorder;
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    while (nanosleep(&pause, NULL), !atomic_load_explicit(&r->closed, memory_order_acquire)) {
        if (atomic_load_explicit(&r->ring->wanted, memory_order_acquire) == RING_STOP) {
            stop(r);
            break;
        }
        torch_follow(r);
        records_flush(r);
        if (atomic_load_explicit(&r->ring->state, memory_order_acquire) == RING_RECORDING) {
            r->cupti.ActivityFlushAll(CUPTI_FLUSH_COMPLETED);
            buffers_count_dropped(r, NULL, 0);
        }
        buffers_prepare(r);
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

/* ---- fork ------------------------------------------------------------------------------------------------
 */

/* With our locks held, no other thread is in the middle of anything that the child would inherit. */
static void before_fork(void)
{
    pthread_mutex_lock(&recorder.start);
    records_lock();
    pthread_mutex_lock(&recorder.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&recorder.lock);
    records_unlock();
    pthread_mutex_unlock(&recorder.start);
}

/* The ring is the parent's. If the child turns to CUDA itself, it gets one of its own. */
static void after_fork_in_child(void)
{
    struct recorder *r = &recorder;
    atomic_store_explicit(&r->closed, true, memory_order_release);
    if (r->ring)
        munmap(r->ring, RING_FILE_BYTES);
    r->ring = NULL;
    r->started = false;
    records_forget();
    nvtx_forget();
    torch_forget();
    after_fork_in_parent();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- the ring -------------------------------------------------------------------------------------------
 */

/* Maps the new file, or returns NULL and why. */
static struct ring *map_ring(int fd, const char **why)
{
    struct rlimit limit;
    /* Beyond this limit even ftruncate() is a fatal signal. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)RING_FILE_BYTES) {
        *why = "the limit on the size of files (ulimit -f) leaves no room for the recording buffers";
        return NULL;
    }
    if (ftruncate(fd, RING_FILE_BYTES) != 0) {
        *why = "the file for the recording buffers cannot be made large enough";
        return NULL;
    }
    struct ring *ring = mmap(NULL, RING_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        *why = "the recording buffers cannot be mapped: no address space left (ulimit -v)";
        return NULL;
    }
    if (!memory_back(ring, RING_HEADER_BYTES)) {
        *why = "there is no memory for the recording buffers (the disk that holds them is full)";
        munmap(ring, RING_FILE_BYTES);
        return NULL;
    }
    return ring;
}

/* The name is unique in all processes, also of other PID namespaces and of processes that exec. */
static struct ring *open_ring(const char *folder)
{
    char path[4096];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long moment = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
    int length = snprintf(path, sizeof path, "%s/%ld-%lld.ring", folder, (long)getpid(), moment);
    if (length < 0 || length >= (int)(sizeof path - sizeof ".failed"))
        return NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    const char *why = NULL;
    struct ring *ring = map_ring(fd, &why);
    close(fd);
    if (ring) {
        ring->version = RING_VERSION;
        ring->pid = (int32_t)getpid();
        ring->record_bytes[RING_RANGE] = sizeof(struct ring_range);
        ring->record_bytes[RING_OP] = sizeof(struct ring_op);
        atomic_thread_fence(memory_order_release); /* the collector looks for the magic first */
        memcpy(ring->magic, RING_MAGIC, sizeof ring->magic);
        return ring;
    }
    unlink(path);
    snprintf(path + length - strlen(".ring"), sizeof ".failed", ".failed");
    if (symlink(why, path) != 0)
        return NULL; /* nowhere to say it */
    return NULL;
}

/* The caller holds r->start. */
static void start(struct recorder *r, struct ring *ring)
{
    static bool registered; /* inherited by children, as the registration is */
    pthread_mutex_lock(&r->lock);
    memset((void *)r->pointers, 0, sizeof r->pointers);
    for (int slot = 0; slot < RING_SLOTS; slot++)
        atomic_store_explicit(&r->backed[slot], false, memory_order_relaxed);
    r->text_backed = 0;
    r->pid = (int32_t)getpid();
    r->generation++;
    r->ring = ring;
    pthread_mutex_unlock(&r->lock);
    atomic_store_explicit(&r->noted, false, memory_order_relaxed);
    atomic_store_explicit(&r->closed, false, memory_order_release);
    buffers_prepare(r);
    if (!registered)
        registered = atexit(finish) == 0;
    start_flushing();
}

bool recorder_open(struct recorder *r)
{
    pthread_mutex_lock(&r->start);
    if (!r->started) {
        r->started = true;
        r->options = options_read(secure_getenv(RING_ENV_OPTIONS));
        const char *folder = secure_getenv(RING_ENV_DIR);
        struct ring *ring = folder && *folder ? open_ring(folder) : NULL;
        if (ring)
            start(r, ring);
    }
    bool open = r->ring != NULL;
    pthread_mutex_unlock(&r->start);
    return open;
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
    cupti_result result = r->cupti.ActivityEnable(ACTIVITY_KERNEL);
    if (result != CUPTI_OK) {
        char message[RING_MESSAGE_BYTES];
        const char *text = "unknown error";
        r->cupti.GetResultString(result, &text);
        snprintf(message, sizeof message, "CUPTI refuses to record kernels: %s (%d)%s", text, result,
                 result == CUPTI_MULTIPLE_SUBSCRIBERS ? "; another profiler holds it in this process" : "");
        fail(r, message);
        return;
    }
    for (size_t i = 0; i < sizeof recorded_kinds / sizeof *recorded_kinds; i++)
        r->cupti.ActivityEnable(recorded_kinds[i]);
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
    const char *path = secure_getenv(RING_ENV_CHAIN);
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
        fail(r, why);
        chain();
        return 1;
    }
    _Static_assert(sizeof r->ring->cupti_path == sizeof r->cupti.path, "copied whole");
    memcpy(r->ring->cupti_path, r->cupti.path, sizeof r->ring->cupti_path);
    r->cupti.GetVersion(&r->cupti.version);
    r->ring->cupti_version = r->cupti.version;
    r->ring->driver_version = cupti_driver_version();
    if (r->cupti.SetThreadIdType)
        r->cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
    set_clocks(r);
    buffers_learn_sizes(r);
    cupti_result result = r->cupti.ActivityRegisterCallbacks(buffers_request, buffers_complete);
    if (result != CUPTI_OK) {
        fail(r, "CUPTI refuses our buffers: another profiler records activity in this process");
        chain();
        return 1;
    }
    enable_all(r);
    torch_follow(r);
    chain();
    return 1;
}
