/* The ledger of each device: every nanosecond of its wall time in exactly one account (DESIGN §4).
 *
 * Ops are sorted by start, so "is some op of this class running at t" is "t < the latest end seen so far of
 * the class": three running maxima replace interval lists, and the sweep is linear. */
#include "analyze/analyze.h"
#include "base/i18n.h"

enum op_class { CLASS_COMPUTE, CLASS_COMM, CLASS_COPY, CLASS_COUNT };

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
        [IDLE_HOST_SYNC] = N_("the host had waited for the GPU instead of issuing ahead"),
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

/* ---- the sweep ----------------------------------------------------------------------------------------- */

struct sweep {
    struct report *report;
    struct device_report *ledger;
    int64_t now; /* booked up to here */
    int64_t busy_until[CLASS_COUNT];
};

static void add_gap(struct sweep *sweep, int64_t start, int64_t end, uint32_t next_op)
{
    sweep->ledger->gap_count++;
    sweep->ledger->longest_gap_ns = max_ns(sweep->ledger->longest_gap_ns, end - start);
    vec_push(&sweep->report->gaps, ((struct gap_piece){.start = start,
                                                       .end = end,
                                                       .gap = (uint32_t)sweep->report->gaps.count,
                                                       .device = sweep->ledger->device,
                                                       .next_op = next_op,
                                                       .thread = NONE,
                                                       .call = NONE,
                                                       .operator_ = NONE,
                                                       .annotation = NONE,
                                                       .frame = NONE,
                                                       .cause = IDLE_UNKNOWN}));
}

/* Books [now, until), during which no op starts. next_op is the op that starts at until, or NONE. */
static void book_until(struct sweep *sweep, int64_t until, uint32_t next_op)
{
    while (sweep->now < until) {
        bool compute = sweep->busy_until[CLASS_COMPUTE] > sweep->now;
        bool comm = sweep->busy_until[CLASS_COMM] > sweep->now;
        bool copy = sweep->busy_until[CLASS_COPY] > sweep->now;
        int64_t stop = until;
        for (int c = 0; c < CLASS_COUNT; c++)
            if (sweep->busy_until[c] > sweep->now)
                stop = min_ns(stop, sweep->busy_until[c]);
        if (!compute && !comm && !copy) {
            add_gap(sweep, sweep->now, until, next_op);
        } else {
            enum account account = compute && comm   ? ACCOUNT_COMPUTE_COMM
                                   : compute && copy ? ACCOUNT_COMPUTE_COPY
                                   : compute         ? ACCOUNT_COMPUTE
                                   : comm            ? ACCOUNT_COMM
                                                     : ACCOUNT_COPY;
            sweep->ledger->ledger_ns[account] += stop - sweep->now;
            sweep->ledger->busy_ns += stop - sweep->now;
        }
        sweep->now = stop;
    }
}

/* 1 + whether the kernel of this name is communication; 0 not yet asked. One look-up per distinct name. */
static enum op_class class_of(const struct run *run, uint32_t op, uint8_t *comm_names)
{
    uint8_t kind = run->ops.kind[op];
    if (kind == OP_COPY || kind == OP_MEMSET)
        return CLASS_COPY;
    if (run->ops.comm[op] != NONE)
        return CLASS_COMM;
    uint32_t name = run->ops.name[op];
    if (comm_names[name] == 0)
        comm_names[name] = kind == OP_KERNEL && kernel_classify(run_text(run, name)).is_comm ? 2 : 1;
    return comm_names[name] == 2 ? CLASS_COMM : CLASS_COMPUTE;
}

static void sweep_device(struct report *report, struct device_report *ledger, uint8_t *comm_names)
{
    struct interval window = ledger->window;
    struct sweep sweep = {.report = report, .ledger = ledger, .now = window.start};
    for (int c = 0; c < CLASS_COUNT; c++)
        sweep.busy_until[c] = window.start;
    struct op_range range = ops_in_window(report->run, ledger->device, window);
    for (uint32_t op = range.first; op < range.end; op++) {
        struct interval part = op_clip(report->run, op, window);
        if (!op_in_window(report->run->ops.start[op], report->run->ops.end[op], window))
            continue;
        book_until(&sweep, part.start, op);
        enum op_class class = class_of(report->run, op, comm_names);
        sweep.busy_until[class] = max_ns(sweep.busy_until[class], part.end);
        ledger->op_count++;
        ledger->op_sum_ns += part.end - part.start;
    }
    book_until(&sweep, window.end, NONE);
}

void ledger_build(struct report *report, const struct report_options *options)
{
    const struct run *run = report->run;
    struct interval *windows = source_windows(run);
    uint8_t *comm_names = mem_zalloc(run->strings.count, 1);
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
    vec_each (&report->devices, ledger)
        sweep_device(report, ledger, comm_names);
    free(comm_names);
    free(windows);
}
