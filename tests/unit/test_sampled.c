/* Spans from samples are settled against what is exact on their thread. */
#include "cmocka_all.h"
#include "make_run.h"
#include "model/sampled.h"

enum { US = 1000 };

/* The n-th span of that name, in order of time, NONE. */
static uint32_t find(const struct run *run, const char *name, int n)
{
    for (uint32_t i = 0; i < run->spans.count; i++)
        if (strcmp(run_text(run, run->spans.name[i]), name) == 0 && n-- == 0)
            return i;
    return NONE;
}

static void assert_span(const struct run *run, const char *name, int n, int64_t start, int64_t end,
                        const char *parent)
{
    uint32_t span = find(run, name, n);
    assert_int_not_equal(span, NONE);
    assert_int_equal(run->spans.start[span], start);
    assert_int_equal(run->spans.end[span], end);
    uint32_t around = run->spans.parent[span];
    assert_string_equal(around == NONE ? "" : run_text(run, run->spans.name[around]), parent);
}

static void a_frame_that_changes_within_a_call_changes_at_its_nearer_end(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "early", 100, 200, 1);
    make_span(&m.run, m.thread, SPAN_API, "late", 300, 400, 2);
    make_span(&m.run, m.thread, SPAN_PYTHON, "first", 0, 120, sampled_frame_id(1, 0));
    make_span(&m.run, m.thread, SPAN_PYTHON, "second", 120, 390, sampled_frame_id(1, 0));
    make_span(&m.run, m.thread, SPAN_PYTHON, "third", 390, 500, sampled_frame_id(1, 0));
    run_seal(&m.run);
    assert_span(&m.run, "first", 0, 0, 100, "");
    assert_span(&m.run, "second", 0, 100, 400, "");
    assert_span(&m.run, "third", 0, 400, 500, "");
    assert_span(&m.run, "early", 0, 100, 200, "second");
    assert_span(&m.run, "late", 0, 300, 400, "second");
    run_release(&m.run);
}

static void a_system_call_reaches_up_to_the_next_call(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "before", 0, 10 * US, 1);
    make_span(&m.run, m.thread, SPAN_API, "after", 50 * US, 60 * US, 2);
    make_span(&m.run, m.thread, SPAN_OS, "read", 30 * US, 30 * US, sampled_call_id(100, 5));
    run_seal(&m.run);
    assert_span(&m.run, "read", 0, 10 * US, 35 * US, "");
    run_release(&m.run);
}

static void a_system_call_seen_within_a_call_stays_within(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "cudaStreamSynchronize", 10 * US, 50 * US, 1);
    make_span(&m.run, m.thread, SPAN_OS, "poll", 30 * US, 40 * US, sampled_call_id(100, 100));
    run_seal(&m.run);
    assert_span(&m.run, "poll", 0, 10 * US, 50 * US, "cudaStreamSynchronize");
    run_release(&m.run);
}

static void what_crosses_the_edge_of_a_range_is_cut_there(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_ANNOTATION, "step", 100, 200, 0);
    make_span(&m.run, m.thread, SPAN_PYTHON, "load", 50, 120, sampled_frame_id(7, 3));
    make_span(&m.run, m.thread, SPAN_PYTHON, "train", 180, 300, sampled_frame_id(9, 3));
    make_span(&m.run, m.thread, SPAN_PYTHON, "main", 0, 400, sampled_frame_id(3, 0));
    run_seal(&m.run);
    assert_span(&m.run, "load", 0, 50, 100, "main");
    assert_span(&m.run, "load", 1, 100, 120, "step");
    assert_span(&m.run, "train", 0, 180, 200, "step");
    assert_span(&m.run, "train", 1, 200, 300, "main");
    assert_span(&m.run, "main", 0, 0, 400, "");
    assert_int_equal(sampled_line(&m.run.spans, find(&m.run, "train", 1)), 9);
    assert_int_equal(sampled_called_from(&m.run.spans, find(&m.run, "train", 1)), 3);
    run_release(&m.run);
}

static void a_system_call_is_cut_where_a_frame_ends(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_PYTHON, "f", 0, 100, sampled_frame_id(1, 0));
    make_span(&m.run, m.thread, SPAN_PYTHON, "g", 100, 200, sampled_frame_id(1, 0));
    make_span(&m.run, m.thread, SPAN_OS, "waiting for a CPU", 80, 150, sampled_call_id(0, 0));
    run_seal(&m.run);
    assert_span(&m.run, "waiting for a CPU", 0, 80, 100, "f");
    assert_span(&m.run, "waiting for a CPU", 1, 100, 150, "g");
    run_release(&m.run);
}

static void settling_again_changes_nothing(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "call", 50 * US, 60 * US, 1);
    make_span(&m.run, m.thread, SPAN_OS, "read", 30 * US, 40 * US, sampled_call_id(10, 30));
    make_span(&m.run, m.thread, SPAN_PYTHON, "f", 0, 52 * US, sampled_frame_id(1, 0));
    run_seal(&m.run);
    size_t count = m.run.spans.count;
    assert_true(sampled_settle(&m.run, SPAN_PYTHON));
    assert_true(sampled_settle(&m.run, SPAN_OS));
    assert_int_equal(m.run.spans.count, count);
    assert_span(&m.run, "read", 0, 20 * US, 50 * US, "f");
    assert_span(&m.run, "f", 0, 0, 50 * US, "");
    run_release(&m.run);
}

static void a_native_function_gets_what_lies_between_calls(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "a", 0, 1000 * US, 1);
    make_span(&m.run, m.thread, SPAN_API, "b", 5000 * US, 6000 * US, 2);
    make_span(&m.run, m.thread, SPAN_API, "c", 6010 * US, 7000 * US, 3); /* too close for anyone */
    make_span(&m.run, m.thread, SPAN_API, "d", 20000 * US, 21000 * US, 4);
    make_span(&m.run, m.thread, SPAN_NATIVE, "f", 3000 * US, 8000 * US, sampled_native_id(5000, 5000, false));
    make_span(&m.run, m.thread, SPAN_NATIVE, "g", 10000 * US, 10000 * US,
              sampled_native_id(5000, 5000, false));
    make_span(&m.run, m.thread, SPAN_NATIVE, "in d", 20500 * US, 20500 * US,
              sampled_native_id(5000, 5000, false));
    run_seal(&m.run);
    assert_span(&m.run, "f", 0, 1000 * US, 5000 * US, "");
    assert_span(&m.run, "f", 1, 7000 * US, 9000 * US, "");
    assert_span(&m.run, "g", 0, 9000 * US, 15000 * US, "");
    assert_int_equal(find(&m.run, "f", 2), NONE);
    assert_int_equal(find(&m.run, "in d", 0), NONE);
    size_t count = m.run.spans.count;
    assert_true(sampled_settle(&m.run, SPAN_NATIVE));
    assert_int_equal(m.run.spans.count, count);
    assert_span(&m.run, "g", 0, 9000 * US, 15000 * US, "");
    run_release(&m.run);
}

/* The bounds are then those of the sampling alone: there is no call, and nobody else was seen. */
static void a_native_function_before_every_call_reaches_as_far_as_it_was_not_seen(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_NATIVE, "f", 7000 * US, 8000 * US, sampled_native_id(5000, 1000, false));
    make_span(&m.run, m.thread, SPAN_API, "a", 20000 * US, 21000 * US, 1);
    make_span(&m.run, m.thread, SPAN_NATIVE, "g", 30000 * US, 31000 * US,
              sampled_native_id(500, 5000, false));
    run_seal(&m.run);
    assert_span(&m.run, "f", 0, 2000 * US, 9000 * US, "");
    assert_span(&m.run, "g", 0, 29500 * US, 36000 * US, "");
    run_release(&m.run);
}

static void a_native_function_seen_around_the_driver_makes_the_call(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_PYTHON, "main", 0, 9000 * US, sampled_frame_id(1, 0));
    make_span(&m.run, m.thread, SPAN_API, "wait", 1000 * US, 5000 * US, 1);
    make_span(&m.run, m.thread, SPAN_NATIVE, "f", 2000 * US, 3000 * US, sampled_native_id(5000, 5000, true));
    run_seal(&m.run);
    assert_span(&m.run, "f", 0, 1000 * US, 5000 * US, "main");
    assert_span(&m.run, "wait", 0, 1000 * US, 5000 * US, "f");
    run_release(&m.run);
}

static void exact_spans_are_left_alone(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "call", 10, 20, 1);
    make_span(&m.run, m.thread, SPAN_PYTHON, "f", 0, 15, 77);
    make_span(&m.run, m.thread, SPAN_OS, "read", 15, 30, 0);
    run_seal(&m.run);
    assert_span(&m.run, "f", 0, 0, 15, "");
    assert_span(&m.run, "read", 0, 15, 30, "call");
    assert_false(sampled_settle(&m.run, SPAN_OS));
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_that_changes_within_a_call_changes_at_its_nearer_end),
        cmocka_unit_test(a_system_call_reaches_up_to_the_next_call),
        cmocka_unit_test(a_system_call_seen_within_a_call_stays_within),
        cmocka_unit_test(what_crosses_the_edge_of_a_range_is_cut_there),
        cmocka_unit_test(a_system_call_is_cut_where_a_frame_ends),
        cmocka_unit_test(settling_again_changes_nothing),
        cmocka_unit_test(a_native_function_gets_what_lies_between_calls),
        cmocka_unit_test(a_native_function_before_every_call_reaches_as_far_as_it_was_not_seen),
        cmocka_unit_test(a_native_function_seen_around_the_driver_makes_the_call),
        cmocka_unit_test(exact_spans_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
