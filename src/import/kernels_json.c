/* Our own JSON of kernels that ran (warplight.kernels/1), so that a report can be kept and compared with.
 * Format: doc/formats/kernels.md.
 *
 * A metric becomes a counter of its own name, and how far apart its launches were counters of "NAME:min",
 * "NAME:max" and "NAME:deviation"; a reason to wait becomes "stall:REASON", or "sampled:REASON" where the
 * sampler saw it; spills make a code. Findings are not read: they follow from the rest. */
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "import/import.h"
#include "import/kernels_json_lines.h"
#include "import/profiles.h"

enum { NAME_BYTES = 128, KERNELS_MAX = 1 << 20 };

struct kernels {
    struct json_reader json;
    struct profiles profiles;
    struct run *run;
    uint32_t source;
    uint32_t device; /* run->devices; NONE */
    uint32_t first;  /* of this source in run->profiles */
    bool has_schema;
};

/* What is known of a kernel before its row can be made. */
struct kernel {
    uint32_t profile;
    int64_t profiled, launches;
    struct shape shape;
    bool has_shape, is_sampled;
    int64_t spill_store_bytes, spill_load_bytes; /* UNKNOWN */
};

static bool read_number(struct json_reader *r, double *value)
{
    struct json_text text;
    enum json_type type = json_peek(r);
    return json_read_scalar(r, &text) && type == JSON_WORD && json_to_double(text, value);
}

static uint32_t read_count(struct json_reader *r)
{
    double value = 0;
    return read_number(r, &value) && value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

/* null is not known. */
static int64_t read_bytes(struct json_reader *r)
{
    double value;
    return read_number(r, &value) && value >= 0 && value < 1e15 ? (int64_t)value : UNKNOWN;
}

/* ---- the device ---------------------------------------------------------------------------------------- */

static void read_capability(struct json_reader *r, struct device *device)
{
    struct json_text text;
    char copy[16] = {0};
    int major, minor;
    if (!json_read_scalar(r, &text) || text.length >= sizeof copy)
        return;
    memcpy(copy, text.at, text.length);
    if (sscanf(copy, "%3d.%2d", &major, &minor) == 2 && major > 0 && minor >= 0) {
        device->cc_major = major;
        device->cc_minor = minor;
    }
}

static void read_device(struct kernels *k)
{
    struct json_reader *r = &k->json;
    struct json_text key, text;
    if (!json_enter_if(r, JSON_OBJECT))
        return;
    struct device device = {0};
    while (json_next_key(r, &key)) {
        if (json_text_is(key, "id"))
            device.id = read_count(r);
        else if (json_text_is(key, "name") && json_peek(r) == JSON_STRING)
            device.name = json_read_string(r, &text) ? intern_add(&k->run->strings, text.at, text.length) : 0;
        else if (json_text_is(key, "uuid") && json_peek(r) == JSON_STRING)
            device.uuid = json_read_string(r, &text) ? intern_add(&k->run->strings, text.at, text.length) : 0;
        else if (json_text_is(key, "memory_bytes"))
            device.memory_bytes = read_bytes(r);
        else if (json_text_is(key, "compute_capability"))
            read_capability(r, &device);
        else if (json_text_is(key, "sm_count"))
            device.sm_count = (int32_t)(read_count(r) & INT32_MAX);
        else
            json_skip(r);
    }
    k->device = run_device(k->run, k->source, device.id);
    struct device *known = &k->run->devices.at[k->device];
    known->vendor = VENDOR_NVIDIA;
    known->name = device.name;
    known->uuid = device.uuid;
    known->memory_bytes = device.memory_bytes > 0 ? device.memory_bytes : 0;
    known->cc_major = device.cc_major;
    known->cc_minor = device.cc_minor;
    known->sm_count = device.sm_count;
}

/* ---- a kernel ------------------------------------------------------------------------------------------ */

/* As a counter called "NAME", or "NAME:PART". Values in the report are in base units already. */
static void add_counter(struct kernels *k, uint32_t profile, const char *name, const char *part, double value)
{
    char full[2 * NAME_BYTES];
    int length = snprintf(full, sizeof full, "%s%s%s", name, *part ? ":" : "", part);
    uint32_t id = intern_add(&k->run->strings, full, (size_t)length);
    profiles_value(&k->profiles, profile, id, "", 0, value);
}

static bool keep_name(char name[NAME_BYTES], struct json_text key)
{
    if (key.length >= NAME_BYTES || memchr(key.at, '\0', key.length)) /* it is used as a C string */
        return false;
    memcpy(name, key.at, key.length);
    name[key.length] = '\0';
    return true;
}

/* "l1_hit_ratio_why": as the report words it (view/profile_columns.c). */
static void read_why(struct kernels *k, uint32_t profile, const char *name)
{
    static const struct {
        const char *why;
        enum counter_state state;
    } states[] = {{"not on this chip", COUNTER_UNSUPPORTED},
                  {"no permission", COUNTER_NO_PERMISSION},
                  {"measured, but impossible", COUNTER_IMPLAUSIBLE},
                  {"a share of nothing", COUNTER_UNDEFINED}};
    struct json_text text;
    if (!json_read_scalar(&k->json, &text))
        return;
    uint32_t id = intern_add(&k->run->strings, name, strlen(name) - strlen("_why"));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (json_text_is(text, states[i].why))
            profiles_no_value(&k->profiles, profile, id, states[i].state);
}

static void read_metrics(struct kernels *k, uint32_t profile)
{
    struct json_reader *r = &k->json;
    struct json_text key;
    char name[NAME_BYTES];
    double value;
    if (!json_enter_if(r, JSON_OBJECT))
        return;
    while (json_next_key(r, &key))
        if (!keep_name(name, key))
            json_skip(r);
        else if (key.length > 4 && strcmp(name + key.length - 4, "_why") == 0)
            read_why(k, profile, name);
        else if (read_number(r, &value))
            add_counter(k, profile, name, "", value);
}

static void read_spread(struct kernels *k, uint32_t profile)
{
    struct json_reader *r = &k->json;
    struct json_text key;
    char name[NAME_BYTES], part[NAME_BYTES];
    double value;
    if (!json_enter_if(r, JSON_OBJECT))
        return;
    while (json_next_key(r, &key)) {
        if (!keep_name(name, key) || !json_enter_if(r, JSON_OBJECT))
            continue;
        while (json_next_key(r, &key))
            if (!keep_name(part, key))
                json_skip(r);
            else if (read_number(r, &value))
                add_counter(k, profile, name, part, value);
    }
}

static void read_stalls(struct kernels *k, uint32_t profile, bool is_sampled)
{
    struct json_reader *r = &k->json;
    struct json_text key, text;
    if (!json_enter_if(r, JSON_ARRAY))
        return;
    while (json_next_item(r)) {
        char reason[NAME_BYTES] = "";
        double share = -1;
        if (!json_enter_if(r, JSON_OBJECT))
            continue;
        while (json_next_key(r, &key)) {
            if (json_text_is(key, "reason") && json_read_scalar(r, &text))
                keep_name(reason, text);
            else if (!json_text_is(key, "share_ratio") || !read_number(r, &share))
                json_skip(r);
        }
        if (*reason && share >= 0)
            add_counter(k, profile, is_sampled ? "sampled" : "stall", reason, share);
    }
}

static void read_triple(struct json_reader *r, uint32_t triple[3], bool *has)
{
    if (!json_enter_if(r, JSON_ARRAY))
        return;
    for (int i = 0; json_next_item(r); i++) {
        uint32_t value = read_count(r);
        if (i < 3)
            triple[i] = value;
    }
    *has = true;
}

static void read_member(struct kernels *k, struct kernel *kernel, struct json_text key)
{
    struct json_reader *r = &k->json;
    struct json_text text;
    struct kernel_profile *profile = &k->run->profiles.at[kernel->profile];
    if (json_text_is(key, "name") && json_read_scalar(r, &text))
        profile->name = intern_add(&k->run->strings, text.at, text.length);
    else if (json_text_is(key, "launches"))
        kernel->launches = read_count(r);
    else if (json_text_is(key, "profiled_launches"))
        kernel->profiled = read_count(r);
    else if (json_text_is(key, "grid"))
        read_triple(r, kernel->shape.grid, &kernel->has_shape);
    else if (json_text_is(key, "block"))
        read_triple(r, kernel->shape.block, &kernel->has_shape);
    else if (json_text_is(key, "registers_per_thread"))
        kernel->shape.regs_per_thread = read_count(r);
    else if (json_text_is(key, "static_shared_bytes"))
        kernel->shape.shared_static_bytes = read_count(r);
    else if (json_text_is(key, "dynamic_shared_bytes"))
        kernel->shape.shared_dynamic_bytes = read_count(r);
    else if (json_text_is(key, "spill_store_bytes"))
        kernel->spill_store_bytes = read_bytes(r);
    else if (json_text_is(key, "spill_load_bytes"))
        kernel->spill_load_bytes = read_bytes(r);
    else if (json_text_is(key, "metrics") || json_text_is(key, "counters"))
        read_metrics(k, kernel->profile);
    else if (json_text_is(key, "spread"))
        read_spread(k, kernel->profile);
    else if (json_text_is(key, "stall_source") && json_read_scalar(r, &text))
        kernel->is_sampled = json_text_is(text, "sampled");
    else if (json_text_is(key, "stalls"))
        read_stalls(k, kernel->profile, kernel->is_sampled);
    else if (json_text_is(key, "lines"))
        kernels_json_lines(r, &k->profiles, kernel->profile);
    else
        json_skip(r);
}

/* What its machine code said when the report was made. */
static void add_code(struct kernels *k, const struct kernel *kernel)
{
    struct kernel_profile *profile = &k->run->profiles.at[kernel->profile];
    if (kernel->spill_store_bytes == UNKNOWN || kernel->spill_load_bytes == UNKNOWN || profile->launches < 1)
        return;
    struct kernel_code *code = run_add_code(k->run, k->source, profile->name);
    code->spill_store_bytes = kernel->spill_store_bytes;
    code->spill_load_bytes = kernel->spill_load_bytes;
    profile->code = (uint32_t)k->run->codes.count - 1;
}

static void read_kernel(struct kernels *k)
{
    struct json_text key;
    if (k->run->profiles.count - k->first >= KERNELS_MAX || !json_enter_if(&k->json, JSON_OBJECT))
        return;
    struct kernel kernel = {.profile = profiles_add(&k->profiles, "", 0),
                            .shape = {.occupancy_percent = -1},
                            .spill_store_bytes = UNKNOWN,
                            .spill_load_bytes = UNKNOWN};
    while (json_next_key(&k->json, &key))
        read_member(k, &kernel, key);
    /* Kernels of code that did not run have no launches: they are read from the code itself. */
    struct kernel_profile *profile = &k->run->profiles.at[kernel.profile];
    profile->launches = kernel.launches > kernel.profiled ? kernel.launches : kernel.profiled;
    profile->measured = kernel.profiled;
    add_code(k, &kernel);
    struct draft *draft = profiles_draft(&k->profiles, kernel.profile);
    draft->shape = kernel.shape;
    draft->has_shape = kernel.has_shape;
}

static void drop_unlaunched(struct kernels *k)
{
    size_t used = k->first; /* a damaged file may have lost the count of a kernel that has counters */
    for (size_t i = 0; i < k->run->counters.count; i++)
        if (k->run->counters.profile[i] >= used)
            used = (size_t)k->run->counters.profile[i] + 1;
    for (size_t i = 0; i < k->run->place_counters.count; i++)
        if (k->run->place_counters.profile[i] != NONE && k->run->place_counters.profile[i] >= used)
            used = (size_t)k->run->place_counters.profile[i] + 1;
    while (k->run->profiles.count > used && k->run->profiles.at[k->run->profiles.count - 1].launches < 1)
        k->run->profiles.count--;
    for (size_t i = k->first; i < k->run->profiles.count; i++) {
        struct kernel_profile *profile = &k->run->profiles.at[i];
        profile->launches = profile->launches < 1 ? 1 : profile->launches;
        profile->device = k->device;
    }
}

/* ---- the document -------------------------------------------------------------------------------------- */

static void read_document(struct kernels *k)
{
    struct json_reader *r = &k->json;
    struct json_text key, text;
    if (!json_enter(r, JSON_OBJECT))
        return;
    while (json_next_key(r, &key)) {
        if (json_text_is(key, "schema") && json_read_scalar(r, &text)) {
            k->has_schema = json_text_is(text, "warplight.kernels/1");
        } else if (json_text_is(key, "device")) {
            read_device(k);
        } else if (json_text_is(key, "kernels") && json_peek(r) == JSON_ARRAY) {
            json_enter(r, JSON_ARRAY);
            while (json_next_item(r))
                read_kernel(k);
        } else {
            json_skip(r);
        }
    }
}

static int kernels_read_json(struct run *run, struct stream *in, const struct import_options *options,
                             struct err *err)
{
    struct kernels k = {.run = run, .device = NONE, .first = (uint32_t)run->profiles.count};
    struct json_limits limits = {options->max_string_bytes, options->max_depth, 0};
    k.source = run_add_source(run, stream_path(in), "warplight.kernels/1");
    profiles_begin(&k.profiles, run, k.source);
    json_open(&k.json, in, &limits, err);
    read_document(&k);
    int rc = json_failed(&k.json);
    if (rc == 0 && k.json.state != JSON_OK)
        run_repair(run, k.source, N_("the file is damaged: what follows is left out"), 1,
                   json_offset(&k.json));
    profiles_end(&k.profiles);
    drop_unlaunched(&k);
    run->sources.at[k.source].bytes = stream_size(in);
    json_close(&k.json);
    if (rc == 0 && !k.has_schema)
        rc = err_set(err, ERR_INPUT, stream_path(in), 0, NULL, _("this is no report of 'warplight kernels'"));
    return rc;
}

static int kernels_sniff(const char *head, size_t length)
{
    static const char schema[] = "\"warplight.kernels/1\"";
    return length > 0 && *head == '{' && memmem(head, length < 256 ? length : 256, schema, strlen(schema))
               ? 95
               : 0;
}

const struct importer import_kernels_json = {
    .name = "kernels",
    .title = N_("reports of warplight kernels (JSON)"),
    .sniff = kernels_sniff,
    .read = kernels_read_json,
};
