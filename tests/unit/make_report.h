/* Reports over hand-built runs, up to the ledger: what the analyses after it need. */
#ifndef WARPLIGHT_TESTS_UNIT_MAKE_REPORT_H
#define WARPLIGHT_TESTS_UNIT_MAKE_REPORT_H

#include <math.h>

#include "analyze/analyze.h"
#include "make_run.h"

/* Seals the run. Release with report_release(). */
static inline void make_report(struct report *report, struct run *run)
{
    run_seal(run);
    *report = (struct report){.run = run};
    ledger_build(report, NULL);
}

static inline void make_narrow_report(struct report *report, struct run *run, int64_t from, int64_t to)
{
    struct report_options options = {.has_from = true, .has_to = true, .from_ns = from, .to_ns = to};
    run_seal(run);
    *report = (struct report){.run = run};
    ledger_build(report, &options);
}

/* Whether two ratios are equal but for rounding in the last digits. */
static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b));
}

#endif
