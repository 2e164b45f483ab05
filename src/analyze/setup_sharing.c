/* What stands between a program and the whole GPU: MIG, slices, vGPU, MPS, NVSwitch fabric. */
#include <string.h>

#include "analyze/setup_checks.h"

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

/* Layers that give a program a part of a GPU, by what they leave behind: the beginning of a variable with the
 * memory, and a library that stands before the driver. HAMi: github.com/Project-HAMi/HAMi-core; cGPU: Alibaba
 * Cloud's container service; nvshare: github.com/grgalex/nvshare. */
static const struct slicer {
    const char *name, *memory, *library, *meaning, *action;
} slicers[] = {
    {"HAMi", "CUDA_DEVICE_MEMORY_LIMIT", "libvgpu.so",
     N_("It stands before the driver, so that memory sizes shown in here are the limit's, "
        "not the GPU's, and \"out of memory\" can mean the limit. Profilers may hang."),
     N_("to measure, set CUDA_DISABLE_CONTROL=true in the pod's specification, or ask for a whole GPU")},
    {"cGPU", "ALIYUN_COM_GPU_MEM_CONTAINER", NULL,
     N_("Its module in the kernel shows the part's memory as the GPU's, and gives its time in turns: \"out "
        "of "
        "memory\" can mean the part."),
     N_("ask for a larger part (aliyun.com/gpu-mem), or for a whole GPU")},
    {"nvshare", NULL, "libnvshare.so",
     N_("Every program sees all of the memory, and they take turns of half a minute: long pauses are no "
        "hang, and "
        "memory moves to the host and back in between."),
     N_("to measure, run alone on the GPU")},
};

static bool is_preloaded(const struct setup *s, const char *library)
{
    vec_each (&s->sample.devices, device)
        if (library && strstr(device->interposer, library))
            return true;
    const char *preload = setup_variable(s, "LD_PRELOAD");
    return library && (strstr(s->preload, library) || (preload && strstr(preload, library)) ||
                       setup_library(s, library));
}

static const struct setup_variable *variable_like(const struct setup *s, const char *beginning)
{
    vec_each (&s->variables, variable)
        if (beginning && strncmp(variable->name, beginning, strlen(beginning)) == 0)
            return variable;
    return NULL;
}

static void check_slices(struct diagnosis *d, const struct setup *s)
{
    for (size_t i = 0; i < sizeof slicers / sizeof *slicers; i++) {
        const struct slicer *slicer = &slicers[i];
        const struct setup_variable *memory = variable_like(s, slicer->memory);
        bool preloaded = is_preloaded(s, slicer->library);
        if (!memory && !preloaded)
            continue;
        struct check *check = diagnosis_check(d, "gpu-slice", CHECK_WARN, preloaded ? 0.95 : 0.7);
        check->title = memory ? diagnosis_words(d, N_("%s gives this program a part of the GPU (memory: %s)"),
                                                slicer->name, memory->value)
                              : diagnosis_words(d, N_("%s shares the GPU of this program"), slicer->name);
        check->meaning = diagnosis_plain(d, slicer->meaning);
        check->action = diagnosis_plain(d, slicer->action);
        if (memory)
            diagnosis_evidence(d, check, memory->name, memory->value);
        if (preloaded && strstr(s->preload, slicer->library))
            diagnosis_evidence(d, check, "/etc/ld.so.preload", s->preload);
    }
}

/* "NVIDIA L4-12Q", "GRID T4-8C", "NVIDIA A100-1-5C": a hyphen, gigabytes, and the letter of a series. */
static bool is_vgpu_name(const char *name)
{
    const char *last = strrchr(name, '-');
    size_t digits = last ? strspn(last + 1, "0123456789") : 0;
    return digits > 0 && last[digits + 1] && strchr("ABCQ", last[digits + 1]) && !last[digits + 2];
}

static void add_vgpu(struct diagnosis *d, const struct setup *s, const char *bus, const char *name)
{
    bool licensed = s->has_licence_daemon || *s->container;
    struct check *check = diagnosis_check(d, "vgpu", licensed ? CHECK_OK : CHECK_WARN, licensed ? 0.9 : 0.7);
    diagnosis_evidence(d, check, bus, name);
    if (licensed) {
        check->title =
            diagnosis_words(d, N_("the GPU at %s is a vGPU: a part that the hypervisor gives"), bus);
        return;
    }
    check->title =
        diagnosis_words(d, N_("the GPU at %s is a vGPU, and its licence service does not run"), bus);
    check->meaning =
        diagnosis_words(d, N_("Without a licence it works for a while after the start and then slows "
                              "down, or refuses CUDA."));
    check->action =
        diagnosis_words(d, N_("start it: systemctl enable --now nvidia-gridd; nvidia-smi -q then says "
                              "License Status: Licensed"));
}

static void check_vgpu(struct diagnosis *d, const struct setup *s)
{
    vec_each (&s->gpus, gpu) {
        const char *name = gpu->model;
        bool is_vgpu = false;
        vec_each (&s->sample.devices, device)
            if (device->parent == NONE && strcmp(device->facts.bus, gpu->bus) == 0) {
                struct reading mode = device->facts.virtualization;
                is_vgpu = reading_is_known(mode) && mode.value == VIRTUALIZATION_VGPU;
                name = *name ? name : device->facts.name;
            }
        if (gpu->vendor == PCI_NVIDIA && (is_vgpu || is_vgpu_name(name)))
            add_vgpu(d, s, gpu->bus, name);
    }
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

static bool has_mps_client(const struct setup *s)
{
    vec_each (&s->sample.processes, process)
        if (process->type & MACHINE_MPS)
            return true;
    return false;
}

static void check_mps(struct diagnosis *d, const struct setup *s)
{
    static const char *const limits[] = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                         "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"};
    enum { LIMITS = sizeof limits / sizeof *limits };
    const char *pipe = setup_variable(s, "CUDA_MPS_PIPE_DIRECTORY"), *values[LIMITS];
    bool in_use = s->has_mps || has_mps_client(s);
    for (size_t i = 0; i < LIMITS; i++) {
        values[i] = setup_variable(s, limits[i]);
        in_use |= values[i] != NULL;
    }
    bool lost = pipe && !s->has_mps && !s->has_mps_pipe;
    if (!in_use && !pipe)
        return;
    struct check *check = diagnosis_check(d, "mps", lost ? CHECK_WARN : CHECK_OK, lost ? 0.7 : 0.9);
    if (lost) {
        check->title = diagnosis_words(d, N_("the program is to use MPS, but no daemon of it answers"));
        check->meaning =
            diagnosis_words(d, N_("It runs without MPS then, or fails as \"busy or unavailable\" where the "
                                  "compute mode lets one program in."));
        check->action =
            diagnosis_words(d, N_("start nvidia-cuda-mps-control -d with the same "
                                  "CUDA_MPS_PIPE_DIRECTORY, and let a container see that folder"));
    } else {
        check->title = diagnosis_words(d, N_("the multi-process service (MPS) is in use"));
        check->meaning = diagnosis_words(
            d,
            N_("Programs share one context: a fault of one can end all, and figures are of all together."));
    }
    if (pipe)
        diagnosis_evidence(d, check, "CUDA_MPS_PIPE_DIRECTORY", pipe);
    for (size_t i = 0; i < LIMITS; i++)
        if (values[i])
            diagnosis_evidence(d, check, limits[i], values[i]);
}

void setup_check_sharing(struct diagnosis *d, const struct setup *s)
{
    setup_check_container(d, s);
    check_mig(d, s);
    check_slices(d, s);
    check_vgpu(d, s);
    check_fabric(d, s);
    check_mps(d, s);
}
