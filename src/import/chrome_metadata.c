/* What a trace says about itself beside its events: devices, versions, rank, base time. */
#include <ctype.h>
#include <strings.h>

#include "base/i18n.h"
#include "base/str.h"
#include "import/chrome.h"
#include "import/chrome_time.h"

enum member {
    MEMBER_DEVICES,
    MEMBER_DISTRIBUTED,
    MEMBER_BASE,
    MEMBER_IGNORED,
};

/* "computeProperties" is what the profiler of PyTorch 1.8 called deviceProperties. */
static const struct chrome_word member_list[] = {
    {"deviceProperties", MEMBER_DEVICES},    {"computeProperties", MEMBER_DEVICES},
    {"distributedInfo", MEMBER_DISTRIBUTED}, {"baseTimeNanoseconds", MEMBER_BASE},
    {"displayTimeUnit", MEMBER_IGNORED},
};

enum property {
    PROPERTY_ID,
    PROPERTY_NAME,
    PROPERTY_UUID,
    PROPERTY_MEMORY,
    PROPERTY_MAJOR,
    PROPERTY_MINOR,
    PROPERTY_SM_THREADS,
    PROPERTY_WARP,
    PROPERTY_SMS,
    PROPERTY_SM_REGS,
    PROPERTY_SM_SHARED,
    PROPERTY_BLOCK_SHARED,
    PROPERTY_SM_BLOCKS,
    PROPERTY_L2,
    PROPERTY_CLOCK_KHZ,
};

static const struct chrome_word property_list[] = {
    {"id", PROPERTY_ID},
    {"name", PROPERTY_NAME},
    {"uuid", PROPERTY_UUID},
    {"totalGlobalMem", PROPERTY_MEMORY},
    {"computeMajor", PROPERTY_MAJOR},
    {"computeMinor", PROPERTY_MINOR},
    {"major", PROPERTY_MAJOR},
    {"minor", PROPERTY_MINOR},
    {"maxThreadsPerMultiprocessor", PROPERTY_SM_THREADS},
    {"warpSize", PROPERTY_WARP},
    {"numSms", PROPERTY_SMS},
    {"multiProcessorCount", PROPERTY_SMS},
    {"regsPerMultiprocessor", PROPERTY_SM_REGS},
    {"sharedMemPerMultiprocessor", PROPERTY_SM_SHARED},
    {"sharedMemPerBlockOptin", PROPERTY_BLOCK_SHARED},
    {"maxBlocksPerMultiProcessor", PROPERTY_SM_BLOCKS},
    {"l2CacheSize", PROPERTY_L2},
    {"clockRate", PROPERTY_CLOCK_KHZ},
};

void chrome_metadata_init(struct chrome *c)
{
    chrome_words_init(&c->metadata_keys, member_list, sizeof member_list / sizeof *member_list);
    chrome_words_init(&c->device_keys, property_list, sizeof property_list / sizeof *property_list);
    c->rank = -1;
}

bool chrome_metadata_known(const struct chrome *c, struct json_text key, enum json_type type)
{
    uint8_t member = chrome_words_find(&c->metadata_keys, key);
    return type == JSON_STRING || type == JSON_WORD || member != CHROME_WORD_NONE;
}

/* ---- devices ------------------------------------------------------------------------------------------- */

static int32_t clamp_int(int64_t value)
{
    return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static void set_property(struct chrome *c, struct device *device, uint8_t property, struct json_text text)
{
    int64_t number = 0;
    if (property == PROPERTY_NAME) {
        device->name = chrome_name(c, text);
        return;
    }
    if (property == PROPERTY_UUID) {
        device->uuid = chrome_name(c, text);
        return;
    }
    if (!json_to_int(text, &number) || number < 0)
        return;
    switch ((enum property)property) {
    case PROPERTY_ID:
        device->id = number;
        break;
    case PROPERTY_MEMORY:
        device->memory_bytes = number;
        break;
    case PROPERTY_MAJOR:
        device->cc_major = clamp_int(number);
        break;
    case PROPERTY_MINOR:
        device->cc_minor = clamp_int(number);
        break;
    case PROPERTY_SM_THREADS:
        device->max_threads_per_sm = clamp_int(number);
        break;
    case PROPERTY_WARP:
        device->warp_size = clamp_int(number);
        break;
    case PROPERTY_SMS:
        device->sm_count = clamp_int(number);
        break;
    case PROPERTY_SM_REGS:
        device->regs_per_sm = clamp_int(number);
        break;
    case PROPERTY_SM_SHARED:
        device->shared_bytes_per_sm = number;
        break;
    case PROPERTY_BLOCK_SHARED:
        device->shared_bytes_per_block_optin = number;
        break;
    case PROPERTY_SM_BLOCKS:
        device->max_blocks_per_sm = clamp_int(number);
        break;
    case PROPERTY_L2:
        device->l2_bytes = number;
        break;
    case PROPERTY_CLOCK_KHZ:
        device->clock_hz = number > INT64_MAX / 1000 ? 0 : number * 1000;
        break;
    default:
        break;
    }
}

/* The properties of one device, with its id; the rest of the row is untouched. */
static void set_device(struct run *run, uint32_t source, const struct device *properties)
{
    uint32_t index = run_device(run, source, properties->id);
    struct device *row = &run->devices.at[index];
    struct device merged = *properties;
    merged.source = row->source;
    merged.id = row->id;
    *row = merged;
}

static void read_devices(struct chrome *c, struct json_reader *json)
{
    struct json_text key, text;
    if (!json_enter(json, JSON_ARRAY))
        return;
    while (json_next_item(json)) {
        struct device device = {0};
        if (json_peek(json) != JSON_OBJECT) {
            json_skip(json);
            continue;
        }
        json_enter(json, JSON_OBJECT);
        while (json_next_key(json, &key)) {
            uint8_t property = chrome_words_find(&c->device_keys, key);
            if (json_read_scalar(json, &text) && property != CHROME_WORD_NONE)
                set_property(c, &device, property, text);
        }
        if (json->state != JSON_OK)
            return;
        if (device.warp_size)
            device.max_warps_per_sm = device.max_threads_per_sm / device.warp_size;
        set_device(c->run, c->source, &device);
    }
}

/* ---- other members ----------------------------------------------------------------------------------- */

/* Whether a word of the text begins with this, in any case. */
static bool has_word(struct json_text text, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++)
        if ((i == 0 || !isalnum((unsigned char)text.at[i - 1])) &&
            strncasecmp(text.at + i, word, length) == 0)
            return true;
    return false;
}

static enum vendor vendor_of(struct json_text text)
{
    static const struct {
        const char *word;
        enum vendor vendor;
    } words[] = {
        {"nvidia", VENDOR_NVIDIA}, {"tesla", VENDOR_NVIDIA}, {"geforce", VENDOR_NVIDIA},
        {"quadro", VENDOR_NVIDIA}, {"titan", VENDOR_NVIDIA}, {"cuda_", VENDOR_NVIDIA},
        {"cupti", VENDOR_NVIDIA},  {"amd", VENDOR_AMD},      {"radeon", VENDOR_AMD},
        {"instinct", VENDOR_AMD},  {"gfx", VENDOR_AMD},      {"hip_", VENDOR_AMD},
        {"roctracer", VENDOR_AMD}, {"intel", VENDOR_INTEL},  {"xpu_", VENDOR_INTEL},
        {"mtia", VENDOR_META},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(text, words[i].word))
            return words[i].vendor;
    return VENDOR_UNKNOWN;
}

static void add_fact(struct chrome *c, const char *prefix, struct json_text key, struct json_text value)
{
    enum { FACT_BYTES_MAX = 4096 };
    struct str name = {0};
    str_puts(&name, prefix);
    str_add(&name, key.at, key.length);
    run_fact(c->run, c->source, str_text(&name), value.at,
             value.length < FACT_BYTES_MAX ? value.length : FACT_BYTES_MAX);
    str_release(&name);
    if (c->vendor == VENDOR_UNKNOWN)
        c->vendor = vendor_of(key);
}

static void read_distributed(struct chrome *c, struct json_reader *json)
{
    struct json_text key, text;
    if (json_peek(json) != JSON_OBJECT) {
        json_skip(json);
        return;
    }
    json_enter(json, JSON_OBJECT);
    while (json_next_key(json, &key)) {
        enum json_type type = json_peek(json);
        int64_t number;
        if (!json_read_scalar(json, &text) || type == JSON_OBJECT || type == JSON_ARRAY)
            continue;
        bool whole = json_to_int(text, &number) && number >= 0 && number <= INT32_MAX;
        if (whole && json_text_is(key, "rank"))
            c->rank = (int32_t)number;
        else if (whole && json_text_is(key, "world_size"))
            c->world_size = (int32_t)number;
        add_fact(c, "distributed_", key, text);
    }
}

static bool has_rows(const struct chrome *c)
{
    const struct run *run = c->run;
    return run->ops.count > c->first_op || run->spans.count > c->first_span ||
           run->samples.count > c->first_sample || run->marks.count > c->first_mark ||
           run->waits.count > c->first_wait;
}

static void read_base(struct chrome *c, struct json_reader *json)
{
    struct json_text text;
    int64_t base;
    if (!json_read_scalar(json, &text) || !json_to_int(text, &base) || base <= -(INT64_C(1) << 61) ||
        base >= INT64_C(1) << 61)
        return;
    c->file_base_ns = base;
    if (!has_rows(c))
        c->base_ns = base;
}

void chrome_metadata_read(struct chrome *c, struct json_reader *json, struct json_text key)
{
    struct json_text text;
    switch (chrome_words_find(&c->metadata_keys, key)) {
    case MEMBER_DEVICES:
        read_devices(c, json);
        break;
    case MEMBER_DISTRIBUTED:
        read_distributed(c, json);
        break;
    case MEMBER_BASE:
        read_base(c, json);
        break;
    case MEMBER_IGNORED:
        json_skip(json);
        break;
    default:
        if (json_read_scalar(json, &text))
            add_fact(c, "", key, text);
    }
}

/* ---- in the end ---------------------------------------------------------------------------------------- */

static bool same_model(const struct device *a, const struct device *b)
{
    return a->name == b->name && a->sm_count == b->sm_count && a->memory_bytes == b->memory_bytes &&
           a->cc_major == b->cc_major && a->cc_minor == b->cc_minor;
}

/* Under ROCm the events number devices otherwise than the list does. Where every listed device is of one
 * model there is no doubt what the unlisted one is. */
static void lend_properties(struct chrome *c)
{
    struct run *run = c->run;
    const struct device *model = NULL;
    for (size_t i = c->first_device; i < run->devices.count; i++) {
        const struct device *device = &run->devices.at[i];
        if (device->source != c->source || device->sm_count == 0)
            continue;
        if (model && !same_model(model, device))
            return;
        model = device;
    }
    for (size_t i = c->first_device; model && i < run->devices.count; i++) {
        struct device *device = &run->devices.at[i];
        if (device->source != c->source || device->sm_count != 0 || device->name != 0)
            continue;
        struct device lent = *model;
        lent.uuid = 0;
        lent.id = device->id;
        *device = lent;
        run_repair(run, c->source,
                   N_("devices missing from the device list given the properties of the listed model"), 1,
                   -1);
    }
}

void chrome_metadata_finish(struct chrome *c)
{
    struct run *run = c->run;
    lend_properties(c);
    for (size_t i = c->first_device; i < run->devices.count; i++) {
        struct device *device = &run->devices.at[i];
        const char *name = run_text(run, device->name);
        device->vendor = vendor_of((struct json_text){name, strlen(name)});
        if (device->vendor == VENDOR_UNKNOWN)
            device->vendor = c->vendor;
    }
    struct source *source = &run->sources.at[c->source];
    source->rank = c->rank;
    source->world_size = c->world_size;
    vec_each (&run->processes, process) {
        if (process->source == c->source) {
            process->rank = c->rank;
            process->world_size = c->world_size;
        }
    }
}
