#include "source/machine_replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "know/xid_text.h"
#include "source/gpu_series.h"
#include "source/machine_series.h"

/* More samples than these are thinned out by nobody: the rest is left out. */
enum { MOST_SAMPLES = 1 << 22, MOST_DEVICES = 1024, MOST_ROWS = 1 << 14, MOST_EVENTS = 256 };

/* Where the values of a series go. */
enum target {
    TARGET_NONE,
    TARGET_INTERVAL,
    TARGET_STATE,
    TARGET_START,
    TARGET_HOST,
    TARGET_DEVICE,
    TARGET_PROCESS
};

struct track { /* a series */
    enum target target;
    size_t offset;            /* of the reading in the struct of its target */
    double scale;             /* values were multiplied by it */
    uint32_t device, process; /* of the run */
    size_t first, count;      /* its rows in order */
    uint32_t next;            /* track of the same device or place; NONE */
};

struct place { /* a process on a device */
    uint32_t device, process;
    uint32_t head; /* its tracks */
};

struct machine_replay {
    const struct run *run;
    VEC(struct track) tracks; /* by series */
    uint32_t *order;          /* rows of run->samples, by series and then by time */
    VEC(int64_t) times;
    VEC(struct place) places;
    struct map by_place;                /* device and process → places */
    VEC(uint32_t) heads;                /* the tracks of each device */
    uint32_t host;                      /* and those of the host */
    VEC(struct machine_device) devices; /* what is the same in all samples; rows are those of the run */
    char host_name[GPU_NAME_BYTES];
    struct map facts; /* hash of a key → row of run->facts, the first one */
    struct machine_sample sample;
};

/* ---- what a series is about ------------------------------------------------------------------------------
 */

static bool find_field(const struct gpu_field *fields, const char *title, size_t base, struct track *t)
{
    enum counter_unit unit;
    for (const struct gpu_field *field = fields; field->key; field++) {
        if (strcmp(field->title, title) != 0 || field->kind == GPU_TOTAL)
            continue;
        t->offset = base + field->offset;
        t->scale = machine_series_scale(field->unit, &unit);
        return t->scale != 0;
    }
    return false;
}

/* Clocks held: shares of time by the names that a recording gives them. */
static bool find_held(const char *name, struct track *t)
{
    static const struct {
        const char *name;
        size_t offset;
    } held[] = {{GPU_SERIES_POWER_CAP, offsetof(struct machine_device, detail.power_cap)},
                {GPU_SERIES_HEAT, offsetof(struct machine_device, detail.heat)},
                {GPU_SERIES_POWER_BRAKE, offsetof(struct machine_device, detail.power_brake)}};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (strcmp(held[i].name, name) != 0)
            continue;
        t->offset = held[i].offset;
        t->scale = 1e-3;
        return true;
    }
    return false;
}

static enum target find_target(const char *name, struct track *t)
{
    size_t sample = offsetof(struct machine_device, sample), offset;
    if (t->process != NONE && t->device == NONE)
        return TARGET_NONE;
    if (t->process != NONE) {
        if (strcmp(name, MACHINE_SERIES_START) == 0)
            return TARGET_START;
        return find_field(machine_process_fields, name, 0, t) ? TARGET_PROCESS : TARGET_NONE;
    }
    if (t->device == NONE) {
        if (strcmp(name, MACHINE_SERIES_INTERVAL) == 0)
            return TARGET_INTERVAL;
        return find_field(machine_host_fields, name, 0, t) ? TARGET_HOST : TARGET_NONE;
    }
    if (strcmp(name, MACHINE_SERIES_STATE) == 0)
        return TARGET_STATE;
    if (gpu_series_find(name, &offset, &t->scale)) {
        t->offset = sample + offset;
        return TARGET_DEVICE;
    }
    return find_held(name, t) || find_field(gpu_sample_fields, name, sample, t) ||
                   find_field(machine_detail_fields, name, offsetof(struct machine_device, detail), t)
               ? TARGET_DEVICE
               : TARGET_NONE;
}

/* ---- rows and times --------------------------------------------------------------------------------------
 */

/* Samples are sorted by time already: rows of a series keep that order. */
static void sort_rows(struct machine_replay *r)
{
    const struct run *run = r->run;
    size_t at = 0;
    for (size_t i = 0; i < run->samples.count; i++)
        r->tracks.at[run->samples.series[i]].count++;
    vec_each (&r->tracks, track) {
        track->first = at;
        at += track->count;
        track->count = 0;
    }
    r->order = mem_zalloc(run->samples.count + 1, sizeof *r->order);
    for (size_t i = 0; i < run->samples.count; i++) {
        struct track *track = &r->tracks.at[run->samples.series[i]];
        r->order[track->first + track->count++] = (uint32_t)i;
    }
}

static int64_t time_of(const struct machine_replay *r, const struct track *t, size_t i)
{
    return r->run->samples.time[r->order[t->first + i]];
}

/* The moments of the samples; in recordings without them, the moments at which GPUs were looked at. */
static void find_times(struct machine_replay *r)
{
    const int64_t near = 20000000; /* GPUs of one sample are asked one after the other */
    bool has_interval = false;
    vec_each (&r->tracks, track)
        has_interval = has_interval || (track->target == TARGET_INTERVAL && track->count);
    for (size_t i = 0; i < r->run->samples.count && r->times.count < MOST_SAMPLES; i++) {
        const struct track *track = &r->tracks.at[r->run->samples.series[i]];
        int64_t time = r->run->samples.time[i];
        int64_t last = r->times.count ? r->times.at[r->times.count - 1] : INT64_MIN;
        if (track->target != (has_interval ? TARGET_INTERVAL : TARGET_DEVICE))
            continue;
        if (!has_interval && r->times.count && time - last < near)
            r->times.at[r->times.count - 1] = time;
        else if (r->times.count == 0 || time > last)
            vec_push(&r->times, time);
    }
}

static uint64_t fact_key(const char *key)
{
    return hash_bytes(key, strlen(key));
}

static void find_facts(struct machine_replay *r)
{
    for (uint32_t i = 0; i < r->run->facts.count; i++) {
        uint64_t key = fact_key(run_text(r->run, r->run->facts.at[i].key));
        if (map_get(&r->facts, key) == MAP_ABSENT)
            map_set(&r->facts, key, i);
    }
}

/* NULL where there is none. Files may hold many of them: gpu_fact() would look at each. */
static const char *find_fact(const struct machine_replay *r, const char *key)
{
    uint32_t row = map_get(&r->facts, fact_key(key));
    return row == MAP_ABSENT ? NULL : run_text(r->run, r->run->facts.at[row].value);
}

static const char *device_fact(const struct machine_replay *r, const struct machine_device *d,
                               const char *key, const char *ending)
{
    struct str name = {0};
    str_addf(&name, GPU_FACT_PREFIX "%s.%s%s", d->key, key, ending);
    const char *text = find_fact(r, str_text(&name));
    str_release(&name);
    return text;
}

/* The reason that a recording gives; not looked at where it gives none that can be. */
static struct reading missing_for(const char *why)
{
    enum reading_state state = why ? reading_state_find(why) : READING_UNREAD;
    bool holds_value = state == READING_STATES || reading_has_value((struct reading){0, state});
    return reading_missing(holds_value ? READING_UNREAD : state);
}

/* ---- what is the same in all samples ---------------------------------------------------------------------
 */

static void copy_text(char *to, size_t room, const char *text)
{
    struct str visible = {0};
    utf8_visible(&visible, text, strlen(text));
    size_t length = visible.len < room ? visible.len : utf8_valid(str_text(&visible), room - 1);
    memcpy(to, str_text(&visible), length);
    to[length] = '\0';
    str_release(&visible);
}

static void read_whys(const struct machine_replay *r, const struct machine_device *d, void *values,
                      const struct gpu_field *fields)
{
    for (const struct gpu_field *field = fields; field->key; field++) {
        struct str key = {0};
        str_addf(&key, MACHINE_FACT_MOMENT ".%s", field->key);
        *gpu_reading(values, field) = missing_for(device_fact(r, d, str_text(&key), "_why"));
        str_release(&key);
    }
}

static void read_facts(const struct machine_replay *r, struct machine_device *d)
{
    const char *bus = device_fact(r, d, "pci_bus_id", ""), *vbios = device_fact(r, d, "vbios", "");
    copy_text(d->facts.bus, sizeof d->facts.bus, bus ? bus : "");
    copy_text(d->facts.vbios, sizeof d->facts.vbios, vbios ? vbios : "");
    for (const struct gpu_field *field = gpu_fact_fields; field->key; field++) {
        const char *text = device_fact(r, d, field->key, "");
        int64_t value;
        if (text && gpu_value_parse(field->unit, text, &value))
            *gpu_reading(&d->facts, field) = reading_of(value);
        else
            *gpu_reading(&d->facts, field) = missing_for(device_fact(r, d, field->key, "_why"));
    }
}

static void make_devices(struct machine_replay *r)
{
    for (size_t i = 0; i < r->run->devices.count && i < MOST_DEVICES; i++) {
        const struct device *from = &r->run->devices.at[i];
        struct machine_device *d = vec_new(&r->devices);
        copy_text(d->key, sizeof d->key, run_text(r->run, from->uuid));
        copy_text(d->facts.name, sizeof d->facts.name, run_text(r->run, from->name));
        memcpy(d->facts.uuid, d->key, sizeof d->facts.uuid);
        read_facts(r, d);
        if (!d->key[0])
            snprintf(d->key, sizeof d->key, "%zu", i);
        d->id = from->id;
        d->vendor = from->vendor;
        d->parent = NONE;
        if (!reading_is_known(d->facts.memory) && from->memory_bytes > 0)
            d->facts.memory = reading_of(from->memory_bytes);
        read_whys(r, d, &d->sample, gpu_sample_fields);
        read_whys(r, d, &d->detail, machine_detail_fields);
    }
}

static void find_host(struct machine_replay *r)
{
    vec_each (&r->run->facts, fact)
        if (strcmp(run_text(r->run, fact->key), "host") == 0)
            copy_text(r->host_name, sizeof r->host_name, run_text(r->run, fact->value));
}

/* ---- opening ---------------------------------------------------------------------------------------------
 */

static struct place *find_place(struct machine_replay *r, const struct track *t)
{
    uint64_t key = hash_pair(t->device, t->process);
    uint32_t row = map_get(&r->by_place, key);
    if (row != MAP_ABSENT)
        return &r->places.at[row];
    if (r->places.count >= MOST_ROWS)
        return NULL;
    map_set(&r->by_place, key, (uint32_t)r->places.count);
    struct place *place = vec_new(&r->places);
    *place = (struct place){t->device, t->process, NONE};
    return place;
}

/* Puts the track on the list of what it tells about. */
static void add_track(struct machine_replay *r, uint32_t row)
{
    struct track *t = &r->tracks.at[row];
    uint32_t *head = &r->host;
    if (t->target == TARGET_NONE)
        return;
    if (t->process != NONE) {
        struct place *place = find_place(r, t);
        head = place ? &place->head : NULL;
    } else if (t->device != NONE) {
        head = t->device < r->heads.count ? &r->heads.at[t->device] : NULL;
    }
    if (!head)
        return;
    t->next = *head;
    *head = row;
}

struct machine_replay *machine_replay_open(const struct run *run)
{
    struct machine_replay *r = mem_zalloc(1, sizeof *r);
    r->run = run;
    r->host = NONE;
    for (size_t i = 0; i < run->devices.count && i < MOST_DEVICES; i++)
        vec_push(&r->heads, NONE);
    for (uint32_t i = 0; i < run->series.count; i++) {
        const struct counter_series *series = &run->series.at[i];
        struct track *track = vec_new(&r->tracks);
        *track = (struct track){.device = series->device, .process = series->process, .next = NONE};
        track->target = find_target(run_text(run, series->name), track);
        add_track(r, i);
    }
    sort_rows(r);
    find_times(r);
    find_facts(r);
    find_host(r);
    make_devices(r);
    if (r->times.count)
        return r;
    machine_replay_close(r);
    return NULL;
}

void machine_replay_close(struct machine_replay *r)
{
    if (!r)
        return;
    vec_release(&r->tracks);
    vec_release(&r->times);
    vec_release(&r->places);
    vec_release(&r->devices);
    map_release(&r->by_place);
    vec_release(&r->heads);
    map_release(&r->facts);
    machine_sample_release(&r->sample);
    free(r->order);
    free(r);
}

size_t machine_replay_count(const struct machine_replay *r)
{
    return r->times.count;
}

int64_t machine_replay_time(const struct machine_replay *r, size_t sample)
{
    return r->times.at[sample];
}

size_t machine_replay_at(const struct machine_replay *r, int64_t time_ns)
{
    size_t low = 0, high = r->times.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->times.at[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* ---- a sample --------------------------------------------------------------------------------------------
 */

/* The row of a track that is the last at or before a time; SIZE_MAX: there is none. */
static size_t row_at(const struct machine_replay *r, const struct track *t, int64_t time)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (time_of(r, t, middle) <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? r->order[t->first + low - 1] : SIZE_MAX;
}

static bool read_value(const struct machine_replay *r, const struct track *t, size_t row, struct reading *out)
{
    const double most = 9e18;
    double value = r->run->samples.value[row] / t->scale;
    if (!isfinite(value) || value > most || value < -most)
        return false;
    *out = reading_of((int64_t)(value < 0 ? value - 0.5 : value + 0.5));
    return true;
}

/* Readings are those of the last time at which the device was looked at; a series that had no value then has
 * none. */
static void fill_device(struct machine_replay *r, uint32_t row, int64_t time)
{
    struct machine_device *d = &r->sample.devices.at[row];
    d->state = READING_UNREAD;
    for (uint32_t i = r->heads.at[row]; i != NONE; i = r->tracks.at[i].next) {
        const struct track *track = &r->tracks.at[i];
        size_t at = row_at(r, track, time);
        if (at == SIZE_MAX)
            continue;
        double state = r->run->samples.value[at];
        if (track->target == TARGET_STATE && state >= 0 && state < READING_STATES)
            d->state = (enum reading_state)state;
        else if (track->target == TARGET_DEVICE && r->run->samples.time[at] > d->sample.time_ns)
            d->sample.time_ns = r->run->samples.time[at];
    }
    if (d->state == READING_UNREAD && d->sample.time_ns)
        d->state = READING_KNOWN; /* a recording without states */
    for (uint32_t i = r->heads.at[row]; i != NONE; i = r->tracks.at[i].next) {
        const struct track *track = &r->tracks.at[i];
        struct reading *out = (struct reading *)((char *)d + track->offset);
        size_t at = track->target == TARGET_DEVICE ? row_at(r, track, time) : SIZE_MAX;
        if (track->target != TARGET_DEVICE)
            continue;
        if (d->state != READING_KNOWN && d->state != READING_STALE)
            *out = reading_missing(d->state);
        else if (at != SIZE_MAX && r->run->samples.time[at] == d->sample.time_ns &&
                 read_value(r, track, at, out))
            out->state = d->state;
    }
}

static const char *process_fact(const struct machine_replay *r, int64_t pid, int64_t start_ms,
                                const char *key)
{
    struct str name = {0};
    str_addf(&name, MACHINE_FACT_PROCESS "%" PRId64 ".%" PRId64 ".%s", pid, start_ms, key);
    const char *text = find_fact(r, str_text(&name));
    str_release(&name);
    return text ? text : "";
}

static int64_t number_fact(const struct machine_replay *r, int64_t pid, int64_t start_ms, const char *key)
{
    const char *text = process_fact(r, pid, start_ms, key);
    char *end;
    long long value = strtoll(text, &end, 10);
    return end == text || *end ? UNKNOWN : value;
}

static void fill_identity(const struct machine_replay *r, struct machine_process *p, int64_t start_ms)
{
    p->start_unix_ns = number_fact(r, p->pid, start_ms, "start_unix_ns");
    p->parent_pid = number_fact(r, p->pid, start_ms, "parent_pid");
    int64_t type = number_fact(r, p->pid, start_ms, "type");
    p->type = type > 0 ? (unsigned)type & (MACHINE_COMPUTE | MACHINE_GRAPHICS | MACHINE_MPS) : 0;
    p->state = p->start_unix_ns == UNKNOWN ? READING_NO_PERMISSION : READING_KNOWN;
    copy_text(p->user, sizeof p->user, process_fact(r, p->pid, start_ms, "user"));
    copy_text(p->name, sizeof p->name, process_fact(r, p->pid, start_ms, "name"));
    copy_text(p->command, sizeof p->command, process_fact(r, p->pid, start_ms, "command"));
    copy_text(p->container, sizeof p->container, process_fact(r, p->pid, start_ms, "container"));
    copy_text(p->pod, sizeof p->pod, process_fact(r, p->pid, start_ms, "pod"));
    copy_text(p->job, sizeof p->job, process_fact(r, p->pid, start_ms, "job"));
}

/* Of a place: the value of a track at that very moment; SIZE_MAX where there was none. */
static size_t row_now(const struct machine_replay *r, const struct track *t, int64_t time)
{
    size_t row = row_at(r, t, time);
    return row != SIZE_MAX && r->run->samples.time[row] == time ? row : SIZE_MAX;
}

/* When the process started, in ms, if it was there; -1: it was not. */
static double start_at(const struct machine_replay *r, const struct place *place, int64_t time)
{
    for (uint32_t i = place->head; i != NONE; i = r->tracks.at[i].next) {
        if (r->tracks.at[i].target != TARGET_START)
            continue;
        size_t row = row_now(r, &r->tracks.at[i], time);
        return row == SIZE_MAX ? -1 : r->run->samples.value[row];
    }
    return -1;
}

static void fill_processes(struct machine_replay *r, int64_t time)
{
    const double latest = 9e15;
    vec_each (&r->places, place) {
        double start = start_at(r, place, time);
        if (!(start >= 0 && start < latest) || place->device >= r->sample.devices.count)
            continue;
        struct machine_process *p = vec_new(&r->sample.processes);
        p->device = place->device;
        p->pid = r->run->processes.at[place->process].pid;
        fill_identity(r, p, (int64_t)start);
        for (uint32_t i = place->head; i != NONE; i = r->tracks.at[i].next) {
            const struct track *track = &r->tracks.at[i];
            size_t row = track->target == TARGET_PROCESS ? row_now(r, track, time) : SIZE_MAX;
            if (row != SIZE_MAX)
                read_value(r, track, row, (struct reading *)((char *)p + track->offset));
        }
    }
}

static void fill_host(struct machine_replay *r, int64_t time)
{
    const double longest = 9e18;
    struct machine_sample *s = &r->sample;
    s->host = (struct machine_host){0};
    s->interval_ns = 0;
    memcpy(s->host.name, r->host_name, sizeof s->host.name);
    for (uint32_t i = r->host; i != NONE; i = r->tracks.at[i].next) {
        const struct track *track = &r->tracks.at[i];
        size_t at = row_now(r, track, time);
        if (at == SIZE_MAX)
            continue;
        double value = r->run->samples.value[at];
        if (track->target == TARGET_HOST)
            read_value(r, track, at, (struct reading *)((char *)&s->host + track->offset));
        else if (value > 0 && value < longest)
            s->interval_ns = (int64_t)value;
    }
}

static void fill_event(struct machine_replay *r, const struct mark *mark)
{
    int64_t code;
    const char *process;
    if (!xid_text_parse(run_text(r->run, mark->text), &code, &process))
        return;
    struct machine_event *event = vec_new(&r->sample.events);
    *event =
        (struct machine_event){.time_unix_ns = mark->time, .code = code, .count = 1, .device = mark->device};
    if (event->device >= r->sample.devices.count)
        event->device = NONE;
    copy_text(event->process, sizeof event->process, process);
}

/* Those after the sample before. */
static void fill_events(struct machine_replay *r, int64_t after, int64_t time)
{
    size_t low = 0, high = r->run->marks.count; /* in order of time */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->run->marks.at[middle].time <= after)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->run->marks.count && r->run->marks.at[low].time <= time; low++)
        if (r->run->marks.at[low].kind == MARK_XID && r->sample.events.count < MOST_EVENTS)
            fill_event(r, &r->run->marks.at[low]);
}

const struct machine_sample *machine_replay_take(struct machine_replay *r, size_t sample)
{
    struct machine_sample *s = &r->sample;
    int64_t time = r->times.at[sample];
    s->devices.count = s->processes.count = s->events.count = 0;
    s->time_unix_ns = time;
    vec_each (&r->devices, device)
        vec_push(&s->devices, *device);
    for (uint32_t row = 0; row < s->devices.count; row++)
        fill_device(r, row, time);
    fill_host(r, time);
    fill_processes(r, time);
    s->sources[0] = (struct machine_source){.name = "NVML", .state = READING_UNREAD};
    s->sources[1] = (struct machine_source){.name = "DRM", .state = READING_UNREAD};
    s->sources[MACHINE_KERNEL_LOG] = (struct machine_source){.name = "kernel log", .state = READING_UNREAD};
    fill_events(r, sample ? r->times.at[sample - 1] : INT64_MIN, time);
    return s;
}
