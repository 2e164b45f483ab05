/* The ledger of each device: every nanosecond of its wall time in exactly one account
 * (doc/internals/ledger.md). What ran when is sweep.c's business; here it is booked, and what is left over
 * becomes the gaps. */
#include "analyze/sweep.h"
#include "base/i18n.h"

const char *account_name(enum account account)
{
    static const char *const names[ACCOUNT_COUNT] = {
        [ACCOUNT_COMPUTE] = "compute",
        [ACCOUNT_COMPUTE_COPY] = "compute+copy",
        [ACCOUNT_COMPUTE_COMM] = "compute+comm",
        [ACCOUNT_COMM] = "comm",
        [ACCOUNT_COPY] = "copy",
        [IDLE_STARTUP] = "idle:startup",
        [IDLE_DATA_LOADING] = "idle:data-loading",
        [IDLE_LAUNCH_BOUND] = "idle:launch-bound",
        [IDLE_HOST_SYNC] = "idle:host-sync",
        [IDLE_HOST_COMPUTE] = "idle:host-compute",
        [IDLE_HOST_IO] = "idle:host-io",
        [IDLE_HOST_WAIT] = "idle:host-wait",
        [IDLE_ALLOCATOR] = "idle:allocator",
        [IDLE_WARMUP] = "idle:warmup",
        [IDLE_DEPENDENCY] = "idle:dependency",
        [IDLE_QUEUE] = "idle:queue",
        [IDLE_LAUNCH_LATENCY] = "idle:launch-latency",
        [IDLE_PROFILER] = "idle:profiler",
        [IDLE_UNKNOWN] = "idle:unknown",
        [IDLE_SHUTDOWN] = "idle:shutdown",
    };
    return names[account];
}

const char *account_meaning(enum account account)
{
    static const char *const meanings[ACCOUNT_COUNT] = {
        [ACCOUNT_COMPUTE] = N_("kernels running"),
        [ACCOUNT_COMPUTE_COPY] = N_("kernels running, copies hidden behind them"),
        [ACCOUNT_COMPUTE_COMM] = N_("kernels running, communication hidden behind them"),
        [ACCOUNT_COMM] = N_("only communication running: exposed"),
        [ACCOUNT_COPY] = N_("only copies running: exposed transfer"),
        [IDLE_STARTUP] = N_("before the first GPU work"),
        [IDLE_DATA_LOADING] = N_("the host was loading data"),
        [IDLE_LAUNCH_BOUND] = N_("the host could not issue work fast enough"),
        [IDLE_HOST_SYNC] = N_("the host waited instead of issuing ahead"),
        [IDLE_HOST_COMPUTE] = N_("the host ran other code"),
        [IDLE_HOST_IO] = N_("the host was in file or network I/O"),
        [IDLE_HOST_WAIT] = N_("the host waited for a lock, thread or process"),
        [IDLE_ALLOCATOR] = N_("GPU memory was being allocated or freed"),
        [IDLE_WARMUP] = N_("code was being loaded or compiled"),
        [IDLE_DEPENDENCY] = N_("work was queued but waited for other work"),
        [IDLE_QUEUE] = N_("the launch queue was full"),
        [IDLE_LAUNCH_LATENCY] = N_("the path from launch call to GPU"),
        [IDLE_PROFILER] = N_("the recording tool itself"),
        [IDLE_UNKNOWN] = N_("the recording does not say"),
        [IDLE_SHUTDOWN] = N_("after the last GPU work"),
    };
    return meanings[account];
}

/* ---- windows ------------------------------------------------------------------------------------------- */

static void widen(struct interval *window, int64_t start, int64_t end)
{
    if (window->start == UNKNOWN) {
        *window = (struct interval){start, end};
        return;
    }
    window->start = min_ns(window->start, start);
    window->end = max_ns(window->end, end);
}

/* First and last recorded moment of each source: the window of the devices that it speaks of. */
static struct interval *source_windows(const struct run *run)
{
    struct interval *windows = mem_resize(NULL, run->sources.count, sizeof *windows);
    for (size_t s = 0; s < run->sources.count; s++)
        windows[s] = (struct interval){UNKNOWN, UNKNOWN};
    const struct op_table *ops = &run->ops;
    for (size_t i = 0; i < ops->count; i++)
        widen(&windows[run->devices.at[run_op_device(run, i)].source], ops->start[i], ops->end[i]);
    const struct span_table *spans = &run->spans;
    vec_each (&run->threads, thread) {
        uint32_t source = run->processes.at[thread->process].source;
        for (uint32_t i = thread->first_span; i < thread->first_span + thread->span_count; i++)
            widen(&windows[source], spans->start[i], spans->end[i]);
    }
    return windows;
}

static struct interval narrow(struct interval window, const struct report_options *options)
{
    if (options && options->has_from)
        window.start = max_ns(window.start, options->from_ns);
    if (options && options->has_to)
        window.end = min_ns(window.end, options->to_ns);
    window.end = max_ns(window.start, window.end);
    return window;
}

/* ---- booking ------------------------------------------------------------------------------------------- */

struct booking {
    struct report *report;
    struct device_report *ledger;
};

static void add_gap(struct booking *booking, const struct sweep_stretch *gap)
{
    booking->ledger->gap_count++;
    booking->ledger->longest_gap_ns = max_ns(booking->ledger->longest_gap_ns, gap->end - gap->start);
    vec_push(&booking->report->gaps, ((struct gap_piece){.start = gap->start,
                                                         .end = gap->end,
                                                         .gap = (uint32_t)booking->report->gaps.count,
                                                         .device = booking->ledger->device,
                                                         .next_op = gap->next_op,
                                                         .thread = NONE,
                                                         .call = NONE,
                                                         .operator_ = NONE,
                                                         .annotation = NONE,
                                                         .frame = NONE,
                                                         .native = NONE,
                                                         .cause = IDLE_UNKNOWN}));
}

static void book(void *context, const struct sweep_stretch *stretch)
{
    struct booking *booking = context;
    if (!stretch->busy) {
        add_gap(booking, stretch);
        return;
    }
    booking->ledger->ledger_ns[stretch->account] += stretch->end - stretch->start;
    booking->ledger->busy_ns += stretch->end - stretch->start;
}

static void count_ops(const struct run *run, struct device_report *ledger)
{
    struct op_range range = ops_in_window(run, ledger->device, ledger->window);
    for (uint32_t op = range.first; op < range.end; op++) {
        if (!op_in_window(run->ops.start[op], run->ops.end[op], ledger->window))
            continue;
        struct interval part = op_clip(run, op, ledger->window);
        ledger->op_count++;
        ledger->op_sum_ns += part.end - part.start;
    }
}

void ledger_build(struct report *report, const struct report_options *options)
{
    const struct run *run = report->run;
    struct interval *windows = source_windows(run);
    struct comm_names names;
    comm_names_init(&names, run);
    report->window = (struct interval){UNKNOWN, UNKNOWN};
    report->narrowed = options && (options->has_from || options->has_to || options->has_device);
    for (uint32_t d = 0; d < run->devices.count; d++) {
        const struct device *device = &run->devices.at[d];
        if (device->op_count == 0 || (options && options->has_device && device->id != options->device))
            continue;
        struct interval window = narrow(windows[device->source], options);
        vec_push(&report->devices, ((struct device_report){
                                       .device = d, .window = window, .wall_ns = window.end - window.start}));
        widen(&report->window, window.start, window.end);
    }
    if (report->devices.count == 0)
        for (size_t s = 0; s < run->sources.count; s++)
            if (windows[s].start != UNKNOWN)
                widen(&report->window, windows[s].start, windows[s].end);
    if (report->window.start == UNKNOWN)
        report->window = (struct interval){0, 0};
    vec_each (&report->devices, ledger) {
        struct booking booking = {report, ledger};
        sweep_device(&names, ledger->device, ledger->window, book, &booking);
        count_ops(run, ledger);
    }
    comm_names_release(&names);
    free(windows);
}
