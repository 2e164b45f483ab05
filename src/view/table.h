/* Aligned tables for people, from the columns of a section. */
#ifndef WARPLIGHT_VIEW_TABLE_H
#define WARPLIGHT_VIEW_TABLE_H

#include "view/screen.h"
#include "view/sections.h"

struct table_options {
    size_t limit;   /* most rows */
    int max_rank;   /* columns of a higher rank are left out */
    bool by_weight; /* heaviest rows first, where the section has weights */
    bool full_names;
    int indent;
    const char
        *heading; /* translated; stands in the header line instead of the first column's title; or NULL */
};

enum { RANK_OVERVIEW = 1, RANK_ALL = 99 };

/* Prints heading and rows. Columns that do not fit go, highest rank first; flexible ones shrink. Columns that
 * are unknown in every row, and the device where there is only one, go too unless their rank is 0. Returns
 * the number of rows printed. */
size_t table_print(struct screen *s, const struct section *section, const struct report *report,
                   const struct table_options *options);
/* One "title: value" line per column of a single-row section; unknown values are left out. */
void table_print_single(struct screen *s, const struct section *section, const struct report *report);

#endif
