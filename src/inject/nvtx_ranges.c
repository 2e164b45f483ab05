/* Ranges and marks, from begin to record. A range that has begun lives in the ring file, so that it is known
 * what a target was doing when it died; its record is made when it ends. */
#include <string.h>

#include "inject/nvtx.h"

enum { DEEPEST = 64, NONE_KEPT = -1 };

static __thread struct {
    int depth; /* may exceed DEEPEST: the deeper ones are not kept */
    struct {
        uint64_t domain;
        int open; /* number in the ring, or NONE_KEPT: begun while the recording was paused */
    } at[DEEPEST];
    int hint; /* where the last one that this thread ended was */
} stack;

void nvtx_forget(void)
{
    stack.depth = 0;
}

bool nvtx_wanted(const struct recorder *r)
{
    return atomic_load_explicit(&r->ring->wanted, memory_order_relaxed) == RING_RECORD;
}

static void count_lost(struct recorder *r)
{
    atomic_fetch_add_explicit(&r->ring->dropped_here, 1, memory_order_relaxed);
}

/* ---- in the ring ----------------------------------------------------------------------------------------
 */

/* Memory for them is taken at the first range: most processes have none. */
static bool have_room(struct recorder *r)
{
    static _Atomic uint32_t ready; /* generation of the ring that has it */
    static uint32_t refused;
    uint32_t generation = r->generation;
    if (atomic_load_explicit(&ready, memory_order_acquire) == generation)
        return true;
    pthread_mutex_lock(&r->lock);
    if (atomic_load_explicit(&ready, memory_order_relaxed) != generation && refused != generation) {
        if (memory_back(ring_open(r->ring, 0), RING_OPEN_BYTES))
            atomic_store_explicit(&ready, generation, memory_order_release);
        else
            refused = generation;
    }
    pthread_mutex_unlock(&r->lock);
    return atomic_load_explicit(&ready, memory_order_acquire) == generation;
}

static int take_open(struct recorder *r)
{
    if (!have_room(r))
        return NONE_KEPT;
    for (int tries = 0; tries < RING_OPEN_RANGES; tries++) {
        int number = (stack.hint + tries) % RING_OPEN_RANGES;
        uint32_t expected = RING_OPEN_FREE;
        if (atomic_compare_exchange_strong_explicit(&ring_open(r->ring, number)->state, &expected,
                                                    RING_OPEN_TAKEN, memory_order_acquire,
                                                    memory_order_relaxed)) {
            stack.hint = number;
            return number;
        }
    }
    return NONE_KEPT;
}

static void describe(struct ring_payload_range *range, const struct nvtx_attributes *attributes)
{
    if (!attributes)
        return;
    range->range.category = attributes->category;
    if (attributes->payload_type == NVTX_PAYLOAD_SCHEMA && attributes->payload_count > 0) {
        nvtx_payload_take(range, (const struct nvtx_payload *)(uintptr_t)attributes->payload,
                          (size_t)attributes->payload_count);
    } else if (attributes->payload_type > 0 && attributes->payload_type <= RING_PAYLOAD_FLOAT) {
        range->range.payload_type = (uint32_t)attributes->payload_type;
        range->range.payload = attributes->payload;
    }
}

static struct ring_payload_range made(struct recorder *r, uint64_t domain, const char *text,
                                      const struct nvtx_attributes *attributes)
{
    struct ring_payload_range range = {.range = {.kind = RING_RANGE,
                                                 .thread = records_thread(),
                                                 .name = texts_hash(r, text ? text : ""),
                                                 .domain = domain}};
    describe(&range, attributes);
    range.range.start = recorder_now();
    return range;
}

/* Returns its number in the ring, or NONE_KEPT. */
static int begin(struct recorder *r, uint64_t domain, const char *text,
                 const struct nvtx_attributes *attributes)
{
    int number = take_open(r);
    if (number == NONE_KEPT) {
        count_lost(r);
        return NONE_KEPT;
    }
    struct ring_open *open = ring_open(r->ring, number);
    open->number++;
    open->range = made(r, domain, text, attributes);
    atomic_store_explicit(&open->state, RING_OPEN_BEGUN, memory_order_release);
    return number;
}

static void add(struct recorder *r, struct ring_payload_range *range)
{
    range->range.kind = range->bytes ? RING_PAYLOAD_RANGE : RING_RANGE;
    records_add(r, range, range->bytes ? sizeof *range : sizeof range->range);
}

/* Only ranges that were recorded from beginning to end are known. */
static void end(struct recorder *r, int number, uint32_t end_thread, const struct nvtx_payload *payloads,
                size_t count)
{
    struct ring_open *open = ring_open(r->ring, number);
    if (nvtx_wanted(r)) {
        struct ring_payload_range range = open->range;
        range.range.end = recorder_now();
        range.range.end_thread = end_thread;
        if (count)
            nvtx_payload_take(&range, payloads, count);
        add(r, &range);
    }
    stack.hint = number;
    atomic_store_explicit(&open->state, RING_OPEN_FREE, memory_order_release);
}

/* ---- of one thread --------------------------------------------------------------------------------------
 */

int nvtx_push(uint64_t domain, const char *text, const struct nvtx_attributes *attributes)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_acquire))
        return -1;
    int depth = stack.depth++;
    if (depth >= DEEPEST) {
        count_lost(r);
        return depth;
    }
    stack.at[depth].domain = domain;
    stack.at[depth].open = nvtx_wanted(r) ? begin(r, domain, text, attributes) : NONE_KEPT;
    return depth;
}

int nvtx_pop(uint64_t domain, const struct nvtx_payload *payloads, size_t count)
{
    struct recorder *r = &recorder;
    if (stack.depth == 0 || atomic_load_explicit(&r->closed, memory_order_acquire))
        return -1;
    int depth = --stack.depth;
    if (depth >= DEEPEST)
        return depth;
    /* Domains have stacks of their own: take the innermost range of this one. */
    int at = depth;
    while (at >= 0 && stack.at[at].domain != domain)
        at--;
    if (at < 0) {
        stack.depth++;
        return -1;
    }
    int open = stack.at[at].open;
    memmove(&stack.at[at], &stack.at[at + 1], (size_t)(depth - at) * sizeof *stack.at);
    if (open != NONE_KEPT)
        end(r, open, 0, payloads, count);
    return depth;
}

/* ---- of any thread --------------------------------------------------------------------------------------
 */

/* What the application holds: ring, use and place. 0 is no range. */
static uint64_t make_id(const struct recorder *r, int number)
{
    return (uint64_t)(r->generation & 0xffff) << 48 | (uint64_t)ring_open(r->ring, number)->number << 16 |
           (uint64_t)(number + 1);
}

uint64_t nvtx_start(uint64_t domain, const char *text, const struct nvtx_attributes *attributes)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_acquire) || !nvtx_wanted(r))
        return 0;
    int number = begin(r, domain, text, attributes);
    return number == NONE_KEPT ? 0 : make_id(r, number);
}

void nvtx_end(uint64_t domain, uint64_t id, const struct nvtx_payload *payloads, size_t count)
{
    struct recorder *r = &recorder;
    int number = (int)(id & 0xffff) - 1;
    (void)domain; /* the id says it all */
    if (number < 0 || number >= RING_OPEN_RANGES || atomic_load_explicit(&r->closed, memory_order_acquire) ||
        !have_room(r) || make_id(r, number) != id)
        return;
    uint32_t expected = RING_OPEN_BEGUN;
    if (atomic_compare_exchange_strong_explicit(&ring_open(r->ring, number)->state, &expected,
                                                RING_OPEN_TAKEN, memory_order_acquire, memory_order_relaxed))
        end(r, number, records_thread(), payloads, count);
}

void nvtx_mark(uint64_t domain, const char *text, const struct nvtx_attributes *attributes)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_acquire) || !nvtx_wanted(r))
        return;
    struct ring_payload_range mark = made(r, domain, text, attributes);
    mark.range.kind = RING_MARK;
    records_add(r, &mark.range, sizeof mark.range);
}
