#include "view/canvas.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "view/screen.h"

void canvas_clear(struct canvas *c, int rows, int columns)
{
    size_t count = (size_t)rows * (size_t)columns;
    if (rows != c->rows || columns != c->columns || !c->cells) {
        free(c->cells);
        c->cells = mem_alloc((count ? count : 1) * sizeof *c->cells);
        c->rows = rows;
        c->columns = columns;
    }
    for (size_t i = 0; i < count; i++)
        c->cells[i] = (struct canvas_cell){.columns = 1};
}

void canvas_release(struct canvas *c)
{
    free(c->cells);
    *c = (struct canvas){0};
}

/* ---- text ------------------------------------------------------------------------------------------------
 */

/* The text as the canvas holds it; out keeps it where it had to be changed. */
static const char *as_held(const struct canvas *c, const char *text, struct str *out)
{
    if (c->utf8)
        return text;
    screen_ascii(out, text, strlen(text));
    return str_text(out);
}

int canvas_width(const struct canvas *c, const char *text)
{
    struct str ascii = {0};
    int width = screen_columns(as_held(c, text, &ascii));
    str_release(&ascii);
    return width;
}

/* A wide character that loses one of its halves loses the other one, too. */
static void blank(struct canvas *c, int row, int column)
{
    struct canvas_cell *cell = canvas_at(c, row, column);
    if (cell->columns == 0 && column > 0)
        *canvas_at(c, row, column - 1) = (struct canvas_cell){.columns = 1};
    if (cell->columns == 2 && column + 1 < c->columns)
        *canvas_at(c, row, column + 1) = (struct canvas_cell){.columns = 1};
    *cell = (struct canvas_cell){.columns = 1};
}

/* One character with the marks that follow it. */
static void put_cell(struct canvas *c, int row, int column, enum ink ink, const char *text, size_t length,
                     int columns)
{
    blank(c, row, column);
    if (columns == 2)
        blank(c, row, column + 1);
    struct canvas_cell *cell = canvas_at(c, row, column);
    *cell = (struct canvas_cell){.ink = (uint8_t)ink, .columns = (uint8_t)columns};
    if (length < sizeof cell->text && *text != ' ')
        memcpy(cell->text, text, length);
    if (columns == 2)
        *canvas_at(c, row, column + 1) = (struct canvas_cell){.ink = (uint8_t)ink};
}

static int put_all(struct canvas *c, int row, int column, enum ink ink, const char *text, size_t length)
{
    int used = 0;
    for (size_t at = 0; at < length;) {
        size_t bytes;
        int columns = utf8_columns(utf8_decode(text + at, length - at, &bytes));
        size_t end = at + bytes;
        while (end < length) { /* marks belong to the character before */
            size_t more;
            if (utf8_columns(utf8_decode(text + end, length - end, &more)) != 0)
                break;
            end += more;
        }
        if (columns > 0 && column + used >= 0 && column + used + columns <= c->columns)
            put_cell(c, row, column + used, ink, text + at, end - at, columns);
        used += columns;
        at = end;
    }
    return used;
}

int canvas_put(struct canvas *c, int row, int column, int width, enum ink ink, const char *text)
{
    struct str ascii = {0};
    if (row < 0 || row >= c->rows || width <= 0 || column >= c->columns)
        return 0;
    width = column + width > c->columns ? c->columns - column : width;
    text = as_held(c, text, &ascii);
    size_t length = strlen(text);
    bool cut = utf8_width(text, length) > width;
    if (cut)
        length = utf8_cut(text, length, width - 1);
    int used = put_all(c, row, column, ink, text, length);
    if (cut)
        used += put_all(c, row, column + used, ink, c->utf8 ? "…" : "~", strlen(c->utf8 ? "…" : "~"));
    str_release(&ascii);
    return used;
}

void canvas_put_right(struct canvas *c, int row, int column, int width, enum ink ink, const char *text)
{
    int needed = canvas_width(c, text);
    int skip = needed < width ? width - needed : 0;
    canvas_put(c, row, column + skip, width - skip, ink, text);
}

void canvas_fill(struct canvas *c, int row, int column, int width, enum ink ink)
{
    for (int i = column < 0 ? 0 : column; row >= 0 && row < c->rows && i < column + width && i < c->columns;
         i++) {
        blank(c, row, i);
        canvas_at(c, row, i)->ink = (uint8_t)ink;
    }
}

void canvas_reverse(struct canvas *c, int row, int column, int width)
{
    for (int i = column < 0 ? 0 : column; row >= 0 && row < c->rows && i < column + width && i < c->columns;
         i++)
        canvas_at(c, row, i)->reversed = true;
}

int canvas_wrap(struct canvas *c, int row, int column, int width, int rows, enum ink ink, const char *text)
{
    struct screen lines = {.width = width, .utf8 = true};
    int used = 0;
    screen_wrap(&lines, STYLE_PLAIN, text, 0, 0);
    for (const char *at = str_text(&lines.text); *at && used < rows; used++) {
        size_t length = strcspn(at, "\n");
        struct str line = {0};
        str_add(&line, at, length);
        canvas_put(c, row + used, column, width, ink, str_text(&line));
        str_release(&line);
        at += length + (at[length] == '\n');
    }
    screen_release(&lines);
    return used;
}

void canvas_bar(struct canvas *c, int row, int column, int width, enum ink ink, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = share > 0 ? fmin(share, 1) : 0;
    int units = (int)lround(share * width * 8);
    if (!c->utf8)
        units = (units + 4) / 8 * 8;
    if (units == 0 && share > 0)
        units = c->utf8 ? 1 : 8;
    for (int i = 0; i < units / 8; i++)
        canvas_put(c, row, column + i, 1, ink, c->utf8 ? "█" : "#");
    if (units % 8)
        canvas_put(c, row, column + units / 8, 1, ink, eighths[units % 8]);
    for (int i = (units + 7) / 8; i < width; i++)
        canvas_put(c, row, column + i, 1, INK_DIM, c->utf8 ? "·" : ".");
}

void canvas_dump(const struct canvas *c, struct str *out)
{
    for (int row = 0; row < c->rows; row++) {
        size_t end = out->len;
        for (int column = 0; column < c->columns; column++) {
            const struct canvas_cell *cell = canvas_at(c, row, column);
            if (cell->columns == 0)
                continue;
            str_puts(out, cell->text[0] ? cell->text : " ");
            if (cell->text[0])
                end = out->len;
        }
        str_cut(out, end);
        str_putc(out, '\n');
    }
}
