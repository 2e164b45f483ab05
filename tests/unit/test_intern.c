#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void equal_bytes_get_equal_ids(void **state)
{
    (void)state;
    struct intern in;
    intern_init(&in);
    uint32_t kernel = intern_puts(&in, "kernel");
    assert_int_equal(intern_add(&in, "kernel and more", 6), kernel);
    assert_int_not_equal(intern_puts(&in, "kerneL"), kernel);
    assert_string_equal(intern_text(&in, kernel), "kernel");
    assert_int_equal(intern_length(&in, kernel), 6);
    intern_release(&in);
}

static void the_empty_text_is_id_zero(void **state)
{
    (void)state;
    struct intern in;
    intern_init(&in);
    assert_int_equal(intern_puts(&in, ""), 0);
    assert_int_equal(intern_add(&in, NULL, 0), 0);
    assert_string_equal(intern_text(&in, 0), "");
    assert_int_equal(intern_length(&in, 0), 0);
    intern_release(&in);
}

static void bytes_after_a_nul_count(void **state)
{
    (void)state;
    struct intern in;
    intern_init(&in);
    uint32_t first = intern_add(&in, "a\0b", 3), second = intern_add(&in, "a\0c", 3),
             plain = intern_puts(&in, "a");
    assert_true(first != second && first != plain && second != plain);
    assert_int_equal(intern_length(&in, first), 3);
    assert_memory_equal(intern_text(&in, first), "a\0b\0", 4);
    intern_release(&in);
}

static void ids_and_texts_stay_as_the_table_grows(void **state)
{
    (void)state;
    struct intern in;
    intern_init(&in);
    uint32_t early = intern_puts(&in, "early");
    const char *text = intern_text(&in, early);
    enum { COUNT = 100000 };
    char name[32];
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "kernel_%u", i);
        assert_int_equal(intern_puts(&in, name), early + 1 + i); /* ids are dense, in the order of arrival */
    }
    assert_ptr_equal(intern_text(&in, early), text);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "kernel_%u", i);
        assert_int_equal(intern_puts(&in, name), early + 1 + i);
        assert_string_equal(intern_text(&in, early + 1 + i), name);
    }
    intern_release(&in);
}

static void the_callers_text_is_copied(void **state)
{
    (void)state;
    struct intern in;
    intern_init(&in);
    char text[] = "stream";
    uint32_t id = intern_puts(&in, text);
    text[0] = 'X';
    assert_string_equal(intern_text(&in, id), "stream");
    intern_release(&in);
}

static void what_is_not_kept_is_gone_and_the_rest_is_in_order(void **state)
{
    (void)state;
    struct intern in;
    char text[32];
    enum { COUNT = 10000 };
    static bool used[COUNT + 1];
    static uint32_t ids[COUNT + 1];
    intern_init(&in);
    for (int i = 1; i <= COUNT; i++) {
        snprintf(text, sizeof text, "text %d", i);
        assert_int_equal(intern_puts(&in, text), i);
        used[i] = i % 10 == 0;
    }
    intern_keep(&in, used, ids);
    assert_int_equal(in.count, 1 + COUNT / 10);
    assert_int_equal(ids[0], 0);
    for (int i = 1; i <= COUNT; i++) {
        snprintf(text, sizeof text, "text %d", i);
        assert_int_equal(ids[i], i % 10 == 0 ? (uint32_t)i / 10 : INTERN_ABSENT);
        assert_int_equal(intern_find(&in, text, strlen(text)), ids[i]);
    }
    intern_release(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_get_equal_ids),
        cmocka_unit_test(the_empty_text_is_id_zero),
        cmocka_unit_test(bytes_after_a_nul_count),
        cmocka_unit_test(ids_and_texts_stay_as_the_table_grows),
        cmocka_unit_test(the_callers_text_is_copied),
        cmocka_unit_test(what_is_not_kept_is_gone_and_the_rest_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
