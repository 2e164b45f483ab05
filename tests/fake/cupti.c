/* A stand-in for libcupti, to test the plumbing of `record` without a GPU: real entry points, real record
 * layouts of three generations (FAKE_CUPTI_API: 18 CUDA 11.8, 26 CUDA 12.8, 130001 CUDA 13.0). It proves no
 * number.
 *
 * FAKE_CUPTI_REFUSE=39   ActivityEnable(CONCURRENT_KERNEL) fails with that code
 * FAKE_CUPTI_DROPPED=N   every completed buffer says that N records were dropped
 * FAKE_CUPTI_CLOCK=boot  times count from the start of the machine, not from the epoch
 * FAKE_CUPTI_CALLS=FILE  what the library under test switches, a line a call
 * FAKE_CUPTI_NO_DUMP=1   ActivityEnableAndDump() fails
 * -DFAKE_CUPTI_OLD       as before CUDA 12.5: single calls cannot be chosen
 * fake_take_over()       what another profiler does that registers its own callbacks
 * fake_selected()        how many kinds, single calls and counters are switched on */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/activity.h"
#include "note_call.h"

#define EXPORT __attribute__((visibility("default")))

enum { CALLS = 1024 };
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2 };

typedef void request_buffer(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

static struct {
    pthread_mutex_t lock;
    request_buffer *request;
    complete_buffer *complete;
    _Atomic bool enabled[128];
    _Atomic bool device; /* there is one already */
    uint8_t *buffer;
    size_t size, used;
    size_t dropped; /* records for which no buffer was given, not yet told */
    uint32_t correlation;
    _Atomic bool whole_graphs; /* once selected, for good */
    _Atomic bool counts_managed;
    _Atomic bool chosen[CALLS]; /* single calls of the driver, by callback id */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : otherwise;
}

void note_call(const char *name, int argument)
{
    const char *path = getenv("FAKE_CUPTI_CALLS");
    char line[64];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line, "%s %d\n", name, argument);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

/* Sizes of the records in each generation, as the real headers have them. */
static size_t record_bytes(uint32_t kind)
{
    long api = setting("FAKE_CUPTI_API", 130001);
    switch (kind) {
    case ACTIVITY_KERNEL:
        return api >= 130001 ? 216 : api >= 19 ? 208 : 200;
    case ACTIVITY_MEMCPY:
        return api >= 130001 ? 96 : 88;
    case ACTIVITY_MEMSET:
        return 88;
    case ACTIVITY_DEVICE:
        return api >= 130001 ? 192 : 176;
    case ACTIVITY_OVERHEAD:
        return api >= 22 ? 56 : 40;
    case ACTIVITY_GRAPH:
        return api >= 21 ? 56 : 48;
    case ACTIVITY_MEMORY:
        return api >= 130001 ? 128 : 120;
    case ACTIVITY_MEMORY_POOL:
        return api >= 130001 ? 80 : 72;
    case ACTIVITY_MANAGED:
        return api >= 130001 ? 104 : 64;
    default:
        return 40;
    }
}

static void hand_over(void)
{
    if (!fake.buffer)
        return;
    uint8_t *buffer = fake.buffer;
    size_t size = fake.size, used = fake.used;
    fake.buffer = NULL;
    pthread_mutex_unlock(&fake.lock); /* the real one holds no lock either */
    fake.complete(NULL, 0, buffer, size, used);
    pthread_mutex_lock(&fake.lock);
}

static void write_record(const void *record, size_t known)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (!fake.enabled[kind])
        return;
    size_t bytes = record_bytes(kind);
    pthread_mutex_lock(&fake.lock);
    if (fake.buffer && fake.used + bytes > fake.size)
        hand_over();
    if (!fake.buffer) {
        size_t most = 0;
        fake.used = 0;
        fake.request(&fake.buffer, &fake.size, &most);
    }
    if (fake.buffer && bytes <= fake.size) {
        memset(fake.buffer + fake.used, 0, bytes);
        memcpy(fake.buffer + fake.used, record, known < bytes ? known : bytes);
        fake.used += bytes;
    } else {
        fake.dropped++;
    }
    pthread_mutex_unlock(&fake.lock);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(getenv("FAKE_CUPTI_CLOCK") ? CLOCK_BOOTTIME : CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- what the test program calls -------------------------------------------------------------------------
 */

EXPORT void fake_device(void);
EXPORT void fake_launch(const char *kernel, uint64_t duration_ns);
EXPORT void fake_copy(uint64_t bytes);
EXPORT void fake_take_over(void);
EXPORT int fake_graph(uint32_t graph, int nodes);
EXPORT void fake_memory(uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes,
                        uint64_t time_ns);
EXPORT int fake_migrate(uint32_t counter, uint64_t value);
EXPORT int fake_selected(void);

void fake_device(void)
{
    static const char name[] = "Fake GPU";
    struct activity_device device = {.kind = ACTIVITY_DEVICE,
                                     .memory_bytes = 1ull << 34,
                                     .multiprocessors = 84,
                                     .warp_size = 32,
                                     .max_warps_per_sm = 48,
                                     .cc_major = 8,
                                     .cc_minor = 6,
                                     .name = (uint64_t)(uintptr_t)name};
    fake.device = true;
    write_record(&device, sizeof device);
}

static uint32_t call(uint32_t cbid)
{
    uint64_t now = now_ns();
    struct activity_api api = {.kind = ACTIVITY_RUNTIME,
                               .cbid = cbid,
                               .start = now,
                               .end = now + 3000,
                               .process = (uint32_t)getpid(),
                               .thread = (uint32_t)syscall(SYS_gettid),
                               .correlation = __atomic_add_fetch(&fake.correlation, 1, __ATOMIC_RELAXED)};
    write_record(&api, sizeof api);
    return api.correlation;
}

void fake_launch(const char *kernel, uint64_t duration_ns)
{
    uint32_t correlation = call(211);
    uint64_t start = now_ns() + 5000;
    struct activity_kernel record = {.kind = ACTIVITY_KERNEL,
                                     .registers_per_thread = 32,
                                     .start = start,
                                     .end = start + duration_ns,
                                     .context = 1,
                                     .stream = 7,
                                     .grid = {10, 1, 1},
                                     .block = {128, 1, 1},
                                     .correlation = correlation,
                                     .name = (uint64_t)(uintptr_t)kernel};
    write_record(&record, sizeof record);
}

void fake_copy(uint64_t bytes)
{
    uint32_t correlation = call(41);
    uint64_t start = now_ns() + 5000;
    struct activity_memcpy record = {.kind = ACTIVITY_MEMCPY,
                                     .copy_kind = ACTIVITY_COPY_H2D,
                                     .src_kind = ACTIVITY_MEM_PINNED,
                                     .dst_kind = ACTIVITY_MEM_DEVICE,
                                     .bytes = bytes,
                                     .start = start,
                                     .end = start + bytes / 10,
                                     .context = 1,
                                     .stream = 7,
                                     .correlation = correlation};
    write_record(&record, sizeof record);
}

/* Launches a graph of so many kernels, a microsecond each. Returns whether it was recorded whole. */
int fake_graph(uint32_t graph, int nodes)
{
    uint32_t correlation = call(311);
    uint64_t start = now_ns() + 5000;
    struct activity_graph whole = {.kind = ACTIVITY_GRAPH,
                                   .correlation = correlation,
                                   .start = start,
                                   .end = start + (uint64_t)nodes * 1000,
                                   .graph = graph,
                                   .context = 1,
                                   .stream = 7};
    if (fake.whole_graphs) {
        write_record(&whole, sizeof whole);
        return 1;
    }
    for (int i = 0; i < nodes; i++) {
        struct activity_kernel node = {.kind = ACTIVITY_KERNEL,
                                       .start = start + (uint64_t)i * 1000,
                                       .end = start + (uint64_t)(i + 1) * 1000,
                                       .context = 1,
                                       .stream = 7,
                                       .grid = {1, 1, 1},
                                       .block = {32, 1, 1},
                                       .correlation = correlation,
                                       .name = (uint64_t)(uintptr_t) "node_of_graph",
                                       .graph_node = (uint64_t)graph << 32 | (uint64_t)(i + 1),
                                       .graph_id = graph};
        write_record(&node, sizeof node);
    }
    return 0;
}

/* time_ns: after the epoch of this clock; 0 now. */
void fake_memory(uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
    struct activity_memory record = {.kind = ACTIVITY_MEMORY,
                                     .operation = operation,
                                     .memory = kind,
                                     .address = address,
                                     .bytes = bytes,
                                     .time = time_ns ? time_ns : now_ns(),
                                     .process = (uint32_t)getpid(),
                                     .context = 1};
    write_record(&record, sizeof record);
}

/* Returns whether it was recorded. */
int fake_migrate(uint32_t counter, uint64_t value)
{
    uint64_t start = now_ns();
    struct activity_managed record = {.kind = ACTIVITY_MANAGED,
                                      .counter = counter,
                                      .value = value,
                                      .start = start,
                                      .end = start + 2000,
                                      .process = (uint32_t)getpid()};
    write_record(&record, sizeof record);
    return fake.enabled[ACTIVITY_MANAGED];
}

int fake_selected(void)
{
    int count = fake.counts_managed;
    for (int kind = 0; kind < 128; kind++)
        count += fake.enabled[kind];
    for (int cbid = 0; cbid < CALLS; cbid++)
        count += fake.chosen[cbid];
    return count;
}

static uint8_t *buffer_of_other;

static void other_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *size = 1 << 20;
    *buffer = buffer_of_other = malloc(*size);
    *max_records = 0;
}

static void other_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid;
    if (buffer != buffer_of_other)
        return; /* not its own: it does not touch it */
    free(buffer);
    buffer_of_other = NULL;
}

void fake_take_over(void)
{
    fake.request = other_request;
    fake.complete = other_complete;
}

/* ---- what the library under test calls -------------------------------------------------------------------
 */

EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetTimestamp(uint64_t *ns);
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);
EXPORT int cuptiActivityRegisterCallbacks(request_buffer *request, complete_buffer *complete);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityEnableAndDump(int kind);
EXPORT int cuptiActivityDisable(int kind);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiSetThreadIdType(int type);
EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(const uint32_t (*configs)[4], uint32_t count);

int cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)setting("FAKE_CUPTI_API", 130001);
    return 0;
}

int cuptiGetTimestamp(uint64_t *ns)
{
    *ns = now_ns();
    return 0;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_UNKNOWN";
    return 0;
}

int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
    static const struct {
        int domain;
        uint32_t cbid;
        const char *name;
    } calls[] = {{DOMAIN_RUNTIME, 211, "cudaLaunchKernel_v7000"},
                 {DOMAIN_RUNTIME, 41, "cudaMemcpyAsync_v3020"},
                 {DOMAIN_RUNTIME, 311, "cudaGraphLaunch_v10000"},
                 {DOMAIN_RUNTIME, 17, "cudaGetDevice_v3020"},
                 {DOMAIN_DRIVER, 307, "cuLaunchKernel"},
                 {DOMAIN_DRIVER, 4, "cuDeviceGet"},
                 {DOMAIN_DRIVER, 514, "cuGraphLaunch"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].domain == domain && calls[i].cbid == cbid) {
            *name = calls[i].name;
            return 0;
        }
    return 1;
}

#ifndef FAKE_CUPTI_OLD
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);

/* Switches single calls off, where the kind is on. */
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    note_call(enable ? "enable-runtime-call" : "disable-runtime-call", (int)cbid);
    return 0;
}

/* Switches single calls on, where the kind is off. */
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    note_call(enable ? "enable-driver-call" : "disable-driver-call", (int)cbid);
    if (cbid >= CALLS)
        return 1;
    fake.chosen[cbid] = enable;
    return 0;
}
#endif

int cuptiActivityRegisterCallbacks(request_buffer *request, complete_buffer *complete)
{
    note_call("register", 0);
    fake.request = request;
    fake.complete = complete;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    long refuse = setting("FAKE_CUPTI_REFUSE", 0);
    note_call("enable", kind);
    if (kind == ACTIVITY_KERNEL && refuse)
        return (int)refuse;
    if (kind == ACTIVITY_MANAGED && !fake.counts_managed)
        return 1; /* to be configured first */
    if (kind == ACTIVITY_GRAPH)
        fake.whole_graphs = true;
    if (kind >= 0 && kind < 128)
        fake.enabled[kind] = true;
    return 0;
}

int cuptiActivityEnableAndDump(int kind)
{
    if (setting("FAKE_CUPTI_NO_DUMP", 0))
        return 1;
    int result = cuptiActivityEnable(kind);
    if (kind == ACTIVITY_DEVICE && fake.device)
        fake_device();
    return result;
}

int cuptiActivityDisable(int kind)
{
    note_call("disable", kind);
    if (kind >= 0 && kind < 128)
        fake.enabled[kind] = false;
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    uint8_t *next = buffer;
    if (*record) {
        uint32_t kind;
        memcpy(&kind, *record, sizeof kind);
        next = *record + record_bytes(kind);
    }
    if (next >= buffer + valid)
        return 12;
    *record = next;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    pthread_mutex_lock(&fake.lock);
    *dropped = fake.dropped + (size_t)setting("FAKE_CUPTI_DROPPED", 0);
    fake.dropped = 0;
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&fake.lock);
    hand_over();
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

int cuptiSetThreadIdType(int type)
{
    (void)type;
    return 0;
}

int cuptiActivityConfigureUnifiedMemoryCounter(const uint32_t (*configs)[4], uint32_t count)
{
    bool sane = count > 0, on = false;
    for (uint32_t i = 0; i < count; i++) {
        sane &= configs[i][0] == 2 && configs[i][1] >= 1 && configs[i][1] <= 8 && configs[i][3] <= 1;
        on |= configs[i][3] == 1;
    }
    note_call(on ? "count-managed" : "count-no-managed", (int)count);
    fake.counts_managed = sane && on;
    return sane ? 0 : 1;
}
