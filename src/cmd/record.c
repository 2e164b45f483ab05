/* warplight record: what a program did on the GPU, recorded live. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "cmd/read_run.h"
#include "export/wlt_write.h"
#include "source/collect.h"
#include "source/facts.h"
#include "source/gpu_watch.h"
#include "source/target.h"
#include "view/view.h"

enum { POLL_NS = 20 * 1000 * 1000, FLUSH_ROWS = 1 << 16, FLUSH_EVERY_NS = 1000 * 1000 * 1000 };

struct record_args {
    const char *output;
    bool force;
    bool no_report;
    bool torch_ops;
};

#define AT(field) offsetof(struct record_args, field)
static const struct option options[] = {
    {"output", 'o', OPTION_FILE, N_("FILE"),
     N_("write the recording to FILE (default: PROGRAM-TIME.wlt here)"), AT(output), NULL},
    {"force", 0, OPTION_FLAG, NULL, N_("overwrite FILE if it exists"), AT(force), NULL},
    {"no-report", 0, OPTION_FLAG, NULL, N_("only record; print no report at the end"), AT(no_report), NULL},
    {"torch-ops", 0, OPTION_FLAG, NULL, N_("also record PyTorch's operators"), AT(torch_ops), NULL},
    OPTION_END,
};
#undef AT

static const struct record_args defaults = {0};

/* ---- the file --------------------------------------------------------------------------------------------
 */

static void default_name(struct str *name, const char *program)
{
    char stamp[32] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    const char *slash = strrchr(program, '/');
    for (const char *c = slash ? slash + 1 : program; *c; c++)
        str_putc(name, isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '_');
    str_addf(name, "-%s.wlt", stamp);
}

/* Without them, the recording would get the number of one and what is printed would go into it. */
static void occupy_standard_fds(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC); /* the target finds them closed, as before */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int open_recording(int *fd, const char *path, bool force, struct err *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0644);
    if (*fd >= 0)
        return 0;
    if (errno == EEXIST)
        return err_set(err, ERR_ENV, path, -1, _("choose another name with -o, or overwrite it with --force"),
                       _("the file exists already"));
    return err_set(err, ERR_ENV, path, -1, _("choose another place with -o"),
                   _("cannot make the recording: %s"), strerror(errno));
}

/* Under the default name; with a number behind it where another recording has it (MPI ranks of this second).
 */
static int open_default_recording(int *fd, struct str *path, const char *program, bool force, struct err *err)
{
    enum { MOST_AT_ONCE = 10000 };
    default_name(path, program);
    size_t stem = path->len - strlen(".wlt");
    for (int number = 2; number < MOST_AT_ONCE && !force; number++) {
        *fd = open(str_text(path), O_RDWR | O_CREAT | O_CLOEXEC | O_EXCL, 0644);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
        str_cut(path, stem);
        str_addf(path, "-%d.wlt", number);
    }
    return open_recording(fd, str_text(path), force, err);
}

/* Only a file: what was named may be a device. */
static void remove_recording(int fd, const char *path)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

/* ---- the session -----------------------------------------------------------------------------------------
 */

struct session {
    struct cli *cli;
    const char *wanted; /* besides the usual: words of RING_ENV_OPTIONS */
    struct target target;
    struct collect collect;
    struct gpu_watch gpus;
    struct wlt_writer *writer;
    struct run run;
    int64_t started_ns, flushed_ns;
    bool live; /* progress on the terminal */
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void show_progress(const struct session *s)
{
    if (!s->live)
        return;
    double seconds = (double)(monotonic_ns() - s->started_ns) / 1e9;
    fprintf(stderr, "\r\033[K");
    fprintf(stderr, _("recording: %.0f s, %lld records of %zu processes"), seconds,
            (long long)s->collect.records, collect_process_count(&s->collect));
    fflush(stderr);
}

static int flush_rows(struct session *s, struct err *err)
{
    s->flushed_ns = monotonic_ns();
    show_progress(s);
    return wlt_writer_flush(s->writer, &s->run, err);
}

/* Signals that ask for an end are waited for, so that none can be lost between look and sleep. */
static void pass_on_next_signal(const struct session *s, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    siginfo_t info = {0};
    int signal = sigtimedwait(signals, &info, &pause);
    /* What the terminal sends, the kernel has sent to the target, too. */
    bool from_terminal = (signal == SIGINT || signal == SIGQUIT) && info.si_code == SI_KERNEL;
    if (signal > 0 && !from_terminal)
        target_signal(&s->target, signal);
}

static int follow(struct session *s, const sigset_t *signals, struct err *err)
{
    int rc = 0;
    while (rc == 0) {
        target_poll(&s->target);
        if (s->target.ended)
            break;
        pass_on_next_signal(s, signals);
        collect_drain(&s->collect, &s->run);
        gpu_watch_poll(&s->gpus, &s->run);
        if (s->run.ops.count + s->run.spans.count > FLUSH_ROWS ||
            monotonic_ns() - s->flushed_ns > FLUSH_EVERY_NS)
            rc = flush_rows(s, err);
    }
    if (rc < 0) { /* the disk is full, say: the program goes on, unrecorded */
        collect_want(&s->collect, RING_STOP);
        while (target_poll(&s->target), !s->target.ended)
            pass_on_next_signal(s, signals);
        return rc;
    }
    collect_finish(&s->collect, &s->run);
    collect_facts(&s->collect, &s->run);
    gpu_watch_finish(&s->gpus, &s->run);
    return flush_rows(s, err);
}

static int record_into(struct session *s, int fd, const char *path, char *const *argv, struct err *err)
{
    struct str library = {0};
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    run_init(&s->run);
    uint32_t source = run_add_source(&s->run, path, "warplight recording");
    gpu_watch_open(&s->gpus, source);
    int rc = target_find_library(&library, err);
    if (rc == 0)
        rc = collect_open(&s->collect, source, err);
    if (rc == 0)
        rc = wlt_writer_open(&s->writer, fd, err);
    if (rc == 0) {
        facts_add(&s->run, source, argv);
        s->started_ns = s->flushed_ns = monotonic_ns();
        /* Before it starts: a signal in between would end only one of us. */
        sigprocmask(SIG_BLOCK, &signals, &before);
        rc = target_start(&s->target, argv, str_text(&library), str_text(&s->collect.folder), s->wanted,
                          &before, err);
        if (rc == 0)
            rc = follow(s, &signals, err);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    if (s->writer) {
        int closed = wlt_writer_close(s->writer, &s->run, rc == 0 ? err : NULL);
        rc = rc == 0 ? closed : rc;
    }
    str_release(&library);
    return rc;
}

/* ---- the command -----------------------------------------------------------------------------------------
 */

static void say_what_was_recorded(const struct session *s, const char *path)
{
    if (s->live)
        fprintf(stderr, "\r\033[K");
    if (s->cli->globals.quiet)
        return;
    const char *failure = collect_failure(&s->collect);
    if (failure)
        fprintf(stderr, _("warplight: not everything was recorded: %s\n"), failure);
    if (collect_process_count(&s->collect) == 0)
        fprintf(stderr, "%s", _("warplight: no process used CUDA, so there is nothing to report\n"));
    fprintf(stderr, _("warplight: %lld records in %s\n"), (long long)s->collect.records, path);
}

static int print_report(struct cli *cli, const char *path, struct err *err)
{
    struct run run;
    struct report report = {0};
    struct screen screen;
    char *paths[] = {(char *)path};
    int rc = read_run(&run, cli, paths, 1, "wlt", err);
    if (rc == 0) {
        report_build(&report, &run, NULL);
        cli_screen(cli, &screen, stdout);
        text_report(&screen, &report, &(struct view_options){.limit = UNKNOWN});
        rc = cli_screen_end(&screen, _("standard output"), err);
    }
    report_release(&report);
    run_release(&run);
    return rc;
}

static int run_record(struct cli *cli, const void *values, struct err *err)
{
    const struct record_args *args = values;
    struct session s = {.cli = cli,
                        .wanted = args->torch_ops ? "torch-ops" : "",
                        .live = isatty(STDERR_FILENO) && !cli->globals.quiet && !cli->globals.no_progress};
    struct str path = {0};
    int fd = -1;
    char **argv = mem_zalloc((size_t)cli->operand_count + 1, sizeof *argv);
    memcpy(argv, cli->operands, (size_t)cli->operand_count * sizeof *argv);
    occupy_standard_fds();
    if (args->output)
        str_puts(&path, args->output);
    int rc = args->output ? open_recording(&fd, args->output, args->force, err)
                          : open_default_recording(&fd, &path, argv[0], args->force, err);
    if (rc == 0)
        rc = record_into(&s, fd, str_text(&path), argv, err);
    if (rc == 0) {
        say_what_was_recorded(&s, str_text(&path));
        bool report = !args->no_report && s.collect.records > 0;
        rc = report ? print_report(cli, str_text(&path), err) : 0;
        rc = rc == 0 ? target_exit_code(&s.target) : rc;
    } else if (fd >= 0 && s.target.pid == 0) {
        remove_recording(fd, str_text(&path)); /* nothing was started: leave nothing behind */
    }
    if (fd >= 0)
        close(fd);
    collect_close(&s.collect);
    gpu_watch_close(&s.gpus);
    run_release(&s.run);
    free(argv);
    str_release(&path);
    return rc;
}

static const struct example examples[] = {
    {"warplight record -- python train.py", N_("record a program, then print the report")},
    {"warplight record -o before.wlt --no-report -- ./app 1024", N_("only record, into before.wlt")},
    {NULL, NULL},
};

static const struct exit_code exit_codes[] = {
    {0, N_("what the program ended with is passed on; 128 + N when signal N ended it")},
    {0, NULL},
};

static const char *const see_also[] = {"report", "info", NULL};

const struct command command_record = {
    .name = "record",
    .synopsis = N_("[--] PROGRAM [ARGUMENT…]"),
    .summary = N_("run a program and record what it does on the GPU"),
    .description = N_("Runs PROGRAM unchanged and records its kernels, copies, API calls and waits through "
                      "CUPTI, of all the "
                      "processes that it starts. The recording survives whatever the program does: what it "
                      "handed over is in "
                      "the file even if it is killed. At the end the report is printed."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_min = 1,
    .operands_max = -1,
    .stop_at_operand = true,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_record,
};
