/* Perfetto protobuf: process, thread, device and stream tracks, lanes for what overlaps, arrows from each
 * launching call to its ops, counters, and every row of the run's small tables as an annotated instant, so
 * that import/perfetto.c can restore the run. doc/formats/exports.md describes the layout. */
#include <stdlib.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "export/export.h"
#include "export/label.h"
#include "export/lanes.h"
#include "export/perfetto_write.h"
#include "export/select.h"
#include "model/cells.h"
#include "model/perfetto.h"
#include "model/sampled.h"

/* Past this (September 2001), a time is taken to count from 1970; as an uptime it would be 31 years. */
#define UNIX_TIME_MIN_NS 1000000000000000000

enum { INVENTED_ID = 0x70000000, RANK_MAX = 1000000 };

/* Tracks for the lanes beside the main one of a thread or stream. */
struct lane_tracks {
    VEC(uint64_t) uuids;
};

struct perfetto_export {
    const struct run *run;
    struct selection selection;
    struct perfetto_writer w;
    /* First track of each table; the track of row r is that plus r. */
    uint64_t rows, processes, threads, devices, streams, series;
    uint64_t next_track;
    struct str label;
};

static const char *label_of(struct perfetto_export *e,
                            void (*add)(struct str *, const struct run *, uint32_t), uint32_t row)
{
    str_cut(&e->label, 0);
    add(&e->label, e->run, row);
    return str_text(&e->label);
}

/* ---- rows of the small tables ----------------------------------------------------------------------------
 */

static void put_cell(struct perfetto_writer *w, const struct cell *cell, const void *row)
{
    int64_t value = cell_get(cell, row, 0);
    if (cell->count > 1) {
        uint64_t values[3] = {0};
        bool present = false;
        for (int i = 0; i < cell->count; i++) {
            values[i] = (uint64_t)cell_get(cell, row, i);
            present |= (int64_t)values[i] != cell->absent;
        }
        if (present)
            perfetto_arg_uints(w, cell->key, values, cell->count);
    } else if (value == cell->absent) {
        return;
    } else if (cell->type == CELL_TEXT) {
        perfetto_arg_string(w, cell->key, (uint32_t)value);
    } else if (cell->type == CELL_ENUM) {
        perfetto_arg_text(w, cell->key, cell->names[value]);
    } else if (cell->type == CELL_INT32 || cell->type == CELL_INT64) {
        perfetto_arg_int(w, cell->key, value);
    } else {
        perfetto_arg_uint(w, cell->key, (uint64_t)value);
    }
}

static void put_cells(struct perfetto_writer *w, const struct cell *cells, const void *row)
{
    for (const struct cell *cell = cells; cell->key; cell++)
        put_cell(w, cell, row);
}

static void open_row(struct perfetto_export *e, const char *category, const char *label)
{
    perfetto_open(&e->w, EVENT_INSTANT, e->rows, e->selection.extent.start);
    perfetto_category(&e->w, category);
    perfetto_name_text(&e->w, label);
}

/* track: where the events of the row are, 0 if it has none of its own. */
static void put_row(struct perfetto_export *e, const char *category, const char *label,
                    const struct cell *cells, const void *row, uint64_t track)
{
    open_row(e, category, label);
    put_cells(&e->w, cells, row);
    if (track)
        perfetto_arg_uint(&e->w, "track", track);
    perfetto_close(&e->w);
}

static void put_run_row(struct perfetto_export *e, const struct export_options *options)
{
    open_row(e, PERFETTO_ROW_CATEGORY ".run", "Warplight recording");
    perfetto_arg_int(&e->w, "layout_version", PERFETTO_LAYOUT_VERSION);
    perfetto_arg_text(&e->w, "exporter", "Warplight " WARPLIGHT_VERSION);
    perfetto_arg_int(&e->w, "time_offset_ns", e->w.time_offset_ns);
    if (options->window.start != options->window.end) {
        perfetto_arg_int(&e->w, "window_start_ns", options->window.start);
        perfetto_arg_int(&e->w, "window_end_ns", options->window.end);
    }
    perfetto_close(&e->w);
}

static void put_provenance(struct perfetto_export *e)
{
    const struct run *run = e->run;
    vec_each (&run->sources, source) {
        put_row(e, PERFETTO_ROW_CATEGORY ".source", run_text(run, source->path), source_cells, source, 0);
        vec_each (&source->repairs, repair) {
            open_row(e, PERFETTO_ROW_CATEGORY ".repair", run_text(run, repair->text));
            perfetto_arg_uint(&e->w, "source_row", (uint64_t)(source - run->sources.at));
            put_cells(&e->w, repair_cells, repair);
            perfetto_close(&e->w);
        }
    }
    vec_each (&run->facts, fact)
        put_row(e, PERFETTO_ROW_CATEGORY ".fact", run_text(run, fact->key), fact_cells, fact, 0);
    put_row(e, PERFETTO_ROW_CATEGORY ".losses", "losses", losses_cells, &run->losses, 0);
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

/* Viewers merge processes of equal number and keep 0 for the idle task, so a number that is taken, or is
 * none, is replaced; the row keeps the true one. */
static int32_t shown_pid(struct map *taken, const struct process *p, uint32_t row)
{
    if (p->pid > 0 && p->pid < INVENTED_ID && map_get(taken, (uint64_t)p->pid) == MAP_ABSENT) {
        map_set(taken, (uint64_t)p->pid, row);
        return (int32_t)p->pid;
    }
    return (int32_t)(INVENTED_ID + row % INVENTED_ID);
}

static void put_host_tracks(struct perfetto_export *e)
{
    const struct run *run = e->run;
    struct map taken = {0};
    int32_t *pids = mem_zalloc(run->processes.count, sizeof *pids);
    for (uint32_t p = 0; p < run->processes.count; p++) {
        const struct process *process = &run->processes.at[p];
        pids[p] = shown_pid(&taken, process, p);
        perfetto_put_track(&e->w, &(struct perfetto_track){
                                      .uuid = e->processes + p,
                                      .pid = pids[p],
                                      .system_name = process->name ? run_text(run, process->name) : NULL});
        put_row(e, PERFETTO_ROW_CATEGORY ".process", label_of(e, label_process, p), process_cells, process,
                e->processes + p);
    }
    for (uint32_t t = 0; t < run->threads.count; t++) {
        const struct thread *thread = &run->threads.at[t];
        bool usable = thread->tid > 0 && thread->tid <= UINT32_MAX &&
                      (thread->tid < INVENTED_ID || thread->tid >= INVENTED_ID + (int64_t)run->threads.count);
        perfetto_put_track(&e->w, &(struct perfetto_track){
                                      .uuid = e->threads + t,
                                      .parent = e->processes + thread->process,
                                      .pid = pids[thread->process],
                                      .tid = usable ? thread->tid : INVENTED_ID + t % INVENTED_ID,
                                      .system_name = thread->name ? run_text(run, thread->name) : NULL});
        put_row(e, PERFETTO_ROW_CATEGORY ".thread", label_of(e, label_thread, t), thread_cells, thread,
                e->threads + t);
    }
    free(pids);
    map_release(&taken);
}

static void put_device_tracks(struct perfetto_export *e)
{
    const struct run *run = e->run;
    for (uint32_t d = 0; d < run->devices.count; d++) {
        const char *label = label_of(e, label_device, d);
        perfetto_put_track(&e->w, &(struct perfetto_track){.uuid = e->devices + d,
                                                           .name = label,
                                                           .ranked = true,
                                                           .rank = (int32_t)(d % RANK_MAX),
                                                           .explicit_order = true,
                                                           .not_merged = true});
        put_row(e, PERFETTO_ROW_CATEGORY ".device", label, device_cells, &run->devices.at[d], e->devices + d);
    }
    for (uint32_t s = 0; s < run->streams.count; s++) {
        const struct stream *stream = &run->streams.at[s];
        const char *label = label_of(e, label_stream, s);
        int64_t rank = stream->id >= 0 && stream->id < RANK_MAX ? stream->id : RANK_MAX;
        perfetto_put_track(&e->w, &(struct perfetto_track){.uuid = e->streams + s,
                                                           .parent = e->devices + stream->device,
                                                           .name = label,
                                                           .ranked = true,
                                                           .rank = (int32_t)rank,
                                                           .explicit_order = true,
                                                           .not_merged = true});
        put_row(e, PERFETTO_ROW_CATEGORY ".stream", label, stream_cells, stream, e->streams + s);
    }
}

static void put_series_tracks(struct perfetto_export *e)
{
    static const char *const units[] = {
        [UNIT_NONE] = "",      [UNIT_BYTES] = "bytes", [UNIT_RATIO] = "ratio",         [UNIT_WATTS] = "W",
        [UNIT_CELSIUS] = "°C", [UNIT_HZ] = "Hz",       [UNIT_BYTES_PER_S] = "bytes/s",
    };
    const struct run *run = e->run;
    for (uint32_t s = 0; s < run->series.count; s++) {
        const struct counter_series *series = &run->series.at[s];
        perfetto_put_track(&e->w, &(struct perfetto_track){
                                      .uuid = e->series + s,
                                      .parent = series->device != NONE    ? e->devices + series->device
                                                : series->process != NONE ? e->processes + series->process
                                                                          : 0,
                                      .name = run_text(run, series->name),
                                      .ranked = true,
                                      .rank = RANK_MAX + 1,
                                      .counter_unit = units[series->unit]});
        put_row(e, PERFETTO_ROW_CATEGORY ".counter", run_text(run, series->name), series_cells, series,
                e->series + s);
    }
}

static void put_tracks(struct perfetto_export *e, const struct export_options *options)
{
    const struct run *run = e->run;
    e->rows = 1;
    e->processes = e->rows + 1;
    e->threads = e->processes + run->processes.count;
    e->devices = e->threads + run->threads.count;
    e->streams = e->devices + run->devices.count;
    e->series = e->streams + run->streams.count;
    e->next_track = e->series + run->series.count;
    perfetto_put_track(&e->w, &(struct perfetto_track){.uuid = e->rows, .name = "Warplight recording"});
    put_run_row(e, options);
    put_provenance(e);
    put_host_tracks(e);
    put_device_tracks(e);
    put_series_tracks(e);
}

/* The track of a lane; main is lane 0, the others come into being below it. */
static uint64_t lane_track(struct perfetto_export *e, struct lane_tracks *tracks, uint64_t main,
                           uint32_t lane)
{
    while (tracks->uuids.count < lane) {
        str_cut(&e->label, 0);
        str_addf(&e->label, "lane %zu", tracks->uuids.count + 2);
        uint64_t uuid = e->next_track++;
        perfetto_put_track(&e->w, &(struct perfetto_track){.uuid = uuid,
                                                           .parent = main,
                                                           .name = str_text(&e->label),
                                                           .ranked = true,
                                                           .rank = (int32_t)(tracks->uuids.count % RANK_MAX),
                                                           .not_merged = true});
        vec_push(&tracks->uuids, uuid);
    }
    return lane == 0 ? main : tracks->uuids.at[lane - 1];
}

/* ---- slices -------------------------------------------------------------------------------------------- */

static void put_op(struct perfetto_export *e, size_t op, uint64_t track)
{
    const struct run *run = e->run;
    struct perfetto_writer *w = &e->w;
    struct op_row row = op_row(run, op);
    const struct stream *stream = &run->streams.at[run->ops.stream[op]];
    struct interval time = interval_of(run->ops.start[op], run->ops.end[op]);
    perfetto_open(w, EVENT_SLICE_BEGIN, track, time.start);
    perfetto_category(w, op_kind_names[row.kind]);
    perfetto_name(w, run->ops.name[op]);
    if (op_has_arrow(run, op))
        perfetto_flow_end(w, op + 1);
    perfetto_arg_int(w, "device", run->devices.at[stream->device].id);
    if (stream->context != UNKNOWN)
        perfetto_arg_int(w, "context", stream->context);
    perfetto_arg_int(w, "stream", stream->id);
    put_cells(w, op_cells, &row);
    if (run->ops.shape[op] != NONE)
        put_cells(w, shape_cells, &run->shapes.at[run->ops.shape[op]]);
    if (run->ops.comm[op] != NONE)
        put_cells(w, comm_cells, &run->comms.at[run->ops.comm[op]]);
    perfetto_close(w);
    perfetto_end_slice(w, track, time.end);
}

static void put_ops(struct perfetto_export *e)
{
    const struct run *run = e->run;
    struct lanes *lanes = mem_zalloc(run->streams.count, sizeof *lanes);
    struct lane_tracks *tracks = mem_zalloc(run->streams.count, sizeof *tracks);
    for (size_t i = 0; i < run->ops.count; i++) {
        if (!selects_op(&e->selection, i))
            continue;
        uint32_t stream = run->ops.stream[i];
        struct interval time = interval_of(run->ops.start[i], run->ops.end[i]);
        uint32_t lane = lanes_place(&lanes[stream], time.start, time.end);
        put_op(e, i, lane_track(e, &tracks[stream], e->streams + stream, lane));
    }
    for (size_t s = 0; s < run->streams.count; s++) {
        lanes_release(&lanes[s]);
        vec_release(&tracks[s].uuids);
    }
    free(lanes);
    free(tracks);
}

static void open_span(struct perfetto_export *e, size_t span, uint64_t track, int64_t start)
{
    const struct run *run = e->run;
    const struct span_table *spans = &run->spans;
    perfetto_open(&e->w, EVENT_SLICE_BEGIN, track, start);
    perfetto_category(&e->w, span_kind_names[spans->kind[span]]);
    perfetto_name(&e->w, spans->name[span]);
    for (uint32_t op = e->selection.first_op[span]; op != NONE; op = e->selection.next_op[op])
        if (op_has_arrow(run, op))
            perfetto_flow(&e->w, (uint64_t)op + 1);
    if (spans->id[span] && !span_is_sampled(spans, span))
        perfetto_arg_uint(&e->w, spans->kind[span] == SPAN_API ? "correlation" : "external_id",
                          spans->id[span]);
    if (spans->detail[span])
        perfetto_arg_string(&e->w, "detail", spans->detail[span]);
    perfetto_close(&e->w);
}

static void put_thread_spans(struct perfetto_export *e, uint32_t thread)
{
    const struct thread *t = &e->run->threads.at[thread];
    uint64_t main = e->threads + thread;
    struct lane_tracks tracks = {0};
    struct nest nest = {0};
    int64_t end;
    for (size_t i = t->first_span; i < (size_t)t->first_span + t->span_count; i++) {
        struct interval shown;
        if (!selects_span(&e->selection, i, &shown))
            continue;
        while (nest_close(&nest, shown.start, &end))
            perfetto_end_slice(&e->w, main, end);
        uint32_t lane = nest_place(&nest, shown.start, shown.end);
        uint64_t track = lane_track(e, &tracks, main, lane);
        open_span(e, i, track, shown.start);
        if (lane > 0)
            perfetto_end_slice(&e->w, track, shown.end);
    }
    while (nest_close(&nest, INT64_MAX, &end))
        perfetto_end_slice(&e->w, main, end);
    nest_release(&nest);
    vec_release(&tracks.uuids);
}

/* ---- waits, counters, marks
 * -------------------------------------------------------------------------------- */

struct wait_track {
    uint64_t uuid;
    struct lanes lanes;
    struct lane_tracks tracks;
};

static void put_wait(struct perfetto_export *e, const struct wait *wait, struct wait_track *t)
{
    struct interval shown;
    if (!selects_interval(&e->selection, interval_of(wait->start, wait->end), &shown))
        return;
    if (t->uuid == 0) {
        t->uuid = e->next_track++;
        uint64_t parent = wait->stream != NONE ? e->streams + wait->stream : e->rows;
        perfetto_put_track(&e->w, &(struct perfetto_track){.uuid = t->uuid,
                                                           .parent = parent,
                                                           .name = "waits",
                                                           .ranked = true,
                                                           .rank = RANK_MAX,
                                                           .not_merged = true});
    }
    uint64_t track = lane_track(e, &t->tracks, t->uuid, lanes_place(&t->lanes, shown.start, shown.end));
    perfetto_open(&e->w, EVENT_SLICE_BEGIN, track, shown.start);
    perfetto_category(&e->w, "wait");
    perfetto_name(&e->w, wait->kind);
    put_cells(&e->w, wait_cells, wait);
    perfetto_close(&e->w);
    perfetto_end_slice(&e->w, track, shown.end);
}

static void put_waits(struct perfetto_export *e)
{
    const struct run *run = e->run;
    size_t count = run->streams.count + 1; /* the last is for waits of no stream */
    struct wait_track *tracks = mem_zalloc(count, sizeof *tracks);
    vec_each (&run->waits, wait)
        put_wait(e, wait, &tracks[wait->stream != NONE ? wait->stream : run->streams.count]);
    for (size_t i = 0; i < count; i++) {
        lanes_release(&tracks[i].lanes);
        vec_release(&tracks[i].tracks.uuids);
    }
    free(tracks);
}

static void put_samples(struct perfetto_export *e)
{
    const struct sample_table *samples = &e->run->samples;
    for (size_t i = 0; i < samples->count; i++)
        if (selects_moment(&e->selection, samples->time[i]))
            perfetto_counter(&e->w, e->series + samples->series[i], samples->time[i], samples->value[i]);
}

static void put_marks(struct perfetto_export *e)
{
    vec_each (&e->run->marks, mark) {
        if (!selects_moment(&e->selection, mark->time))
            continue;
        uint64_t track = mark->thread != NONE   ? e->threads + mark->thread
                         : mark->device != NONE ? e->devices + mark->device
                                                : e->rows;
        perfetto_open(&e->w, EVENT_INSTANT, track, mark->time);
        perfetto_category(&e->w, "mark");
        perfetto_name(&e->w, mark->text);
        put_cells(&e->w, mark_cells, mark);
        perfetto_close(&e->w);
    }
}

static int perfetto_write(const struct run *run, const struct export_options *options,
                          struct export_sink *sink, struct err *err)
{
    (void)err;
    struct perfetto_export e = {.run = run};
    selection_init(&e.selection, run, options);
    int64_t first = e.selection.extent.start;
    perfetto_begin(&e.w, sink, &run->strings, first, first >= UNIX_TIME_MIN_NS);
    put_tracks(&e, options);
    for (uint32_t t = 0; t < run->threads.count; t++)
        put_thread_spans(&e, t);
    put_ops(&e);
    put_waits(&e);
    put_samples(&e);
    put_marks(&e);
    perfetto_release(&e.w);
    selection_release(&e.selection);
    str_release(&e.label);
    return 0;
}

const struct exporter export_perfetto = {
    .name = "perfetto",
    .title = N_("Perfetto protobuf trace, for ui.perfetto.dev"),
    .extension = ".pftrace",
    .write = perfetto_write,
};
