/* CUPTI asks for buffers and gives them back. It asks on application threads: the answer is one
 * compare-and-swap. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "capture/activity.h"
#include "inject/recorder.h"

/* Where no slot is free and CUPTI cannot be refused: memory whose records are counted and thrown away. */
enum { DISCARD_BYTES = 256 << 10 };

static int take(struct recorder *r, bool backed, enum ring_slot_state as)
{
    for (int slot = 0; slot < RING_SLOTS; slot++) {
        uint32_t expected = RING_SLOT_FREE;
        if (atomic_load_explicit(&r->backed[slot], memory_order_acquire) == backed &&
            atomic_compare_exchange_strong_explicit(&r->ring->slots[slot].state, &expected, as,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return slot;
    }
    return -1;
}

/* The lowest ones first: what a process never needs takes no memory. */
static int take_new(struct recorder *r)
{
    int slot = take(r, false, RING_SLOT_BACKING);
    if (slot < 0)
        return -1;
    /* Another thread may have backed it between the two looks of take(): then this costs a little time. */
    if (memory_back(ring_slot_data(r->ring, slot), RING_SLOT_BYTES)) {
        atomic_store_explicit(&r->backed[slot], true, memory_order_release);
        atomic_store_explicit(&r->ring->slots[slot].state, RING_SLOT_LENT, memory_order_release);
        return slot;
    }
    atomic_store_explicit(&r->ring->slots[slot].state, RING_SLOT_FREE, memory_order_release);
    recorder_note(
        r, N_("there is no memory left for the recording buffers (the disk that holds them is full)"), "");
    return -1;
}

int buffers_take_slot(struct recorder *r)
{
    int slot = take(r, true, RING_SLOT_LENT);
    slot = slot >= 0 ? slot : take_new(r);
    if (slot >= 0)
        atomic_fetch_add_explicit(&r->ring->slots[slot].lent, 1, memory_order_relaxed);
    return slot;
}

void buffers_prepare(struct recorder *r)
{
    for (int slot = 0; slot < RING_SLOTS; slot++)
        if (atomic_load_explicit(&r->backed[slot], memory_order_relaxed) &&
            atomic_load_explicit(&r->ring->slots[slot].state, memory_order_relaxed) == RING_SLOT_FREE)
            return;
    int slot = take_new(r);
    if (slot >= 0)
        atomic_store_explicit(&r->ring->slots[slot].state, RING_SLOT_FREE, memory_order_release);
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    struct recorder *r = &recorder;
    *max_records = 0;
    int slot = atomic_load_explicit(&r->closed, memory_order_acquire) ? -1 : buffers_take_slot(r);
    if (slot >= 0) {
        *buffer = ring_slot_data(r->ring, slot);
        *size = RING_SLOT_BYTES;
    } else if (r->cupti.version >= CUPTI_MAY_REFUSE_BUFFERS) {
        *buffer = NULL;
        *size = 0;
    } else {
        *buffer = malloc(DISCARD_BYTES);
        *size = *buffer ? DISCARD_BYTES : 0;
    }
}

static void note_size(struct recorder *r, uint32_t kind, ptrdiff_t size)
{
    if (kind < RING_KINDS &&
        atomic_load_explicit(&r->ring->record_bytes[kind], memory_order_relaxed) != (uint32_t)size)
        atomic_store_explicit(&r->ring->record_bytes[kind], (uint32_t)size, memory_order_relaxed);
}

/* The distance between two records in a buffer that is made up. Known before the first buffer comes back, it
 * lets the collector read what a target that was killed had not handed over. */
void buffers_learn_sizes(struct recorder *r)
{
    static const uint32_t kinds[] = {
        ACTIVITY_MEMCPY, ACTIVITY_MEMSET,      ACTIVITY_DRIVER, ACTIVITY_RUNTIME,  ACTIVITY_DEVICE,
        ACTIVITY_KERNEL, ACTIVITY_MEMCPY_P2P,  ACTIVITY_GRAPH,  ACTIVITY_OVERHEAD, ACTIVITY_SYNCHRONIZATION,
        ACTIVITY_MEMORY, ACTIVITY_MEMORY_POOL, ACTIVITY_MANAGED};
    union {
        uint64_t align;
        uint32_t words[256];
        uint8_t bytes[1024];
    } made_up;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t word = 0; word < sizeof made_up.words / sizeof *made_up.words; word++)
            made_up.words[word] = kinds[i]; /* wherever the second record begins, this is its kind */
        void *record = NULL;
        if (r->cupti.ActivityGetNextRecord(made_up.bytes, sizeof made_up.bytes, &record) != CUPTI_OK ||
            record != made_up.bytes ||
            r->cupti.ActivityGetNextRecord(made_up.bytes, sizeof made_up.bytes, &record) != CUPTI_OK)
            continue;
        ptrdiff_t size = (uint8_t *)record - made_up.bytes;
        if (size > 0 && size < (ptrdiff_t)sizeof made_up.bytes)
            note_size(r, kinds[i], size);
    }
}

/* How many of the slots that were lent under these numbers are still out. */
static int still_lent(struct recorder *r, const uint32_t lent[RING_SLOTS])
{
    int count = 0;
    for (int slot = 0; slot < RING_SLOTS; slot++) {
        struct ring_slot *s = &r->ring->slots[slot];
        /* Asked after the state: a slot that was lent again meanwhile has another number. */
        count +=
            lent[slot] && atomic_load(&s->state) == RING_SLOT_LENT && atomic_load(&s->lent) == lent[slot];
    }
    return count;
}

/* In good order CUPTI gives slots back that it had before. Where none comes, another profiler in the process
 * has registered callbacks of its own and gets them. A thread may be on the way with one, though: they are
 * given a moment. */
void buffers_flush_all(struct recorder *r)
{
    static const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    uint32_t lent[RING_SLOTS];
    int count = 0;
    records_lock(); /* the library's own records have slots, too */
    for (int slot = 0; slot < RING_SLOTS; slot++) {
        struct ring_slot *s = &r->ring->slots[slot];
        bool held = !records_hold(slot) && atomic_load(&s->state) == RING_SLOT_LENT;
        lent[slot] = held ? atomic_load(&s->lent) : 0;
        count += held;
    }
    records_unlock();
    r->cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
    if (count == 0 || still_lent(r, lent) < count)
        return;
    nanosleep(&moment, NULL);
    if (still_lent(r, lent) == count)
        atomic_store(&r->ring->taken_over, 1);
}

void buffers_count_dropped(struct recorder *r, void *context, uint32_t stream)
{
    size_t dropped = 0;
    if (r->cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_OK && dropped)
        atomic_fetch_add_explicit(&r->ring->dropped_by_cupti, dropped, memory_order_relaxed);
}

static bool is_managed(uint32_t memory)
{
    return memory == ACTIVITY_MEM_MANAGED || memory == ACTIVITY_MEM_MANAGED_STATIC;
}

/* Reads what the collector cannot see: the texts that records point to, and how long records are in this
 * version. */
static uint64_t look_through(struct recorder *r, uint8_t *buffer, size_t valid)
{
    uint64_t records = 0;
    uint8_t *previous = NULL;
    void *record = NULL;
    while (r->cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK) {
        uint32_t kind = *(uint32_t *)record;
        if (previous)
            note_size(r, *(uint32_t *)previous, (uint8_t *)record - previous);
        if (kind == ACTIVITY_KERNEL && ((struct activity_kernel *)record)->name)
            texts_add_pointer(r, ((struct activity_kernel *)record)->name);
        else if (kind == ACTIVITY_MEMORY && is_managed(((struct activity_memory *)record)->memory))
            allocations_saw_managed(r);
        else if (kind == ACTIVITY_DEVICE && ((struct activity_device *)record)->name)
            texts_add_pointer(r, ((struct activity_device *)record)->name);
        previous = record;
        records++;
    }
    if (previous)
        note_size(r, *(uint32_t *)previous, buffer + valid - previous);
    return records;
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    struct recorder *r = &recorder;
    if (!buffer || atomic_load_explicit(&r->closed, memory_order_acquire))
        return; /* a forked child, or after the end: the memory may be anyone's */
    int64_t offset = (int64_t)((uintptr_t)buffer - (uintptr_t)ring_slot_data(r->ring, 0));
    bool ours = offset >= 0 && offset < (int64_t)RING_SLOTS * RING_SLOT_BYTES;
    if (ours) /* who flushes meanwhile sees that it is on its way */
        atomic_fetch_add_explicit(&r->ring->slots[offset / RING_SLOT_BYTES].lent, 1, memory_order_acq_rel);
    uint64_t records = look_through(r, buffer, valid);
    buffers_count_dropped(r, context, stream);
    if (!ours) {
        atomic_fetch_add_explicit(&r->ring->dropped_here, records, memory_order_relaxed);
        free(buffer);
        return;
    }
    atomic_fetch_add_explicit(&r->ring->records, records, memory_order_relaxed);
    struct ring_slot *slot = &r->ring->slots[offset / RING_SLOT_BYTES];
    slot->valid_bytes = valid;
    slot->text_bytes = atomic_load_explicit(&r->ring->text_used, memory_order_relaxed);
    atomic_store_explicit(&slot->state, valid ? RING_SLOT_FULL : RING_SLOT_FREE, memory_order_release);
}
