/* Finds a beat in a row of pauses: every so many of them one is long. */
#ifndef WARPLIGHT_ANALYZE_RHYTHM_H
#define WARPLIGHT_ANALYZE_RHYTHM_H

#include <stdint.h>

#include "base/vec.h"

struct rhythm {
    VEC(uint32_t) cuts; /* bar i is the items [cuts[i], cuts[i + 1]); empty: no rhythm */
    uint32_t period;    /* items in the typical bar, at least 2 */
};

/* pause[i] is the pause before item i. Fills rhythm (zeroed by the caller, who releases cuts). Found are bars
 * of nearly equal length, at least five of them, or three that longer pauses set far apart. O(n log n). */
void rhythm_find(const int64_t *pause, size_t count, struct rhythm *rhythm);

#endif
