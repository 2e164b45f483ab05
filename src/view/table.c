#include "view/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

/* How wide a shortened text should at least be, and the columns that may go for it. Tried in this order. */
static const struct comfort {
    int width;
    int least_rank;
} comforts[] = {{40, 3}, {36, 2}, {24, 1}, {14, 1}};

enum { MAX_COLUMNS = 24, GUTTER = 2, BAR_WIDTH = 12, KERNEL_NATURAL = 64, VALUE_WIDTH = 10 };

struct layout {
    const struct section *section;
    const struct report *report;
    const struct table_options *options;
    size_t *rows;
    size_t row_count;
    const struct column *columns[MAX_COLUMNS];
    int width[MAX_COLUMNS];   /* as printed */
    int natural[MAX_COLUMNS]; /* as wide as the widest cell */
    size_t count;
};

static void render(struct str *out, const struct layout *layout, const struct column *column, size_t row,
                   int width)
{
    union section_scratch scratch;
    struct cell cell;
    column_cell(column, layout->report, section_row(layout->section, layout->report, row, &scratch), &cell);
    str_cut(out, 0);
    cell_text(
        out, &cell, layout->report,
        &(struct cell_style){.translate = true, .full_names = layout->options->full_names, .width = width});
}

static bool is_unknown_everywhere(const struct layout *layout, const struct column *column)
{
    for (size_t i = 0; i < layout->row_count; i++) {
        union section_scratch scratch;
        struct cell cell;
        column_cell(column, layout->report,
                    section_row(layout->section, layout->report, layout->rows[i], &scratch), &cell);
        if (cell.kind != CELL_UNKNOWN)
            return false;
    }
    return true;
}

static void choose_columns(struct layout *layout)
{
    for (const struct column *c = layout->section->columns; c->key && layout->count < MAX_COLUMNS; c++) {
        if (c->flags & COLUMN_MACHINE || c->rank > layout->options->max_rank)
            continue;
        if (strcmp(c->key, "device") == 0 && layout->report->devices.count <= 1)
            continue;
        if (strcmp(c->key, "source") == 0 && layout->report->run->sources.count <= 1)
            continue;
        if (c->rank > 0 && is_unknown_everywhere(layout, c))
            continue;
        layout->columns[layout->count++] = c;
    }
}

static void measure(struct layout *layout)
{
    struct str text = {0};
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *c = layout->columns[i];
        int widest = screen_columns(_(c->title));
        for (size_t r = 0; r < layout->row_count; r++) {
            render(&text, layout, c, layout->rows[r], KERNEL_NATURAL);
            int width = screen_columns(str_text(&text));
            widest = width > widest ? width : widest;
        }
        layout->natural[i] = layout->width[i] = widest;
    }
    str_release(&text);
}

/* A heading must not hide the title of a number beside it. */
static void make_room_for_heading(struct layout *layout)
{
    const char *heading = layout->options->heading;
    if (!heading || layout->count < 2 || !column_is_number(layout->columns[1]))
        return;
    int width = screen_columns(heading) - layout->options->indent;
    if (width > layout->natural[0])
        layout->natural[0] = layout->width[0] = width;
}

static int bar_width(const struct column *column)
{
    return column->flags & COLUMN_BAR ? GUTTER + BAR_WIDTH : 0;
}

static int total_width(const struct layout *layout)
{
    int total = layout->options->indent;
    for (size_t i = 0; i < layout->count; i++)
        total += layout->width[i] + bar_width(layout->columns[i]) + (i > 0 ? GUTTER : 0);
    return total;
}

static void drop_column(struct layout *layout, size_t at)
{
    layout->count--;
    for (size_t i = at; i < layout->count; i++) {
        layout->columns[i] = layout->columns[i + 1];
        layout->width[i] = layout->width[i + 1];
        layout->natural[i] = layout->natural[i + 1];
    }
}

static void shorten(struct layout *layout, int width)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (!(layout->columns[i]->flags & COLUMN_FLEXIBLE))
            continue;
        int least = screen_columns(_(layout->columns[i]->title));
        least = least < width ? width : least;
        layout->width[i] = least < layout->natural[i] ? least : layout->natural[i];
    }
}

/* Shortens texts and drops the columns that matter least until the rest fits, then gives what is left to the
 * texts. */
static void fit(struct layout *layout, int screen_width)
{
    if (total_width(layout) <= screen_width)
        return;
    for (size_t c = 0; c < sizeof comforts / sizeof *comforts; c++) {
        shorten(layout, comforts[c].width);
        while (total_width(layout) > screen_width) {
            size_t worst = 0;
            for (size_t i = 1; i < layout->count; i++)
                if (layout->columns[i]->rank >= layout->columns[worst]->rank)
                    worst = i;
            if (layout->columns[worst]->rank < comforts[c].least_rank)
                break;
            drop_column(layout, worst);
        }
    }
    /* Too narrow even for what should always stay: the last columns go, then the first is cut. */
    while (layout->count > 1 && total_width(layout) > screen_width)
        drop_column(layout, layout->count - 1);
    int left = screen_width - total_width(layout);
    if (left < 0)
        layout->width[0] = layout->width[0] + left > 1 ? layout->width[0] + left : 1;
    for (size_t i = 0; i < layout->count && left > 0; i++) {
        int wanted = layout->natural[i] - layout->width[i];
        int given = wanted < left ? wanted : left;
        layout->width[i] += given;
        left -= given;
    }
}

static void print_header(struct screen *s, const struct layout *layout)
{
    const char *heading = layout->options->heading;
    int column = 0; /* where the cursor should stand, and where it does */
    int at = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *c = layout->columns[i];
        bool right = column_is_number(c);
        const char *title = i == 0 && heading ? heading : _(c->title);
        int width = screen_columns(title);
        int indent = i == 0 && heading ? 0 : i == 0 ? layout->options->indent : GUTTER;
        int start = column + indent + (right ? layout->width[i] - width : 0);
        /* A heading may reach over the titles that follow it. */
        if (i == 0 || start > at) {
            str_pad(&s->text, ' ', (size_t)(start - at));
            width = width < s->width - start ? width : s->width - start;
            screen_cell(s, i == 0 && heading ? STYLE_HEADING : STYLE_DIM, title, width, false);
            at = start + width;
        }
        column += (i == 0 ? layout->options->indent : GUTTER) + layout->width[i] + bar_width(c);
    }
    screen_newline(s);
}

static void print_row(struct screen *s, const struct layout *layout, size_t row)
{
    struct str text = {0};
    str_pad(&s->text, ' ', (size_t)layout->options->indent);
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *c = layout->columns[i];
        if (i > 0)
            str_pad(&s->text, ' ', GUTTER);
        render(&text, layout, c, row, layout->width[i]);
        screen_cell(s, STYLE_PLAIN, str_text(&text), layout->width[i], column_is_number(c));
        if (c->flags & COLUMN_BAR) {
            union section_scratch scratch;
            struct cell cell;
            column_cell(c, layout->report, section_row(layout->section, layout->report, row, &scratch),
                        &cell);
            str_pad(&s->text, ' ', GUTTER);
            screen_bar(s, STYLE_PLAIN, cell.kind == CELL_VALUE ? cell.value.d : 0, BAR_WIDTH);
        }
    }
    screen_newline(s);
    str_release(&text);
}

size_t table_print(struct screen *s, const struct section *section, const struct report *report,
                   const struct table_options *options)
{
    struct layout layout = {.section = section, .report = report, .options = options};
    layout.rows = section_pick(section, report, options->limit, options->by_weight, &layout.row_count);
    choose_columns(&layout);
    measure(&layout);
    make_room_for_heading(&layout);
    fit(&layout, s->width);
    print_header(s, &layout);
    for (size_t r = 0; r < layout.row_count; r++)
        print_row(s, &layout, layout.rows[r]);
    free(layout.rows);
    return layout.row_count;
}

void table_print_single(struct screen *s, const struct section *section, const struct report *report)
{
    int widest = 0;
    for (const struct column *c = section->columns; c->key; c++) {
        int width = c->flags & COLUMN_MACHINE ? 0 : screen_columns(_(c->title));
        widest = width > widest ? width : widest;
    }
    int room = s->width - 2 * GUTTER - VALUE_WIDTH;
    widest = widest < room ? widest : room;
    struct str text = {0};
    for (const struct column *c = section->columns; c->key; c++) {
        struct cell cell;
        column_cell(c, report, section_row(section, report, 0, NULL), &cell);
        if (c->flags & COLUMN_MACHINE || cell.kind == CELL_UNKNOWN)
            continue;
        str_cut(&text, 0);
        cell_text(&text, &cell, report, &(struct cell_style){.translate = true});
        str_pad(&s->text, ' ', GUTTER);
        screen_cell(s, STYLE_PLAIN, _(c->title), widest, false);
        str_pad(&s->text, ' ', GUTTER);
        screen_cell(s, STYLE_PLAIN, str_text(&text), VALUE_WIDTH, true);
        screen_newline(s);
    }
    str_release(&text);
}
