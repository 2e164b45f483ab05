/* The recording format .wlt, as its writer (export/wlt_encode.h) and its reader (import/wlt.c) share it:
 * numbers, tables, codings, checksums. doc/formats/wlt.md describes the bytes.
 *
 * A file is a header and then chunks. A chunk holds rows of one table, column after column; columns have
 * names, so that a reader takes those that it knows and leaves out the rest. */
#ifndef WARPLIGHT_MODEL_WLT_H
#define WARPLIGHT_MODEL_WLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/cells.h"
#include "model/run.h"

#define WLT_MAGIC       "\x89WLT\r\n\x1a\n" /* as PNG: damaged by every transfer that is not binary */
#define WLT_CHUNK_MAGIC "\xf7WLC"

enum {
    WLT_MAJOR = 1,
    WLT_MINOR = 0,
    WLT_MAGIC_BYTES = 8,
    WLT_HEADER_BYTES = 32,
    WLT_CHUNK_HEADER_BYTES = 40,
    WLT_END_BYTES = 64, /* the END chunk, the last of a recording that was closed */
    WLT_ROWS_MAX = 65536,
    WLT_RAW_MAX = 32 << 20,    /* payload of a chunk, decompressed */
    WLT_STORED_MAX = 33 << 20, /* payload of a chunk in the file */
    WLT_TEXT_MAX = 16 << 20,
    /* What all payloads so far decompress to may be this many times what lies in the file, and this much
     * more: a small hostile file does not fill the memory. */
    WLT_EXPANSION_MAX = 64,
    WLT_EXPANSION_FREE = 1 << 20,
};

/* Times beyond ± this are damage: differences of two that are not cannot overflow. */
#define WLT_TIME_MAX (INT64_C(1) << 62)

/* Features that a reader must know to read the file, and features that it may ignore. */
enum { WLT_FEATURES_REQUIRED = 0, WLT_FEATURES_OPTIONAL = 0 };

/* Numbers are the format. */
enum wlt_table {
    WLT_STRINGS = 1,
    WLT_SOURCES = 2,
    WLT_REPAIRS = 3,
    WLT_FACTS = 4,
    WLT_LOSSES = 5,
    WLT_DEVICES = 6,
    WLT_PROCESSES = 7,
    WLT_THREADS = 8,
    WLT_STREAMS = 9,
    WLT_SHAPES = 10,
    WLT_COMMS = 11,
    WLT_SERIES = 12,
    WLT_OPS = 13,
    WLT_SPANS = 14,
    WLT_SAMPLES = 15,
    WLT_MARKS = 16,
    WLT_WAITS = 17,
    WLT_CLOCKS = 18,
    WLT_INDEX = 19,
    WLT_END = 20,
    WLT_TABLES
};

/* ---- header and chunks --------------------------------------------------------------------------------- */

struct wlt_header {
    uint16_t major, minor;
    uint32_t required, optional; /* feature bits */
};

void wlt_header_pack(unsigned char out[WLT_HEADER_BYTES], const struct wlt_header *header);
/* False if the magic or the checksum is wrong. */
bool wlt_header_parse(struct wlt_header *header, const unsigned char in[WLT_HEADER_BYTES]);

enum { WLT_CHUNK_ZSTD = 1 }; /* flag: the payload is one zstd frame */

struct wlt_chunk {
    uint8_t table; /* enum wlt_table, or one of a later version */
    uint8_t flags;
    uint32_t stored, raw; /* bytes of the payload in the file and decompressed */
    uint32_t rows;
    uint32_t sequence; /* 0, 1, 2, … in a file */
    uint64_t checksum; /* of the payload as stored: XXH3, 64 bits */
};

void wlt_chunk_pack(unsigned char out[WLT_CHUNK_HEADER_BYTES], const struct wlt_chunk *chunk);
/* False if there is no chunk here: the magic or the header's own checksum is wrong. */
bool wlt_chunk_parse(struct wlt_chunk *chunk, const unsigned char in[WLT_CHUNK_HEADER_BYTES]);

/* ---- columns in a payload ------------------------------------------------------------------------------ */

/* Varints are LEB128 of 64 bits, as in Protocol Buffers; zigzag too. Numbers are the format. */
enum wlt_coding {
    WLT_VARINT = 0,
    WLT_ZIGZAG = 1,
    WLT_DELTA = 2,   /* zigzag of the difference to the value before, the first to 0; modulo 2^64 */
    WLT_FIXED64 = 3, /* little endian */
    WLT_CONST = 4,   /* one varint for all rows */
    WLT_BYTES = 5,   /* anything; only the text column of WLT_STRINGS */
};

/* A column as it lies in a payload. */
struct wlt_column_data {
    const char *name; /* not terminated */
    size_t name_length;
    const unsigned char *data;
    size_t length;
    uint8_t coding;
};

struct wlt_payload {
    const unsigned char *at, *end;
    uint64_t columns_left;
};

/* Appends the number of columns that follow. */
void wlt_columns_begin(struct str *out, size_t columns);
/* Appends a column, of the coding given. */
void wlt_column_put(struct str *out, const char *name, enum wlt_coding coding, const int64_t *values,
                    size_t count);
/* The same; equal values become a WLT_CONST. Not for the first column of a chunk: there each row takes a
 * byte, so that a reader can tell a hostile number of rows. */
void wlt_column_put_packed(struct str *out, const char *name, enum wlt_coding coding, const int64_t *values,
                           size_t count);
void wlt_bytes_put(struct str *out, const char *name, const void *data, size_t length);

/* False if the payload is damaged. */
bool wlt_payload_open(struct wlt_payload *payload, const void *data, size_t length);
/* False at the end; payload->columns_left is then 0, or else it is damaged. */
bool wlt_payload_next(struct wlt_payload *payload, struct wlt_column_data *column);
/* False if the column does not hold exactly count values. */
bool wlt_column_values(const struct wlt_column_data *column, int64_t *values, size_t count);
bool wlt_column_is(const struct wlt_column_data *column, const char *name);

/* ---- tables as columns --------------------------------------------------------------------------------- */

/* What the numbers of a column mean. */
enum wlt_meaning {
    WLT_NUMBER,
    WLT_TEXT,   /* id of a string of the file; 0 is the empty text */
    WLT_ROW,    /* row of another table of the file, plus 1; 0 is none */
    WLT_LENGTH, /* what is added to the row's start to get this member */
    WLT_REAL,   /* the bits of an IEEE 754 double */
};

/* A column of run->ops, run->spans or run->samples. */
struct wlt_column {
    const char *name;
    uint16_t member; /* offset of the array's pointer in the table */
    uint8_t size;    /* of an element: 1, 4, 8 */
    enum wlt_coding coding;
    enum wlt_meaning meaning;
    int64_t absent;        /* what a row has if the column is not in its chunk */
    enum wlt_table target; /* WLT_ROW: of which table */
};

/* Each ends with a column without a name. The first is the start or time. */
extern const struct wlt_column wlt_op_columns[], wlt_span_columns[], wlt_sample_columns[];

struct wlt_repair_row {
    uint32_t source;
    struct repair repair;
};

/* What the clock `clock` showed when the run's clock showed `time`. */
struct wlt_clock_row {
    int64_t time, value;
    uint32_t clock; /* text */
};

struct wlt_index_row {
    uint64_t offset; /* of the chunk in the file */
    uint32_t table, rows;
    int64_t start, end; /* of what the chunk holds; UNKNOWN where rows have no times */
};

struct wlt_end_row {
    uint64_t index_offset; /* of the first index chunk */
};

extern const struct cell wlt_index_cells[];

/* The columns of a table whose rows are structs; NULL-terminated list of lists. Keys name the columns. NULL
 * for the tables that have columns of their own. */
const struct cell *const *wlt_cells(enum wlt_table table);
/* The table whose row the cell holds, by its key. */
enum wlt_table wlt_cell_target(const struct cell *cell);
/* How the values of a cell are stored. A text or number that is absent is stored as it is, a row plus 1. */
enum wlt_coding wlt_cell_coding(const struct cell *cell);
/* Whether rows have a number, by which others refer to them and later versions of them replace them. */
bool wlt_has_row_numbers(enum wlt_table table);

/* Element i of a column of a columnar table, as it is in memory; sign and size aside. */
int64_t wlt_column_get(const struct wlt_column *column, const void *table, size_t i);
/* False, and nothing is changed, if an element cannot hold the value. */
bool wlt_column_set(const struct wlt_column *column, void *table, size_t i, int64_t value);

#endif
