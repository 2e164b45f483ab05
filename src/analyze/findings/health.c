/* Findings about the hardware: clocks held down by the power limit, an external brake or heat.
 *
 * The time is the driver's own count (struct gpu_sample, source/gpu_series.c), not a guess from samples. What
 * it costs is at most what the clock was below the GPU's highest while it was held: work that waits for
 * memory loses less. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"
#include "model/gpu.h"

enum role { ROLE_NONE, ROLE_CLOCK, ROLE_TEMPERATURE, ROLE_POWER_CAP, ROLE_HEAT, ROLE_BRAKE, ROLES };

struct held {
    int64_t ns;      /* within the window */
    int64_t lost_ns; /* of it, at most */
    double clock_ns; /* ∫ SM clock over it, Hz × ns */
};

struct clocks {
    const struct device_report *ledger;
    int64_t before, now; /* moments of the last two samples; UNKNOWN */
    double clock_before, clock;
    int64_t watched_ns;
    double hottest; /* °C; NAN unknown */
    struct held held[ROLES];
};

static enum role role_of(const struct run *run, const struct counter_series *series)
{
    static const char *const names[ROLES] = {[ROLE_CLOCK] = GPU_SERIES_SM_CLOCK,
                                             [ROLE_TEMPERATURE] = GPU_SERIES_TEMPERATURE,
                                             [ROLE_POWER_CAP] = GPU_SERIES_POWER_CAP,
                                             [ROLE_HEAT] = GPU_SERIES_HEAT,
                                             [ROLE_BRAKE] = GPU_SERIES_POWER_BRAKE};
    if (series->device == NONE || series->process != NONE)
        return ROLE_NONE;
    for (enum role role = ROLE_CLOCK; role < ROLES; role++)
        if (strcmp(run_text(run, series->name), names[role]) == 0)
            return role;
    return ROLE_NONE;
}

/* The part of the time since the sample before that lies in the window. */
static int64_t since_before(const struct clocks *c)
{
    if (c->before == UNKNOWN)
        return 0;
    int64_t start = max_ns(c->before, c->ledger->window.start), end = min_ns(c->now, c->ledger->window.end);
    return end > start ? end - start : 0;
}

static void on_clock(struct clocks *c, int64_t time, double hz)
{
    c->before = c->now;
    c->clock_before = c->clock;
    c->now = time;
    c->clock = hz;
    c->watched_ns += since_before(c);
}

static void on_held(const struct run *run, struct clocks *c, enum role role, int64_t time, double share)
{
    double highest = (double)run->devices.at[c->ledger->device].clock_hz;
    if (time != c->now ||
        !(share > 0 && share <= 1)) /* without the clock of that moment its price is unknown */
        return;
    double held = share * (double)since_before(c), clock = (c->clock_before + c->clock) / 2;
    struct held *h = &c->held[role];
    h->ns += (int64_t)held;
    h->clock_ns += held * clock;
    if (highest > 0 && clock >= 0 && clock < highest)
        h->lost_ns += (int64_t)(held * (1 - clock / highest));
}

/* Fills one row for each device of the report. */
static void read_clocks(const struct finder *f, struct clocks *clocks)
{
    const struct run *run = f->run;
    uint32_t *row_of = mem_resize(NULL, run->devices.count, sizeof *row_of);
    enum role *roles = mem_zalloc(run->series.count, sizeof *roles);
    for (size_t d = 0; d < run->devices.count; d++)
        row_of[d] = NONE;
    for (uint32_t i = 0; i < f->report->devices.count; i++) {
        const struct device_report *ledger = &f->report->devices.at[i];
        clocks[i] = (struct clocks){.ledger = ledger, .before = UNKNOWN, .now = UNKNOWN, .hottest = NAN};
        row_of[ledger->device] = i;
    }
    for (size_t s = 0; s < run->series.count; s++)
        roles[s] = role_of(run, &run->series.at[s]);
    for (size_t i = 0; i < run->samples.count; i++) {
        uint32_t series = run->samples.series[i];
        uint32_t row = roles[series] != ROLE_NONE ? row_of[run->series.at[series].device] : NONE;
        double value = run->samples.value[i];
        if (row == NONE)
            continue;
        if (roles[series] == ROLE_CLOCK)
            on_clock(&clocks[row], run->samples.time[i], value);
        else if (roles[series] == ROLE_TEMPERATURE)
            clocks[row].hottest = fmax(clocks[row].hottest, value);
        else
            on_held(run, &clocks[row], roles[series], run->samples.time[i], value);
    }
    free(roles);
    free(row_of);
}

struct total {
    int64_t held_ns, lost_ns, watched_ns;
    const struct clocks *worst; /* the device that was held longest */
};

static struct total sum(const struct finder *f, const struct clocks *clocks, enum role role)
{
    struct total t = {0};
    for (size_t i = 0; i < f->report->devices.count; i++) {
        t.held_ns += clocks[i].held[role].ns;
        t.lost_ns += clocks[i].held[role].lost_ns;
        t.watched_ns += clocks[i].watched_ns;
        if (!t.worst || clocks[i].held[role].ns > t.worst->held[role].ns)
            t.worst = &clocks[i];
    }
    return t;
}

static const struct device *device_of(const struct finder *f, const struct clocks *c)
{
    return &f->run->devices.at[c->ledger->device];
}

static struct reading fact_of(const struct finder *f, const struct clocks *c, const char *key,
                              enum gpu_unit unit)
{
    return gpu_fact_reading(f->run, run_text(f->run, device_of(f, c)->uuid), key, unit);
}

static void add_clock_evidence(const struct finder *f, struct finding *finding, const struct total *t,
                               enum role role)
{
    const struct held *held = &t->worst->held[role];
    double mean = held->clock_ns / (double)held->ns, highest = (double)device_of(f, t->worst)->clock_hz;
    finding_evidence(finding, msg_make(N_("held for {0} of the {1} that were watched"), value_ns(t->held_ns),
                                       value_ns(t->watched_ns)));
    if (highest > 0)
        finding_evidence(
            finding, msg_make(N_("SM clock meanwhile {0} MHz on average, of {1} MHz: at most {2} lost"),
                              value_number(mean / 1e6), value_number(highest / 1e6), value_ns(t->lost_ns)));
    else
        finding_evidence(finding,
                         msg_make(N_("SM clock meanwhile {0} MHz on average; what that costs cannot be "
                                     "said, because the highest clock is not known"),
                                  value_number(mean / 1e6)));
}

/* A limit that can be raised is worth a try; one at the board's own maximum is what full use looks like. */
static void find_power_cap(struct finder *f, const struct clocks *clocks)
{
    struct total t = sum(f, clocks, ROLE_POWER_CAP);
    if (!matters(f, t.held_ns))
        return;
    struct reading limit = fact_of(f, t.worst, "end.power_limit_watts", GPU_MILLIWATTS);
    struct reading most = fact_of(f, t.worst, "power_limit_max_watts", GPU_MILLIWATTS);
    struct reading usual = fact_of(f, t.worst, "power_limit_default_watts", GPU_MILLIWATTS);
    bool known = reading_is_known(limit) && reading_is_known(most),
         can_rise = known && limit.value < most.value;
    struct finding *finding =
        finding_add(f, "health-power-cap", t.lost_ns, 0.0, can_rise ? 0.8 : 0.0, known ? 0.8 : 0.5);
    finding->title = msg_make(N_("the power limit holds the clocks down {0} of the time that was watched"),
                              value_ratio(ratio(t.held_ns, t.watched_ns)));
    add_clock_evidence(f, finding, &t, ROLE_POWER_CAP);
    if (known)
        finding_evidence(finding, msg_make(N_("power limit in force {0} W; this board allows up to {1} W"),
                                           value_number((double)limit.value / 1e3),
                                           value_number((double)most.value / 1e3)));
    if (reading_is_known(usual) && reading_is_known(limit) && limit.value < usual.value)
        finding_evidence(finding, msg_make(N_("somebody lowered it: its default is {0} W"),
                                           value_number((double)usual.value / 1e3)));
    finding->action =
        can_rise
            ? msg_make(N_("if cooling and power supply allow, raise the limit (nvidia-smi -pl, as root) and "
                          "measure again; work that waits for memory gains little"))
        : known
            ? msg_make(
                  N_("nothing to raise: the board runs at its own highest limit, as a GPU at full load "
                     "does; fewer or cheaper operations (lower precision, sparsity, no wasted work) leave "
                     "more power for the clock"))
            : msg_make(N_("look at the limits (nvidia-smi -q -d POWER): this recording does not have them"));
}

static void find_brake(struct finder *f, const struct clocks *clocks)
{
    struct total t = sum(f, clocks, ROLE_BRAKE);
    if (!matters(f, t.held_ns))
        return;
    struct finding *finding = finding_add(f, "health-power-brake", t.lost_ns, 0.3, 0.9, 0.8);
    finding->title =
        msg_make(N_("an external power brake holds the clocks down {0} of the time that was watched"),
                 value_ratio(ratio(t.held_ns, t.watched_ns)));
    add_clock_evidence(f, finding, &t, ROLE_BRAKE);
    finding->action =
        msg_make(N_("the machine, not the GPU, asks for less: look at its power supplies, their "
                    "cables and the power budget of the chassis or the rack"));
}

static void find_heat(struct finder *f, const struct clocks *clocks)
{
    struct total t = sum(f, clocks, ROLE_HEAT);
    if (!matters(f, t.held_ns))
        return;
    struct reading slowdown = fact_of(f, t.worst, "slowdown_celsius", GPU_CELSIUS);
    struct finding *finding = finding_add(f, "health-thermal", t.lost_ns, 0.3, 0.9, 0.8);
    finding->title = msg_make(N_("heat holds the clocks down {0} of the time that was watched"),
                              value_ratio(ratio(t.held_ns, t.watched_ns)));
    add_clock_evidence(f, finding, &t, ROLE_HEAT);
    if (reading_is_known(slowdown) && !isnan(t.worst->hottest))
        finding_evidence(finding,
                         msg_make(N_("GPU temperature up to {0} °C; it slows down at {1} °C"),
                                  value_number(t.worst->hottest), value_number((double)slowdown.value)));
    else if (!isnan(t.worst->hottest))
        finding_evidence(finding,
                         msg_make(N_("GPU temperature up to {0} °C"), value_number(t.worst->hottest)));
    finding->action =
        msg_make(N_("look at the cooling: fans, dust, air flow, the temperature of the room, the "
                    "neighbour that blows its hot air in; memory may be hotter than the chip "
                    "(nvidia-smi -q -d TEMPERATURE)"));
}

void find_health(struct finder *f)
{
    struct clocks *clocks = mem_zalloc(f->report->devices.count, sizeof *clocks);
    read_clocks(f, clocks);
    find_power_cap(f, clocks);
    find_brake(f, clocks);
    find_heat(f, clocks);
    free(clocks);
}
