#include "analyze/report.h"

#include "analyze/analyze.h"
#include "analyze/changes.h"
#include "analyze/codes.h"
#include "analyze/profiles.h"

void report_build(struct report *report, const struct run *run, const struct report_options *options)
{
    *report = (struct report){.run = run};
    ledger_build(report, options);
    calls_build(report);
    gaps_build(report);
    kernels_build(report);
    copies_build(report);
    operators_build(report);
    steps_build(report);
    streams_build(report);
    memory_build(report);
    comms_build(report);
    amdahl_build(report);
    findings_build(report);
}

void report_release(struct report *report)
{
    vec_each (&report->findings, finding)
        vec_release(&finding->evidence);
    codes_release(report);
    profiles_release(report);
    changes_release(report);
    arena_release(&report->arena);
    vec_release(&report->devices);
    vec_release(&report->gaps);
    vec_release(&report->culprits);
    vec_release(&report->kernels);
    vec_release(&report->copies);
    vec_release(&report->calls);
    vec_release(&report->operators);
    vec_release(&report->steps.rows);
    vec_release(&report->streams);
    vec_release(&report->concurrency);
    vec_release(&report->memory);
    vec_release(&report->comms);
    vec_release(&report->ranks);
    vec_release(&report->amdahl);
    vec_release(&report->findings);
    *report = (struct report){0};
}
