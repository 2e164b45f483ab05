/* Protocol Buffers wire format, written and read without a schema: the field numbers live with whoever knows
 * the message. Format: protobuf.dev/programming-guides/encoding.
 *
 * The writer appends to a struct str. The reader walks the fields of a message that lies in memory, copies
 * nothing and never reads past the end, whatever the bytes are; groups (wire types 3 and 4, long deprecated)
 * count as damage. */
#ifndef WARPLIGHT_BASE_PROTO_H
#define WARPLIGHT_BASE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "base/stream.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

void proto_put_uint(struct str *out, uint32_t field, uint64_t value);
/* int32, int64 and enum fields: negative numbers take ten bytes. */
void proto_put_int(struct str *out, uint32_t field, int64_t value);
void proto_put_fixed64(struct str *out, uint32_t field, uint64_t value);
void proto_put_double(struct str *out, uint32_t field, double value);
/* bytes, string and finished submessages */
void proto_put_bytes(struct str *out, uint32_t field, const void *data, size_t length);
void proto_put_text(struct str *out, uint32_t field, const char *text);
/* What is added between proto_open() and proto_close() is the body of a submessage. Messages nest; each is
 * closed with the mark that opened it, innermost first. */
size_t proto_open(struct str *out, uint32_t field);
void proto_close(struct str *out, size_t mark);

/* ---- reading ------------------------------------------------------------------------------------------- */

enum proto_type { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
    uint32_t number;
    enum proto_type type;
    uint64_t value;            /* varint and fixed types */
    const unsigned char *data; /* PROTO_BYTES; lives as long as the message */
    size_t length;
};

struct proto {
    const unsigned char *at;
    const unsigned char *end;
    bool damaged; /* set when the bytes at `at` are no field */
};

static inline struct proto proto_message(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    return (struct proto){.at = bytes, .end = length ? bytes + length : bytes};
}
/* The submessage that a PROTO_BYTES field holds; empty for the other types. */
static inline struct proto proto_inside(const struct proto_field *field)
{
    return proto_message(field->data, field->length);
}
/* Reads the next field. False at the end of the message and at damage. */
bool proto_next(struct proto *message, struct proto_field *field);
/* Reads only the number, type and, of PROTO_BYTES, the length of the next field: for a message whose end is
 * missing. message->at is then its value or first data byte. */
bool proto_next_header(struct proto *message, struct proto_field *field);
/* Reads the next element of a packed repeated varint field, whose bytes are the message. */
bool proto_next_packed(struct proto *message, uint64_t *value);

static inline double proto_double(const struct proto_field *field)
{
    double value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}
/* sint32 and sint64 fields. */
static inline int64_t proto_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* ---- a message that arrives as a stream
 * --------------------------------------------------------------------- */

/* The top-level fields of a message, one at a time, in memory bounded by the longest field allowed.
 * Zeroed except in and max_length; proto_stream_release() frees the buffer and leaves in open. */
struct proto_stream {
    struct stream *in;
    size_t max_length;       /* longer PROTO_BYTES fields are skipped */
    int64_t offset;          /* of the field returned last, in the decompressed input */
    int64_t skipped;         /* fields longer than max_length */
    int64_t truncated_bytes; /* at the end, after the last complete field */
    bool damaged;            /* the truncated bytes are no beginning of a field either */
    /* private */
    unsigned char *buffer;
    size_t start, filled, cap;
    int64_t position; /* of buffer[start] in the decompressed input */
    bool at_end;
};

/* Returns 1 and a field that is valid until the next call, 0 at the end or where the bytes stop making sense
 * (truncated_bytes and damaged tell), or a negative code when the input cannot be read. */
int proto_stream_next(struct proto_stream *s, struct proto_field *field, struct err *err);
void proto_stream_release(struct proto_stream *s);

#endif
