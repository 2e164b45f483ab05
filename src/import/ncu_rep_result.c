/* One result of an Nsight Compute report: a launch, its metrics, what ncu's rules said. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "import/ncu.h"
#include "import/ncu_rep.h"
#include "model/counter_unit.h"

enum {
    RESULT_MANGLED = 5,
    RESULT_FUNCTION = 6,
    RESULT_DEMANGLED = 7,
    RESULT_GRID = 10,
    RESULT_BLOCK = 11,
    RESULT_METRIC = 13,
    RESULT_RULE = 19,
    RESULT_NVTX = 21,
};
enum { DIM_X = 1, DIM_Z = 3 };
enum { METRIC_NAME = 1, METRIC_VALUE = 2, METRIC_INSTANCE = 3 };
enum { INSTANCE_KEY = 1, INSTANCE_VALUE = 2 };
enum { VALUE_TEXT = 1, VALUE_FLOAT = 2, VALUE_DOUBLE = 3, VALUE_UINT32 = 4, VALUE_UINT64 = 5 };
enum { RULE_ID = 1, RULE_NAME = 2, RULE_BODY = 3, RULE_SECTION = 4 };
enum { BODY_ITEM = 1, ITEM_MESSAGE = 1, ITEM_SPEEDUP = 10 };
enum { MESSAGE_TEXT = 1, MESSAGE_TYPE = 2 };
enum { TYPE_WARNING = 2, TYPE_ERROR = 3, TYPE_OPTIMIZATION = 4 };
enum { SPEEDUP_SCOPE = 1, SPEEDUP_PERCENT = 2, SCOPE_LOCAL = 1 };
enum { NVTX_THREAD = 2, THREAD_DOMAIN = 2, DOMAIN_RANGE = 3, RANGE_NAME = 1 };

/* ---- values -------------------------------------------------------------------------------------------- */

enum value_kind { KIND_NONE, KIND_NUMBER, KIND_TEXT };

struct rep_value {
    enum value_kind kind;
    double number;
    uint64_t whole; /* of an unsigned one: a double cannot hold every address */
    const char *text;
    size_t length;
};

static struct rep_value read_value(const struct proto_field *holder)
{
    struct proto message = proto_inside(holder);
    struct proto_field f;
    struct rep_value value = {0};
    while (proto_next(&message, &f)) {
        if (f.type == PROTO_BYTES) {
            value = (struct rep_value){.kind = KIND_TEXT, .text = (const char *)f.data, .length = f.length};
        } else if (f.type == PROTO_FIXED64) {
            value = (struct rep_value){.kind = KIND_NUMBER, .number = proto_double(&f)};
        } else if (f.type == PROTO_FIXED32) {
            float narrow;
            memcpy(&narrow, &(uint32_t){(uint32_t)f.value}, sizeof narrow);
            value = (struct rep_value){.kind = KIND_NUMBER, .number = narrow};
        } else {
            value = (struct rep_value){.kind = KIND_NUMBER, .number = (double)f.value, .whole = f.value};
        }
    }
    return value;
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

struct result {
    struct ncu_rep *rep;
    uint32_t profile;
};

static int by_address(const void *a, const void *b)
{
    const struct rep_function *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

/* The function whose code begins last at or before the address, or NULL. */
static const struct rep_function *find_function(struct ncu_rep *rep, uint64_t address)
{
    if (rep->sorted != rep->functions.count)
        qsort(rep->functions.at, rep->functions.count, sizeof *rep->functions.at, by_address);
    rep->sorted = rep->functions.count;
    size_t low = 0, high = rep->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rep->functions.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &rep->functions.at[low - 1] : NULL;
}

/* Instances whose key is an address in the kernel's code tell of that instruction. Functions that it calls
 * lie elsewhere and are known by their own names. */
static void take_instance(struct result *r, uint32_t name, const struct proto_field *field)
{
    enum { FUNCTION_BYTES_MAX = 64 << 20 };
    struct proto message = proto_inside(field);
    struct proto_field f;
    struct rep_value key = {0}, value = {0};
    while (proto_next(&message, &f)) {
        if (f.number == INSTANCE_KEY)
            key = read_value(&f);
        else if (f.number == INSTANCE_VALUE)
            value = read_value(&f);
    }
    if (key.kind != KIND_NUMBER || value.kind != KIND_NUMBER || !(value.number > 0) ||
        !isfinite(value.number))
        return;
    const struct rep_function *best = find_function(r->rep, key.whole);
    if (!best || key.whole - best->address > FUNCTION_BYTES_MAX)
        return;
    uint32_t place = profiles_place(&r->rep->profiles, best->name, key.whole - best->address, 0, 0);
    profiles_place_value(&r->rep->profiles, r->profile, place, name, value.number);
}

static void take_metric(struct result *r, struct proto message)
{
    struct ncu_rep *rep = r->rep;
    struct proto_field f;
    struct rep_value value = {0};
    uint32_t name = NONE;
    while (proto_next(&message, &f)) {
        if (f.number == METRIC_NAME && f.type == PROTO_VARINT)
            name = f.value < rep->names.count ? rep->names.at[f.value] : NONE;
        else if (f.number == METRIC_VALUE)
            value = read_value(&f);
        else if (f.number == METRIC_INSTANCE && name != NONE)
            take_instance(r, name, &f);
    }
    if (name == NONE) {
        rep->unnamed++;
        return;
    }
    const char *unit = counter_unit(run_text(rep->run, name));
    if (value.kind == KIND_NUMBER)
        profiles_value(&rep->profiles, r->profile, name, unit, strlen(unit), value.number);
    else if (value.kind == KIND_TEXT)
        profiles_text(&rep->profiles, r->profile, name, value.text, value.length);
    else
        profiles_no_value(&rep->profiles, r->profile, name, COUNTER_NOT_MEASURED);
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* Rules mark links in their texts: "@section:ID:Title@", "@url:Title:https://…@". People read the titles. */
static void add_rule_text(struct str *out, const char *text, size_t length)
{
    if (length == 0)
        return; /* and text may be NULL */
    const char *end = text + length;
    while (text < end) {
        const char *at = memchr(text, '@', (size_t)(end - text));
        const char *close = at ? memchr(at + 1, '@', (size_t)(end - at - 1)) : NULL;
        const char *colon = close ? memchr(at, ':', (size_t)(close - at)) : NULL;
        const char *second = colon ? memchr(colon + 1, ':', (size_t)(close - colon - 1)) : NULL;
        if (!second || memchr(at, ' ', (size_t)(colon - at))) {
            const char *stop = at ? at + 1 : end;
            str_add(out, text, (size_t)(stop - text));
            text = stop;
            continue;
        }
        str_add(out, text, (size_t)(at - text));
        if (colon - at == 4 && memcmp(at, "@url", 4) == 0) {
            str_add(out, colon + 1, (size_t)(second - colon - 1));
            str_puts(out, " (");
            str_add(out, second + 1, (size_t)(close - second - 1));
            str_puts(out, ")");
        } else {
            str_add(out, second + 1, (size_t)(close - second - 1));
        }
        text = close + 1;
    }
}

static void take_message(struct ncu_rep *rep, struct advice *advice, struct proto message)
{
    struct proto_field f;
    struct str text = {0};
    while (proto_next(&message, &f)) {
        if (f.number == MESSAGE_TEXT)
            add_rule_text(&text, (const char *)f.data, f.length);
        else if (f.number == MESSAGE_TYPE)
            advice->kind = f.value == TYPE_OPTIMIZATION ? ADVICE_OPTIMIZE
                           : f.value == TYPE_WARNING    ? ADVICE_WARNING
                           : f.value == TYPE_ERROR      ? ADVICE_ERROR
                                                        : ADVICE_INFO;
    }
    advice->text = intern_add(&rep->run->strings, str_text(&text), text.len);
    str_release(&text);
}

static void take_rule_item(struct ncu_rep *rep, struct advice advice, struct proto message)
{
    struct proto_field f, s;
    while (proto_next(&message, &f)) {
        struct proto inside = proto_inside(&f);
        if (f.number == ITEM_MESSAGE) {
            take_message(rep, &advice, inside);
        } else if (f.number == ITEM_SPEEDUP) {
            while (proto_next(&inside, &s)) {
                if (s.number == SPEEDUP_SCOPE)
                    advice.is_local_speedup = s.value == SCOPE_LOCAL;
                else if (s.number == SPEEDUP_PERCENT && s.type == PROTO_FIXED64)
                    advice.speedup_ratio = proto_double(&s) / 100;
            }
        }
    }
    if (advice.text)
        vec_push(&rep->run->advices, advice);
}

static void take_rule(struct ncu_rep *rep, uint32_t profile, struct proto message)
{
    struct proto_field f, item;
    struct proto body = {0};
    struct advice advice = {.profile = profile, .speedup_ratio = NAN};
    while (proto_next(&message, &f)) {
        if (f.number == RULE_ID)
            advice.rule = intern_add(&rep->run->strings, (const char *)f.data, f.length);
        else if (f.number == RULE_SECTION)
            advice.section = intern_add(&rep->run->strings, (const char *)f.data, f.length);
        else if (f.number == RULE_BODY)
            body = proto_inside(&f);
    }
    while (proto_next(&body, &item))
        if (item.number == BODY_ITEM)
            take_rule_item(rep, advice, proto_inside(&item));
}

/* ---- the launch ---------------------------------------------------------------------------------------- */

static void read_dim(struct proto message, uint32_t dim[3])
{
    struct proto_field f;
    while (proto_next(&message, &f))
        if (f.number >= DIM_X && f.number <= DIM_Z)
            dim[f.number - DIM_X] = (uint32_t)f.value;
}

/* The ranges that were open on the thread, outermost first; with several threads it is not clear whose. */
static uint32_t read_ranges(struct ncu_rep *rep, struct proto message)
{
    struct proto_field thread, domain, range, part;
    struct str names = {0};
    int threads = 0;
    while (proto_next(&message, &thread)) {
        if (thread.number != NVTX_THREAD)
            continue;
        struct proto domains = proto_inside(&thread);
        threads++;
        while (proto_next(&domains, &domain)) {
            struct proto ranges = proto_inside(&domain);
            while (domain.number == THREAD_DOMAIN && proto_next(&ranges, &range)) {
                struct proto parts = proto_inside(&range);
                while (range.number == DOMAIN_RANGE && proto_next(&parts, &part)) {
                    if (part.number != RANGE_NAME || part.type != PROTO_BYTES)
                        continue;
                    str_puts(&names, names.len ? "/" : "");
                    str_add(&names, (const char *)part.data, part.length);
                }
            }
        }
    }
    uint32_t id = threads == 1 ? intern_add(&rep->run->strings, str_text(&names), names.len) : 0;
    str_release(&names);
    return id;
}

/* The number of the device, if this metric tells it; else fallback. */
static int64_t read_device(const struct ncu_rep *rep, struct proto message, int64_t fallback)
{
    struct proto_field f;
    struct rep_value value = {0};
    bool is_device = false;
    while (proto_next(&message, &f)) {
        if (f.number == METRIC_NAME && f.value < rep->names.count)
            is_device = strcmp(run_text(rep->run, rep->names.at[f.value]), "launch__device_id") == 0;
        else if (f.number == METRIC_VALUE && is_device)
            value = read_value(&f);
    }
    return value.kind == KIND_NUMBER && value.number >= 0 && value.number <= INT32_MAX ? (int64_t)value.number
                                                                                       : fallback;
}

struct names {
    struct proto_field mangled, function, demangled;
};

static const struct proto_field *best_name(const struct names *names)
{
    return names->demangled.length  ? &names->demangled
           : names->function.length ? &names->function
                                    : &names->mangled;
}

static void link_code(struct result *r)
{
    struct kernel_profile *profile = &r->rep->run->profiles.at[r->profile];
    vec_each (&r->rep->functions, function) {
        if (function->name == profile->mangled)
            profile->image = function->image;
    }
}

bool ncu_rep_result(struct ncu_rep *rep, const void *data, size_t length)
{
    struct run *run = rep->run;
    struct names names = {0};
    struct draft draft = {.shape = {.occupancy_percent = -1}};
    struct proto message = proto_message(data, length);
    struct proto_field f;
    uint32_t range = 0;
    int64_t device = rep->devices.count ? rep->devices.at[0] : 0;
    while (proto_next(&message, &f)) {
        struct proto_field *name = f.number == RESULT_MANGLED     ? &names.mangled
                                   : f.number == RESULT_FUNCTION  ? &names.function
                                   : f.number == RESULT_DEMANGLED ? &names.demangled
                                                                  : NULL;
        if (name)
            *name = f;
        else if (f.number == RESULT_GRID)
            read_dim(proto_inside(&f), draft.shape.grid);
        else if (f.number == RESULT_BLOCK)
            read_dim(proto_inside(&f), draft.shape.block);
        else if (f.number == RESULT_NVTX)
            range = read_ranges(rep, proto_inside(&f));
        else if (f.number == RESULT_METRIC)
            device = read_device(rep, proto_inside(&f), device);
    }
    draft.has_shape = draft.shape.grid[0] > 0 && draft.shape.block[0] > 0;
    const struct proto_field *shown = best_name(&names);
    struct result r = {.rep = rep};
    r.profile = profiles_add(&rep->profiles, (const char *)shown->data, shown->length);
    *profiles_draft(&rep->profiles, r.profile) = draft;
    struct kernel_profile *profile = &run->profiles.at[r.profile];
    profile->mangled = intern_add(&run->strings, (const char *)names.mangled.data, names.mangled.length);
    profile->process = rep->process;
    profile->range = range;
    profile->launch = (int64_t)(r.profile - rep->profiles.first);
    link_code(&r);
    profiles_set_device(&rep->profiles, r.profile, device);
    message = proto_message(data, length);
    while (proto_next(&message, &f)) {
        if (f.number == RESULT_METRIC)
            take_metric(&r, proto_inside(&f));
        else if (f.number == RESULT_RULE)
            take_rule(rep, r.profile, proto_inside(&f));
    }
    return !message.damaged;
}
