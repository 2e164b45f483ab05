/* The table of processes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "view/machine.h"
#include "view/top.h"

#define DASH "–"

struct column {
    const char *title; /* msgid */
    int sort;          /* enum top_sort, or -1 */
    int width;         /* least; the last one takes what is left */
    int rank;          /* columns of the highest rank go first where the screen is narrow */
    bool right;
    void (*add)(struct str *out, const struct machine_sample *sample, const struct machine_process *p);
};

static void add_gpu(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    const struct machine_device *d = &sample->devices.at[p->device];
    /* An instance has the number of its GPU, too: the table is about GPUs. */
    if (d->id == UNKNOWN && d->parent != NONE)
        d = &sample->devices.at[d->parent];
    machine_add_device(out, d);
}

static void add_pid(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    str_addf(out, "%" PRId64, p->pid);
}

static void add_user(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    str_puts(out, p->user);
}

static void add_type(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    str_puts(out, p->type & MACHINE_COMPUTE ? "C" : "");
    str_puts(out, p->type & MACHINE_GRAPHICS ? "G" : "");
    str_puts(out, p->type & MACHINE_MPS ? "M" : "");
}

static void add_sm(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_PERMILLE, p->sm);
}

static void add_memory(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_BYTES, p->memory);
}

static void add_share(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    struct reading all = sample->devices.at[p->device].facts.memory;
    const int64_t thousand = 1000;
    if (reading_is_known(all) && all.value > 0 && reading_is_known(p->memory))
        machine_add_reading(out, GPU_PERMILLE,
                            reading_of((int64_t)((__int128)p->memory.value * thousand / all.value)));
}

static void add_encoder(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_PERMILLE, p->encoder);
}

static void add_decoder(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_PERMILLE, p->decoder);
}

static void add_cpu(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_PERMILLE, p->cpu);
}

static void add_host_memory(struct str *out, const struct machine_sample *sample,
                            const struct machine_process *p)
{
    (void)sample;
    machine_add_reading(out, GPU_BYTES, p->host_memory);
}

static void add_place(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    machine_add_place(out, p);
}

static void add_command(struct str *out, const struct machine_sample *sample, const struct machine_process *p)
{
    (void)sample;
    str_puts(out, p->state != READING_KNOWN ? _("not a process of this PID namespace")
                  : p->command[0]           ? p->command
                                            : p->name);
}

/* The optional ones go where no process has a value. */
static const struct column columns[] = {
    {N_("GPU"), TOP_SORT_GPU, 3, 0, true, add_gpu},
    {N_("pid"), TOP_SORT_PID, 7, 0, true, add_pid},
    {N_("user"), TOP_SORT_USER, 8, 2, false, add_user},
    {N_("type"), -1, 4, 4, false, add_type},
    {N_("SMs"), TOP_SORT_SM, 7, 0, true, add_sm},
    {N_("memory"), TOP_SORT_MEMORY, 9, 0, true, add_memory},
    {N_("share"), -1, 7, 5, true, add_share},
    {N_("encoder"), -1, 7, 7, true, add_encoder},
    {N_("decoder"), -1, 7, 7, true, add_decoder},
    {N_("CPU"), TOP_SORT_CPU, 7, 1, true, add_cpu},
    {N_("host memory"), TOP_SORT_HOST_MEMORY, 11, 6, true, add_host_memory},
    {N_("where"), -1, 12, 3, false, add_place},
    {N_("command"), TOP_SORT_COMMAND, 24, 0, false, add_command},
};
enum { COLUMNS = sizeof columns / sizeof *columns, GAP = 1, PLACE_SHARE = 8, LEAST_PLACE = 12 };

_Static_assert((int)COLUMNS <= (int)TOP_HEADS, "every column has a head");

/* ---- which columns there are, and how wide ---------------------------------------------------------------
 */

/* What the processes on the screen need; 0 where none has a value. */
static int width_needed(const struct canvas *c, const struct top_view *view, int column)
{
    int width = 0;
    struct str cell = {0};
    for (int i = 0; i < view->layout.process_rows; i++) {
        size_t row = (size_t)(view->first + i);
        if (row >= view->list->entries.count)
            break;
        str_cut(&cell, 0);
        columns[column].add(&cell, view->sample,
                            &view->sample->processes.at[view->list->entries.at[row].process]);
        int needed = canvas_width(c, str_text(&cell));
        width = needed > width ? needed : width;
    }
    str_release(&cell);
    return width;
}

static int total(const int widths[COLUMNS])
{
    int sum = 0;
    for (int i = 0; i < COLUMNS; i++)
        sum += widths[i] ? widths[i] + GAP : 0;
    return sum;
}

static void choose_widths(const struct canvas *c, const struct top_view *view, int widths[COLUMNS])
{
    int place = c->columns / PLACE_SHARE > LEAST_PLACE ? c->columns / PLACE_SHARE : LEAST_PLACE;
    for (int i = 0; i < COLUMNS; i++) {
        int title = canvas_width(c, _(columns[i].title)), needed = width_needed(c, view, i);
        widths[i] = needed > columns[i].width ? needed : columns[i].width;
        widths[i] = title > widths[i] ? title : widths[i];
        if (needed == 0 && columns[i].rank > 0 && view->list->entries.count)
            widths[i] = 0;
        if (columns[i].add == add_place && widths[i] > place)
            widths[i] = place;
    }
    widths[COLUMNS - 1] = columns[COLUMNS - 1].width;
    while (total(widths) > c->columns) {
        int worst = -1;
        for (int i = 0; i < COLUMNS; i++)
            if (widths[i] && columns[i].rank > 0 && (worst < 0 || columns[i].rank >= columns[worst].rank))
                worst = i;
        if (worst < 0)
            break;
        widths[worst] = 0;
    }
    int left = c->columns - total(widths);
    widths[COLUMNS - 1] += left > 0 ? left : 0;
}

/* ---- drawing ---------------------------------------------------------------------------------------------
 */

static void put_head(struct canvas *c, struct top_view *view, const int widths[COLUMNS], int row)
{
    int at = 0;
    canvas_fill(c, row, 0, c->columns, INK_HEAD);
    view->layout.heads = 0;
    for (int i = 0; i < COLUMNS; i++) {
        struct str title = {0};
        if (!widths[i])
            continue;
        bool is_key = columns[i].sort == view->settings.sort;
        if (is_key)
            str_puts(&title, view->settings.reversed ? "↑" : "↓");
        str_puts(&title, _(columns[i].title));
        int width = widths[i];
        if (columns[i].right)
            canvas_put_right(c, row, at, width, INK_HEAD, str_text(&title));
        else
            canvas_put(c, row, at, width, INK_HEAD, str_text(&title));
        view->layout.head_column[view->layout.heads] = at + width + GAP;
        view->layout.head_sort[view->layout.heads++] = columns[i].sort;
        at += width + GAP;
        str_release(&title);
    }
    canvas_reverse(c, row, 0, c->columns);
}

static enum ink ink_of(const struct machine_process *p, int column)
{
    if (p->state != READING_KNOWN)
        return INK_DIM;
    return columns[column].add == add_place || columns[column].add == add_type ? INK_DIM : INK_PLAIN;
}

static void put_process(struct canvas *c, const struct top_view *view, const int widths[COLUMNS], int row,
                        const struct top_entry *entry)
{
    const struct machine_process *p = &view->sample->processes.at[entry->process];
    bool is_match = view->search[0] && top_process_fits(view->sample, p, view->search);
    int at = 0;
    for (int i = 0; i < COLUMNS; i++) {
        struct str cell = {0};
        if (!widths[i])
            continue;
        if (columns[i].add == add_command && entry->depth) {
            str_pad(&cell, ' ', (size_t)(entry->depth - 1) * 2);
            str_puts(&cell, c->utf8 ? "└ " : "` ");
        }
        columns[i].add(&cell, view->sample, p);
        enum ink ink = is_match ? INK_MATCH : ink_of(p, i);
        const char *text = cell.len ? str_text(&cell) : columns[i].add == add_place ? "" : DASH;
        if (columns[i].right)
            canvas_put_right(c, row, at, widths[i], ink, text);
        else
            canvas_put(c, row, at, widths[i], ink, text);
        at += widths[i] + GAP;
        str_release(&cell);
    }
}

static void scroll(struct top_view *view, int rows)
{
    int count = (int)view->list->entries.count;
    view->entry = view->entry >= count ? count - 1 : view->entry;
    view->entry = view->entry < 0 ? 0 : view->entry;
    if (view->entry < view->first)
        view->first = view->entry;
    if (rows > 0 && view->entry >= view->first + rows)
        view->first = view->entry - rows + 1;
    if (view->first > count - rows)
        view->first = count - rows;
    view->first = view->first < 0 ? 0 : view->first;
}

/* Memory that the processes above do not account for, of all GPUs in one line. */
static void put_unseen(struct canvas *c, const struct top_view *view, int row)
{
    const int64_t little = INT64_C(64) << 20;
    struct str list = {0}, line = {0};
    vec_each (&view->sample->devices, device) {
        struct reading unseen = device->detail.memory_unseen;
        if (!reading_is_known(unseen) || unseen.value <= little)
            continue;
        str_puts(&list, list.len ? ", GPU " : "GPU ");
        machine_add_device(&list, device);
        str_puts(&list, ": ");
        machine_add_reading(&list, GPU_BYTES, unseen);
    }
    if (list.len) {
        struct msg msg =
            msg_make(N_("memory of no process that can be seen here: {0}"), value_text(str_text(&list)));
        msg_render(&line, &msg, true, 0);
        canvas_put(c, row, 0, c->columns, INK_DIM, str_text(&line));
    }
    str_release(&list);
    str_release(&line);
}

void top_draw_processes(struct canvas *c, struct top_view *view, int row, int rows)
{
    int widths[COLUMNS];
    view->layout.process_row = row + 1;
    view->layout.process_rows = rows > 1 ? rows - 1 : 0;
    view->layout.heads = 0;
    if (rows < 1)
        return;
    scroll(view, view->layout.process_rows);
    choose_widths(c, view, widths);
    put_head(c, view, widths, row);
    int shown = 0;
    for (; shown < view->layout.process_rows; shown++) {
        size_t at = (size_t)(view->first + shown);
        if (at >= view->list->entries.count)
            break;
        put_process(c, view, widths, row + 1 + shown, &view->list->entries.at[at]);
        if (view->focus == TOP_FOCUS_PROCESSES && (int)at == view->entry)
            canvas_reverse(c, row + 1 + shown, 0, c->columns);
    }
    int left = view->layout.process_rows - shown;
    if (shown == 0 && left > 0) {
        canvas_put(c, row + 1, 0, c->columns, INK_DIM,
                   view->waiting     ? _("the drivers are being asked")
                   : view->filter[0] ? _("no process fits the filter")
                                     : _("no process uses a GPU"));
        shown++;
        left--;
    }
    if (!view->filter[0] && left > 0)
        put_unseen(c, view, row + 1 + shown);
}
