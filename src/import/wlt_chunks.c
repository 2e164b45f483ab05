#include "import/wlt_chunks.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"

enum { READ_BYTES = 256 * 1024, MAGIC_BYTES = 4 };

/* Headers that promise payloads they do not have cost a checksum each: a file made of nothing else is given
 * up after this much. */
#define WASTED_BYTES_MAX (UINT64_C(1) << 30)

void wlt_chunks_init(struct wlt_chunks *c, struct stream *in)
{
    *c = (struct wlt_chunks){.in = in, .damage_start = -1, .first_damage = -1, .zstd = ZSTD_createDCtx()};
}

void wlt_chunks_release(struct wlt_chunks *c)
{
    ZSTD_freeDCtx(c->zstd);
    free(c->buffer);
    str_release(&c->raw);
}

/* ---- input --------------------------------------------------------------------------------------------- */

static void make_room(struct wlt_chunks *c)
{
    if (c->cap - c->filled >= READ_BYTES)
        return;
    if (c->start > 0) {
        memmove(c->buffer, c->buffer + c->start, c->filled - c->start);
        c->filled -= c->start;
        c->start = 0;
    }
    while (c->cap - c->filled < READ_BYTES) {
        c->cap = c->cap ? c->cap * 2 : 2 * READ_BYTES;
        c->buffer = mem_resize(c->buffer, c->cap, 1);
    }
}

/* The buffer grows with what the file has, never with what it claims. */
int64_t wlt_chunks_peek(struct wlt_chunks *c, size_t count, const unsigned char **bytes, struct err *err)
{
    while (c->filled - c->start < count && !c->at_end) {
        make_room(c);
        int64_t n = stream_read(c->in, c->buffer + c->filled, READ_BYTES, err);
        if (n < 0)
            return n;
        c->at_end = n == 0;
        c->filled += (size_t)n;
    }
    size_t have = c->filled - c->start;
    *bytes = c->buffer ? c->buffer + c->start : NULL;
    return (int64_t)(have < count ? have : count);
}

void wlt_chunks_skip(struct wlt_chunks *c, size_t count)
{
    c->start += count;
    c->position += (int64_t)count;
}

/* ---- recovery ------------------------------------------------------------------------------------------ */

static void note_damage(struct wlt_chunks *c, int64_t offset)
{
    if (c->damaged++ == 0)
        c->first_damage = offset;
}

static void note_lost_rows(struct wlt_chunks *c)
{
    if (c->chunk.table >= WLT_OPS && c->chunk.table <= WLT_WAITS && c->chunk.rows <= WLT_ROWS_MAX)
        c->lost_rows += c->chunk.rows;
}

/* Steps to the next place in the buffer where a chunk may begin, or to the buffer's end. */
static void step_over(struct wlt_chunks *c)
{
    if (c->damage_start < 0)
        c->damage_start = c->position;
    const unsigned char *at = c->buffer + c->start + 1, *end = c->buffer + c->filled;
    const unsigned char *hit = end > at ? memmem(at, (size_t)(end - at), WLT_CHUNK_MAGIC, MAGIC_BYTES) : NULL;
    size_t left = (size_t)(end - at);
    size_t keep = c->at_end ? 0 : MAGIC_BYTES - 1; /* a magic may begin here and end in the next piece */
    size_t step = hit ? (size_t)(hit - at) : left > keep ? left - keep : 0;
    wlt_chunks_skip(c, 1 + step);
}

/* Whether a whole chunk begins here. */
static int is_chunk(struct wlt_chunks *c, struct err *err)
{
    const unsigned char *bytes;
    int64_t have = wlt_chunks_peek(c, WLT_CHUNK_HEADER_BYTES, &bytes, err);
    if (have < WLT_CHUNK_HEADER_BYTES)
        return have < 0 ? (int)have : 0;
    if (!wlt_chunk_parse(&c->chunk, bytes) || c->chunk.stored > WLT_STORED_MAX)
        return 0;
    size_t whole = WLT_CHUNK_HEADER_BYTES + (size_t)c->chunk.stored;
    have = wlt_chunks_peek(c, whole, &bytes, err);
    if (have < (int64_t)whole)
        return have < 0 ? (int)have : 0;
    c->payload = bytes + WLT_CHUNK_HEADER_BYTES;
    if (hash_bytes(c->payload, c->chunk.stored) == c->chunk.checksum)
        return 1;
    c->wasted_bytes += c->chunk.stored;
    note_lost_rows(c);
    return 0;
}

static bool expand(struct wlt_chunks *c)
{
    const struct wlt_chunk *chunk = &c->chunk;
    c->length = chunk->raw;
    if (chunk->raw > WLT_RAW_MAX || chunk->rows > WLT_ROWS_MAX || chunk->rows > chunk->raw)
        return false;
    if (!(chunk->flags & WLT_CHUNK_ZSTD))
        return chunk->raw == chunk->stored;
    c->raw_bytes += chunk->raw;
    if (c->raw_bytes > WLT_EXPANSION_FREE + WLT_EXPANSION_MAX * (uint64_t)c->position)
        return false;
    str_cut(&c->raw, 0);
    str_pad(&c->raw, '\0', chunk->raw);
    size_t n = ZSTD_decompressDCtx(c->zstd, c->raw.ptr, chunk->raw, c->payload, chunk->stored);
    c->payload = (const unsigned char *)c->raw.ptr;
    return !ZSTD_isError(n) && n == chunk->raw;
}

static void take_sequence(struct wlt_chunks *c)
{
    if (c->chunk.sequence > c->next_sequence)
        c->missing += c->chunk.sequence - c->next_sequence;
    if (c->chunk.sequence >= c->next_sequence)
        c->next_sequence = c->chunk.sequence + 1;
}

void wlt_chunks_reject(struct wlt_chunks *c)
{
    note_damage(c, c->offset);
    note_lost_rows(c);
}

int wlt_chunks_next(struct wlt_chunks *c, struct err *err)
{
    const unsigned char *bytes;
    for (;;) {
        int64_t have = wlt_chunks_peek(c, 1, &bytes, err);
        if (have < 0)
            return (int)have;
        if (have == 0 || c->wasted_bytes > WASTED_BYTES_MAX) {
            if (c->damage_start >= 0)
                c->truncated_bytes = c->position - c->damage_start;
            return 0;
        }
        int found = is_chunk(c, err);
        if (found < 0)
            return found;
        if (!found) {
            step_over(c);
            continue;
        }
        if (c->damage_start >= 0)
            note_damage(c, c->damage_start);
        c->damage_start = -1;
        c->offset = c->position;
        wlt_chunks_skip(c, WLT_CHUNK_HEADER_BYTES + (size_t)c->chunk.stored);
        take_sequence(c);
        if ((c->chunk.flags & ~WLT_CHUNK_ZSTD) || expand(c)) /* unknown flags: the caller steps over it */
            return 1;
        wlt_chunks_reject(c);
    }
}
