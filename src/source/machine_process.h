/* Who a process on a GPU is, from /proc: its start, user, command, container, pod and job. */
#ifndef WARPLIGHT_SOURCE_MACHINE_PROCESS_H
#define WARPLIGHT_SOURCE_MACHINE_PROCESS_H

#include <stdbool.h>

#include "base/hash.h"
#include "model/machine.h"

/* What the path of a control group says. Containers of Docker, containerd, CRI-O, Podman and LXC, Kubernetes
 * pods and Slurm steps, with cgroup versions 1 and 2 and both of Kubernetes' drivers. text: of
 * /proc/PID/cgroup. Sets container, pod and job. */
void machine_process_cgroup(const char *text, struct machine_process *process);

struct machine_known; /* a process that was looked at before */

struct machine_people {
    const char *proc;   /* "/proc" or a recorded one */
    bool own_namespace; /* we are in a PID namespace of our own: a driver's pid may be of another */
    int64_t boot_unix_ns, ticks_per_second;
    VEC(struct machine_known *) known;
    struct map by_pid; /* → known */
};

void machine_people_open(struct machine_people *people, const char *proc);
void machine_people_close(struct machine_people *people);
/* When the process of that number started; UNKNOWN where there is none. */
int64_t machine_people_started(const struct machine_people *people, int64_t pid);
/* Completes the processes of a sample, and leaves out those that ended since the driver listed them. Within a
 * namespace of our own a number is the driver's only if its process holds a device file, or has just closed
 * its files because it ends. now_ns: CLOCK_MONOTONIC. */
void machine_people_complete(struct machine_people *people, struct machine_sample *sample, int64_t now_ns);

#endif
