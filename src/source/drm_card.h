/* Graphics cards of the kernel's own drivers (amdgpu, i915, xe, nouveau, …) as sysfs and hwmon show them.
 * Files: the kernel's Documentation/gpu/amdgpu/, Documentation/ABI/testing/sysfs-driver-intel-*-hwmon and
 * Documentation/hwmon/sysfs-interface. A file that is not there makes one value unsupported. */
#ifndef WARPLIGHT_SOURCE_DRM_CARD_H
#define WARPLIGHT_SOURCE_DRM_CARD_H

#include "model/machine.h"

enum { DRM_MOST_CARDS = 64 };

struct drm_card {
    int number; /* cardN */
    char bus[GPU_BUS_BYTES], driver[32];
    enum vendor vendor;
    bool awake;
    char folder[256]; /* …/class/drm/cardN/device */
    char hwmon[300];  /* …/hwmon/hwmonN, "" none */
};

/* The cards under sysfs ("/sys" or a recorded one), in the order of their numbers, but for those of NVIDIA's
 * driver, which NVML tells more about. Nothing of a card is touched. */
size_t drm_cards(const char *sysfs, struct drm_card cards[DRM_MOST_CARDS]);
/* What it is and how it is; of one that sleeps only what can be told without waking it. */
void drm_card_read(const struct drm_card *card, struct machine_device *device);

#endif
