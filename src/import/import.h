/* Importers: one file a foreign format. An importer only fills struct run; it knows no analysis.
 *
 * To add one: write src/import/NAME.c with a const struct importer, add it to the table in import.c and to
 * meson.build, add a sample or a test and an entry in doc/formats/. */
#ifndef WARPLIGHT_IMPORT_IMPORT_H
#define WARPLIGHT_IMPORT_IMPORT_H

#include <stddef.h>

#include "base/err.h"
#include "base/stream.h"
#include "model/run.h"

struct import_options {
    /* Called now and then (not more often than every 4 MiB); total is UNKNOWN for pipes. May be NULL. */
    void (*progress)(void *context, const char *path, int64_t bytes_done, int64_t bytes_total);
    void *context;
    /* Hard limits against hostile input; 0 means the default that import.c names. */
    size_t max_string_bytes;
    int max_depth;
};

struct importer {
    const char *name;  /* "nsys", for --input-format */
    const char *title; /* msgid: "Nsight Systems (SQLite export)" */
    /* How sure the first bytes make us that this is the format: 0 (no) to 100. */
    int (*sniff)(const char *head, size_t length);
    /* Reads everything from in (positioned at the start) into run, as a new source. A file that is damaged
     * but partly readable returns 0 and says so in repairs and losses. needs_path importers (SQLite) open
     * stream_path(in) themselves. */
    int (*read)(struct run *run, struct stream *in, const struct import_options *options, struct err *err);
};

/* NULL-terminated. */
extern const struct importer *const importers[];

/* Sniffs and reads one file into run. name chooses an importer, NULL sniffs. An input that nothing claims is
 * an error that names what it looks like and the formats that are known. */
int import_file(struct run *run, const char *path, const char *name, const struct import_options *options,
                struct err *err);
/* The same from memory, for tests and fuzzing. */
int import_memory(struct run *run, const char *label, const void *data, size_t length, const char *name,
                  const struct import_options *options, struct err *err);

#endif
