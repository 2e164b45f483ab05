/* Stall reasons of launches and places, from the names that counters and samplers give them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/metrics.h"

#define STALL_KEY_(id, key) [STALL_##id] = key,
const char *const stall_keys[STALL_COUNT] = {STALLS(STALL_KEY_)};
#define PLACE_KEY_(id, key) [PLACE_##id] = key,
const char *const place_metric_keys[PLACE_METRIC_COUNT] = {PLACE_METRICS(PLACE_KEY_)};

/* ---- of a launch --------------------------------------------------------------------------------------- */

/* The sampler's spelling where it differs from the counters'. */
static const char *sampled_key(enum stall stall)
{
    return stall == STALL_NO_INSTRUCTION ? "no_instructions" : stall_keys[stall];
}

/* nvprof's metrics, each a share of all stalls. */
static const char *const nvprof_names[STALL_COUNT] = {
    [STALL_LONG_SCOREBOARD] = "stall_memory_dependency",
    [STALL_EXECUTION_DEPENDENCY] = "stall_exec_dependency",
    [STALL_SYNCHRONIZATION] = "stall_sync",
    [STALL_NO_INSTRUCTION] = "stall_inst_fetch",
    [STALL_TEX_THROTTLE] = "stall_texture",
    [STALL_IMC_MISS] = "stall_constant_memory_dependency",
    [STALL_PIPE_BUSY] = "stall_pipe_busy",
    [STALL_MEMORY_THROTTLE] = "stall_memory_throttle",
    [STALL_NOT_SELECTED] = "stall_not_selected",
    [STALL_SLEEPING] = "stall_sleeping",
    [STALL_OTHER] = "stall_other",
};

enum family {
    FAMILY_OWN, /* of our own reports */
    FAMILY_OWN_SAMPLES,
    FAMILY_LATENCY,
    FAMILY_PERCENT,
    FAMILY_NVPROF,
    FAMILY_SAMPLES,
    FAMILIES
};

static struct metric_value stall_counter(const struct metrics *m, uint32_t profile, enum family family,
                                         enum stall stall)
{
    char name[128];
    const char *key = stall_keys[stall];
    switch (family) {
    case FAMILY_OWN:
        snprintf(name, sizeof name, "stall:%s", key);
        break;
    case FAMILY_OWN_SAMPLES:
        snprintf(name, sizeof name, "sampled:%s", key);
        break;
    case FAMILY_LATENCY:
        snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", key);
        break;
    case FAMILY_PERCENT:
        snprintf(name, sizeof name, "smsp__warp_issue_stalled_%s_per_warp_active.pct", key);
        break;
    case FAMILY_SAMPLES:
        snprintf(name, sizeof name, "smsp__pcsamp_warps_issue_stalled_%s", sampled_key(stall));
        break;
    default:
        if (!nvprof_names[stall])
            return (struct metric_value){.value = NAN, .state = COUNTER_NOT_MEASURED};
        snprintf(name, sizeof name, "%s", nvprof_names[stall]);
    }
    return counter_get(m, profile, name);
}

enum stall_source metric_stalls(const struct metrics *m, uint32_t profile, double share[STALL_COUNT])
{
    for (int family = 0; family < FAMILIES; family++) {
        double sum = 0;
        for (int i = 0; i < STALL_COUNT; i++) {
            struct metric_value v = stall_counter(m, profile, (enum family)family, (enum stall)i);
            share[i] = v.state == COUNTER_VALUE && v.value >= 0 ? v.value : NAN;
            sum += isnan(share[i]) ? 0 : share[i];
        }
        if (sum <= 0)
            continue;
        for (int i = 0; i < STALL_COUNT; i++)
            share[i] /= sum;
        return family == FAMILY_SAMPLES || family == FAMILY_OWN_SAMPLES ? STALLS_SAMPLED : STALLS_COUNTED;
    }
    for (int i = 0; i < STALL_COUNT; i++)
        share[i] = NAN;
    return STALLS_UNKNOWN;
}

/* ---- of a place ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum place_metric metric;
} place_names[] = {
    /* of reports */
    {"smsp__pcsamp_sample_count", PLACE_SAMPLES},
    {"inst_executed", PLACE_INSTRUCTIONS},
    {"thread_inst_executed", PLACE_THREAD_INSTRUCTIONS},
    {"thread_inst_executed_true", PLACE_THREAD_INSTRUCTIONS_ON},
    {"memory_l2_theoretical_sectors_global", PLACE_GLOBAL_SECTORS},
    {"memory_l2_theoretical_sectors_global_ideal", PLACE_GLOBAL_SECTORS_IDEAL},
    {"memory_l2_theoretical_sectors_local", PLACE_LOCAL_SECTORS},
    {"memory_l1_tag_requests_global", PLACE_GLOBAL_TAG_REQUESTS},
    {"memory_l1_wavefronts_shared", PLACE_SHARED_WAVEFRONTS},
    {"memory_l1_wavefronts_shared_ideal", PLACE_SHARED_WAVEFRONTS_IDEAL},
    {"smsp__branch_targets_threads_divergent", PLACE_BRANCHES_DIVERGENT},
    /* of CUPTI's SASS metrics */
    {"smsp__sass_inst_executed", PLACE_INSTRUCTIONS},
    {"smsp__sass_thread_inst_executed", PLACE_THREAD_INSTRUCTIONS},
    {"smsp__sass_thread_inst_executed_pred_on", PLACE_THREAD_INSTRUCTIONS_ON},
    {"smsp__sass_sectors_mem_global", PLACE_GLOBAL_SECTORS},
    {"smsp__sass_sectors_mem_global_ideal", PLACE_GLOBAL_SECTORS_IDEAL},
    {"smsp__sass_sectors_mem_local", PLACE_LOCAL_SECTORS},
    {"smsp__sass_l1tex_tags_mem_global", PLACE_GLOBAL_TAG_REQUESTS},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", PLACE_SHARED_WAVEFRONTS},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal", PLACE_SHARED_WAVEFRONTS_IDEAL},
    {"smsp__sass_branch_targets_threads_divergent", PLACE_BRANCHES_DIVERGENT},
    /* labels of the source page */
    {"# Samples", PLACE_SAMPLES},
    {"Warp Stall Sampling (Not-issued Samples)", PLACE_NOT_ISSUED_SAMPLES},
    {"Instructions Executed", PLACE_INSTRUCTIONS},
    {"Thread Instructions Executed", PLACE_THREAD_INSTRUCTIONS},
    {"Predicated-On Thread Instructions Executed", PLACE_THREAD_INSTRUCTIONS_ON},
    {"L2 Theoretical Sectors Global", PLACE_GLOBAL_SECTORS},
    {"L2 Theoretical Sectors Global Ideal", PLACE_GLOBAL_SECTORS_IDEAL},
    {"L2 Theoretical Sectors Local", PLACE_LOCAL_SECTORS},
    {"L1 Tag Requests Global", PLACE_GLOBAL_TAG_REQUESTS},
    {"L1 Wavefronts Shared", PLACE_SHARED_WAVEFRONTS},
    {"L1 Wavefronts Shared Ideal", PLACE_SHARED_WAVEFRONTS_IDEAL},
    {"Divergent Branches", PLACE_BRANCHES_DIVERGENT},
    /* of what the code says itself */
    {"spill_store_bytes", PLACE_SPILL_STORE_BYTES},
    {"spill_load_bytes", PLACE_SPILL_LOAD_BYTES},
};

enum place_metric place_metric_of(const char *name)
{
    bool not_issued;
    if (place_stall(name, &not_issued) != STALL_NONE)
        return PLACE_STALL_SAMPLES;
    for (size_t i = 0; i < sizeof place_names / sizeof *place_names; i++)
        if (strcmp(place_names[i].name, name) == 0)
            return place_names[i].metric;
    for (int i = 0; i < PLACE_METRIC_COUNT; i++)
        if (strcmp(place_metric_keys[i], name) == 0) /* of our own reports */
            return (enum place_metric)i;
    return PLACE_OTHER;
}

/* Labels of the source page, shortened there. */
static const struct {
    const char *name;
    enum stall stall;
} short_stalls[] = {
    {"dispatch", STALL_DISPATCH},
    {"imc", STALL_IMC_MISS},
    {"lg", STALL_LG_THROTTLE},
    {"long_sb", STALL_LONG_SCOREBOARD},
    {"math", STALL_MATH_PIPE_THROTTLE},
    {"mio", STALL_MIO_THROTTLE},
    {"no_inst", STALL_NO_INSTRUCTION},
    {"no_instructions", STALL_NO_INSTRUCTION},
    {"short_sb", STALL_SHORT_SCOREBOARD},
    {"sleep", STALL_SLEEPING},
    {"tex", STALL_TEX_THROTTLE},
};

static enum stall find_stall(const char *name, size_t length)
{
    for (int i = 0; i < STALL_EXECUTION_DEPENDENCY; i++)
        if (strlen(stall_keys[i]) == length && memcmp(stall_keys[i], name, length) == 0)
            return (enum stall)i;
    for (size_t i = 0; i < sizeof short_stalls / sizeof *short_stalls; i++)
        if (strlen(short_stalls[i].name) == length && memcmp(short_stalls[i].name, name, length) == 0)
            return short_stalls[i].stall;
    return STALL_NONE;
}

enum stall place_stall(const char *name, bool *not_issued)
{
    static const char *const prefixes[] = {"smsp__pcsamp_warps_issue_stalled_", "stall_"};
    static const char *const suffixes[] = {"_not_issued", " (Not Issued)"};
    *not_issued = false;
    for (int i = 0; i < 2; i++) {
        size_t prefix = strlen(prefixes[i]), length = strlen(name), suffix = strlen(suffixes[i]);
        if (strncmp(name, prefixes[i], prefix) != 0)
            continue;
        *not_issued = length > prefix + suffix && strcmp(name + length - suffix, suffixes[i]) == 0;
        return find_stall(name + prefix, length - prefix - (*not_issued ? suffix : 0));
    }
    return STALL_NONE;
}
