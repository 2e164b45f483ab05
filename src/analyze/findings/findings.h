/* Findings: one file a family. A rule looks at what host and device did — ledger, gaps, tables — and adds at
 * most one finding of its id. Ranking, severity and the healthy verdict are findings.c's business.
 *
 * To add one: write find_X() in its family's file, add a row to the table in findings.c, a page in
 * doc/findings/, and a test. */
#ifndef WARPLIGHT_ANALYZE_FINDINGS_FINDINGS_H
#define WARPLIGHT_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/analyze.h"

struct finder {
    struct report *report;
    const struct run *run;
    int64_t wall_ns;      /* Σ over devices */
    int64_t busy_ns;      /* Σ over devices */
    int64_t active_ns;    /* Σ over devices: from the first GPU work to the last */
    int64_t device_count; /* devices with work; savings are per device, since they run side by side */
    int64_t ledger_ns[ACCOUNT_COUNT];
    /* Idle time that a finding about transfers explains already: not to be explained twice. */
    int64_t explained_ns[ACCOUNT_COUNT];
};

/* Adds a finding that explains lost_ns of device time (summed over devices). low and high say which share of
 * it a change can give back. Returns it for title, evidence and action; the pointer lives until the next add.
 */
struct finding *finding_add(struct finder *f, const char *id, int64_t lost_ns, double low, double high,
                            double confidence);
void finding_evidence(struct finding *finding, struct msg evidence);
/* The culprits with most idle time of this cause, as evidence, at most limit of them. */
void finding_culprits(struct finder *f, struct finding *finding, enum account cause, int limit);
double ratio(int64_t part, int64_t whole);
/* Whether ns is worth a finding at all: at least 1 % of the wall time. */
bool matters(const struct finder *f, int64_t ns);

void find_idle(struct finder *f);
/* The finding that find_idle() made of this account; NULL. */
struct finding *idle_finding(const struct finder *f, enum account cause);
void find_transfer(struct finder *f);
void find_kernel(struct finder *f);
void find_scale(struct finder *f);
void find_health(struct finder *f);
void find_xid(struct finder *f);
void find_trust(struct finder *f);

#endif
