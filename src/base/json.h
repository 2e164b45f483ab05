/* Streaming pull reader of JSON (RFC 8259), and of what programs write in its place.
 *
 * The reader slides a window over a struct stream; memory does not grow with the input. Texts that it yields
 * lie in that window: they stay valid until the next call, or, inside a hold (below), until the hold ends.
 *
 *     while (json_next_key(r, &key))                   members of the object that json_enter() opened
 *         if (json_text_is(key, "id"))
 *             json_read_scalar(r, &value);
 *         else
 *             json_skip(r);
 *
 * Errors are sticky: once r->state is not JSON_OK every call returns false at once, so one check at the end
 * of a record is enough.
 *
 * Oddities that leave no doubt about what is meant (NaN, trailing commas, raw control characters, …) are
 * accepted and counted. Two more things are at the caller's service because they need to know the format:
 * json_lenient() reads a record whose strings hold unescaped quotes, json_seek() resynchronises after damage.
 */
#ifndef WARPLIGHT_BASE_JSON_H
#define WARPLIGHT_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/stream.h"

enum {
    JSON_DEPTH_DEFAULT = 512,
    JSON_DEPTH_MAX = 4096,
    JSON_STRING_DEFAULT = 64 << 20,
};

/* Bytes in the window, in the decoder's memory, or in a literal. Not NUL-terminated; may hold NUL and bytes
 * that are not UTF-8. */
struct json_text {
    const char *at;
    size_t length;
};

enum json_type {
    JSON_NONE = 0, /* the container ends here, or there is nothing to read */
    JSON_STRING = '"',
    JSON_OBJECT = '{',
    JSON_ARRAY = '[',
    JSON_WORD = 'w', /* number, true, false, null, and the words that stand for them elsewhere */
};

enum json_state {
    JSON_OK,
    JSON_MORE, /* the held record goes on behind the window: json_retry() */
    JSON_BAD,  /* this is not JSON */
    JSON_END,  /* the input ends inside a value, or failed: see json_failed() */
};

enum json_oddity {
    JSON_ODD_BOM,
    JSON_ODD_COMMA,
    JSON_ODD_WORD,
    JSON_ODD_CONTROL,
    JSON_ODD_ESCAPE,
    JSON_ODD_UTF8,
    JSON_ODD_CUT,
    JSON_ODD_COUNT,
};

struct json_odd {
    int64_t count;
    int64_t first_offset;
};

struct json_limits {         /* zeroed: the defaults */
    size_t max_string_bytes; /* longer strings are cut there and counted (JSON_ODD_CUT) */
    int max_depth;
    size_t window_bytes; /* first size of the window (512 KiB); for tests */
};

struct json_reader {
    const char *at;  /* next unread byte */
    const char *end; /* end of the bytes in the window; zeros follow */
    enum json_state state;
    bool need_comma; /* a value stands before `at` */
    bool held;
    bool lenient;
    bool eof;
    bool snapshot; /* odd_before is set */
    int depth;
    int max_depth;
    uint64_t arrays[JSON_DEPTH_MAX / 64]; /* bit d: level d is an array, not an object */
    /* the hold; offsets are from origin */
    size_t hold;
    int hold_depth;
    bool hold_comma;
    bool hold_failed; /* the hold is over, the record was not understood, and nothing was read since */
    /* the window */
    struct stream *in;
    struct err *err;
    const char *origin; /* first byte in memory */
    char *window;       /* the same, where this reader owns the memory */
    size_t cap;         /* without padding */
    size_t max_cap;
    size_t max_string;
    int64_t base;   /* offset of origin in the decompressed input */
    size_t partial; /* content of the string that ran into the end of the window, or SIZE_MAX */
    size_t cut_at;  /* bytes from here on lie cut_bytes farther in the input */
    int64_t cut_bytes;
    const char *full_end; /* lenient: the end that `end` stands in for */
    int fail_code;        /* of stream_read() */
    /* decoded strings */
    char *decoded;
    size_t decoded_len, decoded_cap;
    struct json_odd odd[JSON_ODD_COUNT];
    struct json_odd odd_before[JSON_ODD_COUNT]; /* as the hold began */
};

/* Reads in from its current position. in, and err (which may be NULL), must outlive the reader. */
void json_open(struct json_reader *r, struct stream *in, const struct json_limits *limits, struct err *err);
/* Reads one value that lies in memory, such as a text from json_read_raw(). Nothing is copied. */
void json_open_text(struct json_reader *r, struct json_text text);
void json_close(struct json_reader *r);

/* ---- values -------------------------------------------------------------------------------------------- */

/* The type of the next value; consumes blanks only. */
enum json_type json_peek_far(struct json_reader *r);
static inline enum json_type json_peek(struct json_reader *r)
{
    switch (*r->at) { /* the long way where the type alone does not tell the answer */
    case '"':
    case '{':
    case '[':
        return r->state == JSON_OK ? (enum json_type) * r->at : JSON_NONE;
    default:
        return json_peek_far(r);
    }
}
/* Opens the container that comes next; any other value is JSON_BAD. */
bool json_enter(struct json_reader *r, enum json_type type);
/* As json_enter() where that is what comes next; any other value is passed over. Whether it was entered. */
bool json_enter_if(struct json_reader *r, enum json_type type);
/* As json_enter(), for an opening bracket that is not there. */
bool json_assume(struct json_reader *r, enum json_type type);
/* Next member of the open object: the key, with the reader at its value. At the object's end closes it and
 * returns false. */
bool json_next_key(struct json_reader *r, struct json_text *key);
/* Next element of the open array. At its end closes it and returns false. */
bool json_next_item(struct json_reader *r);
/* Reads a string, decoded. */
bool json_read_string(struct json_reader *r, struct json_text *text);
/* Reads a number, literal or look-alike as its bytes. */
bool json_read_word(struct json_reader *r, struct json_text *text);
/* Reads a string or a word; a container is skipped and gives an empty text. */
bool json_read_scalar(struct json_reader *r, struct json_text *text);
/* Passes over any value and yields its bytes as they stand, quotes and brackets included. Only inside a hold.
 */
bool json_read_raw(struct json_reader *r, struct json_text *raw);
/* A string decoded, a word as its bytes, a container raw. Only inside a hold. */
bool json_read_text(struct json_reader *r, struct json_text *text);
/* Checks that no further value follows directly: else the value just read ended too early (a quote inside a
 * text). */
bool json_expect_end(struct json_reader *r);
/* Passes over any value, in constant memory unless held. */
bool json_skip(struct json_reader *r);
/* Passes over what is left of the open container and closes it. */
bool json_skip_rest(struct json_reader *r);

/* Byte offset of the reader in the decompressed input. */
int64_t json_offset(const struct json_reader *r);
/* 0, or the negative code with which reading the stream failed; err is filled. */
int json_failed(const struct json_reader *r);
/* English msgid that says what was met and accepted. */
const char *json_oddity_text(enum json_oddity oddity);

/* ---- records ------------------------------------------------------------------------------------------- */

/* Keeps everything from here on in the window, so that the texts of a whole record are valid together:
 *
 *     do {
 *         json_hold(r);
 *         …read one value…
 *     } while (json_retry(r));
 *
 * A record that reaches beyond the window is read again once there is more of it; a record larger than the
 * string limit and two windows is JSON_BAD. When json_retry() returns false the state tells how the record
 * ended; its texts stay valid until the next call. After JSON_BAD or JSON_END use json_lenient() or
 * json_seek(). */
void json_hold(struct json_reader *r);
bool json_retry(struct json_reader *r);

/* What is easily told apart from everything else: objects whose first key is one of objects, and members
 * whose key is one of members. Each list ends with NULL; a NULL list is empty. */
struct json_landmarks {
    const char *const *objects;
    const char *const *members;
};

/* After a hold ended in JSON_BAD or JSON_END: goes back to the start of the record and makes strings end only
 * at a quote that what follows confirms (a closing bracket, or a comma and the next member). Reads no farther
 * than the next landmark, or the end of input. Returns false if that lies too far off to try. Everything that
 * is read until json_strict() is lenient. */
bool json_lenient(struct json_reader *r, const struct json_landmarks *landmarks);
void json_strict(struct json_reader *r);

/* Clears the error and goes forward, in constant memory, to the next landmark: to the brace of an object, or
 * to the quote before a member's key, with depth containers open. After a failed hold the search starts
 * behind the first byte of the record, else here. False if there is no landmark: the reader is then at the
 * end of the input, in state JSON_END. */
bool json_seek(struct json_reader *r, const struct json_landmarks *landmarks, int depth);

/* ---- texts --------------------------------------------------------------------------------------------- */

static inline bool json_text_is(struct json_text text, const char *literal)
{
    size_t length = strlen(literal);
    return text.length == length && memcmp(text.at, literal, length) == 0;
}

/* Whole decimal integers; false if the text is anything else or does not fit. */
bool json_to_int(struct json_text text, int64_t *value);
bool json_to_uint(struct json_text text, uint64_t *value);
/* Any decimal number, whatever the locale; NaN and infinities are false. Correct to about one unit in the
 * last place. */
bool json_to_double(struct json_text text, double *value);

#endif
