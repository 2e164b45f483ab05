/* NVTX v3: the header in the application loads the library that NVTX_INJECTION64_PATH names and asks it to
 * fill in its function pointers. Ranges cost nothing until they end, and work before CUDA starts.
 *
 * Source: nvtxDetail/nvtxTypes.h and nvToolsExt.h of NVTX 3 (callback numbers, event attributes version 2).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/recorder.h"

#define EXPORT __attribute__((visibility("default")))

enum { NVTX_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { CORE_RANGE_PUSH_EX = 8, CORE_RANGE_PUSH_A = 9, CORE_RANGE_POP = 11 };
enum { CORE2_RANGE_PUSH_EX = 4, CORE2_RANGE_POP = 5, CORE2_REGISTER_STRING_A = 10, CORE2_CREATE_A = 12 };
enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };
enum { DEEPEST = 64 };

struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message; /* a registered string is the pointer that we handed out */
};

struct nvtx_callbacks {
    size_t size;
    int (*get_module)(int module, void ****table, unsigned *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

struct open_range {
    int64_t start;
    uint64_t name, domain;
};

static __thread struct {
    int depth; /* may exceed DEEPEST: the deeper ones are not kept */
    struct open_range at[DEEPEST];
} stack;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- ranges into slots ----------------------------------------------------------------------------------
 */

static void hand_over(struct recorder *r)
{
    if (r->range_slot < 0)
        return;
    struct ring_slot *slot = &r->ring->slots[r->range_slot];
    slot->valid_bytes = r->range_bytes;
    atomic_store_explicit(&slot->state, RING_SLOT_FULL, memory_order_release);
    r->range_slot = -1;
}

void nvtx_flush(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->range_bytes > 0)
        hand_over(r);
    r->range_bytes = 0;
    pthread_mutex_unlock(&r->lock);
}

static void add_range(struct recorder *r, const struct ring_range *range)
{
    pthread_mutex_lock(&r->lock);
    if (r->range_slot >= 0 && r->range_bytes + sizeof *range > RING_SLOT_BYTES) {
        hand_over(r);
        r->range_bytes = 0;
    }
    if (r->range_slot < 0)
        r->range_slot = buffers_take_slot(r);
    if (r->range_slot >= 0) {
        memcpy(ring_slot_data(r->ring, r->range_slot) + r->range_bytes, range, sizeof *range);
        r->range_bytes += (uint32_t)sizeof *range;
        atomic_fetch_add_explicit(&r->ring->records, 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&r->ring->dropped_here, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&r->lock);
}

/* ---- what applications call -----------------------------------------------------------------------------
 */

static int push(uint64_t domain, const char *name)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_relaxed))
        return -1;
    int depth = stack.depth++;
    if (depth < DEEPEST)
        stack.at[depth] =
            (struct open_range){.start = now_ns(), .name = texts_hash(r, name ? name : ""), .domain = domain};
    return depth;
}

static int pop(uint64_t domain)
{
    struct recorder *r = &recorder;
    if (stack.depth == 0 || atomic_load_explicit(&r->closed, memory_order_relaxed))
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
    struct open_range range = stack.at[at];
    memmove(&stack.at[at], &stack.at[at + 1], (size_t)(depth - at) * sizeof *stack.at);
    add_range(r, &(struct ring_range){.kind = RING_RANGE,
                                      .thread = (uint32_t)syscall(SYS_gettid),
                                      .start = range.start,
                                      .end = now_ns(),
                                      .name = range.name,
                                      .domain = range.domain});
    return depth;
}

static const char *message_of(const struct nvtx_attributes *attributes)
{
    if (!attributes)
        return "";
    bool readable =
        attributes->message_type == MESSAGE_ASCII || attributes->message_type == MESSAGE_REGISTERED;
    return readable ? attributes->message : "(wide text)";
}

static int range_push_a(const char *message)
{
    return push(0, message);
}

static int range_push_ex(const struct nvtx_attributes *attributes)
{
    return push(0, message_of(attributes));
}

static int range_pop(void)
{
    return pop(0);
}

/* Domains and registered strings are handles that we choose: a domain's is the key of its name, a string's is
 * a copy of it. Copies are never freed: applications register a handful and keep the handles for life. */
static void *domain_create_a(const char *name)
{
    return (void *)(uintptr_t)texts_hash(&recorder, name ? name : "");
}

static void *domain_register_string_a(void *domain, const char *text)
{
    (void)domain;
    return strdup(text ? text : "");
}

static int domain_range_push_ex(void *domain, const struct nvtx_attributes *attributes)
{
    return push((uint64_t)(uintptr_t)domain, message_of(attributes));
}

static int domain_range_pop(void *domain)
{
    return pop((uint64_t)(uintptr_t)domain);
}

static void set(void ***table, unsigned size, unsigned at, void *function)
{
    if (at < size && table[at])
        *table[at] = function;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id))
{
    const struct nvtx_callbacks *callbacks = get_export_table ? get_export_table(NVTX_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks || !recorder_open(&recorder))
        return 0;
    void ***table = NULL;
    unsigned size = 0;
    if (callbacks->get_module(NVTX_MODULE_CORE, &table, &size) && table) {
        set(table, size, CORE_RANGE_PUSH_EX, (void *)range_push_ex);
        set(table, size, CORE_RANGE_PUSH_A, (void *)range_push_a);
        set(table, size, CORE_RANGE_POP, (void *)range_pop);
    }
    if (callbacks->get_module(NVTX_MODULE_CORE2, &table, &size) && table) {
        set(table, size, CORE2_RANGE_PUSH_EX, (void *)domain_range_push_ex);
        set(table, size, CORE2_RANGE_POP, (void *)domain_range_pop);
        set(table, size, CORE2_REGISTER_STRING_A, (void *)domain_register_string_a);
        set(table, size, CORE2_CREATE_A, (void *)domain_create_a);
    }
    return 1;
}
