/* Idle time of devices, summed by cause and culprit while gaps are attributed. */
#ifndef WARPLIGHT_ANALYZE_GAPS_H
#define WARPLIGHT_ANALYZE_GAPS_H

#include "analyze/analyze.h"

/* Time of a culprit that was spent on one thing: a candidate for a struct most_of of its row. */
struct culprit_part {
    uint32_t row;  /* of report->culprits, while they are added */
    uint32_t kind; /* offset of the struct most_of in the row */
    uint32_t value;
    int64_t ns;
};

struct culprit_index {
    struct report *report;
    struct map rows;        /* hash of the key → row of report->culprits */
    const char **generic;   /* per name id: the name with its numbers replaced by '*'; NULL not yet made */
    struct map generic_ids; /* hash of the generic text → first name id that has it */
    VEC(struct culprit_part) parts;
    struct map part_of;     /* hash of the key → part */
    struct map library_ids; /* hash of a library's name → first name id that is of it */
    uint32_t last_row;      /* of the piece that came last */
    struct interval last;   /* the stretch that it ended */
};

void culprit_index_init(struct culprit_index *index, struct report *report);
void culprit_add(struct culprit_index *index, const struct gap_piece *piece);
/* Sorts report->culprits and frees the index. */
void culprit_index_finish(struct culprit_index *index);
/* For qsort(): struct culprit_row, the largest total first. */
int culprit_by_total(const void *a, const void *b);

#endif
