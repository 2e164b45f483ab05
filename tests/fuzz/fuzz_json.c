/* The JSON reader in its three uses: a walk over any document, records in holds, and resynchronising after
 * damage. The first byte of the input chooses the use and the size of the window. */
#include "fuzz.h"

#include <string.h>

#include "base/json.h"

static unsigned touched; /* makes the sanitizer look at every byte that is handed out */

static void touch(struct json_text text)
{
    for (size_t i = 0; i < text.length; i++)
        touched += (unsigned char)text.at[i];
    int64_t integer;
    uint64_t natural;
    double number;
    if (json_to_int(text, &integer) && text.at[0] != '-')
        FUZZ_CHECK(json_to_uint(text, &natural) && natural == (uint64_t)integer);
    if (json_to_double(text, &number))
        FUZZ_CHECK(number - number == 0); /* finite */
}

static void walk(struct json_reader *r)
{
    struct json_text text;
    switch (json_peek(r)) {
    case JSON_STRING:
        if (json_read_string(r, &text))
            touch(text);
        break;
    case JSON_WORD:
        if (json_read_word(r, &text))
            touch(text);
        break;
    case JSON_OBJECT:
        for (bool more = json_enter(r, JSON_OBJECT); more && json_next_key(r, &text);) {
            bool skip = text.length % 5 == 4;
            touch(text);
            if (skip)
                json_skip(r);
            else
                walk(r);
        }
        break;
    case JSON_ARRAY:
        for (bool more = json_enter(r, JSON_ARRAY); more && json_next_item(r);)
            walk(r);
        break;
    case JSON_NONE:
        break;
    }
}

static const char *const record_keys[] = {"ph", "name", NULL};
static const char *const list_keys[] = {"traceEvents", NULL};
static const struct json_landmarks landmarks = {record_keys, list_keys};

static void read_record(struct json_reader *r)
{
    struct json_text key, value;
    if (!json_enter(r, JSON_OBJECT))
        return;
    while (json_next_key(r, &key)) {
        if (json_text_is(key, "args") ? json_read_raw(r, &value) : json_read_scalar(r, &value)) {
            touch(key);
            touch(value);
        }
    }
}

static void hold_record(struct json_reader *r)
{
    do {
        json_hold(r);
        read_record(r);
    } while (json_retry(r));
}

/* As an importer of a damaged trace does: record by record, and on to the next place that looks like one. */
static void read_records(struct json_reader *r, size_t size)
{
    if (!(json_peek(r) == JSON_ARRAY ? json_enter(r, JSON_ARRAY)
                                     : json_seek(r, &landmarks, 0) && json_assume(r, JSON_ARRAY)))
        return;
    int depth = r->depth;
    int64_t before = -1;
    for (size_t tries = 0; tries <= size; tries++) {
        if (json_next_item(r)) {
            FUZZ_CHECK(json_offset(r) > before); /* every record is farther on: no endless loop */
            before = json_offset(r);
            hold_record(r);
            if (r->state != JSON_OK && json_lenient(r, &landmarks)) {
                hold_record(r);
                json_strict(r);
            }
        } else if (r->state == JSON_OK) {
            return;
        }
        if (r->state != JSON_OK && !json_seek(r, &landmarks, depth))
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct stream *in;
    struct err err = {0};
    if (stream_open_memory(&in, "fuzz", data + 1, size - 1, &err) < 0)
        return 0;
    struct json_limits limits = {
        .max_string_bytes = data[0] & 0x10 ? 64 : 0,
        .max_depth = data[0] & 0x20 ? 8 : 0,
        .window_bytes = data[0] & 0x40 ? 32 : 0,
    };
    struct json_reader r;
    json_open(&r, in, &limits, &err);
    if (data[0] & 1)
        read_records(&r, size);
    else
        walk(&r);
    FUZZ_CHECK(json_offset(&r) >= 0);
    json_close(&r);
    stream_close(in);
    return 0;
}
