/* Read access to an SQLite database that a stranger made: nothing that its schema defines is ever executed,
 * every query is bounded, and what is damaged costs its own rows and no others.
 *
 * The file is opened read-only and immutable, so neither it nor a -wal or -journal beside it is touched.
 * Views, triggers, virtual tables, SQL functions and recursion are refused by an authorizer. */
#ifndef WARPLIGHT_IMPORT_NSYS_DB_H
#define WARPLIGHT_IMPORT_NSYS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct sqlite3;
struct sqlite3_stmt;

struct nsys_table {
    char *name;
    bool read; /* a scan of it was begun */
};

/* What could not be read of one table. */
struct nsys_damage {
    const char *table; /* one of nsys_db.tables */
    char message[128]; /* SQLite's words */
    int64_t rows;      /* rows known to be missing; 0 where nobody can tell */
};

struct nsys_db {
    struct sqlite3 *handle;
    VEC(struct nsys_table) tables; /* ordinary tables, in schema order */
    VEC(char *) views;             /* names of views and virtual tables: never read */
    VEC(struct nsys_damage) damages;
    bool damaged_schema; /* opened in spite of a schema or header that SQLite refuses */
    int64_t bytes;       /* size of the database file */
    int64_t bytes_cut;   /* how much shorter it is than its header says, 0 if whole */
    int64_t bad_cells;   /* cells whose type cannot be what the column means */
    int64_t idle_steps;  /* progress callbacks since the last row */
    int64_t rows;
    int page_size;
    /* Called every NSYS_DB_PROGRESS_ROWS rows with the bytes fetched from the file so far. May be NULL. */
    void (*progress)(void *context, int64_t bytes_read);
    void *context;
};

enum { NSYS_DB_PROGRESS_ROWS = 1 << 16 };

/* Where the database is: a file, or the bytes of one. */
struct nsys_place {
    const char *path;
    void *image; /* NULL: open path. Stays the caller's; must outlive the db */
    size_t image_size;
    size_t max_cell_bytes; /* longer cells are damage */
};

/* label names the input in errors. ERR_INPUT if it is no readable database. */
int nsys_db_open(struct nsys_db *db, const struct nsys_place *place, const char *label, struct err *err);
void nsys_db_close(struct nsys_db *db);
/* The table of that name in any case, or NULL. */
struct nsys_table *nsys_db_table(const struct nsys_db *db, const char *name);
bool nsys_db_has(const struct nsys_db *db, const char *name);
bool nsys_db_has_view(const struct nsys_db *db, const char *name);

/* ---- scanning one table -------------------------------------------------------------------------------- */

enum { NSYS_SCAN_COLUMNS = 40 };

/* A pass over a table by rowid. Rows that cannot be read are skipped: one by one where their page is sound,
 * else from the end backwards up to the damage. */
struct nsys_scan {
    struct nsys_db *db;
    const char *table;
    const char *const *columns;
    int column_count;
    uint64_t present; /* bit i: the table has columns[i] */
    struct sqlite3_stmt *stmt;
    int64_t last;   /* rowid of the last row delivered, or skipped */
    int64_t floor;  /* backwards: rows from here on were delivered before the damage */
    int64_t lowest; /* backwards: rowid of the last row delivered */
    bool started, backwards;
    int skips;
    int64_t text_bytes;
};

enum nsys_cell { CELL_NULL, CELL_INT, CELL_TEXT, CELL_BAD };

/* Cell i of each row is columns[i]; "new|old" takes the first that the table has; one that it lacks reads as
 * NULL. Returns false if there is no such table, or none of its rows can be read (see damages). */
bool nsys_scan_begin(struct nsys_scan *scan, struct nsys_db *db, const char *table,
                     const char *const *columns, int column_count);
/* false at the end; then the scan has released itself. */
bool nsys_scan_next(struct nsys_scan *scan);
/* Only to leave a scan early. */
void nsys_scan_end(struct nsys_scan *scan);

static inline bool nsys_scan_has(const struct nsys_scan *scan, int column)
{
    return scan->present >> column & 1;
}

/* CELL_INT sets value. A real number that is whole counts as an integer; text and blobs are CELL_BAD. */
enum nsys_cell nsys_scan_int(struct nsys_scan *scan, int column, int64_t *value);
/* The integer, or fallback for NULL and for what is no integer (counted in bad_cells). */
int64_t nsys_scan_int_or(struct nsys_scan *scan, int column, int64_t fallback);
/* An integer or a real number; false for anything else. */
bool nsys_scan_number(struct nsys_scan *scan, int column, double *value);
/* The text of a TEXT cell, NULL for any other. Valid until the next step; may hold any byte. */
const char *nsys_scan_text(struct nsys_scan *scan, int column, size_t *length);
enum nsys_cell nsys_scan_type(struct nsys_scan *scan, int column);

#endif
