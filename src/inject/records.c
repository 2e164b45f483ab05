/* The library's own records, of things that CUPTI does not know: into slots, beside CUPTI's buffers.
 *
 * Threads spread over a few lanes, each with a slot and a lock of its own. With one lane, two threads that
 * add as fast as they can spend most of their time in each other's way; with a slot for every thread, a
 * process of many threads would need more slots than there are. */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/recorder.h"

static struct lane {
    _Alignas(64) pthread_mutex_t lock; /* lanes share no cache line */
    int slot;                          /* that records go to, or -1 */
    uint32_t bytes;                    /* used of it */
} lanes[] = {{.lock = PTHREAD_MUTEX_INITIALIZER, .slot = -1},
             {.lock = PTHREAD_MUTEX_INITIALIZER, .slot = -1},
             {.lock = PTHREAD_MUTEX_INITIALIZER, .slot = -1},
             {.lock = PTHREAD_MUTEX_INITIALIZER, .slot = -1}};

enum { LANES = sizeof lanes / sizeof *lanes };

static __thread struct {
    uint32_t thread; /* as the kernel numbers it; 0: not asked yet */
    uint32_t lane;
} self;

static void look_at_self(void)
{
    static _Atomic uint32_t next;
    self.thread = (uint32_t)syscall(SYS_gettid);
    self.lane = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % LANES;
}

uint32_t records_thread(void)
{
    if (self.thread == 0)
        look_at_self();
    return self.thread;
}

/* The caller holds the lane's lock. */
static void hand_over(struct recorder *r, struct lane *lane)
{
    if (lane->slot < 0 || lane->bytes == 0)
        return;
    struct ring_slot *slot = &r->ring->slots[lane->slot];
    slot->valid_bytes = lane->bytes;
    atomic_store_explicit(&slot->state, RING_SLOT_FULL, memory_order_release);
    lane->slot = -1;
    lane->bytes = 0;
}

/* Half-filled slots are given away only while there are many: else a collector that is held up for a second
 * would find all of them taken, and most of them empty. */
static bool slots_abound(struct recorder *r)
{
    int free = 0;
    for (int slot = 0; slot < RING_SLOTS; slot++)
        free += atomic_load_explicit(&r->ring->slots[slot].state, memory_order_relaxed) == RING_SLOT_FREE;
    return free >= RING_SLOTS / 2;
}

void records_flush(struct recorder *r)
{
    if (!slots_abound(r))
        return;
    for (int i = 0; i < LANES; i++) {
        pthread_mutex_lock(&lanes[i].lock);
        hand_over(r, &lanes[i]);
        pthread_mutex_unlock(&lanes[i].lock);
    }
}

void records_add(struct recorder *r, const void *record, size_t bytes)
{
    records_thread();
    struct lane *lane = &lanes[self.lane];
    pthread_mutex_lock(&lane->lock);
    if (lane->bytes + bytes > RING_SLOT_BYTES)
        hand_over(r, lane);
    if (lane->slot < 0)
        lane->slot = buffers_take_slot(r);
    if (lane->slot >= 0) {
        memcpy(ring_slot_data(r->ring, lane->slot) + lane->bytes, record, bytes);
        lane->bytes += (uint32_t)bytes;
        atomic_fetch_add_explicit(&r->ring->records, 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&r->ring->dropped_here, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lane->lock);
}

void records_lock(void)
{
    for (int i = 0; i < LANES; i++)
        pthread_mutex_lock(&lanes[i].lock);
}

void records_unlock(void)
{
    for (int i = LANES; i-- > 0;)
        pthread_mutex_unlock(&lanes[i].lock);
}

bool records_hold(int slot)
{
    for (int i = 0; i < LANES; i++)
        if (lanes[i].slot == slot)
            return true;
    return false;
}

void records_forget(void)
{
    for (int i = 0; i < LANES; i++) {
        lanes[i].slot = -1;
        lanes[i].bytes = 0;
    }
    self.thread = 0;
}
