#include "model/gpu.h"

#include <string.h>

#include "base/i18n.h"
#include "base/number.h"

#define FACT_ROW(field_, key_, unit_, title_)                                                                \
    {.key = key_, .title = title_, .unit = unit_, .offset = offsetof(struct gpu_facts, field_)},
#define SAMPLE_ROW(field_, key_, unit_, kind_, title_)                                                       \
    {.key = key_,                                                                                            \
     .title = title_,                                                                                        \
     .unit = unit_,                                                                                          \
     .kind = kind_,                                                                                          \
     .offset = offsetof(struct gpu_sample, field_)},

const struct gpu_field gpu_fact_fields[] = {GPU_FACT_FIELDS(FACT_ROW){0}};
const struct gpu_field gpu_sample_fields[] = {GPU_SAMPLE_FIELDS(SAMPLE_ROW){0}};

/* No GPU is near these; what lies beyond is an error code or a sentinel that was taken for a value. */
static bool is_plausible(enum gpu_unit unit, int64_t value)
{
    switch (unit) {
    case GPU_HZ:
        return value >= 0 && value <= INT64_C(100000000000);
    case GPU_MILLIWATTS:
        return value >= 0 && value <= 100000000;
    case GPU_BYTES:
        return value >= 0 && value <= INT64_C(1) << 50;
    case GPU_CELSIUS:
        return value >= -100 && value <= 300;
    case GPU_PERCENT:
        return value >= 0 && value <= 100;
    case GPU_BYTES_PER_S:
        return value >= 0 && value <= INT64_C(1) << 50;
    case GPU_SWITCH:
        return value == 0 || value == 1;
    case GPU_TENTHS:
        return value >= 0 && value <= 10000;
    case GPU_COUNT:
    case GPU_PERMILLE: /* of several engines or CPUs: may pass 1000 */
    case GPU_HUNDREDTHS:
    case GPU_MILLIJOULES:
    case GPU_NS:
    case GPU_COMPUTE_MODE:
    case GPU_REASONS:
    case GPU_LINK:
    case GPU_RECOVERY:
    case GPU_VIRTUAL:
    case GPU_SHARING:
        break;
    }
    return value >= 0;
}

void gpu_check(void *facts_or_sample, const struct gpu_field *fields)
{
    for (const struct gpu_field *field = fields; field->key; field++) {
        struct reading *reading = gpu_reading(facts_or_sample, field);
        if (reading_is_known(*reading) && !is_plausible(field->unit, reading->value))
            *reading = reading_missing(READING_IMPLAUSIBLE);
    }
}

void gpu_missing(void *facts_or_sample, const struct gpu_field *fields, enum reading_state why)
{
    for (const struct gpu_field *field = fields; field->key; field++)
        if (gpu_get(facts_or_sample, field).state == READING_UNREAD)
            *gpu_reading(facts_or_sample, field) = reading_missing(why);
}

/* ---- text ------------------------------------------------------------------------------------------------
 */

static int decimals_of(enum gpu_unit unit)
{
    switch (unit) {
    case GPU_MILLIWATTS:
    case GPU_MILLIJOULES:
    case GPU_PERMILLE:
        return 3;
    case GPU_PERCENT:
    case GPU_HUNDREDTHS:
        return 2;
    case GPU_TENTHS:
        return 1;
    default:
        return 0;
    }
}

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

enum { MOST_NAMES = 9 };

/* Units whose values are names: of bits, or of numbers from 0 on. */
static const struct unit_names {
    enum gpu_unit unit;
    const char *none; /* of a mask without bits; NULL: it is no mask */
    const char *names[MOST_NAMES + 1];
} unit_names[] = {
    {GPU_SWITCH, NULL, {"off", "on"}},
    {GPU_COMPUTE_MODE, NULL, {"default", "exclusive-thread", "prohibited", "exclusive-process"}},
    {GPU_REASONS,
     "none",
     {"idle", "setting", "power-cap", "hardware", "sync-boost", "software-thermal", "hardware-thermal",
      "power-brake", "display"}},
    {GPU_LINK, "good", {"unused", "slow", "narrow", "replays", "errors", "inactive"}},
    {GPU_RECOVERY, NULL, {"none", "reset-gpu", "reboot", "drain", "drain-and-reset"}},
    {GPU_VIRTUAL, NULL, {"none", "pass-through", "vgpu", "vgpu-host", "vsga-host"}},
    {GPU_SHARING, "none", {"mig", "mps", "vgpu", "vgpu-host", "quota"}},
};

static const struct unit_names *names_of(enum gpu_unit unit)
{
    for (size_t i = 0; i < sizeof unit_names / sizeof *unit_names; i++)
        if (unit_names[i].unit == unit)
            return &unit_names[i];
    return NULL;
}

bool gpu_unit_is_list(enum gpu_unit unit)
{
    const struct unit_names *names = names_of(unit);
    return names && names->none;
}

static void add_names(struct str *out, const struct unit_names *names, int64_t value)
{
    size_t before = out->len;
    for (int i = 0; names->names[i]; i++)
        if (names->none ? value & INT64_C(1) << i : value == i)
            str_addf(out, "%s%s", out->len > before ? "," : "", names->names[i]);
    if (out->len == before)
        str_puts(out, names->none && value == 0 ? names->none : "other");
}

void gpu_value_add(struct str *out, enum gpu_unit unit, int64_t value)
{
    int decimals = decimals_of(unit);
    const struct unit_names *names = names_of(unit);
    if (names) {
        add_names(out, names, value);
    } else if (decimals) {
        number_add_int(out, value / power_of_ten(decimals));
        str_putc(out, '.');
        number_add_uint(out, (uint64_t)(value % power_of_ten(decimals)), decimals);
    } else {
        number_add_int(out, value);
    }
}

bool gpu_value_parse(enum gpu_unit unit, const char *text, int64_t *value)
{
    int decimals = decimals_of(unit), seen = -1; /* decimals so far; -1 before the point */
    bool negative = *text == '-', any = false;
    int64_t sum = 0;
    if (names_of(unit))
        return false;
    for (const char *c = text + negative; *c; c++) {
        if (*c == '.' && seen < 0) {
            seen = 0;
            continue;
        }
        if (*c < '0' || *c > '9' || (seen >= 0 && ++seen > decimals) ||
            __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *c - '0', &sum))
            return false;
        any = true;
    }
    int missing = decimals - (seen < 0 ? 0 : seen);
    if (!any || __builtin_mul_overflow(sum, power_of_ten(missing), &sum))
        return false;
    *value = negative ? -sum : sum;
    return true;
}

/* ---- facts -----------------------------------------------------------------------------------------------
 */

const char *gpu_fact(const struct run *run, const char *uuid, const char *key)
{
    struct str name = {0};
    const char *value = NULL;
    str_addf(&name, GPU_FACT_PREFIX "%s.%s", uuid, key);
    vec_each (&run->facts, fact)
        if (!value && strcmp(run_text(run, fact->key), str_text(&name)) == 0)
            value = run_text(run, fact->value);
    str_release(&name);
    return value;
}

struct reading gpu_fact_reading(const struct run *run, const char *uuid, const char *key, enum gpu_unit unit)
{
    int64_t value;
    const char *text = gpu_fact(run, uuid, key);
    if (text)
        return gpu_value_parse(unit, text, &value) ? reading_of(value) : reading_missing(READING_FAILED);
    struct str why_key = {0};
    str_addf(&why_key, "%s_why", key);
    const char *why = gpu_fact(run, uuid, str_text(&why_key));
    str_release(&why_key);
    enum reading_state state = why ? reading_state_find(why) : READING_UNREAD;
    return reading_missing(state == READING_STATES || state == READING_KNOWN ? READING_FAILED : state);
}
