/* Counters under their own names, for those who asked for them by these names. */
#include <math.h>
#include <stdlib.h>

#include "analyze/profiles.h"

/* Of all kernels together; what lies beyond is not looked at. */
enum { COUNTERS_MAX = 100000 };

struct row_counter {
    uint32_t row, first; /* first: its row in the run's table, which keeps the order that was asked for */
    double sum, launches;
    uint32_t name;
};

static int by_row_and_order(const void *a, const void *b)
{
    const struct row_counter *left = a, *right = b;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

void raw_counters_build(struct report *report, const uint32_t *row_of)
{
    const struct run *run = report->run;
    const struct counter_table *counters = &run->counters;
    VEC(struct row_counter) found = {0};
    struct map known = {0}; /* row and name → found */
    for (uint32_t i = 0; i < counters->count; i++) {
        uint32_t row = row_of[counters->profile[i]];
        uint64_t key = (uint64_t)row << 32 | counters->name[i];
        uint32_t at = map_get(&known, key);
        if (at == MAP_ABSENT && found.count == COUNTERS_MAX)
            continue;
        if (at == MAP_ABSENT) {
            at = (uint32_t)found.count;
            map_set(&known, key, at);
            vec_push(&found, ((struct row_counter){.row = row, .first = i, .name = counters->name[i]}));
        }
        double launches = (double)run->profiles.at[counters->profile[i]].launches;
        if (counters->state[i] != COUNTER_VALUE)
            continue; /* it has its place and, if no launch has one, no value */
        found.at[at].sum += counters->value[i] * launches;
        found.at[at].launches += launches;
    }
    if (found.count)
        qsort(found.at, found.count, sizeof *found.at, by_row_and_order);
    vec_each (&found, counter) {
        struct profile_row *row = &report->profiles.at[counter->row];
        if (row->counter_count++ == 0)
            row->first_counter = (uint32_t)report->counters.count;
        double mean = counter->launches > 0 ? counter->sum / counter->launches : NAN;
        vec_push(&report->counters, ((struct raw_counter){counter->name, mean}));
    }
    map_release(&known);
    vec_release(&found);
}
