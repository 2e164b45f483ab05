/* Causes of gaps: what the launching thread did decides, nanosecond by nanosecond, and nothing is lost. Times
 * in microseconds for legibility. */
#include "cmocka_all.h"
#include "make_run.h"

#include <stdio.h>
#include <string.h>

#include "analyze/analyze.h"

#define US (int64_t)1000

static void build(struct report *report, struct make_run *m)
{
    run_seal(&m->run);
    *report = (struct report){.run = &m->run};
    ledger_build(report, NULL);
    report->launches.floor_ns = 5 * US;
    gaps_build(report);
    vec_each (&report->devices, ledger) {
        int64_t sum = 0;
        for (int a = 0; a < ACCOUNT_COUNT; a++)
            sum += ledger->ledger_ns[a];
        assert_int_equal(sum, ledger->wall_ns);
    }
    int64_t idle = 0, culprits = 0;
    vec_each (&report->gaps, piece) {
        assert_true(piece->start < piece->end);
        idle += piece->end - piece->start;
    }
    vec_each (&report->culprits, culprit)
        culprits += culprit->total_ns;
    assert_int_equal(idle, culprits);
}

static int64_t booked(const struct report *report, enum account account)
{
    return report->devices.at[0].ledger_ns[account];
}

static void done(struct report *report, struct make_run *m)
{
    report_release(report);
    run_release(&m->run);
}

/* A kernel whose launch lies right before it. The first one of each test opens the window. */
static void kernel_at(struct make_run *m, int64_t start, int64_t end)
{
    make_launch(m, "k", start - 4 * US, start - 2 * US, start, end);
}

static void a_host_that_issues_back_to_back_is_launch_bound(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    for (int i = 0; i < 10; i++)
        kernel_at(&m, i * 20 * US, i * 20 * US + 2 * US);
    struct report report;
    build(&report, &m);
    /* per gap of 18 µs: 14 µs until the call, 2 µs in it, 2 µs on the way */
    assert_int_equal(booked(&report, IDLE_LAUNCH_BOUND), 9 * 16 * US + 2 * US);
    assert_int_equal(booked(&report, IDLE_LAUNCH_LATENCY), 10 * 2 * US);
    done(&report, &m);
}

/* Where nodes are recorded, the call can go on while the first of them run. */
static void the_host_does_not_hold_up_the_nodes_of_a_graph_that_it_launched(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", 0, 26 * US, 7);
    for (int node = 0; node < 3; node++) {
        uint32_t op = make_kernel(&m.run, m.stream, "k", (4 + node * 8) * US, (10 + node * 8) * US, 7);
        m.run.ops.graph[op] = 1;
    }
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_LAUNCH_BOUND), 4 * US); /* before the first one */
    assert_int_equal(booked(&report, IDLE_LAUNCH_LATENCY), 2 * 2 * US);
    done(&report, &m);
}

static void long_code_between_launches_is_host_compute(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    kernel_at(&m, 5000 * US, 5010 * US);
    make_span(&m.run, m.thread, SPAN_PYTHON, "train.py(12): augment", 20 * US, 4900 * US, 0);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_HOST_COMPUTE), 4986 * US);
    assert_string_equal(run_text(&m.run, report.culprits.at[0].frame), "train.py(12): augment");
    assert_int_equal(report.culprits.at[0].total_ns, 4880 * US);
    done(&report, &m);
}

static void a_native_function_is_the_culprit_where_no_python_frame_is(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    kernel_at(&m, 5000 * US, 5010 * US);
    kernel_at(&m, 9000 * US, 9010 * US);
    size_t span = make_span(&m.run, m.thread, SPAN_NATIVE, "app: prepare", 20 * US, 4900 * US, 0);
    m.run.spans.detail[span] = intern_puts(&m.run.strings, "libc.so.6: memmove");
    make_span(&m.run, m.thread, SPAN_PYTHON, "train.py(12): augment", 5020 * US, 8900 * US, 0);
    make_span(&m.run, m.thread, SPAN_NATIVE, "libz.so.1: deflate", 5100 * US, 8800 * US, 0);
    struct report report;
    build(&report, &m);
    const struct culprit_row *first = &report.culprits.at[0], *second = &report.culprits.at[1];
    assert_string_equal(run_text(&m.run, first->frame), "app: prepare");
    assert_string_equal(run_text(&m.run, first->inside.value), "libc.so.6: memmove");
    assert_int_equal(first->total_ns, 4880 * US);
    assert_string_equal(run_text(&m.run, second->frame), "train.py(12): augment");
    assert_string_equal(run_text(&m.run, second->inside.value), "libz.so.1: deflate");
    assert_int_equal(second->total_ns, 3880 * US);
    done(&report, &m);
}

/* A Python frame for 4880 µs of a gap, within it functions one after the other. */
static void make_functions(struct make_run *m, const char *const *names, const int64_t *us, size_t count)
{
    int64_t at = 20 * US;
    kernel_at(m, 0, 10 * US);
    kernel_at(m, 5000 * US, 5010 * US);
    make_span(&m->run, m->thread, SPAN_PYTHON, "train.py(12): augment", at, 4900 * US, 0);
    for (size_t i = 0; i < count; i++, at += us[i - 1] * US)
        make_span(&m->run, m->thread, SPAN_NATIVE, names[i], at, at + us[i] * US, 0);
}

static void of_functions_without_a_name_the_library_is_told(void **state)
{
    (void)state;
    static const char *const names[] = {"libz.so.1.3+0x8a20", "libz.so.1.3+0x2320", "libz.so.1.3+0x8a20",
                                        "libz.so.1.3+0x2320", "libz.so.1.3: adler32_z"};
    static const int64_t us[] = {1200, 1000, 1200, 1200, 280}; /* none has half, and the last is rare */
    struct make_run m;
    make_run_init(&m);
    make_functions(&m, names, us, sizeof us / sizeof *us);
    struct report report;
    build(&report, &m);
    const struct culprit_row *culprit = &report.culprits.at[0];
    assert_string_equal(run_text(&m.run, culprit->frame), "train.py(12): augment");
    assert_string_equal(run_text(&m.run, culprit->inside.value), "libz.so.1.3+0x8a20");
    assert_int_equal(culprit->inside.ns, 2400 * US);
    assert_int_equal(culprit->library.ns, 4880 * US);
    assert_string_equal(culprit->mostly_in, "libz.so.1.3");
    assert_int_equal(culprit->count, 1); /* what changes within the frame does not end the stretch */
    assert_int_equal(culprit->longest_ns, 4880 * US);
    assert_int_equal(culprit->longest_at, 20 * US);
    done(&report, &m);
}

static void mostly_means_more_than_half(void **state)
{
    (void)state;
    static const char *const names[] = {"libz.so.1: deflate", "libz.so.1: crc32", "app+0x10",
                                        "libm.so.6: sin"};
    static const int64_t deflate[] = {2500, 100, 1000, 1280}, libz[] = {1400, 1200, 1000, 1280},
                         none[] = {1200, 1200, 1200, 1280}, little[] = {100, 20, 20, 20};
    static const struct {
        const int64_t *us;
        const char *mostly_in, *inside;
    } cases[] = {{deflate, "libz.so.1: deflate", "libz.so.1: deflate"},
                 {libz, "libz.so.1", "libz.so.1: deflate"},
                 {none, NULL, "libm.so.6: sin"},
                 {little, NULL, "libz.so.1: deflate"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct make_run m;
        make_run_init(&m);
        make_functions(&m, names, cases[i].us, sizeof names / sizeof *names);
        struct report report;
        build(&report, &m);
        const struct culprit_row *culprit = &report.culprits.at[0];
        assert_string_equal(run_text(&m.run, culprit->inside.value), cases[i].inside);
        if (cases[i].mostly_in)
            assert_string_equal(culprit->mostly_in, cases[i].mostly_in);
        else
            assert_null(culprit->mostly_in);
        done(&report, &m);
    }
}

static void the_code_after_a_wait_is_charged_to_the_wait(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaStreamSynchronize", 1 * US, 105 * US, 0);
    kernel_at(&m, 140 * US, 150 * US);
    struct report report;
    build(&report, &m);
    /* 5 µs until the wait returns, 31 µs until the next launch, 2 µs in it */
    assert_int_equal(booked(&report, IDLE_HOST_SYNC), 38 * US);
    done(&report, &m);
}

static void a_wait_followed_by_long_work_is_not_blamed_for_the_work(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaStreamSynchronize", 1 * US, 105 * US, 0);
    kernel_at(&m, 9000 * US, 9010 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_HOST_SYNC), (5 + 2) * US);
    assert_int_equal(booked(&report, IDLE_HOST_COMPUTE), (9000 - 4 - 105) * US);
    done(&report, &m);
}

static void launches_soon_after_a_wait_cannot_have_been_issued_ahead(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaStreamSynchronize", 1 * US, 105 * US, 0);
    for (int i = 0; i < 20; i++)
        kernel_at(&m, (140 + i * 30) * US, (142 + i * 30) * US);
    struct report report;
    build(&report, &m);
    /* the first 8 launches refill the queue: 38 µs up to the first, 26 µs for each of the other 7 */
    assert_int_equal(booked(&report, IDLE_HOST_SYNC), (38 + 7 * 26) * US);
    assert_int_equal(booked(&report, IDLE_LAUNCH_BOUND), 12 * 26 * US + 2 * US);
    done(&report, &m);
}

static void an_operator_that_goes_on_to_launch_is_dispatching(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    make_span(&m.run, m.thread, SPAN_OP, "aten::conv2d", 200 * US, 600 * US, 0);
    kernel_at(&m, 596 * US, 610 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_HOST_COMPUTE), 190 * US);
    assert_int_equal(booked(&report, IDLE_LAUNCH_BOUND), (392 + 2 + 2) * US);
    done(&report, &m);
}

static void a_gap_is_split_between_causes_in_time_order(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaMalloc", 100 * US, 400 * US, 0);
    make_span(&m.run, m.thread, SPAN_ANNOTATION,
              "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 400 * US, 900 * US, 0);
    make_span(&m.run, m.thread, SPAN_OP, "aten::stack", 450 * US, 700 * US, 0);
    make_span(&m.run, m.thread, SPAN_OS, "pthread_mutex_lock", 900 * US, 950 * US, 0);
    make_span(&m.run, m.thread, SPAN_OS, "pread64", 950 * US, 996 * US, 0);
    kernel_at(&m, 1000 * US, 1010 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_ALLOCATOR), 300 * US);
    assert_int_equal(booked(&report, IDLE_DATA_LOADING), 500 * US);
    assert_int_equal(booked(&report, IDLE_HOST_WAIT), 50 * US);
    assert_int_equal(booked(&report, IDLE_HOST_IO), 46 * US);
    const enum account expected[] = {IDLE_ALLOCATOR, IDLE_DATA_LOADING, IDLE_HOST_WAIT, IDLE_HOST_IO};
    size_t first = report.gaps.count - 6; /* then launch-bound and launch-latency */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(report.gaps.at[first + i].cause, expected[i]);
    assert_int_equal(report.gaps.at[first].gap, report.gaps.at[first + 5].gap);
    done(&report, &m);
}

static void the_api_call_is_named_rather_than_the_system_call_inside_it(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaFree", 100 * US, 900 * US, 0);
    make_span(&m.run, m.thread, SPAN_OS, "poll", 200 * US, 800 * US, 0);
    kernel_at(&m, 910 * US, 920 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_ALLOCATOR), 800 * US);
    assert_int_equal(booked(&report, IDLE_HOST_WAIT), 0);
    assert_string_equal(run_text(&m.run, report.culprits.at[0].call), "cudaFree");
    done(&report, &m);
}

static void work_that_was_queued_but_does_not_start_waits_for_other_work(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 100 * US);
    make_launch(&m, "k", 10 * US, 12 * US, 500 * US, 510 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_DEPENDENCY), 390 * US); /* after the floor of 10 µs */
    done(&report, &m);
}

static void overhead_of_the_recording_tool_is_told_from_loading_code(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t lane = run_thread(&m.run, run_process(&m.run, m.source, -1), 0);
    kernel_at(&m, 0, 100 * US);
    make_span(&m.run, lane, SPAN_OVERHEAD, "Activity Buffer Request", 200 * US, 500 * US, 0);
    make_span(&m.run, lane, SPAN_OVERHEAD, "Lazy Function Loading", 600 * US, 700 * US, 0);
    kernel_at(&m, 1000 * US, 1010 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_PROFILER), 300 * US);
    assert_int_equal(booked(&report, IDLE_WARMUP), 100 * US);
    done(&report, &m);
}

static void an_idle_launching_thread_points_to_the_thread_that_feeds_it(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t autograd = run_thread(&m.run, m.process, 200);
    for (int i = 0; i < 3; i++)
        kernel_at(&m, i * 20 * US, i * 20 * US + 15 * US);
    make_span(&m.run, m.thread, SPAN_ANNOTATION, "dataloader", 60 * US, 2000 * US, 0);
    make_span(&m.run, autograd, SPAN_API, "cudaLaunchKernel", 2010 * US, 2012 * US, 77);
    make_kernel(&m.run, m.stream, "backward", 2014 * US, 2020 * US, 77);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_DATA_LOADING), 1940 * US);
    assert_int_equal(report.culprits.at[0].thread, m.thread);
    done(&report, &m);
}

static void staging_of_pageable_copies_blocks_the_host(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    make_span(&m.run, m.thread, SPAN_API, "cudaMemcpyAsync", 20 * US, 520 * US, 50);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, 1 << 20, 320 * US, 500 * US, 50);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_HOST_SYNC), 320 * US); /* 300 before it, 20 after it */
    done(&report, &m);
}

static void the_first_slow_launch_of_a_kernel_loads_its_code(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    make_launch(&m, "new", 20 * US, 3020 * US, 3022 * US, 3030 * US);
    make_launch(&m, "new", 3040 * US, 6040 * US, 6042 * US, 6050 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_WARMUP), 3000 * US);
    done(&report, &m);
}

static void before_the_first_and_after_the_last_op_is_startup_and_shutdown(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_PYTHON, "main.py(1): <module>", -5000 * US, 9000 * US, 0);
    make_span(&m.run, m.thread, SPAN_ANNOTATION, "load_data", -2000 * US, -1000 * US, 0);
    kernel_at(&m, 0, 10 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_DATA_LOADING), 1000 * US); /* a named cause stays named */
    assert_int_equal(booked(&report, IDLE_STARTUP), 3996 * US);
    assert_int_equal(booked(&report, IDLE_SHUTDOWN), 8990 * US);
    done(&report, &m);
}

static void a_window_that_cuts_gaps_keeps_their_causes(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_PYTHON, "main.py(1): <module>", -5000 * US, 9000 * US, 0);
    kernel_at(&m, 0, 10 * US);
    kernel_at(&m, 5000 * US, 5010 * US);
    struct report whole, halves[2];
    build(&whole, &m);
    int64_t cut = 2000 * US, sum[ACCOUNT_COUNT] = {0};
    for (int h = 0; h < 2; h++) {
        struct report_options options = {.has_from = h == 1, .has_to = h == 0, .from_ns = cut, .to_ns = cut};
        halves[h] = (struct report){.run = &m.run};
        ledger_build(&halves[h], &options);
        halves[h].launches.floor_ns = 5 * US;
        gaps_build(&halves[h]);
        for (int a = 0; a < ACCOUNT_COUNT; a++)
            sum[a] += booked(&halves[h], (enum account)a);
    }
    for (int a = 0; a < ACCOUNT_COUNT; a++)
        assert_int_equal(sum[a], booked(&whole, (enum account)a));
    assert_true(booked(&whole, IDLE_HOST_COMPUTE) > 4000 * US);
    assert_true(booked(&whole, IDLE_STARTUP) > 0 && booked(&whole, IDLE_SHUTDOWN) > 0);
    report_release(&halves[0]);
    report_release(&halves[1]);
    done(&whole, &m);
}

static void ops_without_calls_leave_the_cause_unknown(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "k", 0, 10 * US, 0);
    make_kernel(&m.run, m.stream, "k", 50 * US, 60 * US, 0);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_UNKNOWN), 40 * US);
    assert_int_equal(report.gaps.at[0].thread, NONE);
    done(&report, &m);
}

static void mark_at(struct make_run *m, enum mark_kind kind, int64_t time)
{
    vec_push(&m->run.marks, ((struct mark){.time = time, .kind = kind, .thread = NONE, .device = NONE}));
}

static void what_happens_while_the_recording_pauses_is_unknown(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    kernel_at(&m, 0, 10 * US);
    kernel_at(&m, 1010 * US, 1020 * US); /* a gap of 1000 µs, of which 300 and 200 were not recorded */
    mark_at(&m, MARK_PAUSED, 100 * US);
    mark_at(&m, MARK_RESUMED, 400 * US);
    mark_at(&m, MARK_RESUMED, 450 * US); /* as a damaged file may have it */
    mark_at(&m, MARK_PAUSED, 500 * US);
    mark_at(&m, MARK_RESUMED, 700 * US);
    mark_at(&m, MARK_PAUSED, 1015 * US);
    struct report report;
    build(&report, &m);
    assert_int_equal(booked(&report, IDLE_UNKNOWN), 500 * US);
    done(&report, &m);
}

static void culprits_that_differ_only_in_numbers_are_one(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %d", i);
        make_span(&m.run, m.thread, SPAN_ANNOTATION, name, i * 2000 * US - 1500 * US,
                  i * 2000 * US + 400 * US, 0);
        kernel_at(&m, i * 2000 * US, i * 2000 * US + 10 * US);
    }
    struct report report;
    build(&report, &m);
    const struct culprit_row *step = NULL;
    vec_each (&report.culprits, culprit) {
        if (culprit->cause == IDLE_HOST_COMPUTE && culprit->annotation &&
            strcmp(culprit->annotation, "step *") == 0) {
            assert_null(step);
            step = culprit;
        }
    }
    assert_non_null(step);
    assert_true(step->count >= 4);
    done(&report, &m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_issues_back_to_back_is_launch_bound),
        cmocka_unit_test(the_host_does_not_hold_up_the_nodes_of_a_graph_that_it_launched),
        cmocka_unit_test(long_code_between_launches_is_host_compute),
        cmocka_unit_test(a_native_function_is_the_culprit_where_no_python_frame_is),
        cmocka_unit_test(of_functions_without_a_name_the_library_is_told),
        cmocka_unit_test(mostly_means_more_than_half),
        cmocka_unit_test(the_code_after_a_wait_is_charged_to_the_wait),
        cmocka_unit_test(a_wait_followed_by_long_work_is_not_blamed_for_the_work),
        cmocka_unit_test(launches_soon_after_a_wait_cannot_have_been_issued_ahead),
        cmocka_unit_test(an_operator_that_goes_on_to_launch_is_dispatching),
        cmocka_unit_test(a_gap_is_split_between_causes_in_time_order),
        cmocka_unit_test(the_api_call_is_named_rather_than_the_system_call_inside_it),
        cmocka_unit_test(work_that_was_queued_but_does_not_start_waits_for_other_work),
        cmocka_unit_test(overhead_of_the_recording_tool_is_told_from_loading_code),
        cmocka_unit_test(an_idle_launching_thread_points_to_the_thread_that_feeds_it),
        cmocka_unit_test(staging_of_pageable_copies_blocks_the_host),
        cmocka_unit_test(the_first_slow_launch_of_a_kernel_loads_its_code),
        cmocka_unit_test(before_the_first_and_after_the_last_op_is_startup_and_shutdown),
        cmocka_unit_test(a_window_that_cuts_gaps_keeps_their_causes),
        cmocka_unit_test(ops_without_calls_leave_the_cause_unknown),
        cmocka_unit_test(what_happens_while_the_recording_pauses_is_unknown),
        cmocka_unit_test(culprits_that_differ_only_in_numbers_are_one),
    };
    return cmocka_run_group_tests_name("gaps", tests, NULL, NULL);
}
