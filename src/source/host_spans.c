#include "source/host_spans.h"

#include "base/time.h"
#include "model/sampled.h"

/* Two samples are of one wait if the thread ran for less than this part of the time between. */
enum { HARDLY = 16 };
/* Waiting for a CPU that is shorter is how a scheduler works. */
enum { SHORTEST_NO_CPU_NS = 500 * 1000 };

/* How the time between two samples is shared out. */
struct shares {
    bool still; /* the thread has had no CPU */
    bool hardly_ran;
    int64_t after, before;  /* ns of waiting that belong to the call at its start, and at its end */
    int64_t no_cpu, excess; /* ns of waiting for a CPU, and how much of that was before the time between */
};

bool host_track_stood_still(const struct host_track *t, const struct proc_accounts *accounts)
{
    return t->sampled && t->last.call && t->last.has_accounts &&
           t->last.accounts.slices == accounts->slices && t->last.accounts.run_ns == accounts->run_ns;
}

static int64_t clamp(int64_t value, int64_t most)
{
    return max_ns(0, min_ns(value, most));
}

static struct shares share_out(const struct host_sample *a, const struct host_sample *b)
{
    int64_t length = b->time - a->time;
    bool same = a->call && a->call == b->call && a->file == b->file;
    if (!a->has_accounts || !b->has_accounts)
        return (struct shares){
            .still = same, .hardly_ran = same, .after = length / 2, .before = length - length / 2};
    int64_t ran = clamp(b->accounts.run_ns - a->accounts.run_ns, length);
    int64_t delay = max_ns(0, b->accounts.delay_ns - a->accounts.delay_ns);
    struct shares s = {.no_cpu = delay, .excess = max_ns(0, delay - (length - ran))};
    int64_t waited = length - ran - (delay - s.excess);
    s.still = same && a->accounts.slices == b->accounts.slices && a->accounts.run_ns == b->accounts.run_ns;
    s.hardly_ran = same && waited >= length - length / HARDLY;
    s.after = !a->call ? 0 : b->call ? waited / 2 : min_ns(waited, length / 2);
    s.before = !b->call ? 0 : a->call ? waited - waited / 2 : waited;
    return s;
}

/* ---- calls ----------------------------------------------------------------------------------------------
 */

static void add_call(struct host_track *t, struct host_span span, host_span_list *out)
{
    span.start = max_ns(span.start, t->settled);
    if (span.end < span.start)
        return;
    span.thread = t->thread;
    span.kind = SPAN_OS;
    vec_push(out, span);
    t->settled = span.end;
}

static void end_call(struct host_track *t, int64_t after_ns, host_span_list *out)
{
    enum { NS_PER_US = 1000 };
    if (!t->last.call)
        return;
    add_call(t,
             (struct host_span){.start = t->call_since,
                                .end = t->last.time,
                                .id = sampled_call_id(t->call_before_ns / NS_PER_US, after_ns / NS_PER_US),
                                .name = t->last.call,
                                .detail = t->last.file},
             out);
    t->settled = t->last.time + after_ns;
}

static void add_no_cpu(struct host_track *t, int64_t start, const struct shares *s, host_span_list *out)
{
    if (s->no_cpu >= SHORTEST_NO_CPU_NS)
        add_call(t,
                 (struct host_span){.start = start - s->excess,
                                    .end = start + s->no_cpu - s->excess,
                                    .id = sampled_call_id(0, 0),
                                    .name = t->no_cpu},
                 out);
}

/* ---- frames ---------------------------------------------------------------------------------------------
 */

/* Frequent lines keep their place, the rarest makes room (Metwally, Agrawal and El Abbadi, "Efficient
 * Computation of Frequent and Top-k Elements in Data Streams", 2005). */
static void count_line(struct host_frame *frame, uint32_t line)
{
    size_t rarest = 0;
    for (size_t i = 0; i < HOST_FRAME_LINES; i++) {
        if (frame->lines[i].samples && frame->lines[i].line == line) {
            frame->lines[i].samples++;
            return;
        }
        if (frame->lines[i].samples < frame->lines[rarest].samples)
            rarest = i;
    }
    frame->lines[rarest].line = line;
    frame->lines[rarest].samples++;
}

static uint32_t most_frequent_line(const struct host_frame *frame)
{
    size_t most = 0;
    for (size_t i = 1; i < HOST_FRAME_LINES; i++)
        if (frame->lines[i].samples > frame->lines[most].samples)
            most = i;
    return frame->lines[most].line;
}

static void close_frames(struct host_track *t, size_t from, int64_t time, host_span_list *out)
{
    for (size_t i = from; i < t->depth; i++) { /* the outer one of two alike first, as it is to enclose it */
        const struct host_frame *frame = &t->frames[i];
        if (time > frame->start)
            vec_push(out, ((struct host_span){
                              .start = frame->start,
                              .end = time,
                              .id = sampled_frame_id(most_frequent_line(frame), frame->called_from),
                              .thread = t->thread,
                              .name = frame->name,
                              .kind = SPAN_PYTHON}));
    }
    t->depth = from < t->depth ? from : t->depth;
}

/* How many of the frames that are open are on the stack still: a frame that goes on calls from one line. */
static size_t frames_that_stay(const struct host_track *t, const struct python_stack *stack)
{
    size_t same = 0;
    uint32_t around = 0;
    for (; same < stack->count && same < t->depth; same++) {
        if (t->frames[same].name != stack->frames[same].name || t->frames[same].called_from != around)
            break;
        around = stack->frames[same].line;
    }
    return same;
}

static void change_stack(struct host_track *t, const struct python_stack *stack, int64_t time,
                         host_span_list *out)
{
    close_frames(t, frames_that_stay(t, stack), time, out);
    for (; t->depth < stack->count; t->depth++) {
        t->frames[t->depth] =
            (struct host_frame){.name = stack->frames[t->depth].name,
                                .called_from = t->depth ? stack->frames[t->depth - 1].line : 0,
                                .start = time};
    }
    if (stack->count)
        count_line(&t->frames[stack->count - 1], stack->frames[stack->count - 1].line);
}

/* ---- samples --------------------------------------------------------------------------------------------
 */

static void begin(struct host_track *t, const struct host_sample *sample, const struct python_stack *stack,
                  host_span_list *out)
{
    t->sampled = true;
    t->last = *sample;
    t->call_since = sample->time;
    t->call_before_ns = 0;
    if (stack) {
        t->stack_time = sample->time;
        change_stack(t, stack, sample->time, out);
    }
}

void host_track_add(struct host_track *t, const struct host_sample *sample, const struct python_stack *stack,
                    host_span_list *out)
{
    if (!t->sampled) {
        begin(t, sample, stack, out);
        return;
    }
    struct shares s = share_out(&t->last, sample);
    if (sample->time <= t->last.time || (!s.still && sample->time - t->last.time > t->longest_gap_ns)) {
        host_track_end(t, out); /* the clock was set, or nobody looked for too long */
        begin(t, sample, stack, out);
        return;
    }
    int64_t ran_from = t->last.time + s.after + s.no_cpu - s.excess, ran_to = sample->time - s.before;
    int64_t ran_middle = ran_from + (ran_to - ran_from) / 2;
    bool stack_stays = !stack || (stack->count == t->depth && frames_that_stay(t, stack) == t->depth);
    if (!s.still && !(s.hardly_ran && stack_stays)) {
        end_call(t, s.after, out);
        add_no_cpu(t, t->last.time + s.after, &s, out);
        t->call_since = sample->time;
        t->call_before_ns = s.before;
    }
    t->last = *sample;
    if (stack) {
        change_stack(t, stack, ran_middle, out);
        t->stack_time = sample->time;
    } else if (s.still) {
        t->stack_time = sample->time;
    } else if (sample->time - t->stack_time > t->longest_gap_ns) {
        close_frames(t, 0, t->stack_time, out);
    }
}

void host_track_end(struct host_track *t, host_span_list *out)
{
    if (!t->sampled)
        return;
    end_call(t, 0, out);
    close_frames(t, 0, t->last.time, out);
    t->sampled = false;
}
