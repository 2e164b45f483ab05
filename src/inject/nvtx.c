/* NVTX v3: the header in the application loads the library that NVTX_INJECTION64_PATH names and asks it to
 * fill in its function pointers. Ranges cost nothing until they end, and work before CUDA starts.
 *
 * Source: nvtxDetail/nvtxTypes.h and nvToolsExt.h of NVTX 3 (callback numbers, event attributes version 2).
 */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "inject/recorder.h"

#define EXPORT __attribute__((visibility("default")))

enum { NVTX_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { CORE_RANGE_PUSH_EX = 8, CORE_RANGE_PUSH_A = 9, CORE_RANGE_PUSH_W = 10, CORE_RANGE_POP = 11 };
enum {
    CORE2_RANGE_PUSH_EX = 4,
    CORE2_RANGE_POP = 5,
    CORE2_REGISTER_STRING_A = 10,
    CORE2_REGISTER_STRING_W = 11,
    CORE2_CREATE_A = 12,
    CORE2_CREATE_W = 13
};
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { DEEPEST = 64, NARROW_BYTES = 1024 };

struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message; /* a registered string is the pointer that we handed out */
};

/* What the handle of a domain points to. Never freed: applications make a handful and keep them for life. */
struct domain {
    _Atomic uint32_t generation; /* of the ring that knows the name */
    uint64_t key;
    char name[];
};

struct nvtx_callbacks {
    size_t size;
    int (*get_module)(int module, void ****table, unsigned *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

struct open_range {
    int64_t start; /* 0: it was opened while the recording was paused */
    uint64_t name, domain;
};

static __thread struct {
    int depth; /* may exceed DEEPEST: the deeper ones are not kept */
    struct open_range at[DEEPEST];
} stack;

/* ---- what applications call -----------------------------------------------------------------------------
 */

void nvtx_forget(void)
{
    stack.depth = 0;
}

static bool wanted(const struct recorder *r)
{
    return atomic_load_explicit(&r->ring->wanted, memory_order_relaxed) == RING_RECORD;
}

static int push(uint64_t domain, const char *name)
{
    struct recorder *r = &recorder;
    if (atomic_load_explicit(&r->closed, memory_order_acquire))
        return -1;
    int depth = stack.depth++;
    if (depth < DEEPEST && !wanted(r))
        stack.at[depth] = (struct open_range){.domain = domain};
    else if (depth < DEEPEST)
        stack.at[depth] = (struct open_range){
            .start = recorder_now(), .name = texts_hash(r, name ? name : ""), .domain = domain};
    else
        atomic_fetch_add_explicit(&r->ring->dropped_here, 1, memory_order_relaxed);
    return depth;
}

static int pop(uint64_t domain)
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
    struct open_range range = stack.at[at];
    memmove(&stack.at[at], &stack.at[at + 1], (size_t)(depth - at) * sizeof *stack.at);
    if (range.start == 0 || !wanted(r))
        return depth; /* only ranges that were recorded from beginning to end are known */
    struct ring_range record = {.kind = RING_RANGE,
                                .thread = records_thread(),
                                .start = range.start,
                                .end = recorder_now(),
                                .name = range.name,
                                .domain = range.domain};
    records_add(r, &record, sizeof record);
    return depth;
}

/* UTF-8 of a wide text, cut where the room ends. The C library's own would heed the application's locale. */
static const char *narrow(char out[static NARROW_BYTES], const wchar_t *wide)
{
    size_t length = 0;
    for (; wide && *wide && length + 4 < NARROW_BYTES; wide++) {
        uint32_t c = (uint32_t)*wide;
        int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
        if (c > 0x10ffff)
            continue;
        out[length++] = (char)(first[more] | c >> (6 * more));
        while (more-- > 0)
            out[length++] = (char)(0x80 | (c >> (6 * more) & 0x3f));
    }
    out[length] = '\0';
    return out;
}

static int push_ex(uint64_t domain, const struct nvtx_attributes *attributes)
{
    char text[NARROW_BYTES];
    if (!attributes)
        return push(domain, "");
    switch (attributes->message_type) {
    case MESSAGE_ASCII:
    case MESSAGE_REGISTERED:
        return push(domain, attributes->message);
    case MESSAGE_WIDE:
        return push(domain, narrow(text, attributes->message));
    default:
        return push(domain, "");
    }
}

static int range_push_a(const char *message)
{
    return push(0, message);
}

static int range_push_w(const wchar_t *message)
{
    char text[NARROW_BYTES];
    return push(0, narrow(text, message));
}

static int range_push_ex(const struct nvtx_attributes *attributes)
{
    return push_ex(0, attributes);
}

static int range_pop(void)
{
    return pop(0);
}

static void *domain_create_a(const char *name)
{
    size_t length = strlen(name ? name : "");
    struct domain *domain = calloc(1, sizeof *domain + length + 1);
    if (domain && name)
        memcpy(domain->name, name, length);
    return domain; /* without memory, the default domain */
}

static void *domain_create_w(const wchar_t *name)
{
    char text[NARROW_BYTES];
    return domain_create_a(narrow(text, name));
}

/* The handle of a string is a copy of it, never freed either. */
static void *domain_register_string_a(void *domain, const char *text)
{
    (void)domain;
    return strdup(text ? text : "");
}

static void *domain_register_string_w(void *domain, const wchar_t *wide)
{
    char text[NARROW_BYTES];
    return domain_register_string_a(domain, narrow(text, wide));
}

/* Its name is logged when it is used, once a ring: a child that was forked has another ring. */
static uint64_t key_of(struct domain *domain)
{
    struct recorder *r = &recorder;
    if (!domain)
        return 0;
    if (atomic_load_explicit(&domain->generation, memory_order_acquire) != r->generation) {
        uint64_t key = texts_hash(r, domain->name);
        __atomic_store_n(&domain->key, key, __ATOMIC_RELAXED); /* the same in every thread */
        atomic_store_explicit(&domain->generation, r->generation, memory_order_release);
    }
    return __atomic_load_n(&domain->key, __ATOMIC_RELAXED);
}

static int domain_range_push_ex(void *domain, const struct nvtx_attributes *attributes)
{
    return push_ex(key_of(domain), attributes);
}

static int domain_range_pop(void *domain)
{
    return pop(key_of(domain));
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
        set(table, size, CORE_RANGE_PUSH_W, (void *)range_push_w);
        set(table, size, CORE_RANGE_POP, (void *)range_pop);
    }
    if (callbacks->get_module(NVTX_MODULE_CORE2, &table, &size) && table) {
        set(table, size, CORE2_RANGE_PUSH_EX, (void *)domain_range_push_ex);
        set(table, size, CORE2_RANGE_POP, (void *)domain_range_pop);
        set(table, size, CORE2_REGISTER_STRING_A, (void *)domain_register_string_a);
        set(table, size, CORE2_REGISTER_STRING_W, (void *)domain_register_string_w);
        set(table, size, CORE2_CREATE_A, (void *)domain_create_a);
        set(table, size, CORE2_CREATE_W, (void *)domain_create_w);
    }
    return 1;
}
