/* Findings about the recording itself: what it lost, what it disturbed, whether its clocks agree. They never
 * save time; they say how far the rest can be believed. */
#include <stdlib.h>

#include "base/i18n.h"

#include "analyze/findings/findings.h"

static void find_lost_records(struct finder *f)
{
    const struct losses *l = &f->run->losses;
    int64_t ops = (int64_t)f->run->ops.count;
    /* GPU-only recordings and graph nodes legitimately lack calls: only a part that is missing is suspicious.
     */
    bool partly_linked = l->unlinked > 0 && l->unlinked < ops && l->unlinked * 20 > ops;
    int64_t unexplained = f->ledger_ns[IDLE_UNKNOWN];
    bool silent = ratio(unexplained, f->wall_ns) >= 0.1;
    if (!l->dropped && !l->untimed && !l->malformed && !l->truncated_bytes && !partly_linked && !silent)
        return;
    struct finding *finding = finding_add(f, "trust-lost-records", 0, 0, 0, 1.0);
    int64_t bad = l->dropped + l->untimed + l->malformed;
    int64_t all = ops + (int64_t)f->run->spans.count;
    finding->severity = bad * 20 > all || l->truncated_bytes ? SEVERITY_WARN : SEVERITY_INFO;
    finding->title =
        bad > 0 ? msg_make_n(0,
                             NP_("the recording is incomplete: {0} record was lost or unusable",
                                 "the recording is incomplete: {0} records were lost or unusable"),
                             value_count(bad))
        : l->truncated_bytes || !silent
            ? msg_make(N_("the recording is incomplete"))
            : msg_make(N_("the recording does not say why the GPU was idle {0} of the time ({1})"),
                       value_ratio(ratio(unexplained, f->wall_ns)), value_ns(unexplained));
    if (l->dropped)
        finding_evidence(finding, msg_make_n(0,
                                             NP_("{0} record dropped by the recording tool",
                                                 "{0} records dropped by the recording tool"),
                                             value_count(l->dropped)));
    if (l->untimed)
        finding_evidence(
            finding,
            msg_make_n(0, NP_("{0} record without a usable time", "{0} records without a usable time"),
                       value_count(l->untimed)));
    if (l->malformed)
        finding_evidence(finding, msg_make_n(0,
                                             NP_("{0} record that could not be understood",
                                                 "{0} records that could not be understood"),
                                             value_count(l->malformed)));
    if (l->truncated_bytes)
        finding_evidence(finding, msg_make(N_("the file ends early: {0} after the last complete record"),
                                           value_bytes(l->truncated_bytes)));
    if (partly_linked)
        finding_evidence(finding,
                         msg_make_n(0,
                                    NP_("{0} of {1} GPU operations has no launching call in the recording",
                                        "{0} of {1} GPU operations have no launching call in the recording"),
                                    value_count(l->unlinked), value_count(ops)));
    finding->action =
        msg_make(N_("record fewer steps, or give the recording tool larger buffers; let the program end "
                    "normally so that the tool can write its file"));
}

/* Launching calls but not one GPU operation: the tool could not trace the device, or nothing was flushed. */
static void find_no_gpu_records(struct finder *f)
{
    if (f->device_count)
        return;
    int64_t launches = 0;
    vec_each (&f->report->calls, call) {
        if (call_classify(run_text(f->run, call->name)) == CALL_LAUNCH)
            launches += call->count;
    }
    if (launches == 0)
        return;
    struct finding *finding = finding_add(f, "trust-lost-records", 0, 0, 0, 1.0);
    finding->severity = SEVERITY_CRITICAL;
    finding->title = msg_make_n(0,
                                NP_("{0} launch was recorded but no GPU activity at all",
                                    "{0} launches were recorded but no GPU activity at all"),
                                value_count(launches));
    finding->action = msg_make(
        N_("record again with GPU activity (ProfilerActivity.CUDA, nsys -t cuda); if it stays empty, another "
           "profiler holds CUPTI, or the tool lacks permission or a library that fits the driver"));
}

static void find_profiler_idle(struct finder *f)
{
    int64_t lost = f->ledger_ns[IDLE_PROFILER];
    if (!matters(f, lost))
        return;
    struct finding *finding = finding_add(f, "idle-profiler", lost, 0, 0, 0.95);
    finding->title = msg_make(N_("the GPU waits {0} of the time ({1}) for the recording tool itself"),
                              value_ratio(ratio(lost, f->wall_ns)), value_ns(lost));
    finding_culprits(f, finding, IDLE_PROFILER, 2);
    finding->action =
        msg_make(N_("nothing: the time is not there without the tool; record more steps so that it "
                    "weighs less"));
}

struct overhead {
    int64_t start, end;
    uint32_t source;
};

static int by_source_and_start(const void *a, const void *b)
{
    const struct overhead *left = a, *right = b;
    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    return (left->start > right->start) - (left->start < right->start);
}

/* Threads have their overheads at the same time: per source, every moment counts once. */
static int64_t time_of_overheads(struct overhead *overheads, size_t count)
{
    int64_t sum = 0;
    if (count > 0)
        qsort(overheads, count, sizeof *overheads, by_source_and_start);
    for (size_t i = 0, next; i < count; i = next) {
        int64_t end = overheads[i].end;
        for (next = i + 1;
             next < count && overheads[next].source == overheads[i].source && overheads[next].start <= end;
             next++)
            end = max_ns(end, overheads[next].end);
        sum += end - overheads[i].start;
    }
    return sum;
}

/* Per source, the window of the devices that it speaks of; empty if the report leaves them out. */
static struct interval *source_windows(const struct finder *f)
{
    struct interval *windows = mem_zalloc(f->run->sources.count, sizeof *windows);
    vec_each (&f->report->devices, device)
        windows[f->run->devices.at[device->device].source] = device->window;
    return windows;
}

static void find_overhead(struct finder *f)
{
    VEC(struct overhead) overheads = {0};
    struct interval *windows = source_windows(f);
    vec_each (&f->run->threads, thread) {
        uint32_t source = f->run->processes.at[thread->process].source;
        struct interval window = windows[source];
        for (uint32_t i = thread->first_span; i < thread->first_span + thread->span_count; i++) {
            int64_t start = max_ns(f->run->spans.start[i], window.start);
            int64_t end = min_ns(f->run->spans.end[i], window.end);
            if (f->run->spans.kind[i] == SPAN_OVERHEAD && start < end)
                vec_push(&overheads, ((struct overhead){start, end, source}));
        }
    }
    int64_t count = (int64_t)overheads.count, sum = time_of_overheads(overheads.at, overheads.count);
    vec_release(&overheads);
    free(windows);
    if (ratio(sum, f->wall_ns) < 0.05)
        return;
    struct finding *finding = finding_add(f, "trust-profiler-overhead", sum, 0, 0, 0.9);
    finding->severity = SEVERITY_WARN;
    finding->title =
        msg_make(N_("the recording tool and the driver's tracing took {0} ({1} of the wall time)"),
                 value_ns(sum), value_ratio(ratio(sum, f->wall_ns)));
    finding_evidence(finding,
                     msg_make_n(0, NP_("{0} overhead record", "{0} overhead records"), value_count(count)));
    finding->action =
        msg_make(N_("treat short host times as upper bounds; record with fewer options (no stacks, no "
                    "shapes, no memory) to see what remains"));
}

static void find_clock(struct finder *f)
{
    enum { TOLERANCE_NS = 1000 };
    const struct op_table *ops = &f->run->ops;
    int64_t linked = 0, early = 0, worst = 0;
    for (size_t i = 0; i < ops->count; i++) {
        if (ops->call[i] == NONE)
            continue;
        linked++;
        int64_t ahead = f->run->spans.start[ops->call[i]] - ops->start[i];
        early += ahead > TOLERANCE_NS;
        worst = max_ns(worst, ahead);
    }
    if (early == 0 || early * 100 < linked)
        return;
    struct finding *finding = finding_add(f, "trust-clock", 0, 0, 0, 0.95);
    finding->severity = SEVERITY_WARN;
    finding->title =
        msg_make(N_("{0} of {1} GPU operations start before the call that launched them, by up to {2}"),
                 value_count(early), value_count(linked), value_ns(worst));
    finding->action =
        msg_make(N_("host and GPU clocks were not aligned well: causes of gaps shorter than that are "
                    "uncertain"));
}

void find_trust(struct finder *f)
{
    find_lost_records(f);
    find_no_gpu_records(f);
    find_profiler_idle(f);
    find_overhead(f);
    find_clock(f);
}
