/* What stands between a program and the whole GPU: containers, MIG, slices, MPS, NVSwitch fabric. */
#include <string.h>

#include "analyze/setup_checks.h"

static void check_container(struct diagnosis *d, const struct setup *s)
{
    if (!*s->container)
        return;
    const char *gpus = setup_variable(s, "NVIDIA_VISIBLE_DEVICES");
    const char *abilities = setup_variable(s, "NVIDIA_DRIVER_CAPABILITIES");
    bool none = gpus && (!*gpus || strcmp(gpus, "void") == 0 || strcmp(gpus, "none") == 0);
    bool no_compute = abilities && *abilities && !strstr(abilities, "compute") && !strstr(abilities, "all");
    struct check *check = diagnosis_check(d, "container", none || no_compute ? CHECK_FAIL : CHECK_OK, 0.9);
    if (none) {
        check->title =
            diagnosis_words(d, N_("this container asked for no GPU (NVIDIA_VISIBLE_DEVICES=%s)"), gpus);
        check->action =
            diagnosis_words(d, N_("start it with --gpus all, or with NVIDIA_VISIBLE_DEVICES=all; in "
                                  "Kubernetes ask for nvidia.com/gpu"));
    } else if (no_compute) {
        check->title = diagnosis_words(d,
                                       N_("this container asked for the driver without CUDA "
                                          "(NVIDIA_DRIVER_CAPABILITIES=%s)"),
                                       abilities);
        check->action = diagnosis_words(d, N_("start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
    } else {
        check->title = diagnosis_words(d, N_("this runs in a container (%s)"), s->container);
    }
    if (gpus)
        diagnosis_evidence(d, check, "NVIDIA_VISIBLE_DEVICES", gpus);
    if (abilities)
        diagnosis_evidence(d, check, "NVIDIA_DRIVER_CAPABILITIES", abilities);
}

static bool has_mig_mode(const struct setup *s, const char *bus)
{
    vec_each (&s->sample.devices, device)
        if (strcmp(device->facts.bus, bus) == 0)
            return reading_is_known(device->facts.mig) && device->facts.mig.value != 0;
    return false;
}

static void check_mig(struct diagnosis *d, const struct setup *s)
{
    vec_each (&s->gpus, gpu) {
        bool on = has_mig_mode(s, gpu->bus);
        if (gpu->mig_instances == 0 && !on)
            continue;
        struct check *check = diagnosis_check(d, "mig", gpu->mig_instances ? CHECK_OK : CHECK_FAIL, 0.9);
        if (gpu->mig_instances) {
            check->title = diagnosis_words(d, N_("the GPU at %s is divided into %lld MIG instances"),
                                           gpu->bus, (long long)gpu->mig_instances);
            check->meaning =
                diagnosis_words(d, N_("A program gets one of them, chosen by its UUID (MIG-…)."));
        } else {
            check->title = diagnosis_words(d, N_("MIG is on, but the GPU at %s has no instance"), gpu->bus);
            check->meaning = diagnosis_words(d, N_("CUDA sees no device on it."));
            check->action = diagnosis_words(
                d, N_("make instances (nvidia-smi mig -cgi … -C), or switch MIG off (nvidia-smi -mig 0)"));
        }
    }
}

/* HAMi and its relatives put themselves before the driver (github.com/Project-HAMi/HAMi-core). */
static void check_slices(struct diagnosis *d, const struct setup *s)
{
    const char *memory = NULL, *where = NULL;
    vec_each (&s->variables, variable)
        if (strncmp(variable->name, "CUDA_DEVICE_MEMORY_LIMIT", 24) == 0) {
            memory = variable->value;
            where = variable->name;
        }
    bool preloaded = strstr(s->preload, "libvgpu.so") || setup_library(s, "libvgpu.so");
    if (!memory && !preloaded)
        return;
    struct check *check = diagnosis_check(d, "gpu-slice", CHECK_WARN, preloaded ? 0.95 : 0.7);
    check->title = diagnosis_words(d, N_("HAMi gives this program a part of the GPU (memory: %s)"),
                                   memory ? memory : "?");
    check->meaning = diagnosis_words(
        d, N_("It stands before the driver, so that memory sizes shown in here are the limit's, "
              "not the GPU's, and \"out of memory\" can mean the limit. Profilers may hang."));
    check->action = diagnosis_words(
        d,
        N_("to measure, set CUDA_DISABLE_CONTROL=true in the pod's specification, or ask for a whole GPU"));
    if (memory)
        diagnosis_evidence(d, check, where, memory);
    if (preloaded)
        diagnosis_evidence(d, check, "/etc/ld.so.preload", s->preload);
}

static void check_fabric(struct diagnosis *d, const struct setup *s)
{
    if (s->switches == 0)
        return;
    enum check_status status = s->has_fabric_manager ? CHECK_OK : *s->container ? CHECK_UNKNOWN : CHECK_FAIL;
    struct check *check = diagnosis_check(d, "fabric-manager", status, status == CHECK_FAIL ? 0.9 : 1);
    switch (status) {
    case CHECK_OK:
        check->title = diagnosis_words(d, N_("the fabric manager runs"));
        break;
    case CHECK_UNKNOWN:
        check->title =
            diagnosis_words(d, N_("whether the fabric manager runs cannot be seen in a container"));
        check->action = diagnosis_words(d, N_("on the host: systemctl status nvidia-fabricmanager"));
        break;
    default:
        check->title = diagnosis_words(d, N_("NVSwitches are there, but the fabric manager does not run"));
        check->meaning =
            diagnosis_words(d, N_("Until it has set up the switches every CUDA program fails with "
                                  "error 802, \"system not yet initialized\"."));
        check->action =
            diagnosis_words(d, N_("install nvidia-fabricmanager of exactly the driver's version and "
                                  "start it: systemctl enable --now nvidia-fabricmanager"));
    }
}

static void check_mps(struct diagnosis *d, const struct setup *s)
{
    const char *share = setup_variable(s, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    if (!s->has_mps && !share)
        return;
    struct check *check = diagnosis_check(d, "mps", CHECK_OK, 0.9);
    check->title = diagnosis_words(d, N_("the multi-process service (MPS) is in use"));
    check->meaning = diagnosis_words(
        d, N_("Programs share one context: a fault of one can end all, and figures are of all together."));
    if (share)
        diagnosis_evidence(d, check, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", share);
}

void setup_check_sharing(struct diagnosis *d, const struct setup *s)
{
    check_container(d, s);
    check_mig(d, s);
    check_slices(d, s);
    check_fabric(d, s);
    check_mps(d, s);
}
