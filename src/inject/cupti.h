/* The part of CUPTI and of the CUDA driver that the injected library calls, opened at run time. Nothing links
 * against a vendor library, and no vendor header is needed to build.
 *
 * Source of the prototypes: cupti_activity.h, cupti_callbacks.h, cupti_result.h (CUDA 11.8 to 13.5). */
#ifndef WARPLIGHT_INJECT_CUPTI_H
#define WARPLIGHT_INJECT_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_OK = 0,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_OUT_OF_MEMORY = 8,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NO_PRIVILEGE = 35,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_VGPU_NOT_ALLOWED = 40,
    CUPTI_CONFIDENTIAL_COMPUTING = 41,
    CUPTI_CMP = 42,
    CUPTI_MIG = 43,
    CUPTI_WSL = 45,
};
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2 };
enum { CUPTI_THREAD_ID_SYSTEM = 1 };
enum { CUPTI_FLUSH_COMPLETED = 0, CUPTI_FLUSH_FORCED = 1 };
/* From this API version on (CUDA 12.9) a refused buffer means "drop and count"; before, it crashed. */
enum { CUPTI_MAY_REFUSE_BUFFERS = 27 };

typedef int cupti_result;
typedef void cupti_callback(void *user, int domain, uint32_t cbid, const void *data);
typedef void cupti_request_buffer(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                   size_t valid);

struct cupti_managed_config { /* CUpti_ActivityUnifiedMemoryCounterConfig */
    uint32_t scope, counter, device, enable;
};

struct cupti {
    void *library;
    char path[512];   /* the file that was opened */
    uint32_t version; /* as cuptiGetVersion() says, 0 unknown */
    cupti_result (*GetVersion)(uint32_t *version);
    cupti_result (*GetTimestamp)(uint64_t *ns);
    cupti_result (*GetResultString)(cupti_result result, const char **text);
    cupti_result (*GetCallbackName)(int domain, uint32_t cbid, const char **name);
    cupti_result (*ActivityRegisterCallbacks)(cupti_request_buffer *request, cupti_complete_buffer *complete);
    cupti_result (*ActivityEnable)(int kind);
    cupti_result (*ActivityDisable)(int kind);
    cupti_result (*ActivityGetNextRecord)(uint8_t *buffer, size_t valid, void **record);
    cupti_result (*ActivityGetNumDroppedRecords)(void *context, uint32_t stream, size_t *dropped);
    cupti_result (*ActivityFlushAll)(uint32_t flag);
    /* May be NULL: not in every version. */
    cupti_result (*ActivityEnableAndDump)(int kind); /* 11.7: also records what exists already */
    cupti_result (*ActivityConfigureUnifiedMemoryCounter)(struct cupti_managed_config *configs,
                                                          uint32_t count);
    cupti_result (*SetThreadIdType)(int type);
    cupti_result (*ActivityEnableRuntimeApi)(uint32_t cbid, uint8_t enable);
    cupti_result (*ActivityEnableDriverApi)(uint32_t cbid, uint8_t enable);
    cupti_result (*Subscribe)(void **subscriber, cupti_callback *callback, void *user);
    cupti_result (*Unsubscribe)(void *subscriber);
    cupti_result (*EnableCallback)(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
};

/* Opens the CUPTI that fits this process: the one that it has mapped already, then one beside the CUDA
 * runtime that it uses, then the loader's, then the toolkit's. Returns 0, or -1 with a sentence (N_) in
 * why and what stands for {0} in it in detail. */
int cupti_open(struct cupti *cupti, const char **why, char *detail, size_t detail_size);
/* cuDriverGetVersion() of the driver in this process, 0 unknown. */
uint32_t cupti_driver_version(void);
/* Returns once the driver, if there is one, has started. Not for a thread that is in cuInit() itself. */
void cupti_await_driver(void);

#endif
