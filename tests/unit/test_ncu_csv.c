/* Tables of Nsight Compute, and its terminal output: every quirk in a small file of its own. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/metrics.h"
#include "import/csv.h"
#include "import/import.h"
#include "import/unit.h"

#define HEAD                                                                                                 \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","           \
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\","       \
    "\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\","          \
    "\"Estimated Speedup\"\n"
#define ROW(id, section, metric, unit, value)                                                                \
    "\"" id "\",\"9\",\"app\",\"127.0.0.1\",\"k(int)\",\"1\",\"7\",\"(64, 2, 1)\",\"(10, 1, 1)\",\"0\","     \
    "\"9.0\",\"" section "\",\"" metric "\",\"" unit "\",\"" value "\",\n"

struct fixture {
    struct run run;
    struct metrics metrics;
    struct err err;
};

static int load_bytes(struct fixture *f, const char *bytes, size_t length)
{
    *f = (struct fixture){0};
    run_init(&f->run);
    int code = import_memory(&f->run, "file", bytes, length, NULL, NULL, &f->err);
    metrics_init(&f->metrics, &f->run);
    return code;
}

static void load(struct fixture *f, const char *text)
{
    if (load_bytes(f, text, strlen(text)) != 0)
        fail_msg("%s", f->err.what);
}

static void done(struct fixture *f)
{
    metrics_release(&f->metrics);
    run_release(&f->run);
}

static void assert_refused(const char *text, const char *why)
{
    struct fixture f;
    assert_int_equal(load_bytes(&f, text, strlen(text)), ERR_INPUT);
    if (!strstr(f.err.what, why))
        fail_msg("'%s' does not say '%s'", f.err.what, why);
    assert_true(f.err.hint[0] != '\0');
    done(&f);
}

static void assert_counter(struct fixture *f, uint32_t profile, const char *name, double value)
{
    struct metric_value v = counter_get(&f->metrics, profile, name);
    if (v.state != COUNTER_VALUE || fabs(v.value - value) > fabs(value) * 1e-12)
        fail_msg("%s: state %d, %.17g", name, (int)v.state, v.value);
}

static bool has_repair(const struct fixture *f, const char *part)
{
    vec_each (&f->run.sources.at[0].repairs, repair) {
        if (strstr(run_text(&f->run, repair->text), part))
            return true;
    }
    return false;
}

/* ---- details ------------------------------------------------------------------------------------------- */

static void a_details_page_gives_launches_counters_and_rules(void **state)
{
    (void)state;
    struct fixture f;
    load(&f,
         "==PROF== Connected to process 9\nhello \"world\", says the program\n" HEAD ROW(
             "0", "GPU Speed Of Light Throughput", "Duration", "us", "18.21")
             ROW("0", "GPU Speed Of Light Throughput", "Memory Throughput", "%",
                 "70.75") "==PROF== Profiling \"k\" - 1: 0%....100% - 9 passes\n\n" ROW("0",
                                                                                        "Memory Workload "
                                                                                        "Analysis",
                                                                                        "Memory Throughput",
                                                                                        "Tbyte/s", "3.40")
                 ROW("0", "Launch Statistics", "Registers Per Thread", "register/thread", "16")
                     ROW("0", "Launch Statistics", "Grid Size", "", "1,310,720")
                         ROW("0", "Launch Statistics", "Function Cache Configuration", "", "CachePreferNone")
                             ROW("0", "Occupancy", "Achieved Occupancy", "%",
                                 "(!) n/a") "\"0\",\"9\",\"app\",\"127.0.0.1\",\"k(int)\",\"1\",\"7\",\"(64, "
                                            "2, 1)\",\"(10, 1, 1)\",\"0\",\"9.0\","
                                            "\"Occupancy\",\"\",\"\",\"\",\"Achieved\",\"OPT\",\"It says "
                                            "\"\"more\"\",\nin two lines\",\"local\",\"12.5\"\n" ROW(
                                                "1", "Command line profiler metrics", "dram__bytes.sum",
                                                "byte", "nan"));
    assert_int_equal(f.run.profiles.count, 2);
    assert_counter(&f, 0, "GPU Speed Of Light Throughput/Duration", 18210);
    assert_counter(&f, 0, "GPU Speed Of Light Throughput/Memory Throughput", 0.7075);
    assert_counter(&f, 0, "Memory Workload Analysis/Memory Throughput", 3.4e12);
    assert_counter(&f, 0, "Launch Statistics/Grid Size", 1310720);
    assert_int_equal(counter_get(&f.metrics, 0, "Occupancy/Achieved Occupancy").state, COUNTER_NOT_MEASURED);
    assert_int_equal(counter_get(&f.metrics, 1, "dram__bytes.sum").state, COUNTER_IMPLAUSIBLE);
    const struct kernel_profile *p = &f.run.profiles.at[0];
    const struct shape *shape = &f.run.shapes.at[p->shape];
    assert_true(shape->block[0] == 64 && shape->block[1] == 2 && shape->grid[0] == 10);
    assert_int_equal(shape->regs_per_thread, 16);
    assert_int_equal(f.run.devices.at[p->device].cc_major, 9);
    assert_int_equal(f.run.processes.at[p->process].pid, 9);
    assert_int_equal(f.run.profiles.at[1].launch, 1);
    assert_int_equal(f.run.advices.count, 1);
    assert_string_equal(run_text(&f.run, f.run.advices.at[0].text), "It says \"more\",\nin two lines");
    assert_int_equal(f.run.advices.at[0].kind, ADVICE_OPTIMIZE);
    assert_true(f.run.advices.at[0].speedup_ratio == 0.125 && f.run.advices.at[0].is_local_speedup);
    assert_int_equal(f.run.losses.malformed, 0);
    done(&f);
}

static void a_damaged_row_costs_itself_and_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, HEAD ROW("0", "S", "a__b", "inst", "5") "\"0\",\"9\",\"ap\n" ROW("0", "S", "c__d", "inst", "6"));
    assert_counter(&f, 0, "a__b", 5);
    assert_counter(&f, 0, "c__d", 6);
    assert_int_equal(f.run.losses.malformed, 1);
    done(&f);
}

static void a_second_table_starts_its_ids_again(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, HEAD ROW("0", "S", "a__b", "inst", "5") "output\n" HEAD ROW("0", "S", "a__b", "inst", "6"));
    assert_int_equal(f.run.profiles.count, 2);
    assert_counter(&f, 0, "a__b", 5);
    assert_counter(&f, 1, "a__b", 6);
    done(&f);
}

static void a_summary_gives_means_over_its_launches(void **state)
{
    (void)state;
    struct fixture f;
    load(&f,
         "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid "
         "Size\",\"Device\","
         "\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\","
         "\"Average\"\n"
         "\"9\",\"app\",\"h\",\"k\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"0\",\"8.6\",\"3\",\"S\","
         "\"gpu__time_duration.sum\",\"ns\",\"1.5\",\"4.5\",\"2.5\"\n");
    assert_int_equal(f.run.profiles.count, 1);
    assert_int_equal(f.run.profiles.at[0].launches, 3);
    assert_counter(&f, 0, "gpu__time_duration.sum", 2.5);
    done(&f);
}

/* ---- raw and derived ----------------------------------------------------------------------------------- */

static void a_raw_page_takes_its_units_from_their_row(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"dram__bytes_read.sum\","
             "\"launch__block_size\",\"launch__grid_size\",\"lts__t_sector_hit_rate.pct\",\"inst\"\n"
             "\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"\",\"\",\"%\",\"inst\"\n"
             "\"0\",\"9\",\"app\",\"h\",\"k\",\"4.198400\",\"1,024\",\"1,000,000\",\"50.5\",\"7 (3; 4)\"\n"
             "\"1\",\"9\",\"app\",\"h\",\"k\",\"0.000000\",\"32\",\"2\",\"\",\"no data\"\n");
    assert_int_equal(f.run.profiles.count, 2);
    assert_counter(&f, 0, "dram__bytes_read.sum", 4198400);
    assert_counter(&f, 0, "lts__t_sector_hit_rate.pct", 0.505);
    assert_counter(&f, 0, "inst", 7);
    assert_counter(&f, 1, "dram__bytes_read.sum", 0);
    assert_int_equal(counter_get(&f.metrics, 1, "lts__t_sector_hit_rate.pct").state, COUNTER_NOT_MEASURED);
    assert_int_equal(counter_get(&f.metrics, 1, "inst").state, COUNTER_NOT_MEASURED);
    const struct shape *shape = &f.run.shapes.at[f.run.profiles.at[0].shape];
    assert_true(shape->block[0] == 1024 && shape->grid[0] == 1000000);
    done(&f);
}

static void a_derived_table_without_names_or_units_is_read(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, "gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,note\n100.5,50,x\n200."
             "5,25,y\n");
    assert_int_equal(f.run.profiles.count, 2);
    assert_counter(&f, 1, "gpu__time_duration.sum", 200.5);
    assert_counter(&f, 1, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 0.25);
    assert_int_equal(f.run.profiles.at[0].shape, NONE);
    done(&f);
}

static void a_spreadsheet_may_change_mark_quotes_and_separator(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, "\xef\xbb\xbfID;Process ID;Kernel Name;Section Name;Metric Name;Metric Unit;Metric Value\r\n"
             "0;5;k;S;gpu__time_duration.sum;ns;1.234,5\r\n");
    assert_counter(&f, 0, "gpu__time_duration.sum", 1234.5);
    assert_true(has_repair(&f, "decimal comma"));
    done(&f);
}

static void utf16_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "ID,Process ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,5,k,a__b,%,50\n";
    char wide[2 * sizeof text] = "\xff\xfe";
    for (size_t i = 0; i < sizeof text - 1; i++)
        wide[2 + 2 * i] = text[i];
    struct fixture f;
    assert_int_equal(load_bytes(&f, wide, 2 * sizeof text), 0);
    assert_counter(&f, 0, "a__b", 0.5);
    done(&f);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void the_whole_file_tells_what_a_separator_means(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, HEAD ROW("0", "S", "a__ns", "ns", "117.344") ROW("0", "S", "b__pct", "%", "65,77")
                 ROW("0", "S", "c__bytes", "byte", "27.595.520"));
    assert_counter(&f, 0, "a__ns", 117344);
    assert_counter(&f, 0, "b__pct", 0.6577);
    assert_counter(&f, 0, "c__bytes", 27595520);
    done(&f);
    load(&f, HEAD ROW("0", "S", "a__ns", "ns", "117.344") ROW("0", "S", "b__pct", "%", "65.77"));
    assert_counter(&f, 0, "a__ns", 117.344);
    done(&f);
    load(&f, HEAD ROW("0", "S", "a__ns", "ns", "117,344"));
    assert_counter(&f, 0, "a__ns", 117344);
    done(&f);
}

static void numbers_that_nothing_decides_are_refused(void **state)
{
    (void)state;
    assert_refused(HEAD ROW("0", "S", "a__ns", "ns", "117.344"), "two ways");
    assert_refused(HEAD ROW("0", "S", "a__ns", "ns", "1.5") ROW("0", "S", "b__ns", "ns", "1,5"),
                   "decimal comma");
}

static void swapped_grid_and_block_are_put_right(void **state)
{
    (void)state;
    struct fixture f;
    load(&f,
         HEAD ROW("0", "S", "launch__block_size", "", "10") ROW("0", "S", "launch__grid_size", "", "128"));
    const struct shape *shape = &f.run.shapes.at[f.run.profiles.at[0].shape];
    assert_true(shape->block[0] == 10 && shape->grid[0] == 64 && shape->grid[1] == 2);
    assert_true(has_repair(&f, "each other's place"));
    done(&f);
}

static void units_of_every_version_come_to_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *text, *base;
        double factor;
    } cases[] = {
        {"nsecond", "ns", 1},
        {"us", "ns", 1e3},
        {"msecond", "ns", 1e6},
        {"second", "ns", 1e9},
        {"Kbyte", "byte", 1e3},
        {"Gbyte", "byte", 1e9},
        {"byte", "byte", 1},
        {"Tbyte/s", "byte/s", 1e12},
        {"byte/second", "byte/s", 1},
        {"Ghz", "hz", 1e9},
        {"hz", "hz", 1},
        {"cycle/nsecond", "hz", 1e9},
        {"cycle/second", "hz", 1},
        {"sector/us", "sector/s", 1e6},
        {"%", "%", 1},
        {"%/Kbyte", "%/byte", 1e-3},
        {"Kbyte/block", "byte/block", 1e3},
        {"register/thread", "register/thread", 1},
        {"-", "", 1},
        {"", "", 1},
        {"warp", "warp", 1},
        {"Mhz", "hz", 1e6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char base[UNIT_TEXT_BYTES];
        double factor = unit_to_base(cases[i].text, strlen(cases[i].text), base);
        if (strcmp(base, cases[i].base) != 0 || fabs(factor / cases[i].factor - 1) > 1e-12)
            fail_msg("%s: %g %s", cases[i].text, factor, base);
    }
}

/* ---- the source page and the terminal ------------------------------------------------------------------ */

static void a_source_page_gives_counters_of_instructions(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, "\"Kernel Name\",\"k(int)\",\n"
             "\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Access Size\",\"stall_wait\"\n"
             "\"0x7f0010\",\"      LDC R1\",\"24\",\"32,768\",\"-\",\"0\"\n"
             "\"0x7f0020\",\"      EXIT\",\"1\",\"32,768\",\"-\",\"5\"\n");
    assert_int_equal(f.run.profiles.count, 1);
    assert_int_equal(f.run.places.count, 2);
    assert_true(f.run.places.pc[0] == 0 && f.run.places.pc[1] == 0x10);
    assert_string_equal(run_text(&f.run, f.run.places.sass[1]), "EXIT");
    assert_int_equal(f.run.place_counters.count, 5);
    assert_true(f.run.place_counters.value[1] == 32768);
    done(&f);
}

static void the_terminal_shows_what_a_table_holds(void **state)
{
    (void)state;
    struct fixture f;
    load(&f, "==PROF== Connected to process 12 (/bin/app)\nElements: 268,435,456\n"
             "[12] app@127.0.0.1\n"
             "  k<int, 4>(T1) (10, 1, 1)x(64, 2, 1), Context 1, Stream 7, Device 3, CC 8.6\n"
             "    Section: GPU Speed Of Light Throughput\n"
             "    ----------------------- ----------- ------------\n"
             "    Metric Name             Metric Unit Metric Value\n"
             "    ----------------------- ----------- ------------\n"
             "    Duration                         us        18.21\n"
             "    Elapsed Cycles                cycle       35,990\n"
             "    ----------------------- ----------- ------------\n"
             "\n"
             "    OPT   Est. Local Speedup: 97.28%  \n"
             "          All pipelines are under-utilized. Look   \n"
             "          elsewhere.\n"
             "    ----- ------------------\n"
             "    INF   A second one.\n");
    assert_int_equal(f.run.profiles.count, 1);
    const struct kernel_profile *p = &f.run.profiles.at[0];
    assert_string_equal(run_text(&f.run, p->name), "k<int, 4>(T1)");
    assert_int_equal(f.run.shapes.at[p->shape].block[1], 2);
    assert_int_equal(f.run.devices.at[p->device].id, 3);
    assert_int_equal(f.run.devices.at[p->device].cc_minor, 6);
    assert_int_equal(f.run.processes.at[p->process].pid, 12);
    assert_counter(&f, 0, "GPU Speed Of Light Throughput/Duration", 18210);
    assert_counter(&f, 0, "GPU Speed Of Light Throughput/Elapsed Cycles", 35990);
    assert_int_equal(f.run.advices.count, 2);
    assert_string_equal(run_text(&f.run, f.run.advices.at[0].text),
                        "All pipelines are under-utilized. Look elsewhere.");
    assert_true(fabs(f.run.advices.at[0].speedup_ratio - 0.9728) < 1e-12 &&
                f.run.advices.at[0].is_local_speedup);
    assert_true(isnan(f.run.advices.at[1].speedup_ratio));
    done(&f);
}

static void output_without_results_is_refused_with_ncus_words(void **state)
{
    (void)state;
    assert_refused("==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - no permission\n",
                   "ERR_NVGPUCTRPERM");
    assert_refused("==PROF== Connected to process 1\n==PROF== Disconnected\n", "no results");
    assert_refused(HEAD, "no results");
}

static void tables_of_other_tools_are_left_alone(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const others[] = {
        "\"PID\",\"TID\",\"Kernel Name\",\"Count\"\n\"1\",\"2\",\"k\",\"3\"\n",
        "index, name, power.draw [W]\n0, H200, 70.0\n",
        "Dispatch_ID,Kernel_Name,GPU_ID\n0,k,1\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(load_bytes(&f, others[i], strlen(others[i])), ERR_INPUT);
        assert_non_null(strstr(f.err.what, "not a recording"));
        done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_details_page_gives_launches_counters_and_rules),
        cmocka_unit_test(a_damaged_row_costs_itself_and_is_counted),
        cmocka_unit_test(a_second_table_starts_its_ids_again),
        cmocka_unit_test(a_summary_gives_means_over_its_launches),
        cmocka_unit_test(a_raw_page_takes_its_units_from_their_row),
        cmocka_unit_test(a_derived_table_without_names_or_units_is_read),
        cmocka_unit_test(a_spreadsheet_may_change_mark_quotes_and_separator),
        cmocka_unit_test(utf16_is_read),
        cmocka_unit_test(the_whole_file_tells_what_a_separator_means),
        cmocka_unit_test(numbers_that_nothing_decides_are_refused),
        cmocka_unit_test(swapped_grid_and_block_are_put_right),
        cmocka_unit_test(units_of_every_version_come_to_the_same),
        cmocka_unit_test(a_source_page_gives_counters_of_instructions),
        cmocka_unit_test(the_terminal_shows_what_a_table_holds),
        cmocka_unit_test(output_without_results_is_refused_with_ncus_words),
        cmocka_unit_test(tables_of_other_tools_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
