/* The rows of a run as named cells, for formats that keep a value under a name: one table says for writer and
 * reader what there is, how it is spelled and what its absence means.
 *
 * Keys are a format: they stay as they are once written, new ones may be added. */
#ifndef WARPLIGHT_MODEL_CELLS_H
#define WARPLIGHT_MODEL_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"

enum cell_type {
    CELL_INT32,
    CELL_UINT32,
    CELL_INT64,
    CELL_UINT64,
    CELL_TEXT, /* uint32_t string id */
    CELL_ROW,  /* uint32_t row of another table of the run */
    CELL_ENUM, /* enum, spelled as in names */
};

struct cell {
    const char *key;
    enum cell_type type;
    uint16_t offset;
    uint16_t count;           /* array elements, 1 for a single value */
    int64_t absent;           /* the value that is not written */
    const char *const *names; /* CELL_ENUM; NULL-terminated */
};

/* Columns of run->ops, gathered in a row. */
struct op_row {
    int64_t bytes;
    uint64_t correlation, external;
    uint32_t graph;
    enum op_kind kind;
    enum copy_dir dir;
    enum mem_kind src, dst;
};

/* Each ends with a cell without a key. Times, names of slices and what says where an op or span belongs are
 * not among them: every format has its own place for those. */
extern const struct cell op_cells[], shape_cells[], comm_cells[];
extern const struct cell source_cells[], repair_cells[], fact_cells[], losses_cells[], device_cells[],
    process_cells[], thread_cells[], stream_cells[], series_cells[], mark_cells[], wait_cells[];

extern const char *const op_kind_names[],
    *const copy_dir_names[], *const mem_kind_names[], *const span_kind_names[], *const mark_kind_names[];

struct op_row op_row(const struct run *run, size_t op);
void op_row_store(struct run *run, size_t op, const struct op_row *row);

/* Element i of the cell; uint64_t values keep their bits. */
int64_t cell_get(const struct cell *cell, const void *row, int i);
/* False, and nothing is changed, if the cell cannot hold the value. */
bool cell_set(const struct cell *cell, void *row, int i, int64_t value);
/* Sets all cells of a row to what their absence means. */
void cells_clear(const struct cell *cells, void *row);
/* The place of a text of the given length in a NULL-terminated list, or -1. */
int64_t cell_name_find(const char *const *names, const char *text, size_t length);

#endif
