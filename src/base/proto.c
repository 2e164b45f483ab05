#include "base/proto.h"

#include <stdlib.h>

#include "base/mem.h"

enum { VARINT_MAX = 10, TAG_TYPE_BITS = 3, FIELD_NUMBER_MAX = (1 << 29) - 1 };

/* ---- writing ------------------------------------------------------------------------------------------- */

static size_t varint_encode(unsigned char out[VARINT_MAX], uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        out[n++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    out[n++] = (unsigned char)value;
    return n;
}

static void put_varint(struct str *out, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    str_add(out, (const char *)bytes, varint_encode(bytes, value));
}

static void put_tag(struct str *out, uint32_t field, enum proto_type type)
{
    put_varint(out, (uint64_t)field << TAG_TYPE_BITS | type);
}

void proto_put_uint(struct str *out, uint32_t field, uint64_t value)
{
    unsigned char bytes[2 * VARINT_MAX];
    size_t n = varint_encode(bytes, (uint64_t)field << TAG_TYPE_BITS | PROTO_VARINT);
    n += varint_encode(bytes + n, value);
    str_add(out, (const char *)bytes, n);
}

void proto_put_int(struct str *out, uint32_t field, int64_t value)
{
    proto_put_uint(out, field, (uint64_t)value);
}

void proto_put_fixed64(struct str *out, uint32_t field, uint64_t value)
{
    unsigned char bytes[sizeof value];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put_tag(out, field, PROTO_FIXED64);
    str_add(out, (const char *)bytes, sizeof bytes);
}

void proto_put_double(struct str *out, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto_put_fixed64(out, field, bits);
}

void proto_put_bytes(struct str *out, uint32_t field, const void *data, size_t length)
{
    put_tag(out, field, PROTO_BYTES);
    put_varint(out, length);
    str_add(out, data, length);
}

void proto_put_text(struct str *out, uint32_t field, const char *text)
{
    proto_put_bytes(out, field, text, strlen(text));
}

size_t proto_open(struct str *out, uint32_t field)
{
    put_tag(out, field, PROTO_BYTES);
    str_putc(out, 0);
    return out->len;
}

/* Most bodies are shorter than 128 bytes, so one byte is kept for the length; longer ones move up. */
void proto_close(struct str *out, size_t mark)
{
    unsigned char bytes[VARINT_MAX];
    size_t length = out->len - mark;
    size_t n = varint_encode(bytes, length);
    if (n > 1) {
        str_pad(out, 0, n - 1);
        memmove(out->ptr + mark + n - 1, out->ptr + mark, length);
    }
    memcpy(out->ptr + mark - 1, bytes, n);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_varint(struct proto *message, uint64_t *value)
{
    const unsigned char *at = message->at;
    uint64_t result = 0;
    for (int shift = 0; shift < 7 * VARINT_MAX; shift += 7) {
        if (at == message->end)
            return false;
        unsigned char byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            message->at = at;
            *value = result;
            return true;
        }
    }
    return false;
}

static bool read_fixed(struct proto *message, size_t size, uint64_t *value)
{
    if ((size_t)(message->end - message->at) < size)
        return false;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)message->at[i] << 8 * i;
    message->at += size;
    return true;
}

bool proto_next_header(struct proto *message, struct proto_field *field)
{
    uint64_t tag, length = 0;
    if (!read_varint(message, &tag) || tag >> TAG_TYPE_BITS == 0 || tag >> TAG_TYPE_BITS > FIELD_NUMBER_MAX)
        return false;
    *field = (struct proto_field){.number = (uint32_t)(tag >> TAG_TYPE_BITS),
                                  .type = (enum proto_type)(tag & ((1 << TAG_TYPE_BITS) - 1))};
    if (field->type == PROTO_BYTES && !read_varint(message, &length))
        return false;
    field->length = (size_t)length;
    return true;
}

static bool read_field(struct proto *message, struct proto_field *field)
{
    if (!proto_next_header(message, field))
        return false;
    switch (field->type) {
    case PROTO_VARINT:
        return read_varint(message, &field->value);
    case PROTO_FIXED64:
        return read_fixed(message, 8, &field->value);
    case PROTO_FIXED32:
        return read_fixed(message, 4, &field->value);
    case PROTO_BYTES:
        if (field->length > (size_t)(message->end - message->at))
            return false;
        field->data = message->at;
        message->at += field->length;
        return true;
    default:
        return false;
    }
}

bool proto_next(struct proto *message, struct proto_field *field)
{
    if (message->at == message->end)
        return false;
    struct proto ahead = *message;
    if (!read_field(&ahead, field)) {
        message->damaged = true;
        return false;
    }
    message->at = ahead.at;
    return true;
}

bool proto_next_packed(struct proto *message, uint64_t *value)
{
    if (message->at == message->end)
        return false;
    if (read_varint(message, value))
        return true;
    message->damaged = true;
    return false;
}

/* ---- a message that arrives as a stream
 * --------------------------------------------------------------------- */

enum { STREAM_CHUNK = 64 * 1024, HEADER_MAX = 2 * VARINT_MAX };

static size_t buffered(const struct proto_stream *s)
{
    return s->filled - s->start;
}

/* Reads on until `want` bytes are buffered or the input ends. */
static int fill(struct proto_stream *s, size_t want, struct err *err)
{
    if (s->start > 0 && s->start + want > s->cap) {
        memmove(s->buffer, s->buffer + s->start, buffered(s));
        s->filled -= s->start;
        s->start = 0;
    }
    while (buffered(s) < want && !s->at_end) {
        if (s->filled == s->cap) {
            /* Grows with what has really arrived: a length in the file alone allocates nothing. */
            s->cap = s->cap ? s->cap * 2 : STREAM_CHUNK;
            s->buffer = mem_resize(s->buffer, s->cap, 1);
        }
        int64_t got = stream_read(s->in, s->buffer + s->filled, s->cap - s->filled, err);
        if (got < 0)
            return (int)got;
        s->at_end = got == 0;
        s->filled += (size_t)got;
    }
    return 0;
}

static void consume(struct proto_stream *s, size_t length)
{
    s->start += length;
    s->position += (int64_t)length;
    if (s->start == s->filled)
        s->start = s->filled = 0;
}

/* Drops length bytes of input; false if it ends before. */
static int skip(struct proto_stream *s, uint64_t length, bool *complete, struct err *err)
{
    while (length > 0) {
        if (buffered(s) == 0) {
            int failed = fill(s, 1, err);
            if (failed)
                return failed;
            if (buffered(s) == 0)
                break;
        }
        size_t here = length < buffered(s) ? (size_t)length : buffered(s);
        consume(s, here);
        length -= here;
    }
    *complete = length == 0;
    return 0;
}

static int stop(struct proto_stream *s, bool damaged, struct err *err)
{
    bool complete;
    int64_t from = s->position;
    int failed = skip(s, UINT64_MAX, &complete, err);
    s->truncated_bytes = s->position - from;
    s->damaged = damaged;
    return failed;
}

int proto_stream_next(struct proto_stream *s, struct proto_field *field, struct err *err)
{
    for (;;) {
        int failed = fill(s, HEADER_MAX, err);
        if (failed || buffered(s) == 0)
            return failed;
        struct proto ahead = proto_message(s->buffer + s->start, buffered(s));
        if (!proto_next_header(&ahead, field))
            return stop(s, buffered(s) >= HEADER_MAX, err);
        size_t header = (size_t)(ahead.at - (s->buffer + s->start));
        if (field->type == PROTO_BYTES &&
            (field->length > s->max_length || field->length > PTRDIFF_MAX / 2)) {
            bool complete;
            int64_t from = s->position;
            uint64_t length = field->length;
            consume(s, header);
            failed = skip(s, length, &complete, err);
            if (failed)
                return failed;
            if (!complete) {
                s->truncated_bytes = s->position - from;
                return 0;
            }
            s->skipped++;
            continue;
        }
        failed = fill(s, header + field->length, err);
        if (failed)
            return failed;
        struct proto whole = proto_message(s->buffer + s->start, buffered(s));
        if (!read_field(&whole, field))
            return stop(s, field->type != PROTO_BYTES && buffered(s) >= HEADER_MAX, err);
        s->offset = s->position;
        consume(s, (size_t)(whole.at - (s->buffer + s->start)));
        return 1;
    }
}

void proto_stream_release(struct proto_stream *s)
{
    free(s->buffer);
    s->buffer = NULL;
}
