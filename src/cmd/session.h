/* A recording session: starts a program, takes what its processes record, does what signals and `ctl` ask,
 * and follows it to its end. One idea a file: where rows go is in recording.h, what the terminal shows in
 * progress.h, the conversation with `ctl` in source/control.h. */
#ifndef WARPLIGHT_CMD_SESSION_H
#define WARPLIGHT_CMD_SESSION_H

#include "cmd/progress.h"
#include "cmd/recording.h"
#include "source/collect.h"
#include "source/control.h"
#include "source/gpu_watch.h"
#include "source/slow_step.h"
#include "source/target.h"

struct session_options {
    struct recording_options recording;
    bool paused; /* record only once `ctl start` says so */
    bool torch_ops;
    bool graph_nodes; /* of CUDA graphs, rather than whole launches */
    bool no_memory;
    int64_t host_sampling_hz; /* looks at host threads a second, 0 none */
    /* With recording.keep_ns: a snapshot of each step that takes longer than the limit, or ratio × the
     * median. */
    const char *step; /* NULL: any */
    int64_t slow_ns;  /* 0: not given */
    double slow_ratio;
};

/* Snapshots that a slow step causes. */
struct automatic {
    int64_t due_ns;  /* when the one to come is written; 0: none */
    int64_t last_ns; /* when the last one was */
    int64_t count, left_out;
    struct str reason;
};

struct session {
    struct session_options options;
    struct target target;
    struct collect collect;
    struct gpu_watch gpus;
    struct control control;
    struct recording recording;
    struct run run;
    struct progress progress;
    struct slow_step_watch steps;
    struct automatic automatic;
    bool asked; /* for a snapshot, by a signal */
    uint32_t source;
    struct str command; /* line of the target */
    int64_t started_ns, flushed_ns;
};

/* Runs argv (NULL-terminated) to its end. After an error before it was started nothing is left behind; what
 * failed later (a full disk) leaves a recording that is readable. */
int session_run(struct session *s, const struct cli *cli, const struct session_options *options,
                char *const *argv, struct err *err);
void session_release(struct session *s);

#endif
