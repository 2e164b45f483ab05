#include "view/machine.h"

#include <string.h>

#include "base/json_write.h"
#include "base/number.h"
#include "base/time.h"
#include "know/know.h"
#include "view/machine_event.h"

struct field_table {
    const struct gpu_field *fields;
    size_t base;
};

/* The tables of such rows, ending with one without fields. */
static const struct field_table *tables_of(enum machine_rows rows)
{
    static const struct field_table devices[] = {
        {gpu_sample_fields, offsetof(struct machine_device, sample)},
        {machine_detail_fields, offsetof(struct machine_device, detail)},
        {gpu_fact_fields, offsetof(struct machine_device, facts)},
        {0},
    };
    static const struct field_table processes[] = {{machine_process_fields, 0}, {0}};
    static const struct field_table host[] = {{machine_host_fields, 0}, {0}}, none[] = {{0}};
    switch (rows) {
    case MACHINE_ROWS_PROCESSES:
        return processes;
    case MACHINE_ROWS_HOST:
        return host;
    case MACHINE_ROWS_EVENTS:
        return none;
    case MACHINE_ROWS_DEVICES:
        break;
    }
    return devices;
}

/* key NULL: all. */
static bool add_columns(machine_columns *columns, enum machine_rows rows, const char *key)
{
    bool found = false;
    for (const struct field_table *table = tables_of(rows); table->fields; table++) {
        for (const struct gpu_field *field = table->fields; field->key; field++) {
            if (key && strcmp(key, field->key) != 0)
                continue;
            struct machine_column column = {field, table->base};
            vec_push(columns, column);
            found = true;
        }
    }
    return found;
}

void machine_columns_all(machine_columns *columns, enum machine_rows rows)
{
    add_columns(columns, rows, NULL);
}

bool machine_columns_add(machine_columns *columns, enum machine_rows rows, const char *key)
{
    return add_columns(columns, rows, key);
}

/* ---- JSON ------------------------------------------------------------------------------------------------
 */

void machine_json_text(struct json_writer *w, const char *key, const char *text)
{
    json_key_text(w, key, *text ? text : NULL);
}

static void put_why(struct json_writer *w, const char *key, enum reading_state state)
{
    struct str name = {0};
    str_addf(&name, "%s_why", key);
    json_key(w, str_text(&name));
    json_puts(w, reading_state_name(state));
    str_release(&name);
}

static void put_value(struct json_writer *w, enum gpu_unit unit, int64_t value)
{
    struct str text = {0};
    switch (unit) {
    case GPU_MILLIWATTS:
    case GPU_MILLIJOULES:
    case GPU_PERMILLE:
        json_decimal(w, value, 3);
        break;
    case GPU_PERCENT:
    case GPU_HUNDREDTHS:
        json_decimal(w, value, 2);
        break;
    case GPU_TENTHS: /* a version */
    case GPU_SWITCH:
    case GPU_COMPUTE_MODE:
    case GPU_REASONS:
    case GPU_LINK:
    case GPU_RECOVERY:
    case GPU_VIRTUAL:
    case GPU_SHARING:
        gpu_value_add(&text, unit, value);
        json_puts(w, str_text(&text));
        break;
    case GPU_COUNT:
    case GPU_HZ:
    case GPU_BYTES:
    case GPU_BYTES_PER_S:
    case GPU_CELSIUS:
    case GPU_NS:
        json_int(w, value);
        break;
    }
    str_release(&text);
}

static void put_cell(struct json_writer *w, const void *row, const struct machine_column *column)
{
    struct reading r = machine_cell(row, column);
    json_key(w, column->field->key);
    if (reading_has_value(r))
        put_value(w, column->field->unit, r.value);
    else
        json_null(w);
    if (!reading_is_known(r))
        put_why(w, column->field->key, r.state);
}

static void put_all(struct json_writer *w, const void *row, enum machine_rows rows)
{
    machine_columns columns = {0};
    machine_columns_all(&columns, rows);
    vec_each (&columns, column)
        put_cell(w, row, column);
    vec_release(&columns);
}

static void put_device(struct json_writer *w, const struct machine_sample *s, const struct machine_device *d,
                       const machine_columns *columns)
{
    static const char *const vendors[] = {[VENDOR_UNKNOWN] = "",
                                          [VENDOR_NVIDIA] = "nvidia",
                                          [VENDOR_AMD] = "amd",
                                          [VENDOR_INTEL] = "intel",
                                          [VENDOR_META] = "meta"};
    json_object_begin(w);
    json_key_int(w, "id", d->id);
    machine_json_text(w, "uuid", d->facts.uuid);
    machine_json_text(w, "name", d->facts.name);
    machine_json_text(w, "pci_bus_id", d->facts.bus);
    machine_json_text(w, "vbios", d->facts.vbios);
    machine_json_text(w, "vendor", vendors[d->vendor]);
    machine_json_text(w, "driver", d->driver);
    machine_json_text(w, "interposed_by", d->interposer);
    machine_json_text(w, "parent_uuid", d->parent == NONE ? "" : s->devices.at[d->parent].facts.uuid);
    machine_json_text(w, "state", reading_state_name(d->state));
    json_key_int(w, "time_unix_ns", d->sample.time_ns ? d->sample.time_ns : UNKNOWN);
    vec_each (columns, column)
        put_cell(w, d, column);
    json_object_end(w);
}

static void put_types(struct json_writer *w, unsigned type)
{
    json_key(w, "types");
    json_array_begin(w);
    if (type & MACHINE_COMPUTE)
        json_puts(w, "compute");
    if (type & MACHINE_GRAPHICS)
        json_puts(w, "graphics");
    if (type & MACHINE_MPS)
        json_puts(w, "mps");
    json_array_end(w);
}

static void put_process(struct json_writer *w, const struct machine_sample *s,
                        const struct machine_process *p)
{
    const struct machine_device *d = &s->devices.at[p->device];
    json_object_begin(w);
    json_key_int(w, "device_id", d->id);
    machine_json_text(w, "device_uuid", d->facts.uuid[0] ? d->facts.uuid : d->key);
    json_key_int(w, "pid", p->pid);
    if (p->state != READING_KNOWN)
        put_why(w, "process", p->state);
    json_key_int(w, "start_unix_ns", p->start_unix_ns);
    json_key_int(w, "parent_pid", p->parent_pid);
    put_types(w, p->type);
    machine_json_text(w, "user", p->user);
    machine_json_text(w, "name", p->name);
    machine_json_text(w, "command", p->command);
    machine_json_text(w, "container_id", p->container);
    machine_json_text(w, "pod_uid", p->pod);
    machine_json_text(w, "slurm_job", p->job);
    put_all(w, p, MACHINE_ROWS_PROCESSES);
    json_object_end(w);
}

static void put_sources(struct json_writer *w, const struct machine_sample *s)
{
    json_key(w, "sources");
    json_array_begin(w);
    for (int i = 0; i < MACHINE_SOURCES; i++) {
        json_object_begin(w);
        machine_json_text(w, "name", s->sources[i].name);
        machine_json_text(w, "state", reading_state_name(s->sources[i].state));
        machine_json_text(w, "driver_version", s->sources[i].version);
        json_key_int(w, "since_unix_ns", s->sources[i].since_unix_ns ? s->sources[i].since_unix_ns : UNKNOWN);
        json_object_end(w);
    }
    json_array_end(w);
}

void machine_json(struct str *out, const struct machine_sample *s, const machine_columns *columns)
{
    struct json_writer w = {.out = out};
    json_object_begin(&w);
    machine_json_text(&w, "schema", "warplight.sample/1");
    json_key_int(&w, "time_unix_ns", s->time_unix_ns);
    json_key_int(&w, "interval_ns", s->interval_ns ? s->interval_ns : UNKNOWN);
    json_key(&w, "host");
    json_object_begin(&w);
    machine_json_text(&w, "name", s->host.name);
    put_all(&w, &s->host, MACHINE_ROWS_HOST);
    json_object_end(&w);
    json_key(&w, "devices");
    json_array_begin(&w);
    vec_each (&s->devices, device)
        put_device(&w, s, device, columns);
    json_array_end(&w);
    json_key(&w, "processes");
    json_array_begin(&w);
    vec_each (&s->processes, process)
        put_process(&w, s, process);
    json_array_end(&w);
    machine_events_json(&w, s);
    put_sources(&w, s);
    json_object_end(&w);
    str_putc(out, '\n');
}

/* ---- CSV -------------------------------------------------------------------------------------------------
 */

static void add_text(struct str *out, const char *text)
{
    bool formula = *text && strchr("=+-@", *text); /* to a spreadsheet */
    str_putc(out, ',');
    if (!formula && !strpbrk(text, ",\"")) {
        str_puts(out, text);
        return;
    }
    str_puts(out, formula ? "\"'" : "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            str_putc(out, '"');
        str_putc(out, *c);
    }
    str_putc(out, '"');
}

static void add_int(struct str *out, int64_t value)
{
    str_putc(out, ',');
    if (value != UNKNOWN)
        number_add_int(out, value);
}

static void add_cells(struct str *out, const void *row, const machine_columns *columns)
{
    vec_each (columns, column) {
        struct reading r = machine_cell(row, column);
        struct str text = {0};
        if (reading_is_known(r))
            gpu_value_add(&text, column->field->unit, r.value);
        if (gpu_unit_is_list(column->field->unit))
            add_text(out, str_text(&text));
        else
            str_addf(out, ",%s", str_text(&text));
        str_release(&text);
    }
    str_putc(out, '\n');
}

void machine_csv_header(struct str *out, enum machine_rows rows, const machine_columns *columns)
{
    static const char *const first[] = {
        [MACHINE_ROWS_DEVICES] = ",id,uuid,name,pci_bus_id,state",
        [MACHINE_ROWS_PROCESSES] = (",device_id,device_uuid,pid,start_unix_ns,user,name,command,container_id,"
                                    "pod_uid,slurm_job"),
        [MACHINE_ROWS_HOST] = ",host",
        [MACHINE_ROWS_EVENTS] =
            ",xid,count,device_id,pci_bus_id,told_by_nvml,told_by_kernel_log,process,meaning,text",
    };
    str_addf(out, "time_unix_ns%s", first[rows]);
    vec_each (columns, column)
        str_addf(out, ",%s", column->field->key);
    str_putc(out, '\n');
}

static void add_process(struct str *out, const struct machine_sample *s, const struct machine_process *p)
{
    const struct machine_device *d = &s->devices.at[p->device];
    add_int(out, d->id);
    add_text(out, d->facts.uuid[0] ? d->facts.uuid : d->key);
    add_int(out, p->pid);
    add_int(out, p->start_unix_ns);
    add_text(out, p->user);
    add_text(out, p->name);
    add_text(out, p->command);
    add_text(out, p->container);
    add_text(out, p->pod);
    add_text(out, p->job);
}

static void add_event(struct str *out, const struct machine_sample *s, const struct machine_event *e)
{
    const struct know_xid *known = know_xid_find(e->code);
    number_add_int(out, e->time_unix_ns);
    add_int(out, e->code);
    add_int(out, e->count);
    add_int(out, e->device == NONE ? UNKNOWN : s->devices.at[e->device].id);
    add_text(out, e->bus);
    add_int(out, e->told_by & MACHINE_TOLD_BY_NVML ? 1 : 0);
    add_int(out, e->told_by & MACHINE_TOLD_BY_KERNEL_LOG ? 1 : 0);
    add_text(out, e->process);
    add_text(out, known ? known->en : "");
    add_text(out, e->text);
    str_putc(out, '\n');
}

void machine_csv(struct str *out, const struct machine_sample *s, enum machine_rows rows,
                 const machine_columns *columns)
{
    if (rows == MACHINE_ROWS_HOST) {
        number_add_int(out, s->time_unix_ns);
        add_text(out, s->host.name);
        add_cells(out, &s->host, columns);
    } else if (rows == MACHINE_ROWS_PROCESSES) {
        vec_each (&s->processes, p) {
            number_add_int(out, s->time_unix_ns);
            add_process(out, s, p);
            add_cells(out, p, columns);
        }
    } else if (rows == MACHINE_ROWS_EVENTS) {
        vec_each (&s->events, event)
            add_event(out, s, event);
    } else {
        vec_each (&s->devices, d) {
            number_add_int(out, s->time_unix_ns);
            add_int(out, d->id);
            add_text(out, d->facts.uuid);
            add_text(out, d->facts.name);
            add_text(out, d->facts.bus);
            add_text(out, reading_state_name(d->state));
            add_cells(out, d, columns);
        }
    }
}
