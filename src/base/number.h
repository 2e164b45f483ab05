/* Numbers for machines: no locale, no surprises. */
#ifndef WARPLIGHT_BASE_NUMBER_H
#define WARPLIGHT_BASE_NUMBER_H

#include <stdint.h>

#include "base/str.h"

/* Appends a finite value with as few of 15 to 17 significant digits as read back to the same value, with a
 * '.' whatever the locale says: "0.1", "-1e+300", "3". */
void number_add_double(struct str *out, double value);

/* Appends a whole number; the magnitude has at least min_digits digits, with zeros in front. */
void number_add_uint(struct str *out, uint64_t value, int min_digits);
void number_add_int(struct str *out, int64_t value);

#endif
