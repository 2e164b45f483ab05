/* What samples of a thread say about the time between them. */
#include "cmocka_all.h"

#include "model/sampled.h"
#include "source/host_spans.h"

enum { MS = 1000000, READ = 1, POLL = 2, NO_CPU = 3, FILE_A = 4, MAIN = 10, LOAD = 11, STEP = 12 };

struct bench {
    struct host_track track;
    host_span_list out;
    struct host_sample now;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.track = {.thread = 5, .no_cpu = NO_CPU, .longest_gap_ns = 80 * MS}};
    b->now = (struct host_sample){.time = 1000 * (int64_t)MS, .has_accounts = true, .accounts = {0, 0, 1}};
}

/* ms later, of which it ran and had no CPU so many, and then was in a call. */
static void sample(struct bench *b, int ms, int ran, int no_cpu, uint32_t call,
                   const struct python_stack *stack)
{
    b->now.time += (int64_t)ms * MS;
    b->now.accounts.run_ns += (int64_t)ran * MS;
    b->now.accounts.delay_ns += (int64_t)no_cpu * MS;
    b->now.accounts.slices += ran > 0;
    b->now.call = call;
    b->now.file = call == READ ? FILE_A : 0;
    host_track_add(&b->track, &b->now, stack, &b->out);
}

static void assert_span(const struct bench *b, size_t i, uint32_t name, int64_t start_ms, int64_t end_ms)
{
    assert_true(i < b->out.count);
    assert_int_equal(b->out.at[i].name, name);
    assert_int_equal(b->out.at[i].start, (1000 + start_ms) * MS);
    assert_int_equal(b->out.at[i].end, (1000 + end_ms) * MS);
    assert_int_equal(b->out.at[i].thread, 5);
}

static void assert_reach(const struct bench *b, size_t i, uint64_t before_us, uint64_t after_us)
{
    assert_int_equal(b->out.at[i].id, sampled_call_id((int64_t)before_us, (int64_t)after_us));
}

static void bench_release(struct bench *b)
{
    vec_release(&b->out);
}

static void a_thread_that_runs_has_no_calls(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    for (int i = 0; i < 5; i++)
        sample(&b, 10, 10, 0, 0, NULL);
    host_track_end(&b.track, &b.out);
    assert_int_equal(b.out.count, 0);
    bench_release(&b);
}

static void samples_of_one_wait_are_one_span_with_its_file(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    sample(&b, 0, 1, 0, 0, NULL);
    sample(&b, 10, 4, 0, READ, NULL); /* waited for 6 of 10 ms */
    sample(&b, 10, 0, 0, READ, NULL);
    sample(&b, 10, 0, 0, READ, NULL);
    sample(&b, 10, 7, 0, 0, NULL); /* 3 of 10 */
    assert_int_equal(b.out.count, 1);
    assert_span(&b, 0, READ, 10, 30);
    assert_reach(&b, 0, 6000, 3000);
    assert_int_equal(b.out.at[0].detail, FILE_A);
    assert_int_equal(b.out.at[0].kind, SPAN_OS);
    bench_release(&b);
}

static void a_call_before_running_gets_half_at_most(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    sample(&b, 0, 1, 0, READ, NULL);
    sample(&b, 10, 1, 0, 0, NULL); /* the account of one that runs may be a tick old */
    assert_int_equal(b.out.count, 1);
    assert_reach(&b, 0, 0, 5000);
    bench_release(&b);
}

static void two_calls_share_what_was_waited_between_them(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    sample(&b, 0, 1, 0, READ, NULL);
    sample(&b, 10, 2, 0, POLL, NULL);
    host_track_end(&b.track, &b.out);
    assert_int_equal(b.out.count, 2);
    assert_reach(&b, 0, 0, 4000);
    assert_span(&b, 1, POLL, 10, 10);
    assert_reach(&b, 1, 4000, 0);
    bench_release(&b);
}

static void waiting_for_a_cpu_is_a_span_of_exactly_that_length(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    sample(&b, 0, 1, 0, 0, NULL);
    sample(&b, 10, 6, 4, 0, NULL);
    assert_int_equal(b.out.count, 1);
    assert_span(&b, 0, NO_CPU, 0, 4);
    sample(&b, 10, 0, 0, 0, NULL);  /* has none, and its account does not say so yet */
    sample(&b, 10, 2, 18, 0, NULL); /* now it does */
    assert_span(&b, 1, NO_CPU, 10, 28);
    bench_release(&b);
}

static struct python_stack stack_of(uint32_t inner, uint32_t call_line, uint32_t line)
{
    struct python_stack stack = {.count = inner ? 2 : 1};
    stack.frames[0] = (struct python_frame){MAIN, 0, call_line};
    stack.frames[1] = (struct python_frame){inner, 0, line};
    return stack;
}

static void a_frame_that_stays_on_the_stack_is_one_span(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    struct python_stack load = stack_of(LOAD, 20, 7), elsewhere = stack_of(LOAD, 20, 8),
                        step = stack_of(STEP, 21, 3);
    sample(&b, 0, 1, 0, 0, &load);
    sample(&b, 10, 10, 0, 0, &elsewhere);
    sample(&b, 10, 10, 0, 0, &load);
    sample(&b, 10, 10, 0, 0, &step);
    host_track_end(&b.track, &b.out);
    assert_int_equal(b.out.count, 3);
    assert_span(&b, 0, LOAD, 0, 25);
    assert_int_equal(b.out.at[0].id, sampled_frame_id(7, 20)); /* where most samples saw it, and its caller */
    assert_span(&b, 1, MAIN, 0, 30);
    assert_span(&b, 2, STEP, 25, 30);
    bench_release(&b);
}

static void the_line_of_a_frame_is_the_most_frequent_one(void **state)
{
    (void)state;
    static const uint32_t few[] = {7, 8, 7, 9, 10, 11},
                          many[] = {1, 2, 3, 4, 5, 6, 7, 8, 20, 9, 20, 10, 20, 11};
    struct bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) { /* none has half of the samples */
        struct python_stack load = stack_of(LOAD, 20, few[i]);
        sample(&b, 10, 10, 0, 0, &load);
    }
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) { /* more than are counted at once */
        struct python_stack step = stack_of(STEP, 21, many[i]);
        sample(&b, 10, 10, 0, 0, &step);
    }
    host_track_end(&b.track, &b.out);
    assert_int_equal(b.out.at[0].name, LOAD);
    assert_int_equal(b.out.at[0].id, sampled_frame_id(7, 20));
    assert_int_equal(b.out.at[b.out.count - 1].name, STEP);
    assert_int_equal(b.out.at[b.out.count - 1].id, sampled_frame_id(20, 21));
    bench_release(&b);
}

static void frames_change_after_the_wait_that_they_were_seen_in(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    struct python_stack load = stack_of(LOAD, 20, 7), step = stack_of(STEP, 21, 3);
    sample(&b, 0, 1, 0, READ, &load);
    sample(&b, 20, 4, 0, POLL, &step); /* 8 ms of waiting, 4 of running, 8 of waiting */
    host_track_end(&b.track, &b.out);
    assert_span(&b, 0, READ, 0, 0);
    assert_reach(&b, 0, 0, 8000);
    assert_span(&b, 1, LOAD, 0, 10);
    bench_release(&b);
}

static void a_torn_stack_does_not_end_the_frames(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    struct python_stack load = stack_of(LOAD, 20, 7);
    sample(&b, 0, 1, 0, 0, &load);
    sample(&b, 10, 10, 0, 0, NULL);
    sample(&b, 10, 10, 0, 0, &load);
    host_track_end(&b.track, &b.out);
    assert_int_equal(b.out.count, 2);
    assert_span(&b, 0, MAIN, 0, 20);
    bench_release(&b);
}

static void a_long_time_without_a_look_belongs_to_nothing(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    struct python_stack load = stack_of(LOAD, 20, 7);
    sample(&b, 0, 1, 0, READ, &load);
    sample(&b, 10, 0, 0, READ, NULL);
    sample(&b, 500, 300, 0, READ, &load);
    host_track_end(&b.track, &b.out);
    assert_span(&b, 0, READ, 0, 10);
    assert_span(&b, 1, MAIN, 0, 10);
    assert_span(&b, 3, READ, 510, 510);
    bench_release(&b);
}

static void without_accounts_what_is_equal_did_not_change(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    b.now.has_accounts = false;
    sample(&b, 0, 0, 0, READ, NULL);
    sample(&b, 10, 0, 0, READ, NULL);
    sample(&b, 10, 0, 0, 0, NULL);
    assert_int_equal(b.out.count, 1);
    assert_span(&b, 0, READ, 0, 10);
    assert_reach(&b, 0, 0, 5000);
    bench_release(&b);
}

static void a_clock_that_is_set_back_ends_everything(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    sample(&b, 0, 1, 0, READ, NULL);
    sample(&b, -100, 1, 0, READ, NULL);
    host_track_end(&b.track, &b.out);
    for (size_t i = 0; i < b.out.count; i++)
        assert_true(b.out.at[i].start <= b.out.at[i].end);
    bench_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_runs_has_no_calls),
        cmocka_unit_test(samples_of_one_wait_are_one_span_with_its_file),
        cmocka_unit_test(a_call_before_running_gets_half_at_most),
        cmocka_unit_test(two_calls_share_what_was_waited_between_them),
        cmocka_unit_test(waiting_for_a_cpu_is_a_span_of_exactly_that_length),
        cmocka_unit_test(a_frame_that_stays_on_the_stack_is_one_span),
        cmocka_unit_test(the_line_of_a_frame_is_the_most_frequent_one),
        cmocka_unit_test(frames_change_after_the_wait_that_they_were_seen_in),
        cmocka_unit_test(a_torn_stack_does_not_end_the_frames),
        cmocka_unit_test(a_long_time_without_a_look_belongs_to_nothing),
        cmocka_unit_test(without_accounts_what_is_equal_did_not_change),
        cmocka_unit_test(a_clock_that_is_set_back_ends_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
