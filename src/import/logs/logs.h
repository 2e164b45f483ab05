/* Reads what people paste: kernel logs and journals, nvidia-smi in all its forms, bug reports, messages of
 * programs, kubectl. One pass over lines; every reader looks at every line, so that pieces of several kinds
 * may stand in one file (nvidia-bug-report.log holds most of them). */
#ifndef WARPLIGHT_IMPORT_LOGS_LOGS_H
#define WARPLIGHT_IMPORT_LOGS_LOGS_H

#include <stddef.h>

#include "base/err.h"
#include "base/stream.h"
#include "model/logbook.h"

/* Longest part of a line that is looked at. */
enum { LOGS_LINE_MAX = 16 * 1024 };

/* Reads a file, compressed or not, or "-". What is damaged in compression is read up to there, and the source
 * says so. Fails if the file cannot be opened or read, or is no text. */
int logs_read(struct logbook *book, const char *path, struct err *err);
/* The same from memory, for tests and fuzzing. */
int logs_read_memory(struct logbook *book, const char *name, const void *data, size_t length,
                     struct err *err);

#endif
