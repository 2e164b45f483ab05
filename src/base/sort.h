/* Sorting of row numbers by group and time, for columnar tables. */
#ifndef WARPLIGHT_BASE_SORT_H
#define WARPLIGHT_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sort_rows {
    size_t count;
    const uint32_t *group; /* first key, ascending, each below groups; NULL: one group */
    uint32_t groups;
    const int64_t *time; /* second key, ascending */
    /* Decides between rows of equal group and time: whether row b belongs before row a. NULL: input order. */
    bool (*swap)(const void *context, uint32_t a, uint32_t b);
    const void *context;
};

/* Returns a new array of count row numbers in sorted order (caller frees), or NULL if the rows are in order
 * already. Stable; O(count) for times that span less than 2^44 ns within one call. */
uint32_t *sort_order(const struct sort_rows *rows);

#endif
