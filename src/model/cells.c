#include "model/cells.h"

#include <string.h>

const char *const op_kind_names[] = {"kernel", "copy", "memset", "graph", NULL};
const char *const copy_dir_names[] = {
    "unknown",      "host to device",    "device to host",  "device to device",         "host to host",
    "peer to peer", "managed to device", "managed to host", "managed device to device", NULL};
const char *const mem_kind_names[] = {"unknown", "pageable", "pinned", "device", "array", "managed", NULL};
const char *const span_kind_names[] = {"api",      "operator", "annotation", "python", "os",
                                       "overhead", "other",    "native",     NULL};
const char *const mark_kind_names[] = {"instant", "diagnostic", "out of memory", "xid", "throttle",
                                       "lost",    "paused",     "resumed",       NULL};
static const char *const vendor_names[] = {"unknown", "NVIDIA", "AMD", "Intel", "Meta", NULL};
static const char *const unit_names[] = {"none", "bytes", "ratio", "W", "°C", "Hz", "bytes/s", NULL};

#define CELL(table, member, key_, type_, absent_)                                                            \
    {                                                                                                        \
        .key = key_, .type = type_, .offset = offsetof(struct table, member), .count = 1, .absent = absent_  \
    }
#define CELL_OF(table, member, key_, names_, absent_)                                                        \
    {                                                                                                        \
        .key = key_, .type = CELL_ENUM, .offset = offsetof(struct table, member), .count = 1,                \
        .absent = absent_, .names = names_                                                                   \
    }
#define CELL_ARRAY(table, member, key_, type_)                                                               \
    {                                                                                                        \
        .key = key_, .type = type_, .offset = offsetof(struct table, member), .count = 3                     \
    }
#define CELLS_END                                                                                            \
    {                                                                                                        \
        .key = NULL                                                                                          \
    }

/* The kind of an op is always written: it tells readers that the slice is an op. */
const struct cell op_cells[] = {
    CELL_OF(op_row, kind, "kind", op_kind_names, -1),
    CELL(op_row, correlation, "correlation", CELL_UINT64, 0),
    CELL(op_row, external, "external_id", CELL_UINT64, 0),
    CELL(op_row, bytes, "bytes", CELL_INT64, UNKNOWN),
    CELL_OF(op_row, dir, "direction", copy_dir_names, COPY_UNKNOWN),
    CELL_OF(op_row, src, "source_memory", mem_kind_names, MEM_UNKNOWN),
    CELL_OF(op_row, dst, "destination_memory", mem_kind_names, MEM_UNKNOWN),
    CELL(op_row, graph, "graph", CELL_UINT32, 0),
    CELLS_END,
};

const struct cell shape_cells[] = {
    CELL_ARRAY(shape, grid, "grid", CELL_UINT32),
    CELL_ARRAY(shape, block, "block", CELL_UINT32),
    CELL_ARRAY(shape, cluster, "cluster", CELL_UINT32),
    CELL(shape, regs_per_thread, "registers_per_thread", CELL_UINT32, 0),
    CELL(shape, shared_static_bytes, "shared_static_bytes", CELL_UINT32, 0),
    CELL(shape, shared_dynamic_bytes, "shared_dynamic_bytes", CELL_UINT32, 0),
    CELL(shape, local_bytes_per_thread, "local_bytes_per_thread", CELL_UINT32, 0),
    CELL(shape, occupancy_percent, "occupancy_percent", CELL_INT32, -1),
    CELLS_END,
};

const struct cell comm_cells[] = {
    CELL(comm, collective, "collective", CELL_TEXT, 0),
    CELL(comm, group, "process_group", CELL_TEXT, 0),
    CELL(comm, ranks, "ranks", CELL_TEXT, 0),
    CELL(comm, dtype, "dtype", CELL_TEXT, 0),
    CELL(comm, in_elements, "in_elements", CELL_INT64, UNKNOWN),
    CELL(comm, out_elements, "out_elements", CELL_INT64, UNKNOWN),
    CELL(comm, group_size, "group_size", CELL_INT64, UNKNOWN),
    CELL(comm, seq, "sequence", CELL_INT64, UNKNOWN),
    CELLS_END,
};

const struct cell source_cells[] = {
    CELL(source, path, "path", CELL_TEXT, 0),
    CELL(source, format, "format", CELL_TEXT, 0),
    CELL(source, tool, "tool", CELL_TEXT, 0),
    CELL(source, bytes, "bytes", CELL_INT64, UNKNOWN),
    CELL(source, rank, "rank", CELL_INT32, -1),
    CELL(source, world_size, "world_size", CELL_INT32, 0),
    CELLS_END,
};

const struct cell repair_cells[] = {
    CELL(repair, text, "text", CELL_TEXT, 0),
    CELL(repair, count, "count", CELL_INT64, UNKNOWN),
    CELL(repair, first_offset, "first_offset", CELL_INT64, -1),
    CELLS_END,
};

const struct cell fact_cells[] = {
    CELL(fact, source, "source_row", CELL_ROW, NONE),
    CELL(fact, key, "key", CELL_TEXT, 0),
    CELL(fact, value, "value", CELL_TEXT, 0),
    CELLS_END,
};

/* Unlinked ops are counted anew whenever a run is sealed. */
const struct cell losses_cells[] = {
    CELL(losses, dropped, "dropped", CELL_INT64, 0),
    CELL(losses, untimed, "untimed", CELL_INT64, 0),
    CELL(losses, malformed, "malformed", CELL_INT64, 0),
    CELL(losses, truncated_bytes, "truncated_bytes", CELL_INT64, 0),
    CELLS_END,
};

const struct cell device_cells[] = {
    CELL(device, source, "source_row", CELL_ROW, NONE),
    CELL(device, id, "device", CELL_INT64, UNKNOWN),
    CELL(device, name, "name", CELL_TEXT, 0),
    CELL(device, uuid, "uuid", CELL_TEXT, 0),
    CELL_OF(device, vendor, "vendor", vendor_names, VENDOR_UNKNOWN),
    CELL(device, cc_major, "compute_capability_major", CELL_INT32, 0),
    CELL(device, cc_minor, "compute_capability_minor", CELL_INT32, 0),
    CELL(device, sm_count, "sm_count", CELL_INT32, 0),
    CELL(device, warp_size, "warp_size", CELL_INT32, 0),
    CELL(device, max_threads_per_sm, "max_threads_per_sm", CELL_INT32, 0),
    CELL(device, max_blocks_per_sm, "max_blocks_per_sm", CELL_INT32, 0),
    CELL(device, max_warps_per_sm, "max_warps_per_sm", CELL_INT32, 0),
    CELL(device, regs_per_sm, "registers_per_sm", CELL_INT32, 0),
    CELL(device, shared_bytes_per_sm, "shared_bytes_per_sm", CELL_INT64, 0),
    CELL(device, shared_bytes_per_block_optin, "shared_bytes_per_block_optin", CELL_INT64, 0),
    CELL(device, memory_bytes, "memory_bytes", CELL_INT64, 0),
    CELL(device, memory_bandwidth_bytes_per_s, "memory_bandwidth_bytes_per_s", CELL_INT64, 0),
    CELL(device, l2_bytes, "l2_bytes", CELL_INT64, 0),
    CELL(device, clock_hz, "clock_hz", CELL_INT64, 0),
    CELLS_END,
};

const struct cell process_cells[] = {
    CELL(process, source, "source_row", CELL_ROW, NONE),
    CELL(process, pid, "pid", CELL_INT64, UNKNOWN),
    CELL(process, name, "name", CELL_TEXT, 0),
    CELL(process, rank, "rank", CELL_INT32, -1),
    CELL(process, world_size, "world_size", CELL_INT32, 0),
    CELLS_END,
};

const struct cell thread_cells[] = {
    CELL(thread, process, "process_row", CELL_ROW, NONE),
    CELL(thread, tid, "tid", CELL_INT64, UNKNOWN),
    CELL(thread, name, "name", CELL_TEXT, 0),
    CELLS_END,
};

const struct cell stream_cells[] = {
    CELL(stream, process, "process_row", CELL_ROW, NONE),
    CELL(stream, device, "device_row", CELL_ROW, NONE),
    CELL(stream, context, "context", CELL_INT64, UNKNOWN),
    CELL(stream, id, "stream", CELL_INT64, UNKNOWN),
    CELL(stream, name, "name", CELL_TEXT, 0),
    CELLS_END,
};

const struct cell series_cells[] = {
    CELL(counter_series, name, "name", CELL_TEXT, 0),
    CELL(counter_series, device, "device_row", CELL_ROW, NONE),
    CELL(counter_series, process, "process_row", CELL_ROW, NONE),
    CELL_OF(counter_series, unit, "unit", unit_names, UNIT_NONE),
    CELLS_END,
};

const struct cell mark_cells[] = {
    CELL_OF(mark, kind, "kind", mark_kind_names, -1),
    CELL(mark, thread, "thread_row", CELL_ROW, NONE),
    CELL(mark, device, "device_row", CELL_ROW, NONE),
    CELLS_END,
};

const struct cell wait_cells[] = {
    CELL(wait, stream, "stream_row", CELL_ROW, NONE),
    CELL(wait, on_stream, "on_stream_row", CELL_ROW, NONE),
    CELLS_END,
};

struct op_row op_row(const struct run *run, size_t op)
{
    const struct op_table *ops = &run->ops;
    return (struct op_row){.bytes = ops->bytes[op],
                           .correlation = ops->correlation[op],
                           .external = ops->external[op],
                           .graph = ops->graph[op],
                           .kind = ops->kind[op],
                           .dir = ops->dir[op],
                           .src = ops->src[op],
                           .dst = ops->dst[op]};
}

void op_row_store(struct run *run, size_t op, const struct op_row *row)
{
    struct op_table *ops = &run->ops;
    ops->bytes[op] = row->bytes;
    ops->correlation[op] = row->correlation;
    ops->external[op] = row->external;
    ops->graph[op] = row->graph;
    ops->kind[op] = (uint8_t)row->kind;
    ops->dir[op] = (uint8_t)row->dir;
    ops->src[op] = (uint8_t)row->src;
    ops->dst[op] = (uint8_t)row->dst;
}

static bool is_64_bit(const struct cell *cell)
{
    return cell->type == CELL_INT64 || cell->type == CELL_UINT64;
}

static bool is_signed(const struct cell *cell)
{
    return cell->type == CELL_INT32 || cell->type == CELL_ENUM;
}

int64_t cell_get(const struct cell *cell, const void *row, int i)
{
    const char *at = (const char *)row + cell->offset;
    if (is_64_bit(cell)) {
        int64_t value;
        memcpy(&value, at + (size_t)i * sizeof value, sizeof value);
        return value;
    }
    uint32_t value;
    memcpy(&value, at + (size_t)i * sizeof value, sizeof value);
    return is_signed(cell) ? (int64_t)(int32_t)value : (int64_t)value;
}

static int64_t name_count(const struct cell *cell)
{
    int64_t n = 0;
    while (cell->names[n])
        n++;
    return n;
}

bool cell_set(const struct cell *cell, void *row, int i, int64_t value)
{
    char *at = (char *)row + cell->offset;
    if (is_64_bit(cell)) {
        memcpy(at + (size_t)i * sizeof value, &value, sizeof value);
        return true;
    }
    if (cell->type == CELL_INT32 ? value < INT32_MIN || value > INT32_MAX : value < 0 || value > UINT32_MAX)
        return false;
    if (cell->type == CELL_ENUM && value >= name_count(cell))
        return false;
    uint32_t narrow = (uint32_t)value;
    memcpy(at + (size_t)i * sizeof narrow, &narrow, sizeof narrow);
    return true;
}

/* "-1: always written" of an enum is no value of it: such a row starts with the first. */
void cells_clear(const struct cell *cells, void *row)
{
    for (const struct cell *cell = cells; cell->key; cell++)
        for (int i = 0; i < cell->count; i++)
            if (!cell_set(cell, row, i, cell->absent))
                cell_set(cell, row, i, 0);
}

int64_t cell_name_find(const char *const *names, const char *text, size_t length)
{
    for (int64_t i = 0; names[i]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return i;
    return -1;
}
