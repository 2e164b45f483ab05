#include "view/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/utf8.h"

/* Values below floor are unknown. */
static void set_int(struct cell *cell, enum value_type type, int64_t i, int64_t floor)
{
    if (i < floor)
        return;
    cell->kind = CELL_VALUE;
    cell->value = (struct value){type, {.i = i}};
}

static void set_double(struct cell *cell, enum value_type type, double d)
{
    if (!isfinite(d))
        return;
    cell->kind = CELL_VALUE;
    cell->value = (struct value){type, {.d = d}};
}

static void set_text(struct cell *cell, enum value_type type, const char *text)
{
    if (!text || !*text)
        return;
    cell->kind = CELL_VALUE;
    cell->value = (struct value){type, {.s = text}};
}

static void set_index(struct cell *cell, enum cell_kind kind, uint32_t index, size_t count)
{
    if (index >= count)
        return;
    cell->kind = kind;
    cell->index = index;
}

void column_cell(const struct column *column, const struct report *report, const void *row, struct cell *cell)
{
    const struct run *run = report->run;
    const char *at = (const char *)row + column->offset;
    int64_t floor = column->flags & COLUMN_POSITIVE ? 1 : UNKNOWN + 1;
    *cell = (struct cell){.kind = CELL_UNKNOWN};
    switch (column->type) {
    case COLUMN_COUNT:
        set_int(cell, VALUE_COUNT, *(const int64_t *)at, floor);
        break;
    case COLUMN_INT32:
        set_int(cell, VALUE_COUNT, *(const int32_t *)at, floor);
        break;
    case COLUMN_ID:
        set_int(cell, VALUE_ID, *(const int64_t *)at, floor);
        break;
    case COLUMN_NS:
        set_int(cell, VALUE_NS, *(const int64_t *)at, floor);
        break;
    case COLUMN_BYTES:
        set_int(cell, VALUE_BYTES, *(const int64_t *)at, floor);
        break;
    case COLUMN_MOMENT:
        set_int(cell, VALUE_TIME, *(const int64_t *)at, floor);
        break;
    case COLUMN_RATIO:
        set_double(cell, VALUE_RATIO, *(const double *)at);
        break;
    case COLUMN_NUMBER:
        set_double(cell, VALUE_NUMBER, *(const double *)at);
        break;
    case COLUMN_RATE:
        set_double(cell, VALUE_BYTES_PER_S, *(const double *)at);
        break;
    case COLUMN_BOOL:
        cell->kind = CELL_BOOL;
        cell->yes = *(const bool *)at;
        break;
    case COLUMN_STRING:
        set_text(cell, VALUE_TEXT, run_text(run, *(const uint32_t *)at));
        break;
    case COLUMN_KERNEL:
        set_text(cell, VALUE_KERNEL, run_text(run, *(const uint32_t *)at));
        break;
    case COLUMN_LITERAL:
        set_text(cell, VALUE_TEXT, *(const char *const *)at);
        break;
    case COLUMN_TERM:
        set_text(cell, VALUE_TERM, *(const char *const *)at);
        break;
    case COLUMN_MSG:
        if (((const struct msg *)at)->format) {
            cell->kind = CELL_MSG;
            cell->msg = (const struct msg *)at;
        }
        break;
    case COLUMN_DEVICE:
        set_index(cell, CELL_DEVICE, *(const uint32_t *)at, run->devices.count);
        break;
    case COLUMN_THREAD:
        set_index(cell, CELL_THREAD, *(const uint32_t *)at, run->threads.count);
        break;
    case COLUMN_OP_NAME: {
        uint32_t op = *(const uint32_t *)at;
        if (op < run->ops.count)
            set_text(cell, run->ops.kind[op] == OP_KERNEL ? VALUE_KERNEL : VALUE_TEXT,
                     run_text(run, run->ops.name[op]));
        break;
    }
    case COLUMN_SPAN_NAME: {
        uint32_t span = *(const uint32_t *)at;
        if (span < run->spans.count)
            set_text(cell, VALUE_TEXT, run_text(run, run->spans.name[span]));
        break;
    }
    case COLUMN_GET:
        column->get(report, row, cell);
        break;
    }
}

bool column_is_number(const struct column *column)
{
    return column->type <= COLUMN_RATE || column->flags & COLUMN_RIGHT;
}

/* ---- labels -------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void device_label(struct str *out, const struct report *report, uint32_t device)
{
    const struct run *run = report->run;
    const struct device *d = &run->devices.at[device];
    str_addf(out, "GPU %" PRId64, d->id);
    size_t same = 0;
    vec_each (&report->devices, other)
        same += run->devices.at[other->device].id == d->id;
    if (same > 1)
        str_addf(out, " (%s)", base_name(run_text(run, run->sources.at[d->source].path)));
}

void thread_label(struct str *out, const struct report *report, uint32_t thread)
{
    const struct run *run = report->run;
    const struct thread *t = &run->threads.at[thread];
    const char *name = run_text(run, t->name);
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, t->tid);
    str_puts(out, name);
    /* Some recorders put the number into the name already. */
    if (!strstr(name, number))
        str_addf(out, "%s%s", *name ? " " : "", number);
    if (run->processes.count > 1)
        str_addf(out, _(" (process %lld)"), (long long)run->processes.at[t->process].pid);
}

int64_t device_row(const struct report *report, uint32_t device)
{
    for (size_t i = 0; i < report->devices.count; i++)
        if (report->devices.at[i].device == device)
            return (int64_t)i;
    return -1;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void add_path(struct str *out, const char *const *path)
{
    const char *previous = NULL;
    for (int i = 0; i < PATH_LENGTH; i++) {
        if (!path[i] || !*path[i] || (previous && strcmp(path[i], previous) == 0))
            continue;
        str_addf(out, "%s%s", previous ? " › " : "", path[i]);
        previous = path[i];
    }
    if (!previous)
        str_puts(out, _("(no call recorded)"));
}

/* Shortens what was added since `from` to width columns by taking out its middle: of a path both ends matter,
 * the inner one more. */
static void elide_middle(struct str *out, size_t from, int width)
{
    const char *text = str_text(out) + from;
    size_t length = out->len - from;
    int columns = utf8_width(text, length);
    if (width < 8 || columns <= width)
        return;
    size_t head = utf8_cut(text, length, (width - 1) / 3);
    int over = columns - (width - 1 - utf8_width(text, head)); /* columns before the tail */
    size_t tail = utf8_cut(text, length, over);
    if (utf8_width(text, tail) < over) /* a wide character straddles the cut */
        tail += utf8_cut(text + tail, length - tail, 2);
    struct str shorter = {0};
    str_add(&shorter, text, head);
    str_puts(&shorter, "…");
    str_add(&shorter, text + tail, length - tail);
    str_cut(out, from);
    str_add(out, shorter.ptr, shorter.len);
    str_release(&shorter);
}

static void add_value(struct str *out, const struct value *value, const struct report *report,
                      const struct cell_style *style)
{
    if (value->type != VALUE_KERNEL)
        value_render(out, value, style->translate, report->window.start);
    else if (style->full_names)
        str_puts(out, value->s);
    else if (style->width > 0)
        kernel_shorten(out, value->s, (size_t)style->width);
    else
        value_render(out, value, style->translate, report->window.start);
}

static void add_cell(struct str *out, const struct cell *cell, const struct report *report,
                     const struct cell_style *style)
{
    switch (cell->kind) {
    case CELL_UNKNOWN:
        str_puts(out, "—");
        break;
    case CELL_VALUE:
        add_value(out, &cell->value, report, style);
        break;
    case CELL_BOOL:
        str_puts(out, cell->yes ? _("yes") : _("no"));
        break;
    case CELL_TRIPLE:
        str_addf(out, "%" PRIu32, cell->triple[0]);
        for (int i = 1; i < 3 && (cell->triple[1] > 1 || cell->triple[2] > 1); i++)
            if (i == 1 || cell->triple[2] > 1)
                str_addf(out, "×%" PRIu32, cell->triple[i]);
        break;
    case CELL_DEVICE:
        device_label(out, report, cell->index);
        break;
    case CELL_THREAD:
        thread_label(out, report, cell->index);
        break;
    case CELL_PATH:
        add_path(out, cell->path);
        break;
    case CELL_VERSION:
        str_addf(out, "%" PRId32 ".%" PRId32, cell->version[0], cell->version[1]);
        break;
    case CELL_MSG:
        msg_render(out, cell->msg, style->translate, report->window.start);
        break;
    }
}

void cell_text(struct str *out, const struct cell *cell, const struct report *report,
               const struct cell_style *style)
{
    struct str raw = {0};
    add_cell(&raw, cell, report, style);
    size_t from = out->len;
    utf8_visible(out, str_text(&raw), raw.len);
    if (cell->kind == CELL_PATH && style->width > 0)
        elide_middle(out, from, style->width);
    str_release(&raw);
}
