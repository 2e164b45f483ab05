/* A program that launches kernels, for tests of counters: counters_app [WORD…], one word a thing to do:
 *
 *   NxNAME/GRID   N launches of NAME with that grid and 128 threads a block
 *   gridsN        a launch of scale with each grid from 1 to N
 *   endC          context C ends, whichever is current
 *   onC           from now on in context C, a hexadecimal number whose bits from the 12th on are the device
 * (40) makeG         makes graph G, see cuda.c: a hexadecimal number load (a module), graph (launches the
 * latest), capture, threadcapture (of the thread's default
 * stream), unload (a module), unloads (while other threads launch), collective (is captured), cooperative,
 * fault and badgraph (launches that fail), pause (most of a second), threads, gpus (a thread each, at the
 * same time), contexts (a hundred, one after the other), crowd (a hundred at a time), end (of the context),
 * exitbeside (another thread's launch), fork, kill, code7 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int (*kernel)(void *, const char *, uint32_t, uint32_t, double, void *);
static int (*graph_make)(void *, void *, void *);
static int (*graph_launch)(void *, void *, void *);
static int (*set_current)(void *);
static __thread uintptr_t context = 64;
static uintptr_t executable = 0x8000; /* of a graph that was made before anybody looked */
static int (*module_load)(void *);
static void (*module_unload)(void *);
static void (*context_end)(void *);

/* Names of kernels stay where they are for as long as their module. */
static const char *const kernels[] = {"scale", "reduce",          "ncclDevKernel_AllReduce",
                                      "heavy", "_Z5saxpyifPKfPf", "small"};

static void initialize_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH"), *driver = getenv("FAKE_CUDA");
    void *injected = driver && dlopen(driver, RTLD_NOW) && path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (injected)
        *(void **)&initialize = dlsym(injected, "InitializeInjection");
    if (initialize)
        initialize();
    void *cupti = dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW);
    if (!cupti)
        return;
    *(void **)&kernel = dlsym(cupti, "fake_kernel");
    *(void **)&graph_make = dlsym(cupti, "fake_graph_make");
    *(void **)&graph_launch = dlsym(cupti, "fake_graph_launch");
    *(void **)&set_current = dlsym(dlopen(driver, RTLD_NOW), "cuCtxSetCurrent");
    *(void **)&module_load = dlsym(cupti, "fake_module_load");
    *(void **)&module_unload = dlsym(cupti, "fake_module_unload");
    *(void **)&context_end = dlsym(cupti, "fake_context_end");
}

static void use(uintptr_t chosen)
{
    context = chosen;
    set_current((void *)context);
}

static void launch(long count, const char *name, uint32_t grid, uintptr_t stream)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (long n = 0; strcmp(kernels[i], name) == 0 && n < count; n++)
            kernel((void *)context, kernels[i], grid, 128, strcmp(name, "heavy") == 0 ? 1e6 : 1000,
                   (void *)stream);
}

static void *launch_many(void *name)
{
    use(64);
    launch(500, name, 3, 0);
    return NULL;
}

static void *launch_on_gpu(void *its)
{
    use((uintptr_t)its);
    launch(300, "scale", (uint32_t)(uintptr_t)its >> 12, 0);
    return NULL;
}

static void *unload_many(void *unused)
{
    use(64);
    for (int i = 0; i < 300; i++)
        module_unload((void *)context);
    return unused;
}

static void *launch_alone(void *name)
{
    use(64);
    launch(1, name, 6, 0);
    return NULL;
}

static void end_beside_a_launch(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, launch_alone, (void *)"reduce");
    nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
    puts("done");
    exit(0);
}

static void together(void *(*work)(void *), void *const arguments[4])
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, arguments[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void unload_beside_launches(void)
{
    pthread_t threads[2];
    launch(1, "scale", 3, 0);
    pthread_create(&threads[0], NULL, launch_many, (void *)"scale");
    pthread_create(&threads[1], NULL, unload_many, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void use_many_contexts(bool at_a_time)
{
    for (uintptr_t i = 0; i < 100; i++) {
        use(64 + 8 * i);
        launch(1, "scale", 1, 0);
        if (!at_a_time)
            context_end((void *)context);
    }
    use(64);
}

static void make_graph(uintptr_t graph)
{
    executable = (executable & ~(uintptr_t)0xffff) + 0x10000;
    graph_make((void *)context, (void *)graph, (void *)executable);
}

static bool do_number(const char *word)
{
    char name[64];
    long count;
    unsigned grid;
    unsigned long number;
    if (sscanf(word, "%ldx%63[^/]/%u", &count, name, &grid) == 3)
        launch(count, name, grid, 0);
    else if (sscanf(word, "on%lx", &number) == 1)
        use(number);
    else if (sscanf(word, "make%lx", &number) == 1)
        make_graph(number);
    else if (sscanf(word, "end%lx", &number) == 1)
        context_end((void *)number);
    else if (sscanf(word, "grids%lu", &number) == 1)
        for (grid = 1; grid <= number; grid++)
            launch(1, "scale", grid, 0);
    else
        return false;
    return true;
}

static void do_process(const char *word)
{
    if (strcmp(word, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    } else if (strcmp(word, "pause") == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 900 * 1000 * 1000}, NULL);
    } else if (strcmp(word, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(word, "code7") == 0) {
        exit(7);
    }
}

static void do_word(const char *word)
{
    if (do_number(word))
        return;
    if (strcmp(word, "load") == 0)
        module_load((void *)context);
    else if (strcmp(word, "graph") == 0)
        graph_launch((void *)context, (void *)executable, NULL);
    else if (strcmp(word, "exitbeside") == 0)
        end_beside_a_launch();
    else if (strcmp(word, "badgraph") == 0)
        graph_launch((void *)context, (void *)executable, (void *)6);
    else if (strcmp(word, "capture") == 0)
        launch(5, "scale", 9, 2);
    else if (strcmp(word, "threadcapture") == 0)
        launch(5, "scale", 9, 5);
    else if (strcmp(word, "unload") == 0)
        module_unload((void *)context);
    else if (strcmp(word, "unloads") == 0)
        unload_beside_launches();
    else if (strcmp(word, "collective") == 0)
        launch(1, "ncclDevKernel_AllReduce", 9, 2);
    else if (strcmp(word, "cooperative") == 0)
        launch(2, "reduce", 7, 4);
    else if (strcmp(word, "fault") == 0)
        launch(1, "scale", 0, 0);
    else if (strcmp(word, "threads") == 0)
        together(launch_many,
                 (void *const[]){(void *)"scale", (void *)"reduce", (void *)"scale", (void *)"reduce"});
    else if (strcmp(word, "gpus") == 0)
        together(launch_on_gpu,
                 (void *const[]){(void *)0x1040, (void *)0x2040, (void *)0x3040, (void *)0x4040});
    else if (strcmp(word, "contexts") == 0 || strcmp(word, "crowd") == 0)
        use_many_contexts(*word == 'c' && word[1] == 'r');
    else if (strcmp(word, "end") == 0)
        context_end((void *)context);
    else
        do_process(word);
}

int main(int argc, char **argv)
{
    initialize_cuda();
    if (!kernel || !set_current)
        return 1;
    use(64);
    for (int i = 1; i < argc; i++)
        do_word(argv[i]);
    puts("done");
    return 0;
}
