#include "source/machine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "source/machine_check.h"
#include "source/machine_driver.h"
#include "source/machine_events.h"
#include "source/machine_host.h"
#include "source/machine_process.h"
#include "source/pci.h"
#include "source/small_file.h"
#include "source/worker.h"

static const int64_t millisecond = 1000000, second = 1000000000;

/* How much longer than the deadline a worker that says nothing is kept, and the first one that opens a driver
 * may take. */
enum { PATIENCE = 10 };
enum { START_PATIENCE = 5 }; /* how much longer a driver may be stuck while it starts its GPUs: 1-3 s each */
enum { LOOKS = 10 };         /* at a driver that may be stuck, in the time that makes it so */
enum { RETRY_FIRST_S = 5, RETRY_MOST_S = 60 };

struct rows { /* of one answer */
    VEC(struct machine_device) devices;
    VEC(struct machine_process) processes;
};

struct driver {
    const char *name, *process_name;
    void (*run)(int fd, const void *context);
    struct worker worker;
    pid_t stuck;                     /* a worker that was killed and has not gone yet */
    int64_t asked_ns;                /* 0: owes no answer */
    int64_t retry_ns, retry_after_s; /* when the next worker may be started */
    bool has_answered;               /* this worker */
    bool is_open;                    /* its library is, of this worker */
    bool is_stuck;                   /* it hangs, as far as one can see */
    bool is_fresh;                   /* rows are of the last question */
    struct machine_source source;
    struct rows rows, coming;
};

struct machine {
    struct driver_context context;
    char root[256], proc[264], sysfs[264];
    int64_t deadline_ns, stuck_ns, last_ns;
    bool may_start_gpus;
    struct driver drivers[MACHINE_DRIVERS];
    struct machine_events events;
    struct machine_cpu cpu;
    struct machine_people people;
    struct pci_watch pci;
    struct machine_sample sample;
};

/* ---- workers ---------------------------------------------------------------------------------------------
 */

static void start(struct machine *m, struct driver *d)
{
    d->has_answered = d->is_open = d->is_stuck = false;
    d->asked_ns = 0;
    d->coming.devices.count = d->coming.processes.count = 0;
    if (!worker_start(&d->worker, d->process_name, d->run, &m->context))
        d->source.state = READING_FAILED;
}

/* It crashed, or hangs. The next one waits longer each time. */
static void give_up(struct driver *d, enum reading_state why)
{
    if (d->source.state != why)
        d->source.since_unix_ns = driver_unix_ns();
    d->source.state = why;
    d->stuck = d->worker.pid;
    worker_give_up(&d->worker);
    d->asked_ns = 0;
    d->retry_after_s = d->retry_after_s ? d->retry_after_s * 2 : RETRY_FIRST_S;
    if (d->retry_after_s > RETRY_MOST_S)
        d->retry_after_s = RETRY_MOST_S;
    d->retry_ns = driver_now_ns() + d->retry_after_s * second;
}

/* A process that hangs in the kernel is never doubled. */
static bool may_restart(struct driver *d)
{
    if (d->stuck > 0 && waitpid(d->stuck, NULL, WNOHANG) == 0)
        return false;
    d->stuck = 0;
    return driver_now_ns() >= d->retry_ns;
}

struct machine *machine_open(const struct machine_options *options)
{
    struct machine *m = mem_zalloc(1, sizeof *m);
    const char *sysfs = getenv("WARPLIGHT_SYSFS");
    snprintf(m->root, sizeof m->root, "%s", options->root ? options->root : "");
    snprintf(m->proc, sizeof m->proc, "%s/proc", m->root);
    if (!m->root[0] && sysfs)
        snprintf(m->sysfs, sizeof m->sysfs, "%s", sysfs);
    else
        snprintf(m->sysfs, sizeof m->sysfs, "%s/sys", m->root);
    m->context = (struct driver_context){
        .root = m->root, .no_processes = options->no_processes, .is_fresh = options->is_fresh};
    m->deadline_ns = options->deadline_ns > 0 ? options->deadline_ns : second;
    m->stuck_ns = options->stuck_ns;
    m->may_start_gpus = options->may_start_gpus;
    m->drivers[0] =
        (struct driver){.name = "NVML", .process_name = "warplight-nvml", .run = machine_nvml_run};
    m->drivers[1] = (struct driver){.name = "DRM", .process_name = "warplight-drm", .run = machine_drm_run};
    /* A recorded machine has no driver of NVIDIA's to be asked, unless one is named. */
    if (m->root[0] && !getenv("WARPLIGHT_NVML"))
        m->drivers[0].run = NULL;
    machine_people_open(&m->people, m->proc);
    char log[sizeof m->root + 16];
    snprintf(log, sizeof log, "%s/dev/kmsg", m->root);
    machine_events_open(&m->events, log);
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        m->drivers[i].source.name = m->drivers[i].name;
        if (m->drivers[i].run)
            start(m, &m->drivers[i]);
        else
            m->drivers[i].source.state = READING_NO_DRIVER;
    }
    return m;
}

void machine_close(struct machine *m)
{
    if (!m)
        return;
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        struct driver *d = &m->drivers[i];
        pid_t pid = d->worker.pid;
        bool idle = pid > 0 && !d->asked_ns;
        if (idle) { /* it ends in good order when this end closes: a driver may have to be shut down */
            close(d->worker.fd);
            d->worker.pid = 0;
            for (int64_t until = driver_now_ns() + m->deadline_ns; waitpid(pid, NULL, WNOHANG) == 0;) {
                if (driver_now_ns() > until) {
                    kill(pid, SIGKILL);
                    break;
                }
                poll(NULL, 0, 1);
            }
        }
        worker_give_up(&d->worker);
        vec_release(&d->rows.devices);
        vec_release(&d->rows.processes);
        vec_release(&d->coming.devices);
        vec_release(&d->coming.processes);
    }
    machine_people_close(&m->people);
    machine_events_close(&m->events);
    machine_sample_release(&m->sample);
    free(m);
}

/* ---- questions and answers -------------------------------------------------------------------------------
 */

void machine_ask(struct machine *m)
{
    const char order = 1;
    int64_t now = driver_now_ns();
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        struct driver *d = &m->drivers[i];
        if (d->run && d->worker.pid <= 0 && may_restart(d))
            start(m, d);
        if (d->worker.pid <= 0 || d->asked_ns)
            continue;
        d->is_fresh = false;
        if (send(d->worker.fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order)
            d->asked_ns = now;
    }
}

/* Another process wrote it, in which a library of the vendor's ran: its texts are ended here. */
static void end_texts(struct machine_device *device)
{
    struct gpu_facts *f = &device->facts;
    device->key[sizeof device->key - 1] = device->driver[sizeof device->driver - 1] = '\0';
    f->uuid[sizeof f->uuid - 1] = f->name[sizeof f->name - 1] = '\0';
    device->interposer[sizeof device->interposer - 1] = '\0';
    f->bus[sizeof f->bus - 1] = f->vbios[sizeof f->vbios - 1] = '\0';
}

static void end_answer(struct driver *d, const struct driver_message *message)
{
    struct rows done = d->coming;
    d->coming = d->rows;
    d->rows = done;
    d->coming.devices.count = d->coming.processes.count = 0;
    d->source.state = message->end.state;
    d->source.since_unix_ns = 0;
    snprintf(d->source.version, sizeof d->source.version, "%.*s", (int)sizeof message->end.version - 1,
             message->end.version);
    d->asked_ns = 0;
    d->retry_after_s = 0;
    d->has_answered = d->is_fresh = true;
}

static void take(struct machine *m, struct driver *d, struct driver_message *message)
{
    if (message->kind == DRIVER_OPEN) {
        d->is_open = true;
    } else if (message->kind == DRIVER_END) {
        end_answer(d, message);
    } else if (message->kind == DRIVER_DEVICE && d->coming.devices.count < DRIVER_MOST_DEVICES) {
        end_texts(&message->device);
        if (message->device.parent != NONE && message->device.parent >= d->coming.devices.count)
            message->device.parent = NONE;
        vec_push(&d->coming.devices, message->device);
    } else if (message->kind == DRIVER_PROCESS && d->coming.processes.count < DRIVER_MOST_PROCESSES) {
        vec_push(&d->coming.processes, message->process);
    } else if (message->kind == DRIVER_EVENT) {
        machine_events_add(&m->events, &message->event);
    }
}

static void receive(struct machine *m, struct driver *d)
{
    struct driver_message message;
    while (d->worker.pid > 0 && d->asked_ns) {
        ssize_t length = recv(d->worker.fd, &message, sizeof message, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (length != sizeof message) { /* it has ended, or crashed */
            give_up(d, READING_FAILED);
            return;
        }
        take(m, d, &message);
    }
}

/* How long its answer is waited for, from when it was asked. Only the first worker may take its time to open
 * the driver: one that follows a failure has shown that it can fail, and others wait. */
static int64_t patience(const struct machine *m, const struct driver *d)
{
    bool may_open = !d->has_answered && d->retry_after_s == 0;
    return may_open ? m->deadline_ns * PATIENCE : m->deadline_ns;
}

static bool is_awaited(const struct machine *m, const struct driver *d, int64_t now)
{
    return d->worker.pid > 0 && d->asked_ns && !d->is_stuck && now - d->asked_ns < patience(m, d);
}

/* Whether its first answer is looked for more closely than by the deadline alone. */
static bool is_watched(const struct machine *m, const struct driver *d)
{
    return m->stuck_ns > 0 && d->worker.pid > 0 && d->asked_ns && !d->has_answered;
}

/* A library opens at once; GPUs that nobody has open take their time to start. */
static int64_t stuck_limit(const struct machine *m, const struct driver *d)
{
    return m->may_start_gpus && d->is_open ? m->stuck_ns * START_PATIENCE : m->stuck_ns;
}

bool machine_poll(struct machine *m)
{
    bool done = true;
    int64_t now = driver_now_ns();
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        struct driver *d = &m->drivers[i];
        receive(m, d);
        if (is_watched(m, d))
            d->is_stuck = worker_is_stuck(&d->worker, now, stuck_limit(m, d));
        done = done && !is_awaited(m, d, now);
        bool is_late = d->is_stuck || now - d->asked_ns >= m->deadline_ns;
        if (d->asked_ns && is_late && d->source.state != READING_NO_ANSWER && !is_awaited(m, d, now)) {
            d->source.state = READING_NO_ANSWER;
            d->source.since_unix_ns = driver_unix_ns() - (now - d->asked_ns);
        }
        if (d->asked_ns && now - d->asked_ns >= m->deadline_ns * PATIENCE)
            give_up(d, READING_NO_ANSWER);
    }
    return done;
}

int machine_fds(const struct machine *m, int fds[MACHINE_DRIVERS], int *wait_ms)
{
    int count = 0;
    int64_t now = driver_now_ns(), wait = 0;
    bool watched = false;
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        const struct driver *d = &m->drivers[i];
        if (d->worker.pid > 0 && d->asked_ns)
            fds[count++] = d->worker.fd;
        if (is_awaited(m, d, now))
            wait = max_ns(wait, d->asked_ns + patience(m, d) - now);
        watched |= is_watched(m, d);
    }
    if (watched && wait > m->stuck_ns / LOOKS)
        wait = m->stuck_ns / LOOKS;
    *wait_ms = (int)((wait + millisecond - 1) / millisecond);
    return count;
}

/* ---- a sample --------------------------------------------------------------------------------------------
 */

static void make_stale(void *rows, const struct gpu_field *fields)
{
    for (const struct gpu_field *field = fields; field->key; field++)
        if (gpu_get(rows, field).state == READING_KNOWN)
            gpu_reading(rows, field)->state = READING_STALE;
}

static void add_rows(struct machine_sample *s, const struct driver *d)
{
    uint32_t first = (uint32_t)s->devices.count;
    vec_each (&d->rows.devices, row) {
        struct machine_device *device = vec_new(&s->devices);
        *device = *row;
        if (device->parent != NONE)
            device->parent += first;
        if (d->is_fresh)
            continue;
        if (device->state == READING_KNOWN)
            device->state = READING_STALE;
        make_stale(&device->sample, gpu_sample_fields);
        make_stale(&device->detail, machine_detail_fields);
    }
    vec_each (&d->rows.processes, row) {
        if (row->device >= d->rows.devices.count)
            continue;
        struct machine_process *process = vec_new(&s->processes);
        *process = *row;
        process->device += first;
        if (!d->is_fresh)
            make_stale(process, machine_process_fields);
    }
}

static bool is_there(const struct machine_sample *s, const char *bus)
{
    vec_each (&s->devices, device)
        if (strcasecmp(device->facts.bus, bus) == 0)
            return true;
    return false;
}

/* NVIDIA's driver keeps what a GPU is in a file that wakes nothing. */
static void read_cached_facts(const struct machine *m, struct machine_device *device)
{
    char text[2048], value[GPU_NAME_BYTES];
    struct str visible = {0};
    small_file_read(text, sizeof text, "%s/driver/nvidia/gpus/%s/information", m->proc, device->facts.bus);
    small_line(value, sizeof value, text, "Model:");
    utf8_visible(&visible, value + strspn(value, " \t"), strlen(value + strspn(value, " \t")));
    snprintf(device->facts.name, sizeof device->facts.name, "%s", str_text(&visible));
    str_release(&visible);
    small_line(value, sizeof value, text, "GPU UUID:");
    const char *uuid = value + strspn(value, " \t");
    if (strncmp(uuid, "GPU-", 4) == 0 && !strchr(uuid, '?') &&
        utf8_valid(uuid, strlen(uuid)) == strlen(uuid)) {
        snprintf(device->facts.uuid, sizeof device->facts.uuid, "%s", uuid);
        snprintf(device->key, sizeof device->key, "%s", uuid);
    }
}

/* Why no driver told about a GPU that the PCI bus has. */
static enum reading_state why_untold(const struct machine *m, const struct pci_gpu *gpu, const char *driver)
{
    if (!driver[0] || strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "pci-stub") == 0)
        return READING_NO_DRIVER;
    if (!gpu->awake)
        return READING_ASLEEP;
    if (gpu->vendor != PCI_NVIDIA)
        return READING_UNSUPPORTED;
    enum reading_state state = m->drivers[0].source.state;
    /* The library is there and does not have it: a container that was given others; or one sleeps. */
    return state == READING_KNOWN ? READING_NO_PERMISSION : state == READING_ASLEEP ? READING_UNREAD : state;
}

static void add_untold(const struct machine *m, struct machine_sample *s, const struct pci_gpu *gpu)
{
    char uevent[1024];
    struct machine_device *device = vec_new(&s->devices);
    device->id = UNKNOWN;
    device->parent = NONE;
    device->vendor = gpu->vendor == PCI_NVIDIA ? VENDOR_NVIDIA
                     : gpu->vendor == PCI_AMD  ? VENDOR_AMD
                                               : VENDOR_INTEL;
    _Static_assert(sizeof device->facts.bus == sizeof gpu->bus && sizeof device->key >= sizeof gpu->bus,
                   "bus");
    memcpy(device->facts.bus, gpu->bus, sizeof gpu->bus);
    memcpy(device->key, gpu->bus, sizeof gpu->bus);
    small_file_read(uevent, sizeof uevent, "%s/bus/pci/devices/%s/uevent", m->sysfs, gpu->bus);
    small_line(device->driver, sizeof device->driver, uevent, "DRIVER=");
    device->state = why_untold(m, gpu, device->driver);
    if (gpu->vendor == PCI_NVIDIA)
        read_cached_facts(m, device);
    gpu_missing(&device->facts, gpu_fact_fields, device->state);
    gpu_missing(&device->sample, gpu_sample_fields, device->state);
    gpu_missing(&device->detail, machine_detail_fields, device->state);
}

/* What is used and belongs to no process that can be seen. */
static void count_unseen(struct machine_sample *s)
{
    for (uint32_t row = 0; row < s->devices.count; row++) {
        struct machine_device *device = &s->devices.at[row];
        int64_t seen = 0;
        bool all = reading_is_known(device->sample.memory_used) && device->parent == NONE &&
                   device->detail.memory_unseen.state == READING_UNREAD;
        vec_each (&s->processes, p) {
            uint32_t on = p->device < s->devices.count && s->devices.at[p->device].parent != NONE
                              ? s->devices.at[p->device].parent
                              : p->device;
            if (on != row || p->state != READING_KNOWN)
                continue;
            all = all && reading_is_known(p->memory);
            if (all && __builtin_add_overflow(seen, p->memory.value, &seen))
                all = false;
        }
        if (all)
            device->detail.memory_unseen = reading_of(max_ns(device->sample.memory_used.value - seen, 0));
    }
}

/* By address; a GPU before its instances. */
static bool belongs_before(const struct machine_device *a, const struct machine_device *b)
{
    int bus = strcmp(a->facts.bus, b->facts.bus);
    if (bus != 0)
        return bus < 0;
    if ((a->parent == NONE) != (b->parent == NONE))
        return a->parent == NONE;
    return a->id < b->id;
}

static void sort_devices(struct machine_sample *s)
{
    uint32_t order[MACHINE_DRIVERS * DRIVER_MOST_DEVICES + PCI_MOST_GPUS],
        place[sizeof order / sizeof *order];
    uint32_t count = (uint32_t)s->devices.count;
    for (uint32_t row = 0; row < count; row++) {
        uint32_t at = row;
        for (; at > 0 && belongs_before(&s->devices.at[row], &s->devices.at[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = row;
    }
    VEC(struct machine_device) sorted = {0};
    for (uint32_t at = 0; at < count; at++) {
        vec_push(&sorted, s->devices.at[order[at]]);
        place[order[at]] = at;
    }
    for (uint32_t at = 0; at < count; at++) {
        s->devices.at[at] = sorted.at[at];
        if (sorted.at[at].parent != NONE)
            s->devices.at[at].parent = place[sorted.at[at].parent];
    }
    vec_each (&s->processes, p)
        p->device = place[p->device];
    vec_release(&sorted);
}

static int by_device_and_memory(const void *left, const void *right)
{
    const struct machine_process *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->memory.value != b->memory.value)
        return a->memory.value > b->memory.value ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

const struct machine_sample *machine_take(struct machine *m)
{
    struct machine_sample *s = &m->sample;
    int64_t now = driver_now_ns();
    s->time_unix_ns = driver_unix_ns();
    s->interval_ns = m->last_ns ? now - m->last_ns : 0;
    m->last_ns = now;
    s->devices.count = s->processes.count = 0;
    machine_host_read(m->proc, &m->cpu, &s->host);
    for (int i = 0; i < MACHINE_DRIVERS; i++) {
        add_rows(s, &m->drivers[i]);
        s->sources[i] = m->drivers[i].source;
    }
    pci_watch(m->sysfs, 0, &m->pci, now);
    for (size_t i = 0; i < m->pci.count; i++)
        if (!is_there(s, m->pci.gpus[i].bus))
            add_untold(m, s, &m->pci.gpus[i]);
    sort_devices(s);
    machine_check(s);
    machine_people_complete(&m->people, s, now);
    if (s->processes.count)
        qsort(s->processes.at, s->processes.count, sizeof *s->processes.at, by_device_and_memory);
    count_unseen(s);
    machine_events_take(&m->events, s);
    return s;
}

int64_t machine_process_started(const struct machine *m, int64_t pid)
{
    return machine_people_started(&m->people, pid);
}

const struct machine_sample *machine_read(struct machine *m)
{
    struct pollfd waiting[MACHINE_DRIVERS];
    int fds[MACHINE_DRIVERS], wait_ms;
    machine_ask(m);
    while (!machine_poll(m)) {
        int count = machine_fds(m, fds, &wait_ms);
        for (int i = 0; i < count; i++)
            waiting[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(waiting, (nfds_t)count, wait_ms);
    }
    return machine_take(m);
}
