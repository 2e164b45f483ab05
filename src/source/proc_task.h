/* What a thread of another process is doing right now, from /proc/PID/task/TID (proc(5)): whether it runs or
 * waits, in which system call and on which file, and how much time the kernel's accounts give it so far.
 *
 * Everything is relative to an open descriptor of /proc/PID, which never leads to another process that gets
 * the same pid. */
#ifndef WARPLIGHT_SOURCE_PROC_TASK_H
#define WARPLIGHT_SOURCE_PROC_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

enum { PROC_NAME_BYTES = 64, PROC_CALL_ARGS = 6 };

/* The name of a thread as it was set; false if it has gone. out is terminated. */
bool proc_task_name(int64_t pid, int64_t tid, char out[PROC_NAME_BYTES]);

struct proc_task {
    uint32_t tid;
    int accounts, call; /* descriptors of its schedstat and syscall */
};

enum proc_state {
    PROC_RUNS,  /* or is ready to */
    PROC_CALL,  /* waits in a system call */
    PROC_FAULT, /* waits for memory: a page comes from disk */
    PROC_GONE,  /* has ended, or may not be looked at any more */
};

struct proc_accounts {
    int64_t run_ns;   /* on a CPU; of a thread that runs: as of the last tick of the scheduler */
    int64_t delay_ns; /* ready, but waiting for a CPU; counted when it gets one */
    int64_t slices;   /* times that it got one: while this stays, a thread that waits has not run */
};

/* process: a descriptor of /proc/PID. Returns 0, or errno of what could not be opened. */
int proc_task_open(struct proc_task *t, int process, uint32_t tid);
void proc_task_close(struct proc_task *t);
/* False where the kernel keeps no such accounts. */
bool proc_task_accounts(const struct proc_task *t, struct proc_accounts *accounts);
/* number and args are filled in for PROC_CALL. */
enum proc_state proc_task_state(const struct proc_task *t, int process, int64_t *number,
                                uint64_t args[PROC_CALL_ARGS]);

/* What is to be said about a system call: its name as libc spells it, and where it names its file. */
enum proc_file { PROC_NO_FILE, PROC_FD_0, PROC_FD_1, PROC_PATH_0, PROC_PATH_1 };
const char *proc_call_name(int64_t number, enum proc_file *file);
/* Adds what descriptor fd of the process is open on: a path, "socket", "pipe", …, with control characters
 * made visible. Nothing if it cannot be told. */
void proc_fd_path(int process, uint64_t fd, struct str *out);

#endif
