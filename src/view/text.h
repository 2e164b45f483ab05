/* Pieces of the text report that the overview and the sections share. */
#ifndef WARPLIGHT_VIEW_TEXT_H
#define WARPLIGHT_VIEW_TEXT_H

#include "view/view.h"

/* The first screen: the answer, where the time went, what else was found, the largest of everything. */
void summary_print(struct screen *s, const struct report *report, const struct view_options *options);

/* A blank line, then the heading. */
void text_heading(struct screen *s, const char *title);
/* A value of the report, and a sentence, as people read them; control characters are made visible. */
void text_value(struct str *out, struct value value, const struct report *report);
void text_msg(struct str *out, const struct msg *msg, const struct report *report);
/* A sentence on lines of its own, from column indent on; further lines two columns deeper. */
void text_put_msg(struct screen *s, const struct report *report, enum style style, const struct msg *msg,
                  int indent);
/* The accounts of one device that are not zero, with bars; those below least_share (0–1) of the wall time in
 * one line. With steady (else NULL) what lies before and after that part is one line each. */
void text_ledger(struct screen *s, const struct report *report, const struct device_report *device,
                 const struct report *steady, double least_share);
/* Where a steady part is told apart: a sentence that says so, and what findings are about. */
void text_steady(struct screen *s, const struct report *report);
/* The title of a finding as a sentence. */
void text_title(struct str *out, const struct finding *finding, const struct report *report);
/* A finding in full: title, cost, evidence (at most max_evidence lines), action. */
void text_finding(struct screen *s, const struct report *report, const struct finding *finding,
                  size_t max_evidence);
enum style text_severity_style(const struct finding *finding);
/* What was lost or mended, one line each; nothing if nothing was. */
void text_losses(struct screen *s, const struct report *report);
/* One line about the steps. */
void text_steps(struct screen *s, const struct report *report);

#endif
