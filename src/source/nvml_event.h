/* Xids that NVML tells of, of all GPUs that support it. */
#ifndef WARPLIGHT_SOURCE_NVML_EVENT_H
#define WARPLIGHT_SOURCE_NVML_EVENT_H

#include "source/nvml.h"

/* Zeroed: of no GPU. */
struct nvml_events {
    nvml_event_set set; /* NULL: none, or the driver has no events */
};

/* From now on, of this GPU too. */
void nvml_events_watch(const struct nvml *n, struct nvml_events *events, nvml_device device);
/* The next one that has come; false where there is none. Never waits. */
bool nvml_events_next(const struct nvml *n, const struct nvml_events *events, nvml_device *device,
                      int64_t *xid);
void nvml_events_release(const struct nvml *n, struct nvml_events *events);

#endif
