#include "base/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/time.h"
#include "base/utf8.h"

static void new_line(struct json_writer *w)
{
    if (w->indent <= 0)
        return;
    str_putc(w->out, '\n');
    str_pad(w->out, ' ', (size_t)w->indent * (size_t)w->depth);
}

/* What stands before a key, an array item or a value of the top level. */
static void begin_item(struct json_writer *w)
{
    if (w->depth == 0)
        return;
    if (w->has_items[w->depth])
        str_putc(w->out, ',');
    w->has_items[w->depth] = true;
    new_line(w);
}

static void begin_value(struct json_writer *w)
{
    assert(w->in_object[w->depth] == w->after_key);
    if (!w->after_key)
        begin_item(w);
    w->after_key = false;
}

static void container_begin(struct json_writer *w, char bracket, bool object)
{
    begin_value(w);
    str_putc(w->out, bracket);
    assert(w->depth + 1 < JSON_WRITE_DEPTH);
    if (w->depth + 1 < JSON_WRITE_DEPTH)
        w->depth++;
    w->has_items[w->depth] = false;
    w->in_object[w->depth] = object;
}

static void container_end(struct json_writer *w, char bracket, bool object)
{
    assert(w->depth > 0 && w->in_object[w->depth] == object && !w->after_key);
    (void)object;
    bool had_items = w->has_items[w->depth];
    if (w->depth > 0)
        w->depth--;
    if (had_items)
        new_line(w);
    str_putc(w->out, bracket);
}

/* The escape of a byte below 0x80 that may not stand in a string as it is. */
static void add_escape(struct str *out, unsigned char byte)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; named[i]; i += 2) {
        if ((unsigned char)named[i] == byte) {
            str_add(out, (char[]){'\\', named[i + 1]}, 2);
            return;
        }
    }
    str_addf(out, "\\u%04x", byte);
}

static size_t plain_run(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && text[at] >= 0x20 && text[at] < 0x7f && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

static void add_quoted(struct str *out, const char *text, size_t length)
{
    str_putc(out, '"');
    for (size_t at = 0, used; at < length; at += used) {
        used = plain_run(text + at, length - at);
        if (used > 0) {
            str_add(out, text + at, used);
            continue;
        }
        uint32_t code = utf8_decode(text + at, length - at, &used);
        if (code < 0x80)
            add_escape(out, (unsigned char)code);
        else
            utf8_add(out, code);
    }
    str_putc(out, '"');
}

void json_key(struct json_writer *w, const char *key)
{
    assert(w->in_object[w->depth] && !w->after_key);
    begin_item(w);
    add_quoted(w->out, key, strlen(key));
    str_puts(w->out, w->indent > 0 ? ": " : ":");
    w->after_key = true;
}

void json_object_begin(struct json_writer *w)
{
    container_begin(w, '{', true);
}

void json_object_end(struct json_writer *w)
{
    container_end(w, '}', true);
}

void json_array_begin(struct json_writer *w)
{
    container_begin(w, '[', false);
}

void json_array_end(struct json_writer *w)
{
    container_end(w, ']', false);
}

void json_string(struct json_writer *w, const char *text, size_t length)
{
    begin_value(w);
    add_quoted(w->out, text, length);
}

void json_puts(struct json_writer *w, const char *text)
{
    json_string(w, text, strlen(text));
}

void json_int(struct json_writer *w, int64_t value)
{
    begin_value(w);
    if (value == UNKNOWN)
        str_puts(w->out, "null");
    else
        number_add_int(w->out, value);
}

void json_uint(struct json_writer *w, uint64_t value)
{
    begin_value(w);
    number_add_uint(w->out, value, 1);
}

void json_decimal(struct json_writer *w, int64_t value, int decimals)
{
    begin_value(w);
    if (value < 0)
        str_putc(w->out, '-');
    number_add_uint(w->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, decimals + 1);
    if (decimals <= 0)
        return;
    str_putc(w->out, '0'); /* room for the point */
    char *point = w->out->ptr + w->out->len - 1 - decimals;
    memmove(point + 1, point, (size_t)decimals);
    *point = '.';
}

void json_double(struct json_writer *w, double value)
{
    begin_value(w);
    if (isfinite(value))
        number_add_double(w->out, value);
    else
        str_puts(w->out, "null");
}

void json_bool(struct json_writer *w, bool value)
{
    begin_value(w);
    str_puts(w->out, value ? "true" : "false");
}

void json_null(struct json_writer *w)
{
    begin_value(w);
    str_puts(w->out, "null");
}

void json_key_int(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_int(w, value);
}

void json_key_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    if (text)
        json_puts(w, text);
    else
        json_null(w);
}
