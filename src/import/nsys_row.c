#include "import/nsys.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"

/* ---- times --------------------------------------------------------------------------------------------- */

/* The file's time on the run's clock. UNKNOWN is not a time, so it counts as an overflow too. */
static bool shift(const struct nsys *n, int64_t time, int64_t *out)
{
    return !__builtin_add_overflow(time, n->base_ns, out) && *out != UNKNOWN;
}

bool nsys_interval(struct nsys *n, struct nsys_scan *scan, int start, int end, struct interval *out)
{
    int64_t from = 0, to = 0;
    enum nsys_cell a = nsys_scan_int(scan, start, &from), b = nsys_scan_int(scan, end, &to);
    if (a == CELL_BAD || b == CELL_BAD) {
        n->run->losses.malformed++;
        return false;
    }
    /* Both zero is how CUPTI says that it could not take the time; one zero is the start of the session. */
    if (a == CELL_NULL || b == CELL_NULL || (from == 0 && to == 0) || to < from ||
        !shift(n, from, &out->start) || !shift(n, to, &out->end)) {
        n->run->losses.untimed++;
        return false;
    }
    nsys_see_end(n, out->end);
    return true;
}

bool nsys_time(struct nsys *n, struct nsys_scan *scan, int column, int64_t *out)
{
    int64_t time = 0;
    enum nsys_cell cell = nsys_scan_int(scan, column, &time);
    if (cell == CELL_INT && shift(n, time, out))
        return true;
    if (cell == CELL_BAD)
        n->run->losses.malformed++;
    else
        n->run->losses.untimed++;
    return false;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

uint32_t nsys_text(struct nsys *n, struct nsys_scan *scan, int column)
{
    size_t length;
    const char *text = nsys_scan_text(scan, column, &length);
    if (!text)
        return 0;
    if (length > n->max_string) {
        length = n->max_string;
        nsys_repair(n, N_("texts longer than the limit were cut"), 1);
    }
    return intern_add(&n->run->strings, text, length);
}

/* Looks up a reference. Every missing id keeps a name of its own, so that kernels stay apart. */
static uint32_t string_of(struct nsys *n, int64_t id)
{
    uint32_t text = map_get(&n->strings, (uint64_t)id);
    if (text != MAP_ABSENT)
        return text;
    char name[48];
    snprintf(name, sizeof name, "StringIds[%lld]", (long long)id);
    text = intern_puts(&n->run->strings, name);
    map_set(&n->strings, (uint64_t)id, text);
    nsys_repair(n, N_("names refer to strings that the file does not hold"), 1);
    return text;
}

uint32_t nsys_name(struct nsys *n, struct nsys_scan *scan, int column)
{
    int64_t id;
    if (nsys_scan_int(scan, column, &id) == CELL_INT)
        return string_of(n, id);
    return nsys_text(n, scan, column);
}

/* Length of the name without "_v" and four or more digits. cuMemAlloc_v2 is the call's real name and stays.
 */
static size_t unversioned_length(const char *name, size_t length)
{
    size_t digits = 0;
    while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
        digits++;
    bool versioned = digits >= 4 && digits + 2 < length && memcmp(name + length - digits - 2, "_v", 2) == 0;
    return versioned ? length - digits - 2 : length;
}

uint32_t nsys_api_name(struct nsys *n, struct nsys_scan *scan, int column)
{
    int64_t id;
    bool by_id = nsys_scan_int(scan, column, &id) == CELL_INT;
    if (by_id) {
        uint32_t known = map_get(&n->api_names, (uint64_t)id);
        if (known != MAP_ABSENT)
            return known;
    }
    uint32_t full = nsys_name(n, scan, column);
    size_t length = intern_length(&n->run->strings, full);
    size_t kept = unversioned_length(run_text(n->run, full), length);
    uint32_t name = kept < length ? intern_add(&n->run->strings, run_text(n->run, full), kept) : full;
    if (by_id)
        map_set(&n->api_names, (uint64_t)id, name);
    return name;
}

/* ---- threads, processes, streams ----------------------------------------------------------------------- */

uint32_t nsys_thread(struct nsys *n, int64_t global_tid)
{
    uint64_t key = nsys_thread_key(global_tid);
    struct nsys_thread_slot *slot = &n->threads[hash_u64(key) % NSYS_CACHE];
    if (!slot->used || slot->key != key) {
        uint32_t process = run_process(n->run, n->source, nsys_pid(global_tid));
        *slot = (struct nsys_thread_slot){key, run_thread(n->run, process, nsys_tid(global_tid)), true};
    }
    return slot->thread;
}

uint32_t nsys_row_thread(struct nsys *n, struct nsys_scan *scan, int column)
{
    int64_t global;
    if (nsys_scan_int(scan, column, &global) == CELL_INT)
        return nsys_thread(n, global);
    n->run->losses.malformed++;
    nsys_repair(n, N_("host records without a thread were left out"), 1);
    return NONE;
}

/* The process of this source if there is exactly one. */
static uint32_t only_process(const struct nsys *n)
{
    uint32_t only = NONE;
    for (size_t i = 0; i < n->run->processes.count; i++) {
        if (n->run->processes.at[i].source != n->source)
            continue;
        if (only != NONE)
            return NONE;
        only = (uint32_t)i;
    }
    return only;
}

static uint32_t process_of(struct nsys *n, int64_t global_pid)
{
    return global_pid == UNKNOWN ? only_process(n) : run_process(n->run, n->source, nsys_pid(global_pid));
}

uint32_t nsys_row_process(struct nsys *n, struct nsys_scan *scan, int column)
{
    return process_of(n, nsys_scan_int_or(scan, column, UNKNOWN));
}

/* A graph that begins with a host node is on "device" INT_MAX. Its stream is real: the process's stream of
 * that number, or at least the device that the process uses. */
static uint32_t stream_of_host_start(struct nsys *n, uint32_t process, int64_t stream)
{
    enum { SEARCHED_MAX = 4096 };
    uint32_t device = NONE;
    for (uint32_t i = 0; process != NONE && i < n->run->streams.count && i < SEARCHED_MAX; i++) {
        const struct stream *known = &n->run->streams.at[i];
        if (known->process != process)
            continue;
        if (known->id == stream)
            return i;
        device = device == NONE ? known->device : device;
    }
    return run_stream(n->run, process, device == NONE ? nsys_device(n, process, 0) : device, UNKNOWN, stream);
}

uint32_t nsys_row_stream(struct nsys *n, struct nsys_scan *scan, int first)
{
    int64_t device;
    if (nsys_scan_int(scan, first, &device) != CELL_INT) {
        n->run->losses.malformed++;
        nsys_repair(n, N_("GPU records without a device were left out"), 1);
        return NONE;
    }
    int64_t context = nsys_scan_int_or(scan, first + 1, UNKNOWN);
    int64_t stream = nsys_scan_int_or(scan, first + 2, NSYS_NONE);
    int64_t pid = nsys_scan_int_or(scan, first + 3, UNKNOWN);
    stream = stream == NSYS_NONE ? -1 : stream;
    uint64_t hash =
        hash_u64((uint64_t)stream ^ (uint64_t)context << 16 ^ (uint64_t)device << 32 ^ (uint64_t)pid);
    struct nsys_stream_slot *slot = &n->streams[hash % NSYS_CACHE];
    if (!slot->used || slot->global_pid != pid || slot->device != device || slot->context != context ||
        slot->stream != stream) {
        uint32_t process = process_of(n, pid);
        uint32_t row = device == INT32_MAX
                           ? stream_of_host_start(n, process, stream)
                           : run_stream(n->run, process, nsys_device(n, process, device), context, stream);
        *slot = (struct nsys_stream_slot){pid, device, context, stream, row, true};
    }
    return slot->row;
}

/* ---- rows of the run ----------------------------------------------------------------------------------- */

size_t nsys_add_span(struct nsys *n, enum span_kind kind, struct interval when, uint32_t thread,
                     uint32_t name, uint32_t detail)
{
    struct span_table *spans = &n->run->spans;
    size_t row = span_table_add(spans);
    spans->comm[row] = NONE;
    spans->start[row] = when.start;
    spans->end[row] = when.end;
    spans->kind[row] = (uint8_t)kind;
    spans->thread[row] = thread;
    spans->name[row] = name;
    spans->detail[row] = detail;
    spans->parent[row] = NONE;
    return row;
}

void nsys_fact(struct nsys *n, const char *key, const char *value, size_t length)
{
    if (length > 0)
        run_fact(n->run, n->source, key, value, length < n->max_string ? length : n->max_string);
}

void nsys_repair(struct nsys *n, const char *text, int64_t count)
{
    run_repair(n->run, n->source, text, count, -1);
}
