/* Windows over the screen: help, all values, why some are not known, signals. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "view/machine.h"
#include "view/top.h"

#define DASH "–"

/* ---- what stands in a window -----------------------------------------------------------------------------
 */

struct line {
    char *left, *right; /* right: in a column of its own, or NULL */
    enum ink ink;
};

struct page {
    const char *title;
    VEC(struct line) lines;
};

static void add_line(struct page *p, enum ink ink, const char *left, const char *right)
{
    struct line line = {mem_strdup(left), right ? mem_strdup(right) : NULL, ink};
    vec_push(&p->lines, line);
}

static void page_release(struct page *p)
{
    vec_each (&p->lines, line) {
        free(line->left);
        free(line->right);
    }
    vec_release(&p->lines);
}

static void fill_help(struct page *p, const struct top_view *view)
{
    p->title = _("keys");
    for (const struct top_help *help = view->help; help && help->keys; help++)
        if (help->meaning)
            add_line(p, INK_PLAIN, help->keys, _(help->meaning));
        else
            add_line(p, INK_TITLE, _(help->keys), NULL);
    add_line(p, INK_TITLE, _("what it shows"), NULL);
    add_line(p, INK_PLAIN, _("in use"), _("time with at least one kernel running, however small"));
    add_line(p, INK_PLAIN, _("SMs"), _("SMs that had work: what a kernel fills of the GPU"));
    add_line(p, INK_PLAIN, _("bandwidth"), _("memory bandwidth used, of what the memory can do"));
    add_line(p, INK_PLAIN, _("slowed by"), _("what held the clocks down, and for how much of the time"));
    add_line(p, INK_PLAIN, _("type"), _("C computes, G draws, M shares the GPU through MPS"));
    add_line(p, INK_PLAIN, "– ?", _("not known (w says why); an old value"));
}

/* ---- values ----------------------------------------------------------------------------------------------
 */

/* What the values are of: the chosen process, or the chosen GPU. NULL: there is none. */
struct subject {
    const void *row;
    enum machine_rows rows;
    struct str name;
};

static bool find_subject(const struct top_view *view, struct subject *s)
{
    const struct machine_sample *sample = view->sample;
    *s = (struct subject){0};
    if (view->focus == TOP_FOCUS_PROCESSES && view->entry < (int)view->list->entries.count) {
        const struct machine_process *p = &sample->processes.at[view->list->entries.at[view->entry].process];
        s->row = p;
        s->rows = MACHINE_ROWS_PROCESSES;
        str_addf(&s->name, "%" PRId64 " %s", p->pid, p->name);
    } else if (view->gpu < (int)sample->devices.count) {
        const struct machine_device *d = &sample->devices.at[view->gpu];
        s->row = d;
        s->rows = MACHINE_ROWS_DEVICES;
        str_puts(&s->name, "GPU ");
        machine_add_device(&s->name, d);
        str_puts(&s->name, "  ");
        machine_add_name(&s->name, d);
    }
    return s->row;
}

static void add_text(struct page *p, const char *title, const char *text)
{
    add_line(p, INK_PLAIN, title, *text ? text : DASH);
}

static void add_moment(struct page *p, const char *title, int64_t unix_ns)
{
    const int64_t second = 1000000000;
    time_t seconds = (time_t)(unix_ns / second);
    struct tm local;
    char text[32] = "";
    if (unix_ns != UNKNOWN && localtime_r(&seconds, &local))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    add_text(p, title, text);
}

static void add_identity(struct page *page, const struct subject *s)
{
    struct str text = {0};
    if (s->rows == MACHINE_ROWS_DEVICES) {
        const struct machine_device *d = s->row;
        add_text(page, "UUID", d->facts.uuid);
        add_text(page, _("PCI address"), d->facts.bus);
        add_text(page, _("driver"), d->driver);
        add_text(page, _("state"), _(reading_state_meaning(d->state)));
        return;
    }
    const struct machine_process *p = s->row;
    str_addf(&text, "%" PRId64, p->pid);
    add_text(page, _("pid"), str_text(&text));
    str_cut(&text, 0);
    if (p->parent_pid != UNKNOWN)
        str_addf(&text, "%" PRId64, p->parent_pid);
    add_text(page, _("parent"), str_text(&text));
    add_text(page, _("user"), p->user);
    add_moment(page, _("started"), p->start_unix_ns);
    add_text(page, _("command"), p->command);
    add_text(page, _("container"), p->container);
    add_text(page, _("pod"), p->pod);
    add_text(page, _("job"), p->job);
    str_release(&text);
}

static void fill_values(struct page *p, const struct subject *s)
{
    machine_columns columns = {0};
    p->title = str_text(&s->name);
    add_identity(p, s);
    machine_columns_all(&columns, s->rows);
    vec_each (&columns, column) {
        struct reading r = machine_cell(s->row, column);
        struct str text = {0};
        machine_add_reading(&text, column->field->unit, r);
        if (!reading_is_known(r))
            str_addf(&text, "%s (%s)", text.len ? "" : DASH, _(reading_state_meaning(r.state)));
        add_line(p, reading_is_known(r) ? INK_PLAIN : INK_DIM, _(column->field->title), str_text(&text));
        str_release(&text);
    }
    vec_release(&columns);
}

static const char *const reasons[READING_STATES] = {
    [READING_UNREAD] =
        N_("Rates need a second sample; and while one GPU of NVIDIA sleeps, the library of its "
           "driver is left alone, because it would wake all of them."),
    [READING_UNSUPPORTED] = N_("This GPU, its driver or its present mode does not have it."),
    [READING_NO_PERMISSION] =
        N_("It exists, for others: for the administrator, or outside of this container."),
    [READING_ASLEEP] =
        N_("Asking would wake the GPU, which costs power. It is asked again once something else "
           "has woken it."),
    [READING_LOST] = N_("The GPU does not answer any more: it fell off the bus, or needs a reset. "
                        "'warplight doctor' says more."),
    [READING_STALE] = N_("It was true once; the driver does not answer any more."),
    [READING_NO_DRIVER] =
        N_("No driver that can be asked is loaded, or its library is missing or does not fit. "
           "'warplight doctor' says which."),
    [READING_NO_ANSWER] = N_("The driver was asked and did not answer in time. Everything else goes on."),
    [READING_IMPLAUSIBLE] = N_("The driver said what cannot be true, so it is not shown."),
    [READING_FAILED] = N_("The driver answered with an error."),
    [READING_ALTERED] =
        N_("A library between this program and the driver answered, as HAMi's does in a container: "
           "mostly a quota, not what the GPU has."),
};

/* By reason: what it means, and what it keeps from us. */
static void fill_why(struct page *p, const struct subject *s)
{
    machine_columns columns = {0};
    p->title = str_text(&s->name);
    machine_columns_all(&columns, s->rows);
    for (int state = 0; state < READING_STATES; state++) {
        bool any = false;
        vec_each (&columns, column) {
            if (state == READING_KNOWN || machine_cell(s->row, column).state != (enum reading_state)state)
                continue;
            if (!any) {
                add_line(p, INK_TITLE, _(reading_state_meaning((enum reading_state)state)), NULL);
                add_line(p, INK_PLAIN, _(reasons[state]), NULL);
            }
            any = true;
            add_line(p, INK_DIM, "", _(column->field->title)); /* indented */
        }
    }
    if (p->lines.count == 0)
        add_line(p, INK_PLAIN, _("every value is known"), NULL);
    vec_release(&columns);
}

/* The newest first. */
static void fill_events(struct page *p, const struct top_view *view)
{
    const struct machine_source *log = &view->sample->sources[MACHINE_KERNEL_LOG];
    p->title = _("Xid errors");
    for (int i = view->event_count - 1; i >= 0; i--) {
        struct str time = {0};
        top_add_clock(&time, view->events[i].time_unix_ns);
        add_line(p, INK_PLAIN, str_text(&time), view->events[i].text);
        str_release(&time);
    }
    if (view->event_count == 0)
        add_line(p, INK_PLAIN,
                 _("none since this program began to look; 'warplight doctor' knows of earlier ones"), NULL);
    if (!view->replay && log->state != READING_KNOWN) {
        struct str text = {0};
        struct msg msg = msg_make(N_("the kernel's log, which tells of some that the driver does not: {0}"),
                                  value_term(reading_state_meaning(log->state)));
        msg_render(&text, &msg, true, 0);
        add_line(p, INK_DIM, str_text(&text), NULL);
        str_release(&text);
    }
}

/* ---- signals ---------------------------------------------------------------------------------------------
 */

static void fill_signals(struct page *p, const struct top_view *view)
{
    p->title = _("which signal?");
    for (const struct top_signal *s = view->signals; s->number; s++)
        add_line(p, INK_PLAIN, s->name, _(s->meaning));
}

static void fill_confirm(struct page *p, const struct top_view *view)
{
    struct str text = {0};
    struct msg msg = msg_make(N_("Send {0} to process {1}?"), value_text(view->signals[view->signal].name),
                              value_id(view->confirm_pid));
    p->title = _("are you sure?");
    msg_render(&text, &msg, true, 0);
    add_line(p, INK_BAD, str_text(&text), NULL);
    add_text(p, _("command"), view->confirm_command);
    add_text(p, _("user"), view->confirm_user);
    add_moment(p, _("started"), view->confirm_start_unix_ns);
    add_line(p, INK_PLAIN, _("y sends it; any other key does not"), NULL);
    str_release(&text);
}

/* ---- drawing ---------------------------------------------------------------------------------------------
 */

struct frame {
    int row, column, rows, columns; /* of the inside */
    int left;                       /* width of the first column of texts */
};

static void put_frame(struct canvas *c, const struct frame *f, const char *title)
{
    const char *sides[] = {"┌", "─", "┐", "│", "└", "┘"}, *plain[] = {"+", "-", "+", "|", "+", "+"};
    const char *const *s = c->utf8 ? sides : plain;
    for (int row = -1; row <= f->rows; row++) {
        bool edge = row < 0 || row == f->rows;
        canvas_fill(c, f->row + row, f->column - 2, f->columns + 4, INK_PLAIN);
        canvas_put(c, f->row + row, f->column - 2, 1, INK_DIM, row < 0 ? s[0] : edge ? s[4] : s[3]);
        canvas_put(c, f->row + row, f->column + f->columns + 1, 1, INK_DIM,
                   row < 0 ? s[2]
                   : edge  ? s[5]
                           : s[3]);
        for (int i = 0; edge && i < f->columns + 2; i++)
            canvas_put(c, f->row + row, f->column - 1 + i, 1, INK_DIM, s[1]);
    }
    canvas_put(c, f->row - 1, f->column, f->columns, INK_TITLE, title);
}

/* Lines that a line of the page takes when it is broken. */
static int put_line(struct canvas *c, const struct frame *f, const struct line *line, int row, int rows)
{
    if (!line->right)
        return canvas_wrap(c, row, f->column, f->columns, rows, line->ink, line->left);
    canvas_put(c, row, f->column, f->left, INK_DIM, line->left);
    int used =
        canvas_wrap(c, row, f->column + f->left + 2, f->columns - f->left - 2, rows, line->ink, line->right);
    return used > 1 ? used : 1;
}

static struct frame frame_of(const struct canvas *c, const struct page *p)
{
    enum { WIDEST = 100, LEFT_MOST = 36 };
    int left = 0, widest = canvas_width(c, p->title);
    vec_each (&p->lines, line) {
        int width = canvas_width(c, line->left);
        if (line->right && width > left)
            left = width;
    }
    left = left > LEFT_MOST ? LEFT_MOST : left;
    vec_each (&p->lines, line) {
        int width = line->right ? left + 2 + canvas_width(c, line->right) : canvas_width(c, line->left);
        widest = width > widest ? width : widest;
    }
    int most = c->columns - 4 < WIDEST ? c->columns - 4 : WIDEST;
    struct frame f = {.columns = widest < most ? widest : most, .left = left};
    f.left = f.left > f.columns / 2 ? f.columns / 2 : f.left;
    return f;
}

/* How many rows the lines from a first one on take, at most so many. */
static int rows_needed(const struct page *p, const struct frame *f, int first, int most)
{
    struct canvas sheet = {.utf8 = true};
    int rows = 0;
    canvas_clear(&sheet, most, f->columns > 0 ? f->columns : 1);
    struct frame at = {.rows = most, .columns = sheet.columns, .left = f->left};
    for (size_t i = (size_t)first; i < p->lines.count && rows < most; i++)
        rows += put_line(&sheet, &at, &p->lines.at[i], rows, most - rows);
    canvas_release(&sheet);
    return rows;
}

static void put_page(struct canvas *c, struct top_view *view, const struct page *p)
{
    struct frame f = frame_of(c, p);
    int most = c->rows - 4;
    if (f.columns < 4 || most < 1)
        return;
    int last = (int)p->lines.count - 1;
    view->window_first = view->window_first > last ? last : view->window_first;
    view->window_first = view->window_first < 0 ? 0 : view->window_first;
    if (view->window == TOP_WINDOW_SIGNAL && view->signal >= view->window_first + most)
        view->window_first = view->signal - most + 1;
    /* No further down than the last page needs. */
    while (view->window_first > 0 && rows_needed(p, &f, view->window_first - 1, most + 1) <= most)
        view->window_first--;
    f.rows = rows_needed(p, &f, view->window_first, most);
    f.row = (c->rows - f.rows) / 2;
    f.column = (c->columns - f.columns) / 2;
    put_frame(c, &f, p->title);
    size_t i = (size_t)view->window_first;
    for (int row = 0; i < p->lines.count && row < f.rows; i++) {
        int used = put_line(c, &f, &p->lines.at[i], f.row + row, f.rows - row);
        if (view->window == TOP_WINDOW_SIGNAL && (int)i == view->signal)
            canvas_reverse(c, f.row + row, f.column, f.columns);
        row += used;
    }
    if (i < p->lines.count || view->window_first > 0)
        canvas_put_right(c, f.row + f.rows, f.column, f.columns, INK_NOTICE, _("arrows: more"));
}

void top_draw_window(struct canvas *c, struct top_view *view)
{
    struct page page = {0};
    struct subject subject = {0};
    switch (view->window) {
    case TOP_WINDOW_NONE:
        return;
    case TOP_WINDOW_HELP:
        fill_help(&page, view);
        break;
    case TOP_WINDOW_VALUES:
        if (find_subject(view, &subject))
            fill_values(&page, &subject);
        break;
    case TOP_WINDOW_WHY:
        if (find_subject(view, &subject))
            fill_why(&page, &subject);
        break;
    case TOP_WINDOW_EVENTS:
        fill_events(&page, view);
        break;
    case TOP_WINDOW_SIGNAL:
        fill_signals(&page, view);
        break;
    case TOP_WINDOW_CONFIRM:
        fill_confirm(&page, view);
        break;
    }
    if (page.lines.count)
        put_page(c, view, &page);
    page_release(&page);
    str_release(&subject.name);
}
