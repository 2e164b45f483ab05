/* Internal to stream*.c: a stream is a stack of layers, each of which pulls from the one below. The lowest
 * reads the file; those above decompress. All of a stack runs on one thread at a time. */
#ifndef WARPLIGHT_BASE_STREAM_LAYER_H
#define WARPLIGHT_BASE_STREAM_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LAYER_INPUT_BYTES = 64 * 1024 };

struct layer {
    /* Puts up to size (> 0) bytes in buf and returns how many, 0 at the end, or a negative code. An error
     * that follows good bytes is returned by the next call. After 0 or an error, every further call returns
     * it again. */
    int64_t (*read)(struct layer *self, void *buf, size_t size, struct err *err);
    void (*free)(struct layer *self);
    struct layer *below;  /* NULL for the lowest; not owned */
    const char *encoding; /* "gzip", "zstd"; NULL for the lowest */
    const char *damage;   /* what stream_damage() says, or NULL */
    bool ended;           /* nothing more will come */
    /* Bytes of the layer below that are not decoded yet: input[pos .. len). */
    unsigned char *input;
    size_t pos, len;
};

static inline size_t layer_pending(const struct layer *layer)
{
    return layer->len - layer->pos;
}

/* Reads from below until at least count (at most LAYER_INPUT_BYTES) bytes are pending or the data end.
 * Returns the number of pending bytes or a negative code. */
int64_t layer_need(struct layer *layer, size_t count, struct err *err);

/* Whether data begins like this encoding; a beginning cut short still counts. */
bool gzip_sniff(const unsigned char *data, size_t length);
bool zstd_sniff(const unsigned char *data, size_t length);

/* Heap layers that decode what below delivers. NULL when the library has no memory. */
struct layer *gzip_layer_new(struct layer *below);
struct layer *zstd_layer_new(struct layer *below);

#endif
