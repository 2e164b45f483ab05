#include "analyze/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/time.h"
#include "know/know.h"

static const char unknown_text[] = "—";

enum { KERNEL_WIDTH = 60 };

struct unit {
    const char *name;
    double size; /* in base units */
};

/* Ascending. A value is printed in the largest unit that leaves at least 1 before the point. */
static const struct unit time_units[] = {{"ns", 1},  {"µs", 1e3},   {"ms", 1e6},
                                         {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
static const struct unit byte_units[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                         {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
static const struct unit rate_units[] = {{"B/s", 1},    {"kB/s", 1e3},  {"MB/s", 1e6},
                                         {"GB/s", 1e9}, {"TB/s", 1e12}, {"PB/s", 1e15}};

#define UNITS(table) table, sizeof table / sizeof table[0]

/* Digits after the point that leave `digits` significant ones, for a value that is printed below 1000. */
static int decimals(double value, int digits)
{
    int before = value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4;
    return before < digits ? digits - before : 0;
}

/* What printing with those decimals makes of value: 9.996 prints as 10.00, which has one digit too many. */
static double rounded(double value, int digits)
{
    double scale = pow(10, decimals(value, digits));
    return round(value * scale) / scale;
}

static void add_scaled(struct str *out, double value, int digits, const struct unit *units, size_t count)
{
    if (value < 0) {
        str_putc(out, '-');
        value = -value;
    }
    size_t u = 0;
    while (u + 1 < count && rounded(value / units[u].size, digits) * units[u].size >= units[u + 1].size)
        u++;
    /* Minutes only where seconds would need four digits. */
    if (units == time_units && u == 4 && value < 1000e9)
        u = 3;
    double shown = rounded(value / units[u].size, digits);
    bool whole = units[u].size == 1;
    str_addf(out, "%.*f %s", whole ? 0 : decimals(shown, digits), shown, units[u].name);
}

static void add_count(struct str *out, int64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value < 0 ? -(uint64_t)value : (uint64_t)value);
    if (value < 0)
        str_putc(out, '-');
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            str_putc(out, ',');
        str_putc(out, digits[i]);
    }
}

static void add_ratio(struct str *out, double ratio)
{
    double percent = fabs(ratio * 100);
    if (ratio < 0)
        str_putc(out, '-');
    if (percent > 0 && percent < 0.01) {
        str_puts(out, "<0.01 %");
        return;
    }
    double shown = rounded(percent, 3);
    str_addf(out, "%.*f %%", percent == 0 ? 0 : decimals(shown, 3), shown);
}

static void add_number(struct str *out, double value)
{
    double size = fabs(value);
    if (size != 0 && (size < 0.01 || size >= 1e6))
        str_addf(out, "%.3g", value);
    else if (size >= 1000)
        add_count(out, (int64_t)round(value));
    else if (value == round(value))
        str_addf(out, "%.0f", value);
    else
        str_addf(out, "%.*f", decimals(rounded(size, 3), 3), value);
}

static void add_text(struct str *out, const char *text)
{
    str_puts(out, text && *text ? text : unknown_text);
}

static void add_xid(struct str *out, int64_t code, int translate)
{
    const struct know_xid *known = know_xid_find(code);
    str_addf(out, "Xid %" PRId64, code);
    if (known)
        str_addf(out, translate && i18n_lang() == LANG_ZH ? "（%s）" : " (%s)",
                 translate ? know_text(known->en, known->zh) : known->en);
}

static bool is_unknown(const struct value *value)
{
    switch (value->type) {
    case VALUE_NONE:
        return true;
    case VALUE_COUNT:
    case VALUE_ID:
    case VALUE_NS:
    case VALUE_BYTES:
    case VALUE_TIME:
    case VALUE_XID:
        return value->i == UNKNOWN;
    case VALUE_RATIO:
    case VALUE_NUMBER:
    case VALUE_BYTES_PER_S:
        return !isfinite(value->d);
    case VALUE_TEXT:
    case VALUE_TERM:
    case VALUE_KERNEL:
        return !value->s || !*value->s;
    }
    return true;
}

void value_render(struct str *out, const struct value *value, int translate, int64_t origin_ns)
{
    if (is_unknown(value)) {
        str_puts(out, unknown_text);
        return;
    }
    switch (value->type) {
    case VALUE_NONE:
        break;
    case VALUE_COUNT:
        add_count(out, value->i);
        break;
    case VALUE_ID:
        str_addf(out, "%" PRId64, value->i);
        break;
    case VALUE_NS:
        add_scaled(out, (double)value->i, 3, UNITS(time_units));
        break;
    case VALUE_BYTES:
        add_scaled(out, (double)value->i, 3, UNITS(byte_units));
        break;
    case VALUE_RATIO:
        add_ratio(out, value->d);
        break;
    case VALUE_NUMBER:
        add_number(out, value->d);
        break;
    case VALUE_BYTES_PER_S:
        add_scaled(out, value->d, 3, UNITS(rate_units));
        break;
    case VALUE_TIME: /* a place to look up again, hence the extra digits */
        add_scaled(out, (double)value->i - (double)origin_ns, 6, time_units, 4);
        break;
    case VALUE_TEXT:
        add_text(out, value->s);
        break;
    case VALUE_TERM:
        add_text(out, translate ? i18n_text(value->s) : value->s);
        break;
    case VALUE_XID:
        add_xid(out, value->i, translate);
        break;
    case VALUE_KERNEL:
        kernel_shorten(out, value->s, KERNEL_WIDTH);
        break;
    }
}

static const char *sentence(const struct msg *msg, int translate)
{
    if (!msg->one)
        return translate ? i18n_text(msg->format) : msg->format;
    int64_t number = msg->values[msg->number].i;
    if (translate)
        return i18n_plural(msg->one, msg->format, number);
    return number == 1 ? msg->one : msg->format;
}

void msg_render(struct str *out, const struct msg *msg, int translate, int64_t origin_ns)
{
    if (!msg->format)
        return;
    const char *p = sentence(msg, translate);
    while (*p) {
        if (p[0] == '{' && p[1] >= '0' && p[1] < '0' + MSG_VALUES && p[2] == '}') {
            value_render(out, &msg->values[p[1] - '0'], translate, origin_ns);
            p += 3;
        } else {
            str_putc(out, *p++);
        }
    }
}
