/* How an NVIDIA GPU is at a moment. */
#include "base/clock.h"
#include "source/nvml.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SENSOR_GPU = 0 };
enum { ECC_UNCORRECTED = 1, ECC_SINCE_LOAD = 0 };
enum { POLICY_POWER = 0, POLICY_THERMAL = 1 };
static const int64_t mega = 1000000;

/* nvmlFieldValue ids. The last three only where the driver numbers them so. */
enum {
    FIELD_POWER_CAP_NS = 74,
    FIELD_THERMAL_NS = 75,
    FIELD_SYNC_BOOST_NS = 76,
    FIELD_MEMORY_TEMPERATURE = 82,
    FIELD_ENERGY_MJ = 83,
    FIELD_SOFTWARE_THERMAL_NS = 269,
    FIELD_HARDWARE_THERMAL_NS = 270,
    FIELD_POWER_BRAKE_NS = 271,
};

enum nvml_type { TYPE_DOUBLE, TYPE_UINT, TYPE_ULONG, TYPE_ULLONG, TYPE_LLONG, TYPE_INT, TYPE_USHORT };

struct reading nvml_field_reading(const struct nvml_field *f)
{
    int64_t value;
    switch ((enum nvml_type)f->type) {
    case TYPE_DOUBLE:
        value = f->value.d >= 0 && f->value.d < 9e18 ? (int64_t)f->value.d : -1;
        break;
    case TYPE_UINT:
        value = f->value.u;
        break;
    case TYPE_ULONG:
        value = (int64_t)f->value.ul;
        break;
    case TYPE_ULLONG:
    case TYPE_LLONG:
        value = f->value.sll;
        break;
    case TYPE_INT:
        value = f->value.i;
        break;
    case TYPE_USHORT:
        value = f->value.us;
        break;
    default:
        return reading_missing(READING_UNSUPPORTED);
    }
    return nvml_reading(f->code, value);
}

struct wanted {
    unsigned id;
    struct reading *reading;
};

/* Several counters in one call of the driver; each has its own return code. */
static void ask_fields(const struct nvml *n, nvml_device device, const struct wanted *wanted, int count)
{
    enum { MOST = 8 };
    struct nvml_field fields[MOST] = {0};
    for (int i = 0; i < count; i++)
        fields[i].id = wanted[i].id;
    int code = NVML_ASK(n, fields, device, count, fields);
    for (int i = 0; i < count; i++)
        *wanted[i].reading =
            code == NVML_OK ? nvml_field_reading(&fields[i]) : reading_missing(nvml_state(code));
}

static void sample_fields(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    const struct wanted wanted[] = {
        {FIELD_POWER_CAP_NS, &s->power_cap_time},
        {FIELD_SYNC_BOOST_NS, &s->sync_boost_time},
        {FIELD_MEMORY_TEMPERATURE, &s->memory_temperature},
        {FIELD_SOFTWARE_THERMAL_NS, &s->software_thermal_time},
    };
    enum { ALL = sizeof wanted / sizeof *wanted, MOVED = 1 };
    s->software_thermal_time = reading_missing(READING_UNSUPPORTED);
    ask_fields(n, device, wanted, n->has_event_reason_fields ? ALL : ALL - MOVED);
}

static void sample_dear_fields(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    const struct wanted wanted[] = {
        {FIELD_ENERGY_MJ, &s->energy},
        {FIELD_THERMAL_NS, &s->thermal_time},
        {FIELD_HARDWARE_THERMAL_NS, &s->hardware_thermal_time},
        {FIELD_POWER_BRAKE_NS, &s->power_brake_time},
    };
    enum { ALL = sizeof wanted / sizeof *wanted, MOVED = 2 };
    s->hardware_thermal_time = s->power_brake_time = reading_missing(READING_UNSUPPORTED);
    ask_fields(n, device, wanted, n->has_event_reason_fields ? ALL : ALL - MOVED);
}

/* What older drivers have as calls of their own. */
static void sample_older(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    struct nvml_violation violation = {0};
    if (s->power_cap_time.state == READING_UNSUPPORTED) {
        int code = NVML_ASK(n, violation, device, POLICY_POWER, &violation);
        s->power_cap_time = nvml_reading(code, (int64_t)violation.violation_ns);
    }
}

static void sample_dear(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    unsigned long long energy = 0;
    struct nvml_violation violation = {0};
    sample_dear_fields(n, device, s);
    if (s->energy.state == READING_UNSUPPORTED) {
        int code = NVML_ASK(n, energy, device, &energy);
        s->energy = nvml_reading(code, (int64_t)energy);
    }
    if (s->thermal_time.state == READING_UNSUPPORTED) {
        int code = NVML_ASK(n, violation, device, POLICY_THERMAL, &violation);
        s->thermal_time = nvml_reading(code, (int64_t)violation.violation_ns);
    }
}

static void sample_clocks(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    unsigned clock = 0;
    unsigned long long reasons = 0;
    int code = NVML_ASK(n, clock, device, CLOCK_SM, &clock);
    s->sm_clock = nvml_reading(code, clock * mega);
    code = NVML_ASK(n, clock, device, CLOCK_MEMORY, &clock);
    s->memory_clock = nvml_reading(code, clock * mega);
    code = NVML_ASK(n, clock_reasons, device, &reasons);
    s->clock_reasons = nvml_reading(code, (int64_t)reasons);
}

static void sample_power(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    unsigned value = 0;
    struct nvml_temperature temperature = {.version = sizeof temperature | 1u << 24, .sensor = SENSOR_GPU};
    int code = NVML_ASK(n, power, device, &value);
    s->power = nvml_reading(code, value);
    code = NVML_ASK(n, temperature_v, device, &temperature);
    s->temperature = nvml_reading(code, temperature.celsius);
    if (s->temperature.state == READING_UNSUPPORTED) {
        code = NVML_ASK(n, temperature, device, SENSOR_GPU, &value);
        s->temperature = nvml_reading(code, value);
    }
}

static void sample_memory(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    struct nvml_utilization utilization = {0};
    struct nvml_memory memory = {0};
    struct nvml_memory_v2 memory_v2 = {.version = sizeof memory_v2 | 2u << 24};
    int code = NVML_ASK(n, utilization, device, &utilization);
    s->utilization = nvml_told(code, utilization.gpu, n->foreign.utilization);
    s->memory_utilization = nvml_told(code, utilization.memory, n->foreign.utilization);
    /* The first form counts what the driver reserves as used. */
    code = NVML_ASK(n, memory_v2, device, &memory_v2);
    s->memory_used = nvml_told(code, (int64_t)memory_v2.used, n->foreign.memory_v2);
    if (s->memory_used.state == READING_UNSUPPORTED) {
        code = NVML_ASK(n, memory, device, &memory);
        s->memory_used = nvml_told(code, (int64_t)memory.used, n->foreign.memory);
    }
}

static void sample_slow(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    enum { STATE_UNKNOWN = 32 };
    unsigned width = 0, limit = 0, correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
    int state = STATE_UNKNOWN;
    unsigned long long errors = 0;
    int code = NVML_ASK(n, pcie_width, device, &width);
    s->pcie_width = nvml_reading(code, width);
    code = NVML_ASK(n, power_limit, device, &limit);
    s->power_limit = nvml_reading(code, limit);
    code = NVML_ASK(n, performance_state, device, &state);
    s->performance_state = code == NVML_OK && state >= STATE_UNKNOWN ? reading_missing(READING_UNSUPPORTED)
                                                                     : nvml_reading(code, state);
    code = NVML_ASK(n, ecc_errors, device, ECC_UNCORRECTED, ECC_SINCE_LOAD, &errors);
    s->ecc_uncorrected = nvml_reading(code, (int64_t)errors);
    code = NVML_ASK(n, remapped_rows, device, &correctable, &uncorrectable, &pending, &failed);
    s->remapped_uncorrectable = nvml_reading(code, uncorrectable);
    s->remap_pending = nvml_reading(code, pending);
    s->remap_failed = nvml_reading(code, failed);
}

static void sample_light(const struct nvml *n, nvml_device device, struct gpu_sample *s)
{
    unsigned generation = 0;
    *s = (struct gpu_sample){0};
    /* First, as what is counted over time belongs to the moment; which is after it, as the driver's first
     * answer may take long. */
    sample_fields(n, device, s);
    sample_older(n, device, s);
    s->time_ns = clock_ns(CLOCK_REALTIME);
    sample_clocks(n, device, s);
    sample_power(n, device, s);
    sample_memory(n, device, s);
    int code = NVML_ASK(n, pcie_generation, device, &generation);
    s->pcie_generation = nvml_reading(code, generation);
}

void nvml_sample(const struct nvml *n, nvml_device device, enum nvml_depth depth, struct gpu_sample *s)
{
    sample_light(n, device, s);
    if (depth == NVML_FULL) {
        sample_dear(n, device, s);
        sample_slow(n, device, s);
    }
    gpu_check(s, gpu_sample_fields);
}

/* A lost GPU says so to every question. */
bool nvml_is_lost(const struct gpu_sample *s)
{
    return s->sm_clock.state == READING_LOST && s->memory_used.state == READING_LOST;
}

bool nvml_sample_paced(const struct nvml *n, nvml_device device, struct nvml_paced *paced,
                       struct gpu_sample *s)
{
    const int64_t period = 950000000;
    enum pace_share share = n->is_fresh ? PACE_AT_ONCE : PACE_COUNTERS;
    sample_light(n, device, s);
    if (nvml_is_lost(s)) { /* nothing that it said before holds, and all is asked for anew once it is back */
        gpu_missing(s, gpu_sample_fields, READING_LOST);
        *paced = (struct nvml_paced){0};
        return false;
    }
    bool dear = pace_begin(&paced->dear);
    if (dear) {
        sample_dear(n, device, s);
        pace_end(&paced->dear, n->is_fresh ? 0 : period, share);
    }
    if (pace_begin(&paced->slow)) {
        sample_slow(n, device, s);
        pace_end(&paced->slow, n->is_fresh ? 0 : period, share);
    }
    gpu_check(s, gpu_sample_fields);
    for (const struct gpu_field *field = gpu_sample_fields; field->key; field++)
        if (gpu_get(s, field).state == READING_UNREAD)
            *gpu_reading(s, field) = gpu_get(&paced->last, field);
    paced->last = *s;
    return dear;
}
