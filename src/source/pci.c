#include "source/pci.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first word of a small file, "" where it cannot be read. */
static void read_word(char *word, size_t size, const char *folder, const char *bus, const char *file)
{
    char path[512];
    word[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s/%s", folder, bus, file) >= (int)sizeof path)
        return;
    FILE *in = fopen(path, "re");
    if (in && !fgets(word, (int)size, in))
        word[0] = '\0';
    if (in)
        fclose(in);
    word[strcspn(word, " \n")] = '\0';
}

static unsigned read_hex(const char *folder, const char *bus, const char *file)
{
    char word[16];
    read_word(word, sizeof word, folder, bus, file);
    return (unsigned)strtoul(word, NULL, 16);
}

/* Its vendor; 0 where it is no GPU of a vendor that we know. */
static unsigned gpu_vendor(const char *folder, const char *bus)
{
    enum { CLASS_DISPLAY = 0x03 };
    unsigned vendor = read_hex(folder, bus, "vendor");
    bool known = vendor == PCI_NVIDIA || vendor == PCI_AMD || vendor == PCI_INTEL;
    return known && read_hex(folder, bus, "class") >> 16 == CLASS_DISPLAY ? vendor : 0;
}

/* A device without run-time power management cannot be suspended. */
static bool is_awake(const char *folder, const char *bus)
{
    char status[16];
    read_word(status, sizeof status, folder, bus, "power/runtime_status");
    return strcmp(status, "active") == 0 || strcmp(status, "unsupported") == 0;
}

static int by_bus(const void *a, const void *b)
{
    return strcmp(((const struct pci_gpu *)a)->bus, ((const struct pci_gpu *)b)->bus);
}

static bool find_folder(const char *sysfs, char *folder, size_t size)
{
    const char *root = sysfs ? sysfs : getenv("WARPLIGHT_SYSFS");
    return snprintf(folder, size, "%s/bus/pci/devices", root ? root : "/sys") < (int)size;
}

/* only: a vendor, 0 any. */
static size_t find_gpus(const char *sysfs, unsigned only, struct pci_gpu *gpus, size_t most)
{
    char folder[256];
    size_t count = 0;
    if (!find_folder(sysfs, folder, sizeof folder))
        return 0;
    DIR *devices = opendir(folder);
    if (!devices)
        return 0;
    for (struct dirent *entry; count < most && (entry = readdir(devices));) {
        unsigned vendor = strlen(entry->d_name) < PCI_BUS_BYTES ? gpu_vendor(folder, entry->d_name) : 0;
        if (vendor == 0 || (only && vendor != only))
            continue;
        struct pci_gpu *gpu = &gpus[count++];
        *gpu = (struct pci_gpu){.vendor = vendor,
                                .id = read_hex(folder, entry->d_name, "device"),
                                .awake = is_awake(folder, entry->d_name)};
        snprintf(gpu->bus, sizeof gpu->bus, "%s", entry->d_name);
    }
    closedir(devices);
    qsort(gpus, count, sizeof *gpus, by_bus);
    return count;
}

size_t pci_gpus(const char *sysfs, struct pci_gpu *gpus, size_t most)
{
    return find_gpus(sysfs, 0, gpus, most);
}

size_t pci_nvidia_gpus(const char *sysfs, struct pci_gpu *gpus, size_t most)
{
    return find_gpus(sysfs, PCI_NVIDIA, gpus, most);
}

bool pci_all_awake(const struct pci_gpu *gpus, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!gpus[i].awake)
            return false;
    return count > 0;
}

void pci_watch(const char *sysfs, unsigned only, struct pci_watch *watch, int64_t now_ns)
{
    const int64_t period = 1000000000;
    char folder[256];
    bool all_awake = find_folder(sysfs, folder, sizeof folder) && watch->count > 0;
    for (size_t i = 0; all_awake && i < watch->count; i++)
        all_awake = watch->gpus[i].awake = is_awake(folder, watch->gpus[i].bus);
    if (all_awake && now_ns < watch->due_ns)
        return;
    watch->count = find_gpus(sysfs, only, watch->gpus, PCI_MOST_GPUS);
    watch->due_ns = now_ns + period;
}
