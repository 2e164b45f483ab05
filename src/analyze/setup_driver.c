/* Whether the NVIDIA driver is loaded, whole, and may be used: kernel module, libraries, device files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/setup_checks.h"

/* Why there is no module: the nearest cause that the files show. */
static void explain_absence(struct diagnosis *d, const struct setup *s, struct check *check)
{
    if (*s->nvidia.blocked_by) {
        check->meaning = diagnosis_words(d, N_("%s keeps it from being loaded."), s->nvidia.blocked_by);
        check->action = diagnosis_words(
            d, N_("take the entry out of that file, rebuild the initial ramdisk, and restart"));
        diagnosis_evidence(d, check, s->nvidia.blocked_by, "blacklist nvidia");
    } else if (s->nvidia.is_installed && s->is_secure_boot) {
        check->confidence_ratio = 0.7;
        check->meaning =
            diagnosis_words(d, N_("It is installed and Secure Boot is on: a module whose key the firmware "
                                  "does not know is refused (\"Key was rejected by service\")."));
        check->action = diagnosis_words(
            d,
            N_("enrol the key that signed it (mokutil --import, then restart), or install signed modules"));
        diagnosis_evidence(d, check, "/sys/firmware/efi/efivars/SecureBoot-…", "1");
    } else if (s->nvidia.is_installed) {
        check->confidence_ratio = 0.8;
        check->meaning = diagnosis_words(d, N_("It is installed for the running kernel, but not loaded."));
        check->action = diagnosis_words(d, N_("load it with modprobe nvidia and read what it says"));
    } else if (s->has_nvidia_source && !s->has_kernel_headers) {
        check->meaning = diagnosis_words(
            d,
            N_("Its source is there, but not the headers of the running kernel %s, so it could not be "
               "built."),
            s->kernel);
        check->action =
            diagnosis_words(d, N_("install the headers of the running kernel, then: dkms autoinstall"));
    } else if (s->has_nvidia_source) {
        check->meaning = diagnosis_words(
            d, N_("Its source is there, but no module for the running kernel %s."), s->kernel);
        check->action = diagnosis_words(
            d, N_("build it (dkms autoinstall) and read the log in /var/lib/dkms/nvidia if that fails"));
    } else {
        check->confidence_ratio = 0.9;
        check->meaning =
            diagnosis_words(d, N_("No module is installed for the running kernel %s."), s->kernel);
        check->action = diagnosis_words(d, N_("install the NVIDIA driver of the distribution, and restart"));
    }
}

static void check_module(struct diagnosis *d, const struct setup *s)
{
    if (setup_has_module(s)) {
        struct check *check = diagnosis_check(d, "driver-loaded", CHECK_OK, 1);
        check->title =
            s->is_open_driver
                ? diagnosis_words(d, N_("the open kernel module of NVIDIA %s is loaded"), s->driver_version)
                : diagnosis_words(d, N_("the kernel module of NVIDIA %s is loaded"),
                                  *s->driver_version ? s->driver_version : "?");
        return;
    }
    struct check *check = diagnosis_check(d, "driver-loaded", CHECK_FAIL, 1);
    check->title = diagnosis_words(d, N_("the NVIDIA kernel module is not loaded"));
    if (*s->container) {
        check->meaning = diagnosis_words(d, N_("This is a container; the module is the host's to load."));
        check->action = diagnosis_words(d, N_("load the driver on the host"));
    } else {
        explain_absence(d, s, check);
    }
}

/* The library of the program's own, where it maps one. */
static const struct setup_library *library_of(const struct setup *s, const char *mapped, const char *found)
{
    const struct setup_library *library = setup_library(s, mapped);
    return library ? library : setup_library(s, found);
}

static void check_one_library(struct diagnosis *d, const struct setup *s, const struct setup_library *library)
{
    if (!library || !*library->version || !*s->driver_version)
        return;
    bool fits = strcmp(library->version, s->driver_version) == 0, compat = strstr(library->path, "compat");
    struct check *check = diagnosis_check(d, "driver-match",
                                          fits     ? CHECK_OK
                                          : compat ? CHECK_WARN
                                                   : CHECK_FAIL,
                                          fits ? 1 : 0.95);
    diagnosis_evidence(d, check, library->path, library->version);
    diagnosis_evidence(d, check, "/proc/driver/nvidia/version", s->driver_version);
    if (fits) {
        check->title =
            diagnosis_words(d, N_("%s is of the same version as the kernel module"), library->name);
    } else if (compat) {
        check->title = diagnosis_words(d, N_("a compatibility libcuda %s is used with the kernel module %s"),
                                       library->version, s->driver_version);
        check->meaning = diagnosis_words(
            d, N_("That works on data-centre GPUs with a newer library only; elsewhere CUDA fails with error "
                  "803 or 804."));
        check->action = diagnosis_words(d, N_("take the compat folder out of LD_LIBRARY_PATH"));
    } else {
        check->title = diagnosis_words(d, N_("the kernel module is %s, but %s is %s"), s->driver_version,
                                       library->name, library->version);
        check->meaning =
            diagnosis_words(d, N_("The driver was updated while the old module stayed loaded, or a container "
                                  "brings its own library. Nothing that uses the GPU can start: NVML says "
                                  "\"Driver/library version mismatch\", CUDA error 803."));
        check->action =
            *s->container
                ? diagnosis_words(d, N_("start the container anew, with the host's driver libraries"))
                : diagnosis_words(d, N_("restart the machine, or unload and load the nvidia modules"));
    }
}

static void check_libraries(struct diagnosis *d, const struct setup *s)
{
    const struct setup_library *cuda = library_of(s, "libcuda.so", "libcuda.so.1");
    if (!cuda) {
        struct check *check = diagnosis_check(d, "driver-library", CHECK_FAIL, 0.8);
        check->title = diagnosis_words(d, N_("libcuda.so.1 was not found"));
        check->meaning =
            diagnosis_words(d, N_("It comes with the driver, not with the toolkit. Looked in LD_LIBRARY_PATH "
                                  "and in the folders that distributions use."));
        check->action =
            *s->container
                ? diagnosis_words(
                      d, N_("start the container with the NVIDIA runtime (docker run --gpus all …) and with "
                            "NVIDIA_DRIVER_CAPABILITIES=compute,utility"))
                : diagnosis_words(d, N_("install the driver's CUDA libraries (libcuda1, "
                                        "nvidia-driver-cuda-libs or the like)"));
        return;
    }
    if (strstr(cuda->path, "/stubs/")) {
        struct check *check = diagnosis_check(d, "driver-library", CHECK_FAIL, 0.95);
        check->title = diagnosis_words(d, N_("the toolkit's stub stands in for libcuda"));
        check->meaning = diagnosis_words(
            d, N_("It exists to link programs; calls into it fail as if the driver were too old."));
        check->action = diagnosis_words(d, N_("take the stubs folder out of LD_LIBRARY_PATH"));
        diagnosis_evidence(d, check, "LD_LIBRARY_PATH", cuda->path);
        return;
    }
    check_one_library(d, s, cuda);
    const struct setup_library *ml = library_of(s, "libnvidia-ml.so", "libnvidia-ml.so.1");
    if (ml && strcmp(ml->version, cuda->version) != 0) /* else one answer holds for both */
        check_one_library(d, s, ml);
}

/* ---- device files -------------------------------------------------------------------------------------- */

static void say_denied(struct diagnosis *d, const struct setup *s, struct check *check,
                       const struct setup_node *node)
{
    check->title = diagnosis_words(d, N_("%s may not be opened"), node->path);
    if (node->error == EPERM) {
        check->meaning = diagnosis_words(
            d, N_("The file is there, but the device list of the cgroup forbids it. Containers lose their "
                  "GPUs like this when systemd reloads its settings (\"Failed to initialize NVML: Unknown "
                  "Error\")."));
        check->action = diagnosis_words(
            d, N_("start the container or job anew; to prevent it, pass the devices with --device or CDI"));
    } else {
        check->meaning = diagnosis_words(d, N_("Its permissions leave this user out."));
        check->action =
            *s->container ? diagnosis_words(d, N_("run the container as a user who may, or with the group of "
                                                  "the device files (--group-add)"))
                          : diagnosis_words(d, N_("add the user to the group of the file (video or render), "
                                                  "and log in again"));
    }
}

static void say_missing(struct diagnosis *d, const struct setup *s, struct check *check, const char *path)
{
    bool uvm = strcmp(path, "/dev/nvidia-uvm") == 0;
    check->title = diagnosis_words(d, N_("%s is missing"), path);
    check->meaning = uvm ? diagnosis_words(d, N_("nvidia-smi works without it, CUDA does not (error 999)."))
                         : diagnosis_words(d, N_("Without it no program reaches the driver."));
    check->action =
        *s->container
            ? diagnosis_words(d, N_("start the container with its GPUs: docker run --gpus all …, or the "
                                    "resource nvidia.com/gpu in Kubernetes"))
        : uvm ? diagnosis_words(d, N_("make it: nvidia-modprobe -u -c=0"))
              : diagnosis_words(d, N_("make it: nvidia-modprobe -c 0"));
}

/* Device files of one kind that cannot be used: the first gives the check its words. */
struct denied {
    struct check *check;
    size_t usable; /* GPUs */
};

static void note_node(struct diagnosis *d, const struct setup *s, struct denied *denied,
                      const struct setup_node *node)
{
    if (node->error == 0)
        return;
    if (!denied->check) {
        denied->check = diagnosis_check(d, "device-files", CHECK_FAIL, 0.95);
        if (node->error == ENOENT)
            say_missing(d, s, denied->check, node->path);
        else
            say_denied(d, s, denied->check, node);
    }
    diagnosis_evidence(d, denied->check, node->path, strerror(node->error));
}

/* Of GPUs that another driver has, or that the driver refused, there are none to be missed. */
static bool needs_nodes(const struct setup *s)
{
    bool any = false;
    vec_each (&s->gpus, gpu) {
        any |= gpu->vendor == PCI_NVIDIA;
        if (gpu->vendor == PCI_NVIDIA && strcmp(gpu->driver, "nvidia") == 0)
            return true;
    }
    return !any;
}

static void check_nodes(struct diagnosis *d, const struct setup *s)
{
    static const char *const needed[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    struct denied denied = {0};
    size_t gpus = 0;
    if (!needs_nodes(s))
        return;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const struct setup_node *node = setup_node(s, needed[i]);
        note_node(d, s, &denied, node ? node : &(struct setup_node){needed[i], ENOENT});
    }
    vec_each (&s->nodes, node) {
        if (!setup_is_gpu_node(node))
            continue;
        gpus++;
        denied.usable += node->error == 0;
        note_node(d, s, &denied, node);
    }
    if (gpus == 0)
        note_node(d, s, &denied, &(struct setup_node){"/dev/nvidia0", ENOENT});
    if (!denied.check) {
        struct check *check = diagnosis_check(d, "device-files", CHECK_OK, 1);
        check->title = diagnosis_words(d, N_("the device files may be opened (GPUs: %zu)"), denied.usable);
    }
}

static void check_wsl(struct diagnosis *d, const struct setup *s)
{
    const struct setup_node *dxg = setup_node(s, "/dev/dxg");
    const struct setup_library *cuda = library_of(s, "libcuda.so", "libcuda.so.1");
    bool has_dxg = dxg && dxg->error == 0, right = cuda && strncmp(cuda->path, "/usr/lib/wsl/", 13) == 0;
    struct check *check =
        diagnosis_check(d, "wsl", !has_dxg || !right ? CHECK_FAIL : CHECK_OK, has_dxg && right ? 1 : 0.9);
    if (!has_dxg) {
        check->title = diagnosis_words(d, N_("/dev/dxg cannot be used: Windows passes no GPU on"));
        check->action = diagnosis_words(
            d, N_("update the NVIDIA driver in Windows and WSL (wsl --update), and use WSL version 2"));
    } else if (!right) {
        check->title = diagnosis_words(d, N_("WSL's own libcuda is not the one that is used"));
        check->meaning = diagnosis_words(
            d, N_("In WSL the driver is Windows'; a Linux driver installed inside hides its libraries."));
        check->action =
            diagnosis_words(d, N_("remove the Linux driver packages; install only the CUDA toolkit for WSL"));
    } else {
        check->title = diagnosis_words(d, N_("Windows passes the GPU on"));
    }
    diagnosis_evidence(d, check, "libcuda.so.1", cuda ? cuda->path : "");
}

/* The GPU of a Jetson has files of its own; which ones depends on the release of its system. */
static void check_tegra_nodes(struct diagnosis *d, const struct setup *s)
{
    static const char *const names[] = {"/dev/nvgpu/igpu0/ctrl", "/dev/nvhost-gpu", "/dev/nvmap"};
    struct denied denied = {0};
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct setup_node *node = setup_node(s, names[i]);
        if (!node || node->error == ENOENT)
            continue;
        found++;
        note_node(d, s, &denied, node);
    }
    if (found == 0 && *s->container) {
        note_node(d, s, &denied, &(struct setup_node){names[1], ENOENT});
        denied.check->action = diagnosis_words(d, N_("start the container with --runtime nvidia"));
    } else if (found > 0 && !denied.check) {
        struct check *check = diagnosis_check(d, "device-files", CHECK_OK, 1);
        check->title = diagnosis_words(d, N_("the device files of the Jetson's GPU may be opened"));
    }
}

void setup_check_driver(struct diagnosis *d, const struct setup *s)
{
    if (s->is_wsl) {
        check_wsl(d, s);
    } else if (s->is_tegra) {
        check_tegra_nodes(d, s);
        check_libraries(d, s);
    } else {
        check_module(d, s);
        if (setup_has_module(s)) {
            check_nodes(d, s);
            check_libraries(d, s);
        }
    }
}
