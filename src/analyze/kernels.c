/* The table of kernels: one row per name over all devices of the report. Graphs whose launches were recorded
 * whole have rows, too: they stand for the kernels in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/tally.h"

enum { SHORT_NAME_WIDTH = 72 };

/* What a group of launches has beyond its durations. */
struct launches {
    uint32_t device; /* the first that ran it */
    bool is_comm;    /* by metadata of the recording */
    bool is_graph;
    uint32_t last_device; /* of the launch before */
    int64_t until;        /* latest end so far on that device */
    int64_t covered_ns;
    double fill_ns;  /* Σ duration × SM coverage, over launches whose coverage is known */
    double known_ns; /* Σ duration of those */
};

struct kernels {
    const struct run *run;
    struct tally tally;
    struct launches *launches; /* by group */
    uint32_t *shapes;          /* by place in tally.values */
    uint32_t *seen;            /* by shape: times seen in the group at hand, else 0 */
    double *coverage;          /* by shape, on the device at hand; NAN */
};

/* Share of the device's SMs that get a block at all, at most 1. */
static double sm_coverage(const struct device *device, const struct shape *shape)
{
    double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
    if (device->sm_count <= 0 || blocks <= 0)
        return NAN;
    return fmin(1.0, blocks / device->sm_count);
}

static bool is_kernel(const struct op_table *ops, uint32_t op)
{
    return ops->kind[op] == OP_KERNEL || ops->kind[op] == OP_GRAPH;
}

static void count_launches(struct kernels *k, uint32_t device, struct interval window)
{
    const struct op_table *ops = &k->run->ops;
    struct op_range range = ops_in_window(k->run, device, window);
    for (uint32_t op = range.first; op < range.end; op++)
        if (is_kernel(ops, op) && op_in_window(ops->start[op], ops->end[op], window))
            tally_count(&k->tally, ops->name[op]);
}

static void add_launches(struct kernels *k, uint32_t device, struct interval window)
{
    const struct op_table *ops = &k->run->ops;
    for (size_t s = 0; s < k->run->shapes.count; s++)
        k->coverage[s] = sm_coverage(&k->run->devices.at[device], &k->run->shapes.at[s]);
    struct op_range range = ops_in_window(k->run, device, window);
    for (uint32_t op = range.first; op < range.end; op++) {
        if (!is_kernel(ops, op) || !op_in_window(ops->start[op], ops->end[op], window))
            continue;
        struct interval part = op_clip(k->run, op, window);
        uint32_t name = ops->name[op], shape = ops->shape[op];
        struct launches *launches = &k->launches[k->tally.group_of[name]];
        size_t at = tally_add(&k->tally, name, part.end - part.start);
        k->shapes[at] = shape;
        if (launches->last_device != device)
            launches->until = window.start;
        launches->last_device = device;
        launches->covered_ns += max_ns(0, part.end - max_ns(part.start, launches->until));
        launches->until = max_ns(launches->until, part.end);
        launches->device = launches->device == NONE ? device : launches->device;
        launches->is_comm |= ops->comm[op] != NONE;
        launches->is_graph |= ops->kind[op] == OP_GRAPH;
        if (shape != NONE && !isnan(k->coverage[shape])) {
            launches->fill_ns += (double)(part.end - part.start) * k->coverage[shape];
            launches->known_ns += (double)(part.end - part.start);
        }
    }
}

/* The most frequent launch configuration of the group, the earliest of equals; and how many there are. */
static uint32_t common_shape(struct kernels *k, const struct tally_group *group, int64_t *distinct)
{
    const uint32_t *shapes = k->shapes + group->first;
    uint32_t best = NONE, best_count = 0;
    *distinct = 0;
    for (int64_t i = 0; i < group->count; i++)
        if (shapes[i] != NONE && k->seen[shapes[i]]++ == 0)
            ++*distinct;
    for (int64_t i = 0; i < group->count; i++) {
        if (shapes[i] != NONE && k->seen[shapes[i]] > best_count) {
            best = shapes[i];
            best_count = k->seen[best];
        }
    }
    for (int64_t i = 0; i < group->count; i++)
        if (shapes[i] != NONE)
            k->seen[shapes[i]] = 0;
    return best;
}

static void make_row(struct kernels *k, const struct tally_group *group, int64_t busy_ns,
                     struct kernel_row *row)
{
    const struct run *run = k->run;
    const struct launches *launches = &k->launches[k->tally.group_of[group->key]];
    struct kernel_class class = {0};
    if (!launches->is_graph)
        class = kernel_classify(run_text(run, group->key));
    *row = (struct kernel_row){
        .name = group->key,
        .count = group->count,
        .total_ns = group->total,
        .min_ns = group->min,
        .median_ns = tally_median(&k->tally, group),
        .max_ns = group->max,
        .covered_ns = launches->covered_ns,
        .busy_share_ratio = busy_ns > 0 ? (double)launches->covered_ns / (double)busy_ns : NAN,
        .occupancy_ratio = NAN,
        .sm_fill_ratio = launches->known_ns > 0 ? launches->fill_ns / launches->known_ns : NAN,
        .is_graph = launches->is_graph,
        .is_comm = class.is_comm || launches->is_comm,
        .is_tuned_library = class.is_tuned_library,
        .is_matrix = class.is_matrix,
        .uses_tensor_cores = class.uses_tensor_cores,
        .is_fp64 = class.is_fp64,
    };
    row->shape = common_shape(k, group, &row->shape_count);
    int32_t blocks_per_sm;
    if (row->shape != NONE)
        row->occupancy_ratio =
            occupancy_of(&run->devices.at[launches->device], &run->shapes.at[row->shape], &blocks_per_sm);
}

static int by_total(const void *a, const void *b)
{
    const struct kernel_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns < right->total_ns ? 1 : -1;
    return (left->name > right->name) - (left->name < right->name);
}

static void name_rows(struct report *report)
{
    struct str text = {0};
    vec_each (&report->kernels, row) {
        str_cut(&text, 0);
        kernel_shorten(&text, run_text(report->run, row->name), SHORT_NAME_WIDTH);
        row->short_name = arena_text(&report->arena, str_text(&text), text.len);
    }
    str_release(&text);
}

void kernels_build(struct report *report)
{
    const struct run *run = report->run;
    struct kernels k = {.run = run};
    int64_t busy_ns = 0;
    tally_init(&k.tally, run->strings.count);
    vec_each (&report->devices, device) {
        count_launches(&k, device->device, device->window);
        busy_ns += device->busy_ns;
    }
    tally_layout(&k.tally);
    k.launches = mem_zalloc(k.tally.groups.count, sizeof *k.launches);
    for (size_t g = 0; g < k.tally.groups.count; g++)
        k.launches[g].device = k.launches[g].last_device = NONE;
    k.shapes = mem_resize(NULL, k.tally.value_count, sizeof *k.shapes);
    k.seen = mem_zalloc(run->shapes.count, sizeof *k.seen);
    k.coverage = mem_resize(NULL, run->shapes.count, sizeof *k.coverage);
    vec_each (&report->devices, device)
        add_launches(&k, device->device, device->window);
    vec_each (&k.tally.groups, group)
        make_row(&k, group, busy_ns, vec_new(&report->kernels));
    if (report->kernels.count > 0)
        qsort(report->kernels.at, report->kernels.count, sizeof *report->kernels.at, by_total);
    name_rows(report);
    free(k.launches);
    free(k.shapes);
    free(k.seen);
    free(k.coverage);
    tally_release(&k.tally);
}
