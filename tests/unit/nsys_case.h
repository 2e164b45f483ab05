/* What the tests of the nsys importer share: databases made of SQL, and looking into the run they become. */
#ifndef WARPLIGHT_TESTS_NSYS_CASE_H
#define WARPLIGHT_TESTS_NSYS_CASE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "import/import.h"

extern const struct importer import_nsys_sqlite;

/* ---- a directory with one database --------------------------------------------------------------------- */

struct place {
    char dir[64];
    char path[96];
};

static inline void place_make(struct place *p)
{
    snprintf(p->dir, sizeof p->dir, "/tmp/test_nsys-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->path, sizeof p->path, "%s/a %%?#.sqlite", p->dir);
}

static inline int count_files(const char *dir)
{
    int count = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        count += entry->d_name[0] != '.';
    closedir(d);
    return count;
}

static inline void place_remove(struct place *p)
{
    char side[128];
    snprintf(side, sizeof side, "%s-wal", p->path);
    unlink(side);
    unlink(p->path);
    assert_int_equal(rmdir(p->dir), 0);
}

static inline void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static inline void read_file(const char *path, struct str *out)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char chunk[65536];
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        str_add(out, chunk, got);
    fclose(file);
}

/* Makes a database of tests/samples/nsys/NAME.sql. */
static inline void place_sample(struct place *p, const char *name)
{
    struct str sql = {0};
    char path[512];
    place_make(p);
    snprintf(path, sizeof path, "%s/nsys/%s.sql", SAMPLES, name);
    read_file(path, &sql);
    run_sql(p->path, str_text(&sql));
    str_release(&sql);
}

/* ---- importing ----------------------------------------------------------------------------------------- */

static inline int import_path(struct run *run, const char *path, const struct import_options *options,
                              struct err *err)
{
    struct stream *in = NULL;
    *err = (struct err){0};
    int code = stream_open(&in, path, err);
    if (code == 0)
        code = import_nsys_sqlite.read(run, in, options, err);
    stream_close(in);
    return code;
}

static inline int import_bytes(struct run *run, const void *data, size_t length, struct err *err)
{
    struct stream *in = NULL;
    *err = (struct err){0};
    int code = stream_open_memory(&in, "memory", data, length, err);
    if (code == 0)
        code = import_nsys_sqlite.read(run, in, NULL, err);
    stream_close(in);
    return code;
}

static inline void load(struct run *run, const char *sample)
{
    struct place p;
    struct err err;
    place_sample(&p, sample);
    run_init(run);
    if (import_path(run, p.path, NULL, &err) != 0)
        fail_msg("%s", err.what);
    place_remove(&p);
    run_seal(run);
}

static inline int64_t repair_count(const struct run *run, const char *begins)
{
    vec_each (&run->sources.at[0].repairs, repair) {
        if (strncmp(run_text(run, repair->text), begins, strlen(begins)) == 0)
            return repair->count;
    }
    return 0;
}

static inline const char *fact(const struct run *run, const char *key)
{
    vec_each (&run->facts, f) {
        if (strcmp(run_text(run, f->key), key) == 0)
            return run_text(run, f->value);
    }
    return NULL;
}

/* The row of the op that starts at that time on the file's clock. */
static inline size_t op_at(const struct run *run, int64_t start)
{
    for (size_t i = 0; i < run->ops.count; i++)
        if (run->ops.start[i] == start + run->sources.at[0].base_ns)
            return i;
    fail_msg("no op at %lld", (long long)start);
    return 0;
}

static inline size_t span_at(const struct run *run, int64_t start)
{
    for (size_t i = 0; i < run->spans.count; i++)
        if (run->spans.start[i] == start + run->sources.at[0].base_ns)
            return i;
    fail_msg("no span at %lld", (long long)start);
    return 0;
}

static inline const struct stream *stream_of(const struct run *run, size_t op)
{
    return &run->streams.at[run->ops.stream[op]];
}

static inline int64_t pid_of(const struct run *run, size_t op)
{
    return run->processes.at[stream_of(run, op)->process].pid;
}

static inline int64_t device_of(const struct run *run, size_t op)
{
    return run->devices.at[stream_of(run, op)->device].id;
}

static inline const char *call_of(const struct run *run, size_t op)
{
    return run->ops.call[op] == NONE ? "" : run_text(run, run->spans.name[run->ops.call[op]]);
}

static inline void assert_span(const struct run *run, int64_t start, int64_t end, enum span_kind kind,
                               const char *name, const char *detail)
{
    size_t row = span_at(run, start);
    assert_int_equal(run->spans.end[row], end + run->sources.at[0].base_ns);
    assert_int_equal(run->spans.kind[row], kind);
    assert_string_equal(run_text(run, run->spans.name[row]), name);
    assert_string_equal(run_text(run, run->spans.detail[row]), detail);
}

static inline void assert_no_losses(const struct run *run)
{
    assert_int_equal(run->losses.malformed, 0);
    assert_int_equal(run->losses.untimed, 0);
    assert_int_equal(run->losses.dropped, 0);
}

enum { MANY = 20000, PAGE = 4096 };

/* A database of MANY kernels with start = 10 * row. */
static inline void place_many(struct place *p)
{
    place_make(p);
    run_sql(
        p->path,
        "PRAGMA page_size=4096;"
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "INSERT INTO StringIds VALUES (1, 'k'), (2, 'spare');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
        "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName "
        "INTEGER);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 7, i, 16777216, 1 FROM n");
}

#endif
