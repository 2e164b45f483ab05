/* Synchronisation: who waited for what. An event that was waited for leads to the stream that recorded it. */
#include <stdlib.h>

#include "import/nsys.h"

struct recorded_event {
    uint64_t key; /* hash of process, context and event id */
    uint64_t correlation;
    uint32_t stream;
};

struct events {
    VEC(struct recorded_event) all; /* sorted by key, then correlation */
    struct map by_sync_id;          /* hash of (process, eventSyncId) → stream */
};

enum { DEVICE, CONTEXT, STREAM, PID, CORRELATION, EVENT, SYNC_ID, START, END, COLUMNS };

static const char *const columns[COLUMNS] = {NSYS_STREAM_COLUMNS, "correlationId", "eventId",
                                             "eventSyncId",       "start",         "end"};

static uint64_t event_key(struct nsys_scan *scan, int64_t event)
{
    uint64_t place = hash_pair((uint64_t)nsys_pid(nsys_scan_int_or(scan, PID, 0)),
                               (uint64_t)nsys_scan_int_or(scan, CONTEXT, 0));
    return hash_pair(place, (uint64_t)event);
}

static uint64_t sync_key(struct nsys_scan *scan, int64_t sync_id)
{
    return hash_pair((uint64_t)nsys_pid(nsys_scan_int_or(scan, PID, 0)), (uint64_t)sync_id);
}

/* An id cell: -1 where there is none. */
static int64_t id_of(struct nsys_scan *scan, int column)
{
    int64_t id = nsys_scan_int_or(scan, column, -1);
    return id >= 0 && id != NSYS_NONE ? id : -1;
}

static int by_key_and_correlation(const void *a, const void *b)
{
    const struct recorded_event *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static void read_events(struct nsys *n, struct events *events)
{
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", columns, COLUMNS))
        return;
    while (nsys_scan_next(&scan)) {
        int64_t event = id_of(&scan, EVENT), sync_id = id_of(&scan, SYNC_ID);
        uint32_t stream = nsys_row_stream(n, &scan, DEVICE);
        if (stream == NONE)
            continue;
        if (sync_id >= 0)
            map_set(&events->by_sync_id, sync_key(&scan, sync_id), stream);
        if (event >= 0)
            vec_push(&events->all,
                     ((struct recorded_event){event_key(&scan, event),
                                              (uint64_t)nsys_scan_int_or(&scan, CORRELATION, 0), stream}));
    }
    if (events->all.count)
        qsort(events->all.at, events->all.count, sizeof *events->all.at, by_key_and_correlation);
}

/* The stream on which the awaited event was recorded. Event handles are used again, so without a sync id it
 * is the last record before the wait: correlation ids rise with time. */
static uint32_t recording_stream(const struct events *events, struct nsys_scan *scan, int64_t event)
{
    int64_t sync_id = id_of(scan, SYNC_ID);
    if (sync_id >= 0) {
        uint32_t stream = map_get(&events->by_sync_id, sync_key(scan, sync_id));
        if (stream != MAP_ABSENT)
            return stream;
    }
    struct recorded_event wanted = {event_key(scan, event), (uint64_t)nsys_scan_int_or(scan, CORRELATION, 0),
                                    NONE};
    size_t low = 0, high = events->all.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_key_and_correlation(&events->all.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && events->all.at[low - 1].key == wanted.key ? events->all.at[low - 1].stream : NONE;
}

/* The numbers in syncType meant different things over the years (and some exporters' label table belies
 * them); which of stream and event a row names tells what it is in every generation. The names are Kineto's.
 */
static const char *const wait_kinds[2][2] = {
    {"Context Sync", "Event Sync"},
    {"Stream Sync", "Stream Wait Event"},
};

void nsys_read_waits(struct nsys *n)
{
    struct events events = {0};
    read_events(n, &events);
    struct nsys_scan scan;
    if (nsys_scan_begin(&scan, &n->db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns, COLUMNS)) {
        while (nsys_scan_next(&scan)) {
            struct interval when;
            if (!nsys_interval(n, &scan, START, END, &when))
                continue;
            bool on_stream = id_of(&scan, STREAM) >= 0;
            int64_t event = id_of(&scan, EVENT);
            struct wait wait = {.start = when.start, .end = when.end, .stream = NONE, .on_stream = NONE};
            wait.kind = intern_puts(&n->run->strings, wait_kinds[on_stream][event >= 0]);
            if (on_stream)
                wait.stream = nsys_row_stream(n, &scan, DEVICE);
            if (event >= 0)
                wait.on_stream = recording_stream(&events, &scan, event);
            vec_push(&n->run->waits, wait);
        }
    }
    vec_release(&events.all);
    map_release(&events.by_sync_id);
}
