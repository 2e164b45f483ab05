#include "cmd/read_run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/str.h"
#include "import/import.h"
#include "symbol/demangle.h"
#include "view/text.h"

/* ---- progress ------------------------------------------------------------------------------------------ */

struct progress {
    struct screen screen;
    int64_t started_ns;
    int64_t shown_ns; /* of the last line; 0: none yet */
    int64_t earlier_bytes;
};

enum { SHOW_AFTER_NS = 1000000000, SHOW_EVERY_NS = 200000000 };

static void progress_erase(struct progress *p)
{
    if (p->shown_ns == 0)
        return;
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    p->shown_ns = 0;
}

static void progress_show(void *context, const char *path, int64_t done, int64_t total)
{
    struct progress *p = context;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now - p->started_ns < SHOW_AFTER_NS || now - p->shown_ns < SHOW_EVERY_NS)
        return;
    const char *slash = strrchr(path, '/');
    double per_s = (double)(p->earlier_bytes + done) * 1e9 / (double)(now - p->started_ns);
    struct msg msg = total > 0
                         ? msg_make(N_("{0}: {1} of {2} ({3}), {4}"), value_text(slash ? slash + 1 : path),
                                    value_bytes(done), value_bytes(total),
                                    value_ratio((double)done / (double)total), value_rate(per_s))
                         : msg_make(N_("{0}: {1}, {2}"), value_text(slash ? slash + 1 : path),
                                    value_bytes(done), value_rate(per_s));
    struct str text = {0};
    msg_render(&text, &msg, true, 0);
    fputs("\r", stderr);
    screen_cell(&p->screen, STYLE_DIM, str_text(&text), p->screen.width - 1, false);
    screen_flush(&p->screen);
    fflush(stderr);
    p->shown_ns = now;
    str_release(&text);
}

static bool same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && S_ISREG(left.st_mode) &&
           left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/* Counted twice, one recording would be two ranks that do the same. */
static int check_once(char *const *paths, int count, struct err *err)
{
    for (int i = 0; i < count; i++)
        for (int earlier = 0; earlier < i; earlier++)
            if (strcmp(paths[i], paths[earlier]) == 0 || same_file(paths[i], paths[earlier]))
                return err_set(err, ERR_USAGE, paths[i], -1, _("give each recording once"),
                               _("this is the same file as '%s'"), paths[earlier]);
    return 0;
}

int read_run(struct run *run, const struct cli *cli, char *const *paths, int count, const char *importer,
             struct err *err)
{
    struct progress progress = {.started_ns = clock_ns(CLOCK_MONOTONIC)};
    struct import_options options = {.context = &progress};
    cli_screen(cli, &progress.screen, stderr);
    if (isatty(STDERR_FILENO) && !cli->globals.quiet && !cli->globals.no_progress)
        options.progress = progress_show;
    run_init(run);
    int rc = check_once(paths, count, err);
    for (int i = 0; i < count && rc == 0; i++) {
        rc = import_file(run, paths[i], importer, &options, err);
        if (rc == 0 && run->sources.count > 0 && run->sources.at[run->sources.count - 1].bytes != UNKNOWN)
            progress.earlier_bytes += run->sources.at[run->sources.count - 1].bytes;
    }
    progress_erase(&progress);
    screen_release(&progress.screen);
    if (rc == 0) {
        demangle_run(run);
        run_seal(run);
    }
    return rc;
}

int check_timeline(const struct run *run, const char *path, struct err *err)
{
    if (run->profiles.count == 0 || run->ops.count > 0 || run->spans.count > 0)
        return 0;
    struct str hint = {0};
    str_addf(&hint, _("run: warplight kernels %s"), path);
    int rc = err_set(err, ERR_INPUT, path, -1, str_text(&hint),
                     _("it holds counters of kernels, and no timeline"));
    str_release(&hint);
    return rc;
}

/* ---- output -------------------------------------------------------------------------------------------- */

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

int check_output(const char *path, char *const *inputs, int count, struct err *err)
{
    for (int i = 0; i < count && !is_stdout(path); i++)
        if (same_file(path, inputs[i]))
            return err_set(err, ERR_USAGE, path, -1, _("choose another name"),
                           _("the output would overwrite the recording"));
    return 0;
}

int open_output(FILE **out, const char *path, char *const *inputs, int count, struct err *err)
{
    *out = stdout;
    int rc = check_output(path, inputs, count, err);
    if (rc < 0 || is_stdout(path))
        return rc;
    *out = fopen(path, "we");
    if (!*out)
        return err_set(err, ERR_ENV, path, -1, _("choose a path that you may write to"),
                       _("cannot write: %s"), strerror(errno));
    return 0;
}

int close_output(FILE *out, const char *path, struct err *err)
{
    int rc = cli_check_output(out, is_stdout(path) ? _("standard output") : path, err);
    if (is_stdout(path))
        return rc;
    if (fclose(out) != 0 && rc == 0)
        rc = err_set(err, ERR_ENV, path, -1, NULL, _("cannot write: %s"), strerror(errno));
    return rc;
}
