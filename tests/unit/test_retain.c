/* What a run of which only the last moments are kept holds, and what falls out. */
#include "cmocka_all.h"
#include "make_run.h"
#include "model/retain.h"

enum { SECOND = 1000 * 1000 * 1000 };

static int64_t at(double seconds)
{
    return (int64_t)(seconds * SECOND) + INT64_C(1800000000) * SECOND;
}

struct fixture {
    struct run run;
    struct retain retain;
    uint32_t thread, stream;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof *f);
    run_init(&f->run);
    uint32_t source = run_add_source(&f->run, "test", "test");
    uint32_t process = run_process(&f->run, source, 1);
    f->thread = run_thread(&f->run, process, 1);
    f->stream = run_stream(&f->run, process, run_device(&f->run, source, 0), 1, 7);
    f->retain = (struct retain){.keep_ns = 10 * (int64_t)SECOND, .most_bytes = 1 << 20};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    run_release(&f->run);
    free(f);
    return 0;
}

static void launch(struct fixture *f, double call, double start, double end, uint64_t id)
{
    make_span(&f->run, f->thread, SPAN_API, "cudaLaunchKernel", at(call), at(call) + 1000, id);
    make_kernel(&f->run, f->stream, "kernel", at(start), at(end), id);
}

static void what_ended_before_falls_out(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 20; i++)
        launch(f, i, i, i + 0.5, (uint64_t)i + 1);
    retain_prune(&f->retain, &f->run, at(20));
    assert_int_equal(f->run.ops.count, 10);
    assert_int_equal(f->run.spans.count, 10);
    assert_int_equal(f->run.ops.start[0], at(10));
    assert_int_equal(f->retain.aged, 20);
    assert_int_equal(f->retain.crowded, 0);
}

static void an_op_keeps_the_call_that_launched_it(void **state)
{
    struct fixture *f = *state;
    launch(f, 1, 1.5, 2, 1);
    launch(f, 2, 12, 30, 2); /* queued for ten seconds */
    launch(f, 3, 30, 31, 3);
    retain_prune(&f->retain, &f->run, at(31));
    assert_int_equal(f->run.ops.count, 2);
    assert_int_equal(f->run.spans.count, 2);
    assert_int_equal(f->run.ops.start[0], at(12)); /* its own time is true */
    run_seal(&f->run);
    assert_int_equal(f->run.losses.unlinked, 0);
}

static void ranges_around_lose_their_beginning_but_not_their_end(void **state)
{
    struct fixture *f = *state;
    make_span(&f->run, f->thread, SPAN_ANNOTATION, "a day", at(0), at(29), 0);
    make_span(&f->run, f->thread, SPAN_ANNOTATION, "long ago", at(0), at(1), 0);
    launch(f, 28, 28, 29, 1);
    retain_prune(&f->retain, &f->run, at(30));
    assert_int_equal(f->run.spans.count, 2);
    assert_int_equal(f->run.spans.start[0], at(20));
    assert_int_equal(f->run.spans.end[0], at(29));
}

static void samples_marks_and_waits_are_pruned_alike(void **state)
{
    struct fixture *f = *state;
    uint32_t series = run_series(&f->run, "power", 0, NONE, UNIT_WATTS);
    for (int i = 0; i < 20; i++) {
        size_t sample = sample_table_add(&f->run.samples);
        f->run.samples.time[sample] = at(i);
        f->run.samples.series[sample] = series;
        vec_push(&f->run.marks, ((struct mark){.time = at(i), .thread = NONE, .device = NONE}));
        vec_push(&f->run.waits,
                 ((struct wait){.start = at(i), .end = at(i + 0.5), .stream = NONE, .on_stream = NONE}));
    }
    retain_prune(&f->retain, &f->run, at(20));
    assert_int_equal(f->run.samples.count, 10);
    assert_int_equal(f->run.marks.count, 10);
    assert_int_equal(f->run.waits.count, 10);
    assert_int_equal(f->run.samples.time[0], at(10));
}

static void the_oldest_rows_go_early_where_space_is_short(void **state)
{
    struct fixture *f = *state;
    f->retain.most_bytes = 64 << 10;
    for (int i = 0; i < 10000; i++)
        launch(f, i * 0.001, i * 0.001, i * 0.001 + 0.0005, (uint64_t)i + 1);
    retain_prune(&f->retain, &f->run, at(10));
    assert_true(retain_bytes(&f->run) <= f->retain.most_bytes);
    assert_true(f->run.ops.count > 0);
    assert_int_equal(f->run.ops.end[f->run.ops.count - 1], at(9.999 + 0.0005));
    assert_int_equal(f->retain.aged, 0);
    assert_int_equal(f->retain.crowded, 20000 - (int64_t)(f->run.ops.count + f->run.spans.count));
}

static void a_time_that_is_yet_to_come_does_not_stay_for_ever(void **state)
{
    struct fixture *f = *state;
    make_kernel(&f->run, f->stream, "kernel", at(1e6), at(1e6) + 1, 0);
    make_span(&f->run, f->thread, SPAN_API, "call", at(1e6), at(1e6) + 1, 0);
    retain_prune(&f->retain, &f->run, at(1));
    assert_int_equal(f->run.ops.count + f->run.spans.count, 0);
    assert_int_equal(f->retain.crowded, 2);
}

static void losses_of_long_ago_are_not_those_of_the_last_moments(void **state)
{
    struct fixture *f = *state;
    for (int second = 0; second <= 40; second++) {
        f->run.losses.dropped = second < 10 ? 0 : second < 35 ? 100 : 107;
        retain_prune(&f->retain, &f->run, at(second));
    }
    assert_int_equal(retain_losses(&f->retain, &f->run).dropped, 7);
    assert_int_equal(f->run.losses.dropped, 107);
}

static void memory_does_not_grow_with_time(void **state)
{
    struct fixture *f = *state;
    size_t most = 0;
    for (int second = 0; second < 3600; second++) {
        for (int i = 0; i < 10; i++)
            launch(f, second + i * 0.1, second + i * 0.1, second + i * 0.1 + 0.05,
                   (uint64_t)(second * 10 + i) + 1);
        retain_prune(&f->retain, &f->run, at(second + 1));
        most = f->run.ops.cap > most ? f->run.ops.cap : most;
        assert_int_equal(f->run.ops.count, second < 10 ? (second + 1) * 10 : 100);
    }
    assert_int_equal(most, 1024); /* the first size of a table */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_ended_before_falls_out, setup, teardown),
        cmocka_unit_test_setup_teardown(an_op_keeps_the_call_that_launched_it, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges_around_lose_their_beginning_but_not_their_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(samples_marks_and_waits_are_pruned_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_rows_go_early_where_space_is_short, setup, teardown),
        cmocka_unit_test_setup_teardown(a_time_that_is_yet_to_come_does_not_stay_for_ever, setup, teardown),
        cmocka_unit_test_setup_teardown(losses_of_long_ago_are_not_those_of_the_last_moments, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(memory_does_not_grow_with_time, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
