/* The floor of a sampler: asks NVML how GPUs are and writes a line about each, in one process, without
 * deadlines, rates, processes or a host: nvml_floor PERIOD_MS GPUS, until it is ended. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "source/nvml.h"

enum { MOST_GPUS = 64, MS_A_SECOND = 1000, SLOW_EVERY_MS = 1000 };

static void ask(const struct nvml *n, nvml_device device, enum nvml_depth depth)
{
    struct gpu_sample s;
    nvml_sample(n, device, depth, &s);
    printf("%lld,%lld,%lld,%lld\n", (long long)s.time_ns, (long long)s.power.value,
           (long long)s.sm_clock.value, (long long)s.memory_used.value);
}

int main(int count, char **arguments)
{
    struct nvml n;
    nvml_device devices[MOST_GPUS];
    long period = count == 3 ? strtol(arguments[1], NULL, 10) : 0;
    long gpus = count == 3 ? strtol(arguments[2], NULL, 10) : 0, found = 0;
    if (period < 1 || gpus < 1 || gpus > MOST_GPUS || nvml_open(&n, NULL) != READING_KNOWN)
        return 2;
    for (unsigned i = 0; i < gpus; i++)
        if (NVML_ASK(&n, by_index, i, &devices[found]) == NVML_OK)
            found++;
    const struct timespec pause = {.tv_sec = period / MS_A_SECOND, .tv_nsec = period % MS_A_SECOND * 1000000};
    for (long at = 0;; at += period) {
        for (long i = 0; i < found; i++)
            ask(&n, devices[i], at % SLOW_EVERY_MS < period ? NVML_FULL : NVML_LIGHT);
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
}
