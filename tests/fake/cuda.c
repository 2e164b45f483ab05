/* A stand-in for libcuda.so.1, as far as measuring kernels asks it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuCtxGetDevice(int *device);
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

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    return context ? 0 : 201;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
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

/* Stream 2 is always being captured. */
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
