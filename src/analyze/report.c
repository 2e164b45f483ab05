#include "analyze/report.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "analyze/changes.h"
#include "analyze/codes.h"
#include "analyze/profiles.h"
#include "analyze/steady.h"

static void build_tables(struct report *report, const struct run *run, const struct report_options *options)
{
    *report = (struct report){.run = run};
    ledger_build(report, options);
    calls_build(report);
    gaps_build(report);
    use_build(report);
    kernels_build(report);
    copies_build(report);
    operators_build(report);
    steps_build(report);
    streams_build(report);
    memory_build(report);
    comms_build(report);
    amdahl_build(report);
}

/* Findings of the steady part are those of a report that is narrowed to it. */
static void build_steady(struct report *report, struct interval part)
{
    struct report *steady = mem_zalloc(1, sizeof *steady);
    build_tables(
        steady, report->run,
        &(struct report_options){.has_from = true, .from_ns = part.start, .has_to = true, .to_ns = part.end});
    findings_build(steady);
    report->steady = steady;
    report->findings = steady->findings;
    memset(&steady->findings, 0, sizeof steady->findings);
}

void report_build(struct report *report, const struct run *run, const struct report_options *options)
{
    struct interval part;
    build_tables(report, run, options);
    if (steady_find(report, &part))
        build_steady(report, part);
    else
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
    if (report->steady)
        report_release(report->steady);
    free(report->steady);
    *report = (struct report){0};
}
