/* Between the printers of profiled kernels. */
#ifndef WARPLIGHT_VIEW_PROFILES_H
#define WARPLIGHT_VIEW_PROFILES_H

#include "analyze/profiles.h"
#include "view/view.h"

/* report->profiles: for CSV with every metric. */
extern const struct section profile_section;
/* Members of the open JSON object, and columns of CSV, that are the same for every row: what was launched. */
extern const struct column profile_columns[];
/* For machines: why a metric has no value. */
const char *state_name(enum counter_state state);
/* What people call a metric: "DRAM throughput" (msgid); NULL where they are not shown it. */
const char *metric_title(enum metric id);
struct value metric_cell(enum metric id, double value);

/* profile_detail.c: everything about one kernel. */
void profile_detail(struct screen *s, const struct report *report, const struct profile_row *row,
                    const struct view_options *options);
/* Its counters by their own names, one a line. */
void profile_counters(struct screen *s, const struct report *report, const struct profile_row *row);

#endif
