/* What the parts of the nsys importer share: one import in progress, and how its keys map to rows of the run.
 * Tables and columns are those of doc/formats/nsys-sqlite.md.
 *
 * Order of reading: nsys_read_target() first (clock, strings, devices), nsys_read_api() before
 * nsys_read_gpu() (a kernel without a process takes the only one known), nsys_read_names() last. */
#ifndef WARPLIGHT_IMPORT_NSYS_H
#define WARPLIGHT_IMPORT_NSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/nsys_db.h"
#include "model/run.h"

#define NSYS_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* CUPTI spells "none" as all ones in 32 bits. */
#define NSYS_NONE ((int64_t)UINT32_MAX)

/* A row of TARGET_INFO_GPU on which CUDA can run. */
struct nsys_gpu {
    int64_t id;        /* what gpuId refers to */
    int64_t cu_device; /* CUDA ordinal of a process that sees every GPU, -1 unknown */
    uint32_t device;   /* run->devices */
};

/* A direct-mapped cache: rows come in runs of the same thread or stream. */
enum { NSYS_CACHE = 256 };

struct nsys_thread_slot {
    uint64_t key;
    uint32_t thread;
    bool used;
};

struct nsys_stream_slot {
    int64_t global_pid, device, context, stream;
    uint32_t row;
    bool used;
};

struct nsys {
    struct run *run;
    uint32_t source;
    struct nsys_db db;
    const struct import_options *options;
    size_t max_string;
    int64_t base_ns;
    int64_t duration_ns;  /* of the recording, on the file's clock; UNKNOWN */
    int64_t last_ns;      /* latest end of any record so far, on the run's clock; UNKNOWN */
    struct map strings;   /* StringIds.id → run->strings */
    struct map api_names; /* the same for API calls, version suffix removed */
    struct map cuda_gpus; /* hash of (pid, CUDA ordinal) → index into gpus */
    VEC(struct nsys_gpu) gpus;
    struct nsys_thread_slot threads[NSYS_CACHE];
    struct nsys_stream_slot streams[NSYS_CACHE];
    int64_t bytes_told; /* to options->progress */
};

/* ---- the parts, one file each -------------------------------------------------------------------------- */

void nsys_read_target(struct nsys *n);      /* nsys_target.c: export and session facts, StringIds, devices */
void nsys_read_api(struct nsys *n);         /* nsys_host.c: CUDA calls, OS calls, overhead, library calls */
void nsys_read_nvtx(struct nsys *n);        /* nsys_nvtx.c */
void nsys_read_gpu(struct nsys *n);         /* nsys_gpu.c: kernels, copies, memsets, graphs */
void nsys_read_waits(struct nsys *n);       /* nsys_wait.c: synchronisation and the events waited for */
void nsys_read_counters(struct nsys *n);    /* nsys_counter.c: device memory in use, sampled GPU metrics */
void nsys_read_diagnostics(struct nsys *n); /* nsys_diagnostic.c */
void nsys_read_names(struct nsys *n);       /* nsys_names.c: processes, threads, streams, ranks */

/* Call stacks (nsys_stack.c): callchainId → text in run->strings, frames separated by ';', innermost
 * first. Empty where the table is absent. The caller releases the map. */
struct map nsys_read_stacks(struct nsys *n, const char *table);

/* ---- cells and keys (nsys_row.c) ----------------------------------------------------------------------- */

/* Reads the time span of a row onto the run's clock. false: the row has none, or an impossible one, and was
 * counted as untimed or malformed. */
bool nsys_interval(struct nsys *n, struct nsys_scan *scan, int start, int end, struct interval *out);
/* The same for a point in time. */
bool nsys_time(struct nsys *n, struct nsys_scan *scan, int column, int64_t *out);
/* Interns a text cell, cut at max_string. 0 for a cell that is no text. */
uint32_t nsys_text(struct nsys *n, struct nsys_scan *scan, int column);
/* A reference to StringIds, or the text itself where an export holds it in place. An id that StringIds lacks
 * becomes the text "StringIds[ID]". 0 for NULL. */
uint32_t nsys_name(struct nsys *n, struct nsys_scan *scan, int column);
/* An API call's name without the version that nsys appends: cudaMalloc_v3020 → cudaMalloc. */
uint32_t nsys_api_name(struct nsys *n, struct nsys_scan *scan, int column);

/* pid and tid of the serialized ids globalPid and globalTid. */
static inline int64_t nsys_pid(int64_t global)
{
    return (int64_t)((uint64_t)global >> 24 & 0xffffff);
}
static inline int64_t nsys_tid(int64_t global)
{
    return (int64_t)((uint64_t)global & 0xffffff);
}
/* Key of (pid, tid) alone, without the bits of the host. */
static inline uint64_t nsys_thread_key(int64_t global)
{
    return (uint64_t)global & 0xffffffffffff;
}

uint32_t nsys_thread(struct nsys *n, int64_t global_tid);
/* The thread of a globalTid cell, or NONE for a row without one, counted as malformed. */
uint32_t nsys_row_thread(struct nsys *n, struct nsys_scan *scan, int column);
/* The process of a globalPid cell; the only process of the file where the cell is NULL; else NONE. */
uint32_t nsys_row_process(struct nsys *n, struct nsys_scan *scan, int column);
/* The device that a process calls number cuda_id (nsys_target.c). process may be NONE. */
uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t cuda_id);
/* The device with this TARGET_INFO_GPU.id (nsys_target.c). */
uint32_t nsys_gpu_device(struct nsys *n, int64_t gpu_id);
/* The stream of a row's deviceId, contextId, streamId and globalPid, in four columns from first on. Work on
 * no stream (migrations of managed memory) is on stream -1. NONE for a row without a device: malformed. */
uint32_t nsys_row_stream(struct nsys *n, struct nsys_scan *scan, int first);
#define NSYS_STREAM_COLUMNS "deviceId", "contextId", "streamId", "globalPid"

static inline void nsys_see_end(struct nsys *n, int64_t end)
{
    if (n->last_ns == UNKNOWN || end > n->last_ns)
        n->last_ns = end;
}

/* Appends a span and returns its row. */
size_t nsys_add_span(struct nsys *n, enum span_kind kind, struct interval when, uint32_t thread,
                     uint32_t name, uint32_t detail);
/* Empty values are no facts. */
void nsys_fact(struct nsys *n, const char *key, const char *value, size_t length);
void nsys_repair(struct nsys *n, const char *text, int64_t count);

#endif
