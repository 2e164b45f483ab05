/* A process that is watched: found in /proc and known to be the one that is recorded. */
#ifndef WARPLIGHT_SOURCE_HOST_PROCESS_H
#define WARPLIGHT_SOURCE_HOST_PROCESS_H

#include "source/python_frames.h"

enum host_access {
    HOST_ACCESS,
    HOST_ACCESS_NOT_FOUND, /* no such process here, or it is another one: perhaps of another PID namespace */
    HOST_ACCESS_REFUSED,   /* ptrace(2), "Ptrace access mode checking" */
};

struct host_process {
    uint32_t process;   /* of the run */
    int folder, memory; /* descriptors of /proc/PID and its mem */
    bool has_python, unknown_python;
    struct python_reader python;
};

/* Opens the process if it has mapped a file of that name. memory and texts are the caller's, for its Python
 * reader; memory->fd is to be set to p->memory before each use. */
enum host_access host_process_open(struct host_process *p, int64_t pid, const char *mapped,
                                   struct remote_memory *memory, struct intern *texts);
void host_process_close(struct host_process *p);

#endif
