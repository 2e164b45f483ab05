#include "view/sections.h"

#include <stdlib.h>

#include "base/i18n.h"
#include "view/section_columns.h"

/* Gaps and steps are the sections that grow with the length of the run. */
enum { GROWING_LIMIT = 200 };

#define ROWS_OF(field)                                                                                       \
    .vec = offsetof(struct report, field), .row_size = sizeof *((struct report *)0)->field.at

const struct section sections[SECTION_COUNT] = {
    [SECTION_LEDGER] = {"ledger", "ledger", N_("Where the time went"), N_("No device did any work."),
                        ledger_columns, .count = ledger_count, .row = ledger_row},
    [SECTION_FINDINGS] = {"findings", "findings", N_("Findings"), N_("Nothing was found."), finding_columns,
                          ROWS_OF(findings)},
    [SECTION_GAPS] = {"gaps", "gaps", N_("Gaps: stretches in which the GPU had nothing to do"),
                      N_("The GPU was never idle."), gap_columns, ROWS_OF(gaps), .weight = gap_weight,
                      .machine_limit = GROWING_LIMIT},
    [SECTION_CULPRITS] = {"culprits", "culprits", N_("Who made the GPU wait"), N_("The GPU was never idle."),
                          culprit_columns, ROWS_OF(culprits)},
    [SECTION_KERNELS] = {"kernels", "kernels", N_("Kernels"), N_("No kernel ran."), kernel_columns,
                         ROWS_OF(kernels)},
    [SECTION_COPIES] = {"copies", "copies", N_("Transfers"), N_("Nothing was copied."), copy_columns,
                        ROWS_OF(copies)},
    [SECTION_CALLS] = {"calls", "calls", N_("API calls"), N_("The recording holds no API calls."),
                       call_columns, ROWS_OF(calls)},
    [SECTION_LAUNCHES] = {"launches", "launches", N_("Launches"), NULL, launch_columns, .single = true,
                          .vec = offsetof(struct report, launches)},
    [SECTION_OPERATORS] = {"operators", "ops", N_("Framework operators"),
                           N_("The recording holds no framework operators."), operator_columns,
                           ROWS_OF(operators)},
    [SECTION_STEPS] = {"steps", "steps", N_("Steps"), N_("No repeating steps were found."), step_columns,
                       ROWS_OF(steps.rows), .weight = step_weight, .machine_limit = GROWING_LIMIT},
    [SECTION_STREAMS] = {"streams", "streams", N_("Streams"), N_("No stream did any work."), stream_columns,
                         ROWS_OF(streams)},
    [SECTION_CONCURRENCY] = {"concurrency", "concurrency", N_("Concurrency"), N_("No device did any work."),
                             concurrency_columns, ROWS_OF(concurrency)},
    [SECTION_MEMORY] = {"memory", "memory", N_("Memory"), N_("The recording holds no memory events."),
                        memory_columns, ROWS_OF(memory)},
    [SECTION_COMMS] = {"comms", "comms", N_("Collectives"), N_("No collective communication ran."),
                       comm_columns, ROWS_OF(comms)},
    [SECTION_RANKS] = {"ranks", "ranks", N_("Ranks"), N_("This is not a run of several ranks."), rank_columns,
                       ROWS_OF(ranks)},
    [SECTION_AMDAHL] = {"amdahl", "amdahl", N_("How much faster it could get at all"),
                        N_("No device did any work."), amdahl_columns, ROWS_OF(amdahl)},
    [SECTION_SOURCES] = {"sources", "sources", N_("Files"), N_("Nothing was read."), source_row_columns,
                         .count = source_row_count, .row = source_row},
    [SECTION_LOSSES] = {"losses", "losses", N_("Lost data"), NULL, loss_columns, .count = loss_count,
                        .row = loss_row},
    [SECTION_FACTS] = {"facts", "facts", N_("Facts about the recording"),
                       N_("The recording states no facts."), fact_columns, .count = fact_count,
                       .row = fact_row},
};

const char *const section_names[] = {
    "ledger",   "findings",  "gaps",    "culprits", "kernels",     "copies", "calls",
    "launches", "operators", "steps",   "streams",  "concurrency", "memory", "comms",
    "ranks",    "amdahl",    "sources", "losses",   "facts",       "all",    NULL,
};

/* The layout that every VEC() has. */
struct any_vec {
    const char *at;
    size_t count, cap;
};

size_t section_count(const struct section *section, const struct report *report)
{
    if (section->single)
        return 1;
    if (section->count)
        return section->count(report);
    return ((const struct any_vec *)((const char *)report + section->vec))->count;
}

const void *section_row(const struct section *section, const struct report *report, size_t i,
                        union section_scratch *scratch)
{
    if (section->row)
        return section->row(report, i, scratch);
    const char *vec = (const char *)report + section->vec;
    if (section->single)
        return vec;
    return ((const struct any_vec *)vec)->at + i * section->row_size;
}

struct weighed {
    int64_t weight;
    size_t row;
};

static int heavier_first(const void *a, const void *b)
{
    const struct weighed *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight < right->weight ? 1 : -1;
    return (left->row > right->row) - (left->row < right->row);
}

static int lower_first(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

size_t *section_pick(const struct section *section, const struct report *report, size_t limit, bool by_weight,
                     size_t *count)
{
    size_t all = section_count(section, report);
    size_t kept = all < limit ? all : limit;
    size_t *rows = mem_resize(NULL, kept + 1, sizeof *rows);
    *count = kept;
    if (!section->weight || (kept == all && !by_weight)) {
        for (size_t i = 0; i < kept; i++)
            rows[i] = i;
        return rows;
    }
    union section_scratch scratch;
    struct weighed *weighed = mem_resize(NULL, all + 1, sizeof *weighed);
    for (size_t i = 0; i < all; i++)
        weighed[i] = (struct weighed){section->weight(section_row(section, report, i, &scratch)), i};
    qsort(weighed, all, sizeof *weighed, heavier_first);
    for (size_t i = 0; i < kept; i++)
        rows[i] = weighed[i].row;
    free(weighed);
    if (!by_weight)
        qsort(rows, kept, sizeof *rows, lower_first);
    return rows;
}
