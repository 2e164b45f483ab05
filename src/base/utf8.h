/* UTF-8 (RFC 3629) of unknown quality, and how many columns of a terminal a text takes.
 *
 * Nothing here looks at the locale. Widths follow Unicode 14: two columns for East Asian wide and fullwidth
 * characters, none for combining marks, format characters and controls, one for the rest. */
#ifndef WARPLIGHT_BASE_UTF8_H
#define WARPLIGHT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UTF8_REPLACEMENT 0xfffdu

/* Decodes the first code point of text (length > 0) and sets *used to its bytes. What is no valid code point
 * (surrogates and overlong forms too) yields UTF8_REPLACEMENT and the longest piece that one U+FFFD should
 * stand for (Unicode 14, section 3.9, "maximal subpart"). */
uint32_t utf8_decode(const char *text, size_t length, size_t *used);
/* The number of leading bytes that are valid; equals length if all are. */
size_t utf8_valid(const char *text, size_t length);
/* Appends a code point; one that is not valid as UTF8_REPLACEMENT. */
void utf8_add(struct str *out, uint32_t code);
/* Appends text with each invalid piece replaced by U+FFFD. */
void utf8_repair(struct str *out, const char *text, size_t length);
/* The same for text that goes to a terminal or into one line: controls (line ends too) become their visible
 * pictures, as U+241B for escape, and characters that reverse the direction of writing become U+FFFD. */
void utf8_visible(struct str *out, const char *text, size_t length);

/* Columns of one code point: 0, 1 or 2. */
int utf8_columns(uint32_t code);
/* Columns of a text; an invalid piece counts as the U+FFFD that replaces it. At most INT_MAX. */
int utf8_width(const char *text, size_t length);
/* The number of leading bytes that fit in columns; never ends inside a code point or before a mark that
 * belongs to the character before it. */
size_t utf8_cut(const char *text, size_t length, int columns);

#endif
