/* A program that "uses CUDA": loads what CUDA_INJECTION64_PATH names, as the driver does in cuInit(), then
 * launches.
 *
 *   app LAUNCHES [how it ends]: exit (default), kill, abort, _exit, segfault, code7, fork, sleep,
 *   take-over (another profiler registers, then half as many launches again) */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void (*device)(void);
static void (*launch)(const char *, uint64_t);
static void (*copy)(uint64_t);
static int (*flush)(uint32_t);
static void (*take_over)(void);

static void initialize_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (injected)
        *(void **)&initialize = dlsym(injected, "InitializeInjection");
    if (initialize)
        initialize();
    void *cupti = dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
    if (!cupti)
        return;
    *(void **)&device = dlsym(cupti, "fake_device");
    *(void **)&launch = dlsym(cupti, "fake_launch");
    *(void **)&copy = dlsym(cupti, "fake_copy");
    *(void **)&take_over = dlsym(cupti, "fake_take_over");
    *(void **)&flush = dlsym(cupti, "cuptiActivityFlushAll");
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

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    const char *how = argc > 2 ? argv[2] : "exit";
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
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork(); /* a worker that goes on without CUDA and leaves by exit() */
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
        work(count);
    }
    puts("done");
    return 0;
}
