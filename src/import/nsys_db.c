#include "import/nsys_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    HEADER_BYTES = 100,
    STEP_OPS = 10000, /* virtual machine operations between two progress callbacks */
    /* Callbacks without a row before a query is stopped. A scan needs a few dozen operations a row. */
    IDLE_STEPS_MAX = 500,
    TABLES_MAX = 16384,
    SKIPS_MAX = 1000, /* unreadable rows stepped over in one table */
    CACHE_KIB = 16 * 1024,
};

/* ---- opening ------------------------------------------------------------------------------------------- */

static uint32_t read_be32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Allows SELECT from ordinary tables and PRAGMA table_info, and nothing else: no functions, no recursion, no
 * reads on behalf of a view or trigger (their name is in source). */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *source)
{
    (void)context, (void)second, (void)database;
    if (source)
        return SQLITE_DENY;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    return action == SQLITE_PRAGMA && sqlite3_stricmp(first, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
}

static int count_step(void *context)
{
    struct nsys_db *db = context;
    return ++db->idle_steps > IDLE_STEPS_MAX;
}

static void harden(struct nsys_db *db, size_t max_cell_bytes)
{
    static const struct {
        int option, value;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        sqlite3_db_config(db->handle, switches[i].option, switches[i].value, NULL);
    /* A header that claims more pages than there are, or a bad schema row, makes SQLite refuse the whole file
     * unless the schema is writable. Nothing is written: the file is read-only and immutable. */
    if (db->damaged_schema) {
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    }
    size_t cell = max_cell_bytes < 64 * 1024 ? 64 * 1024
                  : max_cell_bytes > 1 << 30 ? 1 << 30
                                             : max_cell_bytes;
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, (int)cell);
    /* Not on expressions and compounds: SQLite parses the views that other tools add, though none is run. */
    sqlite3_limit(db->handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(db->handle, SQLITE_LIMIT_VDBE_OP, 25000);
    sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db->handle, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
    sqlite3_limit(db->handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    char pragmas[160];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; "
             "PRAGMA cache_size=-%d",
             CACHE_KIB);
    sqlite3_progress_handler(db->handle, STEP_OPS, count_step, db); /* first: pragmas may load the schema */
    sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL);
    sqlite3_set_authorizer(db->handle, authorize, NULL);
}

/* The path as a URI, every byte that could mean something escaped. */
static void add_uri(struct str *uri, const char *path)
{
    str_puts(uri, path[0] == '/' ? "file://" : "file:./");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~/", c) != NULL;
        if (plain)
            str_putc(uri, (char)c);
        else
            str_addf(uri, "%%%02X", c);
    }
    str_puts(uri, "?mode=ro&immutable=1");
}

static int connect_to(struct nsys_db *db, const struct nsys_place *place)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (place->image) {
        int code =
            sqlite3_open_v2(":memory:", &db->handle,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
        return code != SQLITE_OK
                   ? code
                   : sqlite3_deserialize(db->handle, "main", place->image, (sqlite3_int64)place->image_size,
                                         (sqlite3_int64)place->image_size, SQLITE_DESERIALIZE_READONLY);
    }
    struct str uri = {0};
    add_uri(&uri, place->path);
    int code = sqlite3_open_v2(str_text(&uri), &db->handle, flags, NULL);
    str_release(&uri);
    return code;
}

/* Lists the schema. Returns an SQLite code. */
static int list_tables(struct nsys_db *db)
{
    sqlite3_stmt *stmt = NULL;
    int code =
        sqlite3_prepare_v2(db->handle, "SELECT type, name, rootpage FROM sqlite_master", -1, &stmt, NULL);
    if (code != SQLITE_OK)
        return code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW && db->tables.count + db->views.count < TABLES_MAX) {
        const char *type = (const char *)sqlite3_column_text(stmt, 0);
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        if (!type || !name || sqlite3_strnicmp(name, "sqlite_", 7) == 0)
            continue;
        bool table = strcmp(type, "table") == 0;
        if (table && sqlite3_column_int64(stmt, 2) > 0)
            vec_push(&db->tables, ((struct nsys_table){.name = mem_strdup(name)}));
        else if (table || strcmp(type, "view") == 0)
            vec_push(&db->views, mem_strdup(name));
        db->idle_steps = 0;
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

static void forget(struct nsys_db *db)
{
    vec_each (&db->tables, table)
        free(table->name);
    vec_each (&db->views, name)
        free(*name);
    vec_release(&db->tables);
    vec_release(&db->views);
    sqlite3_close_v2(db->handle);
    db->handle = NULL;
}

/* Page size and page count of the header against the size of the file. */
static void inspect_header(struct nsys_db *db, const struct nsys_place *place)
{
    unsigned char header[HEADER_BYTES] = {0};
    if (place->image && place->image_size >= sizeof header) {
        memcpy(header, place->image, sizeof header);
        db->bytes = (int64_t)place->image_size;
    } else if (!place->image) {
        struct stat st;
        FILE *file = fopen(place->path, "rb");
        if (file && fstat(fileno(file), &st) == 0 && fread(header, 1, sizeof header, file) == sizeof header)
            db->bytes = (int64_t)st.st_size;
        if (file)
            fclose(file);
    }
    int page = header[16] << 8 | header[17];
    db->page_size = page == 1 ? 65536 : page >= 512 ? page : 4096;
    int64_t claimed = (int64_t)read_be32(header + 28) * db->page_size;
    /* The page count is only valid if it was written with the last change. */
    bool valid = read_be32(header + 24) == read_be32(header + 92);
    db->bytes_cut = valid && claimed > db->bytes ? claimed - db->bytes : 0;
}

int nsys_db_open(struct nsys_db *db, const struct nsys_place *place, const char *label, struct err *err)
{
    *db = (struct nsys_db){0};
    inspect_header(db, place);
    char why[128] = "";
    for (int attempt = 0; attempt < 2; attempt++) {
        db->damaged_schema = attempt > 0;
        int code = connect_to(db, place);
        if (code == SQLITE_OK) {
            harden(db, place->max_cell_bytes);
            code = list_tables(db);
        }
        if (code == SQLITE_DONE)
            return 0;
        if (!why[0])
            snprintf(why, sizeof why, "%s", db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code));
        /* In the second attempt a schema that ends in damage still lists the tables before it. */
        if (attempt > 0 && code != SQLITE_OK && db->tables.count > 0)
            return 0;
        forget(db);
    }
    return err_set(err, ERR_INPUT, label, -1, _("export the recording again: nsys export --type sqlite FILE"),
                   _("the SQLite database cannot be read: %s"), why);
}

void nsys_db_close(struct nsys_db *db)
{
    forget(db);
    vec_release(&db->damages);
    *db = (struct nsys_db){0};
}

struct nsys_table *nsys_db_table(const struct nsys_db *db, const char *name)
{
    vec_each (&db->tables, table) {
        if (sqlite3_stricmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

bool nsys_db_has(const struct nsys_db *db, const char *name)
{
    return nsys_db_table(db, name) != NULL;
}

bool nsys_db_has_view(const struct nsys_db *db, const char *name)
{
    vec_each (&db->views, view) {
        if (sqlite3_stricmp(*view, name) == 0)
            return true;
    }
    return false;
}

/* ---- scanning ------------------------------------------------------------------------------------------ */

static void add_damage(struct nsys_scan *scan, const char *message, int64_t rows)
{
    struct nsys_db *db = scan->db;
    struct nsys_damage *last = db->damages.count ? &db->damages.at[db->damages.count - 1] : NULL;
    if (!last || last->table != scan->table) {
        last = vec_new(&db->damages);
        last->table = scan->table;
        snprintf(last->message, sizeof last->message, "%s", message);
    }
    last->rows += rows;
}

/* Which of the table's columns each wanted one is: the first existing name of "new|old|older", or -1. */
static int wanted_column(const char *wanted, const char *name)
{
    int rank = 0;
    for (const char *at = wanted;; at++, rank++) {
        size_t length = strcspn(at, "|");
        if (strlen(name) == length && sqlite3_strnicmp(at, name, (int)length) == 0)
            return rank;
        at += length;
        if (!*at)
            return -1;
    }
}

/* Fills names[i] (owned by the caller, or NULL) with the column that stands for columns[i]. */
static int resolve_columns(struct nsys_scan *scan, char **names)
{
    int ranks[NSYS_SCAN_COLUMNS];
    sqlite3_stmt *info = NULL;
    char *sql = sqlite3_mprintf("PRAGMA table_info(%Q)", scan->table);
    int code = sql ? sqlite3_prepare_v2(scan->db->handle, sql, -1, &info, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    while (code == SQLITE_OK && sqlite3_step(info) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(info, 1);
        for (int i = 0; name && i < scan->column_count; i++) {
            int rank = wanted_column(scan->columns[i], name);
            if (rank < 0 || (names[i] && ranks[i] <= rank))
                continue;
            free(names[i]);
            names[i] = mem_strdup(name);
            ranks[i] = rank;
            scan->present |= (uint64_t)1 << i;
        }
        scan->db->idle_steps = 0;
    }
    sqlite3_finalize(info);
    return code;
}

/* Prepares the pass from rowid from on, upwards or downwards. Returns an SQLite code. */
static int prepare_pass(struct nsys_scan *scan, int64_t from, bool backwards)
{
    char *names[NSYS_SCAN_COLUMNS] = {0};
    int code = resolve_columns(scan, names);
    char *sql = sqlite3_mprintf("SELECT rowid");
    for (int i = 0; i < scan->column_count; i++) {
        char *longer =
            names[i] ? sqlite3_mprintf("%z,\"%w\"", sql, names[i]) : sqlite3_mprintf("%z,NULL", sql);
        sql = longer;
        free(names[i]);
    }
    sql = sqlite3_mprintf("%z FROM \"%w\" NOT INDEXED WHERE rowid>=?1 ORDER BY rowid%s", sql, scan->table,
                          backwards ? " DESC" : "");
    if (code == SQLITE_OK)
        code = sql ? sqlite3_prepare_v2(scan->db->handle, sql, -1, &scan->stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(scan->stmt, 1, from);
    scan->backwards = backwards;
    scan->db->idle_steps = 0;
    return code;
}

bool nsys_scan_begin(struct nsys_scan *scan, struct nsys_db *db, const char *table,
                     const char *const *columns, int column_count)
{
    struct nsys_table *found = nsys_db_table(db, table);
    if (!found)
        return false;
    found->read = true;
    *scan =
        (struct nsys_scan){.db = db, .table = found->name, .columns = columns, .column_count = column_count};
    if (prepare_pass(scan, INT64_MIN, false) == SQLITE_OK)
        return true;
    add_damage(scan, sqlite3_errmsg(db->handle), 1);
    nsys_scan_end(scan);
    return false;
}

void nsys_scan_end(struct nsys_scan *scan)
{
    sqlite3_finalize(scan->stmt);
    scan->stmt = NULL;
}

/* The rowid of the first row from rowid from on, found without touching its cells. */
static bool next_rowid(struct nsys_scan *scan, int64_t from, int64_t *rowid)
{
    sqlite3_stmt *stmt = NULL;
    char *sql =
        sqlite3_mprintf("SELECT rowid FROM \"%w\" NOT INDEXED WHERE rowid>=?1 ORDER BY rowid", scan->table);
    int code = sql ? sqlite3_prepare_v2(scan->db->handle, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    scan->db->idle_steps = 0;
    bool found = code == SQLITE_OK && sqlite3_bind_int64(stmt, 1, from) == SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW;
    if (found)
        *rowid = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return found;
}

/* After a failure behind row scan->last: steps over one bad row, or turns round. Returns false if neither
 * helps. */
static bool recover(struct nsys_scan *scan, const char *message)
{
    char why[128]; /* the next statement overwrites SQLite's message */
    snprintf(why, sizeof why, "%s", message);
    nsys_scan_end(scan);
    if (scan->backwards) {
        /* By rowid, which exports count up; forged ones cannot claim more rows than the file has room for.
         * Nobody can tell if not one row behind the damage was readable. */
        uint64_t gap = (uint64_t)scan->lowest - (uint64_t)scan->floor, room = (uint64_t)scan->db->bytes / 4;
        bool any = scan->lowest != INT64_MAX;
        add_damage(scan, why, !any ? 0 : gap == 0 ? 1 : (int64_t)(gap < room ? gap : room));
        return false;
    }
    if (scan->started && scan->last == INT64_MAX) {
        add_damage(scan, why, 1);
        return false;
    }
    int64_t from = scan->started ? scan->last + 1 : INT64_MIN, bad;
    if (scan->skips++ < SKIPS_MAX && next_rowid(scan, from, &bad) && bad >= from && bad < INT64_MAX) {
        add_damage(scan, why, 1);
        scan->last = bad;
        scan->started = true;
        return prepare_pass(scan, bad + 1, false) == SQLITE_OK;
    }
    add_damage(scan, why, 0);
    scan->floor = from;
    scan->lowest = INT64_MAX;
    return prepare_pass(scan, from, true) == SQLITE_OK;
}

/* The end of a pass. A backward pass that met no damage ends at the rows delivered before. */
static bool finish(struct nsys_scan *scan)
{
    nsys_scan_end(scan);
    return false;
}

/* Rowids rise strictly in a sound tree; pages that are linked twice show here before they can multiply rows.
 */
static bool in_order(struct nsys_scan *scan, int64_t rowid)
{
    if (scan->backwards)
        return rowid >= scan->floor && rowid < scan->lowest;
    return !scan->started || rowid > scan->last;
}

bool nsys_scan_next(struct nsys_scan *scan)
{
    struct nsys_db *db = scan->db;
    while (scan->stmt) {
        int code = sqlite3_step(scan->stmt);
        if (code == SQLITE_DONE)
            return finish(scan);
        if (scan->text_bytes > db->bytes) { /* rows that share one long text, to exhaust memory */
            add_damage(scan, sqlite3_errstr(SQLITE_CORRUPT), 1);
            return finish(scan);
        }
        const char *why = code == SQLITE_ROW ? NULL : sqlite3_errmsg(db->handle);
        int64_t rowid = code == SQLITE_ROW ? sqlite3_column_int64(scan->stmt, 0) : 0;
        if (code == SQLITE_ROW && !in_order(scan, rowid))
            why = sqlite3_errstr(SQLITE_CORRUPT);
        if (why) {
            if (!recover(scan, why))
                return finish(scan);
            continue;
        }
        *(scan->backwards ? &scan->lowest : &scan->last) = rowid;
        scan->started = true;
        db->idle_steps = 0;
        if (++db->rows % NSYS_DB_PROGRESS_ROWS == 0 && db->progress) {
            int misses = 0, high;
            sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_MISS, &misses, &high, 0);
            db->progress(db->context, (int64_t)misses * db->page_size);
        }
        return true;
    }
    return false;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

enum nsys_cell nsys_scan_type(struct nsys_scan *scan, int column)
{
    switch (sqlite3_column_type(scan->stmt, column + 1)) {
    case SQLITE_NULL:
        return CELL_NULL;
    case SQLITE_INTEGER:
        return CELL_INT;
    case SQLITE_TEXT:
        return CELL_TEXT;
    default:
        return CELL_BAD;
    }
}

enum nsys_cell nsys_scan_int(struct nsys_scan *scan, int column, int64_t *value)
{
    switch (sqlite3_column_type(scan->stmt, column + 1)) {
    case SQLITE_INTEGER:
        *value = sqlite3_column_int64(scan->stmt, column + 1);
        return CELL_INT;
    case SQLITE_NULL:
        return CELL_NULL;
    case SQLITE_FLOAT: {
        double real = sqlite3_column_double(scan->stmt, column + 1);
        if (real >= -0x1p63 && real < 0x1p63 && (double)(int64_t)real == real) {
            *value = (int64_t)real;
            return CELL_INT;
        }
    }
    }
    return CELL_BAD;
}

int64_t nsys_scan_int_or(struct nsys_scan *scan, int column, int64_t fallback)
{
    int64_t value = fallback;
    if (nsys_scan_int(scan, column, &value) == CELL_BAD)
        scan->db->bad_cells++;
    return value;
}

bool nsys_scan_number(struct nsys_scan *scan, int column, double *value)
{
    int type = sqlite3_column_type(scan->stmt, column + 1);
    *value = sqlite3_column_double(scan->stmt, column + 1);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

const char *nsys_scan_text(struct nsys_scan *scan, int column, size_t *length)
{
    *length = 0;
    if (sqlite3_column_type(scan->stmt, column + 1) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(scan->stmt, column + 1);
    if (!text)
        return NULL;
    *length = (size_t)sqlite3_column_bytes(scan->stmt, column + 1);
    scan->text_bytes += (int64_t)*length;
    return text;
}
