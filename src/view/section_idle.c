/* Columns of the sections about time: ledger, gaps, culprits, steps. */
#include <math.h>

#include "base/i18n.h"
#include "view/section_columns.h"

const char *account_title(enum account account)
{
    static const char *const titles[ACCOUNT_COUNT] = {
        [ACCOUNT_COMPUTE] = N_("compute"),
        [ACCOUNT_COMPUTE_COPY] = N_("compute + copy"),
        [ACCOUNT_COMPUTE_COMM] = N_("compute + comm"),
        [ACCOUNT_COMM] = N_("comm"),
        [ACCOUNT_COPY] = N_("copy"),
        [IDLE_STARTUP] = N_("idle: startup"),
        [IDLE_DATA_LOADING] = N_("idle: data loading"),
        [IDLE_LAUNCH_BOUND] = N_("idle: launch-bound"),
        [IDLE_HOST_SYNC] = N_("idle: host sync"),
        [IDLE_HOST_COMPUTE] = N_("idle: host compute"),
        [IDLE_HOST_IO] = N_("idle: host I/O"),
        [IDLE_HOST_WAIT] = N_("idle: host wait"),
        [IDLE_ALLOCATOR] = N_("idle: allocator"),
        [IDLE_WARMUP] = N_("idle: warm-up"),
        [IDLE_DEPENDENCY] = N_("idle: dependency"),
        [IDLE_QUEUE] = N_("idle: queue full"),
        [IDLE_LAUNCH_LATENCY] = N_("idle: launch latency"),
        [IDLE_PROFILER] = N_("idle: profiler"),
        [IDLE_UNKNOWN] = N_("idle: unknown"),
        [IDLE_SHUTDOWN] = N_("idle: shutdown"),
    };
    return titles[account];
}

/* ---- ledger -------------------------------------------------------------------------------------------- */

size_t ledger_count(const struct report *report)
{
    return report->devices.count * ACCOUNT_COUNT;
}

const void *ledger_row(const struct report *report, size_t i, union section_scratch *scratch)
{
    const struct device_report *device = &report->devices.at[i / ACCOUNT_COUNT];
    enum account account = (enum account)(i % ACCOUNT_COUNT);
    int64_t ns = device->ledger_ns[account];
    scratch->ledger = (struct ledger_row){
        .device = device->device,
        .account = account,
        .ns = ns,
        .share_ratio = device->wall_ns > 0 ? (double)ns / (double)device->wall_ns : NAN,
    };
    return &scratch->ledger;
}

static void get_ledger_account(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TEXT, account_name(((const struct ledger_row *)row)->account));
}

static void get_ledger_title(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, account_title(((const struct ledger_row *)row)->account));
}

static void get_ledger_meaning(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, account_meaning(((const struct ledger_row *)row)->account));
}

#define AT(field) offsetof(struct ledger_row, field)
const struct column ledger_columns[] = {
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 3, NULL, NULL},
    {"account", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, NULL, get_ledger_account},
    {"title", N_("account"), COLUMN_GET, 0, COLUMN_PEOPLE, 0, NULL, get_ledger_title},
    {"ns", N_("time"), COLUMN_NS, AT(ns), 0, 0, NULL, NULL},
    {"share_ratio", N_("share"), COLUMN_RATIO, AT(share_ratio), COLUMN_BAR, 0, "the window is empty", NULL},
    {"meaning", N_("meaning"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_FLEXIBLE, 2, NULL, get_ledger_meaning},
    COLUMN_END,
};
#undef AT

/* ---- gaps ---------------------------------------------------------------------------------------------- */

int64_t gap_weight(const void *row)
{
    const struct gap_piece *gap = row;
    return gap->end - gap->start;
}

static void get_gap_duration(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set(cell, value_ns(gap_weight(row)));
}

static void get_gap_number(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set(cell, value_id(((const struct gap_piece *)row)->gap));
}

static void get_gap_cause(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TEXT, account_name(((const struct gap_piece *)row)->cause));
}

static void get_gap_title(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, account_title(((const struct gap_piece *)row)->cause));
}

static const char *span_name(const struct run *run, uint32_t span)
{
    return span < run->spans.count ? run_text(run, run->spans.name[span]) : NULL;
}

static void get_gap_path(const struct report *report, const void *row, struct cell *cell)
{
    const struct gap_piece *gap = row;
    const struct run *run = report->run;
    *cell = (struct cell){CELL_PATH,
                          {.path = {span_name(run, gap->annotation), span_name(run, gap->frame),
                                    span_name(run, gap->operator_), span_name(run, gap->call)}}};
}

#define AT(field) offsetof(struct gap_piece, field)
const struct column gap_columns[] = {
    {"start_ns", N_("at"), COLUMN_MOMENT, AT(start), 0, 0, NULL, NULL},
    {"end_ns", NULL, COLUMN_MOMENT, AT(end), COLUMN_MACHINE, 0, NULL, NULL},
    {"duration_ns", N_("idle"), COLUMN_GET, 0, COLUMN_RIGHT, 0, NULL, get_gap_duration},
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 4, NULL, NULL},
    {"gap", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, NULL, get_gap_number},
    {"cause", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, NULL, get_gap_cause},
    {"title", N_("cause"), COLUMN_GET, 0, COLUMN_PEOPLE, 0, NULL, get_gap_title},
    {"path", N_("what the host did"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_FLEXIBLE, 0, NULL, get_gap_path},
    {"thread", N_("thread"), COLUMN_THREAD, AT(thread), 0, 3, "no thread could be held responsible", NULL},
    {"call", NULL, COLUMN_SPAN_NAME, AT(call), COLUMN_MACHINE, 0, "no call was running then", NULL},
    {"operator", NULL, COLUMN_SPAN_NAME, AT(operator_), COLUMN_MACHINE, 0, "no operator was running then",
     NULL},
    {"annotation", NULL, COLUMN_SPAN_NAME, AT(annotation), COLUMN_MACHINE, 0, "no annotation was open then",
     NULL},
    {"frame", NULL, COLUMN_SPAN_NAME, AT(frame), COLUMN_MACHINE, 0, "no function was recorded then", NULL},
    {"stack", NULL, COLUMN_STRING, AT(stack), COLUMN_MACHINE, 0, "no call stack was recorded", NULL},
    {"next_op", N_("ended by"), COLUMN_OP_NAME, AT(next_op), COLUMN_FLEXIBLE, 2, "the window ended first",
     NULL},
    COLUMN_END,
};
#undef AT

/* ---- culprits ------------------------------------------------------------------------------------------ */

static void get_culprit_cause(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TEXT, account_name(((const struct culprit_row *)row)->cause));
}

static void get_culprit_title(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, account_title(((const struct culprit_row *)row)->cause));
}

static void get_culprit_path(const struct report *report, const void *row, struct cell *cell)
{
    const struct culprit_row *culprit = row;
    const struct run *run = report->run;
    *cell = (struct cell){CELL_PATH,
                          {.path = {culprit->annotation, run_text(run, culprit->frame),
                                    run_text(run, culprit->operator_), run_text(run, culprit->call)}}};
}

#define AT(field)  offsetof(struct culprit_row, field)
#define WHY_INSIDE "no native function was seen within the frame"
const struct column culprit_columns[] = {
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 1, NULL, NULL},
    {"cause", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, NULL, get_culprit_cause},
    {"title", N_("cause"), COLUMN_GET, 0, COLUMN_PEOPLE, 0, NULL, get_culprit_title},
    {"path", N_("what the host did"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_FLEXIBLE, 0, NULL,
     get_culprit_path},
    {"thread", N_("thread"), COLUMN_THREAD, AT(thread), 0, 2, "no thread could be held responsible", NULL},
    {"annotation", NULL, COLUMN_LITERAL, AT(annotation), COLUMN_MACHINE, 0, "no annotation was open then",
     NULL},
    {"frame", NULL, COLUMN_STRING, AT(frame), COLUMN_MACHINE, 0, "no function was recorded then", NULL},
    {"file", NULL, COLUMN_LITERAL, AT(code_file), COLUMN_MACHINE, 0, WHY_PLACE, NULL},
    {"line", NULL, COLUMN_ID, AT(code_line), COLUMN_MACHINE | COLUMN_POSITIVE, 0, WHY_PLACE, NULL},
    {"inside", NULL, COLUMN_STRING, AT(inside.value), COLUMN_MACHINE, 0, WHY_INSIDE, NULL},
    {"inside_ns", NULL, COLUMN_NS, AT(inside.ns), COLUMN_MACHINE | COLUMN_POSITIVE, 0, WHY_INSIDE, NULL},
    {"operator", NULL, COLUMN_STRING, AT(operator_), COLUMN_MACHINE, 0, "no operator was running then", NULL},
    {"call", NULL, COLUMN_STRING, AT(call), COLUMN_MACHINE, 0, "no call was running then", NULL},
    {"count", N_("times"), COLUMN_COUNT, AT(count), 0, 1, NULL, NULL},
    {"total_ns", N_("idle"), COLUMN_NS, AT(total_ns), 0, 0, NULL, NULL},
    {"longest_ns", N_("longest"), COLUMN_NS, AT(longest_ns), 0, 1, NULL, NULL},
    {"longest_at_ns", N_("at"), COLUMN_MOMENT, AT(longest_at), 0, 3, NULL, NULL},
    COLUMN_END,
};
#undef AT
#undef WHY_INSIDE

/* ---- steps --------------------------------------------------------------------------------------------- */

int64_t step_weight(const void *row)
{
    const struct step_row *step = row;
    return step->end - step->start;
}

static void get_step_number(const struct report *report, const void *row, struct cell *cell)
{
    cell_set(cell, value_id((const struct step_row *)row - report->steps.rows.at + 1));
}

static void get_step_duration(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set(cell, value_ns(step_weight(row)));
}

static void get_step_cause(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct step_row *step = row;
    if (step->outlier)
        cell_set_text(cell, VALUE_TEXT, account_name(step->outlier_cause));
}

static void get_step_title(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct step_row *step = row;
    if (step->outlier)
        cell_set_text(cell, VALUE_TERM, account_title(step->outlier_cause));
}

static void get_step_excess(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct step_row *step = row;
    if (step->outlier)
        cell_set(cell, value_ns(step->outlier_excess_ns));
}

#define AT(field) offsetof(struct step_row, field)
#define WHY       "the step is no outlier"
const struct column step_columns[] = {
    {"step", N_("step"), COLUMN_GET, 0, COLUMN_RIGHT, 0, NULL, get_step_number},
    {"name", N_("name"), COLUMN_STRING, AT(name), COLUMN_FLEXIBLE, 3, "no annotation names it", NULL},
    {"start_ns", N_("at"), COLUMN_MOMENT, AT(start), 0, 2, NULL, NULL},
    {"end_ns", NULL, COLUMN_MOMENT, AT(end), COLUMN_MACHINE, 0, NULL, NULL},
    {"duration_ns", N_("time"), COLUMN_GET, 0, COLUMN_RIGHT, 0, NULL, get_step_duration},
    {"busy_ns", N_("busy"), COLUMN_NS, AT(busy_ns), 0, 0, NULL, NULL},
    {"idle_ns", N_("idle"), COLUMN_NS, AT(idle_ns), 0, 0, NULL, NULL},
    {"op_count", N_("GPU ops"), COLUMN_COUNT, AT(ops), 0, 1, NULL, NULL},
    {"outlier", NULL, COLUMN_BOOL, AT(outlier), COLUMN_MACHINE, 0, NULL, NULL},
    {"outlier_excess_ns", N_("too long by"), COLUMN_GET, 0, COLUMN_RIGHT, 0, WHY, get_step_excess},
    {"outlier_cause", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY, get_step_cause},
    {"title", N_("because of"), COLUMN_GET, 0, COLUMN_PEOPLE, 0, WHY, get_step_title},
    COLUMN_END,
};
#undef WHY
#undef AT

static void get_step_origin(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    static const char *const origins[] = {"none", "sequence", "annotations"};
    cell_set_text(cell, VALUE_TEXT, origins[((const struct step_report *)row)->origin]);
}

#define AT(field) offsetof(struct step_report, field)
#define WHY       "no repeating steps were found"
const struct column step_report_columns[] = {
    {"origin", NULL, COLUMN_GET, 0, 0, 0, NULL, get_step_origin},
    {"device", NULL, COLUMN_DEVICE, AT(device), 0, 0, WHY, NULL},
    {"count", NULL, COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"period_launches", NULL, COLUMN_COUNT, AT(period_launches), COLUMN_POSITIVE, 0, WHY, NULL},
    {"median_ns", NULL, COLUMN_NS, AT(median_ns), COLUMN_POSITIVE, 0, WHY, NULL},
    {"min_ns", NULL, COLUMN_NS, AT(min_ns), COLUMN_POSITIVE, 0, WHY, NULL},
    {"max_ns", NULL, COLUMN_NS, AT(max_ns), COLUMN_POSITIVE, 0, WHY, NULL},
    {"p95_ns", NULL, COLUMN_NS, AT(p95_ns), COLUMN_POSITIVE, 0, WHY, NULL},
    {"coverage_ratio", NULL, COLUMN_RATIO, AT(coverage_ratio), 0, 0, WHY, NULL},
    COLUMN_END,
};
#undef WHY
#undef AT
