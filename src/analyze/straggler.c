#include "analyze/straggler.h"

enum { MATCHED_MIN = 3 };             /* fewer collectives prove nothing */
enum { LAST_MIN = 3 };                /* times that a straggler must have been last where it mattered … */
static const double last_share = 0.5; /* … and their share of all times that it took part and it mattered */
static const double caused_share = 0.5; /* share of all waiting that it must have caused */
static const double wall_share =
    0.01; /* share of their wall time that the others must have lost, on average */
enum { CLOCK_SAMPLES = 4096, CLOCK_ROUNDS = 32, CLOCK_SETTLED_NS = 100 };

/* The parts [first, end) of one collective. */
struct meeting {
    uint32_t first, end;
    int64_t waited_ns; /* by all its ranks together */
    uint32_t last;     /* the part that came last */
};

struct meetings {
    const struct arrival *parts;
    VEC(struct meeting) list;
};

static int by_collective(const void *a, const void *b)
{
    const struct arrival *left = a, *right = b;
    if (left->collective != right->collective)
        return left->collective < right->collective ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void find_meetings(struct meetings *m, struct arrival *arrivals, size_t count)
{
    m->parts = arrivals;
    if (count)
        qsort(arrivals, count, sizeof *arrivals, by_collective);
    for (uint32_t first = 0, end = 0; first < count; first = end) {
        for (end = first; end < count && arrivals[end].collective == arrivals[first].collective; end++)
            ;
        if (arrivals[first].rank != arrivals[end - 1].rank)
            vec_push(&m->list, ((struct meeting){.first = first, .end = end}));
    }
}

/* ---- clocks -------------------------------------------------------------------------------------------- */

/* One round: moves each rank's offset by the median of its ends against the median end of each collective.
 * Ranks that never meet agree through those that meet both, a little more every round. Returns the largest
 * move. */
static int64_t adjust_clocks(const struct meetings *m, uint32_t ranks, size_t step, int64_t *offset)
{
    VEC(int64_t) ends = {0}; /* of one collective */
    VEC(int64_t) *apart = mem_zalloc(ranks, sizeof *apart);
    for (size_t i = 0; i < m->list.count; i += step) {
        const struct meeting *meeting = &m->list.at[i];
        ends.count = 0;
        for (uint32_t p = meeting->first; p < meeting->end; p++)
            vec_push(&ends, m->parts[p].end - offset[m->parts[p].rank]);
        int64_t middle = stat_percentile(ends.at, ends.count, 0.5);
        for (uint32_t p = meeting->first; p < meeting->end; p++)
            vec_push(&apart[m->parts[p].rank], m->parts[p].end - offset[m->parts[p].rank] - middle);
    }
    int64_t largest = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        if (apart[r].count) {
            int64_t move = stat_percentile(apart[r].at, apart[r].count, 0.5);
            offset[r] += move;
            largest = max_ns(largest, llabs(move));
        }
        vec_release(&apart[r]);
    }
    free(apart);
    vec_release(&ends);
    return largest;
}

static void align_clocks(const struct meetings *m, uint32_t ranks, int64_t *offset)
{
    size_t step = m->list.count / CLOCK_SAMPLES + 1;
    for (int round = 0; round < CLOCK_ROUNDS; round++)
        if (adjust_clocks(m, ranks, step, offset) < CLOCK_SETTLED_NS)
            break;
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

static void count_waiting(struct meetings *m, struct straggler *result)
{
    vec_each (&m->list, meeting) {
        int64_t latest = INT64_MIN;
        for (uint32_t p = meeting->first; p < meeting->end; p++) {
            int64_t start = m->parts[p].start - result->offset_ns[m->parts[p].rank];
            if (start > latest) {
                latest = start;
                meeting->last = p;
            }
        }
        for (uint32_t p = meeting->first; p < meeting->end; p++) {
            const struct arrival *part = &m->parts[p];
            int64_t waited = min_ns(latest - (part->start - result->offset_ns[part->rank]),
                                    max_ns(part->end - part->start, 0));
            result->wait_ns[part->rank] += waited;
            meeting->waited_ns += waited;
        }
        result->caused_ns[m->parts[meeting->last].rank] += meeting->waited_ns;
    }
}

/* Whether the rank was the last again and again, not just once by much. Collectives that hardly anyone waited
 * in do not count: who comes last there is chance. */
static bool is_often_last(const struct meetings *m, uint32_t rank, int64_t all_waited)
{
    int64_t matters = all_waited / (int64_t)m->list.count / 10;
    size_t took_part = 0, was_last = 0;
    vec_each (&m->list, meeting) {
        if (meeting->waited_ns <= matters)
            continue;
        for (uint32_t p = meeting->first; p < meeting->end; p++) {
            if (m->parts[p].rank == rank) {
                took_part++;
                break;
            }
        }
        was_last += m->parts[meeting->last].rank == rank;
    }
    return was_last >= LAST_MIN && (double)was_last >= last_share * (double)took_part;
}

void straggler_find(struct arrival *arrivals, size_t count, uint32_t ranks, int64_t wall_ns,
                    struct straggler *result)
{
    struct meetings m = {0};
    *result = (struct straggler){.rank = NONE,
                                 .offset_ns = mem_zalloc(ranks, sizeof *result->offset_ns),
                                 .wait_ns = mem_zalloc(ranks, sizeof *result->wait_ns),
                                 .caused_ns = mem_zalloc(ranks, sizeof *result->caused_ns)};
    find_meetings(&m, arrivals, count);
    result->matched = m.list.count;
    align_clocks(&m, ranks, result->offset_ns);
    count_waiting(&m, result);
    int64_t all = 0;
    uint32_t worst = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        all += result->caused_ns[r];
        worst = result->caused_ns[r] > result->caused_ns[worst] ? r : worst;
    }
    if (m.list.count >= MATCHED_MIN && all > 0 &&
        (double)result->caused_ns[worst] >= caused_share * (double)all &&
        (double)result->caused_ns[worst] >= wall_share * (double)wall_ns * (double)(ranks - 1) &&
        is_often_last(&m, worst, all))
        result->rank = worst;
    vec_release(&m.list);
}

void straggler_release(struct straggler *result)
{
    free(result->offset_ns);
    free(result->wait_ns);
    free(result->caused_ns);
    *result = (struct straggler){0};
}
