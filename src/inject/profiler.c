#include "inject/profiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "capture/profiler.h"

/* ---- calls ----------------------------------------------------------------------------------------------
 */

enum call {
    INITIALIZE,
    DEVICE_SUPPORTED,
    CHIP_NAME,
    HOST_INITIALIZE,
    HOST_DEINITIALIZE,
    HOST_ADD,
    HOST_CONFIG_SIZE,
    HOST_CONFIG,
    HOST_PASSES,
    HOST_EVALUATE,
    RANGE_ENABLE,
    RANGE_DISABLE,
    RANGE_DATA_SIZE,
    RANGE_DATA_INITIALIZE,
    RANGE_CONFIG,
    RANGE_START,
    RANGE_PUSH,
    RANGE_POP,
    RANGE_STOP,
    RANGE_DECODE,
    RANGE_COUNT,
    RANGE_NAME,
    CALLS
};

static const char *const names[CALLS] = {
    [INITIALIZE] = "cuptiProfilerInitialize",
    [DEVICE_SUPPORTED] = "cuptiProfilerDeviceSupported",
    [CHIP_NAME] = "cuptiDeviceGetChipName",
    [HOST_INITIALIZE] = "cuptiProfilerHostInitialize",
    [HOST_DEINITIALIZE] = "cuptiProfilerHostDeinitialize",
    [HOST_ADD] = "cuptiProfilerHostConfigAddMetrics",
    [HOST_CONFIG_SIZE] = "cuptiProfilerHostGetConfigImageSize",
    [HOST_CONFIG] = "cuptiProfilerHostGetConfigImage",
    [HOST_PASSES] = "cuptiProfilerHostGetNumOfPasses",
    [HOST_EVALUATE] = "cuptiProfilerHostEvaluateToGpuValues",
    [RANGE_ENABLE] = "cuptiRangeProfilerEnable",
    [RANGE_DISABLE] = "cuptiRangeProfilerDisable",
    [RANGE_DATA_SIZE] = "cuptiRangeProfilerGetCounterDataSize",
    [RANGE_DATA_INITIALIZE] = "cuptiRangeProfilerCounterDataImageInitialize",
    [RANGE_CONFIG] = "cuptiRangeProfilerSetConfig",
    [RANGE_START] = "cuptiRangeProfilerStart",
    [RANGE_PUSH] = "cuptiRangeProfilerPushRange",
    [RANGE_POP] = "cuptiRangeProfilerPopRange",
    [RANGE_STOP] = "cuptiRangeProfilerStop",
    [RANGE_DECODE] = "cuptiRangeProfilerDecodeData",
    [RANGE_COUNT] = "cuptiRangeProfilerGetCounterDataInfo",
    [RANGE_NAME] = "cuptiRangeProfilerCounterDataGetRangeInfo",
};
_Static_assert(CALLS <= sizeof((struct profiler *)0)->calls / sizeof(void *), "all calls have a place");

enum { NO_HOST = -1, NO_METRICS = -2 };

static cupti_result call(struct profiler *p, enum call number, void *params, struct refusal *why)
{
    cupti_result result = p->calls[number](params);
    if (result != CUPTI_OK && why)
        refusal_explain(why, result, names[number]);
    return result;
}

/* CUPTI looks for its companions by name alone: those that are loaded are found. */
static void open_companions(const struct cupti *cupti)
{
    static const char *const companions[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const char *slash = strrchr(cupti->path, '/');
    char path[sizeof cupti->path + 32];
    for (size_t i = 0; slash && i < sizeof companions / sizeof *companions; i++) {
        snprintf(path, sizeof path, "%.*s%s", (int)(slash + 1 - cupti->path), cupti->path, companions[i]);
        dlopen(path, RTLD_NOW);
    }
}

static int find_calls(struct profiler *p, const struct cupti *cupti, struct refusal *why)
{
    for (int i = 0; i < CALLS; i++) {
        *(void **)&p->calls[i] = dlsym(cupti->library, names[i]);
        if (p->calls[i])
            continue;
        refusal_set(why,
                    N_("no hardware counters: {0} has no Range Profiler; install CUPTI 12.6 or newer (pip "
                       "install -U nvidia-cuda-cupti) and name it in WARPLIGHT_CUPTI"),
                    "%.200s (%u)", cupti->path, cupti->version);
        return -1;
    }
    return 0;
}

/* ---- device and plan ------------------------------------------------------------------------------------
 */

/* The flags say more than the error of the first call that fails. */
static int check_device(struct profiler *p, int device, struct refusal *why)
{
    struct profiler_device_supported s = {
        .size = PROFILER_SIZE(profiler_device_supported, api), .device = device, .api = PROFILER_API_RANGE};
    if (p->calls[DEVICE_SUPPORTED](&s) != CUPTI_OK)
        return 0;
    const struct {
        int32_t flag;
        cupti_result as;
    } flags[] = {{s.architecture, 27}, {s.sli, 44}, {s.vgpu, 40},
                 {s.confidential, 41}, {s.cmp, 42}, {s.wsl, 45}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].flag == PROFILER_SUPPORT_NO || flags[i].flag == PROFILER_SUPPORT_DISABLED) {
            refusal_explain(why, flags[i].as, names[DEVICE_SUPPORTED]);
            return -1;
        }
    return 0;
}

static void *make_host(struct profiler *p, struct refusal *why)
{
    struct profiler_host_initialize h = {.size = PROFILER_SIZE(profiler_host_initialize, object),
                                         .type = PROFILER_TYPE_RANGE,
                                         .chip = p->chip};
    return call(p, HOST_INITIALIZE, &h, why) == CUPTI_OK ? h.object : NULL;
}

static void free_host(struct profiler *p, void *host)
{
    struct profiler_host_object o = {.size = PROFILER_SIZE(profiler_host_object, object), .object = host};
    p->calls[HOST_DEINITIALIZE](&o);
}

int profiler_open(struct profiler *p, const struct cupti *cupti, int device, struct refusal *why)
{
    struct profiler_plain initialize = {.size = PROFILER_SIZE(profiler_plain, priv)};
    struct profiler_chip chip = {.size = PROFILER_SIZE(profiler_chip, name), .device = (size_t)device};
    open_companions(cupti);
    if (find_calls(p, cupti, why) != 0 || call(p, INITIALIZE, &initialize, why) != CUPTI_OK ||
        check_device(p, device, why) != 0 || call(p, CHIP_NAME, &chip, why) != CUPTI_OK)
        return -1;
    snprintf(p->chip, sizeof p->chip, "%s", chip.name);
    return 0;
}

static void drop_plan(struct profiler *p, struct profiler_plan *plan)
{
    if (plan->host)
        free_host(p, plan->host);
    free(plan->image);
    plan->host = NULL;
    plan->image = NULL;
}

/* An object plans once: a second addition would get passes of its own. */
static cupti_result try_plan(struct profiler *p, struct profiler_plan *plan, struct refusal *why)
{
    drop_plan(p, plan);
    void *host = plan->host = make_host(p, why);
    if (!host)
        return NO_HOST;
    struct profiler_host_add add = {.size = PROFILER_SIZE(profiler_host_add, count),
                                    .object = host,
                                    .metrics = plan->metrics,
                                    .count = plan->count};
    struct profiler_host_config_size size = {.size = PROFILER_SIZE(profiler_host_config_size, bytes),
                                             .object = host};
    struct profiler_host_config config = {.size = PROFILER_SIZE(profiler_host_config, image), .object = host};
    struct profiler_host_passes passes = {.size = PROFILER_SIZE(profiler_host_passes, passes)};
    cupti_result result = p->calls[HOST_ADD](&add);
    if (result == CUPTI_OK)
        result = p->calls[HOST_CONFIG_SIZE](&size);
    if (result == CUPTI_OK) {
        plan->bytes = config.bytes = passes.bytes = size.bytes;
        plan->image = config.image = passes.image = malloc(size.bytes);
        result = plan->image ? p->calls[HOST_CONFIG](&config) : -1;
    }
    if (result == CUPTI_OK)
        result = p->calls[HOST_PASSES](&passes);
    plan->passes = passes.passes;
    return result;
}

/* Leaves out what the chip has not: one unknown name spoils an addition. Halves tell which it is. */
static size_t keep_known(struct profiler *p, const char **metrics, size_t count)
{
    struct profiler_plan part = {.count = count};
    memcpy(part.metrics, metrics, count * sizeof *metrics);
    bool known = try_plan(p, &part, NULL) == CUPTI_OK;
    drop_plan(p, &part);
    if (known || count <= 1)
        return known ? count : 0;
    size_t half = count / 2, first = keep_known(p, metrics, half);
    size_t second = keep_known(p, metrics + half, count - half);
    memmove(metrics + first, metrics + half, second * sizeof *metrics);
    return first + second;
}

static bool fits(struct profiler *p, struct profiler_plan *plan, size_t most_passes)
{
    return try_plan(p, plan, NULL) == CUPTI_OK && plan->passes <= most_passes;
}

/* Takes those that fit with what was taken, the first ones first: what fits as a whole at once, else its
 * halves. */
static void take_what_fits(struct profiler *p, struct profiler_plan *taken, const char *const *metrics,
                           size_t count, size_t most_passes)
{
    memcpy(taken->metrics + taken->count, metrics, count * sizeof *metrics);
    taken->count += count;
    if (count == 0 || fits(p, taken, most_passes))
        return;
    taken->count -= count;
    if (count == 1)
        return;
    take_what_fits(p, taken, metrics, count / 2, most_passes);
    take_what_fits(p, taken, metrics + count / 2, count - count / 2, most_passes);
}

static cupti_result plan_what_fits(struct profiler *p, struct profiler_plan *plan, size_t most_passes)
{
    struct profiler_plan taken = {0};
    take_what_fits(p, &taken, plan->metrics, plan->count, most_passes);
    drop_plan(p, plan);
    *plan = taken;
    return plan->count ? try_plan(p, plan, NULL) : NO_METRICS;
}

int profiler_plan(struct profiler *p, const char *const *metrics, size_t count, size_t most_passes,
                  struct profiler_plan *plan, struct refusal *why)
{
    plan->count = count < PROFILER_METRICS ? count : PROFILER_METRICS;
    memcpy(plan->metrics, metrics, plan->count * sizeof *metrics);
    cupti_result result = try_plan(p, plan, why);
    if (result == NO_HOST)
        return -1;
    if (result != CUPTI_OK) {
        plan->count = keep_known(p, plan->metrics, plan->count);
        result = plan->count ? try_plan(p, plan, why) : result;
    }
    if (result == CUPTI_OK && plan->passes > most_passes)
        result = plan_what_fits(p, plan, most_passes);
    if (result == CUPTI_OK)
        return 0;
    refusal_set(why,
                N_("no hardware counters: the GPU has none of those asked for; see warplight kernels --plan"),
                "%s (%d)", p->chip, result);
    return -1;
}

/* ---- sessions -------------------------------------------------------------------------------------------
 */

/* An object that was not asked for the size has no layout, and CUPTI ends the program over one (13.0). */
static int make_room(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                     size_t most_ranges, struct refusal *why)
{
    struct profiler_data *data = &s->data[s->ranges];
    struct profiler_range_data_size size = {.size = PROFILER_SIZE(profiler_range_data_size, bytes),
                                            .object = s->object,
                                            .metrics = (const char **)plan->metrics,
                                            .count = plan->count,
                                            .most_ranges = most_ranges,
                                            .most_nodes = (uint32_t)most_ranges};
    if (call(p, RANGE_DATA_SIZE, &size, why) != CUPTI_OK)
        return -1;
    if (data->bytes != size.bytes) {
        free(data->at);
        data->at = malloc(size.bytes);
        data->bytes = data->at ? size.bytes : 0;
    }
    data->plan = plan;
    s->has_layout = data->at != NULL;
    if (!data->at)
        refusal_set(why, N_("no hardware counters: no memory is left for them"), "%s", "");
    return data->at ? 0 : -1;
}

static int lay_out(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                   size_t most_ranges, struct refusal *why)
{
    if (!s->has_layout && make_room(p, s, plan, most_ranges, why) != 0)
        return -1;
    struct profiler_range_data image = {.size = PROFILER_SIZE(profiler_range_data, data),
                                        .object = s->object,
                                        .bytes = s->data[s->ranges].bytes,
                                        .data = s->data[s->ranges].at};
    return call(p, RANGE_DATA_INITIALIZE, &image, why) == CUPTI_OK ? 0 : -1;
}

/* An object serves one kind of ranges with one plan. */
static int enable(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                  enum profiler_ranges ranges, struct refusal *why)
{
    if (s->object && (s->ranges != ranges || s->data[ranges].plan != plan))
        profiler_leave(p, s);
    s->ranges = ranges;
    if (s->object)
        return 0;
    struct profiler_range_enable enable = {.size = PROFILER_SIZE(profiler_range_enable, object),
                                           .context = s->context};
    if (call(p, RANGE_ENABLE, &enable, why) != CUPTI_OK)
        return -1;
    s->object = enable.object;
    s->has_layout = false;
    return 0;
}

int profiler_start(struct profiler *p, struct profiler_session *s, const struct profiler_plan *plan,
                   enum profiler_ranges ranges, size_t most_ranges, struct refusal *why)
{
    if (enable(p, s, plan, ranges, why) != 0 || lay_out(p, s, plan, most_ranges, why) != 0)
        return -1;
    /* Ranges made by CUPTI are as long as their kernels. Without its replay a kernel runs once. */
    struct profiler_range_config config = {
        .size = PROFILER_SIZE(profiler_range_config, nesting),
        .object = s->object,
        .config_bytes = plan->bytes,
        .config = plan->image,
        .data_bytes = s->data[ranges].bytes,
        .data = s->data[ranges].at,
        .range = ranges == PROFILER_WHOLE ? PROFILER_USER_RANGE : PROFILER_AUTO_RANGE,
        .replay = ranges == PROFILER_REPLAYED ? PROFILER_KERNEL_REPLAY : PROFILER_USER_REPLAY,
        .ranges_per_pass = most_ranges,
        .nesting_levels = 1,
        .least_nesting = 1};
    struct profiler_range_object start = {.size = PROFILER_SIZE(profiler_range_object, object),
                                          .object = s->object};
    if (call(p, RANGE_CONFIG, &config, why) != CUPTI_OK)
        return -1;
    return call(p, RANGE_START, &start, why) == CUPTI_OK ? 0 : -1;
}

void profiler_push(struct profiler *p, const struct profiler_session *s)
{
    struct profiler_range_push push = {
        .size = PROFILER_SIZE(profiler_range_push, name), .object = s->object, .name = "0"};
    p->calls[RANGE_PUSH](&push);
}

void profiler_pop(struct profiler *p, const struct profiler_session *s)
{
    struct profiler_range_object pop = {.size = PROFILER_SIZE(profiler_range_object, object),
                                        .object = s->object};
    p->calls[RANGE_POP](&pop);
}

int64_t profiler_stop(struct profiler *p, struct profiler_session *s, struct refusal *why)
{
    struct profiler_range_stop stop = {.size = PROFILER_SIZE(profiler_range_stop, all_passes),
                                       .object = s->object};
    struct profiler_range_decode decode = {.size = PROFILER_SIZE(profiler_range_decode, dropped),
                                           .object = s->object};
    struct profiler_range_count count = {.size = PROFILER_SIZE(profiler_range_count, ranges),
                                         .data = s->data[s->ranges].at,
                                         .bytes = s->data[s->ranges].bytes};
    if (call(p, RANGE_STOP, &stop, why) != CUPTI_OK || call(p, RANGE_DECODE, &decode, why) != CUPTI_OK ||
        call(p, RANGE_COUNT, &count, why) != CUPTI_OK)
        return -1;
    return (int64_t)count.ranges;
}

int64_t profiler_order(struct profiler *p, const struct profiler_session *s, size_t range)
{
    struct profiler_range_name name = {.size = PROFILER_SIZE(profiler_range_name, name),
                                       .data = s->data[s->ranges].at,
                                       .bytes = s->data[s->ranges].bytes,
                                       .range = range,
                                       .delimiter = "/"};
    if (p->calls[RANGE_NAME](&name) != CUPTI_OK || !name.name || name.name[0] < '0' || name.name[0] > '9')
        return -1;
    return strtoll(name.name, NULL, 10);
}

bool profiler_values(struct profiler *p, const struct profiler_session *s, size_t range,
                     double values[PROFILER_METRICS], struct refusal *why)
{
    const struct profiler_data *data = &s->data[s->ranges];
    struct profiler_host_evaluate evaluate = {.size = PROFILER_SIZE(profiler_host_evaluate, values),
                                              .object = data->plan->host,
                                              .data = data->at,
                                              .bytes = data->bytes,
                                              .range = range,
                                              .metrics = (const char **)data->plan->metrics,
                                              .count = data->plan->count,
                                              .values = values};
    return call(p, HOST_EVALUATE, &evaluate, why) == CUPTI_OK;
}

void profiler_leave(struct profiler *p, struct profiler_session *s)
{
    struct profiler_range_object disable = {.size = PROFILER_SIZE(profiler_range_object, object),
                                            .object = s->object};
    if (s->object)
        p->calls[RANGE_DISABLE](&disable);
    s->object = NULL;
}

void profiler_release(struct profiler *p, struct profiler_session *s)
{
    profiler_leave(p, s);
    for (int i = 0; i < PROFILER_RANGES; i++)
        free(s->data[i].at);
    memset(s->data, 0, sizeof s->data);
}
