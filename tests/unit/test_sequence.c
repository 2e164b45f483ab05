/* Finding the repeated unit in sequences whose unit is known. */
#include "cmocka_all.h"

#include "analyze/rhythm.h"
#include "analyze/sequence.h"

struct made {
    size_t count, cap;
    uint32_t *symbol, *ops;
    int64_t *busy_ns, *gap_ns, *wait_ns;
    uint32_t symbols;
    uint64_t random;
    struct sequence_steps steps;
};

enum { WAIT = 0, USUAL_GAP = -1 };

static uint32_t next_random(struct made *m)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->random >> 33);
}

static void add(struct made *m, uint32_t symbol, uint32_t ops, int64_t gap)
{
    if (m->count == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 1024;
        m->symbol = mem_resize(m->symbol, m->cap, sizeof *m->symbol);
        m->ops = mem_resize(m->ops, m->cap, sizeof *m->ops);
        m->busy_ns = mem_resize(m->busy_ns, m->cap, sizeof *m->busy_ns);
        m->gap_ns = mem_resize(m->gap_ns, m->cap, sizeof *m->gap_ns);
        m->wait_ns = mem_resize(m->wait_ns, m->cap, sizeof *m->wait_ns);
    }
    size_t i = m->count++;
    m->symbol[i] = symbol;
    m->ops[i] = symbol == WAIT ? 0 : ops;
    m->busy_ns[i] = symbol == WAIT ? 0 : 10000;
    m->gap_ns[i] = gap == USUAL_GAP ? 5000 + next_random(m) % 3000 : gap;
    m->wait_ns[i] = 0;
    m->symbols = symbol >= m->symbols ? symbol + 1 : m->symbols;
}

/* count launches of symbols first, first + 1, … */
static void add_run(struct made *m, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add(m, first + i, 1, USUAL_GAP);
}

static size_t find(struct made *m)
{
    struct sequence sequence = {.count = m->count,
                                .symbols = m->symbols,
                                .symbol = m->symbol,
                                .ops = m->ops,
                                .busy_ns = m->busy_ns,
                                .gap_ns = m->gap_ns,
                                .wait_ns = m->wait_ns};
    sequence_find(&sequence, &m->steps);
    for (size_t i = 1; i < m->steps.cuts.count; i++)
        assert_true(m->steps.cuts.at[i - 1] < m->steps.cuts.at[i]);
    if (m->steps.cuts.count)
        assert_true(m->steps.cuts.at[m->steps.cuts.count - 1] <= m->count);
    return m->steps.cuts.count ? m->steps.cuts.count - 1 : 0;
}

static void release(struct made *m)
{
    free(m->symbol);
    free(m->ops);
    free(m->busy_ns);
    free(m->gap_ns);
    free(m->wait_ns);
    vec_release(&m->steps.cuts);
    *m = (struct made){0};
}

/* ---- plain loops --------------------------------------------------------------------------------------- */

static void a_plain_loop_is_found_whole(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 20; i++)
        add_run(&m, 1, 30);
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.period, 30);
    assert_int_equal(m.steps.cuts.at[0], 0);
    assert_int_equal(m.steps.cuts.at[20], 600);
    assert_true(m.steps.quality > 0.99);
    release(&m);
}

static void three_turns_are_enough_and_two_are_not(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 3; i++)
        add_run(&m, 1, 30);
    assert_int_equal(find(&m), 3);
    release(&m);
    for (int i = 0; i < 2; i++)
        add_run(&m, 1, 30);
    assert_int_equal(find(&m), 0);
    release(&m);
}

static void warm_up_and_tail_are_left_out(void **state)
{
    (void)state;
    struct made m = {0};
    add_run(&m, 100, 57);
    for (int i = 0; i < 20; i++) {
        add_run(&m, 1, 30);
        m.gap_ns[m.count - 30] = 90000;
    }
    add_run(&m, 200, 33);
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.cuts.at[0], 57);
    assert_int_equal(m.steps.cuts.at[20], 657);
    release(&m);
}

static void a_step_is_cut_where_the_host_pauses_longest(void **state)
{
    (void)state;
    struct made m = {0};
    add_run(&m, 12, 19); /* the recording begins inside a step */
    for (int i = 0; i < 20; i++) {
        add_run(&m, 1, 30);
        m.gap_ns[m.count - 30] = 40000;
    }
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.cuts.at[0], 19);
    release(&m);
    for (int i = 0; i < 20; i++) {
        add_run(&m, 1, 30);
        m.wait_ns[m.count - 10] = 40000; /* not a pause, but a wait for the device */
    }
    assert_int_equal(find(&m), 19);
    assert_int_equal(m.steps.cuts.at[0], 20);
    release(&m);
}

/* ---- nested loops -------------------------------------------------------------------------------------- */

static void layers_within_a_step_are_not_steps(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 20; i++) {
        for (int layer = 0; layer < 24; layer++)
            add_run(&m, 1, 6);
        for (int layer = 0; layer < 24; layer++)
            add_run(&m, 10, 7);
        add_run(&m, 20, 10);
    }
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.period, 24 * 13 + 10);
    release(&m);
    for (int i = 0; i < 20; i++) { /* decoding: one kind of layer, little besides */
        add_run(&m, 30, 4);
        for (int layer = 0; layer < 32; layer++)
            add_run(&m, 1, 12);
        add_run(&m, 50, 6);
    }
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.period, 32 * 12 + 10);
    release(&m);
}

static void micro_batches_are_not_steps(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 10; i++) {
        for (int micro = 0; micro < 4; micro++)
            add_run(&m, 1, 50);
        add_run(&m, 100, 12);
    }
    assert_int_equal(find(&m), 10);
    assert_int_equal(m.steps.period, 212);
    release(&m);
    for (int i = 0; i < 10; i++) { /* a fused optimizer: few launches among many */
        for (int micro = 0; micro < 4; micro++)
            add_run(&m, 1, 500);
        add_run(&m, 1000, 12);
    }
    assert_int_equal(find(&m), 10);
    assert_int_equal(m.steps.period, 2012);
    release(&m);
}

static void validation_now_and_then_does_not_make_longer_steps(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 40; i++) { /* forward and backward; every tenth step three forward passes more */
        add_run(&m, 1, 30);
        add_run(&m, 31, 30);
        for (int k = 0; i % 10 == 9 && k < 3; k++)
            add_run(&m, 1, 30);
    }
    assert_int_equal(find(&m), 40);
    assert_int_equal(m.steps.period, 60);
    release(&m);
    for (int i = 0; i < 40; i++) { /* kernels of its own, but every step begins after a pause */
        add_run(&m, 1, 12);
        m.gap_ns[m.count - 12] = 100000;
        if (i % 10 == 9)
            add_run(&m, 100, 5);
    }
    assert_int_equal(find(&m), 40);
    release(&m);
}

static void a_log_line_every_tenth_step_does_not_make_longer_steps(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 100; i++) {
        add_run(&m, 1, 120);
        if (i % 10 == 9)
            add_run(&m, 500, 2);
    }
    assert_int_equal(find(&m), 100);
    assert_int_equal(m.steps.period, 120);
    release(&m);
}

/* ---- irregular loops ----------------------------------------------------------------------------------- */

static void steps_may_vary(void **state)
{
    (void)state;
    struct made m = {.random = 1};
    for (int i = 0; i < 50; i++) {
        add_run(&m, 1, 20);
        for (uint32_t k = next_random(&m) % 4; k < 4; k++)
            add_run(&m, 60, 3);
        add_run(&m, 30, 20);
    }
    assert_in_range(find(&m), 49, 50);
    release(&m);
    for (int i = 0; i < 50; i++) /* launches left out and others put in at random */
        for (uint32_t k = 1; k < 80; k++) {
            if (next_random(&m) % 20 == 0)
                add(&m, 200 + next_random(&m) % 5, 1, USUAL_GAP);
            if (next_random(&m) % 30 != 0)
                add(&m, k, 1, USUAL_GAP);
        }
    assert_in_range(find(&m), 45, 50);
    release(&m);
}

static void a_long_pass_of_other_work_is_one_irregular_step(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 30; i++) {
        add_run(&m, 1, 40);
        if (i == 14)
            add_run(&m, 100, 500);
    }
    assert_int_equal(find(&m), 30);
    size_t longest = 0;
    for (size_t i = 0; i < 30; i++) {
        size_t length = m.steps.cuts.at[i + 1] - m.steps.cuts.at[i];
        longest = length > longest ? length : longest;
    }
    assert_int_equal(longest, 540);
    release(&m);
}

/* ---- no loops ------------------------------------------------------------------------------------------ */

static void random_launches_have_no_steps(void **state)
{
    (void)state;
    static const uint32_t alphabets[] = {2, 3, 10, 50};
    for (size_t a = 0; a < sizeof alphabets / sizeof *alphabets; a++) {
        struct made m = {.random = a + 1};
        for (int i = 0; i < 100000; i++)
            add(&m, 1 + next_random(&m) % alphabets[a], 1, USUAL_GAP);
        assert_int_equal(find(&m), 0);
        release(&m);
    }
}

static void launches_that_never_repeat_have_no_steps(void **state)
{
    (void)state;
    struct made m = {0};
    for (uint32_t i = 0; i < 100000; i++)
        add(&m, 1 + i, 1, USUAL_GAP);
    assert_int_equal(find(&m), 0);
    release(&m);
}

static void next_to_nothing_has_no_steps(void **state)
{
    (void)state;
    struct made m = {0};
    assert_int_equal(find(&m), 0);
    add(&m, WAIT, 0, USUAL_GAP);
    assert_int_equal(find(&m), 0);
    add(&m, 1, 1, USUAL_GAP);
    assert_int_equal(find(&m), 0);
    release(&m);
    for (int i = 0; i < 100; i++)
        add(&m, WAIT, 0, USUAL_GAP);
    assert_int_equal(find(&m), 0);
    release(&m);
}

/* ---- identical launches -------------------------------------------------------------------------------- */

static void identical_launches_are_no_steps(void **state)
{
    (void)state;
    struct made m = {.random = 3};
    for (int i = 0; i < 10000; i++)
        add(&m, 1, 1, USUAL_GAP);
    assert_int_equal(find(&m), 0);
    release(&m);
    for (int i = 0; i < 10000; i++)
        add(&m, 1, 1, 7000);
    assert_int_equal(find(&m), 0);
    release(&m);
}

static void waits_make_steps_of_identical_launches(void **state)
{
    (void)state;
    struct made m = {0};
    for (int i = 0; i < 10000; i++) {
        add(&m, 1, 1, USUAL_GAP);
        if (i % 100 == 99)
            add(&m, WAIT, 0, USUAL_GAP);
    }
    assert_in_range(find(&m), 99, 100);
    assert_int_equal(m.steps.period, 100);
    release(&m);
}

static void pauses_make_steps_of_identical_launches(void **state)
{
    (void)state;
    struct made m = {.random = 5};
    for (int i = 0; i < 10000; i++) /* now and then a longer pause than those between steps */
        add(&m, 1, 1, next_random(&m) % 200 == 0 ? 60000 : i % 100 == 0 ? 50000 : USUAL_GAP);
    assert_in_range(find(&m), 99, 100);
    assert_int_equal(m.steps.period, 100);
    release(&m);
    for (int i = 0; i < 100; i++) /* steps of different length */
        for (uint32_t k = 0, n = 95 + next_random(&m) % 11; k < n; k++)
            add(&m, 1, 1, k == 0 ? 50000 : USUAL_GAP);
    assert_in_range(find(&m), 98, 100);
    release(&m);
}

static void pauses_join_units_too_small_to_be_steps(void **state)
{
    (void)state;
    struct made m = {.random = 7};
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 8; k++) {
            add(&m, 1, 1, k == 0 ? 30000 : 15000 + next_random(&m) % 2000);
            add(&m, 2, 1, 300);
        }
    assert_int_equal(find(&m), 20);
    assert_int_equal(m.steps.period, 16);
    release(&m);
}

static void the_same_graph_over_and_over_is_one_step_a_launch(void **state)
{
    (void)state;
    struct made m = {.random = 9};
    for (int i = 0; i < 40; i++)
        add(&m, 1, 192, USUAL_GAP);
    assert_int_equal(find(&m), 40);
    assert_int_equal(m.steps.period, 1);
    release(&m);
}

/* A graph that holds the device for long. */
static void add_large(struct made *m, uint32_t symbol)
{
    add(m, symbol, 64, USUAL_GAP);
    m->busy_ns[m->count - 1] = 300000;
}

static void large_launches_are_the_steps_though_their_warm_up_repeats_more_often(void **state)
{
    (void)state;
    struct made m = {.random = 9};
    for (int i = 0; i < 128; i++)
        add_run(&m, 2, 3);
    for (int i = 0; i < 40; i++) {
        add_large(&m, 1);
    }
    add_run(&m, 6, 5);
    assert_int_equal(find(&m), 40);
    assert_int_equal(m.steps.cuts.at[0], 384);
    assert_int_equal(m.steps.cuts.at[40], 424);
    assert_int_equal(m.steps.period, 1);
    release(&m);
}

static void large_launches_that_repeat_together_are_one_step(void **state)
{
    (void)state;
    struct made m = {.random = 9};
    for (int i = 0; i < 128; i++)
        add_run(&m, 3, 3);
    for (int i = 0; i < 40; i++) {
        for (uint32_t graph = 1; graph <= 2; graph++) {
            add_large(&m, graph);
        }
        add(&m, 6, 1, USUAL_GAP);
    }
    assert_int_equal(find(&m), 40);
    assert_int_equal(m.steps.cuts.at[0], 384);
    assert_int_equal(m.steps.cuts.at[1], 387);
    assert_int_equal(m.steps.cuts.at[40], 384 + 39 * 3 + 2);
    release(&m);
}

static void large_launches_within_steps_are_parts_of_them(void **state)
{
    (void)state;
    struct made m = {.random = 9};
    for (int i = 0; i < 40; i++) {
        add_run(&m, 2, 3);
        for (int k = 0; k < 2; k++) {
            add_large(&m, 1);
            add(&m, 6, 1, USUAL_GAP);
        }
    }
    assert_int_equal(find(&m), 40);
    release(&m);
}

/* ---- hostile ------------------------------------------------------------------------------------------- */

static void sequences_made_to_be_nearly_periodic_end(void **state)
{
    (void)state;
    struct made m = {0};
    for (uint32_t i = 0; i < 200000; i++) /* Thue–Morse */
        add(&m, 1 + (uint32_t)__builtin_popcount(i) % 2, 1, USUAL_GAP);
    find(&m);
    release(&m);
    for (uint32_t i = 1; i < 200000; i++) /* the ruler function: loops in loops, 17 deep */
        add(&m, 1 + (uint32_t)__builtin_ctz(i), 1, USUAL_GAP);
    find(&m);
    release(&m);
    for (uint32_t i = 0; i < 600; i++) /* each turn longer than the one before */
        add_run(&m, 1, i);
    find(&m);
    release(&m);
    for (uint32_t i = 0; i < 200000; i++) { /* Fibonacci word */
        uint64_t a = (uint64_t)i * 2654435769u >> 32, b = (uint64_t)(i + 1) * 2654435769u >> 32;
        add(&m, 1 + (uint32_t)(b - a), 1, INT64_MAX / 4);
    }
    find(&m);
    release(&m);
}

/* ---- rhythm -------------------------------------------------------------------------------------------- */

static void random_pauses_have_no_rhythm(void **state)
{
    (void)state;
    struct made m = {.random = 11};
    int64_t pause[400];
    size_t found = 0;
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < 400; i++)
            pause[i] = 1000 + next_random(&m) % 100000;
        struct rhythm rhythm = {0};
        rhythm_find(pause, 400, &rhythm);
        found += rhythm.cuts.count > 0;
        vec_release(&rhythm.cuts);
    }
    assert_in_range(found, 0, 2);
}

static void a_few_bars_need_clear_pauses(void **state)
{
    (void)state;
    int64_t pause[40];
    for (int clear = 0; clear < 2; clear++) {
        for (size_t i = 0; i < 40; i++)
            pause[i] = i % 10 == 0 ? (clear ? 1000000 : 12000) : 5000 + (int64_t)(i * 7919 % 3000);
        struct rhythm rhythm = {0};
        rhythm_find(pause, 40, &rhythm);
        assert_int_equal(rhythm.cuts.count, clear ? 5 : 0);
        vec_release(&rhythm.cuts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_loop_is_found_whole),
        cmocka_unit_test(three_turns_are_enough_and_two_are_not),
        cmocka_unit_test(warm_up_and_tail_are_left_out),
        cmocka_unit_test(a_step_is_cut_where_the_host_pauses_longest),
        cmocka_unit_test(layers_within_a_step_are_not_steps),
        cmocka_unit_test(micro_batches_are_not_steps),
        cmocka_unit_test(validation_now_and_then_does_not_make_longer_steps),
        cmocka_unit_test(a_log_line_every_tenth_step_does_not_make_longer_steps),
        cmocka_unit_test(steps_may_vary),
        cmocka_unit_test(a_long_pass_of_other_work_is_one_irregular_step),
        cmocka_unit_test(random_launches_have_no_steps),
        cmocka_unit_test(launches_that_never_repeat_have_no_steps),
        cmocka_unit_test(next_to_nothing_has_no_steps),
        cmocka_unit_test(identical_launches_are_no_steps),
        cmocka_unit_test(waits_make_steps_of_identical_launches),
        cmocka_unit_test(pauses_make_steps_of_identical_launches),
        cmocka_unit_test(pauses_join_units_too_small_to_be_steps),
        cmocka_unit_test(the_same_graph_over_and_over_is_one_step_a_launch),
        cmocka_unit_test(large_launches_are_the_steps_though_their_warm_up_repeats_more_often),
        cmocka_unit_test(large_launches_that_repeat_together_are_one_step),
        cmocka_unit_test(large_launches_within_steps_are_parts_of_them),
        cmocka_unit_test(sequences_made_to_be_nearly_periodic_end),
        cmocka_unit_test(random_pauses_have_no_rhythm),
        cmocka_unit_test(a_few_bars_need_clear_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
