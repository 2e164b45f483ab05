/* Bump allocator: many small objects, one release. Pointers stay valid until arena_release(). */
#ifndef WARPLIGHT_BASE_ARENA_H
#define WARPLIGHT_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

/* A zeroed struct is a valid empty arena. */
struct arena {
    struct arena_block *blocks;
    char *next; /* first free byte of the newest block */
    char *limit;
};

/* Returns size uninitialised bytes, 16-byte aligned. */
void *arena_alloc(struct arena *arena, size_t size);
/* Returns length + 1 unaligned bytes: a copy of text, NUL-terminated. */
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_release(struct arena *arena);

#endif
