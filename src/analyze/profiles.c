#include "analyze/profiles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/codes.h"
#include "analyze/occupancy.h"
#include "base/i18n.h"

const char *undecided_title(enum undecided what)
{
    static const char *const titles[UNDECIDED_COUNT] = {
        [UNDECIDED_COALESCING] = N_("coalescing"), [UNDECIDED_CONFLICTS] = N_("bank conflicts"),
        [UNDECIDED_DIVERGENCE] = N_("divergence"), [UNDECIDED_LOCAL] = N_("local memory"),
        [UNDECIDED_ATOMICS] = N_("atomics"),       [UNDECIDED_PIPES] = N_("use of the pipes"),
        [UNDECIDED_STALLS] = N_("why warps wait"),
    };
    return titles[what];
}

const char *undecided_name(enum undecided what)
{
    static const char *const names[UNDECIDED_COUNT] = {
        [UNDECIDED_COALESCING] = "coalescing", [UNDECIDED_CONFLICTS] = "bank-conflicts",
        [UNDECIDED_DIVERGENCE] = "divergence", [UNDECIDED_LOCAL] = "local-memory",
        [UNDECIDED_ATOMICS] = "atomics",       [UNDECIDED_PIPES] = "pipes",
        [UNDECIDED_STALLS] = "stalls",
    };
    return names[what];
}

/* ---- metrics over launches ----------------------------------------------------------------------------- */

/* A ratio or an average speaks of the time of its launch; the rest is an amount of the launch. */
static bool is_weighted(enum metric id)
{
    enum metric_unit unit = metric_infos[id].unit;
    return unit == IN_RATIO || unit == IN_NUMBER || unit == IN_BYTES_PER_S || unit == IN_HZ;
}

struct moments {
    double weight, sum;            /* weighted */
    double count, mean, deviation; /* of launches, each once: Welford's recurrence */
    double values;                 /* that those launches share */
};

static void moments_add(struct moments *m, double value, double launches, double weight)
{
    m->weight += weight;
    m->sum += weight * value;
    m->count += launches;
    m->values++;
    double step = value - m->mean;
    m->mean += step * launches / m->count;
    m->deviation += launches * step * (value - m->mean);
}

static void stat_add(struct metric_stat *stat, struct moments *m, const struct metric_value *v,
                     double launches, double weight)
{
    if (v->state != COUNTER_VALUE) {
        /* One launch of which it was known that it is a share of nothing speaks for those that lack it. */
        if (m->count == 0 && stat->state != COUNTER_UNDEFINED)
            stat->state = v->state;
        return;
    }
    if (m->count == 0)
        *stat = (struct metric_stat){NAN, v->value, v->value, NAN, COUNTER_VALUE, v->formula};
    stat->min = fmin(stat->min, v->value);
    stat->max = fmax(stat->max, v->value);
    moments_add(m, v->value, launches, weight);
}

/* The profiles of a row: members[first, end). */
struct members {
    const uint32_t *at;
    size_t count;
};

static double duration_of(const struct metrics *m, uint32_t profile)
{
    struct metric_value v = metric_get(m, profile, METRIC_DURATION);
    return v.state == COUNTER_VALUE ? v.value : NAN;
}

static double own_counter(const struct metrics *m, uint32_t profile, const char *key, const char *part)
{
    char name[128];
    snprintf(name, sizeof name, "%s:%s", key, part);
    return counter_get(m, profile, name).value; /* NAN where it is not there */
}

/* A profile that is the mean of several launches: how far apart they were, our own reports say. */
static void take_spread(struct metric_stat *stat, const struct metrics *m, uint32_t profile, const char *key)
{
    double min = own_counter(m, profile, key, "min"), max = own_counter(m, profile, key, "max");
    stat->deviation = own_counter(m, profile, key, "deviation");
    if (!isnan(min) && !isnan(max)) {
        stat->min = min;
        stat->max = max;
    }
}

static void combine_metric(struct profile_row *row, const struct metrics *m, struct members members,
                           enum metric id)
{
    struct metric_stat *stat = &row->metrics[id];
    struct moments moments = {0};
    *stat = (struct metric_stat){NAN, NAN, NAN, NAN, COUNTER_NOT_MEASURED, NULL};
    for (size_t i = 0; i < members.count; i++) {
        uint32_t profile = members.at[i];
        double launches = (double)m->run->profiles.at[profile].launches;
        double duration = is_weighted(id) ? duration_of(m, profile) : 1;
        struct metric_value v = metric_get(m, profile, id);
        stat_add(stat, &moments, &v, launches, launches * (duration > 0 ? duration : 1));
    }
    if (moments.count == 0)
        return;
    stat->value = moments.sum / moments.weight;
    if (moments.count > 1 && members.count == 1)
        take_spread(stat, m, members.at[0], metric_infos[id].key);
    else if (moments.values > 1)
        stat->deviation = sqrt(moments.deviation / moments.count * moments.values / (moments.values - 1));
}

static void combine_stalls(struct profile_row *row, const struct metrics *m, struct members members)
{
    double weights = 0, share[STALL_COUNT];
    for (int s = 0; s < STALL_COUNT; s++)
        row->stalls[s] = NAN;
    for (size_t i = 0; i < members.count; i++) {
        enum stall_source source = metric_stalls(m, members.at[i], share);
        if (source == STALLS_UNKNOWN)
            continue;
        double duration = duration_of(m, members.at[i]);
        double weight = duration > 0 ? duration : 1;
        row->stall_source = source;
        weights += weight;
        for (int s = 0; s < STALL_COUNT; s++)
            if (!isnan(share[s]))
                row->stalls[s] = (isnan(row->stalls[s]) ? 0 : row->stalls[s]) + weight * share[s];
    }
    row->top_stall = STALL_NONE;
    for (int s = 0; s < STALL_COUNT; s++) {
        row->stalls[s] /= weights;
        if (s == STALL_SELECTED || s == STALL_NOT_SELECTED || !(row->stalls[s] > 0))
            continue;
        if (row->top_stall == STALL_NONE || row->stalls[s] > row->stalls[row->top_stall])
            row->top_stall = (enum stall)s;
    }
}

/* ---- what the launch and the code say ------------------------------------------------------------------ */

static const struct device *device_of(const struct run *run, const struct profile_row *row)
{
    return row->device == NONE ? NULL : &run->devices.at[row->device];
}

/* The block limits as the tool that measured had them: with the shared memory that was really set aside. */
static void limits_from_counters(struct profile_row *row)
{
    static const enum metric limits[LIMIT_COUNT] = {
        [LIMIT_WARPS] = METRIC_LIMIT_WARPS,         [LIMIT_BLOCKS] = METRIC_LIMIT_BLOCKS,
        [LIMIT_REGISTERS] = METRIC_LIMIT_REGISTERS, [LIMIT_SHARED] = METRIC_LIMIT_SHARED,
        [LIMIT_BARRIERS] = METRIC_LIMIT_BARRIERS,
    };
    double least = INFINITY;
    for (int i = 0; i < LIMIT_COUNT; i++)
        least = fmin(least, row->metrics[limits[i]].value);
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (row->metrics[limits[i]].value == least)
            row->limiters |= 1u << i;
}

static void find_occupancy(struct profile_row *row, const struct run *run)
{
    row->occupancy_ratio = row->metrics[METRIC_THEORETICAL_OCCUPANCY].value;
    row->waves = row->metrics[METRIC_WAVES].value;
    limits_from_counters(row);
    const struct device *device = device_of(run, row);
    if (!device || row->shape == NONE)
        return;
    const struct shape *shape = &run->shapes.at[row->shape];
    double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
    struct occupancy_launch launch = {
        .threads = (int64_t)shape->block[0] * shape->block[1] * shape->block[2],
        .registers = shape->regs_per_thread,
        .shared_bytes = (int64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes,
    };
    struct occupancy occupancy;
    double resident = INFINITY;
    if (launch.threads > 0 && launch.registers > 0 && occupancy_find(&occupancy, device, &launch) &&
        occupancy.blocks > 0) {
        resident = (double)occupancy.blocks;
        if (isnan(row->occupancy_ratio))
            row->occupancy_ratio = occupancy.ratio;
        if (!row->limiters)
            row->limiters = occupancy.limiters;
    }
    /* Exact, where reports round to two digits; what really fits is the least that a limit allows. */
    resident = fmin(resident, row->metrics[METRIC_LIMIT_SHARED].value);
    if (resident > 0 && isfinite(resident) && device->sm_count > 0 && blocks > 0)
        row->waves = blocks / (resident * device->sm_count);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Machine code by name, mangled or not, and compute capability. */
static uint64_t code_key(uint32_t name, int32_t cc)
{
    return (uint64_t)name << 32 | (uint32_t)cc;
}

static struct map index_codes(const struct run *run)
{
    struct map codes = {0};
    for (uint32_t i = (uint32_t)run->codes.count; i-- > 0;) {
        const struct kernel_code *code = &run->codes.at[i];
        if (code->is_ptx || code->is_object)
            continue;
        map_set(&codes, code_key(code->name, code->sm), i);
        map_set(&codes, code_key(code->demangled, code->sm), i);
    }
    return codes;
}

/* The code that ran, else machine code of that name for exactly that GPU. */
static uint32_t find_code(const struct run *run, const struct map *codes,
                          const struct kernel_profile *profile)
{
    if (profile->code != NONE || profile->device == NONE)
        return profile->code;
    const struct device *device = &run->devices.at[profile->device];
    int32_t cc = device->cc_major * 10 + device->cc_minor;
    uint32_t at = map_get(codes, code_key(profile->mangled ? profile->mangled : profile->name, cc));
    return at == MAP_ABSENT ? NONE : at; /* by the mangled name where there is one: that is exact */
}

/* Grid, block and the rest of the launch make different rows only where the kernel's users would call the
 * launches different: by grid and block. */
static uint64_t row_key(const struct run *run, uint32_t device, uint32_t name, uint32_t shape)
{
    uint64_t key = hash_pair((uint64_t)device << 32 | name, 0);
    if (shape == NONE)
        return key;
    const struct shape *s = &run->shapes.at[shape];
    return hash_pair(hash_pair(key, hash_bytes(s->grid, sizeof s->grid)),
                     hash_bytes(s->block, sizeof s->block));
}

/* Row of each profile. */
static uint32_t *assign_rows(struct report *report)
{
    const struct run *run = report->run;
    uint32_t *row_of = mem_resize(NULL, run->profiles.count + 1, sizeof *row_of);
    struct map known = {0}, codes = index_codes(run);
    for (uint32_t i = 0; i < run->profiles.count; i++) {
        const struct kernel_profile *p = &run->profiles.at[i];
        uint64_t key = row_key(run, p->device, p->name, p->shape);
        uint32_t at = map_get(&known, key);
        if (at == MAP_ABSENT) {
            at = (uint32_t)report->profiles.count;
            map_set(&known, key, at);
            *vec_new(&report->profiles) = (struct profile_row){
                .profile = i,
                .device = p->device,
                .name = p->name,
                .shape = p->shape,
                .code = find_code(run, &codes, p),
                .total_ns = UNKNOWN,
                .share_ratio = NAN,
            };
        }
        row_of[i] = at;
        report->profiles.at[at].launches += p->launches;
        report->profiles.at[at].profiled += p->measured ? p->measured : p->launches;
    }
    map_release(&known);
    map_release(&codes);
    return row_of;
}

/* Times of all launches in the run, where it holds a timeline beside the counters: unlike those of profiled
 * launches they are of the kernel as it always runs. Returns the time of all kernels. */
static int64_t times_from_ops(struct report *report)
{
    const struct run *run = report->run;
    struct map rows = {0};
    int64_t all = 0, *launches = mem_zalloc(report->profiles.count, sizeof *launches);
    for (uint32_t i = 0; i < report->profiles.count; i++) {
        const struct profile_row *row = &report->profiles.at[i];
        map_set(&rows, row_key(run, row->device, row->name, row->shape), i);
    }
    for (size_t op = 0; op < run->ops.count; op++) {
        if (run->ops.kind[op] != OP_KERNEL)
            continue;
        int64_t ns = run->ops.end[op] - run->ops.start[op];
        uint32_t at =
            map_get(&rows, row_key(run, run_op_device(run, op), run->ops.name[op], run->ops.shape[op]));
        all += ns;
        if (at == MAP_ABSENT)
            continue;
        struct profile_row *row = &report->profiles.at[at];
        row->total_ns = (row->total_ns == UNKNOWN ? 0 : row->total_ns) + ns;
        if (++launches[at] > row->launches)
            row->launches = launches[at];
    }
    free(launches);
    map_release(&rows);
    return all;
}

static void find_times(struct report *report)
{
    int64_t all = times_from_ops(report);
    bool has_timeline = all > 0;
    vec_each (&report->profiles, row) {
        double ns = row->metrics[METRIC_DURATION].value;
        if (row->total_ns == UNKNOWN && !isnan(ns))
            row->total_ns = (int64_t)(ns * (double)row->launches + 0.5);
        if (!has_timeline && row->total_ns != UNKNOWN)
            all += row->total_ns;
    }
    vec_each (&report->profiles, row)
        if (row->total_ns != UNKNOWN && all > 0)
            row->share_ratio = fmin(1, (double)row->total_ns / (double)all);
}

static int most_time_first(const void *a, const void *b)
{
    const struct profile_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns > right->total_ns ? -1 : 1;
    return left->profile < right->profile ? -1 : left->profile > right->profile;
}

/* ---- what is missing ----------------------------------------------------------------------------------- */

static bool knows(const struct profile_row *row, enum metric id)
{
    enum counter_state state = row->metrics[id].state;
    return state == COUNTER_VALUE || state == COUNTER_UNDEFINED;
}

static void find_undecided(struct profile_row *row)
{
    const bool known[UNDECIDED_COUNT] = {
        [UNDECIDED_COALESCING] = knows(row, METRIC_GLOBAL_SECTORS_EXCESS) ||
                                 knows(row, METRIC_GLOBAL_LOAD_BYTES_PER_SECTOR) ||
                                 knows(row, METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST),
        [UNDECIDED_CONFLICTS] =
            knows(row, METRIC_SHARED_WAVEFRONTS_EXCESS) || knows(row, METRIC_SHARED_CONFLICT),
        [UNDECIDED_DIVERGENCE] = knows(row, METRIC_THREADS_PER_INSTRUCTION),
        [UNDECIDED_LOCAL] = knows(row, METRIC_LOCAL_LOAD_SECTORS) || knows(row, METRIC_LOCAL_LOAD_REQUESTS) ||
                            row->code != NONE,
        [UNDECIDED_ATOMICS] =
            knows(row, METRIC_GLOBAL_ATOMIC_REQUESTS) || knows(row, METRIC_L2_ATOMIC_SECTORS),
        [UNDECIDED_PIPES] = knows(row, METRIC_PIPE_FMA) || knows(row, METRIC_PIPE_ALU),
        [UNDECIDED_STALLS] = row->stall_source != STALLS_UNKNOWN,
    };
    for (int i = 0; i < UNDECIDED_COUNT; i++)
        if (!known[i])
            row->undecided |= 1u << i;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* Profiles by row, in their order: members of row i are at[first[i], first[i + 1]). */
static void fill_rows(struct report *report, const uint32_t *row_of)
{
    const struct run *run = report->run;
    size_t rows = report->profiles.count;
    uint32_t *first = mem_zalloc(rows + 2, sizeof *first);
    uint32_t *at = mem_resize(NULL, run->profiles.count + 1, sizeof *at);
    for (size_t i = 0; i < run->profiles.count; i++)
        first[row_of[i] + 2]++;
    for (size_t i = 2; i < rows + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < run->profiles.count; i++)
        at[first[row_of[i] + 1]++] = i;
    struct metrics metrics;
    metrics_init(&metrics, run);
    for (size_t i = 0; i < rows; i++) {
        struct profile_row *row = &report->profiles.at[i];
        struct members members = {at + first[i], first[i + 1] - first[i]};
        for (int id = 0; id < METRIC_COUNT; id++)
            combine_metric(row, &metrics, members, (enum metric)id);
        combine_stalls(row, &metrics, members);
        find_occupancy(row, run);
    }
    metrics_release(&metrics);
    free(first);
    free(at);
}

static void keep_matching(struct report *report, const char *pattern)
{
    size_t kept = 0;
    vec_each (&report->profiles, row) {
        const struct kernel_profile *p = &report->run->profiles.at[row->profile];
        if (code_matches(run_text(report->run, p->name), pattern) ||
            code_matches(run_text(report->run, p->mangled), pattern))
            report->profiles.at[kept++] = *row;
    }
    report->profiles.count = kept;
}

void profiles_build(struct report *report, const struct run *run, const struct profile_options *options)
{
    report->run = run;
    uint32_t *row_of = assign_rows(report);
    fill_rows(report, row_of);
    lines_build(report, row_of);
    if (options->has_raw)
        raw_counters_build(report, row_of);
    free(row_of);
    find_times(report); /* shares are of all kernels, so that those not asked for go only now */
    if (options->kernel)
        keep_matching(report, options->kernel);
    vec_each (&report->profiles, row) {
        roofline_build(run, row);
        bound_build(row);
        find_undecided(row);
        counter_findings(report, row);
    }
    if (report->profiles.count)
        qsort(report->profiles.at, report->profiles.count, sizeof *report->profiles.at, most_time_first);
}

void profiles_release(struct report *report)
{
    vec_each (&report->profiles, row) {
        vec_each (&row->findings, finding)
            vec_release(&finding->evidence);
        vec_release(&row->findings);
    }
    vec_release(&report->profiles);
    vec_release(&report->lines);
    vec_release(&report->counters);
}
