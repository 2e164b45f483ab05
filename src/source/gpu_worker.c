#include "source/gpu_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/vec.h"
#include "source/nvml_detail.h"
#include "source/nvml_event.h"
#include "source/pci.h"

enum { MOST_GPUS = PCI_MOST_GPUS, MOST_EVENTS = 256 };

struct watched {
    char uuid[GPU_UUID_BYTES];
    nvml_device device;
    bool in_use; /* by the target */
    struct nvml_paced paced;
    struct nvml_detail rates;
};

struct worker {
    int fd;
    bool opened; /* tried to */
    enum reading_state state;
    struct nvml nvml;
    struct watched gpus[MOST_GPUS];
    size_t count;
    struct nvml_events events;
};

/* A message that finds no room is left out: a series gets a hole, and the driver is not kept waiting. */
static void say(const struct worker *w, const struct gpu_message *message)
{
    send(w->fd, message, sizeof *message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool open_library(struct worker *w)
{
    if (w->opened)
        return w->state == READING_KNOWN;
    struct gpu_message message = {.kind = GPU_MESSAGE_LIBRARY};
    w->opened = true;
    w->state = nvml_open(&w->nvml, NULL);
    message.library.state = w->state;
    message.library.cuda = w->nvml.cuda;
    snprintf(message.library.driver, sizeof message.library.driver, "%s", w->nvml.driver);
    say(w, &message);
    return w->state == READING_KNOWN;
}

static void say_missing(const struct worker *w, const char *uuid, enum reading_state why)
{
    struct gpu_message message = {.kind = GPU_MESSAGE_MISSING, .state = why};
    snprintf(message.uuid, sizeof message.uuid, "%s", uuid);
    say(w, &message);
}

static void say_sample(const struct worker *w, struct watched *gpu, bool is_last)
{
    struct gpu_message message = {.kind = GPU_MESSAGE_SAMPLE};
    memcpy(message.uuid, gpu->uuid, sizeof message.uuid);
    if (is_last)
        nvml_sample(&w->nvml, gpu->device, NVML_FULL, &message.sample);
    else
        nvml_sample_paced(&w->nvml, gpu->device, &gpu->paced, &message.sample);
    if (gpu->in_use)
        nvml_rates(&w->nvml, gpu->device, &gpu->rates, message.sample.time_ns, &message.detail);
    say(w, &message);
}

static void say_xids(const struct worker *w)
{
    nvml_device device;
    int64_t code;
    for (int i = 0; i < MOST_EVENTS && nvml_events_next(&w->nvml, &w->events, &device, &code); i++) {
        struct gpu_message message = {.kind = GPU_MESSAGE_XID,
                                      .xid = {.time_unix_ns = clock_ns(CLOCK_REALTIME), .code = code}};
        for (size_t at = 0; at < w->count; at++)
            if (w->gpus[at].device == device)
                memcpy(message.uuid, w->gpus[at].uuid, sizeof message.uuid);
        if (code != UNKNOWN && message.uuid[0])
            say(w, &message);
    }
}

static struct watched *add_gpu(struct worker *w, nvml_device device)
{
    struct gpu_message message = {.kind = GPU_MESSAGE_FACTS};
    if (w->count == MOST_GPUS)
        return NULL;
    nvml_facts(&w->nvml, device, &message.facts);
    if (!message.facts.uuid[0])
        return NULL;
    struct watched *gpu = &w->gpus[w->count++];
    *gpu = (struct watched){.device = device};
    memcpy(gpu->uuid, message.facts.uuid, sizeof gpu->uuid);
    memcpy(message.uuid, message.facts.uuid, sizeof message.uuid);
    say(w, &message);
    nvml_events_watch(&w->nvml, &w->events, device);
    say_sample(w, gpu, false);
    return gpu;
}

static void look_ahead(struct worker *w)
{
    struct pci_gpu gpus[PCI_MOST_GPUS];
    nvml_device device;
    size_t count = pci_nvidia_gpus(NULL, gpus, PCI_MOST_GPUS);
    if (!pci_all_awake(gpus, count) || !open_library(w))
        return;
    for (size_t i = 0; i < count; i++)
        if (nvml_find_bus(&w->nvml, gpus[i].bus, &device) == READING_KNOWN)
            add_gpu(w, device);
}

static void watch(struct worker *w, const char *uuid)
{
    nvml_device device;
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->gpus[i].uuid, uuid) == 0) {
            w->gpus[i].in_use = true;
            say_sample(w, &w->gpus[i], false);
            return;
        }
    }
    enum reading_state state = open_library(w) ? nvml_find_uuid(&w->nvml, uuid, &device) : w->state;
    struct watched *gpu = state == READING_KNOWN ? add_gpu(w, device) : NULL;
    if (gpu)
        gpu->in_use = true;
    else
        say_missing(w, uuid, state == READING_KNOWN ? READING_FAILED : state);
}

static void sample_all(struct worker *w, bool is_last)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->gpus[i].in_use)
            say_sample(w, &w->gpus[i], is_last);
}

/* Takes what has been ordered. False: it is time to end. */
static bool obey(struct worker *w)
{
    struct gpu_command command;
    for (;;) {
        ssize_t length = recv(w->fd, &command, sizeof command, MSG_DONTWAIT);
        if (length != sizeof command)
            return length < 0 && (errno == EAGAIN || errno == EINTR);
        command.uuid[sizeof command.uuid - 1] = '\0';
        if (command.kind == GPU_COMMAND_FINISH) {
            sample_all(w, true);
            say_xids(w); /* last: a program that dies of one ends at about the same time */
            return false;
        }
        watch(w, command.uuid);
    }
}

static int64_t now_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

void gpu_worker_run(int fd)
{
    struct worker *w = mem_zalloc(1, sizeof *w); /* too large for a stack */
    w->fd = fd;
    look_ahead(w);
    int64_t next = now_ms() + GPU_WORKER_PERIOD_MS;
    while (obey(w)) {
        int64_t now = now_ms();
        if (now >= next) {
            sample_all(w, false);
            next = now + GPU_WORKER_PERIOD_MS; /* counted from here: a slow driver is not asked in a row */
        }
        say_xids(w);
        int64_t left = max_ns(next - now, 0);
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        poll(&waiting, 1, w->count ? (int)(w->events.set ? min_ns(left, GPU_WORKER_XID_MS) : left) : -1);
    }
    free(w);
}
