#include "source/nvml_link.h"

static const int64_t second = 1000000000;

/* nvmlFieldValue ids. */
enum {
    FIELD_NVLINK_DATA_CRC = 45,
    FIELD_NVLINK_REPLAYS = 52,
    FIELD_NVLINK_RECOVERIES = 59,
    FIELD_NVLINK_COUNT = 91,
    FIELD_PCIE_REPLAYS = 94,
    FIELD_NVLINK_SEND_KIB = 138,
    FIELD_NVLINK_RECEIVE_KIB = 139,
    FIELD_NVLINK_STATE = 165,
    FIELD_PCIE_SEND = 197,
    FIELD_PCIE_RECEIVE = 198,
};
enum { ALL_LINKS = -1, TYPE_UINT = 1 };

/* ---- counters --------------------------------------------------------------------------------------------
 */

struct counters {
    struct nvml_traffic traffic;
    struct reading replays, errors;
};

static struct reading from_kib(struct reading kib)
{
    enum { KIB = 1024 };
    if (reading_is_known(kib) && __builtin_mul_overflow(kib.value, KIB, &kib.value))
        return reading_missing(READING_IMPLAUSIBLE);
    return kib;
}

/* Of those that this GPU counts. */
static struct reading sum(const struct reading *parts, int count)
{
    struct reading all = parts[0];
    for (int i = 1; i < count; i++)
        if (!reading_is_known(all))
            all = parts[i];
        else if (reading_is_known(parts[i]) && __builtin_add_overflow(all.value, parts[i].value, &all.value))
            return reading_missing(READING_IMPLAUSIBLE);
    return all;
}

static void read_counters(const struct nvml *n, nvml_device device, int64_t now, struct counters *c)
{
    struct nvml_field fields[] = {{.id = FIELD_PCIE_SEND},
                                  {.id = FIELD_PCIE_RECEIVE},
                                  {.id = FIELD_NVLINK_SEND_KIB, .scope = (unsigned)ALL_LINKS},
                                  {.id = FIELD_NVLINK_RECEIVE_KIB, .scope = (unsigned)ALL_LINKS},
                                  {.id = FIELD_PCIE_REPLAYS},
                                  {.id = FIELD_NVLINK_REPLAYS},
                                  {.id = FIELD_NVLINK_RECOVERIES},
                                  {.id = FIELD_NVLINK_DATA_CRC}};
    enum { COUNT = sizeof fields / sizeof *fields, ERRORS = 3 };
    struct reading readings[COUNT];
    int code = NVML_ASK(n, fields, device, COUNT, fields);
    for (int i = 0; i < COUNT; i++)
        readings[i] = code == NVML_OK ? nvml_field_reading(&fields[i]) : reading_missing(nvml_state(code));
    c->traffic = (struct nvml_traffic){.time_ns = now,
                                       .pcie_send = readings[0],
                                       .pcie_receive = readings[1],
                                       .nvlink_send = from_kib(readings[2]),
                                       .nvlink_receive = from_kib(readings[3]),
                                       .pcie_is_short = fields[0].type == TYPE_UINT};
    c->replays = readings[4];
    c->errors = sum(&readings[COUNT - ERRORS], ERRORS);
}

/* A counter of 32 bits that went back has gone round, once. */
static struct reading short_gain(struct reading before, struct reading after, bool is_short)
{
    const int64_t round = INT64_C(1) << 32;
    if (is_short && reading_is_known(before) && reading_is_known(after) && after.value < before.value)
        after.value += round;
    return reading_gain(before, after);
}

static struct reading per_second(struct reading gain, int64_t elapsed)
{
    __int128 rate = elapsed > 0 ? (__int128)gain.value * second / elapsed : 0;
    return reading_is_known(gain) ? reading_of((int64_t)rate) : gain;
}

static void rate(const struct nvml_traffic *before, const struct nvml_traffic *after,
                 struct machine_detail *d)
{
    int64_t elapsed = after->time_ns - before->time_ns;
    bool is_short = after->pcie_is_short;
    d->pcie_send = per_second(short_gain(before->pcie_send, after->pcie_send, is_short), elapsed);
    d->pcie_receive = per_second(short_gain(before->pcie_receive, after->pcie_receive, is_short), elapsed);
    d->nvlink_send = per_second(reading_gain(before->nvlink_send, after->nvlink_send), elapsed);
    d->nvlink_receive = per_second(reading_gain(before->nvlink_receive, after->nvlink_receive), elapsed);
}

/* What a counter gained since a minute ago, or since it was first seen. */
static struct reading last_minute(struct nvml_minute *m, int64_t now, struct reading total)
{
    const int64_t step = 5 * second, minute = 60 * second;
    int newest = (m->count - 1) % NVML_MINUTE_STEPS;
    if (m->count == 0 || now - m->at[newest].time_ns >= step) {
        newest = m->count++ % NVML_MINUTE_STEPS;
        m->at[newest].time_ns = now;
        m->at[newest].total = total;
    }
    int oldest = newest;
    for (int i = 0; i < NVML_MINUTE_STEPS && i < m->count; i++)
        if (now - m->at[i].time_ns <= minute && m->at[i].time_ns < m->at[oldest].time_ns)
            oldest = i;
    return reading_gain(m->at[oldest].total, total);
}

/* ---- states of NVLinks -----------------------------------------------------------------------------------
 */

/* The driver may count links that the board does not have: one counts if its state can be asked for. */
static void look_at_nvlinks(const struct nvml *n, nvml_device device, struct nvml_link *link)
{
    enum { MOST_LINKS = 64 };
    struct nvml_field count = {.id = FIELD_NVLINK_COUNT}, states[MOST_LINKS] = {0};
    int code = NVML_ASK(n, fields, device, 1, &count);
    link->nvlinks = code == NVML_OK ? nvml_field_reading(&count) : reading_missing(nvml_state(code));
    link->nvlinks_active = link->nvlinks;
    if (!reading_is_known(link->nvlinks) || link->nvlinks.value == 0)
        return;
    int links = (int)min_ns(link->nvlinks.value, MOST_LINKS);
    for (int i = 0; i < links; i++)
        states[i] = (struct nvml_field){.id = FIELD_NVLINK_STATE, .scope = (unsigned)i};
    code = NVML_ASK(n, fields, device, links, states);
    if (code != NVML_OK) {
        link->nvlinks_active = reading_missing(nvml_state(code));
        return;
    }
    int64_t there = 0, active = 0;
    for (int i = 0; i < links; i++) {
        struct reading state = nvml_field_reading(&states[i]);
        there += reading_is_known(state);
        active += reading_is_known(state) && state.value == 1;
    }
    link->nvlinks = reading_of(there);
    link->nvlinks_active = reading_of(active);
}

/* ---- verdicts --------------------------------------------------------------------------------------------
 */

/* Twice in a row: a link needs a moment to come up when traffic begins. */
static bool is_busy(struct reading send, struct reading receive, bool *was_busy)
{
    const int64_t least = 100000000;
    bool before = *was_busy;
    *was_busy = reading_is_known(send) && reading_is_known(receive) && send.value + receive.value >= least;
    return *was_busy && before;
}

static bool is_less(struct reading now, struct reading most)
{
    return reading_is_known(now) && reading_is_known(most) && now.value < most.value;
}

static bool is_over(struct reading r, int64_t limit)
{
    return reading_is_known(r) && r.value > limit;
}

static struct reading judge_pcie(const struct gpu_facts *f, const struct gpu_sample *s, bool busy,
                                 const struct machine_detail *d)
{
    enum { REPLAYS_A_MINUTE = 8 };
    int64_t verdict = is_over(d->pcie_replays_lately, REPLAYS_A_MINUTE) ? GPU_LINK_REPLAYS : 0;
    if (!reading_is_known(d->pcie_send))
        return reading_missing(d->pcie_send.state);
    if (!busy)
        return reading_of(verdict | GPU_LINK_UNUSED);
    if (is_less(s->pcie_generation, f->pcie_generation_max))
        verdict |= GPU_LINK_SLOW;
    if (is_less(s->pcie_width, f->pcie_width_max))
        verdict |= GPU_LINK_NARROW;
    return reading_of(verdict);
}

static struct reading judge_nvlink(struct reading errors_lately, bool busy, const struct machine_detail *d)
{
    int64_t verdict = is_over(errors_lately, 0) ? GPU_LINK_ERRORS : 0;
    if (reading_is_known(d->nvlinks) && d->nvlinks.value == 0)
        return reading_missing(READING_UNSUPPORTED);
    if (!reading_is_known(d->nvlink_send))
        return reading_missing(d->nvlink_send.state);
    if (!busy)
        return reading_of(verdict | GPU_LINK_UNUSED);
    if (is_less(d->nvlinks_active, d->nvlinks))
        verdict |= GPU_LINK_INACTIVE;
    return reading_of(verdict);
}

void nvml_link_traffic(const struct nvml *n, nvml_device device, int64_t now, struct nvml_link *link,
                       struct machine_detail *d)
{
    struct counters counters;
    read_counters(n, device, now, &counters);
    if (link->last.time_ns && now > link->last.time_ns) /* else the clock was set back */
        rate(&link->last, &counters.traffic, d);
    link->last = counters.traffic;
}

void nvml_link_rate(const struct nvml *n, nvml_device device, const struct gpu_facts *facts,
                    const struct gpu_sample *sample, bool is_first, struct nvml_link *link,
                    struct machine_detail *d)
{
    const int64_t look_age = 5 * second;
    int64_t now = sample->time_ns;
    struct counters counters;
    if (is_first)
        *link = (struct nvml_link){0};
    if (is_first || now - link->looked_ns >= look_age) {
        look_at_nvlinks(n, device, link);
        link->looked_ns = now;
    }
    read_counters(n, device, now, &counters);
    if (!is_first)
        rate(&link->last, &counters.traffic, d);
    link->last = counters.traffic;
    d->pcie_replays = counters.replays;
    d->nvlink_errors = counters.errors;
    d->nvlinks = link->nvlinks;
    d->nvlinks_active = link->nvlinks_active;
    d->pcie_replays_lately = last_minute(&link->replays, now, counters.replays);
    d->pcie_link = judge_pcie(facts, sample, is_busy(d->pcie_send, d->pcie_receive, &link->pcie_was_busy), d);
    d->nvlink_link = judge_nvlink(last_minute(&link->errors, now, counters.errors),
                                  is_busy(d->nvlink_send, d->nvlink_receive, &link->nvlink_was_busy), d);
}
