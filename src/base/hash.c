#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

uint64_t hash_bytes(const void *data, size_t length)
{
    return XXH3_64bits(data, length);
}

static size_t map_slot(const struct map *map, uint64_t key)
{
    size_t mask = map->slots - 1;
    size_t slot = hash_u64(key) & mask;
    while (map->values[slot] != MAP_ABSENT && map->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t map_get(const struct map *map, uint64_t key)
{
    return map->slots ? map->values[map_slot(map, key)] : MAP_ABSENT;
}

static void map_rehash(struct map *map, size_t slots)
{
    struct map old = *map;
    map->slots = slots;
    map->keys = mem_resize(NULL, slots, sizeof *map->keys);
    map->values = mem_resize(NULL, slots, sizeof *map->values);
    memset(map->values, 0xff, slots * sizeof *map->values);
    for (size_t i = 0; i < old.slots; i++) {
        if (old.values[i] == MAP_ABSENT)
            continue;
        size_t slot = map_slot(map, old.keys[i]);
        map->keys[slot] = old.keys[i];
        map->values[slot] = old.values[i];
    }
    free(old.keys);
    free(old.values);
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
    if (map->count * 2 >= map->slots)
        map_rehash(map, map->slots ? map->slots * 2 : 64);
    size_t slot = map_slot(map, key);
    map->count += map->values[slot] == MAP_ABSENT;
    map->keys[slot] = key;
    map->values[slot] = value;
}

void map_release(struct map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct map){0};
}
