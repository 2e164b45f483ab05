/* Findings from counters on kernels with a planted fault, measured with Nsight Compute on an H200: the first
 * one must be a right answer. tests/samples/ncu/truth.tsv says which are. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "analyze/profiles.h"
#include "import/import.h"
#include "source/counter_sets.h"
#include "symbol/place_lines.h"

struct file {
    struct run run;
    struct report report;
};

/* What Nsight Compute calls otherwise than a live run does. One of the parts of L2's throughput, its fabric,
 * is in no report. */
static bool is_alias(const char *name, bool deep)
{
    return strcmp(name, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") == 0 ||
           strcmp(name, "lts__throughput.avg.pct_of_peak_sustained_elapsed") == 0 ||
           strcmp(name, "smsp__issue_active.avg.pct_of_peak_sustained_active") == 0 ||
           strcmp(name, "lts__t_sectors_srcunit_tex_op_atom.sum") == 0 ||
           strcmp(name, "lts__t_sectors_srcunit_tex_op_red.sum") == 0 ||
           (deep && (strcmp(name, "smsp__thread_inst_executed_per_inst_executed.ratio") == 0 ||
                     strcmp(name, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio") == 0 ||
                     strncmp(name, "smsp__average_warps_issue_stalled_", 34) == 0 /* --stalls */));
}

/* Leaves what a live run would have counted. */
static void keep_sets(struct run *run, bool deep)
{
    struct counter_table *counters = &run->counters;
    for (size_t i = 0; i < counters->count; i++) {
        const char *name = run_text(run, counters->name[i]);
        bool counted = is_alias(name, deep);
        for (size_t k = 0; k < counters_quick_count; k++)
            counted |= strcmp(name, counters_quick[k]) == 0;
        for (size_t k = 0; deep && k < counters_deep_count; k++)
            counted |= strcmp(name, counters_deep[k]) == 0;
        if (!counted)
            counters->state[i] = COUNTER_NOT_MEASURED;
    }
}

enum counted { ALL_COUNTERS, DEEP_COUNTERS, QUICK_COUNTERS };

static void open_counted(struct file *f, const char *path, enum counted counted)
{
    struct err err = {0};
    *f = (struct file){0};
    run_init(&f->run);
    if (import_file(&f->run, path, NULL, &(struct import_options){0}, &err) != 0)
        fail_msg("%s: %s", path, err.what);
    run_seal(&f->run);
    if (counted != ALL_COUNTERS)
        keep_sets(&f->run, counted == DEEP_COUNTERS);
    profiles_build(&f->report, &f->run, &(struct profile_options){0});
}

static void open_file(struct file *f, const char *path)
{
    open_counted(f, path, ALL_COUNTERS);
}

static void close_file(struct file *f)
{
    report_release(&f->report);
    run_release(&f->run);
}

static bool accepted(const char *list, const char *id)
{
    size_t length = strlen(id);
    for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, id, length) == 0 && strchr("|\t\n", at[length]))
            return true;
    return false;
}

/* "busy_blocks@265x1024": name, blocks of the grid, threads of a block. */
static const struct profile_row *find_row(const struct file *f, const char *kernel)
{
    unsigned grid = 0, block = 0;
    size_t length = strcspn(kernel, "@");
    if (kernel[length])
        assert_int_equal(sscanf(kernel + length, "@%ux%u", &grid, &block), 2);
    vec_each (&f->report.profiles, row) {
        const char *name = run_text(&f->run, row->name);
        const struct shape *shape = &f->run.shapes.at[row->shape];
        if (strncmp(name, kernel, length) == 0 && name[length] == '(' &&
            (grid == 0 || (shape->grid[0] == grid && shape->block[0] == block)))
            return row;
    }
    fail_msg("no kernel %s", kernel);
    return NULL;
}

static int is_wrong(const struct file *f, const char *kernel, const char *list)
{
    const struct profile_row *row = find_row(f, kernel);
    const char *id = row->findings.count ? row->findings.at[0].id : "nothing";
    bool right = accepted(list, id);
    if (!right)
        print_message("%s: found %s, expected %s", kernel, id, list);
    return !right;
}

static void savings_are_bounded(const struct file *f)
{
    vec_each (&f->report.profiles, row)
        vec_each (&row->findings, finding) {
            assert_true(finding->saving_ratio[0] >= 0);
            assert_true(finding->saving_ratio[0] <= finding->saving_ratio[1]);
            assert_true(finding->saving_ratio[1] <= 1);
            assert_true(finding->saving_ns[1] <= row->total_ns);
            assert_non_null(finding->title.format);
            assert_non_null(finding->action.format);
        }
}

/* What a printed details page cannot tell: it holds neither atomics nor the use of single pipes. */
static const char *by_labels(const char *kernel, const char *list)
{
    if (strcmp(kernel, "histogram_hot") == 0)
        return "kernel-latency-bound\n";
    return strcmp(kernel, "fp64_literal") == 0 ? "kernel-compute-bound\n" : list;
}

/* Whether local memory is spilled the code tells, not these counters. */
static const char *by_deep_run(const char *kernel, const char *list)
{
    return strcmp(kernel, "register_spill") == 0 ? "kernel-local-memory\n" : list;
}

/* Of one pass: what it can see is named, of the rest what bounds the kernel. */
static const char *by_one_pass(const char *kernel, const char *list)
{
    static const char *const seen[] = {"saxpy",     "reduce_shuffle", "gemm_naive",   "busy_blocks",
                                       "odd_block", "histogram_hot",  "fp64_literal", "transpose_padded"};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (strncmp(kernel, seen[i], strlen(seen[i])) == 0)
            return list;
    return "kernel-memory-bound|kernel-compute-bound|kernel-latency-bound\n";
}

typedef const char *expectation(const char *kernel, const char *list);

static const char *by_truth(const char *kernel, const char *list)
{
    (void)kernel;
    return list;
}

static void check_teaching(const char *path, enum counted counted, expectation *expected)
{
    struct file f;
    open_counted(&f, path, counted);
    FILE *truth = fopen(SAMPLES "/ncu/truth.tsv", "r");
    assert_non_null(truth);
    char line[1024];
    int count = 0, wrong = 0;
    assert_non_null(fgets(line, sizeof line, truth)); /* the heading */
    while (fgets(line, sizeof line, truth)) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        wrong += is_wrong(&f, line, expected(line, tab + 1));
        count++;
    }
    fclose(truth);
    savings_are_bounded(&f);
    close_file(&f);
    assert_int_equal(count, 15);
    assert_int_equal(wrong, 0);
}

static void every_planted_fault_is_found(void **state)
{
    (void)state;
    check_teaching(SAMPLES "/ncu/teaching_raw.csv.gz", ALL_COUNTERS, by_truth);
}

static void every_planted_fault_is_found_by_labels(void **state)
{
    (void)state;
    check_teaching(SAMPLES "/ncu/teaching_details.csv.gz", ALL_COUNTERS, by_labels);
}

static void every_planted_fault_is_found_by_a_deep_live_run(void **state)
{
    (void)state;
    check_teaching(SAMPLES "/ncu/teaching_raw.csv.gz", DEEP_COUNTERS, by_deep_run);
}

static void one_pass_says_what_it_can_see(void **state)
{
    (void)state;
    check_teaching(SAMPLES "/ncu/teaching_raw.csv.gz", QUICK_COUNTERS, by_one_pass);
}

static void check_transpose(const char *path)
{
    struct file f;
    open_file(&f, path);
    int wrong = is_wrong(&f, "transpose_bad", "kernel-uncoalesced\n");
    wrong += is_wrong(&f, "transpose_good", "kernel-bank-conflicts\n");
    wrong += is_wrong(&f, "transpose_padded", "kernel-latency-bound|kernel-memory-bound\n");
    savings_are_bounded(&f);
    close_file(&f);
    assert_int_equal(wrong, 0);
}

static void the_transposes_differ_by_fault(void **state)
{
    (void)state;
    check_transpose(SAMPLES "/ncu/transpose_raw.csv.gz");
}

static void the_report_file_says_the_same(void **state)
{
    (void)state;
    check_transpose(SAMPLES "/ncu/transpose.ncu-repz");
}

/* The report brings its machine code along, whose line table says where the conflicts are. */
static void the_line_of_the_conflicts_is_named(void **state)
{
    (void)state;
    struct file f = {0};
    struct err err = {0};
    run_init(&f.run);
    assert_int_equal(
        import_file(&f.run, SAMPLES "/ncu/transpose.ncu-repz", NULL, &(struct import_options){0}, &err), 0);
    run_seal(&f.run);
    places_find_lines(&f.run);
    profiles_build(&f.report, &f.run, &(struct profile_options){0});
    const struct profile_row *row = find_row(&f, "transpose_good");
    assert_true(row->line_count >= 1 && row->line_count < 10); /* instructions of a line are one */
    const struct hot_line *hottest = &f.report.lines.at[row->first_line];
    assert_true(f.run.places.line[hottest->place] > 0);
    assert_non_null(strstr(run_text(&f.run, f.run.places.file[hottest->place]), "transpose.cu"));
    bool named = false;
    vec_each (&row->findings.at[0].evidence, evidence)
        named |= strcmp(evidence->format, "{0} of it at {1}") == 0 &&
                 strstr(evidence->values[1].s, "transpose.cu:");
    assert_true(named);
    close_file(&f);
}

/* What each repair gained lies within what was promised. */
static void promises_hold(void **state)
{
    (void)state;
    struct file f;
    open_file(&f, SAMPLES "/ncu/teaching_raw.csv.gz");
    static const char *const before_after[][2] = {{"transpose_naive", "transpose_padded"},
                                                  {"transpose_tile", "transpose_padded"}};
    for (size_t i = 0; i < 2; i++) {
        const struct profile_row *before = find_row(&f, before_after[i][0]);
        const struct profile_row *after = find_row(&f, before_after[i][1]);
        double gained = 1 - (double)after->total_ns / (double)before->total_ns;
        assert_true(before->findings.at[0].saving_ratio[0] <= gained);
        assert_true(before->findings.at[0].saving_ratio[1] >= gained);
    }
    close_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_fault_is_found),
        cmocka_unit_test(every_planted_fault_is_found_by_labels),
        cmocka_unit_test(every_planted_fault_is_found_by_a_deep_live_run),
        cmocka_unit_test(one_pass_says_what_it_can_see),
        cmocka_unit_test(the_transposes_differ_by_fault),
        cmocka_unit_test(the_report_file_says_the_same),
        cmocka_unit_test(the_line_of_the_conflicts_is_named),
        cmocka_unit_test(promises_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
