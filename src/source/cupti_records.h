/* Decoding of records: what CUPTI and the library wrote into a slot, as rows of a run. */
#ifndef WARPLIGHT_SOURCE_CUPTI_RECORDS_H
#define WARPLIGHT_SOURCE_CUPTI_RECORDS_H

#include "source/cupti_counters.h"
#include "source/cupti_memory.h"
#include "source/cupti_nccl.h"
#include "source/cupti_texts.h"

struct cupti_records {
    uint32_t source, process; /* of the run */
    int64_t pid;              /* as the target sees it */
    int64_t realtime_ns;      /* one moment on CLOCK_REALTIME … */
    int64_t cupti_ns;         /* … and on CUPTI's clock */
    int64_t shift_ns;         /* added to CUPTI's times; UNKNOWN until the first record */
    struct cupti_memory memory;
    struct cupti_nccl nccl;
    struct cupti_counters counters;
    struct cupti_texts texts;
    uint64_t log_length;  /* of the texts, when the slot that is being read was handed over */
    int64_t graphs_seen;  /* launches that were recorded whole */
    uint32_t last_thread; /* look-up cache: tid of last_thread_id */
    uint32_t last_thread_id;
    int64_t heard_ns;   /* the latest moment in any record */
    int64_t details;    /* texts that were made for payloads of NVTX ranges since the last compaction */
    int64_t unfinished; /* NVTX ranges */
    int64_t count;      /* decoded */
    int64_t unknown;    /* of a kind or size that is not understood */
};

/* Adds the records in valid bytes of a slot to the run. record_bytes are the lengths that the library found.
 * A kind of 0 ends it: the rest was not written. */
void cupti_records_decode(struct cupti_records *r, struct run *run, const uint8_t *data, uint64_t valid,
                          const _Atomic uint32_t record_bytes[static RING_KINDS]);

/* Row of the thread, as the kernel numbers it; found and named at its first record. */
uint32_t cupti_records_thread(struct cupti_records *r, struct run *run, uint32_t tid);
static inline void cupti_records_heard(struct cupti_records *r, int64_t time)
{
    r->heard_ns = time > r->heard_ns ? time : r->heard_ns;
}
/* After all slots that were ready have been read. */
void cupti_records_settle(struct cupti_records *r, struct run *run);
/* Keeps its numbers when the run is compacted (model/compact.h). */
void cupti_records_hold(struct cupti_records *r, const struct compaction *c);
void cupti_records_release(struct cupti_records *r);

#endif
