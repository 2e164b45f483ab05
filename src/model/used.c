#include "model/used.h"

#include "model/wlt.h"

static void use_cells(bool *used, enum wlt_table table, const void *at, size_t size, size_t count)
{
    for (const struct cell *const *list = wlt_cells(table); *list; list++)
        for (const struct cell *cell = *list; cell->key; cell++)
            for (size_t i = 0; i < count && cell->type == CELL_TEXT; i++)
                used[cell_get(cell, (const char *)at + i * size, 0)] = true;
}

static void use_columns(bool *used, const struct wlt_column *columns, const void *table, size_t count)
{
    for (const struct wlt_column *column = columns; column->name; column++)
        for (size_t i = 0; i < count && column->meaning == WLT_TEXT; i++)
            used[wlt_column_get(column, table, i)] = true;
}

#define USE_CELLS(table, name) use_cells(used, table, run->name.at, sizeof *run->name.at, run->name.count);

bool *used_strings(const struct run *run)
{
    bool *used = mem_zalloc(run->strings.count, sizeof *used);
    RUN_TEXT_TABLES(USE_CELLS)
    vec_each (&run->sources, source)
        vec_each (&source->repairs, repair)
            used[repair->text] = true;
    use_columns(used, wlt_op_columns, &run->ops, run->ops.count);
    use_columns(used, wlt_span_columns, &run->spans, run->spans.count);
    return used;
}
