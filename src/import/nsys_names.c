/* Names for what the other parts added: processes, threads, streams and ranks. nsys lists every process of
 * the machine, so these tables name rows of the run and add none. */
#include <string.h>

#include "base/i18n.h"
#include "import/nsys.h"

struct label {
    int64_t priority;
    uint32_t name;
};

struct labels {
    struct map index;
    VEC(struct label) all;
};

/* Sets the name of key unless it has one of higher priority. */
static void label_set(struct labels *labels, uint64_t key, uint32_t name, int64_t priority)
{
    uint32_t at = map_get(&labels->index, key);
    if (at == MAP_ABSENT) {
        map_set(&labels->index, key, (uint32_t)labels->all.count);
        vec_push(&labels->all, ((struct label){priority, name}));
    } else if (priority > labels->all.at[at].priority) {
        labels->all.at[at] = (struct label){priority, name};
    }
}

static uint32_t label_get(const struct labels *labels, uint64_t key)
{
    uint32_t at = map_get(&labels->index, key);
    return at == MAP_ABSENT ? 0 : labels->all.at[at].name;
}

static void labels_release(struct labels *labels)
{
    map_release(&labels->index);
    vec_release(&labels->all);
    *labels = (struct labels){0};
}

static bool is_ours(const struct nsys *n, uint32_t process)
{
    return process != NONE && n->run->processes.at[process].source == n->source;
}

static void name_processes(struct nsys *n)
{
    static const char *const columns[] = {"globalPid", "pid", "name|nameId"};
    struct labels labels = {0};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "PROCESSES", columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        int64_t global, pid;
        if (nsys_scan_int(&scan, 0, &global) == CELL_INT)
            pid = nsys_pid(global);
        else if (nsys_scan_int(&scan, 1, &pid) != CELL_INT)
            continue;
        label_set(&labels, (uint64_t)pid, nsys_name(n, &scan, 2), 0);
    }
    vec_each (&n->run->processes, process) {
        if (process->source == n->source && process->name == 0)
            process->name = label_get(&labels, (uint64_t)process->pid);
    }
    labels_release(&labels);
}

static void name_threads(struct nsys *n)
{
    static const char *const columns[] = {"globalTid", "nameId", "priority"};
    struct labels labels = {0};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "ThreadNames", columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        int64_t global;
        if (nsys_scan_int(&scan, 0, &global) == CELL_INT)
            label_set(&labels, nsys_thread_key(global), nsys_name(n, &scan, 1),
                      nsys_scan_int_or(&scan, 2, 0));
    }
    vec_each (&n->run->threads, thread) {
        if (!is_ours(n, thread->process) || thread->name != 0)
            continue;
        uint64_t pid = (uint64_t)n->run->processes.at[thread->process].pid;
        thread->name = label_get(&labels, pid << 24 | (uint64_t)thread->tid);
    }
    labels_release(&labels);
}

/* A stream of a process: context and id tell it apart there. */
static uint64_t stream_key(int64_t pid, int64_t context, int64_t id)
{
    return hash_pair((uint64_t)pid, hash_pair((uint64_t)context, (uint64_t)id));
}

static void read_stream_labels(struct nsys *n, struct labels *labels, const char *table, uint32_t fixed_name,
                               int64_t priority)
{
    static const char *const columns[] = {"processId", "contextId", "nullStreamId|streamId", "name", "flag"};
    enum { FLAG = 4, FLAG_NULL_STREAM = 3 }; /* ENUM_CUPTI_STREAM_TYPE */
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, columns, NSYS_COUNT(columns)))
        return;
    while (nsys_scan_next(&scan)) {
        int64_t pid, context, id;
        if (nsys_scan_int(&scan, 0, &pid) != CELL_INT || nsys_scan_int(&scan, 1, &context) != CELL_INT ||
            nsys_scan_int(&scan, 2, &id) != CELL_INT ||
            nsys_scan_int_or(&scan, FLAG, FLAG_NULL_STREAM) != FLAG_NULL_STREAM)
            continue;
        label_set(labels, stream_key(pid, context, id), fixed_name ? fixed_name : nsys_name(n, &scan, 3),
                  priority);
    }
}

static void name_streams(struct nsys *n)
{
    struct labels labels = {0};
    uint32_t null_stream = intern_puts(&n->run->strings, "default stream");
    read_stream_labels(n, &labels, "TARGET_INFO_CUDA_CONTEXT_INFO", null_stream, 0);
    read_stream_labels(n, &labels, "TARGET_INFO_CUDA_NULL_STREAM", null_stream, 0);
    read_stream_labels(n, &labels, "TARGET_INFO_CUDA_STREAM", null_stream, 0);
    read_stream_labels(n, &labels, "TARGET_INFO_NVTX_CUDA_STREAM", 0, 1);
    vec_each (&n->run->streams, stream) {
        if (is_ours(n, stream->process) && stream->name == 0)
            stream->name = label_get(
                &labels, stream_key(n->run->processes.at[stream->process].pid, stream->context, stream->id));
    }
    labels_release(&labels);
}

/* MPI ranks. A file of one rank gives its source that rank. */
static void read_ranks(struct nsys *n)
{
    static const char *const rank_columns[] = {"globalTid|globalPid", "rank"};
    static const char *const size_columns[] = {"size"};
    struct nsys_scan scan;
    int64_t world_size = 0;
    if (nsys_scan_begin(&scan, &n->db, "MPI_COMMUNICATORS", size_columns, NSYS_COUNT(size_columns)))
        while (nsys_scan_next(&scan))
            world_size = max_ns(world_size, nsys_scan_int_or(&scan, 0, 0));
    if (!nsys_scan_begin(&scan, &n->db, "MPI_RANKS", rank_columns, NSYS_COUNT(rank_columns)))
        return;
    world_size = world_size <= INT32_MAX ? world_size : 0;
    int32_t only = -1;
    bool several = false;
    while (nsys_scan_next(&scan)) {
        int64_t global, rank;
        if (nsys_scan_int(&scan, 0, &global) != CELL_INT || nsys_scan_int(&scan, 1, &rank) != CELL_INT ||
            rank < 0 || rank > INT32_MAX)
            continue;
        struct process *process = &n->run->processes.at[run_process(n->run, n->source, nsys_pid(global))];
        process->rank = (int32_t)rank;
        process->world_size = (int32_t)world_size;
        several |= only >= 0 && only != (int32_t)rank;
        only = (int32_t)rank;
    }
    if (only >= 0 && !several) {
        n->run->sources.at[n->source].rank = only;
        n->run->sources.at[n->source].world_size = (int32_t)world_size;
    }
}

/* Without TARGET_INFO_CUDA_DEVICE nobody says which GPU a process that hides others means by "device 0". */
static void note_guessed_devices(struct nsys *n)
{
    if (n->cuda_gpus.count > 0 || n->gpus.count < 2)
        return;
    struct map processes = {0};
    vec_each (&n->run->streams, stream) {
        if (is_ours(n, stream->process))
            map_set(&processes, stream->process, 0);
    }
    if (processes.count > 1)
        nsys_repair(n, N_("processes number their GPUs themselves: equal numbers were taken for one GPU"),
                    (int64_t)processes.count);
    map_release(&processes);
}

void nsys_read_names(struct nsys *n)
{
    read_ranks(n);
    name_processes(n);
    name_threads(n);
    name_streams(n);
    note_guessed_devices(n);
}
