/* The worker that asks NVML for the sampler. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "source/machine_driver.h"
#include "source/nvml_detail.h"
#include "source/nvml_event.h"
#include "source/nvml_health.h"
#include "source/nvml_process.h"
#include "source/pci.h"

enum { MOST_GPUS = PCI_MOST_GPUS, MOST_MIG = 16, MOST_EVENTS = 256 };

/* How old what changes rarely, or costs the driver time, may become. */
static const int64_t facts_age = INT64_C(30000000000), processes_age = INT64_C(950000000),
                     look_age = INT64_C(5000000000);

struct instance { /* of MIG */
    nvml_device device;
    unsigned gpu_instance, compute_instance;
    struct gpu_facts facts;
};

struct gpu {
    nvml_device device;
    int64_t id, facts_ns, processes_ns;
    struct gpu_facts facts;
    struct machine_health health;
    struct nvml_paced paced;
    struct nvml_detail detail;
    struct nvml_processes processes;
    nvml_list list;
    enum reading_state listed; /* KNOWN, or why list is empty */
    struct instance instances[MOST_MIG];
    size_t instance_count;
};

struct nvml_worker {
    int fd;
    char sysfs[256];
    const char *sysfs_root; /* NULL: as source/pci.h chooses */
    bool no_processes, is_fresh, is_open;
    enum reading_state state;
    int64_t looked_ns; /* when the library was opened, or the devices were looked for */
    struct nvml nvml;
    struct pci_watch pci;
    size_t pci_count; /* when the devices were looked for */
    struct gpu gpus[MOST_GPUS];
    size_t count;
    struct nvml_events events;
};

/* ---- which GPUs ------------------------------------------------------------------------------------------
 */

static void forget_gpus(struct nvml_worker *w)
{
    for (size_t i = 0; i < w->count; i++) {
        nvml_detail_release(&w->nvml, &w->gpus[i].detail);
        nvml_processes_release(&w->gpus[i].processes);
        vec_release(&w->gpus[i].list);
        w->gpus[i] = (struct gpu){0};
    }
    w->count = 0;
    nvml_events_release(&w->nvml, &w->events);
}

static void add_gpu(struct nvml_worker *w, nvml_device device)
{
    unsigned index = 0;
    if (w->count == MOST_GPUS)
        return;
    struct gpu *gpu = &w->gpus[w->count++];
    int code = NVML_ASK(&w->nvml, index, device, &index);
    *gpu = (struct gpu){.device = device, .id = code == NVML_OK ? index : UNKNOWN};
    nvml_events_watch(&w->nvml, &w->events, device);
}

static void find_by_index(struct nvml_worker *w)
{
    unsigned count = 0;
    nvml_device device;
    if (NVML_ASK(&w->nvml, count, &count) != NVML_OK)
        return;
    for (unsigned i = 0; i < count && i < MOST_GPUS; i++)
        if (NVML_ASK(&w->nvml, by_index, i, &device) == NVML_OK)
            add_gpu(w, device);
}

/* A machine whose PCI bus shows no NVIDIA GPU (WSL, some containers) may have some all the same. */
static void find_gpus(struct nvml_worker *w, const struct pci_gpu *pci, size_t count)
{
    nvml_device device;
    for (size_t i = 0; i < count; i++)
        if (nvml_find_bus(&w->nvml, pci[i].bus, &device) == READING_KNOWN)
            add_gpu(w, device);
    if (w->count == 0)
        find_by_index(w);
}

static void close_library(struct nvml_worker *w)
{
    forget_gpus(w);
    if (w->is_open)
        nvml_close(&w->nvml);
    w->is_open = false;
}

/* Opens the library while no GPU sleeps, and closes it when one does. */
static void look(struct nvml_worker *w, int64_t now)
{
    pci_watch(w->sysfs_root, PCI_NVIDIA, &w->pci, now);
    size_t count = w->pci.count;
    if (count > 0 && !pci_all_awake(w->pci.gpus, count)) {
        close_library(w);
        w->state = READING_ASLEEP;
        return;
    }
    bool is_due = !w->looked_ns || now - w->looked_ns >= look_age || w->state == READING_ASLEEP;
    if (w->is_open && w->count > 0 && w->pci_count == count)
        return;
    if (!is_due)
        return;
    close_library(w);
    w->looked_ns = now;
    w->pci_count = count;
    w->state = nvml_open(&w->nvml, NULL);
    w->is_open = w->state == READING_KNOWN;
    if (!w->is_open)
        return;
    w->nvml.is_fresh = w->is_fresh;
    driver_say(w->fd, &(struct driver_message){.kind = DRIVER_OPEN});
    find_gpus(w, w->pci.gpus, count);
}

/* ---- one GPU ---------------------------------------------------------------------------------------------
 */

static void make_visible(char *text, size_t size)
{
    struct str visible = {0};
    utf8_visible(&visible, text, strnlen(text, size));
    snprintf(text, size, "%s", str_text(&visible));
    str_release(&visible);
}

static void read_facts(const struct nvml *n, nvml_device device, struct gpu_facts *facts)
{
    nvml_facts(n, device, facts);
    make_visible(facts->uuid, sizeof facts->uuid);
    make_visible(facts->name, sizeof facts->name);
    make_visible(facts->vbios, sizeof facts->vbios);
}

static void find_instances(const struct nvml *n, struct gpu *gpu)
{
    unsigned most = 0;
    gpu->instance_count = 0;
    if (!reading_is_known(gpu->facts.mig) || gpu->facts.mig.value == 0 ||
        NVML_ASK(n, mig_most, gpu->device, &most) != NVML_OK)
        return;
    for (unsigned i = 0; i < most && i < MOST_MIG; i++) {
        struct instance *instance = &gpu->instances[gpu->instance_count];
        if (NVML_ASK(n, mig_by_index, gpu->device, i, &instance->device) != NVML_OK)
            continue;
        if (NVML_ASK(n, gpu_instance, instance->device, &instance->gpu_instance) != NVML_OK ||
            NVML_ASK(n, compute_instance, instance->device, &instance->compute_instance) != NVML_OK)
            continue;
        read_facts(n, instance->device, &instance->facts);
        gpu->instance_count++;
    }
}

static void say_device(const struct nvml_worker *w, struct driver_message *m, const struct gpu_facts *facts)
{
    struct machine_device *d = &m->device;
    m->kind = DRIVER_DEVICE;
    d->facts = *facts;
    d->vendor = VENDOR_NVIDIA;
    snprintf(d->driver, sizeof d->driver, "nvidia");
    memcpy(d->interposer, w->nvml.interposer, sizeof d->interposer);
    snprintf(d->key, sizeof d->key, "%s", facts->uuid[0] ? facts->uuid : facts->bus);
    driver_say(w->fd, m);
}

static void say_instances(const struct nvml_worker *w, const struct gpu *gpu, uint32_t parent)
{
    for (size_t i = 0; i < gpu->instance_count; i++) {
        const struct instance *instance = &gpu->instances[i];
        struct driver_message m = {.device = {.id = (int64_t)i, .parent = parent, .state = READING_KNOWN}};
        nvml_sample(&w->nvml, instance->device, NVML_LIGHT, &m.device.sample);
        gpu_missing(&m.device.sample, gpu_sample_fields, READING_UNSUPPORTED);
        gpu_missing(&m.device.detail, machine_detail_fields, READING_UNSUPPORTED);
        struct gpu_facts facts = instance->facts;
        snprintf(facts.bus, sizeof facts.bus, "%s", gpu->facts.bus);
        say_device(w, &m, &facts);
    }
}

static uint32_t row_of(const struct gpu *gpu, uint32_t row, const struct nvml_listed *l)
{
    for (size_t i = 0; i < gpu->instance_count; i++)
        if (gpu->instances[i].gpu_instance == l->gpu_instance &&
            gpu->instances[i].compute_instance == l->compute_instance)
            return row + 1 + (uint32_t)i;
    return row;
}

static void read_processes(const struct nvml_worker *w, struct gpu *gpu, int64_t now)
{
    if (w->no_processes || (!w->is_fresh && gpu->processes_ns && now - gpu->processes_ns < processes_age))
        return;
    gpu->listed = nvml_processes(&w->nvml, gpu->device, &gpu->processes, driver_unix_ns(), &gpu->list);
    gpu->processes_ns = now;
}

static void say_processes(const struct nvml_worker *w, const struct gpu *gpu, uint32_t row)
{
    vec_each (&gpu->list, l) {
        struct driver_message m = {.kind = DRIVER_PROCESS, .process = l->process};
        m.process.device = row_of(gpu, row, l);
        driver_say(w->fd, &m);
    }
}

/* MPS is known by its clients: where processes are not asked for, it is not seen. */
static struct reading shared_by(const struct nvml_worker *w, const struct gpu *gpu)
{
    enum { VGPU = 2, VGPU_HOST = 3 }; /* nvmlGpuVirtualizationMode_t */
    struct reading mode = gpu->facts.virtualization, mig = gpu->facts.mig;
    int64_t by = w->nvml.interposer[0] ? GPU_SHARED_QUOTA : 0;
    if (reading_is_known(mig) && mig.value)
        by |= GPU_SHARED_MIG;
    if (reading_is_known(mode) && mode.value == VGPU)
        by |= GPU_SHARED_VGPU;
    if (reading_is_known(mode) && mode.value == VGPU_HOST)
        by |= GPU_SHARED_VGPU_HOST;
    vec_each (&gpu->list, l)
        if (l->process.type & MACHINE_MPS)
            by |= GPU_SHARED_MPS;
    return reading_of(by);
}

/* Sends a GPU, its instances and its processes. row: of the answer; returns the row after them. */
static uint32_t say_gpu(struct nvml_worker *w, struct gpu *gpu, int64_t now, uint32_t row)
{
    struct driver_message m = {.device = {.id = gpu->id, .parent = NONE}};
    if (!gpu->facts_ns || now - gpu->facts_ns >= facts_age) {
        read_facts(&w->nvml, gpu->device, &gpu->facts);
        nvml_health(&w->nvml, gpu->device, &gpu->health);
        find_instances(&w->nvml, gpu);
        gpu->facts_ns = now;
    }
    m.device.health = gpu->health;
    bool is_dear = nvml_sample_paced(&w->nvml, gpu->device, &gpu->paced, &m.device.sample);
    m.device.state = nvml_is_lost(&m.device.sample) ? READING_LOST : READING_KNOWN;
    if (m.device.state == READING_KNOWN) {
        nvml_detail(&w->nvml, gpu->device, &gpu->detail, &gpu->facts, &m.device.sample, is_dear,
                    &m.device.detail);
        read_processes(w, gpu, now);
        if (w->no_processes || gpu->listed != READING_KNOWN)
            m.device.detail.memory_unseen =
                reading_missing(w->no_processes ? READING_UNSUPPORTED : gpu->listed);
        m.device.detail.sharing = shared_by(w, gpu);
    } else {
        gpu_missing(&m.device.detail, machine_detail_fields, m.device.state);
        gpu->list.count = 0;
        w->state = READING_LOST;
    }
    say_device(w, &m, &gpu->facts);
    say_instances(w, gpu, row);
    say_processes(w, gpu, row);
    return row + 1 + (uint32_t)gpu->instance_count;
}

static void say_events(const struct nvml_worker *w)
{
    nvml_device device;
    int64_t xid;
    for (int i = 0; i < MOST_EVENTS && nvml_events_next(&w->nvml, &w->events, &device, &xid); i++) {
        struct driver_message m = {.kind = DRIVER_EVENT,
                                   .event = {.time_unix_ns = driver_unix_ns(), .code = xid}};
        for (size_t at = 0; at < w->count; at++)
            if (w->gpus[at].device == device)
                memcpy(m.event.bus, w->gpus[at].facts.bus, sizeof m.event.bus);
        if (xid != UNKNOWN)
            driver_say(w->fd, &m);
    }
}

/* A GPU that was lost is looked for again now and then, not harder. */
static void look_for_lost(struct nvml_worker *w, int64_t now)
{
    if (w->state != READING_LOST)
        return;
    w->state = READING_KNOWN;
    if (now - w->looked_ns >= look_age)
        close_library(w);
}

void machine_nvml_run(int fd, const void *context)
{
    const struct driver_context *options = context;
    /* Too large for a stack: a worker has one for good. */
    struct nvml_worker *w = mem_zalloc(1, sizeof *w);
    w->fd = fd;
    w->no_processes = options->no_processes;
    w->is_fresh = options->is_fresh;
    if (options->root[0]) {
        snprintf(w->sysfs, sizeof w->sysfs, "%s/sys", options->root);
        w->sysfs_root = w->sysfs;
    }
    while (driver_wait(fd)) {
        int64_t now = driver_now_ns();
        uint32_t row = 0;
        look_for_lost(w, now);
        look(w, now);
        for (size_t i = 0; w->is_open && i < w->count; i++)
            row = say_gpu(w, &w->gpus[i], now, row);
        if (w->is_open)
            say_events(w);
        driver_end(fd, w->is_open ? READING_KNOWN : w->state, w->nvml.driver);
    }
    close_library(w);
    free(w);
}
