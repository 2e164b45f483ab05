#include "import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "import/chrome_time.h"

extern const struct importer import_chrome_json;

/* ---- helpers ------------------------------------------------------------------------------------------- */

static int import_bytes(struct run *run, const char *data, size_t length, struct err *err)
{
    struct stream *in;
    run_init(run);
    assert_int_equal(stream_open_memory(&in, "test.json", data, length, err), 0);
    int code = import_chrome_json.read(run, in, NULL, err);
    stream_close(in);
    return code;
}

/* Imports a whole document. */
static void import_text(struct run *run, const char *json)
{
    struct err err = {0};
    int code = import_bytes(run, json, strlen(json), &err);
    if (code != 0)
        fail_msg("%s", err.what);
}

/* Imports {"traceEvents": [events]}. */
static void import_events(struct run *run, const char *events)
{
    struct str json = {0};
    str_addf(&json, "{\"schemaVersion\": 1, \"traceEvents\": [%s]}", events);
    import_text(run, json.ptr);
    str_release(&json);
}

static int64_t repairs(const struct run *run, const char *word)
{
    int64_t count = 0;
    vec_each (&run->sources.at[0].repairs, repair) {
        if (strstr(run_text(run, repair->text), word))
            count += repair->count;
    }
    return count;
}

static void assert_nothing_lost(const struct run *run)
{
    assert_int_equal(run->losses.malformed, 0);
    assert_int_equal(run->losses.untimed, 0);
    assert_int_equal(run->losses.truncated_bytes, 0);
}

static void assert_name(const struct run *run, uint32_t id, const char *expected)
{
    assert_string_equal(run_text(run, id), expected);
}

static const char *fact(const struct run *run, const char *key)
{
    vec_each (&run->facts, entry) {
        if (strcmp(run_text(run, entry->key), key) == 0)
            return run_text(run, entry->value);
    }
    return NULL;
}

static const struct device *device_of(const struct run *run, int64_t id)
{
    vec_each (&run->devices, device) {
        if (device->id == id)
            return device;
    }
    return NULL;
}

#define KERNEL                                                                                               \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 10.001, "         \
    "\"dur\": 2.5, \"args\": {\"External id\": 3, \"device\": 0, \"context\": 1, \"stream\": 7, "            \
    "\"correlation\": 5, \"registers per thread\": 32, \"shared memory\": 1024, \"grid\": [4, 5, 6], "       \
    "\"block\": [128, 2, 1], \"est. achieved occupancy %\": 37}}"
#define CALL                                                                                                 \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 100, \"tid\": "     \
    "101, "                                                                                                  \
    "\"ts\": 1, \"dur\": 4, \"args\": {\"External id\": 3, \"cbid\": 211, \"correlation\": 5}}"

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

/* ---- torch.profiler: GPU work ---------------------------------------------------------------------------
 */

static void test_a_kernel_has_all_that_the_profiler_said(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL "," CALL);
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.ops.kind[0], OP_KERNEL);
    assert_name(&run, run.ops.name[0], "k");
    assert_int_equal(run.ops.start[0], 10001);
    assert_int_equal(run.ops.end[0], 12501);
    assert_int_equal(run.ops.correlation[0], 5);
    assert_int_equal(run.ops.external[0], 3);
    assert_true(run.ops.bytes[0] == UNKNOWN);
    const struct shape *shape = &run.shapes.at[run.ops.shape[0]];
    assert_int_equal(shape->grid[0], 4);
    assert_int_equal(shape->grid[2], 6);
    assert_int_equal(shape->block[0], 128);
    assert_int_equal(shape->block[1], 2);
    assert_int_equal(shape->regs_per_thread, 32);
    assert_int_equal(shape->shared_static_bytes, 0);
    assert_int_equal(shape->shared_dynamic_bytes, 1024);
    assert_int_equal(shape->occupancy_percent, 37);
    assert_int_equal(run.ops.call[0], 0);
    assert_name(&run, run.spans.name[0], "cudaLaunchKernel");
    assert_int_equal(run.losses.unlinked, 0);
    assert_nothing_lost(&run);
    assert_name(&run, run.sources.at[0].format, "torch.profiler JSON");
    run_release(&run);
}

static void test_the_queue_of_an_op_belongs_to_the_process_that_launched(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL "," CALL);
    assert_int_equal(run.streams.count, 1);
    assert_int_equal(run.streams.at[0].id, 7);
    assert_int_equal(run.streams.at[0].context, 1);
    assert_int_equal(run.devices.at[run.streams.at[0].device].id, 0);
    assert_int_equal(run.processes.at[run.streams.at[0].process].pid, 100);
    run_release(&run);
}

static void test_processes_of_one_file_keep_their_correlations_apart(void **state)
{
    (void)state;
    struct run run;
    import_events(&run,
                  KERNEL "," CALL
                         ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"other\",\"pid\":200,\"tid\":201,"
                         "\"ts\":2,\"dur\":1,\"args\":{\"correlation\":6}},"
                         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k2\",\"pid\":0,\"tid\":7,\"ts\":20,"
                         "\"dur\":1,\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":6}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 2);
    assert_int_equal(run.processes.at[run.streams.at[run.ops.stream[0]].process].pid, 100);
    assert_int_equal(run.processes.at[run.streams.at[run.ops.stream[1]].process].pid, 200);
    assert_name(&run, run.spans.name[run.ops.call[1]], "other");
    run_release(&run);
}

static void test_a_process_with_the_number_of_a_device_stays_a_process(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":0,\"tid\":0,\"ts\":1,"
                  "\"dur\":9,\"args\":{\"External id\":3}},"
                  "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":0,"
                  "\"tid\":0,\"ts\":2,\"dur\":1,\"args\":{\"correlation\":5}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.kind[0], SPAN_OP);
    assert_int_equal(run.spans.id[0], 3);
    assert_int_equal(run.ops.call[0], 1);
    run_release(&run);
}

static void test_members_may_come_in_any_order(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"args\":{\"block\":[1,1,1],\"stream\":9,\"grid\":[2,1,1],\"device\":3},\"dur\":1,"
                        "\"tid\":9,\"name\":\"k\",\"ts\":4,\"pid\":3,\"cat\":\"kernel\",\"ph\":\"X\"}");
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.ops.start[0], 4000);
    assert_int_equal(run.shapes.at[run.ops.shape[0]].grid[0], 2);
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 9);
    assert_non_null(device_of(&run, 3));
    run_release(&run);
}

static void test_copies_know_direction_memory_and_size(void **state)
{
    (void)state;
    static const struct {
        const char *name, *more;
        int dir, src, dst;
        int64_t bytes;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", ",\"bytes\":128", COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, 128},
        {"Memcpy DtoH (Device -> Pinned)", ",\"bytes\":5000000000", COPY_D2H, MEM_DEVICE, MEM_PINNED,
         5000000000},
        {"Memcpy DtoD (Device -> Device)", "", COPY_D2D, MEM_DEVICE, MEM_DEVICE, UNKNOWN},
        {"Memcpy PtoP (Device -> Device)", ",\"bytes\":1", COPY_P2P, MEM_DEVICE, MEM_DEVICE, 1},
        {"Memcpy HtoD (Host -> Device)", ",\"bytes\":2", COPY_H2D, MEM_UNKNOWN, MEM_DEVICE, 2},
        {"CopyHostToDevice", ",\"bytes\":3", COPY_H2D, MEM_UNKNOWN, MEM_UNKNOWN, 3},
        {"something", ",\"kind\":\"DtoH\"", COPY_D2H, MEM_UNKNOWN, MEM_UNKNOWN, UNKNOWN},
        {"something", ",\"bytes\":\"N/A\"", COPY_UNKNOWN, MEM_UNKNOWN, MEM_UNKNOWN, UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(
            &event,
            "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
            "\"args\":{\"device\":0,\"stream\":7,\"memory bandwidth (GB/s)\":inf%s}}",
            cases[i].name, cases[i].more);
        import_events(&run, event.ptr);
        assert_int_equal(run.ops.count, 1);
        assert_int_equal(run.ops.kind[0], OP_COPY);
        assert_int_equal(run.ops.dir[0], cases[i].dir);
        assert_int_equal(run.ops.src[0], cases[i].src);
        assert_int_equal(run.ops.dst[0], cases[i].dst);
        assert_true(run.ops.bytes[0] == cases[i].bytes);
        assert_int_equal(run.ops.shape[0], NONE);
        assert_int_equal(repairs(&run, "JSON does not know"), 1);
        str_release(&event);
        run_release(&run);
    }
}

static void test_memsets_and_graph_nodes(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\",\"pid\":0,\"tid\":7,\"ts\":1,"
        "\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"bytes\":64}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":3,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"graph id\":12,\"graph node id\":5,"
        "\"occupancy\":{\"blockLimitRegs\":2147483647,\"limitingFactors\":\"BLOCKS\"}}}");
    assert_int_equal(run.ops.kind[0], OP_MEMSET);
    assert_int_equal(run.ops.dst[0], MEM_DEVICE);
    assert_int_equal(run.ops.bytes[0], 64);
    assert_int_equal(run.ops.graph[0], 0);
    assert_int_equal(run.ops.graph[1], 12);
    run_release(&run);
}

static void test_collectives_keep_what_nccl_said(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"Collective name\":\"allreduce\",\"In msg nelems\":6563840,"
        "\"Out msg nelems\":6563841,\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"0\","
        "\"Process Group Description\":\"default_pg\",\"Process Group Ranks\":\"[0, 1]\",\"Seq\":44}}");
    const struct comm *comm = &run.comms.at[run.ops.comm[0]];
    assert_name(&run, comm->collective, "allreduce");
    assert_name(&run, comm->group, "default_pg");
    assert_name(&run, comm->ranks, "[0, 1]");
    assert_name(&run, comm->dtype, "Float");
    assert_int_equal(comm->in_elements, 6563840);
    assert_int_equal(comm->out_elements, 6563841);
    assert_int_equal(comm->group_size, 2);
    assert_int_equal(comm->seq, 44);
    run_release(&run);
}

static void test_collectives_are_linked_through_their_operator(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"External id\":9}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"other\",\"pid\":0,\"tid\":7,\"ts\":7,\"dur\":1,"
        "\"args\":{\"device\":0,\"stream\":7,\"External id\":10}},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":1,\"tid\":1,\"ts\":1,"
        "\"dur\":1,"
        "\"args\":{\"External id\":9,\"Collective name\":\"broadcast\",\"Group size\":8}}");
    assert_name(&run, run.comms.at[run.ops.comm[0]].collective, "broadcast");
    assert_true(run.comms.at[run.ops.comm[0]].in_elements == UNKNOWN);
    assert_int_equal(run.ops.comm[1], NONE);
    run_release(&run);
}

static void test_waits_are_no_work(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  "," CALL
                  ",{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":7,"
                  "\"ts\":30,\"dur\":3,\"args\":{\"cuda_sync_kind\":\"Stream Wait Event\",\"stream\":7,"
                  "\"wait_on_stream\":28,\"device\":0,\"context\":1,\"correlation\":77}},"
                  "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Context Sync\",\"pid\":0,\"tid\":-1,"
                  "\"ts\":40,\"dur\":3,\"args\":{\"cuda_sync_kind\":\"Context Sync\","
                  "\"stream\":4294967295,\"device\":0,\"context\":1}}");
    run_seal(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.waits.count, 2);
    const struct wait *wait = run.waits.at;
    assert_name(&run, wait[0].kind, "Stream Wait Event");
    assert_int_equal(wait[0].start, 30000);
    assert_int_equal(wait[0].end, 33000);
    assert_int_equal(wait[0].stream, run.ops.stream[0]);
    assert_int_equal(run.streams.at[wait[0].on_stream].id, 28);
    assert_int_equal(wait[1].stream, NONE);
    assert_int_equal(wait[1].on_stream, NONE);
    run_release(&run);
}

/* ---- torch.profiler: the host ---------------------------------------------------------------------------
 */

static void test_host_rows_by_category(void **state)
{
    (void)state;
    static const struct {
        const char *category, *args;
        enum span_kind kind;
        uint64_t id;
    } cases[] = {
        {"cpu_op", "\"External id\":4", SPAN_OP, 4},
        {"Operator", "\"External id\":4", SPAN_OP, 4},
        {"user_annotation", "\"External id\":6", SPAN_ANNOTATION, 6},
        {"python_function", "\"Python id\":8,\"Python parent id\":7", SPAN_PYTHON, 8},
        {"cuda_runtime", "\"correlation\":9,\"External id\":1", SPAN_API, 9},
        {"cuda_driver", "\"correlation\":9", SPAN_API, 9},
        {"Runtime", "\"correlation\":9,\"external id\":9", SPAN_API, 9},
        {"hip_runtime", "\"correlation\":9", SPAN_API, 9},
        {"xpu_runtime", "\"correlation\":9", SPAN_API, 9},
        {"xpu_driver", "\"correlation\":9", SPAN_API, 9},
        {"mtia_runtime", "\"correlation\":9", SPAN_API, 9},
        {"hpu_op", "\"correlation\":9", SPAN_API, 9},
        {"privateuse1_runtime", "\"correlation\":9", SPAN_API, 9},
        {"privateuse1_driver", "\"correlation\":9", SPAN_API, 9},
        {"glow_runtime", "\"correlation\":9", SPAN_API, 9},
        {"overhead", "", SPAN_OVERHEAD, 0},
        {"a category of tomorrow", "\"External id\":4", SPAN_OTHER, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(&event,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2,"
                 "\"args\":{%s}}",
                 cases[i].category, cases[i].args);
        import_events(&run, event.ptr);
        assert_int_equal(run.spans.count, 1);
        assert_int_equal(run.spans.kind[0], cases[i].kind);
        assert_int_equal(run.spans.id[0], cases[i].id);
        assert_int_equal(run.threads.at[run.spans.thread[0]].tid, 6);
        assert_int_equal(run.processes.at[run.threads.at[run.spans.thread[0]].process].pid, 5);
        assert_int_equal(run.ops.count, 0);
        str_release(&event);
        run_release(&run);
    }
}

static void test_device_rows_of_other_back_ends(void **state)
{
    (void)state;
    static const char *const categories[] = {"kernel", "Kernel", "concurrent_kernel", "mtia_ccp_events",
                                             "collective_comm"};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        struct run run;
        struct str event = {0};
        str_addf(&event,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n\",\"pid\":2,\"tid\":6,\"ts\":1,\"dur\":2,"
                 "\"args\":{\"device\":2,\"stream\":6}}",
                 categories[i]);
        import_events(&run, event.ptr);
        assert_int_equal(run.ops.count, 1);
        assert_int_equal(run.ops.kind[0], OP_KERNEL);
        str_release(&event);
        run_release(&run);
    }
}

static void test_a_kernel_category_without_a_device_is_a_host_span(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"vfs_read\",\"pid\":2,\"tid\":6,\"ts\":1,\"dur\":2}");
    assert_int_equal(run.ops.count, 0);
    assert_int_equal(run.spans.kind[0], SPAN_OTHER);
    assert_name(&run, run.sources.at[0].format, "Chrome trace JSON");
    run_release(&run);
}

static void test_derived_rows_are_left_out(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1,"
              "\"dur\":2},"
              "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
              "\"tid\":\"PyTorch Profiler\",\"ts\":1,\"dur\":2},"
              "{\"ph\":\"s\",\"id\":1,\"pid\":5,\"tid\":6,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
              "{\"ph\":\"f\",\"id\":1,\"pid\":0,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":"
              "\"e\"},"
              "{\"name\":\"Iteration Start: PyTorch Profiler\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"Traces\","
              "\"tid\":\"Trace\",\"ts\":1},"
              "{\"name\":\"Record Window End\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\","
              "\"ts\":9000000000000000}");
    assert_int_equal(run.spans.count + run.ops.count + run.marks.count + run.threads.count, 0);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_call_stacks_become_the_detail(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
              "\"args\":{\"Call stack\":\"a.py(1): f;b.py(2): g\"}}");
    assert_name(&run, run.spans.detail[0], "a.py(1): f;b.py(2): g");
    run_release(&run);
}

static void test_early_annotations_are_told_from_operators(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum span_kind kind;
    } cases[] = {{"ProfilerStep#3", SPAN_ANNOTATION},
                 {"Optimizer.step#SGD.step", SPAN_ANNOTATION},
                 {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", SPAN_ANNOTATION},
                 {"aten::add", SPAN_OP},
                 {"AddmmBackward", SPAN_OP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct str event = {0};
        str_addf(
            &event,
            "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"%s\",\"pid\":1,\"tid\":\"1\",\"ts\":1,\"dur\":1}",
            cases[i].name);
        import_events(&run, event.ptr);
        assert_int_equal(run.spans.kind[0], cases[i].kind);
        str_release(&event);
        run_release(&run);
    }
}

static void test_overhead_without_a_process_goes_to_the_profiled_one(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Activity Buffer Request\",\"pid\":-1,\"tid\":0,"
              "\"ts\":2,\"dur\":1},"
              "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Lazy Function Loading\",\"pid\":-1,\"tid\":101,"
              "\"ts\":4,\"dur\":1}," CALL);
    assert_int_equal(run.processes.count, 1);
    assert_int_equal(run.processes.at[0].pid, 100);
    assert_int_equal(run.spans.kind[0], SPAN_OVERHEAD);
    assert_int_equal(run.threads.at[run.spans.thread[0]].tid, 0);
    assert_int_equal(run.threads.at[run.spans.thread[1]].tid, 101);
    assert_int_equal(run.spans.thread[1], run.spans.thread[2]);
    run_seal(&run);
    run_release(&run);
}

static void test_allocator_events_become_curves(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
        "\"ts\":5,\"args\":{\"Total Reserved\":20,\"Total Allocated\":10,\"Bytes\":10,\"Device Id\":3,"
        "\"Device Type\":1,\"Addr\":1}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
        "\"ts\":6,\"args\":{\"Total Reserved\":0,\"Total Allocated\":7,\"Bytes\":7,\"Device Id\":-1,"
        "\"Device Type\":0}}");
    assert_int_equal(run.samples.count, 4);
    assert_int_equal(run.series.count, 4);
    const struct counter_series *series = &run.series.at[run.samples.series[0]];
    assert_name(&run, series->name, "memory allocated");
    assert_int_equal(series->unit, UNIT_BYTES);
    assert_int_equal(run.devices.at[series->device].id, 3);
    assert_int_equal(run.processes.at[series->process].pid, 1);
    assert_true(run.samples.value[0] == 10);
    assert_int_equal(run.samples.time[0], 5000);
    assert_name(&run, run.series.at[run.samples.series[1]].name, "memory reserved");
    assert_true(run.samples.value[1] == 20);
    assert_int_equal(run.series.at[run.samples.series[2]].device, NONE);
    assert_true(run.samples.value[2] == 7);
    run_release(&run);
}

static void test_changes_without_totals_are_summed_under_another_name(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":5,"
                        "\"args\":{\"Bytes\":10,\"Device Id\":0,\"Device Type\":1}},"
                        "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":6,"
                        "\"args\":{\"Bytes\":-4,\"Device Id\":0,\"Device Type\":1}}");
    assert_int_equal(run.samples.count, 2);
    assert_name(&run, run.series.at[0].name, "memory change");
    assert_true(run.samples.value[1] == 6);
    run_release(&run);
}

static void test_running_out_of_memory_is_marked(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[OutOfMemory]\",\"pid\":1,\"tid\":2,"
              "\"ts\":5}");
    assert_int_equal(run.marks.count, 1);
    assert_int_equal(run.marks.at[0].kind, MARK_OOM);
    assert_int_equal(run.marks.at[0].time, 5000);
    run_release(&run);
}

/* ---- torch.profiler: what a file says about itself --------------------------------------------------------
 */

static void test_device_properties_fill_the_device(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run, "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H200\","
              "\"totalGlobalMem\":150109880320,\"computeMajor\":9,\"computeMinor\":0,"
              "\"maxThreadsPerBlock\":1024,\"maxThreadsPerMultiprocessor\":2048,\"regsPerBlock\":65536,"
              "\"warpSize\":32,\"sharedMemPerBlock\":49152,\"numSms\":132\n,\"regsPerMultiprocessor\":65536,"
              "\"sharedMemPerBlockOptin\":232448,\"sharedMemPerMultiprocessor\":233472}],"
              "\"cuda_driver_version\":13000,\"with_stack\":1,\"host_name\":\"h\",\"traceEvents\":[]}");
    const struct device *device = device_of(&run, 0);
    assert_name(&run, device->name, "NVIDIA H200");
    assert_int_equal(device->vendor, VENDOR_NVIDIA);
    assert_int_equal(device->memory_bytes, 150109880320);
    assert_int_equal(device->cc_major, 9);
    assert_int_equal(device->sm_count, 132);
    assert_int_equal(device->warp_size, 32);
    assert_int_equal(device->max_threads_per_sm, 2048);
    assert_int_equal(device->max_warps_per_sm, 64);
    assert_int_equal(device->regs_per_sm, 65536);
    assert_int_equal(device->shared_bytes_per_sm, 233472);
    assert_int_equal(device->shared_bytes_per_block_optin, 232448);
    assert_string_equal(fact(&run, "cuda_driver_version"), "13000");
    assert_string_equal(fact(&run, "with_stack"), "1");
    assert_string_equal(fact(&run, "host_name"), "h");
    run_release(&run);
}

static void test_the_first_spelling_of_device_properties_is_read_too(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "{\"computeProperties\":[{\"id\":2,\"name\":\"Tesla V100\",\"major\":7,\"minor\":0}],"
                      "\"traceEvents\":[]}");
    assert_int_equal(device_of(&run, 2)->cc_major, 7);
    assert_int_equal(device_of(&run, 2)->vendor, VENDOR_NVIDIA);
    run_release(&run);
}

static void test_unlisted_devices_borrow_from_a_list_of_one_model(void **state)
{
    (void)state;
    struct run run;
    static const char kernel[] =
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":9,\"tid\":0,\"ts\":1,\"dur\":1,"
        "\"args\":{\"device\":9,\"stream\":0}}";
    struct str json = {0};
    str_addf(
        &json,
        "{\"hip_driver_version\":70226015,\"deviceProperties\":[{\"id\":0,\"name\":\"\",\"numSms\":304}],"
        "\"traceEvents\":[%s]}",
        kernel);
    import_text(&run, json.ptr);
    assert_int_equal(device_of(&run, 9)->sm_count, 304);
    assert_int_equal(device_of(&run, 9)->vendor, VENDOR_AMD);
    assert_int_equal(repairs(&run, "device list"), 1);
    run_release(&run);

    str_cut(&json, 0);
    str_addf(&json,
             "{\"deviceProperties\":[{\"id\":0,\"name\":\"A\",\"numSms\":1},{\"id\":1,\"name\":\"B\","
             "\"numSms\":2}],\"traceEvents\":[%s]}",
             kernel);
    import_text(&run, json.ptr);
    assert_int_equal(device_of(&run, 9)->sm_count, 0);
    run_release(&run);
    str_release(&json);
}

static void test_rank_and_world_size(void **state)
{
    (void)state;
    struct run run;
    import_text(
        &run,
        "{\"traceEvents\":[" CALL "],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,"
        "\"world_size\":8,\"pg_config\":[{\"pg_name\":\"0\",\"ranks\":[0,1]}],\"nccl_version\":\"2.20\"}}");
    assert_int_equal(run.sources.at[0].rank, 3);
    assert_int_equal(run.sources.at[0].world_size, 8);
    assert_int_equal(run.processes.at[0].rank, 3);
    assert_int_equal(run.processes.at[0].world_size, 8);
    assert_string_equal(fact(&run, "distributed_nccl_version"), "2.20");
    run_release(&run);
    import_events(&run, CALL);
    assert_int_equal(run.sources.at[0].rank, -1);
    run_release(&run);
}

static void test_base_time_counts_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{\"baseTimeNanoseconds\":1790857026000000000,\"traceEvents\":[" KERNEL "," CALL "]}",
        "{\"traceEvents\":[" KERNEL "," CALL "],\"baseTimeNanoseconds\":1790857026000000000}",
    };
    for (int i = 0; i < 2; i++) {
        struct run run;
        import_text(&run, documents[i]);
        assert_int_equal(run.ops.start[0], 1790857026000010001);
        assert_int_equal(run.ops.end[0], 1790857026000012501);
        assert_int_equal(run.spans.start[0], 1790857026000001000);
        assert_int_equal(run.sources.at[0].base_ns, 1790857026000000000);
        run_release(&run);
    }
}

static void test_metadata_events_name_processes_threads_and_queues(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, KERNEL
                  "," CALL ",{\"name\":\"process_name\",\"ph\":\"M\",\"ts\":1,\"pid\":100,\"tid\":0,"
                  "\"args\":{\"name\":\"python3\"}},"
                  "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":100,\"args\":{\"labels\":\"CPU\"}},"
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":100,\"tid\":\"101\","
                  "\"args\":{\"name\":\"thread 101 (python3)\"}},"
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":7,"
                  "\"args\":{\"name\":\"stream 7 \"}}");
    assert_int_equal(run.processes.count, 1);
    assert_name(&run, run.processes.at[0].name, "python3");
    assert_name(&run, run.threads.at[0].name, "thread 101 (python3)");
    assert_name(&run, run.streams.at[0].name, "stream 7");
    run_release(&run);
}

static void test_launch_calls_lend_their_shape(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":0,\"ts\":5,\"dur\":1,"
        "\"args\":{\"device\":2,\"stream\":0,\"correlation\":11,\"kind\":\"Dispatch Kernel\"}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":1,"
        "\"dur\":1,\"args\":{\"kernel\":\"k\",\"cid\":107,\"correlation\":11,\"grid\":[16,1,1],"
        "\"block\":[512,1,1],\"shared memory\":8192}}");
    assert_int_not_equal(run.ops.shape[0], NONE);
    const struct shape *shape = &run.shapes.at[run.ops.shape[0]];
    assert_int_equal(shape->grid[0], 16);
    assert_int_equal(shape->shared_dynamic_bytes, 8192);
    assert_int_equal(shape->occupancy_percent, -1);
    run_release(&run);
}

static void test_ids_keep_all_64_bits(void **state)
{
    (void)state;
    struct run run;
    import_events(
        &run, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":1,"
              "\"args\":{\"device\":0,\"stream\":9223372036854775807,\"correlation\":9223372036854775809,"
              "\"External id\":18446744073709551615}},"
              "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\",\"pid\":9223372036854775807,\"tid\":-5,"
              "\"ts\":1,\"dur\":1,\"args\":{\"correlation\":9223372036854775809}}");
    run_seal(&run);
    assert_true(run.ops.correlation[0] == UINT64_C(9223372036854775809));
    assert_true(run.ops.external[0] == UINT64_MAX);
    assert_int_equal(run.ops.call[0], 0);
    assert_true(run.streams.at[run.ops.stream[0]].id == INT64_MAX);
    assert_true(run.processes.at[0].pid == INT64_MAX);
    assert_int_equal(run.threads.at[0].tid, -5);
    run_release(&run);
}

static void test_numbers_of_2021_are_texts(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream 7\","
                      "\"ts\":1621401187236501,\"dur\":1,\"args\":{\"correlation\":600,\"external id\":179}},"
                      "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"c\",\"pid\":24572,\"tid\":\"24572\","
                      "\"ts\":1621401187236483,\"dur\":10,\"args\":{\"correlation\":600}}]");
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 7);
    assert_int_equal(device_of(&run, 0)->id, 0);
    assert_int_equal(run.ops.external[0], 179);
    assert_int_equal(run.ops.start[0], 1621401187236501000);
    assert_int_equal(run.threads.at[0].tid, 24572);
    assert_nothing_lost(&run);
    run_release(&run);
}

/* ---- times that are wrong -------------------------------------------------------------------------------
 */

static void import_timed(struct run *run, const char *times)
{
    struct str event = {0};
    str_addf(&event,
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7%s,\"args\":{\"device\":0,"
             "\"stream\":7}}",
             times);
    import_events(run, event.ptr);
    str_release(&event);
}

static void test_records_without_a_time_are_counted(void **state)
{
    (void)state;
    static const char *const wrong[] = {",\"ts\":0,\"dur\":0",
                                        ",\"ts\":0.000,\"dur\":0.000",
                                        ",\"dur\":5",
                                        ",\"ts\":1e30,\"dur\":1",
                                        ",\"ts\":NaN,\"dur\":1",
                                        ",\"ts\":1,\"dur\":1e18",
                                        ",\"ts\":1,\"dur\":18446744073709551000",
                                        ",\"ts\":\"never\",\"dur\":1",
                                        ",\"ts\":null,\"dur\":1",
                                        ",\"ts\":[1],\"dur\":1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run;
        import_timed(&run, wrong[i]);
        assert_int_equal(run.ops.count, 0);
        assert_int_equal(run.losses.untimed, 1);
        run_release(&run);
    }
}

static void test_negative_durations_become_zero_and_are_reported(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":5,\"dur\":-2");
    assert_int_equal(run.ops.start[0], 5000);
    assert_int_equal(run.ops.end[0], 5000);
    assert_int_equal(repairs(&run, "negative durations"), 1);
    assert_int_equal(run.losses.untimed, 0);
    run_release(&run);
}

static void test_a_missing_duration_is_a_moment(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":5");
    assert_int_equal(run.ops.end[0], 5000);
    assert_int_equal(repairs(&run, "without a duration"), 1);
    run_release(&run);
}

static void test_zero_length_work_at_a_real_time_is_kept(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":7,\"dur\":0");
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.losses.untimed, 0);
    run_release(&run);
}

/* ---- documents that are wrong ----------------------------------------------------------------------------
 */

#define OP(name)                                                                                             \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name                                                 \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1, "                                                    \
    "\"args\": {\"External id\": 1}}"

static void test_unescaped_quotes_in_names(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, OP("one") "," OP("foo(\"a\", \"b\")") "," OP("say \"hi\"") "," OP("four"));
    assert_int_equal(run.spans.count, 4);
    assert_name(&run, run.spans.name[1], "foo(\"a\", \"b\")");
    assert_name(&run, run.spans.name[2], "say \"hi\"");
    assert_name(&run, run.spans.name[3], "four");
    assert_int_equal(run.spans.id[3], 1);
    assert_int_equal(repairs(&run, "unescaped quotes"), 2);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_a_hopeless_event_costs_only_itself(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{\"ph\": \"X\", \"name\": never}",
        "{\"ph\": \"X\", \"name\": \"a\" \"b\" \"c\"",
        "{\"ph\": \"X\", \"name\": \"unterminated, \"pid\": 1",
        "{\"ph\" \"X\"}",
        "{\"ph\": \"X\", \"args\": {\"a\": [1, 2}}",
        "{\"ph\": \"X\", \"args\": [[[[[[}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run;
        struct str events = {0};
        str_addf(&events, OP("one") ", %s, " OP("two") ", " OP("three"), wrong[i]);
        import_events(&run, events.ptr);
        assert_int_equal(run.spans.count, 3);
        assert_name(&run, run.spans.name[1], "two");
        assert_name(&run, run.spans.name[2], "three");
        assert_int_equal(run.losses.malformed, 1);
        assert_int_equal(run.losses.truncated_bytes, 0);
        const struct repair *repair = &run.sources.at[0].repairs.at[0];
        assert_int_equal(repair->first_offset,
                         strlen("{\"schemaVersion\": 1, \"traceEvents\": [") + strlen(OP("one") ", "));
        str_release(&events);
        run_release(&run);
    }
}

static void test_junk_between_events_costs_nothing(void **state)
{
    (void)state;
    static const char *const junk[] = {
        ",, ", " ", " , junk, ", "]", "}, ", ", {}, ", ", null, 17, \"text\", [1, {\"a\": 2}], "};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        struct run run;
        struct str events = {0};
        str_addf(&events, OP("one") "%s" OP("two"), junk[i]);
        import_events(&run, events.ptr);
        assert_int_equal(run.spans.count, 2);
        assert_name(&run, run.spans.name[1], "two");
        str_release(&events);
        run_release(&run);
    }
}

static void test_what_follows_a_broken_list_is_still_read(void **state)
{
    (void)state;
    struct run run;
    import_text(&run,
                "{\"traceEvents\": [" OP("one") ", {\"ph\": \"X\", \"name\": oops], \"traceName\": \"t\", "
                                                "\"baseTimeNanoseconds\": 1000}");
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.malformed, 1);
    assert_int_equal(run.sources.at[0].base_ns, 1000);
    assert_int_equal(run.losses.truncated_bytes, 0);
    run_release(&run);
}

static void test_broken_metadata_costs_no_events(void **state)
{
    (void)state;
    static const char *const metadata[] = {
        "\"INFO\": [\"a log line with \"quotes\" in it\", \"another\nover two lines\"]",
        "\"note\": N/A",
        "\"note\": \"say \"hi\"\"",
        "\"note\": foo bar",
        "\"note\": {\"a\": [}",
        "\"note\" \"x\"",
        "\"\xff\": \"\xfe\"",
        "\"note\": NaN,",
    };
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
        struct run run;
        struct str json = {0};
        str_addf(
            &json,
            "{\"schemaVersion\": 1, %s, \"baseTimeNanoseconds\": 5000, \"traceEvents\": [" OP("one") "]}",
            metadata[i]);
        import_text(&run, json.ptr);
        assert_int_equal(run.spans.count, 1);
        assert_int_equal(run.sources.at[0].base_ns, 5000);
        assert_nothing_lost(&run);
        assert_true(run.sources.at[0].repairs.count > 0);
        str_release(&json);
        run_release(&run);
    }
}

static void test_quotes_in_metadata_are_understood(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "{\"title\": \"say \"hi\" twice\", \"traceEvents\": []}");
    assert_string_equal(fact(&run, "title"), "say \"hi\" twice");
    run_release(&run);
}

static void test_byte_order_mark_and_documents_in_a_row(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "\xef\xbb\xbf{\"traceEvents\": [" OP("one") "]}\n[" OP("two") "]\ngarbage");
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(repairs(&run, "byte order mark"), 1);
    assert_int_equal(repairs(&run, "further JSON documents"), 1);
    assert_int_equal(repairs(&run, "text around"), 1);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_a_bare_list_needs_no_end(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "[" OP("one") ",\n" OP("two") ",\n");
    assert_int_equal(run.spans.count, 2);
    assert_nothing_lost(&run);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    run_release(&run);
}

static void test_depth_bombs_cost_one_event(void **state)
{
    (void)state;
    struct run run;
    struct str json = {0};
    str_puts(&json, "{\"traceEvents\": [" OP("one") ", {\"ph\": \"X\", \"args\": {\"a\": ");
    str_pad(&json, '[', 1 << 20);
    str_puts(&json, ", " OP("two") "]}");
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.losses.malformed, 1);
    run_release(&run);
    str_release(&json);
}

static void test_many_broken_events_take_linear_time(void **state)
{
    (void)state;
    struct run run;
    struct str json = {0};
    str_puts(&json, "[");
    for (int i = 0; i < 50000; i++)
        str_puts(&json, "{\"ph\": \"X\", \"name\": \"\"\"\"\"}, ");
    str_puts(&json, OP("last") "]");
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 1 + 50000 - run.losses.malformed - run.losses.untimed);
    run_release(&run);
    str_release(&json);
}

static void test_events_without_a_phase_are_malformed(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"name\": \"x\", \"ts\": 1}, {}, " OP("one"));
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.malformed, 1);
    run_release(&run);
}

static void test_other_json_is_an_error(void **state)
{
    (void)state;
    static const char *const others[] = {"{}", "{\"a\": [1, 2]}", "17", "hello", "\"traceEvents\""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct run run;
        struct err err = {0};
        assert_int_equal(import_bytes(&run, others[i], strlen(others[i]), &err), ERR_INPUT);
        assert_true(err.what[0] != '\0');
        run_release(&run);
    }
}

/* ---- real files, damaged ---------------------------------------------------------------------------------
 */

/* The beginning of a real recording: metadata and whole events, up to about the given size, then closed. */
static struct str real_excerpt(const char *name, size_t size)
{
    struct str path = {0}, text = {0};
    struct stream *in;
    str_addf(&path, "%s/torch/%s", SAMPLES, name);
    assert_int_equal(stream_open(&in, path.ptr, NULL), 0);
    char *buffer = mem_alloc(size + 1);
    size_t have = 0;
    for (int64_t got; have < size && (got = stream_read(in, buffer + have, size - have, NULL)) > 0;)
        have += (size_t)got;
    buffer[have] = '\0';
    char *end = NULL;
    for (char *p = buffer; (p = strstr(p, "\n  },")) != NULL; p++)
        end = p;
    assert_non_null(end);
    str_add(&text, buffer, (size_t)(end - buffer));
    str_puts(&text, "\n  }\n  ],\n  \"traceName\": \"x.json\"\n}\n");
    stream_close(in);
    free(buffer);
    str_release(&path);
    return text;
}

static size_t rows_of(const struct run *run)
{
    return run->ops.count + run->spans.count + run->samples.count + run->marks.count + run->waits.count;
}

static void test_every_prefix_of_a_real_file_yields_its_complete_events(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 6000);
    size_t rows = 0;
    for (size_t length = (size_t)(strchr(text.ptr, '{') - text.ptr) + 1; length <= text.len; length++) {
        struct run run;
        char *prefix = malloc(length); /* so that reading behind it is noticed */
        memcpy(prefix, text.ptr, length);
        assert_int_equal(import_bytes(&run, prefix, length, NULL), 0);
        assert_true(rows_of(&run) >= rows);
        assert_true(rows_of(&run) <= rows + 1);
        rows = rows_of(&run);
        assert_int_equal(run.losses.malformed, 0);
        assert_int_equal(run.losses.untimed, 0);
        assert_in_range(run.losses.truncated_bytes, 0, 1000);
        /* all that may be missing is the final line end */
        assert_int_equal(repairs(&run, "ends early"), length + 1 < text.len);
        run_seal(&run);
        run_release(&run);
        free(prefix);
    }
    assert_true(rows > 10);
    str_release(&text);
}

static void test_truncated_bytes_count_from_the_last_complete_event(void **state)
{
    (void)state;
    static const char tail[] = ", {\"ph\": \"X\", \"name\": \"br";
    struct run run;
    struct str json = {0};
    str_puts(&json, "{\"traceEvents\": [" OP("one"));
    str_puts(&json, tail);
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.truncated_bytes, sizeof tail - 1);
    run_release(&run);
    str_release(&json);
}

static void test_a_flipped_byte_costs_few_events(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 12000);
    struct run whole;
    import_text(&whole, text.ptr);
    size_t rows = rows_of(&whole);
    run_release(&whole);
    char *events = strstr(text.ptr, "\"traceEvents\"") + 20;
    uint64_t random = 1;
    for (int i = 0; i < 6000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        char *at = events + (random >> 33) % (size_t)(text.ptr + text.len - events);
        char kept = *at;
        *at = (char)(random >> 24);
        struct run run;
        assert_int_equal(import_bytes(&run, text.ptr, text.len, NULL), 0);
        assert_true(rows_of(&run) + 3 >= rows);
        run_seal(&run);
        run_release(&run);
        *at = kept;
    }
    str_release(&text);
}

/* Deletes, doubles and overwrites pieces at random: nothing is promised but that reading ends in good order.
 */
static void test_mangled_files_do_no_harm(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 5000);
    uint64_t random = 7;
    for (int i = 0; i < 3000; i++) {
        struct str mangled = {0};
        str_add(&mangled, text.ptr, text.len);
        for (int edit = 0; edit < 4; edit++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t from = (random >> 33) % mangled.len, length = (random >> 20) % 40;
            if (from + length > mangled.len)
                continue;
            if (random >> 63)
                memmove(mangled.ptr + from, mangled.ptr + mangled.len / 2,
                        length < mangled.len / 2 ? length : 0);
            else
                memset(mangled.ptr + from, "\"{}[],:\\ \0019"[random >> 60 & 7], length);
        }
        struct run run;
        import_bytes(&run, mangled.ptr, mangled.len, NULL);
        run_seal(&run);
        run_release(&run);
        str_release(&mangled);
    }
    str_release(&text);
}

/* ---- other Chrome traces ----------------------------------------------------------------------------------
 */

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

static void test_two_files_make_one_run(void **state)
{
    (void)state;
    struct run run;
    struct stream *in;
    static const char second[] = "{\"traceEvents\":[" KERNEL "," CALL "],\"baseTimeNanoseconds\":5000}";
    import_events(&run, KERNEL "," CALL);
    assert_int_equal(stream_open_memory(&in, "two.json", second, sizeof second - 1, NULL), 0);
    assert_int_equal(import_chrome_json.read(&run, in, NULL, NULL), 0);
    stream_close(in);
    assert_int_equal(run.sources.count, 2);
    assert_int_equal(run.devices.count, 2);
    assert_int_equal(run.ops.start[0], 10001);
    assert_int_equal(run.ops.start[1], 15001);
    run_seal(&run);
    assert_int_equal(run.losses.unlinked, 0);
    assert_int_equal(run.processes.count, 2);
    run_release(&run);
}

static void test_sniffing(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        bool ours;
    } cases[] = {{"{\"traceEvents\": [", true},
                 {"\xef\xbb\xbf \n{\n  \"schemaVersion\": 1, \"deviceProperties\": [", true},
                 {"[{\"ph\": \"X\"", true},
                 {"[1, 2]", false},
                 {"{\"a\": 1}", false},
                 {"", false},
                 {"SQLite format 3", false},
                 {"  ", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(import_chrome_json.sniff(cases[i].head, strlen(cases[i].head)) > 0, cases[i].ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_become_exact_nanoseconds),
        cmocka_unit_test(test_finer_than_nanoseconds_is_cut_off),
        cmocka_unit_test(test_times_may_have_exponents),
        cmocka_unit_test(test_what_is_no_time_is_refused),
        cmocka_unit_test(test_a_kernel_has_all_that_the_profiler_said),
        cmocka_unit_test(test_the_queue_of_an_op_belongs_to_the_process_that_launched),
        cmocka_unit_test(test_processes_of_one_file_keep_their_correlations_apart),
        cmocka_unit_test(test_a_process_with_the_number_of_a_device_stays_a_process),
        cmocka_unit_test(test_members_may_come_in_any_order),
        cmocka_unit_test(test_copies_know_direction_memory_and_size),
        cmocka_unit_test(test_memsets_and_graph_nodes),
        cmocka_unit_test(test_collectives_keep_what_nccl_said),
        cmocka_unit_test(test_collectives_are_linked_through_their_operator),
        cmocka_unit_test(test_waits_are_no_work),
        cmocka_unit_test(test_host_rows_by_category),
        cmocka_unit_test(test_device_rows_of_other_back_ends),
        cmocka_unit_test(test_a_kernel_category_without_a_device_is_a_host_span),
        cmocka_unit_test(test_derived_rows_are_left_out),
        cmocka_unit_test(test_call_stacks_become_the_detail),
        cmocka_unit_test(test_early_annotations_are_told_from_operators),
        cmocka_unit_test(test_overhead_without_a_process_goes_to_the_profiled_one),
        cmocka_unit_test(test_allocator_events_become_curves),
        cmocka_unit_test(test_changes_without_totals_are_summed_under_another_name),
        cmocka_unit_test(test_running_out_of_memory_is_marked),
        cmocka_unit_test(test_device_properties_fill_the_device),
        cmocka_unit_test(test_the_first_spelling_of_device_properties_is_read_too),
        cmocka_unit_test(test_unlisted_devices_borrow_from_a_list_of_one_model),
        cmocka_unit_test(test_rank_and_world_size),
        cmocka_unit_test(test_base_time_counts_wherever_it_stands),
        cmocka_unit_test(test_metadata_events_name_processes_threads_and_queues),
        cmocka_unit_test(test_launch_calls_lend_their_shape),
        cmocka_unit_test(test_ids_keep_all_64_bits),
        cmocka_unit_test(test_numbers_of_2021_are_texts),
        cmocka_unit_test(test_records_without_a_time_are_counted),
        cmocka_unit_test(test_negative_durations_become_zero_and_are_reported),
        cmocka_unit_test(test_a_missing_duration_is_a_moment),
        cmocka_unit_test(test_zero_length_work_at_a_real_time_is_kept),
        cmocka_unit_test(test_unescaped_quotes_in_names),
        cmocka_unit_test(test_a_hopeless_event_costs_only_itself),
        cmocka_unit_test(test_junk_between_events_costs_nothing),
        cmocka_unit_test(test_what_follows_a_broken_list_is_still_read),
        cmocka_unit_test(test_broken_metadata_costs_no_events),
        cmocka_unit_test(test_quotes_in_metadata_are_understood),
        cmocka_unit_test(test_byte_order_mark_and_documents_in_a_row),
        cmocka_unit_test(test_a_bare_list_needs_no_end),
        cmocka_unit_test(test_depth_bombs_cost_one_event),
        cmocka_unit_test(test_many_broken_events_take_linear_time),
        cmocka_unit_test(test_events_without_a_phase_are_malformed),
        cmocka_unit_test(test_other_json_is_an_error),
        cmocka_unit_test(test_every_prefix_of_a_real_file_yields_its_complete_events),
        cmocka_unit_test(test_truncated_bytes_count_from_the_last_complete_event),
        cmocka_unit_test(test_a_flipped_byte_costs_few_events),
        cmocka_unit_test(test_mangled_files_do_no_harm),
        cmocka_unit_test(test_begin_and_end_are_matched_by_thread),
        cmocka_unit_test(test_async_pairs_are_matched_by_id_off_the_threads),
        cmocka_unit_test(test_counters_and_instants),
        cmocka_unit_test(test_hardware_counters_belong_to_their_gpu),
        cmocka_unit_test(test_any_number_of_counters_takes_bounded_time),
        cmocka_unit_test(test_pids_and_tids_may_be_texts),
        cmocka_unit_test(test_tensorflow_streams_count_each_op_once),
        cmocka_unit_test(test_tensorflow_totals_serve_where_there_are_no_streams),
        cmocka_unit_test(test_xla_streams_become_gpu_work),
        cmocka_unit_test(test_two_files_make_one_run),
        cmocka_unit_test(test_sniffing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
