/* One run: everything that any source told about what the GPUs and the host did, in one shape.
 *
 * Life of a run: run_init(); sources and importers add rows in any order (records of a source carry no
 * order); run_seal() sorts, nests and links; from then on the run is read-only and analyses take it as const.
 *
 * Times are int64_t ns on one clock (see base/time.h). Texts are ids in run->strings; id 0 is "". Indices are
 * uint32_t rows of the named table, NONE where there is none. A number that the source did not give is
 * UNKNOWN (int64_t) or 0 where the comment says so. */
#ifndef WARPLIGHT_MODEL_RUN_H
#define WARPLIGHT_MODEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/profile.h"
#include "model/table.h"

/* ---- where things happen ------------------------------------------------------------------------------- */

enum vendor { VENDOR_UNKNOWN, VENDOR_NVIDIA, VENDOR_AMD, VENDOR_INTEL, VENDOR_META };

/* A device is one GPU (or MIG instance) as one source numbered it. Two files of one run that both speak of
 * "device 0" mean two devices unless their uuids are equal. Zero means "not known" in every numeric field. */
struct device {
    uint32_t source; /* index into run->sources */
    int64_t id;      /* the source's own number */
    uint32_t name;
    uint32_t uuid;
    enum vendor vendor;
    int32_t cc_major, cc_minor; /* compute capability (NVIDIA) */
    int32_t sm_count;           /* SMs or compute units */
    int32_t warp_size;
    int32_t max_threads_per_sm;
    int32_t max_blocks_per_sm;
    int32_t max_warps_per_sm;
    int32_t regs_per_sm;
    int64_t shared_bytes_per_sm;
    int64_t shared_bytes_per_block_optin;
    int64_t memory_bytes;
    int64_t memory_bandwidth_bytes_per_s;
    int64_t l2_bytes;
    int64_t clock_hz;
    /* set by run_seal(): this device's rows of run->ops, sorted by start, then end descending */
    uint32_t first_op, op_count;
    int64_t longest_op_ns; /* how far back of a moment an op that reaches it can have started */
};

struct process {
    uint32_t source;
    int64_t pid;
    uint32_t name;
    int32_t rank;       /* of a distributed job, -1 unknown */
    int32_t world_size; /* 0 unknown */
};

struct thread {
    uint32_t process;
    int64_t tid;
    uint32_t name;
    /* set by run_seal(): this thread's rows of run->spans, in pre-order (start up, end down) */
    uint32_t first_span, span_count;
};

struct stream {
    uint32_t process; /* NONE where the source does not say */
    uint32_t device;
    int64_t context; /* UNKNOWN where the source does not say */
    int64_t id;
    uint32_t name;
};

/* ---- what the GPU did ---------------------------------------------------------------------------------- */

enum op_kind { OP_KERNEL, OP_COPY, OP_MEMSET, OP_GRAPH /* a whole graph launch timed as one */ };

enum mem_kind { /* MEM_UNKNOWN is 0 so that an absent value is unknown */
                MEM_UNKNOWN,
                MEM_PAGEABLE,
                MEM_PINNED,
                MEM_DEVICE,
                MEM_ARRAY,
                MEM_MANAGED,
};

enum copy_dir {
    COPY_UNKNOWN,
    COPY_H2D,
    COPY_D2H,
    COPY_D2D,
    COPY_H2H,
    COPY_P2P,
    COPY_MANAGED_H2D,
    COPY_MANAGED_D2H,
    COPY_MANAGED_D2D
};

/* Launch configuration of kernels, interned: equal launches share one row. Zero where not known. */
struct shape {
    uint32_t grid[3], block[3], cluster[3];
    uint32_t regs_per_thread;
    uint32_t shared_static_bytes; /* where the source gives only the sum, it is in dynamic */
    uint32_t shared_dynamic_bytes;
    uint32_t local_bytes_per_thread;
    int32_t occupancy_percent; /* as the source estimated it; -1 unknown */
};

#define RUN_OPS(X)                                                                                           \
    X(int64_t, start)                                                                                        \
    X(int64_t, end)                                                                                          \
    X(int64_t, bytes)        /* copies and memsets; UNKNOWN for the rest */                                  \
    X(uint64_t, correlation) /* unique per process with the call that launched it; 0 none */                 \
    X(uint64_t, external)    /* the framework operator's own id; 0 none */                                   \
    X(uint32_t, name)                                                                                        \
    X(uint32_t, stream) /* run->streams */                                                                   \
    X(uint32_t, shape)  /* run->shapes; NONE for copies, memsets and where unknown */                        \
    X(uint32_t, call)   /* run->spans: the API call that launched it; set by run_seal(), else NONE */        \
    X(uint32_t, graph)  /* graph or graph-exec id for graph nodes and launches; 0 none */                    \
    X(uint32_t, comm)   /* run->comms: metadata of a collective, NONE */                                     \
    X(uint8_t, kind)    /* enum op_kind */                                                                   \
    X(uint8_t, dir)     /* enum copy_dir */                                                                  \
    X(uint8_t, src)     /* enum mem_kind */                                                                  \
    X(uint8_t, dst)     /* enum mem_kind */
TABLE_DECLARE(op_table, RUN_OPS)

/* What a collective moved, as the framework or NCCL said it. */
struct comm {
    uint32_t collective; /* name, e.g. "allreduce" */
    uint32_t group;      /* process group name or description */
    uint32_t ranks;      /* list of ranks as text */
    uint32_t dtype;
    int64_t in_elements, out_elements; /* UNKNOWN */
    int64_t group_size;                /* UNKNOWN */
    int64_t seq;                       /* UNKNOWN; equal on all ranks of one collective */
};

/* ---- what the host did --------------------------------------------------------------------------------- */

enum span_kind {
    SPAN_API,        /* runtime or driver call: CUDA, HIP, … */
    SPAN_OP,         /* framework operator (aten::mm) */
    SPAN_ANNOTATION, /* NVTX range, record_function, ROCTX */
    SPAN_PYTHON,     /* Python frame */
    SPAN_OS,         /* operating-system wait or I/O call */
    SPAN_OVERHEAD,   /* profiler or driver overhead: buffer flush, lazy loading, JIT */
    SPAN_OTHER,
    SPAN_NATIVE, /* function of a program or library; detail: the one inside it that ran */
};

#define RUN_SPANS(X)                                                                                         \
    X(int64_t, start)                                                                                        \
    X(int64_t, end)                                                                                          \
    X(uint64_t,                                                                                              \
      id) /* API: correlation. OP, ANNOTATION: external id. OS, PYTHON, NATIVE: model/sampled.h. */          \
    X(uint32_t, name)                                                                                        \
    X(uint32_t, thread) /* run->threads */                                                                   \
    X(uint32_t, parent) /* run->spans, innermost enclosing span of the thread; set by run_seal() */          \
    X(uint32_t, detail) /* text: category, domain, call stack (frames separated by ';'), or 0 */             \
    X(uint8_t, kind)    /* enum span_kind */                                                                 \
    X(uint32_t, comm)   /* run->comms: the collective that the ops launched within it are; NONE */
TABLE_DECLARE(span_table, RUN_SPANS)

/* Most spans around a moment of a thread, itself included: far above what Python's recursion limit allows. */
enum { RUN_DEPTH_MAX = 2048 };

/* ---- what else was seen -------------------------------------------------------------------------------- */

enum counter_unit { UNIT_NONE, UNIT_BYTES, UNIT_RATIO, UNIT_WATTS, UNIT_CELSIUS, UNIT_HZ, UNIT_BYTES_PER_S };

struct counter_series {
    uint32_t name;    /* "memory allocated", "memory reserved", "SM active", … */
    uint32_t device;  /* NONE: the host */
    uint32_t process; /* NONE: the whole device */
    enum counter_unit unit;
};

#define RUN_SAMPLES(X) X(int64_t, time) X(double, value) X(uint32_t, series)
TABLE_DECLARE(sample_table, RUN_SAMPLES)

enum mark_kind {
    MARK_INSTANT,
    MARK_DIAGNOSTIC,
    MARK_OOM,
    MARK_XID,
    MARK_THROTTLE,
    MARK_LOST,
    MARK_PAUSED, /* from here on nothing was recorded … */
    MARK_RESUMED /* … up to here */
};

struct mark {
    int64_t time;
    enum mark_kind kind;
    uint32_t text;
    uint32_t thread; /* NONE */
    uint32_t device; /* NONE */
};

/* A device-side wait: stream waits for an event recorded on on_stream, or the host for a stream. */
struct wait {
    int64_t start, end;
    uint32_t kind;      /* text as the source spells it */
    uint32_t stream;    /* NONE: the whole context */
    uint32_t on_stream; /* NONE */
};

/* ---- where it came from -------------------------------------------------------------------------------- */

struct repair {    /* something the importer had to mend or leave out, and how often */
    uint32_t text; /* English; translate when printed */
    int64_t count;
    int64_t first_offset; /* byte offset in the decompressed input of the first case, or -1 */
};

struct source {
    uint32_t path;
    uint32_t format;          /* "torch.profiler JSON", "nsys SQLite", … */
    uint32_t tool;            /* tool and version, or 0 */
    int64_t bytes;            /* size of the file as it lies on disk; UNKNOWN for a pipe */
    int64_t base_ns;          /* what was added to the file's times to get the run's clock */
    int32_t rank, world_size; /* -1, 0 unknown */
    VEC(struct repair) repairs;
};

/* Records that the sources had but the run could not use, or that the sources themselves say they lost. */
struct losses {
    int64_t dropped;   /* the recording tool said it dropped them */
    int64_t untimed;   /* start = end = 0, or an impossible time */
    int64_t unlinked;  /* GPU ops whose launching call is not in the run (set by run_seal()); managed memory
                        * that migrates has none */
    int64_t malformed; /* records that could not be understood */
    int64_t truncated_bytes; /* bytes at the end of a file after its last complete record */
};

struct fact { /* provenance: driver, CUDA, CUPTI, framework versions, command line, host, … */
    uint32_t source;
    uint32_t key; /* "cuda_driver_version" */
    uint32_t value;
};

struct run {
    struct intern strings;
    VEC(struct source) sources;
    VEC(struct device) devices;
    VEC(struct process) processes;
    VEC(struct thread) threads;
    VEC(struct stream) streams;
    VEC(struct shape) shapes;
    VEC(struct comm) comms;
    VEC(struct counter_series) series;
    VEC(struct mark) marks;
    VEC(struct wait) waits;
    VEC(struct fact) facts;
    struct op_table ops;
    struct span_table spans;
    struct sample_table samples;
    /* model/profile.h */
    VEC(struct kernel_profile) profiles;
    VEC(struct kernel_code) codes;
    VEC(struct advice) advices;
    VEC(struct code_image) images;
    VEC(struct source_file) source_files;
    struct counter_table counters;
    struct place_table places;
    struct place_counter_table place_counters;
    struct losses losses;
    bool sealed;
    /* look-up tables for the run_*() calls below */
    struct map by_device, by_process, by_thread, by_stream, by_shape;
};

void run_init(struct run *run);
void run_release(struct run *run);

/* Starts a source; what follows belongs to it. Returns its index. */
uint32_t run_add_source(struct run *run, const char *path, const char *format);
/* Counts one more repair of this text for the source. text must be an English msgid marked with N_(). */
void run_repair(struct run *run, uint32_t source, const char *text, int64_t count, int64_t offset);
void run_fact(struct run *run, uint32_t source, const char *key, const char *value, size_t value_length);

/* Find or add. A device, process, thread or stream is identified by the arguments given. */
uint32_t run_device(struct run *run, uint32_t source, int64_t id);
uint32_t run_process(struct run *run, uint32_t source, int64_t pid);
uint32_t run_thread(struct run *run, uint32_t process, int64_t tid);
uint32_t run_stream(struct run *run, uint32_t process, uint32_t device, int64_t context, int64_t id);
uint32_t run_shape(struct run *run, const struct shape *shape);
/* A kernel's code of which only its name is known yet; name: text. The address is valid until the next one.
 */
struct kernel_code *run_add_code(struct run *run, uint32_t source, uint32_t name);
uint32_t run_series(struct run *run, const char *name, uint32_t device, uint32_t process,
                    enum counter_unit unit);

/* Leaves out what lies at impossible times (model/stray.h) and graph launches that are there twice
 * (model/graphs.h), sorts ops by (device, start, end descending) and
 * spans by (thread, start, end descending), nests spans, links every op to its launching call by (process,
 * correlation), and sorts samples and marks by time. Kernels that were launched within a span with a
 * collective get it. Overlapping spans that do not nest (a child that ends up to a few ns after its parent)
 * keep their times; the parent is the innermost span that contains the child's start. Indices handed out by
 * table_add() before are invalid afterwards. */
void run_seal(struct run *run);

static inline const char *run_text(const struct run *run, uint32_t id)
{
    return intern_text(&run->strings, id);
}
static inline uint32_t run_op_device(const struct run *run, size_t op)
{
    return run->streams.at[run->ops.stream[op]].device;
}

#endif
