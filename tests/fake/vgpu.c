/* A stand-in for HAMi's libvgpu.so: answers NVML's questions about memory with a quota. With the fake NVML
 * that lacks those calls (FAKE_NVML_QUOTA) it is what dlsym() finds, as the true one is by intercepting
 * dlsym(). */
#include "source/nvml.h"

#define EXPORT __attribute__((visibility("default")))

extern int vgpu_is_there;
EXPORT int vgpu_is_there = 1;

EXPORT int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *m);
int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *m)
{
    (void)device;
    *m = (struct nvml_memory){.total = 1ull << 31, .free = 1ull << 30, .used = 1ull << 30};
    return NVML_OK;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory_v2 *m);
int nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory_v2 *m)
{
    (void)device;
    m->total = 1ull << 31;
    m->used = 1ull << 30;
    return NVML_OK;
}
