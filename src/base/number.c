#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void number_add_double(struct str *out, double value)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    /* printf and strtod follow the locale together. What it put between the digits becomes a point. */
    static const char common[] = "+-0123456789e";
    size_t whole = strspn(text, common);
    str_add(out, text, whole);
    if (text[whole] == '\0')
        return;
    size_t point = strcspn(text + whole, common);
    str_putc(out, '.');
    str_puts(out, text + whole + point);
}

enum { UINT64_DIGITS = 20 };

void number_add_uint(struct str *out, uint64_t value, int min_digits)
{
    char digits[UINT64_DIGITS];
    int n = 0;
    for (; value > 0; value /= 10)
        digits[UINT64_DIGITS - ++n] = (char)('0' + value % 10);
    if (n < min_digits)
        str_pad(out, '0', (size_t)(min_digits - n));
    str_add(out, digits + UINT64_DIGITS - n, (size_t)n);
}

void number_add_int(struct str *out, int64_t value)
{
    if (value < 0)
        str_putc(out, '-');
    number_add_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
}
