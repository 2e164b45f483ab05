/* Folded stacks, the input of flamegraph.pl, inferno and speedscope: "frame;frame;frame weight", a line a
 * stack.
 *
 * device: process, thread and every open span around the launching call, then the op; weight: its duration.
 * Ops whose call is not known hang below their process, device and stream. The weights sum up to the ops'
 * durations exactly. host: process, thread and the nested spans; weight: time in which the span was the
 * innermost of its thread. The weights sum up to the time in which any span was open, thread by thread,
 * exactly. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/i18n.h"
#include "base/number.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/label.h"

/* Deeper spans count for the one at this depth: each frame of a stack stands in every line of those above it.
 */
enum { STACK_MAX = 1024 };

/* A stack: a frame on top of another stack. Node 0 is the empty one. */
struct node {
    uint32_t frame;
    uint32_t first, last, next; /* children in order of appearance; next sibling; 0 for none */
    int64_t weight;
};

struct folded {
    const struct run *run;
    struct interval window;
    VEC(struct node) nodes;
    struct map children; /* parent node and frame → node */
    struct str label;
    /* What a frame is: a string of the run, or a row of one of these tables, in this order of frame numbers.
     */
    uint32_t processes, threads, streams, devices, unlinked;
};

/* ---- the tree of stacks
 * ------------------------------------------------------------------------------------ */

static uint32_t child(struct folded *f, uint32_t parent, uint32_t frame)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    uint32_t found = map_get(&f->children, key);
    if (found != MAP_ABSENT)
        return found;
    uint32_t at = (uint32_t)f->nodes.count;
    map_set(&f->children, key, at);
    vec_push(&f->nodes, ((struct node){.frame = frame}));
    struct node *above = &f->nodes.at[parent];
    if (above->last)
        f->nodes.at[above->last].next = at;
    else
        above->first = at;
    above->last = at;
    return at;
}

static void add_weight(struct folded *f, uint32_t node, int64_t start, int64_t end)
{
    start = max_ns(start, f->window.start);
    end = min_ns(end, f->window.end);
    if (end > start)
        f->nodes.at[node].weight += end - start;
}

static uint32_t thread_node(struct folded *f, uint32_t thread)
{
    uint32_t process = child(f, 0, f->processes + f->run->threads.at[thread].process);
    return child(f, process, f->threads + thread);
}

/* ---- weights ------------------------------------------------------------------------------------------- */

/* The stack of the spans around a moment, from the outermost to this one; of deeper ones the outermost. */
static uint32_t span_node(struct folded *f, uint32_t span)
{
    const struct span_table *spans = &f->run->spans;
    uint32_t path[STACK_MAX], depth = 0;
    uint32_t node = thread_node(f, spans->thread[span]);
    for (; span != NONE; span = spans->parent[span])
        path[depth++ % STACK_MAX] = span;
    for (uint32_t left = depth < STACK_MAX ? depth : STACK_MAX; left > 0; left--)
        node = child(f, node, spans->name[path[--depth % STACK_MAX]]);
    return node;
}

static uint32_t unlinked_node(struct folded *f, uint32_t stream)
{
    const struct stream *s = &f->run->streams.at[stream];
    uint32_t node = s->process != NONE ? child(f, 0, f->processes + s->process) : 0;
    node = child(f, node, f->unlinked);
    return child(f, child(f, node, f->devices + s->device), f->streams + stream);
}

/* The ops of a graph have one call, whose stack is then known. */
static void weigh_ops(struct folded *f)
{
    const struct op_table *ops = &f->run->ops;
    uint32_t known_call = NONE, known_node = 0;
    for (size_t i = 0; i < ops->count; i++) {
        uint32_t call = ops->call[i], node;
        if (ops->end[i] <= f->window.start || ops->start[i] >= f->window.end)
            continue;
        if (call == NONE) {
            node = unlinked_node(f, ops->stream[i]);
        } else {
            known_node = call == known_call ? known_node : span_node(f, call);
            known_call = call;
            node = known_node;
        }
        add_weight(f, child(f, node, ops->name[i]), ops->start[i], ops->end[i]);
    }
}

/* Sweeps over a thread: every moment goes to the innermost span that is open. */
static void weigh_thread(struct folded *f, uint32_t thread)
{
    const struct span_table *spans = &f->run->spans;
    const struct thread *t = &f->run->threads.at[thread];
    struct level {
        int64_t end;
        uint32_t node;
    };
    VEC(struct level) open = {0};
    int64_t now = INT64_MIN;
    for (size_t i = t->first_span; i <= (size_t)t->first_span + t->span_count; i++) {
        bool last = i == (size_t)t->first_span + t->span_count;
        int64_t until = last ? INT64_MAX : spans->start[i];
        for (; open.count > 0 && open.at[open.count - 1].end <= until; open.count--) {
            struct level *top = &open.at[open.count - 1];
            add_weight(f, top->node, now, top->end);
            now = max_ns(now, top->end);
        }
        if (last)
            break;
        if (open.count > 0)
            add_weight(f, open.at[open.count - 1].node, now, until);
        now = until;
        uint32_t below = open.count > 0 ? open.at[open.count - 1].node : thread_node(f, thread);
        bool deep = open.count >= STACK_MAX;
        uint32_t node = deep ? below : child(f, below, spans->name[i]);
        vec_push(&open, ((struct level){.end = spans->end[i], .node = node}));
    }
    vec_release(&open);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* A frame is one field of one line: what would end either is replaced. */
static void add_frame(struct str *line, const char *text, size_t length)
{
    size_t from = line->len;
    utf8_repair(line, text, length);
    for (size_t i = from; i < line->len; i++) {
        if (line->ptr[i] == ';')
            line->ptr[i] = ':';
        else if ((unsigned char)line->ptr[i] < ' ' || line->ptr[i] == 0x7f)
            line->ptr[i] = ' ';
    }
    while (line->len > from && line->ptr[line->len - 1] == ' ')
        str_cut(line, line->len - 1);
    if (line->len == from)
        str_puts(line, "[unnamed]");
}

static void frame_text(struct folded *f, struct str *line, uint32_t frame)
{
    const struct run *run = f->run;
    if (frame < f->processes) {
        add_frame(line, run_text(run, frame), intern_length(&run->strings, frame));
        return;
    }
    str_cut(&f->label, 0);
    if (frame < f->threads)
        label_process(&f->label, run, frame - f->processes);
    else if (frame < f->streams)
        label_thread(&f->label, run, frame - f->threads);
    else if (frame < f->devices)
        label_stream(&f->label, run, frame - f->streams);
    else if (frame < f->unlinked)
        label_device(&f->label, run, frame - f->devices);
    else
        str_puts(&f->label, "[launch not recorded]");
    add_frame(line, str_text(&f->label), f->label.len);
}

/* Depth first, without recursion: stacks may be as deep as a file says. */
static void put_lines(struct folded *f, struct export_sink *sink)
{
    struct level {
        uint32_t next;   /* node to be visited at this depth, 0 when done */
        size_t line_len; /* of the stack below */
    };
    VEC(struct level) levels = {0};
    struct str line = {0};
    vec_push(&levels, ((struct level){.next = f->nodes.at[0].first}));
    while (levels.count > 0) {
        struct level *top = &levels.at[levels.count - 1];
        str_cut(&line, top->line_len);
        if (top->next == 0) {
            levels.count--;
            continue;
        }
        const struct node *node = &f->nodes.at[top->next];
        top->next = node->next;
        if (line.len > 0)
            str_putc(&line, ';');
        frame_text(f, &line, node->frame);
        if (node->weight > 0) {
            str_add(&sink->pending, line.ptr, line.len);
            str_putc(&sink->pending, ' ');
            number_add_int(&sink->pending, node->weight);
            str_putc(&sink->pending, '\n');
            sink_poll(sink);
        }
        vec_push(&levels, ((struct level){.next = node->first, .line_len = line.len}));
    }
    vec_release(&levels);
    str_release(&line);
}

static int folded_write(const struct run *run, const struct export_options *options, struct export_sink *sink,
                        struct err *err)
{
    (void)err;
    struct folded f = {.run = run, .window = options->window};
    if (f.window.start == f.window.end)
        f.window = (struct interval){INT64_MIN, INT64_MAX};
    f.processes = run->strings.count;
    f.threads = f.processes + (uint32_t)run->processes.count;
    f.streams = f.threads + (uint32_t)run->threads.count;
    f.devices = f.streams + (uint32_t)run->streams.count;
    f.unlinked = f.devices + (uint32_t)run->devices.count;
    vec_push(&f.nodes, ((struct node){0}));
    if (options->weight == FOLDED_HOST)
        for (uint32_t t = 0; t < run->threads.count; t++)
            weigh_thread(&f, t);
    else
        weigh_ops(&f);
    put_lines(&f, sink);
    vec_release(&f.nodes);
    map_release(&f.children);
    str_release(&f.label);
    return 0;
}

const struct exporter export_folded = {
    .name = "folded",
    .title = N_("folded stacks, for flamegraph.pl and speedscope"),
    .extension = ".folded",
    .write = folded_write,
};
