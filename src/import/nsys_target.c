/* What the recording is and where it was made: clock, strings, GPUs, provenance. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/str.h"
#include "import/nsys.h"

/* ---- key and value tables ------------------------------------------------------------------------------ */

struct known_key {
    const char *name; /* as nsys spells it; early exporters wrote OUTUPT for OUTPUT */
    const char *fact;
};

static const struct known_key export_keys[] = {
    {"EXPORT_PRODUCT_VERSION", "nsys_version"},
    {"EXPORT_SCHEMA_VERSION", "nsys_schema_version"},
    {"EXPORT_INPUT_FILE", "exported_from"},
    {"EXPORT_PARAM_INPUT_FILE", "exported_from"},
    {"EXPORT_OUTPUT_FILE", "exported_as"},
    {"EXPORT_OUTUPT_FILE", "exported_as"},
    {"EXPORT_PARAM_OUTPUT_FILE", "exported_as"},
    {"EXPORT_PARAM_OUTUPT_FILE", "exported_as"},
    {"EXPORT_PARAM_TABLES_TO_EXPORT", "exported_tables_only"},
    {"EXPORT_PARAM_TIMES_TO_EXPORT", "exported_times_only"},
};

static const struct known_key capture_keys[] = {
    {"PROCESS_0:WORKING_DIR", "working_directory"},
    {"CUDA_GRAPH_TRACE_OPTIONS:MODE", "cuda_graph_trace"},
    {"PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "cuda_graph_trace"},
};

static const struct known_key system_keys[] = {
    {"NvDriverVersion", "driver_version"},
    {"CudaDriverVersion", "cuda_driver_version"},
    {"OsDescription", "os"},
    {"SoftwareReleaseVersion", "kernel_release"},
    {"CpuDescription", "cpu"},
    {"CpuCores", "cpu_cores"},
    {"CpuArchitecture", "cpu_architecture"},
    {"LinuxParanoidLevel", "perf_event_paranoid"},
};

static const char *fact_of(const struct known_key *keys, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].fact;
    return NULL;
}

/* The driver's version with its dots: some generations of nsys write 52510517 for 525.105.17 and 42600 for
 * 426.00. */
static void driver_version_fact(struct nsys *n, const char *value, size_t length)
{
    bool digits_only = length >= 5 && length <= 8;
    for (size_t i = 0; i < length; i++)
        digits_only = digits_only && isdigit((unsigned char)value[i]);
    if (!digits_only) {
        nsys_fact(n, "driver_version", value, length);
        return;
    }
    char dotted[16];
    int middle = (int)length - 5;
    snprintf(dotted, sizeof dotted, "%.3s%s%.*s.%.2s", value, middle ? "." : "", middle, value + 3,
             value + 3 + middle);
    nsys_fact(n, "driver_version", dotted, strlen(dotted));
}

/* Calls visit for each row of a table of (name, value) texts. */
static void each_pair(struct nsys *n, const char *table,
                      void (*visit)(struct nsys *n, const char *name, const char *value, size_t length))
{
    static const char *const columns[] = {"name", "value"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        size_t name_length, length;
        const char *name = nsys_scan_text(&scan, 0, &name_length);
        const char *value = nsys_scan_text(&scan, 1, &length);
        if (name && value && length > 0)
            visit(n, name, value, length);
    }
}

static void visit_export(struct nsys *n, const char *name, const char *value, size_t length)
{
    const char *fact = fact_of(export_keys, NSYS_COUNT(export_keys), name);
    if (fact)
        nsys_fact(n, fact, value, length);
    if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0) {
        struct str tool = {0};
        str_puts(&tool, "nsys ");
        str_add(&tool, value, length < 64 ? length : 64);
        n->run->sources.at[n->source].tool = intern_add(&n->run->strings, tool.ptr, tool.len);
        str_release(&tool);
    }
    /* nsys export --ts-normalize: the times are Unix time already. */
    if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0 && strcmp(value, "true") == 0)
        n->base_ns = 0;
    if (strcmp(name, "EXPORT_PARAM_TIME_SHIFT") == 0 && strcmp(value, "0") != 0)
        nsys_fact(n, "exported_time_shift_ns", value, length);
}

static void visit_system(struct nsys *n, const char *name, const char *value, size_t length)
{
    const char *fact = fact_of(system_keys, NSYS_COUNT(system_keys), name);
    if (fact && strcmp(fact, "driver_version") == 0)
        driver_version_fact(n, value, length);
    else if (fact)
        nsys_fact(n, fact, value, length);
}

static void visit_capture(struct nsys *n, const char *name, const char *value, size_t length)
{
    const char *fact = fact_of(capture_keys, NSYS_COUNT(capture_keys), name);
    if (fact)
        nsys_fact(n, fact, value, length);
}

/* ---- the command that was recorded --------------------------------------------------------------------- */

struct argument {
    long position; /* -1: the command itself */
    uint32_t text;
};

static int by_position(const void *a, const void *b)
{
    long left = ((const struct argument *)a)->position, right = ((const struct argument *)b)->position;
    return (left > right) - (left < right);
}

static bool is_plain_word(const char *text)
{
    return text[0] && !text[strcspn(text, " \t\r\n'\"\\$`&|;<>()*?[]{}#~!")];
}

/* Appends an argument as a shell would have to be given it. */
static void add_argument(struct str *line, const char *text)
{
    if (line->len)
        str_putc(line, ' ');
    if (is_plain_word(text)) {
        str_puts(line, text);
        return;
    }
    str_putc(line, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            str_puts(line, "'\\''");
        else
            str_putc(line, *text);
    }
    str_putc(line, '\'');
}

/* PROCESS_0:COMMAND and PROCESS_0:ARGUMENT_0 … stand in META_DATA_CAPTURE in any order. */
static void read_command(struct nsys *n)
{
    static const char *const columns[] = {"name", "value"};
    static const char command[] = "PROCESS_0:COMMAND", argument[] = "PROCESS_0:ARGUMENT_";
    enum { ARGUMENTS_MAX = 4096 };
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "META_DATA_CAPTURE", columns, NSYS_COUNT(columns)))
        return;
    VEC(struct argument) arguments = {0};
    while (nsys_scan_next(&scan)) {
        size_t length;
        const char *name = nsys_scan_text(&scan, 0, &length);
        long position = -1;
        if (!name || arguments.count >= ARGUMENTS_MAX)
            continue;
        if (strncmp(name, argument, sizeof argument - 1) == 0)
            position = strtol(name + sizeof argument - 1, NULL, 10);
        else if (strcmp(name, command) != 0)
            continue;
        vec_push(&arguments, ((struct argument){position, nsys_text(n, &scan, 1)}));
    }
    if (arguments.count) {
        qsort(arguments.at, arguments.count, sizeof *arguments.at, by_position);
        struct str line = {0};
        vec_each (&arguments, a)
            add_argument(&line, run_text(n->run, a->text));
        nsys_fact(n, "command_line", str_text(&line), line.len);
        str_release(&line);
    }
    vec_release(&arguments);
}

/* ---- clock and strings --------------------------------------------------------------------------------- */

static void read_clock(struct nsys *n)
{
    static const char *const session[] = {"utcEpochNs", "utcTime"};
    struct nsys_scan scan;
    if (nsys_scan_begin(&scan, &n->db, "TARGET_INFO_SESSION_START_TIME", session, NSYS_COUNT(session))) {
        if (nsys_scan_next(&scan)) {
            size_t length;
            int64_t epoch = nsys_scan_int_or(&scan, 0, 0);
            n->base_ns = epoch > 0 ? epoch : 0;
            const char *utc = nsys_scan_text(&scan, 1, &length);
            if (utc)
                nsys_fact(n, "session_start_utc", utc, length);
        }
        nsys_scan_end(&scan);
    }
    static const char *const details[] = {"duration"};
    if (nsys_scan_begin(&scan, &n->db, "ANALYSIS_DETAILS", details, NSYS_COUNT(details))) {
        if (nsys_scan_next(&scan))
            n->duration_ns = nsys_scan_int_or(&scan, 0, UNKNOWN);
        nsys_scan_end(&scan);
    }
}

static void read_strings(struct nsys *n)
{
    static const char *const columns[] = {"id", "value"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "StringIds", columns, NSYS_COUNT(columns))) {
        nsys_repair(n, N_("no table of strings: names are missing"), 1);
        return;
    }
    while (nsys_scan_next(&scan)) {
        int64_t id;
        if (nsys_scan_int(&scan, 0, &id) == CELL_INT)
            map_set(&n->strings, (uint64_t)id, nsys_text(n, &scan, 1));
        else
            n->run->losses.malformed++;
    }
}

/* ---- GPUs ---------------------------------------------------------------------------------------------- */

enum {
    GPU_ID,
    GPU_CU_DEVICE,
    GPU_NAME,
    GPU_UUID,
    GPU_CC_MAJOR,
    GPU_CC_MINOR,
    GPU_SMS,
    GPU_WARP,
    GPU_WARPS,
    GPU_BLOCKS,
    GPU_REGISTERS,
    GPU_SHARED,
    GPU_SHARED_OPTIN,
    GPU_MEMORY,
    GPU_BANDWIDTH,
    GPU_L2,
    GPU_CLOCK,
    GPU_COLUMNS,
    GPUS_MAX = 256,
};

/* The second names are those of TARGET_INFO_CUDA_GPU, before the middle of 2021. */
static const char *const gpu_columns[GPU_COLUMNS] = {
    [GPU_ID] = "id|deviceId",
    [GPU_CU_DEVICE] = "cuDevice|deviceId",
    [GPU_NAME] = "name",
    [GPU_UUID] = "uuid",
    [GPU_CC_MAJOR] = "computeMajor|computeCapabilityMajor|smMajor",
    [GPU_CC_MINOR] = "computeMinor|computeCapabilityMinor|smMinor",
    [GPU_SMS] = "smCount|numMultiprocessors",
    [GPU_WARP] = "threadsPerWarp|numThreadsPerWarp",
    [GPU_WARPS] = "maxWarpsPerSm|maxWarpsPerMultiprocessor",
    [GPU_BLOCKS] = "maxBlocksPerSm|maxBlocksPerMultiprocessor",
    [GPU_REGISTERS] = "maxRegistersPerSm|maxRegistersPerMultiprocessor",
    [GPU_SHARED] = "maxShmemPerSm|maxSharedMemoryPerMultiprocessor",
    [GPU_SHARED_OPTIN] = "maxShmemPerBlockOptin",
    [GPU_MEMORY] = "totalMemory|globalMemorySize",
    [GPU_BANDWIDTH] = "memoryBandwidth",
    [GPU_L2] = "l2CacheSize",
    [GPU_CLOCK] = "clockRate",
};

struct gpu_row {
    struct nsys_gpu gpu;
    struct device properties;
};

static int64_t positive(struct nsys_scan *scan, int column, int64_t limit)
{
    int64_t value = nsys_scan_int_or(scan, column, 0);
    return value > 0 && value <= limit ? value : 0;
}

/* nsys writes a bare UUID; the driver and nvidia-smi write GPU-UUID, and so do other sources. */
static uint32_t uuid_of(struct nsys *n, struct nsys_scan *scan, int column)
{
    size_t length;
    const char *text = nsys_scan_text(scan, column, &length);
    if (!text || length != 36 || text[8] != '-')
        return nsys_text(n, scan, column);
    char full[48];
    snprintf(full, sizeof full, "GPU-%s", text);
    return intern_puts(&n->run->strings, full);
}

static void read_properties(struct nsys *n, struct nsys_scan *scan, struct device *d)
{
    d->name = nsys_text(n, scan, GPU_NAME);
    d->uuid = uuid_of(n, scan, GPU_UUID);
    d->vendor = VENDOR_NVIDIA;
    d->cc_major = (int32_t)positive(scan, GPU_CC_MAJOR, 1000);
    d->cc_minor = (int32_t)positive(scan, GPU_CC_MINOR, 1000);
    d->sm_count = (int32_t)positive(scan, GPU_SMS, INT32_MAX);
    d->warp_size = (int32_t)positive(scan, GPU_WARP, 1024);
    d->max_warps_per_sm = (int32_t)positive(scan, GPU_WARPS, 1 << 16);
    d->max_threads_per_sm = d->max_warps_per_sm * d->warp_size;
    d->max_blocks_per_sm = (int32_t)positive(scan, GPU_BLOCKS, INT32_MAX);
    d->regs_per_sm = (int32_t)positive(scan, GPU_REGISTERS, INT32_MAX);
    d->shared_bytes_per_sm = positive(scan, GPU_SHARED, INT64_MAX);
    d->shared_bytes_per_block_optin = positive(scan, GPU_SHARED_OPTIN, INT64_MAX);
    d->memory_bytes = positive(scan, GPU_MEMORY, INT64_MAX);
    d->memory_bandwidth_bytes_per_s = positive(scan, GPU_BANDWIDTH, INT64_MAX);
    d->l2_bytes = positive(scan, GPU_L2, INT64_MAX);
    d->clock_hz = positive(scan, GPU_CLOCK, INT64_MAX);
}

/* Whether the CUDA ordinals can name the GPUs: known and all different. */
static bool ordinals_are_distinct(const struct gpu_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].gpu.cu_device < 0)
            return false;
        for (size_t j = 0; j < i; j++)
            if (rows[j].gpu.cu_device == rows[i].gpu.cu_device)
                return false;
    }
    return true;
}

static void add_gpu(struct nsys *n, const struct gpu_row *row, int64_t device_id)
{
    struct nsys_gpu gpu = row->gpu;
    gpu.device = run_device(n->run, n->source, device_id);
    struct device *device = &n->run->devices.at[gpu.device], kept = *device;
    *device = row->properties;
    device->source = kept.source;
    device->id = kept.id;
    vec_push(&n->gpus, gpu);
}

/* Windows also lists display adapters that cannot run CUDA; they are told apart by having no SMs. */
static void read_gpus(struct nsys *n, const char *table)
{
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, gpu_columns, GPU_COLUMNS))
        return;
    VEC(struct gpu_row) rows = {0};
    while (nsys_scan_next(&scan) && rows.count < GPUS_MAX) {
        struct gpu_row row = {0};
        bool tells_sms = nsys_scan_has(&scan, GPU_SMS) || nsys_scan_has(&scan, GPU_CC_MAJOR);
        if (nsys_scan_int(&scan, GPU_ID, &row.gpu.id) != CELL_INT)
            continue;
        row.gpu.cu_device = nsys_scan_int_or(&scan, GPU_CU_DEVICE, -1);
        read_properties(n, &scan, &row.properties);
        if (tells_sms && row.properties.sm_count == 0 && row.properties.cc_major == 0) {
            const char *name = run_text(n->run, row.properties.name);
            nsys_fact(n, "display_adapter_without_cuda", name, strlen(name));
            continue;
        }
        vec_push(&rows, row);
    }
    nsys_scan_end(&scan);
    bool by_ordinal = ordinals_are_distinct(rows.at, rows.count);
    vec_each (&rows, row)
        add_gpu(n, row, by_ordinal ? row->gpu.cu_device : row->gpu.id);
    vec_release(&rows);
}

static size_t find_gpu(const struct nsys *n, int64_t id, uint32_t uuid)
{
    for (size_t i = 0; i < n->gpus.count; i++)
        if (n->gpus.at[i].id == id)
            return i;
    for (size_t i = 0; uuid && i < n->gpus.count; i++)
        if (n->run->devices.at[n->gpus.at[i].device].uuid == uuid)
            return i;
    return n->gpus.count;
}

/* TARGET_INFO_CUDA_DEVICE says which GPU each process means by its CUDA ordinals: CUDA_VISIBLE_DEVICES makes
 * GPU 5 the device 0 of a process. */
static void read_cuda_devices(struct nsys *n)
{
    static const char *const columns[] = {"gpuId", "cudaId", "pid", "uuid", "numMultiprocessors"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "TARGET_INFO_CUDA_DEVICE", columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        int64_t cuda_id, pid;
        if (nsys_scan_int(&scan, 1, &cuda_id) != CELL_INT || nsys_scan_int(&scan, 2, &pid) != CELL_INT)
            continue;
        int64_t gpu_id = nsys_scan_int_or(&scan, 0, UNKNOWN);
        uint32_t uuid = uuid_of(n, &scan, 3);
        size_t at = find_gpu(n, gpu_id, uuid);
        if (at == n->gpus.count && n->gpus.count < GPUS_MAX) {
            struct gpu_row row = {.gpu = {.id = gpu_id, .cu_device = -1}};
            row.properties.vendor = VENDOR_NVIDIA;
            row.properties.uuid = uuid;
            row.properties.sm_count = (int32_t)positive(&scan, 4, INT32_MAX);
            add_gpu(n, &row, gpu_id == UNKNOWN ? cuda_id : gpu_id);
        }
        if (at < n->gpus.count)
            map_set(&n->cuda_gpus, hash_pair((uint64_t)pid, (uint64_t)cuda_id), (uint32_t)at);
    }
}

uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t cuda_id)
{
    if (process != NONE) {
        uint64_t key = hash_pair((uint64_t)n->run->processes.at[process].pid, (uint64_t)cuda_id);
        uint32_t at = map_get(&n->cuda_gpus, key);
        if (at != MAP_ABSENT)
            return n->gpus.at[at].device;
    }
    vec_each (&n->gpus, gpu) {
        if (gpu->cu_device == cuda_id)
            return gpu->device;
    }
    uint32_t device = run_device(n->run, n->source, cuda_id);
    n->run->devices.at[device].vendor = VENDOR_NVIDIA;
    return device;
}

uint32_t nsys_gpu_device(struct nsys *n, int64_t gpu_id)
{
    size_t at = find_gpu(n, gpu_id, 0);
    if (at < n->gpus.count)
        return n->gpus.at[at].device;
    uint32_t device = run_device(n->run, n->source, gpu_id);
    n->run->devices.at[device].vendor = VENDOR_NVIDIA;
    return device;
}

void nsys_read_target(struct nsys *n)
{
    read_clock(n);
    each_pair(n, "META_DATA_EXPORT", visit_export);
    each_pair(n, "EXPORT_META_DATA", visit_export);
    n->run->sources.at[n->source].base_ns = n->base_ns;
    each_pair(n, "TARGET_INFO_SYSTEM_ENV", visit_system);
    each_pair(n, "META_DATA_CAPTURE", visit_capture);
    read_command(n);
    read_strings(n);
    read_gpus(n, "TARGET_INFO_GPU");
    if (n->gpus.count == 0)
        read_gpus(n, "TARGET_INFO_CUDA_GPU");
    read_cuda_devices(n);
}
