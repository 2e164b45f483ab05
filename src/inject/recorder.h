/* The one context of the injected library. Rules of the house it lives in: it never exits, aborts, prints or
 * blocks the application; it fails open and says why in the ring. */
#ifndef WARPLIGHT_INJECT_RECORDER_H
#define WARPLIGHT_INJECT_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "capture/ring.h"
#include "inject/cupti.h"

enum { KNOWN_POINTERS = 1 << 15 }; /* distinct texts that are remembered; a power of two */

struct recorder {
    struct ring *ring; /* NULL: not recording */
    struct cupti cupti;
    _Atomic bool closed; /* after fork in the child, and at exit: touch nothing any more */
    _Atomic uint32_t next_slot;
    /* Texts that the log holds: address → offset of its entry. Guarded by lock, which is never held while
     * CUPTI is called. */
    pthread_mutex_t lock;
    uint64_t pointers[KNOWN_POINTERS];
    uint64_t entries[KNOWN_POINTERS];
    int range_slot;       /* slot that NVTX ranges go to, or -1; guarded by lock */
    uint32_t range_bytes; /* used of it */
};

/* inject.c: makes the ring of this process, once. False: nothing is to be recorded here. */
bool recorder_open(struct recorder *r);

/* buffers.c: CUPTI's callbacks. */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

int buffers_take_slot(struct recorder *r);

/* nvtx.c: hands the ranges that have ended over to the collector. */
void nvtx_flush(struct recorder *r);

/* texts.c: appends to the ring's log. Thread-safe. */
void texts_add(struct recorder *r, enum ring_text_kind kind, uint64_t key, const char *text);
/* The same, once for each distinct text at an address. */
void texts_add_pointer(struct recorder *r, uint64_t address);
/* Returns a key that stands for the text, logging it the first time. */
uint64_t texts_hash(struct recorder *r, const char *text);

extern struct recorder recorder;

#endif
