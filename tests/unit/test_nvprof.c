/* nvprof's tables: metrics, events, traces, summaries. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "analyze/metrics.h"
#include "import/import.h"

#define SHARED SAMPLES "/../../../shared/data/foreign/nvprof"

static void load(struct run *run, const char *text)
{
    struct err err = {0};
    run_init(run);
    if (import_memory(run, "file", text, strlen(text), NULL, NULL, &err) != 0)
        fail_msg("%s", err.what);
}

static void metrics_and_events_are_means_over_invocations(void **state)
{
    (void)state;
    struct run run;
    struct metrics m;
    load(&run,
         "==29682== NVPROF is profiling process 29682, command: ./test 3\n"
         "hello, this is, the program\n"
         "==29682== Profiling result:\n==29682== Event result:\n"
         "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"divergent_branch\",1,3,2,4\n"
         "==29682== Metric result:\n"
         "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
         "Description\",\"Min\",\"Max\",\"Avg\"\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"achieved_occupancy\",\"Achieved\",0.5,0.7,0.6\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"gld_efficiency\",\"x\",50.000000%,50.000000%,50.000000%\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"dram_utilization\",\"x\",\"High (7)\",\"High "
         "(8)\",\"High (7)\"\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"dram_read_throughput\",\"x\",1GB/s,1GB/s,1.5GB/s\n"
         "\"Tesla K20c (1)\",\"k(float*, int)\",2,\"ipc\",\"x\",1,1,\"<OVERFLOW>\"\n");
    metrics_init(&m, &run);
    assert_int_equal(run.profiles.count, 2);
    assert_int_equal(run.profiles.at[1].launches, 2);
    assert_string_equal(run_text(&run, run.devices.at[0].name), "Tesla K20c");
    assert_int_equal(run.devices.at[0].id, 1);
    assert_true(metric_get(&m, 0, METRIC_BRANCH_DIVERGENT).value == 2);
    assert_true(metric_get(&m, 1, METRIC_ACHIEVED_OCCUPANCY).value == 0.6);
    assert_true(metric_get(&m, 1, METRIC_GLOBAL_LOAD_BYTES_PER_SECTOR).value == 16);
    assert_true(metric_get(&m, 1, METRIC_DRAM_THROUGHPUT).value == 0.7);
    assert_int_equal(metric_get(&m, 1, METRIC_IPC).state, COUNTER_IMPLAUSIBLE);
    assert_true(counter_get(&m, 1, "dram_read_throughput").value == 1.5 * (1 << 30));
    assert_string_equal(run_text(&run, run.facts.at[0].value), "./test 3");
    metrics_release(&m);
    run_release(&run);
}

#define TRACE                                                                                                \
    "==5== NVPROF is profiling process 5, command: ./a\n==5== Profiling result:\n"                           \
    "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\","           \
    "\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"SrcMemType\","      \
    "\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\n"                         \
    "us,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,\n"

static void a_trace_becomes_a_timeline(void **state)
{
    (void)state;
    struct run run;
    load(&run, TRACE
         "0.000000,1.568000,,,,,,,,,,1.003906,0.610586,\"Device\",,\"GeForce (0)\",\"1\",\"7\",\"[CUDA "
         "memset]\",274\n"
         "2.5,10.0,,,,,,,,,,4.000000,0.4,\"Pageable\",\"Device\",\"GeForce (0)\",\"1\",\"7\",\"[CUDA memcpy "
         "HtoD]\",275\n"
         "20.25,100.5,32,8,1,256,1,1,40,1.000000,0.000000,,,,,\"GeForce (0)\",\"1\",\"7\",\"k(int) [276]\",\n"
         "19.0,2.0,,,,,,,,,,,,,,,,,\"cudaLaunchKernel\",276\n"
         "30.0,,,,,,,,,,,,,,,\"GeForce (0)\",,,\"[Unified Memory GPU page faults]\",\n");
    run_seal(&run);
    assert_int_equal(run.ops.count, 3);
    assert_int_equal(run.ops.kind[0], OP_MEMSET);
    assert_int_equal(run.ops.bytes[0], 1028);
    assert_int_equal(run.ops.end[0], 1568);
    assert_int_equal(run.ops.dir[1], COPY_H2D);
    assert_int_equal(run.ops.src[1], MEM_PAGEABLE);
    assert_int_equal(run.ops.bytes[1], 4096);
    assert_string_equal(run_text(&run, run.ops.name[2]), "k(int)");
    assert_int_equal(run.ops.start[2], 20250);
    const struct shape *shape = &run.shapes.at[run.ops.shape[2]];
    assert_true(shape->grid[0] == 32 && shape->block[0] == 256 && shape->regs_per_thread == 40);
    assert_int_equal(shape->shared_static_bytes, 1024);
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.ops.call[2], 0);
    assert_int_equal(run.losses.untimed, 1);
    run_release(&run);
}

static void old_versions_print_units_of_1000_bytes(void **state)
{
    (void)state;
    struct run run;
    load(&run,
         TRACE "133810,135.78,,,,,,,,,,409.600000,3.0167,,,\"GeForce (0)\",1,2,\"[CUDA memcpy HtoD]\",3\n");
    assert_int_equal(run.ops.bytes[0], 409600);
    run_release(&run);
}

static void a_summary_gives_the_mean_duration(void **state)
{
    (void)state;
    struct run run;
    struct metrics m;
    load(&run,
         "==7== Profiling result:\n\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
         ",%,ms,,us,us,us,\n"
         "\"GPU activities\",78.0,3.0,4,750.25,700,800,\"k(int)\"\n"
         "\"GPU activities\",12.0,1.0,4,250.0,200,300,\"[CUDA memcpy HtoD]\"\n"
         "\"API calls\",10.0,1.0,4,250.0,200,300,\"cudaMalloc\"\n");
    metrics_init(&m, &run);
    assert_int_equal(run.profiles.count, 1);
    assert_int_equal(run.profiles.at[0].launches, 4);
    assert_true(metric_get(&m, 0, METRIC_DURATION).value == 750250);
    metrics_release(&m);
    run_release(&run);
}

static void printed_tables_are_refused_with_the_remedy(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    static const char text[] =
        "==1== NVPROF is profiling process 1, command: a\n==1== Profiling result:\n   Start  Duration\n";
    run_init(&run);
    assert_int_equal(import_memory(&run, "file", text, strlen(text), NULL, NULL, &err), ERR_INPUT);
    assert_non_null(strstr(err.hint, "--csv"));
    run_release(&run);
}

static void files_of_others_are_read_or_refused(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    if (access(SHARED, R_OK) != 0)
        skip();
    run_init(&run);
    assert_int_equal(import_file(&run, SHARED "/api-trace-head.csv", NULL, NULL, &err), 0);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.end[0] - run.spans.start[0] + run.spans.end[1] - run.spans.start[1], 3818);
    run_release(&run);
    run_init(&run);
    assert_int_equal(import_file(&run, SHARED "/bfs-unified-memory-trace.txt", NULL, NULL, &err), ERR_INPUT);
    assert_non_null(strstr(err.hint, "--csv"));
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_and_events_are_means_over_invocations),
        cmocka_unit_test(a_trace_becomes_a_timeline),
        cmocka_unit_test(old_versions_print_units_of_1000_bytes),
        cmocka_unit_test(a_summary_gives_the_mean_duration),
        cmocka_unit_test(printed_tables_are_refused_with_the_remedy),
        cmocka_unit_test(files_of_others_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
