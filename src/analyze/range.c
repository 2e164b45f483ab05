#include "analyze/analyze.h"

/* First row of [first, end) whose op starts at or after time. */
static uint32_t first_starting_at(const struct run *run, uint32_t first, uint32_t end, int64_t time)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (run->ops.start[middle] < time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

struct op_range ops_in_window(const struct run *run, uint32_t device, struct interval window)
{
    const struct device *d = &run->devices.at[device];
    uint32_t first = d->first_op, end = d->first_op + d->op_count;
    int64_t reach;
    if (!__builtin_sub_overflow(window.start, d->longest_op_ns, &reach))
        first = first_starting_at(run, first, end, reach);
    if (window.end < INT64_MAX)
        end = first_starting_at(run, first, end, window.end + 1);
    return (struct op_range){first, end};
}

struct interval op_clip(const struct run *run, uint32_t op, struct interval window)
{
    return (struct interval){max_ns(run->ops.start[op], window.start), min_ns(run->ops.end[op], window.end)};
}
