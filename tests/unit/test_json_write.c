#include "base/json_write.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"

static void assert_out(struct str *out, const char *wanted)
{
    assert_string_equal(str_text(out), wanted);
    str_release(out);
}

static void commas_and_nesting_are_kept(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_object_begin(&w);
    json_key(&w, "empty");
    json_array_begin(&w);
    json_array_end(&w);
    json_key(&w, "list");
    json_array_begin(&w);
    json_int(&w, 1);
    json_array_begin(&w);
    json_null(&w);
    json_bool(&w, true);
    json_array_end(&w);
    json_object_begin(&w);
    json_object_end(&w);
    json_array_end(&w);
    json_key(&w, "last");
    json_bool(&w, false);
    json_object_end(&w);
    assert_int_equal(w.depth, 0);
    assert_out(&out, "{\"empty\":[],\"list\":[1,[null,true],{}],\"last\":false}");
}

static void pretty_output_indents_each_level_and_keeps_empty_containers_short(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out, .indent = 2};
    json_object_begin(&w);
    json_key(&w, "a");
    json_array_begin(&w);
    json_int(&w, 1);
    json_int(&w, 2);
    json_array_end(&w);
    json_key(&w, "b");
    json_object_begin(&w);
    json_object_end(&w);
    json_object_end(&w);
    assert_out(&out, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

static void values_at_the_top_follow_each_other_bare(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    for (int i = 0; i < 2; i++) {
        json_object_begin(&w);
        json_key(&w, "i");
        json_int(&w, i);
        json_object_end(&w);
        str_putc(&out, '\n');
    }
    assert_out(&out, "{\"i\":0}\n{\"i\":1}\n");
}

static void the_output_may_be_drained_at_any_time(void **state)
{
    (void)state;
    struct str out = {0}, all = {0};
    struct json_writer w = {.out = &out};
    json_array_begin(&w);
    for (int i = 0; i < 3; i++) {
        str_puts(&all, str_text(&out));
        str_cut(&out, 0);
        json_int(&w, i);
    }
    json_array_end(&w);
    str_puts(&all, str_text(&out));
    str_release(&out);
    assert_out(&all, "[0,1,2]");
}

static void strings_are_escaped(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_string(&w, "q\" b\\ s/ \b\f\n\r\t\0\x1f\x7f", 17);
    assert_out(&out, "\"q\\\" b\\\\ s/ \\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\"");
}

static void keys_are_escaped_and_repaired_too(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_object_begin(&w);
    json_key(&w, "a\"\xff");
    json_puts(&w, "");
    json_object_end(&w);
    assert_out(&out, "{\"a\\\"\xef\xbf\xbd\":\"\"}");
}

static void good_utf8_stays_and_bad_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"é 汉字 😀", "\"é 汉字 😀\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xe6\xb1", "\"\xef\xbf\xbd\""},                                             /* cut */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},                 /* surrogate */
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 /* overlong */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* above U+10FFFF */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = {0};
        struct json_writer w = {.out = &out};
        json_puts(&w, cases[i].in);
        assert_out(&out, cases[i].out);
    }
}

static void integers_are_exact_over_their_whole_range(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_array_begin(&w);
    json_int(&w, INT64_MAX);
    json_int(&w, INT64_MIN + 1);
    json_uint(&w, UINT64_MAX);
    json_int(&w, 9007199254740993);
    json_array_end(&w);
    assert_out(&out, "[9223372036854775807,-9223372036854775807,18446744073709551615,9007199254740993]");
}

static void decimals_are_exact_over_the_whole_range(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_array_begin(&w);
    json_decimal(&w, 0, 3);
    json_decimal(&w, 7, 3);
    json_decimal(&w, -45, 3);
    json_decimal(&w, 1234567, 3);
    json_decimal(&w, INT64_MIN, 3);
    json_decimal(&w, INT64_MAX, 0);
    json_array_end(&w);
    assert_out(&out, "[0.000,0.007,-0.045,1234.567,-9223372036854775.808,9223372036854775807]");
}

static void the_unknown_the_nan_and_the_infinite_are_null(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w = {.out = &out};
    json_array_begin(&w);
    json_int(&w, UNKNOWN);
    json_double(&w, NAN);
    json_double(&w, INFINITY);
    json_double(&w, -INFINITY);
    json_array_end(&w);
    assert_out(&out, "[null,null,null,null]");
}

static void doubles_are_short_and_read_back_the_same(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {3, "3"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e21, "1e+21"},
        {123456789.125, "123456789.125"},
        {DBL_MAX, "1.7976931348623157e+308"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = {0};
        struct json_writer w = {.out = &out};
        json_double(&w, cases[i].value);
        assert_out(&out, cases[i].text);
    }
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        struct str out = {0};
        struct json_writer w = {.out = &out};
        json_double(&w, value);
        back = strtod(out.ptr, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        str_release(&out);
    }
}

static void no_locale_changes_a_number(void **state)
{
    (void)state;
    /* Where none of these is installed the test still checks the plain locale. */
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "C"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++) {
        setlocale(LC_ALL, commas[i]);
        struct str out = {0};
        struct json_writer w = {.out = &out};
        json_array_begin(&w);
        json_double(&w, 1234567.5);
        json_double(&w, 1.5e-7);
        json_int(&w, 1234567);
        json_array_end(&w);
        assert_out(&out, "[1234567.5,1.5e-07,1234567]");
    }
    setlocale(LC_ALL, "C");
}

static void close_what_is_not_open(struct json_writer *w)
{
    json_array_begin(w);
    json_object_end(w);
}

static void value_without_key(struct json_writer *w)
{
    json_object_begin(w);
    json_int(w, 1);
}

static void key_in_array(struct json_writer *w)
{
    json_array_begin(w);
    json_key(w, "k");
}

static void key_without_value(struct json_writer *w)
{
    json_object_begin(w);
    json_key(w, "k");
    json_object_end(w);
}

static void too_deep(struct json_writer *w)
{
    for (int i = 0; i < JSON_WRITE_DEPTH; i++)
        json_array_begin(w);
}

static void wrong_nesting_aborts_a_debug_build_and_never_leaves_the_memory(void **state)
{
    (void)state;
    static void (*const mistakes[])(struct json_writer *) = {close_what_is_not_open, value_without_key,
                                                             key_in_array, key_without_value, too_deep};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0});
            close(STDERR_FILENO);
            signal(SIGABRT, SIG_DFL);
            struct str out = {0};
            mistakes[i](&(struct json_writer){.out = &out});
            str_release(&out);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
#ifdef NDEBUG
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_nesting_are_kept),
        cmocka_unit_test(pretty_output_indents_each_level_and_keeps_empty_containers_short),
        cmocka_unit_test(values_at_the_top_follow_each_other_bare),
        cmocka_unit_test(the_output_may_be_drained_at_any_time),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(keys_are_escaped_and_repaired_too),
        cmocka_unit_test(good_utf8_stays_and_bad_utf8_is_replaced),
        cmocka_unit_test(integers_are_exact_over_their_whole_range),
        cmocka_unit_test(decimals_are_exact_over_the_whole_range),
        cmocka_unit_test(the_unknown_the_nan_and_the_infinite_are_null),
        cmocka_unit_test(doubles_are_short_and_read_back_the_same),
        cmocka_unit_test(no_locale_changes_a_number),
        cmocka_unit_test(wrong_nesting_aborts_a_debug_build_and_never_leaves_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
