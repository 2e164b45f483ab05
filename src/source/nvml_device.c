/* What an NVIDIA GPU is. */
#include "source/nvml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { THRESHOLD_SHUTDOWN = 0, THRESHOLD_SLOWDOWN = 1 };
static const int64_t mega = 1000000;

/* As sysfs spells it: four digits of domain, lower case. */
static void read_bus(const struct nvml *n, nvml_device device, char out[GPU_BUS_BYTES])
{
    struct nvml_pci pci = {0};
    if (NVML_ASK(n, pci, device, &pci) != NVML_OK)
        return;
    snprintf(out, GPU_BUS_BYTES, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
}

static void read_texts(const struct nvml *n, nvml_device device, struct gpu_facts *f)
{
    if (NVML_ASK(n, uuid, device, f->uuid, sizeof f->uuid) != NVML_OK)
        f->uuid[0] = '\0';
    if (NVML_ASK(n, name, device, f->name, sizeof f->name) != NVML_OK)
        f->name[0] = '\0';
    if (NVML_ASK(n, vbios, device, f->vbios, sizeof f->vbios) != NVML_OK)
        f->vbios[0] = '\0';
    f->uuid[sizeof f->uuid - 1] = f->name[sizeof f->name - 1] = f->vbios[sizeof f->vbios - 1] = '\0';
    read_bus(n, device, f->bus);
}

static void read_power_limits(const struct nvml *n, nvml_device device, struct gpu_facts *f)
{
    unsigned low = 0, high = 0, usual = 0;
    int code = NVML_ASK(n, power_limits, device, &low, &high);
    f->power_limit_min = nvml_reading(code, low);
    f->power_limit_max = nvml_reading(code, high);
    code = NVML_ASK(n, power_limit_default, device, &usual);
    f->power_limit_default = nvml_reading(code, usual);
}

static void read_modes(const struct nvml *n, nvml_device device, struct gpu_facts *f)
{
    int mode = 0, pending = 0;
    unsigned mig = 0, mig_pending = 0;
    int code = NVML_ASK(n, mig_mode, device, &mig, &mig_pending);
    f->mig = nvml_reading(code, mig);
    code = NVML_ASK(n, persistence_mode, device, &mode);
    f->persistence = nvml_reading(code, mode);
    code = NVML_ASK(n, ecc_mode, device, &mode, &pending);
    f->ecc = nvml_reading(code, mode);
    code = NVML_ASK(n, compute_mode, device, &mode);
    f->compute_mode = nvml_reading(code, mode);
    code = NVML_ASK(n, virtualization, device, &mode);
    f->virtualization = nvml_reading(code, mode);
}

void nvml_facts(const struct nvml *n, nvml_device device, struct gpu_facts *f)
{
    *f = (struct gpu_facts){0};
    int major = 0, minor = 0;
    unsigned value = 0;
    struct nvml_memory memory = {0};
    read_texts(n, device, f);
    int code = NVML_ASK(n, compute_capability, device, &major, &minor);
    f->compute_capability = nvml_reading(code, major * INT64_C(10) + minor);
    code = NVML_ASK(n, memory, device, &memory);
    f->memory = nvml_told(code, (int64_t)memory.total, n->foreign.memory);
    code = NVML_ASK(n, max_clock, device, CLOCK_SM, &value);
    f->sm_clock_max = nvml_reading(code, value * mega);
    code = NVML_ASK(n, max_clock, device, CLOCK_MEMORY, &value);
    f->memory_clock_max = nvml_reading(code, value * mega);
    code = NVML_ASK(n, temperature_threshold, device, THRESHOLD_SLOWDOWN, &value);
    f->slowdown_temperature = nvml_reading(code, value);
    code = NVML_ASK(n, temperature_threshold, device, THRESHOLD_SHUTDOWN, &value);
    f->shutdown_temperature = nvml_reading(code, value);
    code = NVML_ASK(n, pcie_generation_max, device, &value);
    f->pcie_generation_max = nvml_reading(code, value);
    code = NVML_ASK(n, pcie_width_max, device, &value);
    f->pcie_width_max = nvml_reading(code, value);
    read_power_limits(n, device, f);
    read_modes(n, device, f);
    gpu_check(f, gpu_fact_fields);
}
