#include "analyze/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

/* Clocks and caches make single launches differ by some percent; the mean of several is known better, but not
 * better than to 1 %. Three standard errors: one of 400 equal pairs would seem changed. */
static const double single_noise = 0.05, least_noise = 0.01, errors = 3, ratio_noise = 0.01;

/* ---- matching ------------------------------------------------------------------------------------------ */

/* What tools agree on in a kernel's name: no parameters, no return type, no blanks. */
static void plain_name(struct str *out, const char *name)
{
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == ')') {
        int depth = 0;
        size_t at = length;
        while (at > 0) {
            char c = name[--at];
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (depth == 0)
                break;
        }
        length = at > 0 ? at : length;
    }
    if (strncmp(name, "void ", 5) == 0) {
        name += 5;
        length -= 5;
    }
    str_cut(out, 0);
    for (size_t i = 0; i < length; i++)
        if (name[i] != ' ')
            str_putc(out, name[i]);
}

static uint64_t name_hash(const struct report *report, const struct profile_row *row)
{
    struct str plain = {0};
    plain_name(&plain, run_text(report->run, row->name));
    uint64_t hash = hash_bytes(str_text(&plain), plain.len);
    str_release(&plain);
    return hash;
}

static uint64_t launch_hash(const struct report *report, const struct profile_row *row)
{
    uint64_t hash = name_hash(report, row);
    if (row->shape == NONE)
        return hash;
    const struct shape *shape = &report->run->shapes.at[row->shape];
    return hash_pair(hash_pair(hash, hash_bytes(shape->grid, sizeof shape->grid)),
                     hash_bytes(shape->block, sizeof shape->block));
}

enum { SEVERAL = MAP_ABSENT - 1 };

/* Rows by launch, and by name alone: SEVERAL where a name has several. */
static void index_rows(const struct report *report, struct map *by_launch, struct map *by_name)
{
    for (uint32_t i = 0; i < report->profiles.count; i++) {
        const struct profile_row *row = &report->profiles.at[i];
        uint64_t launch = launch_hash(report, row), name = name_hash(report, row);
        if (map_get(by_launch, launch) == MAP_ABSENT)
            map_set(by_launch, launch, i);
        map_set(by_name, name, map_get(by_name, name) == MAP_ABSENT ? i : SEVERAL);
    }
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

/* Relative; of a mean of count values. */
static double noise_of(const struct metric_stat *stat, int64_t count)
{
    if (count < 2 || isnan(stat->deviation) || stat->value == 0)
        return single_noise;
    return fmax(least_noise, errors * stat->deviation / sqrt((double)count) / fabs(stat->value));
}

static double joint_noise(const struct profile_row *before, const struct profile_row *after, enum metric id)
{
    return hypot(noise_of(&before->metrics[id], before->profiled),
                 noise_of(&after->metrics[id], after->profiled));
}

/* Half and twice are as far; what was or is nothing comes last. */
static double magnitude(const struct metric_change *change)
{
    return change->before > 0 && change->after > 0 ? fabs(log(change->after / change->before)) : 0;
}

static int largest_first(const void *a, const void *b)
{
    double left = magnitude(a), right = magnitude(b);
    if (left != right)
        return left > right ? -1 : 1;
    return (int)((const struct metric_change *)a)->id - (int)((const struct metric_change *)b)->id;
}

/* A share that moved by less than a point says nothing, however small it was. */
static bool differs(enum metric id, double before, double after, double noise)
{
    if (metric_infos[id].unit == IN_RATIO && fabs(after - before) < ratio_noise)
        return false;
    return before == 0 ? after != 0 : fabs(after / before - 1) > noise;
}

static void compare_metrics(struct report *report, struct profile_change *change,
                            const struct profile_row *before, const struct profile_row *after)
{
    change->first_metric = (uint32_t)report->metric_changes.count;
    for (int id = 0; id < METRIC_COUNT; id++) {
        double b = before->metrics[id].value, a = after->metrics[id].value;
        if (isnan(b) || isnan(a) ||
            !differs((enum metric)id, b, a, joint_noise(before, after, (enum metric)id)))
            continue;
        vec_push(&report->metric_changes,
                 ((struct metric_change){(enum metric)id, b, a, b == 0 ? a : a / b - 1}));
    }
    change->metric_count = (uint32_t)report->metric_changes.count - change->first_metric;
    if (change->metric_count)
        qsort(report->metric_changes.at + change->first_metric, change->metric_count,
              sizeof *report->metric_changes.at, largest_first);
}

/* ---- findings ------------------------------------------------------------------------------------------ */

static bool has_finding(const struct profile_row *row, const char *id)
{
    vec_each (&row->findings, finding)
        if (strcmp(finding->id, id) == 0)
            return true;
    return false;
}

static void compare_findings(struct report *report, struct profile_change *change,
                             const struct profile_row *before, const struct profile_row *after)
{
    change->first_finding = (uint32_t)report->finding_changes.count;
    vec_each (&before->findings, finding)
        if (!has_finding(after, finding->id))
            vec_push(&report->finding_changes, ((struct finding_change){finding->id, false}));
    vec_each (&after->findings, finding)
        if (!has_finding(before, finding->id))
            vec_push(&report->finding_changes, ((struct finding_change){finding->id, true}));
    change->finding_count = (uint32_t)report->finding_changes.count - change->first_finding;
}

/* ---- notes --------------------------------------------------------------------------------------------- */

static double relative(const struct profile_row *before, const struct profile_row *after, enum metric id)
{
    return after->metrics[id].value / before->metrics[id].value - 1;
}

static double difference(const struct profile_row *before, const struct profile_row *after, enum metric id)
{
    return after->metrics[id].value - before->metrics[id].value;
}

static bool same_launch(const struct report *report, const struct profile_row *before,
                        const struct profile_row *after)
{
    return launch_hash(report->baseline, before) == launch_hash(report, after);
}

static void take_notes(const struct report *report, struct profile_change *change,
                       const struct profile_row *before, const struct profile_row *after)
{
    double clock = relative(before, after, METRIC_SM_CLOCK);
    double occupancy = difference(before, after, METRIC_ACHIEVED_OCCUPANCY);
    double l1_hit = difference(before, after, METRIC_L1_HIT);
    if (fabs(clock) > 0.03)
        vec_push(&change->notes,
                 msg_make(N_("the SM clock was another: {0} before, {1} after (GHz); times are not "
                             "corrected for it"),
                          value_number(before->metrics[METRIC_SM_CLOCK].value / 1e9),
                          value_number(after->metrics[METRIC_SM_CLOCK].value / 1e9)));
    if (!same_launch(report, before, after))
        vec_push(&change->notes, msg_make(N_("grid or block are others than before")));
    if (occupancy > 0.1 && change->change_ratio > change->noise_ratio && l1_hit < -0.05)
        vec_push(
            &change->notes,
            msg_make(
                N_("more warps are resident ({0}, before {1}), L1 hits less ({2}, before {3}), and it is "
                   "slower: they crowd each other out of L1. Occupancy is room, not use"),
                value_ratio(after->metrics[METRIC_ACHIEVED_OCCUPANCY].value),
                value_ratio(before->metrics[METRIC_ACHIEVED_OCCUPANCY].value),
                value_ratio(after->metrics[METRIC_L1_HIT].value),
                value_ratio(before->metrics[METRIC_L1_HIT].value)));
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int64_t launch_ns(const struct profile_row *row)
{
    double ns = row->metrics[METRIC_DURATION].value;
    return isnan(ns) ? UNKNOWN : (int64_t)round(ns);
}

static void set_side(struct profile_change *change, const struct report *report,
                     const struct profile_row *row, bool is_after)
{
    const char *finding = row->findings.count ? row->findings.at[0].id : NULL;
    change->name = run_text(report->run, row->name);
    if (is_after) {
        change->after = (uint32_t)(row - report->profiles.at);
        change->after_ns = launch_ns(row);
        change->after_total_ns = row->total_ns;
        change->after_finding = finding;
    } else {
        change->before = (uint32_t)(row - report->profiles.at);
        change->before_ns = launch_ns(row);
        change->before_total_ns = row->total_ns;
        change->before_finding = finding;
    }
}

static struct profile_change *add_change(struct report *report)
{
    struct profile_change *change = vec_new(&report->changes);
    *change = (struct profile_change){
        .before = NONE,
        .after = NONE,
        .before_ns = UNKNOWN,
        .after_ns = UNKNOWN,
        .before_total_ns = UNKNOWN,
        .after_total_ns = UNKNOWN,
        .change_ratio = NAN,
        .noise_ratio = NAN,
    };
    return change;
}

static void compare(struct report *report, struct profile_change *change)
{
    const struct profile_row *before = &report->baseline->profiles.at[change->before];
    const struct profile_row *after = &report->profiles.at[change->after];
    change->change_ratio = relative(before, after, METRIC_DURATION);
    change->noise_ratio = joint_noise(before, after, METRIC_DURATION);
    change->is_noise = !(fabs(change->change_ratio) > change->noise_ratio);
    compare_metrics(report, change, before, after);
    compare_findings(report, change, before, after);
    take_notes(report, change, before, after);
}

static double weight(const struct profile_change *change)
{
    double before = change->before_total_ns == UNKNOWN ? 0 : (double)change->before_total_ns;
    double after = change->after_total_ns == UNKNOWN ? 0 : (double)change->after_total_ns;
    return fabs(after - before);
}

static int heaviest_first(const void *a, const void *b)
{
    double left = weight(a), right = weight(b);
    if (left != right)
        return left > right ? -1 : 1;
    const struct profile_change *l = a, *r = b;
    if (l->after != r->after)
        return l->after < r->after ? -1 : 1;
    return l->before < r->before ? -1 : l->before > r->before;
}

void changes_build(struct report *report, const struct report *baseline)
{
    struct map by_launch = {0}, by_name = {0}, own_launch = {0}, own_name = {0};
    bool *used = mem_zalloc(baseline->profiles.count + 1, sizeof *used);
    report->baseline = baseline;
    index_rows(baseline, &by_launch, &by_name);
    index_rows(report, &own_launch, &own_name);
    vec_each (&report->profiles, row) {
        uint32_t at = map_get(&by_launch, launch_hash(report, row));
        uint64_t name = name_hash(report, row);
        if (at == MAP_ABSENT && map_get(&own_name, name) != SEVERAL)
            at = map_get(&by_name, name);
        struct profile_change *change = add_change(report);
        if (at < SEVERAL && !used[at]) {
            used[at] = true;
            set_side(change, baseline, &baseline->profiles.at[at], false);
        }
        set_side(change, report, row, true);
        if (change->before != NONE)
            compare(report, change);
    }
    vec_each (&baseline->profiles, row)
        if (!used[row - baseline->profiles.at])
            set_side(add_change(report), baseline, row, false);
    if (report->changes.count)
        qsort(report->changes.at, report->changes.count, sizeof *report->changes.at, heaviest_first);
    map_release(&by_launch);
    map_release(&by_name);
    map_release(&own_launch);
    map_release(&own_name);
    free(used);
}

void changes_release(struct report *report)
{
    vec_each (&report->changes, change)
        vec_release(&change->notes);
    vec_release(&report->changes);
    vec_release(&report->metric_changes);
    vec_release(&report->finding_changes);
}

void changes_total(const struct report *report, double *before_ns, double *after_ns)
{
    *before_ns = *after_ns = 0;
    vec_each (&report->changes, change) {
        if (isnan(change->change_ratio) || change->before_ns == UNKNOWN || change->after_ns == UNKNOWN)
            continue;
        double launches = (double)report->profiles.at[change->after].launches;
        *before_ns += (double)change->before_ns * launches;
        *after_ns += (double)change->after_ns * launches;
    }
}

bool changes_exceed(const struct report *report, double ratio)
{
    double before, after, noise = 0;
    changes_total(report, &before, &after);
    vec_each (&report->changes, change) {
        if (isnan(change->change_ratio))
            continue;
        noise = fmax(noise, change->noise_ratio);
        double share = report->profiles.at[change->after].share_ratio;
        if (!(share < 0.01) && !change->is_noise && change->change_ratio > ratio)
            return true;
    }
    return before > 0 && after / before - 1 > fmax(ratio, noise);
}
