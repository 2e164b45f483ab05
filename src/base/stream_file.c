#include "base/stream_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/time.h"

/* read(2) rather than mmap: a file that shrinks while it is read must end early, not kill the process. */
struct file_layer {
    struct layer layer;
    char *path;
    int fd;   /* -1: memory */
    int wake; /* eventfd that interrupts a wait for input; -1 for what never makes us wait */
    const unsigned char *memory;
    int64_t size;
    atomic_bool stopped;
    _Atomic int64_t consumed;
};

/* Waits for input or for file_layer_stop(). Failures of poll are left for read() to find. */
static void file_wait(const struct file_layer *file)
{
    struct pollfd fds[] = {{.fd = file->fd, .events = POLLIN}, {.fd = file->wake, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR && !atomic_load(&file->stopped))
        continue;
}

static int64_t file_read(struct layer *layer, void *buf, size_t size, struct err *err)
{
    struct file_layer *file = (struct file_layer *)layer;
    while (!layer->ended && !atomic_load(&file->stopped)) {
        if (file->wake >= 0)
            file_wait(file);
        if (atomic_load(&file->stopped))
            break;
        ssize_t got = read(file->fd, buf, size);
        if (got > 0) {
            atomic_fetch_add(&file->consumed, got);
            return got;
        }
        if (got == 0)
            break;
        if (errno != EINTR && errno != EAGAIN)
            return err_set(err, errno == EIO ? ERR_ENV : ERR_INPUT, file->path, -1,
                           _("check the disk and its file system"), _("cannot read: %s"), strerror(errno));
    }
    layer->ended = true;
    return 0;
}

static int64_t memory_read(struct layer *layer, void *buf, size_t size, struct err *err)
{
    struct file_layer *file = (struct file_layer *)layer;
    (void)err;
    int64_t at = atomic_load(&file->consumed);
    size_t left = atomic_load(&file->stopped) ? 0 : (size_t)(file->size - at);
    size = size < left ? size : left;
    if (size > 0)
        memcpy(buf, file->memory + at, size);
    atomic_store(&file->consumed, at + (int64_t)size);
    return (int64_t)size;
}

static void file_free(struct layer *layer)
{
    struct file_layer *file = (struct file_layer *)layer;
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    if (file->wake >= 0)
        close(file->wake);
    free(file->path);
    free(file);
}

/* Refuses what cannot hold a recording and sets size and wake. */
static int file_inspect(struct file_layer *file, struct err *err)
{
    struct stat st;
    if (fstat(file->fd, &st) < 0)
        return err_open(err, file->path, errno);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, file->path, -1, _("name a file inside it"), _("this is a directory"));
    if (isatty(file->fd))
        return err_set(err, ERR_USAGE, file->path, -1, _("name a file, or pipe one into the program"),
                       _("the input is a terminal"));
    if (S_ISREG(st.st_mode)) {
        posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        file->size = st.st_size > 0 ? st.st_size : UNKNOWN; /* files of /proc have content and no size */
        return 0;
    }
    file->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return file->wake < 0 ? err_open(err, file->path, errno) : 0;
}

static struct file_layer *file_layer_new(void)
{
    struct file_layer *file = mem_zalloc(1, sizeof *file);
    file->layer = (struct layer){.read = file_read, .free = file_free};
    file->fd = file->wake = -1;
    file->size = UNKNOWN;
    return file;
}

int file_layer_open(struct layer **out, const char *path, struct err *err)
{
    if (path[0] == '\0')
        return err_set(err, ERR_USAGE, "", -1, _("name a file, or - for standard input"),
                       _("the file name is empty"));
    struct file_layer *file = file_layer_new();
    file->path = mem_strdup(path);
    file->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = file->fd < 0 ? err_open(err, path, errno) : file_inspect(file, err);
    if (code < 0) {
        file_free(&file->layer);
        return code;
    }
    *out = &file->layer;
    return 0;
}

struct layer *file_layer_memory(const void *data, size_t length)
{
    struct file_layer *file = file_layer_new();
    file->layer.read = memory_read;
    file->memory = data;
    file->size = (int64_t)length;
    return &file->layer;
}

void file_layer_stop(struct layer *layer)
{
    struct file_layer *file = (struct file_layer *)layer;
    atomic_store(&file->stopped, true);
    if (file->wake >= 0)
        eventfd_write(file->wake, 1);
}

int64_t file_layer_consumed(const struct layer *layer)
{
    return atomic_load(&((const struct file_layer *)layer)->consumed);
}

int64_t file_layer_size(const struct layer *layer)
{
    return ((const struct file_layer *)layer)->size;
}
