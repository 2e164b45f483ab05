#include "import/csv.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/json.h"
#include "base/utf8.h"

/* ---- text ---------------------------------------------------------------------------------------------- */

static void add_utf16(struct str *text, const unsigned char *bytes, size_t length, bool big)
{
    for (size_t i = 2; i + 1 < length; i += 2) {
        uint32_t unit = big ? bytes[i] << 8u | bytes[i + 1] : bytes[i + 1] << 8u | bytes[i];
        if (unit >= 0xd800 && unit < 0xdc00 && i + 3 < length) {
            uint32_t low = big ? bytes[i + 2] << 8u | bytes[i + 3] : bytes[i + 3] << 8u | bytes[i + 2];
            if (low >= 0xdc00 && low < 0xe000) {
                unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            }
        }
        utf8_add(text, unit);
    }
}

void csv_to_utf8(struct str *text, const char *bytes, size_t length)
{
    bool little = length >= 2 && memcmp(bytes, "\xff\xfe", 2) == 0;
    bool big = length >= 2 && memcmp(bytes, "\xfe\xff", 2) == 0;
    size_t mark = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (little || big)
        add_utf16(text, (const unsigned char *)bytes, length, big);
    else
        str_add(text, bytes + mark, length - mark);
}

int csv_read_text(struct str *text, struct stream *in, struct err *err)
{
    enum { PIECE = 256 * 1024 };
    struct str bytes = {0};
    char *piece = mem_alloc(PIECE);
    int64_t got;
    while ((got = stream_read(in, piece, PIECE, err)) > 0 && bytes.len <= CSV_TEXT_MAX)
        str_add(&bytes, piece, (size_t)got);
    free(piece);
    int code = got < 0 ? (int)got : 0;
    if (bytes.len > CSV_TEXT_MAX)
        code = err_set(err, ERR_INPUT, stream_path(in), CSV_TEXT_MAX, _("split the file by kernels"),
                       _("a table of more than 1 GiB is not read"));
    if (code == 0)
        csv_to_utf8(text, str_text(&bytes), bytes.len);
    str_release(&bytes);
    return code;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

void csv_open(struct csv *c, const char *text, size_t length, char separator)
{
    *c = (struct csv){.at = text, .end = text + length, .start = text, .separator = separator, .line = text};
}

void csv_close(struct csv *c)
{
    vec_release(&c->cells);
    arena_release(&c->unescaped);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct csv_cell trim(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    while (end > at && is_blank(end[-1]))
        end--;
    return (struct csv_cell){at, (size_t)(end - at)};
}

static struct csv_cell unescape(struct csv *c, struct csv_cell cell)
{
    if (!memmem(cell.at, cell.length, "\"\"", 2))
        return cell;
    char *out = arena_alloc(&c->unescaped, cell.length);
    size_t length = 0;
    for (size_t i = 0; i < cell.length; i++) {
        out[length++] = cell.at[i];
        i += cell.at[i] == '"' && i + 1 < cell.length && cell.at[i + 1] == '"';
    }
    return (struct csv_cell){out, length};
}

/* The quote that closes the one before at, or NULL. Only a separator or the end of the line can follow it. A
 * line end inside is fine if the quote closes soon: a forgotten quote would swallow the file. */
static const char *closing_quote(const struct csv *c, const char *at)
{
    enum { CELL_MAX = 1 << 20 };
    const char *limit = c->end - at > CELL_MAX ? at + CELL_MAX : c->end;
    for (; at < limit; at++) {
        if (*at == '\n' && at + 1 < c->end && at[1] == '"') /* so begins the next row */
            return NULL;
        if (*at != '"')
            continue;
        char next = at + 1 < c->end ? at[1] : '\n';
        if (next == c->separator || next == '\n' || next == '\r')
            return at;
        at += next == '"';
    }
    return NULL;
}

/* The next c before end, or end. */
static const char *find_char(const char *at, const char *end, char c)
{
    const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

bool csv_next(struct csv *c)
{
    enum { CELLS_MAX = 1 << 20 };
    if (c->at >= c->end)
        return false;
    c->cells.count = 0;
    c->line = c->at;
    for (;;) {
        const char *start = c->at;
        while (start < c->end && is_blank(*start) && *start != c->separator)
            start++;
        const char *quote = start < c->end && *start == '"' ? closing_quote(c, start + 1) : NULL;
        const char *newline = find_char(quote ? quote : start, c->end, '\n');
        const char *stop = find_char(quote ? quote : start, newline, c->separator);
        struct csv_cell cell = quote ? unescape(c, (struct csv_cell){start + 1, (size_t)(quote - start - 1)})
                                     : trim(start, stop);
        if (c->cells.count < CELLS_MAX)
            vec_push(&c->cells, cell);
        if (stop == newline) {
            c->line_length = (size_t)(newline - c->line);
            c->at = newline < c->end ? newline + 1 : c->end;
            return true;
        }
        c->at = stop + 1;
    }
}

bool csv_is(struct csv_cell cell, const char *text)
{
    size_t length = strlen(text);
    return cell.length == length && memcmp(cell.at, text, length) == 0;
}

int csv_find(const struct csv *c, const char *text)
{
    for (size_t i = 0; i < c->cells.count; i++)
        if (csv_is(c->cells.at[i], text))
            return (int)i;
    return -1;
}

struct csv_cell csv_get(const struct csv *c, int i)
{
    return i >= 0 && (size_t)i < c->cells.count ? c->cells.at[i] : (struct csv_cell){"", 0};
}

bool csv_uint(struct csv_cell cell, uint64_t *value)
{
    return json_to_uint((struct json_text){cell.at, cell.length}, value);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

enum { NUMBER_BYTES = 64 };

/* Signs that group digits everywhere: apostrophe, blank, no-break blanks. */
static size_t grouping(const char *at, size_t length)
{
    static const char *const signs[] = {"'", " ", "\u00a0", "\u202f", "\u2019"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i]) <= length && memcmp(at, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

/* Copies what may be a number without neutral grouping, and without what follows in parentheses. */
static bool plain_number(struct csv_cell cell, char out[NUMBER_BYTES])
{
    const char *open = memchr(cell.at, '(', cell.length);
    size_t length = open ? (size_t)(open - cell.at) : cell.length, used = 0;
    while (length > 0 && is_blank(cell.at[length - 1]))
        length--;
    for (size_t i = 0; i < length;) {
        size_t skip = used > 0 ? grouping(cell.at + i, length - i) : 0;
        if (skip) {
            i += skip;
            continue;
        }
        if (used == NUMBER_BYTES - 1 || !strchr("+-0123456789.,eE", cell.at[i]))
            return false;
        out[used++] = cell.at[i++];
    }
    out[used] = '\0';
    return strpbrk(out, "0123456789") != NULL;
}

static int count(const char *text, char c)
{
    int n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

void number_evidence_add(struct number_evidence *e, struct csv_cell cell)
{
    char text[NUMBER_BYTES];
    if (!plain_number(cell, text))
        return;
    int points = count(text, '.'), commas = count(text, ',');
    if (points == 0 && commas == 0)
        return;
    const char *last_point = strrchr(text, '.'), *last_comma = strrchr(text, ',');
    if (points && commas) {
        e->point += last_point > last_comma;
        e->comma += last_comma > last_point;
        return;
    }
    if (points + commas > 1) { /* it groups */
        e->comma += points > 0;
        e->point += commas > 0;
        return;
    }
    const char *sign = points ? last_point : last_comma;
    const char *digits = text + strspn(text, "+-");
    bool groups = strspn(sign + 1, "0123456789") == 3 && sign[4] == '\0' && sign - digits >= 1 &&
                  sign - digits <= 3 && *digits != '0';
    if (points) {
        e->unsure_point += groups;
        e->point += !groups;
    } else {
        e->unsure_comma += groups;
        e->comma += !groups;
    }
}

const char *number_style_of(const struct number_evidence *e, enum number_style *style)
{
    *style = e->comma > 0 ? NUMBERS_COMMA : NUMBERS_POINT;
    if (e->comma > 0 && e->point > 0)
        return N_("some of its numbers have a decimal point, others a decimal comma");
    if (e->comma == 0 && e->point == 0 && e->unsure_point > 0)
        return N_(
            "its numbers can be read in two ways: 1.234 is a thousand in some countries, and about one in "
            "others");
    return NULL;
}

bool number_read(struct csv_cell cell, enum number_style style, double *value)
{
    char text[NUMBER_BYTES];
    if (cell.length == 3 && strncasecmp(cell.at, "nan", 3) == 0) {
        *value = NAN;
        return true;
    }
    if (!plain_number(cell, text))
        return false;
    char decimal = style == NUMBERS_POINT ? '.' : ',', group = style == NUMBERS_POINT ? ',' : '.';
    size_t used = 0;
    for (const char *c = text; *c; c++)
        if (*c != group)
            text[used++] = *c == decimal ? '.' : *c;
    return json_to_double((struct json_text){text, used}, value);
}
