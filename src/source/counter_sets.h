/* Which counters are measured of a kernel: sets of PerfWorks names for all chips.
 *
 * Names, and what fits in a pass: the host interface of CUPTI 13.0, for each chip it knows. What a chip has
 * not is left out where the chip is known. */
#ifndef WARPLIGHT_SOURCE_COUNTER_SETS_H
#define WARPLIGHT_SOURCE_COUNTER_SETS_H

#include <stddef.h>

/* One pass on every chip from Ampere on; the most telling first: on others what fits is measured. */
extern const char *const counters_quick[];
extern const size_t counters_quick_count;
/* What --deep adds, in several passes. */
extern const char *const counters_deep[];
extern const size_t counters_deep_count;

#endif
