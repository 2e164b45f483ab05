/* Hashing of bytes and integers, and a map from 64-bit keys to 32-bit values. Not for adversarial denial of
 * service: keys are mixed with a fixed seed, tables stay at most half full. */
#ifndef WARPLIGHT_BASE_HASH_H
#define WARPLIGHT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t length);

static inline uint64_t hash_u64(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9u;
    return key ^ key >> 32;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return hash_u64(a ^ hash_u64(b + 0x632be59bd9b4e019u));
}

#define MAP_ABSENT UINT32_MAX

/* A zeroed struct is a valid empty map. Values below MAP_ABSENT only. */
struct map {
    uint64_t *keys;
    uint32_t *values;
    size_t count;
    size_t slots; /* power of two, or 0 */
};

/* Returns the value of key, or MAP_ABSENT. */
uint32_t map_get(const struct map *map, uint64_t key);
/* Sets key to value; an earlier value is replaced. */
void map_set(struct map *map, uint64_t key, uint32_t value);
void map_release(struct map *map);

#endif
