/* Values by group, for exact medians without hashing or sorting: a first pass counts how many values each key
 * has, a second fills them in side by side. Keys are small integers, such as name ids. */
#ifndef WARPLIGHT_ANALYZE_TALLY_H
#define WARPLIGHT_ANALYZE_TALLY_H

#include "base/time.h"
#include "base/vec.h"

struct tally_group {
    uint32_t key;
    size_t first; /* its values are tally.values[first … first + count) */
    int64_t count, total, min, max;
};

struct tally {
    uint32_t *group_of;             /* by key: row of groups, NONE */
    VEC(struct tally_group) groups; /* by first appearance */
    int64_t *values;
    size_t value_count;
};

void tally_init(struct tally *tally, size_t keys);
void tally_release(struct tally *tally);
/* Between the passes. */
void tally_layout(struct tally *tally);
/* After the second pass; reorders the group's values. UNKNOWN for an empty group. */
int64_t tally_median(struct tally *tally, const struct tally_group *group);

/* First pass: one more value of this key is to come. */
static inline void tally_count(struct tally *tally, uint32_t key)
{
    uint32_t group = tally->group_of[key];
    if (group == NONE) {
        group = tally->group_of[key] = (uint32_t)tally->groups.count;
        vec_push(&tally->groups, ((struct tally_group){.key = key}));
    }
    tally->groups.at[group].count++;
}

/* Second pass: adds the value and returns its place in tally->values. */
static inline size_t tally_add(struct tally *tally, uint32_t key, int64_t value)
{
    struct tally_group *group = &tally->groups.at[tally->group_of[key]];
    group->min = group->count == 0 ? value : min_ns(group->min, value);
    group->max = group->count == 0 ? value : max_ns(group->max, value);
    group->total += value;
    size_t at = group->first + (size_t)group->count++;
    tally->values[at] = value;
    return at;
}

#endif
