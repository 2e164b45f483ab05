/* Curves: device memory in use, from the single allocations, and the sampled hardware metrics. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "import/nsys.h"

enum { SERIES_MAX = 1024 };

static void add_sample(struct nsys *n, int64_t time, double value, uint32_t series)
{
    struct sample_table *samples = &n->run->samples;
    size_t row = sample_table_add(samples);
    samples->time[row] = time;
    samples->value[row] = value;
    samples->series[row] = series;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

struct allocation {
    int64_t time;
    int64_t bytes; /* of the allocation; a free takes those of what it frees */
    uint64_t key;  /* hash of series and address */
    uint32_t series;
    bool is_free;
};

/* By ENUM_CUDA_MEM_KIND. Pageable memory is not CUDA's, pinned memory is the host's. */
static const char *const memory_curves[] = {
    NULL,
    "pinned memory allocated",
    "memory allocated",
    "memory allocated",
    "managed memory allocated",
    "memory allocated",
    "managed memory allocated",
};

enum { MEM_KIND_PINNED = 1 };

static int by_time(const void *a, const void *b)
{
    const struct allocation *left = a, *right = b;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    /* At one moment what is freed goes before what is allocated in its place. */
    return right->is_free - left->is_free;
}

/* Reads a row into a; false if it is none of the curves'. */
static bool read_allocation(struct nsys *n, struct nsys_scan *scan, struct allocation *a)
{
    enum { TIME, PID, DEVICE, ADDRESS, BYTES, KIND, OPERATION };
    int64_t kind = nsys_scan_int_or(scan, KIND, 2), operation, device;
    if (kind < 0 || kind >= NSYS_COUNT(memory_curves) || !memory_curves[kind])
        return false;
    if (nsys_scan_int(scan, OPERATION, &operation) != CELL_INT || operation < 0 || operation > 1 ||
        nsys_scan_int(scan, DEVICE, &device) != CELL_INT || n->run->series.count >= SERIES_MAX) {
        n->run->losses.malformed++;
        return false;
    }
    if (!nsys_time(n, scan, TIME, &a->time))
        return false;
    uint32_t process = nsys_row_process(n, scan, PID);
    uint32_t where = kind == MEM_KIND_PINNED ? NONE : nsys_device(n, process, device);
    a->series = run_series(n->run, memory_curves[kind], where, process, UNIT_BYTES);
    a->is_free = operation == 1;
    a->bytes = nsys_scan_int_or(scan, BYTES, 0);
    a->bytes = a->bytes > 0 ? a->bytes : 0;
    a->key = hash_pair(a->series, (uint64_t)nsys_scan_int_or(scan, ADDRESS, 0));
    return true;
}

/* Sums up in time order. live: address → index + 1 of its allocation, 0 once freed. */
static void sum_up(struct nsys *n, const struct allocation *all, size_t count)
{
    int64_t *in_use = mem_zalloc(n->run->series.count, sizeof *in_use);
    struct map live = {0};
    int64_t strangers = 0;
    for (size_t i = 0; i < count; i++) {
        const struct allocation *a = &all[i];
        int64_t change = a->bytes;
        if (a->is_free) {
            uint32_t of = map_get(&live, a->key);
            if (of == MAP_ABSENT || of == 0) { /* allocated before the recording began: not in the curve */
                strangers++;
                continue;
            }
            change = -all[of - 1].bytes;
        }
        map_set(&live, a->key, a->is_free ? 0 : (uint32_t)i + 1);
        if (__builtin_add_overflow(in_use[a->series], change, &in_use[a->series])) {
            n->run->losses.malformed++;
            in_use[a->series] = INT64_MAX;
        }
        add_sample(n, a->time, (double)in_use[a->series], a->series);
    }
    if (strangers)
        nsys_repair(n, N_("memory was freed whose allocation is not in the recording"), strangers);
    map_release(&live);
    free(in_use);
}

static void read_memory(struct nsys *n)
{
    static const char *const columns[] = {"start", "globalPid", "deviceId",           "address",
                                          "bytes", "memKind",   "memoryOperationType"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "CUDA_GPU_MEMORY_USAGE_EVENTS", columns, NSYS_COUNT(columns)))
        return;
    VEC(struct allocation) all = {0};
    while (nsys_scan_next(&scan)) {
        struct allocation a;
        if (read_allocation(n, &scan, &a) && all.count < UINT32_MAX - 1)
            vec_push(&all, a);
    }
    if (all.count) {
        qsort(all.at, all.count, sizeof *all.at, by_time);
        sum_up(n, all.at, all.count);
    }
    vec_release(&all);
}

/* ---- sampled metrics ----------------------------------------------------------------------------------- */

struct metric {
    uint32_t series; /* NONE until the first sample */
    uint32_t name;
    double factor;
    enum counter_unit unit;
};

struct metrics {
    struct map index; /* hash of (typeId, metricId) → row */
    VEC(struct metric) all;
};

/* "SM Active [Throughput %]" and the like: the unit leaves the name. */
static const struct {
    const char *suffix;
    enum counter_unit unit;
    double factor;
} metric_units[] = {
    {" [Throughput %]", UNIT_RATIO, 0.01}, {" [%]", UNIT_RATIO, 0.01},  {" [MHz]", UNIT_HZ, 1e6},
    {" [Bytes]", UNIT_BYTES, 1},           {" [Watts]", UNIT_WATTS, 1},
};

static struct metric metric_named(struct nsys *n, uint32_t name)
{
    const char *text = run_text(n->run, name);
    size_t length = intern_length(&n->run->strings, name);
    for (size_t i = 0; i < sizeof metric_units / sizeof *metric_units; i++) {
        size_t suffix = strlen(metric_units[i].suffix);
        if (length > suffix && strcmp(text + length - suffix, metric_units[i].suffix) == 0)
            return (struct metric){NONE, intern_add(&n->run->strings, text, length - suffix),
                                   metric_units[i].factor, metric_units[i].unit};
    }
    return (struct metric){NONE, name, 1, UNIT_NONE};
}

static void read_metric_names(struct nsys *n, struct metrics *metrics)
{
    static const char *const columns[] = {"typeId", "metricId", "metricName"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "TARGET_INFO_GPU_METRICS", columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan) && metrics->all.count < SERIES_MAX) {
        int64_t type, id;
        if (nsys_scan_int(&scan, 0, &type) != CELL_INT || nsys_scan_int(&scan, 1, &id) != CELL_INT)
            continue;
        map_set(&metrics->index, hash_pair((uint64_t)type, (uint64_t)id), (uint32_t)metrics->all.count);
        vec_push(&metrics->all, metric_named(n, nsys_name(n, &scan, 2)));
    }
    nsys_scan_end(&scan);
}

static void read_metrics(struct nsys *n)
{
    static const char *const columns[] = {"timestamp", "typeId", "metricId", "value"};
    struct metrics metrics = {0};
    read_metric_names(n, &metrics);
    struct nsys_scan scan;
    if (nsys_scan_begin(&scan, &n->db, "GPU_METRICS", columns, NSYS_COUNT(columns))) {
        while (nsys_scan_next(&scan)) {
            int64_t time, type = 0, id = 0;
            double value = 0;
            bool whole = nsys_scan_int(&scan, 1, &type) == CELL_INT &&
                         nsys_scan_int(&scan, 2, &id) == CELL_INT && nsys_scan_number(&scan, 3, &value);
            uint32_t at = map_get(&metrics.index, hash_pair((uint64_t)type, (uint64_t)id));
            if (!whole || at == MAP_ABSENT) {
                n->run->losses.malformed++;
                nsys_repair(n, N_("GPU metrics without a name or a value were left out"), 1);
                continue;
            }
            if (!nsys_time(n, &scan, 0, &time))
                continue;
            struct metric *m = &metrics.all.at[at];
            if (m->series == NONE) /* the low byte of a type is the GPU it was sampled on */
                m->series = run_series(n->run, run_text(n->run, m->name), nsys_gpu_device(n, type & 0xff),
                                       NONE, m->unit);
            add_sample(n, time, value * m->factor, m->series);
        }
    }
    map_release(&metrics.index);
    vec_release(&metrics.all);
}

void nsys_read_counters(struct nsys *n)
{
    read_memory(n);
    read_metrics(n);
}
