#include "inject/plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

enum { CHIPS = 8, MOST_PASSES = 64 };

static struct {
    char *words;                           /* of the options, cut at their commas */
    const char *metrics[PROFILER_METRICS]; /* of all passes, those of one pass first; into words */
    size_t quick_count, deep_count;
    struct plans chips[CHIPS];
    size_t chip_count;
} all;

void plans_read(const char *words)
{
    free(all.words);
    all.words = strdup(words ? words : "");
    all.quick_count = all.deep_count = 0;
    for (char *word = all.words; word && all.deep_count < PROFILER_METRICS;) {
        char *end = strchr(word, ','), *name = strchr(word, '=');
        if (end)
            *end = '\0';
        bool quick = strncmp(word, "metric=", strlen("metric=")) == 0;
        if (quick || strncmp(word, "deep=", strlen("deep=")) == 0)
            all.metrics[all.deep_count++] = name + 1;
        all.quick_count += quick;
        word = end ? end + 1 : NULL;
    }
}

/* Of units that all instances of a MIG GPU use. */
static bool is_shared(const char *metric)
{
    static const char *const units[] = {"dram__", "lts__", "lrc__", "fbpa__", "pcie__", "nvl", "c2c"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(metric, units[i], strlen(units[i])) == 0)
            return true;
    return false;
}

static bool make(struct recorder *r, struct profiler *p, bool is_part, size_t count, size_t most_passes,
                 struct plan *plan, struct refusal *why)
{
    const char *metrics[PROFILER_METRICS];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_part || !is_shared(all.metrics[i]))
            metrics[kept++] = all.metrics[i];
    if (profiler_plan(p, metrics, kept, most_passes, &plan->counters, why) != 0)
        return false;
    plan->names = calloc(plan->counters.count, sizeof *plan->names);
    refusal_set(why, N_("no hardware counters: no memory is left for them"), "%s", "");
    for (size_t i = 0; plan->names && i < plan->counters.count; i++)
        plan->names[i] = texts_hash(r, plan->counters.metrics[i]);
    return plan->names != NULL;
}

/* What it will cost, before it does. */
static void say(struct recorder *r, const struct plans *plans)
{
    struct ring_plan record = {.kind = RING_PLAN,
                               .counters = (uint32_t)plans->deep.counters.count,
                               .passes = (uint32_t)plans->deep.counters.passes};
    memcpy(record.chip, plans->chip, sizeof record.chip);
    if (r->options.deep && record.passes > 1)
        records_add(r, &record, sizeof record);
}

struct plans *plans_find(struct recorder *r, struct profiler *p, bool is_part, struct refusal *why)
{
    for (size_t i = 0; i < all.chip_count; i++)
        if (strcmp(all.chips[i].chip, p->chip) == 0 && all.chips[i].is_part == is_part)
            return &all.chips[i];
    struct plans *plans = &all.chips[all.chip_count];
    refusal_set(why, N_("no hardware counters: there are too many kinds of GPUs in the process"), "%s", "");
    if (all.chip_count == CHIPS)
        return NULL;
    *plans = (struct plans){.is_part = is_part, .evaluating = PTHREAD_MUTEX_INITIALIZER};
    memcpy(plans->chip, p->chip, sizeof plans->chip);
    if (!make(r, p, is_part, all.quick_count, 1, &plans->quick, why) ||
        (r->options.deep && !make(r, p, is_part, all.deep_count, MOST_PASSES, &plans->deep, why)))
        return NULL; /* what there is of it stays: CUPTI's objects are not given back in the middle of things
                      */
    all.chip_count++;
    say(r, plans);
    return plans;
}

void plans_forget(void)
{
    memset(all.chips, 0, sizeof all.chips);
    all.chip_count = 0;
}
