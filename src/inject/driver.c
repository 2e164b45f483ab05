#include "inject/driver.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    {"cuCtxGetDevice", offsetof(struct driver, CtxGetDevice)},
    {"cuCtxGetCurrent", offsetof(struct driver, CtxGetCurrent)},
    {"cuCtxPushCurrent_v2", offsetof(struct driver, CtxPushCurrent)},
    {"cuCtxPopCurrent_v2", offsetof(struct driver, CtxPopCurrent)},
    {"cuFuncGetAttribute", offsetof(struct driver, FuncGetAttribute)},
    {"cuStreamIsCapturing", offsetof(struct driver, StreamIsCapturing)},
    {"cuDeviceGetAttribute", offsetof(struct driver, DeviceGetAttribute)},
    {"cuDeviceGetName", offsetof(struct driver, DeviceGetName)},
    {"cuDeviceGetUuid_v2", offsetof(struct driver, DeviceGetUuid)},
    {"cuDeviceTotalMem_v2", offsetof(struct driver, DeviceTotalMem)},
};

bool driver_open(struct driver *d)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = library ? dlsym(library, symbols[i].name) : NULL;
        if (!address)
            return false;
        memcpy((char *)d + symbols[i].at, &address, sizeof address);
    }
    *(void **)&d->KernelGetAttribute = dlsym(library, "cuKernelGetAttribute");
    *(void **)&d->GraphGetNodes = dlsym(library, "cuGraphGetNodes");
    *(void **)&d->GraphNodeGetType = dlsym(library, "cuGraphNodeGetType");
    *(void **)&d->GraphChildGraphNodeGetGraph = dlsym(library, "cuGraphChildGraphNodeGetGraph");
    return true;
}

uint32_t driver_function_attribute(const struct driver *d, enum driver_function_attribute attribute,
                                   void *function, int device)
{
    int value = 0;
    int rc = d->FuncGetAttribute(&value, (int)attribute, function);
    if (rc != 0 && d->KernelGetAttribute)
        rc = d->KernelGetAttribute(&value, (int)attribute, function, device);
    return rc == 0 && value > 0 ? (uint32_t)value : 0;
}

/* CUdevice_attribute → field of the record; all are 32 bits wide. */
static const struct {
    int attribute;
    size_t at;
} facts[] = {
    {1, offsetof(struct activity_device, max_threads_per_block)},
    {8, offsetof(struct activity_device, max_shared_bytes_per_block)},
    {10, offsetof(struct activity_device, warp_size)},
    {12, offsetof(struct activity_device, max_registers_per_block)},
    {13, offsetof(struct activity_device, clock_khz)},
    {16, offsetof(struct activity_device, multiprocessors)},
    {38, offsetof(struct activity_device, l2_bytes)},
    {75, offsetof(struct activity_device, cc_major)},
    {76, offsetof(struct activity_device, cc_minor)},
    {81, offsetof(struct activity_device, max_shared_bytes_per_sm)},
    {82, offsetof(struct activity_device, max_registers_per_sm)},
    {106, offsetof(struct activity_device, max_blocks_per_sm)},
};

static int attribute(const struct driver *d, int number, int device)
{
    int value = 0;
    return d->DeviceGetAttribute(&value, number, device) == 0 ? value : 0;
}

void driver_describe(const struct driver *d, int device, struct activity_device *record, char name[128])
{
    enum { MEMORY_CLOCK_KHZ = 36, MEMORY_BUS_BITS = 37, MAX_THREADS_PER_SM = 39 };
    size_t bytes = 0;
    *record = (struct activity_device){.kind = ACTIVITY_DEVICE, .id = (uint32_t)device};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        *(uint32_t *)((char *)record + facts[i].at) = (uint32_t)attribute(d, facts[i].attribute, device);
    if (record->warp_size)
        record->max_warps_per_sm = (uint32_t)attribute(d, MAX_THREADS_PER_SM, device) / record->warp_size;
    /* Two transfers a clock. */
    record->memory_bandwidth_kbytes_per_s = 2ull * (uint64_t)attribute(d, MEMORY_CLOCK_KHZ, device) *
                                            (uint64_t)attribute(d, MEMORY_BUS_BITS, device) / 8;
    if (d->DeviceTotalMem(&bytes, device) == 0)
        record->memory_bytes = bytes;
    d->DeviceGetUuid(record->uuid, device);
    name[0] = '\0';
    if (d->DeviceGetName(name, 128, device) != 0)
        name[0] = '\0';
}
