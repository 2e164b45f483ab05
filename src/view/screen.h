/* Text for people: width, colour, wrapping, alignment. Everything is composed in UTF-8; a terminal that
 * cannot show it gets ASCII stand-ins when the text leaves. */
#ifndef WARPLIGHT_VIEW_SCREEN_H
#define WARPLIGHT_VIEW_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

enum style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_HEADING,
    STYLE_GOOD,
    STYLE_NOTICE,
    STYLE_BAD,
    STYLE_COUNT
};

struct screen {
    FILE *out;
    int width; /* columns; at least SCREEN_WIDTH_MIN */
    bool color;
    bool utf8;
    struct str text; /* not yet written */
};

enum { SCREEN_WIDTH_MIN = 40 };

/* Display columns of a NUL-terminated text. */
int screen_columns(const char *text);

void screen_puts(struct screen *s, enum style style, const char *text);
void screen_printf(struct screen *s, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void screen_newline(struct screen *s);
/* Text padded to width columns (at the left if right is set); longer text is cut, with "…" as its last
 * column. */
void screen_cell(struct screen *s, enum style style, const char *text, int width, bool right);
/* A bar of share (0–1) of width columns, in eighths of a column; padded to width. A share above 0 shows. */
void screen_bar(struct screen *s, enum style style, double share, int width);
/* Breaks text at blanks, and between Chinese characters, so that no line passes the width. The cursor stands
 * at column `column`; further lines start at column `indent`. Ends with a newline. */
void screen_wrap(struct screen *s, enum style style, const char *text, int column, int indent);

/* Appends UTF-8 text with ASCII stand-ins: "°C" as " C", "…" as "...", the unknown as "?". */
void screen_ascii(struct str *out, const char *text, size_t length);
/* Writes what has gathered and empties it. Errors stay in ferror(out). */
void screen_flush(struct screen *s);
void screen_release(struct screen *s);

#endif
