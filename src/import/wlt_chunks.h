/* The chunks of a recording (model/wlt.h), one at a time, damaged files too: what is no whole chunk is
 * stepped over up to the next one that is. */
#ifndef WARPLIGHT_IMPORT_WLT_CHUNKS_H
#define WARPLIGHT_IMPORT_WLT_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stream.h"
#include "base/str.h"
#include "model/wlt.h"

struct ZSTD_DCtx_s;

struct wlt_chunks {
    /* the chunk that wlt_chunks_next() found; payload lives until the next call */
    struct wlt_chunk chunk;
    const unsigned char *payload;
    size_t length;
    int64_t offset; /* in the decompressed input */
    /* what was left out so far */
    int64_t damaged;         /* places in the middle, and payloads that do not decompress */
    int64_t first_damage;    /* offset, -1 */
    int64_t missing;         /* chunks, by the gaps in their numbers */
    int64_t lost_rows;       /* of events, in chunks whose header is whole */
    int64_t truncated_bytes; /* at the end, after the last whole chunk */
    /* private */
    struct stream *in;
    unsigned char *buffer;
    size_t start, filled, cap;
    int64_t position;     /* of buffer[start] */
    int64_t damage_start; /* -1: not in a damaged place */
    bool at_end;
    uint64_t raw_bytes, wasted_bytes;
    uint32_t next_sequence;
    struct ZSTD_DCtx_s *zstd;
    struct str raw;
};

void wlt_chunks_init(struct wlt_chunks *c, struct stream *in);
void wlt_chunks_release(struct wlt_chunks *c);

/* Looks at the next count bytes, or what there is of them; -1 and err if the input cannot be read. */
int64_t wlt_chunks_peek(struct wlt_chunks *c, size_t count, const unsigned char **bytes, struct err *err);
void wlt_chunks_skip(struct wlt_chunks *c, size_t count);
/* Returns 1 and a whole chunk, 0 at the end, or a negative code. */
int wlt_chunks_next(struct wlt_chunks *c, struct err *err);
/* Counts the chunk that was found last as damaged: it is whole, but makes no sense. */
void wlt_chunks_reject(struct wlt_chunks *c);

#endif
