/* The texts of one ring: names of kernels, API calls and ranges, as its library logs them.
 *
 * A module may be unloaded and another name come to lie at the same address. Records of slots that were
 * handed over before mean the earlier name: every look-up says how long the log was when its record was
 * handed over. */
#ifndef WARPLIGHT_SOURCE_CUPTI_TEXTS_H
#define WARPLIGHT_SOURCE_CUPTI_TEXTS_H

#include <stdbool.h>

#include "capture/ring.h"
#include "model/compact.h"

struct cupti_text_before {
    uint64_t until; /* length of the log from which on another text lies at the address */
    uint32_t id;
    uint32_t before; /* the one before this, or NONE */
};

struct cupti_texts {
    uint64_t read;            /* bytes of the log that are known */
    struct map pointers;      /* address in the target → string id */
    struct map replaced;      /* address → index of its latest cupti_text_before */
    struct map runtime_calls; /* callback id → string id */
    struct map driver_calls;
    struct map hashes;     /* RING_TEXT_HASH key → string id */
    struct map threads;    /* thread → string id */
    struct map categories; /* ring_category_key() → string id */
    struct map schemas;    /* ring_schema_key() → row of known_schemas */
    VEC(struct ring_schema) known_schemas;
    VEC(uint32_t) named_threads; /* that were named since the last look */
    VEC(struct cupti_text_before) before;
};

/* Adds what the log holds up to length bytes, of which all can be touched. A zeroed struct is a valid start.
 */
void cupti_texts_read(struct cupti_texts *t, const char *log, uint64_t length, struct run *run);
/* Keeps its string ids when the run is compacted (model/compact.h). */
void cupti_texts_hold(struct cupti_texts *t, const struct compaction *c);
void cupti_texts_release(struct cupti_texts *t);

/* String id of what lay at an address when the log had that length. */
uint32_t cupti_texts_at(const struct cupti_texts *t, uint64_t address, uint64_t log_length, struct run *run,
                        const char *otherwise);
uint32_t cupti_texts_hashed(const struct cupti_texts *t, uint64_t key, struct run *run,
                            const char *otherwise);
/* Name of an NVTX category, or its number. */
uint32_t cupti_texts_category(const struct cupti_texts *t, uint64_t domain, uint32_t category,
                              struct run *run);
/* What an NVTX payload holds, or NULL where that is not known. */
const struct ring_schema *cupti_texts_schema(const struct cupti_texts *t, uint64_t key);
/* Calls carry their ABI version ("cudaLaunchKernel_v7000"); people know them without. */
uint32_t cupti_texts_call(struct cupti_texts *t, bool runtime, uint32_t cbid, struct run *run);

#endif
