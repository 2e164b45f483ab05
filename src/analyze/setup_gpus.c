/* Which GPUs there are, and which driver has each. */
#include <string.h>

#include "analyze/setup_checks.h"

static const char *vendor_name(uint32_t vendor)
{
    return vendor == PCI_NVIDIA ? "NVIDIA" : vendor == PCI_AMD ? "AMD" : vendor == PCI_INTEL ? "Intel" : "";
}

static void add_gpu_evidence(struct diagnosis *d, struct check *check, const struct setup_gpu *gpu)
{
    struct str text = {0};
    str_addf(&text, "%s %04x:%04x%s%s, %s%s%s", vendor_name(gpu->vendor), gpu->vendor, gpu->device,
             *gpu->model ? " " : "", gpu->model, *gpu->driver ? gpu->driver : "no driver",
             *gpu->power ? ", " : "", gpu->power);
    diagnosis_evidence(d, check, gpu->bus, str_text(&text));
    str_release(&text);
}

static void check_presence(struct diagnosis *d, const struct setup *s)
{
    bool found = s->gpus.count > 0 || s->is_wsl || s->is_tegra;
    struct check *check = diagnosis_check(d, "gpu-present", found ? CHECK_OK : CHECK_FAIL, found ? 1 : 0.9);
    if (found) {
        check->title = s->is_wsl     ? diagnosis_words(d, N_("this is WSL: Windows drives the GPU"))
                       : s->is_tegra ? diagnosis_words(d, N_("this is a Jetson: the GPU is part of the chip"))
                                     : diagnosis_words(d, N_("GPUs on the PCI bus: %zu"), s->gpus.count);
    } else {
        check->title = diagnosis_words(d, N_("no GPU is on the PCI bus"));
        check->meaning = diagnosis_words(
            d, N_("Neither a working nor a driverless GPU shows up: none is built in, it has no power, the "
                  "firmware has switched it off, or this is a virtual machine that was given none."));
        check->action = diagnosis_words(
            d, N_("look at the power cables, the slot and the firmware's settings; of a virtual machine, at "
                  "the devices that its host passes on"));
    }
    vec_each (&s->gpus, gpu)
        add_gpu_evidence(d, check, gpu);
}

static void check_lost(struct diagnosis *d, const struct setup *s)
{
    vec_each (&s->gpus, gpu) {
        if (!gpu->is_lost)
            continue;
        struct check *check = diagnosis_check(d, "gpu-lost", CHECK_FAIL, 0.95);
        check->title = diagnosis_words(d, N_("the GPU at %s has fallen off the bus"), gpu->bus);
        check->meaning =
            diagnosis_words(d, N_("Every read of its PCI configuration returns ones: it has no power, has "
                                  "crashed, or the link to it is down. Only a restart brings it back."));
        check->action = diagnosis_words(
            d, N_("restart the machine; look at the kernel log for Xid 79 and what came before it"));
        diagnosis_evidence(d, check, gpu->bus, "config: ff ff ff ff");
    }
}

static void check_other_driver(struct diagnosis *d, const struct setup_gpu *gpu)
{
    bool is_vfio = strcmp(gpu->driver, "vfio-pci") == 0, is_nouveau = strcmp(gpu->driver, "nouveau") == 0;
    struct check *check = diagnosis_check(d, "gpu-driver", CHECK_FAIL, 1);
    if (is_vfio) {
        check->title = diagnosis_words(d, N_("the GPU at %s is set aside for a virtual machine"), gpu->bus);
        check->meaning = diagnosis_words(
            d, N_("The driver vfio-pci holds it, so that programs of this system cannot use it."));
        check->action = diagnosis_words(
            d, N_("use it in the virtual machine, or take it out of the vfio-pci settings and restart"));
    } else {
        check->title =
            diagnosis_words(d, N_("the driver %s has the GPU at %s, not nvidia"), gpu->driver, gpu->bus);
        check->meaning = diagnosis_words(d, N_("CUDA works with NVIDIA's own driver only."));
        check->action =
            is_nouveau
                ? diagnosis_words(
                      d, N_("install the NVIDIA driver and restart; its package keeps nouveau from loading"))
                : diagnosis_words(d, N_("unbind that driver and load nvidia"));
    }
    add_gpu_evidence(d, check, gpu);
}

static void check_drivers(struct diagnosis *d, const struct setup *s)
{
    const struct setup_gpu *driven = NULL;
    size_t count = 0;
    vec_each (&s->gpus, gpu) {
        if (gpu->vendor != PCI_NVIDIA)
            continue;
        if (strcmp(gpu->driver, "nvidia") == 0) {
            driven = driven ? driven : gpu;
            count++;
        } else if (*gpu->driver) {
            check_other_driver(d, gpu);
        } else if (setup_has_module(s) && !gpu->is_lost) {
            struct check *check = diagnosis_check(d, "gpu-driver", CHECK_FAIL, 0.9);
            check->title = diagnosis_words(d, N_("the NVIDIA driver has not taken the GPU at %s"), gpu->bus);
            check->meaning = diagnosis_words(
                d, N_("The module is loaded, but refused this GPU: it is too old or too new for it, of the "
                      "wrong kind (Blackwell needs the open one, GPUs before Turing the proprietary one), or "
                      "the GPU did not start."));
            check->action = diagnosis_words(d, N_("read what NVRM says about it: journalctl -k -g NVRM"));
            add_gpu_evidence(d, check, gpu);
        }
    }
    if (count > 0) {
        struct check *check = diagnosis_check(d, "gpu-driver", CHECK_OK, 1);
        check->title = diagnosis_words(d, N_("GPUs that the NVIDIA driver has: %zu"), count);
        add_gpu_evidence(d, check, driven);
    }
}

/* A hybrid laptop, or a server that lets its GPUs sleep. */
static void check_power(struct diagnosis *d, const struct setup *s)
{
    vec_each (&s->gpus, gpu) {
        if (gpu->vendor != PCI_NVIDIA || strcmp(gpu->power, "suspended") != 0)
            continue;
        struct check *check = diagnosis_check(d, "gpu-asleep", CHECK_OK, 1);
        check->title = diagnosis_words(d, N_("the GPU at %s is asleep, and was left so"), gpu->bus);
        check->meaning = diagnosis_words(d, N_("It wakes when a program uses it."));
        diagnosis_evidence(d, check, gpu->bus, "power/runtime_status: suspended");
    }
}

/* The screen hangs on another maker's GPU: graphics programs stay there unless told. */
static void check_hybrid(struct diagnosis *d, const struct setup *s)
{
    const struct setup_gpu *boot = NULL, *other = NULL;
    vec_each (&s->gpus, gpu) {
        if (gpu->is_boot)
            boot = gpu;
        else if (gpu->vendor == PCI_NVIDIA)
            other = gpu;
    }
    if (!boot || !other || boot->vendor == PCI_NVIDIA || !vendor_name(boot->vendor)[0])
        return;
    struct check *check = diagnosis_check(d, "gpu-hybrid", CHECK_OK, 0.9);
    check->title =
        diagnosis_words(d, N_("the screen is on the GPU of %s; CUDA programs use the one of NVIDIA"),
                        vendor_name(boot->vendor));
    check->meaning = diagnosis_words(d, N_("Graphics programs stay on the first unless they are started with "
                                           "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia."));
    add_gpu_evidence(d, check, boot);
    add_gpu_evidence(d, check, other);
}

static void check_amd(struct diagnosis *d, const struct setup *s)
{
    const struct setup_node *kfd = setup_node(s, "/dev/kfd");
    const struct setup_gpu *amd = NULL;
    vec_each (&s->gpus, gpu)
        if (gpu->vendor == PCI_AMD && !amd)
            amd = gpu;
    if (!amd)
        return;
    bool driven = strcmp(amd->driver, "amdgpu") == 0, usable = driven && kfd && kfd->error == 0;
    /* Only ROCm needs it: beside an NVIDIA GPU the AMD one is the screen's. */
    if (!usable && setup_has_nvidia(s))
        return;
    struct check *check = diagnosis_check(d, "amd-compute", usable ? CHECK_OK : CHECK_FAIL, usable ? 1 : 0.9);
    add_gpu_evidence(d, check, amd);
    if (usable) {
        check->title = diagnosis_words(d, N_("ROCm programs can open /dev/kfd"));
    } else if (!driven) {
        check->title = diagnosis_words(d, N_("the driver amdgpu does not have the AMD GPU"));
        check->action = diagnosis_words(d, N_("load it: modprobe amdgpu; then read journalctl -k -g amdgpu"));
    } else {
        check->title = diagnosis_words(d, N_("ROCm programs cannot open /dev/kfd"));
        check->action = diagnosis_words(
            d, N_("add the user to the group render and log in again; into a container pass --device "
                  "/dev/kfd --device /dev/dri"));
        diagnosis_evidence(d, check, "/dev/kfd", kfd ? strerror(kfd->error) : "");
    }
}

void setup_check_gpus(struct diagnosis *d, const struct setup *s)
{
    check_presence(d, s);
    check_lost(d, s);
    check_drivers(d, s);
    check_power(d, s);
    check_hybrid(d, s);
    check_amd(d, s);
}
