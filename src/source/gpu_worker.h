/* The process that talks to the driver for a recording, and what it says. One packet a message, as the
 * structs lie in memory: both ends are the same program. */
#ifndef WARPLIGHT_SOURCE_GPU_WORKER_H
#define WARPLIGHT_SOURCE_GPU_WORKER_H

#include "model/machine.h"

enum gpu_command_kind {
    GPU_COMMAND_WATCH, /* the target uses this GPU: say what it is, and how it is from now on */
    GPU_COMMAND_FINISH /* say how all watched ones are, and what their driver told of last, and end */
};

struct gpu_command {
    enum gpu_command_kind kind;
    char uuid[GPU_UUID_BYTES];
};

enum gpu_message_kind {
    GPU_MESSAGE_LIBRARY, /* once, when the library has been opened or could not be */
    GPU_MESSAGE_FACTS,
    GPU_MESSAGE_SAMPLE,
    GPU_MESSAGE_XID,     /* the driver told of one, of a GPU that is watched or only known */
    GPU_MESSAGE_MISSING, /* this GPU cannot be asked: state says why */
};

struct gpu_library {
    enum reading_state state;
    char driver[80];
    struct reading cuda;
};

struct gpu_message {
    enum gpu_message_kind kind;
    enum reading_state state; /* of GPU_MESSAGE_MISSING */
    char uuid[GPU_UUID_BYTES];
    union {
        struct gpu_library library;
        struct gpu_facts facts;
        struct {
            struct gpu_sample sample;
            struct machine_detail detail; /* nvml_rates(); READING_UNREAD of a GPU that is not watched */
        };
        struct {
            int64_t time_unix_ns, code;
        } xid;
    };
};

enum { GPU_WORKER_PERIOD_MS = 200, GPU_WORKER_XID_MS = 50 /* between looks for Xids: some µs each */ };

/* Obeys until GPU_COMMAND_FINISH or until the other end closes. Where all GPUs are awake, looks at each once
 * before it is asked to, so that there are values from before the target began, and an Xid is not missed of a
 * target that dies before anything is known of it. */
void gpu_worker_run(int fd);

#endif
