/* A beat in a row of pauses, found in one of two ways.
 *
 * By votes: among the longest pauses, most pairs of near ones are the same number of items apart. Stray long
 * pauses do no harm, but bars must be equally long.
 *
 * By evenness: every item starts as a bar of its own. The shortest pause goes first and joins its two
 * neighbours, and so on up to the longest; after each join the bars' lengths are more or less even. Random
 * pauses leave bars whose squared variation is about 1 − bars ÷ items, whatever the pauses' distribution; a
 * rhythm leaves almost none at its own number of bars. The outermost such number is taken. */
#include "analyze/rhythm.h"

#include "analyze/analyze.h"
#include "base/hash.h"
#include "base/sort.h"

enum { BARS_MIN = 5, BARS_FEW = 3 };
enum { LONGEST_FIRST = 8, LONGEST_LAST = 1 << 16 }; /* how many of the longest pauses vote, doubling */
enum { VOTE_REACH = 8 };                            /* each with so many that follow it */
static const double audible = 1.25;                 /* typical pause between bars ÷ within */
static const double votes_needed = 0.6;             /* share of all bars that must have voted */

/* Below which share of the random variation a number of bars counts as even. With random pauses, less than
 * one row in a hundred gets there by chance for any number of bars (simulated with 20 to 1,600 items). */
static double evenness_needed(size_t bars)
{
    double needed = 0.012 * ((double)bars - 3);
    return needed > 0.25 ? 0.25 : needed;
}
static const double few_bars_evenness = 0.001;
static const double few_bars_apart = 10; /* shortest pause between bars ÷ longest within, for few bars */

struct joins {
    size_t count;
    uint32_t *order;          /* items but the first, shortest pause before them first */
    uint32_t *before, *after; /* neighbouring bar starts, linked */
    double *variation;        /* [bars]: of their lengths, as a share of what random pauses leave */
};

static void joins_init(struct joins *j, const int64_t *pause, size_t count)
{
    j->count = count;
    j->before = mem_resize(NULL, count + 1, sizeof *j->before);
    j->after = mem_resize(NULL, count + 1, sizeof *j->after);
    j->variation = mem_resize(NULL, count + 1, sizeof *j->variation);
    j->order = sort_order(&(struct sort_rows){.count = count - 1, .time = pause + 1});
    if (!j->order) {
        j->order = mem_resize(NULL, count - 1, sizeof *j->order);
        for (size_t i = 0; i < count - 1; i++)
            j->order[i] = (uint32_t)i;
    }
    for (size_t i = 0; i <= count; i++) {
        j->before[i] = i > 0 ? (uint32_t)(i - 1) : 0;
        j->after[i] = (uint32_t)(i + 1);
    }
    double squares = (double)count, items = (double)count;
    for (size_t i = 0; i < count - 1; i++) {
        uint32_t at = j->order[i] + 1;
        double left = at - j->before[at], right = j->after[at] - at;
        squares += 2 * left * right;
        j->after[j->before[at]] = j->after[at];
        j->before[j->after[at]] = j->before[at];
        double bars = (double)(count - 1 - i);
        j->variation[(size_t)bars] = (bars * squares / (items * items) - 1) / (1 - bars / items);
    }
}

static void joins_release(struct joins *j)
{
    free(j->order);
    free(j->before);
    free(j->after);
    free(j->variation);
}

/* The fewest bars that are even, moved on to the most even number nearby; 0 if there is none. */
static size_t choose_bars(const struct joins *j, const int64_t *pause)
{
    for (size_t bars = BARS_FEW; bars <= j->count / 2; bars++) {
        bool even = j->variation[bars] <= evenness_needed(bars);
        if (bars < BARS_MIN) {
            int64_t between = pause[j->order[j->count - bars] + 1];
            int64_t within = pause[j->order[j->count - bars - 1] + 1];
            even =
                j->variation[bars] <= few_bars_evenness && (double)between > few_bars_apart * (double)within;
        }
        if (!even)
            continue;
        size_t best = bars;
        for (size_t more = bars; more <= bars + bars / 2 && more <= j->count / 2; more++)
            if (j->variation[more] < j->variation[best])
                best = more;
        return best;
    }
    return 0;
}

/* ---- votes --------------------------------------------------------------------------------------------- */

struct ballot {
    size_t count;
    uint32_t *at; /* the longest pauses' items, ascending */
    struct map votes;
};

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The distance with most votes, the shortest of those with nearly as many; 0 if no one agrees. Pairs one bar
 * apart outnumber those two bars apart by one only, so shorter wins. */
static uint32_t count_votes(struct ballot *b, size_t items)
{
    uint32_t most = 0, winner = 0, winner_votes = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < b->count; i++) {
            for (size_t k = i + 1; k < b->count && k <= i + VOTE_REACH; k++) {
                uint32_t distance = b->at[k] - b->at[i], votes = map_get(&b->votes, distance);
                if (pass == 0) {
                    votes = votes == MAP_ABSENT ? 1 : votes + 1;
                    map_set(&b->votes, distance, votes);
                    most = votes > most ? votes : most;
                } else if (votes >= most - most / 5 && (winner == 0 || distance < winner)) {
                    winner = distance;
                    winner_votes = votes;
                }
            }
        }
    }
    double bars = winner ? (double)items / winner : 0, n = (double)b->count;
    double by_chance = n * n / (double)items;
    return winner >= 2 && bars >= BARS_MIN && winner_votes >= votes_needed * (bars - 1) &&
                   winner_votes >= 2.5 * by_chance + 4
               ? winner
               : 0;
}

/* Marks as cuts the pauses that have a partner one bar away. */
static void mark_partners(const struct ballot *b, uint32_t distance, bool *is_cut)
{
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = i + 1; k < b->count && k <= i + VOTE_REACH; k++)
            if (b->at[k] - b->at[i] == distance)
                is_cut[b->at[i]] = is_cut[b->at[k]] = true;
}

/* The period that the longest pauses agree on, their cuts marked; 0 if they do not agree. */
static uint32_t find_by_votes(const struct joins *j, bool *is_cut)
{
    uint32_t period = 0;
    for (size_t n = LONGEST_FIRST; n <= LONGEST_LAST && n <= j->count / 2 && period == 0; n *= 2) {
        struct ballot ballot = {.count = n, .at = mem_resize(NULL, n, sizeof *ballot.at)};
        for (size_t i = 0; i < n; i++)
            ballot.at[i] = j->order[j->count - 2 - i] + 1;
        qsort(ballot.at, n, sizeof *ballot.at, ascending);
        period = count_votes(&ballot, j->count);
        if (period)
            mark_partners(&ballot, period, is_cut);
        map_release(&ballot.votes);
        free(ballot.at);
    }
    return period;
}

/* ---- tidying ------------------------------------------------------------------------------------------- */

static int64_t median_bar(const struct rhythm *rhythm)
{
    size_t bars = rhythm->cuts.count - 1;
    int64_t *length = mem_resize(NULL, bars, sizeof *length);
    for (size_t i = 0; i < bars; i++)
        length[i] = rhythm->cuts.at[i + 1] - rhythm->cuts.at[i];
    int64_t median = stat_percentile(length, bars, 0.5);
    free(length);
    return median;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* One pass from left to right. A bar of about two periods is split at the longest pause near its beat, and a
 * bar much shorter than a period was cut by a stray pause: it is joined with what follows if that fits. */
static void tidy_bars(struct rhythm *rhythm, const int64_t *pause)
{
    uint32_t period = rhythm->period, slack = period / 4;
    struct rhythm tidy = {0};
    vec_push(&tidy.cuts, rhythm->cuts.at[0]);
    for (size_t i = 1; i < rhythm->cuts.count; i++) {
        uint32_t start = tidy.cuts.at[tidy.cuts.count - 1], end = rhythm->cuts.at[i];
        while (end - start > period + slack && end - start >= 2 * period - slack) {
            uint32_t best = start + period;
            for (uint32_t at = start + period - slack; at <= start + period + slack && at < end; at++)
                if (pause[at] > pause[best] ||
                    (pause[at] == pause[best] && apart(at, start + period) < apart(best, start + period)))
                    best = at;
            vec_push(&tidy.cuts, best);
            start = best;
        }
        bool stray = end - start < period - slack && i + 1 < rhythm->cuts.count &&
                     rhythm->cuts.at[i + 1] - start <= period + slack;
        if (!stray)
            vec_push(&tidy.cuts, end);
    }
    vec_release(&rhythm->cuts);
    rhythm->cuts.at = tidy.cuts.at;
    rhythm->cuts.count = tidy.cuts.count;
    rhythm->cuts.cap = tidy.cuts.cap;
}

/* A row may begin or end in the middle of a bar. */
static void drop_partial_ends(struct rhythm *rhythm)
{
    uint32_t slack = rhythm->period / 4, *cuts = rhythm->cuts.at;
    size_t count = rhythm->cuts.count;
    if (count > 2 && apart(cuts[count - 1] - cuts[count - 2], rhythm->period) > slack)
        rhythm->cuts.count = --count;
    if (count > 2 && apart(cuts[1] - cuts[0], rhythm->period) > slack) {
        memmove(cuts, cuts + 1, (count - 1) * sizeof *cuts);
        rhythm->cuts.count = count - 1;
    }
}

static void find_by_evenness(const struct joins *j, const int64_t *pause, bool *is_cut)
{
    size_t bars = choose_bars(j, pause);
    for (size_t i = j->count - bars; bars > 0 && i < j->count - 1; i++)
        is_cut[j->order[i] + 1] = true;
}

/* Whether the pauses between bars are longer than the others by more than jitter. */
static bool is_audible(const struct rhythm *rhythm, const int64_t *pause, size_t count)
{
    int64_t *values = mem_resize(NULL, count, sizeof *values);
    size_t between = 0, within = 0;
    for (size_t i = 1, cut = 0; i < count; i++) {
        while (cut < rhythm->cuts.count && rhythm->cuts.at[cut] < i)
            cut++;
        if (cut < rhythm->cuts.count && rhythm->cuts.at[cut] == i)
            values[between++] = pause[i];
        else
            values[count - ++within] = pause[i];
    }
    double between_ns = (double)stat_percentile(values, between, 0.5);
    double within_ns = (double)stat_percentile(values + count - within, within, 0.5);
    free(values);
    return between > 0 && (within == 0 || between_ns >= audible * within_ns);
}

void rhythm_find(const int64_t *pause, size_t count, struct rhythm *rhythm)
{
    if (count < (size_t)2 * BARS_FEW)
        return;
    struct joins joins;
    joins_init(&joins, pause, count);
    bool *is_cut = mem_zalloc(count, sizeof *is_cut);
    rhythm->period = find_by_votes(&joins, is_cut);
    if (rhythm->period == 0)
        find_by_evenness(&joins, pause, is_cut);
    is_cut[0] = true;
    for (size_t i = 0; i < count; i++)
        if (is_cut[i])
            vec_push(&rhythm->cuts, (uint32_t)i);
    if (rhythm->cuts.count > 1) {
        vec_push(&rhythm->cuts, (uint32_t)count);
        if (rhythm->period == 0)
            rhythm->period = (uint32_t)median_bar(rhythm);
        tidy_bars(rhythm, pause);
        drop_partial_ends(rhythm);
    }
    if (rhythm->period < 2 || rhythm->cuts.count <= BARS_FEW || !is_audible(rhythm, pause, count))
        rhythm->cuts.count = 0;
    free(is_cut);
    joins_release(&joins);
}
