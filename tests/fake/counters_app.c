/* A program that launches kernels, for tests of counters: counters_app [WORD…], one word a thing to do:
 *
 *   N×NAME/GRID   N launches of NAME with that grid and 128 threads a block
 *   load (a module), graph, capture, fault (a launch that fails), pause (half a second), threads, end (of the
 * context), fork, kill, code7 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int (*kernel)(void *, const char *, uint32_t, uint32_t, double, void *);
static int (*graph)(void *);
static int (*module_load)(void *);
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
    *(void **)&graph = dlsym(cupti, "fake_graph_launch");
    *(void **)&module_load = dlsym(cupti, "fake_module_load");
    *(void **)&context_end = dlsym(cupti, "fake_context_end");
}

static void launch(long count, const char *name, uint32_t grid, uintptr_t stream)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (long n = 0; strcmp(kernels[i], name) == 0 && n < count; n++)
            kernel((void *)64, kernels[i], grid, 128, strcmp(name, "heavy") == 0 ? 1e6 : 1000,
                   (void *)stream);
}

static void *launch_many(void *name)
{
    launch(500, name, 3, 0);
    return NULL;
}

static void do_word(const char *word)
{
    char name[64];
    long count;
    unsigned grid;
    if (sscanf(word, "%ldx%63[^/]/%u", &count, name, &grid) == 3) {
        launch(count, name, grid, 0);
    } else if (strcmp(word, "load") == 0) {
        module_load((void *)64);
    } else if (strcmp(word, "graph") == 0) {
        graph((void *)64);
    } else if (strcmp(word, "capture") == 0) {
        launch(5, "scale", 9, 2);
    } else if (strcmp(word, "fault") == 0) {
        launch(1, "scale", 0, 0);
    } else if (strcmp(word, "pause") == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 900 * 1000 * 1000}, NULL);
    } else if (strcmp(word, "threads") == 0) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, launch_many, (void *)(uintptr_t)kernels[i % 2]);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    } else if (strcmp(word, "end") == 0) {
        context_end((void *)64);
    } else if (strcmp(word, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    } else if (strcmp(word, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(word, "code7") == 0) {
        exit(7);
    }
}

int main(int argc, char **argv)
{
    initialize_cuda();
    if (!kernel)
        return 1;
    for (int i = 1; i < argc; i++)
        do_word(argv[i]);
    puts("done");
    return 0;
}
