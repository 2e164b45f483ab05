#include <string.h>

#include "base/i18n.h"
#include "inject/recorder.h"

/* A name longer than this is cut: templates can be absurd. */
enum { LONGEST_TEXT = 16 << 10 };

enum { BACKED_AT_ONCE = 256 << 10 };

/* Is there memory behind the first bytes of the log? The caller holds the lock. */
static bool back_log(struct recorder *r, uint64_t bytes)
{
    while (r->text_backed < bytes) {
        if (!memory_back(ring_text_log(r->ring) + r->text_backed, BACKED_AT_ONCE))
            return false;
        r->text_backed += BACKED_AT_ONCE;
    }
    return true;
}

/* Returns the offset of the new entry, or UINT64_MAX if the log is full. The caller holds the lock. */
static uint64_t append(struct recorder *r, enum ring_text_kind kind, uint64_t key, const char *text,
                       uint32_t length)
{
    struct ring *ring = r->ring;
    uint64_t at = atomic_load_explicit(&ring->text_used, memory_order_relaxed);
    uint64_t size = ring_text_size(length);
    if (at + size > RING_TEXT_BYTES || !back_log(r, at + size)) {
        atomic_fetch_add_explicit(&ring->dropped_texts, 1, memory_order_relaxed);
        recorder_note(r, N_("there is no room left for names: some are missing"), "");
        return UINT64_MAX;
    }
    struct ring_text *entry = (struct ring_text *)(ring_text_log(ring) + at);
    *entry = (struct ring_text){.key = key, .kind = kind, .length = length};
    memcpy(entry + 1, text, length);
    /* The collector reads up to text_used: the entry is complete before it counts. */
    atomic_store_explicit(&ring->text_used, at + size, memory_order_release);
    return at;
}

void texts_add_bytes(struct recorder *r, enum ring_text_kind kind, uint64_t key, const void *bytes,
                     uint32_t length)
{
    pthread_mutex_lock(&r->lock);
    append(r, kind, key, bytes, length);
    pthread_mutex_unlock(&r->lock);
}

void texts_add(struct recorder *r, enum ring_text_kind kind, uint64_t key, const char *text)
{
    pthread_mutex_lock(&r->lock);
    append(r, kind, key, text, (uint32_t)strnlen(text, LONGEST_TEXT));
    pthread_mutex_unlock(&r->lock);
}

static bool same_text(struct ring *ring, uint64_t at, const char *text, uint32_t length)
{
    const struct ring_text *entry = (const struct ring_text *)(ring_text_log(ring) + at);
    return entry->length == length && memcmp(entry + 1, text, length) == 0;
}

void texts_add_pointer(struct recorder *r, uint64_t address)
{
    const char *text = (const char *)(uintptr_t)address;
    uint32_t length = (uint32_t)strnlen(text, LONGEST_TEXT);
    uint64_t hash = (address >> 4) * 0x9e3779b97f4a7c15u >> 20;
    pthread_mutex_lock(&r->lock);
    /* The table forgets when it is crowded: a text that is logged twice costs bytes, not correctness. */
    uint32_t slot = hash & (KNOWN_POINTERS - 1);
    for (int tries = 0; tries < 8 && r->pointers[slot] && r->pointers[slot] != address; tries++)
        slot = (slot + 1) & (KNOWN_POINTERS - 1);
    /* A module may be unloaded and another text come to lie at the same address. */
    if (r->pointers[slot] != address || !same_text(r->ring, r->entries[slot], text, length)) {
        uint64_t at = append(r, RING_TEXT_POINTER, address, text, length);
        if (at != UINT64_MAX) {
            r->pointers[slot] = address;
            r->entries[slot] = at;
        }
    }
    pthread_mutex_unlock(&r->lock);
}

/* Eight bytes at a time: this runs for every operator and range. Each step is one-to-one in what it adds. */
static uint64_t hash_of(const char *text, uint32_t length)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t hash = length * odd;
    for (uint32_t at = 0; at < length; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        uint32_t left = length - at;
        memcpy(&word, text + at, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    return hash * odd;
}

/* Where the key is, or where it should go. A hash that is there stands for its text for good. */
static uint32_t find_key(struct recorder *r, uint64_t key, bool *found)
{
    uint32_t slot = (uint32_t)(key >> 40) & (KNOWN_POINTERS - 1);
    for (int tries = 0; tries < 8; tries++, slot = (slot + 1) & (KNOWN_POINTERS - 1)) {
        uint64_t there = atomic_load_explicit(&r->pointers[slot], memory_order_acquire);
        *found = there == key;
        if (*found || there == 0)
            return slot;
    }
    *found = false;
    return slot;
}

uint64_t texts_hash(struct recorder *r, const char *text)
{
    uint32_t length = (uint32_t)strnlen(text, LONGEST_TEXT);
    /* 0 means none; no application has this bit in the addresses that share the table. */
    uint64_t key = hash_of(text, length) | 1ull << 63;
    if (atomic_load_explicit(&r->closed, memory_order_acquire))
        return key;
    bool found;
    find_key(r, key, &found);
    if (found)
        return key;
    pthread_mutex_lock(&r->lock);
    uint32_t slot = find_key(r, key, &found);
    if (!found) {
        uint64_t at = append(r, RING_TEXT_HASH, key, text, length);
        if (at != UINT64_MAX) {
            r->entries[slot] = at;
            atomic_store_explicit(&r->pointers[slot], key, memory_order_release);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return key;
}
