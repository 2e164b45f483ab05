#include "source/nvml_event.h"

static const unsigned long long xid_type = 0x8; /* nvmlEventTypeXidCriticalError */

void nvml_events_watch(const struct nvml *n, struct nvml_events *events, nvml_device device)
{
    unsigned long long types = 0;
    if (NVML_ASK(n, event_types, device, &types) != NVML_OK || !(types & xid_type))
        return;
    if (!events->set && NVML_ASK(n, event_set_new, &events->set) != NVML_OK)
        events->set = NULL;
    if (events->set)
        NVML_ASK(n, event_register, device, xid_type, events->set);
}

bool nvml_events_next(const struct nvml *n, const struct nvml_events *events, nvml_device *device,
                      int64_t *xid)
{
    struct nvml_event event = {0};
    const unsigned at_once = 0;
    if (!events->set || NVML_ASK(n, event_wait, events->set, &event, at_once) != NVML_OK)
        return false;
    *device = event.device;
    *xid = event.type & xid_type && event.data <= INT64_MAX ? (int64_t)event.data : UNKNOWN;
    return true;
}

void nvml_events_release(const struct nvml *n, struct nvml_events *events)
{
    if (events->set)
        NVML_ASK(n, event_set_free, events->set);
    *events = (struct nvml_events){0};
}
