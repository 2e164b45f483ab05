/* Printers of a report. None computes: they order, cut and lay out what struct report holds. */
#ifndef WARPLIGHT_VIEW_VIEW_H
#define WARPLIGHT_VIEW_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "view/screen.h"
#include "view/sections.h"

struct view_options {
    uint64_t sections; /* bit 1 << enum section_id; 0: what the format shows by itself */
    int64_t limit;     /* most rows of a table; UNKNOWN: the format's own choice */
    bool full_names;   /* kernel names as recorded */
};

/* For people, in the language of i18n: the answer first, or the tables that were asked for. */
void text_report(struct screen *s, const struct report *report, const struct view_options *options);
/* warplight.report/1 (DESIGN §6). */
void json_report(FILE *out, const struct report *report, const struct view_options *options);
/* RFC 4180. One section: its columns. Several: tables one after another, each behind a line with the
 * section's name, separated by an empty line. */
void csv_report(FILE *out, const struct report *report, const struct view_options *options);

#endif
