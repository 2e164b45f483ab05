/* Where a kernel stands under the roofline, and what bounds it. */
#include <math.h>

#include "analyze/profiles.h"
#include "base/i18n.h"

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {"unknown", "memory", "compute", "latency"};
    return names[bound];
}

const char *level_name(enum memory_level level)
{
    static const char *const names[] = {"", "DRAM", "L2", "L1"};
    return names[level];
}

const char *peak_source_name(enum peak_source source)
{
    static const char *const names[] = {
        [PEAK_UNKNOWN] = N_("unknown"),          [PEAK_COUNTER] = N_("counter"),
        [PEAK_RATIO] = N_("share of the peak"),  [PEAK_DEVICE] = N_("device"),
        [PEAK_TABLE] = N_("compute capability"),
    };
    return names[source];
}

/* Results per cycle and SM of 32- and 64-bit multiply-add. Source: CUDA C++ Programming Guide 13.0, table
 * "Throughput of Native Arithmetic Instructions"; 3.x to 6.x: the guide of CUDA 11. */
static const struct {
    int32_t cc;
    int32_t fp32, fp64;
} units[] = {
    {30, 192, 8}, {35, 192, 64}, {37, 192, 64}, {50, 128, 4},   {52, 128, 4},  {53, 128, 4},  {60, 64, 32},
    {61, 128, 4}, {62, 128, 4},  {70, 64, 32},  {72, 64, 32},   {75, 64, 2},   {80, 64, 32},  {86, 128, 2},
    {87, 128, 2}, {89, 128, 2},  {90, 128, 64}, {100, 128, 64}, {103, 128, 2}, {120, 128, 2}, {121, 128, 2},
};

static double metric(const struct profile_row *row, enum metric id)
{
    return row->metrics[id].value;
}

static const struct device *device_of(const struct run *run, const struct profile_row *row)
{
    return row->device == NONE ? NULL : &run->devices.at[row->device];
}

static void find_memory_peak(const struct run *run, struct profile_row *row)
{
    struct roofline *r = &row->roofline;
    const struct device *device = device_of(run, row);
    double counted = metric(row, METRIC_DRAM_PEAK_BYTES_PER_S);
    double share = metric(row, METRIC_DRAM_THROUGHPUT);
    r->bytes_per_s = metric(row, METRIC_DRAM_BYTES_PER_S);
    if (counted > 0) {
        r->peak_bytes_per_s = counted;
        r->bytes_source = PEAK_COUNTER;
    } else if (device && device->memory_bandwidth_bytes_per_s > 0) {
        r->peak_bytes_per_s = (double)device->memory_bandwidth_bytes_per_s;
        r->bytes_source = PEAK_DEVICE;
    } else if (share > 0.01 && r->bytes_per_s > 0) { /* of less, rounding makes nonsense */
        r->peak_bytes_per_s = r->bytes_per_s / share;
        r->bytes_source = PEAK_RATIO;
    }
}

static double table_peak(const struct device *device, bool is_fp64, double clock_hz)
{
    int32_t cc = device->cc_major * 10 + device->cc_minor;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].cc == cc && device->sm_count > 0 && clock_hz > 0)
            return 2.0 * (is_fp64 ? units[i].fp64 : units[i].fp32) * device->sm_count * clock_hz;
    return NAN;
}

static void find_compute_peak(const struct run *run, struct profile_row *row)
{
    struct roofline *r = &row->roofline;
    const struct device *device = device_of(run, row);
    double clock = metric(row, METRIC_SM_CLOCK);
    double counted = metric(row, r->is_fp64 ? METRIC_FP64_PEAK : METRIC_FP32_PEAK) * clock;
    if (counted > 0) {
        r->peak_flop_per_s = counted;
        r->flop_source = PEAK_COUNTER;
    } else if (device) {
        if (!(clock > 0))
            clock = (double)device->clock_hz;
        r->peak_flop_per_s = table_peak(device, r->is_fp64, clock);
        r->flop_source = isnan(r->peak_flop_per_s) ? PEAK_UNKNOWN : PEAK_TABLE;
    }
}

void roofline_build(const struct run *run, struct profile_row *row)
{
    struct roofline *r = &row->roofline;
    *r = (struct roofline){
        NAN, NAN, NAN, NAN, .flop_per_byte = NAN, .roof_flop_per_s = NAN, .reached_ratio = NAN};
    double seconds = metric(row, METRIC_DURATION) / 1e9;
    double fp32 = metric(row, METRIC_FP32_FLOP), fp64 = metric(row, METRIC_FP64_FLOP);
    double flop = isnan(fp32) ? fp64 : isnan(fp64) ? fp32 : fp32 + fp64;
    r->is_fp64 = fp64 > flop / 2;
    r->has_tensor = metric(row, METRIC_PIPE_TENSOR) > 0.01;
    r->flop_per_s = seconds > 0 ? flop / seconds : NAN;
    find_memory_peak(run, row);
    find_compute_peak(run, row);
    if (r->bytes_per_s > 0)
        r->flop_per_byte = r->flop_per_s / r->bytes_per_s;
    r->roof_flop_per_s = fmin(r->peak_flop_per_s, r->flop_per_byte * r->peak_bytes_per_s);
    r->is_memory_side = !(r->flop_per_byte * r->peak_bytes_per_s > r->peak_flop_per_s);
    if (r->flop_per_s > 0 && r->roof_flop_per_s > 0 && !r->has_tensor)
        r->reached_ratio = r->flop_per_s / r->roof_flop_per_s;
    else
        r->reached_ratio = r->bytes_per_s / r->peak_bytes_per_s;
}

/* ---- how busy ------------------------------------------------------------------------------------------ */

/* From 60 % on a unit is what the kernel waits for most of the time; a unit is named in preference to waiting
 * from 40 % on where all others are clearly less busy: latency and bandwidth then act together. */
static const double busy = 0.6, half_busy = 0.4, clearly = 0.1;

struct pressure pressure_of(const struct profile_row *row)
{
    static const enum metric pipes[] = {METRIC_PIPE_ALU,  METRIC_PIPE_FMA,    METRIC_PIPE_FP16,
                                        METRIC_PIPE_FP64, METRIC_PIPE_TENSOR, METRIC_PIPE_XU};
    /* Shares of the cycles in which an SM was active become shares of the kernel's time. */
    double active = metric(row, METRIC_SM_ACTIVE);
    active = isnan(active) ? 1 : fmin(active, 1);
    struct pressure p = {.pipe = NAN, .busiest_pipe = METRIC_COUNT};
    p.dram = metric(row, METRIC_DRAM_THROUGHPUT);
    p.l2 = metric(row, METRIC_L2_THROUGHPUT);
    p.l1 = metric(row, METRIC_L1_THROUGHPUT) * active;
    p.issue = metric(row, METRIC_ISSUE_ACTIVE) * active;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        double ratio = metric(row, pipes[i]) * active;
        if (ratio > 0 && !(ratio <= p.pipe)) {
            p.pipe = ratio;
            p.busiest_pipe = pipes[i];
        }
    }
    p.memory = fmax(fmax(p.dram, p.l2), fmax(p.l1, metric(row, METRIC_MEMORY_PIPES)));
    p.memory = fmax(p.memory, metric(row, METRIC_MEMORY_THROUGHPUT));
    p.compute = fmax(p.issue, p.pipe);
    /* The SM's own figure counts the issue of memory instructions too: what is above those is computing. */
    double sm = metric(row, METRIC_COMPUTE_THROUGHPUT), memory_pipes = metric(row, METRIC_MEMORY_PIPES);
    if (isnan(p.compute) || sm > memory_pipes + clearly)
        p.compute = fmax(p.compute, sm);
    return p;
}

/* DRAM sits behind L2, so that L2 is at least as busy; L2 bounds by itself only where DRAM is far from it. */
static const double dram_of_l2 = 0.7;

static enum memory_level busiest_level(const struct pressure *p)
{
    double most = fmax(fmax(p->dram, p->l2), p->l1);
    if (p->dram >= busy || p->dram >= dram_of_l2 * most)
        return LEVEL_DRAM;
    if (isnan(most) || p->memory > most + clearly)
        return p->memory >= busy ? LEVEL_L1 : LEVEL_NONE; /* the pipes that lead there */
    return p->l2 >= most ? LEVEL_L2 : LEVEL_L1;
}

void bound_build(struct profile_row *row)
{
    struct pressure p = pressure_of(row);
    row->bound = BOUND_UNKNOWN;
    row->bound_ratio = NAN;
    if (p.compute >= busy && !(p.memory > p.compute)) {
        row->bound = BOUND_COMPUTE;
        row->bound_ratio = p.compute;
    } else if (p.memory >= busy || (p.memory >= half_busy && p.memory >= p.compute + clearly)) {
        row->bound = BOUND_MEMORY;
        row->level = busiest_level(&p);
        row->bound_ratio = row->level == LEVEL_DRAM ? p.dram : row->level == LEVEL_L2 ? p.l2 : p.memory;
    } else if (!isnan(p.memory) && !isnan(p.compute)) {
        row->bound = BOUND_LATENCY;
        row->bound_ratio = fmax(p.memory, p.compute);
    }
}
