/* Layouts of CUPTI's records against its real header, where -Dcupti_headers names its folders. */
#include <stddef.h>

#include "cmocka_all.h"

#include <cuda.h>
#include <cupti_activity.h>

#include "activity_names.h"
#include "capture/activity.h"

#define SAME(ours, at, real, field)                                                                          \
    do {                                                                                                     \
        assert_int_equal(offsetof(struct ours, at), offsetof(real, field));                                  \
        assert_int_equal(sizeof(((struct ours *)0)->at), sizeof(((real *)0)->field));                        \
    } while (0)

static void operations_lie_where_cupti_puts_them(void **state)
{
    (void)state;
    SAME(activity_kernel, registers_per_thread, real_Kernel, registersPerThread);
    SAME(activity_kernel, start, real_Kernel, start);
    SAME(activity_kernel, end, real_Kernel, end);
    SAME(activity_kernel, device, real_Kernel, deviceId);
    SAME(activity_kernel, stream, real_Kernel, streamId);
    SAME(activity_kernel, grid[0], real_Kernel, gridX);
    SAME(activity_kernel, block[2], real_Kernel, blockZ);
    SAME(activity_kernel, dynamic_shared_bytes, real_Kernel, dynamicSharedMemory);
    SAME(activity_kernel, correlation, real_Kernel, correlationId);
    SAME(activity_kernel, name, real_Kernel, name);
    SAME(activity_kernel, graph_node, real_Kernel, graphNodeId);
    SAME(activity_kernel, graph_id, real_Kernel, graphId);
    SAME(activity_memcpy, copy_kind, real_Memcpy, copyKind);
    SAME(activity_memcpy, dst_kind, real_Memcpy, dstKind);
    SAME(activity_memcpy, bytes, real_Memcpy, bytes);
    SAME(activity_memcpy, correlation, real_Memcpy, correlationId);
    SAME(activity_memcpy, graph, real_Memcpy, graphId);
    SAME(activity_memcpy_p2p, dst_device, real_MemcpyPtoP, dstDeviceId);
    SAME(activity_memcpy_p2p, correlation, real_MemcpyPtoP, correlationId);
    SAME(activity_memcpy_p2p, graph, real_MemcpyPtoP, graphId);
    SAME(activity_memset, bytes, real_Memset, bytes);
    SAME(activity_memset, correlation, real_Memset, correlationId);
    SAME(activity_memset, graph, real_Memset, graphId);
    SAME(activity_graph, correlation, real_GraphTrace, correlationId);
    SAME(activity_graph, start, real_GraphTrace, start);
    SAME(activity_graph, graph, real_GraphTrace, graphId);
    SAME(activity_graph, stream, real_GraphTrace, streamId);
    assert_int_equal(ACTIVITY_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    assert_int_equal(ACTIVITY_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

static void the_host_s_records_lie_where_cupti_puts_them(void **state)
{
    (void)state;
    SAME(activity_api, cbid, real_API, cbid);
    SAME(activity_api, start, real_API, start);
    SAME(activity_api, thread, real_API, threadId);
    SAME(activity_api, correlation, real_API, correlationId);
    SAME(activity_overhead, overhead_kind, real_Overhead, overheadKind);
    SAME(activity_overhead, start, real_Overhead, start);
    SAME(activity_synchronization, type, real_Synchronization, type);
    SAME(activity_synchronization, end, real_Synchronization, end);
    SAME(activity_synchronization, stream, real_Synchronization, streamId);
    SAME(activity_device, memory_bytes, real_Device, globalMemorySize);
    SAME(activity_device, multiprocessors, real_Device, numMultiprocessors);
    SAME(activity_device, cc_minor, real_Device, computeCapabilityMinor);
    SAME(activity_device, id, real_Device, id);
    SAME(activity_device, name, real_Device, name);
}

static void memory_s_records_lie_where_cupti_puts_them(void **state)
{
    (void)state;
    SAME(activity_memory, operation, real_Memory, memoryOperationType);
    SAME(activity_memory, memory, real_Memory, memoryKind);
    SAME(activity_memory, address, real_Memory, address);
    SAME(activity_memory, bytes, real_Memory, bytes);
    SAME(activity_memory, time, real_Memory, timestamp);
    SAME(activity_memory, device, real_Memory, deviceId);
    SAME(activity_memory, pool_type, real_Memory, memoryPoolConfig.memoryPoolType);
    SAME(activity_memory, pool_address, real_Memory, memoryPoolConfig.address);
    SAME(activity_memory, pool_bytes, real_Memory, memoryPoolConfig.pool.size);
    SAME(activity_memory_pool, operation, real_MemoryPool, memoryPoolOperationType);
    SAME(activity_memory_pool, type, real_MemoryPool, memoryPoolType);
    SAME(activity_memory_pool, device, real_MemoryPool, deviceId);
    SAME(activity_memory_pool, address, real_MemoryPool, address);
    SAME(activity_memory_pool, bytes, real_MemoryPool, size);
    SAME(activity_memory_pool, time, real_MemoryPool, timestamp);
    SAME(activity_managed, counter, real_UnifiedMemoryCounter, counterKind);
    SAME(activity_managed, value, real_UnifiedMemoryCounter, value);
    SAME(activity_managed, end, real_UnifiedMemoryCounter, end);
    SAME(activity_managed, src_device, real_UnifiedMemoryCounter, srcId);
    SAME(activity_managed, dst_device, real_UnifiedMemoryCounter, dstId);
    assert_int_equal(ACTIVITY_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
    assert_int_equal(ACTIVITY_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
    assert_int_equal(ACTIVITY_MANAGED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    assert_int_equal(ACTIVITY_MEM_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
    assert_int_equal(ACTIVITY_MANAGED_H2D, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
    assert_int_equal(ACTIVITY_MANAGED_D2D, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
    assert_int_equal(ACTIVITY_RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
    assert_int_equal(ACTIVITY_POOL_LOCAL, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_lie_where_cupti_puts_them),
        cmocka_unit_test(the_host_s_records_lie_where_cupti_puts_them),
        cmocka_unit_test(memory_s_records_lie_where_cupti_puts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
