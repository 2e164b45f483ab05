#include "inject/sampling.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "capture/profiler.h"

enum call { ENABLE, DISABLE, CONFIGURE, REASON_COUNT, REASON_NAMES, START, STOP, GET_DATA, CALLS };

static const char *const names[CALLS] = {
    [ENABLE] = "cuptiPCSamplingEnable",
    [DISABLE] = "cuptiPCSamplingDisable",
    [CONFIGURE] = "cuptiPCSamplingSetConfigurationAttribute",
    [REASON_COUNT] = "cuptiPCSamplingGetNumStallReasons",
    [REASON_NAMES] = "cuptiPCSamplingGetStallReasons",
    [START] = "cuptiPCSamplingStart",
    [STOP] = "cuptiPCSamplingStop",
    [GET_DATA] = "cuptiPCSamplingGetData",
};

static cupti_result call(struct sampling *s, enum call number, void *params, struct refusal *why)
{
    cupti_result result = s->calls[number](params);
    if (result != CUPTI_OK)
        refusal_explain(why, result, names[number]);
    return result;
}

/* The record of a PC got its last field in CUDA 12.4. The library takes the size that is written in the first
 * one for the distance between two. */
enum { CORRELATION_SINCE = 22 };

static bool find_calls(struct sampling *s, const struct cupti *cupti, struct refusal *why)
{
    bool all = cupti->version >= CORRELATION_SINCE;
    for (int i = 0; i < CALLS; i++) {
        *(void **)&s->calls[i] = dlsym(cupti->library, names[i]);
        all = all && s->calls[i];
    }
    if (!all)
        refusal_set(why, N_("no stall reasons: {0} is too old; install CUPTI 12.4 or newer"), "%.200s (%u)",
                    cupti->path, cupti->version);
    return all;
}

static void clear(struct sampling *s)
{
    struct pc_sampling_reason *counts = (struct pc_sampling_reason *)(s->pcs + SAMPLING_PCS);
    memset(s->pcs, 0, SAMPLING_PCS * sizeof *s->pcs + SAMPLING_PCS * s->reasons * sizeof *counts);
    *s->data = (struct pc_sampling_data){.size = sizeof *s->data, .most_pcs = SAMPLING_PCS, .pc = s->pcs};
    for (size_t i = 0; i < SAMPLING_PCS; i++) {
        s->pcs[i].size = sizeof s->pcs[i];
        s->pcs[i].reason_count = s->reasons;
        s->pcs[i].reasons = counts + i * s->reasons;
    }
}

static bool learn_reasons(struct sampling *s, struct recorder *r, struct refusal *why)
{
    uint32_t index[SAMPLING_REASONS] = {0};
    char texts[SAMPLING_REASONS][PC_SAMPLING_REASON_BYTES] = {0}, *pointers[SAMPLING_REASONS];
    struct pc_sampling_reason_count count = {
        .size = PROFILER_SIZE(pc_sampling_reason_count, count), .context = s->context, .count = &s->reasons};
    if (call(s, REASON_COUNT, &count, why) != CUPTI_OK)
        return false;
    if (s->reasons > SAMPLING_REASONS)
        s->reasons = SAMPLING_REASONS;
    for (size_t i = 0; i < SAMPLING_REASONS; i++)
        pointers[i] = texts[i];
    struct pc_sampling_reason_names list = {.size = PROFILER_SIZE(pc_sampling_reason_names, names),
                                            .context = s->context,
                                            .count = s->reasons,
                                            .index = index,
                                            .names = pointers};
    if (call(s, REASON_NAMES, &list, why) != CUPTI_OK)
        return false;
    for (size_t i = 0; i < s->reasons; i++)
        if (index[i] < SAMPLING_REASONS)
            s->names[index[i]] = texts_hash(r, texts[i]);
    return true;
}

static bool configure(struct sampling *s, struct refusal *why)
{
    /* Every 2^14 cycles of an SM: some thousand samples for each ms of kernels that fill the GPU. */
    enum { PERIOD = 14, HARDWARE_BYTES = 128 << 20 };
    struct pc_sampling_setting settings[] = {
        {.attribute = PC_SAMPLING_MODE, .value.word = PC_SAMPLING_CONTINUOUS},
        {.attribute = PC_SAMPLING_START_STOP, .value.word = 1},
        {.attribute = PC_SAMPLING_FORMAT, .value.word = 1},
        {.attribute = PC_SAMPLING_PERIOD, .value.word = PERIOD},
        {.attribute = PC_SAMPLING_HARDWARE_BYTES, .value.bytes = HARDWARE_BYTES},
        {.attribute = PC_SAMPLING_BUFFER, .value.pointer = s->data},
    };
    struct pc_sampling_configure all = {.size = PROFILER_SIZE(pc_sampling_configure, settings),
                                        .context = s->context,
                                        .count = sizeof settings / sizeof *settings,
                                        .settings = settings};
    return call(s, CONFIGURE, &all, why) == CUPTI_OK;
}

static bool make_buffers(struct sampling *s, struct refusal *why)
{
    size_t each = sizeof *s->pcs + s->reasons * sizeof(struct pc_sampling_reason);
    if (!s->data)
        s->data = malloc(sizeof *s->data);
    if (!s->pcs)
        s->pcs = malloc(SAMPLING_PCS * each);
    if (!s->data || !s->pcs) {
        refusal_set(why, N_("no hardware counters: no memory is left for them"), "%s", "");
        return false;
    }
    clear(s);
    return true;
}

int sampling_start(struct sampling *s, struct recorder *r, void *context, struct refusal *why)
{
    struct pc_sampling_context c = {.size = PROFILER_SIZE(pc_sampling_context, context), .context = context};
    s->context = context;
    if (!find_calls(s, &r->cupti, why) || call(s, ENABLE, &c, why) != CUPTI_OK)
        return -1;
    s->is_on = learn_reasons(s, r, why) && make_buffers(s, why) && configure(s, why) &&
               call(s, START, &c, why) == CUPTI_OK;
    if (!s->is_on)
        s->calls[DISABLE](&c);
    return s->is_on ? 0 : -1;
}

static void hand_over(struct sampling *s, struct recorder *r, const struct pc_sampling_pc *pc)
{
    struct ring_pc record = {.kind = RING_PC,
                             .cubin = pc->cubin_crc,
                             .pc = pc->pc,
                             .function = texts_hash(r, pc->function ? pc->function : "")};
    size_t most = pc->reason_count < s->reasons ? pc->reason_count : s->reasons;
    for (size_t i = 0; i < most; i++) {
        struct pc_sampling_reason reason = pc->reasons[i];
        if (reason.samples == 0 || reason.reason >= SAMPLING_REASONS || !s->names[reason.reason])
            continue;
        record.at[record.count].name = s->names[reason.reason];
        record.at[record.count++].samples = reason.samples;
        if (record.count == RING_PC_AT_ONCE) {
            records_add(r, &record, sizeof record);
            record.count = 0;
        }
    }
    if (record.count)
        records_add(r, &record, sizeof record);
}

int sampling_stop(struct sampling *s, struct recorder *r, struct refusal *why)
{
    struct pc_sampling_context c = {.size = PROFILER_SIZE(pc_sampling_context, context),
                                    .context = s->context};
    struct pc_sampling_get get = {
        .size = PROFILER_SIZE(pc_sampling_get, data), .context = s->context, .data = s->data};
    if (!s->is_on)
        return 0;
    s->is_on = false;
    cupti_result result = call(s, STOP, &c, why);
    bool is_full = result == CUPTI_OUT_OF_MEMORY;
    for (bool more = result == CUPTI_OK; more;) {
        for (size_t i = 0; i < s->data->pcs && i < SAMPLING_PCS; i++)
            hand_over(s, r, &s->pcs[i]);
        if (s->data->dropped)
            atomic_fetch_add_explicit(&r->ring->dropped_by_cupti, s->data->dropped, memory_order_relaxed);
        is_full = is_full || s->data->is_full;
        more = s->data->left > 0;
        clear(s);
        if (more)
            result = call(s, GET_DATA, &get, why);
        is_full = is_full || result == CUPTI_OUT_OF_MEMORY;
        more = more && result == CUPTI_OK && s->data->pcs > 0;
    }
    s->calls[DISABLE](&c);
    /* CUPTI then gives none of them. It is its buffer's memory that is short, not the device's. */
    if (is_full)
        refusal_set(why,
                    N_("there were more samples than the buffer for them holds: some of why warps waited, or "
                       "all of it, is missing (sample a shorter run)"),
                    "%s", "");
    return is_full || result != CUPTI_OK ? -1 : 0;
}

void sampling_release(struct sampling *s)
{
    free(s->data);
    free(s->pcs);
    *s = (struct sampling){0};
}
