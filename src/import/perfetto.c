/* Perfetto protobuf traces. Tracks and slices become threads and host spans; what our own export wrote comes
 * back as the run that it was (perfetto_own.c); kernel dispatches and copies of rocprofv3 become ops
 * (perfetto_rocprof.c).
 *
 * Records come in no particular order: begins and ends are collected and matched by track and time
 * afterwards, and which thread a track is may be said after its events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/sort.h"
#include "base/str.h"
#include "import/perfetto_import.h"
#include "model/perfetto.h"

TABLE_DEFINE(slice_table, SLICE_EVENTS)

enum { PARENTS_MAX = 32 };

/* ---- tracks -------------------------------------------------------------------------------------------- */

struct track *perfetto_track(struct perfetto_import *in, uint64_t uuid)
{
    uint32_t at = map_get(&in->by_uuid, uuid);
    if (at != MAP_ABSENT)
        return &in->tracks.at[at];
    map_set(&in->by_uuid, uuid, (uint32_t)in->tracks.count);
    struct track *track = vec_new(&in->tracks);
    *track =
        (struct track){.uuid = uuid, .multiplier = 1, .row = NONE, .run_thread = NONE, .run_series = NONE};
    return track;
}

static const struct track *parent_of(const struct perfetto_import *in, const struct track *track)
{
    uint32_t at = track->parent ? map_get(&in->by_uuid, track->parent) : MAP_ABSENT;
    return at == MAP_ABSENT ? NULL : &in->tracks.at[at];
}

uint32_t perfetto_track_row(const struct perfetto_import *in, const struct track *track,
                            enum perfetto_table table)
{
    for (int i = 0; track && i < PARENTS_MAX; i++, track = parent_of(in, track))
        if (track->row != NONE && track->table == table)
            return track->row;
    return NONE;
}

static uint32_t process_of(struct perfetto_import *in, int64_t pid, uint32_t name)
{
    uint32_t process = run_process(in->run, in->source, pid);
    if (name)
        in->run->processes.at[process].name = name;
    if (in->process == NONE)
        in->process = process;
    return process;
}

/* A track may be described in several packets; each says what it knows. */
static void take_track(void *context, const struct perfetto_descriptor *d)
{
    struct perfetto_import *in = context;
    struct track *track = perfetto_track(in, d->uuid);
    track->parent = d->parent ? d->parent : track->parent;
    track->name = d->name ? d->name : track->name;
    if (d->process || d->thread) {
        track->process |= d->process;
        track->thread |= d->thread;
        track->pid = d->pid;
        track->tid = d->thread ? d->tid : track->tid;
        track->system_name = d->system_name ? d->system_name : track->system_name;
    }
    if (d->process && !in->own)
        process_of(in, d->pid, d->system_name);
    if (d->counter) {
        track->incremental = d->incremental;
        track->multiplier = d->multiplier;
        track->unit = d->unit;
    }
}

/* The process of a track that is no thread; where the trace says nothing, the first that it describes. */
static uint32_t track_process(struct perfetto_import *in, const struct track *track)
{
    for (int i = 0; track && i < PARENTS_MAX; i++, track = parent_of(in, track))
        if (track->process)
            return process_of(in, track->pid, track->system_name);
    return in->process != NONE ? in->process : process_of(in, 0, 0);
}

/* Tracks below a thread's belong to it. One that belongs to no thread is a thread of its own, with a negative
 * number that no system gives. */
static uint32_t track_thread(struct perfetto_import *in, uint32_t index)
{
    struct track *track = &in->tracks.at[index];
    if (track->run_thread != NONE)
        return track->run_thread;
    track->run_thread = perfetto_track_row(in, track, TABLE_THREAD);
    const struct track *up = track;
    for (int i = 0; up && track->run_thread == NONE && i < PARENTS_MAX; i++, up = parent_of(in, up)) {
        if (!up->thread)
            continue;
        track->run_thread = run_thread(in->run, process_of(in, up->pid, 0), up->tid);
        if (up->system_name)
            in->run->threads.at[track->run_thread].name = up->system_name;
    }
    if (track->run_thread == NONE) {
        int64_t tid = track->tid_hint ? track->tid_hint : -(int64_t)index - 1;
        track->run_thread = run_thread(in->run, track_process(in, track), tid);
        if (track->name)
            in->run->threads.at[track->run_thread].name = track->name;
    }
    return track->run_thread;
}

static uint32_t track_series(struct perfetto_import *in, uint32_t index)
{
    struct track *track = &in->tracks.at[index];
    if (track->run_series == NONE)
        track->run_series = perfetto_track_row(in, track, TABLE_SERIES);
    if (track->run_series == NONE)
        track->run_series =
            run_series(in->run, run_text(in->run, track->name), NONE, track_process(in, track),
                       track->unit == COUNTER_UNIT_BYTES ? UNIT_BYTES : UNIT_NONE);
    return track->run_series;
}

/* ---- events -------------------------------------------------------------------------------------------- */

void perfetto_add_slice(struct perfetto_import *in, const struct track *track, int64_t time,
                        enum slice_what what, size_t row)
{
    size_t at = slice_table_add(&in->slices);
    in->slices.time[at] = time;
    in->slices.track[at] = (uint32_t)(track - in->tracks.at);
    in->slices.what[at] = (uint8_t)what;
    in->slices.row[at] = (uint32_t)row;
}

size_t perfetto_add_op(struct perfetto_import *in, const struct perfetto_event *event,
                       const struct track *track, uint32_t stream, const struct op_row *row)
{
    struct op_table *ops = &in->run->ops;
    size_t op = op_table_add(ops);
    ops->start[op] = event->time;
    ops->name[op] = event->name;
    ops->stream[op] = stream;
    ops->shape[op] = NONE;
    ops->comm[op] = NONE;
    op_row_store(in->run, op, row);
    perfetto_add_slice(in, track, event->time, SLICE_OP, op);
    return op;
}

/* Tools that trace an API in a category of its own call it hip_api, hsa_api, cuda_api, …, and their markers'
 * marker_api. */
static enum span_kind foreign_kind(const char *category)
{
    if (strcmp(category, "marker_api") == 0 || strcmp(category, "nvtx") == 0)
        return SPAN_ANNOTATION;
    return text_ends_with(category, strlen(category), "_api") ? SPAN_API : SPAN_OTHER;
}

static void add_span(struct perfetto_import *in, const struct perfetto_event *event, struct track *track,
                     const char *category)
{
    struct span_table *spans = &in->run->spans;
    size_t span = span_table_add(spans);
    spans->comm[span] = NONE;
    spans->start[span] = event->time;
    spans->name[span] = event->name;
    spans->thread[span] = (uint32_t)(track - in->tracks.at); /* until resolve() */
    spans->kind[span] = (uint8_t)foreign_kind(category);
    spans->id[span] = (uint64_t)perfetto_int_or(event, in->key_corr_id, 0);
    spans->detail[span] = event->category;
    if (track->tid_hint == 0)
        track->tid_hint = perfetto_int_or(event, in->key_tid, 0);
    perfetto_add_slice(in, track, event->time, SLICE_SPAN, span);
}

static void add_mark(struct perfetto_import *in, const struct perfetto_event *event,
                     const struct track *track)
{
    vec_push(
        &in->run->marks,
        ((struct mark){
            .time = event->time, .kind = MARK_INSTANT, .text = event->name, .thread = NONE, .device = NONE}));
    vec_push(&in->mark_tracks, (uint32_t)(track - in->tracks.at));
}

static void add_sample(struct perfetto_import *in, const struct perfetto_event *event,
                       const struct track *track)
{
    struct sample_table *samples = &in->run->samples;
    size_t at = sample_table_add(samples);
    samples->time[at] = event->time;
    samples->value[at] = event->counter;
    samples->series[at] = (uint32_t)(track - in->tracks.at); /* until resolve() */
}

static void take_event(void *context, const struct perfetto_event *event)
{
    struct perfetto_import *in = context;
    const char *category = run_text(in->run, event->category);
    struct track *track = perfetto_track(in, event->track);
    switch (event->type) {
    case EVENT_SLICE_BEGIN:
        if (!perfetto_own_slice(in, event, track, category) &&
            !perfetto_rocprof_slice(in, event, track, category))
            add_span(in, event, track, category);
        break;
    case EVENT_SLICE_END:
        perfetto_add_slice(in, track, event->time, SLICE_END, 0);
        break;
    case EVENT_INSTANT:
        if (!perfetto_own_instant(in, event, category))
            add_mark(in, event, track);
        break;
    case EVENT_COUNTER:
        add_sample(in, event, track);
        break;
    default:
        in->run->losses.malformed++;
        run_repair(in->run, in->source, N_("events of a kind that is not read were left out"), 1,
                   in->packets.offset);
    }
}

/* ---- the second pass -------------------------------------------------------------------------------------
 */

static void set_end(struct perfetto_import *in, size_t slice, int64_t time)
{
    uint32_t row = in->slices.row[slice];
    switch ((enum slice_what)in->slices.what[slice]) {
    case SLICE_SPAN:
        in->run->spans.end[row] = time;
        break;
    case SLICE_OP:
        in->run->ops.end[row] = time;
        break;
    case SLICE_WAIT:
        in->run->waits.at[row].end = time;
        break;
    case SLICE_END:
        break;
    }
}

static void sort_slices(struct perfetto_import *in)
{
    uint32_t *order = sort_order(&(struct sort_rows){.count = in->slices.count,
                                                     .group = in->slices.track,
                                                     .groups = (uint32_t)in->tracks.count,
                                                     .time = in->slices.time});
    if (order)
        slice_table_permute(&in->slices, order);
    free(order);
}

/* An end closes the innermost slice that is open on its track. What stays open ran until the end of the
 * trace. */
static void match_slices(struct perfetto_import *in)
{
    const struct slice_table *slices = &in->slices;
    VEC(uint32_t) open = {0};
    int64_t last = INT64_MIN, unclosed = 0, unopened = 0;
    for (size_t i = 0; i < slices->count; i++)
        last = max_ns(last, slices->time[i]);
    for (size_t i = 0; i <= slices->count; i++) {
        bool track_ends = i == slices->count || (i > 0 && slices->track[i] != slices->track[i - 1]);
        for (; track_ends && open.count > 0; unclosed++)
            set_end(in, open.at[--open.count], last);
        if (i == slices->count)
            break;
        if (slices->what[i] != SLICE_END)
            vec_push(&open, (uint32_t)i);
        else if (open.count > 0)
            set_end(in, open.at[--open.count], slices->time[i]);
        else
            unopened++;
    }
    vec_release(&open);
    if (unclosed)
        run_repair(in->run, in->source, N_("slices without an end were ended with the trace"), unclosed, -1);
    if (unopened)
        run_repair(in->run, in->source, N_("ends of slices without a beginning were left out"), unopened, -1);
    in->run->losses.malformed += unopened;
}

static void resolve(struct perfetto_import *in)
{
    struct run *run = in->run;
    for (size_t i = in->first_span; i < run->spans.count; i++)
        run->spans.thread[i] = track_thread(in, run->spans.thread[i]);
    for (size_t i = 0; i < in->mark_tracks.count; i++)
        if (in->mark_tracks.at[i] != NONE)
            run->marks.at[in->first_mark + i].thread = track_thread(in, in->mark_tracks.at[i]);
    for (size_t i = in->first_sample; i < run->samples.count; i++) {
        struct track *track = &in->tracks.at[run->samples.series[i]];
        double *value = &run->samples.value[i];
        if (track->incremental)
            *value = track->sum += *value;
        *value *= (double)track->multiplier;
        run->samples.series[i] = track_series(in, run->samples.series[i]);
    }
}

/* From the clock of the trace to that of the run: the one that our own export read, else ns since 1970 if
 * known. */
static void shift_times(struct perfetto_import *in)
{
    struct run *run = in->run;
    int64_t by = in->own ? (int64_t)(0 - (uint64_t)in->time_offset_ns) : perfetto_unix_offset(&in->packets);
    if (by >= PERFETTO_TIME_MAX || by <= -PERFETTO_TIME_MAX)
        by = 0;
    run->sources.at[in->source].base_ns = by;
    for (size_t i = in->first_span; i < run->spans.count; i++) {
        run->spans.start[i] += by;
        run->spans.end[i] += by;
    }
    for (size_t i = in->first_op; i < run->ops.count; i++) {
        run->ops.start[i] += by;
        run->ops.end[i] += by;
    }
    for (size_t i = in->first_wait; i < run->waits.count; i++) {
        run->waits.at[i].start += by;
        run->waits.at[i].end += by;
    }
    for (size_t i = in->first_mark; i < run->marks.count; i++)
        run->marks.at[i].time += by;
    for (size_t i = in->first_sample; i < run->samples.count; i++)
        run->samples.time[i] += by;
}

static int perfetto_read(struct run *run, struct stream *stream, const struct import_options *options,
                         struct err *err)
{
    struct perfetto_import in = {.run = run,
                                 .process = NONE,
                                 .first_span = run->spans.count,
                                 .first_op = run->ops.count,
                                 .first_sample = run->samples.count,
                                 .first_mark = run->marks.count,
                                 .first_wait = run->waits.count};
    in.source = run_add_source(run, stream_path(stream), "Perfetto trace");
    in.packets = (struct perfetto_packets){
        .run = run,
        .source = in.source,
        .handler = {.event = take_event, .track = take_track, .context = &in},
    };
    run->sources.at[in.source].bytes = stream_size(stream);
    perfetto_own_init(&in);
    perfetto_rocprof_init(&in);
    in.key_tid = perfetto_key(&in.packets, "tid");
    in.key_corr_id = perfetto_key(&in.packets, "corr_id");
    int status = perfetto_packets_read(&in.packets, stream, options, err);
    sort_slices(&in);
    match_slices(&in);
    resolve(&in);
    shift_times(&in);
    perfetto_packets_release(&in.packets);
    perfetto_own_release(&in);
    slice_table_release(&in.slices);
    vec_release(&in.tracks);
    vec_release(&in.mark_tracks);
    map_release(&in.by_uuid);
    return status;
}

const struct importer import_perfetto = {
    .name = "perfetto",
    .title = N_("Perfetto protobuf trace"),
    .sniff = perfetto_sniff,
    .read = perfetto_read,
};
