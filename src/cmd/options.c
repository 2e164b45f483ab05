#include "cmd/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/str.h"
#include "cmd/suggest.h"

/* ---- values -------------------------------------------------------------------------------------------- */

struct scale {
    const char *suffix;
    double factor;
};

static const struct scale duration_scales[] = {{"ns", 1},     {"us", 1e3}, {"µs", 1e3},   {"ms", 1e6},
                                               {"s", 1e9},    {"", 1e9},   {"min", 60e9}, {"m", 60e9},
                                               {"h", 3600e9}, {NULL, 0}};
static const struct scale byte_scales[] = {{"", 1},       {"B", 1},        {"K", 0x1p10}, {"KiB", 0x1p10},
                                           {"M", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30},
                                           {"T", 0x1p40}, {"TiB", 0x1p40}, {NULL, 0}};

/* Plain decimal only: strtod() alone would take "0x10", "1e9" and "inf" too. */
static bool parse_decimal(const char *text, double *number, const char **end)
{
    char *stop;
    *number = strtod(text, &stop);
    *end = text + strspn(text, "0123456789.");
    return stop == *end && stop > text;
}

static bool parse_scaled(const char *text, const struct scale *scales, int64_t *out)
{
    double number;
    const char *end;
    if (!parse_decimal(text, &number, &end))
        return false;
    for (const struct scale *s = scales; s->suffix; s++) {
        if (strcmp(end, s->suffix) != 0)
            continue;
        double value = round(number * s->factor);
        if (!(value < 0x1p62))
            return false;
        *out = (int64_t)value;
        return true;
    }
    return false;
}

bool option_duration(const char *text, int64_t *ns)
{
    return parse_scaled(text, duration_scales, ns);
}

bool option_bytes(const char *text, int64_t *bytes)
{
    return parse_scaled(text, byte_scales, bytes);
}

bool option_moment(const char *text, struct moment *moment)
{
    *moment = (struct moment){.given = true};
    size_t length = strlen(text);
    if (length < 2 || text[length - 1] != '%')
        return option_duration(text, &moment->ns);
    const char *end;
    double percent;
    if (!parse_decimal(text, &percent, &end) || end != text + length - 1)
        return false;
    moment->share = percent / 100;
    moment->is_share = true;
    return percent <= 100;
}

static bool parse_count(const char *text, int64_t *count)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *count = value;
    return *end == '\0' && errno == 0;
}

int option_choice(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    return -1;
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static int fail_choice(const struct option *option, const char *text, struct err *err)
{
    struct suggestion best = {0};
    struct str all = {0};
    for (int i = 0; option->choices[i]; i++) {
        suggest_offer(&best, text, option->choices[i]);
        str_addf(&all, "%s%s", i ? ", " : "", option->choices[i]);
    }
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else
        str_addf(&hint, _("choose from %s"), str_text(&all));
    int rc =
        err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("--%s does not know '%s'"), option->name, text);
    str_release(&hint);
    str_release(&all);
    return rc;
}

static int fail_value(const struct option *option, const char *text, struct err *err)
{
    static const char *const expected[] = {
        [OPTION_COUNT] = N_("give a whole number, such as 10"),
        [OPTION_BYTES] = N_("give a size, such as 64KiB or 2MiB"),
        [OPTION_DURATION] = N_("give a time, such as 1.5s or 20ms"),
        [OPTION_MOMENT] = N_("give a time since the start, such as 1.5s or 20ms, or a share, such as 30%"),
    };
    return err_set(err, ERR_USAGE, NULL, -1, _(expected[option->type]), _("--%s cannot be '%s'"),
                   option->name, text);
}

static int fail_unknown(const struct parse *parse, const char *typed, struct err *err)
{
    struct suggestion best = {0};
    struct str name = {0};
    str_add(&name, typed, strcspn(typed, "="));
    for (int g = 0; g < OPTION_GROUPS; g++)
        for (const struct option *o = parse->groups[g].options; o && o->name; o++)
            suggest_offer(&best, str_text(&name) + 2, o->name);
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '--%s'?"), best.text);
    else
        str_puts(&hint, _("'--help' lists the options"));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("unknown option '%s'"), str_text(&name));
    str_release(&name);
    str_release(&hint);
    return rc;
}

/* ---- parsing ------------------------------------------------------------------------------------------- */

static int set_from_list(const struct option *option, const char *text, uint64_t *bits, struct err *err)
{
    struct str item = {0};
    int rc = 0;
    for (const char *p = text; rc == 0; p++) {
        size_t length = strcspn(p, ",");
        str_cut(&item, 0);
        str_add(&item, p, length);
        int index = option_choice(option->choices, str_text(&item));
        if (index < 0)
            rc = fail_choice(option, str_text(&item), err);
        else
            *bits |= UINT64_C(1) << index;
        p += length;
        if (!*p)
            break;
    }
    str_release(&item);
    return rc;
}

static int set_value(const struct option *option, void *values, const char *text, struct err *err)
{
    void *at = (char *)values + option->offset;
    bool ok = true;
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)at = true;
        break;
    case OPTION_COUNT:
        ok = parse_count(text, at);
        break;
    case OPTION_BYTES:
        ok = option_bytes(text, at);
        break;
    case OPTION_DURATION:
        ok = option_duration(text, at);
        break;
    case OPTION_MOMENT:
        ok = option_moment(text, at);
        break;
    case OPTION_TEXT:
    case OPTION_FILE:
        *(const char **)at = text;
        break;
    case OPTION_CHOICE: {
        int index = option_choice(option->choices, text);
        if (index < 0)
            return fail_choice(option, text, err);
        *(int *)at = index;
        break;
    }
    case OPTION_SET:
        return set_from_list(option, text, at, err);
    }
    return ok ? 0 : fail_value(option, text, err);
}

struct found {
    const struct option *option;
    void *values;
};

static struct found find_long(const struct parse *parse, const char *name, size_t length)
{
    for (int g = 0; g < OPTION_GROUPS; g++)
        for (const struct option *o = parse->groups[g].options; o && o->name; o++)
            if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
                return (struct found){o, parse->groups[g].values};
    return (struct found){0};
}

static struct found find_letter(const struct parse *parse, char letter)
{
    for (int g = 0; g < OPTION_GROUPS; g++)
        for (const struct option *o = parse->groups[g].options; o && o->name; o++)
            if (o->letter == letter)
                return (struct found){o, parse->groups[g].values};
    return (struct found){0};
}

static int fail_missing(const struct option *option, struct err *err)
{
    return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--%s needs a value (%s)"), option->name,
                   _(option->argument));
}

/* Parses the option at argv[0]; *used becomes 2 if it took the next argument as its value. */
static int parse_long(const struct parse *parse, int argc, char **argv, int *used, struct err *err)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    struct found f = find_long(parse, name, length);
    if (!f.option)
        return fail_unknown(parse, argv[0], err);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (f.option->type == OPTION_FLAG) {
        if (value)
            return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--%s takes no value"), f.option->name);
    } else if (!value) {
        if (argc < 2)
            return fail_missing(f.option, err);
        value = argv[1];
        *used = 2;
    }
    return set_value(f.option, f.values, value, err);
}

static int parse_letters(const struct parse *parse, int argc, char **argv, int *used, struct err *err)
{
    for (const char *p = argv[0] + 1; *p; p++) {
        struct found f = find_letter(parse, *p);
        if (!f.option)
            return err_set(err, ERR_USAGE, NULL, -1, _("'--help' lists the options"),
                           _("unknown option '-%.*s'"), (unsigned char)*p < 0x80 ? 1 : (int)strlen(p), p);
        if (f.option->type == OPTION_FLAG) {
            int rc = set_value(f.option, f.values, NULL, err);
            if (rc < 0)
                return rc;
            continue;
        }
        const char *value = p + 1;
        if (!*value) {
            if (argc < 2)
                return fail_missing(f.option, err);
            value = argv[1];
            *used = 2;
        }
        return set_value(f.option, f.values, value, err);
    }
    return 0;
}

int options_parse(struct parse *parse, int argc, char **argv, struct err *err)
{
    parse->operands = argv;
    parse->operand_count = 0;
    parse->dashes = -1;
    bool options_ended = false;
    for (int i = 0; i < argc;) {
        char *word = argv[i];
        int used = 1, rc = 0;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            argv[parse->operand_count++] = word;
            options_ended |= parse->stop_at_operand;
        } else if (strcmp(word, "--") == 0) {
            options_ended = true;
            parse->dashes = parse->operand_count;
        } else if (word[1] == '-') {
            rc = parse_long(parse, argc - i, argv + i, &used, err);
        } else {
            rc = parse_letters(parse, argc - i, argv + i, &used, err);
        }
        if (rc < 0)
            return rc;
        i += used;
    }
    return 0;
}
