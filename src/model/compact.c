#include "model/compact.h"

#include <stdlib.h>

#include "model/cells.h"
#include "model/used.h"
#include "model/wlt.h"

/* ---- what is held ---------------------------------------------------------------------------------------
 */

static void mark_comms(bool *used, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i] != NONE)
            used[rows[i]] = true;
}

void compaction_begin(struct compaction *c, const struct run *run)
{
    *c = (struct compaction){.strings_used = used_strings(run),
                             .comms_used = mem_zalloc(run->comms.count + 1, sizeof *c->comms_used)};
    mark_comms(c->comms_used, run->ops.comm, run->ops.count);
    mark_comms(c->comms_used, run->spans.comm, run->spans.count);
}

void compaction_string(const struct compaction *c, uint32_t *id)
{
    if (c->strings)
        *id = c->strings[*id];
    else
        c->strings_used[*id] = true;
}

void compaction_comm(const struct compaction *c, uint32_t *row)
{
    if (*row == NONE)
        return;
    if (c->comms)
        *row = c->comms[*row];
    else
        c->comms_used[*row] = true;
}

/* ---- collectives and shapes -----------------------------------------------------------------------------
 */

static void drop_comms(struct compaction *c, struct run *run)
{
    size_t to = 0;
    c->comms = mem_resize(NULL, run->comms.count + 1, sizeof *c->comms);
    c->comms[run->comms.count] = NONE;
    for (size_t from = 0; from < run->comms.count; from++) {
        c->comms[from] = c->comms_used[from] ? (uint32_t)to : NONE;
        if (c->comms_used[from])
            run->comms.at[to++] = run->comms.at[from];
    }
    run->comms.count = to;
    for (size_t i = 0; i < run->ops.count; i++)
        compaction_comm(c, &run->ops.comm[i]);
    for (size_t i = 0; i < run->spans.count; i++)
        compaction_comm(c, &run->spans.comm[i]);
}

static void drop_shapes(struct run *run)
{
    uint32_t *shapes = mem_resize(NULL, run->shapes.count + 1, sizeof *shapes);
    struct run fresh = {0};
    for (size_t i = 0; i < run->shapes.count; i++)
        shapes[i] = NONE;
    for (size_t i = 0; i < run->ops.count; i++) {
        uint32_t *shape = &run->ops.shape[i];
        if (*shape == NONE)
            continue;
        if (shapes[*shape] == NONE)
            shapes[*shape] = run_shape(&fresh, &run->shapes.at[*shape]);
        *shape = shapes[*shape];
    }
    vec_release(&run->shapes);
    map_release(&run->by_shape);
    run->shapes = fresh.shapes;
    run->by_shape = fresh.by_shape;
    free(shapes);
}

/* ---- strings --------------------------------------------------------------------------------------------
 */

static void renumber_cells(const struct compaction *c, enum wlt_table table, void *at, size_t size,
                           size_t count)
{
    for (const struct cell *const *list = wlt_cells(table); *list; list++)
        for (const struct cell *cell = *list; cell->key; cell++)
            for (size_t i = 0; i < count && cell->type == CELL_TEXT; i++)
                compaction_string(c, (uint32_t *)((char *)at + i * size + cell->offset));
}

static void renumber_columns(const struct compaction *c, const struct wlt_column *columns, void *table,
                             size_t count)
{
    for (const struct wlt_column *column = columns; column->name; column++)
        for (size_t i = 0; i < count && column->meaning == WLT_TEXT; i++) {
            uint32_t id = (uint32_t)wlt_column_get(column, table, i);
            compaction_string(c, &id);
            wlt_column_set(column, table, i, id);
        }
}

#define RENUMBER(table, name) renumber_cells(c, table, run->name.at, sizeof *run->name.at, run->name.count);

static void drop_strings(struct compaction *c, struct run *run)
{
    c->strings = mem_resize(NULL, run->strings.count, sizeof *c->strings);
    intern_keep(&run->strings, c->strings_used, c->strings);
    RUN_TEXT_TABLES(RENUMBER)
    vec_each (&run->sources, source)
        vec_each (&source->repairs, repair)
            compaction_string(c, &repair->text);
    renumber_columns(c, wlt_op_columns, &run->ops, run->ops.count);
    renumber_columns(c, wlt_span_columns, &run->spans, run->spans.count);
}

/* ---- all of it ------------------------------------------------------------------------------------------
 */

void compaction_apply(struct compaction *c, struct run *run)
{
    drop_shapes(run);
    drop_comms(c, run);
    drop_strings(c, run);
}

void compaction_release(struct compaction *c)
{
    free(c->strings_used);
    free(c->comms_used);
    free(c->strings);
    free(c->comms);
    *c = (struct compaction){0};
}
