#include "source/remote_memory.h"

#include <string.h>
#include <unistd.h>

void remote_memory_init(struct remote_memory *m, int fd)
{
    memset(m, 0, sizeof *m);
    m->fd = fd;
    m->look = 1;
}

void remote_memory_look(struct remote_memory *m)
{
    m->look++;
}

static bool read_exactly(int fd, uint64_t address, void *out, size_t length)
{
    return address <= (uint64_t)INT64_MAX - length &&
           pread(fd, out, length, (off_t)address) == (ssize_t)length;
}

/* The page of address, or NULL. */
static const unsigned char *page_at(struct remote_memory *m, uint64_t address)
{
    uint64_t start = address - address % REMOTE_PAGE_BYTES;
    size_t slot = start / REMOTE_PAGE_BYTES % REMOTE_PAGES;
    if (m->pages[slot].look == m->look && m->pages[slot].address == start)
        return m->pages[slot].bytes;
    m->pages[slot].look = 0;
    if (!read_exactly(m->fd, start, m->pages[slot].bytes, REMOTE_PAGE_BYTES))
        return NULL;
    m->pages[slot].look = m->look;
    m->pages[slot].address = start;
    return m->pages[slot].bytes;
}

bool remote_memory_read(struct remote_memory *m, uint64_t address, void *out, size_t length)
{
    if (length > REMOTE_PAGE_BYTES)
        return read_exactly(m->fd, address, out, length);
    if (address == 0 || address > (uint64_t)INT64_MAX - length)
        return false;
    for (unsigned char *to = out; length > 0;) {
        const unsigned char *page = page_at(m, address);
        size_t from = address % REMOTE_PAGE_BYTES;
        size_t part = REMOTE_PAGE_BYTES - from < length ? REMOTE_PAGE_BYTES - from : length;
        if (!page)
            return false;
        memcpy(to, page + from, part);
        to += part;
        address += part;
        length -= part;
    }
    return true;
}

bool remote_memory_u64(struct remote_memory *m, uint64_t address, uint64_t *out)
{
    return remote_memory_read(m, address, out, sizeof *out);
}
