#include "source/host_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* Of one process: the kernel's own default limit. */
enum { MOST_MAPPINGS = 65536, MOST_IMAGES = 8192 };

typedef VEC(uint64_t) address_list;

/* Notes where files are mapped from their beginning. Returns whether one of them has that name; errno is why
 * nothing could be read. */
static bool read_mappings(int folder, const char *mapped, address_list *images)
{
    int fd = openat(folder, "maps", O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool found = false;
    if (!lines) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        errno = why;
        return false;
    }
    errno = 0;
    for (int i = 0; i < MOST_MAPPINGS && (length = getline(&line, &room, lines)) > 0; i++) {
        uint64_t start, end, offset;
        char rights[5];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64, &start, &end, rights, &offset) != 4)
            continue;
        size_t text = (size_t)length - (line[length - 1] == '\n');
        found = found || (*mapped && text_ends_with(line, text, mapped));
        if (offset == 0 && rights[0] == 'r' && memchr(line, '/', text) && images->count < MOST_IMAGES)
            vec_push(images, start);
    }
    int why = errno;
    free(line);
    fclose(lines);
    errno = why;
    return found;
}

/* A thread of the kernel does not; one has the pid that a process has in a PID namespace of its own. */
static bool runs_program(int folder)
{
    char link[1];
    return readlinkat(folder, "exe", link, sizeof link) > 0 || errno != ENOENT;
}

static void find_python(struct host_process *p, const address_list *images, struct remote_memory *memory,
                        struct intern *texts)
{
    struct python_layout layout;
    vec_each (images, start) {
        enum python_found found = python_layout_find(&layout, memory, *start);
        if (found == PYTHON_ABSENT)
            continue;
        p->has_python = found == PYTHON_FOUND;
        p->unknown_python = found == PYTHON_UNKNOWN;
        if (p->has_python)
            python_reader_init(&p->python, memory, &layout, texts);
        return;
    }
}

enum host_access host_process_open(struct host_process *p, int64_t pid, const char *mapped,
                                   struct remote_memory *memory, struct intern *texts)
{
    char path[64];
    address_list images = {0};
    snprintf(path, sizeof path, "/proc/%" PRId64, pid);
    *p = (struct host_process){.memory = -1};
    p->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum host_access access = HOST_ACCESS_NOT_FOUND;
    errno = 0;
    if (p->folder >= 0 && read_mappings(p->folder, mapped, &images)) {
        p->memory = openat(p->folder, "mem", O_RDONLY | O_CLOEXEC);
        access = p->memory >= 0 ? HOST_ACCESS : HOST_ACCESS_REFUSED;
    } else if ((errno == EACCES || errno == EPERM) && runs_program(p->folder)) {
        access = HOST_ACCESS_REFUSED;
    }
    if (access == HOST_ACCESS) {
        memory->fd = p->memory;
        remote_memory_look(memory);
        find_python(p, &images, memory, texts);
    } else {
        host_process_close(p);
    }
    vec_release(&images);
    return access;
}

void host_process_close(struct host_process *p)
{
    if (p->folder >= 0)
        close(p->folder);
    if (p->memory >= 0)
        close(p->memory);
    if (p->has_python)
        python_reader_release(&p->python);
    *p = (struct host_process){.folder = -1, .memory = -1};
}
