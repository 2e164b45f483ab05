/* Where the rows of a recording go: into one file while the program runs, or, with a time to keep, into
 * memory, of which snapshots are written when something asks for them. */
#ifndef WARPLIGHT_CMD_RECORDING_H
#define WARPLIGHT_CMD_RECORDING_H

#include <stdbool.h>

#include "base/str.h"
#include "export/wlt_write.h"
#include "model/retain.h"

/* Rows that a flight recorder holds: some five million launches with their calls. */
#define RECORDING_KEEP_BYTES (INT64_C(512) << 20)

struct recording_options {
    const char *output; /* NULL: the program's name and the time, in the current folder */
    bool force;         /* overwrite an existing file; never a snapshot */
    int64_t keep_ns;    /* 0: everything goes into the file */
};

struct recording {
    struct str path; /* of the file; with keep_ns, what names of snapshots begin with */
    int fd;          /* -1: not open */
    struct wlt_writer *writer;
    struct retain retain;
    int snapshots;
    struct str latest; /* snapshot */
};

/* Makes the file, or sees whether snapshots can be made. */
int recording_open(struct recording *r, const struct recording_options *options, const char *program,
                   struct err *err);
/* Takes the rows that have gathered: writes them and empties the run of them, or drops those that are too
 * old. */
int recording_take(struct recording *r, struct run *run, struct err *err);
/* Whether it is time for that. */
bool recording_is_due(const struct recording *r, const struct run *run);
/* Has everything so far in a file that can be read: r->latest, or without keep_ns the file itself. The reason
 * and what fell out are facts of the snapshot. Snapshots are numbered; a number that another file has is
 * passed over. */
int recording_snapshot(struct recording *r, struct run *run, uint32_t source, const char *reason,
                       struct err *err);
/* The file that is to be read at the end, or has been last. */
const char *recording_file(const struct recording *r);
/* Writes the end of the file. */
int recording_end(struct recording *r, struct run *run, struct err *err);
/* Of the file; with keep_ns, of the rows in memory. */
int64_t recording_bytes(const struct recording *r, const struct run *run);
/* Removes the file: nothing was started. */
void recording_discard(struct recording *r);
void recording_release(struct recording *r);

#endif
