/* Real exports of nsys 2021 to 2026 that others made, against counts and sums that were taken from them by
 * other means: index.tsv, and SQL that is independent of the importer. They lie outside the checkout; without
 * them every test here is skipped. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "import/import.h"

#define SHARED SAMPLES "/../../../shared/data"

extern const struct importer import_nsys_sqlite;

static void load(struct run *run, const char *path)
{
    struct stream *in = NULL;
    struct err err = {0};
    run_init(run);
    if (stream_open(&in, path, &err) < 0 || import_nsys_sqlite.read(run, in, NULL, &err) < 0)
        fail_msg("%s: %s", path, err.what);
    stream_close(in);
    run_seal(run);
}

static bool has_repair(const struct run *run, const char *begins)
{
    vec_each (&run->sources.at[0].repairs, repair) {
        if (strncmp(run_text(run, repair->text), begins, strlen(begins)) == 0)
            return true;
    }
    return false;
}

struct totals {
    int64_t count[4], ns[4], copy_bytes; /* by enum op_kind */
    int64_t spans[SPAN_OTHER + 1], span_ns[SPAN_OTHER + 1];
};

static struct totals total(const struct run *run)
{
    struct totals t = {0};
    for (size_t i = 0; i < run->ops.count; i++) {
        t.count[run->ops.kind[i]]++;
        t.ns[run->ops.kind[i]] += run->ops.end[i] - run->ops.start[i];
        if (run->ops.kind[i] == OP_COPY)
            t.copy_bytes += run->ops.bytes[i];
    }
    for (size_t i = 0; i < run->spans.count; i++) {
        t.spans[run->spans.kind[i]]++;
        t.span_ns[run->spans.kind[i]] += run->spans.end[i] - run->spans.start[i];
    }
    return t;
}

/* ---- asking the file itself ---------------------------------------------------------------------------- */

static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    int64_t answer = -1; /* no such table */
    char uri[4096];
    snprintf(uri, sizeof uri, "file:%s?mode=ro&immutable=1", path);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        answer = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return answer;
}

static int64_t ask_count(const char *path, const char *sql)
{
    int64_t answer = ask(path, sql);
    return answer < 0 ? 0 : answer;
}

/* ---- index.tsv ----------------------------------------------------------------------------------------- */

static uint64_t seen_streams(const struct run *run, struct str *list)
{
    int64_t ids[64];
    size_t count = 0;
    uint64_t devices = 0;
    for (size_t i = 0; i < run->ops.count; i++) {
        if (run->ops.kind[i] != OP_KERNEL)
            continue;
        const struct stream *stream = &run->streams.at[run->ops.stream[i]];
        devices |= (uint64_t)1 << run->devices.at[stream->device].id;
        size_t at = 0;
        while (at < count && ids[at] < stream->id)
            at++;
        if (at < count && ids[at] == stream->id)
            continue;
        assert_true(count < 64);
        memmove(ids + at + 1, ids + at, (count - at) * sizeof *ids);
        ids[at] = stream->id;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        str_addf(list, "%s%lld", i ? "," : "", (long long)ids[i]);
    return devices;
}

/* One "key=value" of the index. */
static void check_item(const char *path, const struct run *run, const struct totals *t, const char *key,
                       const char *value)
{
    const struct {
        const char *key;
        int64_t got;
    } numbers[] = {
        {"kernels", t->count[OP_KERNEL]},
        {"kernel_ns", t->ns[OP_KERNEL]},
        {"memcpy", t->count[OP_COPY]},
        {"memcpy_ns", t->ns[OP_COPY]},
        {"memcpy_bytes", t->copy_bytes},
        {"memset", t->count[OP_MEMSET]},
        {"memset_ns", t->ns[OP_MEMSET]},
        {"api", t->spans[SPAN_API]},
        {"api_ns", t->span_ns[SPAN_API]},
        {"sync", (int64_t)run->waits.count},
        {"osrt", t->spans[SPAN_OS]},
        {"nvtx", t->spans[SPAN_ANNOTATION] +
                     ask_count(path, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType NOT IN (59, 60)")},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].key, key) != 0)
            continue;
        long long wanted = strcmp(value, "no table") == 0 ? 0 : strtoll(value, NULL, 10);
        if (numbers[i].got != wanted)
            fail_msg("%s: %s is %lld, not %s", path, key, (long long)numbers[i].got, value);
    }
    struct str streams = {0};
    uint64_t devices = seen_streams(run, &streams);
    if (strcmp(key, "kernel_streams") == 0)
        assert_string_equal(str_text(&streams), value);
    if (strcmp(key, "kernel_devices") == 0)
        assert_int_equal(devices, (uint64_t)1 << strtol(value, NULL, 10));
    str_release(&streams);
    if (strcmp(key, "kernels") == 0)
        assert_int_equal(has_repair(run, "no kernel table"), strcmp(value, "no table") == 0);
    if (strcmp(key, "api") == 0)
        assert_int_equal(has_repair(run, "no table of CUDA calls"), strcmp(value, "no table") == 0);
}

static void check_line(const char *name, char *contents)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/foreign/%s", SHARED, name);
    struct run run;
    load(&run, path);
    struct totals t = total(&run);
    for (char *item = contents, *next; item && *item; item = next) {
        next = strstr(item, "; ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = '\0';
        check_item(path, &run, &t, item, equals + 1);
    }
    run_release(&run);
}

static void the_counts_and_ns_of_every_indexed_file_are_exact(void **state)
{
    (void)state;
    FILE *index = fopen(SHARED "/foreign/index.tsv", "r");
    if (!index) {
        print_message("skipped: ../shared/data/foreign is absent\n");
        skip();
    }
    char *line = NULL;
    size_t cap = 0;
    int checked = 0;
    while (getline(&line, &cap, index) > 0) {
        char *fields[6] = {line};
        for (int i = 1; i < 6; i++) {
            fields[i] = fields[i - 1] ? strchr(fields[i - 1], '\t') : NULL;
            if (fields[i])
                *fields[i]++ = '\0';
        }
        if (strncmp(line, "nsys/", 5) != 0 || !fields[4])
            continue;
        check_line(line, fields[4]);
        checked++;
    }
    free(line);
    fclose(index);
    assert_true(checked >= 13);
}

/* ---- every file, against SQL --------------------------------------------------------------------------- */

static bool with_each_file(void (*check)(const char *path))
{
    glob_t files = {0};
    glob(SHARED "/foreign/nsys/*.sqlite", 0, NULL, &files);
    glob(SHARED "/nsys/*.sqlite", GLOB_APPEND, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check(files.gl_pathv[i]);
    bool any = files.gl_pathc > 0;
    globfree(&files);
    return any;
}

#define OP_SUM(table) "SELECT ifnull(sum(end - start), 0) FROM " table

static void check_sums(const char *path)
{
    struct run run;
    load(&run, path);
    struct totals t = total(&run);
    assert_int_equal(t.ns[OP_KERNEL], ask_count(path, OP_SUM("CUPTI_ACTIVITY_KIND_KERNEL")));
    assert_int_equal(t.ns[OP_COPY], ask_count(path, OP_SUM("CUPTI_ACTIVITY_KIND_MEMCPY")));
    assert_int_equal(t.ns[OP_MEMSET], ask_count(path, OP_SUM("CUPTI_ACTIVITY_KIND_MEMSET")));
    assert_int_equal(t.span_ns[SPAN_API], ask_count(path, OP_SUM("CUPTI_ACTIVITY_KIND_RUNTIME")));
    assert_int_equal(t.span_ns[SPAN_OS], ask_count(path, OP_SUM("OSRT_API")));
    assert_int_equal(t.spans[SPAN_OVERHEAD],
                     ask_count(path, "SELECT count(*) FROM PROFILER_OVERHEAD") +
                         ask_count(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_OVERHEAD"));
    assert_int_equal(t.span_ns[SPAN_ANNOTATION],
                     ask_count(path, "SELECT sum(end - start) FROM NVTX_EVENTS WHERE eventType IN (59, 60)"));
    assert_int_equal(run.waits.count,
                     ask_count(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"));
    assert_int_equal(run.marks.count, ask_count(path, "SELECT count(*) FROM DIAGNOSTIC_EVENT"));
    assert_int_equal(run.losses.untimed, 0);
    assert_int_equal(run.losses.malformed, 0);
    assert_int_equal(run.losses.dropped, 0);
    assert_false(has_repair(&run, "the database is damaged"));
    run_release(&run);
}

static void the_sums_of_every_file_are_those_that_sql_gives(void **state)
{
    (void)state;
    if (!with_each_file(check_sums)) {
        print_message("skipped: ../shared/data/nsys is absent\n");
        skip();
    }
}

#define OPS_OF_CALLS(table)                                                                                  \
    "SELECT count(*) FROM " table " k WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r "            \
    "WHERE r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24)"

static void check_links(const char *path)
{
    struct run run;
    load(&run, path);
    int64_t linked = ask_count(path, OPS_OF_CALLS("CUPTI_ACTIVITY_KIND_KERNEL")) +
                     ask_count(path, OPS_OF_CALLS("CUPTI_ACTIVITY_KIND_MEMCPY")) +
                     ask_count(path, OPS_OF_CALLS("CUPTI_ACTIVITY_KIND_MEMSET"));
    assert_int_equal((int64_t)run.ops.count - run.losses.unlinked, linked);
    for (size_t i = 0; i < run.ops.count; i++) {
        uint32_t call = run.ops.call[i];
        if (call == NONE)
            continue;
        assert_int_equal(run.spans.id[call], run.ops.correlation[i]);
        assert_int_equal(run.threads.at[run.spans.thread[call]].process,
                         run.streams.at[run.ops.stream[i]].process);
    }
    run_release(&run);
}

static void every_op_is_linked_to_the_call_that_sql_finds(void **state)
{
    (void)state;
    if (!with_each_file(check_links)) {
        print_message("skipped: ../shared/data/nsys is absent\n");
        skip();
    }
}

static void check_names(const char *path)
{
    struct run run;
    load(&run, path);
    sqlite3 *db;
    sqlite3_stmt *stmt;
    char uri[4096];
    snprintf(uri, sizeof uri, "file:%s?mode=ro&immutable=1", path);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), SQLITE_OK);
    int code =
        sqlite3_prepare_v2(db,
                           "SELECT s.value, count(*), sum(end - start), sum(registersPerThread), sum(gridX) "
                           "FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = demangledName "
                           "GROUP BY s.value",
                           -1, &stmt, NULL);
    while (code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t got[4] = {0};
        for (size_t i = 0; i < run.ops.count; i++) {
            if (run.ops.kind[i] != OP_KERNEL ||
                strcmp(run_text(&run, run.ops.name[i]), (const char *)sqlite3_column_text(stmt, 0)) != 0)
                continue;
            const struct shape *shape = &run.shapes.at[run.ops.shape[i]];
            got[0]++;
            got[1] += run.ops.end[i] - run.ops.start[i];
            got[2] += shape->regs_per_thread;
            got[3] += shape->grid[0];
        }
        for (int i = 0; i < 4; i++)
            assert_int_equal(got[i], sqlite3_column_int64(stmt, i + 1));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    run_release(&run);
}

static void every_kernel_has_the_name_and_shape_that_sql_gives(void **state)
{
    (void)state;
    if (!with_each_file(check_names)) {
        print_message("skipped: ../shared/data/nsys is absent\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counts_and_ns_of_every_indexed_file_are_exact),
        cmocka_unit_test(the_sums_of_every_file_are_those_that_sql_gives),
        cmocka_unit_test(every_op_is_linked_to_the_call_that_sql_finds),
        cmocka_unit_test(every_kernel_has_the_name_and_shape_that_sql_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
