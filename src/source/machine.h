/* The sampler: what the machine, its GPUs and their processes do, over and over.
 *
 *     struct machine *m = machine_open(&(struct machine_options){0});
 *     for (;;) { machine_ask(m); …wait on machine_fd()s or until the deadline…; machine_take(m); }
 *
 * Every driver interface is asked in a worker process of its own (source/worker.h), because a call can hang
 * in the kernel for good, and a vendor's library can crash. One that does not answer before the deadline
 * leaves its devices' readings as they were, marked stale; it is ended and, later, tried again; everything
 * else stays live.
 *
 * No GPU is woken: NVML is opened only while every NVIDIA GPU of the machine is awake, and files of a GPU are
 * read only while it is. Details: doc/internals/sampling.md. */
#ifndef WARPLIGHT_SOURCE_MACHINE_H
#define WARPLIGHT_SOURCE_MACHINE_H

#include <stdbool.h>

#include "model/machine.h"

struct machine_options {
    const char *root;  /* prefix of /sys and /proc, of a recorded tree; NULL: this machine. Sysfs alone can be
                        * moved by WARPLIGHT_SYSFS, as for source/pci.h */
    bool is_fresh;     /* asks for every value at every sample, also for those that take the driver ms */
    bool no_processes; /* leaves processes out: the costliest part of a sample */
    int64_t deadline_ns; /* of a driver's answer; 0: 1 s. Opening a driver may take ten times as long */
    int64_t stuck_ns;    /* a driver that owes its first answer and has been stuck for so long
                          * (worker_is_stuck())    hangs; 0: only the deadline decides */
    bool may_start_gpus; /* nobody has a GPU open, so that the driver may have to start them: once its library
                          * is open it may be stuck five times as long */
};

struct machine;

/* Starts the workers. Call it while this process has no other thread. Never fails: what could not be started
 * is said so in the samples. */
struct machine *machine_open(const struct machine_options *options);
void machine_close(struct machine *m);

/* Asks the drivers for the next sample; those that still owe an answer are not asked again. Never blocks. */
void machine_ask(struct machine *m);
/* Takes answers that are there. True when all that were asked have answered or missed the deadline: time for
 * machine_take(). Never blocks on a driver. */
bool machine_poll(struct machine *m);
/* What to poll() for reading before the next machine_poll(): fills at most MACHINE_DRIVERS descriptors and
 * returns how many; *wait_ms: how long at most, 0 where machine_poll() would be true already. */
int machine_fds(const struct machine *m, int fds[MACHINE_DRIVERS], int *wait_ms);
/* Completes a sample with the host and with what is known of processes. The result is the sampler's and good
 * until the next call. It can be called without waiting: late devices are then those of before, marked
 * stale. */
const struct machine_sample *machine_take(struct machine *m);

/* When the process of that number started, as samples say it: a signal is for it alone. UNKNOWN where there
 * is none. */
int64_t machine_process_started(const struct machine *m, int64_t pid);

/* All of the above: asks, waits for the answers or the deadline, takes. */
const struct machine_sample *machine_read(struct machine *m);

#endif
