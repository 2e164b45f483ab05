/* What the sampler and its workers say to each other: one packet a message, as the structs lie in memory;
 * both ends are the same program.
 *
 * The sampler sends a byte for each sample it wants. The worker may say that its library is open; it answers
 * with any number of devices, then of
 * processes (whose device is the row of the devices of this answer) and of events, and ends with what it is
 * itself. */
#ifndef WARPLIGHT_SOURCE_MACHINE_DRIVER_H
#define WARPLIGHT_SOURCE_MACHINE_DRIVER_H

#include "model/machine.h"

enum driver_message_kind { DRIVER_OPEN, DRIVER_DEVICE, DRIVER_PROCESS, DRIVER_EVENT, DRIVER_END };

struct driver_message {
    enum driver_message_kind kind;
    union {
        struct machine_device device;   /* parent: a row of this answer */
        struct machine_process process; /* what the driver knows of it: device, pid, type, readings */
        struct machine_event event;     /* time, code and bus */
        struct {
            enum reading_state state;
            char version[80];
        } end;
    };
};

struct driver_context {
    const char *root; /* prefix of /proc and /sys, "" none */
    bool no_processes, is_fresh;
};

/* Bounds what a worker, or a tree of files, can make us hold. */
enum { DRIVER_MOST_DEVICES = 256, DRIVER_MOST_PROCESSES = 16384 };

/* Waits for the next order. False: the other end is gone. */
bool driver_wait(int fd);
void driver_say(int fd, const struct driver_message *message);
void driver_end(int fd, enum reading_state state, const char *version);

/* The workers: obey until the other end closes. context is a struct driver_context. */
void machine_nvml_run(int fd, const void *context);
void machine_drm_run(int fd, const void *context);

/* CLOCK_MONOTONIC and CLOCK_REALTIME. */
int64_t driver_now_ns(void);
int64_t driver_unix_ns(void);

#endif
