#include "source/gpu_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "source/gpu_facts.h"
#include "source/machine_series.h"
#include "source/pci.h"

enum { LAST_WORD_MS = 1000 };
/* Of GPUs: a target can claim to use any number. */
enum { MOST_GPUS = 2 * PCI_MOST_GPUS };

static void run_worker(int fd, const void *context)
{
    (void)context;
    gpu_worker_run(fd);
}

void gpu_watch_open(struct gpu_watch *w, uint32_t source)
{
    const char *log = getenv("WARPLIGHT_KMSG");
    *w = (struct gpu_watch){.source = source};
    worker_start(&w->worker, "warplight-gpus", run_worker, NULL);
    machine_events_open(&w->events, log ? log : "/dev/kmsg");
}

/* ---- messages --------------------------------------------------------------------------------------------
 */

/* Finds or adds; NULL where there are too many. */
static struct gpu_seen *gpu_of(struct gpu_watch *w, const char *uuid)
{
    vec_each (&w->gpus, gpu)
        if (strcmp(gpu->uuid, uuid) == 0)
            return gpu;
    if (w->gpus.count >= MOST_GPUS)
        return NULL;
    struct gpu_seen *gpu = vec_new(&w->gpus);
    snprintf(gpu->uuid, sizeof gpu->uuid, "%s", uuid);
    gpu->device = NONE;
    return gpu;
}

static void take_sample(struct gpu_watch *w, struct run *run, struct gpu_seen *gpu,
                        const struct gpu_message *m)
{
    const struct gpu_sample *sample = &m->sample;
    if (!gpu->has_sample) {
        gpu->first = *sample;
        if (gpu->device != NONE)
            gpu_facts_moment(run, w->source, gpu->uuid, "start", sample);
    }
    if (gpu->device != NONE) {
        gpu_series_add(&gpu->series, run, gpu->device, &gpu->last, sample);
        machine_series_detail(run, gpu->device, sample->time_ns, &m->detail);
    }
    gpu->has_sample = true;
    gpu->last = *sample;
}

static void take_xid(struct gpu_watch *w, const struct gpu_seen *gpu, const struct gpu_message *m)
{
    struct machine_event event = {.time_unix_ns = m->xid.time_unix_ns, .code = m->xid.code};
    memcpy(event.bus, gpu->facts.bus, sizeof event.bus);
    machine_events_add(&w->events, &event);
}

static void take_message(struct gpu_watch *w, struct run *run, const struct gpu_message *m)
{
    if (m->kind == GPU_MESSAGE_LIBRARY) {
        w->has_library = true;
        gpu_facts_library(run, w->source, m->library.state, m->library.driver, m->library.cuda);
        return;
    }
    struct gpu_seen *gpu = gpu_of(w, m->uuid);
    if (!gpu)
        return;
    if (m->kind == GPU_MESSAGE_MISSING) {
        gpu->missing = m->state;
    } else if (m->kind == GPU_MESSAGE_SAMPLE) {
        take_sample(w, run, gpu, m);
    } else if (m->kind == GPU_MESSAGE_XID) {
        take_xid(w, gpu, m);
    } else if (!gpu->has_facts) {
        gpu->has_facts = true;
        gpu->facts = m->facts;
        if (gpu->device != NONE)
            gpu_facts_static(run, w->source, &gpu->facts);
    }
}

/* Takes what is there. The worker's texts are no strings until they are shown to end. */
static void take_messages(struct gpu_watch *w, struct run *run)
{
    struct gpu_message message;
    while (w->worker.pid > 0) {
        ssize_t length = recv(w->worker.fd, &message, sizeof message, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (length != sizeof message) { /* it has ended, or crashed */
            worker_give_up(&w->worker);
            return;
        }
        message.uuid[sizeof message.uuid - 1] = '\0';
        take_message(w, run, &message);
    }
}

/* Events of GPUs that the target does not use, or not yet, are kept. */
struct marking {
    const struct gpu_watch *watch;
    struct run *run;
};

static bool mark_event(void *context, const struct machine_event *event)
{
    const struct marking *m = context;
    vec_each (&m->watch->gpus, gpu) {
        if (gpu->device == NONE || !gpu->has_facts || strcmp(gpu->facts.bus, event->bus) != 0)
            continue;
        machine_series_event(m->run, gpu->device, event);
        return true;
    }
    return false;
}

static void take_events(struct gpu_watch *w, struct run *run)
{
    machine_events_read(&w->events);
    machine_events_offer(&w->events, clock_ns(CLOCK_REALTIME), mark_event, &(struct marking){w, run});
}

static void order(const struct gpu_watch *w, enum gpu_command_kind kind, const char *uuid)
{
    struct gpu_command command = {.kind = kind};
    snprintf(command.uuid, sizeof command.uuid, "%s", uuid);
    if (w->worker.pid > 0)
        send(w->worker.fd, &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The target uses this device: from now on it is watched, and what is known of it belongs to the run. */
static void start_watching(struct gpu_watch *w, struct run *run, uint32_t device, const char *uuid)
{
    struct gpu_seen *gpu = gpu_of(w, uuid);
    if (!gpu || gpu->device != NONE)
        return;
    gpu->device = device;
    order(w, GPU_COMMAND_WATCH, uuid);
    if (gpu->has_facts)
        gpu_facts_static(run, w->source, &gpu->facts);
    if (gpu->has_sample)
        gpu_facts_moment(run, w->source, gpu->uuid, "start", &gpu->first);
}

void gpu_watch_poll(struct gpu_watch *w, struct run *run)
{
    take_messages(w, run);
    for (uint32_t d = 0; d < run->devices.count; d++) {
        const char *uuid = run_text(run, run->devices.at[d].uuid);
        if (*uuid && strlen(uuid) < GPU_UUID_BYTES) /* else its record has not come yet */
            start_watching(w, run, d, uuid);
    }
    take_events(w, run);
}

/* ---- the end ---------------------------------------------------------------------------------------------
 */

static int64_t now_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static bool anything_to_ask(const struct gpu_watch *w)
{
    vec_each (&w->gpus, gpu)
        if (gpu->device != NONE)
            return true;
    return false;
}

static void add_end(const struct gpu_watch *w, struct run *run, const struct gpu_seen *gpu,
                    enum reading_state why)
{
    if (!gpu->has_sample) {
        gpu_facts_why(run, w->source, gpu->uuid, NULL, gpu->missing ? gpu->missing : why);
        return;
    }
    if (gpu->last.time_ns == gpu->first.time_ns) {
        gpu_facts_why(run, w->source, gpu->uuid, "end", why);
        return;
    }
    gpu_facts_moment(run, w->source, gpu->uuid, "end", &gpu->last);
    gpu_facts_gains(run, w->source, gpu->uuid, &gpu->first, &gpu->last);
}

/* Waits for the worker's last values. Returns why there are none, or no more. */
static enum reading_state wait_for_worker(struct gpu_watch *w, struct run *run)
{
    if (w->worker.pid <= 0)
        return READING_FAILED; /* it could not be started, or has crashed */
    order(w, GPU_COMMAND_FINISH, "");
    int64_t end = now_ms() + LAST_WORD_MS;
    for (int64_t left = LAST_WORD_MS; w->worker.pid > 0 && left > 0; left = end - now_ms()) {
        struct pollfd waiting = {.fd = w->worker.fd, .events = POLLIN};
        poll(&waiting, 1, (int)left);
        take_messages(w, run);
    }
    return w->worker.pid > 0 ? READING_NO_ANSWER : READING_FAILED;
}

void gpu_watch_finish(struct gpu_watch *w, struct run *run)
{
    gpu_watch_poll(w, run);
    if (anything_to_ask(w)) {
        enum reading_state why = wait_for_worker(w, run);
        if (!w->has_library)
            gpu_facts_library(run, w->source, why, "", (struct reading){0});
        vec_each (&w->gpus, gpu)
            if (gpu->device != NONE)
                add_end(w, run, gpu, why);
        take_events(w, run);
    }
    worker_give_up(&w->worker);
}

void gpu_watch_close(struct gpu_watch *w)
{
    worker_give_up(&w->worker);
    machine_events_close(&w->events);
    vec_release(&w->gpus);
}
