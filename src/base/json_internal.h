/* What the parts of the JSON reader share. Only json*.c includes this. */
#ifndef WARPLIGHT_BASE_JSON_INTERNAL_H
#define WARPLIGHT_BASE_JSON_INTERNAL_H

#include "base/json.h"

/* Brings more input behind r->end. Keeps the bytes from *keep on (*keep <= *p <= r->end) and adjusts both.
 * Returns false, with the state set, if the record is held, the bytes are enough (lenient), or the input
 * ends. */
bool json_more(struct json_reader *r, const char **p, const char **keep);
/* Slides the window so that keep is its first byte, and reads on. False at the end of input, on a read error,
 * and if the window is as large as it may become. */
bool json_fill(struct json_reader *r, const char *keep);
/* Sets the state for an unexpected byte at p and returns false. */
bool json_fail(struct json_reader *r, const char *p);
void json_count(struct json_reader *r, enum json_oddity oddity, const char *p);
/* Back to the start of the hold, error and oddities forgotten. */
void json_rewind(struct json_reader *r);
int64_t json_offset_of(const struct json_reader *r, const char *p);
/* Turns the raw content [start, end) of a string into text: decodes escapes, checks UTF-8. */
void json_take_string(struct json_reader *r, const char *start, const char *end, bool escaped, bool high,
                      struct json_text *text);
/* json_read_string() in lenient mode. */
bool json_lenient_string(struct json_reader *r, struct json_text *text);
/* In lenient mode: passes everything until depth containers are open. */
bool json_lenient_skip(struct json_reader *r, int depth);

static inline bool json_in_array(const struct json_reader *r)
{
    return r->depth > 0 && (r->arrays[(r->depth - 1) / 64] >> ((r->depth - 1) % 64) & 1);
}

static inline void json_push(struct json_reader *r, bool array)
{
    uint64_t bit = (uint64_t)1 << (r->depth % 64);
    uint64_t *word = &r->arrays[r->depth / 64];
    *word = array ? *word | bit : *word & ~bit;
    r->depth++;
}

#endif
