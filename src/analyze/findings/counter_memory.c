/* Global and local memory, and atomics on them. */
#include <math.h>

#include "analyze/findings/counters.h"
#include "base/i18n.h"

/* A sector has 32 bytes. The widest access, 16 bytes by each of 32 threads, is 16 sectors: whatever touches
 * more in a request wastes some, whatever its width. */
static const double sector_bytes = 32, narrow_sectors = 4.05, widest_sectors = 16;
static const double least_waste = 0.15;

/* ---- coalescing ---------------------------------------------------------------------------------------- */

struct waste {
    double ratio; /* of the sectors that were touched; NAN */
    bool is_exact;
};

/* A request that touches no more sectors than neighbouring 4-byte values need wastes none, even if it uses
 * few bytes of them: all threads may want the same ones. */
static double waste_of_bytes(double bytes_per_sector, double sectors_per_request)
{
    if (!(bytes_per_sector > 0))
        return NAN;
    return sectors_per_request <= narrow_sectors ? 0 : fmax(0, 1 - bytes_per_sector / sector_bytes);
}

/* Of loads and stores together, each weighted by its sectors where those are known. */
static double mean_waste(const struct counter_finder *f, double loads, double stores)
{
    double load_sectors = counter_value(f, METRIC_GLOBAL_LOAD_SECTORS);
    double store_sectors = counter_value(f, METRIC_GLOBAL_STORE_SECTORS);
    if (isnan(loads) || isnan(stores))
        return isnan(loads) ? stores : loads;
    if (isnan(load_sectors) || isnan(store_sectors) || load_sectors + store_sectors == 0)
        return fmin(loads, stores);
    return (loads * load_sectors + stores * store_sectors) / (load_sectors + store_sectors);
}

static double waste_of_requests(double sectors_per_request)
{
    return isnan(sectors_per_request) ? NAN : fmax(0, 1 - widest_sectors / sectors_per_request);
}

static struct waste find_waste(const struct counter_finder *f)
{
    double exact = counter_share(counter_value(f, METRIC_GLOBAL_SECTORS_EXCESS),
                                 counter_value(f, METRIC_GLOBAL_SECTORS));
    if (!isnan(exact))
        return (struct waste){exact, true};
    double load = counter_value(f, METRIC_GLOBAL_LOAD_BYTES_PER_SECTOR);
    double store = counter_value(f, METRIC_GLOBAL_STORE_BYTES_PER_SECTOR);
    double load_sectors = counter_value(f, METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST);
    double store_sectors = counter_value(f, METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST);
    if (load > 0 || store > 0)
        return (struct waste){
            mean_waste(f, waste_of_bytes(load, load_sectors), waste_of_bytes(store, store_sectors)), true};
    return (struct waste){mean_waste(f, waste_of_requests(load_sectors), waste_of_requests(store_sectors)),
                          false};
}

/* What of the waste leaves L1: its cache absorbs the sectors that neighbours fetch again. */
static double waste_behind_l1(const struct counter_finder *f, double waste)
{
    double sectors = counter_value(f, METRIC_GLOBAL_SECTORS);
    double left = counter_value(f, METRIC_L2_L1_SECTORS);
    if (sectors > 0 && left > 0)
        return fmax(0, fmin(waste, 1 - sectors * (1 - waste) / left));
    double hit = counter_value(f, METRIC_L1_GLOBAL_LOAD_HIT);
    if (hit > 0 && hit < 1)
        return fmax(0, 1 - (1 - waste) / (1 - hit));
    return waste;
}

/* The share of L1's and L2's traffic that is global loads and stores. */
static double global_share(const struct counter_finder *f)
{
    double global =
        counter_value(f, METRIC_GLOBAL_LOAD_SECTORS) + counter_value(f, METRIC_GLOBAL_STORE_SECTORS);
    double local = counter_value(f, METRIC_LOCAL_LOAD_SECTORS) + counter_value(f, METRIC_LOCAL_STORE_SECTORS);
    return isnan(local) || isnan(global) || global + local == 0 ? 1 : global / (global + local);
}

static void access_evidence(struct counter_finder *f, struct finding *finding)
{
    double load = counter_value(f, METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST);
    double store = counter_value(f, METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST);
    if (load > 0 && store > 0)
        counter_evidence(finding, msg_make(N_("a request of a warp touches {0} sectors in loads and {1} in "
                                              "stores; 32 neighbouring 4-byte values need 4"),
                                           value_number(load), value_number(store)));
    else if (load > 0 || store > 0)
        counter_evidence(finding,
                         msg_make(N_("a request of a warp touches {0} sectors; 32 neighbouring 4-byte "
                                     "values need 4"),
                                  value_number(load > 0 ? load : store)));
    counter_line(f, finding, PLACE_GLOBAL_SECTORS, PLACE_GLOBAL_SECTORS_IDEAL, WAITS_GLOBAL);
}

void find_global_access(struct counter_finder *f)
{
    struct waste waste = find_waste(f);
    if (!(waste.ratio >= least_waste))
        return;
    const struct pressure *p = &f->pressure;
    double behind = waste_behind_l1(f, waste.ratio);
    double inside_cost = waste.ratio * counter_weight(p->l1);
    double behind_cost = behind * counter_weight(fmax(p->l2, p->dram));
    if (isnan(behind_cost) && isnan(inside_cost))
        behind_cost = behind * counter_weight(p->memory);
    double cost = fmax(inside_cost, behind_cost) * global_share(f);
    struct finding *finding = counter_add(f, "kernel-uncoalesced", cost / 2 * fmin(1, p->memory), cost,
                                          waste.is_exact ? 0.95 : 0.8);
    if (!finding)
        return;
    finding->title =
        msg_make(N_("threads of a warp touch scattered addresses: {0} of the memory sectors that "
                    "move carry nothing that they asked for"),
                 value_ratio(waste.ratio));
    access_evidence(f, finding);
    if (behind < waste.ratio / 2)
        counter_evidence(finding,
                         msg_make(N_("L1 absorbs most of it: behind L1 it is {0}"), value_ratio(behind)));
    finding->action =
        msg_make(N_("let neighbouring threads touch neighbouring addresses: index by threadIdx.x in the last "
                    "dimension, turn an array of structs into arrays, or stage a tile in shared memory and "
                    "read it transposed from there"));
}

/* ---- local memory -------------------------------------------------------------------------------------- */

/* Whether what lies in local memory was spilled: as the counters have it, else as the code has it. */
static int is_spill(const struct counter_finder *f)
{
    double spills = counter_value(f, METRIC_SPILL_REQUESTS);
    double all = counter_value(f, METRIC_LOCAL_LOAD_REQUESTS) + counter_value(f, METRIC_LOCAL_STORE_REQUESTS);
    if (!isnan(spills))
        return spills > 0 && !(spills < all / 2);
    if (!f->code || f->code->spill_store_bytes == UNKNOWN)
        return -1;
    return f->code->spill_store_bytes + f->code->spill_load_bytes > 0;
}

static struct finding *add_local(struct counter_finder *f, int spill, double share, double cost,
                                 double confidence)
{
    struct finding *finding = counter_add(f, spill > 0 ? "kernel-register-spill" : "kernel-local-memory",
                                          cost / 3, cost, confidence);
    if (!finding)
        return NULL;
    if (spill > 0)
        finding->title =
            msg_make(N_("registers are spilled: {0} of the memory traffic of the threads is values "
                        "that found no register"),
                     value_ratio(share));
    else
        finding->title =
            msg_make(N_("{0} of the memory traffic of the threads is local memory"), value_ratio(share));
    return finding;
}

static void local_action(struct counter_finder *f, struct finding *finding, int spill)
{
    int64_t registers = f->shape ? f->shape->regs_per_thread : 0;
    if (spill < 0)
        counter_evidence(finding, msg_make(N_("whether they are spills or arrays, the code tells: 'warplight "
                                              "kernels PROGRAM'")));
    if (spill > 0 && registers > 0)
        counter_evidence(
            finding, msg_make(N_("the compiler was held to {0} registers a thread; a block has {1} threads"),
                              value_count(registers), value_count(counter_block_threads(f))));
    finding->action =
        spill > 0
            ? msg_make(
                  N_("allow more registers: relax __launch_bounds__ or -maxrregcount, use smaller blocks, or "
                     "keep fewer values alive at once (unroll less, recompute)"))
            : msg_make(
                  N_("give arrays of a thread constant indices (unroll the loops over them fully), make them "
                     "smaller, or put them in shared memory: an index known only at run time forces them "
                     "into memory"));
}

/* Of the traffic of global and local memory; where sectors were not counted, of the instructions. */
static double local_share(const struct counter_finder *f)
{
    double local = counter_value(f, METRIC_LOCAL_LOAD_SECTORS) + counter_value(f, METRIC_LOCAL_STORE_SECTORS);
    if (isnan(local))
        return counter_share(counter_value(f, METRIC_SPILL_REQUESTS), counter_value(f, METRIC_INSTRUCTIONS));
    return local > 0 ? 1 - global_share(f) : 0;
}

/* What one half of L2 passes on to the other counts in both. */
static const double most_counted_again = 1.5;
/* A few spilled values, or copies that the tensor cores' kernels order past the SM's own loads, prove
 * nothing. */
static const int64_t much_spilled_bytes = 128;

/* Sectors that threads ask for in global memory, atomics included; NAN where loads or stores were not
 * counted. */
static double global_sectors(const struct counter_finder *f)
{
    return counter_value(f, METRIC_GLOBAL_LOAD_SECTORS) + counter_value(f, METRIC_GLOBAL_STORE_SECTORS) +
           counter_known(counter_value(f, METRIC_L2_ATOMIC_SECTORS));
}

/* One pass counts no local memory. Where the code is known to spill, what L2 moves beyond global memory is
 * that: at least so much, as what hits L1 never gets there. */
static double spilled_share(const struct counter_finder *f)
{
    if (!f->code || f->code->spill_store_bytes == UNKNOWN ||
        f->code->spill_store_bytes + f->code->spill_load_bytes < much_spilled_bytes ||
        !(counter_value(f, METRIC_PIPE_TENSOR) < 0.01))
        return NAN;
    return 1 - counter_share(global_sectors(f), counter_value(f, METRIC_L2_SECTORS) / most_counted_again);
}

static void spilled_evidence(struct counter_finder *f, struct finding *finding)
{
    counter_evidence(finding,
                     msg_make(N_("a thread stores {0} and loads {1} of spilled values, says the code; L2 "
                                 "moves {2} sectors, and accesses to global memory ask for {3}: --deep "
                                 "counts local memory itself"),
                              value_bytes(f->code->spill_store_bytes), value_bytes(f->code->spill_load_bytes),
                              value_count((int64_t)counter_value(f, METRIC_L2_SECTORS)),
                              value_count((int64_t)global_sectors(f))));
}

void find_local_access(struct counter_finder *f)
{
    double share = local_share(f);
    bool by_code = isnan(share);
    if (by_code)
        share = spilled_share(f);
    const struct pressure *p = &f->pressure;
    if (!(share >= counter_least))
        return;
    double cost = share * counter_weight(fmax(fmax(p->l1, p->l2), fmax(p->dram, p->memory)));
    int spill = by_code ? 1 : is_spill(f);
    struct finding *finding = add_local(f, spill, share, cost, spill < 0 ? 0.6 : by_code ? 0.5 : 0.9);
    if (!finding)
        return;
    if (by_code)
        spilled_evidence(f, finding);
    double l1_hit = counter_value(f, METRIC_L1_LOCAL_LOAD_HIT);
    if (!isnan(l1_hit))
        counter_evidence(finding,
                         msg_make(N_("{0} of the loads hit L1; the rest goes to L2"), value_ratio(l1_hit)));
    if (f->row->stalls[STALL_LG_THROTTLE] > 0.1)
        counter_evidence(finding,
                         msg_make(N_("warps wait {0} of their time for room in the queue of global and local "
                                     "accesses"),
                                  value_ratio(f->row->stalls[STALL_LG_THROTTLE])));
    counter_line(f, finding, PLACE_LOCAL_SECTORS, PLACE_OTHER, WAITS_GLOBAL);
    local_action(f, finding, spill);
}

/* ---- atomics ------------------------------------------------------------------------------------------- */

/* Atomics are carried out in L2, one after another where they meet at an address: what then limits is neither
 * bandwidth nor issue, but how long they queue. */
static const double atomics_matter = 0.1, atomic_unit_busy = 0.6;

/* Of the requests; of the sectors where only those were counted, as one pass does. */
static double share_of_atomics(const struct counter_finder *f, bool *of_requests)
{
    static const enum metric counted[2][3] = {
        {METRIC_L2_ATOMIC_SECTORS, METRIC_GLOBAL_LOAD_SECTORS, METRIC_GLOBAL_STORE_SECTORS},
        {METRIC_GLOBAL_ATOMIC_REQUESTS, METRIC_GLOBAL_LOAD_REQUESTS, METRIC_GLOBAL_STORE_REQUESTS}};
    *of_requests = !isnan(counter_value(f, METRIC_GLOBAL_ATOMIC_REQUESTS));
    const enum metric *ids = counted[*of_requests];
    double atomics = counter_value(f, ids[0]);
    double loads = counter_value(f, ids[1]), stores = counter_value(f, ids[2]);
    if (isnan(loads) && isnan(stores)) /* all of what was counted is no share of what there is */
        return NAN;
    return counter_share(atomics, atomics + counter_known(loads) + counter_known(stores));
}

void find_atomics(struct counter_finder *f)
{
    bool of_requests;
    double share = share_of_atomics(f, &of_requests);
    double requests = counter_value(f, METRIC_GLOBAL_ATOMIC_REQUESTS);
    double unit = counter_value(f, METRIC_L2_ATOMIC_THROUGHPUT);
    bool queues = f->row->bound == BOUND_LATENCY && share >= atomics_matter &&
                  (f->pressure.issue < 0.2 || isnan(f->pressure.issue));
    if (!(share > 0) || !(queues || unit >= atomic_unit_busy))
        return;
    double busiest = fmax(f->pressure.memory, f->pressure.compute);
    double high = unit >= atomic_unit_busy ? unit : 1 - counter_known(busiest);
    double confidence = unit >= atomic_unit_busy ? 0.9 : of_requests ? 0.8 : 0.7;
    struct finding *finding = counter_add(f, "kernel-atomics", high / 2, high, confidence);
    if (!finding)
        return;
    finding->title = msg_make(
        of_requests ? N_("threads queue at atomic operations: {0} of the global memory requests are "
                         "atomics, and the rest of the GPU waits for them")
                    : N_("threads queue at atomic operations: {0} of the sectors of global memory that they "
                         "touch are atomics, and the rest of the GPU waits for them"),
        value_ratio(share));
    double sectors = counter_share(counter_value(f, METRIC_GLOBAL_ATOMIC_SECTORS), requests);
    if (sectors > 0 && sectors < 16)
        counter_evidence(finding,
                         msg_make(N_("the 32 threads of a warp meet in {0} sectors of 32 bytes: their "
                                     "operations on one address are done one by one"),
                                  value_number(sectors)));
    if (f->row->top_stall != STALL_NONE && !isnan(f->pressure.issue))
        counter_evidence(finding, msg_make(N_("an instruction is issued in {0} of the cycles"),
                                           value_ratio(f->pressure.issue)));
    counter_stall_line(f, finding, WAITS_GLOBAL);
    finding->action = msg_make(
        N_("combine first: reduce in the warp (__reduce_add_sync, __match_any_sync) or count in shared "
           "memory, and add one result a block to global memory; spread hot addresses over copies"));
}
