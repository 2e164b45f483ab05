/* The keys of `top`: one table from which the help screen and the bottom line are made, too. */
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "cmd/top_limits.h"
#include "cmd/top_state.h"

/* ---- moving ----------------------------------------------------------------------------------------------
 */

static void move(struct top *t, int by)
{
    struct top_view *v = &t->view;
    if (v->window == TOP_WINDOW_SIGNAL) {
        int last = 0;
        while (top_signals[last + 1].number)
            last++;
        v->signal += by;
        v->signal = v->signal < 0 ? 0 : v->signal > last ? last : v->signal;
        return;
    }
    if (v->window != TOP_WINDOW_NONE) {
        v->window_first += by;
        v->window_first = v->window_first < 0 ? 0 : v->window_first;
        return;
    }
    int *at = v->focus == TOP_FOCUS_GPUS ? &v->gpu : &v->entry;
    int count = v->focus == TOP_FOCUS_GPUS ? (int)t->sample.devices.count : (int)t->list.entries.count;
    *at += by;
    *at = *at >= count ? count - 1 : *at;
    *at = *at < 0 ? 0 : *at;
    top_note_choice(t);
}

enum { FAR = 1 << 20, WHEEL = 3 };

static int page(const struct top *t)
{
    int rows = t->view.window == TOP_WINDOW_NONE && t->view.focus == TOP_FOCUS_PROCESSES
                   ? t->view.layout.process_rows
                   : t->canvas.rows / 2;
    return rows > 1 ? rows : 1;
}

static void do_up(struct top *t)
{
    move(t, -1);
}
static void do_down(struct top *t)
{
    move(t, 1);
}
static void do_page_up(struct top *t)
{
    move(t, -page(t));
}
static void do_page_down(struct top *t)
{
    move(t, page(t));
}
static void do_first(struct top *t)
{
    move(t, -FAR);
}
static void do_last(struct top *t)
{
    move(t, FAR);
}
static void do_focus(struct top *t)
{
    t->view.focus = t->view.focus == TOP_FOCUS_GPUS ? TOP_FOCUS_PROCESSES : TOP_FOCUS_GPUS;
}

/* ---- windows ---------------------------------------------------------------------------------------------
 */

static void toggle_window(struct top *t, enum top_window window)
{
    t->view.window = t->view.window == window ? TOP_WINDOW_NONE : window;
    t->view.window_first = 0;
}

static void do_help(struct top *t)
{
    toggle_window(t, TOP_WINDOW_HELP);
}
static void do_values(struct top *t)
{
    toggle_window(t, TOP_WINDOW_VALUES);
}
static void do_why(struct top *t)
{
    toggle_window(t, TOP_WINDOW_WHY);
}
static void do_events(struct top *t)
{
    toggle_window(t, TOP_WINDOW_EVENTS);
}
static void do_quit(struct top *t)
{
    t->quit = true;
}
static void do_suspend(struct top *t)
{
    t->suspend = true;
}
static void do_redraw(struct top *t)
{
    (void)t;
    top_terminal_forget();
}

/* Closes a window, then gives up the filter, then what was searched for. */
static void do_cancel(struct top *t)
{
    if (t->view.window != TOP_WINDOW_NONE)
        t->view.window = TOP_WINDOW_NONE;
    else if (t->view.filter[0])
        t->view.filter[0] = '\0';
    else
        t->view.search[0] = '\0';
    top_relist(t);
}

/* ---- finding ---------------------------------------------------------------------------------------------
 */

static void begin_typing(struct top *t, bool filter)
{
    t->typing_filter = filter;
    str_cut(&t->typed, 0);
    str_puts(&t->typed, filter ? t->view.filter : "");
    memcpy(t->filter_before, t->view.filter, sizeof t->filter_before);
    t->view.typed = str_text(&t->typed);
    t->view.asking = filter ? _("show only:") : _("search:");
    t->view.focus = TOP_FOCUS_PROCESSES;
    if (!filter)
        t->view.search[0] = '\0';
}

static void do_search(struct top *t)
{
    begin_typing(t, false);
}
static void do_filter(struct top *t)
{
    begin_typing(t, true);
}

/* The next process that fits, from one on; by: 1 or -1. */
static void find(struct top *t, int from, int by)
{
    int count = (int)t->list.entries.count;
    for (int i = 0; i < count && t->view.search[0]; i++) {
        int at = ((from + by * i) % count + count) % count;
        if (!top_process_fits(&t->sample, &t->sample.processes.at[t->list.entries.at[at].process],
                              t->view.search))
            continue;
        t->view.entry = at;
        top_note_choice(t);
        return;
    }
    if (t->view.search[0])
        top_say(t, true, _("no process fits"));
}

static void do_next(struct top *t)
{
    find(t, t->view.entry + 1, 1);
}
static void do_previous(struct top *t)
{
    find(t, t->view.entry - 1, -1);
}

/* What is typed counts at once. */
static void take_typed(struct top *t)
{
    t->view.typed = str_text(&t->typed);
    char *out = t->typing_filter ? t->view.filter : t->view.search;
    size_t room = t->typing_filter ? sizeof t->view.filter : sizeof t->view.search;
    snprintf(out, room, "%s", str_text(&t->typed));
    if (t->typing_filter)
        top_relist(t);
    else
        find(t, t->view.entry, 1);
}

/* Cuts the last character. */
static void erase(struct str *typed)
{
    size_t length = typed->len;
    while (length > 0 && ((unsigned char)typed->ptr[length - 1] & 0xc0) == 0x80)
        length--;
    str_cut(typed, length ? length - 1 : 0);
}

static void type(struct top *t, int code)
{
    enum { MOST = 60 };
    if (code == TOP_KEY_ENTER) {
        t->view.asking = NULL;
        return;
    }
    if (code == TOP_KEY_ESCAPE || code == TOP_KEY_CONTROL('c')) {
        t->view.asking = NULL;
        t->view.search[0] = '\0';
        memcpy(t->view.filter, t->filter_before, sizeof t->view.filter);
        top_relist(t);
        return;
    }
    if (code == TOP_KEY_BACKSPACE)
        erase(&t->typed);
    else if (code == TOP_KEY_CONTROL('u'))
        str_cut(&t->typed, 0);
    else if (code >= ' ' && code < TOP_KEY_SPECIAL && t->typed.len < MOST)
        utf8_add(&t->typed, (uint32_t)code);
    else
        return;
    take_typed(t);
}

/* ---- choosing --------------------------------------------------------------------------------------------
 */

static void sort_by(struct top *t, int sort)
{
    struct top_settings *s = &t->view.settings;
    s->reversed = s->sort == sort ? !s->reversed : false;
    s->sort = sort;
    top_relist(t);
}

static void do_sort(struct top *t)
{
    t->view.settings.sort = (t->view.settings.sort + 1) % TOP_SORTS;
    t->view.settings.reversed = false;
    top_relist(t);
}
static void do_reverse(struct top *t)
{
    sort_by(t, t->view.settings.sort);
}
static void do_sort_gpu(struct top *t)
{
    sort_by(t, TOP_SORT_GPU);
}
static void do_sort_pid(struct top *t)
{
    sort_by(t, TOP_SORT_PID);
}
static void do_sort_user(struct top *t)
{
    sort_by(t, TOP_SORT_USER);
}
static void do_sort_sm(struct top *t)
{
    sort_by(t, TOP_SORT_SM);
}
static void do_sort_memory(struct top *t)
{
    sort_by(t, TOP_SORT_MEMORY);
}
static void do_sort_cpu(struct top *t)
{
    sort_by(t, TOP_SORT_CPU);
}
static void do_tree(struct top *t)
{
    t->view.settings.tree = !t->view.settings.tree;
    top_relist(t);
}
static void do_chart(struct top *t)
{
    t->view.settings.chart = (t->view.settings.chart + 1) % TOP_CHARTS;
}
static void do_size(struct top *t)
{
    t->view.settings.size = (t->view.settings.size + 1) % TOP_SIZES;
}
static void do_colors(struct top *t)
{
    t->view.settings.colors = (t->view.settings.colors + 1) % TOP_COLOR_SETS;
    top_apply(t);
}
static void do_symbols(struct top *t)
{
    t->view.settings.symbols = (t->view.settings.symbols + 1) % TOP_SYMBOL_SETS;
    top_apply(t);
}

/* ---- time ------------------------------------------------------------------------------------------------
 */

static void change_pace(struct top *t, bool faster)
{
    static const int64_t paces[] = {100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
    enum { PACES = sizeof paces / sizeof *paces };
    const int64_t millisecond = 1000000;
    int64_t *interval = &t->view.settings.interval_ns;
    if (t->playback) {
        top_playback_speed(t->playback, faster);
        return;
    }
    int64_t chosen = *interval;
    for (int i = 0; i < PACES; i++) {
        int64_t pace = paces[faster ? i : PACES - 1 - i] * millisecond;
        if (faster ? pace < *interval : pace > *interval)
            chosen = pace;
    }
    *interval = chosen;
    t->beat_ns = 0;
}

static void do_faster(struct top *t)
{
    change_pace(t, true);
}
static void do_slower(struct top *t)
{
    change_pace(t, false);
}
static void do_pause(struct top *t)
{
    t->view.paused = !t->view.paused;
    t->beat_ns = 0;
}

static void stand_at(struct top *t)
{
    machine_sample_copy(&t->sample, top_playback_sample(t->playback));
    top_playback_history(t);
    t->beat_ns = 0;
    top_relist(t);
}

static void seek(struct top *t, int64_t seconds)
{
    const int64_t second = 1000000000;
    top_playback_seek(t->playback, seconds * second);
    stand_at(t);
}

static void step(struct top *t, int64_t samples)
{
    t->view.paused = true;
    top_playback_step(t->playback, samples);
    stand_at(t);
}

enum { SEEK_SHORT_S = 10, SEEK_LONG_S = 60 };

static void do_back(struct top *t)
{
    seek(t, -SEEK_SHORT_S);
}
static void do_forward(struct top *t)
{
    seek(t, SEEK_SHORT_S);
}
static void do_far_back(struct top *t)
{
    seek(t, -SEEK_LONG_S);
}
static void do_far_forward(struct top *t)
{
    seek(t, SEEK_LONG_S);
}
static void do_step_back(struct top *t)
{
    step(t, -1);
}
static void do_step(struct top *t)
{
    step(t, 1);
}
static void do_start(struct top *t)
{
    step(t, INT32_MIN);
}
static void do_end(struct top *t)
{
    step(t, INT32_MAX);
}

/* ---- the table -------------------------------------------------------------------------------------------
 */

enum when { ALWAYS, LIVE, REPLAY };

static const struct binding {
    int codes[4];
    const char *keys; /* as people call them; without codes: a heading, a msgid */
    void (*act)(struct top *t);
    const char *meaning, *hint; /* msgids */
    enum when when;
} bindings[] = {
    {{0}, N_("what to look at"), NULL, NULL, NULL, ALWAYS},
    {{'h', '?', TOP_KEY_F0 + 1}, "h ?", do_help, N_("this help"), N_("help"), ALWAYS},
    {{TOP_KEY_TAB}, "Tab", do_focus, N_("to the GPUs, and back to the processes"), NULL, ALWAYS},
    {{'i', TOP_KEY_ENTER}, "i Enter", do_values, N_("all values of what is chosen"), NULL, ALWAYS},
    {{'w'}, "w", do_why, N_("why values of what is chosen are not known"), N_("why"), ALWAYS},
    {{'e'}, "e", do_events, N_("Xid errors that came"), N_("errors"), ALWAYS},
    {{'c'},
     "c",
     do_chart,
     N_("chart: load, memory, power, temperature, clock, PCIe, NVLink"),
     N_("chart"),
     ALWAYS},
    {{'v'}, "v", do_size, N_("GPUs: as fits, as blocks, as lines"), N_("view"), ALWAYS},
    {{'o'}, "o", do_colors, N_("colours: usual, for every colour vision, none"), NULL, ALWAYS},
    {{'a'}, "a", do_symbols, N_("ASCII alone, or all symbols"), NULL, ALWAYS},
    {{0}, N_("find"), NULL, NULL, NULL, ALWAYS},
    {{'/'}, "/", do_search, N_("search processes while you type"), N_("search"), ALWAYS},
    {{'n'}, "n", do_next, N_("next one that fits"), NULL, ALWAYS},
    {{'N'}, "N", do_previous, N_("the one before"), NULL, ALWAYS},
    {{'f', '\\', TOP_KEY_F0 + 4},
     "f",
     do_filter,
     N_("show only what fits: words, or user: gpu: pid: job: pod: container: before one"),
     N_("filter"),
     ALWAYS},
    {{TOP_KEY_ESCAPE}, "Esc", do_cancel, N_("close the window; show all again"), NULL, ALWAYS},
    {{0}, N_("order"), NULL, NULL, NULL, ALWAYS},
    {{'s', TOP_KEY_F0 + 6},
     "s",
     do_sort,
     N_("sort by the next column; a click on its head does, too"),
     N_("sort"),
     ALWAYS},
    {{'r'}, "r", do_reverse, N_("the other way round"), NULL, ALWAYS},
    {{'G'}, "G", do_sort_gpu, N_("by GPU"), NULL, ALWAYS},
    {{'P'}, "P", do_sort_pid, N_("by pid"), NULL, ALWAYS},
    {{'U'}, "U", do_sort_user, N_("by user"), NULL, ALWAYS},
    {{'S'}, "S", do_sort_sm, N_("by use of the SMs"), NULL, ALWAYS},
    {{'M'}, "M", do_sort_memory, N_("by GPU memory"), NULL, ALWAYS},
    {{'C'}, "C", do_sort_cpu, N_("by CPU time"), NULL, ALWAYS},
    {{'t', TOP_KEY_F0 + 5}, "t", do_tree, N_("children under their parents"), N_("tree"), ALWAYS},
    {{0}, N_("move"), NULL, NULL, NULL, ALWAYS},
    {{TOP_KEY_UP}, "↑", do_up, N_("up"), NULL, ALWAYS},
    {{TOP_KEY_DOWN}, "↓", do_down, N_("down"), NULL, ALWAYS},
    {{TOP_KEY_PAGE_UP}, "PgUp", do_page_up, N_("a page up"), NULL, ALWAYS},
    {{TOP_KEY_PAGE_DOWN}, "PgDn", do_page_down, N_("a page down"), NULL, ALWAYS},
    {{TOP_KEY_HOME}, "Home", do_first, N_("to the first one"), NULL, ALWAYS},
    {{TOP_KEY_END}, "End", do_last, N_("to the last one"), NULL, ALWAYS},
    {{0}, N_("act"), NULL, NULL, NULL, LIVE},
    {{'k', TOP_KEY_F0 + 9},
     "k",
     top_signal_begin,
     N_("send a signal to the chosen process; asks first"),
     N_("signal"),
     LIVE},
    {{0}, N_("time"), NULL, NULL, NULL, ALWAYS},
    {{' '}, "Space", do_pause, N_("halt and go on"), N_("halt"), ALWAYS},
    {{'+', '='}, "+", do_faster, N_("look more often"), NULL, LIVE},
    {{'-'}, "-", do_slower, N_("look less often"), NULL, LIVE},
    {{'+', '='}, "+", do_faster, N_("play faster"), NULL, REPLAY},
    {{'-'}, "-", do_slower, N_("play slower"), NULL, REPLAY},
    {{TOP_KEY_LEFT}, "←", do_back, N_("10 s back"), N_("back"), REPLAY},
    {{TOP_KEY_RIGHT}, "→", do_forward, N_("10 s forward"), N_("forward"), REPLAY},
    {{'<'}, "<", do_far_back, N_("1 min back"), NULL, REPLAY},
    {{'>'}, ">", do_far_forward, N_("1 min forward"), NULL, REPLAY},
    {{','}, ",", do_step_back, N_("one sample back"), NULL, REPLAY},
    {{'.'}, ".", do_step, N_("one sample forward"), NULL, REPLAY},
    {{'('}, "(", do_start, N_("to the start"), NULL, REPLAY},
    {{')'}, ")", do_end, N_("to the end"), NULL, REPLAY},
    {{0}, N_("leave"), NULL, NULL, NULL, ALWAYS},
    {{'q', TOP_KEY_F0 + 10, TOP_KEY_CONTROL('c')}, "q", do_quit, N_("quit"), N_("quit"), ALWAYS},
    {{TOP_KEY_CONTROL('z')}, "Ctrl-Z", do_suspend, N_("back to the shell; fg returns"), NULL, ALWAYS},
    {{TOP_KEY_CONTROL('l')}, "Ctrl-L", do_redraw, N_("draw everything anew"), NULL, ALWAYS},
};
enum { BINDINGS = sizeof bindings / sizeof *bindings };

static bool counts(const struct binding *b, bool replay)
{
    return b->when == ALWAYS || (b->when == REPLAY) == replay;
}

const struct top_help *top_keys_help(bool replay)
{
    static struct top_help help[BINDINGS + 1];
    int count = 0;
    for (int i = 0; i < BINDINGS; i++)
        if (counts(&bindings[i], replay))
            help[count++] = (struct top_help){bindings[i].keys, bindings[i].meaning, bindings[i].hint};
    help[count] = (struct top_help){0};
    return help;
}

static const struct binding *find_binding(const struct top *t, int code)
{
    for (int i = 0; i < BINDINGS; i++)
        for (size_t k = 0; k < sizeof bindings[i].codes / sizeof *bindings[i].codes; k++)
            if (bindings[i].codes[k] == code && code != TOP_KEY_NONE && counts(&bindings[i], t->playback))
                return &bindings[i];
    return NULL;
}

/* ---- the mouse -------------------------------------------------------------------------------------------
 */

static void click(struct top *t, int row, int column)
{
    struct top_view *v = &t->view;
    const struct top_layout *l = &v->layout;
    for (int i = 0; i < l->shown_gpus; i++)
        if (row >= l->gpu_row[i] && row < l->gpu_row[i + 1]) {
            v->focus = TOP_FOCUS_GPUS;
            v->gpu = l->first_gpu + i;
        }
    if (row >= l->process_row && row < l->process_row + l->process_rows) {
        v->focus = TOP_FOCUS_PROCESSES;
        if (v->first + row - l->process_row < (int)t->list.entries.count)
            v->entry = v->first + row - l->process_row;
    } else if (row == l->process_row - 1) {
        for (int i = 0; i < l->heads; i++) {
            if (column >= l->head_column[i])
                continue;
            if (l->head_sort[i] >= 0)
                sort_by(t, l->head_sort[i]);
            break;
        }
    }
    top_note_choice(t);
}

static bool moves(int code)
{
    return (code >= TOP_KEY_UP && code <= TOP_KEY_END) || code == TOP_KEY_WHEEL_UP ||
           code == TOP_KEY_WHEEL_DOWN;
}

void top_key_press(struct top *t, struct top_key key)
{
    struct top_view *v = &t->view;
    t->dirty = true;
    v->message = NULL;
    if (v->asking) {
        type(t, key.code);
    } else if (v->window == TOP_WINDOW_CONFIRM) {
        if (key.code == 'y')
            top_signal_send(t);
        else
            top_signal_cancel(t);
    } else if (v->window == TOP_WINDOW_SIGNAL && key.code == TOP_KEY_ENTER) {
        top_signal_confirm(t);
    } else if (v->window == TOP_WINDOW_SIGNAL && !moves(key.code)) {
        top_signal_cancel(t);
    } else if (v->window != TOP_WINDOW_NONE && (key.code == 'q' || key.code == TOP_KEY_CLICK)) {
        v->window = TOP_WINDOW_NONE;
    } else if (key.code == TOP_KEY_CLICK) {
        click(t, key.row, key.column);
    } else if (key.code == TOP_KEY_WHEEL_UP || key.code == TOP_KEY_WHEEL_DOWN) {
        move(t, key.code == TOP_KEY_WHEEL_UP ? -WHEEL : WHEEL);
    } else {
        const struct binding *b = find_binding(t, key.code);
        if (b && b->act)
            b->act(t);
    }
}
