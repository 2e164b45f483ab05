/* What the kernel tells about the users of a graphics card, in /proc/PID/fdinfo (the kernel's
 * Documentation/gpu/drm-usage-stats.rst): time on engines, and memory. */
#ifndef WARPLIGHT_SOURCE_FDINFO_H
#define WARPLIGHT_SOURCE_FDINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/gpu.h"

enum fdinfo_engine {
    FDINFO_RENDER, /* graphics and compute; of several engines the busiest */
    FDINFO_COMPUTE,
    FDINFO_COPY,
    FDINFO_DECODE,
    FDINFO_ENCODE,
    FDINFO_JPEG,
    FDINFO_ENGINES
};

/* How an engine counts. Busy time in ns; or cycles, of which there were total so far. */
struct fdinfo_use {
    bool known;
    int64_t busy, total; /* total 0: busy is in ns */
    int64_t capacity;    /* engines of this kind */
};

struct fdinfo_client {
    int64_t pid, client;
    char bus[GPU_BUS_BYTES];
    struct fdinfo_use use[FDINFO_ENGINES];
    int64_t memory; /* resident on the card, or in system memory where it has none; UNKNOWN */
};

typedef VEC(struct fdinfo_client) fdinfo_list;

/* Parses one file. False where it is no client of a card. */
bool fdinfo_parse(const char *text, struct fdinfo_client *client);
/* Every client of every process below proc ("/proc" or a recorded one) that we may look at; one that several
 * descriptors or processes share is there once. */
void fdinfo_read(const char *proc, fdinfo_list *list);
/* The share of an engine's time between two states, in permille; unknown where it cannot be told. */
struct reading fdinfo_share(const struct fdinfo_use *before, const struct fdinfo_use *after,
                            int64_t elapsed_ns);

#endif
