/* Which GPUs a program gets, and in which order: what the CUDA driver makes of CUDA_VISIBLE_DEVICES. Sources:
 * CUDA C++ Programming Guide 13.0, "CUDA Environment Variables"; MIG User Guide, "CUDA_VISIBLE_DEVICES". */
#ifndef WARPLIGHT_ANALYZE_VISIBLE_H
#define WARPLIGHT_ANALYZE_VISIBLE_H

#include <stddef.h>

enum { VISIBLE_MOST = 64 };

enum visible_end {
    VISIBLE_ALL,       /* the variable is not set */
    VISIBLE_LISTED,    /* every entry names a GPU */
    VISIBLE_EMPTY,     /* the variable is set to nothing */
    VISIBLE_INVALID,   /* an entry names no GPU: the list ends before it */
    VISIBLE_AMBIGUOUS, /* the beginning of a UUID that fits several GPUs: the same */
    VISIBLE_MIXED,     /* numbers and UUIDs do not mix: the same */
    VISIBLE_DUPLICATE, /* a GPU is named twice: no GPU is visible */
    VISIBLE_MIG,       /* an instance is named: it is the only device, whatever follows */
};

struct visible {
    size_t gpus[VISIBLE_MOST]; /* the program's number → number in the list of GPUs */
    size_t count;
    enum visible_end end;
    const char *entry; /* in value: the one that ended the list */
    size_t entry_length;
};

/* uuids: of all count GPUs in CUDA's order, "" where one is not known; value: of the variable, NULL where it
 * is not set. */
void visible_resolve(struct visible *visible, const char *value, const char *const *uuids, size_t count);

#endif
