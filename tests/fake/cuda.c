/* A stand-in for libcuda.so.1, as far as measuring kernels asks it. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuCtxGetDevice(int *device);
EXPORT int cuCtxGetCurrent(void **context);
EXPORT int cuCtxSetCurrent(void *context);
EXPORT int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
EXPORT int cuGraphNodeGetType(void *node, int *type);
EXPORT int cuGraphChildGraphNodeGetGraph(void *node, void **graph);
EXPORT int cuCtxPushCurrent_v2(void *context);
EXPORT int cuCtxPopCurrent_v2(void **context);
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function);
EXPORT int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device);
EXPORT int cuStreamIsCapturing(void *stream, int *status);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuDeviceGetName(char *name, int bytes, int device);
EXPORT int cuDeviceGetUuid_v2(uint8_t uuid[16], int device);
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device);

int cuInit(unsigned flags)
{
    return (int)flags;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

/* A context is a number; its bits from the 12th on are its device. What is current in a thread, and what was
 * before it. */
static pthread_key_t current, below;

__attribute__((constructor)) static void make_keys(void)
{
    pthread_key_create(&current, NULL);
    pthread_key_create(&below, NULL);
}

int cuCtxGetDevice(int *device)
{
    *device = (int)((uintptr_t)pthread_getspecific(current) >> 12);
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = pthread_getspecific(current);
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    return pthread_setspecific(current, context);
}

int cuCtxPushCurrent_v2(void *context)
{
    if (!context)
        return 201;
    pthread_setspecific(below, pthread_getspecific(current));
    return pthread_setspecific(current, context);
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = pthread_getspecific(current);
    return pthread_setspecific(current, pthread_getspecific(below));
}

/* A graph is a number, too: so many kernels in its lowest byte, copies in the next, kernels of a graph in it
 * in the third. */
enum { NODE_KERNEL = 1, NODE_COPY = 2, NODE_GRAPH = 3 };

int cuGraphGetNodes(void *graph, void **nodes, size_t *count)
{
    size_t kernels = (uintptr_t)graph & 255, copies = (uintptr_t)graph >> 8 & 255,
           inner = (uintptr_t)graph >> 16;
    *count = kernels + copies + (inner > 0);
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = (void *)(uintptr_t)(i < kernels            ? NODE_KERNEL
                                       : i < kernels + copies ? NODE_COPY
                                                              : NODE_GRAPH | inner << 8);
    return 0;
}

int cuGraphNodeGetType(void *node, int *type)
{
    *type = ((uintptr_t)node & 255) == NODE_KERNEL ? 0 : ((uintptr_t)node & 255) == NODE_COPY ? 1 : 4;
    return 0;
}

int cuGraphChildGraphNodeGetGraph(void *node, void **graph)
{
    *graph = (void *)((uintptr_t)node >> 8);
    return 0;
}

/* What programs launch is a kernel of a library, as with the runtime of CUDA 12 and later. */
int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    (void)value, (void)attribute, (void)function;
    return 400;
}

int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
    (void)kernel, (void)device;
    *value = attribute == 4 ? 40 : attribute == 1 ? 2048 : 0;
    return 0;
}

/* Stream 2, the default one of a thread, is always being captured. */
int cuStreamIsCapturing(void *stream, int *status)
{
    *status = (uintptr_t)stream == 2;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 16 ? 132 : attribute == 10 ? 32 : attribute == 39 ? 2048 : 0;
    return 0;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    static const char text[] = "Fake GPU";
    (void)device;
    if (bytes < (int)sizeof text)
        return 1;
    memcpy(name, text, sizeof text);
    return 0;
}

int cuDeviceGetUuid_v2(uint8_t uuid[16], int device)
{
    memset(uuid, device + 1, 16);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = 1u << 30;
    return 0;
}
