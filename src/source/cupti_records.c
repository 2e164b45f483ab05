#include "source/cupti_records.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "capture/activity.h"
#include "source/cupti_nvtx.h"
#include "source/proc_task.h"

static const int64_t day_ns = 86400 * INT64_C(1000000000);

/* ---- times and threads ----------------------------------------------------------------------------------
 */

/* CUPTI counts from the epoch on Linux, but not in every version and not on WSL: the first record tells. */
static int64_t shift(struct cupti_records *r, uint64_t time)
{
    if (r->shift_ns == UNKNOWN) {
        int64_t ahead = clock_ns(CLOCK_REALTIME) - (int64_t)time;
        bool since_epoch = ahead > -day_ns && ahead < day_ns;
        int64_t real = r->realtime_ns, cupti = r->cupti_ns;
        bool sane = real >= 0 && real < RING_LATEST_NS && cupti >= 0 && cupti < RING_LATEST_NS;
        r->shift_ns = since_epoch || !sane ? 0 : real - cupti;
    }
    return r->shift_ns;
}

/* Fills start and end; false for a record without time, which is counted. */
static bool times(struct cupti_records *r, struct run *run, uint64_t start, uint64_t end,
                  struct interval *out)
{
    if (start == 0 || end < start || end > (uint64_t)RING_LATEST_NS) {
        run->losses.untimed++;
        return false;
    }
    int64_t by = shift(r, start);
    *out = (struct interval){(int64_t)start + by, (int64_t)end + by};
    cupti_records_heard(r, out->end);
    return true;
}

uint32_t cupti_records_thread(struct cupti_records *r, struct run *run, uint32_t tid)
{
    if (r->last_thread_id != tid || r->last_thread == NONE) {
        size_t before = run->threads.count;
        r->last_thread = run_thread(run, r->process, tid);
        r->last_thread_id = tid;
        char name[PROC_NAME_BYTES];
        if (run->threads.count > before && proc_task_name(r->pid, tid, name))
            run->threads.at[r->last_thread].name = intern_puts(&run->strings, name);
    }
    return r->last_thread;
}

/* ---- records --------------------------------------------------------------------------------------------
 */

static size_t add_op(struct run *run, enum op_kind kind, struct interval time, uint32_t stream,
                     uint32_t correlation)
{
    size_t op = op_table_add(&run->ops);
    run->ops.kind[op] = (uint8_t)kind;
    run->ops.start[op] = time.start;
    run->ops.end[op] = time.end;
    run->ops.stream[op] = stream;
    run->ops.correlation[op] = correlation;
    run->ops.bytes[op] = UNKNOWN;
    run->ops.shape[op] = run->ops.call[op] = run->ops.comm[op] = NONE;
    return op;
}

static uint32_t stream_of(struct cupti_records *r, struct run *run, uint32_t device, uint32_t context,
                          uint32_t stream)
{
    return run_stream(run, r->process, run_device(run, r->source, device), context, stream);
}

/* A graph that was recorded whole goes by the number that CUPTI gives its executable. */
static uint32_t graph_name(struct run *run, uint32_t id)
{
    char name[32];
    snprintf(name, sizeof name, "CUDA graph %u", id);
    return intern_puts(&run->strings, name);
}

static void on_graph(struct cupti_records *r, struct run *run, const struct activity_graph *g)
{
    struct interval time;
    if (!times(r, run, g->start, g->end, &time))
        return;
    /* A graph that begins with a node of the host says so by an impossible device. */
    bool on_host = g->device == INT32_MAX;
    uint32_t stream = stream_of(r, run, on_host ? g->end_device : g->device,
                                on_host ? g->end_context : g->context, g->stream);
    size_t op = add_op(run, OP_GRAPH, time, stream, g->correlation);
    r->graphs_seen++;
    run->ops.graph[op] = g->graph;
    run->ops.name[op] = graph_name(run, g->graph);
}

/* ---- operations of the GPU ------------------------------------------------------------------------------
 */

static void on_kernel(struct cupti_records *r, struct run *run, const struct activity_kernel *k)
{
    struct interval time;
    if (!times(r, run, k->start, k->end, &time))
        return;
    size_t op =
        add_op(run, OP_KERNEL, time, stream_of(r, run, k->device, k->context, k->stream), k->correlation);
    struct shape shape = {.regs_per_thread = k->registers_per_thread,
                          .shared_static_bytes = (uint32_t)k->static_shared_bytes,
                          .shared_dynamic_bytes = (uint32_t)k->dynamic_shared_bytes,
                          .local_bytes_per_thread = k->local_bytes_per_thread,
                          .occupancy_percent = -1};
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = (uint32_t)k->grid[i];
        shape.block[i] = (uint32_t)k->block[i];
    }
    run->ops.shape[op] = run_shape(run, &shape);
    run->ops.graph[op] = k->graph_id;
    run->ops.name[op] = cupti_texts_at(&r->texts, k->name, r->log_length, run, "(name lost)");
}

static enum copy_dir copy_direction(uint8_t kind)
{
    switch (kind) {
    case ACTIVITY_COPY_H2D:
    case ACTIVITY_COPY_H2A:
        return COPY_H2D;
    case ACTIVITY_COPY_D2H:
    case ACTIVITY_COPY_A2H:
        return COPY_D2H;
    case ACTIVITY_COPY_D2D:
    case ACTIVITY_COPY_A2A:
    case ACTIVITY_COPY_A2D:
    case ACTIVITY_COPY_D2A:
        return COPY_D2D;
    case ACTIVITY_COPY_H2H:
        return COPY_H2H;
    case ACTIVITY_COPY_P2P:
        return COPY_P2P;
    default:
        return COPY_UNKNOWN;
    }
}

static enum mem_kind memory_kind(uint8_t kind)
{
    static const enum mem_kind kinds[] = {MEM_UNKNOWN, MEM_PAGEABLE, MEM_PINNED, MEM_DEVICE,
                                          MEM_ARRAY,   MEM_MANAGED,  MEM_DEVICE, MEM_MANAGED};
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : MEM_UNKNOWN;
}

static void add_copy(struct run *run, size_t op, uint8_t kind, uint8_t src, uint8_t dst, uint64_t bytes)
{
    static const char *const names[] = {
        [COPY_UNKNOWN] = "Memcpy",  [COPY_H2D] = "Memcpy HtoD", [COPY_D2H] = "Memcpy DtoH",
        [COPY_D2D] = "Memcpy DtoD", [COPY_H2H] = "Memcpy HtoH", [COPY_P2P] = "Memcpy PtoP"};
    enum copy_dir dir = copy_direction(kind);
    run->ops.dir[op] = (uint8_t)dir;
    run->ops.src[op] = (uint8_t)memory_kind(src);
    run->ops.dst[op] = (uint8_t)memory_kind(dst);
    run->ops.bytes[op] = bytes <= INT64_MAX ? (int64_t)bytes : UNKNOWN;
    run->ops.name[op] = intern_puts(&run->strings, names[dir]);
}

static void on_memcpy(struct cupti_records *r, struct run *run, const struct activity_memcpy *m)
{
    struct interval time;
    if (!times(r, run, m->start, m->end, &time))
        return;
    size_t op =
        add_op(run, OP_COPY, time, stream_of(r, run, m->device, m->context, m->stream), m->correlation);
    add_copy(run, op, m->copy_kind, m->src_kind, m->dst_kind, m->bytes);
    run->ops.graph[op] = m->graph;
}

static void on_memcpy_p2p(struct cupti_records *r, struct run *run, const struct activity_memcpy_p2p *m)
{
    struct interval time;
    if (!times(r, run, m->start, m->end, &time))
        return;
    size_t op =
        add_op(run, OP_COPY, time, stream_of(r, run, m->device, m->context, m->stream), m->correlation);
    add_copy(run, op, ACTIVITY_COPY_P2P, m->src_kind, m->dst_kind, m->bytes);
    run->ops.graph[op] = m->graph;
}

static void on_memset(struct cupti_records *r, struct run *run, const struct activity_memset *m)
{
    struct interval time;
    if (!times(r, run, m->start, m->end, &time))
        return;
    size_t op =
        add_op(run, OP_MEMSET, time, stream_of(r, run, m->device, m->context, m->stream), m->correlation);
    run->ops.bytes[op] = m->bytes <= INT64_MAX ? (int64_t)m->bytes : UNKNOWN;
    run->ops.name[op] = intern_puts(&run->strings, "Memset");
    run->ops.graph[op] = m->graph;
}

/* ---- the host -------------------------------------------------------------------------------------------
 */

static void on_api(struct cupti_records *r, struct run *run, const struct activity_api *a)
{
    struct interval time;
    if (!times(r, run, a->start, a->end, &time))
        return;
    size_t span = span_table_add(&run->spans);
    run->spans.comm[span] = NONE;
    run->spans.kind[span] = SPAN_API;
    run->spans.start[span] = time.start;
    run->spans.end[span] = time.end;
    run->spans.id[span] = a->correlation;
    run->spans.thread[span] = cupti_records_thread(r, run, a->thread);
    run->spans.name[span] = cupti_texts_call(&r->texts, a->kind == ACTIVITY_RUNTIME, a->cbid, run);
}

/* Names as Kineto spells them, so that the same rules know them. */
static const char *overhead_name(uint32_t kind)
{
    static const char *const names[] = {"Driver Compiler",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    uint32_t index = kind == 1 ? 0 : kind >> 16;
    return kind != 0 && index < sizeof names / sizeof *names ? names[index] : "Overhead";
}

static void on_overhead(struct cupti_records *r, struct run *run, const struct activity_overhead *o)
{
    struct interval time;
    if (!times(r, run, o->start, o->end, &time))
        return;
    size_t span = span_table_add(&run->spans);
    run->spans.comm[span] = NONE;
    run->spans.kind[span] = SPAN_OVERHEAD;
    run->spans.start[span] = time.start;
    run->spans.end[span] = time.end;
    run->spans.thread[span] =
        run_thread(run, r->process, -1); /* a lane of its own: it need not nest with calls */
    run->spans.name[span] = intern_puts(&run->strings, overhead_name(o->overhead_kind));
}

/* PyTorch calls what record_function() marks a user's scope. */
static void on_op(struct cupti_records *r, struct run *run, const struct ring_op *op)
{
    if (op->start <= 0 || op->end < op->start || op->end > RING_LATEST_NS) {
        run->losses.untimed++;
        return;
    }
    size_t span = span_table_add(&run->spans);
    run->spans.comm[span] = NONE;
    run->spans.kind[span] = op->scope == RING_OP_USER ? SPAN_ANNOTATION : SPAN_OP;
    run->spans.start[span] = op->start;
    run->spans.end[span] = op->end;
    run->spans.thread[span] = cupti_records_thread(r, run, op->thread);
    run->spans.name[span] = cupti_texts_hashed(&r->texts, op->name, run, "(name lost)");
}

static void on_synchronization(struct cupti_records *r, struct run *run,
                               const struct activity_synchronization *s)
{
    static const char *const kinds[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    struct interval time;
    if (s->type == 2 || s->end == 0 || !times(r, run, s->start, s->end, &time))
        return; /* a stream's wait for an event has no length on the host */
    struct wait *wait = vec_new(&run->waits);
    wait->start = time.start;
    wait->end = time.end;
    wait->kind = intern_puts(&run->strings, kinds[s->type < 5 ? s->type : 0]);
    wait->stream = wait->on_stream = NONE;
}

/* ---- memory ---------------------------------------------------------------------------------------------
 */

/* By CUpti_ActivityMemoryKind, named as importers name them. Pageable memory is not CUDA's. */
static const char *const memory_curves[] = {
    [ACTIVITY_MEM_PAGEABLE] = NULL,
    [ACTIVITY_MEM_PINNED] = "pinned memory allocated",
    [ACTIVITY_MEM_DEVICE] = "memory allocated",
    [ACTIVITY_MEM_ARRAY] = "memory allocated",
    [ACTIVITY_MEM_MANAGED] = "managed memory allocated",
    [ACTIVITY_MEM_DEVICE_STATIC] = "memory allocated",
    [ACTIVITY_MEM_MANAGED_STATIC] = "managed memory allocated",
};

enum { MOST_SERIES = 4096 };

static uint32_t curve_of(struct cupti_records *r, struct run *run, const char *name, uint32_t device)
{
    return cupti_memory_curve(&r->memory, run, name, device, r->process, UNIT_BYTES);
}

static void on_pool(struct cupti_records *r, struct run *run, int64_t time, uint32_t device, uint64_t address,
                    uint64_t bytes, bool is_destroyed)
{
    if (bytes > INT64_MAX)
        return;
    cupti_memory_add(&r->memory,
                     &(struct cupti_memory_event){
                         .time = time,
                         .address = address,
                         .bytes = (int64_t)bytes,
                         .curve = curve_of(r, run, "memory pools", run_device(run, r->source, device)),
                         .is_release = is_destroyed});
}

static void on_memory(struct cupti_records *r, struct run *run, const struct activity_memory *m)
{
    struct interval time;
    const char *name =
        m->memory < sizeof memory_curves / sizeof *memory_curves ? memory_curves[m->memory] : NULL;
    bool is_release = m->operation == ACTIVITY_RELEASE;
    if (!name || (m->operation != ACTIVITY_ALLOCATION && !is_release) || m->bytes > INT64_MAX ||
        run->series.count >= MOST_SERIES || !times(r, run, m->time, m->time, &time))
        return;
    uint32_t device = m->memory == ACTIVITY_MEM_PINNED ? NONE : run_device(run, r->source, m->device);
    cupti_memory_add(&r->memory, &(struct cupti_memory_event){.time = time.start,
                                                              .address = m->address,
                                                              .bytes = (int64_t)m->bytes,
                                                              .curve = curve_of(r, run, name, device),
                                                              .is_release = is_release});
    if (m->pool_type == ACTIVITY_POOL_LOCAL)
        on_pool(r, run, time.start, m->device, m->pool_address, m->pool_bytes, false);
}

static void on_memory_pool(struct cupti_records *r, struct run *run, const struct activity_memory_pool *p)
{
    struct interval time;
    if (p->type == ACTIVITY_POOL_LOCAL && run->series.count < MOST_SERIES &&
        times(r, run, p->time, p->time, &time))
        on_pool(r, run, time.start, p->device, p->address, p->bytes, p->operation == ACTIVITY_POOL_DESTROYED);
}

/* The driver moves managed memory in no stream of the program's. */
static void add_migration(struct cupti_records *r, struct run *run, const struct activity_managed *m,
                          enum copy_dir dir)
{
    static const char *const names[] = {[COPY_MANAGED_H2D] = "managed memory HtoD",
                                        [COPY_MANAGED_D2H] = "managed memory DtoH",
                                        [COPY_MANAGED_D2D] = "managed memory DtoD"};
    struct interval time;
    if (!times(r, run, m->start, m->end, &time))
        return;
    uint32_t id = dir == COPY_MANAGED_D2H ? m->src_device : m->dst_device;
    uint32_t stream = run_stream(run, r->process, run_device(run, r->source, id), UNKNOWN, -1);
    run->streams.at[stream].name = intern_puts(&run->strings, "managed memory");
    size_t op = add_op(run, OP_COPY, time, stream, 0);
    run->ops.dir[op] = (uint8_t)dir;
    run->ops.src[op] = run->ops.dst[op] = MEM_MANAGED;
    run->ops.bytes[op] = m->value <= INT64_MAX ? (int64_t)m->value : UNKNOWN;
    run->ops.name[op] = intern_puts(&run->strings, names[dir]);
}

static void count_faults(struct cupti_records *r, struct run *run, const struct activity_managed *m,
                         const char *name, uint32_t device)
{
    struct interval time;
    if (m->value > INT32_MAX || run->series.count >= MOST_SERIES || !times(r, run, m->start, m->start, &time))
        return;
    uint32_t curve = cupti_memory_curve(&r->memory, run, name, device, r->process, UNIT_NONE);
    cupti_memory_count(&r->memory, run, curve, time.start, (int64_t)m->value);
}

static void on_managed(struct cupti_records *r, struct run *run, const struct activity_managed *m)
{
    switch (m->counter) {
    case ACTIVITY_MANAGED_H2D:
        add_migration(r, run, m, COPY_MANAGED_H2D);
        break;
    case ACTIVITY_MANAGED_D2H:
        add_migration(r, run, m, COPY_MANAGED_D2H);
        break;
    case ACTIVITY_MANAGED_D2D:
        add_migration(r, run, m, COPY_MANAGED_D2D);
        break;
    case ACTIVITY_MANAGED_CPU_FAULTS:
        count_faults(r, run, m, "managed memory CPU page faults", NONE);
        break;
    case ACTIVITY_MANAGED_GPU_FAULTS:
        count_faults(r, run, m, "managed memory GPU page faults", run_device(run, r->source, m->dst_device));
        break;
    }
}

void cupti_records_settle(struct cupti_records *r, struct run *run)
{
    cupti_memory_settle(&r->memory, run);
    vec_each (&r->texts.named_threads, thread) {
        uint32_t row = run_thread(run, r->process, *thread);
        run->threads.at[row].name = map_get(&r->texts.threads, *thread);
    }
    r->texts.named_threads.count = 0;
}

/* ---- devices, and all of them ---------------------------------------------------------------------------
 */

static void on_device(struct cupti_records *r, struct run *run, const struct activity_device *d)
{
    uint32_t index = run_device(run, r->source, d->id); /* may move the table */
    struct device *device = &run->devices.at[index];
    device->vendor = VENDOR_NVIDIA;
    device->name = cupti_texts_at(&r->texts, d->name, r->log_length, run, "");
    device->cc_major = (int32_t)d->cc_major;
    device->cc_minor = (int32_t)d->cc_minor;
    device->sm_count = (int32_t)d->multiprocessors;
    device->warp_size = (int32_t)d->warp_size;
    device->max_warps_per_sm = (int32_t)d->max_warps_per_sm;
    device->max_threads_per_sm = (int32_t)(d->max_warps_per_sm * d->warp_size);
    device->max_blocks_per_sm = (int32_t)d->max_blocks_per_sm;
    device->regs_per_sm = (int32_t)d->max_registers_per_sm;
    device->shared_bytes_per_sm = d->max_shared_bytes_per_sm;
    device->memory_bytes = (int64_t)d->memory_bytes;
    device->memory_bandwidth_bytes_per_s =
        d->memory_bandwidth_kbytes_per_s < UINT32_MAX ? (int64_t)d->memory_bandwidth_kbytes_per_s * 1000 : 0;
    device->l2_bytes = d->l2_bytes;
    device->clock_hz = (int64_t)d->clock_khz * 1000;
    char uuid[48];
    const uint8_t *u = d->uuid;
    snprintf(uuid, sizeof uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
             u[15]);
    device->uuid = intern_puts(&run->strings, uuid);
}

/* What each kind needs at least: less is not a record of that kind. */
static uint32_t least_bytes(uint32_t kind)
{
    switch (kind) {
    case ACTIVITY_KERNEL:
        return sizeof(struct activity_kernel);
    case ACTIVITY_MEMCPY:
        return offsetof(struct activity_memcpy, runtime_correlation);
    case ACTIVITY_MEMCPY_P2P:
        return offsetof(struct activity_memcpy_p2p, reserved);
    case ACTIVITY_MEMSET:
        return offsetof(struct activity_memset, flags);
    case ACTIVITY_GRAPH:
        return offsetof(struct activity_graph, reserved);
    case ACTIVITY_RUNTIME:
    case ACTIVITY_DRIVER:
        return sizeof(struct activity_api);
    case ACTIVITY_OVERHEAD:
        return sizeof(struct activity_overhead);
    case ACTIVITY_SYNCHRONIZATION:
        return sizeof(struct activity_synchronization);
    case ACTIVITY_DEVICE:
        return sizeof(struct activity_device);
    case ACTIVITY_MEMORY:
        return sizeof(struct activity_memory);
    case ACTIVITY_MEMORY_POOL:
        return sizeof(struct activity_memory_pool);
    case ACTIVITY_MANAGED:
        return sizeof(struct activity_managed);
    case RING_RANGE:
    case RING_MARK:
        return sizeof(struct ring_range);
    case RING_PAYLOAD_RANGE:
        return sizeof(struct ring_payload_range);
    case RING_OP:
        return sizeof(struct ring_op);
    case RING_LAUNCH:
        return sizeof(struct ring_launch);
    case RING_COUNTERS:
        return sizeof(struct ring_counters);
    case RING_PC:
        return sizeof(struct ring_pc);
    case RING_PLAN:
        return sizeof(struct ring_plan);
    default:
        return sizeof(uint32_t);
    }
}

static void on_record(struct cupti_records *r, struct run *run, uint32_t kind, const void *record)
{
    switch (kind) {
    case ACTIVITY_KERNEL:
        on_kernel(r, run, record);
        break;
    case ACTIVITY_MEMCPY:
        on_memcpy(r, run, record);
        break;
    case ACTIVITY_MEMCPY_P2P:
        on_memcpy_p2p(r, run, record);
        break;
    case ACTIVITY_MEMSET:
        on_memset(r, run, record);
        break;
    case ACTIVITY_GRAPH:
        on_graph(r, run, record);
        break;
    case ACTIVITY_RUNTIME:
    case ACTIVITY_DRIVER:
        on_api(r, run, record);
        break;
    case ACTIVITY_OVERHEAD:
        on_overhead(r, run, record);
        break;
    case ACTIVITY_SYNCHRONIZATION:
        on_synchronization(r, run, record);
        break;
    case ACTIVITY_DEVICE:
        on_device(r, run, record);
        break;
    case ACTIVITY_MEMORY:
        on_memory(r, run, record);
        break;
    case ACTIVITY_MEMORY_POOL:
        on_memory_pool(r, run, record);
        break;
    case ACTIVITY_MANAGED:
        on_managed(r, run, record);
        break;
    case RING_RANGE:
        cupti_nvtx_range(r, run, record, NULL);
        break;
    case RING_PAYLOAD_RANGE:
        cupti_nvtx_range(r, run, &((const struct ring_payload_range *)record)->range, record);
        break;
    case RING_MARK:
        cupti_nvtx_mark(r, run, record);
        break;
    case RING_OP:
        on_op(r, run, record);
        break;
    case RING_LAUNCH:
        cupti_counters_launch(&r->counters, &r->texts, run, r->source, r->process, record);
        break;
    case RING_COUNTERS:
        r->unknown += !cupti_counters_values(&r->counters, &r->texts, run, record);
        break;
    case RING_PLAN:
        r->counters.plan = *(const struct ring_plan *)record;
        r->counters.plan.chip[sizeof r->counters.plan.chip - 1] = '\0';
        break;
    case RING_PC:
        r->unknown += !cupti_counters_samples(&r->counters, &r->texts, run, r->source, record);
        break;
    default:
        r->unknown++;
    }
}

/* Each record is copied first: the target could change it while it is read, and its place need not be
 * aligned. */
void cupti_records_decode(struct cupti_records *r, struct run *run, const uint8_t *data, uint64_t valid,
                          const _Atomic uint32_t record_bytes[static RING_KINDS])
{
    union {
        struct activity_kernel kernel;
        struct activity_device device;
        struct ring_payload_range range;
        struct ring_launch launch;
        struct ring_counters counters;
        struct ring_pc pc;
        uint8_t bytes[256];
    } record;
    for (uint64_t at = 0; at + sizeof(uint32_t) <= valid;) {
        uint32_t kind;
        memcpy(&kind, data + at, sizeof kind);
        if (kind == 0)
            break;
        uint32_t bytes =
            kind < RING_KINDS ? atomic_load_explicit(&record_bytes[kind], memory_order_relaxed) : 0;
        if (bytes < least_bytes(kind) || bytes > valid - at) {
            r->unknown++; /* without its length the rest of the slot cannot be read */
            break;
        }
        memcpy(&record, data + at, bytes < sizeof record ? bytes : sizeof record);
        if (bytes < sizeof record) /* what this version does not have yet is 0 */
            memset(record.bytes + bytes, 0, sizeof record - bytes);
        on_record(r, run, kind, &record);
        at += bytes;
        r->count++;
    }
}

void cupti_records_hold(struct cupti_records *r, const struct compaction *c)
{
    cupti_texts_hold(&r->texts, c);
    cupti_nccl_hold(&r->nccl, c);
    r->details = 0;
}

void cupti_records_release(struct cupti_records *r)
{
    cupti_texts_release(&r->texts);
    cupti_nccl_release(&r->nccl);
    cupti_counters_release(&r->counters);
    cupti_memory_release(&r->memory);
}
