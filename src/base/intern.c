#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum { FIRST_SLOTS = 1024 };

void intern_init(struct intern *in)
{
    *in = (struct intern){.mask = FIRST_SLOTS - 1};
    in->slots = mem_zalloc(FIRST_SLOTS, sizeof *in->slots);
    in->cap = FIRST_SLOTS / 2;
    in->entries = mem_resize(NULL, in->cap, sizeof *in->entries);
    in->entries[0] = (struct intern_entry){.text = ""};
    in->count = 1;
}

static void intern_grow(struct intern *in)
{
    in->cap *= 2;
    in->entries = mem_resize(in->entries, in->cap, sizeof *in->entries);
    free(in->slots);
    in->mask = in->mask * 2 + 1;
    in->slots = mem_zalloc((size_t)in->mask + 1, sizeof *in->slots);
    for (uint32_t id = 1; id < in->count; id++) {
        uint32_t slot = in->entries[id].hash & in->mask;
        while (in->slots[slot])
            slot = (slot + 1) & in->mask;
        in->slots[slot] = id;
    }
}

/* The id of the text, or 0 and the slot where it belongs. */
static uint32_t find_slot(const struct intern *in, const char *text, size_t length, uint32_t hash,
                          uint32_t *slot)
{
    *slot = hash & in->mask;
    for (uint32_t id; (id = in->slots[*slot]) != 0; *slot = (*slot + 1) & in->mask) {
        const struct intern_entry *entry = &in->entries[id];
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0)
            return id;
    }
    return 0;
}

uint32_t intern_find(const struct intern *in, const char *text, size_t length)
{
    uint32_t slot;
    uint32_t id = length && length <= INT32_MAX
                      ? find_slot(in, text, length, (uint32_t)hash_bytes(text, length), &slot)
                      : 0;
    return id || length == 0 ? id : INTERN_ABSENT;
}

uint32_t intern_add(struct intern *in, const char *text, size_t length)
{
    if (length == 0)
        return 0;
    if (length > INT32_MAX)
        length = INT32_MAX;
    uint32_t hash = (uint32_t)hash_bytes(text, length), slot;
    uint32_t known = find_slot(in, text, length, hash, &slot);
    if (known)
        return known;
    if (in->count == in->cap) {
        intern_grow(in);
        slot = hash & in->mask;
        while (in->slots[slot])
            slot = (slot + 1) & in->mask;
    }
    uint32_t id = in->count++;
    in->entries[id] = (struct intern_entry){
        .text = arena_text(&in->arena, text, length), .length = (uint32_t)length, .hash = hash};
    in->slots[slot] = id;
    in->bytes += length;
    return id;
}

uint32_t intern_puts(struct intern *in, const char *text)
{
    return intern_add(in, text, strlen(text));
}

void intern_keep(struct intern *in, const bool *used, uint32_t *new_ids)
{
    struct intern kept;
    intern_init(&kept);
    new_ids[0] = 0;
    for (uint32_t id = 1; id < in->count; id++)
        new_ids[id] =
            used[id] ? intern_add(&kept, in->entries[id].text, in->entries[id].length) : INTERN_ABSENT;
    intern_release(in);
    *in = kept;
}

void intern_release(struct intern *in)
{
    arena_release(&in->arena);
    free(in->entries);
    free(in->slots);
    *in = (struct intern){0};
}
