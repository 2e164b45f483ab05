/* What bounds a kernel, and how far it is from that: the verdict that stands where no single cause does. */
#include <math.h>
#include <stdlib.h>

#include "analyze/findings/counters.h"
#include "analyze/occupancy.h"
#include "base/i18n.h"

/* What well-made kernels reach of a peak. */
static const double reachable = 0.92;
/* A cause that costs at least that much explains the verdict. */
static const double explains = 0.15;
static const double saturated = 0.6;

static double saving(double busy)
{
    return fmax(0, 1 - busy / reachable);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void roof_evidence(struct counter_finder *f, struct finding *finding)
{
    const struct roofline *r = &f->row->roofline;
    double l1_hit = counter_value(f, METRIC_L1_HIT);
    if (r->bytes_per_s > 0 && r->peak_bytes_per_s > 0)
        counter_evidence(finding, msg_make(N_("device memory moves {0} of {1} (peak by: {2})"),
                                           value_rate(r->bytes_per_s), value_rate(r->peak_bytes_per_s),
                                           value_term(peak_source_name(r->bytes_source))));
    if (r->flop_per_byte > 0 && r->is_memory_side && !r->has_tensor)
        counter_evidence(finding,
                         msg_make(N_("{0} FLOP for each byte; from {1} on the arithmetic units would be "
                                     "the limit"),
                                  value_number(r->flop_per_byte),
                                  value_number(r->peak_flop_per_s / r->peak_bytes_per_s)));
    if (f->row->level == LEVEL_DRAM && l1_hit < 0.5)
        counter_evidence(finding, msg_make(N_("the L1 hit rate of {0} is no fault where data is used once"),
                                           value_ratio(l1_hit)));
}

static void dram_texts(struct counter_finder *f, struct finding *finding)
{
    double busy = f->row->bound_ratio;
    if (busy >= saturated) {
        finding->title =
            msg_make(N_("device memory is the limit: it is busy {0} of the time"), value_ratio(busy));
        finding->action = msg_make(
            N_("inside the kernel there is little to gain; move fewer bytes: fuse it with its neighbours, "
               "use smaller types, keep what is used again in L2, shared memory or registers"));
    } else {
        finding->title =
            msg_make(N_("it waits for device memory without filling it: {0} of the peak"), value_ratio(busy));
        finding->action =
            msg_make(N_("have more bytes in flight: wider loads (float4), several independent loads a thread "
                        "before the first use, cp.async or TMA; and move fewer bytes by fusing kernels"));
    }
}

/* Resident warps share L1. Where it misses what L2 then has, and L2 is the limit, fewer of them may be
 * faster. */
static bool crowds_l1(const struct counter_finder *f)
{
    return counter_value(f, METRIC_ACHIEVED_OCCUPANCY) >= 0.75 && counter_value(f, METRIC_L1_HIT) < 0.3 &&
           counter_value(f, METRIC_L2_HIT) > 0.8 && counter_value(f, METRIC_GLOBAL_LOAD_SECTORS) > 0;
}

static void cache_texts(struct counter_finder *f, struct finding *finding)
{
    bool is_l2 = f->row->level == LEVEL_L2;
    finding->title =
        is_l2 ? msg_make(N_("the way through L2 is the limit: it is busy {0} of the time, device "
                            "memory {1}"),
                         value_ratio(f->row->bound_ratio), value_ratio(f->pressure.dram))
              : msg_make(N_("loads and stores of the SMs themselves are the limit: the path through L1 "
                            "is busy {0} of the time, device memory {1}"),
                         value_ratio(f->row->bound_ratio), value_ratio(f->pressure.dram));
    if (is_l2 && crowds_l1(f)) {
        counter_evidence(finding,
                         msg_make(N_("L1 hits {0}, L2 {1}, at an occupancy of {2}: the resident warps push "
                                     "each other's data out of L1"),
                                  value_ratio(counter_value(f, METRIC_L1_HIT)),
                                  value_ratio(counter_value(f, METRIC_L2_HIT)),
                                  value_ratio(counter_value(f, METRIC_ACHIEVED_OCCUPANCY))));
        finding->action =
            msg_make(N_("try fewer warps an SM (smaller or fewer blocks): occupancy is room, not use; "
                        "and keep what is used again in shared memory or registers"));
        return;
    }
    finding->action =
        msg_make(N_("load each value fewer times: tiles in shared memory, then several results a thread in "
                    "registers; load 16 bytes at once (float4)"));
}

/* ---- compute ------------------------------------------------------------------------------------------- */

static const char *pipe_name(enum metric pipe)
{
    switch ((int)pipe) {
    case METRIC_PIPE_ALU:
        return "ALU";
    case METRIC_PIPE_FMA:
        return "FMA";
    case METRIC_PIPE_FP16:
        return "FP16";
    case METRIC_PIPE_FP64:
        return "FP64";
    case METRIC_PIPE_TENSOR:
        return "tensor";
    default:
        return "XU";
    }
}

static void compute_texts(struct counter_finder *f, struct finding *finding)
{
    const struct pressure *p = &f->pressure;
    if (p->pipe >= p->issue * 0.9 || isnan(p->issue))
        finding->title =
            p->busiest_pipe == METRIC_COUNT
                ? msg_make(N_("computing is the limit: it is busy {0} of the time"), value_ratio(p->compute))
                : msg_make(N_("the {0} pipe is the limit: it is busy {1} of the time"),
                           value_text(pipe_name(p->busiest_pipe)), value_ratio(p->pipe));
    else
        finding->title =
            msg_make(N_("issuing instructions is the limit: the schedulers issue in {0} of the cycles"),
                     value_ratio(p->issue));
    const struct roofline *r = &f->row->roofline;
    if (r->flop_per_s > 0 && r->peak_flop_per_s > 0 && !r->has_tensor)
        counter_evidence(finding, msg_make(N_("{0} of the peak of ordinary {1} arithmetic (peak by: {2})"),
                                           value_ratio(r->flop_per_s / r->peak_flop_per_s),
                                           value_text(r->is_fp64 ? "fp64" : "fp32"),
                                           value_term(peak_source_name(r->flop_source))));
    counter_evidence(finding, msg_make(N_("more warps would not help: the unit has work all the time")));
    finding->action =
        msg_make(N_("do less: hoist index arithmetic out of loops, fuse multiply and add, use cheaper "
                    "functions (__expf, rsqrtf) and types, or move the work to tensor cores"));
}

/* ---- latency ------------------------------------------------------------------------------------------- */

static const char *const stall_action[STALL_COUNT] = {
    [STALL_LONG_SCOREBOARD] =
        N_("start loads earlier and more of them at once: unroll, load float4, fetch the next "
           "tile (cp.async) while this one is worked on"),
    [STALL_SHORT_SCOREBOARD] =
        N_("make fewer and wider accesses to shared memory, keep values in registers, use "
           "fewer special functions"),
    [STALL_BARRIER] =
        N_("wait less at __syncthreads(): smaller blocks and more of them on an SM, equal work for "
           "all warps before it, __syncwarp() where one warp is concerned"),
    [STALL_MEMBAR] = N_("use fewer or narrower memory fences (__threadfence_block)"),
    [STALL_LG_THROTTLE] =
        N_("make fewer, wider accesses to global memory (float4) and put computation between "
           "them"),
    [STALL_MIO_THROTTLE] = N_("make fewer, wider accesses to shared memory, and fewer special functions and "
                              "conversions"),
    [STALL_TEX_THROTTLE] = N_("make fewer texture accesses at a time, or ordinary loads"),
    [STALL_DRAIN] =
        N_("let the last stores be coalesced and spread over the kernel: warps wait for them before "
           "they end"),
    [STALL_MATH_PIPE_THROTTLE] = N_("mix instructions of other pipes in between"),
    [STALL_WAIT] =
        N_("give each thread independent work (two or more results at a time), so that one instruction "
           "need not wait for the last"),
    [STALL_NO_INSTRUCTION] = N_("make the code smaller (unroll less) or the loops longer: warps wait for "
                                "instructions"),
    [STALL_IMC_MISS] =
        N_("let all threads read the same constant at a time, or read it through global memory"),
    [STALL_SLEEPING] = N_("wait less with __nanosleep()"),
};

static const char general_action[] = N_(
    "give the schedulers more to choose from: independent work in each thread (unrolling), and more warps");

static const char look_further[] = N_(
    "find out what they wait for before changing anything: --deep and --stalls (Nsight Compute: --set full); "
    "if it is nothing special, independent work in each thread (unrolling) and more warps help");

/* Occupancy is worth raising only while no unit is busy and there are few warps to hide latency with. */
static bool lacks_warps(const struct counter_finder *f)
{
    double achieved = counter_value(f, METRIC_ACHIEVED_OCCUPANCY);
    return f->row->occupancy_ratio < 0.5 && !(achieved > 0.5) && f->pressure.memory < saturated;
}

static const char *first_limiter(const struct profile_row *row)
{
    static const enum occupancy_limit order[] = {LIMIT_REGISTERS, LIMIT_SHARED, LIMIT_BARRIERS, LIMIT_BLOCKS,
                                                 LIMIT_WARPS};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (row->limiters >> order[i] & 1)
            return occupancy_limit_title(order[i]);
    return N_("the launch");
}

static void latency_texts(struct counter_finder *f, struct finding *finding)
{
    enum stall top = f->row->top_stall;
    double eligible = counter_value(f, METRIC_WARPS_ELIGIBLE), duration = counter_value(f, METRIC_DURATION);
    bool knows_sm = !isnan(f->pressure.l1) || !isnan(counter_value(f, METRIC_MEMORY_THROUGHPUT));
    finding->title =
        msg_make(knows_sm ? N_("no unit is busy (the busiest {0} of the time): warps wait most of the time")
                          : N_("no unit that was measured is busy (the busiest {0} of the time): warps "
                               "wait"),
                 value_ratio(f->row->bound_ratio));
    if (!knows_sm) {
        finding->confidence_ratio = 0.5;
        counter_evidence(finding,
                         msg_make(N_("how busy L1, shared memory and the pipes are was not measured")));
    }
    if (!isnan(f->pressure.issue) && !isnan(eligible))
        counter_evidence(finding,
                         msg_make(N_("a scheduler issues in {0} of the cycles and has {1} warps to choose "
                                     "from"),
                                  value_ratio(f->pressure.issue), value_number(eligible)));
    if (top != STALL_NONE) {
        counter_evidence(finding, msg_make(N_("warps spend {0} of their time waiting: {1}"),
                                           value_ratio(f->row->stalls[top]), value_text(stall_keys[top])));
        counter_stall_line(f, finding, 1u << top);
    }
    if (duration < 5000)
        counter_evidence(finding,
                         msg_make(N_("it takes {0}; starting a kernel and draining it alone take 2 to 5 µs"),
                                  value_ns((int64_t)duration)));
    if (lacks_warps(f)) {
        counter_evidence(finding,
                         msg_make(N_("at most {0} of the warps that an SM can hold fit: {1} allow no more"),
                                  value_ratio(f->row->occupancy_ratio), value_term(first_limiter(f->row))));
        finding->action =
            msg_make(N_("make room for more warps ('warplight occupancy' shows the next step), or give "
                        "each thread independent work to hide the waiting"));
        return;
    }
    bool is_known = top != STALL_NONE && stall_action[top];
    finding->action = (struct msg){.format = is_known                         ? stall_action[top]
                                             : top == STALL_NONE && !knows_sm ? look_further
                                                                              : general_action};
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static struct finding *leading(struct profile_row *row)
{
    struct finding *best = NULL;
    vec_each (&row->findings, finding)
        if (!best || finding->saving_ratio[0] + finding->saving_ratio[1] >
                         best->saving_ratio[0] + best->saving_ratio[1])
            best = finding;
    return best;
}

/* One time is explained once: the cause that was found takes the verdict as evidence. */
static bool merge_verdict(struct counter_finder *f)
{
    struct finding *cause = leading(f->row);
    if (!cause || cause->saving_ratio[1] < explains)
        return false;
    const struct pressure *p = &f->pressure;
    switch (f->row->bound) {
    case BOUND_MEMORY:
        counter_evidence(cause,
                         msg_make(N_("{0} is busy {1} of the time"), value_text(level_name(f->row->level)),
                                  value_ratio(f->row->bound_ratio)));
        break;
    case BOUND_COMPUTE:
        counter_evidence(cause,
                         msg_make(N_("the schedulers issue in {0} of the cycles, the busiest pipe works {1}"),
                                  value_ratio(p->issue), value_ratio(p->pipe)));
        break;
    case BOUND_LATENCY:
        counter_evidence(cause, msg_make(N_("no unit of the GPU is busy more than {0} of the time"),
                                         value_ratio(f->row->bound_ratio)));
        break;
    case BOUND_UNKNOWN:
        break;
    }
    return true;
}

/* Unlike a cause, the verdict stands even if nothing can be saved. */
static struct finding *add_verdict(struct counter_finder *f, const char *id, double high, double confidence)
{
    struct finding *finding = counter_add(f, id, 0, fmax(high, counter_least), confidence);
    if (high < counter_least) {
        finding->saving_ratio[1] = high;
        finding->severity = SEVERITY_INFO;
        if (finding->saving_ns[1] != UNKNOWN) {
            finding->saving_ns[1] = (int64_t)((double)f->row->total_ns * high);
            finding->lost_ns = finding->saving_ns[1];
        }
    }
    return finding;
}

void find_bound(struct counter_finder *f)
{
    if (f->row->bound == BOUND_UNKNOWN || merge_verdict(f))
        return;
    double high = saving(fmax(f->pressure.memory, f->pressure.compute));
    if (f->row->bound == BOUND_MEMORY) {
        struct finding *finding = add_verdict(f, "kernel-memory-bound", high, 0.9);
        if (f->row->level == LEVEL_DRAM)
            dram_texts(f, finding);
        else
            cache_texts(f, finding);
        roof_evidence(f, finding);
    } else if (f->row->bound == BOUND_COMPUTE) {
        compute_texts(f, add_verdict(f, "kernel-compute-bound", high, 0.9));
    } else {
        latency_texts(f, add_verdict(f, "kernel-latency-bound", high, 0.7));
    }
}
