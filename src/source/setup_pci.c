/* GPUs and NVSwitches as sysfs shows them: PCI Local Bus Specification, class codes; Linux
 * Documentation/ABI/testing/sysfs-bus-pci. None of these files wakes a device; a suspended one's
 * configuration space is not read. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/setup.h"
#include "source/setup_files.h"
#include "source/pci.h"

#define DEVICES "/sys/bus/pci/devices/"

/* Class codes, upper 16 of 24 bits. */
enum { CLASS_VGA = 0x0300, CLASS_3D = 0x0302, CLASS_DISPLAY = 0x0380, CLASS_ACCELERATOR = 0x1200 };
enum { CLASS_BRIDGE_OTHER = 0x0680 };

static bool is_gpu(uint32_t vendor, uint32_t class_code)
{
    switch (class_code >> 8) {
    case CLASS_VGA:
    case CLASS_3D:
    case CLASS_DISPLAY:
        return true;
    case CLASS_ACCELERATOR: /* others are of makers of inference cards */
        return vendor == PCI_NVIDIA || vendor == PCI_AMD || vendor == PCI_INTEL;
    default:
        return false;
    }
}

/* A device that has fallen off the bus answers every read with ones. */
static bool is_lost(const struct setup *s, const char *bus)
{
    struct str config = {0};
    bool lost = setup_read_file(s, &config, DEVICES "%s/config", bus) == 0 && config.len >= 4 &&
                memcmp(config.ptr, "\xff\xff\xff\xff", 4) == 0;
    str_release(&config);
    return lost;
}

/* The bridge above a device is the folder above the one that its link leads to. */
static int64_t port_width(struct setup *s, const char *bus)
{
    char link[SETUP_PATH_BYTES], real[SETUP_PATH_BYTES];
    if (!setup_path(s, link, DEVICES "%s", bus) || !realpath(link, real))
        return 0;
    char *slash = strrchr(real, '/');
    if (slash)
        *slash = '\0';
    const char *port = strrchr(real, '/');
    if (!port || !isxdigit((unsigned char)port[1]))
        return 0;
    return setup_read_number(s, 0, DEVICES "%s/max_link_width", port + 1);
}

/* Instances as the driver lists them; it has no such folder where MIG is off. */
static int64_t count_mig_instances(const struct setup *s, int64_t minor)
{
    int64_t count = 0;
    DIR *folder = setup_folder(s, "/proc/driver/nvidia/capabilities/gpu%lld/mig", (long long)minor);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += strncmp(entry->d_name, "gi", 2) == 0;
    if (folder)
        closedir(folder);
    return count;
}

static void read_driver_files(struct setup *s, struct setup_gpu *gpu)
{
    struct str text = {0};
    if (setup_read_file(s, &text, "/proc/driver/nvidia/gpus/%s/information", gpu->bus) == 0) {
        gpu->model = setup_value(s, &text, "Model");
        gpu->uuid = setup_value(s, &text, "GPU UUID");
        const char *minor = setup_value(s, &text, "Device Minor");
        if (isdigit((unsigned char)*minor))
            gpu->minor = strtoll(minor, NULL, 10);
    }
    if (gpu->minor >= 0)
        gpu->mig_instances = count_mig_instances(s, gpu->minor);
    str_release(&text);
}

static void add_gpu(struct setup *s, const char *bus, uint32_t vendor, uint32_t class_code)
{
    struct setup_gpu *gpu = vec_new(&s->gpus);
    gpu->bus = setup_visible(s, bus, strlen(bus));
    gpu->vendor = vendor;
    gpu->class_code = class_code;
    gpu->device = (uint32_t)setup_read_number(s, 0, DEVICES "%s/device", bus);
    gpu->driver = setup_link_name(s, DEVICES "%s/driver", bus);
    gpu->power = setup_read_line(s, DEVICES "%s/power/runtime_status", bus);
    gpu->is_boot = setup_read_number(s, 0, DEVICES "%s/boot_vga", bus) == 1;
    gpu->width = setup_read_number(s, 0, DEVICES "%s/current_link_width", bus);
    gpu->width_max = setup_read_number(s, 0, DEVICES "%s/max_link_width", bus);
    gpu->port_width_max = port_width(s, bus);
    gpu->is_lost = strcmp(gpu->power, "suspended") != 0 && is_lost(s, bus);
    gpu->model = gpu->uuid = "";
    gpu->minor = -1;
    if (vendor == PCI_NVIDIA)
        read_driver_files(s, gpu);
}

static int by_bus(const void *a, const void *b)
{
    return strcmp(((const struct setup_gpu *)a)->bus, ((const struct setup_gpu *)b)->bus);
}

void setup_read_pci(struct setup *s)
{
    DIR *devices = setup_folder(s, DEVICES);
    for (struct dirent *entry; devices && (entry = readdir(devices));) {
        const char *bus = entry->d_name;
        if (!isxdigit((unsigned char)*bus) || strlen(bus) >= PCI_BUS_BYTES || s->gpus.count >= PCI_MOST_GPUS)
            continue;
        uint32_t vendor = (uint32_t)setup_read_number(s, 0, DEVICES "%s/vendor", bus);
        uint32_t class_code = (uint32_t)setup_read_number(s, 0, DEVICES "%s/class", bus);
        if (is_gpu(vendor, class_code))
            add_gpu(s, bus, vendor, class_code);
        s->switches += vendor == PCI_NVIDIA && class_code >> 8 == CLASS_BRIDGE_OTHER;
    }
    if (devices)
        closedir(devices);
    if (s->gpus.count)
        qsort(s->gpus.at, s->gpus.count, sizeof *s->gpus.at, by_bus);
}
