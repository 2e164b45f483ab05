/* Why each gap of a device is there, and who made it (doc/internals/ledger.md).
 *
 * The op that ends a gap names the launching call and its thread. Up to that call the host is late, and what
 * the thread did decides, nanosecond by nanosecond. Inside the call the host is issuing. After it the work is
 * on its way, and after the machine's launch floor it is waiting for something else. */
#include "analyze/gaps.h"

#include <string.h>

#include "analyze/host.h"
#include "analyze/issue.h"
#include "model/sampled.h"

/* A host that issues back to back needs 2–50 µs from one launch to the next (eager PyTorch ≈ 10 µs, several
 * times that under a profiler). A longer stretch without a launch is other work, not the cost of launching.
 */
enum { ISSUE_STRETCH_NS = 100 * 1000 };
/* An operator that takes longer than this on the host does more than dispatch the kernels that it launches.
 */
enum { DISPATCH_NS = 1000 * 1000 };
/* The first launch of a kernel that takes this long loads its code, whether or not an overhead record says
 * so. */
enum { FIRST_LAUNCH_NS = 1000 * 1000 };
/* Bounds of what "the path from call to GPU" may take; the run's own measured floor lies between them. */
enum { FLOOR_LOW_NS = 10 * 1000, FLOOR_HIGH_NS = 100 * 1000 };

struct gaps {
    struct report *report;
    const struct run *run;
    struct host_names names;
    struct issue_index issues;
    struct culprit_index culprits;
    uint8_t *loading;            /* per span: inside a data-loading range */
    uint8_t *seen_kernel;        /* per name id: launched before */
    struct host_cursor *cursors; /* per thread */
    struct gap_piece piece;      /* the piece being built: same gap, same cause */
    int64_t piece_longest;       /* its longest stretch, whose culprit it names */
    struct gap_piece *out;
    size_t out_count, out_cap;
    VEC(struct interval) pauses; /* of the recording, in order */
    int64_t floor_ns;
    uint32_t next_call;      /* launches the op that ends the gap; NONE */
    int64_t next_call_start; /* its start; or the gap's end */
    uint32_t asked_for;      /* the idle launching thread on whose behalf another is asked; NONE */
    bool edge;               /* before the first or after the last op */
    enum account edge_account;
};

/* ---- pieces -------------------------------------------------------------------------------------------- */

static void flush_piece(struct gaps *g)
{
    if (g->piece.start >= g->piece.end)
        return;
    if (g->out_count == g->out_cap) {
        g->out_cap = g->out_cap ? g->out_cap * 2 : 1024;
        g->out = mem_resize(g->out, g->out_cap, sizeof *g->out);
    }
    g->out[g->out_count++] = g->piece;
    g->piece.start = g->piece.end;
}

/* Of the frames on the stack, the innermost of the user's own code is the culprit, else the innermost. inner
 * is the frame that this one called, NONE. */
static void consider_frame(struct gaps *g, struct gap_piece *piece, uint32_t frame, uint32_t inner)
{
    const struct span_table *spans = &g->run->spans;
    if (piece->frame != NONE &&
        (host_frame_is_library(&g->names, frame) || !host_frame_is_library(&g->names, piece->frame)))
        return;
    piece->frame = frame;
    piece->line = inner == NONE ? sampled_line(spans, frame) : sampled_called_from(spans, inner);
}

static void find_culprit(struct gaps *g, struct gap_piece *piece, uint32_t leaf)
{
    const struct span_table *spans = &g->run->spans;
    uint32_t inner_frame = NONE;
    for (uint32_t span = leaf; span != NONE; span = spans->parent[span]) {
        switch ((enum span_kind)spans->kind[span]) {
        case SPAN_OS:
            if (piece->call != NONE && spans->kind[piece->call] != SPAN_OS)
                break; /* what makes system calls is named rather than those */
            piece->call = span;
            piece->stack = piece->stack || span_is_sampled(spans, span) ? piece->stack : spans->detail[span];
            break;
        case SPAN_OVERHEAD:
        case SPAN_API:
            piece->call = span; /* the outermost: cudaMalloc rather than the ioctl inside it */
            piece->stack = piece->stack ? piece->stack : spans->detail[span];
            break;
        case SPAN_OP:
            piece->operator_ = piece->operator_ == NONE ? span : piece->operator_;
            piece->stack = piece->stack ? piece->stack : spans->detail[span];
            break;
        case SPAN_ANNOTATION:
            piece->annotation = piece->annotation == NONE ? span : piece->annotation;
            break;
        case SPAN_PYTHON:
            consider_frame(g, piece, span, inner_frame);
            inner_frame = span;
            break;
        case SPAN_NATIVE:
            piece->native = piece->native == NONE ? span : piece->native;
            break;
        default:
            break;
        }
    }
    piece->frame = piece->frame == NONE ? piece->native : piece->frame;
}

/* Books [start, end) of the current gap. leaf is the innermost span of thread then, or NONE. */
static void book_recorded(struct gaps *g, int64_t start, int64_t end, enum account cause, uint32_t thread,
                          uint32_t leaf)
{
    if (start >= end)
        return;
    struct gap_piece piece = g->piece;
    piece.start = start;
    piece.end = end;
    piece.cause = (uint8_t)cause;
    piece.thread = thread;
    piece.call = piece.operator_ = piece.annotation = piece.frame = piece.native = NONE;
    piece.stack = piece.line = 0;
    find_culprit(g, &piece, leaf);
    culprit_add(&g->culprits, &piece);
    if (g->piece.cause == cause && g->piece.end == start && g->piece.start < g->piece.end) {
        if (end - start > g->piece_longest) {
            g->piece_longest = end - start;
            piece.start = g->piece.start;
            g->piece = piece;
        }
        g->piece.end = end;
    } else {
        flush_piece(g);
        g->piece = piece;
        g->piece_longest = end - start;
    }
}

/* The same; while the recording paused, nobody knows what was going on. */
static void book(struct gaps *g, int64_t start, int64_t end, enum account cause, uint32_t thread,
                 uint32_t leaf)
{
    for (size_t i = 0; i < g->pauses.count && start < end; i++) {
        struct interval pause = g->pauses.at[i];
        if (pause.end <= start || pause.start >= end)
            continue;
        book_recorded(g, start, pause.start, cause, thread, leaf);
        start = max_ns(start, pause.start);
        book_recorded(g, start, min_ns(pause.end, end), IDLE_UNKNOWN, NONE, NONE);
        start = min_ns(pause.end, end);
    }
    book_recorded(g, start, end, cause, thread, leaf);
}

/* Marks are in order of time. Of several recordings at once each pauses for itself: that is left out. */
static void find_pauses(struct gaps *g)
{
    if (g->run->sources.count != 1)
        return;
    int64_t since = UNKNOWN;
    vec_each (&g->run->marks, mark) {
        if (mark->kind == MARK_PAUSED && since == UNKNOWN)
            since = mark->time;
        if (mark->kind != MARK_RESUMED || since == UNKNOWN)
            continue;
        vec_push(&g->pauses, ((struct interval){since, mark->time}));
        since = UNKNOWN;
    }
    if (since != UNKNOWN)
        vec_push(&g->pauses, ((struct interval){since, INT64_MAX}));
}

/* ---- what a stretch of host time means ----------------------------------------------------------------- */

/* The class that decides for a stretch: the API call around operating-system calls rather than those, an
 * overhead record before anything. HOST_GENERIC when nothing but ordinary code ran. */
static enum host_class deciding_class(struct gaps *g, uint32_t leaf)
{
    const struct span_table *spans = &g->run->spans;
    enum host_class found = HOST_GENERIC;
    for (uint32_t span = leaf; span != NONE; span = spans->parent[span]) {
        uint8_t kind = spans->kind[span];
        if (kind != SPAN_API && kind != SPAN_OS && kind != SPAN_OVERHEAD)
            break;
        enum host_class class = host_span_class(&g->names, span);
        if (kind == SPAN_OVERHEAD)
            return class;
        if (class != HOST_GENERIC && (kind == SPAN_API || found == HOST_GENERIC))
            found = class;
    }
    return found;
}

/* Time that it takes to issue work: charged to the wait that drained the GPU, if there was one just before.
 */
static enum account account_of_issuing(struct gaps *g, uint32_t thread, int64_t at)
{
    return issue_drained(&g->issues, g->run->threads.at[thread].process, at) ? IDLE_HOST_SYNC
                                                                             : IDLE_LAUNCH_BOUND;
}

/* Whether an operator around leaf goes on to make the call that ends the gap: it is dispatching that work. */
static bool dispatches_next_call(const struct gaps *g, uint32_t leaf)
{
    const struct span_table *spans = &g->run->spans;
    if (g->next_call == NONE || leaf == NONE || spans->thread[leaf] != spans->thread[g->next_call])
        return false;
    for (uint32_t span = leaf; span != NONE; span = spans->parent[span])
        if (spans->kind[span] == SPAN_OP && spans->end[span] >= spans->end[g->next_call])
            return spans->end[span] - spans->start[span] <= DISPATCH_NS;
    return false;
}

/* Ordinary code ran from the last issued work to the next. Short, or inside the operator that issues: the
 * cost of issuing. Long: other work. */
static enum account account_of_code(struct gaps *g, uint32_t thread, const struct host_stretch *stretch)
{
    if (g->edge)
        return g->edge_account;
    int64_t last = issue_before(&g->issues, g->run->threads.at[thread].process, stretch->start);
    bool near = last != UNKNOWN && g->next_call_start - last <= ISSUE_STRETCH_NS;
    if (near || dispatches_next_call(g, stretch->leaf))
        return account_of_issuing(g, thread, stretch->start);
    return IDLE_HOST_COMPUTE;
}

static enum account account_of_stretch(struct gaps *g, uint32_t thread, const struct host_stretch *stretch)
{
    const struct span_table *spans = &g->run->spans;
    uint32_t leaf = stretch->leaf;
    enum host_class class = leaf == NONE ? HOST_GENERIC : deciding_class(g, leaf);
    if (class == HOST_PROFILER)
        return IDLE_PROFILER;
    if (leaf != NONE && g->loading[leaf])
        return IDLE_DATA_LOADING;
    switch (class) {
    case HOST_SYNC:
        return IDLE_HOST_SYNC;
    case HOST_ALLOC:
        return IDLE_ALLOCATOR;
    case HOST_MODULE:
        return IDLE_WARMUP;
    case HOST_QUEUE:
        return IDLE_QUEUE;
    case HOST_IO:
        return g->edge ? g->edge_account : IDLE_HOST_IO;
    case HOST_WAIT:
        return g->edge ? g->edge_account : IDLE_HOST_WAIT;
    case HOST_COPY: /* an asynchronous copy call that takes this long stages pageable memory: it blocks */
        if (spans->end[leaf] - spans->start[leaf] > ISSUE_STRETCH_NS)
            return IDLE_HOST_SYNC;
        return account_of_issuing(g, thread, stretch->start);
    case HOST_LAUNCH:
        return account_of_issuing(g, thread, stretch->start);
    default:
        return account_of_code(g, thread, stretch);
    }
}

/* ---- walking the threads ------------------------------------------------------------------------------- */

struct walk {
    struct gaps *g;
    uint32_t thread;
};

static void host_late(struct gaps *g, uint32_t thread, struct interval range);

/* Whether a thread that is seen in samples waits, and that is all that is known of it but for the function.
 */
static bool only_waits(struct gaps *g, uint32_t leaf)
{
    const struct span_table *spans = &g->run->spans;
    uint32_t around = spans->parent[leaf];
    while (around != NONE && spans->kind[around] == SPAN_NATIVE)
        around = spans->parent[around];
    return around == NONE && spans->kind[leaf] == SPAN_OS && span_is_sampled(spans, leaf) &&
           host_span_class(&g->names, leaf) == HOST_WAIT;
}

static void on_stretch(void *context, const struct host_stretch *stretch)
{
    struct walk *walk = context;
    struct gaps *g = walk->g;
    uint32_t feeder = issue_feeder(&g->issues, walk->thread);
    bool idle = stretch->leaf == NONE || only_waits(g, stretch->leaf);
    if (idle && g->asked_for == NONE && feeder != NONE) {
        /* The launching thread had nothing to do: it waited to be fed (autograd, a worker pool). Ask the
         * thread of its process that issues most work. */
        g->asked_for = walk->thread;
        host_late(g, feeder, (struct interval){stretch->start, stretch->end});
        g->asked_for = NONE;
        return;
    }
    uint32_t culprit = stretch->leaf == NONE && g->asked_for != NONE ? g->asked_for : walk->thread;
    book(g, stretch->start, stretch->end, account_of_stretch(g, walk->thread, stretch), culprit,
         stretch->leaf);
}

static void host_late_uncovered(struct gaps *g, uint32_t thread, struct interval range)
{
    if (range.start >= range.end)
        return;
    struct walk walk = {g, thread};
    host_walk(g->run, thread, &g->cursors[thread], range, on_stretch, &walk);
}

/* Books a range in which no launch was under way. Overhead records of the recording tool and the driver lie
 * on a lane of their own in some sources; they take precedence over what the thread seems to do. */
static void host_late(struct gaps *g, uint32_t thread, struct interval range)
{
    uint32_t process = g->run->threads.at[thread].process;
    uint32_t source = g->run->processes.at[process].source;
    for (int64_t now = range.start; now < range.end;) {
        struct overhead_hit hit = issue_overhead(&g->issues, source, now, range.end);
        host_late_uncovered(g, thread, (struct interval){now, hit.start});
        if (hit.span != NONE)
            book(g, hit.start, hit.end,
                 host_span_class(&g->names, hit.span) == HOST_QUEUE    ? IDLE_QUEUE
                 : host_span_class(&g->names, hit.span) == HOST_MODULE ? IDLE_WARMUP
                                                                       : IDLE_PROFILER,
                 thread, hit.span);
        now = hit.end;
    }
}

/* ---- the launching call and what follows it ------------------------------------------------------------ */

static enum account account_of_call(struct gaps *g, uint32_t op, uint32_t call)
{
    const struct run *run = g->run;
    int64_t length = run->spans.end[call] - run->spans.start[call];
    if (host_span_class(&g->names, call) == HOST_COPY) {
        bool staged = run->ops.src[op] == MEM_PAGEABLE || run->ops.dst[op] == MEM_PAGEABLE;
        if (staged || length > ISSUE_STRETCH_NS)
            return IDLE_HOST_SYNC;
    }
    if (run->ops.kind[op] == OP_KERNEL && length > FIRST_LAUNCH_NS && !g->seen_kernel[run->ops.name[op]])
        return IDLE_WARMUP;
    return account_of_issuing(g, run->spans.thread[call], run->spans.start[call]);
}

/* Between two nodes of one launched graph: the host has handed over both, however long its call goes on. */
static bool is_within_graph(const struct run *run, uint32_t op)
{
    return op > run->devices.at[run->streams.at[run->ops.stream[op]].device].first_op &&
           run->ops.graph[op] != 0 && run->ops.call[op - 1] == run->ops.call[op];
}

static void attribute_linked(struct gaps *g, struct interval gap, uint32_t op, uint32_t call)
{
    const struct span_table *spans = &g->run->spans;
    uint32_t thread = spans->thread[call];
    bool issued = is_within_graph(g->run, op);
    int64_t call_start = issued ? gap.start : min_ns(max_ns(gap.start, spans->start[call]), gap.end);
    int64_t call_end = issued ? gap.start : min_ns(max_ns(gap.start, spans->end[call]), gap.end);
    g->next_call = call;
    g->next_call_start = spans->start[call];
    host_late(g, thread, (struct interval){gap.start, call_start});
    uint32_t source = g->run->processes.at[g->run->threads.at[thread].process].source;
    for (int64_t now = call_start; now < call_end;) {
        struct overhead_hit hit = issue_overhead(&g->issues, source, now, call_end);
        book(g, now, hit.start, account_of_call(g, op, call), thread, call);
        if (hit.span != NONE)
            book(g, hit.start, hit.end,
                 host_span_class(&g->names, hit.span) == HOST_MODULE ? IDLE_WARMUP : IDLE_PROFILER, thread,
                 call);
        now = hit.end;
    }
    /* Issued before the gap began: the device turned to it at once or it waited for other work. Issued during
     * the gap: the path to the GPU first, then waiting. */
    int64_t path_end = min_ns(gap.end, call_end + g->floor_ns);
    book(g, call_end, path_end, IDLE_LAUNCH_LATENCY, thread, call);
    book(g, path_end, gap.end, IDLE_DEPENDENCY, thread, call);
}

/* No op ends the gap, or nobody knows who launched it: ask the process's main issuing thread. */
static void attribute_unlinked(struct gaps *g, struct interval gap, uint32_t op)
{
    uint32_t thread = NONE;
    g->next_call = NONE;
    g->next_call_start = gap.end;
    if (op != NONE) {
        uint32_t process = g->run->streams.at[g->run->ops.stream[op]].process;
        thread = process == NONE ? NONE : issue_main_thread(&g->issues, process);
    } else {
        thread = issue_main_thread_of_device(&g->issues, g->piece.device);
    }
    if (thread == NONE || (op != NONE && !g->edge))
        book(g, gap.start, gap.end, g->edge ? g->edge_account : IDLE_UNKNOWN, NONE, NONE);
    else
        host_late(g, thread, gap);
}

/* The op that ends the gap, be it after the window that cut the gap short; NONE after the device's last. */
static uint32_t ending_op(const struct run *run, const struct gap_piece *gap)
{
    const struct device *device = &run->devices.at[gap->device];
    if (gap->next_op != NONE)
        return gap->next_op;
    uint32_t op = ops_in_window(run, gap->device, (struct interval){gap->start, gap->end - 1}).end;
    return op < device->first_op + device->op_count ? op : NONE;
}

static void attribute_gap(struct gaps *g, const struct gap_piece *gap, uint32_t op)
{
    bool first = op == g->run->devices.at[gap->device].first_op;
    g->piece = *gap;
    g->piece.end = g->piece.start;
    g->edge = op == NONE || first;
    g->edge_account = op == NONE ? IDLE_SHUTDOWN : IDLE_STARTUP;
    struct interval range = {gap->start, gap->end};
    uint32_t call = op == NONE ? NONE : g->run->ops.call[op];
    if (call == NONE)
        attribute_unlinked(g, range, op);
    else
        attribute_linked(g, range, op, call);
    flush_piece(g);
}

/* ---- all gaps ------------------------------------------------------------------------------------------ */

/* Marks the spans that lie inside a data-loading range. Pre-order: a parent comes before its children. */
static uint8_t *mark_loading(struct gaps *g)
{
    const struct span_table *spans = &g->run->spans;
    uint8_t *loading = mem_zalloc(spans->count, 1);
    for (uint32_t i = 0; i < spans->count; i++) {
        uint32_t parent = spans->parent[i];
        loading[i] =
            (parent != NONE && loading[parent]) || (spans->kind[i] != SPAN_API && spans->kind[i] != SPAN_OS &&
                                                    host_span_class(&g->names, i) == HOST_DATA_LOADING);
    }
    return loading;
}

static void remember_kernels(struct gaps *g, uint32_t *op, uint32_t end)
{
    for (; *op < end; ++*op)
        g->seen_kernel[g->run->ops.name[*op]] = 1;
}

static void attribute_device(struct gaps *g, struct device_report *ledger, const struct gap_piece *gaps,
                             size_t count)
{
    const struct device *device = &g->run->devices.at[ledger->device];
    uint32_t op = device->first_op, last_op = device->first_op + device->op_count;
    memset(g->cursors, 0, g->run->threads.count * sizeof *g->cursors);
    issue_rewind(&g->issues);
    size_t booked = g->out_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t next = ending_op(g->run, &gaps[i]);
        remember_kernels(g, &op, next < last_op ? next : last_op);
        attribute_gap(g, &gaps[i], next);
    }
    for (; booked < g->out_count; booked++)
        ledger->ledger_ns[g->out[booked].cause] += g->out[booked].end - g->out[booked].start;
}

/* The run's own launch floor, within bounds: what an idle GPU needs to start what was just issued. */
static int64_t launch_floor(const struct report *report)
{
    int64_t measured = report->launches.floor_ns;
    if (measured == UNKNOWN || measured < 0)
        return FLOOR_LOW_NS;
    return min_ns(max_ns(measured * 2, FLOOR_LOW_NS), FLOOR_HIGH_NS);
}

void gaps_build(struct report *report)
{
    const struct run *run = report->run;
    struct gaps g = {.report = report, .run = run, .asked_for = NONE, .floor_ns = launch_floor(report)};
    host_names_init(&g.names, run);
    issue_index_init(&g.issues, run, &g.names);
    culprit_index_init(&g.culprits, report);
    find_pauses(&g);
    g.loading = mark_loading(&g);
    g.seen_kernel = mem_zalloc(run->strings.count, 1);
    g.cursors = mem_zalloc(run->threads.count, sizeof *g.cursors);
    size_t at = 0;
    vec_each (&report->devices, ledger) {
        size_t count = 0;
        while (at + count < report->gaps.count && report->gaps.at[at + count].device == ledger->device)
            count++;
        if (count > 0)
            attribute_device(&g, ledger, report->gaps.at + at, count);
        at += count;
    }
    vec_release(&report->gaps);
    report->gaps.at = g.out;
    report->gaps.count = g.out_count;
    report->gaps.cap = g.out_cap;
    culprit_index_finish(&g.culprits);
    vec_release(&g.pauses);
    free(g.cursors);
    free(g.seen_kernel);
    free(g.loading);
    issue_index_release(&g.issues);
    host_names_release(&g.names);
}
