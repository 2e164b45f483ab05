/* Canonical metrics: formulas, units, and the reasons of what is not known. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/metrics.h"
#include "make_run.h"

struct fixture {
    struct run run;
    struct metrics metrics;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){0};
    run_init(&f->run);
    run_add_source(&f->run, "test", "made by hand");
    *vec_new(&f->run.profiles) = (struct kernel_profile){
        .device = NONE, .process = NONE, .shape = NONE, .code = NONE, .launch = 0, .launches = 1};
}

static void add_text(struct fixture *f, const char *name, size_t length, const char *unit, double value,
                     enum counter_state state)
{
    struct counter_table *counters = &f->run.counters;
    size_t row = counter_table_add(counters);
    counters->name[row] = intern_add(&f->run.strings, name, length);
    counters->unit[row] = intern_puts(&f->run.strings, unit);
    counters->value[row] = value;
    counters->state[row] = (uint8_t)state;
}

static void add(struct fixture *f, const char *name, const char *unit, double value)
{
    add_text(f, name, strlen(name), unit, value, COUNTER_VALUE);
}

static struct metric_value get(struct fixture *f, enum metric id)
{
    metrics_init(&f->metrics, &f->run);
    struct metric_value value = metric_get(&f->metrics, 0, id);
    metrics_release(&f->metrics);
    return value;
}

static void assert_metric(struct fixture *f, enum metric id, double expected)
{
    struct metric_value v = get(f, id);
    assert_int_equal(v.state, COUNTER_VALUE);
    assert_true(fabs(v.value - expected) <= fabs(expected) * 1e-12);
    assert_non_null(v.formula);
}

static void assert_why(struct fixture *f, enum metric id, enum counter_state state)
{
    struct metric_value v = get(f, id);
    assert_int_equal(v.state, state);
    if (state != COUNTER_IMPLAUSIBLE)
        assert_true(isnan(v.value));
}

/* Adds every counter that a formula names, each 1. */
static void add_operands(struct fixture *f, const char *formula)
{
    for (const char *at = formula; *at;) {
        size_t length = *at == '\'' ? strcspn(at + 1, "'") : strcspn(at, " ()?");
        const char *name = at + (*at == '\'');
        if (*at == '\'' || (length > 0 && strchr("abcdefghijklmnopqrstuvwxyz", *at)))
            add_text(f, name, length, "", 1, COUNTER_VALUE);
        at = name + length + (*at == '\'');
        at += strspn(at, " ()?");
    }
}

static void every_formula_gives_a_value_from_the_counters_that_it_names(void **state)
{
    (void)state;
    for (int id = 0; id < METRIC_COUNT; id++) {
        assert_non_null(metric_formulas[id]);
        for (const char *const *formula = metric_formulas[id]; *formula; formula++) {
            struct fixture f;
            begin(&f);
            add_operands(&f, *formula);
            struct metric_value v = get(&f, (enum metric)id);
            if (v.formula != *formula)
                fail_msg("%s: %s", metric_infos[id].key, *formula);
            assert_true(v.state == COUNTER_VALUE || v.state == COUNTER_IMPLAUSIBLE);
            run_release(&f.run);
        }
    }
}

static void names_of_every_chip_and_tool_mean_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit;
        double value;
    } reads[] = {
        {"dram__bytes_read.sum", "byte", 6400},
        {"dram__bytes_op_read.sum", "byte", 6400},
        {"dram__sectors_read.sum", "sector", 200},
        {"dram_read_bytes", "byte", 6400},
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        struct fixture f;
        begin(&f);
        add(&f, reads[i].name, reads[i].unit, reads[i].value);
        assert_metric(&f, METRIC_DRAM_READ_BYTES, 6400);
        run_release(&f.run);
    }
}

static void percent_becomes_a_ratio(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "Occupancy/Achieved Occupancy", "%", 74.2);
    assert_metric(&f, METRIC_ACHIEVED_OCCUPANCY, 0.742);
    add(&f, "warp_execution_efficiency", "%", 50);
    assert_metric(&f, METRIC_THREADS_PER_INSTRUCTION, 16);
    add(&f, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", 50);
    assert_metric(&f, METRIC_ACHIEVED_OCCUPANCY, 0.5);
    run_release(&f.run);
}

static void the_label_alone_does_not_choose_between_sections(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "GPU Speed Of Light Throughput/Memory Throughput", "%", 70.75);
    add(&f, "Memory Workload Analysis/Memory Throughput", "byte/s", 3.4e12);
    assert_metric(&f, METRIC_MEMORY_THROUGHPUT, 0.7075);
    assert_metric(&f, METRIC_DRAM_BYTES_PER_S, 3.4e12);
    run_release(&f.run);
}

static void what_is_not_known_says_why(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_why(&f, METRIC_DURATION, COUNTER_NOT_MEASURED);
    add(&f, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", 0);
    add(&f, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", 0);
    assert_why(&f, METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST, COUNTER_UNDEFINED);
    add(&f, "l1tex__t_sector_hit_rate.pct", "%", 171);
    assert_why(&f, METRIC_L1_HIT, COUNTER_IMPLAUSIBLE);
    add_text(&f, "lts__t_sector_hit_rate.pct", 26, "%", 0, COUNTER_NO_PERMISSION);
    assert_why(&f, METRIC_L2_HIT, COUNTER_NO_PERMISSION);
    add_text(&f, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 48, "%", 0, COUNTER_UNSUPPORTED);
    assert_why(&f, METRIC_COMPUTE_THROUGHPUT, COUNTER_UNSUPPORTED);
    run_release(&f.run);
}

static void an_optional_counter_counts_as_zero_only_where_it_was_not_measured(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "smsp__inst_executed_op_global_red.sum", "inst", 7);
    assert_metric(&f, METRIC_GLOBAL_ATOMIC_REQUESTS, 7);
    add(&f, "smsp__inst_executed_op_global_atom.sum", "inst", 3);
    assert_metric(&f, METRIC_GLOBAL_ATOMIC_REQUESTS, 10);
    run_release(&f.run);
}

/* L2's throughput is the largest of its parts; without the way in from the SMs it would often be far too
 * small. */
static void the_throughput_of_l2_is_that_of_its_busiest_part(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
#define PART(name, value) add(&f, "lts__" name ".avg.pct_of_peak_sustained_elapsed", "%", value)
    PART("t_sectors", 20);
    PART("d_sectors", 25);
    assert_why(&f, METRIC_L2_THROUGHPUT, COUNTER_NOT_MEASURED);
    PART("xbar2lts_cycles_active", 24);
    assert_metric(&f, METRIC_L2_THROUGHPUT, 0.25);
    PART("ltcfabric2lts_cycles_active", 60);
    assert_metric(&f, METRIC_L2_THROUGHPUT, 0.6);
    PART("ltcfabric2ltc_cycles_active", 48); /* a chip that has both counts by this one */
    assert_metric(&f, METRIC_L2_THROUGHPUT, 0.48);
    PART("throughput", 50);
    assert_metric(&f, METRIC_L2_THROUGHPUT, 0.5);
#undef PART
    run_release(&f.run);
}

/* The other half of L2 carries out what it is sent; that is no second atomic. */
static void atomics_are_counted_as_they_come_from_the_sms(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "lts__t_sectors_op_atom.sum", "sector", 0);
    add(&f, "lts__t_sectors_op_red.sum", "sector", 150);
    assert_metric(&f, METRIC_L2_ATOMIC_SECTORS, 150);
    add(&f, "lts__d_atomic_input_cycles_active.sum", "cycle", 100);
    assert_metric(&f, METRIC_L2_ATOMIC_SECTORS, 100);
    add(&f, "lts__t_sectors_srcunit_tex_op_atom.sum", "sector", 1);
    add(&f, "lts__t_sectors_srcunit_tex_op_red.sum", "sector", 100);
    assert_metric(&f, METRIC_L2_ATOMIC_SECTORS, 101);
    run_release(&f.run);
}

static void occupancy_and_waves_follow_from_the_launch(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t device = run_device(&f.run, 0, 0);
    f.run.devices.at[device].cc_major = 9;
    f.run.devices.at[device].sm_count = 132;
    struct shape shape = {
        .grid = {132 * 8 * 2, 1, 1}, .block = {256, 1, 1}, .regs_per_thread = 32, .occupancy_percent = -1};
    f.run.profiles.at[0].device = device;
    f.run.profiles.at[0].shape = run_shape(&f.run, &shape);
    assert_metric(&f, METRIC_THEORETICAL_OCCUPANCY, 1);
    assert_metric(&f, METRIC_WAVES, 2);
    run_release(&f.run);
}

static void assert_share(const double share[STALL_COUNT], enum stall stall, double expected)
{
    assert_true(fabs(share[stall] - expected) < 1e-12);
}

static void stall_shares_prefer_counters_to_samples(void **state)
{
    (void)state;
    struct fixture f;
    double share[STALL_COUNT];
    begin(&f);
    metrics_init(&f.metrics, &f.run);
    assert_int_equal(metric_stalls(&f.metrics, 0, share), STALLS_UNKNOWN);
    metrics_release(&f.metrics);
    add(&f, "smsp__pcsamp_warps_issue_stalled_drain", "warp", 30);
    add(&f, "smsp__pcsamp_warps_issue_stalled_no_instructions", "warp", 10);
    metrics_init(&f.metrics, &f.run);
    assert_int_equal(metric_stalls(&f.metrics, 0, share), STALLS_SAMPLED);
    assert_share(share, STALL_DRAIN, 0.75);
    assert_share(share, STALL_NO_INSTRUCTION, 0.25);
    assert_true(isnan(share[STALL_BARRIER]));
    metrics_release(&f.metrics);
    add(&f, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst", 8);
    metrics_init(&f.metrics, &f.run);
    assert_int_equal(metric_stalls(&f.metrics, 0, share), STALLS_COUNTED);
    assert_share(share, STALL_BARRIER, 1);
    metrics_release(&f.metrics);
    run_release(&f.run);
}

static void counters_of_places_are_recognised_by_every_spelling(void **state)
{
    (void)state;
    bool not_issued;
    assert_int_equal(place_stall("stall_long_sb", &not_issued), STALL_LONG_SCOREBOARD);
    assert_false(not_issued);
    assert_int_equal(place_stall("stall_sleeping (Not Issued)", &not_issued), STALL_SLEEPING);
    assert_true(not_issued);
    assert_int_equal(place_stall("smsp__pcsamp_warps_issue_stalled_no_instructions_not_issued", &not_issued),
                     STALL_NO_INSTRUCTION);
    assert_true(not_issued);
    assert_int_equal(place_stall("stall_", &not_issued), STALL_NONE);
    assert_int_equal(place_metric_of("stall_wait"), PLACE_STALL_SAMPLES);
    assert_int_equal(place_metric_of("Instructions Executed"), PLACE_INSTRUCTIONS);
    assert_int_equal(place_metric_of("inst_executed"), PLACE_INSTRUCTIONS);
    assert_int_equal(place_metric_of("Access Size"), PLACE_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formula_gives_a_value_from_the_counters_that_it_names),
        cmocka_unit_test(names_of_every_chip_and_tool_mean_the_same),
        cmocka_unit_test(percent_becomes_a_ratio),
        cmocka_unit_test(the_label_alone_does_not_choose_between_sections),
        cmocka_unit_test(what_is_not_known_says_why),
        cmocka_unit_test(an_optional_counter_counts_as_zero_only_where_it_was_not_measured),
        cmocka_unit_test(the_throughput_of_l2_is_that_of_its_busiest_part),
        cmocka_unit_test(atomics_are_counted_as_they_come_from_the_sms),
        cmocka_unit_test(occupancy_and_waves_follow_from_the_launch),
        cmocka_unit_test(stall_shares_prefer_counters_to_samples),
        cmocka_unit_test(counters_of_places_are_recognised_by_every_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
