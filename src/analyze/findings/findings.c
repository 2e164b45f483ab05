#include "analyze/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gaps.h"
#include "base/i18n.h"

static const struct finding_info infos[] = {
    {"healthy", "healthy", N_("the GPU is well used")},
    {"idle-data-loading", "idle", N_("the GPU waits for input data")},
    {"idle-launch-bound", "idle", N_("the host cannot issue work fast enough")},
    {"idle-host-sync", "idle", N_("the host waits for the GPU, then the GPU waits for the host")},
    {"idle-host-compute", "idle", N_("the GPU waits for other host code")},
    {"idle-host-io", "idle", N_("the GPU waits for file or network I/O")},
    {"idle-host-wait", "idle", N_("the GPU waits for a host lock, thread or process")},
    {"idle-allocator", "idle", N_("the GPU waits for memory to be allocated or freed")},
    {"idle-warmup", "idle", N_("the GPU waits for code to be loaded or compiled")},
    {"idle-dependency", "idle", N_("queued work waits for other work")},
    {"idle-profiler", "idle", N_("the GPU waits for the recording tool")},
    {"transfer-pageable", "transfer", N_("copies go through pageable host memory")},
    {"transfer-device-to-host", "transfer", N_("results are copied back to the host")},
    {"transfer-many-small", "transfer", N_("many small copies")},
    {"transfer-not-overlapped", "transfer", N_("copies are not hidden behind kernels")},
    {"transfer-managed", "transfer", N_("managed memory migrates back and forth")},
    {"kernel-dominant", "kernel", N_("one kernel takes most of the GPU's time")},
    {"kernel-grid-too-small", "kernel", N_("grids too small to fill the GPU")},
    {"kernel-too-short", "kernel", N_("kernels so short that starting them dominates")},
    {"kernel-no-tensor-cores", "kernel", N_("matrix products that leave the tensor cores idle")},
    {"kernel-fp64", "kernel", N_("double-precision kernels")},
    {"kernel-low-occupancy", "kernel", N_("few warps resident per SM")},
    {"kernel-uncoalesced", "kernel", N_("threads of a warp touch scattered addresses of global memory")},
    {"kernel-bank-conflicts", "kernel", N_("threads of a warp hit the same banks of shared memory")},
    {"kernel-register-spill", "kernel", N_("registers are spilled to memory")},
    {"kernel-local-memory", "kernel", N_("arrays of a thread lie in memory")},
    {"kernel-divergence", "kernel", N_("threads of a warp take different branches")},
    {"kernel-partial-warps", "kernel", N_("blocks that do not fill their warps")},
    {"kernel-tail-effect", "kernel", N_("a last wave of blocks that leaves most SMs idle")},
    {"kernel-imbalance", "kernel", N_("some SMs work much longer than others")},
    {"kernel-atomics", "kernel", N_("threads queue at atomic operations")},
    {"kernel-memory-bound", "kernel", N_("memory is the limit of a kernel")},
    {"kernel-compute-bound", "kernel", N_("computing is the limit of a kernel")},
    {"kernel-latency-bound", "kernel", N_("no unit is busy: warps wait")},
    {"imbalance-steps", "scale", N_("some steps take much longer than the others")},
    {"imbalance-ranks", "scale", N_("one rank makes the others wait")},
    {"comm-exposed", "scale", N_("communication is not hidden behind computation")},
    {"amdahl-host", "scale", N_("a faster GPU would hardly help")},
    {"health-power-cap", "health", N_("the power limit holds the clocks down")},
    {"health-power-brake", "health", N_("an external power brake holds the clocks down")},
    {"health-thermal", "health", N_("heat holds the clocks down")},
    {"health-xid", "health", N_("the driver reported an error of a GPU (Xid)")},
    {"trust-lost-records", "trust", N_("the recording is incomplete")},
    {"trust-profiler-overhead", "trust", N_("the recording tool disturbed what it recorded")},
    {"trust-clock", "trust", N_("host and GPU clocks disagree")},
};

/* Least busy share of the active time that can be called healthy. */
static const double healthy_busy = 0.6;

enum { INFO_COUNT = sizeof infos / sizeof *infos };

const struct finding_info *finding_list(size_t *count)
{
    *count = INFO_COUNT;
    return infos;
}

/* ---- what the rules use -------------------------------------------------------------------------------- */

double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

bool matters(const struct finder *f, int64_t ns)
{
    return ns > 0 && ratio(ns, f->wall_ns) >= 0.01;
}

static const struct finding_info *info_of(const char *id)
{
    for (size_t i = 0; i < INFO_COUNT; i++)
        if (strcmp(infos[i].id, id) == 0)
            return &infos[i];
    return NULL;
}

struct finding *finding_add(struct finder *f, const char *id, int64_t lost_ns, double low, double high,
                            double confidence)
{
    const struct finding_info *info = info_of(id);
    struct finding *finding = vec_new(&f->report->findings);
    finding->id = info->id;
    finding->class_ = info->class_;
    finding->confidence_ratio = confidence;
    finding->lost_ns = lost_ns;
    double per_device = (double)lost_ns / (double)(f->device_count ? f->device_count : 1);
    finding->saving_ns[0] = (int64_t)(per_device * low);
    finding->saving_ns[1] = (int64_t)(per_device * high);
    finding->device = f->device_count == 1 ? f->report->devices.at[0].device : NONE;
    return finding;
}

void finding_evidence(struct finding *finding, struct msg evidence)
{
    vec_push(&finding->evidence, evidence);
}

static const char *keep_text(struct report *report, struct str *text)
{
    const char *kept = arena_text(&report->arena, str_text(text), text->len);
    str_release(text);
    return kept;
}

/* "read(/data/train.bin)": the call, and the file that it mostly worked on. */
static const char *call_place(struct report *report, const struct culprit_row *c)
{
    const char *call = run_text(report->run, c->call);
    if (!c->file.value)
        return call;
    struct str place = {0};
    str_addf(&place, "%s(%s)", call, run_text(report->run, c->file.value));
    return keep_text(report, &place);
}

/* "train.py:42: main" for the frame "train.py(30): main" that was mostly at line 42. */
static const char *frame_place(struct report *report, const struct culprit_row *c)
{
    const char *frame = run_text(report->run, c->frame);
    const char *line_end = strstr(frame, "): "), *line = line_end;
    while (line && line > frame && *line != '(')
        line--;
    if (!line || !c->line.value)
        return frame;
    struct str place = {0};
    str_add(&place, frame, (size_t)(line - frame));
    str_addf(&place, ":%u%s", c->line.value, line_end + 1);
    return keep_text(report, &place);
}

/* Where the culprit was, from the most to the least telling of what the recording knows. */
static struct msg culprit_message(struct report *report, const struct culprit_row *c)
{
    const char *call = call_place(report, c), *frame = frame_place(report, c);
    const char *operator_ = run_text(report->run, c->operator_);
    struct value total = value_ns(c->total_ns), count = value_count(c->count),
                 longest = value_ns(c->longest_ns);
    if (*frame && *call)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) inside {3}, called from {4}",
                              "{0} in {1} stretches (longest {2}) inside {3}, called from {4}"),
                          total, count, longest, value_text(call), value_text(frame));
    if (*frame && c->mostly_in)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) in {3}, mostly inside {4}",
                              "{0} in {1} stretches (longest {2}) in {3}, mostly inside {4}"),
                          total, count, longest, value_text(frame), value_text(c->mostly_in));
    if (*frame)
        return msg_make_n(
            1, NP_("{0} in {1} stretch (longest {2}) in {3}", "{0} in {1} stretches (longest {2}) in {3}"),
            total, count, longest, value_text(frame));
    if (*call && *operator_)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) inside {3}, called by {4}",
                              "{0} in {1} stretches (longest {2}) inside {3}, called by {4}"),
                          total, count, longest, value_text(call), value_text(operator_));
    if (*call && c->annotation)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) inside {3}, within “{4}”",
                              "{0} in {1} stretches (longest {2}) inside {3}, within “{4}”"),
                          total, count, longest, value_text(call), value_text(c->annotation));
    if (*call)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) inside {3}",
                              "{0} in {1} stretches (longest {2}) inside {3}"),
                          total, count, longest, value_text(call));
    if (*operator_)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) inside operator {3}",
                              "{0} in {1} stretches (longest {2}) inside operator {3}"),
                          total, count, longest, value_text(operator_));
    if (c->annotation)
        return msg_make_n(1,
                          NP_("{0} in {1} stretch (longest {2}) within “{3}”, outside any operator",
                              "{0} in {1} stretches (longest {2}) within “{3}”, outside any operator"),
                          total, count, longest, value_text(c->annotation));
    return msg_make_n(1,
                      NP_("{0} in {1} stretch (longest {2}) in code that the recording does not name",
                          "{0} in {1} stretches (longest {2}) in code that the recording does not name"),
                      total, count, longest);
}

/* Whether culprit_message() would name the same place for both: of a frame it names no operator, of an
 * operator no range. */
static bool same_place(const struct culprit_row *a, const struct culprit_row *b)
{
    if (a->frame != b->frame || a->call != b->call)
        return false;
    return a->frame || (a->operator_ == b->operator_ && (a->operator_ || a->annotation == b->annotation));
}

/* One place may have made the GPU wait on several threads and devices, and within several ranges. */
void finding_culprits(struct finder *f, struct finding *finding, enum account cause, int limit)
{
    enum { PLACES = 64 }; /* rows come with the largest total first */
    struct culprit_row places[PLACES];
    size_t count = 0;
    const struct culprit_row *longest = NULL;
    vec_each (&f->report->culprits, culprit) {
        if (culprit->cause != cause)
            continue;
        if (!longest || culprit->longest_ns > longest->longest_ns)
            longest = culprit;
        size_t at = 0;
        while (at < count && !same_place(&places[at], culprit))
            at++;
        if (at == PLACES)
            continue;
        if (at == count) {
            places[count++] = *culprit;
            continue;
        }
        places[at].total_ns += culprit->total_ns;
        places[at].count += culprit->count;
        places[at].longest_ns = max_ns(places[at].longest_ns, culprit->longest_ns);
    }
    qsort(places, count, sizeof *places, culprit_by_total);
    for (size_t at = 0; at < count && at < (size_t)limit; at++)
        finding_evidence(finding, culprit_message(f->report, &places[at]));
    if (count > 0 && !finding->file) {
        finding->file = places[0].code_file;
        finding->line = places[0].code_line;
    }
    if (longest)
        finding_evidence(finding, msg_make(N_("longest single stretch: {0}, at {1}"),
                                           value_ns(longest->longest_ns), value_time(longest->longest_at)));
}

/* ---- ranking ------------------------------------------------------------------------------------------- */

enum { FAULT_RANK, HEALTHY_RANK, ORDINARY_RANK, TRUST_RANK };

static int rank_of(const struct finding *finding)
{
    if (strcmp(finding->id, "healthy") == 0)
        return HEALTHY_RANK;
    if (strcmp(finding->id, "health-xid") == 0 && finding->severity != SEVERITY_INFO)
        return FAULT_RANK;
    return strcmp(finding->class_, "trust") == 0 ? TRUST_RANK : ORDINARY_RANK;
}

static int64_t middle_saving(const struct finding *finding)
{
    return finding->saving_ns[0] / 2 + finding->saving_ns[1] / 2;
}

static int best_first(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    int rank_left = rank_of(left), rank_right = rank_of(right);
    if (rank_left != rank_right)
        return rank_left - rank_right;
    if (middle_saving(left) != middle_saving(right))
        return middle_saving(left) < middle_saving(right) ? 1 : -1;
    return strcmp(left->id, right->id);
}

/* Severity follows from the share of the active time that a change can give back; what is less than 1 % of
 * the wall time is never more than information. */
static void judge(const struct finder *f, struct finding *finding)
{
    if (rank_of(finding) != ORDINARY_RANK)
        return;
    double saving = (double)middle_saving(finding) * (double)f->device_count;
    double share = f->active_ns > 0 ? saving / (double)f->active_ns : 0;
    if (saving < 0.01 * (double)f->wall_ns)
        finding->severity = SEVERITY_INFO;
    else
        finding->severity = share >= 0.25 ? SEVERITY_CRITICAL : share >= 0.05 ? SEVERITY_WARN : SEVERITY_INFO;
}

/* The finding that would lead if nothing else did; NULL if one is serious already. */
static bool nothing_serious(const struct finder *f, const struct finding **next)
{
    *next = NULL;
    vec_each (&f->report->findings, finding) {
        if (rank_of(finding) != ORDINARY_RANK)
            continue;
        if (finding->severity != SEVERITY_INFO)
            return false;
        if (middle_saving(finding) > 0 && (!*next || middle_saving(finding) > middle_saving(*next)))
            *next = finding;
    }
    return true;
}

static void add_healthy(struct finder *f)
{
    const struct finding *next;
    if (!nothing_serious(f, &next) || ratio(f->busy_ns, f->active_ns) < healthy_busy)
        return;
    const char *next_id = next ? next->id : NULL;
    struct finding *healthy = finding_add(f, "healthy", 0, 0, 0, 0.9);
    healthy->title = msg_make(
        N_("the GPU is well used: from its first work to its last it is busy {0} of the time, and no "
           "single change would give back 5 % of it"),
        value_ratio(ratio(f->busy_ns, f->active_ns)));
    int64_t edges = f->ledger_ns[IDLE_STARTUP] + f->ledger_ns[IDLE_SHUTDOWN];
    if (matters(f, edges))
        finding_evidence(healthy,
                         msg_make(N_("{0} of the recording ({1}) lies before or after the GPU's work"),
                                  value_ratio(ratio(edges, f->wall_ns)), value_ns(edges)));
    if (f->report->kernels.count) {
        const struct kernel_row *top = &f->report->kernels.at[0];
        finding_evidence(healthy, msg_make(N_("most GPU time goes to {0}: {1} of busy time"),
                                           value_kernel(run_text(f->run, top->name)),
                                           value_ratio(top->busy_share_ratio)));
    }
    if (next_id)
        finding_evidence(healthy, msg_make(N_("the next bottleneck would be {0}"), value_text(next_id)));
    healthy->action = msg_make(N_("to go faster, reduce the work itself or speed up the top kernels"));
}

/* ---- all of them --------------------------------------------------------------------------------------- */

void findings_build(struct report *report)
{
    struct finder f = {.report = report, .run = report->run, .device_count = (int64_t)report->devices.count};
    vec_each (&report->devices, ledger) {
        f.wall_ns += ledger->wall_ns;
        f.busy_ns += ledger->busy_ns;
        for (int a = 0; a < ACCOUNT_COUNT; a++)
            f.ledger_ns[a] += ledger->ledger_ns[a];
    }
    f.active_ns = f.wall_ns - f.ledger_ns[IDLE_STARTUP] - f.ledger_ns[IDLE_SHUTDOWN];
    if (f.device_count) {
        find_transfer(&f); /* first: what it explains is not idle time of another cause */
        find_idle(&f);
        find_kernel(&f);
        find_scale(&f);
        find_health(&f);
        vec_each (&report->findings, finding)
            judge(&f, finding);
        add_healthy(&f);
    }
    find_xid(&f);
    find_trust(&f);
    if (report->findings.count)
        qsort(report->findings.at, report->findings.count, sizeof *report->findings.at, best_first);
}
