/* What the driver says of a GPU's fitness for work, beside its measured values: for doctor. */
#ifndef WARPLIGHT_SOURCE_NVML_HEALTH_H
#define WARPLIGHT_SOURCE_NVML_HEALTH_H

#include "model/machine.h"
#include "source/nvml.h"

/* Two calls, both answered by the driver. */
void nvml_health(const struct nvml *n, nvml_device device, struct machine_health *health);

#endif
