/* What is recorded of memory: allocations and releases, and what the driver moves of managed memory.
 *
 * The traffic of managed memory is watched from the moment on at which a program allocates some: what has
 * none pays nothing, and the driver is up by then, as CUPTI demands. Where it cannot be (MPS, no peer access
 * between the GPUs), all else is recorded as ever.
 *
 * Source: cuptiActivityConfigureUnifiedMemoryCounter() in cupti_activity.h of CUDA 13.5. */
#include "capture/activity.h"
#include "inject/recorder.h"

static const int kinds[] = {ACTIVITY_MEMORY, ACTIVITY_MEMORY_POOL};

static bool configure_managed(struct recorder *r, bool on)
{
    enum { SCOPE_ALL_DEVICES = 2 };
    static const uint32_t counters[] = {ACTIVITY_MANAGED_H2D, ACTIVITY_MANAGED_D2H,
                                        ACTIVITY_MANAGED_CPU_FAULTS, ACTIVITY_MANAGED_GPU_FAULTS,
                                        ACTIVITY_MANAGED_D2D};
    enum { COUNTERS = sizeof counters / sizeof *counters };
    struct cupti_managed_config configs[COUNTERS];
    for (int i = 0; i < COUNTERS; i++)
        configs[i] =
            (struct cupti_managed_config){.scope = SCOPE_ALL_DEVICES, .counter = counters[i], .enable = on};
    /* Not every driver counts what moves between GPUs. */
    return r->cupti.ActivityConfigureUnifiedMemoryCounter(configs, COUNTERS) == CUPTI_OK ||
           r->cupti.ActivityConfigureUnifiedMemoryCounter(configs, COUNTERS - 1) == CUPTI_OK;
}

/* The counters are switched off with the kind: else the driver goes on to collect them while paused. */
static void count_managed(struct recorder *r, bool on)
{
    if (!on)
        r->cupti.ActivityDisable(ACTIVITY_MANAGED);
    if (configure_managed(r, on) && on)
        r->cupti.ActivityEnable(ACTIVITY_MANAGED);
}

void allocations_enable(struct recorder *r)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !r->options.no_memory; i++)
        r->cupti.ActivityEnable(kinds[i]);
    if (r->counts_managed)
        count_managed(r, true);
}

void allocations_disable(struct recorder *r)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !r->options.no_memory; i++)
        r->cupti.ActivityDisable(kinds[i]);
    if (r->counts_managed)
        count_managed(r, false);
}

void allocations_saw_managed(struct recorder *r)
{
    atomic_store_explicit(&r->saw_managed, true, memory_order_relaxed);
}

void allocations_look(struct recorder *r)
{
    if (r->counts_managed || !atomic_load_explicit(&r->saw_managed, memory_order_relaxed) ||
        !r->cupti.ActivityConfigureUnifiedMemoryCounter)
        return;
    r->counts_managed = true; /* tried once, whatever comes of it */
    count_managed(r, true);
}
