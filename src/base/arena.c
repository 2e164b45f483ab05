#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK_BYTES = 256 * 1024 };

struct arena_block {
    struct arena_block *older;
    _Alignas(16) char data[];
};

static char *arena_take(struct arena *arena, size_t size)
{
    if ((size_t)(arena->limit - arena->next) < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        struct arena_block *block = mem_alloc(sizeof *block + room);
        block->older = arena->blocks;
        arena->blocks = block;
        arena->next = block->data;
        arena->limit = block->data + room;
    }
    char *taken = arena->next;
    arena->next += size;
    return taken;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t misaligned = (uintptr_t)arena->next & 15;
    if (misaligned && (size_t)(arena->limit - arena->next) >= 16)
        arena->next += 16 - misaligned;
    else if (misaligned)
        arena->next = arena->limit;
    size_t rounded = size ? (size + 15) & ~(size_t)15 : 16; /* never NULL */
    return arena_take(arena, rounded < size ? SIZE_MAX - 64 : rounded);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_take(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *arena = (struct arena){0};
}
