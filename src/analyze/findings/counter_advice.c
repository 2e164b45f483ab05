/* What the tool that measured concluded, where its counters did not come along: a printed details page holds
 * the conclusion, not the sectors and wavefronts that it rests on. */
#include <math.h>
#include <string.h>

#include "analyze/findings/counters.h"
#include "base/i18n.h"

static const struct rule {
    const char *name; /* of Nsight Compute */
    enum undecided what;
    const char *id;
    const char *title, *action; /* msgids */
} rules[] = {
    {"UncoalescedGlobalAccess", UNDECIDED_COALESCING, "kernel-uncoalesced",
     N_("threads of a warp touch scattered addresses"),
     N_("let neighbouring threads touch neighbouring addresses, or stage a tile in shared memory")},
    {"UncoalescedSharedAccess", UNDECIDED_CONFLICTS, "kernel-bank-conflicts",
     N_("threads of a warp hit the same banks of shared memory"),
     N_("pad the rows of the tile by one element, or permute the column with the row")},
    {"ThreadDivergence", UNDECIDED_DIVERGENCE, "kernel-divergence",
     N_("many threads of a warp take no part in its instructions"),
     N_("let whole warps take the same branch, and fill blocks to a multiple of 32 threads")},
};

static const struct rule *find_rule(const struct run *run, const struct advice *advice)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(run_text(run, advice->rule), rules[i].name) == 0)
            return &rules[i];
    return NULL;
}

void find_advised(struct counter_finder *f)
{
    vec_each (&f->run->advices, advice) {
        const struct rule *rule = find_rule(f->run, advice);
        if (advice->profile != f->row->profile || advice->kind != ADVICE_OPTIMIZE ||
            advice->is_local_speedup || !rule || !(f->row->undecided >> rule->what & 1))
            continue;
        struct finding *finding = counter_add(f, rule->id, 0, advice->speedup_ratio, 0.5);
        if (!finding)
            continue;
        finding->title = (struct msg){.format = rule->title};
        finding->action = (struct msg){.format = rule->action};
        counter_evidence(finding,
                         msg_make(N_("Nsight Compute's rule {0} says so; it estimates up to {1} of the "
                                     "time. The counters behind it are not in this file: export the raw "
                                     "page, or give the report file itself"),
                                  value_text(rule->name), value_ratio(advice->speedup_ratio)));
    }
}
