/* NVTX as the application calls it: what its files share. */
#ifndef WARPLIGHT_INJECT_NVTX_H
#define WARPLIGHT_INJECT_NVTX_H

#include "inject/recorder.h"

#define NVTX_EXPORT __attribute__((visibility("default")))

struct nvtx_attributes { /* nvtxEventAttributes_t, versions 1 to 3 */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t payload_count; /* of NVTX_PAYLOAD_SCHEMA */
    uint64_t payload;
    int32_t message_type;
    const void *message; /* a registered string is the pointer that we handed out */
};

enum {
    NVTX_PAYLOAD_SCHEMA = (int32_t)0xdfbd0009
}; /* NVTX_PAYLOAD_TYPE_EXT: payload points to nvtx_payload */

struct nvtx_payload { /* nvtxPayloadData_t */
    uint64_t schema;
    size_t size; /* SIZE_MAX: as the schema says */
    const void *data;
};

/* nvtx.c: whether something is to be recorded now. */
bool nvtx_wanted(const struct recorder *r);
/* Key of a domain's name, logged once a ring. */
uint64_t nvtx_domain_key(void *domain);
/* Begins a range of the calling thread, or one that may end in any; text is its name. */
int nvtx_push(uint64_t domain, const char *text, const struct nvtx_attributes *attributes);
uint64_t nvtx_start(uint64_t domain, const char *text, const struct nvtx_attributes *attributes);
/* Ends it; payloads, of which there may be none, are what the range got at its end. */
int nvtx_pop(uint64_t domain, const struct nvtx_payload *payloads, size_t count);
void nvtx_end(uint64_t domain, uint64_t id, const struct nvtx_payload *payloads, size_t count);
void nvtx_mark(uint64_t domain, const char *text, const struct nvtx_attributes *attributes);

/* nvtx_ranges.c is what these are made of; nvtx_payload.c: takes the first payload whose schema is known. */
void nvtx_payload_take(struct ring_payload_range *range, const struct nvtx_payload *payloads, size_t count);

#endif
