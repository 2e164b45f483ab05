/* Layout of CUPTI activity records, as far as Warplight reads them.
 *
 * Source: cupti_activity.h of CUDA 12.4 (API 22) and 13.5 (API 130500), and the offsets of every earlier
 * version of each structure that these headers keep: the fields below have not moved since CUDA 9 (kernels
 * since CUpti_ActivityKernel3, copies since CUpti_ActivityMemcpy3), because records only grow at the tail.
 * tests/unit/test_activity.c compares them with a real header where one is installed. */
#ifndef WARPLIGHT_CAPTURE_ACTIVITY_H
#define WARPLIGHT_CAPTURE_ACTIVITY_H

#include <stdint.h>

enum activity_kind { /* the first 32-bit word of every record */
                     ACTIVITY_MEMCPY = 1,
                     ACTIVITY_MEMSET = 2,
                     ACTIVITY_DRIVER = 4,
                     ACTIVITY_RUNTIME = 5,
                     ACTIVITY_DEVICE = 8,
                     ACTIVITY_KERNEL = 10, /* CONCURRENT_KERNEL: the kind that does not serialise */
                     ACTIVITY_MARKER = 12,
                     ACTIVITY_OVERHEAD = 17,
                     ACTIVITY_MEMCPY_P2P = 22,
                     ACTIVITY_MANAGED = 25, /* UNIFIED_MEMORY_COUNTER */
                     ACTIVITY_SYNCHRONIZATION = 38,
                     ACTIVITY_MEMORY = 49, /* MEMORY2: an allocation or a release */
                     ACTIVITY_MEMORY_POOL = 50,
                     ACTIVITY_GRAPH = 51, /* GRAPH_TRACE: a launch as one, without its nodes */
};

struct activity_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers_per_thread;
    uint32_t pad[2];
    uint64_t start, end, completed; /* ns; start = end = 0: no time */
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t local_bytes_per_thread, local_bytes_total;
    uint32_t correlation;
    int64_t grid_id;
    uint64_t name; /* address in the target */
    uint64_t reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, is_shared_config_set;
    uint16_t shared_carveout;
    uint32_t shared_executed;
    uint64_t graph_node; /* here ends what CUDA 11.0 wrote, but for graph_id */
    uint32_t limit_config, graph_id;
};

struct activity_memcpy {
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint32_t runtime_correlation, pad;
    uint64_t reserved;
    uint64_t graph_node; /* since CUDA 11.1, as graph */
    uint32_t graph;
};

struct activity_memcpy_p2p {
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t src_device, src_context, dst_device, dst_context;
    uint32_t correlation;
    uint64_t reserved;
    uint64_t graph_node; /* since CUDA 11.1, as graph */
    uint32_t graph;
};

struct activity_memset {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint32_t flags, pad;
    uint64_t reserved;
    uint64_t graph_node; /* since CUDA 11.1, as graph */
    uint32_t graph;
};

struct activity_api {
    uint32_t kind;
    uint32_t cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

/* The object is packed: it starts 4-byte aligned. */
struct activity_overhead {
    uint32_t kind;
    uint32_t overhead_kind;
    uint32_t object_kind; /* 0 unknown, 1 process, 2 thread, … */
    uint32_t object[3];   /* process id, thread id for kinds 1 and 2 */
    uint64_t start, end;
};

struct activity_synchronization {
    uint32_t kind;
    uint32_t type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
};

struct activity_graph {
    uint32_t kind;
    uint32_t correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
    uint64_t reserved;
    uint32_t end_device, end_context; /* since CUDA 12.3 */
};

struct activity_memory { /* CUpti_ActivityMemory2 and later */
    uint32_t kind;
    uint32_t operation; /* ACTIVITY_ALLOCATION, ACTIVITY_RELEASE */
    uint32_t memory;    /* ACTIVITY_MEM_DEVICE, … */
    uint32_t correlation;
    uint64_t address, bytes, time, pc;
    uint32_t process, device, context, stream;
    uint64_t name;
    uint32_t is_async, pad;
    uint32_t pool_type, pad2; /* ACTIVITY_POOL_LOCAL: of the pool at pool_address, whose size follows */
    uint64_t pool_address, release_threshold, pool_bytes;
};

struct activity_memory_pool {
    uint32_t kind;
    uint32_t operation; /* ACTIVITY_POOL_DESTROYED, … */
    uint32_t type, correlation, process, device;
    uint64_t least_bytes, address, bytes, release_threshold, time;
};

struct activity_managed { /* CUpti_ActivityUnifiedMemoryCounter2 and later */
    uint32_t kind;
    uint32_t counter; /* ACTIVITY_MANAGED_H2D, … */
    uint64_t value, start, end, address;
    uint32_t src_device, dst_device, stream, process;
};

struct activity_device { /* CUpti_ActivityDevice2 and later */
    uint32_t kind;
    uint32_t flags;
    uint64_t memory_bandwidth_kbytes_per_s;
    uint64_t memory_bytes;
    uint32_t constant_memory_bytes, l2_bytes, warp_size, clock_khz, copy_engines, multiprocessors;
    uint32_t max_ipc, max_warps_per_sm, max_blocks_per_sm, max_shared_bytes_per_sm, max_registers_per_sm;
    uint32_t max_registers_per_block, max_shared_bytes_per_block, max_threads_per_block;
    uint32_t max_block[3], max_grid[3];
    uint32_t cc_major, cc_minor, id, ecc;
    uint8_t uuid[16];
    uint64_t name; /* address in the target */
};

/* CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind. */
enum {
    ACTIVITY_COPY_H2D = 1,
    ACTIVITY_COPY_D2H,
    ACTIVITY_COPY_H2A,
    ACTIVITY_COPY_A2H,
    ACTIVITY_COPY_A2A,
    ACTIVITY_COPY_A2D,
    ACTIVITY_COPY_D2A,
    ACTIVITY_COPY_D2D,
    ACTIVITY_COPY_H2H,
    ACTIVITY_COPY_P2P
};
enum {
    ACTIVITY_MEM_PAGEABLE = 1,
    ACTIVITY_MEM_PINNED,
    ACTIVITY_MEM_DEVICE,
    ACTIVITY_MEM_ARRAY,
    ACTIVITY_MEM_MANAGED,
    ACTIVITY_MEM_DEVICE_STATIC,
    ACTIVITY_MEM_MANAGED_STATIC
};

enum { ACTIVITY_ALLOCATION = 1, ACTIVITY_RELEASE = 2 };
enum { ACTIVITY_POOL_LOCAL = 1, ACTIVITY_POOL_CREATED = 1, ACTIVITY_POOL_DESTROYED = 2 };
enum { /* CUpti_ActivityUnifiedMemoryCounterKind */
       ACTIVITY_MANAGED_H2D = 1,
       ACTIVITY_MANAGED_D2H = 2,
       ACTIVITY_MANAGED_CPU_FAULTS = 3,
       ACTIVITY_MANAGED_GPU_FAULTS = 4,
       ACTIVITY_MANAGED_D2D = 8
};

_Static_assert(__builtin_offsetof(struct activity_kernel, name) == 104, "as in CUpti_ActivityKernel4 to 13");
_Static_assert(__builtin_offsetof(struct activity_kernel, graph_id) == 156,
               "as in CUpti_ActivityKernel5 to 13");
_Static_assert(__builtin_offsetof(struct activity_memcpy_p2p, correlation) == 60,
               "as in CUpti_ActivityMemcpyPtoP4");
_Static_assert(__builtin_offsetof(struct activity_overhead, start) == 24, "as in CUpti_ActivityOverhead3");
_Static_assert(__builtin_offsetof(struct activity_memcpy, graph) == 72, "as in CUpti_ActivityMemcpy4 to 7");
_Static_assert(__builtin_offsetof(struct activity_memcpy_p2p, graph) == 80,
               "as in CUpti_ActivityMemcpyPtoP3 to 4");
_Static_assert(__builtin_offsetof(struct activity_memset, graph) == 72, "as in CUpti_ActivityMemset3 to 5");
_Static_assert(__builtin_offsetof(struct activity_graph, end_device) == 48,
               "as in CUpti_ActivityGraphTrace2");
_Static_assert(__builtin_offsetof(struct activity_memory, pool_bytes) == 104,
               "as in CUpti_ActivityMemory2 to 4");
_Static_assert(__builtin_offsetof(struct activity_memory_pool, time) == 56,
               "as in CUpti_ActivityMemoryPool to 3");
_Static_assert(__builtin_offsetof(struct activity_managed, process) == 52,
               "as in CUpti_ActivityUnifiedMemoryCounter2 to 3");
_Static_assert(__builtin_offsetof(struct activity_device, name) == 136, "as in CUpti_ActivityDevice2 to 6");

#endif
