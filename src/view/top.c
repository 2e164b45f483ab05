#include "view/top.h"

#include <inttypes.h>
#include <time.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "view/gpu_text.h"
#include "view/machine.h"

#define DASH "–"

const char *const top_size_names[] = {"auto", "full", "compact", NULL};
const char *const top_color_names[] = {"default", "safe", "none", NULL};
const char *const top_symbol_names[] = {"auto", "ascii", NULL};

/* ---- the top line ----------------------------------------------------------------------------------------
 */

void top_add_clock(struct str *out, int64_t unix_ns)
{
    const int64_t second = 1000000000;
    time_t seconds = (time_t)(unix_ns / second);
    struct tm local;
    char text[16] = "";
    if (localtime_r(&seconds, &local))
        strftime(text, sizeof text, "%H:%M:%S", &local);
    str_puts(out, text);
}

/* A part of the line, if there is room for all of it. Returns the columns it took. */
static int put_part(struct canvas *c, int row, int column, int end, enum ink ink, const char *text)
{
    enum { GAP = 2 };
    int width = canvas_width(c, text);
    if (width == 0 || column + width > end)
        return 0;
    canvas_put(c, row, column, width, ink, text);
    return width + GAP;
}

static int put_named(struct canvas *c, int row, int column, int end, const char *name,
                     const struct str *value)
{
    struct str text = {0};
    str_addf(&text, "%s %s", name, value->len ? str_text(value) : DASH);
    int used = put_part(c, row, column, end, INK_PLAIN, str_text(&text));
    str_release(&text);
    return used;
}

/* What this program itself takes, how often it looks, and what it may not do. Returns its first column. */
static int put_own(struct canvas *c, const struct top_view *view, int row)
{
    struct str text = {0}, cpu = {0}, memory = {0}, interval = {0};
    if (view->paused)
        str_addf(&text, "%s  ", _("paused"));
    if (view->read_only)
        str_addf(&text, "%s  ", _("read-only"));
    if (reading_is_known(view->own_cpu) && reading_is_known(view->own_bytes)) {
        gpu_text_add(&cpu, GPU_PERMILLE, view->own_cpu.value);
        gpu_text_add(&memory, GPU_BYTES, view->own_bytes.value);
        struct msg msg =
            msg_make(N_("own cost {0}, {1}"), value_text(str_text(&cpu)), value_text(str_text(&memory)));
        msg_render(&text, &msg, true, 0);
        str_puts(&text, "  ");
    }
    if (!view->replay) {
        gpu_text_add(&interval, GPU_NS, view->settings.interval_ns);
        struct msg msg = msg_make(N_("every {0}"), value_text(str_text(&interval)));
        msg_render(&text, &msg, true, 0);
    }
    int width = canvas_width(c, str_text(&text));
    canvas_put_right(c, row, c->columns - width, width, view->paused ? INK_NOTICE : INK_DIM, str_text(&text));
    str_release(&text);
    str_release(&cpu);
    str_release(&memory);
    str_release(&interval);
    return c->columns - width;
}

/* What several GPUs take together; nothing for one. */
static void add_total(struct str *out, const struct machine_sample *sample)
{
    int count = 0;
    int64_t power = 0, used = 0, memory = 0;
    struct str watts = {0}, bytes = {0};
    vec_each (&sample->devices, d) {
        if (d->parent != NONE || d->state != READING_KNOWN || !reading_is_known(d->sample.power) ||
            !reading_is_known(d->sample.memory_used) || !reading_is_known(d->facts.memory))
            continue;
        count++;
        if (__builtin_add_overflow(power, d->sample.power.value, &power) ||
            __builtin_add_overflow(used, d->sample.memory_used.value, &used) ||
            __builtin_add_overflow(memory, d->facts.memory.value, &memory))
            return;
    }
    if (count > 1) {
        gpu_text_add(&watts, GPU_MILLIWATTS, power);
        top_add_pair(&bytes, GPU_BYTES, reading_of(used), reading_of(memory));
        struct msg msg = msg_make(N_("{0} GPUs: {1}, {2}"), value_count(count), value_text(str_text(&watts)),
                                  value_text(str_text(&bytes)));
        msg_render(out, &msg, true, 0);
    }
    str_release(&watts);
    str_release(&bytes);
}

static void put_host(struct canvas *c, const struct top_view *view, int row)
{
    const struct machine_host *host = &view->sample->host;
    struct str text = {0};
    int at = 0, end = c->columns > 60 ? put_own(c, view, row) - 1 : c->columns;
    at += put_part(c, row, at, end, INK_BOLD, host->name[0] ? host->name : DASH);
    if (view->sample->time_unix_ns)
        top_add_clock(&text, view->sample->time_unix_ns);
    at += put_part(c, row, at, end, INK_PLAIN, str_text(&text));
    str_cut(&text, 0);
    machine_add_reading(&text, GPU_PERMILLE, host->cpu_busy);
    at += put_named(c, row, at, end, _("CPU"), &text);
    str_cut(&text, 0);
    top_add_pair(&text, GPU_BYTES, host->memory_used, host->memory);
    at += put_named(c, row, at, end, _("host memory"), &text);
    str_cut(&text, 0);
    machine_add_reading(&text, GPU_HUNDREDTHS, host->load_1);
    at += put_named(c, row, at, end, _("load"), &text);
    str_cut(&text, 0);
    add_total(&text, view->sample);
    at += put_part(c, row, at, end, INK_PLAIN, str_text(&text));
    str_cut(&text, 0);
    for (int i = 0; i < MACHINE_SOURCES; i++)
        if (view->sample->sources[i].version[0])
            str_addf(&text, "%s%s", text.len ? ", " : "", view->sample->sources[i].version);
    if (text.len)
        put_named(c, row, at, end, _("driver"), &text);
    str_release(&text);
}

/* ---- lines that are there when they are needed -----------------------------------------------------------
 */

static void add_span(struct str *out, int64_t ns)
{
    const int64_t second = 1000000000, minute = 60, hour = 3600;
    int64_t seconds = ns > 0 ? ns / second : 0;
    if (seconds >= hour)
        str_addf(out, "%" PRId64 ":%02d:%02d", seconds / hour, (int)(seconds % hour / minute),
                 (int)(seconds % minute));
    else
        str_addf(out, "%d:%02d", (int)(seconds / minute), (int)(seconds % minute));
}

static int put_replay(struct canvas *c, const struct top_view *view, int row)
{
    const struct top_replay *r = view->replay;
    struct str text = {0}, now = {0}, all = {0}, speed = {0};
    if (!r)
        return 0;
    add_span(&now, view->sample->time_unix_ns - r->first_ns);
    add_span(&all, r->last_ns - r->first_ns);
    gpu_value_add(&speed, GPU_HUNDREDTHS, r->speed_hundredths);
    struct msg msg =
        msg_make(N_("replay of {0}: {1} of {2}, speed ×{3}, sample {4} of {5}"), value_text(r->name),
                 value_text(str_text(&now)), value_text(str_text(&all)), value_text(str_text(&speed)),
                 value_count((int64_t)r->frame + 1), value_count((int64_t)r->frames));
    msg_render(&text, &msg, true, 0);
    int used = canvas_put(c, row, 0, c->columns, INK_NOTICE, str_text(&text));
    int left = c->columns - used - 2;
    if (left > 8)
        canvas_bar(c, row, used + 2, left, INK_NOTICE,
                   r->frames > 1 ? (double)r->frame / (double)(r->frames - 1) : 1);
    str_release(&text);
    str_release(&now);
    str_release(&all);
    str_release(&speed);
    return 1;
}

/* Drivers that hang or failed. */
static int put_stuck(struct canvas *c, const struct top_view *view, int row)
{
    const int64_t second = 1000000000;
    int used = 0;
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        const struct machine_source *source = &view->sample->sources[i];
        struct msg msg = {0};
        if (source->state == READING_NO_ANSWER)
            msg = msg_make(N_("{0} has not answered for {1} s; its values are old"), value_text(source->name),
                           value_count((view->sample->time_unix_ns - source->since_unix_ns) / second));
        else if (source->state == READING_FAILED)
            msg = msg_make(N_("{0} failed; it will be tried again"), value_text(source->name));
        if (!msg.format)
            continue;
        struct str text = {0};
        msg_render(&text, &msg, true, 0);
        canvas_put(c, row + used++, 0, c->columns, INK_BAD, str_text(&text));
        str_release(&text);
    }
    return used;
}

/* The newest event, for a while; all of them are a key away. */
static int put_event(struct canvas *c, const struct top_view *view, int row)
{
    const int64_t while_ns = INT64_C(600000000000);
    struct str text = {0};
    if (view->event_count == 0)
        return 0;
    const struct top_event *event = &view->events[view->event_count - 1];
    if (view->sample->time_unix_ns - event->time_unix_ns > while_ns)
        return 0;
    top_add_clock(&text, event->time_unix_ns);
    str_addf(&text, " %s", event->text);
    canvas_put(c, row, 0, c->columns, INK_BAD, str_text(&text));
    str_release(&text);
    return 1;
}

/* No GPU is an answer: with what was looked for, and who knows more. */
static int put_nothing(struct canvas *c, const struct top_view *view, int row, int rows)
{
    const struct machine_source *sources = view->sample->sources;
    struct str text = {0};
    if (view->waiting || view->sample->devices.count)
        return 0;
    int used = canvas_wrap(c, row, 0, c->columns, rows, INK_TITLE, _("no GPU"));
    struct msg msg = msg_make(
        N_("looked for: display controllers of NVIDIA, AMD and Intel on the PCI bus (none); NVIDIA's "
           "library NVML ({0}); cards of the kernel's graphics drivers ({1})"),
        value_term(reading_state_meaning(sources[0].state)),
        value_term(sources[1].state == READING_NO_DRIVER ? N_("none")
                                                         : reading_state_meaning(sources[1].state)));
    msg_render(&text, &msg, true, 0);
    used += canvas_wrap(c, row + used, 0, c->columns, rows - used, INK_PLAIN, str_text(&text));
    used += canvas_wrap(c, row + used, 0, c->columns, rows - used, INK_PLAIN,
                        _("'warplight doctor' says why a GPU that should be here is not"));
    str_release(&text);
    return used;
}

/* ---- the bottom line -------------------------------------------------------------------------------------
 */

static void put_hints(struct canvas *c, const struct top_view *view, int row)
{
    int at = 0;
    for (const struct top_help *help = view->help; help && help->keys; help++) {
        if (!help->hint)
            continue;
        const char *hint = _(help->hint);
        int key = canvas_width(c, help->keys), width = canvas_width(c, hint);
        if (at + key + 1 + width > c->columns)
            break;
        canvas_put(c, row, at, key, INK_BOLD, help->keys);
        canvas_put(c, row, at + key + 1, width, INK_DIM, hint);
        at += key + 1 + width + 2;
    }
}

static void put_bottom(struct canvas *c, const struct top_view *view, int row)
{
    struct str text = {0};
    if (view->asking) {
        str_addf(&text, "%s %s", view->asking, view->typed);
        int used = canvas_put(c, row, 0, c->columns - 1, INK_PLAIN, str_text(&text));
        canvas_reverse(c, row, used, 1);
    } else if (view->message) {
        canvas_put(c, row, 0, c->columns, view->is_bad ? INK_BAD : INK_NOTICE, view->message);
    } else if (view->filter[0]) {
        struct msg msg = msg_make(
            N_("{0} of {1} processes fit the filter '{2}'"), value_count((int64_t)view->list->entries.count),
            value_count((int64_t)view->sample->processes.count), value_text(view->filter));
        msg_render(&text, &msg, true, 0);
        canvas_put(c, row, 0, c->columns, INK_NOTICE, str_text(&text));
    } else {
        put_hints(c, view, row);
    }
    str_release(&text);
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

static void clamp_choice(struct top_view *view)
{
    int count = (int)view->sample->devices.count;
    view->gpu = view->gpu >= count ? count - 1 : view->gpu;
    view->gpu = view->gpu < 0 ? 0 : view->gpu;
}

/* Rows that the list of processes needs to be of use. */
static int least_for_processes(const struct top_view *view, int rows)
{
    enum { LEAST = 4, MOST = 9 };
    int wanted = 2 + (int)view->sample->processes.count;
    wanted = wanted > MOST ? MOST : wanted < LEAST ? LEAST : wanted;
    return wanted > rows / 2 ? rows / 2 : wanted;
}

/* Rows for all of them, the heading and what is said below. */
static int all_processes(const struct top_view *view)
{
    enum { AROUND = 2, ENOUGH = 1000 };
    size_t count = view->list->entries.count;
    return AROUND + (count < ENOUGH ? (int)count : ENOUGH) + (count == 0);
}

void top_draw(struct canvas *c, struct top_view *view)
{
    int row = 0, bottom = c->rows - 1;
    canvas_clear(c, c->rows, c->columns);
    view->layout = (struct top_layout){0};
    clamp_choice(view);
    put_host(c, view, row++);
    row += put_replay(c, view, row);
    row += put_stuck(c, view, row);
    row += put_event(c, view, row);
    row += put_nothing(c, view, row, bottom - row);
    int rows = bottom - row;
    if (rows > 0 && view->sample->devices.count) {
        int room = rows - least_for_processes(view, rows);
        bool compact = top_gpu_plan(view, c->columns, room).compact;
        row += top_draw_gpus(c, view, row, room);
        if (compact)
            row += top_draw_charts(c, view, row, bottom - row - all_processes(view));
    }
    if (row < bottom)
        top_draw_processes(c, view, row, bottom - row);
    if (bottom > 0)
        put_bottom(c, view, bottom);
    top_draw_window(c, view);
}
