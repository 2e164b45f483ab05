/* Findings that the code of a kernel tells by itself, without a launch. */
#ifndef WARPLIGHT_ANALYZE_FINDINGS_CODE_H
#define WARPLIGHT_ANALYZE_FINDINGS_CODE_H

#include "analyze/report.h"

/* Needs the row's sites; fills row->findings. Their times are UNKNOWN: nothing ran. */
void code_findings(struct report *report, struct code_row *row);

#endif
