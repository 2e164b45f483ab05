/* A grid of character cells: what a full-screen view draws on. It knows no terminal, so that tests can read
 * what a person would see; cmd/top_terminal.c shows it.
 *
 * Positions are (row, column) from 0 at the top left. Whatever lies outside is cut. Text is UTF-8; a canvas
 * without UTF-8 holds ASCII stand-ins. */
#ifndef WARPLIGHT_VIEW_CANVAS_H
#define WARPLIGHT_VIEW_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What a text is, not how it looks: palettes decide that, and none needs a colour to be understood. */
enum ink {
    INK_PLAIN,
    INK_BOLD,
    INK_DIM,
    INK_TITLE, /* of a GPU or a window */
    INK_GOOD,
    INK_NOTICE,
    INK_BAD,
    INK_BAR,   /* the part of a gauge that is used */
    INK_CHART, /* the area of a chart */
    INK_LINE,  /* a second series in it */
    INK_HEAD,  /* names of columns */
    INK_MATCH, /* what was searched for */
    INK_COUNT
};

enum { CANVAS_CELL_BYTES = 16 };

struct canvas_cell {
    char text[CANVAS_CELL_BYTES]; /* one character with its marks; "" for a blank */
    uint8_t ink;                  /* enum ink */
    uint8_t columns;              /* 1 or 2; 0: covered by the wide character before it */
    bool reversed;
};

struct canvas {
    int rows, columns;
    bool utf8;
    struct canvas_cell *cells; /* row by row */
};

/* Blanks everything; the size may change. */
void canvas_clear(struct canvas *c, int rows, int columns);
void canvas_release(struct canvas *c);

static inline struct canvas_cell *canvas_at(const struct canvas *c, int row, int column)
{
    return &c->cells[(size_t)row * (size_t)c->columns + (size_t)column];
}

/* Columns of a text as the canvas would hold it. */
int canvas_width(const struct canvas *c, const char *text);
/* Puts a text into at most width columns; a longer one is cut, with "…" as its last column. Returns the
 * columns used. */
int canvas_put(struct canvas *c, int row, int column, int width, enum ink ink, const char *text);
/* The same at the right end of the width. */
void canvas_put_right(struct canvas *c, int row, int column, int width, enum ink ink, const char *text);
/* Blanks of an ink; takes the place of what was there. */
void canvas_fill(struct canvas *c, int row, int column, int width, enum ink ink);
/* Shows what is there reversed, as for a choice. */
void canvas_reverse(struct canvas *c, int row, int column, int width);
/* Breaks a text into lines of at most width columns, from a row on and not below the last one. Returns the
 * lines used. rows: at most so many. */
int canvas_wrap(struct canvas *c, int row, int column, int width, int rows, enum ink ink, const char *text);
/* A gauge of share (0–1) of width columns, in eighths of a column. A share above 0 shows. */
void canvas_bar(struct canvas *c, int row, int column, int width, enum ink ink, double share);

/* All of it as lines of text, without blanks at their ends. */
void canvas_dump(const struct canvas *c, struct str *out);

#endif
