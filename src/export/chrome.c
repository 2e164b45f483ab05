/* Chrome trace JSON with the members, categories and arguments of torch.profiler
 * (libkineto/src/output_json.cpp), so that what reads its traces reads these. Strict JSON whatever the names
 * hold; times in microseconds with three decimals, which are exact nanoseconds; what overlaps is drawn in
 * rows of its own, because viewers drop slices that do not nest. doc/formats/exports.md says what of a run
 * the format cannot hold. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "export/chrome_ids.h"
#include "export/export.h"
#include "export/label.h"
#include "export/select.h"
#include "model/cells.h"
#include "model/sampled.h"

/* Three decimals of a microsecond. Readers hold times as doubles, which are exact below 2^53 ns, 104 days: a
 * base of whole seconds close to the first event keeps them small. */
enum { DECIMALS = 3, NS_PER_S = 1000000000 };

struct chrome_export {
    const struct run *run;
    struct selection selection;
    struct chrome_ids ids;
    struct export_sink *sink;
    struct json_writer w;
    int64_t base_ns;
    int64_t *memory_before; /* by series: the last sample of a sum of changes */
    struct str label;
};

/* ---- members of events -----------------------------------------------------------------------------------
 */

static void key_int(struct chrome_export *e, const char *key, int64_t value)
{
    json_key(&e->w, key);
    json_int(&e->w, value);
}

static void key_uint(struct chrome_export *e, const char *key, uint64_t value)
{
    json_key(&e->w, key);
    json_uint(&e->w, value);
}

static void key_puts(struct chrome_export *e, const char *key, const char *text)
{
    json_key(&e->w, key);
    json_puts(&e->w, text);
}

static void key_string(struct chrome_export *e, const char *key, uint32_t string)
{
    json_key(&e->w, key);
    json_string(&e->w, run_text(e->run, string), intern_length(&e->run->strings, string));
}

static void key_triple(struct chrome_export *e, const char *key, const uint32_t values[3])
{
    json_key(&e->w, key);
    json_array_begin(&e->w);
    for (int i = 0; i < 3; i++)
        json_uint(&e->w, values[i]);
    json_array_end(&e->w);
}

/* Six decimals, as the profiler writes the numbers that it derives. */
static void key_ratio(struct chrome_export *e, const char *key, double value)
{
    json_key(&e->w, key);
    if (value < 1e12) /* six decimals more fit 64 bits */
        json_decimal(&e->w, llround(value * 1e6), 6);
    else
        json_double(&e->w, value);
}

/* name is written by the caller, who knows whether it is a string of the run. */
static void open_event(struct chrome_export *e, const char *phase, const char *category, int64_t pid,
                       int64_t tid)
{
    json_object_begin(&e->w);
    key_puts(e, "ph", phase);
    if (category)
        key_puts(e, "cat", category);
    key_int(e, "pid", pid);
    key_int(e, "tid", tid);
}

static void key_time(struct chrome_export *e, int64_t time)
{
    json_key(&e->w, "ts");
    json_decimal(&e->w, (int64_t)((uint64_t)time - (uint64_t)e->base_ns), DECIMALS);
}

static void key_interval(struct chrome_export *e, struct interval time)
{
    key_time(e, time.start);
    json_key(&e->w, "dur");
    json_decimal(&e->w, (int64_t)((uint64_t)time.end - (uint64_t)time.start), DECIMALS);
}

static void open_args(struct chrome_export *e)
{
    json_key(&e->w, "args");
    json_object_begin(&e->w);
}

static void close_args(struct chrome_export *e)
{
    json_object_end(&e->w);
}

/* A line an event: such files are looked at with line tools, and a diff of two says something. */
static void close_event(struct chrome_export *e)
{
    json_object_end(&e->w);
    str_putc(&e->sink->pending, '\n');
    sink_poll(e->sink);
}

/* ---- metadata ------------------------------------------------------------------------------------------ */

static void put_label(struct chrome_export *e, const char *what, int64_t pid, int64_t tid, const char *key,
                      const char *text)
{
    open_event(e, "M", NULL, pid, tid);
    key_puts(e, "name", what);
    open_args(e);
    key_puts(e, key, text);
    close_args(e);
    close_event(e);
}

static void put_sort_index(struct chrome_export *e, const char *what, int64_t pid, int64_t tid, int64_t index)
{
    open_event(e, "M", NULL, pid, tid);
    key_puts(e, "name", what);
    open_args(e);
    key_int(e, "sort_index", index);
    close_args(e);
    close_event(e);
}

/* The tid of a lane; the name of a new one says what it lies beside. */
static int64_t lane_tid(struct chrome_export *e, struct chrome_row *row, uint32_t lane,
                        void (*label)(struct str *, const struct run *, uint32_t), uint32_t label_row)
{
    bool is_new;
    int64_t tid = chrome_row_tid(&e->ids, row, lane, &is_new);
    if (!is_new)
        return tid;
    str_cut(&e->label, 0);
    label(&e->label, e->run, label_row);
    str_addf(&e->label, " lane %u", (unsigned)lane + 1);
    put_label(e, "thread_name", row->pid, tid, "name", str_text(&e->label));
    put_sort_index(e, "thread_sort_index", row->pid, tid, row->tid);
    return tid;
}

static void put_host_labels(struct chrome_export *e)
{
    const struct run *run = e->run;
    for (uint32_t p = 0; p < run->processes.count; p++) {
        if (run->processes.at[p].name)
            put_label(e, "process_name", e->ids.pids[p], 0, "name", run_text(run, run->processes.at[p].name));
        put_label(e, "process_labels", e->ids.pids[p], 0, "labels", "CPU");
        put_sort_index(e, "process_sort_index", e->ids.pids[p], 0, (int64_t)p);
    }
    for (uint32_t t = 0; t < run->threads.count; t++)
        if (run->threads.at[t].name)
            put_label(e, "thread_name", e->ids.threads[t].pid, e->ids.threads[t].tid, "name",
                      run_text(run, run->threads.at[t].name));
}

static void put_device_labels(struct chrome_export *e)
{
    const struct run *run = e->run;
    enum { AFTER_PROCESSES = 5000000 }; /* Kineto's */
    for (uint32_t d = 0; d < run->devices.count; d++) {
        if (run->devices.at[d].op_count == 0) /* every rank lists all devices of its host */
            continue;
        str_cut(&e->label, 0);
        label_device(&e->label, run, d);
        put_label(e, "process_name", e->ids.device_pids[d], 0, "name", str_text(&e->label));
        str_cut(&e->label, 0);
        str_addf(&e->label, "GPU %" PRId64, e->ids.devices[d]);
        put_label(e, "process_labels", e->ids.device_pids[d], 0, "labels", str_text(&e->label));
        put_sort_index(e, "process_sort_index", e->ids.device_pids[d], 0, AFTER_PROCESSES + (int64_t)d);
    }
    for (uint32_t s = 0; s < run->streams.count; s++) {
        const struct chrome_row *row = &e->ids.streams[s];
        str_cut(&e->label, 0);
        label_stream(&e->label, run, s);
        put_label(e, "thread_name", row->pid, row->tid, "name", str_text(&e->label));
        put_sort_index(e, "thread_sort_index", row->pid, row->tid, row->tid);
    }
}

/* ---- ops ----------------------------------------------------------------------------------------------- */

static void put_shape(struct chrome_export *e, size_t op)
{
    if (e->run->ops.shape[op] == NONE)
        return;
    const struct shape *shape = &e->run->shapes.at[e->run->ops.shape[op]];
    const struct device *device = &e->run->devices.at[run_op_device(e->run, op)];
    key_uint(e, "registers per thread", shape->regs_per_thread);
    key_uint(e, "shared memory", (uint64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes);
    if (shape->shared_static_bytes)
        key_uint(e, "static shared memory", shape->shared_static_bytes);
    if (shape->local_bytes_per_thread)
        key_uint(e, "local memory per thread", shape->local_bytes_per_thread);
    if (device->sm_count > 0) {
        double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2] / device->sm_count;
        key_ratio(e, "blocks per SM", blocks);
        if (device->warp_size > 0)
            key_ratio(e, "warps per SM",
                      blocks * shape->block[0] * shape->block[1] * shape->block[2] / device->warp_size);
    }
    key_triple(e, "grid", shape->grid);
    key_triple(e, "block", shape->block);
    if (shape->cluster[0])
        key_triple(e, "cluster", shape->cluster);
    if (shape->occupancy_percent >= 0)
        key_int(e, "est. achieved occupancy %", shape->occupancy_percent);
}

static void put_comm(struct chrome_export *e, const struct comm *comm)
{
    key_string(e, "Collective name", comm->collective);
    if (comm->in_elements != UNKNOWN)
        key_int(e, "In msg nelems", comm->in_elements);
    if (comm->out_elements != UNKNOWN)
        key_int(e, "Out msg nelems", comm->out_elements);
    if (comm->group_size != UNKNOWN)
        key_int(e, "Group size", comm->group_size);
    if (comm->dtype)
        key_string(e, "dtype", comm->dtype);
    if (comm->group)
        key_string(e, "Process Group Description", comm->group);
    if (comm->ranks)
        key_string(e, "Process Group Ranks", comm->ranks);
    if (comm->seq != UNKNOWN)
        key_int(e, "Seq", comm->seq);
}

static void put_bytes(struct chrome_export *e, const struct op_row *row, struct interval time)
{
    static const char *const directions[] = {
        [COPY_UNKNOWN] = NULL,       [COPY_H2D] = "HtoD",         [COPY_D2H] = "DtoH",
        [COPY_D2D] = "DtoD",         [COPY_H2H] = "HtoH",         [COPY_P2P] = "PtoP",
        [COPY_MANAGED_H2D] = "HtoD", [COPY_MANAGED_D2H] = "DtoH", [COPY_MANAGED_D2D] = "DtoD",
    };
    if (directions[row->dir])
        key_puts(e, "kind", directions[row->dir]);
    if (row->src != MEM_UNKNOWN)
        key_puts(e, "source memory", mem_kind_names[row->src]);
    if (row->dst != MEM_UNKNOWN)
        key_puts(e, "destination memory", mem_kind_names[row->dst]);
    if (row->bytes == UNKNOWN)
        return;
    key_int(e, "bytes", row->bytes);
    if (time.end > time.start) {
        json_key(&e->w, "memory bandwidth (GB/s)");
        json_double(&e->w, (double)row->bytes / (double)(time.end - time.start));
    }
}

static void put_op_args(struct chrome_export *e, size_t op, struct interval time)
{
    const struct run *run = e->run;
    struct op_row row = op_row(run, op);
    const struct stream *stream = &run->streams.at[run->ops.stream[op]];
    open_args(e);
    if (row.external)
        key_uint(e, "External id", row.external);
    key_int(e, "device", e->ids.devices[stream->device]);
    if (stream->context != UNKNOWN)
        key_int(e, "context", stream->context);
    key_int(e, "stream", stream->id);
    if (row.correlation)
        key_uint(e, "correlation", row.correlation);
    put_shape(e, op);
    put_bytes(e, &row, time);
    if (row.graph)
        key_uint(e, "graph id", row.graph);
    if (run->ops.comm[op] != NONE)
        put_comm(e, &run->comms.at[run->ops.comm[op]]);
    close_args(e);
}

/* Kineto numbers arrows by correlation; here each op has its own, since one launch may start many. */
static void put_flow(struct chrome_export *e, bool end, size_t op, int64_t pid, int64_t tid, int64_t time)
{
    open_event(e, end ? "f" : "s", "ac2g", pid, tid);
    key_puts(e, "name", "ac2g");
    key_uint(e, "id", (uint64_t)op + 1);
    if (end)
        key_puts(e, "bp", "e");
    key_time(e, time);
    close_event(e);
}

/* A graph timed as a whole has no category in the format; it is work of the device all the same. */
static const char *op_category(enum op_kind kind)
{
    static const char *const categories[] = {
        [OP_KERNEL] = "kernel", [OP_COPY] = "gpu_memcpy", [OP_MEMSET] = "gpu_memset", [OP_GRAPH] = "kernel"};
    return categories[kind];
}

static void put_ops(struct chrome_export *e)
{
    const struct run *run = e->run;
    for (size_t i = 0; i < run->ops.count; i++) {
        if (!selects_op(&e->selection, i))
            continue;
        uint32_t stream = run->ops.stream[i];
        struct chrome_row *row = &e->ids.streams[stream];
        struct interval time = interval_of(run->ops.start[i], run->ops.end[i]);
        uint32_t lane = lanes_place(&row->lanes, time.start, time.end);
        int64_t tid = lane_tid(e, row, lane, label_stream, stream);
        open_event(e, "X", op_category((enum op_kind)run->ops.kind[i]), row->pid, tid);
        key_string(e, "name", run->ops.name[i]);
        key_interval(e, time);
        put_op_args(e, i, time);
        close_event(e);
        if (op_has_arrow(run, i))
            put_flow(e, true, i, row->pid, tid, time.start);
    }
}

/* ---- the host ------------------------------------------------------------------------------------------ */

static const char *span_category(const struct run *run, size_t span)
{
    const char *name = run_text(run, run->spans.name[span]);
    switch ((enum span_kind)run->spans.kind[span]) {
    case SPAN_API: /* cuLaunchKernel, but not cudaLaunchKernel or cublas… */
        return strncmp(name, "cu", 2) == 0 && name[2] >= 'A' && name[2] <= 'Z' ? "cuda_driver"
                                                                               : "cuda_runtime";
    case SPAN_OP:
        return "cpu_op";
    case SPAN_ANNOTATION:
        return "user_annotation";
    case SPAN_PYTHON:
        return "python_function";
    case SPAN_OVERHEAD:
        return "overhead";
    case SPAN_OS:
        return "os";
    case SPAN_NATIVE:
        return "native";
    case SPAN_OTHER: /* what an importer of foreign spans notes down is their category */
        break;
    }
    return run->spans.detail[span] ? run_text(run, run->spans.detail[span]) : "other";
}

static void put_span_args(struct chrome_export *e, size_t span)
{
    const struct span_table *spans = &e->run->spans;
    static const char *const ids[] = {
        [SPAN_API] = "correlation",   [SPAN_OP] = "External id",     [SPAN_ANNOTATION] = "External id",
        [SPAN_PYTHON] = "Python id",  [SPAN_OS] = "correlation",     [SPAN_OVERHEAD] = "correlation",
        [SPAN_OTHER] = "correlation", [SPAN_NATIVE] = "correlation",
    };
    bool has_stack = spans->detail[span] != 0 && spans->kind[span] != SPAN_OTHER;
    bool has_id = spans->id[span] != 0 && !span_is_sampled(spans, span);
    if (!has_id && !has_stack)
        return;
    open_args(e);
    if (has_id)
        key_uint(e, ids[spans->kind[span]], spans->id[span]);
    if (has_stack)
        key_string(e, "Call stack", spans->detail[span]);
    close_args(e);
}

/* Spans stay on their thread even where they do not nest (an annotation that begins inside the Python frame
 * that opened it): readers of torch.profiler's files know them so, and rebuild call stacks by thread. */
static void put_spans(struct chrome_export *e)
{
    const struct run *run = e->run;
    for (size_t i = 0; i < run->spans.count; i++) {
        const struct chrome_row *row = &e->ids.threads[run->spans.thread[i]];
        struct interval shown;
        if (!selects_span(&e->selection, i, &shown))
            continue;
        open_event(e, "X", span_category(run, i), row->pid, row->tid);
        key_string(e, "name", run->spans.name[i]);
        key_interval(e, shown);
        put_span_args(e, i);
        close_event(e);
        for (uint32_t op = e->selection.first_op[i]; op != NONE; op = e->selection.next_op[op])
            if (op_has_arrow(run, op))
                put_flow(e, false, op, row->pid, row->tid, shown.start);
    }
}

/* Marks of no thread are drawn across all rows, from the first. */
static void put_marks(struct chrome_export *e)
{
    const struct run *run = e->run;
    vec_each (&run->marks, mark) {
        uint32_t thread = mark->thread != NONE ? mark->thread : run->threads.count ? 0 : NONE;
        if (!selects_moment(&e->selection, mark->time))
            continue;
        open_event(e, "i", "cpu_instant_event", thread != NONE ? e->ids.threads[thread].pid : 0,
                   thread != NONE ? e->ids.threads[thread].tid : 0);
        key_puts(e, "s", mark->thread != NONE ? "t" : "g");
        key_string(e, "name", mark->text);
        key_time(e, mark->time);
        open_args(e);
        key_puts(e, "kind", mark_kind_names[mark->kind]);
        if (mark->device != NONE)
            key_int(e, "device", e->ids.devices[mark->device]);
        close_args(e);
        close_event(e);
    }
}

/* ---- waits --------------------------------------------------------------------------------------------- */

enum { SYNC_TID_OFFSET = 1000000 }; /* where Kineto puts the waits of a stream */

static struct chrome_row wait_row(struct chrome_export *e, uint32_t stream)
{
    const struct run *run = e->run;
    if (stream == NONE) {
        int64_t pid = run->devices.count ? e->ids.device_pids[0] : 0;
        return (struct chrome_row){.pid = pid, .tid = chrome_ids_tid(&e->ids, pid, SYNC_TID_OFFSET - 1)};
    }
    int64_t pid = e->ids.streams[stream].pid, id = run->streams.at[stream].id;
    bool small = id >= 0 && id < SYNC_TID_OFFSET;
    return (struct chrome_row){.pid = pid,
                               .tid = chrome_ids_tid(&e->ids, pid, small ? id + SYNC_TID_OFFSET : -1)};
}

static void label_waits(struct str *out, const struct run *run, uint32_t stream)
{
    if (stream < run->streams.count)
        label_stream(out, run, stream);
    str_puts(out, stream < run->streams.count ? " waits" : "waits");
}

static void put_wait(struct chrome_export *e, const struct wait *wait, struct chrome_row *row, uint32_t at)
{
    const struct run *run = e->run;
    struct interval shown;
    if (!selects_interval(&e->selection, interval_of(wait->start, wait->end), &shown))
        return;
    if (row->tid == 0) {
        *row = wait_row(e, wait->stream);
        str_cut(&e->label, 0);
        label_waits(&e->label, run, at);
        put_label(e, "thread_name", row->pid, row->tid, "name", str_text(&e->label));
    }
    uint32_t lane = lanes_place(&row->lanes, shown.start, shown.end);
    int64_t tid = lane_tid(e, row, lane, label_waits, at);
    const struct stream *stream = wait->stream != NONE ? &run->streams.at[wait->stream] : NULL;
    open_event(e, "X", "cuda_sync", row->pid, tid);
    key_string(e, "name", wait->kind);
    key_interval(e, shown);
    open_args(e);
    key_string(e, "cuda_sync_kind", wait->kind);
    if (stream)
        key_int(e, "device", e->ids.devices[stream->device]);
    if (stream && stream->context != UNKNOWN)
        key_int(e, "context", stream->context);
    key_int(e, "stream", stream ? stream->id : -1);
    if (wait->on_stream != NONE)
        key_int(e, "wait_on_stream", run->streams.at[wait->on_stream].id);
    close_args(e);
    close_event(e);
}

static void put_waits(struct chrome_export *e)
{
    const struct run *run = e->run;
    uint32_t count = (uint32_t)run->streams.count + 1; /* the last is for waits of no stream */
    struct chrome_row *rows = mem_zalloc(count, sizeof *rows);
    vec_each (&run->waits, wait) {
        uint32_t at = wait->stream != NONE ? wait->stream : count - 1;
        put_wait(e, wait, &rows[at], at);
    }
    for (uint32_t i = 0; i < count; i++) {
        vec_release(&rows[i].lane_tids);
        lanes_release(&rows[i].lanes);
    }
    free(rows);
}

/* ---- counters ------------------------------------------------------------------------------------------ */

/* The member of a "[memory]" event that holds the sample, NULL for other series and for what is no byte
 * count. */
static const char *memory_member(const struct run *run, size_t sample)
{
    const struct counter_series *series = &run->series.at[run->samples.series[sample]];
    const char *name = run_text(run, series->name);
    double value = run->samples.value[sample];
    if (series->process == NONE || !(fabs(value) < 0x1p53 && value == trunc(value)))
        return NULL;
    return strcmp(name, "memory allocated") == 0  ? "Total Allocated"
           : strcmp(name, "memory reserved") == 0 ? "Total Reserved"
           : strcmp(name, "memory change") == 0   ? "Bytes"
                                                  : NULL;
}

/* The sample of the allocator's other total that was taken with this one, or 0. */
static size_t memory_partner(const struct run *run, size_t sample)
{
    const struct sample_table *samples = &run->samples;
    size_t next = sample + 1;
    if (next >= samples->count || samples->time[next] != samples->time[sample])
        return 0;
    const struct counter_series *one = &run->series.at[samples->series[sample]];
    const struct counter_series *other = &run->series.at[samples->series[next]];
    const char *member = memory_member(run, sample), *partner = memory_member(run, next);
    bool totals = *member == 'T' && partner && *partner == 'T' && partner != member;
    return totals && one->device == other->device && one->process == other->process ? next : 0;
}

/* Returns the number of samples written: the allocator's two totals go into one event. */
static size_t put_memory(struct chrome_export *e, size_t sample)
{
    const struct run *run = e->run;
    const struct sample_table *samples = &run->samples;
    const struct counter_series *series = &run->series.at[samples->series[sample]];
    const char *member = memory_member(run, sample);
    int64_t value = (int64_t)samples->value[sample], *before = &e->memory_before[samples->series[sample]];
    uint32_t thread = e->ids.first_threads[series->process];
    size_t partner = memory_partner(run, sample);
    open_event(e, "i", "cpu_instant_event", e->ids.pids[series->process],
               thread != NONE ? e->ids.threads[thread].tid : 0);
    key_puts(e, "s", "t");
    key_puts(e, "name", "[memory]");
    key_time(e, samples->time[sample]);
    open_args(e);
    key_int(e, member, *member == 'T' ? value : value - *before);
    if (partner)
        key_int(e, memory_member(run, partner), (int64_t)samples->value[partner]);
    key_int(e, "Device Type", series->device != NONE); /* c10::DeviceType: 0 CPU, 1 CUDA */
    key_int(e, "Device Id", series->device != NONE ? e->ids.devices[series->device] : -1);
    close_args(e);
    close_event(e);
    *before = value;
    return partner ? 2 : 1;
}

static void put_counter(struct chrome_export *e, size_t sample)
{
    const struct run *run = e->run;
    const struct counter_series *series = &run->series.at[run->samples.series[sample]];
    uint32_t process = series->process != NONE ? series->process : run->processes.count ? 0 : NONE;
    str_cut(&e->label, 0);
    if (series->device != NONE)
        str_addf(&e->label, "GPU %" PRId64 " ", e->ids.devices[series->device]);
    str_add(&e->label, run_text(run, series->name), intern_length(&run->strings, series->name));
    open_event(e, "C", NULL, process != NONE ? e->ids.pids[process] : 0, 0);
    json_key(&e->w, "name");
    json_string(&e->w, str_text(&e->label), e->label.len);
    key_time(e, run->samples.time[sample]);
    open_args(e);
    json_key(&e->w, "value");
    json_double(&e->w, run->samples.value[sample]);
    close_args(e);
    close_event(e);
}

static void put_samples(struct chrome_export *e)
{
    const struct run *run = e->run;
    e->memory_before = mem_zalloc(run->series.count, sizeof *e->memory_before);
    for (size_t i = 0, used; i < run->samples.count; i += used) {
        used = 1;
        if (!selects_moment(&e->selection, run->samples.time[i]))
            continue;
        if (memory_member(run, i))
            used = put_memory(e, i);
        else
            put_counter(e, i);
    }
    free(e->memory_before);
}

/* ---- the document -------------------------------------------------------------------------------------- */

static void put_devices(struct chrome_export *e)
{
    json_key(&e->w, "deviceProperties");
    json_array_begin(&e->w);
    for (size_t d = 0; d < e->run->devices.count; d++) {
        const struct device *device = &e->run->devices.at[d];
        const struct {
            const char *key;
            int64_t value;
        } numbers[] = {
            {"totalGlobalMem", device->memory_bytes},
            {"computeMajor", device->cc_major},
            {"computeMinor", device->cc_minor},
            {"maxThreadsPerMultiprocessor", device->max_threads_per_sm},
            {"maxBlocksPerMultiProcessor", device->max_blocks_per_sm},
            {"regsPerMultiprocessor", device->regs_per_sm},
            {"warpSize", device->warp_size},
            {"sharedMemPerMultiprocessor", device->shared_bytes_per_sm},
            {"sharedMemPerBlockOptin", device->shared_bytes_per_block_optin},
            {"numSms", device->sm_count},
            {"l2CacheSize", device->l2_bytes},
            {"clockRate", device->clock_hz / 1000},
        };
        json_object_begin(&e->w);
        key_int(e, "id", e->ids.devices[d]);
        key_string(e, "name", device->name);
        if (device->uuid)
            key_string(e, "uuid", device->uuid);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (numbers[i].value || strcmp(numbers[i].key, "computeMinor") == 0)
                key_int(e, numbers[i].key, numbers[i].value);
        json_object_end(&e->w);
    }
    json_array_end(&e->w);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

#define DISTRIBUTED "distributed_"

static bool is_reserved(const char *key)
{
    static const char *const reserved[] = {"schemaVersion",    "deviceProperties",    "distributedInfo",
                                           "displayTimeUnit",  "baseTimeNanoseconds", "traceEvents",
                                           "computeProperties"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(key, reserved[i]) == 0)
            return true;
    return starts_with(key, DISTRIBUTED);
}

/* Versions and the like were numbers where they came from. */
static void put_fact_value(struct chrome_export *e, uint32_t string)
{
    const char *text = run_text(e->run, string);
    char again[24];
    int64_t number = strtoll(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRId64, number);
    if (strcmp(text, again) == 0 && number != UNKNOWN)
        json_int(&e->w, number);
    else
        json_string(&e->w, text, intern_length(&e->run->strings, string));
}

/* Facts with (or without) the prefix, each key once. */
static void put_facts(struct chrome_export *e, bool distributed)
{
    const struct run *run = e->run;
    struct map seen = {0};
    vec_each (&run->facts, fact) {
        const char *key = run_text(run, fact->key);
        if (distributed ? !starts_with(key, DISTRIBUTED) : is_reserved(key))
            continue;
        key += distributed ? strlen(DISTRIBUTED) : 0;
        bool own = distributed && (strcmp(key, "rank") == 0 || strcmp(key, "world_size") == 0);
        if (own || map_get(&seen, fact->key) != MAP_ABSENT)
            continue;
        map_set(&seen, fact->key, 0);
        json_key(&e->w, key);
        put_fact_value(e, fact->value);
    }
    map_release(&seen);
}

static void put_distributed(struct chrome_export *e)
{
    const struct run *run = e->run;
    if (run->sources.count != 1 || run->sources.at[0].rank < 0)
        return;
    json_key(&e->w, "distributedInfo");
    json_object_begin(&e->w);
    key_int(e, "rank", run->sources.at[0].rank);
    key_int(e, "world_size", run->sources.at[0].world_size);
    put_facts(e, true);
    json_object_end(&e->w);
}

/* What readers need to make sense of the events comes before them. */
static void put_head(struct chrome_export *e)
{
    json_object_begin(&e->w);
    key_int(e, "schemaVersion", 1);
    key_puts(e, "displayTimeUnit", "ns");
    key_int(e, "baseTimeNanoseconds", e->base_ns);
    put_devices(e);
    put_distributed(e);
    put_facts(e, false);
    str_putc(&e->sink->pending, '\n');
}

/* The last whole second before the first event, so that no event is at 0, which many tools write for
 * "unknown". */
static int64_t base_before(int64_t first)
{
    if (first > INT64_MIN + NS_PER_S + 1)
        first -= 1;
    int64_t into = first % NS_PER_S;
    return first - (into < 0 ? into + NS_PER_S : into);
}

static int chrome_write(const struct run *run, const struct export_options *options, struct export_sink *sink,
                        struct err *err)
{
    (void)err;
    struct chrome_export e = {.run = run, .sink = sink, .w = {.out = &sink->pending}};
    selection_init(&e.selection, run, options);
    chrome_ids_init(&e.ids, run);
    e.base_ns = base_before(e.selection.extent.start);
    put_head(&e);
    json_key(&e.w, "traceEvents");
    json_array_begin(&e.w);
    put_host_labels(&e);
    put_device_labels(&e);
    put_spans(&e);
    put_ops(&e);
    put_waits(&e);
    put_marks(&e);
    put_samples(&e);
    json_array_end(&e.w);
    json_object_end(&e.w);
    str_putc(&sink->pending, '\n');
    chrome_ids_release(&e.ids);
    selection_release(&e.selection);
    str_release(&e.label);
    return 0;
}

const struct exporter export_chrome = {
    .name = "chrome",
    .title = N_("Chrome trace JSON as torch.profiler writes it"),
    .extension = ".json",
    .write = chrome_write,
};
