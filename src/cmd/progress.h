/* The line on the terminal while a program is recorded: how it goes, once a second. */
#ifndef WARPLIGHT_CMD_PROGRESS_H
#define WARPLIGHT_CMD_PROGRESS_H

#include "cmd/command.h"
#include "model/run.h"

/* Of one device: up to where its ops are counted. */
struct progress_device {
    int64_t covered_ns;
};

struct progress_op {
    int64_t start, end;
    uint32_t device;
};

struct progress {
    const struct cli *cli;
    bool live; /* standard error is a terminal, and progress is wanted */
    bool shown;
    int64_t since_ns; /* the figures below are from here on */
    int64_t launches, busy_ns;
    VEC(struct progress_device) devices;
    VEC(struct progress_op) ops; /* of one call, sorted */
};

/* What the line says besides. */
struct progress_facts {
    int64_t elapsed_ns, processes, dropped, bytes;
    bool paused, keeps; /* bytes are in memory, not in the file */
};

void progress_open(struct progress *p, const struct cli *cli);
/* Counts the ops of the run from row `first` on. Busy is the union of a device's ops; what comes later and
 * lies earlier is not counted, so that nothing has to be kept. */
void progress_add(struct progress *p, const struct run *run, size_t first);
/* One line that fits the terminal; the figures start anew. */
void progress_show(struct progress *p, const struct progress_facts *facts);
/* Takes the line away, so that something else can be said. */
void progress_erase(struct progress *p);
void progress_release(struct progress *p);

#endif
