/* Findings about kernels that a timeline alone can tell: durations, grids, names, launch configuration. What
 * a kernel is limited by inside needs counters and is not guessed here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"

/* Below this a kernel's start and drain (about 2–5 µs on the device) weigh more than its work. */
enum { SHORT_KERNEL_NS = 5 * 1000 };
/* A kernel that runs shorter than this is bound by being started, whatever its grid. */
enum { GRID_MATTERS_NS = 10 * 1000 };
static const double dominant_share = 0.4, starved_fill = 0.5, low_occupancy = 0.25;

static const struct device *first_device(const struct finder *f)
{
    return &f->run->devices.at[f->report->devices.at[0].device];
}

static struct msg kernel_evidence(const struct finder *f, const struct kernel_row *k)
{
    return msg_make_n(1,
                      NP_("{0}: {1} launch, {2} in all ({3} of busy time), median {4}",
                          "{0}: {1} launches, {2} in all ({3} of busy time), median {4}"),
                      value_kernel(run_text(f->run, k->name)), value_count(k->count), value_ns(k->total_ns),
                      value_ratio(k->busy_share_ratio), value_ns(k->median_ns));
}

typedef bool kernel_test(const struct finder *f, const struct kernel_row *k);

/* Tensor cores came with compute capability 7.0; of an unknown GPU nothing is claimed. */
static bool on_plain_fp32(const struct finder *f, const struct kernel_row *k)
{
    return first_device(f)->cc_major >= 7 && k->is_matrix && !k->uses_tensor_cores && !k->is_fp64 &&
           kernel_classify(run_text(f->run, k->name)).is_fp32_simt;
}

static bool in_fp64(const struct finder *f, const struct kernel_row *k)
{
    (void)f;
    return k->is_fp64;
}

static bool starves_sms(const struct finder *f, const struct kernel_row *k)
{
    (void)f;
    return !k->is_comm && k->median_ns >= GRID_MATTERS_NS && k->sm_fill_ratio < starved_fill;
}

static bool few_warps(const struct finder *f, const struct kernel_row *k)
{
    (void)f;
    return !k->is_comm && !k->is_tuned_library && k->median_ns >= GRID_MATTERS_NS &&
           k->occupancy_ratio < low_occupancy && !(k->sm_fill_ratio < starved_fill);
}

static bool is_short(const struct finder *f, const struct kernel_row *k)
{
    (void)f;
    return !k->is_graph && !k->is_comm && k->median_ns < SHORT_KERNEL_NS;
}

/* Time in which at least one kernel of the marked names ran. */
static int64_t covered_by(const struct finder *f, const uint8_t *marked)
{
    const struct op_table *ops = &f->run->ops;
    int64_t covered = 0;
    vec_each (&f->report->devices, device) {
        struct op_range range = ops_in_window(f->run, device->device, device->window);
        int64_t until = device->window.start;
        for (uint32_t op = range.first; op < range.end; op++) {
            if (ops->kind[op] != OP_KERNEL || !marked[ops->name[op]])
                continue;
            struct interval part = op_clip(f->run, op, device->window);
            covered += max_ns(0, part.end - max_ns(part.start, until));
            until = max_ns(until, part.end);
        }
    }
    return covered;
}

/* Time of all kernels that pass the test, weighed by the share that they waste. Kernels that run at the same
 * time share it. */
static int64_t sum_kernels(const struct finder *f, kernel_test *test,
                           double (*waste)(const struct kernel_row *))
{
    double wasted = 0, total = 0;
    uint8_t *marked = mem_zalloc(f->run->strings.count, sizeof *marked);
    vec_each (&f->report->kernels, k) {
        if (!test(f, k))
            continue;
        marked[k->name] = 1;
        total += (double)k->total_ns;
        wasted += (double)k->total_ns * (waste ? waste(k) : 1.0);
    }
    if (matters(f, (int64_t)wasted))
        wasted *= (double)covered_by(f, marked) / total;
    free(marked);
    return (int64_t)wasted;
}

static void add_examples(struct finder *f, struct finding *finding, kernel_test *test)
{
    int left = 3;
    vec_each (&f->report->kernels, k) {
        if (left > 0 && test(f, k)) {
            finding_evidence(finding, kernel_evidence(f, k));
            left--;
        }
    }
}

static double empty_share(const struct kernel_row *k)
{
    return 1.0 - k->sm_fill_ratio;
}

static void find_no_tensor_cores(struct finder *f)
{
    int64_t lost = sum_kernels(f, on_plain_fp32, NULL);
    if (!matters(f, lost))
        return;
    /* Dense TF32 is 7–8 times the fp32 rate on A100 and H100, fp16 8 times on V100; memory-bound products
     * gain less. */
    struct finding *finding = finding_add(f, "kernel-no-tensor-cores", lost, 0.4, 0.85, 0.9);
    finding->title =
        msg_make(N_("matrix products run on the ordinary fp32 units for {0} of the time ({1}); the tensor "
                    "cores are idle"),
                 value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    add_examples(f, finding, on_plain_fp32);
    finding->action =
        msg_make(N_("allow TF32 (torch.set_float32_matmul_precision(\"high\"), CUBLAS_TF32_TENSOR_OP_MATH) "
                    "or use bf16/fp16 (torch.autocast), if the accuracy allows"));
}

static void find_fp64(struct finder *f)
{
    int64_t lost = sum_kernels(f, in_fp64, NULL);
    if (!matters(f, lost))
        return;
    const struct device *device = first_device(f);
    bool full_rate = device->cc_minor == 0 && (device->cc_major >= 6 && device->cc_major <= 10);
    struct finding *finding =
        finding_add(f, "kernel-fp64", lost, full_rate ? 0.2 : 0.5, full_rate ? 0.6 : 0.95, 0.6);
    finding->title = msg_make(N_("double-precision kernels take {0} of the time ({1})"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    add_examples(f, finding, in_fp64);
    if (!full_rate && device->cc_major)
        finding_evidence(finding, msg_make(N_("this GPU runs fp64 at 1/32 to 1/64 of its fp32 rate")));
    finding->action =
        msg_make(N_("if single precision is enough, look for a double that slipped in: a literal without f, "
                    "a float64 tensor from NumPy, torch.set_default_dtype"));
}

static void find_grid_too_small(struct finder *f)
{
    int64_t lost = sum_kernels(f, starves_sms, empty_share);
    if (!matters(f, lost))
        return;
    struct finding *finding = finding_add(f, "kernel-grid-too-small", lost, 0.3, 0.95, 0.9);
    finding->title =
        msg_make(N_("kernels with too few blocks leave most SMs empty: {0} of the time ({1}) is lost"),
                 value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    int left = 3;
    vec_each (&f->report->kernels, k) {
        if (left == 0 || !starves_sms(f, k) || k->shape == NONE)
            continue;
        const struct shape *shape = &f->run->shapes.at[k->shape];
        int64_t blocks = (int64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
        finding_evidence(finding, msg_make(N_("{0}: {1} blocks for {2} SMs, {3} launches, {4} in all"),
                                           value_kernel(run_text(f->run, k->name)), value_count(blocks),
                                           value_count(first_device(f)->sm_count), value_count(k->count),
                                           value_ns(k->total_ns)));
        left--;
    }
    finding->action =
        msg_make(N_("give the GPU more parallel work at once: a larger batch, another dimension of the "
                    "problem in the grid, split the reduction, or run independent kernels on several "
                    "streams"));
}

/* Kernels so short that the device spends as long getting from one to the next: counted only where the host
 * is not the reason, which idle-launch-bound already says. */
static void find_too_short(struct finder *f)
{
    int64_t count = 0, total = 0;
    vec_each (&f->report->kernels, k) {
        if (is_short(f, k)) {
            count += k->count;
            total += k->total_ns;
        }
    }
    int64_t lost = f->ledger_ns[IDLE_LAUNCH_LATENCY] - f->explained_ns[IDLE_LAUNCH_LATENCY];
    if (count == 0 || !matters(f, lost) || total < f->busy_ns / 4)
        return;
    struct finding *finding = finding_add(f, "kernel-too-short", lost, 0.3, 0.9, 0.8);
    finding->title =
        msg_make(N_("kernels of a few microseconds: {0} of the time ({1}) goes to getting from one to the "
                    "next"),
                 value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_evidence(finding,
                     msg_make_n(0,
                                NP_("{0} kernel shorter than {1}, {2} on average",
                                    "{0} kernels shorter than {1}, {2} on average"),
                                value_count(count), value_ns(SHORT_KERNEL_NS), value_ns(total / count)));
    add_examples(f, finding, is_short);
    finding->action =
        msg_make(N_("fuse neighbouring kernels (torch.compile, a hand-written fused kernel), or process "
                    "more elements a launch"));
}

static void find_low_occupancy(struct finder *f)
{
    int64_t lost = sum_kernels(f, few_warps, NULL);
    if (!matters(f, lost))
        return;
    struct finding *finding = finding_add(f, "kernel-low-occupancy", lost, 0.0, 0.3, 0.5);
    finding->title = msg_make(N_("kernels that can keep few warps resident take {0} of the time ({1})"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    int left = 3;
    vec_each (&f->report->kernels, k) {
        if (left == 0 || !few_warps(f, k) || k->shape == NONE)
            continue;
        const struct shape *shape = &f->run->shapes.at[k->shape];
        finding_evidence(
            finding,
            msg_make(N_("{0}: at most {1} occupancy with {2} registers a thread and {3} of shared memory a "
                        "block"),
                     value_kernel(run_text(f->run, k->name)), value_ratio(k->occupancy_ratio),
                     value_count(shape->regs_per_thread),
                     value_bytes((int64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes)));
        left--;
    }
    finding->action =
        msg_make(N_("occupancy is capacity, not efficiency: measure the kernel's stalls first; fewer "
                    "registers or less shared memory help only if it waits for memory"));
}

/* One kernel that the user can change or avoid takes most of the busy time. Matrix products of the vendor's
 * libraries are left out: they are near their limit, and other findings speak of their precision. */
static void find_dominant(struct finder *f)
{
    vec_each (&f->report->kernels, k) {
        if (k->busy_share_ratio < dominant_share)
            return;
        if (k->is_graph || k->is_comm || k->is_matrix || starves_sms(f, k) || is_short(f, k) ||
            !matters(f, k->covered_ns))
            continue;
        struct finding *finding = finding_add(f, "kernel-dominant", k->covered_ns, 0.1, 0.5, 0.7);
        finding->title = msg_make(N_("one kernel takes {0} of the GPU's busy time: {1}"),
                                  value_ratio(k->busy_share_ratio), value_kernel(run_text(f->run, k->name)));
        finding_evidence(finding, kernel_evidence(f, k));
        if (!isnan(k->occupancy_ratio))
            finding_evidence(finding,
                             msg_make_n(1,
                                        NP_("theoretical occupancy {0}, {1} launch configuration",
                                            "theoretical occupancy {0}, {1} launch configurations"),
                                        value_ratio(k->occupancy_ratio), value_count(k->shape_count)));
        finding->action =
            msg_make(N_("look inside this kernel: memory access pattern first (coalescing, strided or "
                        "transposed reads), then fusion with its neighbours"));
        return;
    }
}

void find_kernel(struct finder *f)
{
    find_no_tensor_cores(f);
    find_fp64(f);
    find_grid_too_small(f);
    find_too_short(f);
    find_low_occupancy(f);
    find_dominant(f);
}
