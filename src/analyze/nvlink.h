/* The registers of an NVLink error: Xid 74 prints them behind the number of the link,
 *
 *     NVLink: fatal error detected on link 5(0x20000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)
 *
 * and data/know/nvlink.tsv says what their bits mean. */
#ifndef WARPLIGHT_ANALYZE_NVLINK_H
#define WARPLIGHT_ANALYZE_NVLINK_H

#include "model/diagnosis.h"

/* What the bits that are set in the line mean, what counts most first; plain is NULL where it has no
 * registers or none of their bits is known. */
struct words nvlink_words(struct diagnosis *d, const char *line);

#endif
