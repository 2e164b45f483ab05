#include "source/kept_code.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/ring.h"

/* The target can write anything: so many images, and bytes of all of them. */
enum { MOST_IMAGES = 4096 };
static const size_t most_bytes = 2 * (size_t)RING_CUBINS_BYTES;

static uint32_t find_image(const struct run *run, uint32_t source, uint64_t crc)
{
    for (uint32_t i = 0; i < run->images.count; i++)
        if (run->images.at[i].source == source && run->images.at[i].id == (int64_t)crc)
            return i;
    return NONE;
}

uint32_t kept_code_image(struct run *run, uint32_t source, uint64_t crc)
{
    uint32_t found = find_image(run, source, crc);
    if (found != NONE || run->images.count >= MOST_IMAGES)
        return found;
    vec_push(&run->images, ((struct code_image){.source = source, .id = (int64_t)crc}));
    return (uint32_t)run->images.count - 1;
}

/* The text of a file's bytes, 0 if it cannot be read. left is what may be read, and gets what is left of it.
 */
static uint32_t read_text(struct run *run, int folder, const char *name, size_t *left)
{
    struct stat status;
    uint32_t text = 0;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uint64_t)status.st_size <= *left) {
        size_t size = (size_t)status.st_size, length = 0;
        char *bytes = mem_alloc(size);
        for (ssize_t part; length < size && (part = read(fd, bytes + length, size - length)) > 0;)
            length += (size_t)part;
        text = intern_add(&run->strings, bytes, length);
        *left -= length;
        free(bytes);
    }
    close(fd);
    return text;
}

void kept_code_read(const struct folder *folder, struct run *run, uint32_t source)
{
    size_t left = most_bytes;
    DIR *entries = opendir(str_text(&folder->path));
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *crc = folder_is_cubin(entry->d_name) ? strchr(entry->d_name, '-') : NULL;
        uint32_t image = crc ? find_image(run, source, strtoull(crc + 1, NULL, 10)) : NONE;
        if (image != NONE && run->images.at[image].bytes == 0)
            run->images.at[image].bytes = read_text(run, folder->fd, entry->d_name, &left);
    }
    if (entries)
        closedir(entries);
}
