/* An Xid as a text of a recording, there and back. */
#include "cmocka_all.h"

#include <string.h>

#include "know/xid_text.h"

static void assert_round_trip(int64_t code, const char *process)
{
    struct str text = {0};
    int64_t read;
    const char *named;
    xid_text_add(&text, code, process);
    assert_true(xid_text_parse(str_text(&text), &read, &named));
    assert_int_equal(read, code);
    assert_string_equal(named, process);
    str_release(&text);
}

static void code_and_process_are_read_again(void **state)
{
    (void)state;
    assert_round_trip(31, "python3 (4711)");
    assert_round_trip(31, "");
    assert_round_trip(79, "");
    assert_round_trip(999999, "");
    assert_round_trip(999999, "a: b (1)");
}

static void another_text_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",           "Xid",      "Xid ",         "Xid x",
                                        "Xid -3: no", "Xid 31st", "an Xid 31: no"};
    int64_t code;
    const char *process;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(xid_text_parse(texts[i], &code, &process));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_process_are_read_again),
        cmocka_unit_test(another_text_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
