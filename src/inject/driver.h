/* The part of the CUDA driver that measuring kernels needs, of the library that the process has loaded.
 *
 * Source of the prototypes and numbers: cuda.h of CUDA 12.4 and 13.0. */
#ifndef WARPLIGHT_INJECT_DRIVER_H
#define WARPLIGHT_INJECT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/activity.h"

enum driver_function_attribute {
    DRIVER_STATIC_SHARED_BYTES = 1,
    DRIVER_LOCAL_BYTES = 3,
    DRIVER_REGISTERS = 4,
};

enum driver_node { DRIVER_NODE_KERNEL = 0, DRIVER_NODE_GRAPH = 4 };

struct driver {
    int (*CtxGetDevice)(int *device);
    int (*CtxGetCurrent)(void **context);
    int (*CtxPushCurrent)(void *context);
    int (*CtxPopCurrent)(void **context);
    int (*FuncGetAttribute)(int *value, int attribute, void *function);
    int (*KernelGetAttribute)(int *value, int attribute, void *kernel, int device); /* or NULL: before 12.0 */
    int (*StreamIsCapturing)(void *stream, int *status);
    int (*DeviceGetAttribute)(int *value, int attribute, int device);
    int (*DeviceGetName)(char *name, int bytes, int device);
    int (*DeviceGetUuid)(uint8_t uuid[16], int device);
    int (*DeviceTotalMem)(size_t *bytes, int device);
    /* Of graphs; or NULL: before 10.0. */
    int (*GraphGetNodes)(void *graph, void **nodes, size_t *count);
    int (*GraphNodeGetType)(void *node, int *type);
    int (*GraphChildGraphNodeGetGraph)(void *node, void **graph);
};

/* False: a function is missing. */
bool driver_open(struct driver *d);
/* An attribute of what was launched: a function, or a kernel of a library in its place. 0 not known. */
uint32_t driver_function_attribute(const struct driver *d, enum driver_function_attribute attribute,
                                   void *function, int device);
/* What the driver says of a device, as CUPTI would record it; name gets its name, which the caller logs. */
void driver_describe(const struct driver *d, int device, struct activity_device *record, char name[128]);

#endif
