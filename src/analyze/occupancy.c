/* Theoretical occupancy of a launch: how many of its blocks fit on one SM at once.
 *
 * Source of rules and limits: cuda_occupancy.h of CUDA 13.0; compute capability 3.x from the table of the
 * CUDA C++ Programming Guide 11. The largest shared memory carve-out is assumed, as that header does; the
 * driver may have picked a smaller one. Clusters, barriers and partitioned caching do not limit ordinary
 * launches and are left out. */
#include <math.h>

#include "analyze/analyze.h"

/* Per SM unless said otherwise; the same everywhere: warps of 32 threads, registers given out to warps in
 * pieces of 256, at most 1024 threads a block. */
struct limits {
    int32_t cc; /* 10 × major + minor */
    int32_t warps, blocks;
    int32_t regs, regs_per_block, regs_per_thread;
    int32_t partitions;             /* each warp takes its registers from one of them */
    int32_t shared_bytes;           /* largest carve-out */
    int32_t shared_bytes_per_block; /* after opting in; the reserved ones not counted */
    int32_t shared_unit, shared_reserved;
};

enum { KIB = 1024, K64 = 64 * KIB, WARP = 32, REG_UNIT = 256, BLOCK_THREADS = 1024 };

static const struct limits known[] = {
    {30, 64, 16, K64, K64, 63, 4, 48 * KIB, 48 * KIB, 256, 0},
    {35, 64, 16, K64, K64, 255, 4, 48 * KIB, 48 * KIB, 256, 0},
    {37, 64, 16, 2 * K64, K64, 255, 4, 112 * KIB, 48 * KIB, 256, 0},
    {50, 64, 32, K64, K64, 255, 4, 64 * KIB, 48 * KIB, 256, 0},
    {52, 64, 32, K64, K64, 255, 4, 96 * KIB, 48 * KIB, 256, 0},
    {53, 64, 32, K64, K64 / 2, 255, 4, 64 * KIB, 48 * KIB, 256, 0},
    {60, 64, 32, K64, K64, 255, 2, 64 * KIB, 48 * KIB, 256, 0},
    {61, 64, 32, K64, K64, 255, 4, 96 * KIB, 48 * KIB, 256, 0},
    {62, 64, 32, K64, K64 / 2, 255, 4, 64 * KIB, 48 * KIB, 256, 0},
    {70, 64, 32, K64, K64, 255, 4, 96 * KIB, 96 * KIB, 256, 0},
    {75, 32, 16, K64, K64, 255, 4, 64 * KIB, 64 * KIB, 256, 0},
    {80, 64, 32, K64, K64, 255, 4, 164 * KIB, 163 * KIB, 128, KIB},
    {86, 48, 16, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB},
    {87, 48, 16, K64, K64, 255, 4, 164 * KIB, 163 * KIB, 128, KIB},
    {88, 48, 16, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB},
    {89, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB},
    {90, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB},
    {100, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB},
    {101, 48, 24, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB}, /* called 11.0 from CUDA 13 on */
    {103, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB},
    {110, 48, 24, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB},
    {120, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB},
    {121, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB},
};

/* The limits of the device: what the source said of it, the rest from the table. A compute capability between
 * two rows, or after the last, gets the granularities of the row before it, but then every limit must be
 * known from the source. False if not enough is known. */
static bool find_limits(const struct device *device, struct limits *limits)
{
    int32_t cc = device->cc_major * 10 + device->cc_minor;
    size_t row = 0;
    while (row < sizeof known / sizeof *known && known[row].cc <= cc)
        row++;
    if (row == 0 || (device->warp_size != 0 && device->warp_size != WARP))
        return false;
    bool exact = known[row - 1].cc == cc;
    *limits = known[row - 1];
    int32_t warps =
        device->max_warps_per_sm > 0 ? device->max_warps_per_sm : device->max_threads_per_sm / WARP;
    if (!exact && (warps <= 0 || device->max_blocks_per_sm <= 0 || device->regs_per_sm <= 0 ||
                   device->shared_bytes_per_sm <= 0 || device->shared_bytes_per_block_optin <= 0))
        return false;
    if (warps > 0)
        limits->warps = warps;
    if (device->max_blocks_per_sm > 0)
        limits->blocks = device->max_blocks_per_sm;
    if (device->regs_per_sm > 0)
        limits->regs = device->regs_per_sm;
    if (device->shared_bytes_per_sm > 0 && device->shared_bytes_per_sm < INT32_MAX)
        limits->shared_bytes = (int32_t)device->shared_bytes_per_sm;
    if (device->shared_bytes_per_block_optin > 0 && device->shared_bytes_per_block_optin < INT32_MAX)
        limits->shared_bytes_per_block = (int32_t)device->shared_bytes_per_block_optin;
    return true;
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Blocks that the registers allow. Each partition gives registers to whole warps. */
static int64_t blocks_by_registers(const struct limits *limits, int64_t regs, int64_t warps)
{
    int64_t per_warp = round_up(regs * WARP, REG_UNIT);
    if (regs > limits->regs_per_thread ||
        round_up(warps, limits->partitions) * per_warp > limits->regs_per_block)
        return 0;
    return limits->regs / limits->partitions / per_warp * limits->partitions / warps;
}

static int64_t blocks_by_shared(const struct limits *limits, int64_t bytes)
{
    if (bytes > limits->shared_bytes_per_block)
        return 0;
    int64_t taken = round_up(bytes + limits->shared_reserved, limits->shared_unit);
    return taken == 0 ? INT64_MAX : limits->shared_bytes / taken;
}

double occupancy_of(const struct device *device, const struct shape *shape, int32_t *blocks_per_sm)
{
    struct limits limits;
    *blocks_per_sm = 0;
    int64_t threads = 1;
    for (int axis = 0; axis < 3; axis++) /* saturating: hostile shapes must not overflow */
        threads = shape->block[axis] > BLOCK_THREADS ? BLOCK_THREADS + 1 : threads * shape->block[axis];
    if (threads <= 0 || shape->regs_per_thread == 0 || !find_limits(device, &limits))
        return NAN;
    if (threads > BLOCK_THREADS)
        return 0;
    int64_t warps = (threads + WARP - 1) / WARP;
    int64_t blocks = min_ns(limits.blocks, limits.warps / warps);
    blocks = min_ns(blocks, blocks_by_registers(&limits, shape->regs_per_thread, warps));
    blocks = min_ns(
        blocks, blocks_by_shared(&limits, (int64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes));
    *blocks_per_sm = (int32_t)blocks;
    return (double)(blocks * warps) / limits.warps;
}
