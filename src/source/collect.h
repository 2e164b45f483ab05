/* Collects what all processes of a target record: watches a folder for rings and drains them into a run. */
#ifndef WARPLIGHT_SOURCE_COLLECT_H
#define WARPLIGHT_SOURCE_COLLECT_H

#include "source/cupti_ring.h"
#include "source/folder.h"
#include "source/host_sampler.h"
#include "source/silent.h"

struct collect {
    struct folder folder;         /* where the rings are */
    uint32_t source;              /* of the run */
    VEC(struct cupti_ring) rings; /* of processes that have not ended */
    struct map known;             /* hash of a ring's file name → 1 */
    size_t processes;             /* that were recorded */
    enum ring_wanted wanted;      /* of all processes, also of those to come */
    int64_t records;              /* taken so far */
    struct host_sampler *sampler; /* of host threads; NULL: they are not looked at */
    size_t threads_known;         /* rows of the run that it was told of */
    struct silent silent;         /* processes that should be recorded and are not */
    int64_t silent_pid;           /* one of them; 0: none, or it has spoken since */
    bool silent_has_library;
    struct str failure;    /* the first sentence of a library on why it did not record everything */
    struct ring_plan plan; /* the latest of counters in several passes; kind 0: none since it was taken */
    bool has_facts;
    uint32_t cupti_version, driver_version; /* of the first process that had them */
    struct str cupti_path;
};

/* Makes the folder. */
int collect_open(struct collect *c, uint32_t source, struct err *err);
/* Looks at the host threads of what is recorded from now on, hz times a second; see source/host_sampler.h. */
void collect_sample_hosts(struct collect *c, struct run *run, int64_t hz);
/* Looks for new rings and takes what is ready. Returns how many records that were. */
int64_t collect_drain(struct collect *c, struct run *run);
/* Asks all processes, also those to come, to record, to pause, or to stop for good. */
void collect_want(struct collect *c, enum ring_wanted wanted);
/* Does everybody do so by now? */
bool collect_is_obeyed(const struct collect *c);
/* Keeps the numbers of the run that it holds when that is compacted (model/compact.h). */
void collect_hold(struct collect *c, const struct compaction *compaction);
/* After the target has ended: ends the recording of processes that outlive it, waiting for their last records
 * for a moment, and takes everything that is left. */
void collect_finish(struct collect *c, struct run *run);
/* How many processes were being recorded, and why one was not: NULL, or a sentence of the injected library
 * or of what looks at the host.
 */
size_t collect_process_count(const struct collect *c);
const char *collect_failure(const struct collect *c);
/* Facts that the libraries found: CUPTI's path and version, the driver's version. */
void collect_facts(const struct collect *c, struct run *run);
void collect_close(struct collect *c);

#endif
