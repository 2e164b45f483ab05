#include "analyze/occupancy.h"

#include <math.h>

#include "analyze/analyze.h"
#include "base/i18n.h"

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
    int32_t barriers; /* 0: they do not limit */
};

enum { KIB = 1024, K64 = 64 * KIB, REG_UNIT = 256 };

static const struct limits known[] = {
    {30, 64, 16, K64, K64, 63, 4, 48 * KIB, 48 * KIB, 256, 0, 0},
    {35, 64, 16, K64, K64, 255, 4, 48 * KIB, 48 * KIB, 256, 0, 0},
    {37, 64, 16, 2 * K64, K64, 255, 4, 112 * KIB, 48 * KIB, 256, 0, 0},
    {50, 64, 32, K64, K64, 255, 4, 64 * KIB, 48 * KIB, 256, 0, 0},
    {52, 64, 32, K64, K64, 255, 4, 96 * KIB, 48 * KIB, 256, 0, 0},
    {53, 64, 32, K64, K64 / 2, 255, 4, 64 * KIB, 48 * KIB, 256, 0, 0},
    {60, 64, 32, K64, K64, 255, 2, 64 * KIB, 48 * KIB, 256, 0, 0},
    {61, 64, 32, K64, K64, 255, 4, 96 * KIB, 48 * KIB, 256, 0, 0},
    {62, 64, 32, K64, K64 / 2, 255, 4, 64 * KIB, 48 * KIB, 256, 0, 0},
    {70, 64, 32, K64, K64, 255, 4, 96 * KIB, 96 * KIB, 256, 0, 0},
    {75, 32, 16, K64, K64, 255, 4, 64 * KIB, 64 * KIB, 256, 0, 0},
    {80, 64, 32, K64, K64, 255, 4, 164 * KIB, 163 * KIB, 128, KIB, 0},
    {86, 48, 16, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB, 0},
    {87, 48, 16, K64, K64, 255, 4, 164 * KIB, 163 * KIB, 128, KIB, 0},
    {88, 48, 16, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB, 0},
    {89, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB, 0},
    {90, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB, 64},
    {100, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB, 64},
    {101, 48, 24, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB, 24}, /* called 11.0 from CUDA 13 on */
    {103, 64, 32, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB, 64},
    {110, 48, 24, K64, K64, 255, 4, 228 * KIB, 227 * KIB, 128, KIB, 24},
    {120, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB, 24},
    {121, 48, 24, K64, K64, 255, 4, 100 * KIB, 99 * KIB, 128, KIB, 24},
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
    if (row == 0 || (device->warp_size != 0 && device->warp_size != OCCUPANCY_WARP))
        return false;
    bool exact = known[row - 1].cc == cc;
    *limits = known[row - 1];
    int32_t warps =
        device->max_warps_per_sm > 0 ? device->max_warps_per_sm : device->max_threads_per_sm / OCCUPANCY_WARP;
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

static void refuse(struct occupancy *o, enum occupancy_limit limit, enum occupancy_refusal refusal)
{
    o->blocks_by[limit] = 0;
    if (o->refusal == REFUSAL_NONE)
        o->refusal = refusal;
}

/* Each partition of an SM gives registers to whole warps. */
static void limit_registers(struct occupancy *o, const struct limits *limits, int64_t registers)
{
    int64_t per_warp = round_up(registers * OCCUPANCY_WARP, REG_UNIT);
    if (registers > limits->regs_per_thread)
        refuse(o, LIMIT_REGISTERS, REFUSAL_REGISTERS);
    else if (round_up(o->warps_per_block, limits->partitions) * per_warp > limits->regs_per_block)
        refuse(o, LIMIT_REGISTERS, REFUSAL_BLOCK_REGISTERS);
    else
        o->blocks_by[LIMIT_REGISTERS] =
            limits->regs / limits->partitions / per_warp * limits->partitions / o->warps_per_block;
}

static void limit_shared(struct occupancy *o, const struct limits *limits, int64_t bytes)
{
    o->shared_taken_bytes = round_up(bytes + limits->shared_reserved, limits->shared_unit);
    o->shared_sm_bytes = limits->shared_bytes;
    if (bytes > limits->shared_bytes_per_block)
        refuse(o, LIMIT_SHARED, REFUSAL_SHARED);
    else if (o->shared_taken_bytes > 0)
        o->blocks_by[LIMIT_SHARED] = limits->shared_bytes / o->shared_taken_bytes;
}

static void limit_barriers(struct occupancy *o, const struct limits *limits, int64_t barriers)
{
    if (limits->barriers == 0 || barriers <= 0)
        return;
    o->blocks_by[LIMIT_BARRIERS] = limits->barriers / barriers;
    if (o->blocks_by[LIMIT_BARRIERS] == 0)
        refuse(o, LIMIT_BARRIERS, REFUSAL_BARRIERS);
}

bool occupancy_find(struct occupancy *occupancy, const struct device *device,
                    const struct occupancy_launch *launch)
{
    struct limits limits;
    struct occupancy o = {.cc = device->cc_major * 10 + device->cc_minor};
    if (launch->threads <= 0 || launch->registers <= 0 || launch->registers > UINT32_MAX ||
        launch->shared_bytes < 0 || launch->shared_bytes > UINT32_MAX * INT64_C(2) ||
        !find_limits(device, &limits))
        return false;
    o.max_warps = limits.warps;
    o.max_blocks = limits.blocks;
    for (int i = 0; i < LIMIT_COUNT; i++)
        o.blocks_by[i] = INT64_MAX;
    o.warps_per_block = (launch->threads - 1) / OCCUPANCY_WARP + 1;
    o.blocks_by[LIMIT_BLOCKS] = limits.blocks;
    if (launch->threads > OCCUPANCY_BLOCK_THREADS) {
        refuse(&o, LIMIT_WARPS, REFUSAL_THREADS);
    } else {
        o.blocks_by[LIMIT_WARPS] = limits.warps / o.warps_per_block;
        limit_registers(&o, &limits, launch->registers);
        limit_shared(&o, &limits, launch->shared_bytes);
        limit_barriers(&o, &limits, launch->barriers);
    }
    o.blocks = INT64_MAX;
    for (int i = 0; i < LIMIT_COUNT; i++)
        o.blocks = min_ns(o.blocks, o.blocks_by[i]);
    for (int i = 0; i < LIMIT_COUNT; i++)
        o.limiters |= o.blocks_by[i] == o.blocks ? 1u << i : 0;
    o.ratio = (double)(o.blocks * o.warps_per_block) / limits.warps;
    *occupancy = o;
    return true;
}

double occupancy_of(const struct device *device, const struct shape *shape, int32_t *blocks_per_sm)
{
    struct occupancy occupancy;
    int64_t threads = 1;
    for (int axis = 0; axis < 3; axis++) /* saturating: hostile shapes must not overflow */
        threads = shape->block[axis] > OCCUPANCY_BLOCK_THREADS ? OCCUPANCY_BLOCK_THREADS + 1
                                                               : threads * shape->block[axis];
    struct occupancy_launch launch = {
        .threads = threads,
        .registers = shape->regs_per_thread,
        .shared_bytes = (int64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes,
    };
    *blocks_per_sm = 0;
    if (!occupancy_find(&occupancy, device, &launch))
        return NAN;
    *blocks_per_sm = (int32_t)occupancy.blocks;
    return occupancy.ratio;
}

/* ---- what would change it ------------------------------------------------------------------------------ */

struct device occupancy_device(int32_t cc)
{
    return (struct device){.cc_major = cc / 10, .cc_minor = cc % 10};
}

const int32_t *occupancy_capabilities(int *count)
{
    /* 10.1 is 11.0 under its older name. */
    static const int32_t capabilities[] = {50, 52, 53, 60, 61,  62,  70,  75,  80, 86,
                                           87, 88, 89, 90, 100, 103, 110, 120, 121};
    *count = sizeof capabilities / sizeof *capabilities;
    return capabilities;
}

static int64_t blocks_of(const struct device *device, const struct occupancy_launch *launch,
                         enum occupancy_limit limit)
{
    struct occupancy o;
    return occupancy_find(&o, device, launch) ? o.blocks_by[limit] : 0;
}

/* Lowers *value, a field of *launch, to the highest one that lets `wanted` blocks in; false if none does.
 * More of a resource never means more blocks. */
static bool lower(const struct device *device, struct occupancy_launch *launch, int64_t *value, int64_t least,
                  enum occupancy_limit limit, int64_t wanted)
{
    int64_t low = least, high = *value; /* the answer lies in [low, high), or is below */
    *value = low;
    if (blocks_of(device, launch, limit) < wanted)
        return false;
    while (high - low > 1) {
        *value = low + (high - low) / 2;
        if (blocks_of(device, launch, limit) >= wanted)
            low = *value;
        else
            high = *value;
    }
    *value = low;
    return true;
}

void occupancy_next(struct occupancy_next *next, const struct device *device,
                    const struct occupancy_launch *launch)
{
    *next = (struct occupancy_next){.launch = *launch};
    struct occupancy now;
    if (!occupancy_find(&now, device, launch) || now.blocks_by[LIMIT_WARPS] <= now.blocks ||
        now.blocks_by[LIMIT_BLOCKS] <= now.blocks)
        return;
    int64_t wanted = now.blocks + 1;
    struct occupancy_launch *l = &next->launch;
    next->registers = now.blocks_by[LIMIT_REGISTERS] < wanted;
    next->shared = now.blocks_by[LIMIT_SHARED] < wanted;
    next->barriers = now.blocks_by[LIMIT_BARRIERS] < wanted;
    next->possible = (!next->registers || lower(device, l, &l->registers, 1, LIMIT_REGISTERS, wanted)) &&
                     (!next->shared || lower(device, l, &l->shared_bytes, 0, LIMIT_SHARED, wanted)) &&
                     (!next->barriers || lower(device, l, &l->barriers, 0, LIMIT_BARRIERS, wanted)) &&
                     occupancy_find(&next->then, device, l);
}

/* The nearest multiple of 32 with a higher occupancy. */
static void find_better_block(struct occupancy_report *report)
{
    int64_t middle = report->now.warps_per_block * OCCUPANCY_WARP;
    for (int64_t distance = OCCUPANCY_WARP; distance <= OCCUPANCY_BLOCK_THREADS; distance += OCCUPANCY_WARP)
        for (int side = -1; side <= 1; side += 2) {
            struct occupancy_launch other = report->launch;
            struct device device = occupancy_device(report->now.cc);
            struct occupancy then;
            other.threads = middle + side * distance;
            if (other.threads > OCCUPANCY_BLOCK_THREADS || !occupancy_find(&then, &device, &other) ||
                then.ratio <= report->now.ratio)
                continue;
            report->better_block = other.threads;
            report->better = then;
            return;
        }
}

static void add_block_sizes(struct occupancy_report *report, const struct device *device)
{
    struct occupancy_launch launch = report->launch;
    struct occupancy o;
    for (int64_t threads = OCCUPANCY_WARP; threads <= OCCUPANCY_BLOCK_THREADS; threads += OCCUPANCY_WARP) {
        launch.threads = threads;
        if (occupancy_find(&o, device, &launch))
            vec_push(&report->by_block, ((struct occupancy_step){threads, o.blocks, o.ratio}));
    }
}

static void add_registers(struct occupancy_report *report, const struct device *device)
{
    struct occupancy_launch launch = report->launch;
    struct occupancy o;
    report->free_registers = report->launch.registers;
    for (int64_t registers = OCCUPANCY_REGISTERS; registers > 0; registers--) {
        launch.registers = registers;
        if (!occupancy_find(&o, device, &launch))
            continue;
        if (o.blocks == report->now.blocks && registers > report->free_registers)
            report->free_registers = registers;
        size_t count = report->by_registers.count;
        if (o.blocks > 0 && (count == 0 || report->by_registers.at[count - 1].blocks < o.blocks))
            vec_push(&report->by_registers, ((struct occupancy_step){registers, o.blocks, o.ratio}));
    }
}

/* From one block up: what each may take for so many to fit. */
static void add_shared(struct occupancy_report *report, const struct device *device)
{
    struct occupancy_launch launch = report->launch;
    struct occupancy o;
    launch.shared_bytes = 0;
    if (!occupancy_find(&o, device, &launch))
        return;
    int64_t most = o.blocks;
    for (int64_t blocks = 1; blocks <= most; blocks++) {
        launch.shared_bytes = report->now.shared_sm_bytes + 1;
        if (!lower(device, &launch, &launch.shared_bytes, 0, LIMIT_SHARED, blocks) ||
            !occupancy_find(&o, device, &launch) || o.blocks != blocks)
            continue;
        vec_push(&report->by_shared, ((struct occupancy_step){launch.shared_bytes, o.blocks, o.ratio}));
    }
}

bool occupancy_build(struct occupancy_report *report, int32_t cc, const struct occupancy_launch *launch)
{
    struct device device = occupancy_device(cc);
    *report = (struct occupancy_report){.launch = *launch, .cluster = UNKNOWN};
    if (!occupancy_find(&report->now, &device, launch))
        return false;
    occupancy_next(&report->next, &device, launch);
    find_better_block(report);
    add_block_sizes(report, &device);
    add_registers(report, &device);
    add_shared(report, &device);
    return true;
}

void occupancy_release(struct occupancy_report *report)
{
    vec_release(&report->by_block);
    vec_release(&report->by_registers);
    vec_release(&report->by_shared);
}

const char *occupancy_refusal_text(enum occupancy_refusal refusal)
{
    static const char *const texts[] = {
        [REFUSAL_NONE] = NULL,
        [REFUSAL_THREADS] = N_("a block has at most 1024 threads"),
        [REFUSAL_REGISTERS] = N_("a thread has at most 255 registers"),
        [REFUSAL_BLOCK_REGISTERS] = N_("the threads of a block need more registers than it may have"),
        [REFUSAL_SHARED] = N_("a block may not have so much shared memory"),
        [REFUSAL_BARRIERS] = N_("an SM has fewer named barriers than a block needs"),
    };
    return texts[refusal];
}

/* ---- names --------------------------------------------------------------------------------------------- */

const char *occupancy_limit_name(enum occupancy_limit limit)
{
    static const char *const names[] = {
        [LIMIT_WARPS] = "warps",   [LIMIT_BLOCKS] = "blocks",     [LIMIT_REGISTERS] = "registers",
        [LIMIT_SHARED] = "shared", [LIMIT_BARRIERS] = "barriers",
    };
    return names[limit];
}

const char *occupancy_limit_title(enum occupancy_limit limit)
{
    static const char *const titles[] = {
        [LIMIT_WARPS] = N_("warps"),
        [LIMIT_BLOCKS] = N_("blocks"),
        [LIMIT_REGISTERS] = N_("registers"),
        [LIMIT_SHARED] = N_("shared memory"),
        [LIMIT_BARRIERS] = N_("named barriers"),
    };
    return titles[limit];
}
