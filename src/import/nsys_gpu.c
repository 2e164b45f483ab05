/* What the GPU did: kernels, copies, memsets, decompression, and graphs timed as a whole. */
#include <stdio.h>

#include "base/i18n.h"
#include "import/nsys.h"

/* Columns that every table of GPU activity has, in this order; the table's own come after them. */
enum { START, END, DEVICE, CONTEXT, STREAM, PID, CORRELATION, OWN };
#define COMMON_COLUMNS "start", "end", NSYS_STREAM_COLUMNS, "correlationId"

/* Appends the op of a row with what all kinds share. Returns its row, or SIZE_MAX for a row without a time or
 * a device. */
static size_t add_op(struct nsys *n, struct nsys_scan *scan, enum op_kind kind)
{
    struct interval when;
    if (!nsys_interval(n, scan, START, END, &when))
        return SIZE_MAX;
    uint32_t stream = nsys_row_stream(n, scan, DEVICE);
    if (stream == NONE)
        return SIZE_MAX;
    struct op_table *ops = &n->run->ops;
    size_t row = op_table_add(ops);
    ops->start[row] = when.start;
    ops->end[row] = when.end;
    ops->stream[row] = stream;
    ops->correlation[row] = (uint64_t)nsys_scan_int_or(scan, CORRELATION, 0);
    ops->kind[row] = (uint8_t)kind;
    ops->bytes[row] = UNKNOWN;
    ops->shape[row] = ops->call[row] = ops->comm[row] = NONE;
    return row;
}

/* The graph of a node: its own column in newer exports, else the upper half of the node's id. */
static uint32_t graph_of(struct nsys_scan *scan, int graph_column, int node_column)
{
    int64_t graph = graph_column >= 0 ? nsys_scan_int_or(scan, graph_column, 0) : 0;
    if (graph > 0 && graph < UINT32_MAX)
        return (uint32_t)graph;
    uint64_t node = (uint64_t)nsys_scan_int_or(scan, node_column, 0);
    return (uint32_t)(node >> 32 ? node >> 32 : node);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

enum {
    KERNEL_NAME = OWN,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    CLUSTER_X,
    CLUSTER_Y,
    CLUSTER_Z,
    REGISTERS,
    SHARED_STATIC,
    SHARED_DYNAMIC,
    LOCAL_BYTES,
    KERNEL_NODE,
    KERNEL_GRAPH,
    KERNEL_COLUMNS,
};

static const char *const kernel_columns[KERNEL_COLUMNS] = {
    COMMON_COLUMNS,
    "demangledName|mangledName|shortName|name",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "clusterX",
    "clusterY",
    "clusterZ",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
    "graphNodeId",
    "graphId",
};

static uint32_t count_cell(struct nsys_scan *scan, int column)
{
    int64_t value = nsys_scan_int_or(scan, column, 0);
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t kernel_shape(struct nsys *n, struct nsys_scan *scan)
{
    struct shape shape = {
        .regs_per_thread = count_cell(scan, REGISTERS),
        .shared_static_bytes = count_cell(scan, SHARED_STATIC),
        .shared_dynamic_bytes = count_cell(scan, SHARED_DYNAMIC),
        .local_bytes_per_thread = count_cell(scan, LOCAL_BYTES),
        .occupancy_percent = -1,
    };
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = count_cell(scan, GRID_X + i);
        shape.block[i] = count_cell(scan, BLOCK_X + i);
        shape.cluster[i] = count_cell(scan, CLUSTER_X + i);
    }
    return run_shape(n->run, &shape);
}

static bool read_kernels(struct nsys *n, const char *table)
{
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, kernel_columns, KERNEL_COLUMNS))
        return false;
    bool has_shape = nsys_scan_has(&scan, GRID_X) && nsys_scan_has(&scan, BLOCK_X);
    while (nsys_scan_next(&scan)) {
        size_t row = add_op(n, &scan, OP_KERNEL);
        if (row == SIZE_MAX)
            continue;
        n->run->ops.name[row] = nsys_name(n, &scan, KERNEL_NAME);
        n->run->ops.graph[row] = graph_of(&scan, KERNEL_GRAPH, KERNEL_NODE);
        if (has_shape)
            n->run->ops.shape[row] = kernel_shape(n, &scan);
    }
    return true;
}

/* ---- copies and memsets -------------------------------------------------------------------------------- */

/* ENUM_CUDA_MEMCPY_OPER (CUpti_ActivityMemcpyKind), named as nsys stats names the operations. */
static const struct {
    const char *name;
    enum copy_dir dir;
} copy_kinds[] = {
    {"[CUDA memcpy]", COPY_UNKNOWN},
    {"[CUDA memcpy Host-to-Device]", COPY_H2D},
    {"[CUDA memcpy Device-to-Host]", COPY_D2H},
    {"[CUDA memcpy Host-to-Array]", COPY_H2D},
    {"[CUDA memcpy Array-to-Host]", COPY_D2H},
    {"[CUDA memcpy Array-to-Array]", COPY_D2D},
    {"[CUDA memcpy Array-to-Device]", COPY_D2D},
    {"[CUDA memcpy Device-to-Array]", COPY_D2D},
    {"[CUDA memcpy Device-to-Device]", COPY_D2D},
    {"[CUDA memcpy Host-to-Host]", COPY_H2H},
    {"[CUDA memcpy Peer-to-Peer]", COPY_P2P},
    {"[CUDA memcpy Unified Host-to-Device]", COPY_MANAGED_H2D},
    {"[CUDA memcpy Unified Device-to-Host]", COPY_MANAGED_D2H},
    {"[CUDA memcpy Unified Device-to-Device]", COPY_MANAGED_D2D},
};

/* ENUM_CUDA_MEM_KIND: static device and managed variables are device and managed memory. */
static const uint8_t mem_kinds[] = {MEM_PAGEABLE, MEM_PINNED, MEM_DEVICE,  MEM_ARRAY,
                                    MEM_MANAGED,  MEM_DEVICE, MEM_MANAGED, MEM_UNKNOWN};

static uint8_t mem_kind(struct nsys_scan *scan, int column)
{
    int64_t kind = nsys_scan_int_or(scan, column, -1);
    return kind >= 0 && kind < NSYS_COUNT(mem_kinds) ? mem_kinds[kind] : MEM_UNKNOWN;
}

static int64_t byte_cell(struct nsys_scan *scan, int column)
{
    int64_t bytes = nsys_scan_int_or(scan, column, UNKNOWN);
    return bytes >= 0 ? bytes : UNKNOWN;
}

static void read_copies(struct nsys *n, const char *table)
{
    enum { BYTES = OWN, COPY_KIND, SOURCE, TARGET, COPY_NODE, COPY_COLUMNS };
    static const char *const columns[COPY_COLUMNS] = {COMMON_COLUMNS, "bytes",   "copyKind",
                                                      "srcKind",      "dstKind", "graphNodeId"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, table, columns, COPY_COLUMNS))
        return;
    uint32_t names[NSYS_COUNT(copy_kinds)];
    for (int i = 0; i < NSYS_COUNT(copy_kinds); i++)
        names[i] = intern_puts(&n->run->strings, copy_kinds[i].name);
    while (nsys_scan_next(&scan)) {
        size_t row = add_op(n, &scan, OP_COPY);
        if (row == SIZE_MAX)
            continue;
        struct op_table *ops = &n->run->ops;
        int64_t kind = nsys_scan_int_or(&scan, COPY_KIND, 0);
        kind = kind > 0 && kind < NSYS_COUNT(copy_kinds) ? kind : 0;
        ops->name[row] = names[kind];
        ops->dir[row] = (uint8_t)copy_kinds[kind].dir;
        ops->bytes[row] = byte_cell(&scan, BYTES);
        ops->src[row] = mem_kind(&scan, SOURCE);
        ops->dst[row] = mem_kind(&scan, TARGET);
        ops->graph[row] = graph_of(&scan, -1, COPY_NODE);
    }
}

static void read_memsets(struct nsys *n)
{
    enum { BYTES = OWN, MEM_KIND, NODE, MEMSET_COLUMNS };
    static const char *const columns[MEMSET_COLUMNS] = {COMMON_COLUMNS, "bytes", "memKind", "graphNodeId"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "CUPTI_ACTIVITY_KIND_MEMSET", columns, MEMSET_COLUMNS))
        return;
    uint32_t name = intern_puts(&n->run->strings, "[CUDA memset]");
    while (nsys_scan_next(&scan)) {
        size_t row = add_op(n, &scan, OP_MEMSET);
        if (row == SIZE_MAX)
            continue;
        n->run->ops.name[row] = name;
        n->run->ops.bytes[row] = byte_cell(&scan, BYTES);
        n->run->ops.dst[row] = mem_kind(&scan, MEM_KIND);
        n->run->ops.graph[row] = graph_of(&scan, -1, NODE);
    }
}

/* The decompression engine reads compressed and writes plain device memory: a copy within the device. Only
 * the compressed size is recorded. */
static void read_decompressions(struct nsys *n)
{
    enum { BYTES = OWN, DECOMPRESS_COLUMNS };
    static const char *const columns[DECOMPRESS_COLUMNS] = {COMMON_COLUMNS, "sourceBytes"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS", columns, DECOMPRESS_COLUMNS))
        return;
    uint32_t name = intern_puts(&n->run->strings, "[CUDA memory decompression]");
    while (nsys_scan_next(&scan)) {
        size_t row = add_op(n, &scan, OP_COPY);
        if (row == SIZE_MAX)
            continue;
        n->run->ops.name[row] = name;
        n->run->ops.dir[row] = COPY_D2D;
        n->run->ops.src[row] = n->run->ops.dst[row] = MEM_DEVICE;
        n->run->ops.bytes[row] = byte_cell(&scan, BYTES);
    }
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

/* nsys traces a graph launch as one record unless told otherwise (--cuda-graph-trace=node). */
static bool read_graphs(struct nsys *n)
{
    enum { GRAPH = OWN, GRAPH_EXEC, GRAPH_COLUMNS };
    static const char *const columns[GRAPH_COLUMNS] = {COMMON_COLUMNS, "graphId", "graphExecId"};
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, GRAPH_COLUMNS))
        return false;
    while (nsys_scan_next(&scan)) {
        size_t row = add_op(n, &scan, OP_GRAPH);
        if (row == SIZE_MAX)
            continue;
        uint32_t graph = count_cell(&scan, GRAPH), exec = count_cell(&scan, GRAPH_EXEC);
        char name[40];
        snprintf(name, sizeof name, "CUDA graph %u", graph ? graph : exec);
        n->run->ops.name[row] = intern_puts(&n->run->strings, name);
        n->run->ops.graph[row] = exec ? exec : graph;
    }
    return true;
}

void nsys_read_gpu(struct nsys *n)
{
    bool kernels = read_kernels(n, "CUPTI_ACTIVITY_KIND_KERNEL");
    kernels |= read_kernels(n, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
    read_copies(n, "CUPTI_ACTIVITY_KIND_MEMCPY");
    read_copies(n, "CUPTI_ACTIVITY_KIND_MEMCPY2");
    read_memsets(n);
    read_decompressions(n);
    bool graphs = read_graphs(n);
    if (!kernels && !graphs)
        nsys_repair(n, N_("no kernel table: CUDA was not traced, or the program ran nothing on the GPU"), 1);
    else if (graphs && !kernels)
        nsys_repair(n, N_("no kernel table: only whole CUDA graphs were recorded"), 1);
}
