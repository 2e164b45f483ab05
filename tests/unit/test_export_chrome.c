/* Chrome JSON: valid whatever the names hold, exact to the nanosecond, and read back as
 * the run that was exported as far as torch.profiler's format has a place for it. */
#include "cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe_run.h"
#include "export/export.h"
#include "import/import.h"
#include "make_run.h"
#include "rich_run.h"

static struct str export_text(const struct run *run, struct interval window)
{
    struct export_sink sink = {0};
    struct err err = {0};
    struct export_options options = {.window = window};
    assert_int_equal(exporter_named("chrome")->write(run, &options, &sink, &err), 0);
    return sink.pending;
}

static void read_back(struct run *run, const struct str *text)
{
    struct err err = {0};
    run_init(run);
    assert_int_equal(import_memory(run, "export.json", text->ptr, text->len, NULL, NULL, &err), 0);
    run_seal(run);
}

static void assert_survives(const struct run *run)
{
    struct str text = export_text(run, (struct interval){0, 0});
    struct run again;
    read_back(&again, &text);
    assert_int_equal(again.sources.at[0].repairs.count, 0);
    assert_int_equal(again.losses.malformed + again.losses.untimed, 0);
    assert_runs_equal(run, &again, DESCRIBE_KINETO);
    run_release(&again);
    str_release(&text);
}

/* ---- RFC 8259, strictly
 * -------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

static const char *skip_string(const char *p)
{
    assert_int_equal(*p, '"');
    for (p++; *p != '"'; p++) {
        assert_true((unsigned char)*p >= ' ');
        if (*p != '\\')
            continue;
        p++;
        assert_non_null(strchr("\"\\/bfnrtu", *p));
        for (int i = 0; *p == 'u' && i < 4; i++)
            assert_non_null(strchr("0123456789abcdefABCDEF", p[i + 1]));
    }
    return p + 1;
}

static const char *skip_digits(const char *p)
{
    assert_true(*p >= '0' && *p <= '9');
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

static const char *skip_number(const char *p)
{
    p += *p == '-';
    assert_false(p[0] == '0' && p[1] >= '0' && p[1] <= '9');
    p = skip_digits(p);
    if (*p == '.')
        p = skip_digits(p + 1);
    if (*p == 'e' || *p == 'E') {
        p++;
        p = skip_digits(p + (*p == '+' || *p == '-'));
    }
    return p;
}

static const char *skip_value(const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    p = skip_blanks(p);
    if (*p == '"')
        return skip_string(p);
    for (size_t i = 0; i < 3; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    if (*p != '{' && *p != '[')
        return skip_number(p);
    char close = *p == '{' ? '}' : ']';
    p = skip_blanks(p + 1);
    while (*p != close) {
        if (close == '}') {
            p = skip_blanks(skip_string(skip_blanks(p)));
            assert_int_equal(*p++, ':');
        }
        p = skip_blanks(skip_value(p));
        assert_true(*p == ',' || *p == close);
        if (*p == ',') {
            p = skip_blanks(p + 1);
            assert_int_not_equal(*p, close);
        }
    }
    return p + 1;
}

static void output_is_strict_json_whatever_the_names_hold(void **state)
{
    (void)state;
    struct run run;
    rich_run(&run);
    struct str text = export_text(&run, (struct interval){0, 0});
    const char *end = skip_blanks(skip_value(str_text(&text)));
    assert_ptr_equal(end, text.ptr + text.len);
    str_release(&text);
    run_release(&run);
}

/* ---- round trips --------------------------------------------------------------------------------------- */

static void torch_like_ops(struct make_run *made)
{
    struct run *run = &made->run;
    struct op_table *ops = &run->ops;
    struct shape shape = {.grid = {1024, 2, 3},
                          .block = {128, 4, 1},
                          .regs_per_thread = 255,
                          .shared_dynamic_bytes = 98304,
                          .occupancy_percent = 37};
    uint32_t op = make_kernel(run, made->stream, RICH_NAME, 1000, 2000, 1);
    ops->shape[op] = run_shape(run, &shape);
    ops->external[op] = 77;
    ops->graph[op] = 5;
    make_kernel(run, made->stream, "overlaps the one before", 1500, 2501, 2);
    op = make_kernel(run, made->stream, "ncclDevKernel_AllReduce", 3000, 3500, 3);
    vec_push(&run->comms, ((struct comm){.collective = intern_puts(&run->strings, "allreduce"),
                                         .group = intern_puts(&run->strings, "default_pg"),
                                         .ranks = intern_puts(&run->strings, "[0, 1]"),
                                         .dtype = intern_puts(&run->strings, "BFloat16"),
                                         .in_elements = 1 << 20,
                                         .out_elements = UNKNOWN,
                                         .group_size = 2,
                                         .seq = 12}));
    ops->comm[op] = 0;
    op = make_copy(run, made->stream, COPY_H2D, MEM_PAGEABLE, MEM_DEVICE, INT64_C(5000000000), 4000, 4100, 4);
    ops->name[op] = intern_puts(&run->strings, "Memcpy HtoD (Pageable -> Device)");
    op = make_op(run, made->stream, OP_MEMSET, "Memset (Device)", 4100, 4150, 5);
    ops->bytes[op] = 0;
    ops->dst[op] = MEM_DEVICE;
    make_op(run, made->stream, OP_GRAPH, "graph", 4200, 4900, 6);
    uint32_t second = run_stream(run, made->process, made->device, 1, 20);
    make_kernel(run, second, "node of one launch", 5000, 5000, 7);
    make_kernel(run, second, "node of one launch", 5100, 5201, 7);
}

/* One of everything that the format holds. first: added to all times. */
static void torch_like_run(struct make_run *made, int64_t first)
{
    make_run_init(made);
    struct run *run = &made->run;
    run->processes.at[0].name = intern_puts(&run->strings, "python3");
    run->threads.at[0].name = intern_puts(&run->strings, "thread 100 (python3)");
    run->devices.at[0].name = intern_puts(&run->strings, "NVIDIA H200");
    run->devices.at[0].vendor = VENDOR_NVIDIA;
    run->devices.at[0].cc_major = 9;
    run->devices.at[0].sm_count = 132;
    run->devices.at[0].warp_size = 32;
    run->devices.at[0].max_threads_per_sm = 2048;
    run->devices.at[0].max_warps_per_sm = 64;
    run->devices.at[0].clock_hz = 1980000000;
    run->sources.at[0].rank = run->processes.at[0].rank = 1;
    run->sources.at[0].world_size = run->processes.at[0].world_size = 2;
    run_fact(run, 0, "distributed_rank", "1", 1);
    run_fact(run, 0, "distributed_world_size", "2", 1);
    run_fact(run, 0, "distributed_backend", "nccl", 4);
    run_fact(run, 0, "cuda_driver_version", "13000", 5);
    run_fact(run, 0, "trace\"id", "C1A5\\", 5);
    torch_like_ops(made);
    make_span(run, made->thread, SPAN_ANNOTATION, "step", 0, 9000, 3);
    make_span(run, made->thread, SPAN_PYTHON, "train.py(12): step", 0, 9000, 4);
    uint32_t op = make_span(run, made->thread, SPAN_OP, "aten::mm", 10, 400, 77);
    run->spans.detail[op] = intern_puts(&run->strings, "train.py(12): step;model.py(3): forward");
    for (uint64_t i = 1; i <= 7; i++)
        make_span(run, made->thread, SPAN_API, i < 7 ? "cudaLaunchKernel" : "cuGraphLaunch", (int64_t)i * 20,
                  (int64_t)i * 20 + 10, i);
    make_span(run, run_thread(run, made->process, 0), SPAN_OVERHEAD, "Activity Buffer Request", 500, 501, 0);
    make_span(run, made->thread, SPAN_OTHER, "mystery", 500, 600, 0);
    op = make_span(run, made->thread, SPAN_OTHER, "cublasCreate", 600, 700, 0);
    run->spans.detail[op] = intern_puts(&run->strings, "cuBLAS");
    for (int i = 0; i < 6; i++) {
        size_t row = sample_table_add(&run->samples);
        run->samples.time[row] = 100 + i / 2;
        run->samples.value[row] = 150109880320.0 + i;
        run->samples.series[row] =
            run_series(run, i % 2 ? "memory reserved" : "memory allocated", 0, made->process, UNIT_BYTES);
    }
    vec_push(&run->marks,
             ((struct mark){205, MARK_INSTANT, intern_puts(&run->strings, "here"), made->thread, NONE}));
    vec_push(&run->waits, ((struct wait){2000, 3000, intern_puts(&run->strings, "Stream Wait Event"), 0, 1}));
    vec_push(&run->waits, ((struct wait){2500, 3500, intern_puts(&run->strings, "Stream Sync"), 0, NONE}));
    for (size_t i = 0; i < run->ops.count; i++) {
        run->ops.start[i] += first;
        run->ops.end[i] += first;
    }
    for (size_t i = 0; i < run->spans.count; i++) {
        run->spans.start[i] += first;
        run->spans.end[i] += first;
    }
    for (size_t i = 0; i < run->samples.count; i++)
        run->samples.time[i] += first;
    vec_each (&run->marks, mark)
        mark->time += first;
    vec_each (&run->waits, wait) {
        wait->start += first;
        wait->end += first;
    }
    run_seal(run);
}

static void all_that_the_format_holds_survives(void **state)
{
    (void)state;
    static const int64_t firsts[] = {0, 1, 999999999, 1790857026000000000, 1790857026999999999, -5000000001};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct make_run made;
        torch_like_run(&made, firsts[i]);
        assert_survives(&made.run);
        run_release(&made.run);
    }
}

static void samples_survive(void **state)
{
    (void)state;
    DIR *dir = opendir(SAMPLES "/torch");
    assert_non_null(dir);
    int read = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        struct run run;
        struct err err = {0};
        if (!strstr(entry->d_name, ".json.gz"))
            continue;
        snprintf(path, sizeof path, SAMPLES "/torch/%s", entry->d_name);
        run_init(&run);
        assert_int_equal(import_file(&run, path, NULL, NULL, &err), 0);
        run_seal(&run);
        assert_true(run.ops.count > 0);
        assert_survives(&run);
        run_release(&run);
        read++;
    }
    closedir(dir);
    assert_true(read > 0);
}

/* Numbers that two files use for different things do not make one thing of them. */
static void ops_of_colliding_devices_and_contexts_stay_apart(void **state)
{
    (void)state;
    struct run run, again;
    rich_run(&run);
    struct str text = export_text(&run, (struct interval){0, 0});
    read_back(&again, &text);
    assert_int_equal(again.ops.count, run.ops.count);
    assert_int_equal(again.devices.count, run.devices.count);
    for (size_t d = 0; d < run.devices.count; d++) {
        assert_int_equal(again.devices.at[d].op_count, run.devices.at[d].op_count);
        for (size_t i = run.devices.at[d].first_op;
             i < run.devices.at[d].first_op + run.devices.at[d].op_count; i++) {
            assert_int_equal(again.ops.start[i], run.ops.start[i]);
            assert_int_equal(again.ops.end[i], run.ops.end[i]);
        }
    }
    run_release(&again);
    str_release(&text);
    run_release(&run);
}

/* ---- what viewers require
 * ---------------------------------------------------------------------------------- */

struct drawn {
    int64_t pid, tid;
    int64_t start, end;
};

static int64_t number_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return strtoll(at + strlen(key), NULL, 10);
}

/* Microseconds with exactly three decimals → ns. */
static int64_t time_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    char *end;
    assert_non_null(at);
    int64_t us = strtoll(at + strlen(key), &end, 10);
    assert_int_equal(*end, '.');
    int64_t ns = strtoll(end + 1, &end, 10);
    assert_true(*end == ',' || *end == '}');
    return us * 1000 + ns;
}

static int by_row_and_time(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static bool is_device_row(const char *line)
{
    return strstr(line, "\"cat\":\"kernel\"") || strstr(line, "\"cat\":\"gpu_mem") ||
           strstr(line, "\"cat\":\"cuda_sync\"");
}

static void slices_of_a_device_row_never_overlap(void **state)
{
    (void)state;
    struct run run;
    VEC(struct drawn) drawn = {0};
    rich_run(&run);
    struct str text = export_text(&run, (struct interval){0, 0});
    char *next;
    for (char *line = text.ptr; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        if (!is_device_row(line))
            continue;
        int64_t start = time_after(line, "\"ts\":");
        vec_push(&drawn, ((struct drawn){number_after(line, "\"pid\":"), number_after(line, "\"tid\":"),
                                         start, start + time_after(line, "\"dur\":")}));
    }
    assert_int_equal(drawn.count, run.ops.count + run.waits.count);
    qsort(drawn.at, drawn.count, sizeof *drawn.at, by_row_and_time);
    for (size_t i = 1; i < drawn.count; i++) {
        const struct drawn *d = &drawn.at[i];
        if (d->pid == d[-1].pid && d->tid == d[-1].tid)
            assert_true(d->start >= d[-1].end);
    }
    vec_release(&drawn);
    str_release(&text);
    run_release(&run);
}

static void an_arrow_leads_from_every_call_to_each_op_that_it_launched(void **state)
{
    (void)state;
    struct make_run made;
    int64_t from[8] = {0}, to[8] = {0};
    make_run_init(&made);
    make_launch(&made, "k", 10, 20, 30, 40);
    make_span(&made.run, made.thread, SPAN_API, "cudaGraphLaunch", 50, 60, 77);
    make_kernel(&made.run, made.stream, "node", 70, 80, 77);
    make_kernel(&made.run, made.stream, "node", 90, 95, 77);
    make_launch(&made, "before its call: the clocks disagree", 110, 120, 100, 105);
    run_seal(&made.run);
    struct str text = export_text(&made.run, (struct interval){0, 0});
    int arrows = 0;
    char *next;
    for (char *line = text.ptr; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        bool start = strstr(line, "\"ph\":\"s\",\"cat\":\"ac2g\"");
        if (!start && !strstr(line, "\"ph\":\"f\",\"cat\":\"ac2g\""))
            continue;
        int64_t id = number_after(line, "\"id\":");
        assert_in_range(id, 1, 7);
        (start ? from : to)[id] = time_after(line, "\"ts\":");
        assert_true(start || strstr(line, "\"bp\":\"e\""));
        arrows++;
    }
    assert_int_equal(arrows, 6);
    assert_true(from[1] == 10 && to[1] == 30);
    assert_true(from[2] == 50 && to[2] == 70);
    assert_true(from[3] == 50 && to[3] == 90);
    str_release(&text);
    run_release(&made.run);
}

/* Start and duration 0 is how tools write that nobody took the time. */
static void an_op_of_no_length_at_the_first_moment_survives(void **state)
{
    (void)state;
    static const int64_t firsts[] = {0, 1790857026000000000};
    for (size_t i = 0; i < 2; i++) {
        struct make_run made;
        make_run_init(&made);
        make_span(&made.run, made.thread, SPAN_OP, "op", firsts[i], firsts[i] + 10, 1);
        make_kernel(&made.run, made.stream, "k", firsts[i], firsts[i], 0);
        run_seal(&made.run);
        assert_survives(&made.run);
        run_release(&made.run);
    }
}

static void the_head_tells_times_and_devices_before_the_events(void **state)
{
    (void)state;
    struct make_run made;
    torch_like_run(&made, 1790857026123456789);
    struct str text = export_text(&made.run, (struct interval){0, 0});
    const char *base = strstr(text.ptr, "\"baseTimeNanoseconds\":1790857026000000000");
    const char *devices = strstr(text.ptr, "\"deviceProperties\":"),
               *events = strstr(text.ptr, "\"traceEvents\":");
    assert_true(base && devices && events && base < events && devices < events);
    assert_non_null(strstr(text.ptr, "\"ts\":123456.789,\"dur\":9.000"));
    str_release(&text);
    run_release(&made.run);
}

static void a_window_keeps_what_overlaps_it(void **state)
{
    (void)state;
    struct make_run made;
    struct run cut;
    torch_like_run(&made, 0);
    struct str text = export_text(&made.run, (struct interval){4050, 4120});
    read_back(&cut, &text);
    assert_int_equal(cut.ops.count, 2);
    assert_int_equal(cut.ops.start[0], 4000);
    assert_int_equal(cut.losses.unlinked, 0);
    assert_int_equal(cut.samples.count, 0);
    run_release(&cut);
    str_release(&text);
    run_release(&made.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_strict_json_whatever_the_names_hold),
        cmocka_unit_test(all_that_the_format_holds_survives),
        cmocka_unit_test(samples_survive),
        cmocka_unit_test(ops_of_colliding_devices_and_contexts_stay_apart),
        cmocka_unit_test(slices_of_a_device_row_never_overlap),
        cmocka_unit_test(an_arrow_leads_from_every_call_to_each_op_that_it_launched),
        cmocka_unit_test(an_op_of_no_length_at_the_first_moment_survives),
        cmocka_unit_test(the_head_tells_times_and_devices_before_the_events),
        cmocka_unit_test(a_window_keeps_what_overlaps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
