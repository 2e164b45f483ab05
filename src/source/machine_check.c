#include "source/machine_check.h"

static void limit(struct reading *r, struct reading most, int64_t times, int64_t parts)
{
    if (reading_is_known(*r) && reading_is_known(most) && most.value > 0 &&
        (__int128)r->value * parts > (__int128)most.value * times)
        *r = reading_missing(READING_IMPLAUSIBLE);
}

/* Bytes per second of a lane and direction, by generation (PCI Express base specification): transfers times
 * encoding. */
static struct reading pcie_most(const struct machine_device *d)
{
    static const int64_t lane[] = {0, 250000000, 500000000, 984615384, 1969230769, 3938461538, 7562500000};
    struct reading generation = d->facts.pcie_generation_max, width = d->facts.pcie_width_max;
    enum { WIDEST = 32 };
    if (!reading_is_known(generation) || !reading_is_known(width) || generation.value < 1 ||
        generation.value >= (int64_t)(sizeof lane / sizeof *lane) || width.value < 1 || width.value > WIDEST)
        return reading_missing(READING_UNREAD);
    return reading_of(lane[generation.value] * width.value);
}

static void check_device(struct machine_device *d)
{
    struct gpu_sample *s = &d->sample;
    struct reading pcie = pcie_most(d);
    limit(&s->memory_used, d->facts.memory, 1, 1);
    limit(&s->power, d->facts.power_limit_max, 2, 1);
    limit(&d->detail.power_average, d->facts.power_limit_max, 2, 1);
    limit(&s->sm_clock, d->facts.sm_clock_max, 3, 2);
    limit(&s->memory_clock, d->facts.memory_clock_max, 3, 2);
    /* A period is measured a little shorter or longer than the driver's. */
    limit(&d->detail.pcie_receive, pcie, 3, 2);
    limit(&d->detail.pcie_send, pcie, 3, 2);
}

void machine_check(struct machine_sample *sample)
{
    vec_each (&sample->devices, device)
        check_device(device);
    vec_each (&sample->processes, process)
        limit(&process->memory, sample->devices.at[process->device].facts.memory, 1, 1);
}
