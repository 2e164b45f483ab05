#include "view/screen.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

static const char *const escape[STYLE_COUNT] = {
    [STYLE_PLAIN] = "",          [STYLE_BOLD] = "\x1b[1m",  [STYLE_DIM] = "\x1b[2m",
    [STYLE_HEADING] = "\x1b[1m", [STYLE_GOOD] = "\x1b[32m", [STYLE_NOTICE] = "\x1b[33m",
    [STYLE_BAD] = "\x1b[31m",
};
static const char escape_end[] = "\x1b[0m";

/* Flush beyond this; keeps memory constant for tables of any length. */
enum { FLUSH_BYTES = 1 << 16 };

int screen_columns(const char *text)
{
    return utf8_width(text, strlen(text));
}

static void style_begin(struct screen *s, enum style style)
{
    if (s->color && style != STYLE_PLAIN)
        str_puts(&s->text, escape[style]);
}

static void style_end(struct screen *s, enum style style)
{
    if (s->color && style != STYLE_PLAIN)
        str_puts(&s->text, escape_end);
}

void screen_puts(struct screen *s, enum style style, const char *text)
{
    style_begin(s, style);
    str_puts(&s->text, text);
    style_end(s, style);
}

void screen_printf(struct screen *s, enum style style, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    style_begin(s, style);
    str_vaddf(&s->text, format, args);
    style_end(s, style);
    va_end(args);
}

/* Ends the line; blanks before the end, which padding leaves, go. */
void screen_newline(struct screen *s)
{
    size_t length = s->text.len;
    while (length > 0 && s->text.ptr[length - 1] == ' ')
        length--;
    str_cut(&s->text, length);
    str_putc(&s->text, '\n');
    if (s->text.len > FLUSH_BYTES)
        screen_flush(s);
}

static const char ellipsis[] = "…";

/* Adds text of a table, whose columns must stay where they are: without UTF-8 the ellipsis of a shortened
 * name becomes one character, not the three of running text. */
static void add_aligned(struct screen *s, const char *text, size_t length)
{
    const char *end = text + length, *found;
    while (!s->utf8 && (found = memmem(text, (size_t)(end - text), ellipsis, strlen(ellipsis)))) {
        str_add(&s->text, text, (size_t)(found - text));
        str_putc(&s->text, '~');
        text = found + strlen(ellipsis);
    }
    str_add(&s->text, text, (size_t)(end - text));
}

void screen_cell(struct screen *s, enum style style, const char *text, int width, bool right)
{
    size_t length = strlen(text);
    int columns = utf8_width(text, length);
    bool cut = columns > width;
    if (cut) {
        length = utf8_cut(text, length, width - 1);
        columns = utf8_width(text, length) + 1;
    }
    size_t padding = columns < width ? (size_t)(width - columns) : 0;
    if (right)
        str_pad(&s->text, ' ', padding);
    style_begin(s, style);
    add_aligned(s, text, length);
    if (cut)
        add_aligned(s, ellipsis, strlen(ellipsis));
    style_end(s, style);
    if (!right)
        str_pad(&s->text, ' ', padding);
}

void screen_bar(struct screen *s, enum style style, double share, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    share = share > 0 ? fmin(share, 1) : 0;
    int units = (int)lround(share * width * 8);
    if (!s->utf8)
        units = (units + 4) / 8 * 8;
    if (units == 0 && share > 0)
        units = s->utf8 ? 1 : 8;
    style_begin(s, style);
    for (int i = 0; i < units / 8; i++)
        str_puts(&s->text, s->utf8 ? "█" : "#");
    str_puts(&s->text, eighths[units % 8]);
    style_end(s, style);
    str_pad(&s->text, ' ', (size_t)(width - (units + 7) / 8));
}

/* ---- wrapping ------------------------------------------------------------------------------------------ */

static size_t sequence_length(const char *p)
{
    size_t n = 1;
    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Punctuation that must not begin a line, and that must not end one (the core of kinsoku). */
static bool holds_to_left(const char *p)
{
    static const char *const marks[] = {"，", "。", "、", "；", "：", "？", "！", "）", "”", "》", "】"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(p, marks[i], strlen(marks[i])) == 0)
            return true;
    return false;
}

static bool holds_to_right(const char *p)
{
    return strncmp(p, "（", 3) == 0 || strncmp(p, "“", 3) == 0 || strncmp(p, "《", 3) == 0;
}

/* Whether the text goes on with a blank and a unit, which stays with its number. */
static bool unit_follows(const char *p)
{
    static const char *const units[] = {"%",   "ns",  "µs",   "ms",   "s",    "B", "KiB", "MiB",
                                        "GiB", "TiB", "MB/s", "GB/s", "TB/s", "W", "MHz", "°C"};
    if (*p != ' ')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i]);
        if (strncmp(p + 1, units[i], length) == 0 && !isalnum((unsigned char)p[1 + length]) &&
            p[1 + length] != '/')
            return true;
    }
    return false;
}

/* Returns the end of the piece that starts at p and cannot be broken: a word, a number with its unit, or one
 * wide character with the punctuation that clings to it. Trailing blanks are not part of it. */
static const char *piece_end(const char *p)
{
    bool opening = true;
    for (const char *start = p; *p && *p != '\n';) {
        if (*p == ' ') {
            if (p == start || !isdigit((unsigned char)p[-1]) || !unit_follows(p))
                break;
            p++;
        }
        size_t n = sequence_length(p);
        bool wide = utf8_width(p, n) == 2;
        bool opens = holds_to_right(p);
        p += n;
        if (holds_to_left(p))
            continue;
        if (wide && !opens)
            break;
        /* A word ends where a wide character begins. */
        if (!opens && *p && utf8_width(p, sequence_length(p)) == 2 && !opening)
            break;
        opening = opens;
    }
    return p;
}

void screen_wrap(struct screen *s, enum style style, const char *text, int column, int indent)
{
    enum { ROOM_MIN = 16 };
    bool line_empty = true;
    if (indent > s->width / 2 &&
        indent > s->width - ROOM_MIN) /* the column is beyond the screen, or nearly */
        indent = s->width / 2;
    style_begin(s, style);
    for (const char *p = text; *p;) {
        int blanks = 0;
        for (; *p == ' '; p++)
            blanks++;
        const char *end = piece_end(p);
        int width = utf8_width(p, (size_t)(end - p));
        if (width > s->width - indent) { /* a piece longer than a line is cut where the line ends */
            bool fits_some = line_empty || column + blanks < s->width;
            int room = s->width - (fits_some ? column + (line_empty ? 0 : blanks) : indent);
            end = p + utf8_cut(p, (size_t)(end - p), room > 2 ? room : 2); /* a wide character at least */
            width = utf8_width(p, (size_t)(end - p));
        }
        if (*p == '\n' || (!line_empty && column + blanks + width > s->width)) {
            style_end(s, style);
            screen_newline(s);
            str_pad(&s->text, ' ', (size_t)indent);
            style_begin(s, style);
            column = indent;
            blanks = 0;
            line_empty = true;
        }
        if (*p == '\n') {
            p++;
            continue;
        }
        if (!line_empty)
            str_pad(&s->text, ' ', (size_t)blanks);
        else
            blanks = 0;
        str_add(&s->text, p, (size_t)(end - p));
        column += blanks + width;
        line_empty = line_empty && end == p;
        p = end;
    }
    style_end(s, style);
    screen_newline(s);
}

/* ---- leaving ------------------------------------------------------------------------------------------- */

/* What a terminal without UTF-8 gets instead. Anything else outside ASCII becomes "?" a character. */
static const struct {
    const char *utf8, *ascii;
} stand_ins[] = {
    {"µ", "u"},  {"—", "-"},   {"–", "-"},  {"…", "..."}, {"×", "x"},   {"·", "-"}, {"→", "->"},
    {"≥", ">="}, {"≤", "<="},  {"“", "\""}, {"”", "\""},  {"’", "'"},   {"÷", "/"}, {"±", "+-"},
    {"°", " "},  {"−", "-"},   {"▌", "|"},  {"≈", "~"},   {"Σ", "sum"}, {"•", "*"}, {"─", "-"},
    {"›", ">"},  {"∞", "inf"}, {"↓", "<"},  {"↑", ">"},   {"└", "`"},   {"│", "|"},
};

void screen_ascii(struct str *out, const char *text, size_t length)
{
    for (const char *p = text, *end = p + length; p < end;) {
        if ((unsigned char)*p < 0x80) {
            str_putc(out, *p++);
            continue;
        }
        size_t n = sequence_length(p);
        const char *with = "?";
        for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
            if (strlen(stand_ins[i].utf8) == n && memcmp(stand_ins[i].utf8, p, n) == 0)
                with = stand_ins[i].ascii;
        str_puts(out, with);
        p += n;
    }
}

static void write_ascii(struct screen *s)
{
    struct str out = {0};
    screen_ascii(&out, str_text(&s->text), s->text.len);
    fwrite(str_text(&out), 1, out.len, s->out);
    str_release(&out);
}

void screen_flush(struct screen *s)
{
    if (s->utf8)
        fwrite(str_text(&s->text), 1, s->text.len, s->out);
    else
        write_ascii(s);
    str_cut(&s->text, 0);
}

void screen_release(struct screen *s)
{
    str_release(&s->text);
}
