/* Byte output of an export: to a file, a pipe or memory, gzip-compressed or not. Write errors are kept, so
 * that an exporter need not look after each piece; what follows the first error is dropped. */
#ifndef WARPLIGHT_EXPORT_SINK_H
#define WARPLIGHT_EXPORT_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum { SINK_CHUNK = 256 * 1024 };

struct sink_gzip;

/* A zeroed sink collects everything in `pending`. */
struct export_sink {
    struct str pending; /* the exporter appends here, and calls sink_poll() between records */
    /* private */
    const char *path;
    int fd;
    bool to_file;
    bool remove_on_failure;
    int error; /* errno of the first write that failed */
    struct sink_gzip *gzip;
};

/* path "-" is standard output. path must live until sink_close(). */
int sink_open(struct export_sink *sink, const char *path, bool gzip, struct err *err);
/* Hands pending bytes on if there are enough of them to be worth it. */
void sink_poll(struct export_sink *sink);
/* Hands everything on and closes. complete = false, like a write error, removes the file. Returns the first
 * write error; a reader of standard output that has seen enough is none. */
int sink_close(struct export_sink *sink, bool complete, struct err *err);

#endif
