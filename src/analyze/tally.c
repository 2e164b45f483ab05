#include "analyze/tally.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"

void tally_init(struct tally *tally, size_t keys)
{
    *tally = (struct tally){0};
    tally->group_of = mem_resize(NULL, keys, sizeof *tally->group_of);
    memset(tally->group_of, 0xff, keys * sizeof *tally->group_of); /* NONE */
}

void tally_release(struct tally *tally)
{
    free(tally->group_of);
    free(tally->values);
    vec_release(&tally->groups);
    *tally = (struct tally){0};
}

void tally_layout(struct tally *tally)
{
    vec_each (&tally->groups, group) {
        group->first = tally->value_count;
        tally->value_count += (size_t)group->count;
        group->count = 0;
    }
    tally->values = mem_resize(NULL, tally->value_count, sizeof *tally->values);
}

int64_t tally_median(struct tally *tally, const struct tally_group *group)
{
    return stat_percentile(tally->values + group->first, (size_t)group->count, 0.5);
}
