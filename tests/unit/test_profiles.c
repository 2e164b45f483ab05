/* Launches put together, what bounds them, and findings from both sides of their thresholds. Each case is a
 * kernel of which a few counters differ from those of a healthy one. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/occupancy.h"
#include "analyze/profiles.h"
#include "view/view.h"

struct fixture {
    struct run run;
    struct report report;
    uint32_t profile;
};

/* A GPU like an H100: 132 SMs. */
static void begin(struct fixture *f)
{
    *f = (struct fixture){0};
    run_init(&f->run);
    uint32_t source = run_add_source(&f->run, "test", "made by hand");
    uint32_t device = run_device(&f->run, source, 0);
    struct device *d = &f->run.devices.at[device];
    d->cc_major = 9;
    d->sm_count = 132;
    d->clock_hz = 1700000000;
}

static void add(struct fixture *f, const char *name, const char *unit, double value)
{
    struct counter_table *counters = &f->run.counters;
    size_t row = counter_table_add(counters);
    counters->profile[row] = f->profile;
    counters->name[row] = intern_puts(&f->run.strings, name);
    counters->unit[row] = intern_puts(&f->run.strings, unit);
    counters->value[row] = value;
    counters->state[row] = COUNTER_VALUE;
}

#define PCT(name, value)    add(f, name, "%", value)
#define NUMBER(name, value) add(f, name, "", value)

static void launch(struct fixture *f, const char *name, uint32_t grid, uint32_t block)
{
    struct shape shape = {
        .grid = {grid, 1, 1}, .block = {block, 1, 1}, .regs_per_thread = 32, .occupancy_percent = -1};
    f->profile = (uint32_t)f->run.profiles.count;
    *vec_new(&f->run.profiles) = (struct kernel_profile){
        .device = 0,
        .process = NONE,
        .name = intern_puts(&f->run.strings, name),
        .shape = run_shape(&f->run, &shape),
        .code = NONE,
        .image = NONE,
        .launch = f->profile,
        .launches = 1,
    };
}

/* What the one pass of a live run measures: a kernel that is bound by nothing in particular. */
static void one_pass(struct fixture *f, double dram, double issue)
{
    add(f, "gpu__time_duration.sum", "ns", 100000);
    add(f, "gpc__cycles_elapsed.max", "cycle", 170000);
    add(f, "sm__cycles_active.avg", "cycle", 168000);
    add(f, "sm__cycles_active.max", "cycle", 170000);
    add(f, "sm__cycles_active.min", "cycle", 166000);
    add(f, "sm__cycles_elapsed.avg", "cycle", 170000);
    PCT("sm__warps_active.avg.pct_of_peak_sustained_active", 80);
    PCT("smsp__issue_active.avg.pct_of_peak_sustained_active", issue);
    PCT("dram__throughput.avg.pct_of_peak_sustained_elapsed", dram);
    add(f, "dram__bytes.sum.per_second", "byte/s", dram / 100 * 4e12);
    PCT("l1tex__t_sector_hit_rate.pct", 10);
    NUMBER("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e6);
    NUMBER("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1e6);
    NUMBER("smsp__inst_executed.sum", 1e6);
}

/* The rest of what classifies a kernel: healthy. */
static void deep(struct fixture *f)
{
    NUMBER("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 250000);
    NUMBER("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 250000);
    PCT("l1tex__throughput.avg.pct_of_peak_sustained_active", 30);
    PCT("lts__throughput.avg.pct_of_peak_sustained_elapsed", 30);
}

static void build(struct fixture *f)
{
    run_seal(&f->run);
    profiles_build(&f->report, &f->run, &(struct profile_options){0});
}

static const struct profile_row *only_row(struct fixture *f)
{
    build(f);
    assert_int_equal(f->report.profiles.count, 1);
    return &f->report.profiles.at[0];
}

static const struct finding *find(const struct profile_row *row, const char *id)
{
    vec_each (&row->findings, finding)
        if (strcmp(finding->id, id) == 0)
            return finding;
    return NULL;
}

static void end(struct fixture *f)
{
    report_release(&f->report);
    run_release(&f->run);
}

/* ---- launches together --------------------------------------------------------------------------------- */

static void launches_of_one_shape_are_one_row(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    static const double ns[] = {1000, 2000, 6000}, hit[] = {10, 20, 60};
    for (int i = 0; i < 3; i++) {
        launch(f, "k", 1000, 256);
        add(f, "gpu__time_duration.sum", "ns", ns[i]);
        PCT("lts__t_sector_hit_rate.pct", hit[i]);
        NUMBER("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 100 * (i + 1));
    }
    launch(f, "k", 1000, 128);
    add(f, "gpu__time_duration.sum", "ns", 1000);
    build(f);
    assert_int_equal(f->report.profiles.count, 2);
    const struct profile_row *row = &f->report.profiles.at[0];
    assert_int_equal(row->profiled, 3);
    assert_int_equal(row->total_ns, 9000);
    assert_true(row->share_ratio == 0.9);
    const struct metric_stat *time = &row->metrics[METRIC_DURATION], *l2 = &row->metrics[METRIC_L2_HIT];
    assert_true(time->value == 3000 && time->min == 1000 && time->max == 6000);
    assert_true(fabs(time->deviation - sqrt(7e6)) < 1e-6);
    assert_true(fabs(l2->value - (0.1 + 0.4 + 3.6) / 9) < 1e-12); /* weighted by time */
    assert_true(row->metrics[METRIC_GLOBAL_LOAD_SECTORS].value == 200);
    assert_true(isnan(row->metrics[METRIC_L1_HIT].value));
    assert_int_equal(row->metrics[METRIC_L1_HIT].state, COUNTER_NOT_MEASURED);
    end(f);
}

/* As a live run has them: of ten launches two were measured, the second in all passes. */
static void measured_launches_stand_for_the_others(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    for (int i = 0; i < 2; i++) {
        launch(f, "k", 1000, 256);
        f->run.profiles.at[f->profile].launches = i ? 2 : 8;
        f->run.profiles.at[f->profile].measured = 1;
        add(f, "gpu__time_duration.sum", "ns", i ? 2000 : 1000);
    }
    NUMBER("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0);
    NUMBER("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0);
    NUMBER("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 0);
    NUMBER("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0);
    const struct profile_row *row = only_row(f);
    assert_int_equal(row->profiled, 2);
    assert_int_equal(row->launches, 10);
    assert_int_equal(row->total_ns, 12000);
    assert_true(fabs(row->metrics[METRIC_DURATION].deviation - sqrt(2 * 160000)) < 1e-6);
    /* Of one measured launch nobody knows how far others are. */
    assert_true(isnan(row->metrics[METRIC_SHARED_LOAD_WAVEFRONTS].deviation));
    /* That the kernel has no shared memory is known from one of them. */
    assert_int_equal(row->metrics[METRIC_SHARED_CONFLICT].state, COUNTER_UNDEFINED);
    assert_false(row->undecided >> UNDECIDED_CONFLICTS & 1);
    end(f);
    begin(f); /* whichever comes first */
    launch(f, "k", 1000, 256);
    NUMBER("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 0);
    NUMBER("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0);
    launch(f, "k", 1000, 256);
    assert_false(only_row(f)->undecided >> UNDECIDED_CONFLICTS & 1);
    end(f);
}

static void a_timeline_beside_the_counters_gives_the_times(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", 1000, 256);
    add(f, "gpu__time_duration.sum", "ns", 5000);
    uint32_t stream = run_stream(&f->run, NONE, 0, UNKNOWN, 7);
    for (int i = 0; i < 4; i++) {
        size_t op = op_table_add(&f->run.ops);
        f->run.ops.start[op] = i * 10000;
        f->run.ops.end[op] = i * 10000 + 3000;
        f->run.ops.name[op] = intern_puts(&f->run.strings, i < 3 ? "k" : "other");
        f->run.ops.stream[op] = stream;
        f->run.ops.shape[op] = f->run.profiles.at[0].shape;
        f->run.ops.call[op] = f->run.ops.comm[op] = NONE;
    }
    const struct profile_row *row = only_row(f);
    assert_int_equal(row->total_ns, 9000);
    assert_int_equal(row->launches, 3);
    assert_true(row->share_ratio == 0.75);
    end(f);
}

/* ---- what bounds it ------------------------------------------------------------------------------------ */

static const char *top_of_one_pass(double dram, double issue, enum bound bound)
{
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", 132 * 100, 256);
    one_pass(f, dram, issue);
    const struct profile_row *row = only_row(f);
    assert_int_equal(row->bound, bound);
    /* One pass does not see inside the warps: it says so, and claims nothing of it. */
    assert_true(row->undecided >> UNDECIDED_COALESCING & 1 && row->undecided >> UNDECIDED_CONFLICTS & 1);
    assert_true(row->undecided >> UNDECIDED_STALLS & 1 && row->undecided >> UNDECIDED_DIVERGENCE & 1);
    assert_int_equal(row->findings.count, 1);
    const char *id = row->findings.at[0].id;
    end(f);
    return id;
}

static void one_pass_tells_what_bounds(void **state)
{
    (void)state;
    assert_string_equal(top_of_one_pass(85, 10, BOUND_MEMORY), "kernel-memory-bound");
    assert_string_equal(top_of_one_pass(45, 20, BOUND_MEMORY), "kernel-memory-bound");
    assert_string_equal(top_of_one_pass(30, 85, BOUND_COMPUTE), "kernel-compute-bound");
    assert_string_equal(top_of_one_pass(35, 30, BOUND_LATENCY), "kernel-latency-bound");
    assert_string_equal(top_of_one_pass(10, 10, BOUND_LATENCY), "kernel-latency-bound");
}

static void without_counters_nothing_is_claimed(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", 132 * 100, 256);
    add(f, "gpu__time_duration.sum", "ns", 100000);
    const struct profile_row *row = only_row(f);
    assert_int_equal(row->bound, BOUND_UNKNOWN);
    assert_int_equal(row->findings.count, 0);
    end(f);
}

/* ---- thresholds ---------------------------------------------------------------------------------------- */

/* A kernel at the given pressures, and one more counter or two. */
struct extra {
    const char *name, *unit;
    double value;
};

static double high_of(const char *id, uint32_t grid, uint32_t block, double dram, double issue,
                      const struct extra *extra)
{
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", grid, block);
    one_pass(f, dram, issue);
    deep(f);
    for (; extra->name; extra++) /* in place of what is there */
        add(f, extra->name, extra->unit, extra->value);
    const struct profile_row *row = only_row(f);
    const struct finding *finding = find(row, id);
    double high = finding ? finding->saving_ratio[1] : 0;
    end(f);
    return high;
}

enum { FULL_GRID = 132 * 8 * 20 };

#define SECTORS "memory_l2_theoretical_sectors_global"
#define SHARED  "memory_l1_wavefronts_shared"

static void scattered_access_counts_from_where_it_costs(void **state)
{
    (void)state;
    struct extra much[] = {{SECTORS, "", 2e6}, {SECTORS "_ideal", "", 5e5}, {NULL, NULL, 0}};
    struct extra little[] = {{SECTORS, "", 2e6}, {SECTORS "_ideal", "", 1.8e6}, {NULL, NULL, 0}};
    struct extra absorbed[] = {{SECTORS, "", 2e6},
                               {SECTORS "_ideal", "", 5e5},
                               {"lts__t_sectors_srcunit_tex.sum", "", 5e5},
                               {NULL, NULL, 0}};
    double costly = high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, much);
    assert_true(costly > 0.7 && costly <= 0.75);
    assert_true(high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, little) == 0);
    /* L1 gives what the neighbours fetched: only L1's own path feels it. */
    double inside = high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, absorbed);
    assert_true(inside > 0 && inside < costly / 2);
}

static void a_broadcast_is_not_scattered(void **state)
{
    (void)state;
    struct extra broadcast[] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", 1e6},
                                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "", 4},
                                {NULL, NULL, 0}};
    struct extra strided[] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", 31250},
                              {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "", 4},
                              {NULL, NULL, 0}};
    assert_true(high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, broadcast) == 0);
    assert_true(high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, strided) > 0.5);
}

static void sectors_per_request_alone_count_only_beyond_the_widest_access(void **state)
{
    (void)state;
    struct extra wide[] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", 62500}, {NULL, NULL, 0}};
    struct extra scattered[] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", 31250},
                                {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", 31250},
                                {NULL, NULL, 0}};
    assert_true(high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, wide) == 0); /* 16: float4 */
    assert_true(high_of("kernel-uncoalesced", FULL_GRID, 256, 85, 10, scattered) > 0.4);
}

static void conflicts_cost_the_cycles_that_they_take(void **state)
{
    (void)state;
    /* Of 132 × 170 000 cycles of the data path, half are repeated passes. */
    struct extra half[] = {{SHARED, "", 1.2e7}, {SHARED "_ideal", "", 7.8e5}, {NULL, NULL, 0}};
    struct extra few[] = {{SHARED, "", 2e5}, {SHARED "_ideal", "", 1e4}, {NULL, NULL, 0}};
    double high = high_of("kernel-bank-conflicts", FULL_GRID, 256, 10, 15, half);
    assert_true(high > 0.7 && high < 0.8);
    assert_true(high_of("kernel-bank-conflicts", FULL_GRID, 256, 10, 15, few) == 0); /* 95 % of very little */
    /* Counted, not derived: below a tenth it is arbitration. */
    struct extra noise[] = {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", 1e7},
                            {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", 1e7},
                            {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", 1.9e6},
                            {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", 0},
                            {NULL, NULL, 0}};
    assert_true(high_of("kernel-bank-conflicts", FULL_GRID, 256, 10, 15, noise) == 0);
    noise[2].value = 4e6;
    assert_true(high_of("kernel-bank-conflicts", FULL_GRID, 256, 10, 15, noise) > 0.1);
}

static void divergence_is_relative_to_the_block(void **state)
{
    (void)state;
    struct extra split[] = {{"smsp__average_thread_inst_executed_per_inst_executed.ratio", "", 8},
                            {NULL, NULL, 0}};
    assert_true(high_of("kernel-divergence", FULL_GRID, 256, 10, 80, split) > 0.5);
    split[0].value = 25;
    assert_true(high_of("kernel-divergence", FULL_GRID, 256, 10, 80, split) == 0);
    /* 33 threads fill two warps to 16.5 on average: that is no branch's fault. */
    split[0].value = 16.5;
    assert_true(high_of("kernel-divergence", FULL_GRID, 33, 10, 80, split) == 0);
    double partial = high_of("kernel-partial-warps", FULL_GRID, 33, 10, 80, split);
    assert_true(partial > 0.3 && partial < 0.49);
    assert_true(high_of("kernel-partial-warps", FULL_GRID, 255, 10, 80, split) == 0);
    /* Idle lanes are free where the schedulers are idle anyway. */
    assert_true(high_of("kernel-partial-warps", FULL_GRID, 33, 90, 5, split) == 0);
}

static void the_tail_is_bounded_by_what_sms_waited(void **state)
{
    (void)state;
    struct extra waited[] = {{"sm__cycles_active.avg", "cycle", 113000}, {NULL, NULL, 0}};
    struct extra none[] = {{NULL, NULL, 0}};
    double high = high_of("kernel-tail-effect", 132 * 8 + 1, 256, 10, 60, waited);
    assert_true(high > 0.32 && high < 0.34);
    assert_true(high_of("kernel-tail-effect", 132 * 8 + 1, 256, 10, 60, none) ==
                0); /* unequal blocks hid it */
    assert_true(high_of("kernel-tail-effect", 132 * 16, 256, 10, 60, waited) == 0);
    assert_true(high_of("kernel-imbalance", 132 * 16, 256, 10, 60, waited) > 0.3);
    assert_true(high_of("kernel-imbalance", 132 * 16, 256, 10, 60, none) == 0);
}

static void a_grid_is_too_small_below_one_block_a_sm(void **state)
{
    (void)state;
    struct extra none[] = {{NULL, NULL, 0}};
    double high = high_of("kernel-grid-too-small", 33, 256, 5, 10, none);
    assert_true(fabs(high - 0.75) < 1e-9);
    assert_true(high_of("kernel-grid-too-small", 132, 256, 5, 10, none) == 0);
}

static void atomics_count_where_everything_waits_for_them(void **state)
{
    (void)state;
    struct extra many[] = {{"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "", 3e5},
                           {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "", 0},
                           {NULL, NULL, 0}};
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 5, 2, many) > 0.6);
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 85, 10, many) == 0); /* memory is full: not they */
    many[0].value = 1000;
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 5, 2, many) == 0);
    /* One pass counts no requests. */
    struct extra sectors[] = {{"lts__d_atomic_input_cycles_active.sum", "", 1e6}, {NULL, NULL, 0}};
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 5, 2, sectors) > 0.6);
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 85, 10, sectors) == 0);
    sectors[0].value = 1e4;
    assert_true(high_of("kernel-atomics", FULL_GRID, 256, 5, 2, sectors) == 0);
}

static void local_memory_is_a_spill_only_where_that_is_known(void **state)
{
    (void)state;
    struct extra local[] = {{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "", 4e6},
                            {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "", 4e6},
                            {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "", 1e6},
                            {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "", 1e6},
                            {"derived__local_spilling_requests", "", 2e6},
                            {NULL, NULL, 0}};
    assert_true(high_of("kernel-register-spill", FULL_GRID, 256, 60, 10, local) > 0.5);
    local[4].value = 0;
    assert_true(high_of("kernel-register-spill", FULL_GRID, 256, 60, 10, local) == 0);
    assert_true(high_of("kernel-local-memory", FULL_GRID, 256, 60, 10, local) > 0.5);
    local[4] = (struct extra){NULL, NULL, 0};
    assert_true(high_of("kernel-local-memory", FULL_GRID, 256, 60, 10, local) > 0.5);
    local[0].value = local[1].value = 10000;
    assert_true(high_of("kernel-local-memory", FULL_GRID, 256, 60, 10, local) == 0);
}

/* One pass counts no local memory; the code says that there is some, and L2 how much. */
static void begin_spilling(struct fixture *f, int64_t spilled, double l2_sectors)
{
    begin(f);
    launch(f, "k", FULL_GRID, 256);
    one_pass(f, 60, 10);
    NUMBER("lts__t_sectors.sum", l2_sectors);
    PCT("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0);
    *vec_new(&f->run.codes) = (struct kernel_code){.spill_store_bytes = spilled, .spill_load_bytes = spilled};
    f->run.profiles.at[0].code = 0;
}

static const struct finding *spill_of_one_pass(struct fixture *f, int64_t spilled, double l2_sectors)
{
    begin_spilling(f, spilled, l2_sectors);
    return find(only_row(f), "kernel-register-spill");
}

static void one_pass_knows_spills_by_the_code_and_what_l2_moves(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    const struct finding *finding = spill_of_one_pass(f, 1000, 3e7);
    assert_non_null(finding);
    assert_true(finding->saving_ratio[1] > 0.5 && finding->confidence_ratio < 0.9);
    end(f);
    assert_null(spill_of_one_pass(f, 1000, 3e6)); /* that is global memory, counted in both halves of L2 */
    end(f);
    assert_null(spill_of_one_pass(f, 8, 3e7));
    end(f);
    assert_null(spill_of_one_pass(f, UNKNOWN, 3e7));
    end(f);
}

static void atomics_of_one_pass_are_no_spills(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin_spilling(f, 1000, 3e7);
    NUMBER("lts__d_atomic_input_cycles_active.sum", 1.8e7);
    assert_null(find(only_row(f), "kernel-register-spill"));
    end(f);
    begin_spilling(f, 1000, 3e7);
    NUMBER("lts__d_atomic_input_cycles_active.sum", 1e6);
    assert_non_null(find(only_row(f), "kernel-register-spill"));
    end(f);
}

/* What counts operations, and from the fourth on what one pass has. */
static const struct extra busy_fp64[] = {
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "", 1e9},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "", 0},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "", 0},
    {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "%", 90},
    {NULL, NULL, 0}};

static void double_precision_counts_where_its_units_are_the_limit(void **state)
{
    (void)state;
    struct extra fp64[sizeof busy_fp64 / sizeof *busy_fp64];
    memcpy(fp64, busy_fp64, sizeof fp64);
    assert_true(high_of("kernel-fp64", FULL_GRID, 256, 5, 20, fp64) > 0.5);
    fp64[3].value = 20; /* a full-rate GPU does it beside other work */
    assert_true(high_of("kernel-fp64", FULL_GRID, 256, 5, 20, fp64) == 0);
    /* One pass knows no more than that, and not which conversions come with it. */
    assert_true(high_of("kernel-fp64", FULL_GRID, 256, 5, 20, fp64 + 3) > 0.5);
    assert_true(high_of("kernel-fp64", FULL_GRID, 256, 85, 20, fp64 + 3) == 0);
    fp64[3].value = 5;
    assert_true(high_of("kernel-fp64", FULL_GRID, 256, 5, 20, fp64 + 3) == 0);
}

/* ---- what must not be said ----------------------------------------------------------------------------- */

static bool says(const struct finding *finding, const char *part)
{
    if (strstr(finding->action.format, part) || strstr(finding->title.format, part))
        return true;
    vec_each (&finding->evidence, evidence)
        if (strstr(evidence->format, part))
            return true;
    return false;
}

static bool mentions(double dram, double issue, uint32_t block, const struct extra *extra, const char *part)
{
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", FULL_GRID, block);
    one_pass(f, dram, issue);
    deep(f);
    for (; extra->name; extra++)
        add(f, extra->name, extra->unit, extra->value);
    const struct profile_row *row = only_row(f);
    bool said = false;
    vec_each (&row->findings, finding)
        said |= says(finding, part);
    end(f);
    return said;
}

static void more_warps_are_advised_only_where_no_unit_is_busy(void **state)
{
    (void)state;
    struct extra low[] = {{"sm__warps_active.avg.pct_of_peak_sustained_active", "%", 12},
                          {"sm__maximum_warps_per_active_cycle_pct", "%", 12.5},
                          {"launch__occupancy_limit_registers", "", 1},
                          {NULL, NULL, 0}};
    assert_true(mentions(20, 20, 256, low, "room for more warps"));
    assert_false(mentions(90, 20, 256, low, "room for more warps"));
    assert_false(mentions(20, 95, 256, low, "room for more warps"));
    struct extra high[] = {{NULL, NULL, 0}};
    assert_false(mentions(20, 20, 256, high, "room for more warps"));
}

static void warps_that_crowd_l1_are_recognised(void **state)
{
    (void)state;
    struct extra crowded[] = {{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", 85},
                              {"lts__t_sector_hit_rate.pct", "%", 95},
                              {NULL, NULL, 0}};
    assert_true(mentions(10, 20, 256, crowded, "fewer warps"));
    crowded[1].value = 20; /* streaming: L2 does not have it either */
    assert_false(mentions(10, 20, 256, crowded, "fewer warps"));
}

static void a_share_is_said_only_of_what_was_counted(void **state)
{
    (void)state;
    assert_true(mentions(5, 20, 256, busy_fp64, "of the arithmetic"));
    assert_true(mentions(5, 20, 256, busy_fp64 + 3, "hold the kernel up"));
    assert_false(mentions(5, 20, 256, busy_fp64 + 3, "of the arithmetic is"));
    struct fixture fixture, *f = &fixture;
    begin(f); /* atomics, but neither loads nor stores */
    launch(f, "k", FULL_GRID, 256);
    PCT("lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", 90);
    NUMBER("lts__d_atomic_input_cycles_active.sum", 1e6);
    assert_null(find(only_row(f), "kernel-atomics"));
    end(f);
}

static void waiting_for_memory_is_no_fault_of_a_busy_kernel(void **state)
{
    (void)state;
    struct extra stalls[] = {
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "", 20},
        {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "", 1},
        {NULL, NULL, 0}};
    assert_false(mentions(90, 12, 256, stalls, "start loads earlier"));
    assert_false(mentions(20, 90, 256, stalls, "start loads earlier"));
    assert_true(mentions(20, 12, 256, stalls, "start loads earlier"));
}

static void the_cause_takes_the_verdict_as_evidence(void **state)
{
    (void)state;
    struct extra much[] = {{SECTORS, "", 2e6}, {SECTORS "_ideal", "", 5e5}, {NULL, NULL, 0}};
    assert_true(high_of("kernel-memory-bound", FULL_GRID, 256, 85, 10, much) == 0);
    assert_true(mentions(85, 10, 256, much, "is busy {1} of the time"));
}

/* ---- roofline and lines -------------------------------------------------------------------------------- */

static void the_roofline_says_where_its_peaks_come_from(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", FULL_GRID, 256);
    one_pass(f, 50, 20);
    NUMBER("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1e8);
    NUMBER("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0);
    NUMBER("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0);
    const struct roofline *r = &only_row(f)->roofline;
    assert_int_equal(r->bytes_source, PEAK_RATIO);
    assert_true(fabs(r->peak_bytes_per_s / 4e12 - 1) < 1e-9);
    assert_int_equal(r->flop_source, PEAK_TABLE);
    assert_true(fabs(r->peak_flop_per_s / (2.0 * 128 * 132 * 1.7e9) - 1) < 1e-9);
    assert_true(fabs(r->flop_per_s / 2e12 - 1) < 1e-9);
    assert_true(fabs(r->flop_per_byte - 1) < 1e-9);
    assert_true(r->is_memory_side && fabs(r->reached_ratio - 0.5) < 1e-9);
    end(f);
}

static void add_place(struct fixture *f, uint32_t line, const char *name, double value)
{
    size_t place = place_table_add(&f->run.places);
    f->run.places.code[place] = f->run.places.inlined[place] = NONE;
    f->run.places.file[place] = intern_puts(&f->run.strings, "/src/k.cu");
    f->run.places.line[place] = line;
    f->run.places.pc[place] = 16 * place;
    size_t row = place_counter_table_add(&f->run.place_counters);
    f->run.place_counters.profile[row] = f->profile;
    f->run.place_counters.place[row] = (uint32_t)place;
    f->run.place_counters.name[row] = intern_puts(&f->run.strings, name);
    f->run.place_counters.value[row] = value;
}

static void instructions_of_a_line_are_one_and_the_hottest_comes_first(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    begin(f);
    launch(f, "k", FULL_GRID, 256);
    one_pass(f, 20, 20);
    add_place(f, 7, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 30);
    add_place(f, 9, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 50);
    add_place(f, 7, "smsp__pcsamp_warps_issue_stalled_barrier", 40);
    const struct profile_row *row = only_row(f);
    assert_int_equal(row->line_count, 2);
    const struct hot_line *first = &f->report.lines.at[row->first_line];
    assert_int_equal(f->run.places.line[first->place], 7);
    assert_true(first->values[PLACE_SAMPLES] == 70);
    assert_true(first->stalls[STALL_BARRIER] == 40);
    assert_int_equal(first->hottest, 2);
    end(f);
    begin(f); /* totals without reasons */
    launch(f, "k", FULL_GRID, 256);
    one_pass(f, 20, 20);
    add_place(f, 7, "smsp__pcsamp_sample_count", 30);
    add_place(f, 7, "smsp__pcsamp_sample_count", 40);
    row = only_row(f);
    assert_int_equal(f->report.lines.at[row->first_line].hottest, 1);
    end(f);
}

static void counters_by_their_own_names_are_means_and_null_has_a_reason(void **state)
{
    (void)state;
    struct fixture fixture, *f = &fixture;
    char *text = NULL;
    size_t length = 0;
    begin(f);
    for (int i = 0; i < 2; i++) {
        launch(f, "k", FULL_GRID, 256);
        add(f, "gpu__time_duration.sum", "ns", 1000);
        NUMBER("made__up.sum", 10 + i);
        NUMBER("made__up.ratio", 0);
        f->run.counters.state[f->run.counters.count - 1] = COUNTER_UNDEFINED;
    }
    run_seal(&f->run);
    profiles_build(&f->report, &f->run, &(struct profile_options){.has_raw = true});
    FILE *out = open_memstream(&text, &length);
    json_profiles(out, &f->report, &(struct view_options){.limit = UNKNOWN});
    fclose(out);
    assert_non_null(strstr(text, "\"made__up.sum\": 10.5"));
    assert_non_null(strstr(text, "\"made__up.ratio\": null"));
    assert_non_null(strstr(text, "\"made__up.ratio_why\": \"no launch has a value\""));
    free(text);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_one_shape_are_one_row),
        cmocka_unit_test(measured_launches_stand_for_the_others),
        cmocka_unit_test(a_timeline_beside_the_counters_gives_the_times),
        cmocka_unit_test(one_pass_tells_what_bounds),
        cmocka_unit_test(without_counters_nothing_is_claimed),
        cmocka_unit_test(scattered_access_counts_from_where_it_costs),
        cmocka_unit_test(a_broadcast_is_not_scattered),
        cmocka_unit_test(sectors_per_request_alone_count_only_beyond_the_widest_access),
        cmocka_unit_test(conflicts_cost_the_cycles_that_they_take),
        cmocka_unit_test(divergence_is_relative_to_the_block),
        cmocka_unit_test(the_tail_is_bounded_by_what_sms_waited),
        cmocka_unit_test(a_grid_is_too_small_below_one_block_a_sm),
        cmocka_unit_test(atomics_count_where_everything_waits_for_them),
        cmocka_unit_test(local_memory_is_a_spill_only_where_that_is_known),
        cmocka_unit_test(one_pass_knows_spills_by_the_code_and_what_l2_moves),
        cmocka_unit_test(atomics_of_one_pass_are_no_spills),
        cmocka_unit_test(double_precision_counts_where_its_units_are_the_limit),
        cmocka_unit_test(more_warps_are_advised_only_where_no_unit_is_busy),
        cmocka_unit_test(warps_that_crowd_l1_are_recognised),
        cmocka_unit_test(a_share_is_said_only_of_what_was_counted),
        cmocka_unit_test(waiting_for_memory_is_no_fault_of_a_busy_kernel),
        cmocka_unit_test(the_cause_takes_the_verdict_as_evidence),
        cmocka_unit_test(the_roofline_says_where_its_peaks_come_from),
        cmocka_unit_test(instructions_of_a_line_are_one_and_the_hottest_comes_first),
        cmocka_unit_test(counters_by_their_own_names_are_means_and_null_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
