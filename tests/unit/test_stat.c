/* stat_percentile(): exact, whatever the order and the repeats. */
#include "cmocka_all.h"

#include <stdlib.h>

#include "analyze/analyze.h"

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void nothing_has_no_percentile(void **state)
{
    (void)state;
    assert_true(stat_percentile(NULL, 0, 0.5) == UNKNOWN);
}

static void the_median_of_an_even_number_lies_halfway(void **state)
{
    (void)state;
    int64_t two[] = {10, 20}, four[] = {7, 1, 100, 4}, odd[] = {1, 2};
    assert_int_equal(stat_percentile(two, 2, 0.5), 15);
    assert_int_equal(stat_percentile(four, 4, 0.5), 6); /* 5.5 rounds up */
    assert_int_equal(stat_percentile(odd, 2, 0.5), 2);
}

static void percentiles_are_linear_between_ranks(void **state)
{
    (void)state;
    int64_t values[] = {40, 0, 10, 30, 20};
    assert_int_equal(stat_percentile(values, 5, 0.0), 0);
    assert_int_equal(stat_percentile(values, 5, 0.05), 2);
    assert_int_equal(stat_percentile(values, 5, 0.25), 10);
    assert_int_equal(stat_percentile(values, 5, 0.95), 38);
    assert_int_equal(stat_percentile(values, 5, 1.0), 40);
    assert_int_equal(stat_percentile(values, 5, 2.0), 40);
}

static void huge_values_do_not_overflow(void **state)
{
    (void)state;
    int64_t values[] = {INT64_MAX, INT64_MAX - 2, INT64_MIN + 2};
    assert_true(stat_percentile(values, 3, 0.5) == INT64_MAX - 2);
    int64_t apart[] = {INT64_MIN + 2, INT64_MAX};
    int64_t middle = stat_percentile(apart, 2, 0.5);
    assert_true(middle > -2000 && middle < 2000);
}

/* Few values are selected, many go through a histogram first. */
static void check_against_sorting(int n)
{
    int64_t *values = mem_alloc((size_t)n * sizeof *values), *sorted = mem_alloc((size_t)n * sizeof *sorted);
    uint32_t seed = 1;
    for (int kind = 0; kind < 8; kind++) {
        for (int i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            int64_t shapes[] = {(int64_t)(seed >> 8),
                                (int64_t)(seed >> 30),
                                i,
                                n - i,
                                i % 2 ? i : n - i,
                                i % 1000 ? (int64_t)(seed >> 20) : INT64_MAX - i, /* a long tail */
                                (int64_t)(seed >> 8) - (1 << 23),
                                42};
            values[i] = sorted[i] = shapes[kind];
        }
        qsort(sorted, (size_t)n, sizeof *sorted, ascending);
        for (int k = 0; k < n; k += n / 40)
            assert_int_equal(stat_percentile(values, (size_t)n, (double)k / (n - 1)), sorted[k]);
        int64_t middle = stat_percentile(values, (size_t)n, 0.5);
        assert_int_equal(middle, sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1] + 1) / 2);
    }
    free(values);
    free(sorted);
}

static void selection_agrees_with_sorting(void **state)
{
    (void)state;
    check_against_sorting(40);
    check_against_sorting(5000);
    check_against_sorting(20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_percentile),
        cmocka_unit_test(the_median_of_an_even_number_lies_halfway),
        cmocka_unit_test(percentiles_are_linear_between_ranks),
        cmocka_unit_test(huge_values_do_not_overflow),
        cmocka_unit_test(selection_agrees_with_sorting),
    };
    return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
