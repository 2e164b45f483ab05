#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct rows {
    struct sort_rows sort;
    uint32_t group[3000];
    int64_t time[3000];
    int64_t key[3000]; /* what swap() orders by, ascending */
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static bool higher_key_goes_after(const void *context, uint32_t a, uint32_t b)
{
    const struct rows *rows = context;
    return rows->key[b] < rows->key[a];
}

static bool in_place(const struct rows *rows, uint32_t a, uint32_t b)
{
    if (rows->sort.group && rows->group[a] != rows->group[b])
        return rows->group[a] < rows->group[b];
    if (rows->time[a] != rows->time[b])
        return rows->time[a] < rows->time[b];
    if (rows->sort.swap && rows->key[a] != rows->key[b])
        return rows->key[a] < rows->key[b];
    return a < b; /* stable */
}

/* order must hold every row once, in order; NULL means as they are. */
static void assert_sorted(const struct rows *rows, const uint32_t *order)
{
    char *seen = mem_zalloc(rows->sort.count + 1, 1);
    for (uint32_t i = 0; i < rows->sort.count; i++) {
        uint32_t row = order ? order[i] : i;
        assert_true(row < rows->sort.count && !seen[row]);
        seen[row] = 1;
        if (i > 0)
            assert_true(in_place(rows, order ? order[i - 1] : i - 1, row));
    }
    free(seen);
}

static struct rows *make_rows(size_t count, uint32_t groups, uint64_t spread, uint64_t seed)
{
    struct rows *rows = mem_zalloc(1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        rows->group[i] = (uint32_t)(next_random(&seed) % (groups ? groups : 1));
        rows->time[i] = (int64_t)(spread ? (next_random(&seed) << 33 | next_random(&seed) << 2) % spread : 0);
        rows->key[i] = (int64_t)(next_random(&seed) % 3);
    }
    rows->sort = (struct sort_rows){.count = count, .groups = groups, .time = rows->time, .context = rows};
    rows->sort.group = groups ? rows->group : NULL;
    return rows;
}

static void rows_come_out_by_group_then_time_then_swap_and_stable(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 100, 3000};
    static const uint64_t spreads[] = {0, 1, 5, 3000, 1u << 22, UINT64_C(1) << 44, UINT64_C(1) << 62};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
            for (uint32_t groups = 0; groups < 20; groups = groups * 2 + 1) {
                for (int swap = 0; swap < 2; swap++) {
                    struct rows *rows = make_rows(counts[c], groups, spreads[s], c * 100 + s * 10 + groups);
                    rows->sort.swap = swap ? higher_key_goes_after : NULL;
                    uint32_t *order = sort_order(&rows->sort);
                    assert_sorted(rows, order);
                    free(order);
                    free(rows);
                }
            }
        }
    }
}

static void rows_in_order_need_no_new_order(void **state)
{
    (void)state;
    struct rows *rows = make_rows(1000, 0, 0, 1);
    assert_null(sort_order(&rows->sort)); /* all equal */
    for (int i = 0; i < 1000; i++)
        rows->time[i] = i / 3;
    assert_null(sort_order(&rows->sort));
    rows->time[999] = -1;
    uint32_t *order = sort_order(&rows->sort);
    assert_non_null(order);
    assert_int_equal(order[0], 999);
    free(order);
    free(rows);
}

static void the_extremes_of_time_are_in_order(void **state)
{
    (void)state;
    struct rows *rows = make_rows(5, 0, 0, 1);
    static const int64_t times[] = {INT64_MAX, 0, INT64_MIN, -1, 1};
    memcpy(rows->time, times, sizeof times);
    uint32_t *order = sort_order(&rows->sort);
    static const uint32_t wanted[] = {2, 3, 1, 4, 0};
    assert_memory_equal(order, wanted, sizeof wanted);
    free(order);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_out_by_group_then_time_then_swap_and_stable),
        cmocka_unit_test(rows_in_order_need_no_new_order),
        cmocka_unit_test(the_extremes_of_time_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
