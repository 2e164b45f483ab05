/* Collectives: what they cost on each device, and which rank makes the others wait.
 *
 * A collective is known by the metadata that the framework recorded with it, or else by its kernel's name.
 * Exposed is the part of its time during which the device computed nothing: union of communication less union
 * of compute, so that it sums to the ledger's account "comm" (NCCL keeps several kernels in flight, and a
 * moment that two of them share is booked to the one that began first). */
#include <math.h>
#include <string.h>

#include "analyze/cover.h"
#include "analyze/steps.h"
#include "analyze/straggler.h"
#include "base/hash.h"

struct comms {
    struct report *report;
    const struct run *run;
    struct comm_names names;
    struct map row_of;            /* hash of name and group size → row of report->comms */
    VEC(struct arrival) arrivals; /* rank: row of report->ranks */
    struct map times;             /* hash of a collective's identity and rank → how often it came so far */
    struct map by_order;          /* hash of a name and rank → how many kernels without metadata */
};

/* ---- bytes --------------------------------------------------------------------------------------------- */

/* Size of one element, by the names that PyTorch and NCCL use; 0 unknown. */
static int64_t element_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Half", 2},
        {"BFloat16", 2},
        {"UInt16", 2},
        {"Int", 4},
        {"UInt32", 4},
        {"Float", 4},
        {"Long", 8},
        {"UInt64", 8},
        {"Double", 8},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e5m2fnuz", 1},
        {"int8", 1},
        {"uint8", 1},
        {"int32", 4},
        {"uint32", 4},
        {"int64", 8},
        {"uint64", 8},
        {"float16", 2},
        {"bfloat16", 2},
        {"float32", 4},
        {"float64", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dtype, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}

/* The message's size as nccl-tests define it: the larger of what a rank gives and gets. */
static int64_t message_bytes(const struct run *run, const struct comm *comm)
{
    int64_t elements = max_ns(comm->in_elements, comm->out_elements), bytes;
    int64_t size = element_bytes(run_text(run, comm->dtype));
    if (elements < 0 || size == 0 || __builtin_mul_overflow(elements, size, &bytes))
        return UNKNOWN;
    return bytes;
}

/* ---- one row per collective ---------------------------------------------------------------------------- */

static struct comm_row *row_for(struct comms *c, uint32_t op)
{
    const struct comm *comm = c->run->ops.comm[op] != NONE ? &c->run->comms.at[c->run->ops.comm[op]] : NULL;
    uint32_t name = comm && comm->collective ? comm->collective : c->run->ops.name[op];
    int64_t group_size = comm ? comm->group_size : UNKNOWN;
    for (uint64_t key = hash_pair(name, (uint64_t)group_size);; key++) {
        uint32_t at = map_get(&c->row_of, key);
        if (at == MAP_ABSENT) {
            map_set(&c->row_of, key, (uint32_t)c->report->comms.count);
            vec_push(&c->report->comms,
                     ((struct comm_row){.name = name, .group_size = group_size, .bytes = UNKNOWN}));
            return &c->report->comms.at[c->report->comms.count - 1];
        }
        struct comm_row *row = &c->report->comms.at[at];
        if (row->name == name && row->group_size == group_size)
            return row;
    }
}

static bool is_compute(struct comms *c, uint32_t op)
{
    uint8_t kind = c->run->ops.kind[op];
    return (kind == OP_KERNEL || kind == OP_GRAPH) && !op_is_comm(&c->names, op);
}

static void count_device(struct comms *c, const struct device_report *device)
{
    const struct run *run = c->run;
    struct op_range range = ops_in_window(run, device->device, device->window);
    struct cover compute = {0};
    for (uint32_t op = range.first; op < range.end; op++) {
        struct interval part = op_clip(run, op, device->window);
        if (is_compute(c, op))
            cover_add(&compute, part.start, part.end);
    }
    int64_t booked_until = device->window.start;
    for (uint32_t op = range.first; op < range.end; op++) {
        if (!op_in_window(run->ops.start[op], run->ops.end[op], device->window) || !op_is_comm(&c->names, op))
            continue;
        struct interval part = op_clip(run, op, device->window);
        struct comm_row *row = row_for(c, op);
        row->count++;
        row->total_ns += part.end - part.start;
        int64_t bytes =
            run->ops.comm[op] != NONE ? message_bytes(run, &run->comms.at[run->ops.comm[op]]) : UNKNOWN;
        if (bytes != UNKNOWN)
            row->bytes = row->bytes == UNKNOWN ? bytes : row->bytes + bytes;
        int64_t fresh = max_ns(part.start, booked_until);
        if (fresh < part.end) {
            row->exposed_ns += part.end - fresh - cover_between(&compute, fresh, part.end);
            booked_until = part.end;
        }
    }
    cover_release(&compute);
}

static int largest_first(const void *a, const void *b)
{
    const struct comm_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns < right->total_ns ? 1 : -1;
    return (left->name > right->name) - (left->name < right->name);
}

/* ---- ranks --------------------------------------------------------------------------------------------- */

static int32_t rank_of_device(const struct run *run, uint32_t device)
{
    vec_each (&run->streams, stream)
        if (stream->device == device && stream->process != NONE &&
            run->processes.at[stream->process].rank >= 0)
            return run->processes.at[stream->process].rank;
    return run->sources.at[run->devices.at[device].source].rank;
}

static void add_rank(struct comms *c, const struct device_report *device)
{
    const int64_t *ledger = device->ledger_ns;
    struct step_report steps = {0};
    steps_of_device(c->report, &c->names, device, &steps);
    vec_push(&c->report->ranks, ((struct rank_row){
                                    .rank = rank_of_device(c->run, device->device),
                                    .source = c->run->devices.at[device->device].source,
                                    .device = device->device,
                                    .wall_ns = device->wall_ns,
                                    .busy_ns = device->busy_ns,
                                    .compute_ns = ledger[ACCOUNT_COMPUTE] + ledger[ACCOUNT_COMPUTE_COPY] +
                                                  ledger[ACCOUNT_COMPUTE_COMM],
                                    .comm_exposed_ns = ledger[ACCOUNT_COMM],
                                    .idle_ns = device->wall_ns - device->busy_ns,
                                    .step_median_ns = steps.rows.count ? steps.median_ns : UNKNOWN,
                                    .excess_ratio = NAN,
                                }));
    vec_release(&steps.rows);
}

/* Own work is what a rank does besides exposed communication, as a share of its wall time, since recordings
 * of ranks differ in length. */
static double own_share(const struct rank_row *row)
{
    return row->wall_ns > 0 ? (double)(row->wall_ns - row->comm_exposed_ns) / (double)row->wall_ns : NAN;
}

static int64_t median_own(const struct report *report, int64_t scale)
{
    VEC(int64_t) own = {0};
    vec_each (&report->ranks, row)
        if (row->wall_ns > 0)
            vec_push(&own, (int64_t)(own_share(row) * (double)scale));
    int64_t median = stat_percentile(own.at, own.count, 0.5);
    vec_release(&own);
    return median;
}

static void compare_ranks(struct report *report)
{
    static const int64_t scale = 1000000000;
    int64_t median = report->ranks.count >= 2 ? median_own(report, scale) : UNKNOWN;
    vec_each (&report->ranks, row)
        if (median > 0 && row->wall_ns > 0)
            row->excess_ratio = own_share(row) * (double)scale / (double)median - 1;
}

/* ---- the straggler ------------------------------------------------------------------------------------- */

/* How often this key came before, and counts it once more. */
static uint32_t count_up(struct map *times, uint64_t key)
{
    uint32_t before = map_get(times, key);
    before = before == MAP_ABSENT ? 0 : before;
    map_set(times, key, before + 1);
    return before;
}

/* What makes an op one collective across ranks: group, name and sequence number; where there is none, group
 * and name, and its place in their order. */
static uint64_t identity(const struct run *run, uint32_t op)
{
    if (run->ops.comm[op] == NONE)
        return hash_pair(run->ops.name[op], UINT64_MAX);
    const struct comm *comm = &run->comms.at[run->ops.comm[op]];
    uint64_t name = comm->collective ? comm->collective : run->ops.name[op];
    uint64_t group = hash_pair((uint64_t)comm->group << 32 | comm->ranks, (uint64_t)comm->group_size);
    return hash_pair(hash_pair(group, name), (uint64_t)comm->seq);
}

/* Without metadata, order is all there is: it is trusted for names that all ranks that have them ran equally
 * often. Another number means that a recording began or ended elsewhere. */
static void count_by_order(struct comms *c, struct map *uneven)
{
    struct map expected = {0};
    for (uint32_t r = 0; r < c->report->ranks.count; r++) {
        const struct device_report *device = &c->report->devices.at[r];
        struct op_range range = ops_in_window(c->run, device->device, device->window);
        for (int pass = 0; pass < 2; pass++) {
            for (uint32_t op = range.first; op < range.end; op++) {
                if (!op_is_comm(&c->names, op))
                    continue;
                uint64_t what = identity(c->run, op), key = hash_pair(what, r);
                if (pass == 0) {
                    count_up(&c->by_order, key);
                    continue;
                }
                uint32_t here = map_get(&c->by_order, key), there = map_get(&expected, what);
                if (there == MAP_ABSENT)
                    map_set(&expected, what, here);
                else if (here != there)
                    map_set(uneven, what, 1);
            }
        }
    }
    map_release(&expected);
}

static void collect_arrivals(struct comms *c)
{
    struct map uneven = {0};
    count_by_order(c, &uneven);
    for (uint32_t r = 0; r < c->report->ranks.count; r++) {
        const struct device_report *device = &c->report->devices.at[r];
        struct op_range range = ops_in_window(c->run, device->device, device->window);
        for (uint32_t op = range.first; op < range.end; op++) {
            if (!op_is_comm(&c->names, op))
                continue;
            uint64_t what = identity(c->run, op);
            bool numbered =
                c->run->ops.comm[op] != NONE && c->run->comms.at[c->run->ops.comm[op]].seq != UNKNOWN;
            if (!numbered && map_get(&uneven, what) != MAP_ABSENT)
                continue;
            uint32_t time = count_up(&c->times, hash_pair(what, r));
            vec_push(&c->arrivals, ((struct arrival){.collective = hash_pair(what, time),
                                                     .rank = r,
                                                     .start = c->run->ops.start[op],
                                                     .end = c->run->ops.end[op]}));
        }
    }
    map_release(&uneven);
}

static void find_straggler(struct comms *c)
{
    struct report *report = c->report;
    if (report->ranks.count < 2)
        return;
    collect_arrivals(c);
    VEC(int64_t) walls = {0};
    vec_each (&report->ranks, row)
        vec_push(&walls, row->wall_ns);
    struct straggler found;
    straggler_find(c->arrivals.at, c->arrivals.count, (uint32_t)report->ranks.count,
                   stat_percentile(walls.at, walls.count, 0.5), &found);
    if (found.rank != NONE)
        report->ranks.at[found.rank].straggler = true;
    for (size_t r = 0; c->arrivals.count > 0 && r < report->ranks.count; r++) {
        report->ranks.at[r].waited_ns = found.wait_ns[r];
        report->ranks.at[r].caused_ns = found.caused_ns[r];
    }
    straggler_release(&found);
    vec_release(&walls);
}

void comms_build(struct report *report)
{
    const struct run *run = report->run;
    struct comms c = {.report = report, .run = run};
    comm_names_init(&c.names, run);
    bool has_rank = false;
    vec_each (&report->devices, device) {
        count_device(&c, device);
        has_rank |= rank_of_device(run, device->device) >= 0;
    }
    if (report->comms.count)
        qsort(report->comms.at, report->comms.count, sizeof *report->comms.at, largest_first);
    if (report->devices.count >= 2 || has_rank)
        vec_each (&report->devices, device)
            add_rank(&c, device);
    vec_each (&report->ranks, row)
        row->waited_ns = row->caused_ns = UNKNOWN;
    compare_ranks(report);
    find_straggler(&c);
    comm_names_release(&c.names);
    map_release(&c.row_of);
    map_release(&c.times);
    map_release(&c.by_order);
    vec_release(&c.arrivals);
}
