/* The host's own load, from /proc (proc(5)). */
#ifndef WARPLIGHT_SOURCE_MACHINE_HOST_H
#define WARPLIGHT_SOURCE_MACHINE_HOST_H

#include "model/machine.h"

/* CPU time so far, in ticks. Zeroed: not looked yet. */
struct machine_cpu {
    int64_t total, idle, wait;
};

/* proc: "/proc" or a recorded one. before is replaced by what the CPUs' times are now. */
void machine_host_read(const char *proc, struct machine_cpu *before, struct machine_host *host);

#endif
