/* Columns of the sections about the run as a whole: devices, findings, memory, ranks, bounds, sources,
 * losses, facts. */
#include "base/i18n.h"
#include "view/section_columns.h"

/* ---- devices ------------------------------------------------------------------------------------------- */

static void get_vendor(const struct report *report, const void *row, struct cell *cell)
{
    static const char *const names[] = {NULL, "NVIDIA", "AMD", "Intel", "Meta"};
    (void)report;
    cell_set_text(cell, VALUE_TEXT, names[((const struct device *)row)->vendor]);
}

static void get_device_source(const struct report *report, const void *row, struct cell *cell)
{
    const struct source *source = &report->run->sources.at[((const struct device *)row)->source];
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, source->path));
}

static void get_compute_capability(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct device *d = row;
    if (d->cc_major > 0 && d->vendor != VENDOR_AMD)
        *cell = (struct cell){CELL_VERSION, {.version = {d->cc_major, d->cc_minor}}};
}

#define AT(field) offsetof(struct device, field)
const struct column device_columns[] = {
    {"id", NULL, COLUMN_ID, AT(id), 0, 0, NULL, NULL},
    {"name", NULL, COLUMN_STRING, AT(name), 0, 0, WHY_SOURCE, NULL},
    {"vendor", NULL, COLUMN_GET, 0, 0, 0, WHY_SOURCE, get_vendor},
    {"uuid", NULL, COLUMN_STRING, AT(uuid), 0, 0, WHY_SOURCE, NULL},
    {"source", NULL, COLUMN_GET, 0, 0, 0, NULL, get_device_source},
    {"compute_capability", NULL, COLUMN_GET, 0, 0, 0, WHY_SOURCE, get_compute_capability},
    {"sm_count", NULL, COLUMN_INT32, AT(sm_count), COLUMN_POSITIVE, 0, WHY_SOURCE, NULL},
    {"memory_bytes", NULL, COLUMN_BYTES, AT(memory_bytes), COLUMN_POSITIVE, 0, WHY_SOURCE, NULL},
    COLUMN_END,
};
#undef AT

#define AT(field) offsetof(struct device_report, field)
#define WHY_USE   "no samples of the driver's counters cover half of the busy time"
const struct column device_report_columns[] = {
    {"start_ns", NULL, COLUMN_MOMENT, AT(window.start), 0, 0, NULL, NULL},
    {"end_ns", NULL, COLUMN_MOMENT, AT(window.end), 0, 0, NULL, NULL},
    {"wall_ns", NULL, COLUMN_NS, AT(wall_ns), 0, 0, NULL, NULL},
    {"busy_ns", NULL, COLUMN_NS, AT(busy_ns), 0, 0, NULL, NULL},
    {"op_count", NULL, COLUMN_COUNT, AT(op_count), 0, 0, NULL, NULL},
    {"op_sum_ns", NULL, COLUMN_NS, AT(op_sum_ns), 0, 0, NULL, NULL},
    {"gap_count", NULL, COLUMN_COUNT, AT(gap_count), 0, 0, NULL, NULL},
    {"longest_gap_ns", NULL, COLUMN_NS, AT(longest_gap_ns), 0, 0, NULL, NULL},
    {"sm_active_ratio", NULL, COLUMN_RATIO, AT(use.sm_active_ratio), 0, 0, WHY_USE, NULL},
    {"sm_occupancy_ratio", NULL, COLUMN_RATIO, AT(use.sm_occupancy_ratio), 0, 0, WHY_USE, NULL},
    {"tensor_active_ratio", NULL, COLUMN_RATIO, AT(use.tensor_active_ratio), 0, 0, WHY_USE, NULL},
    {"memory_bandwidth_ratio", NULL, COLUMN_RATIO, AT(use.memory_bandwidth_ratio), 0, 0, WHY_USE, NULL},
    COLUMN_END,
};
#undef WHY_USE
#undef AT

/* ---- findings ------------------------------------------------------------------------------------------ */

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {N_("info"), N_("warn"), N_("critical")};
    return names[severity];
}

static void get_severity(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, severity_name(((const struct finding *)row)->severity));
}

#define AT(field) offsetof(struct finding, field)
const struct column finding_columns[] = {
    {"severity", N_("severity"), COLUMN_GET, 0, 0, 0, NULL, get_severity},
    {"id", N_("finding"), COLUMN_LITERAL, AT(id), 0, 0, NULL, NULL},
    {"class", NULL, COLUMN_LITERAL, AT(class_), COLUMN_MACHINE, 0, NULL, NULL},
    {"title", N_("what"), COLUMN_MSG, AT(title), COLUMN_FLEXIBLE, 0, NULL, NULL},
    {"lost_ns", N_("lost"), COLUMN_NS, AT(lost_ns), 0, 1, "the loss cannot be told from a timeline", NULL},
    {"saving_low_ns", N_("saves at least"), COLUMN_NS, AT(saving_ns[0]), COLUMN_NO_JSON, 2,
     "the saving cannot be estimated", NULL},
    {"saving_high_ns", N_("at most"), COLUMN_NS, AT(saving_ns[1]), COLUMN_NO_JSON, 2,
     "the saving cannot be estimated", NULL},
    {"confidence_ratio", N_("confidence"), COLUMN_RATIO, AT(confidence_ratio), 0, 3, "not estimated", NULL},
    {"device", NULL, COLUMN_DEVICE, AT(device), COLUMN_MACHINE, 0, "it concerns all devices", NULL},
    {"file", NULL, COLUMN_LITERAL, AT(file), COLUMN_MACHINE, 0, WHY_PLACE, NULL},
    {"line", NULL, COLUMN_ID, AT(line), COLUMN_MACHINE | COLUMN_POSITIVE, 0, WHY_PLACE, NULL},
    {"action", NULL, COLUMN_MSG, AT(action), COLUMN_MACHINE, 0, "there is nothing to do", NULL},
    COLUMN_END,
};
#undef AT

/* ---- memory, ranks, bounds ----------------------------------------------------------------------------- */

static void get_memory_pid(const struct report *report, const void *row, struct cell *cell)
{
    uint32_t process = ((const struct memory_report *)row)->process;
    if (process < report->run->processes.count)
        cell_set(cell, value_id(report->run->processes.at[process].pid));
}

#define AT(field) offsetof(struct memory_report, field)
const struct column memory_columns[] = {
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 0, WHY_SOURCE, NULL},
    {"pid", N_("process"), COLUMN_GET, 0, COLUMN_RIGHT, 2, WHY_SOURCE, get_memory_pid},
    {"peak_allocated_bytes", N_("peak allocated"), COLUMN_BYTES, AT(peak_allocated_bytes), 0, 0, WHY_SOURCE,
     NULL},
    {"peak_reserved_bytes", N_("peak reserved"), COLUMN_BYTES, AT(peak_reserved_bytes), 0, 0, WHY_SOURCE,
     NULL},
    {"total_bytes", N_("device memory"), COLUMN_BYTES, AT(total_bytes), COLUMN_POSITIVE, 0, WHY_SOURCE, NULL},
    {"peak_at_ns", N_("peak at"), COLUMN_MOMENT, AT(peak_time), 0, 1, WHY_SOURCE, NULL},
    {"first_allocated_bytes", N_("at first"), COLUMN_BYTES, AT(first_allocated_bytes), 0, 3, WHY_SOURCE,
     NULL},
    {"last_allocated_bytes", N_("at last"), COLUMN_BYTES, AT(last_allocated_bytes), 0, 3, WHY_SOURCE, NULL},
    {"sample_count", N_("samples"), COLUMN_COUNT, AT(samples), 0, 4, NULL, NULL},
    COLUMN_END,
};
#undef AT

static void get_rank(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    if (((const struct rank_row *)row)->rank >= 0)
        cell_set(cell, value_id(((const struct rank_row *)row)->rank));
}

static void get_rank_source(const struct report *report, const void *row, struct cell *cell)
{
    const struct source *source = &report->run->sources.at[((const struct rank_row *)row)->source];
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, source->path));
}

#define AT(field)     offsetof(struct rank_row, field)
#define WHY_UNMATCHED "no collective could be matched across ranks"
const struct column rank_columns[] = {
    {"rank", N_("rank"), COLUMN_GET, 0, COLUMN_RIGHT, 0, "the recording is not of a rank", get_rank},
    {"source", N_("file"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 3, NULL, get_rank_source},
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 4, WHY_SOURCE, NULL},
    {"wall_ns", N_("wall"), COLUMN_NS, AT(wall_ns), 0, 1, NULL, NULL},
    {"busy_ns", N_("busy"), COLUMN_NS, AT(busy_ns), 0, 1, NULL, NULL},
    {"compute_ns", N_("compute"), COLUMN_NS, AT(compute_ns), 0, 0, NULL, NULL},
    {"comm_exposed_ns", N_("exposed comm"), COLUMN_NS, AT(comm_exposed_ns), 0, 0, NULL, NULL},
    {"idle_ns", N_("idle"), COLUMN_NS, AT(idle_ns), 0, 0, NULL, NULL},
    {"step_median_ns", N_("median step"), COLUMN_NS, AT(step_median_ns), COLUMN_POSITIVE, 2,
     "no repeating steps were found", NULL},
    {"excess_ratio", N_("over the median"), COLUMN_RATIO, AT(excess_ratio), 0, 2,
     "there is nothing to compare with", NULL},
    {"waited_ns", N_("waited"), COLUMN_NS, AT(waited_ns), 0, 1, WHY_UNMATCHED, NULL},
    {"caused_ns", N_("made others wait"), COLUMN_NS, AT(caused_ns), 0, 1, WHY_UNMATCHED, NULL},
    {"straggler", N_("straggler"), COLUMN_BOOL, AT(straggler), 0, 0, NULL, NULL},
    COLUMN_END,
};
#undef WHY_UNMATCHED
#undef AT

#define AT(field) offsetof(struct amdahl_report, field)
#define WHY       "the device did nothing"
const struct column amdahl_columns[] = {
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 0, NULL, NULL},
    {"wall_ns", N_("wall"), COLUMN_NS, AT(wall_ns), 0, 0, NULL, NULL},
    {"gpu_ns", N_("GPU"), COLUMN_NS, AT(gpu_ns), 0, 0, NULL, NULL},
    {"host_only_ns", N_("host only"), COLUMN_NS, AT(host_only_ns), 0, 0, NULL, NULL},
    {"comm_ns", N_("comm"), COLUMN_NS, AT(comm_ns), 0, 1, NULL, NULL},
    {"speedup_gpu_twice", N_("GPU 2× as fast"), COLUMN_NUMBER, AT(speedup_gpu_twice), 0, 0, WHY, NULL},
    {"speedup_gpu_infinite", N_("GPU ∞ fast"), COLUMN_NUMBER, AT(speedup_gpu_infinite), 0, 0,
     "the GPU was never idle: there is no bound", NULL},
    {"speedup_second_gpu", N_("a second GPU"), COLUMN_NUMBER, AT(speedup_second_gpu), 0, 0, WHY, NULL},
    COLUMN_END,
};
#undef WHY
#undef AT

/* ---- sources, losses, facts ---------------------------------------------------------------------------- */

#define AT(field) offsetof(struct source, field)
const struct column source_columns[] = {
    {"path", NULL, COLUMN_STRING, AT(path), 0, 0, NULL, NULL},
    {"format", NULL, COLUMN_STRING, AT(format), 0, 0, NULL, NULL},
    {"tool", NULL, COLUMN_STRING, AT(tool), 0, 0, WHY_SOURCE, NULL},
    {"bytes", NULL, COLUMN_BYTES, AT(bytes), 0, 0, "it was read from a pipe", NULL},
    {"clock_offset_ns", NULL, COLUMN_COUNT, AT(base_ns), 0, 0, "times of the file were taken as they are",
     NULL},
    COLUMN_END,
};
#undef AT

size_t source_row_count(const struct report *report)
{
    size_t count = 0;
    vec_each (&report->run->sources, source)
        count += source->repairs.count ? source->repairs.count : 1;
    return count;
}

const void *source_row(const struct report *report, size_t i, union section_scratch *scratch)
{
    vec_each (&report->run->sources, source) {
        size_t rows = source->repairs.count ? source->repairs.count : 1;
        if (i < rows) {
            scratch->source =
                (struct source_row){source, source->repairs.count ? &source->repairs.at[i] : NULL};
            break;
        }
        i -= rows;
    }
    return &scratch->source;
}

static void get_source_path(const struct report *report, const void *row, struct cell *cell)
{
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, ((const struct source_row *)row)->source->path));
}

static void get_source_format(const struct report *report, const void *row, struct cell *cell)
{
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, ((const struct source_row *)row)->source->format));
}

static void get_source_bytes(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    int64_t bytes = ((const struct source_row *)row)->source->bytes;
    if (bytes != UNKNOWN)
        cell_set(cell, value_bytes(bytes));
}

static void get_repair(const struct report *report, const void *row, struct cell *cell)
{
    const struct repair *repair = ((const struct source_row *)row)->repair;
    if (repair)
        cell_set_text(cell, VALUE_TERM, run_text(report->run, repair->text));
}

static void get_repair_count(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct repair *repair = ((const struct source_row *)row)->repair;
    if (repair)
        cell_set(cell, value_count(repair->count));
}

static void get_repair_offset(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct repair *repair = ((const struct source_row *)row)->repair;
    if (repair && repair->first_offset >= 0)
        cell_set(cell, value_id(repair->first_offset));
}

#define WHY "nothing had to be mended"
const struct column source_row_columns[] = {
    {"path", N_("file"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 0, NULL, get_source_path},
    {"format", N_("format"), COLUMN_GET, 0, 0, 0, NULL, get_source_format},
    {"bytes", N_("size"), COLUMN_GET, 0, COLUMN_RIGHT, 0, "it was read from a pipe", get_source_bytes},
    {"repair", N_("mended"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 0, WHY, get_repair},
    {"repair_count", N_("times"), COLUMN_GET, 0, COLUMN_RIGHT, 0, WHY, get_repair_count},
    {"first_offset", N_("first at byte"), COLUMN_GET, 0, COLUMN_RIGHT, 1, WHY, get_repair_offset},
    COLUMN_END,
};
#undef WHY

static const struct {
    const char *name, *title;
    size_t offset;
} losses[] = {
    {"dropped", N_("records that the recording tool dropped"), offsetof(struct losses, dropped)},
    {"untimed", N_("records without a possible time"), offsetof(struct losses, untimed)},
    {"unlinked", N_("GPU operations whose launching call is not in the recording"),
     offsetof(struct losses, unlinked)},
    {"malformed", N_("records that could not be understood"), offsetof(struct losses, malformed)},
    {"truncated_bytes", N_("bytes after the last complete record"), offsetof(struct losses, truncated_bytes)},
};

size_t loss_count(const struct report *report)
{
    (void)report;
    return sizeof losses / sizeof *losses;
}

const void *loss_row(const struct report *report, size_t i, union section_scratch *scratch)
{
    scratch->loss =
        (struct loss_row){.name = losses[i].name,
                          .title = losses[i].title,
                          .count = *(const int64_t *)((const char *)&report->run->losses + losses[i].offset)};
    return &scratch->loss;
}

#define AT(field) offsetof(struct loss_row, field)
const struct column loss_columns[] = {
    {"loss", NULL, COLUMN_LITERAL, AT(name), COLUMN_MACHINE, 0, NULL, NULL},
    {"title", N_("lost"), COLUMN_TERM, AT(title), COLUMN_PEOPLE | COLUMN_FLEXIBLE, 0, NULL, NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    COLUMN_END,
};
#undef AT

size_t fact_count(const struct report *report)
{
    return report->run->facts.count;
}

const void *fact_row(const struct report *report, size_t i, union section_scratch *scratch)
{
    (void)scratch;
    return &report->run->facts.at[i];
}

static void get_fact_source(const struct report *report, const void *row, struct cell *cell)
{
    const struct source *source = &report->run->sources.at[((const struct fact *)row)->source];
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, source->path));
}

#define AT(field) offsetof(struct fact, field)
const struct column fact_columns[] = {
    {"key", N_("fact"), COLUMN_STRING, AT(key), 0, 0, NULL, NULL},
    {"value", N_("value"), COLUMN_STRING, AT(value), COLUMN_FLEXIBLE, 0, "it is empty", NULL},
    {"source", N_("file"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 1, NULL, get_fact_source},
    COLUMN_END,
};
#undef AT
