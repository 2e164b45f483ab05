/* The library that the CUDA driver loads into a target because CUDA_INJECTION64_PATH names it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "inject/recorder.h"

#define EXPORT __attribute__((visibility("default")))

struct recorder recorder = {.start = PTHREAD_MUTEX_INITIALIZER,
                            .turn = PTHREAD_MUTEX_INITIALIZER,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .closed = true};

EXPORT int InitializeInjection(void);

void recorder_note(struct recorder *r, const char *why, const char *detail)
{
    if (atomic_exchange(&r->noted, true))
        return;
    snprintf(r->ring->detail, sizeof r->ring->detail, "%s", detail);
    snprintf(r->ring->message, sizeof r->ring->message, "%s", why);
}

/* ---- the helper ------------------------------------------------------------------------------------------
 */

/* Hands over everything that CUPTI still holds. Buffers are never freed, CUPTI may keep some. */
static void finish(void)
{
    enum { MOST_WAIT_S = 1 };
    struct recorder *r = &recorder;
    /* A child that was made without fork() has not run our handlers: the ring is its parent's. */
    if (atomic_load_explicit(&r->closed, memory_order_acquire) || r->pid != getpid())
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MOST_WAIT_S;
    bool ours = pthread_mutex_timedlock(&r->turn, &until) == 0;
    if (ours)
        activities_flush(r);
    torch_finish(r);
    records_flush(r);
    atomic_store_explicit(&r->closed, true, memory_order_release);
    if (atomic_load_explicit(&r->ring->state, memory_order_acquire) != RING_FAILED)
        atomic_store_explicit(&r->ring->state, RING_FINISHED, memory_order_release);
    if (ours)
        pthread_mutex_unlock(&r->turn);
}

/* Sleeps until the collector wants something else, or for the period (NULL: for ever). */
static void wait_for_change(struct ring *ring, uint32_t wanted, const struct timespec *period)
{
    syscall(SYS_futex, &ring->wanted, FUTEX_WAIT, wanted, period, NULL, 0);
}

/* How often CUPTI is asked for completed buffers, so that a crash loses little and the live view lives. What
 * a program launched within this time before SIGKILL is lost: CUPTI writes records of kernels when it hands
 * over, and a period of its own (cuptiActivityFlushPeriod()) gives away full buffers only, minutes apart in
 * slow programs. Each time costs the other threads a wait for CUPTI's locks, and a half-empty slot; ten a
 * second have been measured to cost nothing that can be seen (doc/measured/record.md). */
static const struct timespec flush_period = {.tv_nsec = 100 * 1000 * 1000};

/* Once the program is about to end, CUPTI belongs to it: finish() closes with the turn held. */
static void keep_flowing(struct recorder *r)
{
    records_flush(r);
    pthread_mutex_lock(&r->turn);
    bool recording = r->recording && !atomic_load_explicit(&r->closed, memory_order_acquire);
    if (recording && r->options.counters) {
        counters_flush(r, false);
    } else if (recording) {
        r->cupti.ActivityFlushAll(CUPTI_FLUSH_COMPLETED);
        allocations_look(r);
        buffers_count_dropped(r, NULL, 0);
    }
    pthread_mutex_unlock(&r->turn);
    buffers_prepare(r);
}

/* Does what the collector wants. While paused it sleeps: that costs nothing. */
static void *help(void *unused)
{
    (void)unused;
    struct recorder *r = &recorder;
    while (!atomic_load_explicit(&r->closed, memory_order_acquire)) {
        uint32_t wanted = atomic_load_explicit(&r->ring->wanted, memory_order_acquire);
        bool record = wanted == RING_RECORD;
        /* cuInit() may still be at work in the thread in which it loaded us: CUPTI needs all of the driver.
         */
        if (record && activities_will_start(r))
            cupti_await_driver();
        activities_follow(r, wanted);
        torch_follow(r);
        if (wanted == RING_STOP) {
            finish();
            torch_follow(r);
            break;
        }
        if (record)
            keep_flowing(r);
        wait_for_change(r->ring, wanted, record ? &flush_period : NULL);
    }
    return NULL;
}

static void start_helper(void)
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
    if (pthread_create(&thread, &attributes, help, NULL) == 0)
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
    r->started = r->recording = r->tried = r->calls_named = false;
    pthread_mutex_init(&r->turn, NULL); /* the parent's helper may hold it */
    records_forget();
    counters_forget();
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
        *why = N_("the limit on the size of files (ulimit -f) leaves no room for the recording buffers");
        return NULL;
    }
    if (ftruncate(fd, RING_FILE_BYTES) != 0) {
        *why = N_("the file for the recording buffers cannot be made large enough");
        return NULL;
    }
    struct ring *ring = mmap(NULL, RING_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        *why = N_("the recording buffers cannot be mapped: no address space left (ulimit -v)");
        return NULL;
    }
    if (!memory_back(ring, RING_HEADER_BYTES)) {
        *why = N_("there is no memory for the recording buffers (the disk that holds them is full)");
        munmap(ring, RING_FILE_BYTES);
        return NULL;
    }
    return ring;
}

/* See RING_FAMILY. Without it a child may be asked about in vain, no more. */
static void join_family(const char *folder)
{
    enum { LENGTH = 4096 };
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/" RING_FAMILY, folder);
    int fd = length < (int)sizeof path ? open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE, fd, 0);
    close(fd);
}

/* The name is unique in all processes, also of other PID namespaces and of processes that exec. */
static struct ring *open_ring(const char *folder, bool paused)
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
        ring->record_bytes[RING_MARK] = sizeof(struct ring_range);
        ring->record_bytes[RING_PAYLOAD_RANGE] = sizeof(struct ring_payload_range);
        ring->record_bytes[RING_OP] = sizeof(struct ring_op);
        ring->record_bytes[RING_LAUNCH] = sizeof(struct ring_launch);
        ring->record_bytes[RING_COUNTERS] = sizeof(struct ring_counters);
        ring->record_bytes[RING_PC] = sizeof(struct ring_pc);
        ring->record_bytes[RING_PLAN] = sizeof(struct ring_plan);
        ring->wanted = paused ? RING_PAUSE : RING_RECORD;
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
    atomic_store_explicit(&r->saw_managed, false, memory_order_relaxed);
    r->counts_managed = false;
    r->pid = (int32_t)getpid();
    r->generation++;
    r->ring = ring;
    pthread_mutex_unlock(&r->lock);
    atomic_store_explicit(&r->noted, false, memory_order_relaxed);
    atomic_store_explicit(&r->closed, false, memory_order_release);
    if (!r->options.paused)
        buffers_prepare(r);
    if (!registered)
        registered = atexit(finish) == 0;
    start_helper();
}

bool recorder_open(struct recorder *r)
{
    pthread_mutex_lock(&r->start);
    if (!r->started) {
        r->started = true;
        r->options = options_read(secure_getenv(RING_ENV_OPTIONS));
        const char *folder = secure_getenv(RING_ENV_DIR);
        struct ring *ring = folder && *folder ? open_ring(folder, r->options.paused) : NULL;
        r->folder = ring ? strdup(folder) : NULL; /* the application may change its environment */
        if (ring) {
            join_family(folder);
            start(r, ring);
        }
    }
    bool open = r->ring != NULL;
    pthread_mutex_unlock(&r->start);
    return open;
}

/* ---- the driver's call ----------------------------------------------------------------------------------
 */

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

int InitializeInjection(void)
{
    static _Atomic bool entered;
    if (atomic_exchange(&entered, true))
        return 1;
    struct recorder *r = &recorder;
    if (recorder_open(r)) {
        pthread_mutex_lock(&r->turn);
        r->cuda = true;
        pthread_mutex_unlock(&r->turn);
        activities_follow(r, atomic_load_explicit(&r->ring->wanted, memory_order_acquire));
        torch_follow(r);
    }
    chain();
    return 1;
}
