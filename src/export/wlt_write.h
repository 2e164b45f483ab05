/* Writes a recording (.wlt) while its run still grows. The file is readable after every call, and up to the
 * last whole chunk if the process dies within one. */
#ifndef WARPLIGHT_EXPORT_WLT_WRITE_H
#define WARPLIGHT_EXPORT_WLT_WRITE_H

#include <stdint.h>

#include "base/err.h"
#include "model/run.h"

struct wlt_writer;

/* Writes the header. fd stays the caller's and must be writable, at the place where the recording is to begin
 * (of a new or empty file, or a pipe). */
int wlt_writer_open(struct wlt_writer **out, int fd, struct err *err);
/* Writes what came into the unsealed run since the last call: new strings, new and changed rows of the small
 * tables, and all ops, spans, samples, marks and waits, of which the run is emptied (count = 0, memory kept).
 * The strings and small tables stay, as later rows refer to them; the run must be the same each time.
 * Fails with ERR_ENV and the file's path where the disk is full or broken. What was written before stays
 * readable; the run's rows that were not written stay in it. Every later call then fails in the same way. */
int wlt_writer_flush(struct wlt_writer *writer, struct run *run, struct err *err);
/* Notes what another clock showed at a moment of the run's clock: "CLOCK_MONOTONIC", "GPU 0", …. */
int wlt_writer_clock(struct wlt_writer *writer, struct run *run, const char *clock, int64_t run_ns,
                     int64_t clock_value, struct err *err);
/* Flushes, writes the small tables once more, the index and the end, syncs, and frees the writer whatever
 * happens. */
int wlt_writer_close(struct wlt_writer *writer, struct run *run, struct err *err);
/* Writes the run as it is now, sealed or not, as a recording of its own that ends here, and syncs it. The run
 * is not changed. Only strings that some row uses are written. */
int wlt_write_run(const struct run *run, int fd, struct err *err);
/* Bytes of the recording so far. */
uint64_t wlt_writer_bytes(const struct wlt_writer *writer);

#endif
