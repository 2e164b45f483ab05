/* SMs without work: grids that are too small, last waves that are not full, and blocks of unequal length. */
#include <math.h>

#include "analyze/findings/counters.h"
#include "base/i18n.h"

/* Below that a kernel's start and drain weigh more than how its blocks are spread. */
static const double grid_matters_ns = 10000;
static const double unequal = 0.1;

/* The share of time that SMs spent waiting for the last one; NAN. Where only one mean is known it holds the
 * start of the kernel too. */
static double waiting(const struct counter_finder *f)
{
    double busiest = counter_value(f, METRIC_SM_CYCLES_MAX), mean = counter_value(f, METRIC_SM_CYCLES_AVG);
    double waits = 1 - counter_share(mean, busiest);
    return isnan(waits) ? 1 - fmin(1, counter_value(f, METRIC_SM_ACTIVE)) : waits;
}

static bool find_small_grid(struct counter_finder *f, int64_t blocks)
{
    int64_t sms = f->device ? f->device->sm_count : 0;
    if (blocks <= 0 || sms <= 0 || blocks >= sms)
        return false;
    double idle = 1 - (double)blocks / (double)sms;
    struct finding *finding = counter_add(f, "kernel-grid-too-small", idle / 2, idle, 0.9);
    if (!finding)
        return true;
    finding->title = msg_make(N_("blocks in the grid: {0}, SMs: {1}; {2} of the GPU gets no work"),
                              value_count(blocks), value_count(sms), value_ratio(idle));
    double duration = counter_value(f, METRIC_DURATION);
    if (duration < grid_matters_ns)
        counter_evidence(finding,
                         msg_make(N_("it takes {0}; starting a kernel and draining it alone take 2 to 5 µs"),
                                  value_ns((int64_t)duration)));
    finding->action =
        msg_make(N_("split the work into at least {0} blocks (smaller blocks, less work a thread, "
                    "split the longest loop), or run it at the same time as other kernels"),
                 value_count(2 * sms));
    return true;
}

/* Blocks start as others end. If all take as long, the last round takes as long as a full one. */
static bool find_tail(struct counter_finder *f, int64_t blocks)
{
    double waves = f->row->waves, waits = waiting(f);
    if (!(waves > 1))
        return false;
    double rounds = ceil(waves - 1e-9), bound = 1 - waves / rounds;
    double high = isnan(waits) ? bound : fmin(bound, waits);
    struct finding *finding =
        counter_add(f, "kernel-tail-effect", isnan(waits) ? 0 : high / 2, high, isnan(waits) ? 0.5 : 0.9);
    if (!finding)
        return false;
    int64_t full = (int64_t)round((double)blocks / waves); /* blocks of a wave */
    int64_t last = blocks - (int64_t)(rounds - 1) * full;
    finding->title = msg_make(
        N_("the last wave is not full: blocks in it: {2}, after {0} × {1}; all other SMs wait for it"),
        value_count((int64_t)rounds - 1), value_count(full), value_count(last));
    if (isnan(waits))
        counter_evidence(finding,
                         msg_make(N_("that is the bound if all blocks take equally long; how long SMs "
                                     "waited was not measured")));
    else
        counter_evidence(finding,
                         msg_make(N_("an SM waited {0} of the time for the last one"), value_ratio(waits)));
    finding->action =
        msg_make(N_("make the number of blocks a multiple of {0}, or let {0} blocks loop over the "
                    "work (a grid-stride loop); smaller blocks make the last wave shorter"),
                 value_count(full));
    return true;
}

static void find_imbalance(struct counter_finder *f)
{
    double busiest = counter_value(f, METRIC_SM_CYCLES_MAX);
    double waits = 1 - counter_share(counter_value(f, METRIC_SM_CYCLES_AVG), busiest);
    if (!(waits >= unequal))
        return;
    struct finding *finding = counter_add(f, "kernel-imbalance", waits / 3, waits, 0.75);
    if (!finding)
        return;
    finding->title =
        msg_make(N_("some SMs work longer than others: on average an SM waits {0} of the time for "
                    "the slowest"),
                 value_ratio(waits));
    counter_evidence(finding, msg_make(N_("cycles with work: {0} on the least busy SM, {1} on the busiest"),
                                       value_count((int64_t)counter_value(f, METRIC_SM_CYCLES_MIN)),
                                       value_count((int64_t)busiest)));
    finding->action =
        msg_make(N_("give blocks equal work: split long rows or lists, sort them by length and start "
                    "the longest first, or let blocks fetch work from a queue (atomicAdd on an "
                    "index)"));
}

void find_idle_sms(struct counter_finder *f)
{
    int64_t blocks = counter_grid_blocks(f);
    if (!find_small_grid(f, blocks) && !find_tail(f, blocks) &&
        !(counter_value(f, METRIC_DURATION) < grid_matters_ns))
        find_imbalance(f);
}
