/* Steps of runs: found without annotation, named by it, and outliers with their cause. */
#include "cmocka_all.h"
#include "make_run.h"

#include <stdio.h>
#include <string.h>

#include "analyze/annotated.h"
#include "analyze/steps.h"
#include "import/import.h"

static void build(struct report *report, struct run *run)
{
    run_seal(run);
    *report = (struct report){.run = run};
    ledger_build(report, NULL);
    steps_build(report);
    int64_t end = INT64_MIN;
    vec_each (&report->steps.rows, row) {
        assert_true(row->start >= end && row->end >= row->start);
        assert_int_equal(row->busy_ns + row->idle_ns, row->end - row->start);
        assert_true(row->busy_ns >= 0 && row->idle_ns >= 0);
        end = row->end;
    }
    assert_int_equal(report->steps.count, report->steps.rows.count);
}

static void release(struct report *report, struct run *run)
{
    report_release(report);
    run_release(run);
}

/* ---- recordings of a real GPU -------------------------------------------------------------------------- */

enum { STEPS_MAX = 64 };

/* Number of the program's own step ranges, and where they begin. Their kind is changed to one that says
 * nothing, so that the launch sequence must do without them. */
static size_t hide_annotations(struct run *run)
{
    size_t steps = 0;
    for (size_t i = 0; i < run->spans.count; i++) {
        if (run->spans.kind[i] != SPAN_ANNOTATION)
            continue;
        const char *name = run_text(run, run->spans.name[i]);
        steps += strncmp(name, "step ", 5) == 0 || strncmp(name, "## step ", 8) == 0;
        run->spans.kind[i] = SPAN_OTHER;
    }
    return steps;
}

/* Left out are recordings whose steps are several equal rounds with nothing between them that the sequence or
 * the pauses would show. */
static void the_launch_sequence_alone_tells_the_steps(void **state)
{
    (void)state;
    static const char *const samples[] = {
        "alloc_thrash",
        "big_convnet",
        "big_sort",
        "check_every_result",
        "checkpoint_every_step",
        "compile_in_the_loop",
        "cuda_graph",
        "d2h_heavy",
        "double_by_accident",
        "fp32_convolutions",
        "gemm_bf16",
        "gemm_fp32",
        "graphed_mlp",
        "greedy_decode",
        "hand_written_loader",
        "launch_bound",
        "loader_starved",
        "loader_starved_stacks",
        "loader_too_few_workers",
        "log_loss_of_big_step",
        "long_scan_of_few_rows",
        "many_small_copies",
        "overlapped",
        "pageable_h2d",
        "pin_every_batch",
        "pinned_on_default_stream",
        "python_between_steps",
        "rnn_cell_loop",
        "save_activations",
        "scattered_embedding",
        "slow_step_now_and_then",
        "strided_copy",
        "sync_bound",
        "synchronize_every_kernel",
        "tiny_grids",
        "torch_train_basic",
        "transformer_ok",
        "unfused_optimizer",
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[512];
        struct run run;
        struct report report;
        struct err err = {0};
        snprintf(path, sizeof path, "%s/torch/%s.json.gz", SAMPLES, samples[i]);
        run_init(&run);
        if (import_file(&run, path, NULL, &(struct import_options){0}, &err) != 0)
            fail_msg("%s: %s", path, err.what);
        int64_t steps = (int64_t)hide_annotations(&run);
        build(&report, &run);
        if (report.steps.origin != STEPS_SEQUENCE || llabs(report.steps.count - steps) > 1)
            fail_msg("%s: %lld steps, expected %lld", samples[i], (long long)report.steps.count,
                     (long long)steps);
        assert_true(report.steps.coverage_ratio > 0.5 && report.steps.coverage_ratio <= 1);
        release(&report, &run);
    }
}

static void annotations_name_the_steps_that_the_sequence_shows(void **state)
{
    (void)state;
    struct run run;
    struct report report;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(import_file(&run, SAMPLES "/torch/slow_step_now_and_then.json.gz", NULL,
                                 &(struct import_options){0}, &err),
                     0);
    run_seal(&run);
    report_build(&report, &run, NULL);
    assert_int_equal(report.steps.origin, STEPS_SEQUENCE);
    assert_int_equal(report.steps.count, 24);
    for (size_t i = 0; i < 24; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %zu", i);
        assert_string_equal(run_text(&run, report.steps.rows.at[i].name), name);
        /* two steps of it are held up by the host */
        assert_int_equal(report.steps.rows.at[i].outlier, i == 7 || i == 15);
        if (report.steps.rows.at[i].outlier)
            assert_int_equal(report.steps.rows.at[i].outlier_cause, IDLE_HOST_COMPUTE);
    }
    release(&report, &run);
}

static void steps_of_equal_rounds_are_taken_from_the_annotation(void **state)
{
    (void)state;
    struct run run;
    struct report report;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(
        import_file(&run, SAMPLES "/torch/attention_large.json.gz", NULL, &(struct import_options){0}, &err),
        0);
    build(&report, &run);
    assert_int_equal(report.steps.origin, STEPS_ANNOTATED);
    assert_int_equal(report.steps.count, 12);
    assert_int_equal(report.steps.period_launches, 8);
    release(&report, &run);
}

/* ---- made by hand -------------------------------------------------------------------------------------- */

enum { STEP_NS = 10000, KERNELS = 5 };

/* Five kernels, then a pause; extra lengthens the pause before the step. */
static int64_t add_step(struct make_run *m, int64_t at)
{
    static const char *const kernels[KERNELS] = {"a", "b", "c", "d", "e"};
    for (int k = 0; k < KERNELS; k++)
        make_launch(m, kernels[k], at + k * 1000, at + k * 1000 + 100, at + k * 1000 + 500,
                    at + k * 1000 + 1400);
    return at + STEP_NS;
}

static void steps_begin_with_their_first_kernel_and_end_with_the_next(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    int64_t at = 0;
    for (int i = 0; i < 10; i++)
        at = add_step(&m, at);
    build(&report, &m.run);
    assert_int_equal(report.steps.origin, STEPS_SEQUENCE);
    assert_int_equal(report.steps.count, 10);
    assert_int_equal(report.steps.period_launches, KERNELS);
    assert_int_equal(report.steps.median_ns, STEP_NS);
    const struct step_row *rows = report.steps.rows.at;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(rows[i].start, i * STEP_NS + 500);
        assert_int_equal(rows[i].end, rows[i + 1].start);
        assert_int_equal(rows[i].busy_ns, KERNELS * 900);
        assert_int_equal(rows[i].ops, KERNELS);
        assert_int_equal(rows[i].name, 0);
        assert_false(rows[i].outlier);
    }
    assert_int_equal(rows[9].end, 9 * STEP_NS + 4000 + 1400);
    release(&report, &m.run);
}

static void an_outlier_names_the_account_that_grew(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    int64_t at = 0;
    for (int i = 0; i < 20; i++) {
        at = add_step(&m, at);
        if (i == 7) /* a slow copy at the end of this step */
            make_copy(&m.run, m.stream, COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, 1, at, at + 30000, 0),
                at += 30000;
        if (i == 13)
            at += 20000;
    }
    run_seal(&m.run);
    report = (struct report){.run = &m.run};
    ledger_build(&report, NULL);
    vec_each (&report.gaps, gap)
        gap->cause = gap->end - gap->start > 15000 ? IDLE_DATA_LOADING : IDLE_LAUNCH_BOUND;
    steps_build(&report);
    assert_int_equal(report.steps.count, 20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(report.steps.rows.at[i].outlier, i == 7 || i == 13);
    assert_int_equal(report.steps.rows.at[7].outlier_cause, ACCOUNT_COPY);
    assert_int_equal(report.steps.rows.at[7].outlier_excess_ns, 30000);
    assert_int_equal(report.steps.rows.at[13].outlier_cause, IDLE_DATA_LOADING);
    assert_int_equal(report.steps.rows.at[13].outlier_excess_ns, 20000);
    release(&report, &m.run);
}

static void nodes_of_a_graph_are_one_launch(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    for (int i = 0; i < 12; i++) {
        int64_t at = i * 100000 + i % 3; /* no rhythm in it */
        uint64_t correlation = m.next_correlation++;
        make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", at, at + 5000, correlation);
        for (int k = 0; k < 50; k++) {
            int64_t start = at + 9000 + k * 1000;
            uint32_t op = make_kernel(&m.run, m.stream, k % 2 ? "x" : "y", start, start + 900, correlation);
            m.run.ops.graph[op] = 3;
        }
    }
    build(&report, &m.run);
    assert_int_equal(report.steps.count, 12);
    assert_int_equal(report.steps.period_launches, 1);
    assert_int_equal(report.steps.rows.at[0].ops, 50);
    release(&report, &m.run);
}

/* Launches a graph of 50 nodes of 1 µs at a moment. Returns when it is done. */
static int64_t launch_graph(struct make_run *m, uint32_t graph, int64_t at)
{
    uint64_t correlation = m->next_correlation++;
    make_span(&m->run, m->thread, SPAN_API, "cudaGraphLaunch", at, at + 5000, correlation);
    for (int k = 0; k < 50; k++) {
        int64_t start = at + 9000 + k * 1000;
        uint32_t op = make_kernel(&m->run, m->stream, "node", start, start + 900, correlation);
        m->run.ops.graph[op] = graph;
    }
    return at + 60000;
}

static void graphs_that_take_turns_are_one_step(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    int64_t at = 0;
    make_run_init(&m);
    for (int i = 0; i < 180; i++, at += 3000) /* what warms up for them repeats more often */
        make_launch(&m, i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c", at, at + 500, at + 900, at + 1000);
    int64_t first = at + 9000;
    for (int i = 0; i < 40; i++) {
        at = launch_graph(&m, 4, launch_graph(&m, 3, at));
        make_launch(&m, "optimizer", at, at + 500, at + 900, at + 1900);
        at += 5000;
    }
    build(&report, &m.run);
    assert_in_range(report.steps.count, 39, 40);
    assert_int_equal(report.steps.period_launches, 3);
    assert_true(report.steps.rows.at[0].start >= first);
    release(&report, &m.run);
}

static void shapes_tell_launches_of_one_name_apart(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t big = run_shape(&m.run, &(struct shape){.grid = {1000, 1, 1}});
    uint32_t small = run_shape(&m.run, &(struct shape){.grid = {10, 1, 1}});
    for (int i = 0; i < 200; i++) {
        make_launch(&m, "gemm", i * 1000, i * 1000 + 100, i * 1000 + 200, i * 1000 + 900);
        m.run.ops.shape[i] = i % 20 < 3 ? small : big;
    }
    build(&report, &m.run);
    assert_int_equal(report.steps.origin, STEPS_SEQUENCE);
    assert_in_range(report.steps.count, 9, 10);
    assert_int_equal(report.steps.period_launches, 20);
    release(&report, &m.run);
}

static void steps_are_found_without_calls(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    for (int i = 0; i < 60; i++) {
        static const char *const kernels[] = {"a", "b", "c"};
        make_kernel(&m.run, m.stream, kernels[i % 3], i * 1000 + (i / 3) * 5000,
                    i * 1000 + (i / 3) * 5000 + 800, 0);
    }
    build(&report, &m.run);
    assert_int_equal(report.steps.count, 20);
    assert_int_equal(report.steps.rows.at[0].start, 0);
    release(&report, &m.run);
}

static void no_period_is_no_steps(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t random = 1;
    for (int i = 0; i < 1000; i++) {
        char name[32];
        random = random * 1664525 + 1013904223;
        snprintf(name, sizeof name, "k%u", random >> 27);
        make_launch(&m, name, i * 1000, i * 1000 + 100, i * 1000 + 200, i * 1000 + 900);
    }
    build(&report, &m.run);
    assert_int_equal(report.steps.origin, STEPS_NONE);
    assert_int_equal(report.steps.count, 0);
    release(&report, &m.run);
    make_run_init(&m);
    build(&report, &m.run); /* nothing at all */
    assert_int_equal(report.steps.origin, STEPS_NONE);
    assert_int_equal(report.steps.device, NONE);
    release(&report, &m.run);
}

/* ---- annotations --------------------------------------------------------------------------------------- */

static void ranges_mark_steps_where_launches_have_no_period(void **state)
{
    (void)state;
    struct make_run m;
    struct report report;
    make_run_init(&m);
    uint32_t random = 1;
    for (int i = 0; i < 200; i++) {
        char name[32];
        random = random * 1664525 + 1013904223;
        snprintf(name, sizeof name, "k%u", random >> 27);
        make_launch(&m, name, i * 1000, i * 1000 + 100, i * 1000 + 200, i * 1000 + 900);
    }
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "iteration %d", i);
        make_span(&m.run, m.thread, SPAN_ANNOTATION, name, i * 25000, i * 25000 + 24500, 0);
        make_span(&m.run, m.thread, SPAN_ANNOTATION, "forward", i * 25000, i * 25000 + 12000, 0);
    }
    build(&report, &m.run);
    assert_int_equal(report.steps.origin, STEPS_ANNOTATED);
    assert_int_equal(report.steps.count, 8);
    assert_int_equal(report.steps.period_launches, 25);
    assert_int_equal(report.steps.rows.at[3].start, 75000 + 200);
    assert_string_equal(run_text(&m.run, report.steps.rows.at[3].name), "iteration 3");
    release(&report, &m.run);
}

static void ranges_around_little_work_are_not_steps(void **state)
{
    (void)state;
    struct make_run m;
    struct annotated ranges;
    make_run_init(&m);
    int64_t issued[100];
    for (int i = 0; i < 100; i++)
        issued[i] = i * 1000;
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %d", i);
        make_span(&m.run, m.thread, SPAN_ANNOTATION, name, i * 10000, i * 10000 + 3500, 0);
    }
    run_seal(&m.run);
    annotated_find(&m.run, m.device, issued, 100, &ranges);
    assert_int_equal(ranges.count, 0);
    run_release(&m.run);
}

static void counted_steps_are_preferred_to_what_they_hold_and_what_holds_them(void **state)
{
    (void)state;
    struct make_run m;
    struct annotated ranges;
    make_run_init(&m);
    int64_t issued[400];
    for (int i = 0; i < 400; i++)
        issued[i] = i * 1000;
    for (int epoch = 0; epoch < 4; epoch++) {
        char name[32];
        snprintf(name, sizeof name, "epoch %d", epoch);
        make_span(&m.run, m.thread, SPAN_ANNOTATION, name, epoch * 100000, epoch * 100000 + 99999, 0);
        for (int step = 0; step < 10; step++) {
            int64_t at = epoch * 100000 + step * 10000;
            snprintf(name, sizeof name, "train_step_%d", epoch * 10 + step);
            make_span(&m.run, m.thread, SPAN_ANNOTATION, name, at, at + 9900, 0);
            for (int layer = 0; layer < 9; layer++) {
                snprintf(name, sizeof name, "layer %d", layer);
                make_span(&m.run, m.thread, SPAN_ANNOTATION, name, at + layer * 1000, at + layer * 1000 + 990,
                          0);
            }
        }
    }
    run_seal(&m.run);
    annotated_find(&m.run, m.device, issued, 400, &ranges);
    assert_int_equal(ranges.count, 40);
    assert_true(ranges.numbered && ranges.named_step);
    assert_string_equal(run_text(&m.run, m.run.spans.name[ranges.spans[39]]), "train_step_39");
    assert_int_equal(annotated_at(&ranges, &m.run, 395000), ranges.spans[39]);
    assert_int_equal(annotated_at(&ranges, &m.run, 399950), NONE);
    assert_int_equal(annotated_at(&ranges, &m.run, -1), NONE);
    annotated_release(&ranges);
    run_release(&m.run);
}

/* ---- the sweep ----------------------------------------------------------------------------------------- */

static void sum_stretch(void *context, const struct sweep_stretch *stretch)
{
    if (stretch->busy)
        ((int64_t *)context)[stretch->account] += stretch->end - stretch->start;
}

static void the_sweep_books_as_the_ledger_does(void **state)
{
    (void)state;
    static const char *const samples[] = {"overlapped", "transformer_ok", "d2h_heavy"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[512];
        struct run run;
        struct comm_names names;
        struct err err = {0};
        snprintf(path, sizeof path, "%s/torch/%s.json.gz", SAMPLES, samples[i]);
        run_init(&run);
        assert_int_equal(import_file(&run, path, NULL, &(struct import_options){0}, &err), 0);
        run_seal(&run);
        struct report report = {.run = &run};
        ledger_build(&report, NULL);
        comm_names_init(&names, &run);
        vec_each (&report.devices, device) {
            int64_t sums[ACCOUNT_COUNT] = {0};
            sweep_device(&names, device->device, device->window, sum_stretch, sums);
            for (int a = 0; a < ACCOUNT_BUSY_COUNT; a++)
                assert_int_equal(sums[a], device->ledger_ns[a]);
        }
        comm_names_release(&names);
        release(&report, &run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_launch_sequence_alone_tells_the_steps),
        cmocka_unit_test(annotations_name_the_steps_that_the_sequence_shows),
        cmocka_unit_test(steps_of_equal_rounds_are_taken_from_the_annotation),
        cmocka_unit_test(steps_begin_with_their_first_kernel_and_end_with_the_next),
        cmocka_unit_test(an_outlier_names_the_account_that_grew),
        cmocka_unit_test(nodes_of_a_graph_are_one_launch),
        cmocka_unit_test(graphs_that_take_turns_are_one_step),
        cmocka_unit_test(shapes_tell_launches_of_one_name_apart),
        cmocka_unit_test(steps_are_found_without_calls),
        cmocka_unit_test(no_period_is_no_steps),
        cmocka_unit_test(ranges_mark_steps_where_launches_have_no_period),
        cmocka_unit_test(ranges_around_little_work_are_not_steps),
        cmocka_unit_test(counted_steps_are_preferred_to_what_they_hold_and_what_holds_them),
        cmocka_unit_test(the_sweep_books_as_the_ledger_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
