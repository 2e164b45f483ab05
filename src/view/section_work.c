/* Columns of the sections about what was done: kernels, copies, calls, launches, operators, streams,
 * collectives. */
#include "base/i18n.h"
#include "view/section_columns.h"

/* ---- kernels ------------------------------------------------------------------------------------------- */

static const struct shape *kernel_shape(const struct report *report, const void *row)
{
    uint32_t shape = ((const struct kernel_row *)row)->shape;
    return shape < report->run->shapes.count ? &report->run->shapes.at[shape] : NULL;
}

static void set_triple(struct cell *cell, const uint32_t *triple)
{
    if (triple[0] > 0)
        *cell = (struct cell){CELL_TRIPLE, {.triple = {triple[0], triple[1], triple[2]}}};
}

static void get_grid(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = kernel_shape(report, row);
    if (shape)
        set_triple(cell, shape->grid);
}

static void get_block(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = kernel_shape(report, row);
    if (shape)
        set_triple(cell, shape->block);
}

static void get_registers(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = kernel_shape(report, row);
    if (shape && shape->regs_per_thread > 0)
        cell_set(cell, value_count(shape->regs_per_thread));
}

static void get_shared(const struct report *report, const void *row, struct cell *cell)
{
    const struct shape *shape = kernel_shape(report, row);
    if (shape)
        cell_set(cell, value_bytes((int64_t)shape->shared_static_bytes + shape->shared_dynamic_bytes));
}

#define AT(field) offsetof(struct kernel_row, field)
const struct column kernel_columns[] = {
    {"name", N_("kernel"), COLUMN_KERNEL, AT(name), COLUMN_FLEXIBLE, 0, "the recording does not name it",
     NULL},
    {"short_name", NULL, COLUMN_LITERAL, AT(short_name), COLUMN_MACHINE, 0, "the recording does not name it",
     NULL},
    {"total_ns", N_("total"), COLUMN_NS, AT(total_ns), 0, 0, NULL, NULL},
    {"busy_share_ratio", N_("of busy"), COLUMN_RATIO, AT(busy_share_ratio), 0, 0, "no device was busy", NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"min_ns", N_("shortest"), COLUMN_NS, AT(min_ns), 0, 4, NULL, NULL},
    {"median_ns", N_("median"), COLUMN_NS, AT(median_ns), 0, 1, NULL, NULL},
    {"max_ns", N_("longest"), COLUMN_NS, AT(max_ns), 0, 1, NULL, NULL},
    {"grid", N_("grid"), COLUMN_GET, 0, COLUMN_RIGHT, 3, WHY_LAUNCH, get_grid},
    {"block", N_("block"), COLUMN_GET, 0, COLUMN_RIGHT, 3, WHY_LAUNCH, get_block},
    {"configuration_count", NULL, COLUMN_COUNT, AT(shape_count), COLUMN_MACHINE, 0, NULL, NULL},
    {"registers_per_thread", N_("regs"), COLUMN_GET, 0, COLUMN_RIGHT, 5, WHY_LAUNCH, get_registers},
    {"shared_bytes", N_("shared"), COLUMN_GET, 0, COLUMN_RIGHT, 6, WHY_LAUNCH, get_shared},
    {"theoretical_occupancy_ratio", N_("occupancy"), COLUMN_RATIO, AT(occupancy_ratio), 0, 4, WHY_LIMITS,
     NULL},
    {"sm_fill_ratio", N_("SM fill"), COLUMN_RATIO, AT(sm_fill_ratio), 0, 2, WHY_LIMITS, NULL},
    {"is_graph", NULL, COLUMN_BOOL, AT(is_graph), COLUMN_MACHINE, 0, NULL, NULL},
    {"is_communication", NULL, COLUMN_BOOL, AT(is_comm), COLUMN_MACHINE, 0, NULL, NULL},
    {"is_tuned_library", NULL, COLUMN_BOOL, AT(is_tuned_library), COLUMN_MACHINE, 0, NULL, NULL},
    {"is_matrix", NULL, COLUMN_BOOL, AT(is_matrix), COLUMN_MACHINE, 0, NULL, NULL},
    {"uses_tensor_cores", NULL, COLUMN_BOOL, AT(uses_tensor_cores), COLUMN_MACHINE, 0, NULL, NULL},
    {"is_fp64", NULL, COLUMN_BOOL, AT(is_fp64), COLUMN_MACHINE, 0, NULL, NULL},
    COLUMN_END,
};
#undef AT

/* ---- copies -------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct copy_row, field)
#define WHY_BYTES "the recording gives no size for these copies"
const struct column copy_columns[] = {
    {"kind", N_("transfer"), COLUMN_LITERAL, AT(kind), COLUMN_FLEXIBLE, 0, WHY_SOURCE, NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"bytes", N_("size"), COLUMN_BYTES, AT(bytes), 0, 0, WHY_BYTES, NULL},
    {"total_ns", N_("total"), COLUMN_NS, AT(total_ns), 0, 0, NULL, NULL},
    {"rate_bytes_per_s", N_("rate"), COLUMN_RATE, AT(rate_bytes_per_s), 0, 0, WHY_BYTES, NULL},
    {"overlapped_ratio", N_("overlapped"), COLUMN_RATIO, AT(overlapped_ratio), 0, 1,
     "the copies took no time", NULL},
    {"min_ns", N_("shortest"), COLUMN_NS, AT(min_ns), 0, 4, NULL, NULL},
    {"median_ns", N_("median"), COLUMN_NS, AT(median_ns), 0, 3, NULL, NULL},
    {"max_ns", N_("longest"), COLUMN_NS, AT(max_ns), 0, 3, NULL, NULL},
    {"small_count", N_("under 64 KiB"), COLUMN_COUNT, AT(small_count), 0, 2, NULL, NULL},
    {"unknown_bytes_count", NULL, COLUMN_COUNT, AT(unknown_bytes_count), COLUMN_MACHINE, 0, NULL, NULL},
    {"is_memset", NULL, COLUMN_BOOL, AT(is_memset), COLUMN_MACHINE, 0, NULL, NULL},
    COLUMN_END,
};
#undef AT

/* ---- calls, launches, operators ------------------------------------------------------------------------ */

#define AT(field) offsetof(struct call_row, field)
const struct column call_columns[] = {
    {"name", N_("API call"), COLUMN_STRING, AT(name), COLUMN_FLEXIBLE, 0, "the recording does not name it",
     NULL},
    {"total_ns", N_("total"), COLUMN_NS, AT(total_ns), 0, 0, NULL, NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"min_ns", N_("shortest"), COLUMN_NS, AT(min_ns), 0, 3, NULL, NULL},
    {"median_ns", N_("median"), COLUMN_NS, AT(median_ns), 0, 1, NULL, NULL},
    {"max_ns", N_("longest"), COLUMN_NS, AT(max_ns), 0, 1, NULL, NULL},
    {"launched_op_count", N_("GPU ops"), COLUMN_COUNT, AT(launched_ops), 0, 2, NULL, NULL},
    COLUMN_END,
};
#undef AT

#define AT(field) offsetof(struct launch_stats, field)
const struct column launch_columns[] = {
    {"launch_count", N_("launch calls"), COLUMN_COUNT, AT(launches), 0, 0, NULL, NULL},
    {"launches_per_s", N_("launches per second"), COLUMN_NUMBER, AT(launches_per_s), 0, 0, WHY_NO_LINKED,
     NULL},
    {"call_total_ns", N_("time in launch calls"), COLUMN_NS, AT(call_total_ns), 0, 0, WHY_NO_LINKED, NULL},
    {"call_median_ns", N_("median launch call"), COLUMN_NS, AT(call_median_ns), 0, 0, WHY_NO_LINKED, NULL},
    {"delay_count", N_("GPU ops with a launch call"), COLUMN_COUNT, AT(delay_count), 0, 0, NULL, NULL},
    {"delay_median_ns", N_("median delay from call to start"), COLUMN_NS, AT(delay_median_ns), 0, 0,
     WHY_NO_LINKED, NULL},
    {"delay_p95_ns", N_("95th percentile of the delay"), COLUMN_NS, AT(delay_p95_ns), 0, 0, WHY_NO_LINKED,
     NULL},
    {"delay_max_ns", N_("longest delay"), COLUMN_NS, AT(delay_max_ns), 0, 0, WHY_NO_LINKED, NULL},
    {"delay_total_ns", N_("sum of delays"), COLUMN_NS, AT(delay_total_ns), 0, 0, WHY_NO_LINKED, NULL},
    {"delay_own_stream_ns", N_("… behind work of the same stream"), COLUMN_NS, AT(delay_own_stream_ns), 0, 0,
     WHY_NO_LINKED, NULL},
    {"delay_hardware_ns", N_("… with the stream free"), COLUMN_NS, AT(delay_hardware_ns), 0, 0, WHY_NO_LINKED,
     NULL},
    {"floor_ns", N_("launch latency of this machine"), COLUMN_NS, AT(floor_ns), 0, 0,
     "no launch met an idle device", NULL},
    {"shorter_than_call_count", N_("kernels shorter than their launch call"), COLUMN_COUNT,
     AT(shorter_than_call), 0, 0, NULL, NULL},
    COLUMN_END,
};
#undef AT

#define AT(field) offsetof(struct operator_row, field)
const struct column operator_columns[] = {
    {"name", N_("operator"), COLUMN_STRING, AT(name), COLUMN_FLEXIBLE, 0, "the recording does not name it",
     NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"device_self_ns", N_("GPU self"), COLUMN_NS, AT(device_self_ns), 0, 0, NULL, NULL},
    {"device_total_ns", N_("GPU total"), COLUMN_NS, AT(device_total_ns), 0, 0, NULL, NULL},
    {"host_self_ns", N_("host self"), COLUMN_NS, AT(host_self_ns), 0, 1, NULL, NULL},
    {"host_total_ns", N_("host total"), COLUMN_NS, AT(host_total_ns), 0, 2, NULL, NULL},
    COLUMN_END,
};
#undef AT

/* ---- streams and collectives --------------------------------------------------------------------------- */

static const struct stream *stream_of(const struct report *report, const void *row)
{
    return &report->run->streams.at[((const struct stream_row *)row)->stream];
}

static void get_stream_device(const struct report *report, const void *row, struct cell *cell)
{
    *cell = (struct cell){CELL_DEVICE, {.index = stream_of(report, row)->device}};
}

static void get_stream_id(const struct report *report, const void *row, struct cell *cell)
{
    cell_set(cell, value_id(stream_of(report, row)->id));
}

static void get_stream_context(const struct report *report, const void *row, struct cell *cell)
{
    if (stream_of(report, row)->context != UNKNOWN)
        cell_set(cell, value_id(stream_of(report, row)->context));
}

static void get_stream_name(const struct report *report, const void *row, struct cell *cell)
{
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, stream_of(report, row)->name));
}

#define AT(field) offsetof(struct stream_row, field)
const struct column stream_columns[] = {
    {"device", N_("device"), COLUMN_GET, 0, 0, 0, NULL, get_stream_device},
    {"stream", N_("stream"), COLUMN_GET, 0, COLUMN_RIGHT, 0, NULL, get_stream_id},
    {"context", N_("context"), COLUMN_GET, 0, COLUMN_RIGHT, 3, WHY_SOURCE, get_stream_context},
    {"name", N_("name"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 4, "it has no name", get_stream_name},
    {"op_count", N_("GPU ops"), COLUMN_COUNT, AT(ops), 0, 0, NULL, NULL},
    {"busy_ns", N_("busy"), COLUMN_NS, AT(busy_ns), 0, 0, NULL, NULL},
    {"sum_ns", N_("sum of ops"), COLUMN_NS, AT(sum_ns), 0, 2, NULL, NULL},
    {"alone_ratio", N_("alone"), COLUMN_RATIO, AT(alone_ratio), 0, 0, "the stream was never busy", NULL},
    COLUMN_END,
};
#undef AT

#define AT(field) offsetof(struct concurrency_report, field)
const struct column concurrency_columns[] = {
    {"device", N_("device"), COLUMN_DEVICE, AT(device), 0, 0, NULL, NULL},
    {"max_streams", N_("most streams at once"), COLUMN_COUNT, AT(max_streams), 0, 0, NULL, NULL},
    {"mean_streams", N_("mean while busy"), COLUMN_NUMBER, AT(mean_streams), 0, 0,
     "the device was never busy", NULL},
    {"at_least_two_ns", N_("two or more at once"), COLUMN_NS, AT(ns_at_least_two), 0, 0, NULL, NULL},
    COLUMN_END,
};
#undef AT

#define AT(field) offsetof(struct comm_row, field)
const struct column comm_columns[] = {
    {"name", N_("collective"), COLUMN_KERNEL, AT(name), COLUMN_FLEXIBLE, 0, "the recording does not name it",
     NULL},
    {"group_size", N_("ranks"), COLUMN_COUNT, AT(group_size), COLUMN_POSITIVE, 0, WHY_SOURCE, NULL},
    {"count", N_("count"), COLUMN_COUNT, AT(count), 0, 0, NULL, NULL},
    {"total_ns", N_("total"), COLUMN_NS, AT(total_ns), 0, 0, NULL, NULL},
    {"exposed_ns", N_("exposed"), COLUMN_NS, AT(exposed_ns), 0, 0, NULL, NULL},
    {"bytes", N_("size"), COLUMN_BYTES, AT(bytes), 0, 1, WHY_SOURCE, NULL},
    COLUMN_END,
};
#undef AT
