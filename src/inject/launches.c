#include "inject/launches.h"

#include <stdio.h>
#include <string.h>

/* Kernels of libraries in which GPUs wait for each other. */
static bool waits_for_others(const char *symbol)
{
    static const char *const parts[] = {"nccl",     "nvshmem",   "cross_device_reduce",
                                        "multimem", "allreduce", "all_reduce",
                                        "one_shot", "two_shot"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(symbol, parts[i]))
            return true;
    return false;
}

static void fill(struct recorder *r, const struct driver *d, int device, struct kernel *kernel,
                 const char *symbol, const struct callback_launch_params *p)
{
    memcpy(kernel->grid, p->grid, sizeof kernel->grid);
    memcpy(kernel->block, p->block, sizeof kernel->block);
    kernel->dynamic_shared_bytes = p->dynamic_shared_bytes;
    kernel->registers = driver_function_attribute(d, DRIVER_REGISTERS, p->function, device);
    kernel->static_shared_bytes =
        driver_function_attribute(d, DRIVER_STATIC_SHARED_BYTES, p->function, device);
    kernel->local_bytes = driver_function_attribute(d, DRIVER_LOCAL_BYTES, p->function, device);
    kernel->name = texts_hash(r, symbol);
    kernel->excluded = waits_for_others(symbol);
    kernel->symbol = symbol;
}

static bool is_same(const struct kernel *kernel, const char *symbol, const struct callback_launch_params *p)
{
    return kernel->symbol == symbol && memcmp(kernel->grid, p->grid, sizeof kernel->grid) == 0 &&
           memcmp(kernel->block, p->block, sizeof kernel->block) == 0 &&
           kernel->dynamic_shared_bytes == p->dynamic_shared_bytes;
}

/* Its place, or a free one (symbol NULL); NULL: there are too many. */
static struct kernel *find(struct kernel *kernels, const char *symbol, const struct callback_launch_params *p)
{
    enum { MOST_TRIES = 16 };
    uint64_t hash = (uint64_t)(uintptr_t)symbol;
    for (int i = 0; i < 3; i++)
        hash = (hash ^ ((uint64_t)p->grid[i] << 32 | p->block[i])) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0, at = (uint32_t)(hash >> 32); i < MOST_TRIES; i++, at++) {
        struct kernel *kernel = &kernels[at & (KERNELS - 1)];
        if (!kernel->symbol || is_same(kernel, symbol, p))
            return kernel;
    }
    return NULL;
}

static struct kernel *find_kernel(struct recorder *r, const struct driver *d, int device,
                                  struct kernel *kernels, const char *symbol,
                                  const struct callback_launch_params *p)
{
    struct kernel *kernel = find(kernels, symbol, p);
    if (kernel && !kernel->symbol)
        fill(r, d, device, kernel, symbol, p);
    return kernel;
}

/* A handle may get another graph: the number tells. */
static struct kernel *find_graph(struct recorder *r, struct kernel *kernels, const char *executable)
{
    struct graph graph = graphs_find(executable);
    struct callback_launch_params key = {.grid = {graph.number}};
    struct kernel *kernel = find(kernels, executable, &key);
    char name[32];
    if (!kernel || kernel->symbol)
        return kernel;
    snprintf(name, sizeof name, "CUDA graph %u", graph.number);
    *kernel = (struct kernel){.symbol = executable,
                              .name = texts_hash(r, name),
                              .grid = {graph.number},
                              .is_graph = true,
                              .graph_kernels = graph.kernels};
    return kernel;
}

/* Calls of programs that were built for a default stream of each thread mean that by NULL. */
static void *stream_of(void *stream, bool of_thread)
{
    enum { OF_THREAD = 2 };
    return of_thread && !stream ? (void *)(uintptr_t)OF_THREAD : stream;
}

/* The parameters of all calls in one form; false: not of a single kernel. */
static bool read_params(uint32_t cbid, const void *params, struct callback_launch_params *out)
{
    switch (cbid) {
    case CALLBACK_LAUNCH_KERNEL:
    case CALLBACK_LAUNCH_KERNEL_PTSZ:
    case CALLBACK_LAUNCH_COOPERATIVE:
    case CALLBACK_LAUNCH_COOPERATIVE_PTSZ:
        memcpy(out, params, sizeof *out);
        out->stream = stream_of(out->stream, cbid == CALLBACK_LAUNCH_KERNEL_PTSZ ||
                                                 cbid == CALLBACK_LAUNCH_COOPERATIVE_PTSZ);
        return true;
    case CALLBACK_LAUNCH_KERNEL_EX:
    case CALLBACK_LAUNCH_KERNEL_EX_PTSZ: {
        const struct callback_launch_ex_params *ex = params;
        *out = (struct callback_launch_params){
            .function = ex->function,
            .dynamic_shared_bytes = ex->config->dynamic_shared_bytes,
            .stream = stream_of(ex->config->stream, cbid == CALLBACK_LAUNCH_KERNEL_EX_PTSZ)};
        memcpy(out->grid, ex->config->grid, sizeof out->grid);
        memcpy(out->block, ex->config->block, sizeof out->block);
        return true;
    }
    default:
        return false;
    }
}

static struct launch read_graph(struct recorder *r, const struct driver *driver, struct kernel *kernels,
                                uint32_t cbid, const struct callback_graph_params *params)
{
    struct launch launch = {.flags = RING_LAUNCH_GRAPH,
                            .stream = stream_of(params->stream, cbid == CALLBACK_GRAPH_LAUNCH_PTSZ)};
    int status = 0;
    launch.is_capture = driver->StreamIsCapturing(launch.stream, &status) == 0 && status != 0;
    if (params->executable && !launch.is_capture)
        launch.kernel = find_graph(r, kernels, params->executable);
    return launch;
}

struct launch launch_read(struct recorder *r, const struct driver *driver, int device, struct kernel *kernels,
                          uint32_t cbid, const struct callback_call *call)
{
    struct callback_launch_params params;
    if (cbid == CALLBACK_GRAPH_LAUNCH || cbid == CALLBACK_GRAPH_LAUNCH_PTSZ)
        return read_graph(r, driver, kernels, cbid, call->params);
    struct launch launch = {.is_single = read_params(cbid, call->params, &params)};
    if (!launch.is_single)
        return launch;
    int status = 0;
    launch.stream = params.stream;
    launch.is_capture = driver->StreamIsCapturing(params.stream, &status) == 0 && status != 0;
    if (cbid == CALLBACK_LAUNCH_COOPERATIVE || cbid == CALLBACK_LAUNCH_COOPERATIVE_PTSZ)
        launch.flags = RING_LAUNCH_COOPERATIVE;
    if (call->symbol && launch.is_capture && waits_for_others(call->symbol))
        graphs_exclude();
    if (call->symbol && !launch.is_capture)
        launch.kernel = find_kernel(r, driver, device, kernels, call->symbol, &params);
    launch.excluded =
        launch.kernel ? launch.kernel->excluded : call->symbol && waits_for_others(call->symbol);
    return launch;
}
