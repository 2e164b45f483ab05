/* Real recordings against counts that were taken without this importer: ../shared/data/foreign/index.tsv, and
 * plain text searches. Tests of data that are not there are skipped. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "import/import.h"

#define FOREIGN SAMPLES "/../../../shared/data/foreign"
#define HTA     SAMPLES "/../../../shared/data/hta"

extern const struct importer import_chrome_json;

static void import_path(struct run *run, const char *path)
{
    struct stream *in;
    struct err err = {0};
    run_init(run);
    if (stream_open(&in, path, &err) != 0 || import_chrome_json.read(run, in, NULL, &err) != 0)
        fail_msg("%s: %s", path, err.what);
    stream_close(in);
}

static void skip_without(const char *path)
{
    if (access(path, R_OK) != 0) {
        print_message("[          ] %s is absent\n", path);
        skip();
    }
}

/* ---- what a run holds -------------------------------------------------------------------------------- */

struct sums {
    int64_t ops[4], ns[4];
    int64_t spans[SPAN_OTHER + 1];
};

static struct sums sum_rows(const struct run *run)
{
    struct sums sums = {0};
    for (size_t i = 0; i < run->ops.count; i++) {
        sums.ops[run->ops.kind[i]]++;
        sums.ns[run->ops.kind[i]] += run->ops.end[i] - run->ops.start[i];
    }
    for (size_t i = 0; i < run->spans.count; i++)
        sums.spans[run->spans.kind[i]]++;
    return sums;
}

/* "0,3" from the devices or streams of all kernels, ascending; "-" for none. */
static struct str kernel_numbers(const struct run *run, bool devices)
{
    struct str out = {0};
    int64_t last = INT64_MIN;
    for (;;) {
        int64_t next = INT64_MAX;
        for (size_t i = 0; i < run->ops.count; i++) {
            const struct stream *stream = &run->streams.at[run->ops.stream[i]];
            int64_t number = devices ? run->devices.at[stream->device].id : stream->id;
            if (run->ops.kind[i] == OP_KERNEL && number > last && number < next)
                next = number;
        }
        if (next == INT64_MAX)
            break;
        str_addf(&out, "%s%lld", out.len ? "," : "", (long long)next);
        last = next;
    }
    if (out.len == 0)
        str_putc(&out, '-');
    return out;
}

/* ---- the index --------------------------------------------------------------------------------------- */

/* The value behind "key=" in "a=1; b=2", or -1. */
static int64_t listed(const char *contents, const char *key)
{
    size_t length = strlen(key);
    for (const char *p = contents; (p = strstr(p, key)) != NULL; p += length)
        if ((p == contents || p[-1] == ' ') && p[length] == '=')
            return strtoll(p + length + 1, NULL, 10);
    return -1;
}

static void assert_listed(const char *path, const char *contents, const char *key, int64_t got)
{
    int64_t expected = listed(contents, key);
    if (expected >= 0 && expected != got)
        fail_msg("%s: %s is %lld, not %lld", path, key, (long long)got, (long long)expected);
}

static void assert_listed_text(const char *path, const char *contents, const char *key, struct str got)
{
    const char *p = strstr(contents, key);
    size_t length = p ? strcspn(p + strlen(key), ";") : 0;
    if (p && (length != got.len || memcmp(p + strlen(key), got.ptr, length) != 0))
        fail_msg("%s: %s%s, not %.*s", path, key, got.ptr, (int)length, p + strlen(key));
    str_release(&got);
}

static void check_torch(const char *name, const char *contents, const struct run *run)
{
    struct sums sums = sum_rows(run);
    assert_listed(name, contents, "kernels", sums.ops[OP_KERNEL]);
    assert_listed(name, contents, "kernel_ns", sums.ns[OP_KERNEL]);
    assert_listed(name, contents, "memcpy", sums.ops[OP_COPY]);
    assert_listed(name, contents, "memcpy_ns", sums.ns[OP_COPY]);
    assert_listed(name, contents, "memset", sums.ops[OP_MEMSET]);
    assert_listed(name, contents, "memset_ns", sums.ns[OP_MEMSET]);
    assert_int_equal(sums.spans[SPAN_API],
                     listed(contents, "cuda_runtime") + listed(contents, "cuda_driver"));
    /* in 2021 files, annotations are listed among the operators */
    int64_t annotations = listed(contents, "user_annotation");
    assert_int_equal(sums.spans[SPAN_OP] + sums.spans[SPAN_ANNOTATION],
                     listed(contents, "cpu_op") + annotations);
    if (annotations > 0)
        assert_listed(name, contents, "cpu_op", sums.spans[SPAN_OP]);
    assert_listed(name, contents, "python_function", sums.spans[SPAN_PYTHON]);
    assert_listed(name, contents, "overhead", sums.spans[SPAN_OVERHEAD]);
    assert_listed(name, contents, "cuda_sync", (int64_t)run->waits.count);
    assert_listed(name, contents, "rank", run->sources.at[0].rank);
    assert_listed(name, contents, "world_size", run->sources.at[0].world_size);
    assert_listed_text(name, contents, "kernel_devices=", kernel_numbers(run, true));
    assert_listed_text(name, contents, "kernel_streams=", kernel_numbers(run, false));
    assert_int_equal(sums.spans[SPAN_OTHER], 0);
    int64_t properties = 0;
    vec_each (&run->devices, device)
        properties += device->sm_count > 0 || device->memory_bytes > 0;
    assert_true(properties >= listed(contents, "devices_listed"));
    assert_string_equal(run_text(run, run->sources.at[0].format), "torch.profiler JSON");
}

/* The index lists lanes as "[NAME] n=COUNT ns=SUM". */
static void check_tensorflow(const char *name, const char *contents, const struct run *run)
{
    struct sums sums = sum_rows(run);
    assert_listed(name, contents, "gpu_stream_ns_without_stream_all",
                  sums.ns[OP_KERNEL] + sums.ns[OP_COPY] + sums.ns[OP_MEMSET]);
    int64_t executor = 0, streams = 0;
    for (const char *lane = contents; (lane = strchr(lane, '[')) != NULL; lane++) {
        int64_t count = listed(strstr(lane, "] n=") + 2, "n");
        executor += strncmp(lane, "[/job:", 6) == 0 ? count : 0;
        const char *stream = strstr(lane, "/stream:");
        if (stream && stream < strchr(lane, ']') && strncmp(stream, "/stream:all", 11) != 0)
            streams += count;
    }
    assert_int_equal(run->ops.count, streams);
    assert_int_equal(sums.spans[SPAN_OP], executor);
    assert_int_equal(run->spans.count, executor);
    assert_string_equal(run_text(run, run->sources.at[0].format), "TensorFlow timeline JSON");
}

static void check_index(const char *folder, void (*check)(const char *, const char *, const struct run *),
                        int atleast)
{
    static const char index[] = FOREIGN "/index.tsv";
    skip_without(index);
    FILE *file = fopen(index, "r");
    char *line = NULL;
    size_t size = 0;
    int checked = 0;
    while (getline(&line, &size, file) > 0) {
        char *rest = line, *name = strsep(&rest, "\t"), *contents = NULL;
        for (int column = 1; column <= 4 && rest; column++)
            contents = strsep(&rest, "\t");
        if (strncmp(name, folder, strlen(folder)) != 0 || !contents)
            continue;
        struct str path = {0};
        struct run run;
        str_addf(&path, FOREIGN "/%s", name);
        import_path(&run, path.ptr);
        assert_int_equal(run.losses.malformed, 0);
        assert_int_equal(run.losses.untimed, 0);
        assert_int_equal(run.losses.truncated_bytes, 0);
        check(name, contents, &run);
        run_seal(&run);
        run_release(&run);
        str_release(&path);
        checked++;
    }
    assert_true(checked >= atleast);
    free(line);
    fclose(file);
}

static void test_every_torch_file_of_the_index_is_counted_to_the_nanosecond(void **state)
{
    (void)state;
    check_index("torch/", check_torch, 20);
}

static void test_every_tensorflow_file_of_the_index_counts_each_op_once(void **state)
{
    (void)state;
    check_index("tensorflow/", check_tensorflow, 2);
}

/* ---- plain text search ------------------------------------------------------------------------------- */

static struct str whole_text(const char *path)
{
    struct stream *in;
    struct str text = {0};
    char chunk[65536];
    assert_int_equal(stream_open(&in, path, NULL), 0);
    for (int64_t got; (got = stream_read(in, chunk, sizeof chunk, NULL)) > 0;)
        str_add(&text, chunk, (size_t)got);
    stream_close(in);
    return text;
}

static int64_t occurrences(struct str text, const char *word)
{
    int64_t count = 0;
    for (const char *p = text.ptr;
         (p = memmem(p, (size_t)(text.ptr + text.len - p), word, strlen(word))) != NULL; p++)
        count++;
    return count;
}

static int64_t in_category(struct str text, const char *category)
{
    char compact[64], blank[64];
    snprintf(compact, sizeof compact, "\"cat\":\"%s\"", category);
    snprintf(blank, sizeof blank, "\"cat\": \"%s\"", category);
    return occurrences(text, compact) + occurrences(text, blank);
}

static void check_file(const char *path)
{
    struct run run;
    struct str text = whole_text(path);
    import_path(&run, path);
    struct sums sums = sum_rows(&run);
    assert_int_equal(sums.ops[OP_KERNEL], in_category(text, "kernel"));
    assert_int_equal(sums.ops[OP_COPY], in_category(text, "gpu_memcpy"));
    assert_int_equal(sums.ops[OP_MEMSET], in_category(text, "gpu_memset"));
    assert_int_equal(sums.spans[SPAN_API],
                     in_category(text, "cuda_runtime") + in_category(text, "cuda_driver"));
    assert_int_equal(sums.spans[SPAN_OP], in_category(text, "cpu_op"));
    assert_int_equal(sums.spans[SPAN_ANNOTATION], in_category(text, "user_annotation"));
    assert_int_equal(sums.spans[SPAN_PYTHON], in_category(text, "python_function"));
    assert_int_equal(sums.spans[SPAN_OVERHEAD], in_category(text, "overhead"));
    assert_int_equal(run.waits.count, in_category(text, "cuda_sync"));
    assert_int_equal(run.losses.malformed, 0);
    assert_int_equal(run.losses.untimed, 0);
    assert_int_equal(run.losses.truncated_bytes, 0);
    run_seal(&run);
    run_release(&run);
    str_release(&text);
}

static void check_files(const char *pattern, size_t atleast)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    assert_true(found.gl_pathc >= atleast);
    globfree(&found);
}

static void test_our_own_recordings_are_read_in_full(void **state)
{
    (void)state;
    check_files(SAMPLES "/torch/*.json.gz", 15);
}

static void test_recordings_of_holistic_trace_analysis_are_read_in_full(void **state)
{
    (void)state;
    skip_without(HTA);
    check_files(HTA "/*.json.gz", 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_torch_file_of_the_index_is_counted_to_the_nanosecond),
        cmocka_unit_test(test_every_tensorflow_file_of_the_index_counts_each_op_once),
        cmocka_unit_test(test_our_own_recordings_are_read_in_full),
        cmocka_unit_test(test_recordings_of_holistic_trace_analysis_are_read_in_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
