/* run_seal(): sorting, nesting and linking, whatever order the rows came in. */
#include "cmocka_all.h"
#include "make_run.h"

static void ops_are_sorted_by_device_then_start_longest_first(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t second = run_device(&m.run, m.source, 1);
    uint32_t stream2 = run_stream(&m.run, m.process, second, 1, 7);
    make_kernel(&m.run, stream2, "d", 5, 6, 0);
    make_kernel(&m.run, m.stream, "c", 30, 40, 0);
    make_kernel(&m.run, m.stream, "b", 10, 12, 0);
    make_kernel(&m.run, m.stream, "a", 10, 20, 0);
    run_seal(&m.run);
    const char *expected[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(run_text(&m.run, m.run.ops.name[i]), expected[i]);
    assert_int_equal(m.run.devices.at[0].first_op, 0);
    assert_int_equal(m.run.devices.at[0].op_count, 3);
    assert_int_equal(m.run.devices.at[1].first_op, 3);
    assert_int_equal(m.run.devices.at[1].op_count, 1);
    run_release(&m.run);
}

static void spans_nest_by_time_within_their_thread(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t other = run_thread(&m.run, m.process, 200);
    make_span(&m.run, m.thread, SPAN_API, "call", 20, 30, 0);
    make_span(&m.run, other, SPAN_OP, "elsewhere", 0, 100, 0);
    make_span(&m.run, m.thread, SPAN_OP, "op", 10, 40, 0);
    make_span(&m.run, m.thread, SPAN_ANNOTATION, "step", 0, 100, 0);
    make_span(&m.run, m.thread, SPAN_OP, "next", 40, 50, 0);
    run_seal(&m.run);
    const char *expected[] = {"step", "op", "call", "next", "elsewhere"};
    uint32_t parents[] = {NONE, 0, 1, 0, NONE};
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(run_text(&m.run, m.run.spans.name[i]), expected[i]);
        assert_int_equal(m.run.spans.parent[i], parents[i]);
    }
    run_release(&m.run);
}

static void of_equal_intervals_the_outer_kind_encloses(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "call", 0, 10, 0);
    make_span(&m.run, m.thread, SPAN_OP, "op", 0, 10, 0);
    make_span(&m.run, m.thread, SPAN_ANNOTATION, "step", 0, 10, 0);
    run_seal(&m.run);
    assert_string_equal(run_text(&m.run, m.run.spans.name[0]), "step");
    assert_string_equal(run_text(&m.run, m.run.spans.name[2]), "call");
    assert_int_equal(m.run.spans.parent[2], 1);
    run_release(&m.run);
}

static void a_child_that_outlives_its_parent_by_rounding_stays_its_child(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_OP, "op", 0, 100, 0);
    make_span(&m.run, m.thread, SPAN_API, "call", 90, 101, 0);
    make_span(&m.run, m.thread, SPAN_OP, "after", 101, 110, 0);
    run_seal(&m.run);
    assert_int_equal(m.run.spans.parent[1], 0);
    assert_int_equal(m.run.spans.end[1], 101);
    assert_int_equal(m.run.spans.parent[2], NONE);
    run_release(&m.run);
}

static void ops_link_to_the_call_of_their_own_process(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t process2 = run_process(&m.run, m.source, 101);
    uint32_t thread2 = run_thread(&m.run, process2, 101);
    uint32_t stream2 = run_stream(&m.run, process2, m.device, 2, 7);
    make_kernel(&m.run, m.stream, "first", 10, 20, 5);
    make_kernel(&m.run, stream2, "second", 30, 40, 5);
    make_kernel(&m.run, m.stream, "orphan", 50, 60, 6);
    make_kernel(&m.run, m.stream, "without", 70, 80, 0);
    make_span(&m.run, m.thread, SPAN_API, "launch one", 0, 1, 5);
    make_span(&m.run, thread2, SPAN_API, "launch two", 2, 3, 5);
    run_seal(&m.run);
    assert_string_equal(run_text(&m.run, m.run.spans.name[m.run.ops.call[0]]), "launch one");
    assert_string_equal(run_text(&m.run, m.run.spans.name[m.run.ops.call[1]]), "launch two");
    assert_int_equal(m.run.ops.call[2], NONE);
    assert_int_equal(m.run.ops.call[3], NONE);
    assert_int_equal(m.run.losses.unlinked, 2);
    run_release(&m.run);
}

static void huge_sparse_correlation_ids_link_too(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint64_t ids[] = {1, UINT64_MAX, INT64_MAX, 1u << 31};
    for (int i = 0; i < 4; i++) {
        make_span(&m.run, m.thread, SPAN_API, "call", i * 10, i * 10 + 1, ids[i]);
        make_kernel(&m.run, m.stream, "k", i * 10 + 5, i * 10 + 6, ids[i]);
    }
    run_seal(&m.run);
    for (int i = 0; i < 4; i++)
        assert_int_equal(m.run.spans.id[m.run.ops.call[i]], ids[i]);
    assert_int_equal(m.run.losses.unlinked, 0);
    run_release(&m.run);
}

static void graph_nodes_share_one_call(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", 0, 5, 9);
    for (int i = 0; i < 3; i++)
        make_kernel(&m.run, m.stream, "node", 10 + i * 10, 15 + i * 10, 9);
    run_seal(&m.run);
    for (int i = 0; i < 3; i++)
        assert_int_equal(m.run.ops.call[i], 0);
    run_release(&m.run);
}

static void nesting_has_a_bounded_depth(void **state)
{
    (void)state;
    enum { SPANS = 3 * RUN_DEPTH_MAX };
    struct make_run m;
    make_run_init(&m);
    for (int i = 0; i < SPANS; i++)
        make_span(&m.run, m.thread, SPAN_OP, "nested", i, 2 * SPANS - i, 0);
    make_span(&m.run, m.thread, SPAN_OP, "after", 2 * SPANS - 1, 2 * SPANS, 0);
    run_seal(&m.run);
    const uint32_t *parent = m.run.spans.parent;
    for (uint32_t i = 1; i < SPANS; i++)
        assert_int_equal(parent[i], i < RUN_DEPTH_MAX ? i - 1 : RUN_DEPTH_MAX - 2);
    assert_int_equal(parent[SPANS], 0); /* what ends is left as ever */
    run_release(&m.run);
}

static void records_at_impossible_times_are_left_out_per_source(void **state)
{
    (void)state;
    const int64_t epoch = INT64_C(1700000000000000000), far = INT64_C(1) << 62;
    struct make_run m;
    make_run_init(&m);
    uint32_t source = run_add_source(&m.run, "other clock", "made by hand");
    uint32_t process = run_process(&m.run, source, 1), thread = run_thread(&m.run, process, 1);
    uint32_t stream = run_stream(&m.run, process, run_device(&m.run, source, 0), 1, 7);
    for (int64_t i = 0; i < 10; i++) {
        make_launch(&m, "k", i * 100, i * 100 + 10, i * 100 + 20, i * 100 + 50);
        make_span(&m.run, thread, SPAN_OP, "op", epoch + i * 100, epoch + i * 100 + 90, 0);
        make_kernel(&m.run, stream, "k", epoch + i * 100, epoch + i * 100 + 50, 0);
    }
    make_kernel(&m.run, m.stream, "stray", -far, -far + 5, 0);
    make_kernel(&m.run, m.stream, "endless", 50, far, 0);
    make_span(&m.run, thread, SPAN_OP, "stray", far, far + 5, 0);
    run_seal(&m.run);
    assert_int_equal(m.run.losses.untimed, 3);
    assert_int_equal(m.run.ops.count, 20);
    assert_int_equal(m.run.spans.count, 20);
    assert_int_equal(m.run.ops.start[10], epoch); /* a clock of its own is no error */
    assert_int_equal(m.run.losses.unlinked, 10);
    run_release(&m.run);
}

static void long_recordings_keep_all_their_records(void **state)
{
    (void)state;
    const int64_t hour = INT64_C(3600000000000);
    struct make_run m;
    make_run_init(&m);
    for (int64_t i = 0; i < 300; i++)
        make_kernel(&m.run, m.stream, "hourly", i * hour, i * hour + 50, 0);
    run_seal(&m.run);
    assert_int_equal(m.run.losses.untimed, 0);
    assert_int_equal(m.run.ops.count, 300);
    run_release(&m.run);
}

static void a_graph_launch_that_is_there_whole_and_by_nodes_counts_once(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t other = run_process(&m.run, m.source, 77);
    uint32_t elsewhere = run_stream(&m.run, other, m.run.streams.at[m.stream].device, 1, 7);
    make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", 0, 5, 1);
    make_span(&m.run, m.thread, SPAN_API, "cudaGraphLaunch", 50, 55, 2);
    for (int node = 0; node < 2; node++) {
        uint32_t op = make_kernel(&m.run, m.stream, "node", 10 + node * 10, 20 + node * 10, 1);
        m.run.ops.graph[op] = 12;
    }
    const uint32_t streams[] = {m.stream, m.stream, elsewhere};
    for (int i = 0; i < 3; i++) { /* the third has the number of the first, in another process */
        uint32_t op =
            make_op(&m.run, streams[i], OP_GRAPH, "whole", 10 + 50 * i, 30 + 50 * i, i == 1 ? 2 : 1);
        m.run.ops.graph[op] = 12;
    }
    run_seal(&m.run);
    const char *expected[] = {"node", "node", "whole", "whole"};
    assert_int_equal(m.run.ops.count, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(run_text(&m.run, m.run.ops.name[i]), expected[i]);
    assert_int_equal(m.run.devices.at[0].op_count, 4);
    run_release(&m.run);
}

static void what_migrates_by_itself_needs_no_call(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_copy(&m.run, m.stream, COPY_MANAGED_H2D, MEM_MANAGED, MEM_MANAGED, 4096, 10, 20, 0);
    make_copy(&m.run, m.stream, COPY_H2D, MEM_PINNED, MEM_DEVICE, 4096, 30, 40, 0);
    run_seal(&m.run);
    assert_int_equal(m.run.losses.unlinked, 1);
    run_release(&m.run);
}

static void kernels_get_the_collective_of_the_span_they_were_launched_in(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    vec_push(&m.run.comms, ((struct comm){.group_size = 8}));
    vec_push(&m.run.comms, ((struct comm){.group_size = 4}));
    uint32_t group = make_span(&m.run, m.thread, SPAN_ANNOTATION, "ncclGroupEnd", 0, 100, 0);
    m.run.spans.comm[group] = 1;
    make_span(&m.run, m.thread, SPAN_OTHER, "inner", 10, 60, 0);
    make_span(&m.run, m.thread, SPAN_API, "cudaLaunchKernel", 20, 30, 1);
    make_span(&m.run, m.thread, SPAN_API, "cudaLaunchKernel", 120, 130, 2);
    make_kernel(&m.run, m.stream, "in", 40, 50, 1);
    make_kernel(&m.run, m.stream, "out", 140, 150, 2);
    uint32_t told = make_kernel(&m.run, m.stream, "told", 160, 170, 1);
    m.run.ops.comm[told] = 0; /* the framework knows better */
    run_seal(&m.run);
    assert_int_equal(m.run.ops.comm[0], 1);
    assert_int_equal(m.run.ops.comm[1], NONE);
    assert_int_equal(m.run.ops.comm[2], 0);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_are_sorted_by_device_then_start_longest_first),
        cmocka_unit_test(spans_nest_by_time_within_their_thread),
        cmocka_unit_test(of_equal_intervals_the_outer_kind_encloses),
        cmocka_unit_test(a_child_that_outlives_its_parent_by_rounding_stays_its_child),
        cmocka_unit_test(ops_link_to_the_call_of_their_own_process),
        cmocka_unit_test(huge_sparse_correlation_ids_link_too),
        cmocka_unit_test(graph_nodes_share_one_call),
        cmocka_unit_test(nesting_has_a_bounded_depth),
        cmocka_unit_test(records_at_impossible_times_are_left_out_per_source),
        cmocka_unit_test(long_recordings_keep_all_their_records),
        cmocka_unit_test(a_graph_launch_that_is_there_whole_and_by_nodes_counts_once),
        cmocka_unit_test(what_migrates_by_itself_needs_no_call),
        cmocka_unit_test(kernels_get_the_collective_of_the_span_they_were_launched_in),
    };
    return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
