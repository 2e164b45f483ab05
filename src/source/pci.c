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

static bool is_nvidia_gpu(const char *folder, const char *bus)
{
    char vendor[16], class_[16];
    read_word(vendor, sizeof vendor, folder, bus, "vendor");
    read_word(class_, sizeof class_, folder, bus, "class");
    return strcmp(vendor, "0x10de") == 0 && strncmp(class_, "0x03", 4) == 0;
}

/* A device without run-time power management cannot be suspended. */
static bool is_awake(const char *folder, const char *bus)
{
    char status[16];
    read_word(status, sizeof status, folder, bus, "power/runtime_status");
    return strcmp(status, "active") == 0 || strcmp(status, "unsupported") == 0;
}

size_t pci_nvidia_gpus(const char *sysfs, struct pci_gpu *gpus, size_t most)
{
    const char *root = sysfs ? sysfs : getenv("WARPLIGHT_SYSFS");
    char folder[256];
    size_t count = 0;
    if (snprintf(folder, sizeof folder, "%s/bus/pci/devices", root ? root : "/sys") >= (int)sizeof folder)
        return 0;
    DIR *devices = opendir(folder);
    if (!devices)
        return 0;
    for (struct dirent *entry; count < most && (entry = readdir(devices));) {
        if (strlen(entry->d_name) >= PCI_BUS_BYTES || !is_nvidia_gpu(folder, entry->d_name))
            continue;
        struct pci_gpu *gpu = &gpus[count++];
        snprintf(gpu->bus, sizeof gpu->bus, "%s", entry->d_name);
        gpu->awake = is_awake(folder, entry->d_name);
    }
    closedir(devices);
    return count;
}

bool pci_all_awake(const struct pci_gpu *gpus, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!gpus[i].awake)
            return false;
    return count > 0;
}
