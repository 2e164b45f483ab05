/* Which GPUs run a code, and the rows about kernels of binaries. */
#include "cmocka_all.h"

#include "analyze/codes.h"

static struct kernel_code code_for(int32_t sm, char suffix, bool is_ptx)
{
    return (struct kernel_code){
        .sm = sm, .is_specific = suffix == 'a', .is_family = suffix == 'f', .is_ptx = is_ptx};
}

static void code_runs_where_the_programming_guide_says(void **state)
{
    (void)state;
    static const struct {
        int32_t sm;
        char suffix;
        bool is_ptx;
        int32_t cc;
        enum code_fit fit;
        enum code_reason reason;
    } cases[] = {
        {80, 0, false, 80, FIT_RUNS, REASON_NONE},        {80, 0, false, 86, FIT_RUNS, REASON_NONE},
        {86, 0, false, 89, FIT_RUNS, REASON_NONE},        {86, 0, false, 80, FIT_NO, REASON_LATER_MINOR},
        {80, 0, false, 90, FIT_NO, REASON_OTHER_MAJOR},   {80, 0, false, 87, FIT_NO, REASON_EMBEDDED},
        {87, 0, false, 89, FIT_NO, REASON_EMBEDDED},      {87, 0, false, 87, FIT_RUNS, REASON_NONE},
        {90, 'a', false, 90, FIT_RUNS, REASON_NONE},      {90, 'a', false, 100, FIT_NO, REASON_SPECIFIC},
        {100, 'a', false, 103, FIT_NO, REASON_SPECIFIC},  {100, 0, false, 103, FIT_RUNS, REASON_NONE},
        {100, 'f', false, 103, FIT_RUNS, REASON_NONE},    {103, 'f', false, 100, FIT_NO, REASON_LATER_MINOR},
        {100, 'f', false, 120, FIT_NO, REASON_FAMILY},    {120, 'f', false, 121, FIT_RUNS, REASON_NONE},
        {101, 0, false, 110, FIT_RUNS, REASON_NONE},      {75, 0, true, 120, FIT_COMPILES, REASON_NONE},
        {80, 0, true, 87, FIT_COMPILES, REASON_NONE},     {90, 0, true, 89, FIT_NO, REASON_PTX_NEWER},
        {90, 'a', true, 90, FIT_COMPILES, REASON_NONE},   {90, 'a', true, 100, FIT_NO, REASON_SPECIFIC},
        {100, 'f', true, 103, FIT_COMPILES, REASON_NONE}, {100, 'f', true, 110, FIT_NO, REASON_FAMILY},
        {103, 'f', true, 100, FIT_NO, REASON_PTX_NEWER},  {0, 0, false, 90, FIT_NO, REASON_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_code code = code_for(cases[i].sm, cases[i].suffix, cases[i].is_ptx);
        enum code_reason reason;
        enum code_fit fit = code_fit(&code, cases[i].cc, &reason);
        if (fit != cases[i].fit || reason != cases[i].reason)
            fail_msg("%d%c on %d: fit %d, reason %d", cases[i].sm, cases[i].suffix, cases[i].cc, fit, reason);
    }
}

static void patterns_match_parts_or_wholes(void **state)
{
    (void)state;
    assert_true(code_matches("void ns::reduce<float>(float*)", "reduce"));
    assert_true(code_matches("void ns::reduce<float>(float*)", "*reduce<*"));
    assert_false(code_matches("void ns::reduce<float>(float*)", "reduce*"));
    assert_false(code_matches("saxpy", "gemm"));
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static struct kernel_code *add(struct run *run, const char *name, int32_t sm, bool is_ptx)
{
    struct kernel_code *code = vec_new(&run->codes);
    code->name = code->demangled = intern_puts(&run->strings, name);
    code->sm = sm;
    code->is_ptx = is_ptx;
    code->registers_per_thread = is_ptx ? UNKNOWN : 32;
    code->dynamic_shared_bytes = code->max_threads_per_block = UNKNOWN;
    code->required_block[0] = code->cluster[0] = UNKNOWN;
    code->has_lines = true;
    return code;
}

static void add_place(struct run *run, uint32_t code, uint32_t line, const char *counter, double bytes)
{
    size_t place = place_table_add(&run->places);
    run->places.code[place] = code;
    run->places.file[place] = intern_puts(&run->strings, "k.cu");
    run->places.line[place] = line;
    run->places.inlined[place] = NONE;
    run->places.pc[place] = place * 16;
    size_t row = place_counter_table_add(&run->place_counters);
    run->place_counters.profile[row] = NONE;
    run->place_counters.place[row] = (uint32_t)place;
    run->place_counters.name[row] = intern_puts(&run->strings, counter);
    run->place_counters.value[row] = bytes;
}

static void build(struct run *run, struct report *report, const struct code_options *options)
{
    *report = (struct report){0};
    codes_build(report, run, options);
}

static void equal_copies_are_one_row_in_order_of_name_and_architecture(void **state)
{
    (void)state;
    struct run run;
    struct report report;
    run_init(&run);
    run_add_source(&run, "app", "ELF");
    add(&run, "b", 90, false);
    add(&run, "a", 90, true);
    add(&run, "a", 90, false);
    add(&run, "a", 80, false);
    add(&run, "b", 90, false);
    build(&run, &report, &(struct code_options){.block = UNKNOWN, .shared = UNKNOWN});
    assert_int_equal(report.codes.count, 4);
    static const char *const order[] = {"sm_80", "sm_90", "compute_90", "sm_90"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(report.codes.at[i].architecture, order[i]);
    assert_int_equal(report.codes.at[3].copies, 2);
    assert_true(report.codes.at[1].occupancy_ratio == 1);
    assert_true(report.codes.at[2].occupancy_ratio != report.codes.at[2].occupancy_ratio); /* PTX: unknown */
    report_release(&report);
    run_release(&run);
}

static void the_image_is_the_nearest_machine_code_before_ptx(void **state)
{
    (void)state;
    struct run run;
    struct report report;
    run_init(&run);
    run_add_source(&run, "app", "ELF");
    add(&run, "k", 80, false);
    add(&run, "k", 86, false);
    add(&run, "k", 80, true);
    add(&run, "only_new", 120, false);
    build(&run, &report, &(struct code_options){.cc = 89, .block = UNKNOWN, .shared = UNKNOWN});
    assert_int_equal(report.images.count, 2);
    assert_int_equal(report.images.at[0].fit, FIT_RUNS);
    assert_int_equal(report.images.at[0].code, 1);
    assert_int_equal(report.images.at[1].fit, FIT_NO);
    assert_int_equal(report.images.at[1].code, NONE);
    report_release(&report);
    build(&run, &report, &(struct code_options){.cc = 90, .block = UNKNOWN, .shared = UNKNOWN});
    assert_int_equal(report.images.at[0].fit, FIT_COMPILES);
    assert_int_equal(report.images.at[0].code, 2);
    report_release(&report);
    run_release(&run);
}

static void the_block_is_what_the_code_says_unless_one_is_given(void **state)
{
    (void)state;
    struct kernel_code code = {.registers_per_thread = 32,
                               .max_threads_per_block = 512,
                               .dynamic_shared_bytes = 100,
                               .static_shared_bytes = 28,
                               .required_block = {16, 8, 1}};
    struct code_options options = {.block = UNKNOWN, .shared = UNKNOWN};
    const char *origin;
    struct occupancy_launch launch = code_launch(&code, &options, &origin);
    assert_int_equal(launch.threads, 128);
    assert_string_equal(origin, "required");
    assert_int_equal(launch.shared_bytes, 128);
    code.required_block[0] = UNKNOWN;
    assert_int_equal(code_launch(&code, &options, &origin).threads, 512);
    assert_string_equal(origin, "launch bounds");
    code.max_threads_per_block = UNKNOWN;
    assert_int_equal(code_launch(&code, &options, &origin).threads, CODE_BLOCK_ASSUMED);
    assert_string_equal(origin, "assumed");
    options = (struct code_options){.block = 64, .shared = 1000};
    launch = code_launch(&code, &options, &origin);
    assert_int_equal(launch.threads, 64);
    assert_int_equal(launch.shared_bytes, 1028);
}

static void spills_are_summed_by_line_and_become_a_finding(void **state)
{
    (void)state;
    struct run run;
    struct report report;
    run_init(&run);
    run_add_source(&run, "app", "ELF");
    add(&run, "fine", 90, false);
    struct kernel_code *code = add(&run, "spiller", 90, false);
    code->spill_store_bytes = 12;
    code->spill_load_bytes = 8;
    code->local_store_bytes = 16;
    add_place(&run, 1, 7, "spill_store_bytes", 4);
    add_place(&run, 1, 9, "spill_load_bytes", 8);
    add_place(&run, 1, 7, "spill_store_bytes", 8);
    add_place(&run, 1, 7, "local_store_bytes", 16);
    build(&run, &report,
          &(struct code_options){.block = UNKNOWN, .shared = UNKNOWN, .sort = CODE_SORT_SPILLS});
    const struct code_row *row = &report.codes.at[0];
    assert_string_equal(run_text(&run, row->kernel.name), "spiller");
    assert_int_equal(row->site_count, 3);
    const struct code_site *sites = &report.sites.at[row->first_site];
    assert_int_equal(sites[0].store_bytes, 16);
    assert_false(sites[0].is_spill);
    assert_int_equal(sites[1].store_bytes, 12);
    assert_true(sites[1].is_spill);
    assert_int_equal(sites[2].load_bytes, 8);
    assert_int_equal(row->findings.count, 2);
    assert_string_equal(row->findings.at[0].id, "kernel-register-spill");
    assert_int_equal(row->findings.at[0].evidence.count, 2);
    assert_string_equal(row->findings.at[0].evidence.at[0].values[0].s, "k.cu:7");
    assert_string_equal(row->findings.at[1].id, "kernel-local-memory");
    assert_int_equal(report.codes.at[1].findings.count, 0);
    report_release(&report);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_runs_where_the_programming_guide_says),
        cmocka_unit_test(patterns_match_parts_or_wholes),
        cmocka_unit_test(equal_copies_are_one_row_in_order_of_name_and_architecture),
        cmocka_unit_test(the_image_is_the_nearest_machine_code_before_ptx),
        cmocka_unit_test(the_block_is_what_the_code_says_unless_one_is_given),
        cmocka_unit_test(spills_are_summed_by_line_and_become_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
