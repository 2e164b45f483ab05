/* String interning: equal bytes get equal 32-bit ids. Id 0 is the empty string. Text is NUL-terminated and
 * may hold any other byte, NUL included: use intern_length() where that matters. */
#ifndef WARPLIGHT_BASE_INTERN_H
#define WARPLIGHT_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define INTERN_ABSENT UINT32_MAX

struct intern_entry {
    const char *text;
    uint32_t length;
    uint32_t hash; /* low half of the 64-bit hash, to skip most comparisons */
};

struct intern {
    struct arena arena;
    struct intern_entry *entries;
    uint32_t *slots;
    uint32_t count;
    uint32_t cap;
    uint32_t mask;
    uint64_t bytes; /* of all texts */
};

void intern_init(struct intern *in);
/* Texts longer than 2^31 bytes are cut there. */
uint32_t intern_add(struct intern *in, const char *text, size_t length);
uint32_t intern_puts(struct intern *in, const char *text);
/* The id of a text, INTERN_ABSENT if it was never added. */
uint32_t intern_find(const struct intern *in, const char *text, size_t length);
/* Keeps the texts whose place in used is true, and gives back the memory of the others. new_ids (as many as
 * there are ids) gets the new id of each, INTERN_ABSENT where it was dropped. Their order stays, and id 0. */
void intern_keep(struct intern *in, const bool *used, uint32_t *new_ids);
void intern_release(struct intern *in);

static inline const char *intern_text(const struct intern *in, uint32_t id)
{
    return in->entries[id].text;
}
static inline size_t intern_length(const struct intern *in, uint32_t id)
{
    return in->entries[id].length;
}

#endif
