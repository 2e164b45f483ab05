/* warplight sample: what the GPUs of this machine do, once or over and over. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/time.h"
#include "cmd/read_run.h"
#include "cmd/root_folder.h"
#include "cmd/suggest.h"
#include "export/wlt_write.h"
#include "source/machine.h"
#include "source/machine_series.h"
#include "view/machine.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const char *const format_names[] = {"text", "json", "csv", NULL};
static const char *const rows_names[] = {"devices", "processes", "host", "events", NULL};

struct sample_args {
    int64_t interval; /* ns */
    int64_t count;    /* 0: until it is ended */
    int format, rows;
    const char *fields, *devices, *output, *root;
    bool no_processes, fresh, why;
};

static const struct sample_args defaults = {.interval = UNKNOWN, .count = UNKNOWN};

#define AT(field) offsetof(struct sample_args, field)
static const struct option options[] = {
    {"interval", 'i', OPTION_DURATION, N_("TIME"), N_("time between samples (default: 1s)"), AT(interval),
     NULL},
    {"count", 'n', OPTION_COUNT, N_("COUNT"),
     N_("how many samples; 0: until it is ended (default: 1, with --interval: 0)"), AT(count), NULL},
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"),
     N_("text, json (a line for each sample) or csv (default: text)"), AT(format), format_names},
    {"fields", 0, OPTION_TEXT, N_("LIST"),
     N_("only these fields, by their names in JSON and CSV, separated by commas; or all"), AT(fields), NULL},
    {"rows", 0, OPTION_CHOICE, N_("WHAT"),
     N_("with csv, what its lines are about: devices, processes, host or events (default: devices)"),
     AT(rows), rows_names},
    {"device", 'd', OPTION_TEXT, N_("LIST"),
     N_("only these GPUs: numbers, UUIDs or PCI addresses, separated by commas"), AT(devices), NULL},
    {"no-processes", 0, OPTION_FLAG, NULL, N_("leave processes out: asking for them costs most"),
     AT(no_processes), NULL},
    {"fresh", 0, OPTION_FLAG, NULL,
     N_("ask for every value at every sample, also for those that take the driver milliseconds"), AT(fresh),
     NULL},
    {"why", 0, OPTION_FLAG, NULL, N_("all fields as text, with the reason where a value is not known"),
     AT(why), NULL},
    {"output", 'o', OPTION_FILE, N_("FILE"),
     N_("write to FILE, not to standard output; FILE.wlt: a recording"), AT(output), NULL},
    {"root", 0, OPTION_FILE, N_("FOLDER"),
     N_("look at a copy of /sys and /proc below FOLDER, not at this machine"), AT(root), NULL},
    OPTION_END,
};
#undef AT

/* ---- what is asked for -----------------------------------------------------------------------------------
 */

static void suggest_field(struct str *hint, enum machine_rows rows, const char *name)
{
    struct suggestion best = {0};
    machine_columns all = {0};
    machine_columns_all(&all, rows);
    vec_each (&all, column)
        suggest_offer(&best, name, column->field->key);
    if (best.text)
        str_addf(hint, _("did you mean '%s'?"), best.text);
    else
        str_puts(hint, _("'warplight sample --fields all' shows them"));
    vec_release(&all);
}

/* Calls take() with each name of a list between commas; ends where it returns less than 0. */
static int each_name(const char *list, int (*take)(void *context, const char *name, struct err *err),
                     void *context, struct err *err)
{
    int rc = 0;
    struct str name = {0};
    for (const char *at = list; rc == 0 && *at;) {
        size_t length = strcspn(at, ",");
        str_cut(&name, 0);
        str_add(&name, at, length);
        if (length)
            rc = take(context, str_text(&name), err);
        at += length + (at[length] == ',');
    }
    str_release(&name);
    return rc;
}

struct choice {
    enum machine_rows rows;
    machine_columns columns;
};

static int take_field(void *context, const char *name, struct err *err)
{
    struct choice *choice = context;
    struct str hint = {0};
    if (strcmp(name, "all") == 0) {
        machine_columns_all(&choice->columns, choice->rows);
        return 0;
    }
    if (machine_columns_add(&choice->columns, choice->rows, name))
        return 0;
    suggest_field(&hint, choice->rows, name);
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("there is no field '%s'"), name);
    str_release(&hint);
    return rc;
}

static bool is_named(const struct machine_device *d, const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    size_t length = strlen(name);
    if (*end == '\0')
        return d->id == number;
    return strncasecmp(d->facts.uuid, name, length) == 0 || strcasecmp(d->facts.bus, name) == 0 ||
           (strlen(d->facts.bus) > length &&
            strcasecmp(d->facts.bus + strlen(d->facts.bus) - length, name) == 0);
}

struct filter {
    struct machine_sample *sample;
    bool *wanted; /* by row */
};

static int want_device(void *context, const char *name, struct err *err)
{
    struct filter *filter = context;
    bool found = false;
    for (size_t row = 0; row < filter->sample->devices.count; row++) {
        const struct machine_device *d = &filter->sample->devices.at[row];
        uint32_t parent = d->parent;
        if (!is_named(d, name) && !(parent != NONE && filter->wanted[parent]))
            continue;
        filter->wanted[row] = found = true;
    }
    return found ? 0
                 : err_set(err, ERR_ENV, name, -1, _("'warplight sample' shows those that there are"),
                           _("there is no such GPU"));
}

/* Leaves the others out; rows move up, and what refers to them with them. */
static int choose_devices(struct machine_sample *s, const char *list, struct err *err)
{
    struct filter filter = {s, mem_zalloc(s->devices.count + 1, sizeof(bool))};
    uint32_t *place = mem_zalloc(s->devices.count + 1, sizeof *place);
    size_t kept = 0, kept_processes = 0;
    int rc = each_name(list, want_device, &filter, err);
    for (size_t row = 0; rc == 0 && row < s->devices.count; row++) {
        uint32_t parent = s->devices.at[row].parent;
        place[row] = (uint32_t)kept;
        if (!filter.wanted[row])
            continue;
        if (parent != NONE)
            s->devices.at[row].parent = filter.wanted[parent] ? place[parent] : NONE;
        s->devices.at[kept++] = s->devices.at[row];
    }
    size_t kept_events = 0;
    vec_each (&s->events, event) {
        if (rc != 0 || event->device == NONE || !filter.wanted[event->device])
            continue;
        s->events.at[kept_events] = *event;
        s->events.at[kept_events++].device = place[event->device];
    }
    vec_each (&s->processes, p) {
        if (rc != 0 || !filter.wanted[p->device])
            continue;
        uint32_t device = place[p->device];
        s->processes.at[kept_processes] = *p;
        s->processes.at[kept_processes++].device = device;
    }
    if (rc == 0) {
        s->devices.count = kept;
        s->processes.count = kept_processes;
        s->events.count = kept_events;
    }
    free(filter.wanted);
    free(place);
    return rc;
}

/* ---- samples in time -------------------------------------------------------------------------------------
 */

/* A recording of what is sampled, with -o FILE.wlt. */
struct kept {
    struct run run;
    uint32_t source;
    struct wlt_writer *writer; /* NULL: samples are printed */
    struct machine_series series;
    int64_t flushed_ns;
};

struct sampling {
    struct cli *cli;
    struct kept kept;
    const struct sample_args *args;
    struct choice choice;
    struct machine *machine;
    struct machine_sample sample; /* what is left of the sampler's */
    FILE *out;
    int64_t interval, count, missed;
    sigset_t ending;
};

/* Waits until then. False when a signal asks for an end first. */
static bool wait_until(const struct sampling *s, int64_t then)
{
    const int64_t second = 1000000000;
    for (;;) {
        int64_t left = max_ns(then - clock_ns(CLOCK_MONOTONIC), 0);
        struct timespec pause = {.tv_sec = left / second, .tv_nsec = left % second};
        if (sigtimedwait(&s->ending, NULL, &pause) > 0)
            return false;
        if (errno == EAGAIN && clock_ns(CLOCK_MONOTONIC) >= then)
            return true;
    }
}

/* The beat after this one that is still to come. Beats lie on one grid: what a sample takes does not add up.
 */
static int64_t next_beat(struct sampling *s, int64_t beat)
{
    int64_t late = clock_ns(CLOCK_MONOTONIC) - (beat + s->interval);
    int64_t missed = late > 0 ? late / s->interval : 0;
    s->missed += missed;
    return beat + (1 + missed) * s->interval;
}

static void put_text(struct sampling *s, int64_t number)
{
    enum { LINES_A_HEADER = 20 };
    struct screen screen;
    cli_screen(s->cli, &screen, s->out);
    if (s->args->why || s->args->fields)
        machine_text_fields(&screen, &s->sample, &s->choice.columns);
    else if (s->count == 1)
        machine_text(&screen, &s->sample);
    else
        machine_text_line(&screen, &s->sample, number % LINES_A_HEADER == 0);
    screen_flush(&screen);
    screen_release(&screen);
}

static int write_sample(struct sampling *s, int64_t number, struct err *err)
{
    struct str out = {0};
    if (s->args->format == FORMAT_JSON) {
        machine_json(&out, &s->sample, &s->choice.columns);
    } else if (s->args->format == FORMAT_CSV) {
        if (number == 0)
            machine_csv_header(&out, s->choice.rows, &s->choice.columns);
        machine_csv(&out, &s->sample, s->choice.rows, &s->choice.columns);
    } else {
        put_text(s, number);
    }
    fwrite(str_text(&out), 1, out.len, s->out);
    str_release(&out);
    return cli_check_output(s->out, s->args->output ? s->args->output : _("standard output"), err);
}

static bool is_recording(const char *path)
{
    const char *ending = ".wlt";
    return path && strlen(path) > strlen(ending) && strcmp(path + strlen(path) - strlen(ending), ending) == 0;
}

/* The file is readable, up to a second before, whatever becomes of us. */
static int keep_sample(struct kept *k, const struct machine_sample *sample, struct err *err)
{
    const int64_t second = 1000000000;
    machine_series_add(&k->series, &k->run, k->source, sample);
    if (clock_ns(CLOCK_MONOTONIC) - k->flushed_ns < second)
        return 0;
    k->flushed_ns = clock_ns(CLOCK_MONOTONIC);
    return wlt_writer_flush(k->writer, &k->run, err);
}

static int open_kept(struct sampling *s, struct err *err)
{
    struct kept *k = &s->kept;
    run_init(&k->run);
    if (!is_recording(s->args->output))
        return 0;
    k->source = run_add_source(&k->run, s->args->output, "warplight samples");
    return wlt_writer_open(&k->writer, fileno(s->out), err);
}

static int close_kept(struct kept *k, struct err *err)
{
    int rc = k->writer ? wlt_writer_close(k->writer, &k->run, err) : 0;
    machine_series_release(&k->series);
    run_release(&k->run);
    return rc;
}

static int take_sample(struct sampling *s, struct err *err)
{
    machine_sample_copy(&s->sample, machine_read(s->machine));
    return s->args->devices ? choose_devices(&s->sample, s->args->devices, err) : 0;
}

/* Ratios and rates need a sample before: the first one is not printed. */
static int warm_up(struct sampling *s, struct err *err)
{
    const int64_t pause = INT64_C(200000000);
    int rc = take_sample(s, err);
    if (rc == 0 &&
        !wait_until(s, clock_ns(CLOCK_MONOTONIC) + (s->interval ? min_ns(s->interval, pause) : pause)))
        s->count = -1; /* ended before it began */
    return rc;
}

static int sample_all(struct sampling *s, struct err *err)
{
    int rc = warm_up(s, err);
    int64_t beat = clock_ns(CLOCK_MONOTONIC);
    for (int64_t number = 0; rc == 0 && s->count >= 0 && (s->count == 0 || number < s->count); number++) {
        if (number > 0 && !wait_until(s, beat))
            break;
        rc = take_sample(s, err);
        if (rc == 0)
            rc = s->kept.writer ? keep_sample(&s->kept, &s->sample, err) : write_sample(s, number, err);
        if (cli_reader_left(s->out))
            break;
        beat = next_beat(s, beat);
    }
    if (s->missed && !s->cli->globals.quiet)
        fprintf(stderr, _("warplight: %lld samples came too late and were left out\n"), (long long)s->missed);
    return rc;
}

static void block_signals(sigset_t *ending)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(ending);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaddset(ending, all[i]);
    sigprocmask(SIG_BLOCK, ending, NULL);
}

static int check_args(const struct sample_args *args, struct sampling *s, struct err *err)
{
    const int64_t second = 1000000000, least = 1000000;
    bool series = args->interval != UNKNOWN || args->count != UNKNOWN;
    s->interval = args->interval != UNKNOWN ? args->interval : second;
    s->count = args->count != UNKNOWN ? args->count : series ? 0 : 1;
    if (s->interval < least)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--interval must be at least 1ms"));
    if (args->rows != MACHINE_ROWS_DEVICES && args->format != FORMAT_CSV)
        return err_set(err, ERR_USAGE, NULL, -1, _("JSON lines hold all of them"),
                       _("--rows goes with --format csv"));
    if (is_recording(args->output) && (args->format != FORMAT_TEXT || args->fields || args->why))
        return err_set(err, ERR_USAGE, args->output, -1,
                       _("leave --format, --fields and --why out, or name another file"),
                       _("a recording holds all fields in its own format"));
    s->choice.rows = (enum machine_rows)args->rows;
    if (args->fields)
        return each_name(args->fields, take_field, &s->choice, err);
    machine_columns_all(&s->choice.columns, s->choice.rows);
    return 0;
}

static int run(struct cli *cli, const void *values, struct err *err)
{
    const struct sample_args *args = values;
    struct sampling s = {.cli = cli, .args = args};
    int rc = check_args(args, &s, err);
    rc = rc ? rc : check_root_folder(args->root, err);
    if (rc == 0)
        rc = open_output(&s.out, args->output, NULL, 0, err);
    if (rc == 0) {
        const struct machine_options wanted = {
            .root = args->root, .no_processes = args->no_processes, .is_fresh = args->fresh};
        s.machine = machine_open(&wanted);
        block_signals(&s.ending);
        rc = open_kept(&s, err);
        rc = rc ? rc : sample_all(&s, err);
        machine_close(s.machine);
        int kept = close_kept(&s.kept, rc ? NULL : err);
        rc = rc ? rc : kept;
        int closed = close_output(s.out, args->output, rc ? NULL : err);
        rc = rc ? rc : closed;
    }
    machine_sample_release(&s.sample);
    vec_release(&s.choice.columns);
    return rc;
}

static const struct example examples[] = {
    {"warplight sample", N_("what all GPUs and their processes do now")},
    {"warplight sample -i 100ms -n 50", N_("ten lines a second for five seconds")},
    {"warplight sample -i 1s -f csv --fields power_watts,sm_clock_hz -o power.csv",
     N_("power and clock once a second, until Ctrl-C")},
    {"warplight sample -f json --device 0", N_("everything about one GPU, as JSON")},
    {NULL, NULL},
};

static const char *const see_also[] = {"record", "info", NULL};

const struct command command_sample = {
    .name = "sample",
    .summary = N_("say what the GPUs of this machine do now"),
    .description = N_("Says how busy the GPUs are, what they hold in memory, how hot they are, what slows "
                      "them down and which "
                      "processes use them: once, or over and over with --interval. Ratios and rates are of "
                      "the time since the "
                      "sample before, for the first one of a fifth of a second.\n\n"
                      "No GPU is woken to be asked, and a driver that hangs stops nothing: its values are "
                      "then old and marked "
                      "so. A value that is not known is a dash, never 0; --why says the reason. A machine "
                      "without a GPU is no "
                      "error."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_NONE,
    .operands_max = 0,
    .examples = examples,
    .see_also = see_also,
    .run = run,
};
