#include "analyze/steady.h"

enum {
    STEPS_MIN = 5,
    IDLE_PART = 10, /* of the time: less outside is left where it is */
    WORK_PART = 4,  /* of the GPUs' work, and of the steps: more is no start */
};

static bool is_one_recording(const struct report *report)
{
    const struct run *run = report->run;
    vec_each (&report->devices, device)
        if (run->devices.at[device->device].source != run->devices.at[report->devices.at[0].device].source)
            return false;
    return report->devices.count > 0;
}

static int64_t last_work(const struct report *report)
{
    const struct run *run = report->run;
    int64_t last = report->window.start;
    vec_each (&report->devices, device) {
        struct op_range range = ops_in_window(run, device->device, device->window);
        for (uint32_t op = range.first; op < range.end; op++)
            last = max_ns(last, min_ns(run->ops.end[op], device->window.end));
    }
    return last;
}

struct outside {
    int64_t wall_ns, busy_ns;   /* of all devices */
    int64_t before_ns, idle_ns; /* busy before the part, idle before and after it */
};

/* After the last work nothing is busy. */
static struct outside add_up(const struct report *report, struct interval part)
{
    struct outside sum = {0};
    vec_each (&report->devices, device) {
        sum.wall_ns += device->wall_ns;
        sum.busy_ns += device->busy_ns;
        sum.before_ns += part.start - device->window.start;
    }
    vec_each (&report->gaps, piece) {
        int64_t idle_before = max_ns(min_ns(piece->end, part.start) - piece->start, 0);
        sum.before_ns -= idle_before;
        sum.idle_ns += idle_before + max_ns(piece->end - max_ns(piece->start, part.end), 0);
    }
    return sum;
}

/* Whether so much of the GPUs' work lies before the part that it is more than a start. */
static bool is_work_before(const struct report *report, struct interval part)
{
    struct outside sum = add_up(report, part);
    return sum.before_ns > sum.busy_ns / WORK_PART;
}

bool steady_find(const struct report *report, struct interval *steady)
{
    const struct step_report *steps = &report->steps;
    if (report->narrowed || steps->rows.count < STEPS_MIN || !is_one_recording(report))
        return false;
    size_t first = 0;
    /* The first steps of many programs load code and try algorithms. */
    while (first < steps->rows.count / WORK_PART && steps->rows.at[first].outlier)
        first++;
    *steady = (struct interval){steps->rows.at[first].start, last_work(report)};
    if (is_work_before(report, *steady))
        steady->start = steps->rows.at[0].start;
    struct outside sum = add_up(report, *steady);
    /* Steps are cut where the GPU begins one: what the host does for the first before, and for the last
     * after, is theirs. */
    int64_t of_steps = 2 * steps->median_ns * (int64_t)report->devices.count;
    return steady->start < steady->end && sum.idle_ns - of_steps >= sum.wall_ns / IDLE_PART &&
           !is_work_before(report, *steady);
}
