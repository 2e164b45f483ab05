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

/* ---- links -----------------------------------------------------------------------------------------------
 */

enum {
    FIELD_PCIE_REPLAYS = 94,
    FIELD_NVLINK_SEND_KIB = 138,
    FIELD_NVLINK_RECEIVE_KIB = 139,
    FIELD_PCIE_SEND = 197,
    FIELD_PCIE_RECEIVE = 198,
};
enum { ALL_LINKS = -1, TYPE_UINT = 1 };

static struct reading from_kib(struct reading kib)
{
    enum { KIB = 1024 };
    if (reading_is_known(kib) && __builtin_mul_overflow(kib.value, KIB, &kib.value))
        return reading_missing(READING_IMPLAUSIBLE);
    return kib;
}

static void read_links(const struct nvml *n, nvml_device device, struct nvml_links *links,
                       struct reading *replays)
{
    struct nvml_field fields[] = {{.id = FIELD_PCIE_SEND},
                                  {.id = FIELD_PCIE_RECEIVE},
                                  {.id = FIELD_NVLINK_SEND_KIB, .scope = (unsigned)ALL_LINKS},
                                  {.id = FIELD_NVLINK_RECEIVE_KIB, .scope = (unsigned)ALL_LINKS},
                                  {.id = FIELD_PCIE_REPLAYS}};
    enum { COUNT = sizeof fields / sizeof *fields };
    struct reading readings[COUNT];
    int code = NVML_ASK(n, fields, device, COUNT, fields);
    for (int i = 0; i < COUNT; i++)
        readings[i] = code == NVML_OK ? nvml_field_reading(&fields[i]) : reading_missing(nvml_state(code));
    links->pcie_send = readings[0];
    links->pcie_receive = readings[1];
    links->nvlink_send = from_kib(readings[2]);
    links->nvlink_receive = from_kib(readings[3]);
    links->pcie_is_short = fields[0].type == TYPE_UINT;
    *replays = readings[4];
}

/* A counter of 32 bits that went back has gone round, once. */
static struct reading short_gain(struct reading before, struct reading after, bool is_short)
{
    const int64_t round = INT64_C(1) << 32;
    if (is_short && reading_is_known(before) && reading_is_known(after) && after.value < before.value)
        after.value += round;
    return reading_gain(before, after);
}

static void rate_links(const struct nvml_links *before, const struct nvml_links *after,
                       struct machine_detail *d)
{
    int64_t elapsed = after->time_ns - before->time_ns;
    bool is_short = after->pcie_is_short;
    d->pcie_send = per_second(short_gain(before->pcie_send, after->pcie_send, is_short), elapsed);
    d->pcie_receive = per_second(short_gain(before->pcie_receive, after->pcie_receive, is_short), elapsed);
    d->nvlink_send = per_second(reading_gain(before->nvlink_send, after->nvlink_send), elapsed);
    d->nvlink_receive = per_second(reading_gain(before->nvlink_receive, after->nvlink_receive), elapsed);
}

/* ---- GPM -------------------------------------------------------------------------------------------------
 */

/* nvmlGpmMetricId_t; all are percent. */
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
enum { GPM_COUNT = sizeof gpm_metrics / sizeof *gpm_metrics };

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

static void gpm_rate(const struct nvml *n, struct nvml_detail *state, struct machine_detail *d)
{
    struct nvml_gpm_metrics get = {
        .version = 1, .count = GPM_COUNT, .before = state->gpm_samples[0], .after = state->gpm_samples[1]};
    for (size_t i = 0; i < GPM_COUNT; i++)
        get.metrics[i].id = gpm_metrics[i].id;
    int code = NVML_ASK(n, gpm_metrics, &get);
    if (code != NVML_OK) {
        gpm_missing(d, nvml_state(code));
        return;
    }
    for (size_t i = 0; i < GPM_COUNT; i++)
        *gpm_reading(d, i) = gpm_permille(&get.metrics[i]);
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
        gpm_rate(n, state, d);
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
    int code = NVML_ASK(n, fan, device, &fan);
    d->fan = nvml_reading(code, fan);
    code = NVML_ASK(n, memory_v2, device, &memory);
    d->memory_reserved = nvml_reading(code, (int64_t)memory.reserved);
    d->hotspot = reading_missing(READING_UNSUPPORTED);
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

void nvml_detail(const struct nvml *n, nvml_device device, struct nvml_detail *state,
                 const struct gpu_sample *sample, struct machine_detail *detail)
{
    struct machine_detail *d = &state->last;
    int64_t now = sample->time_ns;
    bool first = state->rated.time_ns == 0, backwards = now < state->rated.time_ns;
    read_levels(n, device, d);
    if (first || backwards || now - state->rated.time_ns >= NVML_RATE_PERIOD_NS) {
        struct nvml_links links = {.time_ns = now};
        read_links(n, device, &links, &d->pcie_replays);
        gpm(n, device, state, now, d);
        if (!first && !backwards) {
            rate_links(&state->links, &links, d);
            rate_clocks(state, sample, d);
        }
        state->links = links;
        state->rated = *sample;
    }
    if (first || backwards)
        state->energized = *sample;
    if (now - state->energized.time_ns >= NVML_ENERGY_PERIOD_NS) {
        d->power_average =
            per_second(reading_gain(state->energized.energy, sample->energy), now - state->energized.time_ns);
        state->energized = *sample;
    }
    gpu_check(d, machine_detail_fields);
    *detail = *d;
}

void nvml_detail_release(const struct nvml *n, struct nvml_detail *state)
{
    for (int i = 0; i < 2; i++)
        if (state->gpm_samples[i])
            NVML_ASK(n, gpm_free, state->gpm_samples[i]);
    *state = (struct nvml_detail){0};
}
