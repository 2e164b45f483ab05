#include "source/nvml_health.h"

void nvml_health(const struct nvml *n, nvml_device device, struct machine_health *h)
{
    unsigned mig = 0, pending = 0;
    struct nvml_fabric fabric = {.version = sizeof fabric | 2u << 24};
    int code = NVML_ASK(n, mig_mode, device, &mig, &pending);
    h->mig_pending = nvml_reading(code, pending);
    code = NVML_ASK(n, fabric, device, &fabric);
    h->fabric_state = nvml_reading(code, fabric.state);
    h->fabric_status = nvml_reading(code, fabric.status);
}
