/* Exports as files: compressed or not, in pieces, and never half a file that looks like a whole one. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "describe_run.h"
#include "export/export.h"
#include "import/import.h"
#include "make_run.h"
#include "rich_run.h"

static char folder[] = "/tmp/warplight-export-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void in_folder(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", folder, name);
}

static void assert_file_reads_back(const struct run *run, const char *name, const char *format)
{
    char path[256];
    struct err err = {0};
    struct run again;
    in_folder(path, name);
    assert_int_equal(export_file(run, exporter_for_path(path), NULL, path, &err), 0);
    assert_string_equal(exporter_for_path(path)->name, format);
    run_init(&again);
    assert_int_equal(import_file(&again, path, NULL, NULL, &err), 0);
    run_seal(&again);
    assert_runs_equal(run, &again, DESCRIBE_ALL);
    run_release(&again);
    assert_int_equal(unlink(path), 0);
}

static void the_name_of_the_file_chooses_format_and_compression(void **state)
{
    (void)state;
    struct run run;
    rich_run(&run);
    assert_file_reads_back(&run, "a.pftrace", "perfetto");
    assert_file_reads_back(&run, "a.pftrace.gz", "perfetto");
    assert_ptr_equal(exporter_for_path("x/a.json.gz"), exporter_named("chrome"));
    assert_ptr_equal(exporter_for_path("a.folded"), exporter_named("folded"));
    assert_null(exporter_for_path("a.txt"));
    assert_null(exporter_for_path(".json"));
    assert_null(exporter_for_path("-"));
    assert_null(exporter_named("nothing"));
    run_release(&run);
}

/* Several times as much as is handed on at once, so that pieces are joined right. */
static void big_files_are_written_in_pieces(void **state)
{
    (void)state;
    struct make_run made;
    make_run_init(&made);
    for (int64_t i = 0; i < 40000; i++)
        make_launch(&made, i % 2 ? "one kernel" : "another kernel", 100 * i, 100 * i + 10, 100 * i + 20,
                    100 * i + 90);
    run_seal(&made.run);
    assert_file_reads_back(&made.run, "big.pftrace", "perfetto");
    assert_file_reads_back(&made.run, "big.pftrace.gz", "perfetto");
    run_release(&made.run);
}

static void a_path_that_cannot_be_written_is_an_error_of_the_environment(void **state)
{
    (void)state;
    char path[256];
    struct run run;
    struct err err = {0};
    rich_run(&run);
    in_folder(path, "no such folder/a.json");
    assert_int_equal(export_file(&run, exporter_named("chrome"), NULL, path, &err), ERR_ENV);
    assert_string_equal(err.where, path);
    assert_true(err.hint[0] != '\0');
    run_release(&run);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    if (access("/dev/full", W_OK) != 0)
        skip();
    rich_run(&run);
    assert_int_equal(export_file(&run, exporter_named("chrome"), NULL, "/dev/full", &err), ERR_ENV);
    assert_int_equal(access("/dev/full", F_OK), 0);
    run_release(&run);
}

static void a_file_that_could_not_be_completed_is_removed(void **state)
{
    (void)state;
    static const char *const names[] = {"cut.json", "cut.json.gz"};
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct run run;
    rich_run(&run);
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        struct err err = {0};
        in_folder(path, names[i]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int status = export_file(&run, exporter_named("chrome"), NULL, path, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, ERR_ENV);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    signal(SIGXFSZ, handler);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_the_file_chooses_format_and_compression),
        cmocka_unit_test(big_files_are_written_in_pieces),
        cmocka_unit_test(a_path_that_cannot_be_written_is_an_error_of_the_environment),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_file_that_could_not_be_completed_is_removed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
