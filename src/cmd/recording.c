#include "cmd/recording.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"

/* ---- names ----------------------------------------------------------------------------------------------
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

/* ---- the file -------------------------------------------------------------------------------------------
 */

static int open_named(int *fd, const char *path, bool force, struct err *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0644);
    if (*fd >= 0)
        return 0;
    struct stat st;
    int why = errno;
    if (why == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        why = EISDIR; /* which --force does not overwrite */
    if (why == EEXIST)
        return err_set(err, ERR_ENV, path, -1, _("choose another name with -o, or overwrite it with --force"),
                       _("the file exists already"));
    return err_set(err, ERR_ENV, path, -1, _("choose another place with -o"),
                   _("cannot make the recording: %s"), strerror(why));
}

/* Under the default name; with a number behind it where another recording has it (MPI ranks of this second).
 */
static int open_default(int *fd, struct str *path, const char *program, bool force, struct err *err)
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
    return open_named(fd, str_text(path), force, err);
}

/* ---- snapshots ------------------------------------------------------------------------------------------
 */

/* Better now than when the snapshot is needed. */
static int check_folder(const char *stem, struct err *err)
{
    struct str folder = {0};
    const char *slash = strrchr(stem, '/');
    if (slash)
        str_add(&folder, stem, (size_t)(slash - stem) + 1);
    else
        str_puts(&folder, ".");
    int rc = access(str_text(&folder), W_OK | X_OK) == 0
                 ? 0
                 : err_set(err, ERR_ENV, str_text(&folder), -1, _("choose another place with -o"),
                           _("snapshots cannot be written there: %s"), strerror(errno));
    str_release(&folder);
    return rc;
}

static int open_snapshots(struct recording *r, const struct recording_options *options, const char *program,
                          struct err *err)
{
    if (options->output)
        str_puts(&r->path, options->output);
    else
        default_name(&r->path, program);
    size_t ending = strlen(".wlt");
    if (r->path.len > ending && strcmp(r->path.ptr + r->path.len - ending, ".wlt") == 0)
        str_cut(&r->path, r->path.len - ending);
    r->retain = (struct retain){.keep_ns = options->keep_ns, .most_bytes = RECORDING_KEEP_BYTES};
    return check_folder(str_text(&r->path), err);
}

static int make_snapshot_file(struct recording *r, struct err *err)
{
    enum { MOST = 99999 };
    int fd = -1;
    while (fd < 0 && r->snapshots < MOST) {
        str_cut(&r->latest, 0);
        str_addf(&r->latest, "%s-%03d.wlt", str_text(&r->path), ++r->snapshots);
        fd = open(str_text(&r->latest), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0)
        return fd;
    return err_set(err, ERR_ENV, str_text(&r->latest), -1, NULL, _("cannot make the snapshot: %s"),
                   strerror(errno));
}

static void add_fact(struct run *run, uint32_t source, const char *key, int64_t value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%lld", (long long)value);
    run_fact(run, source, key, text, (size_t)length);
}

static void add_facts(const struct recording *r, struct run *run, uint32_t source, const char *reason)
{
    run_fact(run, source, "snapshot_reason", reason, strlen(reason));
    add_fact(run, source, "snapshot_number", r->snapshots);
    add_fact(run, source, "kept_ns", r->retain.keep_ns);
    add_fact(run, source, "rows_too_old", r->retain.aged);
    add_fact(run, source, "rows_too_many", r->retain.crowded);
}

static int write_snapshot(struct recording *r, struct run *run, uint32_t source, const char *reason,
                          struct err *err)
{
    size_t facts = run->facts.count;
    struct losses ever = run->losses;
    retain_prune(&r->retain, run, clock_ns(CLOCK_REALTIME));
    int fd = make_snapshot_file(r, err);
    if (fd < 0)
        return fd;
    add_facts(r, run, source, reason);
    run->losses = retain_losses(&r->retain, run);
    int rc = wlt_write_run(run, fd, err);
    run->losses = ever;
    run->facts.count = facts;
    close(fd);
    if (rc < 0)
        unlink(str_text(&r->latest)); /* half of one is no snapshot */
    return rc;
}

/* ---- taking ---------------------------------------------------------------------------------------------
 */

int recording_open(struct recording *r, const struct recording_options *options, const char *program,
                   struct err *err)
{
    *r = (struct recording){.fd = -1};
    occupy_standard_fds();
    if (options->keep_ns > 0)
        return open_snapshots(r, options, program, err);
    if (options->output)
        str_puts(&r->path, options->output);
    int rc = options->output ? open_named(&r->fd, options->output, options->force, err)
                             : open_default(&r->fd, &r->path, program, options->force, err);
    return rc == 0 ? wlt_writer_open(&r->writer, r->fd, err) : rc;
}

int recording_take(struct recording *r, struct run *run, struct err *err)
{
    if (r->writer)
        return wlt_writer_flush(r->writer, run, err);
    retain_prune(&r->retain, run, clock_ns(CLOCK_REALTIME));
    return 0;
}

bool recording_is_due(const struct recording *r, const struct run *run)
{
    enum { FLUSH_ROWS = 1 << 16 };
    if (r->writer)
        return run->ops.count + run->spans.count > FLUSH_ROWS;
    return retain_bytes(run) > r->retain.most_bytes + r->retain.most_bytes / 8;
}

int recording_snapshot(struct recording *r, struct run *run, uint32_t source, const char *reason,
                       struct err *err)
{
    return r->writer ? recording_take(r, run, err) : write_snapshot(r, run, source, reason, err);
}

const char *recording_file(const struct recording *r)
{
    return str_text(r->retain.keep_ns > 0 ? &r->latest : &r->path);
}

int recording_end(struct recording *r, struct run *run, struct err *err)
{
    if (!r->writer)
        return 0;
    int rc = wlt_writer_close(r->writer, run, err);
    r->writer = NULL;
    return rc;
}

int64_t recording_bytes(const struct recording *r, const struct run *run)
{
    return r->writer ? (int64_t)wlt_writer_bytes(r->writer) : retain_bytes(run);
}

/* Only a file: what was named may be a device. */
void recording_discard(struct recording *r)
{
    struct stat status;
    if (r->fd >= 0 && fstat(r->fd, &status) == 0 && S_ISREG(status.st_mode))
        unlink(str_text(&r->path));
}

void recording_release(struct recording *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    str_release(&r->path);
    str_release(&r->latest);
}
