#include "source/nvml_detail.h"

static const int64_t second = 1000000000;

static struct reading share(struct reading part, int64_t whole)
{
    enum { THOUSAND = 1000 };
    __int128 permille = whole > 0 ? ((__int128)part.value * THOUSAND + whole / 2) / whole : 0;
    return reading_is_known(part) ? reading_of((int64_t)permille) : part;
}

static struct reading per_second(struct reading gain, int64_t elapsed)
{
    __int128 rate = elapsed > 0 ? (__int128)gain.value * second / elapsed : 0;
    return reading_is_known(gain) ? reading_of((int64_t)rate) : gain;
}

/* ---- GPM -------------------------------------------------------------------------------------------------
 */

/* nvmlGpmMetricId_t; all are percent. Only the first one is no counter of the sample: it alone takes the
 * driver a millisecond or more. */
static const struct {
    unsigned id;
    size_t offset;
} gpm_metrics[] = {
    {1, offsetof(struct machine_detail, graphics_active)},
    {2, offsetof(struct machine_detail, sm_active)},
    {3, offsetof(struct machine_detail, sm_occupancy)},
    {5, offsetof(struct machine_detail, tensor_active)},
    {10, offsetof(struct machine_detail, memory_bandwidth)},
    {11, offsetof(struct machine_detail, fp64_active)},
    {12, offsetof(struct machine_detail, fp32_active)},
    {13, offsetof(struct machine_detail, fp16_active)},
};
enum { GPM_COUNT = sizeof gpm_metrics / sizeof *gpm_metrics, GPM_DEAR = 1 };

static struct reading *gpm_reading(struct machine_detail *d, size_t metric)
{
    return (struct reading *)((char *)d + gpm_metrics[metric].offset);
}

static void gpm_missing(struct machine_detail *d, enum reading_state why)
{
    for (size_t i = 0; i < GPM_COUNT; i++)
        *gpm_reading(d, i) = reading_missing(why);
}

static bool gpm_begin(const struct nvml *n, nvml_device device, struct nvml_detail *state)
{
    struct nvml_gpm_support support = {.version = 1};
    if (state->gpm)
        return state->gpm > 0;
    int code = NVML_ASK(n, gpm_support, device, &support);
    if (code == NVML_OK && !support.supported)
        code = NVML_ABSENT;
    for (int i = 0; i < 2 && code == NVML_OK; i++)
        code = NVML_ASK(n, gpm_alloc, &state->gpm_samples[i]);
    state->gpm = code == NVML_OK ? 1 : -1;
    state->gpm_why = nvml_state(code);
    return code == NVML_OK;
}

static struct reading gpm_permille(const struct nvml_gpm_metric *metric)
{
    enum { PERMILLE_OF_PERCENT = 10, MOST = 200 };
    if (metric->code != NVML_OK)
        return nvml_reading(metric->code, 0);
    if (!(metric->value >= 0 && metric->value <= MOST))
        return reading_missing(READING_IMPLAUSIBLE);
    return reading_of((int64_t)(metric->value * PERMILLE_OF_PERCENT + 0.5));
}

/* The metrics [first, end) of what lies between two samples. */
static void gpm_rate(const struct nvml *n, const struct nvml_detail *state, size_t first, size_t end,
                     struct machine_detail *d)
{
    struct nvml_gpm_metrics get = {.version = 1,
                                   .count = (unsigned)(end - first),
                                   .before = state->gpm_samples[0],
                                   .after = state->gpm_samples[1]};
    for (size_t i = first; i < end; i++)
        get.metrics[i - first].id = gpm_metrics[i].id;
    int code = NVML_ASK(n, gpm_metrics, &get);
    for (size_t i = first; i < end; i++)
        *gpm_reading(d, i) =
            code == NVML_OK ? gpm_permille(&get.metrics[i - first]) : reading_missing(nvml_state(code));
}

static void gpm_rates(const struct nvml *n, struct nvml_detail *state, struct machine_detail *d)
{
    gpm_rate(n, state, GPM_DEAR, GPM_COUNT, d);
    if (!pace_begin(&state->gpm_dear_pace))
        return;
    gpm_rate(n, state, 0, GPM_DEAR, d);
    pace_end(&state->gpm_dear_pace, 0, n->is_fresh ? PACE_AT_ONCE : PACE_SM);
}

static void gpm(const struct nvml *n, nvml_device device, struct nvml_detail *state, int64_t now,
                struct machine_detail *d)
{
    if (!gpm_begin(n, device, state)) {
        gpm_missing(d, state->gpm_why);
        return;
    }
    int code = NVML_ASK(n, gpm_get, device, state->gpm_samples[1]);
    if (code != NVML_OK)
        gpm_missing(d, nvml_state(code));
    else if (state->gpm_time_ns)
        gpm_rates(n, state, d);
    nvml_gpm_sample older = state->gpm_samples[0];
    state->gpm_samples[0] = state->gpm_samples[1];
    state->gpm_samples[1] = older;
    state->gpm_time_ns = code == NVML_OK ? now : 0;
}

/* ---- all -------------------------------------------------------------------------------------------------
 */

/* NVML's percentages come with a sampling period that nobody needs. */
static struct reading engine(int (*call)(nvml_device, unsigned *, unsigned *), nvml_device device)
{
    unsigned percent = 0, period = 0;
    int code = call ? call(device, &percent, &period) : NVML_ABSENT;
    return nvml_reading(code, percent);
}

static void read_levels(const struct nvml *n, nvml_device device, struct machine_detail *d)
{
    unsigned fan = 0;
    struct nvml_memory_v2 memory = {.version = sizeof memory | 2u << 24};
    d->encoder = engine(n->call.encoder, device);
    d->decoder = engine(n->call.decoder, device);
    d->jpeg = engine(n->call.jpeg, device);
    d->optical_flow = engine(n->call.optical_flow, device);
    if (d->fan.state != READING_UNSUPPORTED) { /* to say so takes the driver long */
        int code = NVML_ASK(n, fan, device, &fan);
        d->fan = nvml_reading(code, fan);
    }
    int code = NVML_ASK(n, memory_v2, device, &memory);
    d->memory_reserved = nvml_told(code, (int64_t)memory.reserved, n->foreign.memory_v2);
    d->hotspot = reading_missing(READING_UNSUPPORTED);
}

static void read_health(const struct nvml *n, nvml_device device, struct machine_detail *d)
{
    enum { RETIRED_SINGLE_BIT = 29, RETIRED_DOUBLE_BIT = 30, RETIRED_PENDING = 31, RECOVERY_ACTION = 230 };
    struct reading *const readings[] = {&d->retired_correctable, &d->retired_uncorrectable,
                                        &d->retirement_pending, &d->recovery};
    struct nvml_field fields[] = {{.id = RETIRED_SINGLE_BIT},
                                  {.id = RETIRED_DOUBLE_BIT},
                                  {.id = RETIRED_PENDING},
                                  {.id = RECOVERY_ACTION}};
    enum { COUNT = sizeof fields / sizeof *fields };
    int code = NVML_ASK(n, fields, device, COUNT, fields);
    for (int i = 0; i < COUNT; i++)
        *readings[i] = code == NVML_OK ? nvml_field_reading(&fields[i]) : reading_missing(nvml_state(code));
}

static void rate_clocks(struct nvml_detail *state, const struct gpu_sample *sample, struct machine_detail *d)
{
    struct gpu_held held;
    int64_t elapsed = sample->time_ns - state->rated.time_ns;
    gpu_series_held(&state->held, &state->rated, sample, &held);
    d->power_cap = share(held.power_cap, elapsed);
    d->heat = share(held.heat, elapsed);
    d->power_brake = share(held.power_brake, elapsed);
}

static void read_gpm(const struct nvml *n, nvml_device device, struct nvml_detail *state, int64_t now,
                     struct machine_detail *d)
{
    gpm(n, device, state, now, d);
    pace_end(&state->gpm_pace, NVML_RATE_PERIOD_NS, n->is_fresh ? PACE_AT_ONCE : PACE_SM_PARTS);
}

static void read_rates(const struct nvml *n, nvml_device device, struct nvml_detail *state,
                       const struct gpu_facts *facts, const struct gpu_sample *sample, bool anew)
{
    if (anew || pace_begin(&state->link_pace)) {
        nvml_link_rate(n, device, facts, sample, anew, &state->link, &state->last);
        pace_end(&state->link_pace, NVML_RATE_PERIOD_NS, n->is_fresh ? PACE_AT_ONCE : PACE_LINKS);
    }
    if (anew || pace_begin(&state->gpm_pace))
        read_gpm(n, device, state, sample->time_ns, &state->last);
    if (anew || sample->time_ns - state->rated.time_ns >= NVML_STEPS_PERIOD_NS) {
        if (!anew)
            rate_clocks(state, sample, &state->last);
        state->rated = *sample;
    }
}

static void read_energy(const struct nvml *n, nvml_device device, struct nvml_detail *state,
                        const struct gpu_sample *sample, bool anew)
{
    int64_t elapsed = sample->time_ns - state->energized.time_ns;
    if (!anew && elapsed < NVML_STEPS_PERIOD_NS)
        return;
    if (!anew)
        state->last.power_average =
            per_second(reading_gain(state->energized.energy, sample->energy), elapsed);
    state->energized = *sample;
    read_health(n, device, &state->last);
}

void nvml_detail(const struct nvml *n, nvml_device device, struct nvml_detail *state,
                 const struct gpu_facts *facts, const struct gpu_sample *sample, bool is_dear,
                 struct machine_detail *detail)
{
    bool anew = state->rated.time_ns == 0 || sample->time_ns < state->rated.time_ns;
    read_levels(n, device, &state->last);
    read_rates(n, device, state, facts, sample, anew);
    if (anew || is_dear)
        read_energy(n, device, state, sample, anew);
    gpu_check(&state->last, machine_detail_fields);
    *detail = state->last;
}

void nvml_rates(const struct nvml *n, nvml_device device, struct nvml_detail *state, int64_t now,
                struct machine_detail *detail)
{
    *detail = (struct machine_detail){0};
    if (pace_begin(&state->link_pace)) {
        nvml_link_traffic(n, device, now, &state->link, detail);
        pace_end(&state->link_pace, NVML_RATE_PERIOD_NS, PACE_LINKS);
    }
    if (pace_begin(&state->gpm_pace))
        read_gpm(n, device, state, now, detail);
    gpu_check(detail, machine_detail_fields);
}

void nvml_detail_release(const struct nvml *n, struct nvml_detail *state)
{
    for (int i = 0; i < 2; i++)
        if (state->gpm_samples[i])
            NVML_ASK(n, gpm_free, state->gpm_samples[i]);
    *state = (struct nvml_detail){0};
}
