/* The wire format of Protocol Buffers, both ways, and what the readers do with bytes that are none. */
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/proto.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

static void encodings_are_those_of_the_specification(void **state)
{
    (void)state;
    struct str out = {0};
    proto_put_uint(&out, 1, 150);
    proto_put_text(&out, 2, "testing");
    proto_put_fixed64(&out, 3, 1);
    proto_put_int(&out, 16, -1);
    /* protobuf.dev/programming-guides/encoding, "A Simple Message" and following */
    static const unsigned char expected[] = {
        0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67, 0x19, 1,    0,    0,    0,
        0,    0,    0,    0,    0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
    };
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.ptr, expected, sizeof expected);
    str_release(&out);
}

static void submessages_get_the_shortest_length_whatever_their_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct str opened = {0}, put = {0}, body = {0};
        str_pad(&body, 'x', sizes[i]);
        size_t outer = proto_open(&opened, 1);
        size_t inner = proto_open(&opened, 2);
        str_add(&opened, str_text(&body), body.len);
        proto_close(&opened, inner);
        proto_close(&opened, outer);
        proto_put_bytes(&put, 2, str_text(&body), body.len);
        str_cut(&body, 0);
        proto_put_bytes(&body, 1, put.ptr, put.len);
        assert_int_equal(opened.len, body.len);
        assert_memory_equal(opened.ptr, body.ptr, body.len);
        str_release(&opened);
        str_release(&put);
        str_release(&body);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void every_type_reads_back(void **state)
{
    (void)state;
    struct str out = {0};
    proto_put_uint(&out, 1, UINT64_MAX);
    proto_put_int(&out, 2, INT64_MIN);
    proto_put_double(&out, 3, -0.1);
    proto_put_fixed64(&out, 4, 0x0102030405060708);
    str_add(&out, "\x2d\x01\x02\x03\x04", 5); /* field 5, fixed32 */
    proto_put_text(&out, (1 << 29) - 1, "last");
    struct proto message = proto_message(out.ptr, out.len);
    struct proto_field field;
    assert_true(proto_next(&message, &field) && field.number == 1 && field.value == UINT64_MAX);
    assert_true(proto_next(&message, &field) && (int64_t)field.value == INT64_MIN);
    assert_true(proto_next(&message, &field) && field.type == PROTO_FIXED64 && proto_double(&field) == -0.1);
    assert_true(proto_next(&message, &field) && field.value == 0x0102030405060708);
    assert_true(proto_next(&message, &field) && field.type == PROTO_FIXED32 && field.value == 0x04030201);
    assert_true(proto_next(&message, &field) && field.number == (1 << 29) - 1 && field.length == 4);
    assert_memory_equal(field.data, "last", 4);
    assert_false(proto_next(&message, &field));
    assert_false(message.damaged);
    str_release(&out);
}

static void packed_numbers_and_zigzag_read_back(void **state)
{
    (void)state;
    struct proto packed = proto_message("\x03\x8e\x02\x9e\xa7\x05", 6); /* the specification's example */
    uint64_t value;
    assert_true(proto_next_packed(&packed, &value) && value == 3);
    assert_true(proto_next_packed(&packed, &value) && value == 270);
    assert_true(proto_next_packed(&packed, &value) && value == 86942);
    assert_false(proto_next_packed(&packed, &value));
    assert_false(packed.damaged);
    assert_int_equal(proto_zigzag(0), 0);
    assert_int_equal(proto_zigzag(1), -1);
    assert_int_equal(proto_zigzag(UINT64_MAX), INT64_MIN);
}

static void assert_damaged(const char *bytes, size_t length)
{
    /* In a block of its own, so that a sanitizer sees a byte read too much. */
    char *copy = malloc(length ? length : 1);
    struct proto_field field;
    memcpy(copy, bytes, length);
    struct proto message = proto_message(copy, length);
    assert_false(proto_next(&message, &field));
    assert_true(message.damaged);
    assert_ptr_equal(message.at, copy);
    free(copy);
}

static void damage_is_told_from_the_end(void **state)
{
    (void)state;
    assert_damaged("\x08", 1);                                              /* no value */
    assert_damaged("\x08\x80", 2);                                          /* half a varint */
    assert_damaged("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12); /* a varint of 11 bytes */
    assert_damaged("\x00\x01", 2);                                          /* field 0 */
    assert_damaged("\x0b\x0c", 2);                                          /* a group */
    assert_damaged("\x0e\x01", 2);                                          /* wire type 6 */
    assert_damaged("\x0a\x05"
                   "abcd",
                   6); /* a text cut short */
    assert_damaged("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                   "abcd",
                   15);                            /* longer than memory */
    assert_damaged("\x09\x01\x02\x03", 4);         /* half a fixed64 */
    assert_damaged("\xf8\xff\xff\xff\x7f\x01", 6); /* a number beyond 29 bits */
}

static void any_cut_of_a_message_reads_its_whole_fields_only(void **state)
{
    (void)state;
    struct str out = {0};
    size_t ends[4];
    proto_put_uint(&out, 1, 1 << 20);
    ends[0] = out.len;
    proto_put_text(&out, 2, "some text");
    ends[1] = out.len;
    proto_put_double(&out, 3, 1.5);
    ends[2] = out.len;
    for (size_t cut = 0; cut <= out.len; cut++) {
        struct proto message = proto_message(out.ptr, cut);
        struct proto_field field;
        size_t fields = 0, whole = 0;
        for (size_t i = 0; i < 3; i++)
            whole += ends[i] <= cut;
        while (proto_next(&message, &field))
            fields++;
        assert_int_equal(fields, whole);
        assert_int_equal(message.damaged, cut != 0 && (whole == 0 || ends[whole - 1] != cut));
    }
    str_release(&out);
}

/* ---- streams ------------------------------------------------------------------------------------------- */

static struct stream *open_bytes(const struct str *bytes)
{
    struct stream *in;
    assert_int_equal(stream_open_memory(&in, "bytes", bytes->ptr, bytes->len, NULL), 0);
    return in;
}

static void streams_deliver_fields_of_any_size_with_their_offsets(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 3, 70000, 1, 200000, 5};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct str out = {0};
    int64_t offsets[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        offsets[i] = (int64_t)out.len;
        size_t mark = proto_open(&out, 1);
        str_pad(&out, (char)('a' + i), sizes[i]);
        proto_close(&out, mark);
    }
    struct proto_stream s = {.in = open_bytes(&out), .max_length = 1 << 20};
    struct proto_field field;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(proto_stream_next(&s, &field, NULL), 1);
        assert_int_equal(field.length, sizes[i]);
        assert_int_equal(s.offset, offsets[i]);
        for (size_t b = 0; b < field.length; b++)
            assert_int_equal(field.data[b], 'a' + i);
    }
    assert_int_equal(proto_stream_next(&s, &field, NULL), 0);
    assert_int_equal(s.truncated_bytes, 0);
    proto_stream_release(&s);
    stream_close(s.in);
    str_release(&out);
}

static void streams_skip_and_count_what_is_too_long(void **state)
{
    (void)state;
    struct str out = {0};
    proto_put_text(&out, 1, "first");
    size_t mark = proto_open(&out, 1);
    str_pad(&out, 'x', 100000);
    proto_close(&out, mark);
    proto_put_text(&out, 1, "last");
    struct proto_stream s = {.in = open_bytes(&out), .max_length = 99999};
    struct proto_field field;
    assert_int_equal(proto_stream_next(&s, &field, NULL), 1);
    assert_int_equal(proto_stream_next(&s, &field, NULL), 1);
    assert_memory_equal(field.data, "last", 4);
    assert_int_equal(proto_stream_next(&s, &field, NULL), 0);
    assert_int_equal(s.skipped, 1);
    proto_stream_release(&s);
    stream_close(s.in);
    str_release(&out);
}

static void streams_count_the_bytes_behind_the_last_whole_field(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        bool damaged;
    } tails[] = {
        {"", 0, false},
        {"\x0a", 1, false},
        {"\x0a\x7f"
         "cut off",
         9, false},
        {"\x0a\xff\xff\xff\x07"
         "cut off",
         12, false},
        {"\x03 this is no protobuf at all, whatever it is", 44, true},
    };
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        struct str out = {0};
        proto_put_text(&out, 1, "whole");
        str_add(&out, tails[i].bytes, tails[i].length);
        struct proto_stream s = {.in = open_bytes(&out), .max_length = 1 << 20};
        struct proto_field field;
        assert_int_equal(proto_stream_next(&s, &field, NULL), 1);
        assert_int_equal(proto_stream_next(&s, &field, NULL), 0);
        assert_int_equal(s.truncated_bytes, tails[i].length);
        assert_int_equal(s.damaged, tails[i].damaged);
        proto_stream_release(&s);
        stream_close(s.in);
        str_release(&out);
    }
}

static void a_length_in_the_file_alone_allocates_nothing(void **state)
{
    (void)state;
    struct str out = {0};
    str_add(&out,
            "\x0a\xff\xff\xff\xff\x0f"
            "few bytes",
            15); /* 4 GiB, says the field */
    struct proto_stream s = {.in = open_bytes(&out), .max_length = SIZE_MAX};
    struct proto_field field;
    assert_int_equal(proto_stream_next(&s, &field, NULL), 0);
    assert_in_range(s.cap, 1, 1 << 20);
    assert_int_equal(s.truncated_bytes, 15);
    proto_stream_release(&s);
    stream_close(s.in);
    str_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_are_those_of_the_specification),
        cmocka_unit_test(submessages_get_the_shortest_length_whatever_their_size),
        cmocka_unit_test(every_type_reads_back),
        cmocka_unit_test(packed_numbers_and_zigzag_read_back),
        cmocka_unit_test(damage_is_told_from_the_end),
        cmocka_unit_test(any_cut_of_a_message_reads_its_whole_fields_only),
        cmocka_unit_test(streams_deliver_fields_of_any_size_with_their_offsets),
        cmocka_unit_test(streams_skip_and_count_what_is_too_long),
        cmocka_unit_test(streams_count_the_bytes_behind_the_last_whole_field),
        cmocka_unit_test(a_length_in_the_file_alone_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
