#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "view/view.h"

enum { FLUSH_BYTES = 1 << 16 };

/* RFC 4180 quoting. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
static void add_text(struct str *out, const char *text)
{
    bool formula = *text && strchr("=+-@\t\r", *text);
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        str_puts(out, text);
        return;
    }
    str_puts(out, formula ? "\"'" : "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            str_putc(out, '"');
        str_putc(out, *p);
    }
    str_putc(out, '"');
}

static void add_value(struct str *out, const struct value *value, const struct report *report)
{
    switch (value->type) {
    case VALUE_NONE:
        break;
    case VALUE_COUNT:
    case VALUE_ID:
    case VALUE_NS:
    case VALUE_BYTES:
    case VALUE_XID:
        str_addf(out, "%" PRId64, value->i);
        break;
    case VALUE_TIME: /* from the start of the window, as in JSON */
        str_addf(out, "%" PRId64, value->i - report->window.start);
        break;
    case VALUE_RATIO:
    case VALUE_NUMBER:
    case VALUE_BYTES_PER_S:
        number_add_double(out, value->d);
        break;
    case VALUE_TEXT:
    case VALUE_TERM:
    case VALUE_KERNEL:
        add_text(out, value->s);
        break;
    }
}

/* An unknown value is an empty field. */
static void add_cell(struct str *out, const struct cell *cell, const struct report *report)
{
    struct str text = {0};
    switch (cell->kind) {
    case CELL_UNKNOWN:
    case CELL_PATH:
        break;
    case CELL_VALUE:
        add_value(out, &cell->value, report);
        break;
    case CELL_BOOL:
        str_puts(out, cell->yes ? "true" : "false");
        break;
    case CELL_TRIPLE:
        str_addf(out, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, cell->triple[0], cell->triple[1], cell->triple[2]);
        break;
    case CELL_DEVICE:
        str_addf(out, "%" PRId64, report->run->devices.at[cell->index].id);
        break;
    case CELL_THREAD:
        str_addf(out, "%" PRId64, report->run->threads.at[cell->index].tid);
        break;
    case CELL_VERSION:
        str_addf(out, "%" PRId32 ".%" PRId32, cell->version[0], cell->version[1]);
        break;
    case CELL_MSG:
        msg_render(&text, cell->msg, false, report->window.start);
        add_text(out, str_text(&text));
        break;
    }
    str_release(&text);
}

static void drain(struct str *text, FILE *out, size_t above)
{
    if (text->len <= above)
        return;
    fwrite(text->ptr, 1, text->len, out);
    str_cut(text, 0);
}

static void add_header(struct str *out, const struct section *section)
{
    bool first = true;
    for (const struct column *c = section->columns; c->key; c++) {
        if (c->flags & COLUMN_PEOPLE)
            continue;
        str_addf(out, "%s%s", first ? "" : ",", c->key);
        first = false;
    }
    str_puts(out, "\r\n");
}

static void add_row(struct str *out, const struct section *section, const struct report *report, size_t i)
{
    union section_scratch scratch;
    const void *row = section_row(section, report, i, &scratch);
    bool first = true;
    for (const struct column *c = section->columns; c->key; c++) {
        if (c->flags & COLUMN_PEOPLE)
            continue;
        struct cell cell;
        column_cell(c, report, row, &cell);
        str_puts(out, first ? "" : ",");
        add_cell(out, &cell, report);
        first = false;
    }
    str_puts(out, "\r\n");
}

static void add_section(struct str *text, FILE *out, const struct section *section,
                        const struct report *report, int64_t limit)
{
    size_t count;
    size_t *rows = section_pick(section, report, limit == UNKNOWN ? SIZE_MAX : (size_t)limit, false, &count);
    add_header(text, section);
    for (size_t i = 0; i < count; i++) {
        add_row(text, section, report, rows[i]);
        drain(text, out, FLUSH_BYTES);
    }
    free(rows);
}

void csv_section(FILE *out, const struct section *section, const struct report *report, int64_t limit)
{
    struct str text = {0};
    add_section(&text, out, section, report, limit);
    drain(&text, out, 0);
    str_release(&text);
}

void csv_report(FILE *out, const struct report *report, const struct view_options *options)
{
    uint64_t wanted = options->sections ? options->sections : SECTION_BIT(SECTION_KERNELS);
    bool several = wanted & (wanted - 1);
    bool first = true;
    struct str text = {0};
    for (int id = 0; id < SECTION_COUNT; id++) {
        const struct section *section = &sections[id];
        if (!(wanted & SECTION_BIT(id)))
            continue;
        if (several)
            str_addf(&text, "%s# %s\r\n", first ? "" : "\r\n", section->name);
        first = false;
        add_section(&text, out, section, report, options->limit);
    }
    drain(&text, out, 0);
    str_release(&text);
}
