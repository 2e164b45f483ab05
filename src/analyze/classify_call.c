/* What an API call does, from its name.
 *
 * The vendors' runtimes are dialects of one interface: hipMemcpyAsync, musaMemcpyAsync and
 * cudaMemcpyAsync_ptsz differ in prefix and suffix only. So a name is cut into vendor prefix, stem and
 * version suffix, and the stem is looked up in the rules of its dialect; the first rule that matches decides.
 * A new spelling of an old call needs no change here.
 *
 * Sources: cuda_runtime_api.h and cuda.h 13.0, hip_runtime_api.h 7.0, hsa.h and hsa_ext_amd.h, the Level Zero
 * (ze_api.h 1.13), Unified Runtime (ur_api.h 0.12) and OpenCL (cl.h 3.0) headers. */
#include <string.h>

#include "analyze/analyze.h"

enum match { AT_START, ANYWHERE };

struct rule {
    const char *stem;
    enum match match;
    enum call_class class;
};

/* CUDA runtime and driver, HIP, MUSA and other dialects of them. */
static const struct rule cuda_rules[] = {
    {"LaunchHostFunc", AT_START, CALL_QUERY}, /* enqueues a host callback */
    {"Launch", AT_START,
     CALL_LAUNCH}, /* LaunchKernel, LaunchKernelExC, LaunchCooperativeKernel, LaunchGrid */
    {"GraphLaunch", AT_START, CALL_LAUNCH},
    {"ModuleLaunch", AT_START, CALL_LAUNCH}, /* hipModuleLaunchKernel */
    {"ExtLaunch", AT_START, CALL_LAUNCH},
    {"ExtModuleLaunch", AT_START, CALL_LAUNCH},
    {"HccModuleLaunch", AT_START, CALL_LAUNCH},
    {"DrvLaunch", AT_START, CALL_LAUNCH},
    {"Memcpy", AT_START, CALL_COPY}, /* asynchronous ones too */
    {"Memset", AT_START, CALL_COPY},
    {"DrvMemcpy", AT_START, CALL_COPY},
    {"MemPrefetch", AT_START, CALL_COPY},
    {"MemDiscardAndPrefetch", AT_START, CALL_COPY},
    {"Synchronize", ANYWHERE, CALL_SYNC},
    {"Get", ANYWHERE, CALL_QUERY}, /* lazy loading can make FuncGetAttributes slow; its name cannot tell */
    {"Query", ANYWHERE, CALL_QUERY},
    {"Peek", AT_START, CALL_QUERY},
    {"Event", AT_START, CALL_QUERY}, /* create, record, elapsed time */
    {"StreamWait", AT_START, CALL_QUERY},
    {"StreamWrite", AT_START, CALL_QUERY},
    {"StreamBatchMemOp", AT_START, CALL_QUERY},
    {"StreamIsCapturing", AT_START, CALL_QUERY},
    {"StreamBeginCapture", AT_START, CALL_QUERY},
    {"StreamEndCapture", AT_START, CALL_QUERY},
    {"StreamUpdateCapture", AT_START, CALL_QUERY},
    {"StreamAddCallback", AT_START, CALL_QUERY},
    {"StreamAttach", AT_START, CALL_QUERY},
    {"StreamSet", AT_START, CALL_QUERY},
    {"StreamCopyAttributes", AT_START, CALL_QUERY},
    {"SignalExternal", AT_START, CALL_QUERY},
    {"WaitExternal", AT_START, CALL_QUERY},
    {"GreenCtxRecord", AT_START, CALL_QUERY},
    {"GreenCtxWait", AT_START, CALL_QUERY},
    {"CtxRecord", AT_START, CALL_QUERY},
    {"CtxWait", AT_START, CALL_QUERY},
    {"CtxSet", AT_START, CALL_QUERY},
    {"CtxPush", AT_START, CALL_QUERY},
    {"CtxPop", AT_START, CALL_QUERY},
    {"SetDevice", AT_START, CALL_QUERY},
    {"ChooseDevice", AT_START, CALL_QUERY},
    {"DeviceCan", AT_START, CALL_QUERY},
    {"ThreadExchange", AT_START, CALL_QUERY},
    {"Occupancy", AT_START, CALL_QUERY},
    {"FuncSet", AT_START, CALL_QUERY},
    {"KernelSet", AT_START, CALL_QUERY},
    {"PointerSet", AT_START, CALL_QUERY},
    {"MemAdvise", AT_START, CALL_QUERY},
    {"MemPoolSet", AT_START, CALL_QUERY},
    {"ConfigureCall", AT_START, CALL_QUERY},
    {"SetupArgument", AT_START, CALL_QUERY},
    {"PushCallConfiguration", AT_START, CALL_QUERY},
    {"PopCallConfiguration", AT_START, CALL_QUERY},
    {"Malloc", AT_START, CALL_ALLOC},
    {"Free", AT_START, CALL_ALLOC},
    {"Host", AT_START, CALL_ALLOC}, /* HostAlloc, HostRegister, HostFree */
    {"ExtMalloc", AT_START, CALL_ALLOC},
    {"ExtHostAlloc", AT_START, CALL_ALLOC},
    {"MemAlloc", AT_START, CALL_ALLOC},
    {"MemFree", AT_START, CALL_ALLOC},
    {"MemHost", AT_START, CALL_ALLOC},
    {"MemCreate", AT_START, CALL_ALLOC},
    {"MemMap", AT_START, CALL_ALLOC},
    {"MemUnmap", AT_START, CALL_ALLOC},
    {"MemRelease", AT_START, CALL_ALLOC},
    {"MemRetain", AT_START, CALL_ALLOC},
    {"MemAddress", AT_START, CALL_ALLOC},
    {"MemSetAccess", AT_START, CALL_ALLOC},
    {"MemImport", AT_START, CALL_ALLOC},
    {"MemExport", AT_START, CALL_ALLOC},
    {"MemPool", AT_START, CALL_ALLOC},
    {"Multicast", AT_START, CALL_ALLOC},
    {"Array", AT_START, CALL_ALLOC},
    {"MipmappedArray", AT_START, CALL_ALLOC},
    {"ImportExternalMemory", AT_START, CALL_ALLOC},
    {"ExternalMemory", AT_START, CALL_ALLOC},
    {"DestroyExternalMemory", AT_START, CALL_ALLOC},
    {"IpcOpenMemHandle", AT_START, CALL_ALLOC},
    {"IpcCloseMemHandle", AT_START, CALL_ALLOC},
    {"DeviceGraphMemTrim", AT_START, CALL_ALLOC},
    {"Init", AT_START, CALL_MODULE},
    {"Module", AT_START, CALL_MODULE},
    {"Library", AT_START, CALL_MODULE},
    {"Link", AT_START, CALL_MODULE},
    {"FuncLoad", AT_START, CALL_MODULE},
    {"RegisterF", AT_START, CALL_MODULE}, /* RegisterFatBinary, RegisterFunction: before main() */
    {"RegisterVar", AT_START, CALL_MODULE},
    {"RegisterManagedVar", AT_START, CALL_MODULE},
    {"UnregisterFatBinary", AT_START, CALL_MODULE},
    {"DevicePrimaryCtx", AT_START, CALL_MODULE},
    {"DeviceReset", AT_START, CALL_MODULE},
    {"CtxCreate", AT_START, CALL_MODULE},
    {"CtxDestroy", AT_START, CALL_MODULE},
    {"CtxAttach", AT_START, CALL_MODULE},
    {"CtxDetach", AT_START, CALL_MODULE},
    {"GreenCtxCreate", AT_START, CALL_MODULE},
    {"GreenCtxDestroy", AT_START, CALL_MODULE},
    {"DeviceEnablePeerAccess", AT_START, CALL_MODULE}, /* maps all memory of the peer */
    {"CtxEnablePeerAccess", AT_START, CALL_MODULE},
    {"GraphInstantiate", AT_START,
     CALL_MODULE}, /* builds the executable of a graph: once per graph, like loading */
    {"GraphUpload", AT_START, CALL_MODULE},
    {0},
};

/* Run-time compilers: nvrtc, hiprtc, nvJitLink, the PTX compiler. */
static const struct rule compiler_rules[] = {
    {"Get", AT_START, CALL_QUERY},
    {"Version", ANYWHERE, CALL_QUERY},
    {"", AT_START, CALL_MODULE},
    {0},
};

static const struct rule hsa_rules[] = {
    {"signal_wait", ANYWHERE, CALL_SYNC},
    {"_get_", ANYWHERE, CALL_QUERY},
    {"iterate", ANYWHERE, CALL_QUERY},
    {"signal_", ANYWHERE, CALL_QUERY}, /* load, store, create; a store to a queue's doorbell is the launch */
    {"queue_load", ANYWHERE, CALL_QUERY},
    {"queue_store", ANYWHERE, CALL_QUERY},
    {"queue_add", ANYWHERE, CALL_QUERY},
    {"memory_async_copy", ANYWHERE, CALL_COPY},
    {"memory_copy", ANYWHERE, CALL_COPY},
    {"memory_fill", ANYWHERE, CALL_COPY},
    {"image_copy", ANYWHERE, CALL_COPY},
    {"image_import", ANYWHERE, CALL_COPY},
    {"image_export", ANYWHERE, CALL_COPY},
    {"svm_prefetch", ANYWHERE, CALL_COPY},
    {"memory_", ANYWHERE, CALL_ALLOC},
    {"vmem_", ANYWHERE, CALL_ALLOC},
    {"agents_allow_access", ANYWHERE, CALL_ALLOC},
    {"executable_", ANYWHERE, CALL_MODULE},
    {"code_object", ANYWHERE, CALL_MODULE},
    {"init", AT_START, CALL_MODULE},
    {"shut_down", AT_START, CALL_MODULE},
    {0},
};

static const struct rule level_zero_rules[] = {
    {"AppendLaunch", ANYWHERE, CALL_LAUNCH},
    {"QueueExecuteCommandLists", ANYWHERE, CALL_LAUNCH},
    {"ImmediateAppendCommandLists", ANYWHERE, CALL_LAUNCH},
    {"AppendMemory", ANYWHERE, CALL_COPY}, /* copy, fill, prefetch */
    {"AppendImageCopy", ANYWHERE, CALL_COPY},
    {"Append", ANYWHERE, CALL_QUERY}, /* barriers, events, time stamps */
    {"Synchronize", ANYWHERE, CALL_SYNC},
    {"Get", ANYWHERE, CALL_QUERY},
    {"Query", ANYWHERE, CALL_QUERY},
    {"Event", AT_START, CALL_QUERY},
    {"Mem", AT_START, CALL_ALLOC},
    {"PhysicalMem", AT_START, CALL_ALLOC},
    {"VirtualMem", AT_START, CALL_ALLOC},
    {"Init", AT_START, CALL_MODULE},
    {"Module", AT_START, CALL_MODULE},
    {"KernelCreate", AT_START, CALL_MODULE},
    {"Context", AT_START, CALL_MODULE},
    {0},
};

/* Unified Runtime and its predecessor, the SYCL plugin interface. */
static const struct rule unified_runtime_rules[] = {
    {"KernelLaunch", ANYWHERE, CALL_LAUNCH},
    {"CommandBuffer", ANYWHERE, CALL_LAUNCH},
    {"EnqueueEventsWait", ANYWHERE, CALL_QUERY}, /* a barrier on the device */
    {"EnqueueUSM", ANYWHERE, CALL_COPY},
    {"EnqueueMem", ANYWHERE, CALL_COPY},
    {"USMEnqueue", ANYWHERE, CALL_COPY},
    {"QueueFinish", ANYWHERE, CALL_SYNC},
    {"EventWait", ANYWHERE, CALL_SYNC},
    {"EventsWait", ANYWHERE, CALL_SYNC},
    {"Get", ANYWHERE, CALL_QUERY},
    {"USM", ANYWHERE, CALL_ALLOC},
    {"Mem", AT_START, CALL_ALLOC},
    {"PhysicalMem", AT_START, CALL_ALLOC},
    {"VirtualMem", AT_START, CALL_ALLOC},
    {"Program", AT_START, CALL_MODULE},
    {"KernelCreate", AT_START, CALL_MODULE},
    {"ContextCreate", AT_START, CALL_MODULE},
    {0},
};

static const struct rule opencl_rules[] = {
    {"EnqueueNDRangeKernel", AT_START, CALL_LAUNCH},
    {"EnqueueTask", AT_START, CALL_LAUNCH},
    {"EnqueueNativeKernel", AT_START, CALL_LAUNCH},
    {"EnqueueMarker", AT_START, CALL_QUERY},
    {"EnqueueBarrier", AT_START, CALL_QUERY},
    {"EnqueueSVMFree", AT_START, CALL_ALLOC},
    {"Enqueue", AT_START, CALL_COPY}, /* read, write, copy, fill, map, migrate */
    {"Finish", AT_START, CALL_SYNC},
    {"WaitForEvents", AT_START, CALL_SYNC},
    {"Flush", AT_START, CALL_QUERY},
    {"Get", AT_START, CALL_QUERY},
    {"Set", AT_START, CALL_QUERY},
    {"CreateBuffer", AT_START, CALL_ALLOC},
    {"CreateImage", AT_START, CALL_ALLOC},
    {"CreatePipe", AT_START, CALL_ALLOC},
    {"ReleaseMemObject", AT_START, CALL_ALLOC},
    {"SVM", AT_START, CALL_ALLOC},
    {"Create", AT_START, CALL_MODULE}, /* contexts, queues, programs, kernels */
    {"Build", AT_START, CALL_MODULE},
    {"Compile", AT_START, CALL_MODULE},
    {"Link", AT_START, CALL_MODULE},
    {0},
};

/* Longer prefixes come first. All but HSA's are followed by an upper-case letter, which keeps cublasCreate
 * and clear_buffer out. */
static const struct dialect {
    const char *prefix;
    const struct rule *rules;
} dialects[] = {
    {"nvrtc", compiler_rules},
    {"hiprtc", compiler_rules},
    {"nvJitLink", compiler_rules},
    {"nvPTXCompiler", compiler_rules},
    {"hsa_amd_", hsa_rules},
    {"hsa_ven_", hsa_rules},
    {"hsa_", hsa_rules},
    {"cuda", cuda_rules},
    {"musa", cuda_rules},
    {"hip", cuda_rules},
    {"cu", cuda_rules},
    {"mu", cuda_rules},
    {"mc", cuda_rules}, /* MetaX */
    {"ze", level_zero_rules},
    {"zes", level_zero_rules},
    {"ur", unified_runtime_rules},
    {"piext", unified_runtime_rules},
    {"pi", unified_runtime_rules},
    {"cl", opencl_rules},
};

/* Length of the stem without what versions append: _v2, _v11060, _ptsz, _ptds (per-thread default stream),
 * _spt (the same in HIP), R0600. */
static size_t stem_length(const char *stem)
{
    static const char *const variants[] = {"_ptsz", "_ptds", "_spt"};
    size_t length = strlen(stem);
    for (;;) {
        size_t before = length;
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            size_t n = strlen(variants[i]);
            if (length > n && memcmp(stem + length - n, variants[i], n) == 0)
                length -= n;
        }
        size_t digits = length;
        while (digits > 0 && stem[digits - 1] >= '0' && stem[digits - 1] <= '9')
            digits--;
        if (digits < length && digits > 2 && stem[digits - 1] == 'v' && stem[digits - 2] == '_')
            length = digits - 2;
        else if (length - digits == 4 && digits > 1 && stem[digits - 1] == 'R')
            length = digits - 1;
        if (length == before)
            return length;
    }
}

static bool rule_matches(const struct rule *rule, const char *stem, size_t length)
{
    size_t n = strlen(rule->stem);
    if (rule->match == AT_START)
        return length >= n && memcmp(stem, rule->stem, n) == 0;
    return memmem(stem, length, rule->stem, n) != NULL;
}

enum call_class call_classify(const char *name)
{
    while (*name == '_')
        name++; /* __hipPushCallConfiguration */
    for (size_t d = 0; d < sizeof dialects / sizeof *dialects; d++) {
        size_t n = strlen(dialects[d].prefix);
        if (strncmp(name, dialects[d].prefix, n) != 0)
            continue;
        const char *stem = name + n;
        if (stem[-1] != '_' && !(*stem >= 'A' && *stem <= 'Z'))
            continue;
        size_t length = stem_length(stem);
        for (const struct rule *rule = dialects[d].rules; rule->stem; rule++)
            if (rule_matches(rule, stem, length))
                return rule->class;
        return CALL_OTHER;
    }
    return CALL_OTHER;
}
