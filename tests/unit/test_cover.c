/* struct cover: the union of intervals, and how much of it lies between two moments. */
#include "cmocka_all.h"

#include "analyze/cover.h"

static void touching_and_overlapping_intervals_are_one(void **state)
{
    (void)state;
    struct cover cover = {0};
    cover_add(&cover, 0, 10);
    cover_add(&cover, 5, 8);
    cover_add(&cover, 10, 12);
    cover_add(&cover, 12, 12);
    cover_add(&cover, 20, 30);
    assert_int_equal(cover.pieces.count, 2);
    assert_int_equal(cover_between(&cover, -5, 100), 22);
    assert_int_equal(cover_between(&cover, 11, 25), 6);
    assert_int_equal(cover_between(&cover, 13, 19), 0);
    assert_int_equal(cover_between(&cover, 25, 5), 0);
    cover_release(&cover);
}

static void an_empty_cover_covers_nothing(void **state)
{
    (void)state;
    struct cover cover = {0};
    assert_int_equal(cover_between(&cover, 0, 100), 0);
    cover_release(&cover);
}

static void every_window_of_a_long_cover_is_counted_exactly(void **state)
{
    (void)state;
    enum { N = 400 };
    struct cover cover = {0};
    uint8_t covered[N * 10 + 50] = {0};
    uint32_t seed = 3;
    for (int64_t i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t start = i * 10, end = start + (seed >> 20) % 23;
        cover_add(&cover, start, end);
        for (int64_t t = start; t < end; t++)
            covered[t] = 1;
    }
    for (int64_t from = 0; from < N * 10; from += 61) {
        int64_t expected = 0;
        for (int64_t to = from; to < N * 10; to++) {
            assert_int_equal(cover_between(&cover, from, to), expected);
            expected += covered[to];
        }
    }
    cover_release(&cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touching_and_overlapping_intervals_are_one),
        cmocka_unit_test(an_empty_cover_covers_nothing),
        cmocka_unit_test(every_window_of_a_long_cover_is_counted_exactly),
    };
    return cmocka_run_group_tests_name("cover", tests, NULL, NULL);
}
