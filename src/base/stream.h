/* Byte input from a file or pipe, decompressed on the fly. The format is sniffed from the first bytes, never
 * from the name: gzip (several members too), zstd (several frames too), or plain. Compression inside
 * compression is unwrapped up to two levels (people gzip a .json.gz again); deeper is an error.
 *
 * Decompression runs on a second thread, one bounded queue of buffers ahead of the reader, so that memory
 * stays constant and a second core does the work. */
#ifndef WARPLIGHT_BASE_STREAM_H
#define WARPLIGHT_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct stream;

/* path "-" is standard input. Directories, missing permission and empty names are errors with a hint. */
int stream_open(struct stream **out, const char *path, struct err *err);
/* Reads from memory (not copied); for tests and fuzzing. Decompresses just the same. */
int stream_open_memory(struct stream **out, const char *name, const void *data, size_t length,
                       struct err *err);
/* Returns the number of bytes put in buf (> 0), 0 at the end, or a negative code. A damaged or truncated
 * compressed file first delivers everything that could be decompressed, then ends with 0, and
 * stream_damage() tells what happened. */
int64_t stream_read(struct stream *s, void *buf, size_t size, struct err *err);
/* Looks at up to size bytes without consuming them; size is at most 64 KiB. Returns how many there are. */
int64_t stream_peek(struct stream *s, void *buf, size_t size, struct err *err);
void stream_close(struct stream *s);

const char *stream_path(const struct stream *s);
/* "plain", "gzip", "zstd", "gzip in gzip", … */
const char *stream_encoding(const struct stream *s);
/* Bytes of the file as it lies on disk: consumed so far, and in all (UNKNOWN for a pipe). */
int64_t stream_consumed(const struct stream *s);
int64_t stream_size(const struct stream *s);
/* NULL, or an English msgid saying what was wrong with the compressed data ("the gzip data end early"). */
const char *stream_damage(const struct stream *s);

#endif
