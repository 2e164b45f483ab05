/* Chrome traces of other tools than torch.profiler, and how their times are read. */
#include "chrome_trace.h"

#include "import/chrome_time.h"

/* ---- times --------------------------------------------------------------------------------------------- */

static int64_t ns(const char *text)
{
    int64_t value = UNKNOWN;
    return chrome_time_ns((struct json_text){text, strlen(text)}, &value) ? value : UNKNOWN;
}

static void test_times_become_exact_nanoseconds(void **state)
{
    (void)state;
    assert_int_equal(ns("0"), 0);
    assert_int_equal(ns("1"), 1000);
    assert_int_equal(ns("0.36"), 360);
    assert_int_equal(ns("1.5"), 1500);
    assert_int_equal(ns("2413668742269.099"), 2413668742269099);
    /* doubles would lose these */
    assert_int_equal(ns("1712195495794554.2"), 1712195495794554200);
    assert_int_equal(ns("1712195495794554.001"), 1712195495794554001);
    assert_int_equal(ns("9223372036854775.807"), INT64_MAX);
    assert_int_equal(ns("-12.5"), -12500);
    assert_int_equal(ns(".5"), 500);
    assert_int_equal(ns("7."), 7000);
}

static void test_finer_than_nanoseconds_is_cut_off(void **state)
{
    (void)state;
    assert_int_equal(ns("1.2345678901234567890123"), 1234);
    assert_int_equal(ns("1712195495794554.2509999999"), 1712195495794554250);
    assert_int_equal(ns("0.0009"), 0);
    assert_int_equal(ns("-0.0019"), -1);
}

static void test_times_may_have_exponents(void **state)
{
    (void)state;
    assert_int_equal(ns("1.5e3"), 1500000);
    assert_int_equal(ns("1.7121954957945542E+15"), 1712195495794554200);
    assert_int_equal(ns("25e-1"), 2500);
    assert_int_equal(ns("1e-30"), 0);
    assert_int_equal(ns("0e400"), 0);
}

static void test_what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "-",
                                        ".",
                                        "abc",
                                        "1.2.3",
                                        "1e",
                                        "1e5x",
                                        "NaN",
                                        "1 2",
                                        "--1",
                                        "9223372036854776",
                                        "1e16",
                                        "18446744073709551615",
                                        "1e999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(ns(wrong[i]) == UNKNOWN);
}

/* ---- other Chrome traces ----------------------------------------------------------------------------- */

static void test_begin_and_end_are_matched_by_thread(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"ph\":\"B\",\"name\":\"outer\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1},"
                        "{\"ph\":\"B\",\"name\":\"other\",\"pid\":1,\"tid\":2,\"ts\":2},"
                        "{\"ph\":\"B\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":3},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":7},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
                        "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":6},"
                        "{\"ph\":\"B\",\"name\":\"open\",\"pid\":1,\"tid\":1,\"ts\":6}");
    assert_int_equal(run.spans.count, 4);
    static const int64_t ends[] = {5000, 7000, 4000, 7000};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run.spans.kind[i], SPAN_OTHER);
        assert_int_equal(run.spans.end[i], ends[i]);
    }
    assert_name(&run, run.spans.detail[0], "c");
    assert_int_equal(repairs(&run, "never began"), 1);
    assert_int_equal(repairs(&run, "without an end"), 1);
    assert_name(&run, run.sources.at[0].format, "Chrome trace JSON");
    run_release(&run);
}

static void test_async_pairs_are_matched_by_id_off_the_threads(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"b\",\"cat\":\"net\",\"name\":\"x\",\"id\":\"0x1\",\"pid\":1,\"tid\":1,\"ts\":1},"
              "{\"ph\":\"b\",\"cat\":\"net\",\"name\":\"y\",\"id\":\"0x2\",\"pid\":1,\"tid\":1,\"ts\":2},"
              "{\"ph\":\"e\",\"cat\":\"net\",\"name\":\"x\",\"id\":\"0x1\",\"pid\":1,\"tid\":1,\"ts\":5},"
              "{\"ph\":\"e\",\"cat\":\"net\",\"name\":\"y\",\"id\":\"0x2\",\"pid\":1,\"tid\":1,\"ts\":9}");
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.end[0], 5000);
    assert_int_equal(run.spans.end[1], 9000);
    assert_int_equal(run.threads.count, 1);
    assert_name(&run, run.threads.at[0].name, "net");
    run_release(&run);
}

static void test_counters_and_instants(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"C\",\"name\":\"load\",\"pid\":1,\"ts\":1,\"args\":{\"cpu\":0.5,\"gpu\":\"7\",\"x\":null}},"
        "{\"ph\":\"C\",\"name\":\"load\",\"pid\":1,\"ts\":2,\"args\":{\"cpu\":0.75}},"
        "{\"ph\":\"C\",\"name\":\"mem\",\"pid\":1,\"ts\":2,\"args\":{\"value\":3}},"
        "{\"ph\":\"i\",\"name\":\"hello\",\"pid\":1,\"tid\":1,\"ts\":3,\"s\":\"g\"},"
        "{\"ph\":\"N\",\"name\":\"object\",\"id\":1,\"pid\":1,\"ts\":3},"
        "{\"ph\":\"O\",\"name\":\"object\",\"id\":1,\"pid\":1,\"ts\":3,\"args\":{\"snapshot\":{}}},"
        "{\"ph\":\"D\",\"name\":\"object\",\"id\":1,\"pid\":1,\"ts\":3}");
    assert_int_equal(run.samples.count, 4);
    assert_int_equal(run.series.count, 3);
    assert_name(&run, run.series.at[0].name, "load: cpu");
    assert_name(&run, run.series.at[1].name, "load: gpu");
    assert_name(&run, run.series.at[2].name, "mem");
    assert_true(run.samples.value[1] == 7);
    assert_true(run.samples.value[2] == 0.75);
    assert_int_equal(run.samples.series[2], run.samples.series[0]);
    assert_int_equal(run.marks.count, 1);
    assert_name(&run, run.marks.at[0].text, "hello");
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_hardware_counters_belong_to_their_gpu(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"C\",\"name\":\"sm\",\"pid\":\"GPU 3 Counters\",\"ts\":1,\"args\":{\"value\":5}}");
    assert_int_equal(run.devices.at[run.series.at[0].device].id, 3);
    assert_int_equal(run.series.at[0].process, NONE);
    run_release(&run);
}

static void test_any_number_of_counters_takes_bounded_time(void **state)
{
    (void)state;
    struct run run;
    struct str events = {0};
    for (int i = 0; i < 12000; i++)
        str_addf(&events, "%s{\"ph\":\"C\",\"name\":\"c%d\",\"pid\":1,\"ts\":1,\"args\":{\"value\":5}}",
                 i ? "," : "", i);
    import_events(&run, events.ptr);
    assert_int_equal(run.series.count, 10000);
    assert_int_equal(run.samples.count, 10000);
    assert_int_equal(repairs(&run, "counters beyond"), 2000);
    str_release(&events);
    run_release(&run);
}

static void test_pids_and_tids_may_be_texts(void **state)
{
    (void)state;
    struct run run;
    import_events(&run,
                  "{\"ph\":\"X\",\"name\":\"a\",\"pid\":\"main\",\"tid\":\"worker\",\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"name\":\"b\",\"pid\":\"main\",\"tid\":\"other\",\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"name\":\"c\",\"pid\":\"12\",\"tid\":13,\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"name\":\"d\",\"pid\":12,\"tid\":\"13\",\"ts\":3,\"dur\":1},"
                  "{\"ph\":\"X\",\"name\":\"e\",\"ts\":3,\"dur\":1}");
    assert_int_equal(run.processes.count, 3);
    assert_name(&run, run.processes.at[0].name, "main");
    assert_name(&run, run.threads.at[0].name, "worker");
    assert_int_equal(run.spans.thread[2], run.spans.thread[3]);
    assert_int_not_equal(run.spans.thread[0], run.spans.thread[1]);
    run_release(&run);
}

static void test_tensorflow_streams_count_each_op_once(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run,
        "{\"traceEvents\":["
        "{\"name\":\"MatMul\",\"pid\":3,\"tid\":0,\"ts\":10,\"dur\":2,\"ph\":\"X\",\"cat\":\"Op\","
        "\"args\":{\"name\":\"a/MatMul\",\"op\":\"MatMul\"}},"
        "{\"name\":\"MatMul\",\"pid\":5,\"tid\":0,\"ts\":11,\"dur\":7,\"ph\":\"X\",\"cat\":\"Op\",\"args\":{}"
        "},"
        "{\"name\":\"MatMul\",\"pid\":7,\"tid\":0,\"ts\":11,\"dur\":7,\"ph\":\"X\",\"cat\":\"Op\",\"args\":{}"
        "},"
        "{\"name\":\"MEMCPYDtoH\",\"pid\":9,\"tid\":0,\"ts\":20,\"dur\":3,\"ph\":\"X\",\"cat\":\"Op\","
        "\"args\":{}},"
        "{\"name\":\"MEMCPYDtoH\",\"pid\":11,\"tid\":0,\"ts\":20,\"dur\":3,\"ph\":\"X\",\"cat\":\"Op\","
        "\"args\":{}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":"
        "\"/job:localhost/replica:0/task:0/gpu:0 Compute\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"/gpu:0/stream:all "
        "Compute\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"/gpu:0/stream:12 Compute\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"/gpu:0/memcpy Compute\"}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":11,\"args\":{\"name\":\"/gpu:0/stream:14 "
        "Compute\"}}]}");
    assert_int_equal(run.ops.count, 2);
    assert_int_equal(run.ops.kind[0], OP_KERNEL);
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 12);
    assert_int_equal(run.ops.kind[1], OP_COPY);
    assert_int_equal(run.ops.dir[1], COPY_D2H);
    assert_int_equal(run.streams.at[run.ops.stream[1]].id, 14);
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.spans.kind[0], SPAN_OP);
    assert_int_equal(run.devices.count, 1);
    assert_name(&run, run.sources.at[0].format, "TensorFlow timeline JSON");
    run_release(&run);
}

static void test_tensorflow_totals_serve_where_there_are_no_streams(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "{\"traceEvents\":["
                      "{\"name\":\"MatMul\",\"pid\":5,\"tid\":0,\"ts\":11,\"dur\":7,\"ph\":\"X\",\"cat\":"
                      "\"Op\",\"args\":{}},"
                      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":"
                      "\"/device:GPU:1/stream:all Compute\"}}]}");
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.devices.at[0].id, 1);
    run_release(&run);
}

static void test_xla_streams_become_gpu_work(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run,
        "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":["
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":14,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream "
        "#14(Compute)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":15,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream "
        "#16(MemcpyH2D)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":20,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
        "{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"ts\":5.001,\"dur\":2.5,\"name\":\"loop_fusion\",\"args\":{"
        "\"correlation_id\":\"77\",\"kernel_details\":\"regs:32 static_shared:16 dynamic_shared:64 "
        "grid:7,2,1 "
        "block:128,1,1 occ_pct:62.5\",\"hlo_op\":\"fusion\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":15,\"ts\":2,\"dur\":1,\"name\":\"MemcpyH2D\",\"args\":{"
        "\"memcpy_details\":\"kind_src:pageable kind_dst:device size:4096 dest:0 async:1\"}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":20,\"ts\":5.001,\"dur\":2.5,\"name\":\"fusion\"},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":3,\"ts\":3,\"dur\":1,\"name\":\"cuLaunchKernel\",\"args\":{"
        "\"correlation_id\":\"77\"}},"
        "{\"ph\":\"X\",\"pid\":701,\"tid\":3,\"ts\":1,\"dur\":9,\"name\":\"$app.py:12 step\"},{}]}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 2);
    assert_int_equal(run.ops.kind[0], OP_COPY);
    assert_int_equal(run.ops.dir[0], COPY_H2D);
    assert_int_equal(run.ops.src[0], MEM_PAGEABLE);
    assert_int_equal(run.ops.dst[0], MEM_DEVICE);
    assert_int_equal(run.ops.bytes[0], 4096);
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 16);
    assert_int_equal(run.ops.start[1], 5001);
    const struct shape *shape = &run.shapes.at[run.ops.shape[1]];
    assert_int_equal(shape->grid[0], 7);
    assert_int_equal(shape->grid[1], 2);
    assert_int_equal(shape->block[0], 128);
    assert_int_equal(shape->regs_per_thread, 32);
    assert_int_equal(shape->shared_static_bytes, 16);
    assert_int_equal(shape->occupancy_percent, 62);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.kind[0], SPAN_PYTHON);
    assert_int_equal(run.spans.kind[1], SPAN_API);
    assert_int_equal(run.ops.call[1], 1);
    assert_name(&run, run.sources.at[0].format, "XLA trace JSON");
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_become_exact_nanoseconds),
        cmocka_unit_test(test_finer_than_nanoseconds_is_cut_off),
        cmocka_unit_test(test_times_may_have_exponents),
        cmocka_unit_test(test_what_is_no_time_is_refused),
        cmocka_unit_test(test_begin_and_end_are_matched_by_thread),
        cmocka_unit_test(test_async_pairs_are_matched_by_id_off_the_threads),
        cmocka_unit_test(test_counters_and_instants),
        cmocka_unit_test(test_hardware_counters_belong_to_their_gpu),
        cmocka_unit_test(test_any_number_of_counters_takes_bounded_time),
        cmocka_unit_test(test_pids_and_tids_may_be_texts),
        cmocka_unit_test(test_tensorflow_streams_count_each_op_once),
        cmocka_unit_test(test_tensorflow_totals_serve_where_there_are_no_streams),
        cmocka_unit_test(test_xla_streams_become_gpu_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
