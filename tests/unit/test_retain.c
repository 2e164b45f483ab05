/* What a run of which only the last moments are kept holds, and what falls out. */
#include "cmocka_all.h"
#include "make_run.h"
#include "model/compact.h"
#include "model/retain.h"

#include <stdio.h>

enum { SECOND = 1000 * 1000 * 1000 };

static int64_t at(double seconds)
{
    return (int64_t)(seconds * SECOND) + INT64_C(1800000000) * SECOND;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
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

/* What a second leaves: a hundred steps whose names nothing else has, each a collective, a launch of its own
 * shape and a mark. */
static void steps_of_a_second(struct fixture *f, int second)
{
    for (int i = 0; i < 100; i++) {
        char name[64];
        double begin = second + i * 0.01;
        snprintf(name, sizeof name, "step %d of a training that goes on", second * 100 + i);
        uint32_t span = make_span(&f->run, f->thread, SPAN_ANNOTATION, name, at(begin), at(begin + 0.005), 0);
        uint32_t op = make_kernel(&f->run, f->stream, "kernel", at(begin), at(begin + 0.005), 0);
        struct shape shape = {.grid = {(uint32_t)(second * 100 + i) + 1, 1, 1}};
        f->run.ops.shape[op] = run_shape(&f->run, &shape);
        f->run.ops.comm[op] = f->run.spans.comm[span] = (uint32_t)f->run.comms.count;
        vec_push(&f->run.comms, ((struct comm){.collective = intern_puts(&f->run.strings, "allreduce"),
                                               .seq = second * 100 + i}));
        vec_push(&f->run.marks, ((struct mark){.time = at(begin),
                                               .text = intern_puts(&f->run.strings, name),
                                               .thread = NONE,
                                               .device = NONE}));
    }
}

static void compact(struct fixture *f, uint32_t *string, uint32_t *comm)
{
    struct compaction c;
    compaction_begin(&c, &f->run);
    for (int round = 0; round < 2; round++) {
        compaction_string(&c, string);
        compaction_comm(&c, comm);
        if (round == 0)
            compaction_apply(&c, &f->run);
    }
    compaction_release(&c);
    retain_compacted(&f->retain, &f->run);
}

/* Of the rows that are there, all is as it was. */
static void check_steps(const struct fixture *f)
{
    const struct run *run = &f->run;
    char name[64];
    for (size_t i = 0; i < run->ops.count; i++) {
        const struct comm *comm = &run->comms.at[run->ops.comm[i]];
        snprintf(name, sizeof name, "step %lld of a training that goes on", (long long)comm->seq);
        assert_int_equal(run->shapes.at[run->ops.shape[i]].grid[0], comm->seq + 1);
        assert_int_equal(run->spans.comm[i], run->ops.comm[i]);
        assert_string_equal(run_text(run, run->ops.name[i]), "kernel");
        assert_string_equal(run_text(run, run->spans.name[i]), name);
        assert_string_equal(run_text(run, run->marks.at[i].text), name);
        assert_string_equal(run_text(run, comm->collective), "allreduce");
    }
}

static void names_that_are_always_new_take_bounded_memory(void **state)
{
    struct fixture *f = *state;
    uint64_t most_rows = 0, most_bytes = 0;
    uint32_t held = intern_puts(&f->run.strings, "held by nobody's row"), comm = NONE;
    int compactions = 0;
    f->retain.most_bytes = 1 << 30;
    for (int second = 0; second < 5000; second++) {
        steps_of_a_second(f, second);
        retain_prune(&f->retain, &f->run, at(second + 1));
        most_rows = max_u64(most_rows, f->run.strings.count + f->run.shapes.count + f->run.comms.count);
        most_bytes = max_u64(most_bytes, f->run.strings.bytes);
        if (!retain_is_bloated(&f->retain, &f->run))
            continue;
        comm = f->run.ops.comm[0];
        compact(f, &held, &comm);
        assert_int_equal(f->run.comms.at[comm].seq, f->run.comms.at[f->run.ops.comm[0]].seq);
        check_steps(f);
        compactions++;
    }
    assert_true(compactions > 5);
    assert_true(most_rows < 80000); /* of 1,500,000 that there were */
    assert_true(most_bytes < 2 << 20);
    assert_string_equal(run_text(&f->run, held), "held by nobody's row");
    check_steps(f);
    run_seal(&f->run);
}

/* A long name is bytes, where there are few of them. */
static void long_names_count_by_their_bytes(void **state)
{
    struct fixture *f = *state;
    static char name[1 << 16];
    memset(name, 'x', sizeof name - 1);
    for (int i = 0; i < 1000; i++) {
        int length = snprintf(name, sizeof name, "%d", i);
        name[length] = 'x';
        intern_puts(&f->run.strings, name);
    }
    assert_true(retain_is_bloated(&f->retain, &f->run));
    uint32_t none = 0, comm = NONE;
    compact(f, &none, &comm);
    assert_true(f->run.strings.bytes < 1000);
    assert_int_equal(none, 0);
    assert_int_equal(comm, NONE);
    assert_false(retain_is_bloated(&f->retain, &f->run));
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
        cmocka_unit_test_setup_teardown(names_that_are_always_new_take_bounded_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_count_by_their_bytes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
