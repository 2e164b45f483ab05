/* GPUs as the PCI bus sees them: without a driver's help, and without waking one. */
#ifndef WARPLIGHT_SOURCE_PCI_H
#define WARPLIGHT_SOURCE_PCI_H

#include <stdbool.h>
#include <stddef.h>

#include "model/gpu.h"

enum { PCI_BUS_BYTES = 32, PCI_MOST_GPUS = 64 };

struct pci_gpu {
    char bus[PCI_BUS_BYTES]; /* "0000:3b:00.0" */
    unsigned vendor, id;     /* 0x10de, … */
    bool awake;              /* false also where the system does not tell */
};

/* Display and 3D controllers of these three vendors under sysfs (NULL: WARPLIGHT_SYSFS, else /sys), in the
 * order of their addresses. Returns how many, at most most. */
size_t pci_gpus(const char *sysfs, struct pci_gpu *gpus, size_t most);
/* NVIDIA's display and 3D controllers under sysfs (NULL: WARPLIGHT_SYSFS, else /sys). Returns how many, at
 * most most. */
size_t pci_nvidia_gpus(const char *sysfs, struct pci_gpu *gpus, size_t most);
/* Whether at least one is there and all are awake: then the driver can be asked without waking any. */
bool pci_all_awake(const struct pci_gpu *gpus, size_t count);

#endif
