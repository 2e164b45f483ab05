/* The file of a recording: its name, and the rows that go into it while the program runs. */
#ifndef WARPLIGHT_CMD_RECORDING_H
#define WARPLIGHT_CMD_RECORDING_H

#include <stdbool.h>

#include "base/str.h"
#include "export/wlt_write.h"

struct recording {
    struct str path;
    int fd; /* -1: not open */
    struct wlt_writer *writer;
};

/* Makes the file: output, or where that is NULL one of the program's name and the time, in the current
 * folder. force: an existing one is overwritten. */
int recording_open(struct recording *r, const char *output, bool force, const char *program, struct err *err);
/* Writes the rows of the run, and empties it of them. */
int recording_flush(struct recording *r, struct run *run, struct err *err);
/* Flushes and writes the end. */
int recording_end(struct recording *r, struct run *run, struct err *err);
int64_t recording_bytes(const struct recording *r);
/* Removes the file: nothing was recorded. */
void recording_discard(struct recording *r);
void recording_release(struct recording *r);

#endif
