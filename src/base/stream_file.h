/* Internal to stream.c: the lowest layer, which reads a file, a pipe or memory. */
#ifndef WARPLIGHT_BASE_STREAM_FILE_H
#define WARPLIGHT_BASE_STREAM_FILE_H

#include "base/stream_layer.h"

/* path "-" is standard input, which is left open by free. On failure fills err and returns a negative code.
 */
int file_layer_open(struct layer **out, const char *path, struct err *err);
/* data are not copied. */
struct layer *file_layer_memory(const void *data, size_t length);
/* From any thread: a read that waits for a pipe, and every later read, returns 0. */
void file_layer_stop(struct layer *layer);
/* Bytes read so far, from any thread. */
int64_t file_layer_consumed(const struct layer *layer);
/* UNKNOWN for what has no size. */
int64_t file_layer_size(const struct layer *layer);

#endif
