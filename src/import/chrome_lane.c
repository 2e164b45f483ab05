/* Lanes of a Chrome trace: which process, thread or GPU queue the numbers in pid and tid mean. */
#include "base/i18n.h"
#include "import/chrome.h"

/* ---- numbers ------------------------------------------------------------------------------------------- */

int64_t chrome_lane_id(struct chrome *c, struct json_text text)
{
    int64_t id;
    if (json_to_int(text, &id))
        return id;
    return -(INT64_C(1) << 32) - chrome_name(c, text);
}

int64_t chrome_last_number(struct json_text text, int64_t otherwise)
{
    int64_t number;
    size_t start = text.length;
    while (start > 0 && text.at[start - 1] >= '0' && text.at[start - 1] <= '9')
        start--;
    return json_to_int((struct json_text){text.at + start, text.length - start}, &number) ? number
                                                                                          : otherwise;
}

uint32_t chrome_thread(struct chrome *c, const struct chrome_event *event)
{
    int64_t pid = chrome_lane_id(c, event_text(event, FIELD_PID));
    int64_t tid = chrome_lane_id(c, event_text(event, FIELD_TID));
    if (c->last_thread != NONE && c->last_pid == pid && c->last_tid == tid)
        return c->last_thread;
    c->last_pid = pid;
    c->last_tid = tid;
    c->last_thread = run_thread(c->run, run_process(c->run, c->source, pid), tid);
    return c->last_thread;
}

uint32_t chrome_queue(struct chrome *c, int64_t device, int64_t context, int64_t stream)
{
    if (c->last_queue != NONE) {
        const struct chrome_queue *last = &c->queues.at[c->last_queue];
        if (last->stream == stream && last->device == device && last->context == context)
            return c->last_queue;
    }
    uint64_t key = hash_pair(hash_pair((uint64_t)device, (uint64_t)context), (uint64_t)stream);
    for (;; key++) {
        uint32_t found = map_get(&c->queue_index, key);
        if (found == MAP_ABSENT)
            break;
        const struct chrome_queue *queue = &c->queues.at[found];
        if (queue->stream == stream && queue->device == device && queue->context == context)
            return c->last_queue = found;
    }
    c->last_queue = (uint32_t)c->queues.count;
    map_set(&c->queue_index, key, c->last_queue);
    vec_push(&c->queues, ((struct chrome_queue){device, context, stream}));
    return c->last_queue;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static uint32_t *thread_label_slot(struct chrome *c, int64_t pid, int64_t tid)
{
    uint64_t key = hash_pair((uint64_t)pid, (uint64_t)tid);
    for (;; key++) {
        uint32_t found = map_get(&c->thread_label_index, key);
        if (found == MAP_ABSENT)
            break;
        struct chrome_label *label = &c->thread_labels.at[found];
        if (label->pid == pid && label->tid == tid)
            return &label->name;
    }
    map_set(&c->thread_label_index, key, (uint32_t)c->thread_labels.count);
    vec_push(&c->thread_labels, ((struct chrome_label){.pid = pid, .tid = tid}));
    return &c->thread_labels.at[c->thread_labels.count - 1].name;
}

void chrome_label(struct chrome *c, const struct chrome_event *event)
{
    struct json_text what = event_text(event, FIELD_NAME), name = event_text(event, ARG_NAME);
    while (name.length && name.at[name.length - 1] == ' ') /* "stream 7 " */
        name.length--;
    if (name.length == 0)
        return;
    int64_t pid = chrome_lane_id(c, event_text(event, FIELD_PID));
    if (json_text_is(what, "process_name")) {
        uint32_t found = map_get(&c->process_label_index, (uint64_t)pid);
        if (found == MAP_ABSENT) {
            found = (uint32_t)c->process_labels.count;
            map_set(&c->process_label_index, (uint64_t)pid, found);
            vec_push(&c->process_labels, ((struct chrome_label){.pid = pid}));
        }
        c->process_labels.at[found].name = chrome_name(c, name);
    } else if (json_text_is(what, "thread_name")) {
        int64_t tid = chrome_lane_id(c, event_text(event, FIELD_TID));
        *thread_label_slot(c, pid, tid) = chrome_name(c, name);
    }
}

/* An id that chrome_lane_id() made from a text names itself. */
static uint32_t self_name(int64_t id)
{
    int64_t name = id < 0 ? -(INT64_C(1) << 32) - id : 0;
    return name > 0 && name < UINT32_MAX ? (uint32_t)name : 0;
}

uint32_t chrome_process_name(const struct chrome *c, int64_t pid)
{
    uint32_t found = map_get(&c->process_label_index, (uint64_t)pid);
    return found == MAP_ABSENT ? self_name(pid) : c->process_labels.at[found].name;
}

uint32_t chrome_thread_name(const struct chrome *c, int64_t pid, int64_t tid)
{
    uint64_t key = hash_pair((uint64_t)pid, (uint64_t)tid);
    for (;; key++) {
        uint32_t found = map_get(&c->thread_label_index, key);
        if (found == MAP_ABSENT)
            return self_name(tid);
        const struct chrome_label *label = &c->thread_labels.at[found];
        if (label->pid == pid && label->tid == tid)
            return label->name;
    }
}

static void name_lanes(struct chrome *c)
{
    struct run *run = c->run;
    vec_each (&run->processes, process) {
        if (process->source == c->source)
            process->name = chrome_process_name(c, process->pid);
    }
    vec_each (&run->threads, thread) {
        const struct process *process = &run->processes.at[thread->process];
        if (process->source == c->source && thread->name == 0)
            thread->name = chrome_thread_name(c, process->pid, thread->tid);
    }
}

/* ---- whose queue is it --------------------------------------------------------------------------------- */

/* Processes of this source that made API calls, most calls first in .main. */
struct callers {
    uint32_t count;
    uint32_t main;             /* NONE */
    struct map by_correlation; /* filled if count > 1 */
};

static struct callers find_callers(const struct chrome *c)
{
    const struct run *run = c->run;
    const struct span_table *spans = &run->spans;
    struct callers callers = {.main = NONE};
    size_t *calls = mem_zalloc(run->processes.count, sizeof *calls);
    size_t *all = mem_zalloc(run->processes.count, sizeof *all);
    for (size_t i = c->first_span; i < spans->count; i++) {
        if (spans->thread[i] == NONE)
            continue;
        uint32_t process = run->threads.at[spans->thread[i]].process;
        all[process]++;
        if (spans->kind[i] == SPAN_API && calls[process]++ == 0)
            callers.count++;
    }
    const size_t *votes = callers.count ? calls : all;
    for (size_t p = 0; p < run->processes.count; p++)
        if (votes[p] && (callers.main == NONE || votes[p] > votes[callers.main]))
            callers.main = (uint32_t)p;
    for (size_t i = c->first_span; callers.count > 1 && i < spans->count; i++)
        if (spans->kind[i] == SPAN_API && spans->id[i])
            map_set(&callers.by_correlation, spans->id[i], run->threads.at[spans->thread[i]].process);
    free(calls);
    free(all);
    return callers;
}

static uint32_t caller_of(const struct callers *callers, uint64_t correlation)
{
    uint32_t process = callers->count > 1 ? map_get(&callers->by_correlation, correlation) : MAP_ABSENT;
    return process == MAP_ABSENT ? callers->main : process;
}

static uint32_t real_stream(struct chrome *c, uint32_t queue, uint32_t process)
{
    const struct chrome_queue *q = &c->queues.at[queue];
    uint32_t device = run_device(c->run, c->source, q->device);
    uint32_t stream = run_stream(c->run, process, device, q->context, q->stream);
    if (c->run->streams.at[stream].name == 0)
        c->run->streams.at[stream].name = chrome_thread_name(c, q->device, q->stream);
    return stream;
}

static void resolve_queues(struct chrome *c)
{
    struct callers callers = find_callers(c);
    struct op_table *ops = &c->run->ops;
    uint32_t *streams = mem_alloc(c->queues.count * sizeof *streams);
    memset(streams, 0xff, c->queues.count * sizeof *streams);
    for (size_t i = c->first_op; i < ops->count; i++) {
        uint32_t queue = ops->stream[i], process = caller_of(&callers, ops->correlation[i]);
        if (process == callers.main && streams[queue] != NONE) {
            ops->stream[i] = streams[queue];
            continue;
        }
        ops->stream[i] = real_stream(c, queue, process);
        if (process == callers.main)
            streams[queue] = ops->stream[i];
    }
    for (size_t i = c->first_wait; i < c->run->waits.count; i++) {
        struct wait *wait = &c->run->waits.at[i];
        wait->stream = wait->stream == NONE ? NONE : real_stream(c, wait->stream, callers.main);
        wait->on_stream = wait->on_stream == NONE ? NONE : real_stream(c, wait->on_stream, callers.main);
    }
    free(streams);
    map_release(&callers.by_correlation);
}

/* Overhead that the profiler booked to no process belongs to the one that it profiled. */
static void place_strays(struct chrome *c)
{
    struct run *run = c->run;
    if (c->stray_spans.count == 0)
        return;
    struct callers callers = find_callers(c);
    uint32_t process = callers.main == NONE ? run_process(run, c->source, -1) : callers.main;
    for (size_t i = 0; i < c->stray_spans.count; i++)
        run->spans.thread[c->stray_spans.at[i]] = run_thread(run, process, c->stray_tids.at[i]);
    map_release(&callers.by_correlation);
}

void chrome_lane_finish(struct chrome *c)
{
    place_strays(c);
    chrome_lanes_gpu_finish(c);
    resolve_queues(c);
    name_lanes(c);
    vec_release(&c->stray_spans);
    vec_release(&c->stray_tids);
    vec_release(&c->queues);
    map_release(&c->queue_index);
    vec_release(&c->process_labels);
    vec_release(&c->thread_labels);
    map_release(&c->process_label_index);
    map_release(&c->thread_label_index);
}
