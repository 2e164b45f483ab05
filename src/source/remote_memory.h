/* Reading another process's memory while it runs, without stopping it: through /proc/PID/mem, whose
 * descriptor stays with the program that it was opened for, also when the process becomes another program or
 * its pid is used again. What is read may be anything: torn, stale or made up. */
#ifndef WARPLIGHT_SOURCE_REMOTE_MEMORY_H
#define WARPLIGHT_SOURCE_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REMOTE_PAGE_BYTES = 4096, REMOTE_PAGES = 64 };

/* A page is read once a look: frames that lie side by side cost one system call and are of one moment. */
struct remote_memory {
    int fd; /* the caller's: /proc/PID/mem, or in tests a file that stands for one; offsets are addresses */
    uint64_t look; /* pages of earlier looks are stale */
    struct {
        uint64_t address, look;
        unsigned char bytes[REMOTE_PAGE_BYTES];
    } pages[REMOTE_PAGES];
};

void remote_memory_init(struct remote_memory *m, int fd);
/* Forgets what was read: what follows is read anew. */
void remote_memory_look(struct remote_memory *m);
/* Copies length bytes from address. False if they cannot all be read. */
bool remote_memory_read(struct remote_memory *m, uint64_t address, void *out, size_t length);
/* A pointer or a 64-bit number there. */
bool remote_memory_u64(struct remote_memory *m, uint64_t address, uint64_t *out);

#endif
