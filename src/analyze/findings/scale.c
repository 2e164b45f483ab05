/* Findings about how the work is spread: over steps, over ranks, over host and device. */
#include <math.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"

/* What makes some steps longer than the others may be idle time that has a finding of its own: then they are
 * that one's evidence, and the time is not explained twice. Says of which causes. */
static void merge_into_idle(struct finder *f, const struct step_report *steps, bool merged[ACCOUNT_COUNT])
{
    for (int a = ACCOUNT_BUSY_COUNT; a < ACCOUNT_COUNT; a++) {
        int64_t count = 0, ns = 0;
        vec_each (&steps->rows, row) {
            bool is_cause = row->outlier && row->outlier_cause == (enum account)a;
            count += is_cause;
            ns += is_cause ? row->outlier_cause_ns : 0;
        }
        struct finding *idle = matters(f, ns) ? idle_finding(f, (enum account)a) : NULL;
        merged[a] = idle != NULL;
        if (idle)
            finding_evidence(
                idle,
                msg_make_n(0,
                           NP_("{0} of {1} steps takes longer than the others because of it, by {2}",
                               "{0} of {1} steps take longer than the others because of it, by {2} in all"),
                           value_count(count), value_count(steps->count), value_ns(ns)));
    }
}

static void find_step_imbalance(struct finder *f)
{
    const struct step_report *steps = &f->report->steps;
    bool merged[ACCOUNT_COUNT] = {false};
    int64_t excess = 0, outliers = 0;
    const struct step_row *worst = NULL;
    merge_into_idle(f, steps, merged);
    vec_each (&steps->rows, row) {
        if (!row->outlier || merged[row->outlier_cause])
            continue;
        outliers++;
        excess += row->outlier_excess_ns;
        if (!worst || row->outlier_excess_ns > worst->outlier_excess_ns)
            worst = row;
    }
    if (!worst || !matters(f, excess))
        return;
    struct finding *finding = finding_add(f, "imbalance-steps", excess, 0.0, 0.9, 0.7);
    finding->title = msg_make_n(0,
                                NP_("{0} of {1} steps takes longer than the others, by {2}",
                                    "{0} of {1} steps take longer than the others, by {2} in all"),
                                value_count(outliers), value_count(steps->count), value_ns(excess));
    finding_evidence(finding, msg_make(N_("median step {0}, longest {1}"), value_ns(steps->median_ns),
                                       value_ns(steps->max_ns)));
    finding_evidence(finding, msg_make(N_("the worst one, at {0}, spends {1} more, most of it: {2}"),
                                       value_time(worst->start), value_ns(worst->outlier_excess_ns),
                                       value_term(account_meaning(worst->outlier_cause))));
    finding->action =
        msg_make(N_("compare a slow step with an ordinary one (--step N): evaluation, checkpoint, logging, "
                    "garbage collection or a late batch"));
}

/* The time that the others spend in collectives until the slow rank arrives. It is exposed communication,
 * too: what this explains, comm-exposed does not. */
static void find_rank_imbalance(struct finder *f)
{
    const struct rank_row *slow = NULL;
    vec_each (&f->report->ranks, row)
        if (row->straggler && (!slow || row->excess_ratio > slow->excess_ratio))
            slow = row;
    int64_t lost =
        slow && slow->caused_ns != UNKNOWN ? min_ns(slow->caused_ns, f->ledger_ns[ACCOUNT_COMM]) : 0;
    if (!matters(f, lost))
        return;
    f->explained_ns[ACCOUNT_COMM] += lost;
    struct finding *finding = finding_add(f, "imbalance-ranks", lost, 0.3, 0.9, 0.7);
    finding->title = msg_make(N_("rank {0} makes the others wait {1} of the time ({2})"),
                              value_count(slow->rank), value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_evidence(
        finding, msg_make(N_("it computes {0} longer than the median rank and itself waits {1} for others"),
                          value_ratio(slow->excess_ratio), value_ns(slow->waited_ns)));
    finding->action = msg_make(N_("look at that rank's own report: uneven data, a slower or throttled GPU, "
                                  "another process on the host"));
}

static void find_exposed_comm(struct finder *f)
{
    int64_t exposed = f->ledger_ns[ACCOUNT_COMM], lost = exposed - f->explained_ns[ACCOUNT_COMM];
    if (!matters(f, lost))
        return;
    int64_t hidden = f->ledger_ns[ACCOUNT_COMPUTE_COMM];
    struct finding *finding = finding_add(f, "comm-exposed", lost, 0.2, 0.9, 0.8);
    finding->title = msg_make(N_("communication that nothing hides takes {0} of the time ({1})"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_evidence(finding, msg_make(N_("{0} of all communication is hidden behind computation"),
                                       value_ratio(ratio(hidden, exposed + hidden))));
    int left = 2;
    vec_each (&f->report->comms, row) {
        if (left-- > 0)
            finding_evidence(finding,
                             msg_make_n(1,
                                        NP_("{0}: {1} time, {2} in all, {3} exposed",
                                            "{0}: {1} times, {2} in all, {3} exposed"),
                                        value_kernel(run_text(f->run, row->name)), value_count(row->count),
                                        value_ns(row->total_ns), value_ns(row->exposed_ns)));
    }
    finding->action =
        msg_make(N_("overlap it with the backward pass (DDP bucket_cap_mb, FSDP prefetch), send less "
                    "(gradient accumulation, lower precision), or remove the wait for the slowest rank"));
}

static void find_host_bound(struct finder *f)
{
    const struct amdahl_report *worst = NULL;
    vec_each (&f->report->amdahl, row) {
        if (!worst || row->speedup_gpu_infinite < worst->speedup_gpu_infinite)
            worst = row;
    }
    if (!worst || isnan(worst->speedup_gpu_infinite) || worst->speedup_gpu_infinite >= 2.0)
        return;
    struct finding *finding = finding_add(f, "amdahl-host", worst->host_only_ns, 0.0, 0.0, 0.8);
    finding->title =
        msg_make(N_("a GPU twice as fast would make this run only {0} times as fast, an infinitely fast one "
                    "{1} times"),
                 value_number(worst->speedup_gpu_twice), value_number(worst->speedup_gpu_infinite));
    finding_evidence(finding, msg_make(N_("{0} of {1} is host time that the GPU does not share"),
                                       value_ns(worst->host_only_ns), value_ns(worst->wall_ns)));
    finding->action = msg_make(N_("mend the host side first; more or faster GPUs come later"));
}

void find_scale(struct finder *f)
{
    find_step_imbalance(f);
    find_rank_imbalance(f);
    find_exposed_comm(f);
    find_host_bound(f);
}
