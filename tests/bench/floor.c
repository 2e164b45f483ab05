/* The floor of recording through CUPTI: the same kinds as the injected library, buffers from malloc(),
 * records thrown away unread. What `record` costs beyond this is its own doing; what this costs is CUPTI's.
 *
 *   CUDA_INJECTION64_PATH=…/libfloor.so PROGRAM */
#include <stdlib.h>

#include "capture/activity.h"
#include "inject/cupti.h"

static struct cupti cupti;

__attribute__((visibility("default"))) int InitializeInjection(void);

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *size = 2 << 20;
    *buffer = aligned_alloc(64, *size);
    *max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid;
    free(buffer);
}

int InitializeInjection(void)
{
    static const int kinds[] = {ACTIVITY_KERNEL,  ACTIVITY_MEMCPY,   ACTIVITY_MEMCPY_P2P,     ACTIVITY_MEMSET,
                                ACTIVITY_RUNTIME, ACTIVITY_OVERHEAD, ACTIVITY_SYNCHRONIZATION};
    const char *why;
    char detail[512];
    if (cupti_open(&cupti, &why, detail, sizeof detail) != 0 ||
        cupti.ActivityRegisterCallbacks(request, complete) != CUPTI_OK)
        return 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cupti.ActivityEnable(kinds[i]);
    return 1;
}
