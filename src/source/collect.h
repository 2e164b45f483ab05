/* Collects what all processes of a target record: watches a folder for rings and drains them into a run. */
#ifndef WARPLIGHT_SOURCE_COLLECT_H
#define WARPLIGHT_SOURCE_COLLECT_H

#include "base/str.h"
#include "source/cupti_ring.h"

struct collect {
    struct str folder; /* made by collect_open(), removed by collect_close() */
    uint32_t source;   /* of the run */
    VEC(struct cupti_ring) rings;
    struct map known; /* hash of a ring's file name → 1 */
    int64_t records;  /* taken so far */
};

/* Makes the folder (in memory where it can be: /dev/shm, else TMPDIR, else /tmp), readable by its owner only.
 */
int collect_open(struct collect *c, uint32_t source, struct err *err);
/* Looks for new rings and takes what is ready. Returns how many records that were. */
int64_t collect_drain(struct collect *c, struct run *run);
/* After the target has ended: takes what is left of processes that are gone, too. */
void collect_finish(struct collect *c, struct run *run);
/* How many processes were being recorded, and why one was not: NULL, or a sentence of the injected library.
 */
size_t collect_process_count(const struct collect *c);
const char *collect_failure(const struct collect *c);
/* Facts that the libraries found: CUPTI's path and version, the driver's version. */
void collect_facts(const struct collect *c, struct run *run);
void collect_close(struct collect *c);

#endif
