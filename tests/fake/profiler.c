/* Stand-ins for CUPTI's callbacks, Range Profiler and PC sampling, with the manners that hardware showed
 * (doc/internals/counters.md): a graph in a session loses it, ranges and samples exclude each other, kernels
 * of a session are counted once a launch. It proves no number.
 *
 * FAKE_PROFILER_REFUSE=CALL=CODE  that call fails with that code
 * FAKE_PROFILER_FLAG=NAME         DeviceSupported says no to architecture, sli, vgpu, confidential, cmp, wsl
 * FAKE_PROFILER_UNKNOWN=TEXT      the chip has no metric whose name has TEXT
 * FAKE_PROFILER_PASS=N            so many metrics fit in a pass (40)
 * FAKE_PROFILER_CUBIN=FILE        the module that the program loads; samples are of its code
 * FAKE_PROFILER_PC=N              the second instruction that is sampled (32)
 * FAKE_PROFILER_MIG=1             the GPU is a MIG instance, which shares L2 and DRAM
 * FAKE_PROFILER_REPLAY_MS=N       so long takes a launch that is replayed (0)
 * FAKE_PROFILER_BUSY=N            another process has the counters when the first N sessions begin
 * FAKE_PROFILER_LOSE=NAME         a replay of that kernel leaves no range
 * FAKE_PROFILER_FULL=1            the hardware's buffer of samples overflows
 * FAKE_PROFILER_LOG=FILE          what the application felt: one letter a call: S start, P stop of a session,
 * r a launch that was measured, m one that was replayed, l one that was not, s sampled, g a graph, w one that
 * was measured as a whole
 *
 * A context is a number; its bits from the 12th on are its device (tests/fake/cuda.c). */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/profiler.h"
#include "note_call.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST_RANGES = 512, MOST_METRICS = 128, MOST_CUBIN_BYTES = 1 << 20, MOST_OBJECTS = 128 };
enum {
    OK = 0,
    INVALID_PARAMETER = 1,
    INVALID_CONTEXT = 3,
    INVALID_OPERATION = 7,
    OUT_OF_MEMORY = 8,
    HARDWARE_BUSY = 26,
    MIG = 43,
    UNKNOWN_ERROR = 999
};

typedef void callback(void *user, int domain, uint32_t cbid, const void *data);

struct host { /* and its configuration */
    size_t passes;
    bool shared; /* there are counters of units that MIG instances share */
};

struct range_object {
    void *context;
    bool started, spoilt, replays, whole, pushed, shared, has_layout;
    size_t ranges, most, counted_before;
    double durations[MOST_RANGES];
    uint8_t *data;
};

/* What a counter data image holds here. */
struct image {
    size_t ranges, first;
    double durations[MOST_RANGES];
};

static struct {
    pthread_mutex_t lock;
    callback *called;
    void *user;
    struct range_object *objects[MOST_OBJECTS]; /* of contexts */
    bool pc_enabled, range_used;
    const void *pc_started; /* the context that is sampled */
    struct pc_sampling_data *pc_data;
    size_t sampled;
    char name[64];
    uint64_t crc; /* of the module that is loaded */
    size_t starts;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t crc_of(const void *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

static void note(char letter)
{
    const char *path = getenv("FAKE_PROFILER_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    ssize_t written = write(fd, &letter, 1);
    (void)written;
    close(fd);
}

static int refusal(const char *call)
{
    const char *refuse = getenv("FAKE_PROFILER_REFUSE");
    size_t length = strlen(call);
    return refuse && strncmp(refuse, call, length) == 0 && refuse[length] == '='
               ? (int)strtol(refuse + length + 1, NULL, 10)
               : 0;
}

#define REFUSE()                                                                                             \
    do {                                                                                                     \
        int code_ = refusal(__func__);                                                                       \
        if (code_)                                                                                           \
            return code_;                                                                                    \
    } while (0)

/* ---- what the test program calls -------------------------------------------------------------------------
 */

EXPORT int fake_kernel(void *context, const char *symbol, uint32_t grid, uint32_t block, double duration_ns,
                       void *stream);
EXPORT int fake_graph_make(void *context, void *graph, void *executable);
EXPORT int fake_graph_launch(void *context, void *executable, void *stream);
EXPORT int fake_module_load(void *context);
EXPORT void fake_module_unload(void *context);
EXPORT void fake_context_end(void *context);

static struct range_object *object_of(const void *context)
{
    for (int i = 0; i < MOST_OBJECTS; i++)
        if (fake.objects[i] && fake.objects[i]->context == context)
            return fake.objects[i];
    return NULL;
}

static void run_kernel(const void *context, const char *symbol, double duration_ns)
{
    struct range_object *o = object_of(context);
    if (o && o->started) {
        const char *lose = o->replays ? getenv("FAKE_PROFILER_LOSE") : NULL;
        if (o->ranges < o->most && !(lose && strcmp(symbol, lose) == 0))
            o->durations[o->ranges++] = duration_ns;
        note(o->replays ? 'm' : 'r');
        const char *replay_ms = o->replays ? getenv("FAKE_PROFILER_REPLAY_MS") : NULL;
        if (replay_ms)
            usleep((useconds_t)strtoul(replay_ms, NULL, 10) * 1000);
    } else if (fake.pc_started == context) {
        fake.sampled++;
        snprintf(fake.name, sizeof fake.name, "%s", symbol);
        note('s');
    } else {
        note('l');
    }
}

static void tell(const struct callback_call *call, uint32_t cbid)
{
    if (fake.called)
        fake.called(fake.user, CALLBACK_DOMAIN_DRIVER, cbid, call);
}

int fake_kernel(void *context, const char *symbol, uint32_t grid, uint32_t block, double duration_ns,
                void *stream)
{
    bool own = stream == (void *)5; /* the thread's default stream, which such calls mean by NULL */
    struct callback_launch_params params = {
        .function = (void *)1, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .stream = own ? NULL : stream};
    int result = 0;
    uint64_t data = 0;
    struct callback_call call = {.site = CALLBACK_ENTER,
                                 .params = &params,
                                 .result = &result,
                                 .symbol = symbol,
                                 .context = context,
                                 .context_id = 1,
                                 .correlation_data = &data};
    uint32_t cbid = own                   ? CALLBACK_LAUNCH_KERNEL_PTSZ
                    : stream == (void *)4 ? CALLBACK_LAUNCH_COOPERATIVE
                                          : CALLBACK_LAUNCH_KERNEL;
    tell(&call, cbid);
    bool captured = own || stream == (void *)2;
    pthread_mutex_lock(&fake.lock);
    if (grid == 0)
        result = 1; /* an invalid launch */
    else if (!captured)
        run_kernel(context, symbol, duration_ns);
    pthread_mutex_unlock(&fake.lock);
    call.site = CALLBACK_EXIT;
    tell(&call, cbid);
    return result;
}

int fake_graph_make(void *context, void *graph, void *executable)
{
    int result = 0;
    uint64_t data = 0;
    void *made = NULL;
    struct callback_instantiate_params params = {&made, graph};
    struct callback_call call = {
        .result = &result, .context = context, .context_id = 1, .correlation_data = &data, .params = &params};
    tell(&call, CALLBACK_GRAPH_INSTANTIATE_FLAGS);
    made = executable;
    call.site = CALLBACK_EXIT;
    tell(&call, CALLBACK_GRAPH_INSTANTIATE_FLAGS);
    return result;
}

/* In a session of kernels it spoils what is counted; in one of ranges it is what the range holds. */
int fake_graph_launch(void *context, void *executable, void *stream)
{
    int result = 0;
    uint64_t data = 0;
    struct callback_graph_params params = {executable, stream};
    struct callback_call call = {
        .result = &result, .context = context, .context_id = 1, .correlation_data = &data, .params = &params};
    tell(&call, CALLBACK_GRAPH_LAUNCH);
    pthread_mutex_lock(&fake.lock);
    struct range_object *o = object_of(context);
    bool counted = o && o->started && o->pushed && stream != (void *)6;
    if (o && o->started && !o->pushed)
        o->spoilt = true;
    if (counted)
        o->durations[0] += 5000;
    note(counted ? 'w' : 'g');
    pthread_mutex_unlock(&fake.lock);
    result = stream == (void *)6; /* a launch that fails */
    call.site = CALLBACK_EXIT;
    tell(&call, CALLBACK_GRAPH_LAUNCH);
    return result;
}

/* The code lies in memory only during the callback. */
int fake_module_load(void *context)
{
    const char *path = getenv("FAKE_PROFILER_CUBIN");
    FILE *file = path ? fopen(path, "re") : NULL;
    char *bytes = file ? malloc(MOST_CUBIN_BYTES) : NULL;
    struct callback_module module = {.id = 1, .cubin = bytes};
    struct callback_resource_data data = {.context = context, .descriptor = &module};
    if (bytes)
        module.bytes = fread(bytes, 1, MOST_CUBIN_BYTES, file);
    if (fake.called && bytes) {
        fake.crc = crc_of(bytes, module.bytes);
        fake.called(fake.user, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_LOADED, &data);
        fake.called(fake.user, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_PROFILED, &data);
    }
    free(bytes);
    if (file)
        fclose(file);
    return module.bytes > 0 ? 0 : 1;
}

/* Launches wait meanwhile: the driver holds a lock. */
void fake_module_unload(void *context)
{
    struct callback_resource_data data = {.context = context};
    pthread_mutex_lock(&fake.lock);
    if (fake.called)
        fake.called(fake.user, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_UNLOAD, &data);
    pthread_mutex_unlock(&fake.lock);
}

void fake_context_end(void *context)
{
    struct callback_resource_data data = {.context = context};
    if (fake.called)
        fake.called(fake.user, CALLBACK_DOMAIN_RESOURCE, CALLBACK_CONTEXT_DESTROY, &data);
}

/* ---- callbacks ------------------------------------------------------------------------------------------
 */

EXPORT int cuptiSubscribe(void **subscriber, callback *called, void *user);
EXPORT int cuptiUnsubscribe(void *subscriber);
EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);

int cuptiSubscribe(void **subscriber, callback *called, void *user)
{
    REFUSE();
    note_call("subscribe", 0);
    *subscriber = &fake;
    fake.called = called;
    fake.user = user;
    return OK;
}

int cuptiUnsubscribe(void *subscriber)
{
    note_call("unsubscribe", 0);
    fake.called = NULL;
    return subscriber == &fake ? OK : INVALID_PARAMETER;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
    (void)enable, (void)domain, (void)cbid;
    return subscriber == &fake ? OK : INVALID_PARAMETER;
}

/* ---- host -----------------------------------------------------------------------------------------------
 */

EXPORT int cuptiProfilerInitialize(struct profiler_plain *p);
EXPORT int cuptiProfilerDeviceSupported(struct profiler_device_supported *p);
EXPORT int cuptiDeviceGetChipName(struct profiler_chip *p);
EXPORT int cuptiProfilerHostInitialize(struct profiler_host_initialize *p);
EXPORT int cuptiProfilerHostDeinitialize(struct profiler_host_object *p);
EXPORT int cuptiProfilerHostGetSupportedChips(struct profiler_host_chips *p);
EXPORT int cuptiProfilerHostConfigAddMetrics(struct profiler_host_add *p);
EXPORT int cuptiProfilerHostGetConfigImageSize(struct profiler_host_config_size *p);
EXPORT int cuptiProfilerHostGetConfigImage(struct profiler_host_config *p);
EXPORT int cuptiProfilerHostGetNumOfPasses(struct profiler_host_passes *p);
EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct profiler_host_evaluate *p);

int cuptiProfilerInitialize(struct profiler_plain *p)
{
    REFUSE();
    return p->size ? OK : INVALID_PARAMETER;
}

int cuptiProfilerDeviceSupported(struct profiler_device_supported *p)
{
    const char *flag = getenv("FAKE_PROFILER_FLAG");
    struct {
        const char *name;
        int32_t *at;
    } flags[] = {{"architecture", &p->architecture}, {"sli", &p->sli}, {"vgpu", &p->vgpu},
                 {"confidential", &p->confidential}, {"cmp", &p->cmp}, {"wsl", &p->wsl}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        *flags[i].at = flag && strcmp(flag, flags[i].name) == 0 ? PROFILER_SUPPORT_NO : PROFILER_SUPPORT_YES;
    return OK;
}

int cuptiDeviceGetChipName(struct profiler_chip *p)
{
    p->name = "GH100";
    return OK;
}

int cuptiProfilerHostInitialize(struct profiler_host_initialize *p)
{
    REFUSE();
    if (strcmp(p->chip, "GH100") != 0 && strcmp(p->chip, "GA100") != 0)
        return 46;
    p->object = calloc(1, sizeof(struct host));
    return OK;
}

int cuptiProfilerHostDeinitialize(struct profiler_host_object *p)
{
    free(p->object);
    return OK;
}

#ifdef FAKE_CUPTI_NEW
EXPORT int cuptiProfilerHostGetSinglePassSets(void *params);

int cuptiProfilerHostGetSinglePassSets(void *params)
{
    return params ? OK : INVALID_PARAMETER;
}
#endif

int cuptiProfilerHostGetSupportedChips(struct profiler_host_chips *p)
{
#ifdef FAKE_CUPTI_NEW
    if (!dlopen("libcuda.so.1", RTLD_NOW)) /* as 13.2 does */
        abort();
#endif
    static const char *const chips[] = {"GA100", "GH100"};
    p->count = 2;
    p->names = chips;
    return OK;
}

int cuptiProfilerHostConfigAddMetrics(struct profiler_host_add *p)
{
    const char *unknown = getenv("FAKE_PROFILER_UNKNOWN"), *pass = getenv("FAKE_PROFILER_PASS");
    size_t each = pass ? strtoul(pass, NULL, 10) : 40;
    for (size_t i = 0; i < p->count; i++)
        if (!strstr(p->metrics[i], "__") || (unknown && strstr(p->metrics[i], unknown)))
            return INVALID_PARAMETER;
    struct host *host = p->object;
    host->passes = (p->count + each - 1) / each;
    for (size_t i = 0; i < p->count; i++)
        host->shared |= strncmp(p->metrics[i], "lts__", 5) == 0 || strncmp(p->metrics[i], "dram__", 6) == 0;
    return OK;
}

int cuptiProfilerHostGetConfigImageSize(struct profiler_host_config_size *p)
{
    p->bytes = sizeof(struct host);
    return OK;
}

int cuptiProfilerHostGetConfigImage(struct profiler_host_config *p)
{
    memcpy(p->image, p->object, sizeof(struct host));
    return OK;
}

int cuptiProfilerHostGetNumOfPasses(struct profiler_host_passes *p)
{
    p->passes = ((const struct host *)p->image)->passes;
    return OK;
}

/* The first metric is the duration; the others their number, but the last one, which is a share of nothing.
 */
int cuptiProfilerHostEvaluateToGpuValues(struct profiler_host_evaluate *p)
{
    REFUSE();
    const struct image *image = (const struct image *)p->data;
    if (p->range >= image->ranges)
        return INVALID_PARAMETER;
    for (size_t i = 0; i < p->count; i++)
        p->values[i] = (double)i;
    p->values[0] = image->durations[p->range];
    if (p->count > 1)
        p->values[p->count - 1] = __builtin_nan("");
    return OK;
}

/* ---- ranges ----------------------------------------------------------------------------------------------
 */

EXPORT int cuptiRangeProfilerEnable(struct profiler_range_enable *p);
EXPORT int cuptiRangeProfilerDisable(struct profiler_range_object *p);
EXPORT int cuptiRangeProfilerGetCounterDataSize(struct profiler_range_data_size *p);
EXPORT int cuptiRangeProfilerCounterDataImageInitialize(struct profiler_range_data *p);
EXPORT int cuptiRangeProfilerSetConfig(struct profiler_range_config *p);
EXPORT int cuptiRangeProfilerStart(struct profiler_range_object *p);
EXPORT int cuptiRangeProfilerPushRange(struct profiler_range_push *p);
EXPORT int cuptiRangeProfilerPopRange(struct profiler_range_object *p);
EXPORT int cuptiRangeProfilerStop(struct profiler_range_stop *p);
EXPORT int cuptiRangeProfilerDecodeData(struct profiler_range_decode *p);
EXPORT int cuptiRangeProfilerGetCounterDataInfo(struct profiler_range_count *p);
EXPORT int cuptiRangeProfilerCounterDataGetRangeInfo(struct profiler_range_name *p);

int cuptiRangeProfilerEnable(struct profiler_range_enable *p)
{
    REFUSE();
    int result = object_of(p->context) ? INVALID_OPERATION : OUT_OF_MEMORY;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < MOST_OBJECTS && result == OUT_OF_MEMORY; i++) {
        if (fake.objects[i])
            continue;
        fake.objects[i] = p->object = calloc(1, sizeof *fake.objects[i]);
        fake.objects[i]->context = p->context;
        fake.range_used = false;
        result = OK;
    }
    pthread_mutex_unlock(&fake.lock);
    return result;
}

int cuptiRangeProfilerDisable(struct profiler_range_object *p)
{
    int result = INVALID_PARAMETER;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < MOST_OBJECTS && result != OK; i++) {
        if (!p->object || fake.objects[i] != p->object)
            continue;
        free(fake.objects[i]);
        fake.objects[i] = NULL;
        fake.range_used = false;
        result = OK;
    }
    pthread_mutex_unlock(&fake.lock);
    return result;
}

int cuptiRangeProfilerPushRange(struct profiler_range_push *p)
{
    struct range_object *o = p->object;
    if (!o->started || !o->whole || o->pushed)
        return INVALID_OPERATION;
    o->pushed = true;
    o->durations[0] = 0;
    return OK;
}

int cuptiRangeProfilerPopRange(struct profiler_range_object *p)
{
    struct range_object *o = p->object;
    if (!o->pushed)
        return INVALID_OPERATION;
    o->pushed = false;
    o->ranges = 1;
    return OK;
}

int cuptiRangeProfilerGetCounterDataSize(struct profiler_range_data_size *p)
{
    REFUSE();
    struct range_object *o = p->object;
    p->bytes = sizeof(struct image);
    o->has_layout = p->most_nodes >= p->most_ranges;
    return o->has_layout ? OK : INVALID_PARAMETER;
}

/* As the real one does where the object was not asked for the size. */
int cuptiRangeProfilerCounterDataImageInitialize(struct profiler_range_data *p)
{
    if (!((const struct range_object *)p->object)->has_layout)
        abort();
    memset(p->data, 0, p->bytes);
    return OK;
}

int cuptiRangeProfilerSetConfig(struct profiler_range_config *p)
{
    struct range_object *o = p->object;
    size_t passes = ((const struct host *)p->config)->passes;
    o->shared = ((const struct host *)p->config)->shared;
    bool whole = p->range == PROFILER_USER_RANGE;
    if ((p->replay == PROFILER_KERNEL_REPLAY) != (passes > 1) || (whole && passes > 1))
        return INVALID_PARAMETER;
    if (o->data && o->whole != whole)
        o->spoilt = true; /* another kind of ranges needs another object */
    o->whole = whole;
    o->most = p->ranges_per_pass;
    o->replays = p->replay == PROFILER_KERNEL_REPLAY;
    o->data = p->data;
    return OK;
}

/* Whose context it is must be current. */
static bool is_current(const struct range_object *o)
{
    int (*get_current)(void **context) = NULL;
    void *context = NULL, *driver = dlopen(getenv("FAKE_CUDA"), RTLD_NOW);
    if (driver)
        *(void **)&get_current = dlsym(driver, "cuCtxGetCurrent");
    return get_current && get_current(&context) == OK && context == o->context;
}

int cuptiRangeProfilerStart(struct profiler_range_object *p)
{
    REFUSE();
    struct range_object *o = p->object;
    if (!is_current(o))
        return INVALID_CONTEXT;
    const char *busy = getenv("FAKE_PROFILER_BUSY");
    if (busy && fake.starts++ < strtoul(busy, NULL, 10))
        return HARDWARE_BUSY;
    if (o->shared && getenv("FAKE_PROFILER_MIG"))
        return MIG;
    if (fake.pc_enabled)
        return INVALID_PARAMETER;
    for (int i = 0; i < MOST_OBJECTS; i++) {
        const struct range_object *other = fake.objects[i];
        bool same_device = other && (uintptr_t)other->context >> 12 == (uintptr_t)o->context >> 12;
        if (same_device && other != o) /* also where it is stopped */
            return HARDWARE_BUSY;
        if (other == o && o->started)
            return INVALID_OPERATION;
    }
    note('S');
    o->started = fake.range_used = true;
    o->ranges = 0;
    return OK;
}

int cuptiRangeProfilerStop(struct profiler_range_stop *p)
{
    REFUSE();
    struct range_object *o = p->object;
    if (!o->started)
        return INVALID_OPERATION;
    if (!is_current(o))
        return INVALID_CONTEXT;
    note('P');
    o->started = false;
    p->all_passes = 1;
    return o->spoilt ? UNKNOWN_ERROR : OK;
}

int cuptiRangeProfilerDecodeData(struct profiler_range_decode *p)
{
    struct range_object *o = p->object;
    struct image *image = (struct image *)o->data;
    image->ranges = o->ranges;
    image->first = o->replays ? o->counted_before : 0;
    memcpy(image->durations, o->durations, o->ranges * sizeof *o->durations);
    o->counted_before += o->ranges;
    return OK;
}

int cuptiRangeProfilerGetCounterDataInfo(struct profiler_range_count *p)
{
    p->ranges = ((const struct image *)p->data)->ranges;
    return OK;
}

int cuptiRangeProfilerCounterDataGetRangeInfo(struct profiler_range_name *p)
{
    static __thread char name[32];
    snprintf(name, sizeof name, "%zu", ((const struct image *)p->data)->first + p->range);
    p->name = name;
    return OK;
}

/* ---- PC sampling ----------------------------------------------------------------------------------------
 */

EXPORT int cuptiPCSamplingEnable(struct pc_sampling_context *p);
EXPORT int cuptiPCSamplingDisable(struct pc_sampling_context *p);
EXPORT int cuptiPCSamplingSetConfigurationAttribute(struct pc_sampling_configure *p);
EXPORT int cuptiPCSamplingGetNumStallReasons(struct pc_sampling_reason_count *p);
EXPORT int cuptiPCSamplingGetStallReasons(struct pc_sampling_reason_names *p);
EXPORT int cuptiPCSamplingStart(struct pc_sampling_context *p);
EXPORT int cuptiPCSamplingStop(struct pc_sampling_context *p);
EXPORT int cuptiPCSamplingGetData(struct pc_sampling_get *p);
EXPORT int cuptiGetCubinCrc(struct cubin_crc *p);

int cuptiGetCubinCrc(struct cubin_crc *p)
{
    REFUSE();
    p->crc = crc_of(p->cubin, p->bytes);
    return OK;
}

int cuptiPCSamplingEnable(struct pc_sampling_context *p)
{
    REFUSE();
    fake.pc_enabled = p->context != NULL;
    return OK;
}

int cuptiPCSamplingDisable(struct pc_sampling_context *p)
{
    if (fake.pc_started && fake.pc_started != p->context)
        return OK;
    fake.pc_enabled = false;
    fake.pc_started = NULL;
    return OK;
}

int cuptiPCSamplingSetConfigurationAttribute(struct pc_sampling_configure *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->settings[i].attribute == PC_SAMPLING_BUFFER && !fake.pc_started)
            fake.pc_data = p->settings[i].value.pointer;
    return OK;
}

static const char *const reasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                      "smsp__pcsamp_warps_issue_stalled_wait"};

int cuptiPCSamplingGetNumStallReasons(struct pc_sampling_reason_count *p)
{
    *p->count = 2;
    return OK;
}

int cuptiPCSamplingGetStallReasons(struct pc_sampling_reason_names *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->index[i] = (uint32_t)i + 5;
        snprintf(p->names[i], PC_SAMPLING_REASON_BYTES, "%s", reasons[i]);
    }
    return OK;
}

int cuptiPCSamplingStart(struct pc_sampling_context *p)
{
    REFUSE();
    if (fake.range_used)
        return INVALID_PARAMETER;
    if (fake.pc_started)
        return HARDWARE_BUSY;
    fake.pc_started = p->context;
    fake.sampled = 0;
    return OK;
}

/* Three samples of waiting for memory and one of a plain wait for each launch, at two instructions, of which
 * the buffer that was configured gets one. */
static void fill(struct pc_sampling_data *data, size_t first)
{
    data->is_full = getenv("FAKE_PROFILER_FULL") != NULL;
    if (data->is_full)
        return;
    const char *second = getenv("FAKE_PROFILER_PC");
    for (size_t i = 0; i < 1; i++) {
        struct pc_sampling_pc *pc = (struct pc_sampling_pc *)((char *)data->pc + i * data->pc->size);
        pc->cubin_crc = fake.crc;
        pc->pc = first == 1 ? 16 : second ? strtoul(second, NULL, 0) : 32;
        pc->function = fake.name;
        pc->reason_count = 2;
        pc->reasons[0] = (struct pc_sampling_reason){.reason = 5, .samples = (uint32_t)(3 * fake.sampled)};
        pc->reasons[1] = (struct pc_sampling_reason){.reason = 6, .samples = (uint32_t)fake.sampled};
    }
    data->pcs = 1;
    data->samples = 4 * fake.sampled;
    data->left = first == 1 ? 1 : 0;
}

int cuptiPCSamplingStop(struct pc_sampling_context *p)
{
    (void)p;
    REFUSE();
    fake.pc_started = NULL;
    if (fake.sampled)
        fill(fake.pc_data, 1);
    return OK;
}

int cuptiPCSamplingGetData(struct pc_sampling_get *p)
{
    fill(p->data, 2);
    return OK;
}
