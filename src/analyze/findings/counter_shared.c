/* Shared memory: conflicts at its 32 banks. */
#include <math.h>

#include "analyze/findings/counters.h"
#include "base/i18n.h"

/* The hardware counter of conflicts counts some arbitration with other traffic too. */
static const double exact_least = 0.05, counted_least = 0.1;

struct conflicts {
    double ratio;      /* of the wavefronts; NAN */
    double wavefronts; /* superfluous ones; NAN */
    bool is_exact;
};

static struct conflicts find_conflicts(const struct counter_finder *f)
{
    double all = counter_value(f, METRIC_SHARED_WAVEFRONTS);
    double excess = counter_value(f, METRIC_SHARED_WAVEFRONTS_EXCESS);
    if (!isnan(counter_share(excess, all)))
        return (struct conflicts){excess / all, excess, true};
    double load = counter_value(f, METRIC_SHARED_LOAD_CONFLICTS);
    double store = counter_value(f, METRIC_SHARED_STORE_CONFLICTS);
    return (struct conflicts){counter_value(f, METRIC_SHARED_CONFLICT), load + store, false};
}

/* The data path of shared memory serves one wavefront a cycle and SM, so that superfluous ones cost exactly
 * their number in cycles of it. Where cycles are not known, by how busy L1, whose path it is, was. */
static double cost_of(const struct counter_finder *f, const struct conflicts *conflicts)
{
    double sms = f->device && f->device->sm_count > 0 ? f->device->sm_count : NAN;
    double share = conflicts->wavefronts / (sms * f->cycles);
    return isnan(share) ? conflicts->ratio * f->pressure.l1 : fmin(share, 1);
}

/* Wavefronts of a request of one direction; NAN. */
static double ways(const struct counter_finder *f, enum metric wavefronts, enum metric requests)
{
    return counter_share(counter_value(f, wavefronts), counter_value(f, requests));
}

static void ways_evidence(struct counter_finder *f, struct finding *finding)
{
    double load = ways(f, METRIC_SHARED_LOAD_WAVEFRONTS, METRIC_SHARED_LOAD_REQUESTS);
    double store = ways(f, METRIC_SHARED_STORE_WAVEFRONTS, METRIC_SHARED_STORE_REQUESTS);
    if (!isnan(load) && !isnan(store))
        counter_evidence(finding, msg_make(N_("a load takes {0} passes through the banks, a store {1}; 1 is "
                                              "perfect for 4-byte values"),
                                           value_number(load), value_number(store)));
    if (f->row->stalls[STALL_SHORT_SCOREBOARD] + f->row->stalls[STALL_MIO_THROTTLE] > 0.1)
        counter_evidence(finding, msg_make(N_("warps wait {0} of their time for shared memory and its queue"),
                                           value_ratio(f->row->stalls[STALL_SHORT_SCOREBOARD] +
                                                       f->row->stalls[STALL_MIO_THROTTLE])));
    counter_line(f, finding, PLACE_SHARED_WAVEFRONTS, PLACE_SHARED_WAVEFRONTS_IDEAL, WAITS_SHARED);
}

static void find_shared_atomics(struct counter_finder *f)
{
    double atomics = counter_value(f, METRIC_SHARED_ATOMIC_INSTRUCTIONS);
    struct conflicts conflicts = {.wavefronts = counter_value(f, METRIC_SHARED_ATOMIC_CONFLICTS)};
    double each = counter_share(conflicts.wavefronts, atomics);
    if (!(each >= 1))
        return;
    double cost = cost_of(f, &conflicts);
    struct finding *finding = counter_add(f, "kernel-atomics", cost / 2, cost * 1.5, 0.8);
    if (!finding)
        return;
    finding->title = msg_make(N_("atomics in shared memory collide: each is repeated {0} times on average"),
                              value_number(each));
    counter_evidence(finding,
                     msg_make(N_("how much they collide depends on the data: equal keys next to each "
                                 "other are the worst case")));
    finding->action =
        msg_make(N_("give each warp its own copy of the counters, or combine equal keys in the warp "
                    "first (__match_any_sync), and add the copies up at the end"));
}

void find_shared_access(struct counter_finder *f)
{
    find_shared_atomics(f);
    struct conflicts conflicts = find_conflicts(f);
    if (!(conflicts.ratio >= (conflicts.is_exact ? exact_least : counted_least)))
        return;
    double cost = cost_of(f, &conflicts);
    /* Conflicts lengthen each access too, not only the queue. */
    double high = fmin(conflicts.ratio, cost * 1.5);
    struct finding *finding =
        counter_add(f, "kernel-bank-conflicts", cost / 2, high, conflicts.is_exact ? 0.95 : 0.8);
    if (!finding)
        return;
    finding->title =
        msg_make(N_("threads of a warp hit the same banks of shared memory: {0} of its passes only "
                    "repeat"),
                 value_ratio(conflicts.ratio));
    ways_evidence(f, finding);
    finding->action =
        msg_make(N_("pad the rows of the tile by one element (tile[32][33]) or permute the column "
                    "with the row (column ^ row), so that a column lies in different banks"));
}
