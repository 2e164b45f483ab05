/* GPU lanes of traces that mark them by name alone. Names may come after the events, so the rows are read as
 * host spans first and looked at here once everything is known.
 *
 * TensorFlow 1 (python/client/timeline.py): process "/device:GPU:0/stream:14 Compute" (formerly "/gpu:0/…")
 * is one stream; "…/stream:all Compute" lists the kernels of all streams once more, "…/memcpy Compute" the
 * copies;
 * "/job:…/device:GPU:0 Compute" is what the executor's host threads did.
 * XLA, JAX, TensorFlow 2: process "/device:GPU:0" has threads "Stream #14(Compute)" and threads that sum them
 * up. PyTorch before Kineto: pid "CUDA functions", tid the device. rocprof 1: process "GPU0", tid the queue.
 */
#include <strings.h>

#include "base/i18n.h"
#include "import/chrome.h"

enum lane_kind {
    LANE_HOST,
    LANE_EXECUTOR, /* TensorFlow's host threads: framework operators */
    LANE_STREAM,
    LANE_TOTAL,   /* kernels of all streams, or copies of all streams, once more */
    LANE_SUMMARY, /* derived from others */
};

struct lane {
    enum lane_kind kind;
    int64_t device, stream;
};

static bool starts(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

static int64_t number_at(const char *text)
{
    int64_t number = 0;
    for (; *text >= '0' && *text <= '9' && number < INT32_MAX; text++)
        number = number * 10 + (*text - '0');
    return number;
}

static struct lane tensorflow_lane(struct chrome *c, const char *process, const char *device)
{
    struct lane lane = {LANE_HOST, number_at(device), 0};
    const char *stream = strstr(device, "/stream:");
    if (stream && starts(stream, "/stream:all"))
        lane.kind = LANE_TOTAL;
    else if (stream) {
        lane.kind = LANE_STREAM;
        lane.stream = number_at(stream + strlen("/stream:"));
    } else if (strstr(device, "/memcpy"))
        lane.kind = LANE_TOTAL;
    else if (starts(process, "/job:"))
        lane.kind = LANE_EXECUTOR;
    c->tensorflow |= lane.kind != LANE_HOST;
    return lane;
}

static struct lane xla_lane(struct chrome *c, const char *device, const char *thread, int64_t tid)
{
    static const char *const summaries[] = {"XLA",    "Async XLA",    "Step",    "Framework", "TensorFlow",
                                            "Source", "Launch Stats", "Derived", "HLO",       "Host Offload"};
    struct lane lane = {LANE_STREAM, number_at(device), tid};
    c->xla = true;
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
        if (starts(thread, summaries[i]))
            lane.kind = LANE_SUMMARY;
    const char *number = strchr(thread, '#');
    if (starts(thread, "Stream") && number)
        lane.stream = number_at(number + 1);
    return lane;
}

static struct lane lane_of(struct chrome *c, const char *process, const char *thread, int64_t tid)
{
    const char *device = strcasestr(process, "gpu:");
    bool compute = strlen(process) > 8 && strcmp(process + strlen(process) - 8, " Compute") == 0;
    if (device && *process == '/' && compute)
        return tensorflow_lane(c, process, device + strlen("gpu:"));
    if (starts(process, "/job:") && compute) {
        c->tensorflow = true;
        return (struct lane){LANE_EXECUTOR, 0, 0};
    }
    if (starts(process, "/device:GPU:"))
        return xla_lane(c, process + strlen("/device:GPU:"), thread, tid);
    if (strcmp(process, "CUDA functions") == 0)
        return (struct lane){LANE_STREAM, tid, 0};
    if (strncmp(process, "GPU", 3) == 0 && process[3] >= '0' && process[3] <= '9' &&
        process[3 + strspn(process + 3, "0123456789")] == '\0')
        return (struct lane){LANE_STREAM, number_at(process + 3), tid};
    return (struct lane){LANE_HOST, 0, 0};
}

/* One entry for each row of run->threads. */
static struct lane *find_lanes(struct chrome *c)
{
    const struct run *run = c->run;
    struct lane *lanes = mem_zalloc(run->threads.count, sizeof *lanes);
    for (size_t i = 0; i < run->threads.count; i++) {
        const struct thread *thread = &run->threads.at[i];
        const struct process *process = &run->processes.at[thread->process];
        if (process->source != c->source)
            continue;
        lanes[i] = lane_of(c, run_text(run, chrome_process_name(c, process->pid)),
                           run_text(run, chrome_thread_name(c, process->pid, thread->tid)), thread->tid);
    }
    return lanes;
}

/* Totals count only for devices without streams of their own. */
static void settle_totals(struct lane *lanes, size_t count)
{
    struct map streamed = {0}; /* devices */
    for (size_t i = 0; i < count; i++)
        if (lanes[i].kind == LANE_STREAM)
            map_set(&streamed, (uint64_t)lanes[i].device, 1);
    for (size_t i = 0; i < count; i++)
        if (lanes[i].kind == LANE_TOTAL)
            lanes[i].kind =
                map_get(&streamed, (uint64_t)lanes[i].device) == MAP_ABSENT ? LANE_STREAM : LANE_SUMMARY;
    map_release(&streamed);
}

static enum op_kind kind_of(const char *name)
{
    if (starts(name, "memset"))
        return OP_MEMSET;
    return starts(name, "memcpy") || strncmp(name, "Copy", 4) == 0 ? OP_COPY : OP_KERNEL;
}

static void move_to_ops(struct chrome *c, size_t span, const struct lane *lane,
                        const struct chrome_hint *hint)
{
    const struct span_table *spans = &c->run->spans;
    struct op_table *ops = &c->run->ops;
    const char *name = run_text(c->run, spans->name[span]);
    size_t row = op_table_add(ops);
    ops->start[row] = spans->start[span];
    ops->end[row] = spans->end[span];
    ops->name[row] = spans->name[span];
    ops->correlation[row] = spans->id[span];
    ops->kind[row] = (uint8_t)kind_of(name);
    ops->stream[row] = chrome_queue(c, lane->device, UNKNOWN, lane->stream);
    ops->bytes[row] = hint ? hint->bytes : UNKNOWN;
    ops->shape[row] = hint ? hint->shape : NONE;
    ops->call[row] = ops->comm[row] = NONE;
    if (ops->kind[row] == OP_COPY)
        chrome_copy_kinds((struct json_text){name, strlen(name)}, &ops->dir[row], &ops->src[row],
                          &ops->dst[row]);
    if (hint && hint->src)
        ops->src[row] = hint->src;
    if (hint && hint->dst)
        ops->dst[row] = hint->dst;
}

static void settle_host_span(struct chrome *c, size_t span, const struct lane *lane)
{
    struct span_table *spans = &c->run->spans;
    if (spans->kind[span] != SPAN_OTHER)
        return;
    if (lane->kind == LANE_EXECUTOR)
        spans->kind[span] = SPAN_OP;
    else if (c->xla && spans->id[span])
        spans->kind[span] = SPAN_API;
    else if (c->xla && *run_text(c->run, spans->name[span]) == '$') /* jax's Python tracer: "$file.py:12 f" */
        spans->kind[span] = SPAN_PYTHON;
}

#define KEEP_CELL(type, column) spans->column[kept] = spans->column[i];

void chrome_lanes_gpu_finish(struct chrome *c)
{
    struct span_table *spans = &c->run->spans;
    struct lane *lanes = find_lanes(c);
    settle_totals(lanes, c->run->threads.count);
    size_t kept = c->first_span, hint = 0;
    for (size_t i = c->first_span; i < spans->count; i++) {
        const struct lane *lane = &lanes[spans->thread[i]];
        bool hinted = hint < c->hints.count && c->hints.at[hint].span == i;
        if (lane->kind == LANE_STREAM)
            move_to_ops(c, i, lane, hinted ? &c->hints.at[hint] : NULL);
        hint += hinted;
        if (lane->kind == LANE_STREAM || lane->kind == LANE_SUMMARY)
            continue;
        settle_host_span(c, i, lane);
        RUN_SPANS(KEEP_CELL)
        kept++;
    }
    spans->count = kept;
    free(lanes);
    vec_release(&c->hints);
}
