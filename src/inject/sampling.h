/* CUPTI's PC sampling: where warps of a context were and why they did not go on. Not beside profiler.h
 * in one context, and not after it: then CUPTI takes kernels for none of the program's. */
#ifndef WARPLIGHT_INJECT_SAMPLING_H
#define WARPLIGHT_INJECT_SAMPLING_H

#include "inject/profiler.h"
#include "inject/recorder.h"

enum { SAMPLING_REASONS = 64, SAMPLING_PCS = 8192 };

struct sampling {
    cupti_result (*calls[8])(void *params);
    void *context;
    bool is_on;
    size_t reasons;
    uint64_t names[SAMPLING_REASONS]; /* by reason, as the ring knows them; 0: none */
    struct pc_sampling_data *data;
    struct pc_sampling_pc *pcs;
};

/* Starts sampling all kernels of the context, without holding them up. Returns 0, or -1 with a sentence in
 * why.
 */
int sampling_start(struct sampling *s, struct recorder *r, void *context, struct refusal *why);
/* Ends it, and hands over what was sampled. Returns 0, or -1 with a sentence in why. */
int sampling_stop(struct sampling *s, struct recorder *r, struct refusal *why);
/* Gives its memory back. */
void sampling_release(struct sampling *s);

#endif
