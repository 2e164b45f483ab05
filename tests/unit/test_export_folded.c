/* Folded stacks: the weights sum up to the time that they divide, exactly, and every line can be parsed. */
#include "cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "import/import.h"
#include "make_run.h"
#include "rich_run.h"

static struct str export_text(const struct run *run, enum folded_weight weight, struct interval window)
{
    struct export_sink sink = {0};
    struct err err = {0};
    struct export_options options = {.window = window, .weight = weight};
    assert_int_equal(exporter_named("folded")->write(run, &options, &sink, &err), 0);
    return sink.pending;
}

/* Reads as flamegraph.pl does: the last blank divides stack and weight. Returns the sum of the weights. */
static int64_t assert_lines_parse(const struct str *text)
{
    int64_t sum = 0;
    const char *at = str_text(text), *all_end = at + text->len;
    while (at < all_end) {
        const char *end = memchr(at, '\n', (size_t)(all_end - at));
        assert_non_null(end);
        const char *blank = end;
        while (blank > at && *blank != ' ')
            blank--;
        assert_true(blank > at && blank[-1] != ' ' && blank[-1] != ';' && *at != ';');
        for (const char *c = at; c < blank; c++) {
            assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
            assert_false(c[0] == ';' && c[1] == ';');
        }
        char *number_end;
        int64_t weight = strtoll(blank + 1, &number_end, 10);
        assert_ptr_equal(number_end, end);
        assert_true(weight > 0);
        sum += weight;
        at = end + 1;
    }
    return sum;
}

static int64_t op_time(const struct run *run, struct interval window)
{
    int64_t sum = 0;
    for (size_t i = 0; i < run->ops.count; i++) {
        int64_t start = max_ns(run->ops.start[i], window.start), end = min_ns(run->ops.end[i], window.end);
        sum += end > start ? end - start : 0;
    }
    return sum;
}

/* Time in which any span of a thread is open, by brute force over the sorted spans. */
static int64_t span_time(const struct run *run, struct interval window)
{
    int64_t sum = 0;
    for (size_t t = 0; t < run->threads.count; t++) {
        const struct thread *thread = &run->threads.at[t];
        int64_t covered = window.start;
        for (size_t i = thread->first_span; i < (size_t)thread->first_span + thread->span_count; i++) {
            int64_t start = max_ns(run->spans.start[i], covered), end = min_ns(run->spans.end[i], window.end);
            sum += end > start ? end - start : 0;
            covered = max_ns(covered, end);
        }
    }
    return sum;
}

static const struct interval everything = {INT64_MIN / 2, INT64_MAX / 2};

static void assert_sums(const struct run *run, struct interval window)
{
    struct interval asked = window.start == everything.start ? (struct interval){0, 0} : window;
    struct str device = export_text(run, FOLDED_DEVICE, asked), host = export_text(run, FOLDED_HOST, asked);
    assert_int_equal(assert_lines_parse(&device), op_time(run, window));
    assert_int_equal(assert_lines_parse(&host), span_time(run, window));
    str_release(&device);
    str_release(&host);
}

static void weights_sum_up_exactly_whatever_overlaps(void **state)
{
    (void)state;
    struct run run;
    rich_run(&run);
    assert_sums(&run, everything);
    assert_sums(&run, (struct interval){480, 8997});
    assert_sums(&run, (struct interval){1650, 1651});
    run_release(&run);
}

static void weights_sum_up_exactly_for_samples(void **state)
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
        assert_sums(&run, everything);
        int64_t middle = run.ops.start[run.ops.count / 2];
        assert_sums(&run, (struct interval){middle, middle + 1000000});
        run_release(&run);
        read++;
    }
    closedir(dir);
    assert_true(read > 0);
}

static void device_stacks_lead_from_the_process_to_the_kernel(void **state)
{
    (void)state;
    struct make_run made;
    make_run_init(&made);
    made.run.processes.at[0].name = intern_puts(&made.run.strings, "python3");
    make_span(&made.run, made.thread, SPAN_ANNOTATION, "step", 0, 100, 0);
    make_span(&made.run, made.thread, SPAN_OP, "aten::mm", 10, 50, 0);
    make_launch(&made, "gemm", 20, 30, 60, 75);
    make_launch(&made, "gemm", 35, 40, 80, 90);
    make_launch(&made, "copy", 60, 65, 90, 93);
    make_kernel(&made.run, made.stream, "stray", 95, 99, 0);
    run_seal(&made.run);
    struct str text = export_text(&made.run, FOLDED_DEVICE, (struct interval){0, 0});
    assert_string_equal(str_text(&text), "python3 (pid 100);tid 100;step;aten::mm;cudaLaunchKernel;gemm 25\n"
                                         "python3 (pid 100);tid 100;step;cudaLaunchKernel;copy 3\n"
                                         "python3 (pid 100);[launch not recorded];GPU 0;stream 7;stray 4\n");
    str_release(&text);
    run_release(&made.run);
}

static void host_weights_are_the_time_of_the_innermost_span(void **state)
{
    (void)state;
    struct make_run made;
    make_run_init(&made);
    make_span(&made.run, made.thread, SPAN_ANNOTATION, "step", 0, 100, 0);
    make_span(&made.run, made.thread, SPAN_OP, "op", 10, 50, 0);
    make_span(&made.run, made.thread, SPAN_API, "call", 20, 30, 1);
    make_span(&made.run, made.thread, SPAN_API, "outlives op", 45, 60, 2);
    run_seal(&made.run);
    struct str text = export_text(&made.run, FOLDED_HOST, (struct interval){0, 0});
    assert_string_equal(str_text(&text), "pid 100;tid 100;step 50\n"
                                         "pid 100;tid 100;step;op 25\n"
                                         "pid 100;tid 100;step;op;call 10\n"
                                         "pid 100;tid 100;step;op;outlives op 15\n");
    str_release(&text);
    run_release(&made.run);
}

static void frames_cannot_break_the_format(void **state)
{
    (void)state;
    struct make_run made;
    make_run_init(&made);
    make_kernel(&made.run, made.stream, "a;b\nc\td 5 ", 0, 3, 0);
    make_kernel(&made.run, made.stream, "", 3, 5, 0);
    make_kernel(&made.run, made.stream, "\xff", 5, 6, 0);
    run_seal(&made.run);
    struct str text = export_text(&made.run, FOLDED_DEVICE, (struct interval){0, 0});
    assert_int_equal(assert_lines_parse(&text), 6);
    assert_non_null(strstr(text.ptr, ";a:b c d 5 3\n"));
    assert_non_null(strstr(text.ptr, ";[unnamed] 2\n"));
    assert_non_null(strstr(text.ptr, ";\xef\xbf\xbd 1\n"));
    str_release(&text);
    run_release(&made.run);
}

/* A file may nest as deep as it likes. */
static void endless_stacks_are_cut_and_keep_their_time(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    struct make_run made;
    make_run_init(&made);
    for (int64_t i = 0; i < DEPTH; i++)
        make_span(&made.run, made.thread, SPAN_PYTHON, "f", i, 3 * DEPTH - i, 0);
    make_launch(&made, "k", DEPTH, DEPTH + 1, DEPTH + 2, DEPTH + 7);
    run_seal(&made.run);
    struct str host = export_text(&made.run, FOLDED_HOST, (struct interval){0, 0});
    assert_int_equal(assert_lines_parse(&host), 3 * DEPTH);
    assert_in_range(host.len, DEPTH, 4 * 1024 * 1024);
    struct str device = export_text(&made.run, FOLDED_DEVICE, (struct interval){0, 0});
    assert_int_equal(assert_lines_parse(&device), 5);
    assert_in_range(device.len, 2000, 3000);
    str_release(&host);
    str_release(&device);
    run_release(&made.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_sum_up_exactly_whatever_overlaps),
        cmocka_unit_test(weights_sum_up_exactly_for_samples),
        cmocka_unit_test(device_stacks_lead_from_the_process_to_the_kernel),
        cmocka_unit_test(host_weights_are_the_time_of_the_innermost_span),
        cmocka_unit_test(frames_cannot_break_the_format),
        cmocka_unit_test(endless_stacks_are_cut_and_keep_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
