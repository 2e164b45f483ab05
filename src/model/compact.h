/* Compaction of a run that is never sealed: drops the strings, launch shapes and collectives that no row uses
 * any more, and numbers the others anew.
 *
 *     compaction_begin(&c, run);
 *     hold(&c, …);                calls compaction_string() and compaction_comm() for each number that is
 *     compaction_apply(&c, run);  kept outside of the run: it stays,
 *     hold(&c, …);                and is replaced by its new one
 *     compaction_release(&c);
 *
 * In between nothing may be added to the run. Linear in the rows and strings; for a moment both the old and
 * the new strings are there. */
#ifndef WARPLIGHT_MODEL_COMPACT_H
#define WARPLIGHT_MODEL_COMPACT_H

#include "model/run.h"

struct compaction {
    bool *strings_used, *comms_used; /* by old number; NULL once applied */
    uint32_t *strings, *comms;       /* old number → new one; NULL before */
};

void compaction_begin(struct compaction *c, const struct run *run);
/* Keeps the string *id, and after compaction_apply() makes it the new id. */
void compaction_string(const struct compaction *c, uint32_t *id);
/* The same for a row of run->comms, or NONE. */
void compaction_comm(const struct compaction *c, uint32_t *row);
void compaction_apply(struct compaction *c, struct run *run);
void compaction_release(struct compaction *c);

#endif
