#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BAD "\xef\xbf\xbd"

static void every_code_point_survives_a_round_trip(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        struct str out = {0};
        utf8_add(&out, code);
        size_t used;
        assert_int_equal(utf8_decode(out.ptr, out.len, &used), code);
        assert_int_equal(used, out.len);
        assert_int_equal(utf8_valid(out.ptr, out.len), out.len);
        str_release(&out);
    }
}

static void what_is_no_code_point_is_added_as_the_replacement(void **state)
{
    (void)state;
    static const uint32_t codes[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct str out = {0};
        utf8_add(&out, codes[i]);
        assert_string_equal(out.ptr, BAD);
        str_release(&out);
    }
}

/* Unicode 14, section 3.9, tables 3-8 to 3-11. */
static void each_maximal_subpart_becomes_one_replacement(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A"},
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A"},
        {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", BAD BAD BAD BAD BAD "A" BAD BAD "B"},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", BAD BAD BAD BAD "A"},
        {"eight by\xe6\xb1", "eight by" BAD},
        {"汉\xe5\xad", "汉" BAD},
        {BAD "\xff", BAD BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = {0};
        utf8_repair(&out, cases[i].in, strlen(cases[i].in));
        assert_string_equal(str_text(&out), cases[i].out);
        assert_int_equal(utf8_valid(str_text(&out), out.len), out.len);
        str_release(&out);
    }
}

static void any_bytes_are_repaired_to_valid_text(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(random >> 56 & (random >> 40 & 1 ? 0xff : 0xbf));
        }
        struct str out = {0};
        utf8_repair(&out, bytes, sizeof bytes);
        assert_int_equal(utf8_valid(out.ptr, out.len), out.len);
        size_t good = utf8_valid(bytes, sizeof bytes);
        assert_memory_equal(out.ptr, bytes, good);
        str_release(&out);
    }
}

static void a_nul_is_a_character_like_any_other(void **state)
{
    (void)state;
    struct str out = {0};
    utf8_repair(&out, "a\0b\xff", 4);
    assert_int_equal(out.len, 6);
    assert_memory_equal(out.ptr, "a\0b" BAD, 6);
    str_release(&out);
}

static void nothing_visible_can_command_a_terminal(void **state)
{
    (void)state;
    struct str out = {0};
    utf8_visible(&out, "\x1b[2J\r\n\x7f", 7);
    assert_string_equal(out.ptr, "␛[2J␍␊␡");
    str_release(&out);
    /* C1 controls, line separator, and an override of the direction of writing. */
    utf8_visible(&out, "a\xc2\x9b\xe2\x80\xa8\xe2\x80\xae汉\xff", 13);
    assert_string_equal(out.ptr, "a" BAD BAD BAD "汉" BAD);
    str_release(&out);
}

static void columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        int columns;
    } cases[] = {
        {'a', 1},     {0x00, 0},    {0x1b, 0},     {0x7f, 0},   {0x9b, 0},    {0xa0, 1},    {0xad, 1},
        {0xe9, 1},    {0x2ff, 1},   {0x300, 0},    {0x36f, 0},  {0x370, 1},   {0x115f, 2},  {0x1160, 0},
        {0x200b, 0},  {0x200d, 0},  {0x2014, 1},   {0x2026, 1}, {0x2588, 1},  {0x231a, 2},  {0x3000, 2},
        {0x303f, 1},  {0x3041, 2},  {0x4e00, 2},   {0x9fff, 2}, {0xac00, 2},  {0xd7a3, 2},  {0xd7a4, 1},
        {0xfe0f, 0},  {0xff01, 2},  {0xff61, 1},   {0xfffd, 1}, {0x1f600, 2}, {0x1f1e6, 1}, {0x20000, 2},
        {0x3fffd, 2}, {0xe0001, 0}, {0x10ffff, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_columns(cases[i].code), cases[i].columns);
}

static void the_width_of_a_text_is_the_sum_of_its_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int width;
    } cases[] = {{"", 0},       {"abc", 3},  {"显卡 GPU", 8},    {"e\xcc\x81", 1},
                 {"한국어", 6}, {"ﾊﾝｶｸ", 4}, {"\xff\xe6\xb1", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_width(cases[i].text, strlen(cases[i].text)), cases[i].width);
}

static void a_cut_fits_and_never_splits_a_character(void **state)
{
    (void)state;
    static const char text[] = "a显e\xcc\x81卡z"; /* columns: 1 2 1 (0) 2 1 */
    static const size_t cuts[] = {0, 1, 1, 4, 7, 7, 10, 11, 11};
    for (int columns = 0; columns < (int)(sizeof cuts / sizeof *cuts); columns++) {
        size_t cut = utf8_cut(text, sizeof text - 1, columns);
        assert_int_equal(cut, cuts[columns]);
        assert_true(utf8_width(text, cut) <= columns);
    }
    assert_int_equal(utf8_cut(text, sizeof text - 1, -1), 0);
    assert_int_equal(utf8_cut("", 0, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives_a_round_trip),
        cmocka_unit_test(what_is_no_code_point_is_added_as_the_replacement),
        cmocka_unit_test(each_maximal_subpart_becomes_one_replacement),
        cmocka_unit_test(any_bytes_are_repaired_to_valid_text),
        cmocka_unit_test(a_nul_is_a_character_like_any_other),
        cmocka_unit_test(nothing_visible_can_command_a_terminal),
        cmocka_unit_test(columns_are_those_of_a_terminal),
        cmocka_unit_test(the_width_of_a_text_is_the_sum_of_its_characters),
        cmocka_unit_test(a_cut_fits_and_never_splits_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
