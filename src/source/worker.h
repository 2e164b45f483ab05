/* A process of our own that talks to a driver, so that a call which never returns stops nobody else.
 *
 * It is not a thread: a call that hangs in the kernel cannot be ended, and a process with such a thread does
 * not end either, so the shell would wait for it. It also keeps a vendor's library, its threads and its
 * crashes out of this process. The two speak over a SOCK_SEQPACKET pair. */
#ifndef WARPLIGHT_SOURCE_WORKER_H
#define WARPLIGHT_SOURCE_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed: there is none. */
struct worker {
    pid_t pid;                         /* 0: none, or it was given up */
    int fd;                            /* to it, while there is one */
    int64_t rest_ticks, rest_since_ns; /* of worker_is_stuck() */
};

/* Forks. name: what ps shows, at most 15 bytes. In the child, run(fd, context) does the work; the child
 * ends when it returns. Call it while this process has no other thread. False where it could not be started.
 */
bool worker_start(struct worker *w, const char *name, void (*run)(int fd, const void *context),
                  const void *context);
/* Whether it has been blocked for limit_ns without taking a moment of CPU time, or has taken more CPU time
 * than that since it started. One that only waits for a CPU is not stuck. Call it some times a second while
 * it owes an answer; now_ns: of CLOCK_MONOTONIC. */
bool worker_is_stuck(struct worker *w, int64_t now_ns, int64_t limit_ns);
/* Ends it, whatever it does. One that hangs in the kernel stays behind and is not waited for. */
void worker_give_up(struct worker *w);

#endif
