/* The worker that reads the kernel's own graphics drivers for the sampler. */
#include <stdio.h>
#include <string.h>

#include "source/drm_card.h"
#include "source/fdinfo.h"
#include "source/machine_driver.h"

struct drm_worker {
    int fd;
    bool no_processes;
    char sysfs[256], proc[256];
    fdinfo_list before, now; /* clients */
    int64_t before_ns, now_ns;
    struct {
        char bus[GPU_BUS_BYTES];
        int64_t time_ns;
        struct reading energy;
    } energies[DRM_MOST_CARDS];
};

/* Power of a card that has only an energy counter (i915, xe). */
static void rate_energy(struct drm_worker *w, size_t card, struct machine_device *d, int64_t now)
{
    const int64_t second = 1000000000;
    struct reading gain = {0};
    int64_t elapsed = now - w->energies[card].time_ns;
    if (strcmp(w->energies[card].bus, d->facts.bus) == 0 && elapsed > 0)
        gain = reading_gain(w->energies[card].energy, d->sample.energy);
    if (reading_is_known(gain)) {
        d->detail.power_average = reading_of((int64_t)((__int128)gain.value * second / elapsed));
        if (!reading_is_known(d->sample.power))
            d->sample.power = d->detail.power_average;
        gpu_check(&d->sample, gpu_sample_fields);
        gpu_check(&d->detail, machine_detail_fields);
    }
    memcpy(w->energies[card].bus, d->facts.bus, sizeof d->facts.bus);
    w->energies[card].time_ns = now;
    w->energies[card].energy = d->sample.energy;
}

static const struct fdinfo_client *client_before(const struct drm_worker *w, const struct fdinfo_client *c)
{
    vec_each (&w->before, before)
        if (before->client == c->client && before->pid == c->pid && strcmp(before->bus, c->bus) == 0)
            return before;
    return NULL;
}

/* Sums of a process's clients. A known part makes the sum known. */
static void add_share(struct reading *sum, struct reading part)
{
    if (reading_is_known(*sum) && reading_is_known(part))
        sum->value += part.value;
    else if (!reading_is_known(*sum))
        *sum = part;
}

static void add_client(const struct drm_worker *w, struct machine_process *p, const struct fdinfo_client *c)
{
    static const struct fdinfo_client nothing;
    const struct fdinfo_client *before = client_before(w, c);
    struct reading shares[FDINFO_ENGINES];
    for (int i = 0; i < FDINFO_ENGINES; i++)
        shares[i] =
            fdinfo_share(before ? &before->use[i] : &nothing.use[i], &c->use[i], w->now_ns - w->before_ns);
    struct reading render = shares[FDINFO_RENDER], compute = shares[FDINFO_COMPUTE];
    bool computes = reading_is_known(compute) && (!reading_is_known(render) || compute.value > render.value);
    add_share(&p->sm, computes ? compute : render);
    add_share(&p->copy, shares[FDINFO_COPY]);
    add_share(&p->decoder, shares[FDINFO_DECODE]);
    add_share(&p->encoder, shares[FDINFO_ENCODE]);
    add_share(&p->jpeg, shares[FDINFO_JPEG]);
    if (c->memory != UNKNOWN)
        add_share(&p->memory, reading_of(c->memory));
    p->type |= (c->use[FDINFO_COMPUTE].busy ? MACHINE_COMPUTE : 0u) |
               (c->use[FDINFO_RENDER].busy ? MACHINE_GRAPHICS : 0u);
}

static void say_processes(const struct drm_worker *w, const struct drm_card *card, uint32_t row)
{
    VEC(struct machine_process) found = {0};
    vec_each (&w->now, client) {
        struct machine_process *process = NULL;
        if (strcmp(client->bus, card->bus) != 0)
            continue;
        vec_each (&found, known)
            if (known->pid == client->pid)
                process = known;
        if (!process) {
            process = vec_new(&found);
            process->pid = client->pid;
            process->device = row;
        }
        add_client(w, process, client);
    }
    vec_each (&found, process) {
        gpu_missing(process, machine_process_fields, READING_UNSUPPORTED);
        struct driver_message m = {.kind = DRIVER_PROCESS, .process = *process};
        driver_say(w->fd, &m);
    }
    vec_release(&found);
}

static void read_clients(struct drm_worker *w, int64_t now)
{
    /* The first shares are wanted soon. */
    const int64_t age = w->before_ns ? INT64_C(950000000) : INT64_C(100000000);
    if (w->no_processes || (w->now_ns && now - w->now_ns < age))
        return;
    fdinfo_list spare;
    memcpy(&spare, &w->before, sizeof spare);
    memcpy(&w->before, &w->now, sizeof w->before);
    memcpy(&w->now, &spare, sizeof w->now);
    w->before_ns = w->now_ns;
    fdinfo_read(w->proc, &w->now);
    w->now_ns = now;
}

static void answer(struct drm_worker *w)
{
    struct drm_card cards[DRM_MOST_CARDS];
    size_t count = drm_cards(w->sysfs, cards);
    int64_t now = driver_now_ns();
    if (count)
        read_clients(w, now);
    for (size_t i = 0; i < count; i++) {
        struct driver_message m = {.kind = DRIVER_DEVICE};
        drm_card_read(&cards[i], &m.device);
        m.device.sample.time_ns = driver_unix_ns();
        if (!w->no_processes && m.device.state == READING_KNOWN)
            m.device.detail.memory_unseen = (struct reading){0}; /* the sampler counts it */
        rate_energy(w, i, &m.device, now);
        driver_say(w->fd, &m);
        say_processes(w, &cards[i], (uint32_t)i);
    }
    driver_end(w->fd, count ? READING_KNOWN : READING_NO_DRIVER, "");
}

void machine_drm_run(int fd, const void *context)
{
    const struct driver_context *options = context;
    struct drm_worker w = {.fd = fd, .no_processes = options->no_processes};
    const char *sysfs = getenv("WARPLIGHT_SYSFS");
    if (options->root[0] || !sysfs)
        snprintf(w.sysfs, sizeof w.sysfs, "%s/sys", options->root);
    else
        snprintf(w.sysfs, sizeof w.sysfs, "%s", sysfs);
    snprintf(w.proc, sizeof w.proc, "%s/proc", options->root);
    while (driver_wait(fd))
        answer(&w);
    vec_release(&w.before);
    vec_release(&w.now);
}
