/* A recording holds the whole run, whether it was written at once or bit by bit while the run grew, and
 * versions of the format that are to come do no harm. */
#include "wlt_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "export/wlt_write.h"
#include "nsys_case.h"

/* ---- whole runs ---------------------------------------------------------------------------------------- */

static void assert_survives(const struct run *run)
{
    struct str bytes = {0};
    struct run again;
    wlt_of_run(run, &bytes);
    wlt_read(&again, &bytes);
    assert_runs_equal(run, &again, DESCRIBE_ALL);
    run_release(&again);
    str_release(&bytes);
}

static void every_column_of_every_table_survives(void **state)
{
    (void)state;
    struct run run;
    rich_run(&run);
    assert_survives(&run);
    run_release(&run);
}

static void an_empty_run_survives(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    run_add_source(&run, "nothing", "made by hand");
    run_seal(&run);
    assert_survives(&run);
    run_release(&run);
}

static void times_before_zero_and_since_1970_survive(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct make_run made;
        int64_t at = i ? INT64_C(1790857026000000000) : -5000;
        make_run_init(&made);
        make_launch(&made, "k", at, at + 10, at + 20, at + 30);
        run_seal(&made.run);
        assert_survives(&made.run);
        run_release(&made.run);
    }
}

/* More rows than a chunk takes, all at one time: each must still be worth a byte. */
static void tables_of_several_chunks_survive(void **state)
{
    (void)state;
    struct make_run made;
    make_run_init(&made);
    for (int64_t i = 0; i < WLT_ROWS_MAX + 1000; i++)
        make_kernel(&made.run, made.stream, "the same", 7, 7, 0);
    for (int64_t i = 0; i < WLT_ROWS_MAX + 1; i++)
        vec_push(&made.run.marks,
                 ((struct mark){.kind = MARK_INSTANT, .thread = made.thread, .device = NONE}));
    run_seal(&made.run);
    assert_survives(&made.run);
    run_release(&made.run);
}

static void texts_with_any_byte_survive(void **state)
{
    (void)state;
    struct make_run made;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    make_run_init(&made);
    run_fact(&made.run, made.source, "bytes", bytes, sizeof bytes);
    run_seal(&made.run);
    struct str file = {0};
    struct run again;
    wlt_of_run(&made.run, &file);
    wlt_read(&again, &file);
    uint32_t value = again.facts.at[0].value;
    assert_int_equal(intern_length(&again.strings, value), sizeof bytes);
    assert_memory_equal(run_text(&again, value), bytes, sizeof bytes);
    run_release(&again);
    run_release(&made.run);
    str_release(&file);
}

static void torch_samples_survive(void **state)
{
    (void)state;
    int files = 0;
    DIR *folder = opendir(SAMPLES "/torch");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[1024];
        struct run run;
        struct err err = {0};
        if (!strstr(entry->d_name, ".json.gz"))
            continue;
        snprintf(path, sizeof path, "%s/torch/%s", SAMPLES, entry->d_name);
        run_init(&run);
        assert_int_equal(import_file(&run, path, NULL, NULL, &err), 0);
        run_seal(&run);
        assert_survives(&run);
        run_release(&run);
        files++;
    }
    closedir(folder);
    assert_true(files > 0);
}

static void nsys_samples_survive(void **state)
{
    (void)state;
    static const char *const samples[] = {"schema-1",    "schema-2.9",  "schema-3.1",
                                          "schema-3.16", "schema-3.28", "hostile"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct run run;
        load(&run, samples[i]);
        assert_survives(&run);
        run_release(&run);
    }
}

/* ---- windows and merging ------------------------------------------------------------------------------- */

static void a_window_keeps_what_overlaps_it_and_the_calls_that_launched_it(void **state)
{
    (void)state;
    struct make_run made;
    struct run cut;
    struct export_sink sink = {0};
    struct export_options options = {.window = {1000, 2000}};
    struct err err = {0};
    make_run_init(&made);
    make_span(&made.run, made.thread, SPAN_ANNOTATION, "all", 0, 10000, 0);
    make_launch(&made, "before", 100, 110, 200, 300);
    make_launch(&made, "queued long ago", 400, 410, 1500, 1600);
    make_launch(&made, "after", 2100, 2110, 2600, 2700);
    run_seal(&made.run);
    assert_int_equal(exporter_named("wlt")->write(&made.run, &options, &sink, &err), 0);
    wlt_read(&cut, &sink.pending);
    assert_int_equal(cut.ops.count, 1);
    assert_string_equal(run_text(&cut, cut.ops.name[0]), "queued long ago");
    assert_int_equal(cut.losses.unlinked, 0);
    assert_int_equal(cut.spans.count, 2);
    assert_int_equal(cut.spans.start[0], 400);
    assert_int_equal(cut.spans.end[0], 2000);
    run_release(&cut);
    str_release(&sink.pending);
    run_release(&made.run);
}

/* As if both had been imported into one run in the first place. */
static void two_recordings_make_one_run(void **state)
{
    (void)state;
    struct make_run first, second;
    struct run both;
    struct err err = {0};
    struct str bytes[2] = {{0}, {0}};
    make_run_init(&first);
    make_launch(&first, "from the first", 0, 10, 20, 30);
    run_seal(&first.run);
    wlt_of_run(&first.run, &bytes[0]);
    make_run_init(&second);
    intern_puts(&second.run.strings, "so that ids differ");
    make_launch(&second, "from the second", 100, 110, 120, 130);
    run_seal(&second.run);
    wlt_of_run(&second.run, &bytes[1]);
    run_init(&both);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            import_memory(&both, i ? "b.wlt" : "a.wlt", bytes[i].ptr, bytes[i].len, NULL, NULL, &err), 0);
    run_seal(&both);
    assert_int_equal(both.sources.count, 2);
    assert_string_equal(run_text(&both, both.sources.at[1].path), "b.wlt");
    assert_int_equal(both.devices.count, 2);
    assert_int_equal(both.processes.count, 2);
    assert_int_equal(both.losses.unlinked, 0);
    assert_string_equal(run_text(&both, both.ops.name[1]), "from the second");
    assert_int_equal(both.devices.at[run_op_device(&both, 1)].source, 1);
    assert_int_equal(both.spans.start[both.ops.call[1]], 100);
    run_release(&both);
    run_release(&first.run);
    run_release(&second.run);
    str_release(&bytes[0]);
    str_release(&bytes[1]);
}

static void where_a_recording_came_from_is_kept_once(void **state)
{
    (void)state;
    struct run run, once, twice;
    struct str bytes = {0}, again = {0};
    rich_run(&run);
    wlt_of_run(&run, &bytes);
    wlt_read(&once, &bytes);
    wlt_of_run(&once, &again);
    wlt_read(&twice, &again);
    assert_string_equal(fact(&twice, "original_path"), "rank0.json.gz");
    assert_int_equal(twice.facts.count, once.facts.count);
    assert_string_equal(run_text(&twice, twice.sources.at[0].format),
                        "Warplight recording 1.0 of torch.profiler JSON");
    run_release(&run);
    run_release(&once);
    run_release(&twice);
    str_release(&bytes);
    str_release(&again);
}

/* ---- the writer of a program that runs ----------------------------------------------------------------- */

struct file {
    char path[64];
    int fd;
};

static void file_make(struct file *file)
{
    snprintf(file->path, sizeof file->path, "/tmp/test_wlt-XXXXXX");
    file->fd = mkstemp(file->path);
    assert_true(file->fd >= 0);
}

static void file_remove(struct file *file)
{
    close(file->fd);
    assert_int_equal(unlink(file->path), 0);
}

static void load_file(struct run *run, const struct file *file)
{
    struct err err = {0};
    run_init(run);
    if (import_file(run, file->path, NULL, NULL, &err) != 0)
        fail_msg("%s", err.what);
    run_seal(run);
}

/* The rich run before it is sealed cannot be had, but a sealed one with its rows will do: nothing that
 * run_seal() makes is stored. */
static void rows_written_bit_by_bit_make_the_same_run(void **state)
{
    (void)state;
    struct run whole, growing, again;
    struct wlt_writer *writer;
    struct err err = {0};
    struct file file;
    rich_run(&whole);
    rich_run(&growing);
    struct op_table *ops = &growing.ops;
    struct span_table *spans = &growing.spans;
    size_t op_count = ops->count, span_count = spans->count;
    file_make(&file);
    assert_int_equal(wlt_writer_open(&writer, file.fd, &err), 0);
    for (size_t i = 0; i < span_count; i++) { /* a row of each table at a time */
        if (i < op_count) {
#define FROM_WHOLE(type, name) ops->name[0] = whole.ops.name[i];
            RUN_OPS(FROM_WHOLE)
        }
#define SPAN_FROM_WHOLE(type, name) spans->name[0] = whole.spans.name[i];
        RUN_SPANS(SPAN_FROM_WHOLE)
        ops->count = i < op_count;
        spans->count = 1;
        assert_int_equal(wlt_writer_flush(writer, &growing, &err), 0);
        assert_int_equal(
            ops->count + spans->count + growing.samples.count + growing.marks.count + growing.waits.count, 0);
    }
    assert_int_equal(wlt_writer_close(writer, &growing, &err), 0);
    load_file(&again, &file);
    assert_runs_equal(&whole, &again, DESCRIBE_ALL);
    file_remove(&file);
    run_release(&whole);
    run_release(&growing);
    run_release(&again);
}

static void what_was_flushed_survives_the_death_of_the_writer(void **state)
{
    (void)state;
    struct make_run made;
    struct run again;
    struct wlt_writer *writer;
    struct err err = {0};
    struct file file;
    file_make(&file);
    make_run_init(&made);
    assert_int_equal(wlt_writer_open(&writer, file.fd, &err), 0);
    make_launch(&made, "first", 0, 10, 20, 30);
    assert_int_equal(wlt_writer_flush(writer, &made.run, &err), 0);
    made.run.threads.at[made.thread].name = intern_puts(&made.run.strings, "named later");
    made.run.losses.dropped = 7;
    make_launch(&made, "second", 100, 110, 120, 130);
    assert_int_equal(wlt_writer_flush(writer, &made.run, &err), 0);
    load_file(&again, &file);
    assert_int_equal(again.ops.count, 2);
    assert_int_equal(again.losses.unlinked, 0);
    assert_int_equal(again.losses.dropped, 7);
    assert_int_equal(again.losses.truncated_bytes, 0);
    assert_string_equal(run_text(&again, again.threads.at[0].name), "named later");
    assert_int_equal(wlt_repaired(&again, "was not closed"), 1);
    assert_int_equal(wlt_writer_close(writer, &made.run, &err), 0);
    run_release(&again);
    load_file(&again, &file);
    assert_int_equal(wlt_repaired(&again, "was not closed"), 0);
    file_remove(&file);
    run_release(&again);
    run_release(&made.run);
}

static void other_clocks_are_told_with_their_drift(void **state)
{
    (void)state;
    struct make_run made;
    struct run again;
    struct wlt_writer *writer;
    struct err err = {0};
    struct file file;
    file_make(&file);
    make_run_init(&made);
    assert_int_equal(wlt_writer_open(&writer, file.fd, &err), 0);
    assert_int_equal(wlt_writer_clock(writer, &made.run, "monotonic", 1000, 400, &err), 0);
    assert_int_equal(wlt_writer_clock(writer, &made.run, "monotonic", 9000, 8403, &err), 0);
    assert_int_equal(wlt_writer_close(writer, &made.run, &err), 0);
    load_file(&again, &file);
    assert_string_equal(fact(&again, "clock monotonic"),
                        "samples=2 first_offset_ns=-600 last_offset_ns=-597");
    file_remove(&file);
    run_release(&again);
    run_release(&made.run);
}

static void a_full_disk_is_an_error_with_the_path(void **state)
{
    (void)state;
    struct wlt_writer *writer;
    struct err err = {0};
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    assert_int_equal(wlt_writer_open(&writer, fd, &err), ERR_ENV);
    assert_string_equal(err.where, "/dev/full");
    close(fd);
}

static void what_was_written_before_the_disk_was_full_is_readable(void **state)
{
    (void)state;
    struct make_run made;
    struct run again;
    struct wlt_writer *writer;
    struct err err = {0};
    struct file file;
    struct rlimit before, limit;
    file_make(&file);
    make_run_init(&made);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(wlt_writer_open(&writer, file.fd, &err), 0);
    size_t written = 0;
    int code = 0;
    for (int64_t i = 0; code == 0; i++) {
        make_launch(&made, "k", i * 100, i * 100 + 10, i * 100 + 20, i * 100 + 30);
        code = wlt_writer_flush(writer, &made.run, &err);
        written += code == 0;
        assert_true(i < 1000);
    }
    assert_int_equal(code, ERR_ENV);
    assert_string_equal(err.where, file.path);
    assert_int_equal(wlt_writer_flush(writer, &made.run, &err), ERR_ENV);
    assert_int_equal(wlt_writer_close(writer, &made.run, &err), ERR_ENV);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    load_file(&again, &file);
    assert_true(written > 0);
    assert_true(again.ops.count >= written); /* of the last flush some may have been written */
    assert_int_equal(again.losses.truncated_bytes, 0);
    file_remove(&file);
    run_release(&again);
    run_release(&made.run);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

/* tests/samples/wlt/v1.wlt is what the first version wrote of rich_run.h as that was then. */
static void recordings_of_version_1_are_read(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(import_file(&run, SAMPLES "/wlt/v1.wlt", NULL, NULL, &err), 0);
    run_seal(&run);
    assert_int_equal(run.sources.count, 2);
    assert_int_equal(run.sources.at[1].repairs.at[0].count, 3);
    assert_string_equal(fact(&run, "cuda_driver_version"), "13000");
    assert_int_equal(run.losses.dropped, 1);
    assert_int_equal(run.losses.truncated_bytes, 4);
    assert_int_equal(run.devices.count, 3);
    assert_string_equal(run_text(&run, run.devices.at[0].name), "NVIDIA H200");
    assert_int_equal(run.devices.at[0].memory_bytes, 150109880320);
    assert_int_equal(run.processes.count, 3);
    assert_int_equal(run.threads.count, 4);
    assert_int_equal(run.streams.count, 4);
    assert_int_equal(run.ops.count, 13);
    assert_string_equal(run_text(&run, run.ops.name[0]), RICH_NAME);
    assert_int_equal(run.ops.end[0], 2000);
    assert_int_equal(run.shapes.at[run.ops.shape[0]].shared_dynamic_bytes, 98304);
    assert_string_equal(run_text(&run, run.comms.at[0].ranks), "[0, 1]");
    assert_int_equal(run.spans.count, 19);
    assert_string_equal(run_text(&run, run.spans.name[run.ops.call[0]]), "cudaLaunchKernel");
    assert_int_equal(run.samples.count, 27);
    assert_true(run.samples.value[4] == -1e300);
    assert_int_equal(run.marks.count, 6);
    assert_int_equal(run.marks.at[3].kind, MARK_XID);
    assert_int_equal(run.waits.count, 3);
    assert_int_equal(run.waits.at[0].on_stream, 1);
    run_release(&run);
}

static void a_newer_major_version_is_refused(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err;
    wlt_add_header(&bytes, (struct wlt_header){.major = 2, .minor = 3});
    assert_int_equal(wlt_try(&run, bytes.ptr, bytes.len, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "2.3"));
    assert_string_equal(err.where, "a.wlt");
    assert_true(err.hint[0] != '\0');
    run_release(&run);
    str_release(&bytes);
}

static void an_unknown_required_feature_is_refused_and_an_optional_one_is_not(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err;
    wlt_add_header(&bytes, (struct wlt_header){.major = 1, .required = 0x10});
    assert_int_equal(wlt_try(&run, bytes.ptr, bytes.len, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "0x10"));
    run_release(&run);
    str_cut(&bytes, 0);
    wlt_add_header(&bytes, (struct wlt_header){.major = 1, .optional = 0x10});
    assert_int_equal(wlt_try(&run, bytes.ptr, bytes.len, &err), 0);
    run_release(&run);
    str_release(&bytes);
}

static void what_a_newer_minor_version_adds_is_left_out_and_noted(void **state)
{
    (void)state;
    struct str bytes = {0}, payload = {0};
    struct run run;
    const int64_t values[] = {5, 9}, thread[] = {1, 1};
    wlt_add_header(&bytes, (struct wlt_header){.major = 1, .minor = 7});
    wlt_columns_begin(&payload, 1);
    wlt_bytes_put(&payload, "whatever", "abc", 3);
    wlt_add_chunk(&bytes, (struct wlt_chunk){.table = 200, .rows = 1}, &payload);
    wlt_add_chunk(&bytes, (struct wlt_chunk){.table = WLT_OPS, .flags = 0x40, .rows = 1, .sequence = 1},
                  &payload);
    str_cut(&payload, 0);
    wlt_columns_begin(&payload, 4);
    wlt_column_put(&payload, "start", WLT_DELTA, values, 2);
    wlt_bytes_put(&payload, "of a coding yet to come", "xyz", 3);
    wlt_column_put(&payload, "colour", WLT_VARINT, values, 2);
    wlt_column_put(&payload, "thread", WLT_VARINT, thread, 2);
    wlt_add_chunk(&bytes, (struct wlt_chunk){.table = WLT_SPANS, .rows = 2, .sequence = 2}, &payload);
    wlt_read(&run, &bytes);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.spans.start[1], 9);
    assert_int_equal(run.spans.end[1], 9);
    assert_int_equal(wlt_repaired(&run, "later version"), 1);
    assert_int_equal(wlt_repaired(&run, "parts of a later kind"), 2);
    assert_int_equal(wlt_repaired(&run, "columns of a later kind"), 2);
    assert_int_equal(wlt_repaired(&run, "damaged parts of the recording"), 0);
    run_release(&run);
    str_release(&bytes);
    str_release(&payload);
}

/* ---- size ---------------------------------------------------------------------------------------------- */

/* Kernels and the calls that launched them, as a recorder without a framework sees them. */
static void a_launch_with_its_call_takes_at_most_16_bytes(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    struct str bytes = {0};
    run_init(&run);
    assert_int_equal(import_file(&run, SAMPLES "/torch/launch_bound.json.gz", NULL, NULL, &err), 0);
    size_t kept = 0;
    for (size_t i = 0; i < run.spans.count; i++) {
        if (run.spans.kind[i] != SPAN_API)
            continue;
#define KEEP_SPAN(type, name) run.spans.name[kept] = run.spans.name[i];
        RUN_SPANS(KEEP_SPAN)
        kept++;
    }
    run.spans.count = kept;
    run_seal(&run);
    wlt_of_run(&run, &bytes);
    print_message("%zu bytes, %zu ops, %zu calls: %.2f bytes per op\n", bytes.len, run.ops.count,
                  run.spans.count, (double)bytes.len / (double)run.ops.count);
    assert_true(bytes.len <= 16 * run.ops.count);
    run_release(&run);
    str_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_every_table_survives),
        cmocka_unit_test(an_empty_run_survives),
        cmocka_unit_test(times_before_zero_and_since_1970_survive),
        cmocka_unit_test(tables_of_several_chunks_survive),
        cmocka_unit_test(texts_with_any_byte_survive),
        cmocka_unit_test(torch_samples_survive),
        cmocka_unit_test(nsys_samples_survive),
        cmocka_unit_test(a_window_keeps_what_overlaps_it_and_the_calls_that_launched_it),
        cmocka_unit_test(two_recordings_make_one_run),
        cmocka_unit_test(where_a_recording_came_from_is_kept_once),
        cmocka_unit_test(rows_written_bit_by_bit_make_the_same_run),
        cmocka_unit_test(what_was_flushed_survives_the_death_of_the_writer),
        cmocka_unit_test(other_clocks_are_told_with_their_drift),
        cmocka_unit_test(a_full_disk_is_an_error_with_the_path),
        cmocka_unit_test(what_was_written_before_the_disk_was_full_is_readable),
        cmocka_unit_test(recordings_of_version_1_are_read),
        cmocka_unit_test(a_newer_major_version_is_refused),
        cmocka_unit_test(an_unknown_required_feature_is_refused_and_an_optional_one_is_not),
        cmocka_unit_test(what_a_newer_minor_version_adds_is_left_out_and_noted),
        cmocka_unit_test(a_launch_with_its_call_takes_at_most_16_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
