/* Printers of a report. None computes: they order, cut and lay out what struct report holds. */
#ifndef WARPLIGHT_VIEW_VIEW_H
#define WARPLIGHT_VIEW_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/occupancy.h"
#include "analyze/report.h"
#include "model/diagnosis.h"
#include "view/screen.h"
#include "view/sections.h"

struct view_options {
    uint64_t sections; /* bit 1 << enum section_id; 0: what the format shows by itself */
    int64_t limit;     /* most rows of a table; UNKNOWN: the format's own choice */
    bool full_names;   /* kernel names as recorded */
};

/* For people, in the language of i18n: the answer first, or the tables that were asked for. */
void text_report(struct screen *s, const struct report *report, const struct view_options *options);
/* warplight.report/1 (doc/formats/report.md). */
void json_report(FILE *out, const struct report *report, const struct view_options *options);
/* RFC 4180. One section: its columns. Several: tables one after another, each behind a line with the
 * section's name, separated by an empty line. */
void csv_report(FILE *out, const struct report *report, const struct view_options *options);
/* One table; limit UNKNOWN: all rows. */
void csv_section(FILE *out, const struct section *section, const struct report *report, int64_t limit);

/* Kernels as binaries hold them (codes_build()). options->sections does not count. JSON: warplight.kernels/1.
 * cc: the GPU that was asked about, 0 none. */
void text_codes(struct screen *s, const struct report *report, const struct view_options *options,
                int32_t cc);
void json_codes(FILE *out, const struct report *report, const struct view_options *options, int32_t cc);
void csv_codes(FILE *out, const struct report *report, const struct view_options *options);

/* Profiled kernels (profiles_build(), at least one row). in_full: everything about each, if they are few.
 * JSON: warplight.kernels/1. */
void text_profiles(struct screen *s, const struct report *report, const struct view_options *options,
                   bool in_full);
void json_profiles(FILE *out, const struct report *report, const struct view_options *options);
void csv_profiles(FILE *out, const struct report *report, const struct view_options *options);

/* What changed since a baseline (changes_build()). JSON: warplight.kernel-changes/1. */
void text_changes(struct screen *s, const struct report *report, const struct view_options *options);
void json_changes(FILE *out, const struct report *report, const struct view_options *options);
void csv_changes(FILE *out, const struct report *report, const struct view_options *options);

/* Theoretical occupancy: of one launch in full, or of one launch on each of several GPUs, one line each. */
void text_occupancy(struct screen *s, const struct occupancy_report *report);
void text_occupancies(struct screen *s, const struct occupancy_report *reports, size_t count);
/* warplight.occupancy/1 */
void json_occupancies(FILE *out, const struct occupancy_report *reports, size_t count);

/* What doctor found. */
void text_diagnosis(struct screen *s, const struct diagnosis *d);
/* warplight.doctor/1 */
void json_diagnosis(FILE *out, const struct diagnosis *d);

#endif
