/* What a machine looks like to a program that wants to use its GPUs: what the PCI bus, the kernel, the
 * driver's files, the container and the program's own environment say. Facts only; analyze/setup.h judges
 * them.
 *
 * Texts are never NULL, "" where nothing is known, and live in the setup's arena. A setup is valid
 * after setup_init(). */
#ifndef WARPLIGHT_MODEL_SETUP_H
#define WARPLIGHT_MODEL_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/machine.h"
#include "model/profile.h"

/* A display, 3D or processing controller on the PCI bus, with or without a driver. */
struct setup_gpu {
    const char *bus; /* "0000:3b:00.0" */
    uint32_t vendor, device, class_code;
    const char *driver;                       /* of the kernel, bound to it; "" none */
    const char *power;                        /* runtime_status: "active", "suspended"; "" not told */
    bool is_boot;                             /* the firmware's screen */
    bool is_lost;                             /* its configuration space reads all ones */
    int64_t width, width_max, port_width_max; /* PCIe lanes; 0 not told. port: the slot above it */
    /* Of NVIDIA's driver: */
    const char *model, *uuid;
    int64_t minor;         /* N of /dev/nvidiaN; -1 */
    int64_t mig_instances; /* GPU instances; 0 also where MIG is off */
};

struct setup_node {
    const char *path;
    int error; /* errno of opening it for reading and writing; 0: that is allowed */
};

/* A library of the driver as the program's loader finds it. */
struct setup_library {
    const char *name;    /* "libcuda.so.1" */
    const char *path;    /* "" not found */
    const char *version; /* of the file that it leads to: "580.65.06"; "" its name does not say */
    bool is_mapped;      /* by the program that is examined */
};

struct setup_module {
    bool is_loaded;
    bool is_installed;                /* there is a file for the running kernel */
    const char *version, *blocked_by; /* blocked_by: the file that keeps it from being loaded */
};

struct setup_variable {
    const char *name, *value;
};

struct setup_owner { /* a process that has a device file of a GPU open */
    int64_t pid;
    const char *name, *node;
};

/* A file with GPU code that the program maps or would load. codes: one of each architecture and kind, as far
 * as the file was read. */
struct setup_image {
    const char *path;
    bool is_main;                  /* the program itself, or the framework whose kernels it is made of */
    bool is_whole;                 /* all of the file's code was seen */
    int32_t later_sm;              /* see struct images */
    VEC(struct kernel_code) codes; /* only sm, is_ptx, is_specific and is_family are filled */
};

enum setup_limit { LIMIT_UNKNOWN = -2, LIMIT_NONE = -1 }; /* else a number */

struct setup {
    struct arena arena;
    const char *root; /* "" or a folder that stands for / */
    int64_t pid;      /* of the program that is examined; 0: this one */
    const char *program;
    int process_error; /* errno of looking at it, or for it */

    VEC(struct setup_gpu) gpus;
    VEC(struct setup_node) nodes;
    VEC(struct setup_library) libraries;
    VEC(struct setup_variable) variables;
    VEC(struct setup_owner) owners;
    VEC(struct setup_image) images;
    int64_t hidden_processes; /* whose open files may not be seen */

    const char *kernel; /* release */
    bool is_wsl, is_tegra, is_secure_boot, has_kernel_headers, has_nvidia_source;
    const char *driver_version; /* of the loaded kernel module */
    bool is_open_driver;
    struct setup_module nvidia, uvm, nouveau;
    int64_t switches; /* NVSwitches on the bus */
    bool has_fabric_manager, has_persistence_daemon, has_mps,
        has_licence_daemon; /* processes that can be seen */
    bool has_mps_pipe;      /* the MPS daemon's end, where the program would look for it */

    const char *container;        /* "docker", "podman", "kubernetes", "lxc", …; "" none seen */
    const char *kernel_log;       /* where it was read: "/dev/kmsg"; "" nowhere */
    int kernel_log_error;         /* errno of reading it; -1: not tried */
    const char *preload;          /* /etc/ld.so.preload */
    int64_t profiling_admin_only; /* RmProfilingAdminOnly; UNKNOWN */
    int64_t perf_event_paranoid, ptrace_scope; /* UNKNOWN where not told */
    uint64_t capabilities;                     /* effective, of the program */
    bool has_capabilities;
    int64_t memlock, nofile; /* soft limits; enum setup_limit */
    int64_t shm_bytes;       /* size of /dev/shm; UNKNOWN */

    const char *toolkit, *toolkit_path;          /* "13.0" */
    const char *torch, *torch_cuda, *torch_path; /* "2.11.0+cu130", "13.0"; torch_cuda "" for CPU-only */

    struct machine_sample
        sample; /* what the drivers said of the GPUs and their processes; zeroed: not asked */
};

void setup_init(struct setup *s);
void setup_release(struct setup *s);
/* A copy of text in the setup's arena. */
const char *setup_text(struct setup *s, const char *text);
/* The value of a variable of the program's environment; NULL where it is not set. */
const char *setup_variable(const struct setup *s, const char *name);
/* NULL where the loader does not find it. */
const struct setup_library *setup_library(const struct setup *s, const char *name);
const struct setup_node *setup_node(const struct setup *s, const char *path);

#endif
