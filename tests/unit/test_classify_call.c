/* call_classify(): what an API call does, from its name, in every dialect. */
#include "cmocka_all.h"

#include "analyze/analyze.h"

struct expected {
    enum call_class class;
    const char *names; /* separated by blanks */
};

static const struct expected table[] = {
    {CALL_LAUNCH,
     "cudaLaunchKernel cudaLaunchKernel_v7000 cudaLaunchKernel_ptsz cudaLaunchKernelExC_v11060 cudaLaunch "
     "cudaLaunchCooperativeKernel cuLaunchKernel cuLaunchKernelEx cuLaunchGridAsync cudaGraphLaunch "
     "cudaGraphLaunch_v10000 cuGraphLaunch hipLaunchKernel hipModuleLaunchKernel hipExtModuleLaunchKernel "
     "hipExtLaunchKernel hipHccModuleLaunchKernel hipGraphLaunch hipLaunchKernel_spt musaLaunchKernel "
     "muLaunchKernel mcLaunchKernel zeCommandListAppendLaunchKernel zeCommandQueueExecuteCommandLists "
     "urEnqueueKernelLaunch urEnqueueKernelLaunchWithArgsExp piEnqueueKernelLaunch clEnqueueNDRangeKernel"},
    {CALL_COPY,
     "cudaMemcpy cudaMemcpy_v3020 cudaMemcpyAsync cudaMemcpyAsync_ptsz cudaMemcpy2DAsync_v3020 cudaMemset "
     "cudaMemsetAsync cudaMemcpyToSymbol cudaMemPrefetchAsync cuMemcpyHtoDAsync_v2 cuMemcpyDtoH_v2_ptds "
     "cuMemsetD32Async hipMemcpyWithStream hipMemcpyAsync hipMemsetAsync hipMemcpyDtoDAsync musaMemcpyAsync "
     "hsa_amd_memory_async_copy hsa_memory_copy hsa_amd_memory_fill zeCommandListAppendMemoryCopy "
     "urEnqueueUSMMemcpy clEnqueueWriteBuffer"},
    {CALL_SYNC,
     "cudaDeviceSynchronize cudaDeviceSynchronize_v3020 cudaStreamSynchronize cudaStreamSynchronize_ptsz "
     "cudaEventSynchronize cudaThreadSynchronize cuCtxSynchronize cuStreamSynchronize cuEventSynchronize "
     "hipDeviceSynchronize hipStreamSynchronize hipEventSynchronize musaDeviceSynchronize "
     "hsa_signal_wait_scacquire hsa_amd_signal_wait_any zeEventHostSynchronize zeCommandQueueSynchronize "
     "urQueueFinish urEventWait piEventsWait clFinish clWaitForEvents"},
    {CALL_ALLOC,
     "cudaMalloc cudaMalloc_v3020 cudaMallocAsync cudaMallocAsync_v11020_ptsz cudaMallocManaged "
     "cudaMallocHost "
     "cudaFree cudaFree_v3020 cudaFreeHost_v3020 cudaFreeAsync cudaHostAlloc cudaHostRegister "
     "cudaMallocArray "
     "cuMemAlloc_v2 cuMemAllocHost_v2 cuMemAllocManaged cuMemFree_v2 cuMemCreate cuMemMap cuMemUnmap "
     "cuMemRelease cuMemAddressReserve cuMemAddressFree cuMemSetAccess cuMemHostRegister_v2 "
     "cudaMemPoolTrimTo "
     "cuArrayCreate_v2 cudaIpcOpenMemHandle hipMalloc hipMallocAsync hipFree hipHostMalloc hipHostFree "
     "hipExtMallocWithFlags hsa_amd_memory_pool_allocate hsa_amd_memory_pool_free hsa_amd_vmem_map "
     "zeMemAllocDevice zeMemFree urUSMDeviceAlloc urUSMFree clCreateBuffer"},
    {CALL_MODULE,
     "cuInit cuModuleLoadData cuModuleLoadDataEx cuModuleUnload cuLibraryLoadData cuLibraryUnload "
     "cuLinkComplete "
     "cuDevicePrimaryCtxRetain cuCtxCreate_v4 cudaDeviceReset_v3020 cudaGraphInstantiate "
     "cudaGraphInstantiateWithFlags cuGraphInstantiate_v2 cuFuncLoad nvrtcCompileProgram nvrtcCreateProgram "
     "nvJitLinkComplete hiprtcCompileProgram hipInit hipModuleLoadData __hipRegisterFatBinary "
     "__cudaRegisterFunction hsa_init hsa_executable_freeze zeModuleCreate zeInit urProgramBuild "
     "clBuildProgram"},
    {CALL_QUERY,
     "cudaGetDevice cudaGetDeviceCount cudaGetLastError cudaPeekAtLastError cudaEventRecord "
     "cudaEventRecord_ptsz "
     "cudaEventRecordWithFlags cudaEventQuery cudaStreamQuery cudaStreamWaitEvent "
     "cudaStreamIsCapturing_v10000 "
     "cudaStreamGetCaptureInfo_v2_v11030 cudaFuncGetAttributes cudaFuncSetAttribute cudaDeviceGetAttribute "
     "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaPointerGetAttributes cudaMemGetInfo "
     "cudaLaunchHostFunc cudaSetDevice cudaHostGetDevicePointer cuModuleGetFunction cuLibraryGetKernel "
     "cuGetProcAddress_v2 cuCtxSetCurrent cuKernelGetName cuStreamWaitEvent cuMemGetAddressRange "
     "cudaGetDeviceProperties_v2_v12000 hipGetDevicePropertiesR0600 __hipPushCallConfiguration "
     "__hipPopCallConfiguration hipStreamWaitEvent hipPointerGetAttribute hsa_signal_store_screlease "
     "hsa_agent_get_info zeCommandListAppendBarrier zeEventQueryStatus urEnqueueEventsWait clGetEventInfo "
     "nvrtcGetPTX"},
    {CALL_OTHER, "cudaStreamCreateWithFlags cudaProfilerStart_v4000 cudaGraphAddKernelNode cublasSgemm_v2 "
                 "cudnnConvolutionForward "
                 "cufftExecC2C curandGenerate ncclAllReduce pthread_mutex_lock aten::mm multiply cuda hip "
                 "mcast clear_cache "
                 "zebra urgent INVALID cuptiActivityFlushAll"},
};

static void every_dialect_has_the_same_classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *at = table[i].names;
        while (*at) {
            char name[128];
            size_t length = strcspn(at, " ");
            assert_true(length < sizeof name);
            memcpy(name, at, length);
            name[length] = '\0';
            if (call_classify(name) != table[i].class)
                fail_msg("%s is of class %d, not %d", name, call_classify(name), table[i].class);
            at += length + (at[length] == ' ');
        }
    }
}

static void odd_names_are_other(void **state)
{
    (void)state;
    static const char *const names[] = {"",     "_",     "____",  "cu",      "cuda_v2",
                                        "hsa_", "R0600", "_ptsz", "\xff\xfe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(call_classify(names[i]), CALL_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_has_the_same_classes),
        cmocka_unit_test(odd_names_are_other),
    };
    return cmocka_run_group_tests_name("classify_call", tests, NULL, NULL);
}
