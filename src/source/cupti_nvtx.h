/* NVTX ranges and marks of a ring, as spans and marks of the run. */
#ifndef WARPLIGHT_SOURCE_CUPTI_NVTX_H
#define WARPLIGHT_SOURCE_CUPTI_NVTX_H

#include "source/cupti_records.h"

/* The bits of a number in a payload, extended to 64; false where the payload does not hold it. */
bool cupti_nvtx_number(const struct ring_payload_range *payload, const struct ring_schema_entry *entry,
                       uint64_t *bits);

/* A range that has ended, with what its payload holds; payload may be NULL. */
void cupti_nvtx_range(struct cupti_records *r, struct run *run, const struct ring_range *range,
                      const struct ring_payload_range *payload);
void cupti_nvtx_mark(struct cupti_records *r, struct run *run, const struct ring_range *mark);
/* A range that never ended: it reaches to end, the last that was heard of its process. */
void cupti_nvtx_unfinished(struct cupti_records *r, struct run *run, const struct ring_payload_range *range,
                           int64_t end);

#endif
