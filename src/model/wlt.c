#include "model/wlt.h"

#include <string.h>

#include "base/hash.h"

/* ---- header and chunks --------------------------------------------------------------------------------- */

/* All integers of the file are little endian, whatever the machine is. */
static void put_fixed(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_fixed(const unsigned char *in, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

void wlt_header_pack(unsigned char out[WLT_HEADER_BYTES], const struct wlt_header *header)
{
    memcpy(out, WLT_MAGIC, WLT_MAGIC_BYTES);
    put_fixed(out + 8, header->major, 2);
    put_fixed(out + 10, header->minor, 2);
    put_fixed(out + 12, header->required, 4);
    put_fixed(out + 16, header->optional, 4);
    put_fixed(out + 20, 0, 4);
    put_fixed(out + 24, hash_bytes(out, 24), 8);
}

bool wlt_header_parse(struct wlt_header *header, const unsigned char in[WLT_HEADER_BYTES])
{
    if (memcmp(in, WLT_MAGIC, WLT_MAGIC_BYTES) != 0 || get_fixed(in + 24, 8) != hash_bytes(in, 24))
        return false;
    *header = (struct wlt_header){.major = (uint16_t)get_fixed(in + 8, 2),
                                  .minor = (uint16_t)get_fixed(in + 10, 2),
                                  .required = (uint32_t)get_fixed(in + 12, 4),
                                  .optional = (uint32_t)get_fixed(in + 16, 4)};
    return true;
}

void wlt_chunk_pack(unsigned char out[WLT_CHUNK_HEADER_BYTES], const struct wlt_chunk *chunk)
{
    memcpy(out, WLT_CHUNK_MAGIC, 4);
    put_fixed(out + 4, chunk->table, 1);
    put_fixed(out + 5, chunk->flags, 1);
    put_fixed(out + 6, 0, 2);
    put_fixed(out + 8, chunk->stored, 4);
    put_fixed(out + 12, chunk->raw, 4);
    put_fixed(out + 16, chunk->rows, 4);
    put_fixed(out + 20, chunk->sequence, 4);
    put_fixed(out + 24, chunk->checksum, 8);
    put_fixed(out + 32, hash_bytes(out, 32), 8);
}

bool wlt_chunk_parse(struct wlt_chunk *chunk, const unsigned char in[WLT_CHUNK_HEADER_BYTES])
{
    if (memcmp(in, WLT_CHUNK_MAGIC, 4) != 0 || get_fixed(in + 32, 8) != hash_bytes(in, 32))
        return false;
    *chunk = (struct wlt_chunk){.table = in[4],
                                .flags = in[5],
                                .stored = (uint32_t)get_fixed(in + 8, 4),
                                .raw = (uint32_t)get_fixed(in + 12, 4),
                                .rows = (uint32_t)get_fixed(in + 16, 4),
                                .sequence = (uint32_t)get_fixed(in + 20, 4),
                                .checksum = get_fixed(in + 24, 8)};
    return true;
}

/* ---- writing columns ----------------------------------------------------------------------------------- */

enum { VARINT_MAX_BYTES = 10 };

static size_t varint_pack(unsigned char *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

static void put_varint(struct str *out, uint64_t value)
{
    unsigned char bytes[VARINT_MAX_BYTES];
    str_add(out, (char *)bytes, varint_pack(bytes, value));
}

static uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

static uint64_t get_varint(const unsigned char **at, const unsigned char *end, bool *damaged)
{
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    *damaged = true;
    return 0;
}

void wlt_columns_begin(struct str *out, size_t columns)
{
    put_varint(out, columns);
}

static void put_head(struct str *out, const char *name, enum wlt_coding coding)
{
    put_varint(out, strlen(name));
    str_puts(out, name);
    str_putc(out, (char)coding);
}

static bool all_equal(const int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return count > 1;
}

/* Values in blocks, because each append to a str ends it anew. */
static void put_values(struct str *out, enum wlt_coding coding, const int64_t *values, size_t count)
{
    enum { BLOCK = 4096 };
    unsigned char bytes[BLOCK];
    size_t filled = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = (uint64_t)values[i];
        if (filled > BLOCK - VARINT_MAX_BYTES) {
            str_add(out, (char *)bytes, filled);
            filled = 0;
        }
        if (coding == WLT_FIXED64) {
            put_fixed(bytes + filled, value, 8);
            filled += 8;
            continue;
        }
        uint64_t coded = coding == WLT_DELTA    ? zigzag(value - before)
                         : coding == WLT_ZIGZAG ? zigzag(value)
                                                : value;
        filled += varint_pack(bytes + filled, coded);
        before = value;
    }
    str_add(out, (char *)bytes, filled);
}

void wlt_column_put(struct str *out, const char *name, enum wlt_coding coding, const int64_t *values,
                    size_t count)
{
    struct str bytes = {0};
    put_values(&bytes, coding, values, count);
    put_head(out, name, coding);
    put_varint(out, bytes.len);
    str_add(out, str_text(&bytes), bytes.len);
    str_release(&bytes);
}

void wlt_column_put_packed(struct str *out, const char *name, enum wlt_coding coding, const int64_t *values,
                           size_t count)
{
    if (coding == WLT_FIXED64 || !all_equal(values, count)) {
        wlt_column_put(out, name, coding, values, count);
        return;
    }
    unsigned char bytes[VARINT_MAX_BYTES];
    size_t length = varint_pack(bytes, (uint64_t)values[0]);
    put_head(out, name, WLT_CONST);
    put_varint(out, length);
    str_add(out, (char *)bytes, length);
}

void wlt_bytes_put(struct str *out, const char *name, const void *data, size_t length)
{
    put_head(out, name, WLT_BYTES);
    put_varint(out, length);
    str_add(out, data, length);
}

/* ---- reading columns ----------------------------------------------------------------------------------- */

bool wlt_payload_open(struct wlt_payload *payload, const void *data, size_t length)
{
    bool damaged = false;
    payload->at = data;
    payload->end = payload->at + length;
    payload->columns_left = get_varint(&payload->at, payload->end, &damaged);
    return !damaged;
}

bool wlt_payload_next(struct wlt_payload *payload, struct wlt_column_data *column)
{
    bool damaged = false;
    if (payload->columns_left == 0)
        return false;
    uint64_t name_length = get_varint(&payload->at, payload->end, &damaged);
    if (damaged || name_length + 1 > (uint64_t)(payload->end - payload->at) || name_length == UINT64_MAX)
        return false;
    column->name = (const char *)payload->at;
    column->name_length = (size_t)name_length;
    payload->at += name_length;
    column->coding = *payload->at++;
    uint64_t length = get_varint(&payload->at, payload->end, &damaged);
    if (damaged || length > (uint64_t)(payload->end - payload->at))
        return false;
    column->data = payload->at;
    column->length = (size_t)length;
    payload->at += length;
    payload->columns_left--;
    return true;
}

static bool fixed_values(const struct wlt_column_data *column, int64_t *values, size_t count)
{
    if (column->length != 8 * count)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)get_fixed(column->data + 8 * i, 8);
    return true;
}

static bool const_values(const struct wlt_column_data *column, int64_t *values, size_t count)
{
    const unsigned char *at = column->data, *end = at + column->length;
    bool damaged = false;
    int64_t value = (int64_t)get_varint(&at, end, &damaged);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    return !damaged && at == end;
}

bool wlt_column_values(const struct wlt_column_data *column, int64_t *values, size_t count)
{
    if (column->coding == WLT_FIXED64)
        return fixed_values(column, values, count);
    if (column->coding == WLT_CONST)
        return const_values(column, values, count);
    if (column->coding > WLT_DELTA || column->length < count)
        return false;
    const unsigned char *at = column->data, *end = at + column->length;
    bool damaged = false;
    uint64_t before = 0;
    for (size_t i = 0; i < count && !damaged; i++) {
        uint64_t value = get_varint(&at, end, &damaged);
        if (column->coding != WLT_VARINT)
            value = unzigzag(value);
        if (column->coding == WLT_DELTA)
            value = before += value;
        values[i] = (int64_t)value;
    }
    return !damaged && at == end;
}

bool wlt_column_is(const struct wlt_column_data *column, const char *name)
{
    return strlen(name) == column->name_length && memcmp(name, column->name, column->name_length) == 0;
}

/* ---- columnar tables ----------------------------------------------------------------------------------- */

/* How each column of RUN_OPS, RUN_SPANS and RUN_SAMPLES is stored: name, coding, meaning, absent value, table
 * referred to. A column that is new in model/run.h does not compile until it has its line here. A column
 * without a name is not stored, because run_seal() makes it. */
#define WLT_op_start       "start", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_op_end         "duration", WLT_ZIGZAG, WLT_LENGTH, 0, 0
#define WLT_op_bytes       "bytes", WLT_ZIGZAG, WLT_NUMBER, UNKNOWN, 0
#define WLT_op_correlation "correlation", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_op_external    "external", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_op_name        "name", WLT_VARINT, WLT_TEXT, 0, 0
#define WLT_op_stream      "stream", WLT_VARINT, WLT_ROW, NONE, WLT_STREAMS
#define WLT_op_shape       "shape", WLT_VARINT, WLT_ROW, NONE, WLT_SHAPES
#define WLT_op_call        "", WLT_VARINT, WLT_NUMBER, NONE, 0
#define WLT_op_graph       "graph", WLT_VARINT, WLT_NUMBER, 0, 0
#define WLT_op_comm        "comm", WLT_VARINT, WLT_ROW, NONE, WLT_COMMS
#define WLT_op_kind        "kind", WLT_VARINT, WLT_NUMBER, 0, 0
#define WLT_op_dir         "dir", WLT_VARINT, WLT_NUMBER, 0, 0
#define WLT_op_src         "src", WLT_VARINT, WLT_NUMBER, 0, 0
#define WLT_op_dst         "dst", WLT_VARINT, WLT_NUMBER, 0, 0

#define WLT_span_start  "start", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_span_end    "duration", WLT_ZIGZAG, WLT_LENGTH, 0, 0
#define WLT_span_id     "id", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_span_name   "name", WLT_VARINT, WLT_TEXT, 0, 0
#define WLT_span_thread "thread", WLT_VARINT, WLT_ROW, NONE, WLT_THREADS
#define WLT_span_parent "", WLT_VARINT, WLT_NUMBER, NONE, 0
#define WLT_span_detail "detail", WLT_VARINT, WLT_TEXT, 0, 0
#define WLT_span_kind   "kind", WLT_VARINT, WLT_NUMBER, 0, 0
#define WLT_span_comm   "comm", WLT_VARINT, WLT_ROW, NONE, WLT_COMMS

#define WLT_sample_time   "time", WLT_DELTA, WLT_NUMBER, 0, 0
#define WLT_sample_value  "value", WLT_FIXED64, WLT_REAL, 0, 0
#define WLT_sample_series "series", WLT_VARINT, WLT_ROW, NONE, WLT_SERIES

#define COLUMN(table, kind, type_, member_)     COLUMN_LINE(table, type_, member_, WLT_##kind##_##member_)
#define COLUMN_LINE(table, type_, member_, ...) COLUMN_SET(table, type_, member_, __VA_ARGS__)
#define COLUMN_SET(table, type_, member_, name_, coding_, meaning_, absent_, target_)                        \
    {.name = name_,                                                                                          \
     .member = offsetof(struct table, member_),                                                              \
     .size = sizeof(type_),                                                                                  \
     .coding = coding_,                                                                                      \
     .meaning = meaning_,                                                                                    \
     .absent = absent_,                                                                                      \
     .target = (enum wlt_table)(target_)},
#define OP_COLUMN(type, name)     COLUMN(op_table, op, type, name)
#define SPAN_COLUMN(type, name)   COLUMN(span_table, span, type, name)
#define SAMPLE_COLUMN(type, name) COLUMN(sample_table, sample, type, name)

const struct wlt_column wlt_op_columns[] = {RUN_OPS(OP_COLUMN){.name = NULL}};
const struct wlt_column wlt_span_columns[] = {RUN_SPANS(SPAN_COLUMN){.name = NULL}};
const struct wlt_column wlt_sample_columns[] = {RUN_SAMPLES(SAMPLE_COLUMN){.name = NULL}};

int64_t wlt_column_get(const struct wlt_column *column, const void *table, size_t i)
{
    const char *array;
    memcpy(&array, (const char *)table + column->member, sizeof array);
    if (column->size == sizeof(uint8_t))
        return ((const unsigned char *)array)[i];
    if (column->size == sizeof(uint32_t)) {
        uint32_t value;
        memcpy(&value, array + i * sizeof value, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, array + i * sizeof value, sizeof value);
    return value;
}

bool wlt_column_set(const struct wlt_column *column, void *table, size_t i, int64_t value)
{
    char *array;
    memcpy(&array, (char *)table + column->member, sizeof array);
    if (column->size == sizeof value) {
        memcpy(array + i * sizeof value, &value, sizeof value);
        return true;
    }
    uint32_t narrow = (uint32_t)value;
    if (value < 0 || value > (column->size == sizeof(uint8_t) ? UINT8_MAX : (int64_t)UINT32_MAX))
        return false;
    if (column->size == sizeof(uint8_t))
        array[i] = (char)narrow;
    else
        memcpy(array + i * sizeof narrow, &narrow, sizeof narrow);
    return true;
}

/* ---- tables of structs --------------------------------------------------------------------------------- */

#define CELL(table, member, key_, type_, absent_)                                                            \
    {                                                                                                        \
        .key = key_, .type = type_, .offset = offsetof(struct table, member), .count = 1, .absent = absent_  \
    }
#define CELLS_END                                                                                            \
    {                                                                                                        \
        .key = NULL                                                                                          \
    }

/* What model/cells.h leaves to each format. Absent values that are none: always written. */
static const struct cell repair_source_cells[] = {
    CELL(wlt_repair_row, source, "source_row", CELL_ROW, NONE),
    CELL(wlt_repair_row, repair.text, "text", CELL_TEXT, 0),
    CELL(wlt_repair_row, repair.count, "count", CELL_INT64, 0),
    CELL(wlt_repair_row, repair.first_offset, "first_offset", CELL_INT64, -1),
    CELLS_END,
};
static const struct cell mark_moment_cells[] = {
    CELL(mark, time, "time", CELL_INT64, 0),
    CELL(mark, text, "text", CELL_TEXT, 0),
    CELLS_END,
};
static const struct cell wait_interval_cells[] = {
    CELL(wait, start, "start", CELL_INT64, 0),
    CELL(wait, end, "end", CELL_INT64, 0),
    CELL(wait, kind, "kind", CELL_TEXT, 0),
    CELLS_END,
};
static const struct cell clock_cells[] = {
    CELL(wlt_clock_row, time, "time", CELL_INT64, 0),
    CELL(wlt_clock_row, value, "value", CELL_INT64, 0),
    CELL(wlt_clock_row, clock, "clock", CELL_TEXT, 0),
    CELLS_END,
};
const struct cell wlt_index_cells[] = {
    CELL(wlt_index_row, offset, "offset", CELL_UINT64, 0),
    CELL(wlt_index_row, table, "table", CELL_UINT32, 0),
    CELL(wlt_index_row, rows, "rows", CELL_UINT32, 0),
    CELL(wlt_index_row, start, "start", CELL_INT64, UNKNOWN),
    CELL(wlt_index_row, end, "end", CELL_INT64, UNKNOWN),
    CELLS_END,
};

const struct cell *const *wlt_cells(enum wlt_table table)
{
    enum { LISTS = 2 };
    static const struct cell *const lists[WLT_TABLES][LISTS + 1] = {
        [WLT_SOURCES] = {source_cells},
        [WLT_REPAIRS] = {repair_source_cells},
        [WLT_FACTS] = {fact_cells},
        [WLT_LOSSES] = {losses_cells},
        [WLT_DEVICES] = {device_cells},
        [WLT_PROCESSES] = {process_cells},
        [WLT_THREADS] = {thread_cells},
        [WLT_STREAMS] = {stream_cells},
        [WLT_SHAPES] = {shape_cells},
        [WLT_COMMS] = {comm_cells},
        [WLT_SERIES] = {series_cells},
        [WLT_MARKS] = {mark_moment_cells, mark_cells},
        [WLT_WAITS] = {wait_interval_cells, wait_cells},
        [WLT_CLOCKS] = {clock_cells},
        [WLT_INDEX] = {wlt_index_cells},
    };
    return table < WLT_TABLES && lists[table][0] ? lists[table] : NULL;
}

enum wlt_table wlt_cell_target(const struct cell *cell)
{
    static const struct {
        const char *key;
        enum wlt_table table;
    } targets[] = {
        {"source_row", WLT_SOURCES}, {"process_row", WLT_PROCESSES}, {"device_row", WLT_DEVICES},
        {"thread_row", WLT_THREADS}, {"stream_row", WLT_STREAMS},    {"on_stream_row", WLT_STREAMS},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(cell->key, targets[i].key) == 0)
            return targets[i].table;
    return WLT_TABLES;
}

enum wlt_coding wlt_cell_coding(const struct cell *cell)
{
    switch (cell->type) {
    case CELL_TEXT:
    case CELL_ROW:
    case CELL_UINT32:
        return WLT_VARINT;
    case CELL_INT64:
    case CELL_UINT64:
        return WLT_DELTA;
    default:
        return WLT_ZIGZAG;
    }
}

bool wlt_has_row_numbers(enum wlt_table table)
{
    return table >= WLT_SOURCES && table <= WLT_SERIES;
}

/* The numbers of these are in files. New ones go to the end. */
_Static_assert(OP_KERNEL == 0 && OP_COPY == 1 && OP_MEMSET == 2 && OP_GRAPH == 3, "numbers of a format");
_Static_assert(MEM_UNKNOWN == 0 && MEM_PAGEABLE == 1 && MEM_PINNED == 2 && MEM_DEVICE == 3 &&
                   MEM_ARRAY == 4 && MEM_MANAGED == 5,
               "numbers of a format");
_Static_assert(COPY_UNKNOWN == 0 && COPY_H2D == 1 && COPY_D2H == 2 && COPY_D2D == 3 && COPY_H2H == 4 &&
                   COPY_P2P == 5 && COPY_MANAGED_H2D == 6 && COPY_MANAGED_D2H == 7 && COPY_MANAGED_D2D == 8,
               "numbers of a format");
_Static_assert(SPAN_API == 0 && SPAN_OP == 1 && SPAN_ANNOTATION == 2 && SPAN_PYTHON == 3 && SPAN_OS == 4 &&
                   SPAN_OVERHEAD == 5 && SPAN_OTHER == 6 && SPAN_NATIVE == 7,
               "numbers of a format");
_Static_assert(VENDOR_UNKNOWN == 0 && VENDOR_NVIDIA == 1 && VENDOR_AMD == 2 && VENDOR_INTEL == 3 &&
                   VENDOR_META == 4,
               "numbers of a format");
_Static_assert(UNIT_NONE == 0 && UNIT_BYTES == 1 && UNIT_RATIO == 2 && UNIT_WATTS == 3 && UNIT_CELSIUS == 4 &&
                   UNIT_HZ == 5 && UNIT_BYTES_PER_S == 6,
               "numbers of a format");
_Static_assert(MARK_INSTANT == 0 && MARK_DIAGNOSTIC == 1 && MARK_OOM == 2 && MARK_XID == 3 &&
                   MARK_THROTTLE == 4 && MARK_LOST == 5 && MARK_PAUSED == 6 && MARK_RESUMED == 7,
               "numbers of a format");
