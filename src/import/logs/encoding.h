/* Text files as UTF-8. Windows writes UTF-16 where nobody asked for it: `nvidia-smi > smi.txt` in PowerShell.
 */
#ifndef WARPLIGHT_IMPORT_LOGS_ENCODING_H
#define WARPLIGHT_IMPORT_LOGS_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* How far a file has been decoded. */
struct encoding {
    enum { ENCODING_BYTES, ENCODING_UTF16_LE, ENCODING_UTF16_BE } of; /* bytes are taken as they are */
    size_t mark;   /* bytes of the byte order mark that are still to be skipped */
    bool has_half; /* the first byte of a unit was at the end of the piece before */
    unsigned char half;
    uint16_t high; /* the first half of a pair of units, or 0 */
};

/* Decides by the byte order mark, or by where the head of the file has zeros. */
void encoding_find(struct encoding *e, const char *head, size_t length);
/* Appends the next piece of the file. What is no character becomes U+FFFD. */
void encoding_decode(struct encoding *e, struct str *out, const char *data, size_t length);

#endif
