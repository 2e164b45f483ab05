/* CUPTI asks for buffers and gives them back. It asks on application threads: the answer is one
 * compare-and-swap. */
#include <stdlib.h>
#include <string.h>

#include "capture/activity.h"
#include "inject/recorder.h"

/* Where no slot is free and CUPTI cannot be refused: memory whose records are counted and thrown away. */
enum { DISCARD_BYTES = 256 << 10 };

int buffers_take_slot(struct recorder *r)
{
    uint32_t first = atomic_fetch_add_explicit(&r->next_slot, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < RING_SLOTS; i++) {
        uint32_t slot = (first + i) % RING_SLOTS;
        uint32_t expected = RING_SLOT_FREE;
        if (atomic_compare_exchange_strong_explicit(&r->ring->slots[slot].state, &expected, RING_SLOT_LENT,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return (int)slot;
    }
    return -1;
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    struct recorder *r = &recorder;
    *max_records = 0;
    int slot = atomic_load_explicit(&r->closed, memory_order_relaxed) ? -1 : buffers_take_slot(r);
    if (slot >= 0) {
        *buffer = ring_slot_data(r->ring, slot);
        *size = RING_SLOT_BYTES;
    } else if (r->ring->cupti_version >= CUPTI_MAY_REFUSE_BUFFERS) {
        *buffer = NULL;
        *size = 0;
    } else {
        *buffer = malloc(DISCARD_BYTES);
        *size = *buffer ? DISCARD_BYTES : 0;
    }
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
        if (previous && *(uint32_t *)previous < RING_KINDS)
            r->ring->record_bytes[*(uint32_t *)previous] = (uint32_t)((uint8_t *)record - previous);
        if (kind == ACTIVITY_KERNEL && ((struct activity_kernel *)record)->name)
            texts_add_pointer(r, ((struct activity_kernel *)record)->name);
        else if (kind == ACTIVITY_DEVICE && ((struct activity_device *)record)->name)
            texts_add_pointer(r, ((struct activity_device *)record)->name);
        previous = record;
        records++;
    }
    if (previous && *(uint32_t *)previous < RING_KINDS)
        r->ring->record_bytes[*(uint32_t *)previous] = (uint32_t)(buffer + valid - previous);
    return records;
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    struct recorder *r = &recorder;
    if (!buffer || !r->ring)
        return;
    int64_t offset = buffer - ring_slot_data(r->ring, 0);
    bool ours = offset >= 0 && offset < (int64_t)RING_SLOTS * RING_SLOT_BYTES;
    if (atomic_load_explicit(&r->closed, memory_order_relaxed))
        return; /* a forked child, or after the end: the memory may be anyone's */
    uint64_t records = look_through(r, buffer, valid);
    size_t dropped = 0;
    if (r->cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_OK && dropped)
        atomic_fetch_add_explicit(&r->ring->dropped_by_cupti, dropped, memory_order_relaxed);
    if (!ours) {
        atomic_fetch_add_explicit(&r->ring->dropped_here, records, memory_order_relaxed);
        free(buffer);
        return;
    }
    atomic_fetch_add_explicit(&r->ring->records, records, memory_order_relaxed);
    struct ring_slot *slot = &r->ring->slots[offset / RING_SLOT_BYTES];
    slot->valid_bytes = valid;
    atomic_store_explicit(&slot->state, valid ? RING_SLOT_FULL : RING_SLOT_FREE, memory_order_release);
}
