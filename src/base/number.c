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
