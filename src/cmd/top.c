/* warplight top: the GPUs of this machine and their processes, live or from a recording. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/stream.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/root_folder.h"
#include "cmd/top_limits.h"
#include "cmd/top_state.h"
#include "view/machine.h"

struct top_args {
    int64_t interval; /* ns */
    const char *replay, *root, *filter;
    bool read_only, no_processes, no_config, ascii;
};

static const struct top_args defaults = {.interval = UNKNOWN};

#define AT(field) offsetof(struct top_args, field)
static const struct option options[] = {
    {"interval", 'i', OPTION_DURATION, N_("TIME"),
     N_("time between samples, from 100ms to 60s (default: 1s)"), AT(interval), NULL},
    {"replay", 0, OPTION_FILE, N_("FILE"),
     N_("play a recording back: FILE.wlt of 'warplight sample -o' or of 'warplight record'"), AT(replay),
     NULL},
    {"read-only", 0, OPTION_FLAG, NULL, N_("send no signals"), AT(read_only), NULL},
    {"filter", 0, OPTION_TEXT, N_("WORDS"), N_("show only processes that fit, as key f does"), AT(filter),
     NULL},
    {"no-processes", 0, OPTION_FLAG, NULL, N_("leave processes out: asking for them costs most"),
     AT(no_processes), NULL},
    {"ascii", 0, OPTION_FLAG, NULL, N_("draw with ASCII alone"), AT(ascii), NULL},
    {"no-config", 0, OPTION_FLAG, NULL, N_("neither read nor keep settings"), AT(no_config), NULL},
    {"root", 0, OPTION_FILE, N_("FOLDER"),
     N_("look at a copy of /sys and /proc below FOLDER, not at this machine"), AT(root), NULL},
    OPTION_END,
};
#undef AT

/* ---- what is shown ---------------------------------------------------------------------------------------
 */

void top_say(struct top *t, bool is_bad, const char *text)
{
    str_cut(&t->message, 0);
    str_puts(&t->message, text);
    t->view.message = str_text(&t->message);
    t->view.is_bad = is_bad;
    t->dirty = true;
}

void top_apply(struct top *t)
{
    const struct top_settings *s = &t->view.settings;
    t->canvas.utf8 = t->is_utf8 && s->symbols != TOP_SYMBOLS_ASCII;
    top_terminal_choose(t->no_color ? TOP_COLORS_NONE : s->colors, s->mouse);
}

void top_note_choice(struct top *t)
{
    t->choice = (struct top_choice){.pid = UNKNOWN};
    if (t->view.entry < 0 || t->view.entry >= (int)t->list.entries.count)
        return;
    const struct machine_process *p = &t->sample.processes.at[t->list.entries.at[t->view.entry].process];
    t->choice.pid = p->pid;
    t->choice.start_unix_ns = p->start_unix_ns;
    memcpy(t->choice.key, t->sample.devices.at[p->device].key, sizeof t->choice.key);
}

/* What was chosen stays so while it is there, wherever it moves to. */
void top_relist(struct top *t)
{
    top_list_build(&t->list, &t->sample, &t->view.settings, t->view.filter);
    for (size_t i = 0; i < t->list.entries.count; i++) {
        const struct machine_process *p = &t->sample.processes.at[t->list.entries.at[i].process];
        if (p->pid == t->choice.pid && p->start_unix_ns == t->choice.start_unix_ns &&
            strcmp(t->sample.devices.at[p->device].key, t->choice.key) == 0)
            t->view.entry = (int)i;
    }
    if (t->view.entry >= (int)t->list.entries.count)
        t->view.entry = t->list.entries.count ? (int)t->list.entries.count - 1 : 0;
    top_note_choice(t);
    t->dirty = true;
}

static void draw(struct top *t)
{
    int rows, columns;
    top_terminal_size(&rows, &columns);
    canvas_clear(&t->canvas, rows, columns);
    if (!t->playback)
        top_own_read(&t->own, &t->view);
    top_draw(&t->canvas, &t->view);
    top_terminal_show(&t->canvas);
    t->dirty = false;
}

/* ---- samples ---------------------------------------------------------------------------------------------
 */

/* Ratios need two samples: the second one comes soon. The first screen does not wait for slow drivers. */
static const int64_t first_pause_ns = 200000000, first_wait_ns = 60000000;

struct live {
    bool asked;
    int64_t opened_ns;
    int taken;
};

static void add_event(struct top *t, const struct machine_sample *sample, const struct machine_event *event)
{
    struct str text = {0};
    if (t->view.event_count == TOP_EVENTS) { /* the oldest goes */
        memmove(t->events, t->events + 1, (TOP_EVENTS - 1) * sizeof *t->events);
        t->view.event_count--;
    }
    struct top_event *added = &t->events[t->view.event_count++];
    added->time_unix_ns = event->time_unix_ns;
    machine_event_add(&text, sample, event);
    size_t length =
        text.len < sizeof added->text ? text.len : utf8_valid(str_text(&text), sizeof added->text - 1);
    memcpy(added->text, str_text(&text), length);
    added->text[length] = '\0';
    str_release(&text);
}

void top_remember(struct top *t, const struct machine_sample *sample)
{
    history_push(&t->history, sample);
    vec_each (&sample->events, event)
        add_event(t, sample, event);
}

static bool is_awaited(const struct machine_sample *s)
{
    for (int i = 0; i < MACHINE_DRIVERS; i++)
        if (s->sources[i].state == READING_UNREAD)
            return true;
    return false;
}

static void take_sample(struct top *t, bool final)
{
    machine_sample_copy(&t->sample, machine_take(t->machine));
    t->view.waiting = is_awaited(&t->sample);
    if (final)
        top_remember(t, &t->sample);
    top_relist(t);
}

/* A driver that still owes an answer is not asked again; the others are. */
static void begin_sample(struct top *t, struct live *live, int64_t now)
{
    int64_t interval = live->taken ? t->view.settings.interval_ns : first_pause_ns;
    machine_ask(t->machine);
    live->asked = true;
    /* Beats lie on one grid; those that were missed, as while we were stopped, are left out. */
    t->beat_ns = t->beat_ns && now - t->beat_ns < interval ? t->beat_ns + interval : now + interval;
}

/* Sampling goes on behind a halted screen, so that rates stay those of one interval. */
static void end_sample(struct top *t, struct live *live)
{
    live->taken++;
    if (!t->view.paused)
        take_sample(t, true);
    else
        top_remember(t, machine_take(t->machine));
}

/* Takes what is there. One driver that keeps silent does not hold up the rest: at the next beat the sample is
 * completed without it. */
static void pace_live(struct top *t, struct live *live, int64_t now)
{
    bool is_due = now >= t->beat_ns;
    if (live->asked && (machine_poll(t->machine) || is_due)) {
        live->asked = false;
        end_sample(t, live);
    }
    if (!live->asked && is_due)
        begin_sample(t, live, now);
    if (live->taken == 0 && t->sample.time_unix_ns == 0 && now - live->opened_ns >= first_wait_ns)
        take_sample(t, false);
}

static void pace_playback(struct top *t, int64_t now)
{
    int64_t wait = top_playback_wait(t->playback);
    if (t->view.paused || wait == UNKNOWN)
        return;
    if (t->beat_ns == 0)
        t->beat_ns = now + wait;
    while (now >= t->beat_ns && wait != UNKNOWN) {
        top_playback_step(t->playback, 1);
        machine_sample_copy(&t->sample, top_playback_sample(t->playback));
        top_remember(t, &t->sample);
        wait = top_playback_wait(t->playback);
        t->beat_ns = wait == UNKNOWN ? 0 : now - t->beat_ns > wait ? now + wait : t->beat_ns + wait;
        top_relist(t);
        if (t->beat_ns > now)
            break;
    }
}

/* ---- the loop --------------------------------------------------------------------------------------------
 */

static int64_t wait_of(const struct top *t, const struct live *live, int64_t now, int driver_ms)
{
    const int64_t millisecond = 1000000, idle = INT64_C(1000000000);
    int64_t wait = idle;
    if (t->playback && !t->view.paused && t->beat_ns)
        wait = min_ns(wait, t->beat_ns - now);
    if (t->machine && live->asked)
        wait = min_ns(wait, driver_ms * millisecond);
    if (t->machine)
        wait = min_ns(wait, t->beat_ns - now);
    if (t->machine && live->taken == 0 && t->sample.time_unix_ns == 0)
        wait = min_ns(wait, live->opened_ns + first_wait_ns - now);
    return max_ns(wait, 0);
}

/* Waits for a key, a signal, an answer or the next beat. False when the terminal is gone. */
static bool wait_for_news(const struct top *t, const struct live *live, int signals)
{
    enum { OWN = 2 };
    const int64_t second = 1000000000;
    struct pollfd waiting[OWN + MACHINE_DRIVERS] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                                    {.fd = signals, .events = POLLIN}};
    int fds[MACHINE_DRIVERS], driver_ms = 0, count = OWN;
    if (t->machine && live->asked)
        count += machine_fds(t->machine, fds, &driver_ms);
    for (int i = OWN; i < count; i++)
        waiting[i] = (struct pollfd){.fd = fds[i - OWN], .events = POLLIN};
    int64_t wait = wait_of(t, live, clock_ns(CLOCK_MONOTONIC), driver_ms);
    struct timespec timeout = {.tv_sec = wait / second, .tv_nsec = wait % second};
    if (ppoll(waiting, (nfds_t)count, &timeout, NULL) < 0)
        return errno == EINTR;
    return !(waiting[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void stop_here(struct top *t)
{
    top_terminal_suspend();
    raise(SIGSTOP);
    top_terminal_resume();
    top_apply(t);
    t->suspend = false;
    t->dirty = true;
}

static void take_signals(struct top *t, int signals)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        t->dirty = true;
        if (info.ssi_signo == SIGTSTP)
            t->suspend = true;
        else if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGCONT)
            t->quit = true;
    }
}

static void loop(struct top *t, int signals)
{
    struct live live = {.opened_ns = clock_ns(CLOCK_MONOTONIC)};
    while (!t->quit) {
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        if (t->machine)
            pace_live(t, &live, now);
        else
            pace_playback(t, now);
        if (t->dirty)
            draw(t);
        if (!wait_for_news(t, &live, signals))
            break;
        take_signals(t, signals);
        for (struct top_key key; !t->quit && (key = top_terminal_key()).code != TOP_KEY_NONE;)
            top_key_press(t, key);
        if (t->suspend)
            stop_here(t);
    }
}

/* ---- beginning and end -----------------------------------------------------------------------------------
 */

static int open_signals(sigset_t *before)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaddset(&set, all[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int check_readable(const char *path, struct err *err)
{
    struct stream *in;
    if (!path)
        return 0;
    int rc = stream_open(&in, path, err);
    if (rc == 0)
        stream_close(in);
    return rc;
}

static int check(const struct top_args *args, struct err *err)
{
    if (args->interval != UNKNOWN &&
        (args->interval < TOP_INTERVAL_LEAST || args->interval > TOP_INTERVAL_MOST))
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--interval must be from 100ms to 60s"));
    if (args->replay && (args->root || args->interval != UNKNOWN))
        return err_set(err, ERR_USAGE, NULL, -1, _("leave --root and --interval out"),
                       _("a recording holds its own machine and times"));
    int rc = check_readable(args->replay, err); /* what is wrong with the file is wrong in any terminal */
    if (rc < 0)
        return rc;
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return err_set(err, ERR_ENV, NULL, -1, _("for files and pipes there is 'warplight sample'"),
                       _("it needs a terminal for input and output"));
    return check_root_folder(args->root, err);
}

static void choose_settings(struct top *t, const struct top_args *args)
{
    const int64_t second = 1000000000;
    struct str warnings = {0};
    struct top_settings *s = &t->view.settings;
    *s = (struct top_settings){.interval_ns = second, .sort = TOP_SORT_MEMORY, .mouse = true};
    if (!args->no_config)
        top_config_load(&t->config, s, &warnings);
    if (args->interval != UNKNOWN)
        s->interval_ns = args->interval;
    if (args->ascii)
        s->symbols = TOP_SYMBOLS_ASCII;
    if (warnings.len) {
        struct str text = {0};
        str_addf(&text, "%s: %s", str_text(&t->config.path), str_text(&warnings));
        top_say(t, true, str_text(&text));
        str_release(&text);
    }
    str_release(&warnings);
    t->config.begun = *s;
}

static int open_samples(struct top *t, const struct top_args *args, struct err *err)
{
    const struct machine_options wanted = {.root = args->root, .no_processes = args->no_processes};
    if (!args->replay) {
        t->machine = machine_open(&wanted);
        t->root = args->root;
        t->view.waiting = true;
        return 0;
    }
    int rc = top_playback_open(&t->playback, args->replay, err);
    if (rc == 0) {
        machine_sample_copy(&t->sample, top_playback_sample(t->playback));
        top_remember(t, &t->sample);
        t->view.replay = top_playback_state(t->playback);
    }
    return rc;
}

static void release(struct top *t)
{
    top_signal_cancel(t);
    machine_close(t->machine);
    top_playback_close(t->playback);
    machine_sample_release(&t->sample);
    history_clear(&t->history);
    top_list_release(&t->list);
    canvas_release(&t->canvas);
    top_config_release(&t->config);
    str_release(&t->typed);
    str_release(&t->message);
}

static int run(struct cli *cli, const void *values, struct err *err)
{
    const struct top_args *args = values;
    struct top t = {.target.pidfd = -1, .choice.pid = UNKNOWN, .dirty = true};
    struct screen screen;
    sigset_t before;
    int rc = check(args, err);
    if (rc < 0)
        return rc;
    cli_screen(cli, &screen, stdout);
    t.is_utf8 = screen.utf8;
    t.no_color = !screen.color;
    t.view.sample = &t.sample;
    t.view.history = &t.history;
    t.view.events = t.events;
    t.view.list = &t.list;
    t.view.signals = top_signals;
    t.view.help = top_keys_help(args->replay);
    t.view.read_only = args->read_only;
    snprintf(t.view.filter, sizeof t.view.filter, "%s", args->filter ? args->filter : "");
    choose_settings(&t, args);
    rc = open_samples(&t, args, err);
    if (rc == 0)
        rc = top_terminal_open(&t.is_utf8, err);
    if (rc == 0) {
        int signals = open_signals(&before);
        t.view.typed = "";
        top_apply(&t);
        top_relist(&t);
        loop(&t, signals);
        top_terminal_close();
        close(signals);
        rc = args->no_config ? 0 : top_config_save(&t.config, &t.view.settings, err);
    }
    release(&t);
    return rc;
}

static const struct example examples[] = {
    {"warplight top", N_("GPUs and processes, once a second; h shows the keys")},
    {"warplight top -i 200ms --read-only", N_("five times a second, without signals")},
    {"warplight sample -i 1s -o night.wlt", N_("record, until Ctrl-C …")},
    {"warplight top --replay night.wlt", N_("… and play it back")},
    {NULL, NULL},
};

static const char *const see_also[] = {"sample", "doctor", "record", NULL};

const struct command command_top = {
    .name = "top",
    .summary = N_("watch the GPUs of this machine and their processes"),
    .description = N_(
        "Shows, over and over, how busy the GPUs are, what they hold in memory, what slows them down and "
        "which processes use them: 'in use' is the time with a kernel running, however small; 'SMs' is what "
        "it fills. Key h shows all keys: search, filter, order, tree, charts, signals (which ask first), "
        "and why a value is not known.\n\n"
        "No GPU is woken to be asked, and a driver that hangs stops nothing: its values are then old and "
        "marked so. Settings that keys change are kept in ~/.config/warplight/top.conf. It needs a "
        "terminal; for files and other programs there is 'warplight sample'."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_NONE,
    .operands_max = 0,
    .examples = examples,
    .see_also = see_also,
    .run = run,
};
