/* Output of Nsight Compute 2020 to 2025 against what was counted in it by other means: our own recordings,
 * one page against the other; and files of others against the index.tsv beside them, which lie outside the
 * checkout: without them those tests are skipped. */
#include "cmocka_all.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "analyze/metrics.h"
#include "import/import.h"

#define SHARED SAMPLES "/../../../shared/data"

static void load(struct run *run, const char *path)
{
    struct err err = {0};
    run_init(run);
    if (import_file(run, path, NULL, NULL, &err) < 0)
        fail_msg("%s: %s", path, err.what);
}

/* The value of "key=123" in a list that is separated by "; ". -1: not there. */
static int64_t expected(const char *list, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = list; (at = strstr(at, key)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && at[length] == '=')
            return at[length + 1] == '-' ? -1 : strtoll(at + length + 1, NULL, 10);
    return -1;
}

static void check(const char *path, const char *list, const char *key, int64_t actual)
{
    int64_t wanted = expected(list, key);
    if (wanted >= 0 && wanted != actual)
        fail_msg("%s: %s is %lld, not %lld", path, key, (long long)actual, (long long)wanted);
}

static int64_t distinct_kernels(const struct run *run)
{
    struct map seen = {0};
    vec_each (&run->profiles, profile)
        map_set(&seen, profile->name, 1);
    int64_t count = (int64_t)seen.count;
    map_release(&seen);
    return count;
}

static int64_t total_ns(const struct run *run)
{
    struct metrics metrics;
    double sum = 0;
    metrics_init(&metrics, run);
    for (uint32_t i = 0; i < run->profiles.count; i++) {
        struct metric_value duration = metric_get(&metrics, i, METRIC_DURATION);
        sum += duration.state == COUNTER_VALUE ? duration.value : 0;
    }
    metrics_release(&metrics);
    return llround(sum);
}

/* Rows whose value is a word are no counters. */
static int64_t rows_of_words(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[16384];
    int64_t rows = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        rows += strstr(line, "\"Function Cache Configuration\"") || strstr(line, "\"Enabled TPC IDs\"");
    fclose(file);
    return rows;
}

static void check_contents(const char *path, const char *list)
{
    struct run run;
    load(&run, path);
    check(path, list, "results", (int64_t)run.profiles.count);
    check(path, list, "kernel_blocks", (int64_t)run.profiles.count);
    check(path, list, "distinct_kernels", distinct_kernels(&run));
    check(path, list, "rule_rows", (int64_t)run.advices.count);
    if (expected(list, "sources") > 0) /* an image that is named twice is one */
        assert_in_range(run.images.count, 1, expected(list, "sources"));
    if (expected(list, "duration_rows") != 0)
        check(path, list, "duration_ns", total_ns(&run));
    check(path, list, "gpu__time_duration_ns", total_ns(&run));
    if (expected(list, "data_rows") >= 0)
        check(path, list, "data_rows",
              (int64_t)(run.counters.count + run.advices.count) + rows_of_words(path));
    const char *first = strstr(list, "first_kernel=");
    if (first)
        assert_memory_equal(run_text(&run, run.profiles.at[0].name), first + 13,
                            strcspn(first + 13, ";\t\n"));
    assert_int_equal(run.losses.malformed, 0);
    run_release(&run);
}

static void files_of_others_hold_what_was_counted_in_them(void **state)
{
    (void)state;
    FILE *index = fopen(SHARED "/foreign/index.tsv", "r");
    if (!index)
        skip();
    char line[8192];
    int files = 0;
    while (fgets(line, sizeof line, index)) {
        char path[1024], *tab = strchr(line, '\t');
        if (strncmp(line, "ncu/", 4) != 0 || !tab || strstr(line, "failed-to-save") ||
            strstr(line, "derived-units"))
            continue;
        *tab = '\0';
        snprintf(path, sizeof path, SHARED "/foreign/%.200s", line);
        char *contents = tab + 1;
        for (int i = 0; i < 3; i++)
            contents = strchr(contents, '\t') + 1;
        contents[strcspn(contents, "\t\n")] = '\0';
        check_contents(path, contents);
        files++;
    }
    fclose(index);
    assert_int_equal(files, 10);
}

static void a_derived_table_has_a_profile_for_each_row(void **state)
{
    (void)state;
    if (access(SHARED "/foreign/ncu", R_OK) != 0)
        skip();
    struct run run;
    load(&run, SHARED "/foreign/ncu/derived-units-row.csv");
    assert_int_equal(run.profiles.count, 29);
    assert_int_equal(total_ns(&run), 1003530000);
    run_release(&run);
}

static void a_log_of_a_failure_is_refused_with_what_ncu_said(void **state)
{
    (void)state;
    if (access(SHARED "/foreign/ncu", R_OK) != 0)
        skip();
    struct run run;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(import_file(&run, SHARED "/foreign/ncu/failed-to-save.log", NULL, NULL, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.what, "Failed to save the report"));
    run_release(&run);
}

/* Six decimals are printed of a value that was scaled for its column, two of one without a unit. */
static void assert_close(enum metric metric, struct metric_value a, struct metric_value b)
{
    const struct metric_info *info = &metric_infos[metric];
    double error = fabs(a.value) * 1e-5 + (info->unit == IN_NUMBER ? 0.0051 : 1e-8);
    if (a.state != b.state)
        fail_msg("%s: states %d and %d", info->key, (int)a.state, (int)b.state);
    if (a.state == COUNTER_VALUE && fabs(a.value - b.value) > error)
        fail_msg("%s: %.12g and %.12g", info->key, a.value, b.value);
}

static void the_report_and_its_raw_page_say_the_same(void **state)
{
    (void)state;
    struct run report, page;
    struct metrics a, b;
    load(&report, SAMPLES "/ncu/transpose.ncu-repz");
    load(&page, SAMPLES "/ncu/transpose_raw.csv.gz");
    assert_int_equal(report.profiles.count, page.profiles.count);
    metrics_init(&a, &report);
    metrics_init(&b, &page);
    for (uint32_t i = 0; i < report.profiles.count; i++) {
        assert_string_equal(run_text(&report, report.profiles.at[i].name),
                            run_text(&page, page.profiles.at[i].name));
        assert_memory_equal(&report.shapes.at[report.profiles.at[i].shape],
                            &page.shapes.at[page.profiles.at[i].shape], sizeof(struct shape));
        for (int k = 0; k < METRIC_COUNT; k++)
            assert_close((enum metric)k, metric_get(&a, i, (enum metric)k),
                         metric_get(&b, i, (enum metric)k));
        double left[STALL_COUNT], right[STALL_COUNT];
        assert_int_equal(metric_stalls(&a, i, left), STALLS_COUNTED);
        metric_stalls(&b, i, right);
        for (int k = 0; k < STALL_COUNT; k++)
            assert_true(isnan(left[k]) ? isnan(right[k]) : fabs(left[k] - right[k]) < 1e-5);
    }
    assert_int_equal(report.devices.count, 1);
    assert_memory_equal(&report.devices.at[0].cc_major, &page.devices.at[0].cc_major,
                        offsetof(struct device, first_op) - offsetof(struct device, cc_major));
    metrics_release(&a);
    metrics_release(&b);
    run_release(&report);
    run_release(&page);
}

static void the_terminal_and_the_details_page_say_the_same(void **state)
{
    (void)state;
    struct run text, page;
    load(&text, SAMPLES "/ncu/transpose_details.txt.gz");
    load(&page, SAMPLES "/ncu/transpose_details.csv.gz");
    assert_int_equal(text.counters.count, page.counters.count);
    assert_int_equal(text.advices.count, page.advices.count);
    struct metrics m;
    metrics_init(&m, &page);
    for (size_t i = 0; i < text.counters.count; i++) {
        struct metric_value value =
            counter_get(&m, text.counters.profile[i], run_text(&text, text.counters.name[i]));
        assert_int_equal(value.state, text.counters.state[i]);
        double scale = strcmp(run_text(&text, text.counters.unit[i]), "%") == 0 ? 100 : 1;
        if (value.state == COUNTER_VALUE)
            assert_true(value.value * scale == text.counters.value[i] ||
                        fabs(value.value * scale - text.counters.value[i]) < 1e-9);
    }
    for (size_t i = 0; i < text.advices.count; i++) {
        assert_int_equal(text.advices.at[i].kind, page.advices.at[i].kind);
        assert_int_equal(text.advices.at[i].is_local_speedup, page.advices.at[i].is_local_speedup);
    }
    metrics_release(&m);
    run_release(&text);
    run_release(&page);
}

/* Sums over the instructions of a launch. */
static double sum_of_places(const struct run *run, uint32_t profile, enum place_metric metric)
{
    double sum = 0;
    for (size_t i = 0; i < run->place_counters.count; i++)
        if (run->place_counters.profile[i] == profile &&
            place_metric_of(run_text(run, run->place_counters.name[i])) == metric)
            sum += run->place_counters.value[i];
    return sum;
}

static void counters_of_instructions_add_up_to_those_of_the_launch(void **state)
{
    (void)state;
    struct run run;
    struct metrics m;
    load(&run, SAMPLES "/ncu/transpose.ncu-repz");
    metrics_init(&m, &run);
    for (uint32_t i = 0; i < run.profiles.count; i++) {
        assert_true(sum_of_places(&run, i, PLACE_INSTRUCTIONS) ==
                    metric_get(&m, i, METRIC_INSTRUCTIONS).value);
        assert_true(sum_of_places(&run, i, PLACE_GLOBAL_SECTORS) ==
                    metric_get(&m, i, METRIC_GLOBAL_SECTORS).value);
        assert_true(sum_of_places(&run, i, PLACE_SHARED_WAVEFRONTS) ==
                    metric_get(&m, i, METRIC_SHARED_WAVEFRONTS).value);
        assert_true(run.profiles.at[i].image != NONE);
    }
    metrics_release(&m);
    run_release(&run);
}

/* What the hardware must show of each planted defect, whatever the findings make of it. */
static void planted_defects_show_in_canonical_metrics(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        enum metric metric;
        double low, high;
    } signs[] = {
        {"saxpy", METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST, 3.9, 4.1},
        {"transpose_naive", METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST, 31.5, 32.5},
        {"transpose_naive", METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST, 3.9, 4.1},
        {"transpose_tile", METRIC_SHARED_CONFLICT, 0.9, 1},
        {"transpose_tile", METRIC_GLOBAL_SECTORS_EXCESS, 0, 0},
        {"transpose_padded", METRIC_SHARED_CONFLICT, 0, 0.1},
        {"transpose_padded", METRIC_SHARED_WAVEFRONTS_EXCESS, 0, 0},
        {"divergent", METRIC_THREADS_PER_INSTRUCTION, 1, 24},
        {"aos_field", METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST, 31.5, 32.5},
        {"register_spill", METRIC_SPILL_REQUESTS, 1, 1e12},
        {"register_spill", METRIC_LOCAL_LOAD_SECTORS, 1, 1e12},
        {"histogram_hot", METRIC_GLOBAL_ATOMIC_REQUESTS, 1, 1e12},
        {"fp64_literal", METRIC_PIPE_FP64, 0.05, 1},
        {"odd_block", METRIC_THREADS_PER_INSTRUCTION, 1, 24},
    };
    struct run run;
    struct metrics m;
    load(&run, SAMPLES "/ncu/teaching_raw.csv.gz");
    metrics_init(&m, &run);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        bool found = false;
        for (uint32_t p = 0; p < run.profiles.count; p++) {
            if (strncmp(run_text(&run, run.profiles.at[p].name), signs[i].kernel, strlen(signs[i].kernel)) !=
                0)
                continue;
            struct metric_value v = metric_get(&m, p, signs[i].metric);
            found = true;
            if (v.state != COUNTER_VALUE || v.value < signs[i].low || v.value > signs[i].high)
                fail_msg("%s: %s is %g (state %d)", signs[i].kernel, metric_infos[signs[i].metric].key,
                         v.value, (int)v.state);
        }
        assert_true(found);
    }
    metrics_release(&m);
    run_release(&run);
}

/* The source page prints the same counters of instructions as the report holds. */
static void the_source_page_and_the_report_agree_on_instructions(void **state)
{
    (void)state;
    struct run page, report;
    load(&page, SAMPLES "/ncu/transpose_source.csv.gz");
    load(&report, SAMPLES "/ncu/transpose.ncu-repz");
    static const enum place_metric same[] = {PLACE_SAMPLES, PLACE_INSTRUCTIONS, PLACE_THREAD_INSTRUCTIONS,
                                             PLACE_GLOBAL_SECTORS, PLACE_GLOBAL_TAG_REQUESTS};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        double sum = sum_of_places(&page, 0, same[i]);
        assert_true(sum > 0);
        assert_true(sum == sum_of_places(&report, 0, same[i]));
    }
    run_release(&page);
    run_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_others_hold_what_was_counted_in_them),
        cmocka_unit_test(a_derived_table_has_a_profile_for_each_row),
        cmocka_unit_test(a_log_of_a_failure_is_refused_with_what_ncu_said),
        cmocka_unit_test(the_report_and_its_raw_page_say_the_same),
        cmocka_unit_test(the_terminal_and_the_details_page_say_the_same),
        cmocka_unit_test(planted_defects_show_in_canonical_metrics),
        cmocka_unit_test(the_source_page_and_the_report_agree_on_instructions),
        cmocka_unit_test(counters_of_instructions_add_up_to_those_of_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
