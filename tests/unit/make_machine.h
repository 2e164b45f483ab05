/* A machine of made-up numbers, the same every time. */
#ifndef WARPLIGHT_TESTS_UNIT_MAKE_MACHINE_H
#define WARPLIGHT_TESTS_UNIT_MAKE_MACHINE_H

#include <stdio.h>
#include <string.h>

#include "model/machine.h"

#define MADE_TIME INT64_C(1790000000000000000) /* 2026-09-21 14:13:20 UTC */

static inline void make_machine_host(struct machine_sample *s)
{
    s->time_unix_ns = MADE_TIME;
    s->interval_ns = 1000000000;
    snprintf(s->host.name, sizeof s->host.name, "node7");
    s->host.load_1 = reading_of(1250);
    s->host.cpus = reading_of(64);
    s->host.cpu_busy = reading_of(374);
    s->host.memory = reading_of(INT64_C(256) << 30);
    s->host.memory_used = reading_of(INT64_C(97) << 30);
    s->sources[0] = (struct machine_source){.name = "NVML", .state = READING_KNOWN, .version = "580.65.06"};
    s->sources[1] = (struct machine_source){.name = "DRM", .state = READING_NO_DRIVER};
}

/* Values differ from GPU to GPU, and over time where `moment` does. */
static inline struct machine_device *make_machine_gpu(struct machine_sample *s, int number, int moment)
{
    struct machine_device *d = vec_new(&s->devices);
    gpu_missing(&d->facts, gpu_fact_fields, READING_UNSUPPORTED);
    gpu_missing(&d->sample, gpu_sample_fields, READING_UNSUPPORTED);
    gpu_missing(&d->detail, machine_detail_fields, READING_UNSUPPORTED);
    snprintf(d->key, sizeof d->key, "GPU-%08d", number);
    snprintf(d->facts.uuid, sizeof d->facts.uuid, "GPU-%08d", number);
    snprintf(d->facts.name, sizeof d->facts.name, "NVIDIA H100 80GB HBM3");
    snprintf(d->facts.bus, sizeof d->facts.bus, "0000:%02x:00.0", 0x1b + number);
    snprintf(d->driver, sizeof d->driver, "nvidia");
    d->id = number;
    d->vendor = VENDOR_NVIDIA;
    d->parent = NONE;
    d->state = READING_KNOWN;
    d->facts.memory = reading_of(INT64_C(80) << 30);
    d->facts.sm_clock_max = reading_of(INT64_C(1980000000));
    d->facts.slowdown_temperature = reading_of(87);
    d->sample.time_ns = MADE_TIME;
    d->sample.sm_clock = reading_of((1980 - 15 * number) * INT64_C(1000000));
    d->sample.power = reading_of((310 + 40 * number + moment) * INT64_C(1000));
    d->sample.power_limit = reading_of(INT64_C(700000));
    d->sample.temperature = reading_of(41 + 3 * number);
    d->sample.utilization = reading_of(100 - (moment / 2) % 40);
    d->sample.memory_used = reading_of((INT64_C(9) << 30) * (number % 8 + 1));
    d->sample.pcie_generation = reading_of(5);
    d->sample.pcie_width = reading_of(16);
    d->detail.sm_active = reading_of((moment * 37 + number * 91) % 1000);
    d->detail.tensor_active = reading_of(212);
    d->detail.memory_bandwidth = reading_of(430);
    d->detail.pcie_receive = reading_of(INT64_C(12400000000));
    d->detail.pcie_send = reading_of(INT64_C(310000000));
    d->detail.nvlink_receive = reading_of(INT64_C(154000000000));
    d->detail.nvlink_send = reading_of(INT64_C(151000000000));
    d->detail.power_cap = reading_of(number % 3 == 1 ? 620 : 0);
    d->detail.heat = reading_of(0);
    d->detail.power_brake = reading_of(0);
    d->detail.memory_unseen = reading_of(0);
    return d;
}

static inline struct machine_process *make_machine_process(struct machine_sample *s, uint32_t device,
                                                           int64_t pid, int64_t parent, const char *user,
                                                           const char *command)
{
    struct machine_process *p = vec_new(&s->processes);
    for (const struct gpu_field *field = machine_process_fields; field->key; field++)
        *gpu_reading(p, field) = reading_missing(READING_UNSUPPORTED);
    p->device = device;
    p->state = READING_KNOWN;
    p->pid = pid;
    p->parent_pid = parent;
    p->start_unix_ns = MADE_TIME - pid * INT64_C(1000000000);
    p->type = MACHINE_COMPUTE;
    snprintf(p->user, sizeof p->user, "%s", user);
    snprintf(p->command, sizeof p->command, "%s", command);
    snprintf(p->name, sizeof p->name, "%.*s", (int)strcspn(command, " "), command);
    p->memory = reading_of((pid % 7 + 1) << 30);
    p->sm = reading_of(pid % 11 * 80);
    p->cpu = reading_of(pid % 5 * 250);
    p->host_memory = reading_of((pid % 3 + 1) << 29);
    return p;
}

#endif
