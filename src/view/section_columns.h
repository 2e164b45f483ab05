/* Between the files that hold the sections' columns and sections.c, which makes sections of them. */
#ifndef WARPLIGHT_VIEW_SECTION_COLUMNS_H
#define WARPLIGHT_VIEW_SECTION_COLUMNS_H

#include "view/sections.h"

/* Reasons that more than one column gives. English: they go to machines. */
#define WHY_SOURCE    "the recording does not say"
#define WHY_LIMITS    "the limits of this device are not known"
#define WHY_LAUNCH    "the recording holds no launch configuration"
#define WHY_PLACE     "no source line is known"
#define WHY_NO_LINKED "the recording links no launches to GPU work"

/* section_idle.c */
extern const struct column ledger_columns[], gap_columns[], culprit_columns[], step_columns[];
size_t ledger_count(const struct report *report);
const void *ledger_row(const struct report *report, size_t i, union section_scratch *scratch);
int64_t gap_weight(const void *row);
int64_t step_weight(const void *row);

/* section_work.c */
extern const struct column kernel_columns[], copy_columns[], call_columns[], launch_columns[],
    operator_columns[], stream_columns[], concurrency_columns[], comm_columns[];

/* section_run.c */
extern const struct column finding_columns[], memory_columns[], rank_columns[], amdahl_columns[],
    source_row_columns[], loss_columns[], fact_columns[];
size_t source_row_count(const struct report *report);
const void *source_row(const struct report *report, size_t i, union section_scratch *scratch);
size_t loss_count(const struct report *report);
const void *loss_row(const struct report *report, size_t i, union section_scratch *scratch);
size_t fact_count(const struct report *report);
const void *fact_row(const struct report *report, size_t i, union section_scratch *scratch);

static inline void cell_set_text(struct cell *cell, enum value_type type, const char *text)
{
    if (text && *text)
        *cell = (struct cell){CELL_VALUE, {.value = {type, {.s = text}}}};
}

static inline void cell_set(struct cell *cell, struct value value)
{
    *cell = (struct cell){CELL_VALUE, {.value = value}};
}

#endif
