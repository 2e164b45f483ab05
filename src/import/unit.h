/* Units as profilers print them, brought to base units: time in ns, sizes in bytes, frequencies in hz. */
#ifndef WARPLIGHT_IMPORT_UNIT_H
#define WARPLIGHT_IMPORT_UNIT_H

#include <stddef.h>

enum { UNIT_TEXT_BYTES = 64 };

/* Writes the base unit of text to base (NUL-terminated) and returns what values must be multiplied by:
 * "Kbyte" is 1000 byte, "usecond" 1000 ns, "sector/ns" 1e9 sector/s, "cycle/nsecond" 1e9 hz. A unit that is
 * not known stays as it is, cut to fit; "-" is none. Source: output of ncu 2020–2025, which scales by powers
 * of 1000, bytes too. */
double unit_to_base(const char *text, size_t length, char base[UNIT_TEXT_BYTES]);

#endif
