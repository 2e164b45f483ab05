/* Lanes: what is drawn in one row never overlaps, and no more rows are used than are needed. */
#include "cmocka_all.h"

#include <stdlib.h>

#include "export/lanes.h"

static void slices_that_do_not_overlap_share_the_first_lane(void **state)
{
    (void)state;
    struct lanes lanes = {0};
    assert_int_equal(lanes_place(&lanes, 0, 10), 0);
    assert_int_equal(lanes_place(&lanes, 10, 20), 0);
    assert_int_equal(lanes_place(&lanes, 20, 20), 0);
    assert_int_equal(lanes_place(&lanes, 20, 30), 0);
    assert_int_equal(lanes.count, 1);
    lanes_release(&lanes);
}

static void an_overlap_goes_to_the_lowest_free_lane(void **state)
{
    (void)state;
    struct lanes lanes = {0};
    assert_int_equal(lanes_place(&lanes, 0, 100), 0);
    assert_int_equal(lanes_place(&lanes, 1, 10), 1);
    assert_int_equal(lanes_place(&lanes, 2, 50), 2);
    assert_int_equal(lanes_place(&lanes, 11, 12), 1);
    assert_int_equal(lanes_place(&lanes, 60, 70), 1);
    assert_int_equal(lanes_place(&lanes, 65, 70), 2);
    assert_int_equal(lanes_place(&lanes, 100, 101), 0);
    lanes_release(&lanes);
}

/* Random slices against the definition: at most as many lanes as slices are ever open at once, none shared.
 */
static void lanes_are_as_many_as_slices_overlap_and_none_holds_two_at_once(void **state)
{
    (void)state;
    enum { SLICES = 3000, LANES = 64 };
    int64_t ends[LANES] = {0}, all_ends[SLICES], start = 0;
    struct lanes lanes = {0};
    uint64_t seed = 7;
    uint32_t most_open = 0;
    for (int i = 0; i < SLICES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        start += (int64_t)(seed >> 60);
        all_ends[i] = start + 1 + (int64_t)(seed >> 40 & 127);
        uint32_t open = 0;
        for (int j = 0; j <= i; j++)
            open += all_ends[j] > start;
        most_open = open > most_open ? open : most_open;
        uint32_t lane = lanes_place(&lanes, start, all_ends[i]);
        assert_in_range(lane, 0, LANES - 1);
        assert_true(ends[lane] <= start);
        for (uint32_t lower = 0; lower < lane; lower++)
            assert_true(ends[lower] > start);
        ends[lane] = all_ends[i];
    }
    assert_int_equal(lanes.count, most_open);
    lanes_release(&lanes);
}

static void nested_slices_stack_in_lane_0_and_what_sticks_out_lies_beside(void **state)
{
    (void)state;
    struct nest nest = {0};
    int64_t end;
    assert_false(nest_close(&nest, 0, &end));
    assert_int_equal(nest_place(&nest, 0, 100), 0);
    assert_int_equal(nest_place(&nest, 0, 100), 0);
    assert_int_equal(nest_place(&nest, 10, 50), 0);
    assert_false(nest_close(&nest, 40, &end));
    assert_int_equal(nest_place(&nest, 40, 60), 1);
    assert_int_equal(nest_place(&nest, 45, 70), 2);
    assert_int_equal(nest_place(&nest, 46, 50), 0);
    assert_true(nest_close(&nest, 65, &end) && end == 50);
    assert_true(nest_close(&nest, 65, &end) && end == 50);
    assert_false(nest_close(&nest, 65, &end));
    assert_int_equal(nest_place(&nest, 65, 101), 1);
    assert_true(nest_close(&nest, INT64_MAX, &end) && end == 100);
    assert_true(nest_close(&nest, INT64_MAX, &end) && end == 100);
    assert_false(nest_close(&nest, INT64_MAX, &end));
    nest_release(&nest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_that_do_not_overlap_share_the_first_lane),
        cmocka_unit_test(an_overlap_goes_to_the_lowest_free_lane),
        cmocka_unit_test(lanes_are_as_many_as_slices_overlap_and_none_holds_two_at_once),
        cmocka_unit_test(nested_slices_stack_in_lane_0_and_what_sticks_out_lies_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
