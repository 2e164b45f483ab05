#include "source/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { RECORD_BYTES = 16 << 10 };

/* Keeps the newest half of what has become too much. */
static void forget_oldest(struct str *out, size_t start)
{
    size_t half = (out->len - start) / 2;
    const char *line = memchr(out->ptr + start + half, '\n', out->len - start - half);
    size_t cut = line ? (size_t)(line + 1 - out->ptr) : out->len;
    memmove(out->ptr + start, out->ptr + cut, out->len - cut);
    str_cut(out, start + out->len - cut);
}

int kmsg_read(struct str *out, const char *path)
{
    char record[RECORD_BYTES];
    size_t start = out->len;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    for (;;) {
        ssize_t got = read(fd, record, sizeof record);
        if (got > 0) {
            str_add(out, record, (size_t)got);
            if (out->len - start > KMSG_BYTES)
                forget_oldest(out, start);
        } else if (got == 0 || (errno != EPIPE && errno != EINTR)) { /* EPIPE: records were overwritten */
            break;
        }
    }
    close(fd);
    return 0;
}

/* ---- what comes next -------------------------------------------------------------------------------------
 */

static bool is_log(int fd)
{
    enum { MEMORY_MAJOR = 1, KMSG_MINOR = 11 };
    struct stat s;
    if (fstat(fd, &s) != 0)
        return false;
    return S_ISREG(s.st_mode) || (S_ISCHR(s.st_mode) && s.st_rdev == makedev(MEMORY_MAJOR, KMSG_MINOR));
}

static void stop(struct kmsg_follow *f, enum reading_state why)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    f->state = why;
}

static enum reading_state why_not(int code)
{
    return code == EPERM || code == EACCES ? READING_NO_PERMISSION : READING_UNSUPPORTED;
}

void kmsg_follow_open(struct kmsg_follow *f, const char *path)
{
    *f = (struct kmsg_follow){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                              .state = READING_KNOWN};
    if (f->fd < 0)
        stop(f, why_not(errno));
    else if (!is_log(f->fd))
        stop(f, READING_UNSUPPORTED);
    else if (lseek(f->fd, 0, SEEK_END) < 0)
        stop(f, READING_UNSUPPORTED);
}

static void take_line(const char *line, size_t length, kmsg_line *take, void *context)
{
    const int64_t microsecond = 1000;
    const char *text = memchr(line, ';', length), *at = line;
    if (!text)
        return; /* a blank and KEY=VALUE: more about the record before */
    for (int commas = 0; commas < 2; at++)
        if (at == text)
            return;
        else if (*at == ',')
            commas++;
    /* The digits end at a comma, and the buffer at a newline. */
    long long time = strtoll(at, NULL, 10);
    bool is_time = time >= 0 && time < INT64_MAX / microsecond;
    text++;
    take(context, is_time ? time * microsecond : 0, text, length - (size_t)(text - line));
}

static int take_lines(struct kmsg_follow *f, kmsg_line *take, void *context)
{
    int lines = 0;
    size_t at = 0;
    for (const char *end; at < f->rest.len && (end = memchr(f->rest.ptr + at, '\n', f->rest.len - at));
         lines++) {
        size_t length = (size_t)(end - f->rest.ptr) - at;
        take_line(f->rest.ptr + at, length, take, context);
        at += length + 1;
    }
    if (at) {
        memmove(f->rest.ptr, f->rest.ptr + at, f->rest.len - at);
        str_cut(&f->rest, f->rest.len - at);
    }
    if (f->rest.len > RECORD_BYTES) /* no line of the kernel's */
        str_cut(&f->rest, 0);
    return lines;
}

void kmsg_follow_read(struct kmsg_follow *f, kmsg_line *take, void *context)
{
    char record[RECORD_BYTES];
    for (int lines = 0; f->fd >= 0 && lines < KMSG_LINES;) {
        ssize_t got = read(f->fd, record, sizeof record);
        if (got > 0) {
            str_add(&f->rest, record, (size_t)got);
            lines += take_lines(f, take, context);
        } else if (got < 0 && (errno == EPERM || errno == EACCES)) {
            stop(f, READING_NO_PERMISSION);
        } else if (got == 0 || (errno != EPIPE && errno != EINTR)) { /* EPIPE: records were overwritten */
            return;
        }
    }
}

void kmsg_follow_close(struct kmsg_follow *f)
{
    stop(f, READING_UNREAD);
    str_release(&f->rest);
}
