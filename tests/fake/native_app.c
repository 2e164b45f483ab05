/* A program that keeps the GPU waiting in native code:
 *
 *   native-app static      in a function that only this file knows
 *   native-app exported    in one that its table of symbols for others has
 *   native-app library     in libc, called from a function of its own */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 12, BUSY_MS = 40, BYTES = 1 << 20 };

__attribute__((visibility("default"))) void shuffle_samples(void);

static void (*launch)(const char *, uint64_t);
static unsigned char from[BYTES], to[BYTES];
static volatile uint64_t result;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static __attribute__((noinline)) void prepare_batch(void)
{
    for (int64_t end = now_ms() + BUSY_MS; now_ms() < end;)
        for (uint64_t i = 0; i < 100000; i++)
            result = result * 31 + i;
}

__attribute__((noinline)) void shuffle_samples(void)
{
    for (int64_t end = now_ms() + BUSY_MS; now_ms() < end;)
        for (uint64_t i = 0; i < 100000; i++)
            result = result * 33 + i;
}

static void *(*volatile move)(void *, const void *, size_t) = memmove;

static __attribute__((noinline)) void copy_samples(void)
{
    for (int64_t end = now_ms() + BUSY_MS; now_ms() < end;)
        for (int i = 0; i < 10; i++)
            move(to, from, sizeof to);
    result += to[1];
}

static int initialize_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    void (*device)(void) = NULL;
    if (injected)
        *(void **)&initialize = dlsym(injected, "InitializeInjection");
    if (!initialize)
        return 1;
    initialize();
    void *cupti = dlopen(getenv("WARPLIGHT_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
    if (!cupti)
        return 1;
    *(void **)&launch = dlsym(cupti, "fake_launch");
    *(void **)&device = dlsym(cupti, "fake_device");
    device();
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    void (*work)(void) = strcmp(mode, "exported") == 0  ? shuffle_samples
                         : strcmp(mode, "library") == 0 ? copy_samples
                                                        : prepare_batch;
    if (initialize_cuda() != 0)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        launch("scale(float*, int)", 1000);
        work();
    }
    launch("scale(float*, int)", 1000);
    return 0;
}
