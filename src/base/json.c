#include "base/json.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "base/json_internal.h"
#include "base/json_scan.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    WINDOW_BYTES = 512 << 10, /* fits the second-level cache of the usual server */
};

/* ---- the window ---------------------------------------------------------------------------------------- */

void json_open(struct json_reader *r, struct stream *in, const struct json_limits *limits, struct err *err)
{
    *r = (struct json_reader){.in = in, .err = err, .partial = SIZE_MAX};
    r->max_depth = limits && limits->max_depth > 0 ? limits->max_depth : JSON_DEPTH_DEFAULT;
    if (r->max_depth > JSON_DEPTH_MAX)
        r->max_depth = JSON_DEPTH_MAX;
    r->max_string = limits && limits->max_string_bytes ? limits->max_string_bytes : JSON_STRING_DEFAULT;
    r->cap = limits && limits->window_bytes ? limits->window_bytes : WINDOW_BYTES;
    r->max_cap =
        r->max_string + 2 * r->cap; /* a record may hold more than one string of the greatest length */
    r->origin = r->window = mem_alloc(r->cap + JSON_SCAN_PADDING);
    memset(r->window, 0, JSON_SCAN_PADDING);
    r->at = r->end = r->window;
    while (r->end - r->at < 3 && json_fill(r, r->origin))
        r->at = r->origin;
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0) {
        json_count(r, JSON_ODD_BOM, r->at);
        r->at += 3;
    }
}

void json_open_text(struct json_reader *r, struct json_text text)
{
    *r = (struct json_reader){.at = text.at, .end = text.at + text.length, .origin = text.at, .eof = true};
    r->cap = r->max_string = text.length;
    r->max_depth = JSON_DEPTH_MAX;
    r->partial = SIZE_MAX;
}

void json_close(struct json_reader *r)
{
    free(r->window);
    free(r->decoded);
    *r = (struct json_reader){.state = JSON_END, .eof = true};
}

int64_t json_offset_of(const struct json_reader *r, const char *p)
{
    size_t at = (size_t)(p - r->origin);
    return r->base + (int64_t)at + (r->cut_bytes && at >= r->cut_at ? r->cut_bytes : 0);
}

int64_t json_offset(const struct json_reader *r)
{
    return json_offset_of(r, r->at);
}

int json_failed(const struct json_reader *r)
{
    return r->fail_code;
}

/* Reads once into the room behind end. */
static bool window_read(struct json_reader *r)
{
    size_t used = (size_t)(r->end - r->origin);
    int64_t got = stream_read(r->in, r->window + used, r->cap - used, r->err);
    if (got <= 0) {
        r->eof = true;
        r->fail_code = (int)got;
        return false;
    }
    r->end += got;
    memset(r->window + used + got, 0, JSON_SCAN_PADDING);
    return true;
}

static void window_slide(struct json_reader *r, const char *keep)
{
    size_t shift = (size_t)(keep - r->origin);
    if (shift == 0)
        return;
    r->base = json_offset_of(r, keep);
    memmove(r->window, keep, (size_t)(r->end - keep) + JSON_SCAN_PADDING);
    if (shift >= r->cut_at)
        r->cut_bytes = 0;
    r->cut_at -= r->cut_bytes ? shift : 0;
    /* A string that began before what is kept is nobody's any more. */
    r->partial = r->partial == SIZE_MAX || r->partial < shift ? SIZE_MAX : r->partial - shift;
    r->hold -= shift; /* wraps where there is no hold; nobody looks then */
    r->at = r->at < keep ? r->origin : r->at - shift;
    r->end -= shift;
}

static void window_grow(struct json_reader *r)
{
    size_t at = (size_t)(r->at - r->origin), end = (size_t)(r->end - r->origin);
    r->cap = r->cap * 2 < r->max_cap ? r->cap * 2 : r->max_cap;
    r->origin = r->window = mem_resize(r->window, r->cap + JSON_SCAN_PADDING, 1);
    r->at = r->origin + at;
    r->end = r->origin + end;
}

/* The string at partial fills the window: drops what is beyond the limit, up to its closing quote. */
static bool window_cut_string(struct json_reader *r)
{
    if (r->partial == SIZE_MAX || (size_t)(r->end - r->origin) - r->partial < r->max_string)
        return false;
    char *kept = r->window + r->partial + r->max_string;
    bool escaped = false; /* the byte at `end` is */
    for (const char *p = r->end; p > r->origin + r->partial && p[-1] == '\\'; p--)
        escaped = !escaped;
    while (kept > r->origin + r->partial && kept[-1] == '\\') /* never end in half an escape */
        kept--;
    json_count(r, JSON_ODD_CUT, r->origin + r->partial);
    int64_t dropped = r->end - kept;
    char *quote = NULL;
    for (r->end = kept; !quote && window_read(r);) {
        char *p = kept;
        for (; p < r->end && (escaped || *p != '"'); p++)
            escaped = !escaped && *p == '\\';
        quote = p < r->end ? p : NULL;
        if (!quote)
            r->end = kept;
        dropped += p - kept;
    }
    if (quote) {
        memmove(kept, quote, (size_t)(r->end - quote) + JSON_SCAN_PADDING);
        r->end -= quote - kept;
    }
    memset(r->window + (r->end - r->origin), 0, JSON_SCAN_PADDING);
    r->cut_at = (size_t)(kept - r->origin);
    r->cut_bytes += dropped;
    return quote != NULL;
}

bool json_fill(struct json_reader *r, const char *keep)
{
    if (r->eof)
        return false;
    window_slide(r, keep);
    if ((size_t)(r->end - r->origin) < r->cap)
        return window_read(r);
    if (r->cap == r->max_cap)
        return window_cut_string(r);
    window_grow(r);
    return window_read(r);
}

bool json_more(struct json_reader *r, const char **p, const char **keep)
{
    if (r->lenient) {
        r->state = r->end == r->full_end && r->eof ? JSON_END : JSON_BAD;
        r->at = r->end;
        return false;
    }
    if (r->eof || r->held) {
        r->state = r->eof ? JSON_END : JSON_MORE;
        r->at = r->end;
        return false;
    }
    size_t offset = (size_t)(*p - *keep);
    int64_t cut_bytes = r->cut_bytes;
    bool filled = json_fill(r, *keep); /* slides the window even where there is nothing more */
    *keep = r->origin;
    *p = r->cut_bytes > cut_bytes ? r->origin + r->cut_at : r->origin + offset;
    if (!filled) {
        r->at = r->end;
        r->state = r->eof ? JSON_END : JSON_BAD;
    }
    return filled;
}

bool json_fail(struct json_reader *r, const char *p)
{
    if (r->state == JSON_OK)
        r->state = JSON_BAD;
    r->at = p;
    return false;
}

void json_count(struct json_reader *r, enum json_oddity oddity, const char *p)
{
    if (r->held && !r->snapshot) {
        memcpy(r->odd_before, r->odd, sizeof r->odd);
        r->snapshot = true;
    }
    if (r->odd[oddity].count++ == 0)
        r->odd[oddity].first_offset = json_offset_of(r, p);
}

const char *json_oddity_text(enum json_oddity oddity)
{
    static const char *const texts[] = {
        [JSON_ODD_BOM] = N_("byte order mark skipped"),
        [JSON_ODD_COMMA] = N_("surplus commas skipped"),
        [JSON_ODD_WORD] = N_("values that JSON does not know (NaN, Infinity, N/A)"),
        [JSON_ODD_CONTROL] = N_("control characters inside strings"),
        [JSON_ODD_ESCAPE] = N_("backslashes inside strings that escape nothing"),
        [JSON_ODD_UTF8] = N_("texts that are not valid UTF-8"),
        [JSON_ODD_CUT] = N_("overlong texts cut"),
    };
    return texts[oddity];
}

/* ---- records ------------------------------------------------------------------------------------------- */

void json_hold(struct json_reader *r)
{
    r->held = true;
    r->hold_failed = false;
    r->snapshot = false;
    r->hold = (size_t)(r->at - r->origin);
    r->hold_depth = r->depth;
    r->hold_comma = r->need_comma;
    r->partial = SIZE_MAX;
    r->decoded_len = 0;
}

void json_rewind(struct json_reader *r)
{
    if (r->snapshot) {
        /* strings stay cut */
        r->odd_before[JSON_ODD_CUT] = r->odd[JSON_ODD_CUT];
        memcpy(r->odd, r->odd_before, sizeof r->odd);
    }
    r->at = r->origin + r->hold;
    r->depth = r->hold_depth;
    r->need_comma = r->hold_comma;
    r->decoded_len = 0;
    r->state = JSON_OK;
}

bool json_retry(struct json_reader *r)
{
    if (r->state == JSON_MORE) {
        /* at least twice as much each time, so that reading again and again stays linear */
        size_t wanted = 2 * (size_t)(r->end - r->origin - (ptrdiff_t)r->hold);
        bool filled = json_fill(r, r->origin + r->hold);
        while (filled && (size_t)(r->end - r->origin) < wanted && (size_t)(r->end - r->origin) < r->max_cap)
            filled = json_fill(r, r->origin);
        if (filled || r->eof) {
            json_rewind(r);
            r->snapshot = false;
            r->partial = SIZE_MAX;
            return true;
        }
        r->state = JSON_BAD;
    }
    r->held = false;
    r->hold_failed = r->state != JSON_OK;
    return false;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four hexadecimal digits at p, or -1. */
static int32_t hex_unit(const char *p, const char *end)
{
    int32_t unit = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static char *put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Decodes \uXXXX at *p (behind the u), with the second half of a surrogate pair. Half a pair alone becomes
 * U+FFFD. Never longer than its source. */
static char *decode_unit(struct json_reader *r, const char **p, const char *end, char *out)
{
    int32_t unit = hex_unit(*p, end);
    if (unit < 0) {
        json_count(r, JSON_ODD_ESCAPE, *p);
        *out++ = '\\';
        *out++ = 'u';
        return out;
    }
    *p += 4;
    uint32_t code = (uint32_t)unit;
    if (unit >= 0xd800 && unit < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        int32_t low = hex_unit(*p + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
            *p += 6;
        }
    }
    return put_utf8(out, code >= 0xd800 && code < 0xe000 ? UTF8_REPLACEMENT : code);
}

/* Room for decoded texts: a hold cannot need more than the window, so the memory never moves during one. */
static char *decode_room(struct json_reader *r)
{
    if (!r->held && !r->lenient)
        r->decoded_len = 0;
    if (r->decoded_len == 0 && r->decoded_cap < r->cap) {
        free(r->decoded);
        r->decoded = mem_alloc(r->cap + JSON_SCAN_PADDING);
        r->decoded_cap = r->cap;
    }
    return r->decoded + r->decoded_len;
}

static struct json_text decode(struct json_reader *r, const char *p, const char *end)
{
    char *start = decode_room(r), *out = start;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape && escape + 1 < end ? escape : end) - p);
        memcpy(out, p, plain);
        out += plain;
        p += plain;
        if (p == end)
            break;
        char c = p[1];
        p += 2;
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *known = c ? strchr(from, c) : NULL;
        if (known) {
            *out++ = to[known - from];
        } else if (c == 'u') {
            out = decode_unit(r, &p, end, out);
        } else {
            json_count(r, JSON_ODD_ESCAPE, p - 2);
            *out++ = '\\';
            *out++ = c;
        }
    }
    r->decoded_len += (size_t)(out - start);
    return (struct json_text){start, (size_t)(out - start)};
}

void json_take_string(struct json_reader *r, const char *start, const char *end, bool escaped, bool high,
                      struct json_text *text)
{
    *text = (struct json_text){start, (size_t)(end - start)};
    if (high && utf8_valid(start, text->length) != text->length)
        json_count(r, JSON_ODD_UTF8, start);
    if (escaped)
        *text = decode(r, start, end);
}

/* Finds the closing quote of the string whose content begins at *start, from *p on; moves both with the
 * window. pass: the content is not wanted, and the window need not keep it. */
static inline bool string_end(struct json_reader *r, const char **start, const char **p, bool pass,
                              bool *escaped, unsigned *high)
{
    for (;;) {
        *p = json_scan_string(*p, high);
        if (**p == '"')
            return true;
        if (*p >= r->end || (**p == '\\' && *p + 1 >= r->end)) {
            *p = *p > r->end ? r->end : *p;
            r->partial = (size_t)(*start - r->origin);
            const char *keep = pass ? *p : *start;
            if (!json_more(r, p, &keep))
                return false;
            *start = keep;
        } else if (**p == '\\') {
            *escaped = true;
            *p += 2;
        } else {
            json_count(r, JSON_ODD_CONTROL, *p);
            ++*p;
        }
    }
}

/* Each of the four calls that a record consists of has a short way, which reads what is in the window and
 * needs no thought, and a long way for everything else. */
#define LONG_WAY __attribute__((noinline, cold))

LONG_WAY static bool read_string(struct json_reader *r, struct json_text *text)
{
    if (json_peek(r) != JSON_STRING)
        return json_fail(r, r->at);
    if (r->lenient)
        return json_lenient_string(r, text);
    const char *start = r->at + 1, *p = start;
    bool escaped = false;
    unsigned high = 0;
    if (!string_end(r, &start, &p, false, &escaped, &high))
        return false;
    r->at = p + 1;
    r->need_comma = true;
    json_take_string(r, start, p, escaped, high != 0, text);
    return true;
}

bool json_read_string(struct json_reader *r, struct json_text *text)
{
    if (r->state != JSON_OK || *r->at != '"' || r->lenient)
        return read_string(r, text);
    unsigned high = 0;
    const char *start = r->at + 1, *p = json_scan_string(start, &high);
    if (*p != '"' || high)
        return read_string(r, text);
    r->at = p + 1;
    r->need_comma = true;
    *text = (struct json_text){start, (size_t)(p - start)};
    return true;
}

/* ---- structure ----------------------------------------------------------------------------------------- */

/* Moves *p past blanks; *keep is what the caller still needs from the window. False at the end of input. */
static inline bool pass_blank(struct json_reader *r, const char **p, const char **keep)
{
    for (;;) {
        *p = json_scan_blank(*p);
        if (*p < r->end)
            return true;
        *p = r->end;
        if (!json_more(r, p, keep)) {
            r->at = r->end;
            return false;
        }
    }
}

enum json_type json_peek_far(struct json_reader *r)
{
    if (r->state != JSON_OK)
        return JSON_NONE;
    if ((unsigned char)*r->at <= ' ') {
        const char *p = r->at;
        if (!pass_blank(r, &p, &p))
            return JSON_NONE;
        r->at = p;
    }
    switch (*r->at) {
    case '"':
        return JSON_STRING;
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '}':
    case ']':
    case ',':
    case ':':
    case '\0':
        return JSON_NONE;
    default:
        return JSON_WORD;
    }
}

bool json_assume(struct json_reader *r, enum json_type type)
{
    if (r->state != JSON_OK)
        return false;
    if (r->depth >= r->max_depth)
        return json_fail(r, r->at);
    json_push(r, type == JSON_ARRAY);
    r->need_comma = false;
    return true;
}

bool json_enter(struct json_reader *r, enum json_type type)
{
    if (json_peek(r) != type)
        return json_fail(r, r->at);
    if (!json_assume(r, type))
        return false;
    r->at++;
    return true;
}

bool json_enter_if(struct json_reader *r, enum json_type type)
{
    if (json_peek(r) == type)
        return json_enter(r, type);
    json_skip(r);
    return false;
}

/* To the next member or element: passes blanks and the comma. False at the end of the container, which it
 * closes, and on errors. */
LONG_WAY static bool find_value(struct json_reader *r, char close)
{
    if (r->state != JSON_OK)
        return false;
    const char *p = r->at;
    bool comma = false;
    for (;; p++) {
        if (!pass_blank(r, &p, &p))
            return false;
        if (*p != ',')
            break;
        if (!r->need_comma)
            json_count(r, JSON_ODD_COMMA, p);
        r->need_comma = false;
        comma = true;
    }
    if (*p == close) {
        if (comma)
            json_count(r, JSON_ODD_COMMA, p);
        r->at = p + 1;
        r->depth--;
        r->need_comma = true;
        return false;
    }
    if (r->need_comma)
        return json_fail(r, p);
    r->at = p;
    return true;
}

static inline bool next_value(struct json_reader *r, char close)
{
    const char *p = r->at;
    if (r->state != JSON_OK)
        return false;
    if (*p == ',' && r->need_comma) {
        p = json_scan_blank(p + 1);
        if (*p == ',' || *p == close || p >= r->end)
            return find_value(r, close);
        r->need_comma = false;
        r->at = p;
        return true;
    }
    p = json_scan_blank(p);
    if (*p != close || !r->need_comma)
        return find_value(r, close);
    r->at = p + 1;
    r->depth--;
    return false;
}

/* The key that begins at r->at, and its colon. */
LONG_WAY static bool read_key(struct json_reader *r, struct json_text *key)
{
    if (*r->at != '"')
        return json_fail(r, r->at);
    const char *start = r->at + 1, *p = start;
    bool escaped = false;
    unsigned high = 0;
    if (!string_end(r, &start, &p, false, &escaped, &high))
        return false;
    size_t length = (size_t)(p - start);
    p++;
    if (!pass_blank(r, &p, &start))
        return false;
    if (*p != ':')
        return json_fail(r, p);
    r->at = p + 1;
    json_take_string(r, start, start + length, escaped, high != 0, key);
    return true;
}

bool json_next_key(struct json_reader *r, struct json_text *key)
{
    if (!next_value(r, '}'))
        return false;
    unsigned high = 0;
    const char *start = r->at + 1, *p = json_scan_string(start, &high);
    if (*r->at != '"' || *p != '"' || p[1] != ':' || high)
        return read_key(r, key);
    p += 2;
    r->at = p + (*p == ' ');
    *key = (struct json_text){start, (size_t)(p - 2 - start)};
    return true;
}

bool json_next_item(struct json_reader *r)
{
    if (!next_value(r, ']'))
        return false;
    return json_peek(r) != JSON_NONE || json_fail(r, r->at);
}

/* What JSON knows, and what others print: C, C++, Python, JavaScript, log lines. */
static bool word_known(struct json_reader *r, const char *p, size_t length)
{
    static const char *const plain[] = {"true", "false", "null"};
    static const char *const odd[] = {"nan", "inf", "infinity", "n/a", "none", "undefined"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strlen(plain[i]) == length && memcmp(plain[i], p, length) == 0)
            return true;
    size_t sign = *p == '-' || *p == '+';
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (strlen(odd[i]) == length - sign && strncasecmp(odd[i], p + sign, length - sign) == 0) {
            json_count(r, JSON_ODD_WORD, p);
            return true;
        }
    }
    bool pythonic = (length == 4 && memcmp(p, "True", 4) == 0) || (length == 5 && memcmp(p, "False", 5) == 0);
    if (pythonic)
        json_count(r, JSON_ODD_WORD, p);
    return pythonic;
}

LONG_WAY static bool read_word(struct json_reader *r, struct json_text *text)
{
    if (json_peek(r) != JSON_WORD)
        return json_fail(r, r->at);
    const char *start = r->at, *p = start;
    for (;;) {
        p = json_scan_word(p);
        if (p < r->end)
            break;
        p = r->end;
        if (json_more(r, &p, &start))
            continue;
        if (r->state != JSON_END || r->depth > 0 || r->lenient)
            return false;
        r->state = JSON_OK; /* a number may be all there is */
        break;
    }
    unsigned char first = (unsigned char)(*start == '-' ? start[1] : *start);
    if ((first < '0' || first > '9') && !word_known(r, start, (size_t)(p - start)))
        return json_fail(r, start);
    r->at = p;
    r->need_comma = true;
    *text = (struct json_text){start, (size_t)(p - start)};
    return true;
}

bool json_read_word(struct json_reader *r, struct json_text *text)
{
    const char *start = r->at, *p = json_scan_word(start);
    if (r->state != JSON_OK || *start < '0' || *start > '9' || p >= r->end)
        return read_word(r, text);
    r->at = p;
    r->need_comma = true;
    *text = (struct json_text){start, (size_t)(p - start)};
    return true;
}

bool json_expect_end(struct json_reader *r)
{
    if (r->state != JSON_OK)
        return false;
    enum json_type next = json_peek(r);
    if (r->state == JSON_END)
        r->state = JSON_OK; /* whoever reads on will meet the end again */
    return (next == JSON_NONE && r->state == JSON_OK) || json_fail(r, r->at);
}

bool json_read_scalar(struct json_reader *r, struct json_text *text)
{
    switch (json_peek(r)) {
    case JSON_STRING:
        return json_read_string(r, text);
    case JSON_WORD:
        return json_read_word(r, text);
    default:
        *text = (struct json_text){"", 0};
        return json_skip(r);
    }
}

bool json_read_raw(struct json_reader *r, struct json_text *raw)
{
    if (json_peek(r) == JSON_NONE)
        return json_fail(r, r->at);
    const char *start = r->at;
    if (!json_skip(r))
        return false;
    *raw = (struct json_text){start, (size_t)(r->at - start)};
    return true;
}

bool json_read_text(struct json_reader *r, struct json_text *text)
{
    if (*r->at >= '0' && *r->at <= '9')
        return json_read_word(r, text);
    switch (json_peek(r)) {
    case JSON_STRING:
        return json_read_string(r, text);
    case JSON_WORD:
        return json_read_word(r, text);
    default:
        return json_read_raw(r, text);
    }
}

/* ---- skipping ------------------------------------------------------------------------------------------ */

/* What may stand beside a string: anything else means that its quotes were not the ones that we took them
 * for. */
static inline bool may_precede_string(char c)
{
    return c == ' ' || c == ',' || c == ':' || c == '[' || c == '{' || c == '\n' || c == '\t' || c == '\r';
}

static inline bool may_follow_string(char c)
{
    return c == ',' || c == ':' || c == ']' || c == '}';
}

/* Passes the string whose opening quote is at *p, and what follows up to the next byte that is no blank. */
static inline bool skip_string(struct json_reader *r, const char **p)
{
    if (*p > r->origin && !may_precede_string((*p)[-1]))
        return json_fail(r, *p);
    const char *start = *p + 1;
    *p = start;
    bool escaped = false;
    unsigned high = 0;
    if (!string_end(r, &start, p, true, &escaped, &high))
        return false;
    ++*p;
    if (may_follow_string(**p))
        return true;
    if (!pass_blank(r, p, p))
        return false;
    return may_follow_string(**p) || json_fail(r, *p);
}

/* Opens or closes a container at the bracket at p. */
static inline bool skip_bracket(struct json_reader *r, const char *p)
{
    if (*p == '{' || *p == '[') {
        if (r->depth >= r->max_depth)
            return json_fail(r, p);
        json_push(r, *p == '[');
        return true;
    }
    if (*p == '\0' || json_in_array(r) != (*p == ']'))
        return json_fail(r, p);
    r->depth--;
    return true;
}

/* Passes everything until depth containers are open. */
static bool skip_to_depth(struct json_reader *r, int depth)
{
    const char *p = r->at;
    while (r->depth > depth) {
        unsigned stops = json_structure_mask(p);
        const char *block = p;
        p += 16;
        for (; stops; stops &= stops - 1) {
            const char *stop = block + __builtin_ctz(stops);
            if (stop >= r->end) {
                p = r->end;
                if (!json_more(r, &p, &p))
                    return false;
                break;
            }
            if (*stop == '"') {
                p = stop;
                if (!skip_string(r, &p))
                    return false;
                break;
            }
            if (!skip_bracket(r, stop))
                return false;
            if (r->depth == depth) {
                p = stop + 1;
                break;
            }
        }
    }
    r->at = p;
    r->need_comma = true;
    return true;
}

bool json_skip_rest(struct json_reader *r)
{
    if (r->state != JSON_OK)
        return false;
    return r->lenient ? json_lenient_skip(r, r->depth - 1) : skip_to_depth(r, r->depth - 1);
}

/* A string at depth 0 has nothing behind it, so that skip_string()'s check does not fit. */
bool json_skip(struct json_reader *r)
{
    struct json_text text;
    int depth = r->depth;
    if (*r->at >= '0' && *r->at <= '9')
        return json_read_word(r, &text);
    switch (json_peek(r)) {
    case JSON_STRING:
        return json_read_string(r, &text);
    case JSON_WORD:
        return json_read_word(r, &text);
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (!json_enter(r, *r->at == '{' ? JSON_OBJECT : JSON_ARRAY))
            return false;
        return r->lenient ? json_lenient_skip(r, depth) : skip_to_depth(r, depth);
    default:
        return json_fail(r, r->at);
    }
}
