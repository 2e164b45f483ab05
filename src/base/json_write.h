/* Strict JSON output: escaped and UTF-8-repaired strings, integers as integers, shortest doubles that round
 * trip, null for NaN and infinity, no locale. Keeps track of commas and nesting; wrong nesting is a bug and
 * aborts in debug builds. */
#ifndef WARPLIGHT_BASE_JSON_WRITE_H
#define WARPLIGHT_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { JSON_WRITE_DEPTH = 32 };

/* Zeroed except out: compact output into out. indent > 0: pretty, that many blanks a level. Drain and
 * str_cut() out whenever it suits; the writer only appends. Several values at the top level follow each other
 * with nothing between: add a line end for JSON lines. */
struct json_writer {
    struct str *out;
    int indent;
    int depth;
    bool has_items[JSON_WRITE_DEPTH];
    bool in_object[JSON_WRITE_DEPTH]; /* rather than in an array or at the top */
    bool after_key;
};

/* Inside an object every value is preceded by json_key(). */
void json_key(struct json_writer *w, const char *key);
void json_object_begin(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array_begin(struct json_writer *w);
void json_array_end(struct json_writer *w);
void json_string(struct json_writer *w, const char *text, size_t length);
void json_puts(struct json_writer *w, const char *text);
void json_int(struct json_writer *w, int64_t value); /* UNKNOWN is written as null */
void json_uint(struct json_writer *w, uint64_t value);
/* value × 10^-decimals, exactly: json_decimal(w, 1234567, 3) writes 1234.567. */
void json_decimal(struct json_writer *w, int64_t value, int decimals);
void json_double(struct json_writer *w, double value); /* NaN and infinity are written as null */
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
/* A key with its value. NULL is written as null. */
void json_key_int(struct json_writer *w, const char *key, int64_t value);
void json_key_text(struct json_writer *w, const char *key, const char *text);

#endif
