#include "export/wlt_write.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "export/wlt_encode.h"
#include "model/used.h"

struct wlt_writer {
    struct wlt_encoder encoder;
    int fd;
    off_t end; /* of the last whole chunk; -1 where the file has no such thing (pipes) */
    char path[PATH_MAX];
};

/* For messages only. */
static void find_path(struct wlt_writer *w)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", w->fd);
    ssize_t n = readlink(link, w->path, sizeof w->path - 1);
    if (n <= 0)
        n = snprintf(w->path, sizeof w->path, "fd %d", w->fd);
    w->path[n] = '\0';
}

static int write_all(void *context, const void *data, size_t length)
{
    struct wlt_writer *w = context;
    const char *at = data;
    for (size_t left = length; left > 0;) {
        ssize_t n = write(w->fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int failed = errno;
            /* Half a chunk would only look like damage; where it cannot be taken back, readers step over it.
             */
            if (w->end >= 0 && ftruncate(w->fd, w->end) == 0)
                lseek(w->fd, w->end, SEEK_SET);
            return failed;
        }
        at += n;
        left -= (size_t)n;
    }
    if (w->end >= 0)
        w->end += (off_t)length;
    return 0;
}

static int status(const struct wlt_writer *w, int failed, struct err *err)
{
    if (failed == 0)
        return 0;
    return err_set(err, ERR_ENV, w->path, -1,
                   failed == ENOSPC || failed == EDQUOT
                       ? _("free some space or choose another disk; what was written so far is readable")
                       : _("what was written so far is readable"),
                   _("cannot write: %s"), strerror(failed));
}

int wlt_writer_open(struct wlt_writer **out, int fd, struct err *err)
{
    struct wlt_writer *w = mem_zalloc(1, sizeof *w);
    w->fd = fd;
    w->end = lseek(fd, 0, SEEK_CUR);
    find_path(w);
    wlt_encoder_init(&w->encoder, write_all, w);
    int code = status(w, w->encoder.failed, err);
    if (code == 0) {
        *out = w;
        return 0;
    }
    wlt_encoder_release(&w->encoder);
    free(w);
    return code;
}

/* Each table is emptied only when all of it is written. */
static void flush(struct wlt_writer *w, struct run *run)
{
    struct wlt_encoder *e = &w->encoder;
    wlt_encode_strings(e, &run->strings, NULL);
    wlt_encode_small(e, run);
    wlt_encode_ops(e, &run->ops);
    run->ops.count = e->failed ? run->ops.count : 0;
    wlt_encode_spans(e, &run->spans);
    run->spans.count = e->failed ? run->spans.count : 0;
    wlt_encode_samples(e, &run->samples);
    run->samples.count = e->failed ? run->samples.count : 0;
    wlt_encode_marks(e, run->marks.at, run->marks.count);
    run->marks.count = e->failed ? run->marks.count : 0;
    wlt_encode_waits(e, run->waits.at, run->waits.count);
    run->waits.count = e->failed ? run->waits.count : 0;
}

int wlt_writer_flush(struct wlt_writer *w, struct run *run, struct err *err)
{
    if (w->encoder.failed == 0)
        flush(w, run);
    return status(w, w->encoder.failed, err);
}

int wlt_writer_clock(struct wlt_writer *w, struct run *run, const char *clock, int64_t run_ns,
                     int64_t clock_value, struct err *err)
{
    struct wlt_clock_row row = {
        .time = run_ns, .value = clock_value, .clock = intern_puts(&run->strings, clock)};
    wlt_encode_strings(&w->encoder, &run->strings, NULL);
    wlt_encode_clock(&w->encoder, &row);
    return status(w, w->encoder.failed, err);
}

/* A pipe or terminal cannot be synced, and need not be. */
static int sync_file(int fd, int failed)
{
    if (fsync(fd) != 0 && failed == 0 && errno != EINVAL && errno != EROFS)
        return errno;
    return failed;
}

int wlt_write_run(const struct run *run, int fd, struct err *err)
{
    struct wlt_writer *w;
    int code = wlt_writer_open(&w, fd, err);
    if (code < 0)
        return code;
    struct wlt_encoder *e = &w->encoder;
    bool *used = used_strings(run);
    wlt_encode_strings(e, &run->strings, used);
    wlt_encode_small(e, run);
    wlt_encode_ops(e, &run->ops);
    wlt_encode_spans(e, &run->spans);
    wlt_encode_samples(e, &run->samples);
    wlt_encode_marks(e, run->marks.at, run->marks.count);
    wlt_encode_waits(e, run->waits.at, run->waits.count);
    wlt_encode_small_again(e, run);
    wlt_encode_end(e);
    code = status(w, sync_file(fd, e->failed), err);
    wlt_encoder_release(e);
    free(used);
    free(w);
    return code;
}

int wlt_writer_close(struct wlt_writer *w, struct run *run, struct err *err)
{
    if (w->encoder.failed == 0) {
        flush(w, run);
        wlt_encode_small_again(&w->encoder, run);
        wlt_encode_end(&w->encoder);
    }
    int code = status(w, sync_file(w->fd, w->encoder.failed), err);
    wlt_encoder_release(&w->encoder);
    free(w);
    return code;
}

uint64_t wlt_writer_bytes(const struct wlt_writer *w)
{
    return w->encoder.offset;
}
