/* Columnar tables. A table is declared by a list macro of its columns:
 *
 *     #define RUN_OPS(X) X(int64_t, start) X(int64_t, end) …
 *     TABLE_DECLARE(op_table, RUN_OPS)        in the header
 *     TABLE_DEFINE(op_table, RUN_OPS)         in one .c file
 *
 * which yields struct op_table {size_t count, cap; int64_t *start; int64_t *end; …} and op_table_add()
 * (returns the index of a new row, whose cells are zero), op_table_permute() (row i becomes old row order[i];
 * order has count entries), op_table_release(). */
#ifndef WARPLIGHT_MODEL_TABLE_H
#define WARPLIGHT_MODEL_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TABLE_COLUMN_(type, name) type *name;

#define TABLE_DECLARE(table, COLUMNS)                                                                        \
    struct table {                                                                                           \
        size_t count;                                                                                        \
        size_t cap;                                                                                          \
        COLUMNS(TABLE_COLUMN_)                                                                               \
    };                                                                                                       \
    void table##_grow(struct table *t);                                                                      \
    void table##_permute(struct table *t, const uint32_t *order);                                            \
    void table##_release(struct table *t);                                                                   \
    size_t table##_add(struct table *t);

#define TABLE_GROW_(type, name)    t->name = mem_resize(t->name, t->cap, sizeof *t->name);
#define TABLE_ZERO_(type, name)    t->name[row] = 0;
#define TABLE_RELEASE_(type, name) free(t->name);
#define TABLE_PERMUTE_(type, name)                                                                           \
    {                                                                                                        \
        type *moved = mem_resize(NULL, t->count, sizeof *moved);                                             \
        for (size_t i = 0; i < t->count; i++)                                                                \
            moved[i] = t->name[order[i]];                                                                    \
        free(t->name);                                                                                       \
        t->name = moved;                                                                                     \
    }

#define TABLE_DEFINE(table, COLUMNS)                                                                         \
    void table##_grow(struct table *t)                                                                       \
    {                                                                                                        \
        t->cap = t->cap ? t->cap * 2 : 1024;                                                                 \
        COLUMNS(TABLE_GROW_)                                                                                 \
    }                                                                                                        \
    size_t table##_add(struct table *t)                                                                      \
    {                                                                                                        \
        if (t->count == t->cap)                                                                              \
            table##_grow(t);                                                                                 \
        size_t row = t->count++;                                                                             \
        COLUMNS(TABLE_ZERO_)                                                                                 \
        return row;                                                                                          \
    }                                                                                                        \
    void table##_permute(struct table *t, const uint32_t *order)                                             \
    {                                                                                                        \
        COLUMNS(TABLE_PERMUTE_)                                                                              \
        t->cap = t->count;                                                                                   \
    }                                                                                                        \
    void table##_release(struct table *t)                                                                    \
    {                                                                                                        \
        COLUMNS(TABLE_RELEASE_)                                                                              \
        *t = (struct table){0};                                                                              \
    }

#endif
