/* The one context of the injected library. Rules of the house it lives in: it never exits, aborts, prints or
 * blocks the application; it fails open and says why in the ring. */
#ifndef WARPLIGHT_INJECT_RECORDER_H
#define WARPLIGHT_INJECT_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "capture/ring.h"
#include "inject/cupti.h"

enum { KNOWN_POINTERS = 1 << 15 }; /* distinct texts that are remembered; a power of two */

/* What `record` asks the library for, in RING_ENV_OPTIONS. */
struct recorder_options {
    bool paused;       /* "paused": touch CUPTI only once the collector says so */
    bool graph_nodes;  /* "graph-nodes": a record for each node of a graph rather than for each launch */
    bool no_memory;    /* "no-memory": neither allocations nor the traffic of managed memory */
    bool torch_ops;    /* "torch-ops": PyTorch's operators */
    bool counters;     /* "counters": hardware counters of kernels, in place of activity */
    bool deep;         /* "deep": also in several passes */
    bool sampler;      /* "sampler": the warp sampler in place of counters */
    uint32_t launches; /* "launches=N": of each distinct kernel that are measured; 0: all of them */
    const char *words; /* all of them; "metric=NAME" and "deep=NAME" (more, for "deep") are read from it.
                          Never freed */
};

struct recorder {
    struct ring *ring; /* NULL: not recording */
    struct recorder_options options;
    struct cupti cupti;
    char *folder;        /* of the recording; never freed */
    int32_t pid;         /* that made the ring: after a fork, the parent's */
    uint32_t generation; /* counts the rings that a process and its forebears made; texts are known to one */
    _Atomic bool closed; /* after fork in the child, and at exit: touch nothing any more */
    pthread_mutex_t start; /* held while a ring is made */
    bool started;          /* or failed for good; guarded by start */
    /* Held while CUPTI is switched on or off or asked for what it has; a forked child makes it anew. It
     * guards the six below. */
    pthread_mutex_t turn;
    bool cuda;                       /* the driver has loaded us: CUPTI may be used */
    bool opened;                     /* CUPTI is open and has our buffers */
    bool recording;                  /* and is switched on */
    bool tried;                      /* to switch it on, since it was last wanted off */
    bool calls_named;                /* the log has the names of all API calls */
    bool counts_managed;             /* the traffic of managed memory is recorded, or could not be */
    _Atomic bool noted;              /* the ring has a sentence */
    _Atomic bool backed[RING_SLOTS]; /* the slot has memory behind it */
    /* Texts that the log holds: address → offset of its entry. Guarded by lock, which is never held while
     * CUPTI is called. */
    pthread_mutex_t lock;
    uint64_t text_backed; /* bytes of the log that have memory behind them; guarded by lock */
    _Atomic uint64_t
        pointers[KNOWN_POINTERS]; /* read without the lock for hashes: those mean one text only */
    uint64_t entries[KNOWN_POINTERS];
    _Atomic bool saw_managed; /* the program allocated managed memory */
};

/* inject.c: makes the ring of this process, once; in a child that was forked, one of its own. False: nothing
 * is to be recorded here. */
bool recorder_open(struct recorder *r);
/* Tells the user, through the ring, why not everything is recorded: why is a sentence marked with N_(),
 * detail what stands for {0} in it. The first one stays. */
void recorder_note(struct recorder *r, const char *why, const char *detail);
/* The clock of the library's own records: ns since the epoch. */
static inline int64_t recorder_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* options.c: of the environment. Words that it does not know are of a newer collector: they are left out. */
struct recorder_options options_read(const char *words);

/* activities.c: does what the collector wants (enum ring_wanted): switches CUPTI's recording on or off, once
 * the driver has loaded us. */
void activities_follow(struct recorder *r, uint32_t wanted);
/* Whether activities_follow() would switch it on. */
bool activities_will_start(struct recorder *r);
/* Has CUPTI hand over everything, if it records. The caller holds r->turn. */
void activities_flush(struct recorder *r);

/* counters.c: measures kernels with hardware counters, in place of activity. False: it cannot, and said why.
 */
bool counters_start(struct recorder *r);
/* Hands over what has been measured where no launch came for a while; wait: all of it. */
void counters_flush(struct recorder *r, bool all);
/* Measures no more. */
void counters_stop(struct recorder *r);
/* In the child of a fork: what there is belongs to the parent. */
void counters_forget(void);

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

/* allocations.c: selects what is recorded of memory, where all kinds are enabled, and undoes it. */
void allocations_enable(struct recorder *r);
void allocations_disable(struct recorder *r);
/* A buffer held the allocation of managed memory. */
void allocations_saw_managed(struct recorder *r);
/* Has the traffic of managed memory recorded once there is any. The caller holds r->turn. */
void allocations_look(struct recorder *r);

/* memory.c: gives a part of the ring memory, all zero. False where there is none: it must not be touched. */
bool memory_back(void *at, size_t bytes);

/* records.c: adds a record of the library itself, of the calling thread. Thread-safe. */
void records_add(struct recorder *r, const void *record, size_t bytes);
/* The calling thread's number. */
uint32_t records_thread(void);
/* Hands over to the collector what was added, unless it is behind: at the end it looks for itself. */
void records_flush(struct recorder *r);
/* Keeps every thread from adding. */
void records_lock(void);
void records_unlock(void);
/* With the lock held: does the slot hold such records? */
bool records_hold(int slot);
/* With the lock held: in the child of a fork the slots are the parent's. */
void records_forget(void);

/* nvtx.c: drops the calling thread's open ranges: in the child of a fork they are the parent's. */
void nvtx_forget(void);

/* torch.c: registers with PyTorch once it is there, if its operators are wanted, and takes leave when nothing
 * is recorded. Cheap: called now and then. */
void torch_follow(struct recorder *r);
/* Before the end: says so if operators were wanted and PyTorch was never there. */
void torch_finish(struct recorder *r);
/* Drops the calling thread's open operators: in the child of a fork they are the parent's. */
void torch_forget(void);

/* texts.c: appends to the ring's log. Thread-safe. */
void texts_add(struct recorder *r, enum ring_text_kind kind, uint64_t key, const char *text);
void texts_add_bytes(struct recorder *r, enum ring_text_kind kind, uint64_t key, const void *bytes,
                     uint32_t length);
/* The same, once for each distinct text at an address. */
void texts_add_pointer(struct recorder *r, uint64_t address);
/* Returns a key that stands for the text, logging it the first time if there is a ring. */
uint64_t texts_hash(struct recorder *r, const char *text);

extern struct recorder recorder;

#endif
