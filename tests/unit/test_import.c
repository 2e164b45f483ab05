/* The choice of an importer and what happens around it. The real importers are replaced by three of the same
 * names, which claim texts by their first letter and record what they were given. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "import/import.h"

/* What the importer that ran last saw. */
static struct {
    const char *name;
    struct str content;
    struct import_options options;
} seen;

static int read_as(const char *name, struct run *run, struct stream *in, const struct import_options *options,
                   struct err *err)
{
    seen.name = name;
    seen.options = *options;
    str_cut(&seen.content, 0);
    char buf[1000];
    int64_t got;
    while ((got = stream_read(in, buf, sizeof buf, err)) > 0)
        str_add(&seen.content, buf, (size_t)got);
    if (strstr(str_text(&seen.content), "FAIL"))
        return err_set(err, ERR_INPUT, NULL, 17, NULL, "nothing usable");
    run_add_source(run, stream_path(in), name);
    return 0;
}

static int sniff_one(const char *head, size_t length)
{
    assert_true(length > 0 && length <= 64 * 1024);
    return head[0] == 'a' ? 90 : head[0] == 'b' ? 10 : head[0] == 't' ? 50 : 0;
}

static int sniff_two(const char *head, size_t length)
{
    (void)length;
    return head[0] == 'b' ? 80 : head[0] == 't' ? 50 : 0;
}

static int sniff_none(const char *head, size_t length)
{
    (void)head, (void)length;
    return 0;
}

static int read_one(struct run *run, struct stream *in, const struct import_options *options, struct err *err)
{
    return read_as("one", run, in, options, err);
}

static int read_two(struct run *run, struct stream *in, const struct import_options *options, struct err *err)
{
    return read_as("two", run, in, options, err);
}

static int read_three(struct run *run, struct stream *in, const struct import_options *options,
                      struct err *err)
{
    return read_as("three", run, in, options, err);
}

extern const struct importer import_chrome_json, import_nsys_sqlite, import_perfetto;
const struct importer import_chrome_json = {"one", "Format One", sniff_one, read_one};
const struct importer import_nsys_sqlite = {"two", "Format Two", sniff_two, read_two};
const struct importer import_perfetto = {"three", "Format Three", sniff_none, read_three};

/* ---- helpers ------------------------------------------------------------------------------------------- */

static int import_bytes(struct run *run, const char *label, const void *data, size_t length, const char *name,
                        struct err *err)
{
    *err = (struct err){0};
    seen.name = NULL;
    run_init(run);
    return import_memory(run, label, data, length, name, NULL, err);
}

static int import_text(struct run *run, const char *text, const char *name, struct err *err)
{
    return import_bytes(run, "label", text, strlen(text), name, err);
}

static int forget(void **state)
{
    (void)state;
    str_release(&seen.content);
    return 0;
}

/* flush is Z_FINISH, or Z_SYNC_FLUSH to stop after a block in the middle of the data. */
static struct str gzip_until(const char *text, size_t length, int flush)
{
    struct str out = {0};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)length};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    str_pad(&out, 0, deflateBound(&z, (uLong)length) + 16);
    z.next_out = (Bytef *)out.ptr;
    z.avail_out = (uInt)out.len;
    assert_int_equal(deflate(&z, flush), flush == Z_FINISH ? Z_STREAM_END : Z_OK);
    str_cut(&out, z.total_out);
    deflateEnd(&z);
    return out;
}

static struct str gzip_of(const char *text, size_t length)
{
    return gzip_until(text, length, Z_FINISH);
}

/* ---- choice -------------------------------------------------------------------------------------------- */

static void the_surest_importer_reads_from_the_start(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    assert_int_equal(import_text(&run, "apple", NULL, &err), 0);
    assert_string_equal(seen.name, "one");
    assert_string_equal(seen.content.ptr, "apple");
    run_release(&run);
    assert_int_equal(import_text(&run, "banana", NULL, &err), 0);
    assert_string_equal(seen.name, "two");
    run_release(&run);
}

static void a_tie_goes_to_the_first_in_the_table(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    assert_int_equal(import_text(&run, "tie", NULL, &err), 0);
    assert_string_equal(seen.name, "one");
    run_release(&run);
}

static void a_name_overrules_the_content(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    assert_int_equal(import_text(&run, "apple", "three", &err), 0);
    assert_string_equal(seen.name, "three");
    run_release(&run);
}

static void an_unknown_name_is_wrong_usage_and_lists_the_known(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    assert_int_equal(import_text(&run, "apple", "four", &err), ERR_USAGE);
    assert_string_equal(err.where, "four");
    assert_non_null(strstr(err.hint, "one, two, three"));
    assert_null(seen.name);
    run_release(&run);
}

static void content_is_chosen_after_decompression(void **state)
{
    (void)state;
    struct str gzip = gzip_of("banana", 6);
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "label", gzip.ptr, gzip.len, NULL, &err), 0);
    assert_string_equal(seen.name, "two");
    assert_string_equal(seen.content.ptr, "banana");
    run_release(&run);
    str_release(&gzip);
}

static void limits_have_defaults_and_are_passed_on(void **state)
{
    (void)state;
    struct run run;
    struct err err;
    assert_int_equal(import_text(&run, "apple", NULL, &err), 0);
    assert_true(seen.options.max_depth > 0 && seen.options.max_string_bytes > 0);
    run_release(&run);
    run_init(&run);
    struct import_options options = {.max_depth = 7, .max_string_bytes = 99};
    assert_int_equal(import_memory(&run, "label", "apple", 5, NULL, &options, &err), 0);
    assert_int_equal(seen.options.max_depth, 7);
    assert_int_equal(seen.options.max_string_bytes, 99);
    run_release(&run);
}

/* ---- what nobody claims -------------------------------------------------------------------------------- */

static void what_nobody_claims_is_called_by_its_name(void **state)
{
    (void)state;
    static const char known[] = "Format One; Format Two; Format Three";
    const struct {
        const char *label, *bytes;
        size_t length;
        const char *what, *hint;
    } cases[] = {
        {"x", "\x89PNG\r\n\x1a\n", 8, "a PNG image", known},
        {"x", "\x7f\x45LF\2\1\1", 7, "a program or library (ELF)", "warplight kernels"},
        {"run.nsys-rep", "\1\2\3", 3, "an Nsight Systems report", "nsys export --type sqlite"},
        {"RUN.NSYS-REP", "\1\2\3", 3, "an Nsight Systems report", "nsys export --type sqlite"},
        {"host.xplane.pb", "\n\1\2", 3, "a profile of XLA", "trace.json.gz"},
        {"x", "\"Kind\",\"Agent_Id\",\"Queue_Id\"\n", 29, "a table of rocprofv3", "pftrace"},
        {"a.qdrep", "\1\2\3", 3, "an Nsight Systems report (old format)", "nsys export"},
        {"x", "SQLite format 3\0", 16, "an SQLite database", known},
        {"x", " \n<!DOCTYPE HTML><html>", 23, "a web page (HTML)", "download"},
        {"x", "\xef\xbb\xbf{\"a\": 1}", 11, "JSON without trace events", known},
        {"x", "\x80\x04\x95\0\0", 5, "pickled Python objects", known},
        {"x", "PK\3\4....", 8, "a ZIP archive", "unpack"},
        {"x", "\xff\xfe{\0", 4, "UTF-16 text", "iconv"},
        {"x", "version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS", "git lfs pull"},
        {"x", "Xylophones are\tplain text\n", 26, "plain text", "warplight doctor"},
        {"x", "\1\2\3\4", 4, "unknown binary data", known},
        {"x", "{", 1, "JSON without trace events", known},
        {"x", "[ 12.3] NVRM: Xid (PCI:0000:01:00): 79\n", 39, "a log of the NVIDIA driver",
         "warplight doctor"},
        {"x", "<?xml?>\n<nvidia_smi_log>", 24, "printed output of nvidia-smi", "warplight doctor"},
        {"x", "#!/bin/sh\n", 10, "a script", "warplight record"},
        {"x", "\0", 1, "unknown binary data", known},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        struct err err;
        assert_int_equal(import_bytes(&run, cases[i].label, cases[i].bytes, cases[i].length, NULL, &err),
                         ERR_INPUT);
        if (!strstr(err.what, cases[i].what))
            fail_msg("case %zu: '%s' does not name %s", i, err.what, cases[i].what);
        if (!strstr(err.hint, cases[i].hint))
            fail_msg("case %zu: '%s' does not say %s", i, err.hint, cases[i].hint);
        assert_string_equal(err.where, cases[i].label);
        assert_int_equal(run.sources.count, 0);
        run_release(&run);
    }
}

static void a_tar_archive_is_known_by_its_magic_deep_inside(void **state)
{
    (void)state;
    char tar[512] = "profile/trace.json";
    memcpy(tar + 257, "ustar", 5);
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "x", tar, sizeof tar, NULL, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "a tar archive"));
    run_release(&run);
}

static void any_short_head_is_looked_at_within_its_bounds(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        if (byte == 'a' || byte == 'b' || byte == 't')
            continue;
        char *exact = mem_alloc(1); /* the sanitizer watches its end */
        *exact = (char)byte;
        struct run run;
        struct err err;
        assert_int_equal(import_bytes(&run, "x", exact, 1, NULL, &err), ERR_INPUT);
        run_release(&run);
        free(exact);
    }
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static void a_damaged_file_is_read_and_says_so(void **state)
{
    (void)state;
    struct str gzip = gzip_until("apple", 5, Z_SYNC_FLUSH);
    str_puts(&gzip, "\x07 there is no block type 3");
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "label", gzip.ptr, gzip.len, NULL, &err), 0);
    assert_int_equal(run.sources.count, 1);
    assert_int_equal(run.sources.at[0].repairs.count, 1);
    const struct repair *repair = &run.sources.at[0].repairs.at[0];
    assert_string_equal(run_text(&run, repair->text),
                        "the gzip data are corrupt; what follows the fault is lost");
    assert_int_equal(repair->count, 1);
    assert_int_equal(repair->first_offset, -1);
    assert_string_equal(seen.content.ptr, "apple");
    assert_in_range(run.losses.truncated_bytes, 20, 27);
    run_release(&run);
    str_release(&gzip);
}

static void a_whole_file_has_no_repairs(void **state)
{
    (void)state;
    struct str gzip = gzip_of("apple", 5);
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "label", gzip.ptr, gzip.len, NULL, &err), 0);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    assert_int_equal(run.losses.truncated_bytes, 0);
    run_release(&run);
    str_release(&gzip);
}

static void a_failed_import_names_the_file_and_the_damage(void **state)
{
    (void)state;
    struct str gzip = gzip_of("a FAIL", 6);
    str_cut(&gzip, gzip.len - 3);
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "label", gzip.ptr, gzip.len, NULL, &err), ERR_INPUT);
    assert_string_equal(err.where, "label");
    assert_string_equal(err.what, "nothing usable");
    assert_string_equal(err.hint, "the gzip data end early");
    assert_int_equal(err.offset, 17);
    run_release(&run);
    str_release(&gzip);
}

static void nothing_after_decompression_is_an_error_with_its_cause(void **state)
{
    (void)state;
    struct str whole = gzip_of("", 0), cut = gzip_of("apple", 5);
    str_cut(&cut, 10);
    struct run run;
    struct err err;
    assert_int_equal(import_bytes(&run, "label", whole.ptr, whole.len, NULL, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "the file is empty"));
    run_release(&run);
    assert_int_equal(import_bytes(&run, "label", cut.ptr, cut.len, NULL, &err), ERR_INPUT);
    assert_non_null(strstr(err.what, "the gzip data end early"));
    run_release(&run);
    str_release(&whole), str_release(&cut);
}

static void files_are_imported_and_missing_ones_are_errors(void **state)
{
    (void)state;
    char path[] = "/tmp/warplight-import-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "apple", 5), 5);
    close(fd);
    struct run run;
    struct err err = {0};
    run_init(&run);
    assert_int_equal(import_file(&run, path, NULL, NULL, &err), 0);
    assert_string_equal(run_text(&run, run.sources.at[0].path), path);
    unlink(path);
    assert_int_equal(import_file(&run, path, NULL, NULL, &err), ERR_INPUT);
    assert_string_equal(err.where, path);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_surest_importer_reads_from_the_start),
        cmocka_unit_test(a_tie_goes_to_the_first_in_the_table),
        cmocka_unit_test(a_name_overrules_the_content),
        cmocka_unit_test(an_unknown_name_is_wrong_usage_and_lists_the_known),
        cmocka_unit_test(content_is_chosen_after_decompression),
        cmocka_unit_test(limits_have_defaults_and_are_passed_on),
        cmocka_unit_test(what_nobody_claims_is_called_by_its_name),
        cmocka_unit_test(a_tar_archive_is_known_by_its_magic_deep_inside),
        cmocka_unit_test(any_short_head_is_looked_at_within_its_bounds),
        cmocka_unit_test(a_damaged_file_is_read_and_says_so),
        cmocka_unit_test(a_whole_file_has_no_repairs),
        cmocka_unit_test(a_failed_import_names_the_file_and_the_damage),
        cmocka_unit_test(nothing_after_decompression_is_an_error_with_its_cause),
        cmocka_unit_test(files_are_imported_and_missing_ones_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
