#include "export/wlt_encode.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
    ZSTD_LEVEL = 3,
    COMPRESS_MIN_BYTES = 64,      /* smaller payloads gain nothing */
    STRING_CHUNK_BYTES = 1 << 20, /* a chunk of strings ends when it has this much */
    VALUES_A_ROW = 3,             /* most of any cell */
};

/* What a chunk holds between. */
struct extent {
    int64_t start, end;
};

static const struct extent no_extent = {UNKNOWN, UNKNOWN};

/* ---- chunks -------------------------------------------------------------------------------------------- */

static void hand_on(struct wlt_encoder *e, const void *data, size_t length)
{
    if (e->failed == 0)
        e->failed = e->write(e->context, data, length);
    e->offset += length;
}

/* Compressed if that saves anything and a reader may still expand it (WLT_EXPANSION_MAX). */
static bool compress(struct wlt_encoder *e, enum wlt_table table)
{
    if (table == WLT_END || e->raw.len < COMPRESS_MIN_BYTES)
        return false;
    size_t bound = ZSTD_compressBound(e->raw.len);
    str_cut(&e->stored, 0);
    str_pad(&e->stored, '\0', bound);
    size_t length = ZSTD_compressCCtx(e->zstd, e->stored.ptr, bound, e->raw.ptr, e->raw.len, ZSTD_LEVEL);
    if (ZSTD_isError(length) || length >= e->raw.len)
        return false;
    str_cut(&e->stored, length);
    uint64_t file = e->offset + WLT_CHUNK_HEADER_BYTES + length;
    return e->raw_bytes + e->raw.len <= WLT_EXPANSION_FREE + WLT_EXPANSION_MAX * file;
}

/* Writes the columns that were put into e->columns as one chunk, and empties them. */
static void end_chunk(struct wlt_encoder *e, enum wlt_table table, size_t rows, size_t columns,
                      struct extent extent)
{
    str_cut(&e->raw, 0);
    wlt_columns_begin(&e->raw, columns);
    str_add(&e->raw, str_text(&e->columns), e->columns.len);
    str_cut(&e->columns, 0);
    bool compressed = compress(e, table);
    const struct str *payload = compressed ? &e->stored : &e->raw;
    struct wlt_chunk chunk = {.table = (uint8_t)table,
                              .flags = compressed ? WLT_CHUNK_ZSTD : 0,
                              .stored = (uint32_t)payload->len,
                              .raw = (uint32_t)e->raw.len,
                              .rows = (uint32_t)rows,
                              .sequence = e->sequence++,
                              .checksum = hash_bytes(str_text(payload), payload->len)};
    if (table != WLT_INDEX && table != WLT_END)
        vec_push(&e->index, ((struct wlt_index_row){.offset = e->offset,
                                                    .table = (uint32_t)table,
                                                    .rows = (uint32_t)rows,
                                                    .start = extent.start,
                                                    .end = extent.end}));
    e->raw_bytes += e->raw.len;
    /* In one piece: a chunk is whole or it is not there, as far as that is in our hands. */
    unsigned char head[WLT_CHUNK_HEADER_BYTES];
    wlt_chunk_pack(head, &chunk);
    str_add(&e->columns, (char *)head, sizeof head);
    str_add(&e->columns, str_text(payload), payload->len);
    hand_on(e, str_text(&e->columns), e->columns.len);
    str_cut(&e->columns, 0);
}

/* ---- rows that are structs ----------------------------------------------------------------------------- */

/* Rows of one size; numbers chooses some of them, NULL: all. */
struct struct_rows {
    const void *at;
    size_t size, count;
    const uint32_t *numbers;
};

static const void *row_at(const struct struct_rows *rows, size_t i)
{
    return (const char *)rows->at + (rows->numbers ? rows->numbers[i] : i) * rows->size;
}

static int64_t stored_value(const struct cell *cell, const void *row, int i)
{
    int64_t value = cell_get(cell, row, i);
    if (cell->type == CELL_ROW)
        return value == NONE ? 0 : value + 1;
    return value;
}

/* Returns false if the value is absent in all rows: then there is no column. */
static bool gather(int64_t *values, const struct cell *cell, const struct struct_rows *rows)
{
    bool any = false;
    size_t n = 0;
    for (size_t r = 0; r < rows->count; r++) {
        const void *row = row_at(rows, r);
        for (int i = 0; i < cell->count; i++) {
            any |= cell_get(cell, row, i) != cell->absent;
            values[n++] = stored_value(cell, row, i);
        }
    }
    return any;
}

/* columns were put already; the first of a chunk is always there. */
static size_t put_cells(struct wlt_encoder *e, const struct cell *const *lists,
                        const struct struct_rows *rows, size_t columns)
{
    for (; *lists; lists++) {
        for (const struct cell *cell = *lists; cell->key; cell++) {
            bool first = columns == 0;
            if (!gather(e->values, cell, rows) && !first)
                continue;
            (first ? wlt_column_put : wlt_column_put_packed)(&e->columns, cell->key, wlt_cell_coding(cell),
                                                             e->values, rows->count * cell->count);
            columns++;
        }
    }
    return columns;
}

static size_t put_row_numbers(struct wlt_encoder *e, const struct struct_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        e->values[i] = rows->numbers[i];
    wlt_column_put(&e->columns, "row", WLT_DELTA, e->values, rows->count);
    return 1;
}

static void put_struct_chunk(struct wlt_encoder *e, enum wlt_table table, const struct struct_rows *rows,
                             struct extent extent)
{
    size_t columns = rows->numbers ? put_row_numbers(e, rows) : 0;
    columns = put_cells(e, wlt_cells(table), rows, columns);
    end_chunk(e, table, rows->count, columns, extent);
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static size_t text_length(const struct intern *strings, uint32_t id)
{
    size_t length = intern_length(strings, id);
    return length < WLT_TEXT_MAX ? length : WLT_TEXT_MAX;
}

static void put_string_chunk(struct wlt_encoder *e, const struct intern *strings, struct str *text)
{
    size_t count = e->changed.count;
    for (size_t i = 0; i < count; i++)
        e->values[i] = e->changed.at[i];
    wlt_column_put(&e->columns, "id", WLT_DELTA, e->values, count);
    for (size_t i = 0; i < count; i++)
        e->values[i] = (int64_t)text_length(strings, e->changed.at[i]);
    wlt_column_put(&e->columns, "length", WLT_VARINT, e->values, count);
    wlt_bytes_put(&e->columns, "text", str_text(text), text->len);
    end_chunk(e, WLT_STRINGS, count, 3, no_extent);
    e->changed.count = 0;
    str_cut(text, 0);
}

void wlt_encode_strings(struct wlt_encoder *e, const struct intern *strings, const bool *used)
{
    struct str text = {0};
    e->changed.count = 0;
    for (; e->strings < strings->count; e->strings++) {
        uint32_t id = e->strings;
        if (id == 0 || (used && !used[id])) /* 0 is the empty text */
            continue;
        vec_push(&e->changed, id);
        str_add(&text, intern_text(strings, id), text_length(strings, id));
        if (text.len >= STRING_CHUNK_BYTES || e->changed.count == WLT_ROWS_MAX)
            put_string_chunk(e, strings, &text);
    }
    if (e->changed.count)
        put_string_chunk(e, strings, &text);
    str_release(&text);
}

/* ---- small tables -------------------------------------------------------------------------------------- */

static uint64_t row_hash(const struct cell *const *lists, const void *row)
{
    uint64_t hash = 0;
    for (; *lists; lists++)
        for (const struct cell *cell = *lists; cell->key; cell++)
            for (int i = 0; i < cell->count; i++)
                hash = hash_pair(hash, (uint64_t)cell_get(cell, row, i));
    return hash;
}

/* Lists the rows that are new or not what was written, and takes them for written. */
static void find_changed(struct wlt_encoder *e, enum wlt_table table, const struct struct_rows *rows)
{
    e->changed.count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t hash = row_hash(wlt_cells(table), row_at(rows, i));
        if (i == e->known[table].count)
            vec_push(&e->known[table], ~hash);
        if (e->known[table].at[i] == hash)
            continue;
        e->known[table].at[i] = hash;
        vec_push(&e->changed, (uint32_t)i);
    }
}

static void put_small(struct wlt_encoder *e, enum wlt_table table, const void *at, size_t size, size_t count)
{
    struct struct_rows all = {.at = at, .size = size, .count = count};
    find_changed(e, table, &all);
    for (size_t first = 0; first < e->changed.count; first += WLT_ROWS_MAX) {
        size_t left = e->changed.count - first;
        struct struct_rows some = {.at = at,
                                   .size = size,
                                   .count = left < WLT_ROWS_MAX ? left : WLT_ROWS_MAX,
                                   .numbers = e->changed.at + first};
        put_struct_chunk(e, table, &some, no_extent);
    }
}

/* Repairs of all sources in one table whose rows keep their numbers: sources keep theirs in order, and grow
 * at the end. */
static void list_repairs(struct wlt_encoder *e, const struct run *run)
{
    for (uint32_t s = 0; s < run->sources.count; s++) {
        const struct source *source = &run->sources.at[s];
        size_t listed = 0;
        vec_each (&e->repairs, row)
            if (row->source == s && listed < source->repairs.count)
                row->repair = source->repairs.at[listed++];
        for (; listed < source->repairs.count; listed++)
            vec_push(&e->repairs, ((struct wlt_repair_row){s, source->repairs.at[listed]}));
    }
}

#define PUT_SMALL(table, vec) put_small(e, table, (vec)->at, sizeof *(vec)->at, (vec)->count)

void wlt_encode_small(struct wlt_encoder *e, const struct run *run)
{
    list_repairs(e, run);
    PUT_SMALL(WLT_SOURCES, &run->sources);
    PUT_SMALL(WLT_REPAIRS, &e->repairs);
    PUT_SMALL(WLT_FACTS, &run->facts);
    put_small(e, WLT_LOSSES, &run->losses, sizeof run->losses, 1);
    PUT_SMALL(WLT_DEVICES, &run->devices);
    PUT_SMALL(WLT_PROCESSES, &run->processes);
    PUT_SMALL(WLT_THREADS, &run->threads);
    PUT_SMALL(WLT_STREAMS, &run->streams);
    PUT_SMALL(WLT_SHAPES, &run->shapes);
    PUT_SMALL(WLT_COMMS, &run->comms);
    PUT_SMALL(WLT_SERIES, &run->series);
}

void wlt_encode_small_again(struct wlt_encoder *e, const struct run *run)
{
    for (int table = 0; table < WLT_TABLES; table++)
        e->known[table].count = 0;
    wlt_encode_small(e, run);
}

/* ---- ops, spans, samples ------------------------------------------------------------------------------- */

/* A columnar table; start and end are its columns of times. */
struct columnar {
    enum wlt_table table;
    const struct wlt_column *columns;
    const void *at;
    size_t count;
    const int64_t *start, *end;
};

static int64_t column_value(const struct columnar *t, const struct wlt_column *column, size_t row)
{
    int64_t value = wlt_column_get(column, t->at, row);
    if (column->meaning == WLT_ROW)
        return value == NONE ? 0 : value + 1;
    if (column->meaning == WLT_LENGTH)
        return (int64_t)((uint64_t)value - (uint64_t)t->start[row]);
    return value;
}

static size_t put_column(struct wlt_encoder *e, const struct columnar *t, const struct wlt_column *column,
                         size_t first, size_t count)
{
    bool times = column == t->columns, any = times;
    for (size_t i = 0; i < count; i++) {
        any |= wlt_column_get(column, t->at, first + i) != column->absent;
        e->values[i] = column_value(t, column, first + i);
    }
    if (!any)
        return 0;
    (times ? wlt_column_put : wlt_column_put_packed)(&e->columns, column->name, column->coding, e->values,
                                                     count);
    return 1;
}

static void put_columnar(struct wlt_encoder *e, const struct columnar *t)
{
    for (size_t first = 0; first < t->count; first += WLT_ROWS_MAX) {
        size_t left = t->count - first, count = left < WLT_ROWS_MAX ? left : WLT_ROWS_MAX, columns = 0;
        struct extent extent = {t->start[first], t->end[first]};
        for (size_t i = first; i < first + count; i++)
            extent = (struct extent){min_ns(extent.start, t->start[i]), max_ns(extent.end, t->end[i])};
        for (const struct wlt_column *column = t->columns; column->name; column++)
            if (*column->name)
                columns += put_column(e, t, column, first, count);
        end_chunk(e, t->table, count, columns, extent);
    }
}

void wlt_encode_ops(struct wlt_encoder *e, const struct op_table *ops)
{
    put_columnar(e, &(struct columnar){WLT_OPS, wlt_op_columns, ops, ops->count, ops->start, ops->end});
}

void wlt_encode_spans(struct wlt_encoder *e, const struct span_table *spans)
{
    put_columnar(
        e, &(struct columnar){WLT_SPANS, wlt_span_columns, spans, spans->count, spans->start, spans->end});
}

void wlt_encode_samples(struct wlt_encoder *e, const struct sample_table *samples)
{
    put_columnar(e, &(struct columnar){WLT_SAMPLES, wlt_sample_columns, samples, samples->count,
                                       samples->time, samples->time});
}

/* ---- marks, waits, clocks ------------------------------------------------------------------------------ */

void wlt_encode_marks(struct wlt_encoder *e, const struct mark *marks, size_t count)
{
    for (size_t first = 0; first < count; first += WLT_ROWS_MAX) {
        struct struct_rows rows = {.at = marks + first,
                                   .size = sizeof *marks,
                                   .count = count - first < WLT_ROWS_MAX ? count - first : WLT_ROWS_MAX};
        struct extent extent = {marks[first].time, marks[first].time};
        for (size_t i = first; i < first + rows.count; i++)
            extent = (struct extent){min_ns(extent.start, marks[i].time), max_ns(extent.end, marks[i].time)};
        put_struct_chunk(e, WLT_MARKS, &rows, extent);
    }
}

void wlt_encode_waits(struct wlt_encoder *e, const struct wait *waits, size_t count)
{
    for (size_t first = 0; first < count; first += WLT_ROWS_MAX) {
        struct struct_rows rows = {.at = waits + first,
                                   .size = sizeof *waits,
                                   .count = count - first < WLT_ROWS_MAX ? count - first : WLT_ROWS_MAX};
        struct extent extent = {waits[first].start, waits[first].end};
        for (size_t i = first; i < first + rows.count; i++)
            extent = (struct extent){min_ns(extent.start, waits[i].start), max_ns(extent.end, waits[i].end)};
        put_struct_chunk(e, WLT_WAITS, &rows, extent);
    }
}

void wlt_encode_clock(struct wlt_encoder *e, const struct wlt_clock_row *row)
{
    struct struct_rows rows = {.at = row, .size = sizeof *row, .count = 1};
    put_struct_chunk(e, WLT_CLOCKS, &rows, (struct extent){row->time, row->time});
}

/* ---- begin and end ------------------------------------------------------------------------------------- */

void wlt_encode_end(struct wlt_encoder *e)
{
    int64_t index_offset = (int64_t)e->offset;
    for (size_t first = 0; first < e->index.count; first += WLT_ROWS_MAX) {
        size_t left = e->index.count - first;
        struct struct_rows rows = {.at = e->index.at + first,
                                   .size = sizeof *e->index.at,
                                   .count = left < WLT_ROWS_MAX ? left : WLT_ROWS_MAX};
        put_struct_chunk(e, WLT_INDEX, &rows, no_extent);
    }
    wlt_column_put(&e->columns, "index_offset", WLT_FIXED64, &index_offset, 1);
    end_chunk(e, WLT_END, 1, 1, no_extent);
}

void wlt_encoder_init(struct wlt_encoder *e, int (*write)(void *, const void *, size_t), void *context)
{
    *e = (struct wlt_encoder){.write = write, .context = context};
    e->values = mem_resize(NULL, (size_t)WLT_ROWS_MAX * VALUES_A_ROW, sizeof *e->values);
    e->zstd = ZSTD_createCCtx();
    unsigned char header[WLT_HEADER_BYTES];
    wlt_header_pack(header, &(struct wlt_header){.major = WLT_MAJOR,
                                                 .minor = WLT_MINOR,
                                                 .required = WLT_FEATURES_REQUIRED,
                                                 .optional = WLT_FEATURES_OPTIONAL});
    hand_on(e, header, sizeof header);
}

void wlt_encoder_release(struct wlt_encoder *e)
{
    ZSTD_freeCCtx(e->zstd);
    free(e->values);
    str_release(&e->raw);
    str_release(&e->columns);
    str_release(&e->stored);
    vec_release(&e->changed);
    for (int table = 0; table < WLT_TABLES; table++)
        vec_release(&e->known[table]);
    vec_release(&e->repairs);
    vec_release(&e->index);
    *e = (struct wlt_encoder){0};
}
