#include "source/cupti_texts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void set_pointer(struct cupti_texts *t, uint64_t address, uint32_t id, uint64_t at)
{
    uint32_t now = map_get(&t->pointers, address);
    if (now == id)
        return;
    if (now != MAP_ABSENT) {
        uint32_t before = map_get(&t->replaced, address);
        map_set(&t->replaced, address, (uint32_t)t->before.count);
        vec_push(&t->before, ((struct cupti_text_before){
                                 .until = at, .id = now, .before = before == MAP_ABSENT ? NONE : before}));
    }
    map_set(&t->pointers, address, id);
}

/* Counts and sizes are the target's: they are checked once, here. */
static void add_schema(struct cupti_texts *t, uint64_t key, const void *bytes, uint32_t length)
{
    enum { MOST_SCHEMAS = 4096, HEAD = offsetof(struct ring_schema, entries) };
    struct ring_schema schema = {0};
    if (length < HEAD || t->known_schemas.count >= MOST_SCHEMAS)
        return;
    memcpy(&schema, bytes, length < sizeof schema ? length : sizeof schema);
    size_t there = (length - HEAD) / sizeof schema.entries[0];
    if (schema.count > RING_SCHEMA_ENTRIES || schema.count > there)
        return;
    map_set(&t->schemas, key, (uint32_t)t->known_schemas.count);
    vec_push(&t->known_schemas, schema);
}

void cupti_texts_read(struct cupti_texts *t, const char *log, uint64_t length, struct run *run)
{
    while (t->read + sizeof(struct ring_text) <= length) {
        const struct ring_text *text = (const struct ring_text *)(log + t->read);
        uint64_t key = text->key;
        uint32_t kind = text->kind, bytes = text->length; /* once: the target could change it meanwhile */
        if (t->read + ring_text_size(bytes) > length)
            return;
        if (kind == RING_TEXT_SCHEMA) {
            add_schema(t, key, text + 1, bytes);
            t->read += ring_text_size(bytes);
            continue;
        }
        uint32_t id = intern_add(&run->strings, (const char *)(text + 1), bytes);
        if (kind == RING_TEXT_THREAD) {
            map_set(&t->threads, key, id);
            vec_push(&t->named_threads, (uint32_t)key);
        } else if (kind == RING_TEXT_CATEGORY)
            map_set(&t->categories, key, id);
        else if (kind == RING_TEXT_RUNTIME)
            map_set(&t->runtime_calls, key, id);
        else if (kind == RING_TEXT_DRIVER)
            map_set(&t->driver_calls, key, id);
        else if (kind == RING_TEXT_HASH)
            map_set(&t->hashes, key, id);
        else
            set_pointer(t, key, id, t->read);
        t->read += ring_text_size(bytes);
    }
}

static void hold(struct map *map, const struct compaction *c)
{
    for (size_t slot = 0; slot < map->slots; slot++)
        if (map->values[slot] != MAP_ABSENT)
            compaction_string(c, &map->values[slot]);
}

void cupti_texts_hold(struct cupti_texts *t, const struct compaction *c)
{
    hold(&t->pointers, c);
    hold(&t->runtime_calls, c);
    hold(&t->driver_calls, c);
    hold(&t->hashes, c);
    hold(&t->threads, c);
    hold(&t->categories, c);
    vec_each (&t->before, before)
        compaction_string(c, &before->id);
}

void cupti_texts_release(struct cupti_texts *t)
{
    map_release(&t->pointers);
    map_release(&t->replaced);
    map_release(&t->runtime_calls);
    map_release(&t->driver_calls);
    map_release(&t->hashes);
    map_release(&t->threads);
    map_release(&t->categories);
    map_release(&t->schemas);
    vec_release(&t->known_schemas);
    vec_release(&t->named_threads);
    vec_release(&t->before);
    *t = (struct cupti_texts){0};
}

uint32_t cupti_texts_at(const struct cupti_texts *t, uint64_t address, uint64_t log_length, struct run *run,
                        const char *otherwise)
{
    uint32_t id = map_get(&t->pointers, address);
    uint32_t replaced = map_get(&t->replaced, address);
    for (uint32_t i = replaced == MAP_ABSENT ? NONE : replaced; i != NONE; i = t->before.at[i].before) {
        if (log_length > t->before.at[i].until)
            break;
        id = t->before.at[i].id;
    }
    return id == MAP_ABSENT ? intern_puts(&run->strings, otherwise) : id;
}

uint32_t cupti_texts_hashed(const struct cupti_texts *t, uint64_t key, struct run *run, const char *otherwise)
{
    uint32_t id = map_get(&t->hashes, key);
    return id == MAP_ABSENT ? intern_puts(&run->strings, otherwise) : id;
}

uint32_t cupti_texts_category(const struct cupti_texts *t, uint64_t domain, uint32_t category,
                              struct run *run)
{
    uint32_t id = map_get(&t->categories, ring_category_key(domain, category));
    if (id != MAP_ABSENT)
        return id;
    char number[32];
    snprintf(number, sizeof number, "category %u", category);
    return intern_puts(&run->strings, number);
}

const struct ring_schema *cupti_texts_schema(const struct cupti_texts *t, uint64_t key)
{
    uint32_t row = map_get(&t->schemas, key);
    return row == MAP_ABSENT ? NULL : &t->known_schemas.at[row];
}

uint32_t cupti_texts_call(struct cupti_texts *t, bool runtime, uint32_t cbid, struct run *run)
{
    struct map *map = runtime ? &t->runtime_calls : &t->driver_calls;
    uint32_t id = map_get(map, cbid);
    if (id == MAP_ABSENT) {
        char number[48];
        snprintf(number, sizeof number, "%s call %u", runtime ? "CUDA runtime" : "CUDA driver", cbid);
        id = intern_puts(&run->strings, number);
        map_set(map, cbid, id);
        return id;
    }
    const char *name = run_text(run, id);
    const char *version = runtime ? strstr(name, "_v") : NULL;
    if (version && version[2] >= '0' && version[2] <= '9') {
        id = intern_add(&run->strings, name, (size_t)(version - name));
        map_set(map, cbid, id);
    }
    return id;
}
