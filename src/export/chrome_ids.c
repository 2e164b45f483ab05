#include "export/chrome_ids.h"

#include <stdlib.h>

#include "base/mem.h"

/* Where invented numbers start: above what systems and streams give, within the 32 bits that some viewers
 * keep. */
enum { INVENTED_ID = 0x70000000 };

/* Exact in a double, as which most readers of JSON hold numbers. */
static bool usable(int64_t id)
{
    return id >= 0 && id < INT64_C(1) << 53;
}

static uint64_t row_key(int64_t pid, int64_t tid)
{
    return hash_pair((uint64_t)pid, (uint64_t)tid);
}

/* Device numbers of several files may collide; then each device is its row. */
static void number_devices(struct chrome_ids *ids)
{
    const struct run *run = ids->run;
    struct map seen = {0};
    bool unique = true;
    vec_each (&run->devices, device) {
        unique &= usable(device->id) && map_get(&seen, (uint64_t)device->id) == MAP_ABSENT;
        map_set(&seen, (uint64_t)device->id, 0);
    }
    for (size_t d = 0; d < run->devices.count; d++)
        ids->devices[d] = unique ? run->devices.at[d].id : (int64_t)d;
    map_release(&seen);
}

static bool claim(struct map *taken, int64_t pid)
{
    if (!usable(pid) || map_get(taken, (uint64_t)pid) != MAP_ABSENT)
        return false;
    map_set(taken, (uint64_t)pid, 0);
    return true;
}

static int64_t invent(struct map *taken, int64_t *next)
{
    while (!claim(taken, *next))
        ++*next;
    return (*next)++;
}

/* Processes keep their numbers before devices do: a container's first process may be 0. */
static void number_pids(struct chrome_ids *ids)
{
    enum { UNCLAIMED = -1 };
    const struct run *run = ids->run;
    struct map taken = {0};
    int64_t next = INVENTED_ID;
    for (size_t p = 0; p < run->processes.count; p++)
        ids->pids[p] = claim(&taken, run->processes.at[p].pid) ? run->processes.at[p].pid : UNCLAIMED;
    for (size_t d = 0; d < run->devices.count; d++)
        ids->device_pids[d] = claim(&taken, ids->devices[d]) ? ids->devices[d] : UNCLAIMED;
    for (size_t p = 0; p < run->processes.count; p++)
        if (ids->pids[p] == UNCLAIMED)
            ids->pids[p] = invent(&taken, &next);
    for (size_t d = 0; d < run->devices.count; d++)
        if (ids->device_pids[d] == UNCLAIMED)
            ids->device_pids[d] = invent(&taken, &next);
    map_release(&taken);
}

/* First the rows whose true number is free, so that no invented one takes it. */
static void number_rows(struct chrome_ids *ids)
{
    const struct run *run = ids->run;
    for (int invented = 0; invented < 2; invented++) {
        for (size_t t = 0; t < run->threads.count; t++)
            if (usable(run->threads.at[t].tid) != invented)
                ids->threads[t].tid = chrome_ids_tid(ids, ids->threads[t].pid, run->threads.at[t].tid);
        for (size_t s = 0; s < run->streams.count; s++)
            if (usable(run->streams.at[s].id) != invented)
                ids->streams[s].tid = chrome_ids_tid(ids, ids->streams[s].pid, run->streams.at[s].id);
    }
}

void chrome_ids_init(struct chrome_ids *ids, const struct run *run)
{
    *ids = (struct chrome_ids){.run = run, .next_tid = INVENTED_ID};
    ids->devices = mem_zalloc(run->devices.count, sizeof *ids->devices);
    ids->device_pids = mem_zalloc(run->devices.count, sizeof *ids->device_pids);
    ids->pids = mem_zalloc(run->processes.count, sizeof *ids->pids);
    ids->first_threads = mem_zalloc(run->processes.count, sizeof *ids->first_threads);
    ids->streams = mem_zalloc(run->streams.count, sizeof *ids->streams);
    ids->threads = mem_zalloc(run->threads.count, sizeof *ids->threads);
    number_devices(ids);
    number_pids(ids);
    for (size_t p = 0; p < run->processes.count; p++)
        ids->first_threads[p] = NONE;
    for (size_t t = run->threads.count; t-- > 0;) {
        ids->first_threads[run->threads.at[t].process] = (uint32_t)t;
        ids->threads[t].pid = ids->pids[run->threads.at[t].process];
    }
    for (size_t s = 0; s < run->streams.count; s++)
        ids->streams[s].pid = ids->device_pids[run->streams.at[s].device];
    number_rows(ids);
}

static void release_rows(struct chrome_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vec_release(&rows[i].lane_tids);
        lanes_release(&rows[i].lanes);
    }
    free(rows);
}

void chrome_ids_release(struct chrome_ids *ids)
{
    release_rows(ids->streams, ids->run->streams.count);
    release_rows(ids->threads, ids->run->threads.count);
    free(ids->devices);
    free(ids->device_pids);
    free(ids->pids);
    free(ids->first_threads);
    map_release(&ids->rows);
}

int64_t chrome_ids_tid(struct chrome_ids *ids, int64_t pid, int64_t wanted)
{
    int64_t tid = wanted;
    while (!usable(tid) || map_get(&ids->rows, row_key(pid, tid)) != MAP_ABSENT)
        tid = ids->next_tid++;
    map_set(&ids->rows, row_key(pid, tid), 0);
    return tid;
}

int64_t chrome_row_tid(struct chrome_ids *ids, struct chrome_row *row, uint32_t lane, bool *is_new)
{
    *is_new = false;
    if (lane == 0)
        return row->tid;
    while (row->lane_tids.count < lane) {
        vec_push(&row->lane_tids, chrome_ids_tid(ids, row->pid, -1));
        *is_new = true;
    }
    return row->lane_tids.at[lane - 1];
}
