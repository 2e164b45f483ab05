/* Lanes that do nothing: warps that split, and warps that were never full. */
#include <math.h>

#include "analyze/findings/counters.h"
#include "base/i18n.h"

static const double diverged = 0.75, partial = 0.1;

/* How much idle lanes cost: an instruction takes the same slots with 1 thread as with 32. */
static double slot_pressure(const struct counter_finder *f)
{
    double pipes = counter_value(f, METRIC_MEMORY_PIPES);
    return fmax(fmax(f->pressure.compute, pipes), counter_value(f, METRIC_COMPUTE_THROUGHPUT));
}

static void find_divergence(struct counter_finder *f, double full)
{
    double threads = counter_value(f, METRIC_THREADS_PER_INSTRUCTION);
    double on = counter_value(f, METRIC_THREADS_PREDICATED_ON);
    double working = fmin(threads, on);
    if (!(working / full < diverged))
        return;
    double cost = (1 - working / full) * fmin(1, slot_pressure(f));
    struct finding *finding = counter_add(f, "kernel-divergence", cost / 2, cost, 0.85);
    if (!finding)
        return;
    bool predicated = !(threads / full < diverged);
    finding->title = msg_make(N_("on average {0} of {1} threads of a warp take part in an instruction"),
                              value_number(working), value_number(full));
    if (predicated)
        counter_evidence(finding,
                         msg_make(N_("warps stay together ({0} threads), but many of them only pass by, "
                                     "switched off by a condition"),
                                  value_number(threads)));
    else
        counter_evidence(finding,
                         msg_make(N_("the branches of a condition are executed one after another, each "
                                     "with the others' threads idle")));
    counter_line(f, finding, PLACE_BRANCHES_DIVERGENT, PLACE_OTHER, 1u << STALL_BRANCH_RESOLVING);
    finding->action = msg_make(
        N_("let whole warps take the same branch: derive the condition from threadIdx.x / 32, sort or "
           "group the work by kind, let consecutive threads stay active in a reduction"));
}

static void find_partial_warps(struct counter_finder *f, double full)
{
    int64_t threads = counter_block_threads(f), warps = counter_block_warps(f);
    double waste = 1 - full / 32;
    if (!(waste >= partial))
        return;
    double pressure = slot_pressure(f);
    double cost = waste * (isnan(pressure) ? 1 : fmin(1, pressure));
    struct finding *finding = counter_add(f, "kernel-partial-warps", isnan(pressure) ? 0 : cost / 2, cost,
                                          isnan(pressure) ? 0.6 : 0.9);
    if (!finding)
        return;
    finding->title = msg_make(
        N_("threads in a block: {0}, warps: {1}, filled to {2}; the other lanes idle in every instruction"),
        value_count(threads), value_count(warps), value_ratio(full / 32));
    finding->action =
        msg_make(N_("use a block size that is a multiple of 32, {0} for example, and let threads "
                    "beyond the end return"),
                 value_count(threads > 32 ? threads / 32 * 32 : 32));
}

void find_idle_lanes(struct counter_finder *f)
{
    int64_t threads = counter_block_threads(f);
    /* The most threads that an instruction of full warps could have on average. */
    double full = threads > 0 ? (double)threads / (double)counter_block_warps(f) : 32;
    find_partial_warps(f, full);
    find_divergence(f, full);
}
