/* Columns of profiled kernels. */
#include <math.h>

#include "analyze/occupancy.h"
#include "base/i18n.h"
#include "view/profiles.h"
#include "view/section_columns.h"

#define WHY_COUNTERS "the source holds no counters that tell it"
#define WHY_CODE     "the machine code was not given, or does not say"
#define WHY_UNTIMED  "the source holds no duration"

const char *state_name(enum counter_state state)
{
    static const char *const names[] = {
        [COUNTER_VALUE] = "",
        [COUNTER_UNSUPPORTED] = "not on this chip",
        [COUNTER_NO_PERMISSION] = "no permission",
        [COUNTER_NOT_MEASURED] = "not measured",
        [COUNTER_IMPLAUSIBLE] = "measured, but impossible",
        [COUNTER_UNDEFINED] = "a share of nothing",
    };
    return names[state];
}

struct value metric_cell(enum metric id, double value)
{
    switch (metric_infos[id].unit) {
    case IN_RATIO:
        return value_ratio(value);
    case IN_NS:
        return value_ns(isnan(value) ? UNKNOWN : (int64_t)round(value));
    case IN_BYTES:
        return value_bytes(isnan(value) ? UNKNOWN : (int64_t)round(value));
    case IN_COUNT:
        return value_count(isnan(value) ? UNKNOWN : (int64_t)round(value));
    case IN_BYTES_PER_S:
        return value_rate(value);
    case IN_HZ:
    case IN_NUMBER:
        break;
    }
    return value_number(value);
}

/* ---- what is not in a row as such ---------------------------------------------------------------------- */

static const struct shape *shape_of(const struct report *report, const void *row)
{
    uint32_t shape = ((const struct profile_row *)row)->shape;
    return shape == NONE ? NULL : &report->run->shapes.at[shape];
}

static void get_triple(struct cell *cell, const uint32_t triple[3])
{
    if (!triple[0])
        return;
    cell->kind = CELL_TRIPLE;
    for (int i = 0; i < 3; i++)
        cell->triple[i] = triple[i];
}

static void get_grid(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = shape_of(report, row);
    if (shape)
        get_triple(cell, shape->grid);
}

static void get_block(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = shape_of(report, row);
    if (shape)
        get_triple(cell, shape->block);
}

static void get_registers(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = shape_of(report, row);
    if (shape && shape->regs_per_thread)
        cell_set(cell, value_count(shape->regs_per_thread));
}

static void get_static_shared(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = shape_of(report, row);
    if (shape)
        cell_set(cell, value_bytes(shape->shared_static_bytes));
}

static void get_dynamic_shared(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = shape_of(report, row);
    if (shape)
        cell_set(cell, value_bytes(shape->shared_dynamic_bytes));
}

static const struct kernel_code *code_of(const struct report *report, const void *row)
{
    uint32_t code = ((const struct profile_row *)row)->code;
    return code == NONE ? NULL : &report->run->codes.at[code];
}

static void get_spill_stores(const struct report *report, const void *row, struct cell *cell)
{
    const struct kernel_code *code = code_of(report, row);
    if (code && code->spill_store_bytes != UNKNOWN)
        cell_set(cell, value_bytes(code->spill_store_bytes));
}

static void get_spill_loads(const struct report *report, const void *row, struct cell *cell)
{
    const struct kernel_code *code = code_of(report, row);
    if (code && code->spill_load_bytes != UNKNOWN)
        cell_set(cell, value_bytes(code->spill_load_bytes));
}

static void get_graph_kernels(const struct report *report, const void *row, struct cell *cell)
{
    uint32_t kernels = report->run->profiles.at[((const struct profile_row *)row)->profile].graph_kernels;
    if (kernels)
        cell_set(cell, value_count(kernels));
}

static void get_memory(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    double memory = pressure_of(row).memory;
    if (!isnan(memory))
        cell_set(cell, value_ratio(memory));
}

static void get_top_stall(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct profile_row *p = row;
    if (p->top_stall != STALL_NONE)
        cell_set_text(cell, VALUE_TEXT, stall_keys[p->top_stall]);
}

static void get_stall_share(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct profile_row *p = row;
    if (p->top_stall != STALL_NONE)
        cell_set(cell, value_ratio(p->stalls[p->top_stall]));
}

static void get_bound(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct profile_row *p = row;
    if (p->bound != BOUND_UNKNOWN)
        cell_set_text(cell, VALUE_TEXT, bound_name(p->bound));
}

static void get_top_finding(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct profile_row *p = row;
    if (p->findings.count)
        cell_set_text(cell, VALUE_TEXT, p->findings.at[0].id);
}

/* ---- the columns --------------------------------------------------------------------------------------- */

#define AT(field)           offsetof(struct profile_row, field)
#define METRIC(id)          offsetof(struct profile_row, metrics[METRIC_##id].value)
#define TYPE_IN_NUMBER      COLUMN_NUMBER
#define TYPE_IN_COUNT       COLUMN_NUMBER
#define TYPE_IN_RATIO       COLUMN_RATIO
#define TYPE_IN_NS          COLUMN_NUMBER
#define TYPE_IN_BYTES       COLUMN_NUMBER
#define TYPE_IN_BYTES_PER_S COLUMN_RATE
#define TYPE_IN_HZ          COLUMN_NUMBER
#define METRIC_COLUMN(id, key, unit, max)                                                                    \
    {key, NULL, TYPE_##unit, METRIC(id), COLUMN_MACHINE | COLUMN_NO_JSON, 0, WHY_COUNTERS, NULL},

const struct column profile_columns[] = {
    {"name", N_("kernel"), COLUMN_KERNEL, AT(name), COLUMN_FLEXIBLE, 0, NULL, NULL},
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 2, "the source does not say", NULL},
    {"launches", N_("launches"), COLUMN_COUNT, AT(launches), 0, 4, NULL, NULL},
    {"profiled_launches", NULL, COLUMN_COUNT, AT(profiled), COLUMN_MACHINE, 0, NULL, NULL},
    {"grid", N_("grid"), COLUMN_GET, 0, 0, 6, WHY_LAUNCH, get_grid},
    {"block", N_("block"), COLUMN_GET, 0, 0, 5, WHY_LAUNCH, get_block},
    {"total_ns", N_("time"), COLUMN_NS, AT(total_ns), 0, 0, WHY_UNTIMED, NULL},
    {"share_ratio", N_("share"), COLUMN_RATIO, AT(share_ratio), 0, 2, WHY_UNTIMED, NULL},
    {"memory_busy_ratio", N_("mem busy"), COLUMN_GET, 0, 0, 1, WHY_COUNTERS, get_memory},
    {"sm_active", N_("SM active"), COLUMN_RATIO, METRIC(SM_ACTIVE), COLUMN_PEOPLE, 1, NULL, NULL},
    {"occupancy", N_("occupancy"), COLUMN_RATIO, METRIC(ACHIEVED_OCCUPANCY), COLUMN_PEOPLE, 1, NULL, NULL},
    {"top_stall", N_("waits for"), COLUMN_GET, 0, 0, 1, WHY_COUNTERS, get_top_stall},
    {"top_stall_share", N_("of time"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_RIGHT, 3, NULL, get_stall_share},
    {"bound", N_("limit"), COLUMN_GET, 0, 0, 5, WHY_COUNTERS, get_bound},
    {"registers_per_thread", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_LAUNCH, get_registers},
    {"static_shared_bytes", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_LAUNCH, get_static_shared},
    {"dynamic_shared_bytes", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_LAUNCH, get_dynamic_shared},
    {"spill_store_bytes", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_CODE, get_spill_stores},
    {"spill_load_bytes", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_CODE, get_spill_loads},
    {"graph_kernels", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, "it is no CUDA graph", get_graph_kernels},
    {"waves", NULL, COLUMN_NUMBER, AT(waves), COLUMN_MACHINE, 0, WHY_LIMITS, NULL},
    {"top_finding", NULL, COLUMN_GET, 0, COLUMN_MACHINE | COLUMN_NO_JSON, 0, "nothing was found",
     get_top_finding},
    METRICS(METRIC_COLUMN) COLUMN_END,
};

const struct section profile_section = {
    .name = "kernels",
    .key = "kernels",
    .title = N_("Kernels"),
    .empty = N_("no kernels"),
    .columns = profile_columns,
    .vec = offsetof(struct report, profiles),
    .row_size = sizeof(struct profile_row),
};

void csv_profiles(FILE *out, const struct report *report, const struct view_options *options)
{
    csv_section(out, &profile_section, report, options->limit);
}
