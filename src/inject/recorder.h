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

/* What `record` asks the library for, in RING_ENV_OPTIONS. */
struct recorder_options {
    bool paused;      /* "paused": touch CUPTI only once the collector says so */
    bool graph_nodes; /* "graph-nodes": a record for each node of a graph rather than for each launch */
    bool torch_ops;   /* "torch-ops": PyTorch's operators */
};

struct recorder {
    struct ring *ring; /* NULL: not recording */
    struct recorder_options options;
    struct cupti cupti;
    int32_t pid;         /* that made the ring: after a fork, the parent's */
    uint32_t generation; /* counts the rings that a process and its forebears made; texts are known to one */
    _Atomic bool closed; /* after fork in the child, and at exit: touch nothing any more */
    pthread_mutex_t start;           /* held while a ring is made */
    bool started;                    /* or failed for good; guarded by start */
    _Atomic bool noted;              /* the ring has a sentence */
    _Atomic bool backed[RING_SLOTS]; /* the slot has memory behind it */
    /* Texts that the log holds: address → offset of its entry. Guarded by lock, which is never held while
     * CUPTI is called. */
    pthread_mutex_t lock;
    uint64_t text_backed; /* bytes of the log that have memory behind them; guarded by lock */
    uint64_t pointers[KNOWN_POINTERS];
    uint64_t entries[KNOWN_POINTERS];
    int range_slot;       /* slot that NVTX ranges go to, or -1; guarded by lock */
    uint32_t range_bytes; /* used of it */
};

/* inject.c: makes the ring of this process, once; in a child that was forked, one of its own. False: nothing
 * is to be recorded here. */
bool recorder_open(struct recorder *r);
/* Tells the user, through the ring, why not everything is recorded. The first sentence stays. */
void recorder_note(struct recorder *r, const char *why);

/* options.c: of the environment. Words that it does not know are of a newer collector: they are left out. */
struct recorder_options options_read(const char *words);

/* buffers.c: CUPTI's callbacks. */
void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Lends a slot that has memory behind it. Returns -1 if there is none. */
int buffers_take_slot(struct recorder *r);
/* Keeps a free slot with memory behind it ready, so that no application thread waits for the kernel. */
void buffers_prepare(struct recorder *r);
/* Asks CUPTI itself how long records of a kind are. */
void buffers_learn_sizes(struct recorder *r);
/* Has CUPTI hand over everything, and looks whether it does. */
void buffers_flush_all(struct recorder *r);
/* Adds what CUPTI dropped since it was last asked. */
void buffers_count_dropped(struct recorder *r, void *context, uint32_t stream);

/* memory.c: gives a part of the ring memory, all zero. False where there is none: it must not be touched. */
bool memory_back(void *at, size_t bytes);

/* nvtx.c: hands the ranges that have ended over to the collector. */
void nvtx_flush(struct recorder *r);
/* Drops the calling thread's open ranges: in the child of a fork they are the parent's. */
void nvtx_forget(void);

/* texts.c: appends to the ring's log. Thread-safe. */
void texts_add(struct recorder *r, enum ring_text_kind kind, uint64_t key, const char *text);
/* The same, once for each distinct text at an address. */
void texts_add_pointer(struct recorder *r, uint64_t address);
/* Returns a key that stands for the text, logging it the first time if there is a ring. */
uint64_t texts_hash(struct recorder *r, const char *text);

extern struct recorder recorder;

#endif
