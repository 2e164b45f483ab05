/* Tables that programs print: comma-separated values between other lines, in any encoding and number style
 * that people's machines produce. RFC 4180, and what spreadsheets make of it. */
#ifndef WARPLIGHT_IMPORT_CSV_H
#define WARPLIGHT_IMPORT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/stream.h"
#include "base/vec.h"

/* ---- text ---------------------------------------------------------------------------------------------- */

enum { CSV_TEXT_MAX = 1 << 30 };

/* Reads the whole stream as UTF-8 without byte order mark; UTF-16 is converted. More than CSV_TEXT_MAX is an
 * error. */
int csv_read_text(struct str *text, struct stream *in, struct err *err);
/* The same for the first bytes of a file. */
void csv_to_utf8(struct str *text, const char *bytes, size_t length);

/* ---- rows ---------------------------------------------------------------------------------------------- */

struct csv_cell {
    const char *at;
    size_t length;
};

struct csv {
    const char *at, *end;
    const char *start;
    char separator;
    const char *line; /* the row read last; with it, up to its end */
    size_t line_length;
    VEC(struct csv_cell) cells;
    struct arena unescaped;
};

/* Nothing is copied: text must outlive the reader. */
void csv_open(struct csv *c, const char *text, size_t length, char separator);
/* Reads the next row into c->cells, which stay valid until the next call, as their texts do until
 * csv_close(). Blanks around cells are dropped. A quote that never closes ends with its line. False at the
 * end. */
bool csv_next(struct csv *c);
void csv_close(struct csv *c);
static inline int64_t csv_offset(const struct csv *c)
{
    return c->line - c->start;
}

bool csv_is(struct csv_cell cell, const char *text);
/* The column whose cell is text, or -1. */
int csv_find(const struct csv *c, const char *text);
/* Cell i of the row, empty where the row is shorter or i is -1. */
struct csv_cell csv_get(const struct csv *c, int i);
bool csv_uint(struct csv_cell cell, uint64_t *value);

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* 1,234.5 or 1.234,5: told apart by a whole file, as a number such as 117.344 alone tells nothing. */
enum number_style { NUMBERS_POINT, NUMBERS_COMMA };

struct number_evidence {
    int64_t point, comma;               /* numbers that can only be read with this decimal sign */
    int64_t unsure_point, unsure_comma; /* numbers with one such sign and three digits after it */
};

void number_evidence_add(struct number_evidence *e, struct csv_cell cell);
/* What is wrong, as an English msgid; or NULL and *style. A lone "1,234" is taken for a thousand, as no tool
 * prints three decimals after a comma; a lone "1.234" decides nothing. */
const char *number_style_of(const struct number_evidence *e, enum number_style *style);
/* Reads a number; "nan" is one. What follows in parentheses is left out. */
bool number_read(struct csv_cell cell, enum number_style style, double *value);

#endif
