#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

static void clear_environment(void)
{
    const char *const names[] = {"WARPLIGHT_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static enum lang with(const char *name, const char *value)
{
    setenv(name, value, 1);
    return i18n_from_environment();
}

static void no_setting_is_english(void **state)
{
    (void)state;
    clear_environment();
    assert_int_equal(i18n_from_environment(), LANG_EN);
}

static void every_chinese_locale_gets_chinese_whether_installed_or_not(void **state)
{
    (void)state;
    const char *const names[] = {"zh_CN.UTF-8", "zh_CN",      "zh",     "zh_TW.UTF-8",
                                 "zh_HK",       "zh_SG.utf8", "zh-Hans"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clear_environment();
        assert_int_equal(with("LANG", names[i]), LANG_ZH);
    }
}

static void other_locales_get_english(void **state)
{
    (void)state;
    const char *const names[] = {"en_US.UTF-8", "de_DE", "C.UTF-8", "C", "POSIX", "zho", "zha_CN", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clear_environment();
        assert_int_equal(with("LANG", names[i]), LANG_EN);
    }
}

static void own_variable_goes_before_all_others(void **state)
{
    (void)state;
    clear_environment();
    setenv("LC_ALL", "C", 1);
    assert_int_equal(with("WARPLIGHT_LANG", "zh"), LANG_ZH);
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    assert_int_equal(with("WARPLIGHT_LANG", "en"), LANG_EN);
}

static void lc_all_goes_before_lc_messages_before_lang(void **state)
{
    (void)state;
    clear_environment();
    assert_int_equal(with("LANG", "zh_CN"), LANG_ZH);
    assert_int_equal(with("LC_MESSAGES", "en_GB"), LANG_EN);
    assert_int_equal(with("LC_ALL", "zh_CN"), LANG_ZH);
}

static void language_list_is_obeyed_except_in_the_c_locale(void **state)
{
    (void)state;
    clear_environment();
    setenv("LANG", "de_DE.UTF-8", 1);
    assert_int_equal(with("LANGUAGE", "fr:zh_CN:en"), LANG_ZH);
    assert_int_equal(with("LANGUAGE", "en:zh_CN"), LANG_EN);
    setenv("LANGUAGE", "zh_CN", 1);
    assert_int_equal(with("LC_ALL", "C"), LANG_EN);
}

static void translation_follows_the_chosen_language(void **state)
{
    (void)state;
    i18n_set(LANG_ZH);
    assert_int_equal(i18n_lang(), LANG_ZH);
    assert_string_equal(i18n_text("compute"), "计算");
    i18n_set(LANG_EN);
    assert_string_equal(i18n_text("compute"), "compute");
}

static void english_has_two_numbers_and_chinese_one(void **state)
{
    (void)state;
    static const char one[] = "{0} overhead record", many[] = "{0} overhead records";
    i18n_set(LANG_EN);
    assert_string_equal(i18n_plural(one, many, 1), one);
    assert_string_equal(i18n_plural(one, many, 0), many);
    assert_string_equal(i18n_plural(one, many, 2), many);
    i18n_set(LANG_ZH);
    assert_string_equal(i18n_plural(one, many, 1), i18n_plural(one, many, 2));
    assert_string_not_equal(i18n_plural(one, many, 1), one);
    i18n_set(LANG_EN);
}

static void unknown_texts_and_the_empty_text_stay_as_they_are(void **state)
{
    (void)state;
    static const char text[] = "no catalogue has this text \x01";
    i18n_set(LANG_ZH);
    assert_ptr_equal(i18n_text(text), text);
    assert_string_equal(i18n_text(""), "");
    i18n_set(LANG_EN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_setting_is_english),
        cmocka_unit_test(every_chinese_locale_gets_chinese_whether_installed_or_not),
        cmocka_unit_test(other_locales_get_english),
        cmocka_unit_test(own_variable_goes_before_all_others),
        cmocka_unit_test(lc_all_goes_before_lc_messages_before_lang),
        cmocka_unit_test(language_list_is_obeyed_except_in_the_c_locale),
        cmocka_unit_test(translation_follows_the_chosen_language),
        cmocka_unit_test(english_has_two_numbers_and_chinese_one),
        cmocka_unit_test(unknown_texts_and_the_empty_text_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
