/* Nsight Systems, exported as SQLite (nsys export --type sqlite), every schema generation. The tables and
 * what becomes of them: doc/formats/nsys-sqlite.md. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "base/str.h"
#include "import/import.h"
#include "import/nsys.h"
#include "import/nsys_spool.h"

static const char magic[16] = "SQLite format 3";

/* ---- what kind of database it is ----------------------------------------------------------------------- */

/* The schema is usually on the first page, so the head tells more than that it is SQLite. */
static int sniff(const char *head, size_t length)
{
    if (length < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return 0;
    return memmem(head, length, "StringIds", 9) || memmem(head, length, "META_DATA_EXPORT", 16) ? 95 : 50;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_prefix(const struct nsys_db *db, const char *prefix)
{
    vec_each (&db->tables, table) {
        if (begins_with(table->name, prefix))
            return true;
    }
    return false;
}

static bool is_nsys(const struct nsys_db *db)
{
    static const char *const marks[] = {"StringIds",       "META_DATA_EXPORT", "EXPORT_META_DATA",
                                        "NVTX_EVENTS",     "OSRT_API",         "TARGET_INFO_SYSTEM_ENV",
                                        "TARGET_INFO_GPU", "ANALYSIS_DETAILS"};
    for (int i = 0; i < NSYS_COUNT(marks); i++)
        if (nsys_db_has(db, marks[i]))
            return true;
    return has_prefix(db, "CUPTI_ACTIVITY_KIND_");
}

/* Some table names, printable and short, for an error that lets a person recognise the file. */
static void list_some_tables(const struct nsys_db *db, struct str *list)
{
    enum { SHOWN = 6, NAME_BYTES = 40 };
    for (size_t i = 0; i < db->tables.count && i < SHOWN; i++) {
        str_puts(list, i ? ", " : "");
        const char *name = db->tables.at[i].name;
        for (size_t c = 0; name[c] && c < NAME_BYTES; c++)
            str_putc(list, name[c] > ' ' && name[c] < 0x7f ? name[c] : '?');
    }
    if (db->tables.count > SHOWN)
        str_puts(list, ", …");
}

static int refuse(const struct nsys_db *db, const char *path, struct err *err)
{
    if (nsys_db_has(db, "StringTable") && has_prefix(db, "CUPTI_ACTIVITY_KIND_"))
        return err_set(
            err, ERR_INPUT, path, -1,
            _("record the program again with nsys, or print it as CSV: nvprof --import-profile FILE "
              "--print-gpu-trace --csv"),
            _("this is a database of nvprof, which cannot be read yet"));
    if (has_prefix(db, "rocpd_") || has_prefix(db, "_rocpd_"))
        return err_set(
            err, ERR_INPUT, path, -1,
            _("convert it: python3 -m rocpd convert -i FILE --output-format csv, or record with rocprofv3 "
              "--output-format csv"),
            _("this is a rocpd database of ROCm, which cannot be read yet"));
    if (db->tables.count == 0)
        return err_set(err, ERR_INPUT, path, -1,
                       _("export the recording again: nsys export --type sqlite FILE"),
                       _("this SQLite database holds no tables"));
    struct str list = {0};
    list_some_tables(db, &list);
    int code = err_set(
        err, ERR_INPUT, path, -1, _("run: nsys export --type sqlite FILE, and give the .sqlite file"),
        _("this SQLite database is no export of Nsight Systems; its tables are: %s"), str_text(&list));
    str_release(&list);
    return code;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void tell_progress(void *context, int64_t bytes_read)
{
    enum { STEP_BYTES = 4 * 1024 * 1024 };
    struct nsys *n = context;
    const struct import_options *options = n->options;
    if (!options || !options->progress || bytes_read - n->bytes_told < STEP_BYTES)
        return;
    n->bytes_told = bytes_read;
    options->progress(options->context, run_text(n->run, n->run->sources.at[n->source].path),
                      bytes_read < n->db.bytes ? bytes_read : n->db.bytes, n->db.bytes);
}

static void report_damage(struct nsys *n)
{
    if (n->db.bytes_cut > 0)
        nsys_repair(n, N_("the file is shorter than its header says: its end is missing"), 1);
    if (n->db.damaged_schema)
        nsys_repair(n, N_("the database is damaged: read as far as possible"), 1);
    vec_each (&n->db.damages, damage) {
        int64_t rows = damage->rows > 0 ? damage->rows : 1;
        nsys_repair(n, N_("rows could not be read: the database is damaged"), rows);
        n->run->losses.malformed += rows;
        char text[256];
        int length = snprintf(text, sizeof text, "%.100s: %.120s", damage->table, damage->message);
        nsys_fact(n, "database_damage", text, (size_t)length);
    }
    if (n->db.bad_cells)
        nsys_repair(n, N_("cells of the wrong type were taken for unknown"), n->db.bad_cells);
}

static bool is_plain_name(const char *name)
{
    return name[0] &&
           !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] &&
           strlen(name) < 80;
}

/* Tables with rows that no part reads: a person should know what the report leaves out. */
static void note_unread(struct nsys *n)
{
    enum { LIST_BYTES = 2000 };
    static const char *const about_nothing[] = {"ENUM_", "TARGET_INFO_", "META_DATA_", "UnwindMethodType"};
    static const char *const any[] = {"rowid"};
    struct str list = {0};
    vec_each (&n->db.tables, table) {
        bool skip = table->read || !is_plain_name(table->name) || list.len > LIST_BYTES;
        for (int i = 0; i < NSYS_COUNT(about_nothing); i++)
            skip |= begins_with(table->name, about_nothing[i]);
        struct nsys_scan scan;
        if (skip || !nsys_scan_begin(&scan, &n->db, table->name, any, 0))
            continue;
        if (nsys_scan_next(&scan))
            str_addf(&list, "%s%s", list.len ? ", " : "", table->name);
        nsys_scan_end(&scan);
    }
    if (list.len)
        nsys_fact(n, "tables_not_read", str_text(&list), list.len);
    str_release(&list);
}

/* A view or virtual table in the place of a table is a forgery or somebody's tool; its SQL is not run. */
static void note_views(struct nsys *n)
{
    int64_t suspicious = 0;
    vec_each (&n->db.views, view) {
        suspicious += begins_with(*view, "CUPTI_ACTIVITY_KIND_") || begins_with(*view, "NVTX_EVENTS") ||
                      begins_with(*view, "OSRT_API") || begins_with(*view, "StringIds") ||
                      begins_with(*view, "TARGET_INFO_");
    }
    if (suspicious)
        nsys_repair(n, N_("views stand where tables are expected, and were not read"), suspicious);
}

static void note_log_beside(struct nsys *n, const char *path)
{
    struct str log = {0};
    struct stat st;
    str_puts(&log, path);
    str_puts(&log, "-wal");
    if (stat(str_text(&log), &st) == 0 && st.st_size > 0)
        nsys_repair(n, N_("changes that lie in a -wal file beside the database were not read"), 1);
    str_release(&log);
}

static void read_all(struct nsys *n)
{
    nsys_read_target(n);
    nsys_read_api(n);
    nsys_read_gpu(n);
    nsys_read_nvtx(n);
    nsys_read_waits(n);
    nsys_read_counters(n);
    nsys_read_diagnostics(n);
    nsys_read_names(n);
    note_views(n);
    note_unread(n);
    report_damage(n);
}

static int read_nsys(struct run *run, struct stream *in, const struct import_options *options,
                     struct err *err)
{
    enum { DEFAULT_STRING_BYTES = 16 * 1024 * 1024 };
    struct nsys_spool spool;
    int code = nsys_spool_open(&spool, in, err);
    if (code < 0)
        return code;
    struct nsys *n = mem_zalloc(1, sizeof *n);
    n->run = run;
    n->options = options;
    n->max_string = options && options->max_string_bytes ? options->max_string_bytes : DEFAULT_STRING_BYTES;
    n->duration_ns = n->last_ns = UNKNOWN;
    struct nsys_place place = {.path = stream_path(in),
                               .image = spool.image,
                               .image_size = spool.size,
                               .max_cell_bytes = n->max_string};
    code = nsys_db_open(&n->db, &place, stream_path(in), err);
    bool foreign = nsys_db_has(&n->db, "StringTable") && !nsys_db_has(&n->db, "StringIds");
    if (code == 0 && (foreign || !is_nsys(&n->db)))
        code = refuse(&n->db, stream_path(in), err);
    if (code == 0) {
        n->source = run_add_source(run, stream_path(in), "nsys SQLite");
        run->sources.at[n->source].bytes = stream_size(in);
        n->db.progress = tell_progress;
        n->db.context = n;
        read_all(n);
        if (spool.own_file)
            note_log_beside(n, stream_path(in));
    }
    nsys_db_close(&n->db);
    nsys_spool_close(&spool);
    map_release(&n->strings);
    map_release(&n->api_names);
    map_release(&n->cuda_gpus);
    vec_release(&n->gpus);
    free(n);
    return code;
}

const struct importer import_nsys_sqlite = {
    .name = "nsys",
    .title = N_("Nsight Systems (SQLite export)"),
    .sniff = sniff,
    .read = read_nsys,
};
