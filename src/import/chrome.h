/* What the parts of the Chrome trace importer share. Only chrome_*.c includes this.
 *
 *   chrome_json.c     the document: top-level members, the list of events, recovery from damage
 *   chrome_event.c    one event as texts             chrome_time.c   µs text → ns
 *   chrome_metadata.c deviceProperties, distributedInfo, versions
 *   chrome_lane.c     pid and tid → processes, threads, GPU queues, and their names
 *   chrome_torch.c    events of torch.profiler, by category
 *   chrome_generic.c  events of anyone else, by phase
 *   chrome_lanes_gpu.c  which of those rows a TensorFlow or XLA trace means as GPU work */
#ifndef WARPLIGHT_IMPORT_CHROME_H
#define WARPLIGHT_IMPORT_CHROME_H

#include "base/json.h"
#include "import/chrome_event.h"
#include "import/import.h"
#include "model/run.h"

/* Where GPU work was done, as one file says it. op_table.stream and wait.stream hold the index of one of
 * these until chrome_lane_finish() knows which process it belongs to. */
struct chrome_queue {
    int64_t device, context, stream;
};

/* A name that a metadata event gave. */
struct chrome_label {
    int64_t pid, tid;
    uint32_t name;
};

/* GPU details of an event whose lane is not known to be a GPU's yet. */
struct chrome_hint {
    uint32_t span;
    uint32_t shape; /* NONE */
    int64_t bytes;  /* UNKNOWN */
    uint8_t dir, src, dst;
};

struct chrome_open_span { /* a B or b event that waits for its E or e */
    uint32_t span;
    uint32_t below; /* the next one of the same lane, counted from 1; 0: none */
};

/* A launch call that says how it launched (ROCm), for kernels that do not. */
struct chrome_launch {
    uint64_t correlation;
    uint32_t thread;
    uint32_t shape;
};

/* run_series() looks at every series, and files may invent any number. */
enum { CHROME_SERIES_MAX = 10000 };

struct chrome_memory_series {
    uint32_t allocated, reserved;
    int64_t sum; /* of changes, where a file gives no totals */
};

struct chrome {
    struct run *run;
    uint32_t source;
    const struct import_options *options;
    struct json_reader json;
    struct chrome_event_reader reader;
    struct chrome_words categories;
    struct chrome_words metadata_keys, device_keys;

    int64_t base_ns;      /* what the rows below already include */
    int64_t file_base_ns; /* what the file says */
    /* rows of this source begin here */
    size_t first_op, first_span, first_sample, first_mark, first_wait, first_device;

    int64_t torch_events; /* events with a category of torch.profiler */
    bool tensorflow, xla; /* lanes of these were found */
    enum vendor vendor;
    int32_t rank, world_size;

    VEC(struct chrome_queue) queues;
    struct map queue_index;
    uint32_t last_queue;
    VEC(struct chrome_label) process_labels, thread_labels;
    struct map process_label_index; /* pid → process_labels */
    struct map thread_label_index;  /* hash of pid and tid → thread_labels, probed upwards */
    int64_t last_pid, last_tid;
    uint32_t last_thread;      /* of last_pid and last_tid, or NONE */
    VEC(uint32_t) stray_spans; /* profiler overhead without a process */
    VEC(int64_t) stray_tids;

    VEC(struct chrome_launch) launches;
    VEC(struct comm) op_comms; /* collectives as operators gave them… */
    struct map op_comm_index;  /* …by external id */
    VEC(struct chrome_memory_series) memory;
    struct map memory_index; /* hash of pid, device type and device */

    VEC(struct chrome_hint) hints;
    VEC(struct chrome_open_span) open;
    struct map open_stacks; /* lane → top of its stack in open */
    struct map counters;    /* lane and name → series */
};

/* ---- chrome_metadata.c --------------------------------------------------------------------------------- */

void chrome_metadata_init(struct chrome *c);
/* Whether the value of this top-level member is wanted, so that it is worth holding. */
bool chrome_metadata_known(const struct chrome *c, struct json_text key, enum json_type type);
/* Reads that value. */
void chrome_metadata_read(struct chrome *c, struct json_reader *json, struct json_text key);
/* Once everything is read: device properties, vendor, rank. */
void chrome_metadata_finish(struct chrome *c);

/* ---- chrome_lane.c ------------------------------------------------------------------------------------- */

/* The number in a pid or tid, or a negative number that stands for its text. */
int64_t chrome_lane_id(struct chrome *c, struct json_text text);
uint32_t chrome_thread(struct chrome *c, const struct chrome_event *event);
uint32_t chrome_queue(struct chrome *c, int64_t device, int64_t context, int64_t stream);
/* The last whole number in a text ("stream 7"), or otherwise. */
int64_t chrome_last_number(struct json_text text, int64_t otherwise);
/* An M event. */
void chrome_label(struct chrome *c, const struct chrome_event *event);
/* The name of a process or thread: the id of what an M event said, of its own text, or 0. */
uint32_t chrome_process_name(const struct chrome *c, int64_t pid);
uint32_t chrome_thread_name(const struct chrome *c, int64_t pid, int64_t tid);
/* Gives queues their process and everything its name. */
void chrome_lane_finish(struct chrome *c);

/* ---- chrome_torch.c ------------------------------------------------------------------------------------ */

void chrome_torch_init(struct chrome *c);
/* False if the event is none of torch.profiler's. */
bool chrome_torch_event(struct chrome *c, const struct chrome_event *event);
void chrome_torch_finish(struct chrome *c);
void chrome_torch_release(struct chrome *c);
/* Direction and memory kinds from names such as "Memcpy HtoD (Pageable -> Device)" or "MEMCPYDtoH". */
void chrome_copy_kinds(struct json_text name, uint8_t *dir, uint8_t *src, uint8_t *dst);

/* ---- chrome_generic.c ---------------------------------------------------------------------------------- */

void chrome_generic_event(struct chrome *c, const struct chrome_event *event);
void chrome_generic_finish(struct chrome *c);
/* Start and end of an X event on the run's clock. Counts what is wrong with them; false: the event has no
 * usable time. zero_is_unset: start = duration = 0 means that nobody took the time. */
bool chrome_interval(struct chrome *c, const struct chrome_event *event, bool zero_is_unset,
                     struct interval *out);
/* The same for events with one moment. */
bool chrome_moment(struct chrome *c, const struct chrome_event *event, int64_t *time);
uint32_t chrome_name(struct chrome *c, struct json_text text);
void chrome_add_sample(struct chrome *c, int64_t time, uint32_t series, double value);
size_t chrome_add_span(struct chrome *c, enum span_kind kind, uint32_t name, uint32_t thread,
                       struct interval at);

/* ---- chrome_lanes_gpu.c -------------------------------------------------------------------------------- */

/* Turns host spans of lanes that are GPU lanes into ops, and drops those that only repeat or sum up others.
 */
void chrome_lanes_gpu_finish(struct chrome *c);

#endif
