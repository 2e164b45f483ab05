/* What changed between two measurements of kernels, and what of it is more than noise. */
#ifndef WARPLIGHT_ANALYZE_CHANGES_H
#define WARPLIGHT_ANALYZE_CHANGES_H

#include "analyze/report.h"

/* Fills report->changes from two reports that profiles_build() filled; baseline must outlive report. Kernels
 * are matched by name, grid and block; where a name stands once on each side, by name alone. Names of
 * different tools match if they differ in parameters, return type or blanks only. */
void changes_build(struct report *report, const struct report *baseline);
void changes_release(struct report *report);

/* Whether the time of a kernel that takes at least 1 % of the time, or of all kernels that are on both sides
 * together, rose by more than ratio, and by more than noise. */
bool changes_exceed(const struct report *report, double ratio);
/* Time of a launch of each of the kernels that are on both sides, times its launches after: what the change
 * alone made of it. */
void changes_total(const struct report *report, double *before_ns, double *after_ns);

#endif
