#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "base/time.h"

static void assert_renders(struct value value, const char *expected)
{
    struct str text = {0};
    value_render(&text, &value, 0, 0);
    assert_string_equal(str_text(&text), expected);
    str_release(&text);
}

static void times_have_three_digits_and_the_largest_fitting_unit(void **state)
{
    (void)state;
    assert_renders(value_ns(0), "0 ns");
    assert_renders(value_ns(999), "999 ns");
    assert_renders(value_ns(1000), "1.00 µs");
    assert_renders(value_ns(4210000), "4.21 ms");
    assert_renders(value_ns(31249000), "31.2 ms");
    assert_renders(value_ns(456000000), "456 ms");
    assert_renders(value_ns(90000000000), "90.0 s");
    assert_renders(value_ns(999000000000), "999 s");
    assert_renders(value_ns(1002000000000), "16.7 min");
    assert_renders(value_ns(10000000000000), "2.78 h");
    assert_renders(value_ns(-1500000), "-1.50 ms");
}

static void rounding_up_to_the_next_unit_changes_the_unit(void **state)
{
    (void)state;
    assert_renders(value_ns(999499), "999 µs");
    assert_renders(value_ns(999600), "1.00 ms");
    assert_renders(value_ns(9996000), "10.0 ms");
    assert_renders(value_bytes(1048575), "1.00 MiB");
}

static void bytes_are_binary_and_rates_decimal(void **state)
{
    (void)state;
    assert_renders(value_bytes(512), "512 B");
    assert_renders(value_bytes(1536), "1.50 KiB");
    assert_renders(value_bytes(INT64_C(150109880320)), "140 GiB");
    assert_renders(value_rate(10.87e9), "10.9 GB/s");
    assert_renders(value_rate(3.35e12), "3.35 TB/s");
}

static void ratios_are_percentages(void **state)
{
    (void)state;
    assert_renders(value_ratio(0), "0 %");
    assert_renders(value_ratio(0.00001), "<0.01 %");
    assert_renders(value_ratio(0.0042), "0.42 %");
    assert_renders(value_ratio(0.312), "31.2 %");
    assert_renders(value_ratio(0.9999), "100 %");
    assert_renders(value_ratio(1), "100 %");
}

static void counts_are_grouped_and_identifiers_are_not(void **state)
{
    (void)state;
    assert_renders(value_count(999), "999");
    assert_renders(value_count(1234567), "1,234,567");
    assert_renders(value_count(-1000), "-1,000");
    assert_renders(value_count(INT64_MAX), "9,223,372,036,854,775,807");
    assert_renders(value_id(64631), "64631");
}

static void unknown_is_a_dash_and_never_a_number(void **state)
{
    (void)state;
    assert_renders(value_ns(UNKNOWN), "—");
    assert_renders(value_bytes(UNKNOWN), "—");
    assert_renders(value_count(UNKNOWN), "—");
    assert_renders(value_ratio((double)NAN), "—");
    assert_renders(value_rate((double)INFINITY), "—");
    assert_renders(value_text(NULL), "—");
    assert_renders(value_text(""), "—");
    assert_renders((struct value){0}, "—");
}

static void moments_count_from_the_origin_and_can_be_looked_up_again(void **state)
{
    (void)state;
    struct str text = {0};
    value_render(&text, &(struct value){VALUE_TIME, {.i = INT64_C(5000000123456)}}, 0,
                 INT64_C(5000000000000));
    assert_string_equal(str_text(&text), "123.456 µs");
    str_release(&text);
}

static void place_holders_take_values_in_any_order_and_other_braces_stay(void **state)
{
    (void)state;
    struct msg msg = msg_make("{1} of {0}, {9} {x} {", value_ns(2000), value_count(3));
    struct str text = {0};
    msg_render(&text, &msg, 0, 0);
    assert_string_equal(str_text(&text), "3 of 2.00 µs, {9} {x} {");
    str_release(&text);
}

static void a_place_holder_without_value_is_unknown(void **state)
{
    (void)state;
    struct msg msg = msg_make("{0}|{1}", value_count(1));
    struct str text = {0};
    msg_render(&text, &msg, 0, 0);
    assert_string_equal(str_text(&text), "1|—");
    str_release(&text);
}

static void values_are_not_read_as_place_holders(void **state)
{
    (void)state;
    struct msg msg = msg_make("{0} {1}", value_text("{1}%s"), value_text("x"));
    struct str text = {0};
    msg_render(&text, &msg, 0, 0);
    assert_string_equal(str_text(&text), "{1}%s x");
    str_release(&text);
}

static void terms_are_translated_only_when_asked(void **state)
{
    (void)state;
    struct msg msg = msg_make("{0}", value_term("compute"));
    struct str english = {0}, chinese = {0};
    i18n_set(LANG_ZH);
    msg_render(&english, &msg, 0, 0);
    msg_render(&chinese, &msg, 1, 0);
    i18n_set(LANG_EN);
    assert_string_equal(str_text(&english), "compute");
    assert_string_equal(str_text(&chinese), "计算");
    str_release(&english);
    str_release(&chinese);
}

static void an_empty_message_renders_nothing(void **state)
{
    (void)state;
    struct str text = {0};
    msg_render(&text, &(struct msg){0}, 1, 0);
    assert_int_equal(text.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_digits_and_the_largest_fitting_unit),
        cmocka_unit_test(rounding_up_to_the_next_unit_changes_the_unit),
        cmocka_unit_test(bytes_are_binary_and_rates_decimal),
        cmocka_unit_test(ratios_are_percentages),
        cmocka_unit_test(counts_are_grouped_and_identifiers_are_not),
        cmocka_unit_test(unknown_is_a_dash_and_never_a_number),
        cmocka_unit_test(moments_count_from_the_origin_and_can_be_looked_up_again),
        cmocka_unit_test(place_holders_take_values_in_any_order_and_other_braces_stay),
        cmocka_unit_test(a_place_holder_without_value_is_unknown),
        cmocka_unit_test(values_are_not_read_as_place_holders),
        cmocka_unit_test(terms_are_translated_only_when_asked),
        cmocka_unit_test(an_empty_message_renders_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
