/* The small tables of a recording: sources, devices, processes, threads, streams and so on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "import/wlt_import.h"

/* Real ids are not negative, or hardly: what stands for a lost row cannot be taken for another. */
#define LOST_ID(number) ((int64_t)INT32_MIN - (int64_t)(number))

enum { SERIES_MAX = 16384 }; /* run_series() searches them one by one */

void wlt_rows_init(struct wlt_import *in)
{
    static const size_t sizes[WLT_TABLES] = {
        [WLT_SOURCES] = sizeof(struct source),
        [WLT_REPAIRS] = sizeof(struct wlt_repair_row),
        [WLT_FACTS] = sizeof(struct fact),
        [WLT_LOSSES] = sizeof(struct losses),
        [WLT_DEVICES] = sizeof(struct device),
        [WLT_PROCESSES] = sizeof(struct process),
        [WLT_THREADS] = sizeof(struct thread),
        [WLT_STREAMS] = sizeof(struct stream),
        [WLT_SHAPES] = sizeof(struct shape),
        [WLT_COMMS] = sizeof(struct comm),
        [WLT_SERIES] = sizeof(struct counter_series),
    };
    for (int table = 0; table < WLT_TABLES; table++)
        in->rows[table].size = sizes[table];
}

void wlt_rows_release(struct wlt_import *in)
{
    for (int table = 0; table < WLT_TABLES; table++) {
        struct wlt_rows *rows = &in->rows[table];
        free(rows->at);
        map_release(&rows->by_number);
        vec_release(&rows->numbers);
        vec_release(&rows->mapped);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static const struct cell *find_cell(const struct cell *const *lists, const struct wlt_column_data *column)
{
    for (; *lists; lists++)
        for (const struct cell *cell = *lists; cell->key; cell++)
            if (wlt_column_is(column, cell->key))
                return cell;
    return NULL;
}

/* Rows as the chunk has them; at says where each lies in memory. */
struct target {
    char *at;
    size_t size;
    const int64_t *index; /* NULL: one after the other */
};

static void *target_row(const struct target *target, size_t i)
{
    return target->at + (target->index ? (size_t)target->index[i] : i) * target->size;
}

static void set_cell(struct wlt_import *in, const struct cell *cell, void *row, int i, int64_t value)
{
    if (cell->type == CELL_ROW)
        value = value == 0 ? NONE : value - 1;
    if (!cell_set(cell, row, i, value))
        in->misfits++;
}

static bool read_cells(struct wlt_import *in, struct wlt_payload *payload, const struct cell *const *lists,
                       const struct target *target)
{
    size_t count = in->chunks.chunk.rows;
    struct wlt_column_data column;
    for (const struct cell *const *list = lists; *list; list++)
        for (size_t r = 0; r < count; r++)
            cells_clear(*list, target_row(target, r));
    while (wlt_payload_next(payload, &column)) {
        const struct cell *cell = find_cell(lists, &column);
        if (!cell) {
            in->unknown_columns++;
            continue;
        }
        if (!wlt_import_values(in, &column, count * cell->count))
            return false;
        for (size_t r = 0; r < count; r++)
            for (int i = 0; i < cell->count; i++)
                set_cell(in, cell, target_row(target, r), i, in->values[r * cell->count + (size_t)i]);
    }
    return payload->columns_left == 0;
}

static uint32_t row_index(struct wlt_rows *rows, uint32_t number)
{
    uint32_t index = map_get(&rows->by_number, number);
    if (index != MAP_ABSENT)
        return index;
    index = (uint32_t)rows->count;
    vec_grow_((void **)&rows->at, &rows->count, &rows->cap, rows->size);
    vec_push(&rows->numbers, number);
    vec_push(&rows->mapped, NONE);
    map_set(&rows->by_number, number, index);
    return index;
}

bool wlt_read_small(struct wlt_import *in, enum wlt_table table)
{
    struct wlt_rows *rows = &in->rows[table];
    struct wlt_payload payload;
    struct wlt_column_data column;
    size_t count = in->chunks.chunk.rows;
    if (!wlt_payload_open(&payload, in->chunks.payload, in->chunks.length) ||
        !wlt_payload_next(&payload, &column) || !wlt_column_is(&column, "row") ||
        !wlt_column_values(&column, in->numbers, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (in->numbers[i] < 0 || in->numbers[i] >= NONE)
            return false;
    for (size_t i = 0; i < count; i++)
        in->numbers[i] = row_index(rows, (uint32_t)in->numbers[i]);
    struct target target = {rows->at, rows->size, in->numbers};
    return read_cells(in, &payload, wlt_cells(table), &target);
}

bool wlt_read_appended(struct wlt_import *in, enum wlt_table table, void *rows, size_t size)
{
    struct wlt_payload payload;
    struct target target = {rows, size, NULL};
    return wlt_payload_open(&payload, in->chunks.payload, in->chunks.length) &&
           read_cells(in, &payload, wlt_cells(table), &target);
}

/* ---- references ---------------------------------------------------------------------------------------- */

uint32_t wlt_text(struct wlt_import *in, uint32_t id)
{
    uint32_t text = id == 0 ? 0 : map_get(&in->strings, id);
    if (text != MAP_ABSENT)
        return text;
    in->lost_texts++;
    return 0;
}

uint32_t wlt_name(struct wlt_import *in, uint32_t id)
{
    if (id == 0 || map_get(&in->strings, id) != MAP_ABSENT)
        return wlt_text(in, id);
    char name[40];
    int length = snprintf(name, sizeof name, "(lost name %" PRIu32 ")", id);
    uint32_t text = intern_add(&in->run->strings, name, (size_t)length);
    map_set(&in->strings, id, text);
    in->lost_texts++;
    return text;
}

static uint32_t lost_name(struct wlt_import *in, const char *what, uint32_t number)
{
    char name[40];
    int length = snprintf(name, sizeof name, "(lost %s %" PRIu32 ")", what, number);
    return intern_add(&in->run->strings, name, (size_t)length);
}

static uint32_t lost_process(struct wlt_import *in, uint32_t number)
{
    uint32_t at = run_process(in->run, in->source, LOST_ID(number));
    in->run->processes.at[at].name = lost_name(in, "process", number);
    return at;
}

static uint32_t lost_device(struct wlt_import *in, uint32_t number)
{
    uint32_t at = run_device(in->run, in->source, LOST_ID(number));
    in->run->devices.at[at].name = lost_name(in, "device", number);
    return at;
}

/* Of which process or device a lost thread or stream was: the only one that there is, if so. */
static uint32_t only_row(struct wlt_import *in, enum wlt_table table)
{
    const struct wlt_rows *rows = &in->rows[table];
    if (rows->count == 1 && rows->mapped.at[0] != NONE)
        return rows->mapped.at[0];
    return wlt_row(in, table, NONE - 1);
}

static uint32_t lost_row(struct wlt_import *in, enum wlt_table table, uint32_t number)
{
    struct run *run = in->run;
    uint32_t at;
    switch (table) {
    case WLT_SOURCES:
        return in->source;
    case WLT_PROCESSES:
        return lost_process(in, number);
    case WLT_DEVICES:
        return lost_device(in, number);
    case WLT_THREADS:
        at = run_thread(run, only_row(in, WLT_PROCESSES), LOST_ID(number));
        run->threads.at[at].name = lost_name(in, "thread", number);
        return at;
    case WLT_STREAMS:
        at =
            run_stream(run, only_row(in, WLT_PROCESSES), only_row(in, WLT_DEVICES), UNKNOWN, LOST_ID(number));
        run->streams.at[at].name = lost_name(in, "stream", number);
        return at;
    default:
        return NONE;
    }
}

uint32_t wlt_row(struct wlt_import *in, enum wlt_table table, uint32_t number)
{
    struct wlt_rows *rows = &in->rows[table];
    if (number == NONE)
        return NONE;
    uint32_t index = map_get(&rows->by_number, number);
    if (index != MAP_ABSENT)
        return rows->mapped.at[index];
    in->lost_rows++;
    uint32_t row = lost_row(in, table, number);
    index = row_index(rows, number);
    rows->mapped.at[index] = row;
    return row;
}

/* A reference that must not be none. */
static uint32_t owner_row(struct wlt_import *in, enum wlt_table table, uint32_t number)
{
    return wlt_row(in, table, number == NONE ? NONE - 1 : number);
}

/* ---- placing ------------------------------------------------------------------------------------------- */

/* "Warplight recording 1.0 of torch.profiler JSON", also when it is a recording of a recording of that. */
static void name_format(struct wlt_import *in, struct str *out, const char *was)
{
    static const char own[] = "Warplight recording", of[] = " of ";
    str_puts(out, own);
    if (in->header.major > 0)
        str_addf(out, " %d.%d", in->header.major, in->header.minor);
    const char *inner = was;
    if (strncmp(was, own, strlen(own)) == 0) {
        inner = strstr(was, of);
        inner = inner ? inner + strlen(of) : "";
    }
    if (*inner)
        str_addf(out, "%s%s", of, inner);
}

static void describe_source(struct wlt_import *in, uint32_t at, const struct source *row)
{
    struct str format = {0};
    name_format(in, &format, run_text(in->run, wlt_text(in, row->format)));
    struct source *source = &in->run->sources.at[at];
    source->format = intern_add(&in->run->strings, str_text(&format), format.len);
    source->tool = wlt_text(in, row->tool);
    source->rank = row->rank;
    source->world_size = row->world_size;
    str_release(&format);
}

/* Sources come back one for one: the first is the file itself, as each of the rest is. */
static uint32_t place_source(struct wlt_import *in, uint32_t number, const struct source *row)
{
    struct run *run = in->run;
    uint32_t at = in->source;
    if (number != 0)
        at = run_add_source(run, run_text(run, run->sources.at[in->source].path), "");
    describe_source(in, at, row);
    return at;
}

static uint32_t place_device(struct wlt_import *in, const struct device *row)
{
    uint32_t source = owner_row(in, WLT_SOURCES, row->source);
    uint32_t at = run_device(in->run, source, row->id);
    struct device *device = &in->run->devices.at[at];
    *device = *row;
    device->source = source;
    device->name = wlt_text(in, row->name);
    device->uuid = wlt_text(in, row->uuid);
    return at;
}

static uint32_t place_process(struct wlt_import *in, const struct process *row)
{
    uint32_t source = owner_row(in, WLT_SOURCES, row->source);
    uint32_t at = run_process(in->run, source, row->pid);
    struct process *process = &in->run->processes.at[at];
    *process = *row;
    process->source = source;
    process->name = wlt_text(in, row->name);
    return at;
}

static uint32_t place_thread(struct wlt_import *in, const struct thread *row)
{
    uint32_t at = run_thread(in->run, owner_row(in, WLT_PROCESSES, row->process), row->tid);
    in->run->threads.at[at].name = wlt_text(in, row->name);
    return at;
}

static uint32_t place_stream(struct wlt_import *in, const struct stream *row)
{
    uint32_t process = wlt_row(in, WLT_PROCESSES, row->process);
    uint32_t at =
        run_stream(in->run, process, owner_row(in, WLT_DEVICES, row->device), row->context, row->id);
    in->run->streams.at[at].name = wlt_text(in, row->name);
    return at;
}

static uint32_t place_comm(struct wlt_import *in, const struct comm *row)
{
    struct comm comm = *row;
    comm.collective = wlt_text(in, row->collective);
    comm.group = wlt_text(in, row->group);
    comm.ranks = wlt_text(in, row->ranks);
    comm.dtype = wlt_text(in, row->dtype);
    vec_push(&in->run->comms, comm);
    return (uint32_t)(in->run->comms.count - 1);
}

static uint32_t place_series(struct wlt_import *in, const struct counter_series *row)
{
    if (in->run->series.count >= SERIES_MAX)
        return NONE;
    return run_series(in->run, run_text(in->run, wlt_name(in, row->name)),
                      wlt_row(in, WLT_DEVICES, row->device), wlt_row(in, WLT_PROCESSES, row->process),
                      row->unit);
}

static uint32_t place_fact(struct wlt_import *in, const struct fact *row)
{
    struct fact fact = {.source = owner_row(in, WLT_SOURCES, row->source),
                        .key = wlt_text(in, row->key),
                        .value = wlt_text(in, row->value)};
    vec_push(&in->run->facts, fact);
    return (uint32_t)(in->run->facts.count - 1);
}

static uint32_t place_repair(struct wlt_import *in, const struct wlt_repair_row *row)
{
    const struct repair *repair = &row->repair;
    if (repair->count <= 0 || repair->count > UINT32_MAX || map_get(&in->strings, repair->text) == MAP_ABSENT)
        return NONE;
    run_repair(in->run, owner_row(in, WLT_SOURCES, row->source),
               run_text(in->run, wlt_text(in, repair->text)), repair->count, repair->first_offset);
    return NONE;
}

static void add_loss(int64_t *sum, int64_t more)
{
    int64_t total;
    if (more > 0 && !__builtin_add_overflow(*sum, more, &total))
        *sum = total;
}

static uint32_t place_losses(struct wlt_import *in, uint32_t number, const struct losses *row)
{
    struct losses *all = &in->run->losses;
    if (number != 0)
        return NONE;
    add_loss(&all->dropped, row->dropped);
    add_loss(&all->untimed, row->untimed);
    add_loss(&all->malformed, row->malformed);
    add_loss(&all->truncated_bytes, row->truncated_bytes);
    return NONE;
}

static uint32_t place(struct wlt_import *in, enum wlt_table table, uint32_t number, const void *row)
{
    switch (table) {
    case WLT_SOURCES:
        return place_source(in, number, row);
    case WLT_REPAIRS:
        return place_repair(in, row);
    case WLT_FACTS:
        return place_fact(in, row);
    case WLT_LOSSES:
        return place_losses(in, number, row);
    case WLT_DEVICES:
        return place_device(in, row);
    case WLT_PROCESSES:
        return place_process(in, row);
    case WLT_THREADS:
        return place_thread(in, row);
    case WLT_STREAMS:
        return place_stream(in, row);
    case WLT_SHAPES:
        return run_shape(in->run, row);
    case WLT_COMMS:
        return place_comm(in, row);
    case WLT_SERIES:
        return place_series(in, row);
    default:
        return NONE;
    }
}

/* Where the recording came from, unless it already says so. */
static void place_original_paths(struct wlt_import *in)
{
    struct run *run = in->run;
    const struct wlt_rows *rows = &in->rows[WLT_SOURCES];
    uint32_t key = intern_puts(&run->strings, "original_path");
    struct map have = {0};
    for (size_t i = in->first_fact; i < run->facts.count; i++)
        if (run->facts.at[i].key == key)
            map_set(&have, run->facts.at[i].source, 1);
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t path = wlt_text(in, ((const struct source *)rows->at)[i].path);
        if (path != 0 && map_get(&have, rows->mapped.at[i]) == MAP_ABSENT)
            run_fact(run, rows->mapped.at[i], "original_path", run_text(run, path),
                     intern_length(&run->strings, path));
    }
    map_release(&have);
}

/* In the order of the numbers of tables: each refers only to those before it. */
void wlt_place_rows(struct wlt_import *in)
{
    for (enum wlt_table table = WLT_SOURCES; table <= WLT_SERIES; table++) {
        struct wlt_rows *rows = &in->rows[table];
        size_t count = rows->count; /* lost rows that were made up are placed already */
        for (size_t i = 0; i < count; i++) {
            if (rows->mapped.at[i] != NONE)
                continue;
            uint32_t row = place(in, table, rows->numbers.at[i], rows->at + i * rows->size);
            rows->mapped.at[i] = row;
        }
        if (table == WLT_FACTS)
            place_original_paths(in);
    }
}
