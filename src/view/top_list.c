/* Which processes are shown, and in what order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/machine.h"
#include "view/top.h"

const char *const top_sort_names[] = {"gpu", "pid",         "user",    "sm", "memory",
                                      "cpu", "host-memory", "command", NULL};

/* ---- the filter ------------------------------------------------------------------------------------------
 */

struct word {
    const char *text;
    size_t length;
};

static bool holds(const char *text, struct word word)
{
    char pattern[128];
    if (word.length >= sizeof pattern)
        return false;
    memcpy(pattern, word.text, word.length);
    pattern[word.length] = '\0';
    return strcasestr(text, pattern) != NULL;
}

static bool is_prefixed(struct word *word, const char *prefix)
{
    size_t length = strlen(prefix);
    if (word->length <= length || strncmp(word->text, prefix, length) != 0)
        return false;
    word->text += length;
    word->length -= length;
    return true;
}

static bool is_number(int64_t value, struct word word)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    return (size_t)length == word.length && memcmp(text, word.text, word.length) == 0;
}

static bool fits_word(const struct machine_sample *sample, const struct machine_process *p, struct word word)
{
    if (is_prefixed(&word, "user:"))
        return holds(p->user, word);
    if (is_prefixed(&word, "pid:"))
        return is_number(p->pid, word);
    if (is_prefixed(&word, "gpu:"))
        return is_number(sample->devices.at[p->device].id, word);
    if (is_prefixed(&word, "pod:"))
        return holds(p->pod, word);
    if (is_prefixed(&word, "job:"))
        return holds(p->job, word);
    if (is_prefixed(&word, "container:"))
        return holds(p->container, word);
    return is_number(p->pid, word) || holds(p->user, word) || holds(p->name, word) ||
           holds(p->command, word) || holds(p->container, word) || holds(p->pod, word) || holds(p->job, word);
}

bool top_process_fits(const struct machine_sample *sample, const struct machine_process *p,
                      const char *filter)
{
    for (const char *at = filter; *at;) {
        struct word word = {at, strcspn(at, " ")};
        if (word.length && !fits_word(sample, p, word))
            return false;
        at += word.length + (at[word.length] == ' ');
    }
    return true;
}

/* ---- the order -------------------------------------------------------------------------------------------
 */

struct order {
    const struct machine_sample *sample;
    const struct top_settings *settings;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* What is not known comes after what is. */
static int compare_readings(struct reading a, struct reading b)
{
    bool known_a = reading_has_value(a), known_b = reading_has_value(b);
    if (known_a != known_b)
        return known_a ? -1 : 1;
    return known_a ? compare_numbers(b.value, a.value) : 0;
}

static int compare_keys(const struct machine_process *a, const struct machine_process *b, int sort)
{
    switch ((enum top_sort)sort) {
    case TOP_SORT_PID:
        return compare_numbers(a->pid, b->pid);
    case TOP_SORT_USER:
        return strcmp(a->user, b->user);
    case TOP_SORT_SM:
        return compare_readings(a->sm, b->sm);
    case TOP_SORT_MEMORY:
        return compare_readings(a->memory, b->memory);
    case TOP_SORT_CPU:
        return compare_readings(a->cpu, b->cpu);
    case TOP_SORT_HOST_MEMORY:
        return compare_readings(a->host_memory, b->host_memory);
    case TOP_SORT_COMMAND:
        return strcmp(a->command, b->command);
    case TOP_SORT_GPU:
    case TOP_SORTS:
        break;
    }
    return compare_numbers(a->device, b->device);
}

static int compare_entries(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct machine_process *a = &order->sample->processes.at[((const struct top_entry *)left)->process],
                                 *b =
                                     &order->sample->processes.at[((const struct top_entry *)right)->process];
    int result = compare_keys(a, b, order->settings->sort);
    if (order->settings->reversed)
        result = -result;
    if (result == 0)
        result = compare_numbers(a->device, b->device);
    return result ? result : compare_numbers(a->pid, b->pid);
}

/* ---- the tree --------------------------------------------------------------------------------------------
 */

/* More would be slow, and nobody reads them. */
enum { TREE_MOST = 2000, TREE_DEEPEST = 16 };

static const struct machine_process *process_of(const struct order *order, const struct top_entry *entry)
{
    return &order->sample->processes.at[entry->process];
}

static bool is_child(const struct machine_process *p, const struct machine_process *parent)
{
    return p->parent_pid == parent->pid && p->pid != parent->pid && p->state == READING_KNOWN &&
           parent->state == READING_KNOWN;
}

/* Parents that are in the list: on the same device if one is there, else the first. */
static size_t parent_of(const struct order *order, const struct top_list *list, size_t entry)
{
    const struct machine_process *p = process_of(order, &list->entries.at[entry]);
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < list->entries.count; i++) {
        const struct machine_process *other = process_of(order, &list->entries.at[i]);
        if (!is_child(p, other))
            continue;
        if (other->device == p->device)
            return i;
        found = found == SIZE_MAX ? i : found;
    }
    return found;
}

static void add_below(struct top_list *sorted, const struct top_list *list, const size_t *parents,
                      bool *added, size_t parent, int depth)
{
    for (size_t i = 0; i < list->entries.count; i++) {
        if (parents[i] != parent || added[i])
            continue;
        struct top_entry entry = {list->entries.at[i].process, depth};
        added[i] = true;
        vec_push(&sorted->entries, entry);
        if (depth < TREE_DEEPEST)
            add_below(sorted, list, parents, added, i, depth + 1);
    }
}

/* Children under their parents, each in the order of the list. */
static void make_tree(const struct order *order, struct top_list *list)
{
    size_t count = list->entries.count;
    size_t *parents = mem_zalloc(count + 1, sizeof *parents);
    bool *added = mem_zalloc(count + 1, sizeof *added);
    struct top_list sorted = {0};
    for (size_t i = 0; i < count; i++)
        parents[i] = parent_of(order, list, i);
    add_below(&sorted, list, parents, added, SIZE_MAX, 0);
    for (size_t i = 0; i < count; i++) /* a ring of parents, which samples at different moments can show */
        if (!added[i])
            vec_push(&sorted.entries, list->entries.at[i]);
    vec_release(&list->entries);
    list->entries.at = sorted.entries.at;
    list->entries.count = sorted.entries.count;
    list->entries.cap = sorted.entries.cap;
    free(parents);
    free(added);
}

void top_list_build(struct top_list *list, const struct machine_sample *sample,
                    const struct top_settings *settings, const char *filter)
{
    struct order order = {sample, settings};
    list->entries.count = 0;
    for (uint32_t row = 0; row < sample->processes.count; row++) {
        struct top_entry entry = {row, 0};
        if (top_process_fits(sample, &sample->processes.at[row], filter))
            vec_push(&list->entries, entry);
    }
    if (list->entries.count)
        qsort_r(list->entries.at, list->entries.count, sizeof *list->entries.at, compare_entries, &order);
    if (settings->tree && list->entries.count <= TREE_MOST)
        make_tree(&order, list);
}

void top_list_release(struct top_list *list)
{
    vec_release(&list->entries);
}
