#include "import/nsys_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"

enum {
    CHUNK_BYTES = 1 << 20,
    COMPARED_BYTES = 4096,
    HEADER_BYTES = 100,
    /* Offsets of the read and write version in the header: 2 is write-ahead logging, 1 the classic journal.
     */
    WRITE_VERSION = 18,
    READ_VERSION = 19,
};

static const int64_t spool_limit = (int64_t)64 << 30;

/* Whether the stream's path leads to the very bytes of the stream: a label of memory or a pipe does not. */
static bool is_own_file(struct stream *in)
{
    struct stat st;
    if (strcmp(stream_encoding(in), "plain") != 0 || stat(stream_path(in), &st) != 0 ||
        !S_ISREG(st.st_mode) || st.st_size != stream_size(in))
        return false;
    char there[COMPARED_BYTES], here[COMPARED_BYTES];
    int fd = open(stream_path(in), O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : pread(fd, there, sizeof there, 0);
    if (fd >= 0)
        close(fd);
    return got > 0 && stream_peek(in, here, (size_t)got, NULL) == got &&
           memcmp(here, there, (size_t)got) == 0;
}

static const char *temporary_directory(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && dir[0] ? dir : "/tmp";
}

/* A file that has no name, so that nothing is left behind whatever happens. */
static int temporary_file(void)
{
    int fd = open(temporary_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/warplight-XXXXXX", temporary_directory());
    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            data += put;
            length -= (size_t)put;
        }
    }
    return true;
}

static int copy_failed(struct err *err, const struct stream *in)
{
    return err_set(err, ERR_ENV, stream_path(in), -1,
                   _("set TMPDIR to a directory with enough room, or unpack the file and give its path"),
                   _("the database must be copied to %s first, and that failed: %s"), temporary_directory(),
                   strerror(errno));
}

/* Copies the rest of the stream to fd. Returns the number of bytes or a negative code. */
static int64_t copy_stream(struct stream *in, int fd, struct err *err)
{
    char *chunk = mem_alloc(CHUNK_BYTES);
    int64_t total = 0, got;
    while ((got = stream_read(in, chunk, CHUNK_BYTES, err)) > 0) {
        total += got;
        if (total > spool_limit) {
            got = err_set(err, ERR_INPUT, stream_path(in), total, _("unpack the file and give its path"),
                          _("the database is larger than %d GiB once unpacked"), (int)(spool_limit >> 30));
            break;
        }
        if (!write_all(fd, chunk, (size_t)got)) {
            got = copy_failed(err, in);
            break;
        }
    }
    free(chunk);
    return got < 0 ? got : total;
}

int nsys_spool_open(struct nsys_spool *spool, struct stream *in, struct err *err)
{
    *spool = (struct nsys_spool){.own_file = is_own_file(in)};
    if (spool->own_file)
        return 0;
    int fd = temporary_file();
    if (fd < 0)
        return copy_failed(err, in);
    int64_t size = copy_stream(in, fd, err);
    int code = size < 0 ? (int)size : 0;
    if (size >= 0 && size < HEADER_BYTES)
        code = err_set(err, ERR_INPUT, stream_path(in), size, _("make or copy the file again"),
                       _("the SQLite database ends within its header"));
    if (code == 0) {
        /* Private: the patch below stays in memory, and nobody else can shorten the nameless file. */
        void *image = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        if (image == MAP_FAILED)
            code = copy_failed(err, in);
        else
            *spool = (struct nsys_spool){.image = image, .size = (size_t)size};
    }
    close(fd);
    if (code == 0) {
        /* SQLite opens no write-ahead logged database from memory. Its log is not in the stream anyway. */
        unsigned char *header = spool->image;
        header[WRITE_VERSION] = header[READ_VERSION] = 1;
    }
    return code;
}

void nsys_spool_close(struct nsys_spool *spool)
{
    if (spool->image)
        munmap(spool->image, spool->size);
    *spool = (struct nsys_spool){0};
}
