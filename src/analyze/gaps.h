/* Idle time of devices, summed by cause and culprit while gaps are attributed. */
#ifndef WARPLIGHT_ANALYZE_GAPS_H
#define WARPLIGHT_ANALYZE_GAPS_H

#include "analyze/analyze.h"

struct culprit_index {
    struct report *report;
    struct map rows;        /* hash of the key → row of report->culprits */
    const char **generic;   /* per name id: the name with its numbers replaced by '*'; NULL not yet made */
    struct map generic_ids; /* hash of the generic text → first name id that has it */
};

void culprit_index_init(struct culprit_index *index, struct report *report);
void culprit_add(struct culprit_index *index, const struct gap_piece *piece);
/* Sorts report->culprits and frees the index. */
void culprit_index_finish(struct culprit_index *index);
/* For qsort(): struct culprit_row, the largest total first. */
int culprit_by_total(const void *a, const void *b);

#endif
