/* The structures of CUPTI's Range Profiler, profiler host and PC sampling interfaces, as far as Warplight
 * calls them. The vendor's headers are partly C++ and must not be needed to build.
 *
 * Source: cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_pcsampling.h,
 * cupti_callbacks.h, cupti_target.h and generated_cuda_meta.h of CUDA 12.9 and 13.5. Every parameter
 * structure begins with its own size, by which the library knows what its caller knows; fields that newer
 * versions append are left out. tests/gpu/layout.cc compares it with real headers.
 *
 * Handles (contexts, functions, streams, objects) are void pointers. Sizes are in bytes. "out" fields are
 * filled by the call. */
#ifndef WARPLIGHT_CAPTURE_PROFILER_H
#define WARPLIGHT_CAPTURE_PROFILER_H

#include <stddef.h>
#include <stdint.h>

/* The size to write into a parameter structure: to the end of its last field, without padding. */
#define PROFILER_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct profiler_plain { /* Initialize, DeInitialize */
    size_t size;
    void *priv;
};

enum { PROFILER_API_RANGE, PROFILER_API_PC_SAMPLING };
enum profiler_support {
    PROFILER_SUPPORT_UNKNOWN,
    PROFILER_SUPPORT_NO,
    PROFILER_SUPPORT_DISABLED, /* would be there, and was switched off by the system */
    PROFILER_SUPPORT_YES,
    PROFILER_SUPPORT_LIMITED,
};
struct profiler_device_supported {
    size_t size;
    void *priv;
    int32_t device;                                                     /* handle of the driver */
    int32_t supported, architecture, sli, vgpu, confidential, cmp, wsl; /* out: enum profiler_support */
    int32_t api;
};

struct profiler_availability {
    size_t size;
    void *priv;
    void *context;
    size_t bytes; /* in/out; of the image */
    uint8_t *image;
};

struct profiler_chip {
    size_t size;
    void *priv;
    size_t device;    /* index */
    const char *name; /* out */
};

/* ---- host: no GPU is needed ------------------------------------------------------------------------------
 */

enum { PROFILER_TYPE_RANGE, PROFILER_TYPE_PM_SAMPLING };
struct profiler_host_initialize {
    size_t size;
    void *priv;
    int32_t type;
    const char *chip;
    const uint8_t *availability; /* NULL: what the chip can do at most */
    void *object;                /* out */
};
struct profiler_host_object { /* Deinitialize */
    size_t size;
    void *priv;
    void *object;
};
struct profiler_host_chips {
    size_t size;
    void *priv;
    size_t count;             /* out */
    const char *const *names; /* out */
};
struct profiler_host_properties {
    size_t size;
    void *priv;
    void *object;
    const char *metric;
    const char *description, *hardware_unit, *unit; /* out */
    int32_t type;                                   /* out: 0 counter, 1 ratio, 2 throughput */
};
struct profiler_host_add {
    size_t size;
    void *priv;
    void *object;
    const char **metrics;
    size_t count;
};
struct profiler_host_config_size {
    size_t size;
    void *priv;
    void *object;
    size_t bytes; /* out */
};
struct profiler_host_config {
    size_t size;
    void *priv;
    void *object;
    size_t bytes;
    uint8_t *image;
};
struct profiler_host_passes {
    size_t size;
    void *priv;
    size_t bytes;
    uint8_t *image;
    size_t passes; /* out */
};
struct profiler_host_evaluate {
    size_t size;
    void *priv;
    void *object;
    const uint8_t *data;
    size_t bytes;
    size_t range;
    const char **metrics;
    size_t count;
    double *values; /* out */
};

/* ---- ranges ----------------------------------------------------------------------------------------------
 */

enum { PROFILER_AUTO_RANGE = 1, PROFILER_USER_RANGE = 2 };
enum { PROFILER_KERNEL_REPLAY = 2, PROFILER_USER_REPLAY = 3 };

struct profiler_range_enable {
    size_t size;
    void *priv;
    void *context;
    void *object; /* out */
};
struct profiler_range_object { /* Disable, Start, PopRange */
    size_t size;
    void *priv;
    void *object;
};
struct profiler_range_stop {
    size_t size;
    void *priv;
    void *object;
    size_t pass, nesting; /* out */
    uint8_t all_passes;   /* out */
};
struct profiler_range_push {
    size_t size;
    void *priv;
    void *object;
    const char *name;
};
struct profiler_range_decode {
    size_t size;
    void *priv;
    void *object;
    size_t dropped; /* out: ranges */
};
struct profiler_range_data_size {
    size_t size;
    void *priv;
    void *object;
    const char **metrics;
    size_t count;
    size_t most_ranges;
    uint32_t most_nodes; /* at least most_ranges */
    size_t bytes;        /* out */
};
struct profiler_range_data {
    size_t size;
    void *priv;
    void *object;
    size_t bytes;
    uint8_t *data;
};
struct profiler_range_config {
    size_t size;
    void *priv;
    void *object;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    int32_t range, replay;
    size_t ranges_per_pass;
    uint16_t nesting_levels, least_nesting;
    size_t pass;
    uint16_t nesting;
};
struct profiler_range_count {
    size_t size;
    void *priv;
    const uint8_t *data;
    size_t bytes;
    size_t ranges; /* out */
};
struct profiler_range_name {
    size_t size;
    void *priv;
    const uint8_t *data;
    size_t bytes;
    size_t range;
    const char *delimiter;
    const char *name; /* out */
};

/* ---- PC sampling ----------------------------------------------------------------------------------------
 */

enum { PC_SAMPLING_REASON_BYTES = 128 };
enum { PC_SAMPLING_CONTINUOUS = 1, PC_SAMPLING_SERIALIZED = 2 };
enum pc_sampling_attribute {
    PC_SAMPLING_PERIOD = 1, /* 2^n cycles */
    PC_SAMPLING_REASONS = 2,
    PC_SAMPLING_SCRATCH_BYTES = 3,
    PC_SAMPLING_HARDWARE_BYTES = 4,
    PC_SAMPLING_MODE = 5,
    PC_SAMPLING_START_STOP = 6,
    PC_SAMPLING_FORMAT = 7,
    PC_SAMPLING_BUFFER = 8,
    PC_SAMPLING_SLEEP_MS = 9,
};
struct pc_sampling_reason {
    uint32_t reason, samples;
};
struct pc_sampling_pc {
    size_t size;
    uint64_t cubin_crc;
    uint64_t pc;
    uint32_t function_index;
    uint32_t pad;
    char *function; /* to be freed by who reads it */
    size_t reason_count;
    struct pc_sampling_reason *reasons;
    uint32_t correlation; /* since CUDA 12.4: where it is missing, the stride is 8 bytes less */
    uint32_t pad2;
};
struct pc_sampling_data {
    size_t size;
    size_t most_pcs;
    uint64_t samples, dropped; /* out, as what follows */
    size_t pcs, left;
    uint64_t range;
    struct pc_sampling_pc *pc;
    uint64_t samples_elsewhere;
    uint8_t is_full;
};
struct pc_sampling_setting {
    int32_t attribute, status;
    union {
        uint64_t all[3];
        uint32_t word;
        size_t bytes;
        void *pointer;
        struct {
            size_t count;
            uint32_t *index;
        } reasons;
    } value;
};
struct pc_sampling_configure {
    size_t size;
    void *priv;
    void *context;
    size_t count;
    struct pc_sampling_setting *settings;
};
struct pc_sampling_context { /* Enable, Disable, Start, Stop */
    size_t size;
    void *priv;
    void *context;
};
struct pc_sampling_get {
    size_t size;
    void *priv;
    void *context;
    struct pc_sampling_data *data;
};
struct pc_sampling_reason_count {
    size_t size;
    void *priv;
    void *context;
    size_t *count;
};
struct pc_sampling_reason_names {
    size_t size;
    void *priv;
    void *context;
    size_t count;
    uint32_t *index;
    char **names; /* of PC_SAMPLING_REASON_BYTES each */
};
struct cubin_crc {
    size_t size;
    size_t bytes;
    const void *cubin;
    uint64_t crc; /* out */
};

/* ---- callbacks ------------------------------------------------------------------------------------------
 */

enum { CALLBACK_DOMAIN_DRIVER = 1, CALLBACK_DOMAIN_RESOURCE = 3 };
enum { CALLBACK_ENTER, CALLBACK_EXIT };
struct callback_call { /* of CALLBACK_DOMAIN_DRIVER */
    int32_t site;
    const char *call;
    const void *params; /* one of the callback_…_params below */
    void *result;
    const char *symbol; /* name of the kernel, mangled */
    void *context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation;
};
enum callback_launch { /* numbers of driver calls: cupti_driver_cbid.h */
                       CALLBACK_LAUNCH_KERNEL = 307,
                       CALLBACK_LAUNCH_KERNEL_PTSZ = 442,
                       CALLBACK_LAUNCH_COOPERATIVE = 477,
                       CALLBACK_LAUNCH_COOPERATIVE_PTSZ = 478,
                       CALLBACK_LAUNCH_COOPERATIVE_MULTI = 480,
                       CALLBACK_GRAPH_INSTANTIATE = 513,
                       CALLBACK_GRAPH_LAUNCH = 514,
                       CALLBACK_GRAPH_LAUNCH_PTSZ = 515,
                       CALLBACK_GRAPH_INSTANTIATE_2 = 578,
                       CALLBACK_GRAPH_INSTANTIATE_FLAGS = 643,
                       CALLBACK_GRAPH_INSTANTIATE_PARAMS = 656,
                       CALLBACK_GRAPH_INSTANTIATE_PARAMS_PTSZ = 657,
                       CALLBACK_LAUNCH_KERNEL_EX = 652,
                       CALLBACK_LAUNCH_KERNEL_EX_PTSZ = 653,
};
struct callback_launch_params { /* cuLaunchKernel, cuLaunchCooperativeKernel and their _ptsz forms */
    void *function;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    void *stream;
};
struct callback_launch_config { /* CUlaunchConfig */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    void *stream;
};
struct callback_launch_ex_params { /* cuLaunchKernelEx */
    const struct callback_launch_config *config;
    void *function;
};
struct callback_graph_params { /* cuGraphLaunch */
    void *executable, *stream;
};
struct callback_instantiate_params { /* how those of cuGraphInstantiate and its later forms begin */
    void **executable;               /* out */
    void *graph;
};
enum callback_resource {
    CALLBACK_CONTEXT_CREATED = 1,
    CALLBACK_CONTEXT_DESTROY = 2,
    CALLBACK_MODULE_LOADED = 6,
    CALLBACK_MODULE_UNLOAD = 7,
    CALLBACK_MODULE_PROFILED = 8, /* its code as CUPTI measures it; data as of MODULE_LOADED */
};
struct callback_resource_data {
    void *context;
    void *handle;
    void *descriptor;
};
struct callback_module {
    uint32_t id;
    size_t bytes;
    const char *cubin;
};

#endif
