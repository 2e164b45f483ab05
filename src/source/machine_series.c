#include "source/machine_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "know/xid_text.h"
#include "source/gpu_facts.h"

/* More would not be GPUs: devices come and go by key. */
enum { MOST_DEVICES = 1024 };

double machine_series_scale(enum gpu_unit unit, enum counter_unit *counter)
{
    *counter = UNIT_NONE;
    switch (unit) {
    case GPU_PERCENT:
        *counter = UNIT_RATIO;
        return 1e-2;
    case GPU_PERMILLE:
        *counter = UNIT_RATIO;
        return 1e-3;
    case GPU_BYTES:
        *counter = UNIT_BYTES;
        return 1;
    case GPU_BYTES_PER_S:
        *counter = UNIT_BYTES_PER_S;
        return 1;
    case GPU_MILLIWATTS:
        *counter = UNIT_WATTS;
        return 1e-3;
    case GPU_CELSIUS:
        *counter = UNIT_CELSIUS;
        return 1;
    case GPU_HZ:
        *counter = UNIT_HZ;
        return 1;
    case GPU_HUNDREDTHS:
        return 1e-2;
    case GPU_COUNT:
    case GPU_SWITCH:
    case GPU_REASONS:
    case GPU_LINK:
    case GPU_RECOVERY:
    case GPU_SHARING:
        return 1;
    default:
        return 0;
    }
}

/* ---- values ----------------------------------------------------------------------------------------------
 */

static void add_value(struct run *run, uint32_t series, int64_t time, double value)
{
    size_t row = sample_table_add(&run->samples);
    run->samples.time[row] = time;
    run->samples.value[row] = value;
    run->samples.series[row] = series;
}

/* What gpu_series_add() writes already. */
static bool is_written(const struct gpu_field *fields, const struct gpu_field *field)
{
    if (fields == gpu_sample_fields)
        return field->kind != GPU_LEVEL || gpu_series_has(field->offset);
    return fields == machine_detail_fields && (field->offset == offsetof(struct machine_detail, power_cap) ||
                                               field->offset == offsetof(struct machine_detail, heat) ||
                                               field->offset == offsetof(struct machine_detail, power_brake));
}

/* device NONE: of the host. */
static void add_fields(struct run *run, uint32_t device, int64_t time, const void *values,
                       const struct gpu_field *fields)
{
    for (const struct gpu_field *field = fields; field->key; field++) {
        enum counter_unit unit;
        struct reading r = gpu_get(values, field);
        double scale = machine_series_scale(field->unit, &unit);
        if (reading_is_known(r) && scale != 0 && !is_written(fields, field))
            add_value(run, run_series(run, field->title, device, NONE, unit), time, (double)r.value * scale);
    }
}

void machine_series_detail(struct run *run, uint32_t device, int64_t time,
                           const struct machine_detail *detail)
{
    add_fields(run, device, time, detail, machine_detail_fields);
}

/* ---- devices ---------------------------------------------------------------------------------------------
 */

static void add_whys(struct run *run, uint32_t source, const char *key, const void *values,
                     const struct gpu_field *fields)
{
    for (const struct gpu_field *field = fields; field->key; field++) {
        struct reading r = gpu_get(values, field);
        struct str name = {0};
        if (r.state == READING_KNOWN || r.state == READING_UNREAD || r.state == READING_STALE)
            continue;
        str_addf(&name, GPU_FACT_PREFIX "%s." MACHINE_FACT_MOMENT ".%s_why", key, field->key);
        const char *why = reading_state_name(r.state);
        run_fact(run, source, str_text(&name), why, strlen(why));
        str_release(&name);
    }
}

static struct machine_series_device *find_or_add(struct machine_series *series, struct run *run,
                                                 uint32_t source, const struct machine_device *d)
{
    vec_each (&series->devices, known)
        if (strcmp(known->key, d->key) == 0)
            return known;
    if (series->devices.count == MOST_DEVICES)
        return NULL;
    struct machine_series_device *added = vec_new(&series->devices);
    memcpy(added->key, d->key, sizeof added->key);
    /* The drivers' numbers are not one numbering: cardN of one may be GPU N of the other. */
    added->device = run_device(run, source, (int64_t)series->devices.count - 1);
    struct device *device = &run->devices.at[added->device];
    device->name = intern_puts(&run->strings, d->facts.name);
    device->uuid = intern_puts(&run->strings, d->key);
    device->vendor = d->vendor;
    if (reading_is_known(d->facts.memory))
        device->memory_bytes = d->facts.memory.value;
    struct gpu_facts facts = d->facts;
    memcpy(facts.uuid, d->key, sizeof facts.uuid);
    gpu_facts_static(run, source, &facts);
    return added;
}

static struct machine_series_device *find_device(struct machine_series *series, const char *key)
{
    vec_each (&series->devices, known)
        if (strcmp(known->key, key) == 0)
            return known;
    return NULL;
}

/* The second sample has the rates: what is unknown then has its reason. */
static void add_device(struct machine_series *series, struct run *run, uint32_t source,
                       const struct machine_sample *sample, const struct machine_device *d)
{
    struct machine_series_device *known = find_or_add(series, run, source, d);
    if (!known)
        return;
    add_value(run, run_series(run, MACHINE_SERIES_STATE, known->device, NONE, UNIT_NONE),
              sample->time_unix_ns, (double)d->state);
    if (d->state != READING_KNOWN || d->sample.time_ns == known->last.time_ns)
        return; /* an earlier time is new, too: the clock was set back */
    gpu_series_add(&known->series, run, known->device, &known->last, &d->sample);
    add_fields(run, known->device, d->sample.time_ns, &d->sample, gpu_sample_fields);
    machine_series_detail(run, known->device, d->sample.time_ns, &d->detail);
    if (++known->samples == 2) {
        add_whys(run, source, known->key, &d->sample, gpu_sample_fields);
        add_whys(run, source, known->key, &d->detail, machine_detail_fields);
    }
    known->last = d->sample;
}

/* ---- processes -------------------------------------------------------------------------------------------
 */

/* Rows of processes stay for as long as the recording grows. */
enum { MOST_PROCESSES = 1 << 14 };

static void add_process_fact(struct run *run, uint32_t source, const struct machine_process *p,
                             const char *key, const char *value)
{
    const int64_t millisecond = 1000000;
    struct str name = {0};
    if (*value) {
        str_addf(&name, MACHINE_FACT_PROCESS "%" PRId64 ".%" PRId64 ".%s", p->pid,
                 p->start_unix_ns / millisecond, key);
        run_fact(run, source, str_text(&name), value, strlen(value));
    }
    str_release(&name);
}

static void add_identity(struct run *run, uint32_t source, const struct machine_process *p)
{
    char number[24];
    if (p->state != READING_KNOWN || p->start_unix_ns == UNKNOWN)
        return;
    add_process_fact(run, source, p, "name", p->name);
    add_process_fact(run, source, p, "user", p->user);
    add_process_fact(run, source, p, "command", p->command);
    add_process_fact(run, source, p, "container", p->container);
    add_process_fact(run, source, p, "pod", p->pod);
    add_process_fact(run, source, p, "job", p->job);
    snprintf(number, sizeof number, "%" PRId64, p->start_unix_ns);
    add_process_fact(run, source, p, "start_unix_ns", number);
    snprintf(number, sizeof number, "%" PRId64, p->parent_pid);
    add_process_fact(run, source, p, "parent_pid", p->parent_pid == UNKNOWN ? "" : number);
    snprintf(number, sizeof number, "%u", p->type);
    add_process_fact(run, source, p, "type", number);
}

static struct machine_series_process *find_process(struct machine_series *series, struct run *run,
                                                   uint32_t source, uint32_t device,
                                                   const struct machine_process *p)
{
    uint64_t key = hash_pair(hash_pair((uint64_t)p->pid, (uint64_t)p->start_unix_ns), device);
    uint32_t row = map_get(&series->by_process, key);
    if (row != MAP_ABSENT)
        return &series->processes.at[row];
    if (series->processes.count >= MOST_PROCESSES)
        return NULL;
    map_set(&series->by_process, key, (uint32_t)series->processes.count);
    struct machine_series_process *added = vec_new(&series->processes);
    *added = (struct machine_series_process){
        p->pid, p->start_unix_ns, device, run_process(run, source, p->pid), {0}};
    memset(added->series, 0xff, sizeof added->series);
    if (p->name[0])
        run->processes.at[added->process].name = intern_puts(&run->strings, p->name);
    add_identity(run, source, p);
    return added;
}

static void add_process(struct machine_series *series, struct run *run, uint32_t source, int64_t time,
                        uint32_t device, const struct machine_process *p)
{
    const int64_t millisecond = 1000000;
    struct machine_series_process *known = find_process(series, run, source, device, p);
    int place = 0;
    if (!known)
        return;
    int64_t start = p->start_unix_ns == UNKNOWN ? 0 : p->start_unix_ns / millisecond;
    if (known->series[place] == NONE)
        known->series[place] = run_series(run, MACHINE_SERIES_START, device, known->process, UNIT_NONE);
    add_value(run, known->series[place], time, (double)start);
    for (const struct gpu_field *field = machine_process_fields; field->key; field++) {
        enum counter_unit unit;
        struct reading r = gpu_get(p, field);
        double scale = machine_series_scale(field->unit, &unit);
        if (++place >= (int)(sizeof known->series / sizeof *known->series))
            break;
        if (!reading_is_known(r) || scale == 0)
            continue;
        if (known->series[place] == NONE)
            known->series[place] = run_series(run, field->title, device, known->process, unit);
        add_value(run, known->series[place], time, (double)r.value * scale);
    }
}

void machine_series_event(struct run *run, uint32_t device, const struct machine_event *event)
{
    struct str text = {0};
    xid_text_add(&text, event->code, event->process);
    struct mark mark = {.time = event->time_unix_ns,
                        .kind = MARK_XID,
                        .text = intern_add(&run->strings, text.ptr, text.len),
                        .thread = NONE,
                        .device = device};
    vec_push(&run->marks, mark);
    str_release(&text);
}

static void add_event(struct machine_series *series, struct run *run, const struct machine_sample *sample,
                      const struct machine_event *event)
{
    const struct machine_series_device *on =
        event->device == NONE ? NULL : find_device(series, sample->devices.at[event->device].key);
    machine_series_event(run, on ? on->device : NONE, event);
}

/* ---- all of it -------------------------------------------------------------------------------------------
 */

static void begin(struct machine_series *series, struct run *run, uint32_t source,
                  const struct machine_sample *sample)
{
    const struct machine_source *nvml = &sample->sources[0];
    if (!series->begun && sample->host.name[0])
        run_fact(run, source, "host", sample->host.name, strlen(sample->host.name));
    if (!series->begun)
        gpu_facts_library(run, source, nvml->state, nvml->version, reading_missing(READING_UNREAD));
    series->begun = true;
}

void machine_series_add(struct machine_series *series, struct run *run, uint32_t source,
                        const struct machine_sample *sample)
{
    begin(series, run, source, sample);
    add_value(run, run_series(run, MACHINE_SERIES_INTERVAL, NONE, NONE, UNIT_NONE), sample->time_unix_ns,
              (double)sample->interval_ns);
    add_fields(run, NONE, sample->time_unix_ns, &sample->host, machine_host_fields);
    vec_each (&sample->devices, d)
        add_device(series, run, source, sample, d);
    vec_each (&sample->processes, p) {
        struct machine_series_device *d = find_device(series, sample->devices.at[p->device].key);
        if (d)
            add_process(series, run, source, sample->time_unix_ns, d->device, p);
    }
    vec_each (&sample->events, event)
        add_event(series, run, sample, event);
}

void machine_series_release(struct machine_series *series)
{
    vec_release(&series->devices);
    vec_release(&series->processes);
    map_release(&series->by_process);
}
