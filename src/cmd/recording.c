#include "cmd/recording.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"

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

static int open_named(int *fd, const char *path, bool force, struct err *err)
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

int recording_open(struct recording *r, const char *output, bool force, const char *program, struct err *err)
{
    *r = (struct recording){.fd = -1};
    occupy_standard_fds();
    if (output)
        str_puts(&r->path, output);
    int rc =
        output ? open_named(&r->fd, output, force, err) : open_default(&r->fd, &r->path, program, force, err);
    return rc == 0 ? wlt_writer_open(&r->writer, r->fd, err) : rc;
}

int recording_flush(struct recording *r, struct run *run, struct err *err)
{
    return wlt_writer_flush(r->writer, run, err);
}

int recording_end(struct recording *r, struct run *run, struct err *err)
{
    if (!r->writer)
        return 0;
    int rc = wlt_writer_close(r->writer, run, err);
    r->writer = NULL;
    return rc;
}

int64_t recording_bytes(const struct recording *r)
{
    return r->writer ? (int64_t)wlt_writer_bytes(r->writer) : UNKNOWN;
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
}
