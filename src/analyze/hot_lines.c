/* Counters of places by source line: where in a kernel the time and the waste are. */
#include <stdlib.h>

#include "analyze/profiles.h"

/* Of all kernels together; what lies beyond is not looked at. */
enum { LINES_MAX = 50000 };

struct row_line {
    uint32_t row;
    struct hot_line line;
};

static uint64_t line_key(const struct run *run, uint32_t row, uint32_t place)
{
    const struct place_table *places = &run->places;
    if (!places->line[place])
        return hash_pair((uint64_t)row << 32 | place, 1);
    /* One line that was inlined at two places is two: what is slow is one of them. */
    return hash_pair(hash_pair((uint64_t)row << 32 | places->line[place], (uint64_t)places->file[place] << 1),
                     places->inlined[place]);
}

static int by_row_and_heat(const void *a, const void *b)
{
    const struct row_line *left = a, *right = b;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    static const enum place_metric order[] = {PLACE_SAMPLES, PLACE_INSTRUCTIONS};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        double l = left->line.values[order[i]], r = right->line.values[order[i]];
        if (l != r)
            return l > r ? -1 : 1;
    }
    return left->line.place < right->line.place ? -1 : left->line.place > right->line.place;
}

static void add_value(struct hot_line *line, const char *name, double value)
{
    bool not_issued;
    enum place_metric metric = place_metric_of(name);
    if (metric == PLACE_OTHER)
        return;
    enum stall stall = place_stall(name, &not_issued);
    if (stall == STALL_NONE)
        line->values[metric] += value;
    else if (!not_issued)
        line->stalls[stall] += value;
    else
        line->values[PLACE_NOT_ISSUED_SAMPLES] += value;
}

/* Where the sampler's total is not there, its reasons add up to it. */
static void complete(struct hot_line *line)
{
    double sum = 0;
    for (int s = 0; s < STALL_COUNT; s++)
        sum += line->stalls[s];
    line->values[PLACE_STALL_SAMPLES] = sum;
    if (line->values[PLACE_SAMPLES] == 0)
        line->values[PLACE_SAMPLES] = sum;
}

/* Samples by place: the sampler's total, else what its reasons add up to. Caller frees. */
static double *measure_heat(const struct run *run)
{
    const struct place_counter_table *counters = &run->place_counters;
    double *heat = mem_zalloc(run->places.count, sizeof *heat);
    double *totals = mem_zalloc(run->places.count, sizeof *totals);
    for (size_t i = 0; i < counters->count; i++) {
        bool not_issued;
        const char *name = run_text(run, counters->name[i]);
        enum place_metric metric = place_metric_of(name);
        if (metric == PLACE_SAMPLES)
            totals[counters->place[i]] += counters->value[i];
        else if (metric == PLACE_STALL_SAMPLES && place_stall(name, &not_issued) != STALL_NONE && !not_issued)
            heat[counters->place[i]] += counters->value[i];
    }
    for (size_t place = 0; place < run->places.count; place++)
        heat[place] = totals[place] > 0 ? totals[place] : heat[place];
    free(totals);
    return heat;
}

void lines_build(struct report *report, const uint32_t *row_of)
{
    const struct run *run = report->run;
    const struct place_counter_table *counters = &run->place_counters;
    struct map known = {0};
    VEC(struct row_line) lines = {0};
    double *heat = measure_heat(run);
    for (size_t i = 0; i < counters->count; i++) {
        uint32_t profile = counters->profile[i], place = counters->place[i];
        uint32_t row = profile == NONE ? NONE : row_of[profile];
        if (row == NONE)
            continue;
        uint64_t key = line_key(run, row, place);
        uint32_t at = map_get(&known, key);
        if (at == MAP_ABSENT) {
            if (lines.count >= LINES_MAX)
                continue;
            at = (uint32_t)lines.count;
            map_set(&known, key, at);
            vec_push(&lines, ((struct row_line){row, {.place = place, .hottest = place}}));
        }
        struct hot_line *line = &lines.at[at].line;
        line->hottest = heat[place] > heat[line->hottest] ? place : line->hottest;
        add_value(line, run_text(run, counters->name[i]), counters->value[i]);
    }
    vec_each (&lines, line)
        complete(&line->line);
    if (lines.count)
        qsort(lines.at, lines.count, sizeof *lines.at, by_row_and_heat);
    vec_each (&lines, line) {
        struct profile_row *row = &report->profiles.at[line->row];
        if (row->line_count++ == 0)
            row->first_line = (uint32_t)report->lines.count;
        vec_push(&report->lines, line->line);
    }
    vec_release(&lines);
    map_release(&known);
    free(heat);
}
