#include "cmocka_all.h"

#include <limits.h>
#include <string.h>

#include "base/time.h"
#include "cmd/options.h"
#include "cmd/suggest.h"

static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const parts[] = {"kernels", "copies", "gaps", NULL};

struct values {
    bool verbose, all;
    int64_t limit, size, delay;
    struct moment from;
    const char *name;
    int color;
    uint64_t parts;
};

#define AT(field) offsetof(struct values, field)
static const struct option table[] = {
    {"verbose", 'v', OPTION_FLAG, NULL, "", AT(verbose), NULL},
    {"all", 'a', OPTION_FLAG, NULL, "", AT(all), NULL},
    {"limit", 'n', OPTION_COUNT, "N", "", AT(limit), NULL},
    {"size", 0, OPTION_BYTES, "SIZE", "", AT(size), NULL},
    {"delay", 0, OPTION_DURATION, "TIME", "", AT(delay), NULL},
    {"from", 0, OPTION_MOMENT, "TIME", "", AT(from), NULL},
    {"name", 'o', OPTION_TEXT, "NAME", "", AT(name), NULL},
    {"color", 0, OPTION_CHOICE, "WHEN", "", AT(color), colors},
    {"part", 's', OPTION_SET, "PART", "", AT(parts), parts},
    OPTION_END,
};

static struct values values;
static struct parse parse;
static struct err err;

enum { MAX_WORDS = 16 };

/* Parses the words, which end with NULL. */
static int parse_words(const char *const *words)
{
    static char *argv[MAX_WORDS];
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = (char *)words[argc]; /* the parser only moves the words */
    values = (struct values){.limit = UNKNOWN};
    err = (struct err){0};
    parse = (struct parse){.groups = {{table, &values}}, .stop_at_operand = parse.stop_at_operand};
    return options_parse(&parse, argc, argv, &err);
}

#define PARSE(...) parse_words((const char *const[]){__VA_ARGS__, NULL})

static int reset(void **state)
{
    (void)state;
    parse = (struct parse){0};
    return 0;
}

static void values_stand_behind_equals_or_in_the_next_word_or_at_the_letter(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--limit=5"), 0);
    assert_int_equal(values.limit, 5);
    assert_int_equal(PARSE("--limit", "6"), 0);
    assert_int_equal(values.limit, 6);
    assert_int_equal(PARSE("-n7"), 0);
    assert_int_equal(values.limit, 7);
    assert_int_equal(PARSE("-n", "8"), 0);
    assert_int_equal(values.limit, 8);
    assert_int_equal(PARSE("--name="), 0);
    assert_string_equal(values.name, "");
}

static void letters_of_flags_can_be_bundled(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-van9"), 0);
    assert_true(values.verbose);
    assert_true(values.all);
    assert_int_equal(values.limit, 9);
}

static void operands_and_options_mix_until_two_dashes(void **state)
{
    (void)state;
    assert_int_equal(PARSE("a", "-v", "-", "--", "--limit", "-x"), 0);
    assert_true(values.verbose);
    assert_int_equal(values.limit, UNKNOWN);
    assert_int_equal(parse.operand_count, 4);
    assert_string_equal(parse.operands[0], "a");
    assert_string_equal(parse.operands[1], "-");
    assert_string_equal(parse.operands[2], "--limit");
    assert_string_equal(parse.operands[3], "-x");
}

static void options_behind_a_program_belong_to_the_program(void **state)
{
    (void)state;
    parse.stop_at_operand = true;
    assert_int_equal(PARSE("-v", "python", "--all", "-q"), 0);
    assert_true(values.verbose);
    assert_false(values.all);
    assert_int_equal(parse.operand_count, 3);
    assert_string_equal(parse.operands[1], "--all");
}

static void a_value_may_look_like_an_option(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--name", "--all"), 0);
    assert_string_equal(values.name, "--all");
    assert_false(values.all);
}

static void an_unknown_option_names_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--limt=3"), ERR_USAGE);
    assert_non_null(strstr(err.what, "'--limt'"));
    assert_non_null(strstr(err.hint, "'--limit'"));
    assert_int_equal(PARSE("--zzzzzz"), ERR_USAGE);
    assert_null(strstr(err.hint, "did you mean"));
    assert_int_equal(PARSE("-q"), ERR_USAGE);
    assert_non_null(strstr(err.what, "'-q'"));
}

static void an_unknown_choice_names_the_nearest_or_all(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--color", "alway"), ERR_USAGE);
    assert_non_null(strstr(err.hint, "'always'"));
    assert_int_equal(PARSE("--color", "red"), ERR_USAGE);
    assert_non_null(strstr(err.hint, "auto, always, never"));
    assert_int_equal(PARSE("--color", "never"), 0);
    assert_int_equal(values.color, 2);
}

static void sets_gather_over_commas_and_repetition(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--part=kernels,gaps", "-s", "copies"), 0);
    assert_int_equal(values.parts, 7);
    assert_int_equal(PARSE("--part", "gaps"), 0);
    assert_int_equal(values.parts, 4);
    assert_int_equal(PARSE("--part", "gaps,"), ERR_USAGE);
    assert_int_equal(PARSE("--part", ""), ERR_USAGE);
}

static void missing_and_superfluous_values_are_errors(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--limit"), ERR_USAGE);
    assert_int_equal(PARSE("-n"), ERR_USAGE);
    assert_int_equal(PARSE("--verbose=1"), ERR_USAGE);
}

static void numbers_must_be_whole_and_in_range(void **state)
{
    (void)state;
    const char *const wrong[] = {"", "x", "-1", "+1", "1x", "1.5", " 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(PARSE("--limit", wrong[i]), ERR_USAGE);
}

static void durations_have_units_and_seconds_without(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } right[] = {{"1.5s", 1500000000},   {"20ms", 20000000}, {"3us", 3000},
                 {"3µs", 3000},          {"7ns", 7},         {"2", 2000000000},
                 {"2min", 120000000000}, {".5s", 500000000}, {"1h", INT64_C(3600000000000)}};
    static const char *const wrong[] = {"", "s", "1 s", "-1s", "1x", "1e400s", "nan", "inf", "0x10"};
    int64_t ns;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_true(option_duration(right[i].text, &ns));
        assert_int_equal(ns, right[i].ns);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(option_duration(wrong[i], &ns));
}

static void sizes_are_powers_of_1024(void **state)
{
    (void)state;
    int64_t bytes;
    assert_true(option_bytes("64", &bytes));
    assert_int_equal(bytes, 64);
    assert_true(option_bytes("64K", &bytes));
    assert_int_equal(bytes, 65536);
    assert_true(option_bytes("1.5MiB", &bytes));
    assert_int_equal(bytes, 1572864);
    assert_false(option_bytes("1MBB", &bytes));
    assert_false(option_bytes("9999999999T", &bytes));
}

static void moments_are_durations_or_shares_of_the_run(void **state)
{
    (void)state;
    struct moment moment;
    assert_true(option_moment("30%", &moment));
    assert_true(moment.given && moment.is_share);
    assert_true(moment.share > 0.2999 && moment.share < 0.3001);
    assert_true(option_moment("20ms", &moment));
    assert_true(moment.given && !moment.is_share);
    assert_int_equal(moment.ns, 20000000);
    assert_false(option_moment("101%", &moment));
    assert_false(option_moment("-1%", &moment));
    assert_false(option_moment("%", &moment));
    assert_false(option_moment("1x%", &moment));
}

static void distance_counts_typing_errors(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance("report", "report"), 0);
    assert_int_equal(suggest_distance("repotr", "report"), 1);
    assert_int_equal(suggest_distance("reprt", "report"), 1);
    assert_int_equal(suggest_distance("rreport", "report"), 1);
    assert_int_equal(suggest_distance("resort", "report"), 1);
    assert_int_equal(suggest_distance("", "abc"), 3);
    char longer[80];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(suggest_distance(longer, "a"), INT_MAX);
}

static const char *nearest(const char *typed)
{
    struct suggestion best = {0};
    suggest_offer(&best, typed, "report");
    suggest_offer(&best, typed, "idle-launch-bound");
    suggest_offer(&best, typed, "idle-host-sync");
    return best.text;
}

static void suggestions_fit_beginnings_and_typing_errors_and_nothing_else(void **state)
{
    (void)state;
    assert_string_equal(nearest("repotr"), "report");
    assert_string_equal(nearest("idle-lanch"), "idle-launch-bound");
    assert_string_equal(nearest("idle-host"), "idle-host-sync");
    assert_null(nearest("/etc/passwd"));
    assert_null(nearest("x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_stand_behind_equals_or_in_the_next_word_or_at_the_letter, reset),
        cmocka_unit_test_setup(letters_of_flags_can_be_bundled, reset),
        cmocka_unit_test_setup(operands_and_options_mix_until_two_dashes, reset),
        cmocka_unit_test_setup(options_behind_a_program_belong_to_the_program, reset),
        cmocka_unit_test_setup(a_value_may_look_like_an_option, reset),
        cmocka_unit_test_setup(an_unknown_option_names_the_nearest, reset),
        cmocka_unit_test_setup(an_unknown_choice_names_the_nearest_or_all, reset),
        cmocka_unit_test_setup(sets_gather_over_commas_and_repetition, reset),
        cmocka_unit_test_setup(missing_and_superfluous_values_are_errors, reset),
        cmocka_unit_test_setup(numbers_must_be_whole_and_in_range, reset),
        cmocka_unit_test(durations_have_units_and_seconds_without),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(moments_are_durations_or_shares_of_the_run),
        cmocka_unit_test(distance_counts_typing_errors),
        cmocka_unit_test(suggestions_fit_beginnings_and_typing_errors_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
