#include "analyze/annotated.h"

#include <ctype.h>
#include <string.h>

enum { RANGES_MIN = 3 };
static const double share_min = 0.5;   /* least share of the launches within the ranges */
static const double share_close = 0.8; /* of the best share: below it a group is no rival */
static const double match_min = 0.8;   /* share of steps that must have a range of their own, and back */

struct group {
    uint32_t first_name;
    bool numbered;
    int64_t last_end;
    size_t count, launches;
    bool named_step;
};

struct member {
    uint32_t group, span;
};

struct grouping {
    const struct run *run;
    uint64_t *stripped; /* per name id: hash of the name without digits; 0 not yet known */
    struct map by_key;  /* → groups */
    VEC(struct group) groups;
    VEC(struct member) members; /* by thread, then start */
};

size_t issued_at_or_after(const int64_t *issued, size_t count, int64_t time)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (issued[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t hash_without_digits(const char *name)
{
    uint64_t hash = 1;
    for (; *name; name++)
        if (!isdigit((unsigned char)*name))
            hash = hash_pair(hash, (unsigned char)*name);
    return hash ? hash : 1;
}

/* Words that programs use for one turn of their main loop. */
static bool speaks_of_step(const char *name)
{
    return strcasestr(name, "step") || strcasestr(name, "iter") || strcasestr(name, "batch");
}

static uint32_t group_for(struct grouping *g, uint32_t span)
{
    uint32_t name = g->run->spans.name[span], thread = g->run->spans.thread[span];
    if (g->stripped[name] == 0)
        g->stripped[name] = hash_without_digits(run_text(g->run, name));
    uint64_t key = hash_pair(g->stripped[name], thread);
    uint32_t at = map_get(&g->by_key, key);
    if (at == MAP_ABSENT) {
        at = (uint32_t)g->groups.count;
        map_set(&g->by_key, key, at);
        vec_push(&g->groups, ((struct group){.first_name = name,
                                             .last_end = INT64_MIN,
                                             .named_step = speaks_of_step(run_text(g->run, name))}));
    }
    return at;
}

static void group_ranges(struct grouping *g, const struct thread *thread, const int64_t *issued, size_t count)
{
    const struct span_table *spans = &g->run->spans;
    for (uint32_t i = thread->first_span; i < thread->first_span + thread->span_count; i++) {
        if (spans->kind[i] != SPAN_ANNOTATION || spans->name[i] == 0)
            continue;
        uint32_t at = group_for(g, i);
        struct group *group = &g->groups.at[at];
        if (spans->start[i] < group->last_end)
            continue; /* inside one of its own kind */
        vec_push(&g->members, ((struct member){.group = at, .span = i}));
        group->last_end = spans->end[i];
        group->count++;
        group->numbered |= spans->name[i] != group->first_name;
        group->launches += issued_at_or_after(issued, count, spans->end[i]) -
                           issued_at_or_after(issued, count, spans->start[i]);
    }
}

static bool marks_better(const struct group *a, const struct group *b)
{
    if (a->named_step != b->named_step)
        return a->named_step;
    if (a->numbered != b->numbered)
        return a->numbered;
    if (a->launches != b->launches)
        return a->launches > b->launches;
    return a->count < b->count;
}

static uint32_t choose_group(const struct grouping *g, size_t launches)
{
    size_t most = 0;
    vec_each (&g->groups, group)
        if (group->count >= RANGES_MIN && group->launches > most)
            most = group->launches;
    uint32_t best = NONE;
    for (uint32_t i = 0; i < g->groups.count; i++) {
        const struct group *group = &g->groups.at[i];
        if (group->count < RANGES_MIN || (double)group->launches < share_close * (double)most ||
            (double)group->launches < share_min * (double)launches)
            continue;
        if (best == NONE || marks_better(group, &g->groups.at[best]))
            best = i;
    }
    return best;
}

void annotated_find(const struct run *run, uint32_t device, const int64_t *issued, size_t count,
                    struct annotated *annotated)
{
    struct grouping g = {.run = run};
    bool *launches = mem_zalloc(run->processes.count, sizeof *launches); /* on the device */
    g.stripped = mem_zalloc(run->strings.count, sizeof *g.stripped);
    vec_each (&run->streams, stream)
        if (stream->device == device && stream->process != NONE)
            launches[stream->process] = true;
    *annotated = (struct annotated){0};
    vec_each (&run->threads, thread)
        if (launches[thread->process] && count > 0)
            group_ranges(&g, thread, issued, count);
    uint32_t best = choose_group(&g, count);
    if (best != NONE) {
        const struct group *group = &g.groups.at[best];
        annotated->numbered = group->numbered;
        annotated->named_step = group->named_step;
        annotated->spans = mem_resize(NULL, group->count, sizeof *annotated->spans);
        vec_each (&g.members, member)
            if (member->group == best)
                annotated->spans[annotated->count++] = member->span;
    }
    map_release(&g.by_key);
    vec_release(&g.groups);
    vec_release(&g.members);
    free(launches);
    free(g.stripped);
}

void annotated_release(struct annotated *annotated)
{
    free(annotated->spans);
    *annotated = (struct annotated){0};
}

uint32_t annotated_at(const struct annotated *annotated, const struct run *run, int64_t moment)
{
    size_t low = 0, high = annotated->count; /* ranges that start at or before the moment */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->spans.start[annotated->spans[middle]] <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && moment < run->spans.end[annotated->spans[low - 1]] ? annotated->spans[low - 1] : NONE;
}

bool annotated_match(const struct annotated *annotated, const struct run *run, const int64_t *issued,
                     const uint32_t *cuts, size_t cut_count)
{
    if (annotated->count == 0 || cut_count < 2)
        return false;
    size_t own = 0;
    uint32_t last = NONE;
    for (size_t i = 0; i + 1 < cut_count; i++) {
        uint32_t span = annotated_at(annotated, run, issued[cuts[i] + (cuts[i + 1] - cuts[i]) / 2]);
        own += span != NONE && span != last;
        last = span != NONE ? span : last;
    }
    return (double)own >= match_min * (double)(cut_count - 1) &&
           (double)own >= match_min * (double)annotated->count;
}
