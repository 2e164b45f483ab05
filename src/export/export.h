/* Exporters: one file a format. An exporter only reads the sealed run; what it writes is the same for the
 * same run and options, byte for byte, whatever the locale. Memory stays a few bytes a row beyond the run
 * itself, and output leaves in pieces.
 *
 * To add one: write src/export/NAME.c with a const struct exporter, add it to the table in export.c and to
 * meson.build, add a test that reads the output back, and an entry in doc/formats/exports.md. */
#ifndef WARPLIGHT_EXPORT_EXPORT_H
#define WARPLIGHT_EXPORT_EXPORT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "export/sink.h"
#include "model/run.h"

enum folded_weight { FOLDED_DEVICE, FOLDED_HOST };

/* Zeroed is the default. */
struct export_options {
    /* Only what overlaps this; start == end: everything. Ops keep their true times. Spans and waits are cut
     * at the edges, of which the first moves back to the earliest call that launched one of the ops. */
    struct interval window;
    enum folded_weight weight; /* folded only: device time of the ops, or self time of the host's spans */
};

struct exporter {
    const char *name;      /* "perfetto", for --format */
    const char *title;     /* "Perfetto protobuf trace" */
    const char *extension; /* ".pftrace" */
    /* Fails only for what the run holds; a sink that cannot write keeps its own error until sink_close(). */
    int (*write)(const struct run *run, const struct export_options *options, struct export_sink *sink,
                 struct err *err);
};

/* NULL-terminated. */
extern const struct exporter *const exporters[];

/* NULL if there is none of that name. */
const struct exporter *exporter_named(const char *name);
/* The exporter whose extension path ends with, a final ".gz" aside; NULL if none does. */
const struct exporter *exporter_for_path(const char *path);

/* Writes run to path ("-" is standard output), gzip-compressed if path ends in ".gz". A file that could not
 * be completed is removed. options may be NULL. */
int export_file(const struct run *run, const struct exporter *exporter, const struct export_options *options,
                const char *path, struct err *err);

#endif
