/* The repeated unit of a launch sequence.
 *
 * Runs of equal elements are folded to one token. A symbol that occurs once per unit, an anchor, cuts the
 * tokens into segments; the unit is real if most segments are alike. Every symbol of even spacing is a
 * candidate, one for each number of occurrences, so a layer, a micro-batch and a step each get their turn.
 * Segments are compared in order, not as bags, as long random segments all hold about the same symbols. */
#include "analyze/sequence.h"

#include <math.h>
#include <string.h>

#include "analyze/rhythm.h"
#include "base/hash.h"

enum { STEPS_MIN = 3, LEVELS_MAX = 16, GRAM = 4 };
/* A unit of fewer ops is too small to be a step if the pauses say that several belong together. */
enum { UNIT_OPS_MIN = 8 };

static const double alike = 0.7;    /* matched share of two segments that count as the same unit */
static const double size_low = 0.8; /* and their sizes, in launches, against the typical one */
static const double size_high = 1.25;
static const double quality_min = 0.6; /* least share of all launches in such segments */
static const double uneven_max = 0.5;  /* share of an anchor's distances that may differ from the usual one */
static const double outer_quality = 0.85; /* of the best level's quality that an outer one must reach */
static const double inner_quality = 0.7;  /* that lets an inner level replace an outer one */
static const double pause_clear = 1.5;    /* a pause longer than others by so much decides where to cut */

/* An outer unit is a step of its own, and not just several inner ones, if what it has besides them is enough:
 * so much of one inner unit's launches or device time, or so many launches of kinds that the inner one lacks
 * (an optimizer). */
static const double besides_launches = 0.1, besides_busy = 0.03;
enum { BESIDES_OWN = 8 };
/* But if that is a good deal of one inner unit, and hardly any of it of other kinds, it is more of the same:
 * a validation pass now and then. */
static const double more_of_same = 0.3, more_own = 0.3;
/* And so many inner units are steps themselves if pauses set them apart that are so much longer than those
 * within, and not so much shorter than those between outer units. */
enum { PAUSED_REPEATS = 6 };
static const double paused_within = 3, paused_outer = 0.5;

struct tokens {
    size_t count;
    uint32_t *symbol;
    uint32_t *first;    /* [count + 1]: first element of each */
    uint32_t *launches; /* [elements + 1]: launches before each element */
    const uint32_t *id; /* what anchors are looked for in: symbols, or ids of GRAM symbols in a row */
    uint32_t ids;
};

struct level {
    uint32_t anchor;
    size_t occurrences;
    double uneven;
    double quality;
    size_t steps;            /* segments alike */
    uint32_t template_first; /* token */
    uint32_t template_end;
    double pause, pause_inside; /* typical pause where the unit is cut, and high one within it */
};

static uint32_t launches_between(const struct tokens *t, uint32_t first_token, uint32_t end_token)
{
    return t->launches[t->first[end_token]] - t->launches[t->first[first_token]];
}

/* ---- tokens -------------------------------------------------------------------------------------------- */

static void tokens_fold(struct tokens *t, const struct sequence *s)
{
    t->symbol = mem_resize(NULL, s->count, sizeof *t->symbol);
    t->first = mem_resize(NULL, s->count + 1, sizeof *t->first);
    t->launches = mem_resize(NULL, s->count + 1, sizeof *t->launches);
    t->launches[0] = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (t->count == 0 || t->symbol[t->count - 1] != s->symbol[i]) {
            t->first[t->count] = i;
            t->symbol[t->count++] = s->symbol[i];
        }
        t->launches[i + 1] = t->launches[i] + (s->ops[i] > 0);
    }
    t->first[t->count] = (uint32_t)s->count;
    t->id = t->symbol;
    t->ids = s->symbols;
}

static void tokens_release(struct tokens *t)
{
    free(t->symbol);
    free(t->first);
    free(t->launches);
}

/* Ids of GRAM tokens in a row, for units that hold no symbol just once. Different rows may share an id by
 * chance, which only makes it a worse anchor. Caller frees. */
static uint32_t *tokens_grams(const struct tokens *t, uint32_t *ids)
{
    uint32_t *id = mem_resize(NULL, t->count, sizeof *id);
    *ids = 1;
    while (*ids < 2 * t->count)
        *ids *= 2;
    for (size_t i = 0; i < t->count; i++) {
        uint64_t hash = 0;
        for (size_t k = i; k < i + GRAM && k < t->count; k++)
            hash = hash_pair(hash, t->symbol[k]);
        id[i] = (uint32_t)hash & (*ids - 1);
    }
    return id;
}

/* ---- comparing segments -------------------------------------------------------------------------------- */

enum { RESYNC_REACH = 64, RESYNC_RUN = 2, GIVE_UP_AFTER = 4096 };

static bool runs_alike(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    size_t run = a_count < b_count ? a_count : b_count;
    run = run < RESYNC_RUN ? run : RESYNC_RUN;
    return run > 0 && memcmp(a, b, run * sizeof *a) == 0;
}

/* How many symbols of a and b match in order. A difference is skipped to the nearest place where the two run
 * alike again, so the result is a lower bound of the longest common subsequence, in linear time. */
static size_t count_matches(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    size_t i = 0, j = 0, matched = 0;
    while (i < a_count && j < b_count) {
        if (a[i] == b[j]) {
            matched++, i++, j++;
            continue;
        }
        if (i + j > GIVE_UP_AFTER && matched < (i + j) / 8)
            break;
        size_t skip_a = RESYNC_REACH, skip_b = RESYNC_REACH;
        for (size_t skip = 1; skip < RESYNC_REACH; skip++) {
            bool a_left = i + skip < a_count, b_left = j + skip < b_count;
            if (b_left && runs_alike(a + i, a_count - i, b + j + skip, b_count - j - skip))
                skip_a = 0, skip_b = skip;
            else if (a_left && runs_alike(a + i + skip, a_count - i - skip, b + j, b_count - j))
                skip_a = skip, skip_b = 0;
            else if (a_left && b_left &&
                     runs_alike(a + i + skip, a_count - i - skip, b + j + skip, b_count - j - skip))
                skip_a = skip, skip_b = skip;
            else
                continue;
            break;
        }
        i += skip_a;
        j += skip_b;
    }
    return matched;
}

static size_t common_prefix(const uint32_t *a, const uint32_t *b, size_t limit)
{
    size_t n = 0;
    while (n < limit && a[n] == b[n])
        n++;
    return n;
}

/* Of sequences that end just before a and b. */
static size_t common_suffix(const uint32_t *a_end, const uint32_t *b_end, size_t limit)
{
    size_t n = 0;
    while (n < limit && a_end[-1 - (ptrdiff_t)n] == b_end[-1 - (ptrdiff_t)n])
        n++;
    return n;
}

/* 1 for equal sequences, 0 for those with nothing in common. */
static double similarity(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
    if (a_count == 0 || b_count == 0)
        return 0;
    size_t shorter = a_count < b_count ? a_count : b_count;
    size_t before = common_prefix(a, b, shorter);
    size_t after = common_suffix(a + a_count, b + b_count, shorter - before);
    size_t middle = count_matches(a + before, a_count - before - after, b + before, b_count - before - after);
    return 2.0 * (double)(before + after + middle) / (double)(a_count + b_count);
}

/* ---- candidates ---------------------------------------------------------------------------------------- */

static int by_occurrences(const void *a, const void *b)
{
    const struct level *left = a, *right = b;
    if (left->occurrences != right->occurrences)
        return left->occurrences < right->occurrences ? -1 : 1;
    return (left->uneven > right->uneven) - (left->uneven < right->uneven);
}

static int by_evenness(const void *a, const void *b)
{
    const struct level *left = a, *right = b;
    return (left->uneven > right->uneven) - (left->uneven < right->uneven);
}

struct spacing {
    uint32_t count, first, last;
    uint32_t usual, votes; /* the distance to the one before that most agree on, by majority vote */
    uint32_t near;         /* how many do */
};

static bool is_near(uint32_t distance, uint32_t usual)
{
    return distance >= usual - usual / 4 && distance <= usual + usual / 4;
}

/* Where each id occurs, and how evenly. */
static struct spacing *measure_spacing(const struct tokens *t)
{
    struct spacing *spacing = mem_zalloc(t->ids, sizeof *spacing);
    for (uint32_t i = 0; i < t->count; i++) {
        struct spacing *at = &spacing[t->id[i]];
        if (at->count++ == 0) {
            at->first = i;
        } else if (at->votes == 0) {
            at->usual = i - at->last;
            at->votes = 1;
        } else {
            at->votes += is_near(i - at->last, at->usual) ? 1 : UINT32_MAX;
        }
        at->last = i;
    }
    for (uint32_t id = 0; id < t->ids; id++)
        spacing[id].last = spacing[id].first;
    for (uint32_t i = 0; i < t->count; i++) {
        struct spacing *at = &spacing[t->id[i]];
        at->near += i > at->first && is_near(i - at->last, at->usual);
        at->last = i;
    }
    return spacing;
}

/* The most even anchor for each number of occurrences, at most LEVELS_MAX, fewest occurrences first. */
static size_t find_levels(const struct tokens *t, struct level levels[LEVELS_MAX])
{
    struct spacing *spacing = measure_spacing(t);
    VEC(struct level) found = {0};
    for (uint32_t id = 0; id < t->ids; id++) {
        const struct spacing *at = &spacing[id];
        double span = (double)(at->last - at->first), gaps = (double)at->count - 1;
        if (at->count < STEPS_MIN || span * (gaps + 1) < gaps * quality_min * (double)t->count)
            continue;
        double uneven = 1 - (double)at->near / gaps;
        if (uneven <= uneven_max)
            vec_push(&found, ((struct level){.anchor = id, .occurrences = at->count, .uneven = uneven}));
    }
    free(spacing);
    size_t kept = 0;
    if (found.count)
        qsort(found.at, found.count, sizeof *found.at, by_occurrences);
    for (size_t i = 0; i < found.count; i++)
        if (kept == 0 || found.at[kept - 1].occurrences != found.at[i].occurrences)
            found.at[kept++] = found.at[i];
    if (kept > LEVELS_MAX) {
        qsort(found.at, kept, sizeof *found.at, by_evenness);
        kept = LEVELS_MAX;
        qsort(found.at, kept, sizeof *found.at, by_occurrences);
    }
    if (kept)
        memcpy(levels, found.at, kept * sizeof *levels);
    vec_release(&found);
    return kept;
}

/* ---- weighing one level -------------------------------------------------------------------------------- */

struct segments { /* of one level: each starts at an anchor, the last ends with the sequence */
    size_t count;
    uint32_t *first; /* [count + 1] tokens */
    uint64_t *hash;
    int64_t *sorted; /* scratch */
};

static void segments_init(struct segments *g, const struct tokens *t, const struct level *level)
{
    g->first = mem_resize(NULL, level->occurrences + 1, sizeof *g->first);
    g->hash = mem_resize(NULL, level->occurrences, sizeof *g->hash);
    g->sorted = mem_resize(NULL, level->occurrences, sizeof *g->sorted);
    g->count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->id[i] == level->anchor)
            g->first[g->count++] = i;
    g->first[g->count] = (uint32_t)t->count;
    for (size_t i = 0; i < g->count; i++)
        g->hash[i] = hash_bytes(t->symbol + g->first[i], (g->first[i + 1] - g->first[i]) * sizeof *t->symbol);
}

static void segments_release(struct segments *g)
{
    free(g->first);
    free(g->hash);
    free(g->sorted);
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Index of a value that occurs most often among n, and how often. */
static size_t most_frequent(const uint64_t *values, size_t n, int64_t *sorted, size_t *times)
{
    for (size_t i = 0; i < n; i++)
        sorted[i] = (int64_t)values[i];
    qsort(sorted, n, sizeof *sorted, ascending);
    int64_t best = sorted[0];
    *times = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > *times) {
            *times = run;
            best = sorted[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        if ((int64_t)values[i] == best)
            return i;
    return 0;
}

/* The segment that stands for all: the most frequent content, or else the one of median size. The last
 * segment takes no part, as what follows the last step belongs to it. */
static size_t choose_template(const struct segments *g, const struct tokens *t, int64_t *median)
{
    size_t n = g->count - 1, times;
    for (size_t i = 0; i < n; i++)
        g->sorted[i] = launches_between(t, g->first[i], g->first[i + 1]);
    *median = stat_percentile(g->sorted, n, 0.5);
    size_t chosen = most_frequent(g->hash, n, g->sorted, &times);
    if (times > 1)
        return chosen;
    int64_t nearest = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t apart = llabs(launches_between(t, g->first[i], g->first[i + 1]) - *median);
        if (apart < nearest) {
            nearest = apart;
            chosen = i;
        }
    }
    return chosen;
}

static void weigh_level(struct level *level, const struct tokens *t, const struct segments *g)
{
    int64_t median;
    size_t template = choose_template(g, t, &median);
    const uint32_t *unit = t->symbol + g->first[template];
    size_t unit_count = g->first[template + 1] - g->first[template];
    level->template_first = g->first[template];
    level->template_end = g->first[template + 1];
    double typical = launches_between(t, level->template_first, level->template_end);
    double inside = 0, all = launches_between(t, 0, (uint32_t)t->count);
    for (size_t i = 0; i < g->count; i++) {
        size_t count = g->first[i + 1] - g->first[i];
        if (i == g->count - 1 && count > unit_count)
            count = unit_count;
        double launches = launches_between(t, g->first[i], g->first[i] + (uint32_t)count);
        if (launches < size_low * typical || launches > size_high * typical)
            continue;
        if (g->hash[i] != g->hash[template] &&
            similarity(unit, unit_count, t->symbol + g->first[i], count) < alike)
            continue;
        inside += launches;
        level->steps++;
    }
    level->quality = all > 0 ? inside / all : 0;
}

static int64_t pause_before(const struct sequence *s, uint32_t element)
{
    return max_ns(s->gap_ns[element], 0) + max_ns(s->wait_ns[element], 0);
}

/* Geometric mean of the pause before each offset of the template's elements, over the segments equal to it.
 * Caller frees. */
static double *typical_pauses(const struct sequence *s, const struct tokens *t, const struct level *level,
                              const struct segments *g)
{
    uint32_t first = t->first[level->template_first];
    size_t count = t->first[level->template_end] - first, equal = 0;
    double *pause = mem_zalloc(count, sizeof *pause);
    for (size_t i = 0; i < g->count; i++) {
        uint32_t at = t->first[g->first[i]];
        if (s->count - at < count ||
            memcmp(s->symbol + at, s->symbol + first, count * sizeof *s->symbol) != 0)
            continue;
        equal++;
        for (size_t k = 0; k < count; k++)
            pause[k] += log((double)pause_before(s, at + (uint32_t)k) + 1);
    }
    for (size_t k = 0; k < count; k++)
        pause[k] = exp(pause[k] / (double)equal);
    return pause;
}

static size_t longest_pause(const double *pause, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        if (pause[k] > pause[best])
            best = k;
    return best;
}

static void weigh_pauses(struct level *level, const struct sequence *s, const struct tokens *t,
                         const struct segments *g)
{
    size_t count = t->first[level->template_end] - t->first[level->template_first];
    double *pause = typical_pauses(s, t, level, g);
    size_t cut = longest_pause(pause, count);
    level->pause = pause[cut];
    int64_t *inside = mem_resize(NULL, count, sizeof *inside);
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        if (k != cut)
            inside[n++] = (int64_t)pause[k];
    level->pause_inside = n ? (double)stat_percentile(inside, n, 0.9) : INFINITY;
    free(inside);
    free(pause);
}

/* ---- which of the nested levels is the step ------------------------------------------------------------ */

static int64_t busy_between(const struct sequence *s, const struct tokens *t, const struct level *level)
{
    int64_t sum = 0;
    for (uint32_t i = t->first[level->template_first]; i < t->first[level->template_end]; i++)
        sum += s->busy_ns[i];
    return sum;
}

/* What an outer unit holds besides so many inner ones, in launches. */
struct remainder {
    int64_t all;
    int64_t own; /* of these, with symbols that the inner unit lacks */
};

static struct remainder count_remainder(const struct sequence *s, const struct tokens *t,
                                        const struct level *outer, const struct level *inner, int64_t repeats)
{
    int64_t *in_outer = mem_zalloc(s->symbols, sizeof *in_outer);
    int64_t *in_inner = mem_zalloc(s->symbols, sizeof *in_inner);
    for (uint32_t i = t->first[outer->template_first]; i < t->first[outer->template_end]; i++)
        in_outer[s->symbol[i]] += s->ops[i] > 0;
    for (uint32_t i = t->first[inner->template_first]; i < t->first[inner->template_end]; i++)
        in_inner[s->symbol[i]] += s->ops[i] > 0;
    struct remainder remainder = {0};
    for (uint32_t symbol = 0; symbol < s->symbols; symbol++) {
        int64_t more = max_ns(in_outer[symbol] - repeats * in_inner[symbol], 0);
        remainder.all += more;
        remainder.own += in_inner[symbol] == 0 ? more : 0;
    }
    free(in_outer);
    free(in_inner);
    return remainder;
}

/* Whether the outer unit is no more than several inner ones, so that the inner one is the step. */
static bool is_only_repeats(const struct sequence *s, const struct tokens *t, const struct level *outer,
                            const struct level *inner)
{
    int64_t repeats = (int64_t)((inner->steps + outer->steps / 2) / outer->steps);
    if (repeats < 2 || inner->quality < inner_quality)
        return false;
    struct remainder besides = count_remainder(s, t, outer, inner, repeats);
    double all = (double)besides.all, own = (double)besides.own;
    double launches = launches_between(t, inner->template_first, inner->template_end);
    double busy = (double)busy_between(s, t, inner);
    double busy_besides = (double)busy_between(s, t, outer) - (double)repeats * busy;
    if (all < besides_launches * launches && busy_besides < besides_busy * busy && besides.own < BESIDES_OWN)
        return true;
    if (all >= more_of_same * launches && own < more_own * all)
        return true;
    return repeats >= PAUSED_REPEATS && inner->pause >= paused_within * inner->pause_inside &&
           inner->pause >= paused_outer * outer->pause;
}

/* The step among count levels, fewest occurrences first; NULL if none is good enough. */
static const struct level *choose_level(const struct sequence *s, const struct tokens *t,
                                        const struct level *levels, size_t count)
{
    double best = 0;
    for (size_t i = 0; i < count; i++)
        if (levels[i].steps >= STEPS_MIN)
            best = fmax(best, levels[i].quality);
    const struct level *chosen = NULL;
    for (size_t i = 0; i < count; i++) {
        if (levels[i].steps < STEPS_MIN || levels[i].quality < quality_min)
            continue;
        if (!chosen ? levels[i].quality >= outer_quality * best : is_only_repeats(s, t, chosen, &levels[i]))
            chosen = &levels[i];
    }
    return chosen;
}

/* ---- cutting ------------------------------------------------------------------------------------------- */

struct unit {               /* the step's elements, cut where it pauses longest */
    const uint32_t *symbol; /* as the template has them, from an anchor on */
    uint32_t *turned;       /* from the cut on */
    size_t count, cut;
};

/* Where a segment of elements [first, end) is cut, so that the cut falls on the same launch as in the unit.
 */
static uint32_t cut_segment(const struct sequence *s, const struct unit *unit, uint32_t first, uint32_t end)
{
    size_t count = end - first, shorter = count < unit->count ? count : unit->count;
    if (common_prefix(unit->symbol, s->symbol + first, shorter) >= unit->cut)
        return first + (uint32_t)unit->cut;
    size_t after = unit->count - unit->cut;
    if (common_suffix(unit->symbol + unit->count, s->symbol + end, shorter) >= after)
        return end - (uint32_t)after;
    uint32_t best = first;
    for (uint32_t i = first + 1; i < end; i++)
        if (pause_before(s, i) > pause_before(s, best))
            best = i;
    return best;
}

/* The offset at which the sequence joins the unit, before the first anchor: cut there, no step is partial. */
static size_t first_whole(const struct sequence *s, const struct unit *unit, uint32_t first_anchor)
{
    size_t limit = first_anchor < unit->count ? first_anchor : unit->count;
    size_t before = common_suffix(unit->symbol + unit->count, s->symbol + first_anchor, limit);
    return (unit->count - before) % unit->count;
}

static bool is_like_unit(const struct sequence *s, const struct unit *unit, uint32_t first, uint32_t end)
{
    double size = (double)(end - first) / (double)unit->count;
    return size >= size_low && size <= size_high &&
           similarity(unit->turned, unit->count, s->symbol + first, end - first) >= alike;
}

/* Cuts the sequence at the chosen level, and adds the whole steps before the first and after the last cut. */
static void cut_steps(const struct sequence *s, const struct tokens *t, const struct level *level,
                      struct sequence_steps *steps)
{
    struct segments g;
    segments_init(&g, t, level);
    uint32_t template = t->first[level->template_first];
    struct unit unit = {.symbol = s->symbol + template, .count = t->first[level->template_end] - template};
    double *pause = typical_pauses(s, t, level, &g);
    unit.cut = longest_pause(pause, unit.count);
    size_t whole = first_whole(s, &unit, t->first[g.first[0]]);
    if (pause[unit.cut] < pause_clear * pause[whole])
        unit.cut = whole;
    free(pause);
    unit.turned = mem_resize(NULL, unit.count, sizeof *unit.turned);
    for (size_t k = 0; k < unit.count; k++)
        unit.turned[k] = unit.symbol[(k + unit.cut) % unit.count];

    uint32_t unit_count = (uint32_t)unit.count;
    for (size_t i = 0; i < g.count; i++) {
        uint32_t first = t->first[g.first[i]], end = t->first[g.first[i + 1]];
        if (i == g.count - 1 && end - first < unit.cut)
            break;
        uint32_t at = cut_segment(s, &unit, first, end);
        if (i == 0) {
            uint32_t before = at > unit_count ? at - unit_count : 0;
            if (before < at && is_like_unit(s, &unit, before, at))
                vec_push(&steps->cuts, before);
        }
        if (steps->cuts.count == 0 || steps->cuts.at[steps->cuts.count - 1] < at)
            vec_push(&steps->cuts, at);
    }
    if (steps->cuts.count) {
        uint32_t last = steps->cuts.at[steps->cuts.count - 1];
        uint32_t end = s->count - last > unit.count ? last + unit_count : (uint32_t)s->count;
        if (end > last && is_like_unit(s, &unit, last, end))
            vec_push(&steps->cuts, end);
    }
    steps->period = t->launches[template + unit.count] - t->launches[template];
    steps->quality = level->quality;
    free(unit.turned);
    segments_release(&g);
}

/* ---- units too small to be a step, and identical launches ---------------------------------------------- */

/* Joins the units between cuts if their pauses have a rhythm. */
static bool join_small_units(const struct sequence *s, const struct tokens *t, struct sequence_steps *steps)
{
    size_t units = steps->cuts.count ? steps->cuts.count - 1 : 0;
    int64_t *pause = mem_zalloc(units, sizeof *pause);
    for (size_t i = 0; i < units; i++)
        for (uint32_t k = steps->cuts.at[i]; k < steps->cuts.at[i + 1]; k++)
            pause[i] += s->gap_ns[k];
    struct rhythm rhythm = {0};
    rhythm_find(pause, units, &rhythm);
    if (rhythm.cuts.count) {
        for (size_t i = 0; i < rhythm.cuts.count; i++)
            rhythm.cuts.at[i] = steps->cuts.at[rhythm.cuts.at[i]];
        vec_release(&steps->cuts);
        for (size_t i = 0; i < rhythm.cuts.count; i++)
            vec_push(&steps->cuts, rhythm.cuts.at[i]);
        steps->period *= rhythm.period;
        uint32_t first = steps->cuts.at[0], end = steps->cuts.at[steps->cuts.count - 1];
        steps->quality *= (double)(t->launches[end] - t->launches[first]) / (double)t->launches[s->count];
    }
    bool joined = rhythm.cuts.count > 0;
    vec_release(&rhythm.cuts);
    free(pause);
    return joined;
}

/* Whether the launches are nearly all the same. */
static bool is_one_symbol(const struct sequence *s)
{
    size_t *times = mem_zalloc(s->symbols, sizeof *times), most = 0, launches = 0;
    for (size_t i = 0; i < s->count; i++) {
        launches += s->ops[i] > 0;
        times[s->symbol[i]] += s->ops[i] > 0;
        most = times[s->symbol[i]] > most ? times[s->symbol[i]] : most;
    }
    free(times);
    return (double)most >= inner_quality * (double)launches;
}

/* Every launch its own unit. */
static void cut_everywhere(const struct sequence *s, struct sequence_steps *steps)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->ops[i] > 0)
            vec_push(&steps->cuts, i);
    if (steps->cuts.count)
        vec_push(&steps->cuts, (uint32_t)s->count);
    steps->period = 1;
    steps->quality = 1;
}

static int64_t median_ops(const struct sequence *s, const struct sequence_steps *steps)
{
    size_t units = steps->cuts.count ? steps->cuts.count - 1 : 0;
    int64_t *ops = mem_zalloc(units, sizeof *ops);
    for (size_t i = 0; i < units; i++)
        for (uint32_t k = steps->cuts.at[i]; k < steps->cuts.at[i + 1]; k++)
            ops[i] += s->ops[k];
    int64_t median = stat_percentile(ops, units, 0.5);
    free(ops);
    return median;
}

static bool find_unit(const struct sequence *s, struct tokens *t, struct sequence_steps *steps)
{
    struct level levels[LEVELS_MAX];
    size_t count = find_levels(t, levels);
    for (size_t i = 0; i < count; i++) {
        struct segments g;
        segments_init(&g, t, &levels[i]);
        weigh_level(&levels[i], t, &g);
        if (levels[i].quality >= quality_min)
            weigh_pauses(&levels[i], s, t, &g);
        segments_release(&g);
    }
    const struct level *level = choose_level(s, t, levels, count);
    if (level)
        cut_steps(s, t, level, steps);
    return steps->cuts.count > STEPS_MIN;
}

/* ---- large launches ------------------------------------------------------------------------------------ */

/* Places of launches that start much by themselves (graphs); how many, or 0 unless they hold most of the
 * device time. */
static size_t find_large(const struct sequence *s, uint32_t *at)
{
    size_t count = 0;
    int64_t large_ns = 0, all_ns = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        all_ns += s->busy_ns[i];
        if (s->ops[i] < UNIT_OPS_MIN)
            continue;
        large_ns += s->busy_ns[i];
        at[count++] = i;
    }
    return (double)large_ns >= inner_quality * (double)all_ns ? count : 0;
}

/* How many of these places lie in the steps. */
static size_t count_within(const uint32_t *at, size_t count, const struct sequence_steps *steps)
{
    size_t within = 0;
    for (size_t i = 0; i < count && steps->cuts.count; i++)
        within += at[i] >= steps->cuts.at[0] && at[i] < steps->cuts.at[steps->cuts.count - 1];
    return within;
}

/* The sequence of the elements at these places, without what is between them. Caller releases it. */
static struct sequence pick(const struct sequence *s, const uint32_t *at, size_t count)
{
    uint32_t *symbol = mem_resize(NULL, count, sizeof *symbol), *ops = mem_resize(NULL, count, sizeof *ops);
    int64_t *busy_ns = mem_resize(NULL, count, sizeof *busy_ns),
            *gap_ns = mem_resize(NULL, count, sizeof *gap_ns),
            *wait_ns = mem_resize(NULL, count, sizeof *wait_ns);
    for (size_t i = 0; i < count; i++) {
        symbol[i] = s->symbol[at[i]];
        ops[i] = s->ops[at[i]];
        busy_ns[i] = s->busy_ns[at[i]];
        gap_ns[i] = s->gap_ns[at[i]];
        wait_ns[i] = s->wait_ns[at[i]];
    }
    return (struct sequence){count, s->symbols, symbol, ops, busy_ns, gap_ns, wait_ns};
}

static void pick_release(const struct sequence *s)
{
    free((void *)s->symbol);
    free((void *)s->ops);
    free((void *)s->busy_ns);
    free((void *)s->gap_ns);
    free((void *)s->wait_ns);
}

/* Cuts a sequence of large launches: where the unit begins that they repeat, else at each of them. */
static void cut_large(const struct sequence *s, struct sequence_steps *cut)
{
    struct tokens t = {0};
    tokens_fold(&t, s);
    bool found = find_unit(s, &t, cut);
    uint32_t within = found ? cut->cuts.at[cut->cuts.count - 1] - cut->cuts.at[0] : 0;
    if (within < inner_quality * (double)s->count) {
        cut->cuts.count = 0;
        cut_everywhere(s, cut);
    }
    tokens_release(&t);
}

/* Where steps were found beside the large launches that hold most of the device time (in what warmed up for
 * them), the large launches tell the steps. */
static bool cut_large_launches(const struct sequence *s, const struct tokens *t, struct sequence_steps *steps)
{
    uint32_t *at = mem_resize(NULL, s->count, sizeof *at);
    size_t count = find_large(s, at);
    bool is_wanted =
        count > STEPS_MIN && (double)count_within(at, count, steps) < inner_quality * (double)count;
    if (is_wanted) {
        struct sequence large = pick(s, at, count);
        struct sequence_steps cut = {0};
        cut_large(&large, &cut);
        size_t units = cut.cuts.count - 1;
        uint32_t first = at[cut.cuts.at[0]], last = at[cut.cuts.at[units] - 1];
        steps->cuts.count = 0;
        for (size_t i = 0; i < units; i++)
            vec_push(&steps->cuts, at[cut.cuts.at[i]]);
        vec_push(&steps->cuts, last + 1);
        steps->period = (size_t)(t->launches[last + 1] - t->launches[first]) / units;
        /* Low beside a unit that holds them: other symbols may tell one. */
        steps->quality = (double)count / (double)t->launches[s->count];
        vec_release(&cut.cuts);
        pick_release(&large);
    }
    free(at);
    return is_wanted;
}

void sequence_find(const struct sequence *s, struct sequence_steps *steps)
{
    struct tokens t = {0};
    tokens_fold(&t, s);
    bool found = find_unit(s, &t, steps);
    uint32_t *grams = NULL;
    if (cut_large_launches(s, &t, steps)) {
        found = true;
    } else if (!found) {
        steps->cuts.count = 0;
        t.id = grams = tokens_grams(&t, &t.ids);
        found = find_unit(s, &t, steps);
    }
    if (!found) {
        steps->cuts.count = 0;
        cut_everywhere(s, steps);
    }
    if (median_ops(s, steps) < UNIT_OPS_MIN)
        found |= join_small_units(s, &t, steps);
    else
        found |= is_one_symbol(s); /* the same graph over and over */
    if (!found || steps->cuts.count <= STEPS_MIN)
        steps->cuts.count = 0;
    free(grams);
    tokens_release(&t);
}
