/* What our own export wrote: rows of the run's small tables, held by instants, and slices that are ops, spans
 * and waits of it (export/perfetto.c, doc/formats/exports.md). */
#include <string.h>

#include "base/i18n.h"
#include "import/perfetto_import.h"
#include "model/perfetto.h"

static const struct cell no_cells[] = {{.key = NULL}};

static const struct {
    const char *category;
    const struct cell *cells;
} tables[TABLE_COUNT] = {
    [TABLE_RUN] = {PERFETTO_ROW_CATEGORY ".run", no_cells},
    [TABLE_SOURCE] = {PERFETTO_ROW_CATEGORY ".source", source_cells},
    [TABLE_REPAIR] = {PERFETTO_ROW_CATEGORY ".repair", repair_cells},
    [TABLE_FACT] = {PERFETTO_ROW_CATEGORY ".fact", fact_cells},
    [TABLE_LOSSES] = {PERFETTO_ROW_CATEGORY ".losses", losses_cells},
    [TABLE_DEVICE] = {PERFETTO_ROW_CATEGORY ".device", device_cells},
    [TABLE_PROCESS] = {PERFETTO_ROW_CATEGORY ".process", process_cells},
    [TABLE_THREAD] = {PERFETTO_ROW_CATEGORY ".thread", thread_cells},
    [TABLE_STREAM] = {PERFETTO_ROW_CATEGORY ".stream", stream_cells},
    [TABLE_SERIES] = {PERFETTO_ROW_CATEGORY ".counter", series_cells},
    [TABLE_OP] = {NULL, op_cells},
    [TABLE_SHAPE] = {NULL, shape_cells},
    [TABLE_COMM] = {NULL, comm_cells},
    [TABLE_MARK] = {NULL, mark_cells},
    [TABLE_WAIT] = {NULL, wait_cells},
};

static void fill_cell(struct perfetto_import *in, const struct cell *cell, const struct perfetto_value *value,
                      void *row)
{
    const struct intern *strings = &in->run->strings;
    bool stored = true;
    if (value->type == VALUE_ARRAY)
        for (int i = 0; i < cell->count && i < PERFETTO_ARRAY_MAX; i++)
            stored &= cell_set(cell, row, i, value->array[i]);
    else if (cell->type == CELL_TEXT && value->type == VALUE_TEXT)
        stored = cell_set(cell, row, 0, value->text);
    else if (cell->type == CELL_ENUM && value->type == VALUE_TEXT)
        stored = cell_set(cell, row, 0,
                          cell_name_find(cell->names, intern_text(strings, value->text),
                                         intern_length(strings, value->text)));
    else if (cell->type != CELL_TEXT && cell->type != CELL_ENUM && value->type == VALUE_INT)
        stored = cell_set(cell, row, 0, value->number);
    else
        stored = value->type == VALUE_ABSENT;
    if (!stored)
        run_repair(in->run, in->source, N_("values that do not fit their meaning were left out"), 1,
                   in->packets.offset);
}

/* Fills a row from the annotations of the event; returns whether it has any of the table's. */
static bool fill_row(struct perfetto_import *in, enum perfetto_table table,
                     const struct perfetto_event *event, void *row)
{
    const struct cell *cells = tables[table].cells;
    bool any = false;
    cells_clear(cells, row);
    for (int i = 0; cells[i].key; i++) {
        const struct perfetto_value *value = &event->values[in->keys[table][i]];
        any |= value->type != VALUE_ABSENT;
        fill_cell(in, &cells[i], value, row);
    }
    return any;
}

/* ---- rows of our own export
 * ----------------------------------------------------------------------------------- */

static uint32_t mapped_row(const struct perfetto_import *in, enum perfetto_table table, int64_t row)
{
    return row >= 0 && (uint64_t)row < in->rows[table].count ? in->rows[table].at[row] : NONE;
}

/* Sources come back one for one: the first is the trace itself, as each of the rest is. */
static uint32_t restore_source(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct run *run = in->run;
    struct source row = {0};
    fill_row(in, TABLE_SOURCE, event, &row);
    uint32_t at = in->source;
    if (in->rows[TABLE_SOURCE].count > 0) {
        const struct source *first = &run->sources.at[in->source];
        at = run_add_source(run, run_text(run, first->path), run_text(run, first->format));
    }
    struct source *source = &run->sources.at[at];
    source->tool = row.tool;
    source->rank = row.rank;
    source->world_size = row.world_size;
    run_fact(run, at, "original_path", run_text(run, row.path), intern_length(&run->strings, row.path));
    return at;
}

static void restore_repair(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct repair row = {0};
    fill_row(in, TABLE_REPAIR, event, &row);
    uint32_t source = mapped_row(in, TABLE_SOURCE, perfetto_int_or(event, in->key_source_row, -1));
    if (source != NONE && row.count > 0 && row.count <= UINT32_MAX)
        run_repair(in->run, source, run_text(in->run, row.text), row.count, row.first_offset);
}

static void restore_fact(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct fact row = {0};
    fill_row(in, TABLE_FACT, event, &row);
    row.source = mapped_row(in, TABLE_SOURCE, row.source);
    if (row.source != NONE)
        vec_push(&in->run->facts, row);
}

static void add_loss(int64_t *sum, int64_t more)
{
    int64_t total;
    if (more > 0 && !__builtin_add_overflow(*sum, more, &total))
        *sum = total;
}

static void restore_losses(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct losses row = {0}, *all = &in->run->losses;
    fill_row(in, TABLE_LOSSES, event, &row);
    add_loss(&all->dropped, row.dropped);
    add_loss(&all->untimed, row.untimed);
    add_loss(&all->malformed, row.malformed);
    add_loss(&all->truncated_bytes, row.truncated_bytes);
}

static uint32_t restore_device(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct device row = {0};
    fill_row(in, TABLE_DEVICE, event, &row);
    row.source = mapped_row(in, TABLE_SOURCE, row.source);
    if (row.source == NONE)
        return NONE;
    uint32_t at = run_device(in->run, row.source, row.id);
    in->run->devices.at[at] = row;
    return at;
}

static uint32_t restore_process(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct process row = {0};
    fill_row(in, TABLE_PROCESS, event, &row);
    row.source = mapped_row(in, TABLE_SOURCE, row.source);
    if (row.source == NONE)
        return NONE;
    uint32_t at = run_process(in->run, row.source, row.pid);
    in->run->processes.at[at] = row;
    return at;
}

static uint32_t restore_thread(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct thread row = {0};
    fill_row(in, TABLE_THREAD, event, &row);
    row.process = mapped_row(in, TABLE_PROCESS, row.process);
    if (row.process == NONE)
        return NONE;
    uint32_t at = run_thread(in->run, row.process, row.tid);
    in->run->threads.at[at].name = row.name;
    return at;
}

static uint32_t restore_stream(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct stream row = {0};
    fill_row(in, TABLE_STREAM, event, &row);
    row.device = mapped_row(in, TABLE_DEVICE, row.device);
    if (row.device == NONE)
        return NONE;
    uint32_t process = mapped_row(in, TABLE_PROCESS, row.process);
    uint32_t at = run_stream(in->run, process, row.device, row.context, row.id);
    in->run->streams.at[at].name = row.name;
    return at;
}

static uint32_t restore_series(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct counter_series row = {0};
    fill_row(in, TABLE_SERIES, event, &row);
    return run_series(in->run, run_text(in->run, row.name), mapped_row(in, TABLE_DEVICE, row.device),
                      mapped_row(in, TABLE_PROCESS, row.process), row.unit);
}

static uint32_t restore(struct perfetto_import *in, enum perfetto_table table,
                        const struct perfetto_event *event)
{
    switch (table) {
    case TABLE_RUN:
        in->own = true;
        in->time_offset_ns = perfetto_int_or(event, in->key_time_offset, 0);
        return NONE;
    case TABLE_SOURCE:
        return restore_source(in, event);
    case TABLE_REPAIR:
        restore_repair(in, event);
        return NONE;
    case TABLE_FACT:
        restore_fact(in, event);
        return NONE;
    case TABLE_LOSSES:
        restore_losses(in, event);
        return NONE;
    case TABLE_DEVICE:
        return restore_device(in, event);
    case TABLE_PROCESS:
        return restore_process(in, event);
    case TABLE_THREAD:
        return restore_thread(in, event);
    case TABLE_STREAM:
        return restore_stream(in, event);
    case TABLE_SERIES:
        return restore_series(in, event);
    default:
        return NONE;
    }
}

static void take_row(struct perfetto_import *in, const struct perfetto_event *event, const char *category)
{
    for (enum perfetto_table table = 0; table < TABLE_INSTANTS; table++) {
        if (strcmp(category, tables[table].category) != 0)
            continue;
        uint32_t row = restore(in, table, event);
        vec_push(&in->rows[table], row);
        if (row != NONE && event->values[in->key_track].type == VALUE_INT) {
            struct track *track = perfetto_track(in, (uint64_t)event->values[in->key_track].number);
            track->table = table;
            track->row = row;
        }
    }
}

/* ---- slices and marks ------------------------------------------------------------------------------------
 */

static bool take_op(struct perfetto_import *in, const struct perfetto_event *event, const struct track *track)
{
    uint32_t stream = perfetto_track_row(in, track, TABLE_STREAM);
    if (stream == NONE)
        return false;
    struct op_row row = {0};
    struct shape shape = {0};
    struct comm comm = {0};
    fill_row(in, TABLE_OP, event, &row);
    size_t op = perfetto_add_op(in, event, track, stream, &row);
    if (fill_row(in, TABLE_SHAPE, event, &shape))
        in->run->ops.shape[op] = run_shape(in->run, &shape);
    if (fill_row(in, TABLE_COMM, event, &comm)) {
        in->run->ops.comm[op] = (uint32_t)in->run->comms.count;
        vec_push(&in->run->comms, comm);
    }
    return true;
}

static bool take_wait(struct perfetto_import *in, const struct perfetto_event *event,
                      const struct track *track)
{
    struct wait wait = {0};
    fill_row(in, TABLE_WAIT, event, &wait);
    wait.start = event->time;
    wait.kind = event->name;
    wait.stream = mapped_row(in, TABLE_STREAM, wait.stream);
    wait.on_stream = mapped_row(in, TABLE_STREAM, wait.on_stream);
    vec_push(&in->run->waits, wait);
    perfetto_add_slice(in, track, event->time, SLICE_WAIT, in->run->waits.count - 1);
    return true;
}

static bool take_span(struct perfetto_import *in, const struct perfetto_event *event,
                      const struct track *track, int64_t kind)
{
    uint32_t thread = perfetto_track_row(in, track, TABLE_THREAD);
    if (thread == NONE)
        return false;
    struct span_table *spans = &in->run->spans;
    size_t span = span_table_add(spans);
    spans->comm[span] = NONE;
    spans->start[span] = event->time;
    spans->name[span] = event->name;
    spans->thread[span] = (uint32_t)(track - in->tracks.at); /* as all spans, until the end */
    spans->kind[span] = (uint8_t)kind;
    spans->id[span] =
        (uint64_t)perfetto_int_or(event, kind == SPAN_API ? in->key_correlation : in->key_external, 0);
    if (event->values[in->key_detail].type == VALUE_TEXT)
        spans->detail[span] = event->values[in->key_detail].text;
    perfetto_add_slice(in, track, event->time, SLICE_SPAN, span);
    return true;
}

bool perfetto_own_slice(struct perfetto_import *in, const struct perfetto_event *event,
                        const struct track *track, const char *category)
{
    if (!in->own)
        return false;
    int64_t kind = cell_name_find(span_kind_names, category, strlen(category));
    if (kind >= 0)
        return take_span(in, event, track, kind);
    if (cell_name_find(op_kind_names, category, strlen(category)) >= 0)
        return take_op(in, event, track);
    if (strcmp(category, "wait") == 0)
        return take_wait(in, event, track);
    return false;
}

static void take_mark(struct perfetto_import *in, const struct perfetto_event *event)
{
    struct mark mark = {0};
    fill_row(in, TABLE_MARK, event, &mark);
    mark.thread = mapped_row(in, TABLE_THREAD, mark.thread);
    mark.device = mapped_row(in, TABLE_DEVICE, mark.device);
    mark.time = event->time;
    mark.text = event->name;
    vec_push(&in->run->marks, mark);
    vec_push(&in->mark_tracks, NONE);
}

bool perfetto_own_instant(struct perfetto_import *in, const struct perfetto_event *event,
                          const char *category)
{
    if (strncmp(category, PERFETTO_ROW_CATEGORY ".", strlen(PERFETTO_ROW_CATEGORY ".")) == 0) {
        take_row(in, event, category);
        return true;
    }
    if (!in->own || strcmp(category, "mark") != 0)
        return false;
    take_mark(in, event);
    return true;
}

void perfetto_own_init(struct perfetto_import *in)
{
    struct perfetto_packets *p = &in->packets;
    for (enum perfetto_table table = 0; table < TABLE_COUNT; table++)
        for (int i = 0; i < CELLS_MAX && tables[table].cells[i].key; i++)
            in->keys[table][i] = perfetto_key(p, tables[table].cells[i].key);
    in->key_track = perfetto_key(p, "track");
    in->key_source_row = perfetto_key(p, "source_row");
    in->key_time_offset = perfetto_key(p, "time_offset_ns");
    in->key_correlation = perfetto_key(p, "correlation");
    in->key_external = perfetto_key(p, "external_id");
    in->key_detail = perfetto_key(p, "detail");
}

void perfetto_own_release(struct perfetto_import *in)
{
    for (enum perfetto_table table = 0; table < TABLE_INSTANTS; table++)
        vec_release(&in->rows[table]);
}
