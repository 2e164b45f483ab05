/* Inside the importer of recordings: wlt.c reads chunks and fills the big tables, wlt_rows.c keeps the rows
 * of the small tables and, at the end, finds each its row in the run.
 *
 * References are numbers of the file until then: so the order of chunks does not matter, later versions of a
 * row replace earlier ones, and what refers to a lost row can still be told apart. */
#ifndef WARPLIGHT_IMPORT_WLT_IMPORT_H
#define WARPLIGHT_IMPORT_WLT_IMPORT_H

#include "base/hash.h"
#include "import/import.h"
#include "import/wlt_chunks.h"

/* Rows of one small table of the file, in the order in which they came. */
struct wlt_rows {
    char *at;
    size_t size, count, cap;
    struct map by_number;  /* number in the file → index here */
    VEC(uint32_t) numbers; /* by index */
    VEC(uint32_t) mapped;  /* by index: row of the run; NONE where it has none */
};

struct wlt_import {
    struct run *run;
    uint32_t source; /* of the file itself */
    struct wlt_chunks chunks;
    struct wlt_header header; /* zero if it is damaged */
    size_t max_string;
    int64_t *values, *numbers; /* one column each */
    struct map strings;        /* id in the file → id in the run */
    struct wlt_rows rows[WLT_TABLES];
    VEC(struct wlt_clock_row) clocks;
    /* where this file's rows begin */
    size_t first_op, first_span, first_sample, first_mark, first_wait, first_fact;
    /* what was left out */
    int64_t unknown_chunks, unknown_columns, misfits, lost_texts, lost_rows;
    int64_t rows_listed, rows_read; /* of events: by the index, and in the chunks that were whole */
    bool closed;
};

/* The column has a name that this version knows; it was read into in->values. count: values. */
bool wlt_import_values(struct wlt_import *in, const struct wlt_column_data *column, size_t count);

/* Reads a chunk of a table that has cells: rows by their numbers, or appended to where append returns. False
 * if it is damaged. */
bool wlt_read_small(struct wlt_import *in, enum wlt_table table);
bool wlt_read_appended(struct wlt_import *in, enum wlt_table table, void *rows, size_t size);

/* A text of the file as one of the run; what was lost is the empty text, or, for names, says so. */
uint32_t wlt_text(struct wlt_import *in, uint32_t id);
uint32_t wlt_name(struct wlt_import *in, uint32_t id);
/* A row of the file as a row of the run. A row that was lost is made up where others need it. */
uint32_t wlt_row(struct wlt_import *in, enum wlt_table table, uint32_t number);
/* Puts the small tables into the run. Before this, wlt_row() is not to be called. */
void wlt_place_rows(struct wlt_import *in);
void wlt_rows_init(struct wlt_import *in);
void wlt_rows_release(struct wlt_import *in);

#endif
