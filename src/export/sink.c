#include "export/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/i18n.h"
#include "base/mem.h"

enum { GZIP_WINDOW_BITS = 15 + 16 /* + 16: gzip rather than zlib framing */, GZIP_MEM_LEVEL = 8 };

struct sink_gzip {
    z_stream z;
    unsigned char out[SINK_CHUNK];
};

static void write_all(struct export_sink *sink, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0 && sink->error == 0) {
        ssize_t n = write(sink->fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            sink->error = errno;
            return;
        }
        at += n;
        length -= (size_t)n;
    }
}

static void deflate_all(struct export_sink *sink, const void *data, size_t length, int flush)
{
    struct sink_gzip *gzip = sink->gzip;
    gzip->z.next_in = (unsigned char *)data;
    gzip->z.avail_in = (uInt)length;
    do {
        gzip->z.next_out = gzip->out;
        gzip->z.avail_out = sizeof gzip->out;
        deflate(&gzip->z, flush);
        write_all(sink, gzip->out, sizeof gzip->out - gzip->z.avail_out);
    } while (gzip->z.avail_out == 0);
}

/* Pieces, because zlib counts input in 32 bits. */
static void hand_on(struct export_sink *sink, bool last)
{
    const char *at = str_text(&sink->pending);
    size_t left = sink->pending.len;
    if (!sink->gzip) {
        write_all(sink, at, left);
    } else {
        for (; left > SINK_CHUNK; at += SINK_CHUNK, left -= SINK_CHUNK)
            deflate_all(sink, at, SINK_CHUNK, Z_NO_FLUSH);
        deflate_all(sink, at, left, last ? Z_FINISH : Z_NO_FLUSH);
    }
    str_cut(&sink->pending, 0);
}

void sink_poll(struct export_sink *sink)
{
    if (sink->to_file && sink->pending.len >= SINK_CHUNK)
        hand_on(sink, false);
}

static int gzip_open(struct export_sink *sink, struct err *err)
{
    sink->gzip = mem_zalloc(1, sizeof *sink->gzip);
    if (deflateInit2(&sink->gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return 0;
    free(sink->gzip);
    sink->gzip = NULL;
    return err_set(err, ERR_INTERNAL, sink->path, -1, NULL, _("cannot start the gzip compressor"));
}

int sink_open(struct export_sink *sink, const char *path, bool gzip, struct err *err)
{
    *sink = (struct export_sink){.path = path, .to_file = true};
    if (strcmp(path, "-") == 0) {
        sink->fd = STDOUT_FILENO;
    } else {
        struct stat st;
        sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (sink->fd < 0)
            return err_set(err, ERR_ENV, path, -1, _("choose a path that you may write to"),
                           _("cannot create the file: %s"), strerror(errno));
        sink->remove_on_failure = fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode);
    }
    if (!gzip || gzip_open(sink, err) == 0)
        return 0;
    sink_close(sink, false, NULL);
    return ERR_INTERNAL;
}

int sink_close(struct export_sink *sink, bool complete, struct err *err)
{
    if (sink->to_file) {
        hand_on(sink, true);
        if (sink->fd != STDOUT_FILENO && close(sink->fd) != 0 && sink->error == 0)
            sink->error = errno;
        if (sink->remove_on_failure && (sink->error || !complete))
            unlink(sink->path);
    }
    if (sink->gzip)
        deflateEnd(&sink->gzip->z);
    free(sink->gzip);
    str_release(&sink->pending);
    bool standard = sink->to_file && sink->fd == STDOUT_FILENO;
    int error = standard && sink->error == EPIPE ? 0 : sink->error;
    const char *path = standard ? _("standard output") : sink->path;
    *sink = (struct export_sink){0};
    if (error == 0)
        return 0;
    return err_set(err, ERR_ENV, path, -1,
                   error == ENOSPC ? _("free some space or choose another disk") : NULL,
                   _("cannot write: %s"), strerror(error));
}
