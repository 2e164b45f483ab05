/* A program that "uses CUDA": loads what CUDA_INJECTION64_PATH names, as the driver does in cuInit(), then
 * launches.
 *
 *   app LAUNCHES [what else]: exit (default), kill, abort, _exit, segfault, code7, fork, sleep,
 *   take-over (another profiler registers, then half as many launches again), and those of others[] below */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/ring.h"
#include "nvtx_client.h"

static void (*device)(void);
static void (*launch)(const char *, uint64_t);
static void (*copy)(uint64_t);
static int (*flush)(uint32_t);
static void (*take_over)(void);
static int (*graph)(uint32_t graph, int nodes);
static void (*memory)(uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes, uint64_t time_ns);
static int (*migrate)(uint32_t counter, uint64_t value);

static bool find_cupti(void *cupti)
{
    if (!cupti)
        return false;
    *(void **)&device = dlsym(cupti, "fake_device");
    *(void **)&launch = dlsym(cupti, "fake_launch");
    *(void **)&copy = dlsym(cupti, "fake_copy");
    *(void **)&take_over = dlsym(cupti, "fake_take_over");
    *(void **)&graph = dlsym(cupti, "fake_graph");
    *(void **)&memory = dlsym(cupti, "fake_memory");
    *(void **)&migrate = dlsym(cupti, "fake_migrate");
    *(void **)&flush = dlsym(cupti, "cuptiActivityFlushAll");
    return true;
}

static void initialize_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (injected)
        *(void **)&initialize = dlsym(injected, "InitializeInjection");
    if (initialize)
        initialize();
    if (find_cupti(dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW | RTLD_NOLOAD)))
        device();
}

static void work(long count)
{
    static const char *const kernels[] = {"void scale<float>(float*, int)",
                                          "reduce_sum(float const*, float*)"};
    for (long i = 0; launch && i < count; i++) {
        launch(kernels[i % 2], 1000 + (uint64_t)(i % 2) * 500);
        if (i % 10 == 0)
            copy(4096);
    }
}

static void pause_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* ---- other ways to behave --------------------------------------------------------------------------------
 */

static void *work_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        work(1);
    return NULL;
}

static void *work_once(void *count)
{
    work(*(long *)count);
    return NULL;
}

/* Threads that launch: all of them are joined. */
static int many_threads(long count)
{
    enum { THREADS = 1000 };
    static pthread_t threads[THREADS];
    initialize_cuda();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work_once, &count) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Leaves while other threads launch. */
static int leave_threads(long count)
{
    pthread_t thread;
    initialize_cuda();
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, work_for_ever, NULL);
    work(count);
    return 0;
}

static int become_another(long count)
{
    char launches[32];
    initialize_cuda();
    work(count);
    if (flush)
        flush(0);
    snprintf(launches, sizeof launches, "%ld", count);
    execl("/proc/self/exe", "app", launches, (char *)NULL);
    return 1;
}

/* A child that outlives its parent and is still at work. */
static int leave_daemon(long count)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        return 1;
    if (fork() == 0) {
        setsid();
        initialize_cuda();
        work(count);
        byte = write(ready[1], "x", 1) == 1;
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        pause_ms(4000);
        _exit(0);
    }
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}

/* As daemons do; then its own file gets the lowest number. */
static int close_descriptors(long count)
{
    initialize_cuda();
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    FILE *own = tmpfile();
    work(count);
    pause_ms(300);
    if (!own || fseek(own, 0, SEEK_END) != 0 || ftell(own) != 0)
        return 1;
    return 0;
}

static int use_nvtx(long count)
{
    if (!nvtx_load())
        return 1;
    int wrong = nvtx_play();
    nvtx_play_threads(8, (int)count);
    return wrong ? 1 : 0;
}

/* Everything that NVTX can do, and a range that stays open; then dies, or leaves. */
static int use_all_nvtx(long count)
{
    if (!nvtx_load())
        return 1;
    initialize_cuda();
    work(count);
    int wrong = nvtx_play_all();
    work(1);
    if (count % 2)
        raise(SIGKILL);
    return wrong ? 1 : 0;
}

static void launch_nccl(void)
{
    launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20000);
}

static int use_nccl(long count)
{
    if (!nvtx_load())
        return 1;
    initialize_cuda();
    work(count);
    return nvtx_play_nccl(launch_nccl);
}

static void *push_for_ever(void *unused)
{
    (void)unused;
    char name[32];
    for (unsigned i = 0;; i++) {
        snprintf(name, sizeof name, "busy %u", i % 1000);
        nvtx_push_a(name);
        nvtx_pop();
        if (i % 10 == 9) /* without it, more ranges than anyone can take away */
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return NULL;
}

/* Forks while threads are in the library; the children use CUDA, which the parent does not. */
static int fork_with_nvtx(long count)
{
    enum { CHILDREN = 20 };
    pthread_t thread;
    if (!nvtx_load())
        return 1;
    void *domain = nvtx_domain_create_a("library");
    struct nvtx_event event = nvtx_message(1, "in the child");
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, push_for_ever, NULL);
    int failed = 0;
    for (int i = 0; i < CHILDREN; i++) {
        nvtx_push_a("open in the parent");
        pid_t child = fork();
        if (child == 0) {
            nvtx_domain_create_a("made in the child");
            initialize_cuda();
            nvtx_domain_push_ex(domain, &event);
            work(count);
            nvtx_domain_pop(domain);
            exit(nvtx_pop() == -1 ? 0 : 1);
        }
        nvtx_pop();
        int status = 1;
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    return failed;
}

static uint32_t noise(void)
{
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* Writes nonsense over all that the collector reads. */
static int vandalize(long rounds)
{
    initialize_cuda();
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    struct ring *ring = NULL;
    while (!ring && maps && fgets(line, sizeof line, maps))
        if (strstr(line, ".ring"))
            ring = (struct ring *)(uintptr_t)strtoull(line, NULL, 16); /* NOLINT: an address in a text */
    if (!ring)
        return 1;
    fclose(maps);
    memset(ring->message, 27, sizeof ring->message);
    memset(ring->cupti_path, 'x', sizeof ring->cupti_path);
    uint64_t known = atomic_load(&ring->text_used);
    for (long round = 0; round < rounds; round++) {
        int number = (int)(noise() % RING_SLOTS);
        uint32_t *words = (uint32_t *)ring_slot_data(ring, number);
        for (size_t i = 0; i < 4096; i++)
            words[i] = noise() % 3 ? noise() % RING_KINDS : noise() << (noise() % 32);
        for (int kind = 0; kind < RING_KINDS; kind++)
            ring->record_bytes[kind] = noise() % 4 ? noise() % 300 : noise();
        ring->pid = (int32_t)noise();
        ring->realtime_ns = (int64_t)((uint64_t)noise() << 32 | noise());
        ring->cupti_ns = -(int64_t)((uint64_t)(noise() >> 1) << 32 | noise());
        uint32_t *texts = (uint32_t *)(ring_text_log(ring) + known);
        for (size_t i = 0; i < 1024; i++)
            texts[i] = noise() % 2 ? noise() % 64 : noise();
        atomic_store(&ring->text_used, noise() % 2 ? known + 4096 : noise());
        ring->slots[number].valid_bytes = noise() % 2 ? noise() % 16384 : (uint64_t)noise() << 20;
        atomic_store(&ring->slots[number].state, noise() % 4 ? RING_SLOT_FULL : RING_SLOT_LENT);
        if (round % 100 == 0)
            pause_ms(20);
    }
    _exit(0);
}

/* Cuts the file of its ring to nothing, and does not look at it again. */
static int cut_ring(long count)
{
    char link[4096];
    initialize_cuda();
    work(count);
    pause_ms(200); /* the collector has seen it */
    snprintf(link, sizeof link, "for f in \"$WARPLIGHT_RECORD_DIR\"/*.ring; do : > \"$f\"; done");
    raise(system(link) == 0 ? SIGKILL : SIGABRT);
    return 1;
}

/* Has an allocation of managed memory handed over. */
static void allocate_managed(void)
{
    enum { ALLOCATE = 1, MANAGED = 5 };
    memory(ALLOCATE, MANAGED, 0x4000, 8 << 20, 0);
    flush(0);
}

/* Does what each line says, and says when it is done: "work", "managed", or "step MS" (a range of the name
 * "step"). */
static int obey(long count)
{
    char line[64];
    initialize_cuda();
    bool ranges = nvtx_load();
    while (fgets(line, sizeof line, stdin)) {
        /* As a program that brings CUPTI itself. */
        if (!launch && find_cupti(dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW)))
            device();
        bool step = strncmp(line, "step", 4) == 0 && ranges;
        if (step)
            nvtx_push_a("step");
        if (strncmp(line, "managed", 7) == 0)
            allocate_managed();
        work(count);
        if (step) {
            pause_ms(strtol(line + 4, NULL, 10));
            nvtx_pop();
        }
        puts("did it");
        fflush(stdout);
    }
    return 0;
}

static int launch_graphs(long count)
{
    int whole = 0;
    initialize_cuda();
    for (long i = 0; i < count; i++)
        whole += graph(12, 24);
    printf("launches %ld with nodes, %d whole\n", count - whole, whole);
    return 0;
}

/* 1 MiB and 2 MiB, then only 2 MiB, then 4 MiB more: told in the wrong order, in two buffers. */
static int allocate(long count)
{
    enum { ALLOCATE = 1, RELEASE, DEVICE = 3, MANAGED = 5, H2D = 1, GPU_FAULTS = 4 };
    const uint64_t mib = 1 << 20, ms = 1000000;
    struct timespec moment;
    initialize_cuda();
    work(count); /* a device is only reported that did something */
    clock_gettime(CLOCK_REALTIME, &moment);
    uint64_t now = (uint64_t)moment.tv_sec * 1000 * ms + (uint64_t)moment.tv_nsec;
    memory(RELEASE, DEVICE, 0x1000, mib, now + 3 * ms);
    memory(ALLOCATE, DEVICE, 0x2000, 2 * mib, now + 2 * ms);
    memory(RELEASE, DEVICE, 0x9000, mib, now + ms); /* of an allocation before the recording */
    flush(0);
    pause_ms(200);
    memory(ALLOCATE, DEVICE, 0x1000, mib, now + ms);
    memory(ALLOCATE, DEVICE, 0x3000, 4 * mib, now + 5 * ms);
    memory(ALLOCATE, MANAGED, 0x4000, 8 * mib, now + 6 * ms);
    for (int tries = 0; tries < 1000 && !migrate(H2D, 4096); tries++)
        pause_ms(10);
    migrate(GPU_FAULTS, 3);
    migrate(GPU_FAULTS, 4);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(long count);
} others[] = {{"threads", many_threads},
              {"leave-threads", leave_threads},
              {"exec", become_another},
              {"daemon", leave_daemon},
              {"close", close_descriptors},
              {"nvtx", use_nvtx},
              {"nvtx-all", use_all_nvtx},
              {"nccl", use_nccl},
              {"nvtx-fork", fork_with_nvtx},
              {"graphs", launch_graphs},
              {"memory", allocate},
              {"vandal", vandalize},
              {"cut", cut_ring},
              {"obey", obey}};

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    const char *how = argc > 2 ? argv[2] : "exit";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(how, others[i].name) == 0)
            return others[i].run(count);
    initialize_cuda();
    work(count);
    if (strcmp(how, "take-over") == 0 && take_over) {
        take_over();
        work(count / 2);
    }
    if (strcmp(how, "sleep") == 0) {
        if (flush)
            flush(0);
        puts("working");
        fflush(stdout);
        pause_ms(60000);
    }
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segfault") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
        raise(SIGSEGV);
    }
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "code7") == 0)
        return 7;
    if (strcmp(how, "fork") == 0 || strcmp(how, "worker") == 0) {
        pid_t child = fork(); /* a worker that goes on without CUDA and leaves by exit() */
        if (child == 0) {
            pause_ms(*how == 'w' ? 3000 : 0);
            exit(0);
        }
        waitpid(child, NULL, 0);
        work(count);
    }
    puts("done");
    return 0;
}
