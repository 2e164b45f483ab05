/* NVTX payloads: what a schema says lies in the bytes that a range carries. The bytes go into the range's
 * record and the schema into the log, once; the collector puts the two together.
 *
 * Kept are plain numbers of the first bytes. Arrays, texts and nested schemas are left out.
 *
 * Source: nvToolsExtPayload.h and nvtxDetail/nvtxExtTypes.h of NVTX 3.1 and 3.2 (compatibility ids 0x103,
 * 0x104). */
#include <string.h>

#include "inject/nvtx.h"

struct nvtx_schema_entry { /* nvtxPayloadSchemaEntry_t */
    uint64_t flags, type;
    const char *name, *description;
    uint64_t array_or_union_detail, offset;
    const void *semantics, *reserved;
};

struct nvtx_schema { /* nvtxPayloadSchemaAttr_t, up to what both versions have */
    uint64_t field_mask;
    const char *name;
    uint64_t type, flags;
    const struct nvtx_schema_entry *entries;
    size_t entry_count, static_size, pack_align;
    uint64_t id;
};
enum {
    SCHEMA_ENTRIES = 1 << 4,
    SCHEMA_ENTRY_COUNT = 1 << 5,
    SCHEMA_STATIC_SIZE = 1 << 6,
    SCHEMA_ID = 1 << 8,
    ENTRY_IS_SPECIAL = 0x7e /* pointers, offsets and arrays */
};

struct nvtx_enum { /* nvtxPayloadEnumAttr_t */
    uint64_t field_mask;
    const char *name;
    const void *entries;
    size_t entry_count, bytes;
    uint64_t id;
};
enum { ENUM_BYTES = 1 << 4, ENUM_ID = 1 << 5 };

struct nvtx_segment { /* nvtxExtModuleSegment_t */
    size_t id, count;
    intptr_t *functions;
};
struct nvtx_module { /* nvtxExtModuleInfo_t */
    uint16_t version, size, id, compatibility;
    size_t segment_count;
    struct nvtx_segment *segments;
};
enum { NVTX_MODULE_PAYLOAD = 2 };

NVTX_EXPORT int InitializeInjectionNvtxExtension(struct nvtx_module *module);

/* Sizes of the types that are plain numbers; signed ones negative. */
static const int8_t number_bytes[] = {
    [1] = -1,  [2] = 1,  [3] = -2,  [4] = 2,  [5] = -4,  [6] = 4,  [7] = -8,  [8] = 8,  [9] = -8, [10] = 8,
    [11] = -1, [12] = 1, [13] = -2, [14] = 2, [15] = -4, [16] = 4, [17] = -8, [18] = 8, [22] = 8, [23] = 8};
enum { TYPE_FLOAT = 19, TYPE_DOUBLE = 20, TYPE_FLOAT32 = 43, TYPE_FLOAT64 = 44 };

enum { MOST_SCHEMAS = 256, FIRST_DYNAMIC_ID_BIT = 32 };

/* Schemas and enumerations that the application registered, for good. Added to under the recorder's lock,
 * which no fork finds in the middle; read without. */
static struct {
    _Atomic int count;
    struct {
        uint64_t key;
        uint32_t bytes; /* of a payload, 0 unknown */
        bool is_enum;
    } at[MOST_SCHEMAS];
} known;

/* Returns -1 where there is none. */
static int find(uint64_t key)
{
    int count = atomic_load_explicit(&known.count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (known.at[i].key == key)
            return i;
    return -1;
}

static bool remember(struct recorder *r, uint64_t key, uint32_t bytes, bool is_enum)
{
    pthread_mutex_lock(&r->lock);
    int count = atomic_load_explicit(&known.count, memory_order_relaxed);
    bool room = find(key) < 0 && count < MOST_SCHEMAS;
    if (room) {
        known.at[count].key = key;
        known.at[count].bytes = bytes;
        known.at[count].is_enum = is_enum;
        atomic_store_explicit(&known.count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&r->lock);
    return room;
}

static uint32_t bytes_of(uint64_t key, bool is_enum)
{
    int at = find(key);
    return at >= 0 && known.at[at].is_enum == is_enum ? known.at[at].bytes : 0;
}

/* Fills what kind of number an entry is; false for all else. */
static bool number_of(uint64_t domain, uint64_t type, struct ring_schema_entry *out)
{
    if (type == TYPE_FLOAT || type == TYPE_DOUBLE || type == TYPE_FLOAT32 || type == TYPE_FLOAT64) {
        out->is_float = 1;
        out->bytes = type == TYPE_FLOAT || type == TYPE_FLOAT32 ? 4 : 8;
    } else if (type < sizeof number_bytes) {
        int8_t bytes = number_bytes[type];
        out->is_signed = bytes < 0;
        out->bytes = (uint16_t)(bytes < 0 ? -bytes : bytes);
    } else {
        out->bytes = (uint16_t)bytes_of(ring_schema_key(domain, type), true);
    }
    return out->bytes == 1 || out->bytes == 2 || out->bytes == 4 || out->bytes == 8;
}

/* Entries after one whose size is not known have no place, unless they say it. */
static void keep_entries(uint64_t domain, const struct nvtx_schema *schema, struct ring_schema *kept)
{
    uint64_t next = 0;
    bool placed = true;
    for (size_t i = 0; i < schema->entry_count && kept->count < RING_SCHEMA_ENTRIES; i++) {
        const struct nvtx_schema_entry *entry = &schema->entries[i];
        struct ring_schema_entry number = {0};
        bool is_number = !(entry->flags & ENTRY_IS_SPECIAL) && number_of(domain, entry->type, &number);
        if (!is_number) {
            placed = false;
            continue;
        }
        uint64_t align =
            schema->pack_align && schema->pack_align < number.bytes ? schema->pack_align : number.bytes;
        uint64_t offset = entry->offset ? entry->offset : (next + align - 1) / align * align;
        if ((!placed && entry->offset == 0) || offset > (uint64_t)RING_PAYLOAD_BYTES - number.bytes)
            continue;
        placed = true;
        next = offset + number.bytes;
        number.offset = (uint32_t)offset;
        if (entry->name)
            memcpy(number.name, entry->name, strnlen(entry->name, sizeof number.name - 1));
        kept->entries[kept->count++] = number;
    }
}

static uint64_t schema_register(void *domain, const struct nvtx_schema *schema)
{
    static _Atomic uint64_t dynamic;
    struct recorder *r = &recorder;
    const uint64_t needed = SCHEMA_ENTRIES | SCHEMA_ENTRY_COUNT;
    if (!schema || (schema->field_mask & needed) != needed || !schema->entries)
        return 0;
    uint64_t id = schema->field_mask & SCHEMA_ID
                      ? schema->id
                      : (UINT64_C(1) << FIRST_DYNAMIC_ID_BIT) + atomic_fetch_add(&dynamic, 1);
    if (atomic_load_explicit(&r->closed, memory_order_acquire))
        return id;
    uint64_t domain_key = nvtx_domain_key(domain), key = ring_schema_key(domain_key, id);
    size_t bytes = schema->field_mask & SCHEMA_STATIC_SIZE ? schema->static_size : 0;
    struct ring_schema kept = {0};
    keep_entries(domain_key, schema, &kept);
    if (kept.count > 0 && remember(r, key, bytes < UINT32_MAX ? (uint32_t)bytes : 0, false))
        texts_add_bytes(
            r, RING_TEXT_SCHEMA, key, &kept,
            (uint32_t)(offsetof(struct ring_schema, entries) + kept.count * sizeof kept.entries[0]));
    return id;
}

static uint64_t enum_register(void *domain, const struct nvtx_enum *list)
{
    const uint64_t needed = ENUM_BYTES | ENUM_ID;
    if (!list || (list->field_mask & needed) != needed || list->bytes > sizeof(uint64_t))
        return 0;
    if (!atomic_load_explicit(&recorder.closed, memory_order_acquire))
        remember(&recorder, ring_schema_key(nvtx_domain_key(domain), list->id), (uint32_t)list->bytes, true);
    return list->id;
}

void nvtx_payload_take(struct ring_payload_range *range, const struct nvtx_payload *payloads, size_t count)
{
    enum { MOST_PAYLOADS = 16 };
    for (size_t i = 0; payloads && i < count && i < MOST_PAYLOADS; i++) {
        uint64_t key = ring_schema_key(range->range.domain, payloads[i].schema);
        uint32_t usual = bytes_of(key, false);
        size_t bytes = payloads[i].size == SIZE_MAX ? usual : payloads[i].size;
        if (!payloads[i].data || bytes == 0 || (usual == 0 && payloads[i].size == SIZE_MAX))
            continue;
        range->schema = key;
        range->bytes = bytes < RING_PAYLOAD_BYTES ? (uint32_t)bytes : RING_PAYLOAD_BYTES;
        memcpy(range->data, payloads[i].data, range->bytes);
        return;
    }
}

/* ---- what the header in the application asks for --------------------------------------------------------
 */

static void mark_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
    (void)payloads, (void)count;
    nvtx_mark(nvtx_domain_key(domain), NULL, NULL);
}

static struct nvtx_attributes with(const struct nvtx_payload *payloads, size_t count)
{
    return (struct nvtx_attributes){.payload_type = NVTX_PAYLOAD_SCHEMA,
                                    .payload_count = count < INT32_MAX ? (int32_t)count : INT32_MAX,
                                    .payload = (uint64_t)(uintptr_t)payloads};
}

static int push_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
    struct nvtx_attributes attributes = with(payloads, count);
    return nvtx_push(nvtx_domain_key(domain), NULL, &attributes);
}

static int pop_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
    return nvtx_pop(nvtx_domain_key(domain), payloads, count);
}

static uint64_t start_payload(void *domain, const struct nvtx_payload *payloads, size_t count)
{
    struct nvtx_attributes attributes = with(payloads, count);
    return nvtx_start(nvtx_domain_key(domain), NULL, &attributes);
}

static void end_payload(void *domain, uint64_t id, const struct nvtx_payload *payloads, size_t count)
{
    nvtx_end(nvtx_domain_key(domain), id, payloads, count);
}

static uint8_t domain_is_enabled(void *domain)
{
    (void)domain;
    return 1;
}

int InitializeInjectionNvtxExtension(struct nvtx_module *module)
{
    /* In the order of NVTX3EXT_CBID_nvtxPayloadSchemaRegister and following. */
    static void *const functions[] = {
        (void *)schema_register, (void *)enum_register, (void *)mark_payload, (void *)push_payload,
        (void *)pop_payload,     (void *)start_payload, (void *)end_payload,  (void *)domain_is_enabled};
    if (!module || module->size < sizeof *module || module->id != NVTX_MODULE_PAYLOAD ||
        module->segment_count < 1 || !module->segments || !recorder_open(&recorder))
        return 0;
    struct nvtx_segment *segment = &module->segments[0];
    for (size_t i = 0; i < segment->count && i < sizeof functions / sizeof *functions; i++)
        segment->functions[i] = (intptr_t)functions[i];
    return 1;
}
