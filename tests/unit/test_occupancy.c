/* occupancy_of(): the values that cuda_occupancy.h of CUDA 13.0 computes. */
#include "cmocka_all.h"

#include <math.h>

#include "analyze/analyze.h"
#include "analyze/occupancy.h"

static const int32_t capabilities[][2] = {{5, 2}, {6, 0}, {7, 0},  {7, 5},  {8, 0}, {8, 6},
                                          {8, 9}, {9, 0}, {10, 0}, {11, 0}, {12, 0}};

enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

struct golden {
    uint32_t block, regs, fixed, dynamic;
    int32_t blocks[CAPABILITIES];
    double percent[CAPABILITIES];
};

static const struct golden golden[] = {
    {256,
     32,
     0,
     0,
     {8, 8, 8, 4, 8, 6, 6, 8, 8, 6, 6},
     {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}},
    {256, 40, 0, 0, {6, 6, 6, 4, 6, 6, 6, 6, 6, 6, 6}, {75, 75, 75, 100, 75, 100, 100, 75, 75, 100, 100}},
    {256,
     64,
     0,
     0,
     {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
     {50, 50, 50, 100, 50, 66.67, 66.67, 50, 50, 66.67, 66.67}},
    {128,
     72,
     0,
     0,
     {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
     {43.75, 43.75, 43.75, 87.5, 43.75, 58.33, 58.33, 43.75, 43.75, 58.33, 58.33}},
    {1024,
     32,
     0,
     0,
     {2, 2, 2, 1, 2, 1, 1, 2, 2, 1, 1},
     {100, 100, 100, 100, 100, 66.67, 66.67, 100, 100, 66.67, 66.67}},
    {1024,
     64,
     0,
     0,
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     {50, 50, 50, 100, 50, 66.67, 66.67, 50, 50, 66.67, 66.67}},
    {1024, 65, 0, 0, {0}, {0}},
    {512,
     54,
     0,
     29820,
     {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
     {50, 50, 50, 100, 50, 66.67, 66.67, 50, 50, 66.67, 66.67}},
    {128,
     80,
     43780,
     0,
     {2, 1, 2, 1, 3, 2, 2, 5, 5, 5, 2},
     {12.5, 6.25, 12.5, 12.5, 18.75, 16.67, 16.67, 31.25, 31.25, 41.67, 16.67}},
    {96,
     168,
     0,
     0,
     {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
     {18.75, 18.75, 18.75, 37.5, 18.75, 25, 25, 18.75, 18.75, 25, 25}},
    {32,
     24,
     0,
     0,
     {32, 32, 32, 16, 32, 16, 24, 32, 32, 24, 24},
     {50, 50, 50, 50, 50, 33.33, 50, 50, 50, 50, 50}},
    {32,
     255,
     0,
     0,
     {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
     {12.5, 12.5, 12.5, 25, 12.5, 16.67, 16.67, 12.5, 12.5, 16.67, 16.67}},
    {256,
     128,
     0,
     49152,
     {2, 1, 2, 1, 2, 2, 2, 2, 2, 2, 2},
     {25, 12.5, 25, 25, 25, 33.33, 33.33, 25, 25, 33.33, 33.33}},
    {128,
     64,
     0,
     65536,
     {0, 0, 1, 1, 2, 1, 1, 3, 3, 3, 1},
     {0, 0, 6.25, 12.5, 12.5, 8.33, 8.33, 18.75, 18.75, 25, 8.33}},
    {64,
     40,
     4096,
     0,
     {24, 16, 24, 16, 24, 16, 20, 24, 24, 24, 20},
     {75, 50, 75, 100, 75, 66.67, 83.33, 75, 75, 100, 83.33}},
    {192,
     37,
     12288,
     0,
     {8, 5, 8, 5, 8, 7, 7, 8, 8, 8, 7},
     {75, 46.88, 75, 93.75, 75, 87.5, 87.5, 75, 75, 100, 87.5}},
    {544,
     24,
     0,
     0,
     {3, 3, 3, 1, 3, 2, 2, 3, 3, 2, 2},
     {79.69, 79.69, 79.69, 53.12, 79.69, 70.83, 70.83, 79.69, 79.69, 70.83, 70.83}},
    {256, 20, 33024, 0, {2, 1, 2, 1, 4, 3, 3, 6, 6, 6, 3}, {25, 12.5, 25, 25, 50, 50, 50, 75, 75, 100, 50}},
};

static void expect(int32_t major, int32_t minor, const struct shape *shape, int32_t blocks, double percent)
{
    struct device device = {.vendor = VENDOR_NVIDIA, .cc_major = major, .cc_minor = minor};
    int32_t found = -1;
    double ratio = occupancy_of(&device, shape, &found);
    if (found != blocks || !(fabs(ratio * 100 - percent) < 0.0051))
        fail_msg("%d.%d, block %u, %u registers: %d blocks, %.4f %%; expected %d, %.2f %%", major, minor,
                 shape->block[0], shape->regs_per_thread, found, ratio * 100, blocks, percent);
}

static struct shape shape_of(uint32_t block, uint32_t regs, uint32_t fixed, uint32_t dynamic)
{
    return (struct shape){.grid = {1, 1, 1},
                          .block = {block, 1, 1},
                          .regs_per_thread = regs,
                          .shared_static_bytes = fixed,
                          .shared_dynamic_bytes = dynamic};
}

static void all_golden_values_are_met(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
        struct shape shape = shape_of(golden[g].block, golden[g].regs, golden[g].fixed, golden[g].dynamic);
        for (size_t c = 0; c < CAPABILITIES; c++)
            expect(capabilities[c][0], capabilities[c][1], &shape, golden[g].blocks[c], golden[g].percent[c]);
    }
}

static void relatives_equal_their_models(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
        struct shape shape = shape_of(golden[g].block, golden[g].regs, golden[g].fixed, golden[g].dynamic);
        expect(6, 1, &shape, golden[g].blocks[0], golden[g].percent[0]);
        expect(8, 8, &shape, golden[g].blocks[5], golden[g].percent[5]);
        expect(10, 3, &shape, golden[g].blocks[8], golden[g].percent[8]);
        expect(10, 1, &shape, golden[g].blocks[9], golden[g].percent[9]);
        expect(12, 1, &shape, golden[g].blocks[10], golden[g].percent[10]);
    }
}

static void small_chips_differ_where_the_header_says(void **state)
{
    (void)state;
    struct shape shape = shape_of(1024, 64, 0, 0);
    expect(5, 3, &shape, 0, 0);
    expect(6, 2, &shape, 0, 0);
    shape = shape_of(256, 32, 0, 0);
    expect(8, 7, &shape, 6, 100);
    shape = shape_of(64, 40, 4096, 0);
    expect(8, 7, &shape, 16, 66.67);
    shape = shape_of(256, 20, 33024, 0);
    expect(8, 7, &shape, 4, 66.67);
}

static void the_axes_of_a_block_multiply(void **state)
{
    (void)state;
    struct shape shape = shape_of(16, 40, 0, 0);
    shape.block[1] = 8;
    shape.block[2] = 2;
    expect(9, 0, &shape, 6, 75);
}

static void what_the_recording_says_goes_before_the_table(void **state)
{
    (void)state;
    struct device device = {.cc_major = 9, .max_threads_per_sm = 1024, .regs_per_sm = 65536};
    struct shape shape = shape_of(256, 32, 0, 0);
    int32_t blocks;
    assert_true(fabs(occupancy_of(&device, &shape, &blocks) - 1.0) < 1e-12);
    assert_int_equal(blocks, 4);
    device.max_blocks_per_sm = 2;
    assert_true(fabs(occupancy_of(&device, &shape, &blocks) - 0.5) < 1e-12);
    assert_int_equal(blocks, 2);
}

static void a_chip_of_the_future_needs_all_its_limits(void **state)
{
    (void)state;
    struct device device = {.cc_major = 15, .max_threads_per_sm = 2048, .regs_per_sm = 65536};
    struct shape shape = shape_of(256, 32, 0, 0);
    int32_t blocks = -1;
    assert_true(isnan(occupancy_of(&device, &shape, &blocks)));
    assert_int_equal(blocks, 0);
    device.max_blocks_per_sm = 32;
    device.shared_bytes_per_sm = 228 * 1024;
    device.shared_bytes_per_block_optin = 227 * 1024;
    assert_true(fabs(occupancy_of(&device, &shape, &blocks) - 1.0) < 1e-12);
    assert_int_equal(blocks, 8);
}

static void what_is_unknown_is_not_a_number(void **state)
{
    (void)state;
    struct device nvidia = {.cc_major = 9}, amd = {.vendor = VENDOR_AMD, .cc_major = 9, .warp_size = 64},
                  nothing = {0};
    struct shape shape = shape_of(256, 32, 0, 0), no_block = shape_of(0, 32, 0, 0),
                 no_regs = shape_of(256, 0, 0, 0);
    int32_t blocks = -1;
    assert_true(isnan(occupancy_of(&amd, &shape, &blocks)));
    assert_int_equal(blocks, 0);
    assert_true(isnan(occupancy_of(&nothing, &shape, &blocks)));
    assert_true(isnan(occupancy_of(&nvidia, &no_block, &blocks)));
    assert_true(isnan(occupancy_of(&nvidia, &no_regs, &blocks)));
}

static void absurd_launches_do_not_fit(void **state)
{
    (void)state;
    struct device device = {.cc_major = 9};
    struct shape shape = shape_of(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    shape.block[1] = shape.block[2] = UINT32_MAX;
    int32_t blocks = -1;
    assert_true(occupancy_of(&device, &shape, &blocks) == 0);
    assert_int_equal(blocks, 0);
    shape = shape_of(256, 256, 0, 0);
    assert_true(occupancy_of(&device, &shape, &blocks) == 0);
}

/* ---- what would change it ------------------------------------------------------------------------------ */

static void every_limiter_that_equals_the_least_is_named(void **state)
{
    (void)state;
    struct device device = occupancy_device(86);
    struct occupancy o;
    assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){256, 40, 0, 0}));
    assert_int_equal(o.blocks, 6);
    assert_int_equal(o.limiters, 1 << LIMIT_WARPS | 1 << LIMIT_REGISTERS);
    assert_int_equal(o.blocks_by[LIMIT_SHARED], 100); /* what is reserved for each block, alone */
    assert_true(o.blocks_by[LIMIT_BARRIERS] == INT64_MAX);
}

static void barriers_limit_from_9_0_on(void **state)
{
    (void)state;
    static const struct {
        int32_t cc;
        int64_t barriers, blocks;
    } cases[] = {{90, 2, 32},  {90, 4, 16},  {90, 16, 4},  {100, 3, 21},
                 {120, 1, 24}, {120, 2, 12}, {110, 16, 1}, {89, 16, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct device device = occupancy_device(cases[i].cc);
        struct occupancy o;
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){32, 16, 0, cases[i].barriers}));
        assert_int_equal(o.blocks, cases[i].blocks);
    }
}

static void refuse_case(int32_t cc, struct occupancy_launch launch, enum occupancy_refusal refusal)
{
    struct device device = occupancy_device(cc);
    struct occupancy o;
    assert_true(occupancy_find(&o, &device, &launch));
    assert_int_equal(o.refusal, refusal);
    assert_int_equal(o.blocks == 0, refusal != REFUSAL_NONE);
    assert_int_equal(occupancy_refusal_text(refusal) == NULL, refusal == REFUSAL_NONE);
}

static void a_launch_that_cannot_be_says_why(void **state)
{
    (void)state;
    refuse_case(90, (struct occupancy_launch){1024, 64, 232448, 0}, REFUSAL_NONE);
    refuse_case(90, (struct occupancy_launch){1025, 16, 0, 0}, REFUSAL_THREADS);
    refuse_case(90, (struct occupancy_launch){32, 256, 0, 0}, REFUSAL_REGISTERS);
    refuse_case(90, (struct occupancy_launch){1024, 65, 0, 0}, REFUSAL_BLOCK_REGISTERS);
    refuse_case(90, (struct occupancy_launch){32, 16, 232449, 0}, REFUSAL_SHARED);
    refuse_case(90, (struct occupancy_launch){32, 16, 0, 65}, REFUSAL_BARRIERS);
}

/* The next step is exact: with it one more block fits, with one unit more it does not. */
static void the_next_step_is_the_smallest_that_lets_a_block_in(void **state)
{
    (void)state;
    static const struct occupancy_launch launches[] = {{256, 40, 8192, 0}, {128, 72, 0, 0},
                                                       {64, 40, 40000, 1}, {192, 37, 12288, 0},
                                                       {96, 168, 0, 4},    {256, 64, 57344, 0}};
    int count, steps = 0;
    const int32_t *all = occupancy_capabilities(&count);
    for (int c = 0; c < count; c++) {
        for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
            struct device device = occupancy_device(all[c]);
            struct occupancy_next next;
            struct occupancy now, less;
            assert_true(occupancy_find(&now, &device, &launches[i]));
            occupancy_next(&next, &device, &launches[i]);
            if (!next.possible)
                continue;
            steps++;
            assert_true(next.then.blocks > now.blocks);
            struct occupancy_launch almost = next.launch;
            almost.registers += next.registers;
            assert_true(occupancy_find(&less, &device, &almost));
            assert_true(!next.registers || less.blocks == now.blocks);
            almost = next.launch;
            almost.shared_bytes += next.shared;
            assert_true(occupancy_find(&less, &device, &almost));
            assert_true(!next.shared || less.blocks == now.blocks);
        }
    }
    assert_true(steps > 20);
}

static void nothing_is_advised_where_the_sm_is_full(void **state)
{
    (void)state;
    struct device device = occupancy_device(90);
    struct occupancy_next next;
    occupancy_next(&next, &device, &(struct occupancy_launch){256, 32, 0, 0});
    assert_false(next.possible);
    occupancy_next(&next, &device, &(struct occupancy_launch){32, 16, 0, 0}); /* at the limit of blocks */
    assert_false(next.possible);
}

static void curves_agree_with_single_launches(void **state)
{
    (void)state;
    struct occupancy_launch launch = {256, 40, 8192, 0};
    struct occupancy_report report;
    struct device device = occupancy_device(90);
    struct occupancy o;
    assert_true(occupancy_build(&report, 90, &launch));
    assert_int_equal(report.by_block.count, 32);
    vec_each (&report.by_block, step) {
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){step->most, 40, 8192, 0}));
        assert_int_equal(o.blocks, step->blocks);
    }
    vec_each (&report.by_registers, step) {
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){256, step->most, 8192, 0}));
        assert_int_equal(o.blocks, step->blocks);
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){256, step->most + 1, 8192, 0}));
        assert_true(o.blocks < step->blocks);
    }
    vec_each (&report.by_shared, step) {
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){256, 40, step->most, 0}));
        assert_int_equal(o.blocks, step->blocks);
        assert_true(occupancy_find(&o, &device, &(struct occupancy_launch){256, 40, step->most + 1, 0}));
        assert_true(o.blocks < step->blocks);
    }
    assert_true(report.by_registers.count == 7 && report.by_shared.count == 6);
    assert_int_equal(report.free_registers, 40);
    assert_int_equal(report.better_block, 0);
    occupancy_release(&report);
    assert_true(occupancy_build(&report, 90, &(struct occupancy_launch){1024, 40, 0, 0}));
    assert_int_equal(report.better_block, 768);
    assert_int_equal(report.free_registers, 64);
    occupancy_release(&report);
    assert_false(occupancy_build(&report, 130, &launch));
    occupancy_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_golden_values_are_met),
        cmocka_unit_test(relatives_equal_their_models),
        cmocka_unit_test(small_chips_differ_where_the_header_says),
        cmocka_unit_test(the_axes_of_a_block_multiply),
        cmocka_unit_test(what_the_recording_says_goes_before_the_table),
        cmocka_unit_test(a_chip_of_the_future_needs_all_its_limits),
        cmocka_unit_test(what_is_unknown_is_not_a_number),
        cmocka_unit_test(absurd_launches_do_not_fit),
        cmocka_unit_test(every_limiter_that_equals_the_least_is_named),
        cmocka_unit_test(barriers_limit_from_9_0_on),
        cmocka_unit_test(a_launch_that_cannot_be_says_why),
        cmocka_unit_test(the_next_step_is_the_smallest_that_lets_a_block_in),
        cmocka_unit_test(nothing_is_advised_where_the_sm_is_full),
        cmocka_unit_test(curves_agree_with_single_launches),
    };
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
