/* warplight.kernels/1 of profiled kernels. */
#include <math.h>

#include "analyze/occupancy.h"
#include "view/json_report.h"
#include "view/profiles.h"
#include "view/section_columns.h"

static void write_why(struct json_report *j, const char *key, const char *why)
{
    struct str name = {0};
    json_key(&j->w, key);
    json_null(&j->w);
    str_addf(&name, "%s_why", key);
    json_key(&j->w, str_text(&name));
    json_puts(&j->w, why);
    str_release(&name);
}

static bool is_whole(enum metric id)
{
    enum metric_unit unit = metric_infos[id].unit;
    return unit == IN_COUNT || unit == IN_NS || unit == IN_BYTES;
}

static void write_number(struct json_report *j, enum metric id, double value)
{
    if (is_whole(id) && fabs(value) < 9e15)
        json_int(&j->w, (int64_t)round(value));
    else
        json_double(&j->w, value);
}

static void write_metrics(struct json_report *j, const struct profile_row *row)
{
    json_key(&j->w, "metrics");
    json_object_begin(&j->w);
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct metric_stat *stat = &row->metrics[id];
        if (stat->state != COUNTER_VALUE) {
            write_why(j, metric_infos[id].key, state_name(stat->state));
            continue;
        }
        json_key(&j->w, metric_infos[id].key);
        write_number(j, (enum metric)id, stat->value);
    }
    json_object_end(&j->w);
}

/* Where several launches were measured: how far apart they were. */
static void write_spread(struct json_report *j, const struct profile_row *row)
{
    json_key(&j->w, "spread");
    json_object_begin(&j->w);
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct metric_stat *stat = &row->metrics[id];
        if (stat->state != COUNTER_VALUE || isnan(stat->deviation))
            continue;
        json_key(&j->w, metric_infos[id].key);
        json_object_begin(&j->w);
        json_key(&j->w, "min");
        write_number(j, (enum metric)id, stat->min);
        json_key(&j->w, "max");
        write_number(j, (enum metric)id, stat->max);
        json_key(&j->w, "deviation");
        json_double(&j->w, stat->deviation);
        json_object_end(&j->w);
    }
    json_object_end(&j->w);
}

static void write_stalls(struct json_report *j, const struct profile_row *row)
{
    static const char *const sources[] = {"unknown", "counted", "sampled"};
    json_key(&j->w, "stall_source");
    json_puts(&j->w, sources[row->stall_source]);
    json_key(&j->w, "stalls");
    json_array_begin(&j->w);
    for (int i = 0; i < STALL_COUNT; i++) {
        if (isnan(row->stalls[i]))
            continue;
        json_object_begin(&j->w);
        json_key(&j->w, "reason");
        json_puts(&j->w, stall_keys[i]);
        json_key(&j->w, "share_ratio");
        json_double(&j->w, row->stalls[i]);
        json_object_end(&j->w);
    }
    json_array_end(&j->w);
}

static void write_double(struct json_report *j, const char *key, double value, const char *why)
{
    if (isnan(value)) {
        write_why(j, key, why);
        return;
    }
    json_key(&j->w, key);
    json_double(&j->w, value);
}

static void write_occupancy(struct json_report *j, const struct profile_row *row)
{
    write_double(j, "theoretical_occupancy_ratio", row->occupancy_ratio, WHY_LIMITS);
    json_key(&j->w, "occupancy_limiters");
    json_array_begin(&j->w);
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (row->limiters >> i & 1)
            json_puts(&j->w, occupancy_limit_name((enum occupancy_limit)i));
    json_array_end(&j->w);
}

static void write_roofline(struct json_report *j, const struct profile_row *row)
{
    static const char why[] = "the counters do not tell";
    const struct roofline *r = &row->roofline;
    json_key(&j->w, "roofline");
    json_object_begin(&j->w);
    write_double(j, "flop_per_s", r->flop_per_s, why);
    write_double(j, "bytes_per_s", r->bytes_per_s, why);
    write_double(j, "flop_per_byte", r->flop_per_byte, why);
    write_double(j, "peak_flop_per_s", r->peak_flop_per_s, why);
    json_key(&j->w, "peak_flop_source");
    json_puts(&j->w, peak_source_name(r->flop_source));
    write_double(j, "peak_bytes_per_s", r->peak_bytes_per_s, why);
    json_key(&j->w, "peak_bytes_source");
    json_puts(&j->w, peak_source_name(r->bytes_source));
    write_double(j, "roof_flop_per_s", r->roof_flop_per_s, why);
    write_double(j, "reached_ratio", r->reached_ratio, why);
    json_key(&j->w, "has_tensor_work");
    json_bool(&j->w, r->has_tensor);
    json_object_end(&j->w);
}

/* The source line of a place, and the function that it is in. */
static void write_place(struct json_report *j, uint32_t place)
{
    const struct run *run = j->report->run;
    json_key(&j->w, "file");
    json_puts(&j->w, run_text(run, run->places.file[place]));
    json_key(&j->w, "line");
    json_uint(&j->w, run->places.line[place]);
    if (!run->places.function[place])
        return;
    json_key(&j->w, "function");
    json_puts(&j->w, run_text(run, run->places.function[place]));
}

/* The calls that a place was inlined into, innermost first. */
static void write_calls(struct json_report *j, uint32_t place)
{
    enum { DEEPEST = 64 };
    const struct place_table *places = &j->report->run->places;
    uint32_t call = places->inlined[place];
    json_key(&j->w, "inlined_at");
    json_array_begin(&j->w);
    for (int i = 0; call != NONE && i < DEEPEST; i++, call = places->inlined[call]) {
        json_object_begin(&j->w);
        write_place(j, call);
        json_object_end(&j->w);
    }
    json_array_end(&j->w);
}

static void write_instruction(struct json_report *j, uint32_t place)
{
    const struct run *run = j->report->run;
    if (run->places.sass[place] || !run->places.line[place]) {
        json_key(&j->w, "instruction");
        json_puts(&j->w, run_text(run, run->places.sass[place]));
    }
    if (run->places.pc[place] == UINT64_MAX)
        return;
    json_key(&j->w, "offset_bytes");
    json_uint(&j->w, run->places.pc[place]);
}

static void write_line(struct json_report *j, const struct hot_line *line)
{
    const struct place_table *places = &j->report->run->places;
    json_object_begin(&j->w);
    if (places->line[line->place]) {
        write_place(j, line->place);
        if (places->inlined[line->place] != NONE)
            write_calls(j, line->place);
    } else {
        write_why(j, "line", "no line information");
    }
    write_instruction(j, line->hottest);
    for (int i = 0; i < PLACE_METRIC_COUNT; i++)
        if (line->values[i] != 0) {
            json_key(&j->w, place_metric_keys[i]);
            json_double(&j->w, line->values[i]);
        }
    json_key(&j->w, "stalls");
    json_object_begin(&j->w);
    for (int i = 0; i < STALL_COUNT; i++)
        if (line->stalls[i] > 0) {
            json_key(&j->w, stall_keys[i]);
            json_double(&j->w, line->stalls[i]);
        }
    json_object_end(&j->w);
    json_object_end(&j->w);
}

static void write_counters(struct json_report *j, const struct profile_row *row)
{
    if (row->counter_count == 0)
        return;
    json_key(&j->w, "counters");
    json_object_begin(&j->w);
    for (uint32_t i = 0; i < row->counter_count; i++) {
        const struct raw_counter *counter = &j->report->counters.at[row->first_counter + i];
        write_double(j, run_text(j->report->run, counter->name), counter->value, "no launch has a value");
    }
    json_object_end(&j->w);
}

static void write_row(struct json_report *j, const struct profile_row *row)
{
    json_object_begin(&j->w);
    json_cells(j, profile_columns, row);
    write_occupancy(j, row);
    write_metrics(j, row);
    write_spread(j, row);
    write_counters(j, row);
    write_stalls(j, row);
    json_key(&j->w, "memory_level");
    if (row->level == LEVEL_NONE)
        json_null(&j->w);
    else
        json_puts(&j->w, level_name(row->level));
    write_roofline(j, row);
    json_key(&j->w, "not_measured");
    json_array_begin(&j->w);
    for (int i = 0; i < UNDECIDED_COUNT; i++)
        if (row->undecided >> i & 1)
            json_puts(&j->w, undecided_name((enum undecided)i));
    json_array_end(&j->w);
    json_key(&j->w, "lines");
    json_array_begin(&j->w);
    for (uint32_t i = 0; i < row->line_count; i++)
        write_line(j, &j->report->lines.at[row->first_line + i]);
    json_array_end(&j->w);
    json_findings(j, row->findings.at, row->findings.count);
    json_object_end(&j->w);
    json_drain(j, JSON_FLUSH_BYTES);
}

static void write_device(struct json_report *j)
{
    uint32_t device = j->report->profiles.count ? j->report->profiles.at[0].device : NONE;
    if (device == NONE) {
        write_why(j, "device", "the source does not say");
        return;
    }
    json_key(&j->w, "device");
    json_object_begin(&j->w);
    json_cells(j, device_columns, &j->report->run->devices.at[device]);
    json_object_end(&j->w);
}

void json_profiles(FILE *out, const struct report *report, const struct view_options *options)
{
    struct str text = {0};
    struct json_report j = {{.out = &text, .indent = 1}, out, report, options};
    size_t limit = options->limit == UNKNOWN ? SIZE_MAX : (size_t)options->limit;
    json_object_begin(&j.w);
    json_key(&j.w, "schema");
    json_puts(&j.w, "warplight.kernels/1");
    json_key(&j.w, "warplight_version");
    json_puts(&j.w, WARPLIGHT_VERSION);
    write_device(&j);
    json_sources(&j);
    json_key(&j.w, "kernels");
    json_array_begin(&j.w);
    for (size_t i = 0; i < report->profiles.count && i < limit; i++)
        write_row(&j, &report->profiles.at[i]);
    json_array_end(&j.w);
    if (report->profiles.count > limit) {
        json_key(&j.w, "kernels_omitted");
        json_uint(&j.w, report->profiles.count - limit);
    }
    json_object_end(&j.w);
    str_putc(&text, '\n');
    json_drain(&j, 0);
    str_release(&text);
}
