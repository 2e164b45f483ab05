/* Reading JSON that is broken: strings with unescaped quotes inside, and what comes after damage. */
#include <string.h>

#include "base/json.h"
#include "base/json_internal.h"
#include "base/json_scan.h"

enum {
    LOOK_AROUND = 256,      /* longest "blanks, key, blanks, colon" that is recognised */
    LENIENT_BYTES = 8 << 20 /* how far off the next record may lie for a broken one to be read leniently */
};

static const char *pass_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* ---- strings with quotes inside ------------------------------------------------------------------------ */

/* Whether "key": stands at p, the key short and free of quotes and line ends. */
static bool is_member(const char *p, const char *end)
{
    if (p >= end || *p != '"')
        return false;
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\n' || *p == '\\')
            return false;
    p = p < end ? pass_blanks(p + 1, end) : end;
    return p < end && *p == ':';
}

/* Whether a quote that has p behind it ends a value of the open container. */
static bool quote_ends_value(const struct json_reader *r, const char *p)
{
    const char *end = r->full_end - p > LOOK_AROUND ? p + LOOK_AROUND : r->full_end;
    bool array = json_in_array(r);
    p = pass_blanks(p, end);
    if (p == end)
        return r->depth == 0;
    if (*p == (array ? ']' : '}')) {
        p = pass_blanks(p + 1, end);
        return p == end || *p == ',' || *p == '}' || *p == ']';
    }
    if (*p != ',')
        return false;
    p = pass_blanks(p + 1, end);
    if (array)
        return p < end && (strchr("\"[{-0123456789tfnNI", *p) != NULL);
    return is_member(p, end);
}

bool json_lenient_string(struct json_reader *r, struct json_text *text)
{
    const char *start = r->at + 1;
    bool escaped = false, high = false;
    for (const char *p = start; p < r->end; p++) {
        if (*p == '\\') {
            escaped = true;
            p++;
        } else if (*p == '"' && quote_ends_value(r, p + 1)) {
            r->at = p + 1;
            r->need_comma = true;
            json_take_string(r, start, p, escaped, high, text);
            return true;
        } else if ((unsigned char)*p < ' ') {
            json_count(r, JSON_ODD_CONTROL, p);
        }
        high |= p < r->end && (unsigned char)*p >= 0x80;
    }
    const char *end = r->end;
    return json_more(r, &end, &end);
}

bool json_lenient_skip(struct json_reader *r, int depth)
{
    struct json_text text;
    while (r->depth > depth) {
        bool value = json_in_array(r) ? json_next_item(r) : json_next_key(r, &text);
        if (r->state != JSON_OK)
            return false;
        if (!value)
            continue;
        enum json_type type = json_peek(r);
        bool read =
            type == JSON_OBJECT || type == JSON_ARRAY ? json_enter(r, type) : json_read_scalar(r, &text);
        if (!read)
            return false;
    }
    return true;
}

/* ---- finding the next record --------------------------------------------------------------------------- */

/* Whether one of the keys stands behind the quote at p, and a colon behind it. */
static bool is_key(const char *quote, const char *end, const char *const *keys)
{
    end = end - quote > LOOK_AROUND ? quote + LOOK_AROUND : end;
    const char *p = quote + 1;
    for (; keys && *keys; keys++) {
        size_t length = strlen(*keys);
        if ((size_t)(end - p) > length && memcmp(p, *keys, length) == 0 && p[length] == '"') {
            const char *colon = pass_blanks(p + length + 1, end);
            return colon < end && *colon == ':';
        }
    }
    return false;
}

/* The brace before the quote, with only blanks between, or NULL. */
static const char *brace_before(const char *quote, const char *start)
{
    const char *p = quote;
    while (p > start && quote - p < LOOK_AROUND &&
           (p[-1] == ' ' || p[-1] == '\n' || p[-1] == '\t' || p[-1] == '\r'))
        p--;
    return p > start && p[-1] == '{' ? p - 1 : NULL;
}

/* The first landmark in [start, end), or NULL. */
static const char *find_landmark(const char *start, const char *end, const struct json_landmarks *landmarks)
{
    for (const char *p = start; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++) {
        const char *brace = brace_before(p, start);
        if (brace && is_key(p, end, landmarks->objects))
            return brace;
        if (is_key(p, end, landmarks->members))
            return p;
    }
    return NULL;
}

bool json_lenient(struct json_reader *r, const struct json_landmarks *landmarks)
{
    size_t searched = 1;
    json_rewind(r);
    r->snapshot = false;
    for (;;) {
        const char *start = r->origin + r->hold;
        const char *bound = NULL;
        if ((size_t)(r->end - start) > searched)
            bound = find_landmark(start + searched, r->end, landmarks);
        if (bound || r->eof) {
            r->full_end = r->end;
            r->end = bound ? bound : r->end;
            r->lenient = r->held = true;
            return true;
        }
        size_t have = (size_t)(r->end - start);
        searched = have > LOOK_AROUND ? have - LOOK_AROUND : 1;
        if (have > LENIENT_BYTES || (!json_fill(r, start) && !r->eof)) {
            r->state = JSON_BAD;
            return false;
        }
    }
}

void json_strict(struct json_reader *r)
{
    r->end = r->full_end;
    r->lenient = r->held = false;
    r->hold_failed = r->state != JSON_OK;
}

bool json_seek(struct json_reader *r, const struct json_landmarks *landmarks, int depth)
{
    if (r->hold_failed)
        json_rewind(r);
    const char *p = r->at + r->hold_failed;
    r->hold_failed = r->held = r->need_comma = false;
    r->state = JSON_OK;
    r->depth = depth;
    for (;;) {
        r->at = p < r->end ? find_landmark(p, r->end, landmarks) : NULL;
        if (r->at)
            return true;
        /* a landmark may straddle the end of the window */
        r->at = r->end - p > 2 * LOOK_AROUND ? r->end - 2 * LOOK_AROUND : p;
        if (!json_fill(r, r->at)) {
            r->at = r->end;
            r->state = JSON_END;
            return false;
        }
        p = r->at;
    }
}
