#include "model/history.h"

#include <stdlib.h>
#include <string.h>

struct history_track {
    char key[GPU_UUID_BYTES];
    size_t last; /* h->points when the device was seen */
    int32_t values[HISTORY_METRICS][HISTORY_POINTS];
};

static int32_t scaled(struct reading r, int64_t numerator, int64_t denominator)
{
    if (!reading_is_known(r) || denominator <= 0)
        return HISTORY_GAP;
    __int128 value = (__int128)r.value * numerator / denominator;
    return value < 0 || value > INT32_MAX ? HISTORY_GAP : (int32_t)value;
}

static void read_values(const struct machine_device *d, int32_t values[HISTORY_METRICS])
{
    const int64_t thousand = 1000, million = 1000000;
    int64_t memory = reading_is_known(d->facts.memory) ? d->facts.memory.value : 0;
    values[HISTORY_SM] = scaled(d->detail.sm_active, 1, 1);
    values[HISTORY_USE] = scaled(d->sample.utilization, 10, 1);
    values[HISTORY_MEMORY] = scaled(d->sample.memory_used, thousand, memory);
    values[HISTORY_POWER] = scaled(d->sample.power, 1, thousand);
    values[HISTORY_TEMPERATURE] = scaled(d->sample.temperature, 1, 1);
    values[HISTORY_CLOCK] = scaled(d->sample.sm_clock, 1, million);
    values[HISTORY_PCIE_RECEIVE] = scaled(d->detail.pcie_receive, 1, million);
    values[HISTORY_PCIE_SEND] = scaled(d->detail.pcie_send, 1, million);
    values[HISTORY_NVLINK_RECEIVE] = scaled(d->detail.nvlink_receive, 1, million);
    values[HISTORY_NVLINK_SEND] = scaled(d->detail.nvlink_send, 1, million);
}

static struct history_track *find(const struct history *h, const char *key)
{
    vec_each (&h->tracks, track)
        if (strcmp((*track)->key, key) == 0)
            return *track;
    return NULL;
}

/* The track that was not seen for longest makes room. */
static struct history_track *add(struct history *h, const char *key)
{
    struct history_track *track = NULL;
    if (h->tracks.count < HISTORY_DEVICES) {
        track = mem_alloc(sizeof *track);
        vec_push(&h->tracks, track);
    } else {
        track = h->tracks.at[0];
        vec_each (&h->tracks, other)
            if ((*other)->last < track->last)
                track = *other;
    }
    memcpy(track->key, key, sizeof track->key);
    for (int metric = 0; metric < HISTORY_METRICS; metric++)
        for (int i = 0; i < HISTORY_POINTS; i++)
            track->values[metric][i] = HISTORY_GAP;
    return track;
}

void history_push(struct history *h, const struct machine_sample *sample)
{
    size_t at = h->points++ % HISTORY_POINTS;
    vec_each (&h->tracks, track)
        for (int metric = 0; metric < HISTORY_METRICS; metric++)
            (*track)->values[metric][at] = HISTORY_GAP;
    vec_each (&sample->devices, device) {
        int32_t values[HISTORY_METRICS];
        struct history_track *track = find(h, device->key);
        track = track ? track : add(h, device->key);
        track->last = h->points;
        read_values(device, values);
        for (int metric = 0; metric < HISTORY_METRICS; metric++)
            track->values[metric][at] = values[metric];
    }
}

void history_take(const struct history *h, const char *key, enum history_metric metric, int32_t *values,
                  int count)
{
    const struct history_track *track = find(h, key);
    size_t there = h->points < HISTORY_POINTS ? h->points : HISTORY_POINTS;
    for (int i = 0; i < count; i++) {
        size_t age = (size_t)(count - i); /* 1: the newest */
        values[i] =
            track && age <= there ? track->values[metric][(h->points - age) % HISTORY_POINTS] : HISTORY_GAP;
    }
}

void history_clear(struct history *h)
{
    vec_each (&h->tracks, track)
        free(*track);
    vec_release(&h->tracks);
    h->points = 0;
}
