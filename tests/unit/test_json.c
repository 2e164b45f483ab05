#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/str.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- helpers ------------------------------------------------------------------------------------------- */

struct input {
    struct stream *stream;
    struct json_reader json;
};

static void open_bytes(struct input *in, const void *data, size_t length, const struct json_limits *limits)
{
    assert_int_equal(stream_open_memory(&in->stream, "test", data, length, NULL), 0);
    json_open(&in->json, in->stream, limits, NULL);
}

static void open_text(struct input *in, const char *text, const struct json_limits *limits)
{
    open_bytes(in, text, strlen(text), limits);
}

static void close_input(struct input *in)
{
    json_close(&in->json);
    stream_close(in->stream);
}

static void assert_text(struct json_text text, const char *expected)
{
    if (text.length != strlen(expected) || memcmp(text.at, expected, text.length) != 0)
        fail_msg("\"%.*s\" is not \"%s\"", (int)text.length, text.at, expected);
}

/* Prints the value that comes next in one canonical form: k:v, "s", w, () for an object, <> for an array. */
static void print_value(struct json_reader *r, struct str *out)
{
    struct json_text text;
    switch (json_peek(r)) {
    case JSON_OBJECT:
        json_enter(r, JSON_OBJECT);
        str_putc(out, '(');
        while (json_next_key(r, &text)) {
            str_add(out, text.at, text.length);
            str_putc(out, ':');
            print_value(r, out);
            str_putc(out, ' ');
        }
        str_putc(out, ')');
        break;
    case JSON_ARRAY:
        json_enter(r, JSON_ARRAY);
        str_putc(out, '<');
        while (json_next_item(r)) {
            print_value(r, out);
            str_putc(out, ' ');
        }
        str_putc(out, '>');
        break;
    case JSON_STRING:
        if (json_read_string(r, &text)) {
            str_putc(out, '"');
            str_add(out, text.at, text.length);
            str_putc(out, '"');
        }
        break;
    case JSON_WORD:
        if (json_read_word(r, &text))
            str_add(out, text.at, text.length);
        break;
    default:
        assert_false(json_skip(r)); /* there is no value to skip */
        break;
    }
}

/* Reads json as print_value() prints it, and leaves the final state in *state. */
static char *read_back(const char *json, const struct json_limits *limits, enum json_state *state)
{
    struct input in;
    struct str out = {0};
    open_text(&in, json, limits);
    print_value(&in.json, &out);
    *state = in.json.state;
    close_input(&in);
    return out.ptr ? out.ptr : strdup("");
}

static void assert_reads(const char *json, const char *expected)
{
    enum json_state state;
    char *got = read_back(json, NULL, &state);
    assert_string_equal(got, expected);
    assert_int_equal(state, JSON_OK);
    free(got);
}

static void assert_rejects(const char *json, enum json_state expected)
{
    enum json_state state;
    free(read_back(json, NULL, &state));
    if (state != expected)
        fail_msg("%s: state %d, not %d", json, state, expected);
}

static const char sample[] =
    "{\n  \"a\": [1, -2.5e3, true, false, null], \"b\": {\"c\": \"d\\n\\u00e9\\ud83d\\ude00\", \"e\": {}},\n"
    "\t\"f\" : [ ], \"long key with blanks\":\"a text that is longer than thirty-two bytes, to be sure\" }\n";
static const char sample_read[] =
    "(a:<1 -2.5e3 true false null > b:(c:\"d\n\xc3\xa9\xf0\x9f\x98\x80\" e:() ) f:<> "
    "long key with blanks:\"a text that is longer than thirty-two bytes, to be sure\" )";

/* ---- values -------------------------------------------------------------------------------------------- */

static void test_values_are_read_as_written(void **state)
{
    (void)state;
    assert_reads(sample, sample_read);
    assert_reads("[]", "<>");
    assert_reads("\"\"", "\"\"");
    assert_reads("17", "17");
    for (size_t window = 1; window < 12; window++) {
        enum json_state end;
        char *got = read_back("1234567890", &(struct json_limits){.window_bytes = window}, &end);
        assert_string_equal(got, "1234567890");
        free(got);
    }
    assert_reads(" [[[ ]]] ", "<<<> > >");
}

static void test_window_size_does_not_change_what_is_read(void **state)
{
    (void)state;
    for (size_t window = 1; window < 200; window++) {
        enum json_state end;
        struct json_limits limits = {.window_bytes = window};
        char *got = read_back(sample, &limits, &end);
        assert_string_equal(got, sample_read);
        assert_int_equal(end, JSON_OK);
        free(got);
    }
}

static void test_escapes_are_decoded(void **state)
{
    (void)state;
    assert_reads("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\b\f\n\r\t\"");
    assert_reads("\"\\u0041\\u00e9\\u4e2d\"", "\"A\xc3\xa9\xe4\xb8\xad\"");
    assert_reads("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"");
}

static void test_half_a_surrogate_pair_becomes_the_replacement_character(void **state)
{
    (void)state;
    assert_reads("\"\\ud83dx\"", "\"\xef\xbf\xbdx\"");
    assert_reads("\"\\ude00\"", "\"\xef\xbf\xbd\"");
    assert_reads("\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                                       "A\"");
}

static void test_escaped_zero_stays_in_the_text(void **state)
{
    (void)state;
    struct input in;
    struct json_text text;
    open_text(&in, "\"a\\u0000b\"", NULL);
    assert_true(json_read_string(&in.json, &text));
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.at, "a\0b", 3);
    close_input(&in);
}

static void test_texts_of_a_held_record_are_valid_together(void **state)
{
    (void)state;
    struct input in;
    struct json_text key, texts[3];
    open_text(&in, "[{\"a\\n\":\"b\\n\", \"c\":\"d\\t\", \"e\\\\\":5}]",
              &(struct json_limits){.window_bytes = 4});
    assert_true(json_enter(&in.json, JSON_ARRAY));
    assert_true(json_next_item(&in.json));
    int tries = 0;
    do {
        int count = 0;
        json_hold(&in.json);
        json_enter(&in.json, JSON_OBJECT);
        while (json_next_key(&in.json, &key) && count < 3)
            if (json_read_scalar(&in.json, &texts[count]))
                count++;
        tries++;
    } while (json_retry(&in.json));
    assert_int_equal(in.json.state, JSON_OK);
    assert_true(tries > 1);
    assert_text(texts[0], "b\n");
    assert_text(texts[1], "d\t");
    assert_text(texts[2], "5");
    assert_false(json_next_item(&in.json));
    assert_int_equal(in.json.state, JSON_OK);
    close_input(&in);
}

static void test_offsets_count_bytes_of_the_input(void **state)
{
    (void)state;
    struct input in;
    open_text(&in, "[1, \"two\",   {\"x\":3}]", &(struct json_limits){.window_bytes = 4});
    json_enter(&in.json, JSON_ARRAY);
    static const int64_t expected[] = {1, 4, 13};
    for (int i = 0; json_next_item(&in.json); i++) {
        assert_int_equal(json_offset(&in.json), expected[i]);
        assert_true(json_skip(&in.json));
    }
    assert_int_equal(json_offset(&in.json), 21);
    close_input(&in);
}

static void test_raw_values_keep_every_byte(void **state)
{
    (void)state;
    struct input in;
    struct json_text raw, text;
    open_text(&in, "{\"a\": [1, {\"b\": \"]}\"}, 2] }", NULL);
    json_enter(&in.json, JSON_OBJECT);
    json_next_key(&in.json, &text);
    json_hold(&in.json);
    assert_true(json_read_raw(&in.json, &raw));
    assert_text(raw, "[1, {\"b\": \"]}\"}, 2]");
    struct json_reader inner;
    json_open_text(&inner, raw);
    struct str out = {0};
    print_value(&inner, &out);
    assert_string_equal(out.ptr, "<1 (b:\"]}\" ) 2 >");
    str_release(&out);
    json_close(&inner);
    close_input(&in);
}

static void test_skipping_passes_exactly_one_value(void **state)
{
    (void)state;
    struct input in;
    struct json_text key, text;
    open_text(&in,
              "{\"a\": {\"x\": [1, \"]\\\"}\", {}], \"y\": {}}, \"b\": [[], [[]]], \"c\": \"\", \"d\": 1}",
              NULL);
    json_enter(&in.json, JSON_OBJECT);
    for (const char *name = "abc"; *name; name++) {
        assert_true(json_next_key(&in.json, &key));
        assert_int_equal(*key.at, *name);
        assert_true(json_skip(&in.json));
    }
    assert_true(json_next_key(&in.json, &key));
    assert_true(json_read_word(&in.json, &text));
    assert_text(text, "1");
    assert_false(json_next_key(&in.json, &key));
    assert_int_equal(in.json.state, JSON_OK);
    close_input(&in);
}

static void test_the_rest_of_a_container_can_be_left(void **state)
{
    (void)state;
    struct input in;
    struct json_text key;
    open_text(&in, "[{\"a\": 1, \"b\": {\"c\": [2]}, \"d\": \"}\"}, 7]", NULL);
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    json_enter(&in.json, JSON_OBJECT);
    json_next_key(&in.json, &key);
    json_skip(&in.json);
    assert_true(json_skip_rest(&in.json));
    assert_true(json_next_item(&in.json));
    assert_true(json_read_word(&in.json, &key));
    assert_text(key, "7");
    close_input(&in);
}

/* ---- what is not JSON ---------------------------------------------------------------------------------- */

static void assert_odd(const char *json, const char *expected, enum json_oddity oddity, int64_t count,
                       int64_t first)
{
    struct input in;
    struct str out = {0};
    open_text(&in, json, NULL);
    print_value(&in.json, &out);
    assert_int_equal(in.json.state, JSON_OK);
    assert_string_equal(str_text(&out), expected);
    for (int i = 0; i < JSON_ODD_COUNT; i++)
        assert_int_equal(in.json.odd[i].count, i == (int)oddity ? count : 0);
    assert_int_equal(in.json.odd[oddity].first_offset, first);
    assert_non_null(json_oddity_text(oddity));
    str_release(&out);
    close_input(&in);
}

static void test_oddities_are_accepted_and_counted(void **state)
{
    (void)state;
    assert_odd("\xef\xbb\xbf[1]", "<1 >", JSON_ODD_BOM, 1, 0);
    assert_odd("[1,]", "<1 >", JSON_ODD_COMMA, 1, 3);
    assert_odd("{\"a\":1,}", "(a:1 )", JSON_ODD_COMMA, 1, 7);
    assert_odd("[1,,2]", "<1 2 >", JSON_ODD_COMMA, 1, 3);
    assert_odd("[NaN, -nan, Infinity, -Infinity, inf, -inf, N/A, None]",
               "<NaN -nan Infinity -Infinity inf -inf N/A None >", JSON_ODD_WORD, 8, 1);
    assert_odd("[\"a\tb\nc\"]", "<\"a\tb\nc\" >", JSON_ODD_CONTROL, 2, 3);
    assert_odd("[\"C:\\dir\\x\"]", "<\"C:\\dir\\x\" >", JSON_ODD_ESCAPE, 2, 4);
    assert_odd("[\"\\u12\"]", "<\"\\u12\" >", JSON_ODD_ESCAPE, 1, 4);
    assert_odd("[\"a\xff\", \"\xc3\xa9\"]", "<\"a\xff\" \"\xc3\xa9\" >", JSON_ODD_UTF8, 1, 2);
}

static void test_oddities_of_a_record_that_is_read_again_count_once(void **state)
{
    (void)state;
    static const char json[] = "[{\"a\": NaN, \"b\": \"x\ty\", \"c\": 3}]";
    struct input in;
    struct json_text key;
    open_text(&in, json, &(struct json_limits){.window_bytes = 3});
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    do {
        json_hold(&in.json);
        json_enter(&in.json, JSON_OBJECT);
        while (json_next_key(&in.json, &key))
            json_skip(&in.json);
    } while (json_retry(&in.json));
    assert_int_equal(in.json.odd[JSON_ODD_WORD].count, 1);
    assert_int_equal(in.json.odd[JSON_ODD_CONTROL].count, 1);
    close_input(&in);
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"[1 2]",         "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[foo]", "{a:1}",
                                        "[\"a\" \"b\"]", "[1}",       "{\"a\":1]",         "{1:2}", "[-]",
                                        "[\"a\"b]",      "{\"a\": }", "{\"a\"}",           "[:]",   "}",
                                        "[truer]",       "[nullx, 1]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_rejects(wrong[i], JSON_BAD);
}

static void test_nonsense_inside_skipped_values_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"[{\"a\": \"f(\"x\")\"}]", "[\"a\"b\"c\", 1]", "[[1}]", "[{]]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct input in;
        open_text(&in, wrong[i], NULL);
        assert_false(json_skip(&in.json));
        assert_int_equal(in.json.state, JSON_BAD);
        close_input(&in);
    }
}

static void test_every_prefix_ends_in_the_state_end(void **state)
{
    (void)state;
    for (size_t length = 1; length + 2 < sizeof sample; length++) {
        struct input in;
        struct str out = {0};
        char *copy = malloc(length); /* so that reading behind it is noticed */
        memcpy(copy, sample, length);
        open_bytes(&in, copy, length, &(struct json_limits){.window_bytes = 16});
        print_value(&in.json, &out);
        assert_int_equal(in.json.state, JSON_END);
        str_release(&out);
        close_input(&in);
        free(copy);
    }
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    struct str bomb = {0};
    str_pad(&bomb, '[', MIB);
    struct input in;
    open_text(&in, bomb.ptr, NULL);
    assert_false(json_skip(&in.json));
    assert_int_equal(in.json.state, JSON_BAD);
    assert_int_equal(json_offset(&in.json), JSON_DEPTH_DEFAULT);
    close_input(&in);

    open_text(&in, "[[[1]]]", &(struct json_limits){.max_depth = 3});
    assert_true(json_skip(&in.json));
    close_input(&in);
    open_text(&in, "[[[1]]]", &(struct json_limits){.max_depth = 2});
    assert_false(json_skip(&in.json));
    close_input(&in);
    str_release(&bomb);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void test_overlong_strings_are_cut_and_reading_goes_on(void **state)
{
    (void)state;
    struct str json = {0};
    str_puts(&json, "[\"");
    str_pad(&json, 'x', 3 * MIB);
    str_puts(&json, "\\\"tail\", {\"k\": \"");
    str_pad(&json, 'y', 5 * MIB);
    str_puts(&json, "\"}, 7]");
    for (int held = 0; held < 2; held++) {
        struct input in;
        struct json_text text, key;
        open_text(&in, json.ptr, &(struct json_limits){.max_string_bytes = 1000});
        json_enter(&in.json, JSON_ARRAY);
        json_next_item(&in.json);
        assert_true(json_read_string(&in.json, &text));
        assert_in_range(text.length, 1000, 2 * MIB);
        assert_int_equal(text.at[0], 'x');
        assert_true(json_next_item(&in.json));
        assert_int_equal(json_offset(&in.json), strstr(json.ptr, "{\"k\"") - json.ptr);
        do {
            if (held)
                json_hold(&in.json);
            json_enter(&in.json, JSON_OBJECT);
            json_next_key(&in.json, &key);
            if (json_read_string(&in.json, &text))
                assert_int_equal(text.at[0], 'y');
            json_next_key(&in.json, &key);
        } while (held && json_retry(&in.json));
        assert_true(json_next_item(&in.json));
        assert_int_equal(json_offset(&in.json), (int64_t)json.len - 2);
        assert_true(json_read_word(&in.json, &text));
        assert_text(text, "7");
        assert_int_equal(in.json.odd[JSON_ODD_CUT].count, 2);
        assert_true(in.json.cap <= 2 * MIB);
        close_input(&in);
    }
    str_release(&json);
}

static void test_a_cut_never_splits_an_escape(void **state)
{
    (void)state;
    static const char *const fillings[] = {"\\\\", "\\\"", "abc\\n", "\\u00e9"};
    for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) {
        struct str json = {0};
        struct input in;
        struct json_text text;
        str_puts(&json, "[\"");
        while (json.len < 3000)
            str_puts(&json, fillings[i]);
        str_puts(&json, "\", 5]");
        for (size_t limit = 1; limit < 40; limit++) {
            open_text(&in, json.ptr, &(struct json_limits){.max_string_bytes = limit, .window_bytes = 16});
            json_enter(&in.json, JSON_ARRAY);
            json_next_item(&in.json);
            assert_true(json_read_string(&in.json, &text));
            assert_true(json_next_item(&in.json));
            assert_true(json_read_word(&in.json, &text));
            assert_text(text, "5");
            assert_int_equal(in.json.odd[JSON_ODD_CUT].count, 1);
            assert_int_equal(json_offset(&in.json), (int64_t)json.len - 1);
            close_input(&in);
        }
        str_release(&json);
    }
}

/* A gigabyte of 'x' between prefix and suffix, compressed. */
static struct str gigabyte_string(const char *prefix, const char *suffix)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    struct str out = {0}, block = {0};
    str_pad(&block, 'x', 4 * MIB);
    for (int i = -1; i <= 256; i++) {
        const char *data = i < 0 ? prefix : i == 256 ? suffix : block.ptr;
        ZSTD_inBuffer in = {data, strlen(data), 0};
        ZSTD_EndDirective end = i == 256 ? ZSTD_e_end : ZSTD_e_continue;
        for (size_t left = 1; i == 256 ? left > 0 : in.pos < in.size;) {
            char chunk[4096];
            ZSTD_outBuffer buffer = {chunk, sizeof chunk, 0};
            left = ZSTD_compressStream2(context, &buffer, &in, end);
            assert_false(ZSTD_isError(left));
            str_add(&out, chunk, buffer.pos);
        }
    }
    ZSTD_freeCCtx(context);
    str_release(&block);
    return out;
}

static void test_a_gigabyte_in_one_string_takes_bounded_memory(void **state)
{
    (void)state;
    struct str data = gigabyte_string("[{\"a\": \"", "\", \"b\": 2}, 3]");
    struct input in;
    struct json_text key, text = {0};
    open_bytes(&in, data.ptr, data.len, &(struct json_limits){.max_string_bytes = 4 * MIB});
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    do {
        json_hold(&in.json);
        json_enter(&in.json, JSON_OBJECT);
        while (json_next_key(&in.json, &key))
            json_read_scalar(&in.json, &text);
    } while (json_retry(&in.json));
    assert_int_equal(in.json.state, JSON_OK);
    assert_text(text, "2");
    assert_true(json_next_item(&in.json));
    assert_int_equal(json_offset(&in.json), 8 + 1024 * (int64_t)MIB + 12);
    assert_int_equal(in.json.odd[JSON_ODD_CUT].count, 1);
    assert_true(in.json.cap <= 5 * MIB);
    close_input(&in);
    str_release(&data);
}

static void test_skipping_needs_no_memory(void **state)
{
    (void)state;
    struct str json = {0};
    str_puts(&json, "[[");
    for (int i = 0; i < 200000; i++)
        str_puts(&json, "{\"text\": \"abc\", \"list\": [1, 2, 3]}, ");
    str_puts(&json, "\"");
    str_pad(&json, 'z', MIB);
    str_puts(&json, "\"], 5]");
    struct input in;
    struct json_text text;
    open_text(&in, json.ptr, &(struct json_limits){.window_bytes = 4 * KIB});
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    assert_true(json_skip(&in.json));
    assert_int_equal(in.json.cap, 4 * KIB);
    assert_true(json_next_item(&in.json));
    assert_true(json_read_word(&in.json, &text));
    assert_text(text, "5");
    close_input(&in);
    str_release(&json);
}

static void test_a_record_without_bounds_is_refused(void **state)
{
    (void)state;
    struct str json = {0};
    str_puts(&json, "[{");
    for (int i = 0; i < 300000; i++)
        str_puts(&json, "\"k\": [1, 2, 3], ");
    str_puts(&json, "\"k\": 0}, {\"mark\": 1}]");
    struct input in;
    struct json_text key;
    static const char *const marks[] = {"mark", NULL};
    open_text(&in, json.ptr, &(struct json_limits){.max_string_bytes = 64 * KIB});
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    do {
        json_hold(&in.json);
        json_enter(&in.json, JSON_OBJECT);
        while (json_next_key(&in.json, &key))
            json_skip(&in.json);
    } while (json_retry(&in.json));
    assert_int_equal(in.json.state, JSON_BAD);
    assert_true(in.json.cap <= 2 * MIB);
    assert_true(json_seek(&in.json, &(struct json_landmarks){.objects = marks}, 1));
    assert_int_equal(json_offset(&in.json), (int64_t)json.len - 12);
    close_input(&in);
    str_release(&json);
}

/* ---- broken records ------------------------------------------------------------------------------------ */

static const char *const record_keys[] = {"ph", "name", NULL};
static const struct json_landmarks record_marks = {.objects = record_keys};

/* Reads the first element of the list strictly, then leniently, as print_value() prints it. */
static char *read_leniently(const char *json, size_t window, enum json_state *state)
{
    struct input in;
    struct str out = {0};
    open_text(&in, json, &(struct json_limits){.window_bytes = window});
    json_enter(&in.json, JSON_ARRAY);
    json_next_item(&in.json);
    do {
        str_cut(&out, 0);
        json_hold(&in.json);
        print_value(&in.json, &out);
    } while (json_retry(&in.json));
    assert_int_not_equal(in.json.state, JSON_OK);
    str_cut(&out, 0);
    assert_true(json_lenient(&in.json, &record_marks));
    print_value(&in.json, &out);
    *state = in.json.state;
    json_strict(&in.json);
    close_input(&in);
    return out.ptr;
}

static void test_unescaped_quotes_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *json, *expected;
    } cases[] = {
        {"[{\"name\": \"foo(\"a\", \"b\")\", \"pid\": 1}]", "(name:\"foo(\"a\", \"b\")\" pid:1 )"},
        {"[{\"name\": \"say \"hi\"\", \"pid\": 1}]", "(name:\"say \"hi\"\" pid:1 )"},
        {"[{\"pid\": 1, \"name\": \"\"quoted\"\"}, 2]", "(pid:1 name:\"\"quoted\"\" )"},
        {"[{\"name\": \"x[\"k\"]\", \"args\": {\"a\": \"{\"b\"}\"}}]",
         "(name:\"x[\"k\"]\" args:(a:\"{\"b\"}\" ) )"},
        {"[{\"args\": {\"list\": [\"a\"b\", \"c\"], \"n\": 2}}]", "(args:(list:<\"a\"b\" \"c\" > n:2 ) )"},
        {"[{\"name\": \"odd \" one\", \"pid\": 1}]", "(name:\"odd \" one\" pid:1 )"},
        {"[{\"name\": \"\\n\"q\"\", \"pid\": 1}]", "(name:\"\n\"q\"\" pid:1 )"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t window = 1; window < 100; window += 33) {
            enum json_state end;
            char *got = read_leniently(cases[i].json, window, &end);
            assert_string_equal(got, cases[i].expected);
            assert_int_equal(end, JSON_OK);
            free(got);
        }
    }
}

static void test_lenient_reading_stops_at_the_next_record(void **state)
{
    (void)state;
    enum json_state end;
    free(read_leniently("[{\"name\": \"never \"ends, {\"ph\": \"X\", \"name\": \"b\"}]", 0, &end));
    assert_int_equal(end, JSON_BAD);
    free(read_leniently("[{\"name\": \"never \"ends, ", 0, &end));
    assert_int_equal(end, JSON_END);
}

static void test_seeking_finds_the_next_record_or_member(void **state)
{
    (void)state;
    static const char json[] = "junk \"name\": {\"x\": 1} {  \n \"ph\" : 7}, \"member\" : 8";
    static const char *const members[] = {"member", NULL};
    for (size_t window = 1; window < 80; window += 13) {
        struct input in;
        struct json_text key, text;
        open_text(&in, json, &(struct json_limits){.window_bytes = window});
        assert_true(json_seek(&in.json, &record_marks, 0));
        assert_int_equal(json_offset(&in.json), 22);
        json_enter(&in.json, JSON_OBJECT);
        json_next_key(&in.json, &key);
        assert_text(key, "ph");
        json_skip(&in.json);
        assert_true(json_seek(&in.json, &(struct json_landmarks){.members = members}, 0));
        assert_true(json_assume(&in.json, JSON_OBJECT));
        assert_true(json_next_key(&in.json, &key));
        assert_text(key, "member");
        assert_true(json_peek(&in.json) == JSON_WORD);
        (void)text;
        close_input(&in);

        open_text(&in, json, &(struct json_limits){.window_bytes = window});
        static const char *const nowhere[] = {"absent", NULL};
        assert_false(json_seek(&in.json, &(struct json_landmarks){nowhere, nowhere}, 0));
        assert_int_equal(in.json.state, JSON_END);
        assert_int_equal(json_offset(&in.json), sizeof json - 1);
        close_input(&in);
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static struct json_text text_of(const char *text)
{
    return (struct json_text){text, strlen(text)};
}

static void test_integers_keep_all_64_bits(void **state)
{
    (void)state;
    int64_t i;
    uint64_t u;
    assert_true(json_to_int(text_of("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_true(json_to_int(text_of("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_true(json_to_uint(text_of("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    static const char *const wrong[] = {
        "",   "-", "1.0", "1e3", " 1", "1 ", "+1", "0x10", "9223372036854775808", "99999999999999999999",
        "NaN"};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        assert_false(json_to_int(text_of(wrong[n]), &i));
    assert_false(json_to_uint(text_of("18446744073709551616"), &u));
    assert_false(json_to_uint(text_of("-1"), &u));
}

static void test_decimals_are_read_to_the_last_bit_or_so(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0",
                                          "1.5",
                                          "-2.25",
                                          "1e10",
                                          "6.02214076e23",
                                          "1.7976931348623157e308",
                                          "3e-9",
                                          "4.9e-324",
                                          "0.1",
                                          "123456789.987654321",
                                          "1E+2",
                                          "100000000000000000000000",
                                          "0.000000000000000000000000001"};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        double value, expected = strtod(numbers[n], NULL);
        assert_true(json_to_double(text_of(numbers[n]), &value));
        double error = value > expected ? value - expected : expected - value;
        assert_true(error <= 3e-16 * (expected < 0 ? -expected : expected));
    }
    double value;
    static const char *const wrong[] = {"", "NaN", "inf", "1.2.3", "e5", "1e", "0x1p3", "1e400", "12abc"};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        assert_false(json_to_double(text_of(wrong[n]), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_read_as_written),
        cmocka_unit_test(test_window_size_does_not_change_what_is_read),
        cmocka_unit_test(test_escapes_are_decoded),
        cmocka_unit_test(test_half_a_surrogate_pair_becomes_the_replacement_character),
        cmocka_unit_test(test_escaped_zero_stays_in_the_text),
        cmocka_unit_test(test_texts_of_a_held_record_are_valid_together),
        cmocka_unit_test(test_offsets_count_bytes_of_the_input),
        cmocka_unit_test(test_raw_values_keep_every_byte),
        cmocka_unit_test(test_skipping_passes_exactly_one_value),
        cmocka_unit_test(test_the_rest_of_a_container_can_be_left),
        cmocka_unit_test(test_oddities_are_accepted_and_counted),
        cmocka_unit_test(test_oddities_of_a_record_that_is_read_again_count_once),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_nonsense_inside_skipped_values_is_refused),
        cmocka_unit_test(test_every_prefix_ends_in_the_state_end),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_overlong_strings_are_cut_and_reading_goes_on),
        cmocka_unit_test(test_a_cut_never_splits_an_escape),
        cmocka_unit_test(test_a_gigabyte_in_one_string_takes_bounded_memory),
        cmocka_unit_test(test_skipping_needs_no_memory),
        cmocka_unit_test(test_a_record_without_bounds_is_refused),
        cmocka_unit_test(test_unescaped_quotes_are_understood),
        cmocka_unit_test(test_lenient_reading_stops_at_the_next_record),
        cmocka_unit_test(test_seeking_finds_the_next_record_or_member),
        cmocka_unit_test(test_integers_keep_all_64_bits),
        cmocka_unit_test(test_decimals_are_read_to_the_last_bit_or_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
