/* The steady part of a run: from its first ordinary step to its last GPU work.
 *
 * A program first imports, makes contexts, loads code and warms up. In a short run that takes most of the
 * time, and it is seldom what people want to know. Where repeated work is found, findings are therefore about
 * the steady part alone; the ledger is about all. */
#ifndef WARPLIGHT_ANALYZE_STEADY_H
#define WARPLIGHT_ANALYZE_STEADY_H

#include "analyze/analyze.h"

/* Needs ledger, gaps and steps. False where the part is not told apart: the user chose a window, there are
 * fewer than five steps, several recordings lie side by side, less than a tenth of the time is idle time
 * outside, beyond what two steps take, or more than a quarter of the GPUs' work lies there. */
bool steady_find(const struct report *report, struct interval *steady);

#endif
