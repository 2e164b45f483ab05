/* What NCCL says of its collectives, in the payloads of its NVTX ranges.
 *
 * Source: src/include/nvtx.h and nvtx_payload_schemas.h of NCCL 2.26 to 2.28 (names of ranges and of payload
 * entries). Older ones say less, and nothing is made up. */
#ifndef WARPLIGHT_SOURCE_CUPTI_NCCL_H
#define WARPLIGHT_SOURCE_CUPTI_NCCL_H

#include "capture/ring.h"
#include "model/compact.h"

struct cupti_nccl_communicator {
    uint64_t id;    /* equal on all ranks */
    int64_t ranks;  /* UNKNOWN */
    int64_t issued; /* collectives so far, UNKNOWN where its beginning was not recorded */
};

struct cupti_nccl_group { /* of a thread: what was issued since ncclGroupStart() */
    uint32_t comm;        /* the last one */
    uint32_t count;
};

struct cupti_nccl {
    struct map communicator_of; /* id → row of communicators */
    VEC(struct cupti_nccl_communicator) communicators;
    struct map group_of; /* thread → row of groups */
    VEC(struct cupti_nccl_group) groups;
};

/* Looks at a span that a range in NCCL's domain became, and gives it its collective (spans.comm): the range
 * of the call itself, or that of the ncclGroupEnd() that launches it, if it was alone in its group. Ranges of
 * a thread come in the order in which they ended. payload and schema may be NULL. */
void cupti_nccl_range(struct cupti_nccl *n, struct run *run, size_t span,
                      const struct ring_payload_range *payload, const struct ring_schema *schema);
/* Keeps its collectives when the run is compacted (model/compact.h). */
void cupti_nccl_hold(struct cupti_nccl *n, const struct compaction *c);
void cupti_nccl_release(struct cupti_nccl *n);

#endif
