/* How the GPUs are: what the driver says of those that are awake. */
#include <stdio.h>
#include <string.h>

#include "analyze/setup_checks.h"

/* Values of nvmlComputeMode_t. */
enum { MODE_PROHIBITED = 2, MODE_EXCLUSIVE = 3 };

/* A link is judged while something uses it: at rest it slows down to save power. */
enum { LOADED_PERCENT = 20, FULL_PERCENT = 95 };

static bool is_on(struct reading reading)
{
    return reading_is_known(reading) && reading.value != 0;
}

static const char *name_of(const struct machine_device *device)
{
    return *device->facts.bus ? device->facts.bus : device->key;
}

static void add_reading(struct diagnosis *d, struct check *check, const struct gpu_field *fields,
                        const void *values, const char *key)
{
    struct str text = {0};
    for (const struct gpu_field *field = fields; field->key; field++)
        if (strcmp(field->key, key) == 0 && reading_is_known(gpu_get(values, field))) {
            gpu_value_add(&text, field->unit, gpu_get(values, field).value);
            diagnosis_evidence(d, check, key, str_text(&text));
        }
    str_release(&text);
}

static struct check *add_check(struct diagnosis *d, const char *id, enum check_status status,
                               double confidence, const struct machine_device *device, const char *key)
{
    struct check *check = diagnosis_check(d, id, status, confidence);
    diagnosis_evidence(d, check, name_of(device), device->facts.name);
    add_reading(d, check, gpu_sample_fields, &device->sample, key);
    add_reading(d, check, gpu_fact_fields, &device->facts, key);
    return check;
}

static void check_memory_errors(struct diagnosis *d, const struct machine_device *device)
{
    const struct gpu_sample *sample = &device->sample;
    struct check *check;
    if (is_on(sample->remap_failed)) {
        check = add_check(d, "gpu-memory-errors", CHECK_FAIL, 0.95, device, "row_remap_failed");
        check->title = diagnosis_words(d, N_("memory of the GPU at %s is broken and could not be remapped"),
                                       name_of(device));
        check->action = diagnosis_words(d, N_("take it out of use and have it replaced"));
    } else if (is_on(sample->remap_pending)) {
        check = add_check(d, "gpu-memory-errors", CHECK_FAIL, 0.9, device, "row_remap_pending");
        check->title =
            diagnosis_words(d, N_("broken memory of the GPU at %s waits to be remapped"), name_of(device));
        check->meaning = diagnosis_words(d, N_("Until the GPU is reset the same rows can fail again."));
        check->action = diagnosis_words(d, N_("end its programs and reset it: nvidia-smi --gpu-reset -i %s"),
                                        name_of(device));
    } else if (is_on(sample->ecc_uncorrected)) {
        check = add_check(d, "gpu-memory-errors", CHECK_WARN, 0.8, device, "ecc_uncorrected_count");
        check->title = diagnosis_words(
            d, N_("the GPU at %s has had memory errors that ECC could not correct"), name_of(device));
        check->meaning = diagnosis_words(d, N_("They count since the driver was loaded; results of programs "
                                               "that ran then are suspect."));
        check->action =
            diagnosis_words(d, N_("look at the kernel log for Xid 48, 63, 94 and 95; if they come back, "
                                  "have the GPU replaced"));
    } else if (reading_is_known(sample->ecc_uncorrected)) {
        check = add_check(d, "gpu-memory-errors", CHECK_OK, 0.95, device, "ecc_uncorrected_count");
        check->title = diagnosis_words(d, N_("the memory of the GPU at %s has no errors"), name_of(device));
    }
}

/* What the driver asks for (nvmlDeviceGpuRecoveryAction_t). Until that is done programs that start fail. */
static void check_recovery(struct diagnosis *d, const struct machine_device *device)
{
    static const char *const actions[] = {
        [RECOVERY_RESET] = N_("end its programs and reset it: nvidia-smi --gpu-reset"),
        [RECOVERY_NODE_REBOOT] = N_("restart the machine"),
        [RECOVERY_DRAIN_P2P] = N_("end the programs that reach it from other GPUs (peer-to-peer access)"),
        [RECOVERY_DRAIN_AND_RESET] =
            N_("let nothing new start on it, wait until its programs end, and reset it"),
        [RECOVERY_IMEX_DOMAIN] =
            N_("bring the IMEX domain of the rack back: look at nvidia-imex on all its nodes"),
        [RECOVERY_BUS_RESET] = N_("reset its PCIe bus, or restart the machine"),
        [RECOVERY_SYSTEM_REBOOT] = N_("restart the system"),
    };
    struct reading wanted = device->detail.recovery;
    if (!is_on(wanted) || wanted.value >= (int64_t)(sizeof actions / sizeof *actions))
        return;
    struct check *check = add_check(d, "gpu-recovery", CHECK_FAIL, 0.95, device, "");
    check->title = diagnosis_words(d, N_("the driver asks for a recovery of the GPU at %s"), name_of(device));
    check->meaning =
        diagnosis_words(d, N_("A fault has left it unfit: programs that start now fail as \"busy or "
                              "unavailable\". The kernel log has the Xid."));
    check->action = diagnosis_plain(d, actions[wanted.value]);
}

/* Completed alone is no success: the status says how it ended. */
static void check_fabric(struct diagnosis *d, const struct machine_device *device)
{
    struct reading state = device->health.fabric_state, status = device->health.fabric_status;
    if (!is_on(state))
        return;
    bool done = state.value == FABRIC_COMPLETED, failed = done && is_on(status);
    struct check *check =
        add_check(d, "fabric-state", done && !failed ? CHECK_OK : CHECK_FAIL, 0.95, device, "");
    if (done && !failed) {
        check->title = diagnosis_words(d, N_("the GPU at %s is part of the NVLink fabric"), name_of(device));
        return;
    }
    check->title =
        failed ? diagnosis_words(d, N_("the GPU at %s could not join the NVLink fabric (NVML code %lld)"),
                                 name_of(device), (long long)status.value)
               : diagnosis_words(d, N_("the GPU at %s waits for the NVLink fabric"), name_of(device));
    check->meaning =
        diagnosis_words(d, N_("Until it has joined every CUDA program fails with error 802, \"system not "
                              "yet initialized\"."));
    check->action =
        diagnosis_words(d, N_("look at systemctl status nvidia-fabricmanager and at its log; it must be of "
                              "exactly the driver's version"));
}

static void check_mig_pending(struct diagnosis *d, const struct machine_device *device)
{
    struct reading pending = device->health.mig_pending, now = device->facts.mig;
    if (!reading_is_known(pending) || !reading_is_known(now) || pending.value == now.value)
        return;
    struct check *check = add_check(d, "mig-pending", CHECK_WARN, 0.95, device, "mig_mode");
    check->title = diagnosis_words(d, N_("a change of the MIG mode of the GPU at %s waits for a reset"),
                                   name_of(device));
    check->action = diagnosis_words(d, N_("end its programs and reset it: nvidia-smi --gpu-reset"));
}

static void check_clocks(struct diagnosis *d, const struct machine_device *device)
{
    const int64_t heat = GPU_CLOCK_SOFTWARE_THERMAL | GPU_CLOCK_HARDWARE_THERMAL;
    struct reading reasons = device->sample.clock_reasons;
    if (!reading_is_known(reasons))
        return;
    bool hot = reasons.value & heat, brake = reasons.value & GPU_CLOCK_POWER_BRAKE;
    bool low_cap = (reasons.value & GPU_CLOCK_POWER_CAP) && reading_is_known(device->sample.power_limit) &&
                   reading_is_known(device->facts.power_limit_default) &&
                   device->sample.power_limit.value < device->facts.power_limit_default.value;
    struct check *check = add_check(d, "gpu-clocks", hot || brake || low_cap ? CHECK_WARN : CHECK_OK, 0.8,
                                    device, "clock_event_reasons");
    if (hot) {
        check->title = diagnosis_words(d, N_("heat holds the clocks of the GPU at %s down"), name_of(device));
        check->action = diagnosis_words(d, N_("look at fans, dust, airflow and the temperature of the room"));
        add_reading(d, check, gpu_sample_fields, &device->sample, "temperature_celsius");
    } else if (brake) {
        check->title =
            diagnosis_words(d, N_("the power brake holds the clocks of the GPU at %s down"), name_of(device));
        check->meaning = diagnosis_words(d, N_("The power supply or the chassis asks for it."));
        check->action = diagnosis_words(d, N_("look at the power supplies and the chassis' own log"));
    } else if (low_cap) {
        check->title = diagnosis_words(d, N_("a lowered power limit holds the clocks of the GPU at %s down"),
                                       name_of(device));
        check->action =
            diagnosis_words(d, N_("if that is not meant, as root: nvidia-smi -pl with the default limit"));
        add_reading(d, check, gpu_sample_fields, &device->sample, "power_limit_watts");
        add_reading(d, check, gpu_fact_fields, &device->facts, "power_limit_default_watts");
    } else {
        check->title =
            diagnosis_words(d, N_("no fault holds the clocks of the GPU at %s down now"), name_of(device));
    }
}

static const struct setup_gpu *on_bus(const struct setup *s, const char *bus)
{
    vec_each (&s->gpus, gpu)
        if (strcmp(gpu->bus, bus) == 0)
            return gpu;
    return NULL;
}

/* Width does not fall to save power on desktops and servers; of generation and width alike nothing is said
 * while the GPU rests. */
static void check_link(struct diagnosis *d, const struct setup *s, const struct machine_device *device)
{
    const struct gpu_sample *sample = &device->sample;
    const struct setup_gpu *gpu = on_bus(s, device->facts.bus);
    if (!reading_is_known(sample->utilization) || sample->utilization.value < LOADED_PERCENT ||
        !reading_is_known(sample->pcie_width) || !reading_is_known(device->facts.pcie_width_max))
        return;
    int64_t most = device->facts.pcie_width_max.value;
    if (gpu && gpu->port_width_max > 0 && gpu->port_width_max < most)
        most = gpu->port_width_max;
    bool narrow = sample->pcie_width.value < most;
    struct check *check =
        add_check(d, "gpu-link", narrow ? CHECK_WARN : CHECK_OK, narrow ? 0.8 : 0.9, device, "pcie_width");
    if (narrow) {
        check->title = diagnosis_words(d, N_("the GPU at %s uses %lld of %lld PCIe lanes under load"),
                                       name_of(device), (long long)sample->pcie_width.value, (long long)most);
        check->action =
            diagnosis_words(d, N_("seat the card and its riser anew; look at the slot's settings in the "
                                  "firmware"));
    } else {
        check->title = diagnosis_words(d, N_("the GPU at %s uses all %lld PCIe lanes"), name_of(device),
                                       (long long)most);
    }
}

static void add_processes(struct diagnosis *d, const struct setup *s, struct check *check, size_t row)
{
    vec_each (&s->sample.processes, process) {
        char where[48];
        struct str text = {0};
        if (process->device != row)
            continue;
        snprintf(where, sizeof where, "pid %lld", (long long)process->pid);
        str_puts(&text, process->name);
        if (reading_is_known(process->memory))
            str_addf(&text, ", %lld MiB", (long long)(process->memory.value >> 20));
        diagnosis_evidence(d, check, where, str_text(&text));
        str_release(&text);
    }
}

static size_t count_processes(const struct setup *s, size_t row)
{
    size_t count = 0;
    vec_each (&s->sample.processes, process)
        count += process->device == row && process->type & MACHINE_COMPUTE && process->pid != s->pid;
    return count;
}

static void check_sharing(struct diagnosis *d, const struct setup *s, size_t row)
{
    const struct machine_device *device = &s->sample.devices.at[row];
    struct reading used = device->sample.memory_used, all = device->facts.memory;
    size_t others = count_processes(s, row);
    bool full = reading_is_known(used) && reading_is_known(all) && all.value > 0 &&
                used.value / (all.value / 100 + 1) >= FULL_PERCENT;
    if (full) {
        struct check *check = add_check(d, "gpu-memory-full", CHECK_WARN, 0.8, device, "memory_used_bytes");
        check->title = diagnosis_words(d, N_("the memory of the GPU at %s is full"), name_of(device));
        check->meaning = diagnosis_words(d, N_("A program that starts now runs out of memory."));
        check->action = diagnosis_words(d, N_("end what holds it, or use another GPU"));
        add_processes(d, s, check, row);
    }
    if (others == 0)
        return;
    struct check *check = add_check(d, "gpu-shared", CHECK_WARN, 0.7, device, "gpu_utilization_ratio");
    check->title =
        diagnosis_words(d, N_("other programs compute on the GPU at %s: %zu"), name_of(device), others);
    check->meaning = diagnosis_words(d, N_("They take time and memory of it, and disturb measurements."));
    check->action = diagnosis_words(d, N_("use another GPU, or wait until they end"));
    add_processes(d, s, check, row);
}

static void check_mode(struct diagnosis *d, const struct setup *s, size_t row)
{
    const struct machine_device *device = &s->sample.devices.at[row];
    struct reading mode = device->facts.compute_mode;
    if (!reading_is_known(mode) || (mode.value != MODE_PROHIBITED && mode.value != MODE_EXCLUSIVE))
        return;
    bool prohibited = mode.value == MODE_PROHIBITED, taken = count_processes(s, row) > 0 && !s->has_mps;
    struct check *check = add_check(d, "compute-mode", prohibited || taken ? CHECK_FAIL : CHECK_OK, 0.9,
                                    device, "compute_mode");
    if (prohibited) {
        check->title = diagnosis_words(d, N_("the GPU at %s is closed to CUDA (compute mode prohibited)"),
                                       name_of(device));
        check->action = diagnosis_words(d, N_("as root: nvidia-smi -c 0"));
    } else if (taken) {
        check->title =
            diagnosis_words(d, N_("the GPU at %s takes one program at a time, and has one"), name_of(device));
        check->meaning =
            diagnosis_words(d, N_("CUDA says \"all CUDA-capable devices are busy or unavailable\"."));
        check->action = diagnosis_words(d, N_("end that program, use MPS, or as root: nvidia-smi -c 0"));
        add_processes(d, s, check, row);
    } else {
        check->title = diagnosis_words(d, N_("the GPU at %s takes one program at a time"), name_of(device));
    }
}

static void check_persistence(struct diagnosis *d, const struct setup *s, const struct machine_device *device)
{
    struct reading persistence = device->facts.persistence;
    if (!reading_is_known(persistence) || persistence.value || s->has_persistence_daemon)
        return;
    struct check *check = add_check(d, "persistence", CHECK_OK, 0.6, device, "persistence_mode");
    check->title = diagnosis_words(d,
                                   N_("persistence mode of the GPU at %s is off: the first program of all "
                                      "waits 1–3 s for it"),
                                   name_of(device));
}

/* Who has a GPU open, by the descriptors of processes: told also while GPUs sleep, and where the driver knows
 * other process numbers. */
static void check_users(struct diagnosis *d, const struct setup *s)
{
    size_t others = 0;
    vec_each (&s->owners, owner)
        others += owner->pid != s->pid;
    if (others == 0)
        return;
    struct check *check = diagnosis_check(d, "gpu-users", CHECK_OK, 0.9);
    check->title = diagnosis_words(d, N_("processes that have a GPU open: %zu"), others);
    vec_each (&s->owners, owner) {
        char where[64];
        snprintf(where, sizeof where, "pid %lld", (long long)owner->pid);
        struct str text = {0};
        str_addf(&text, "%s, %s", owner->name, owner->node);
        if (owner->pid != s->pid)
            diagnosis_evidence(d, check, where, str_text(&text));
        str_release(&text);
    }
    if (s->hidden_processes > 0) {
        struct str text = {0};
        str_addf(&text, "%lld", (long long)s->hidden_processes);
        diagnosis_evidence(d, check, "processes that may not be looked at", str_text(&text));
        str_release(&text);
    }
}

/* Why the driver was not asked, or did not answer. */
static void check_answer(struct diagnosis *d, const struct setup *s)
{
    const struct machine_source *nvml = NULL;
    bool asleep = false;
    vec_each (&s->gpus, gpu)
        asleep |= gpu->vendor == PCI_NVIDIA && strcmp(gpu->power, "suspended") == 0;
    for (size_t i = 0; i < MACHINE_SOURCES; i++)
        if (s->sample.sources[i].name && strcmp(s->sample.sources[i].name, "NVML") == 0)
            nvml = &s->sample.sources[i];
    if (!setup_has_nvidia(s) || (nvml && nvml->state == READING_KNOWN))
        return;
    struct check *check = diagnosis_check(d, "driver-answer", CHECK_UNKNOWN, 1);
    if (nvml && nvml->state == READING_NO_ANSWER) {
        check->status = CHECK_FAIL;
        check->confidence_ratio = 0.9;
        check->title = diagnosis_words(d, N_("the driver does not answer"));
        check->meaning = diagnosis_words(d, N_("A call into it hangs in the kernel."));
        check->action = diagnosis_words(d, N_("look at the kernel log for Xid 79, 119 or 120, then restart"));
    } else if (asleep) {
        check->title = diagnosis_words(d, N_("the driver was not asked: that would wake a GPU"));
    } else {
        check->title = diagnosis_words(d, N_("the driver could not be asked how the GPUs are"));
        if (nvml)
            diagnosis_evidence(d, check, "NVML", reading_state_name(nvml->state));
    }
}

/* What the driver said of faults is in the kernel's log alone. */
static void check_kernel_log(struct diagnosis *d, const struct setup *s)
{
    if (s->kernel_log_error < 0)
        return;
    struct check *check = diagnosis_check(d, "kernel-log", s->kernel_log_error ? CHECK_UNKNOWN : CHECK_OK, 1);
    if (s->kernel_log_error) {
        check->title =
            diagnosis_words(d, N_("the kernel log may not be read: past faults (Xid) are not known"));
        check->action = *s->container ? diagnosis_words(d, N_("on the host: sudo dmesg | warplight doctor -"))
                                      : diagnosis_words(d, N_("as root: dmesg | warplight doctor -"));
        diagnosis_evidence(d, check, "/dev/kmsg", strerror(s->kernel_log_error));
    } else {
        check->title = diagnosis_words(d, N_("the kernel log was read (%s)"), s->kernel_log);
    }
}

void setup_check_health(struct diagnosis *d, const struct setup *s)
{
    check_kernel_log(d, s);
    check_users(d, s);
    check_answer(d, s);
    for (size_t row = 0; row < s->sample.devices.count; row++) {
        const struct machine_device *device = &s->sample.devices.at[row];
        if (device->parent != NONE) /* a MIG instance: its GPU is in a row of its own */
            continue;
        if (device->state == READING_LOST) {
            struct check *check = add_check(d, "gpu-lost", CHECK_FAIL, 0.95, device, "");
            check->title = diagnosis_words(d, N_("the driver has lost the GPU at %s, or it needs a reset"),
                                           name_of(device));
            check->action =
                diagnosis_words(d, N_("reset it (nvidia-smi --gpu-reset) or restart the machine; then "
                                      "read the kernel log"));
            continue;
        }
        check_recovery(d, device);
        check_fabric(d, device);
        check_mig_pending(d, device);
        check_memory_errors(d, device);
        check_clocks(d, device);
        check_link(d, s, device);
        check_mode(d, s, row);
        check_sharing(d, s, row);
        check_persistence(d, s, device);
    }
}
