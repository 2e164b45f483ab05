/* What `top` itself costs: its own CPU time and memory, and that of its workers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/top_state.h"
#include "source/small_file.h"

struct cost {
    int64_t cpu_ns, bytes;
};

/* The CPU time of a process has a clock of its own, which counts in ns where /proc counts in ticks. */
static void add_process(struct cost *cost, pid_t pid)
{
    char text[128];
    int64_t pages;
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) == 0)
        cost->cpu_ns += clock_ns(clock);
    if (small_file_read(text, sizeof text, "/proc/%d/statm", (int)pid) > 0 &&
        sscanf(text, "%*d %" SCNd64, &pages) == 1)
        cost->bytes += pages * sysconf(_SC_PAGESIZE);
}

/* Workers are the only children. Kernels without the list (CONFIG_PROC_CHILDREN) tell of this process alone.
 */
static void add_workers(struct cost *cost)
{
    char text[512];
    int64_t own = getpid();
    if (small_file_read(text, sizeof text, "/proc/%" PRId64 "/task/%" PRId64 "/children", own, own) <= 0)
        return;
    char *end = text;
    for (long pid; (pid = strtol(end, &end, 10)) > 0;)
        add_process(cost, (pid_t)pid);
}

void top_own_read(struct top_own *own, struct top_view *view)
{
    const int64_t second = 1000000000, thousand = 1000;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    struct cost cost = {0};
    if (own->time_ns && now - own->time_ns < second)
        return;
    add_process(&cost, getpid());
    add_workers(&cost);
    /* A worker that has ended takes its time with it. */
    if (own->time_ns && cost.cpu_ns >= own->cpu_ns)
        view->own_cpu = reading_of((cost.cpu_ns - own->cpu_ns) * thousand / (now - own->time_ns));
    view->own_bytes = reading_of(cost.bytes);
    *own = (struct top_own){.cpu_ns = cost.cpu_ns, .time_ns = now};
}
