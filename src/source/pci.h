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

/* The GPUs of the bus over time. Zeroed: not looked at yet. */
struct pci_watch {
    int64_t due_ns;
    size_t count;
    struct pci_gpu gpus[PCI_MOST_GPUS];
};
/* Brings it up to date: whether each GPU is awake every time, which of them there are once a second, and when
 * one sleeps or is gone. only: a vendor's, 0 any. now_ns: of a clock that does not step. */
void pci_watch(const char *sysfs, unsigned only, struct pci_watch *watch, int64_t now_ns);

/* Whether at least one is there and all are awake: then the driver can be asked without waking any. */
bool pci_all_awake(const struct pci_gpu *gpus, size_t count);

#endif
