/* NVTX v3: the header in the application loads the library that NVTX_INJECTION64_PATH names and asks it to
 * fill in its function pointers. Ranges cost nothing until they end, and work before CUDA starts.
 *
 * Source: nvtxDetail/nvtxTypes.h and nvToolsExt.h of NVTX 3 (callback numbers, event attributes version 2).
 */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "inject/nvtx.h"

enum { NVTX_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };
enum { NARROW_BYTES = 1024 };
/* Names of threads and categories that a ring takes: who names them in a loop must not fill the log. */
enum { MOST_NAMES = 4096 };

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

NVTX_EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id));

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

/* The name in a range's attributes; room is where a wide one is written to. */
static const char *text_of(const struct nvtx_attributes *attributes, char room[static NARROW_BYTES])
{
    if (!attributes || !attributes->message)
        return "";
    switch (attributes->message_type) {
    case MESSAGE_ASCII:
    case MESSAGE_REGISTERED:
        return attributes->message;
    case MESSAGE_WIDE:
        return narrow(room, attributes->message);
    default:
        return "";
    }
}

/* ---- the default domain ---------------------------------------------------------------------------------
 */

static void mark_ex(const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    nvtx_mark(0, text_of(attributes, room), attributes);
}

static void mark_a(const char *message)
{
    nvtx_mark(0, message, NULL);
}

static void mark_w(const wchar_t *message)
{
    char room[NARROW_BYTES];
    nvtx_mark(0, narrow(room, message), NULL);
}

static uint64_t range_start_ex(const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    return nvtx_start(0, text_of(attributes, room), attributes);
}

static uint64_t range_start_a(const char *message)
{
    return nvtx_start(0, message, NULL);
}

static uint64_t range_start_w(const wchar_t *message)
{
    char room[NARROW_BYTES];
    return nvtx_start(0, narrow(room, message), NULL);
}

static void range_end(uint64_t id)
{
    nvtx_end(0, id, NULL, 0);
}

static int range_push_ex(const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    return nvtx_push(0, text_of(attributes, room), attributes);
}

static int range_push_a(const char *message)
{
    return nvtx_push(0, message, NULL);
}

static int range_push_w(const wchar_t *message)
{
    char room[NARROW_BYTES];
    return nvtx_push(0, narrow(room, message), NULL);
}

static int range_pop(void)
{
    return nvtx_pop(0, NULL, 0);
}

/* ---- names ----------------------------------------------------------------------------------------------
 */

static void name(enum ring_text_kind kind, uint64_t key, const char *text)
{
    static _Atomic uint32_t generation, names;
    struct recorder *r = &recorder;
    if (!text || atomic_load_explicit(&r->closed, memory_order_acquire))
        return;
    if (atomic_exchange_explicit(&generation, r->generation, memory_order_relaxed) != r->generation)
        atomic_store_explicit(&names, 0, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&names, 1, memory_order_relaxed) < MOST_NAMES)
        texts_add(r, kind, key, text);
}

static void name_category_a(uint32_t category, const char *text)
{
    name(RING_TEXT_CATEGORY, ring_category_key(0, category), text);
}

static void name_category_w(uint32_t category, const wchar_t *text)
{
    char room[NARROW_BYTES];
    name_category_a(category, narrow(room, text));
}

static void name_thread_a(uint32_t thread, const char *text)
{
    name(RING_TEXT_THREAD, thread, text);
}

static void name_thread_w(uint32_t thread, const wchar_t *text)
{
    char room[NARROW_BYTES];
    name_thread_a(thread, narrow(room, text));
}

/* ---- domains --------------------------------------------------------------------------------------------
 */

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
uint64_t nvtx_domain_key(void *handle)
{
    struct recorder *r = &recorder;
    struct domain *domain = handle;
    if (!domain)
        return 0;
    if (atomic_load_explicit(&domain->generation, memory_order_acquire) != r->generation) {
        uint64_t key = texts_hash(r, domain->name);
        __atomic_store_n(&domain->key, key, __ATOMIC_RELAXED); /* the same in every thread */
        atomic_store_explicit(&domain->generation, r->generation, memory_order_release);
    }
    return __atomic_load_n(&domain->key, __ATOMIC_RELAXED);
}

static void domain_mark_ex(void *domain, const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    nvtx_mark(nvtx_domain_key(domain), text_of(attributes, room), attributes);
}

static uint64_t domain_range_start_ex(void *domain, const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    return nvtx_start(nvtx_domain_key(domain), text_of(attributes, room), attributes);
}

static void domain_range_end(void *domain, uint64_t id)
{
    nvtx_end(nvtx_domain_key(domain), id, NULL, 0);
}

static int domain_range_push_ex(void *domain, const struct nvtx_attributes *attributes)
{
    char room[NARROW_BYTES];
    return nvtx_push(nvtx_domain_key(domain), text_of(attributes, room), attributes);
}

static int domain_range_pop(void *domain)
{
    return nvtx_pop(nvtx_domain_key(domain), NULL, 0);
}

static void domain_name_category_a(void *domain, uint32_t category, const char *text)
{
    name(RING_TEXT_CATEGORY, ring_category_key(nvtx_domain_key(domain), category), text);
}

static void domain_name_category_w(void *domain, uint32_t category, const wchar_t *text)
{
    char room[NARROW_BYTES];
    domain_name_category_a(domain, category, narrow(room, text));
}

/* ---- what the header in the application asks for --------------------------------------------------------
 */

/* In the order of NvtxCallbackIdCore and NvtxCallbackIdCore2. NULL: left as it is, a function that does
 * nothing. */
static void *const core[] = {NULL,
                             (void *)mark_ex,
                             (void *)mark_a,
                             (void *)mark_w,
                             (void *)range_start_ex,
                             (void *)range_start_a,
                             (void *)range_start_w,
                             (void *)range_end,
                             (void *)range_push_ex,
                             (void *)range_push_a,
                             (void *)range_push_w,
                             (void *)range_pop,
                             (void *)name_category_a,
                             (void *)name_category_w,
                             (void *)name_thread_a,
                             (void *)name_thread_w};
static void *const core2[] = {NULL,
                              (void *)domain_mark_ex,
                              (void *)domain_range_start_ex,
                              (void *)domain_range_end,
                              (void *)domain_range_push_ex,
                              (void *)domain_range_pop,
                              NULL, /* resources are not recorded */
                              NULL,
                              (void *)domain_name_category_a,
                              (void *)domain_name_category_w,
                              (void *)domain_register_string_a,
                              (void *)domain_register_string_w,
                              (void *)domain_create_a,
                              (void *)domain_create_w};

static void fill(const struct nvtx_callbacks *callbacks, int module, void *const *functions, unsigned count)
{
    void ***table = NULL;
    unsigned size = 0;
    if (!callbacks->get_module(module, &table, &size) || !table)
        return;
    for (unsigned i = 0; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t id))
{
    const struct nvtx_callbacks *callbacks = get_export_table ? get_export_table(NVTX_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof *callbacks || !recorder_open(&recorder))
        return 0;
    fill(callbacks, NVTX_MODULE_CORE, core, sizeof core / sizeof *core);
    fill(callbacks, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}
