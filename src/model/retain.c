#include "model/retain.h"

#include <string.h>

/* Clocks may differ by so much; a row that lies farther ahead would never fall out. */
static const int64_t ahead_ns = 60 * INT64_C(1000000000);

#define CELL_BYTES(type, name) +sizeof(type)
enum {
    OP_BYTES = 0 RUN_OPS(CELL_BYTES),
    SPAN_BYTES = 0 RUN_SPANS(CELL_BYTES),
    SAMPLE_BYTES = 0 RUN_SAMPLES(CELL_BYTES),
};

int64_t retain_bytes(const struct run *run)
{
    return (int64_t)(run->ops.count * OP_BYTES + run->spans.count * SPAN_BYTES +
                     run->samples.count * SAMPLE_BYTES + run->marks.count * sizeof(struct mark) +
                     run->waits.count * sizeof(struct wait));
}

static int64_t row_count(const struct run *run)
{
    return (int64_t)(run->ops.count + run->spans.count + run->samples.count + run->marks.count +
                     run->waits.count);
}

#define MOVE_CELL(type, name) t->name[to] = t->name[from];

/* Correlation ids rise with the calls of a process: the least one among its ops says from which call on all
 * are needed. By process; 0: no op. */
static uint64_t *first_correlations(const struct run *run)
{
    uint64_t *first = mem_zalloc(run->processes.count + 1, sizeof *first);
    for (size_t i = 0; i < run->ops.count; i++) {
        uint32_t process = run->streams.at[run->ops.stream[i]].process;
        uint64_t id = run->ops.correlation[i];
        if (process != NONE && id != 0 && (first[process] == 0 || id < first[process]))
            first[process] = id;
    }
    return first;
}

static void prune_ops(struct op_table *t, int64_t cut, int64_t latest)
{
    size_t to = 0;
    for (size_t from = 0; from < t->count; from++) {
        if (t->end[from] < cut || t->start[from] > latest)
            continue;
        RUN_OPS(MOVE_CELL)
        to++;
    }
    t->count = to;
}

/* Returns the start of the earliest call that is kept only because of its op, or the cut. */
static int64_t prune_spans(struct run *run, const uint64_t *first, int64_t cut, int64_t latest)
{
    struct span_table *t = &run->spans;
    int64_t earliest = cut;
    size_t to = 0;
    for (size_t from = 0; from < t->count; from++) {
        if (t->start[from] > latest)
            continue;
        if (t->end[from] < cut) {
            uint64_t least = first[run->threads.at[t->thread[from]].process];
            if (t->kind[from] != SPAN_API || least == 0 || t->id[from] < least)
                continue;
            earliest = min_ns(earliest, t->start[from]);
        }
        RUN_SPANS(MOVE_CELL)
        to++;
    }
    t->count = to;
    return earliest;
}

static void prune_samples(struct sample_table *t, int64_t cut, int64_t latest)
{
    size_t to = 0;
    for (size_t from = 0; from < t->count; from++) {
        if (t->time[from] < cut || t->time[from] > latest)
            continue;
        RUN_SAMPLES(MOVE_CELL)
        to++;
    }
    t->count = to;
}

static void prune_moments(struct run *run, int64_t cut, int64_t latest)
{
    size_t to = 0;
    vec_each (&run->marks, mark)
        if (mark->time >= cut && mark->time <= latest)
            run->marks.at[to++] = *mark;
    run->marks.count = to;
    to = 0;
    vec_each (&run->waits, wait)
        if (wait->end >= cut && wait->start <= latest)
            run->waits.at[to++] = *wait;
    run->waits.count = to;
}

static void cut_beginnings(struct run *run, int64_t earliest)
{
    for (size_t i = 0; i < run->spans.count; i++)
        run->spans.start[i] = max_ns(run->spans.start[i], earliest);
    vec_each (&run->waits, wait)
        wait->start = max_ns(wait->start, earliest);
}

/* Returns how many rows fell out. */
static int64_t prune_before(struct run *run, int64_t cut, int64_t latest)
{
    int64_t before = row_count(run);
    prune_ops(&run->ops, cut, latest);
    uint64_t *first = first_correlations(run);
    int64_t earliest = prune_spans(run, first, cut, latest);
    free(first);
    prune_samples(&run->samples, cut, latest);
    prune_moments(run, cut, latest);
    cut_beginnings(run, earliest);
    return before - row_count(run);
}

/* The newest moments are some part of keep_ns apart, so that all of them reach back beyond it. */
static void remember_losses(struct retain *r, const struct run *run, int64_t now)
{
    const int64_t apart = r->keep_ns / (RETAIN_MOMENTS / 2);
    if (r->moments > 0 && now - r->past[r->moments - 1].time < apart)
        return;
    if (r->moments == RETAIN_MOMENTS)
        memmove(&r->past[0], &r->past[1], (size_t)--r->moments * sizeof r->past[0]);
    r->past[r->moments].time = now;
    r->past[r->moments++].losses = run->losses;
}

void retain_prune(struct retain *r, struct run *run, int64_t now)
{
    remember_losses(r, run, now);
    r->cut_ns = max_ns(r->cut_ns, now - r->keep_ns);
    r->aged += prune_before(run, r->cut_ns, INT64_MAX);
    r->crowded += prune_before(run, r->cut_ns, now + ahead_ns);
    /* Half of the time that is left each time, until it fits. */
    while (retain_bytes(run) > r->most_bytes && r->cut_ns < now + ahead_ns) {
        int64_t step = (now - r->cut_ns) / 2;
        r->cut_ns = step > 0 ? r->cut_ns + step : now + ahead_ns;
        r->crowded += prune_before(run, r->cut_ns, now + ahead_ns);
    }
}

static uint64_t small_rows(const struct run *run)
{
    return run->strings.count + run->comms.count + run->shapes.count;
}

/* Twice what was left: a row is looked at a bounded number of times, however long it goes on. */
bool retain_is_bloated(const struct retain *r, const struct run *run)
{
    const uint64_t least_rows = 1 << 16, least_bytes = 16 << 20;
    return small_rows(run) > 2 * r->small_rows + least_rows ||
           run->strings.bytes > 2 * r->text_bytes + least_bytes;
}

void retain_compacted(struct retain *r, const struct run *run)
{
    r->small_rows = small_rows(run);
    r->text_bytes = run->strings.bytes;
}

struct losses retain_losses(const struct retain *r, const struct run *run)
{
    struct losses lost = run->losses, before = {0};
    for (int i = 0; i < r->moments && r->past[i].time <= r->cut_ns; i++)
        before = r->past[i].losses;
    lost.dropped -= before.dropped;
    lost.untimed -= before.untimed;
    lost.malformed -= before.malformed;
    return lost;
}
