/* Sections of a report: which rows, which columns. To add one: an id, a row of sections[], a table of
 * columns. */
#ifndef WARPLIGHT_VIEW_SECTIONS_H
#define WARPLIGHT_VIEW_SECTIONS_H

#include "view/columns.h"

enum section_id {
    SECTION_LEDGER,
    SECTION_FINDINGS,
    SECTION_GAPS,
    SECTION_CULPRITS,
    SECTION_KERNELS,
    SECTION_COPIES,
    SECTION_CALLS,
    SECTION_LAUNCHES,
    SECTION_OPERATORS,
    SECTION_STEPS,
    SECTION_STREAMS,
    SECTION_CONCURRENCY,
    SECTION_MEMORY,
    SECTION_COMMS,
    SECTION_RANKS,
    SECTION_AMDAHL,
    SECTION_SOURCES,
    SECTION_LOSSES,
    SECTION_FACTS,
    SECTION_COUNT,
};

#define SECTION_BIT(id) (UINT64_C(1) << (id))
#define SECTIONS_ALL    (SECTION_BIT(SECTION_COUNT) - 1)

/* Rows that no table of the report holds as they are shown. */
struct ledger_row {
    uint32_t device;
    enum account account;
    int64_t ns;
    double share_ratio; /* of wall time */
};

struct loss_row {
    const char *name;  /* key for machines */
    const char *title; /* msgid */
    int64_t count;
};

struct source_row { /* a source and one of its repairs */
    const struct source *source;
    const struct repair *repair; /* NULL: none */
};

union section_scratch {
    struct ledger_row ledger;
    struct loss_row loss;
    struct source_row source;
};

struct section {
    const char *name;             /* for --section */
    const char *key;              /* in JSON */
    const char *title;            /* msgid */
    const char *empty;            /* msgid: what it means that there are no rows */
    const struct column *columns; /* ends with key NULL */
    bool single;                  /* one row, always: an object in JSON */
    /* Rows of report, at vec, row_size bytes each; or composed by count() and row(). */
    size_t vec, row_size;
    size_t (*count)(const struct report *report);
    const void *(*row)(const struct report *report, size_t i, union section_scratch *scratch);
    /* When rows must be left out, those with the largest weight stay; NULL: the first ones stay. */
    int64_t (*weight)(const void *row);
    size_t machine_limit; /* most rows in machine output unless --limit says else; 0: all */
};

extern const struct section sections[SECTION_COUNT];
/* Beside the sections, for JSON: struct device, struct device_report, struct step_report, struct source. */
extern const struct column device_columns[], device_report_columns[], step_report_columns[], source_columns[];
/* NULL-terminated names: those of sections[] in order, then "all". */
extern const char *const section_names[];

size_t section_count(const struct section *section, const struct report *report);
/* Row i, valid until the next call with the same scratch. */
const void *section_row(const struct section *section, const struct report *report, size_t i,
                        union section_scratch *scratch);
/* The rows to show when at most `limit` may be: a new array of *count row numbers (caller frees). Where the
 * section has weights the heaviest ones stay; in their own order, or by_weight, heaviest first. */
size_t *section_pick(const struct section *section, const struct report *report, size_t limit, bool by_weight,
                     size_t *count);

/* What people call an account: "idle: data loading" (msgid). */
const char *account_title(enum account account);
const char *severity_name(enum severity severity); /* "info", "warn", "critical"; also msgids */

#endif
