/* warplight.report/1. English and base units whatever the locale; the names are fixed by
 * doc/formats/report.md. */
#include <string.h>

#include "base/json_write.h"
#include "view/json_report.h"

enum { INDENT = 1 };

void json_drain(struct json_report *j, size_t above)
{
    if (j->w.out->len <= above)
        return;
    fwrite(j->w.out->ptr, 1, j->w.out->len, j->out);
    str_cut(j->w.out, 0);
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* Moments count from the start of the window: the clocks of recordings pass 2^53 ns, where other readers lose
 * digits. */
static void write_value(struct json_report *j, const struct value *value)
{
    struct json_writer *w = &j->w;
    switch (value->type) {
    case VALUE_NONE:
        json_null(w);
        break;
    case VALUE_COUNT:
    case VALUE_ID:
    case VALUE_NS:
    case VALUE_BYTES:
    case VALUE_XID:
        json_int(w, value->i);
        break;
    case VALUE_TIME:
        json_int(w, value->i == UNKNOWN ? UNKNOWN : value->i - j->report->window.start);
        break;
    case VALUE_RATIO:
    case VALUE_NUMBER:
    case VALUE_BYTES_PER_S:
        json_double(w, value->d);
        break;
    case VALUE_TEXT:
    case VALUE_TERM:
    case VALUE_KERNEL:
        if (value->s)
            json_puts(w, value->s);
        else
            json_null(w);
        break;
    }
}

void json_msg(struct json_report *j, const struct msg *msg)
{
    struct str text = {0};
    msg_render(&text, msg, false, j->report->window.start);
    json_string(&j->w, str_text(&text), text.len);
    str_release(&text);
}

static void write_cell(struct json_report *j, const struct cell *cell)
{
    struct json_writer *w = &j->w;
    const struct run *run = j->report->run;
    struct str version = {0};
    switch (cell->kind) {
    case CELL_UNKNOWN:
    case CELL_PATH:
        json_null(w);
        break;
    case CELL_VALUE:
        write_value(j, &cell->value);
        break;
    case CELL_BOOL:
        json_bool(w, cell->yes);
        break;
    case CELL_TRIPLE:
        json_array_begin(w);
        for (int i = 0; i < 3; i++)
            json_int(w, cell->triple[i]);
        json_array_end(w);
        break;
    case CELL_DEVICE:
        json_int(w, run->devices.at[cell->index].id);
        break;
    case CELL_THREAD:
        json_int(w, run->threads.at[cell->index].tid);
        break;
    case CELL_VERSION:
        str_addf(&version, "%d.%d", cell->version[0], cell->version[1]);
        json_puts(w, str_text(&version));
        str_release(&version);
        break;
    case CELL_MSG:
        json_msg(j, cell->msg);
        break;
    }
}

/* The cells of a row as members of the open object; an unknown one says why. */
void json_cells(struct json_report *j, const struct column *columns, const void *row)
{
    struct str why = {0};
    for (const struct column *c = columns; c->key; c++) {
        if (c->flags & (COLUMN_PEOPLE | COLUMN_NO_JSON))
            continue;
        struct cell cell;
        column_cell(c, j->report, row, &cell);
        json_key(&j->w, c->key);
        write_cell(j, &cell);
        if (cell.kind == CELL_UNKNOWN) {
            str_cut(&why, 0);
            str_addf(&why, "%s_why", c->key);
            json_key(&j->w, str_text(&why));
            json_puts(&j->w, c->why ? c->why : "unknown");
        } else if (c->type == COLUMN_DEVICE && device_row(j->report, cell.index) >= 0) {
            /* Two files may both have a device 0; this is the row of devices[]. */
            json_key(&j->w, "device_index");
            json_int(&j->w, device_row(j->report, cell.index));
        }
    }
    str_release(&why);
}

/* ---- sections ------------------------------------------------------------------------------------------ */

static void write_rows(struct json_report *j, const char *key, const struct section *section)
{
    size_t limit = j->options->limit != UNKNOWN ? (size_t)j->options->limit
                   : section->machine_limit     ? section->machine_limit
                                                : SIZE_MAX;
    size_t count;
    size_t *rows = section_pick(section, j->report, limit, false, &count);
    union section_scratch scratch;
    json_key(&j->w, key);
    json_array_begin(&j->w);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(&j->w);
        json_cells(j, section->columns, section_row(section, j->report, rows[i], &scratch));
        json_object_end(&j->w);
        json_drain(j, JSON_FLUSH_BYTES);
    }
    json_array_end(&j->w);
    free(rows);
    size_t all = section_count(section, j->report);
    if (count < all) {
        struct str omitted = {0};
        str_addf(&omitted, "%s_omitted", key);
        json_key(&j->w, str_text(&omitted));
        json_uint(&j->w, all - count);
        str_release(&omitted);
    }
}

void json_sources(struct json_report *j)
{
    const struct run *run = j->report->run;
    struct json_writer *w = &j->w;
    json_key(w, "sources");
    json_array_begin(w);
    vec_each (&run->sources, source) {
        json_object_begin(w);
        json_cells(j, source_columns, source);
        json_key(w, "repairs");
        json_array_begin(w);
        vec_each (&source->repairs, repair) {
            json_object_begin(w);
            json_key(w, "text");
            json_puts(w, run_text(run, repair->text));
            json_key(w, "count");
            json_int(w, repair->count);
            json_key(w, "first_offset");
            if (repair->first_offset >= 0) {
                json_int(w, repair->first_offset);
            } else {
                json_null(w);
                json_key(w, "first_offset_why");
                json_puts(w, "it concerns no single place of the file");
            }
            json_object_end(w);
        }
        json_array_end(w);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_losses(struct json_report *j)
{
    union section_scratch scratch;
    const struct section *section = &sections[SECTION_LOSSES];
    json_key(&j->w, "losses");
    json_object_begin(&j->w);
    for (size_t i = 0; i < section_count(section, j->report); i++) {
        const struct loss_row *loss = section_row(section, j->report, i, &scratch);
        json_key(&j->w, loss->name);
        json_int(&j->w, loss->count);
    }
    json_object_end(&j->w);
}

/* Where the part that findings are about begins and ends; without it they are about all. */
static void write_steady(struct json_report *j)
{
    struct json_writer *w = &j->w;
    if (!j->report->steady)
        return;
    json_key(w, "steady");
    json_object_begin(w);
    json_key(w, "start_ns");
    json_int(w, j->report->steady->window.start);
    json_key(w, "end_ns");
    json_int(w, j->report->steady->window.end);
    json_object_end(w);
}

static void write_run(struct json_report *j)
{
    struct json_writer *w = &j->w;
    json_key(w, "run");
    json_object_begin(w);
    json_key(w, "origin_ns");
    json_int(w, j->report->window.start);
    json_key(w, "wall_ns");
    json_int(w, j->report->window.end - j->report->window.start);
    json_key(w, "narrowed");
    json_bool(w, j->report->narrowed);
    write_steady(j);
    json_sources(j);
    write_losses(j);
    json_object_end(w);
}

static void write_ledger(struct json_writer *w, const struct device_report *device)
{
    json_key(w, "ledger");
    json_array_begin(w);
    for (int a = 0; a < ACCOUNT_COUNT; a++) {
        json_object_begin(w);
        json_key(w, "account");
        json_puts(w, account_name((enum account)a));
        json_key(w, "ns");
        json_int(w, device->ledger_ns[a]);
        json_object_end(w);
    }
    json_array_end(w);
}

/* The part of a device's ledger that findings are about, where that is told apart. */
static void write_steady_ledger(struct json_report *j, uint32_t device)
{
    if (!j->report->steady)
        return;
    vec_each (&j->report->steady->devices, part) {
        if (part->device != device)
            continue;
        json_key(&j->w, "steady");
        json_object_begin(&j->w);
        json_cells(j, device_report_columns, part);
        write_ledger(&j->w, part);
        json_object_end(&j->w);
    }
}

static void write_devices(struct json_report *j)
{
    struct json_writer *w = &j->w;
    json_key(w, "devices");
    json_array_begin(w);
    vec_each (&j->report->devices, device) {
        json_object_begin(w);
        json_cells(j, device_columns, &j->report->run->devices.at[device->device]);
        json_cells(j, device_report_columns, device);
        write_ledger(w, device);
        write_steady_ledger(j, device->device);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_steps(struct json_report *j)
{
    json_key(&j->w, "steps");
    json_object_begin(&j->w);
    json_cells(j, step_report_columns, &j->report->steps);
    write_rows(j, "rows", &sections[SECTION_STEPS]);
    json_object_end(&j->w);
}

/* ---- findings ------------------------------------------------------------------------------------------ */

static const char *value_unit(enum value_type type)
{
    static const char *const units[] = {
        [VALUE_COUNT] = "count",
        [VALUE_ID] = "id",
        [VALUE_NS] = "ns",
        [VALUE_BYTES] = "bytes",
        [VALUE_RATIO] = "ratio",
        [VALUE_NUMBER] = "number",
        [VALUE_BYTES_PER_S] = "bytes_per_s",
        [VALUE_TIME] = "time_ns",
        [VALUE_TEXT] = "text",
        [VALUE_TERM] = "text",
        [VALUE_XID] = "xid",
        [VALUE_KERNEL] = "kernel",
    };
    return units[type];
}

static void write_evidence(struct json_report *j, const struct msg *msg)
{
    struct json_writer *w = &j->w;
    json_object_begin(w);
    json_key(w, "text");
    json_msg(j, msg);
    json_key(w, "values");
    json_array_begin(w);
    for (int i = 0; i < MSG_VALUES && msg->values[i].type != VALUE_NONE; i++) {
        json_object_begin(w);
        json_key(w, "unit");
        json_puts(w, value_unit(msg->values[i].type));
        json_key(w, "value");
        write_value(j, &msg->values[i]);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

void json_findings(struct json_report *j, const struct finding *findings, size_t count)
{
    struct json_writer *w = &j->w;
    json_key(w, "findings");
    json_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        const struct finding *finding = &findings[i];
        json_object_begin(w);
        json_cells(j, sections[SECTION_FINDINGS].columns, finding);
        json_key(w, "saving_ns");
        json_array_begin(w);
        json_int(w, finding->saving_ns[0]);
        json_int(w, finding->saving_ns[1]);
        json_array_end(w);
        json_key(w, "evidence");
        json_array_begin(w);
        vec_each (&finding->evidence, evidence)
            write_evidence(j, evidence);
        json_array_end(w);
        json_object_end(w);
    }
    json_array_end(w);
}

void json_report(FILE *out, const struct report *report, const struct view_options *options)
{
    struct str text = {0};
    struct json_report j = {{.out = &text, .indent = INDENT}, out, report, options};
    uint64_t wanted = options->sections ? options->sections : SECTIONS_ALL;
    json_object_begin(&j.w);
    json_key(&j.w, "schema");
    json_puts(&j.w, "warplight.report/1");
    json_key(&j.w, "warplight_version");
    json_puts(&j.w, WARPLIGHT_VERSION);
    write_run(&j);
    write_devices(&j);
    for (int id = 0; id < SECTION_COUNT; id++) {
        const struct section *section = &sections[id];
        if (!(wanted & SECTION_BIT(id)))
            continue;
        switch (id) {
        case SECTION_LEDGER: /* lies inside devices[] */
        case SECTION_SOURCES:
        case SECTION_LOSSES: /* inside run */
            break;
        case SECTION_FINDINGS:
            json_findings(&j, report->findings.at, report->findings.count);
            break;
        case SECTION_STEPS:
            write_steps(&j);
            break;
        default:
            if (section->single) {
                json_key(&j.w, section->key);
                json_object_begin(&j.w);
                json_cells(&j, section->columns, section_row(section, report, 0, NULL));
                json_object_end(&j.w);
            } else {
                write_rows(&j, section->key, section);
            }
        }
        json_drain(&j, JSON_FLUSH_BYTES);
    }
    json_object_end(&j.w);
    str_putc(&text, '\n');
    json_drain(&j, 0);
    str_release(&text);
}
