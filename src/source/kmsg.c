#include "source/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
    char record[16 << 10];
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
