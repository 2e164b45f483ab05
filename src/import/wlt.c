/* The recording format (doc/formats/wlt.md): reads whatever part of a file is whole. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "import/wlt_import.h"

enum { PROGRESS_BYTES = 4 << 20, VALUES_A_ROW = 3 };

bool wlt_import_values(struct wlt_import *in, const struct wlt_column_data *column, size_t count)
{
    return wlt_column_values(column, in->values, count);
}

static void tell(struct wlt_import *in, const char *text, int64_t count, int64_t offset)
{
    if (count > 0)
        run_repair(in->run, in->source, text, count, offset);
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static bool next_column(struct wlt_payload *payload, struct wlt_column_data *column, const char *name)
{
    return wlt_payload_next(payload, column) && wlt_column_is(column, name);
}

static bool read_strings(struct wlt_import *in)
{
    struct wlt_payload payload;
    struct wlt_column_data column;
    size_t count = in->chunks.chunk.rows;
    if (!wlt_payload_open(&payload, in->chunks.payload, in->chunks.length) ||
        !next_column(&payload, &column, "id") || !wlt_column_values(&column, in->numbers, count) ||
        !next_column(&payload, &column, "length") || !wlt_column_values(&column, in->values, count) ||
        !next_column(&payload, &column, "text") || column.coding != WLT_BYTES)
        return false;
    const unsigned char *at = column.data;
    size_t left = column.length;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = (uint64_t)in->numbers[i], length = (uint64_t)in->values[i];
        if (id >= NONE || length > left)
            return false;
        size_t kept = length < in->max_string ? (size_t)length : in->max_string;
        map_set(&in->strings, id, intern_add(&in->run->strings, (const char *)at, kept));
        at += length;
        left -= (size_t)length;
    }
    while (wlt_payload_next(&payload, &column))
        in->unknown_columns++;
    return payload.columns_left == 0;
}

/* ---- ops, spans, samples ------------------------------------------------------------------------------- */

static const struct wlt_column *find_column(const struct wlt_column *columns,
                                            const struct wlt_column_data *data)
{
    for (; columns->name; columns++)
        if (*columns->name && wlt_column_is(data, columns->name))
            return columns;
    return NULL;
}

static void store_column(struct wlt_import *in, const struct wlt_column *column, void *table, size_t first)
{
    for (size_t i = 0; i < in->chunks.chunk.rows; i++) {
        int64_t value = in->values[i];
        if (column->meaning == WLT_ROW)
            value = value == 0 ? NONE : value - 1;
        else if (column->meaning == WLT_LENGTH)
            value = (int64_t)((uint64_t)in->numbers[i] + (uint64_t)value);
        if (!wlt_column_set(column, table, first + i, value))
            in->misfits++;
    }
}

/* Fills the chunk's rows of the table, which begin at first. in->numbers keeps the starts for the lengths. */
static bool read_columns(struct wlt_import *in, const struct wlt_column *columns, void *table, size_t first)
{
    struct wlt_payload payload;
    struct wlt_column_data data;
    size_t count = in->chunks.chunk.rows;
    if (!wlt_payload_open(&payload, in->chunks.payload, in->chunks.length) ||
        !next_column(&payload, &data, columns->name) || !wlt_column_values(&data, in->numbers, count))
        return false;
    for (const struct wlt_column *column = columns; column->name; column++)
        for (size_t i = 0; i < count; i++)
            wlt_column_set(column, table, first + i,
                           column->meaning == WLT_LENGTH ? in->numbers[i] : column->absent);
    memcpy(in->values, in->numbers, count * sizeof *in->values);
    store_column(in, columns, table, first);
    while (wlt_payload_next(&payload, &data)) {
        const struct wlt_column *column = find_column(columns, &data);
        if (!column)
            in->unknown_columns++;
        else if (!wlt_import_values(in, &data, count))
            return false;
        else
            store_column(in, column, table, first);
    }
    return payload.columns_left == 0;
}

#define READ_TABLE(in, table_add, table, columns)                                                            \
    do {                                                                                                     \
        size_t first_ = (table)->count;                                                                      \
        for (uint32_t i_ = 0; i_ < (in)->chunks.chunk.rows; i_++)                                            \
            table_add(table);                                                                                \
        if (read_columns(in, columns, table, first_))                                                        \
            return true;                                                                                     \
        (table)->count = first_;                                                                             \
        return false;                                                                                        \
    } while (0)

static bool read_ops(struct wlt_import *in)
{
    READ_TABLE(in, op_table_add, &in->run->ops, wlt_op_columns);
}

static bool read_spans(struct wlt_import *in)
{
    READ_TABLE(in, span_table_add, &in->run->spans, wlt_span_columns);
}

static bool read_samples(struct wlt_import *in)
{
    READ_TABLE(in, sample_table_add, &in->run->samples, wlt_sample_columns);
}

/* ---- marks, waits, clocks ------------------------------------------------------------------------------ */

#define READ_VEC(in, table, vec)                                                                             \
    do {                                                                                                     \
        size_t first_ = (vec)->count;                                                                        \
        for (uint32_t i_ = 0; i_ < (in)->chunks.chunk.rows; i_++)                                            \
            (void)vec_new(vec);                                                                              \
        if (first_ == (vec)->count || wlt_read_appended(in, table, (vec)->at + first_, sizeof *(vec)->at))   \
            return true;                                                                                     \
        (vec)->count = first_;                                                                               \
        return false;                                                                                        \
    } while (0)

static bool read_marks(struct wlt_import *in)
{
    READ_VEC(in, WLT_MARKS, &in->run->marks);
}

static bool read_waits(struct wlt_import *in)
{
    READ_VEC(in, WLT_WAITS, &in->run->waits);
}

static bool read_clocks(struct wlt_import *in)
{
    READ_VEC(in, WLT_CLOCKS, &in->clocks);
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static bool read_chunk(struct wlt_import *in)
{
    switch (in->chunks.chunk.table) {
    case WLT_STRINGS:
        return read_strings(in);
    case WLT_OPS:
        return read_ops(in);
    case WLT_SPANS:
        return read_spans(in);
    case WLT_SAMPLES:
        return read_samples(in);
    case WLT_MARKS:
        return read_marks(in);
    case WLT_WAITS:
        return read_waits(in);
    case WLT_CLOCKS:
        return read_clocks(in);
    default:
        if (wlt_has_row_numbers(in->chunks.chunk.table))
            return wlt_read_small(in, in->chunks.chunk.table);
        in->unknown_chunks++;
        return true;
    }
}

static bool has_events(uint32_t table)
{
    return table >= WLT_OPS && table <= WLT_WAITS;
}

/* The index of a recording that was closed says how many rows there were. */
static bool read_index(struct wlt_import *in)
{
    size_t count = in->chunks.chunk.rows;
    struct wlt_index_row *rows = mem_zalloc(count, sizeof *rows);
    bool read = wlt_read_appended(in, WLT_INDEX, rows, sizeof *rows);
    for (size_t i = 0; i < count && read; i++)
        if (has_events(rows[i].table) && rows[i].rows <= WLT_ROWS_MAX)
            in->rows_listed += rows[i].rows;
    free(rows);
    return read;
}

/* Returns false if the chunk makes no sense. */
static bool take_chunk(struct wlt_import *in)
{
    const struct wlt_chunk *chunk = &in->chunks.chunk;
    if (chunk->flags & ~WLT_CHUNK_ZSTD) {
        in->unknown_chunks++;
        return true;
    }
    if (chunk->table == WLT_INDEX)
        return read_index(in);
    if (!read_chunk(in))
        return false;
    if (has_events(chunk->table))
        in->rows_read += chunk->rows;
    return true;
}

/* Two recordings in one file would need two sets of ids. */
static int read_rest(struct wlt_import *in, struct err *err)
{
    const unsigned char *bytes;
    int64_t have = wlt_chunks_peek(&in->chunks, 1, &bytes, err);
    tell(in, N_("what follows the end of the recording was left out"), have > 0, in->chunks.position);
    return have < 0 ? (int)have : 0;
}

static int read_chunks(struct wlt_import *in, struct stream *stream, const struct import_options *options,
                       struct err *err)
{
    struct wlt_chunks *c = &in->chunks;
    int64_t told = 0;
    int code;
    while ((code = wlt_chunks_next(c, err)) > 0) {
        in->closed = c->chunk.table == WLT_END;
        if (in->closed)
            return read_rest(in, err);
        if (!take_chunk(in))
            wlt_chunks_reject(c);
        if (options && options->progress && c->offset - told >= PROGRESS_BYTES) {
            options->progress(options->context, stream_path(stream), stream_consumed(stream),
                              stream_size(stream));
            told = c->offset;
        }
    }
    return code;
}

/* ---- references of the events -------------------------------------------------------------------------- */

/* Moves the last row into the place of row i. */
#define MOVE_CELL(type, name) t->name[i] = t->name[t->count];

static bool plausible(int64_t start, int64_t end)
{
    return start > -WLT_TIME_MAX && start <= end && end < WLT_TIME_MAX;
}

static void limit(struct wlt_import *in, uint8_t *value, uint8_t last, uint8_t instead)
{
    in->misfits += *value > last;
    *value = *value > last ? instead : *value;
}

static void resolve_ops(struct wlt_import *in)
{
    struct op_table *t = &in->run->ops;
    for (size_t i = in->first_op; i < t->count;) {
        bool timed = plausible(t->start[i], t->end[i]);
        if (timed && t->kind[i] <= OP_GRAPH && t->stream[i] != NONE) {
            t->name[i] = wlt_name(in, t->name[i]);
            t->stream[i] = wlt_row(in, WLT_STREAMS, t->stream[i]);
            t->shape[i] = wlt_row(in, WLT_SHAPES, t->shape[i]);
            t->comm[i] = wlt_row(in, WLT_COMMS, t->comm[i]);
            limit(in, &t->dir[i], COPY_MANAGED_D2D, COPY_UNKNOWN);
            limit(in, &t->src[i], MEM_MANAGED, MEM_UNKNOWN);
            limit(in, &t->dst[i], MEM_MANAGED, MEM_UNKNOWN);
            i++;
            continue;
        }
        in->run->losses.untimed += !timed;
        in->run->losses.malformed += timed;
        t->count--;
        RUN_OPS(MOVE_CELL)
    }
}

static void resolve_spans(struct wlt_import *in)
{
    struct span_table *t = &in->run->spans;
    for (size_t i = in->first_span; i < t->count;) {
        bool timed = plausible(t->start[i], t->end[i]);
        if (timed && t->thread[i] != NONE) {
            t->name[i] = wlt_name(in, t->name[i]);
            t->detail[i] = wlt_text(in, t->detail[i]);
            t->thread[i] = wlt_row(in, WLT_THREADS, t->thread[i]);
            t->comm[i] = wlt_row(in, WLT_COMMS, t->comm[i]);
            limit(in, &t->kind[i], SPAN_NATIVE, SPAN_OTHER);
            i++;
            continue;
        }
        in->run->losses.untimed += !timed;
        in->run->losses.malformed += timed;
        t->count--;
        RUN_SPANS(MOVE_CELL)
    }
}

static void resolve_samples(struct wlt_import *in)
{
    struct sample_table *t = &in->run->samples;
    for (size_t i = in->first_sample; i < t->count;) {
        bool timed = plausible(t->time[i], t->time[i]);
        t->series[i] = wlt_row(in, WLT_SERIES, t->series[i]);
        if (timed && t->series[i] != NONE && isfinite(t->value[i])) {
            i++;
            continue;
        }
        in->run->losses.untimed += !timed;
        in->run->losses.malformed += timed;
        t->count--;
        RUN_SAMPLES(MOVE_CELL)
    }
}

static void resolve_moments(struct wlt_import *in)
{
    struct run *run = in->run;
    size_t kept = in->first_mark;
    for (size_t i = in->first_mark; i < run->marks.count; i++) {
        struct mark mark = run->marks.at[i];
        mark.text = wlt_name(in, mark.text);
        mark.thread = wlt_row(in, WLT_THREADS, mark.thread);
        mark.device = wlt_row(in, WLT_DEVICES, mark.device);
        bool timed = plausible(mark.time, mark.time);
        run->losses.untimed += !timed;
        if (timed)
            run->marks.at[kept++] = mark;
    }
    run->marks.count = kept;
    kept = in->first_wait;
    for (size_t i = in->first_wait; i < run->waits.count; i++) {
        struct wait wait = run->waits.at[i];
        wait.kind = wlt_name(in, wait.kind);
        wait.stream = wlt_row(in, WLT_STREAMS, wait.stream);
        wait.on_stream = wlt_row(in, WLT_STREAMS, wait.on_stream);
        bool timed = plausible(wait.start, wait.end);
        run->losses.untimed += !timed;
        if (timed)
            run->waits.at[kept++] = wait;
    }
    run->waits.count = kept;
}

/* How far each other clock was from the run's, first and last: their difference is the drift. */
static void tell_clocks(struct wlt_import *in)
{
    struct map seen = {0};
    struct str key = {0}, value = {0};
    for (size_t i = 0; i < in->clocks.count; i++) {
        const struct wlt_clock_row *first = &in->clocks.at[i], *last = first;
        if (map_get(&seen, first->clock) != MAP_ABSENT || seen.count >= 64)
            continue;
        map_set(&seen, first->clock, 1);
        int64_t samples = 0;
        for (size_t k = i; k < in->clocks.count; k++) {
            if (in->clocks.at[k].clock != first->clock)
                continue;
            samples++;
            last = in->clocks.at[k].time >= last->time ? &in->clocks.at[k] : last;
        }
        str_cut(&key, 0);
        str_cut(&value, 0);
        str_addf(&key, "clock %s", run_text(in->run, wlt_text(in, first->clock)));
        str_addf(&value, "samples=%" PRId64 " first_offset_ns=%" PRId64 " last_offset_ns=%" PRId64, samples,
                 (int64_t)((uint64_t)first->value - (uint64_t)first->time),
                 (int64_t)((uint64_t)last->value - (uint64_t)last->time));
        run_fact(in->run, in->source, str_text(&key), str_text(&value), value.len);
    }
    map_release(&seen);
    str_release(&key);
    str_release(&value);
}

static void resolve(struct wlt_import *in)
{
    wlt_place_rows(in);
    resolve_ops(in);
    resolve_spans(in);
    resolve_samples(in);
    resolve_moments(in);
    tell_clocks(in);
}

/* ---- what was left out --------------------------------------------------------------------------------- */

static void tell_repairs(struct wlt_import *in)
{
    const struct wlt_chunks *c = &in->chunks;
    tell(in, N_("damaged parts of the recording were left out"), c->damaged, c->first_damage);
    tell(in, N_("parts of the recording are missing"), c->missing, -1);
    tell(in, N_("the recording ends within a part, which was left out"), c->truncated_bytes > 0,
         c->position - c->truncated_bytes);
    tell(in, N_("the recording was not closed: what came last may be missing"), !in->closed, -1);
    tell(in, N_("parts of a later kind of recording were left out"), in->unknown_chunks, -1);
    tell(in, N_("columns of a later kind of recording were left out"), in->unknown_columns, -1);
    tell(in, N_("values that do not fit their meaning were left out"), in->misfits, -1);
    tell(in, N_("texts were lost with damaged parts"), in->lost_texts, -1);
    tell(in, N_("threads, streams or devices were lost with damaged parts, and numbered instead"),
         in->lost_rows, -1);
    in->run->losses.truncated_bytes += c->truncated_bytes;
    int64_t lost = in->closed ? in->rows_listed - in->rows_read : c->lost_rows;
    if (lost > 0)
        in->run->losses.malformed += lost;
}

/* ---- the importer -------------------------------------------------------------------------------------- */

static int refuse(const struct wlt_header *header, struct err *err)
{
    const char *hint = _("read it with the version of Warplight that wrote it, or a later one");
    if (header->major > WLT_MAJOR)
        return err_set(err, ERR_INPUT, NULL, 0, hint,
                       _("the recording has format %d.%d, and this version reads up to %d"), header->major,
                       header->minor, WLT_MAJOR);
    return err_set(err, ERR_INPUT, NULL, 0, hint,
                   _("the recording needs features that this version does not have (bits 0x%x)"),
                   header->required & ~(unsigned)WLT_FEATURES_REQUIRED);
}

/* A header that is damaged says nothing; the chunks after it speak for themselves. */
static int read_header(struct wlt_import *in, struct err *err)
{
    const unsigned char *bytes;
    struct wlt_header *header = &in->header;
    int64_t have = wlt_chunks_peek(&in->chunks, WLT_HEADER_BYTES, &bytes, err);
    if (have < 0)
        return (int)have;
    if (have < WLT_HEADER_BYTES || !wlt_header_parse(header, bytes))
        return 0;
    if (header->major > WLT_MAJOR || (header->required & ~(unsigned)WLT_FEATURES_REQUIRED))
        return refuse(header, err);
    wlt_chunks_skip(&in->chunks, WLT_HEADER_BYTES);
    tell(in, N_("the recording is of a later version: what is new in it was left out"),
         header->minor > WLT_MINOR, 8);
    return 0;
}

static int wlt_read(struct run *run, struct stream *stream, const struct import_options *options,
                    struct err *err)
{
    struct wlt_import in = {.run = run,
                            .max_string = options && options->max_string_bytes ? options->max_string_bytes
                                                                               : WLT_TEXT_MAX,
                            .first_op = run->ops.count,
                            .first_span = run->spans.count,
                            .first_sample = run->samples.count,
                            .first_mark = run->marks.count,
                            .first_wait = run->waits.count,
                            .first_fact = run->facts.count};
    in.source = run_add_source(run, stream_path(stream), "Warplight recording");
    run->sources.at[in.source].bytes = stream_size(stream);
    in.values = mem_resize(NULL, (size_t)WLT_ROWS_MAX * VALUES_A_ROW, sizeof *in.values);
    in.numbers = mem_resize(NULL, WLT_ROWS_MAX, sizeof *in.numbers);
    wlt_chunks_init(&in.chunks, stream);
    wlt_rows_init(&in);
    int code = read_header(&in, err);
    if (code == 0)
        code = read_chunks(&in, stream, options, err);
    if (code == 0) {
        resolve(&in);
        tell_repairs(&in);
    }
    wlt_chunks_release(&in.chunks);
    wlt_rows_release(&in);
    map_release(&in.strings);
    vec_release(&in.clocks);
    free(in.values);
    free(in.numbers);
    return code;
}

/* A chunk where the first one must be is as good as the magic, should that be damaged. */
static int wlt_sniff(const char *head, size_t length)
{
    struct wlt_chunk chunk;
    if (length >= WLT_MAGIC_BYTES && memcmp(head, WLT_MAGIC, WLT_MAGIC_BYTES) == 0)
        return 100;
    return length >= WLT_HEADER_BYTES + WLT_CHUNK_HEADER_BYTES &&
                   wlt_chunk_parse(&chunk, (const unsigned char *)head + WLT_HEADER_BYTES)
               ? 90
               : 0;
}

const struct importer import_wlt = {
    .name = "wlt",
    .title = N_("Warplight recording"),
    .sniff = wlt_sniff,
    .read = wlt_read,
};
