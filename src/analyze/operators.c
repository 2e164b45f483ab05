/* Framework operators, counted as torch.profiler's key_averages() counts them, so that people can lay the two
 * tables side by side (torch/autograd/profiler.py and profiler_util.py, PyTorch 2.x, define the rules below).
 *
 * Rows. One per name, ranges of the user apart from operators of the same name; "ProfilerStep#7" counts as
 * ProfilerStep*. An event is a framework operator, a range, an API call or a profiler overhead record. Of
 * torch's rows these are left out: DeviceType.CUDA rows (kernels and copies have tables of their own, and the
 * GPU shadow of a range has no work of its own) and [memory] (the memory report). Python frames, waits of the
 * operating system and torch's own bookkeeping operators are no events, and what they contain belongs to the
 * event around them.
 *
 * Parents. Per thread, in order of start and longest first, the parent is the innermost event that contains
 * this one wholly; one that ends inside is no parent of anything from there on. An only child of its parent's
 * name is merged into it, and its device work replaces the parent's.
 *
 * Device work. Kernels, copies and memsets carry the id of the operator that launched them (Kineto's
 * "External id"), and an operator's own device time is the sum of their durations; its total adds that of all
 * its descendants. An API call inside an operator carries that operator's id, one outside of any carries
 * none, and torch then looks for device work under the call's own correlation id: where the two number ranges
 * meet, such a call, and the ranges around it, show another operator's work. That is reproduced here, as it
 * is what torch prints. It does the same with overhead records, but their ids do not reach the exported
 * trace: there torch may count a kernel once more than this table. Where the ids are absent or mean something
 * else (PyTorch before 2.2 wrote the correlation id), the innermost operator around the launching call takes
 * its place; with no operators at all, as in a recording of NVTX ranges, the innermost range does.
 *
 * Threads. torch puts events that carry no operator's id, overhead records among them, on the thread that
 * stopped the profiler, whoever made them. The main thread stands for it here. */
#include <string.h>

#include "analyze/analyze.h"
#include "base/sort.h"

enum name_class { NAME_UNSEEN, NAME_PLAIN, NAME_HIDDEN };

/* The external ids that a source's device work carries → rows of by_id. Nearly always they are dense. */
struct id_index {
    uint64_t first, last;
    size_t count;
    uint32_t *dense; /* [last - first + 1], NONE: no such id; or NULL */
    struct map sparse;
};

struct id_row {
    int64_t device_ns;  /* device work that carries the id */
    uint32_t operator_; /* first operator of that id; NONE */
};

struct source_rule {
    bool has_operators;
    bool has_events;      /* operators or ranges: without them API calls alone are no table */
    bool by_external;     /* device work names its operator */
    uint32_t main_thread; /* adopts events without an operator; NONE */
    size_t first_orphan, orphan_count;
    struct id_index ids;
    int64_t named, matched; /* ops that carry an id and whose call is known; of these, inside its operator */
};

/* One event of the thread at hand. */
struct node {
    uint32_t span, key;
    uint32_t parent;   /* node, NONE */
    uint32_t children; /* direct ones */
    bool merged;       /* into its parent */
    int64_t own_ns, device_ns, device_own_ns;
};

struct operators {
    struct report *report;
    const struct run *run;
    struct source_rule *rules;
    uint32_t *owner;     /* per span: innermost operator at or above it; NONE */
    int64_t *device_ns;  /* per span: device work that belongs to it directly */
    bool *device_chosen; /* per device */
    VEC(struct id_row) by_id;
    VEC(uint32_t) orphans; /* spans that a main thread adopts, by source, then start */
    VEC(struct node) nodes;
    uint8_t *name_class; /* per name id: enum name_class */
    uint32_t *key_of;    /* per name id, once seen: the name id that stands for it in the table */
    uint32_t *row_of[2]; /* per key, operators and ranges apart: row + 1, 0 none */
    uint32_t step_key;   /* name id of "ProfilerStep*" or what stands for it; 0 not yet needed */
};

static uint32_t span_source(const struct run *run, uint32_t span)
{
    return run->processes.at[run->threads.at[run->spans.thread[span]].process].source;
}

static uint32_t op_source(const struct run *run, uint32_t op)
{
    const struct stream *stream = &run->streams.at[run->ops.stream[op]];
    return stream->process != NONE ? run->processes.at[stream->process].source
                                   : run->devices.at[stream->device].source;
}

/* ---- which rules a source follows ---------------------------------------------------------------------- */

static void find_operators(struct operators *o)
{
    const struct run *run = o->run;
    const struct span_table *spans = &run->spans;
    for (uint32_t i = 0; i < spans->count; i++) {
        struct source_rule *rule = &o->rules[span_source(run, i)];
        const struct thread *thread = &run->threads.at[spans->thread[i]];
        rule->has_events |= spans->kind[i] == SPAN_OP || spans->kind[i] == SPAN_ANNOTATION;
        if (spans->kind[i] != SPAN_OP)
            continue;
        rule->has_operators = true;
        if (thread->tid == run->processes.at[thread->process].pid)
            rule->main_thread = spans->thread[i];
    }
}

static void find_owners(struct operators *o)
{
    const struct span_table *spans = &o->run->spans;
    for (uint32_t i = 0; i < spans->count; i++) {
        bool has_operators = o->rules[span_source(o->run, i)].has_operators;
        bool owns = spans->kind[i] == (has_operators ? SPAN_OP : SPAN_ANNOTATION);
        uint32_t parent = spans->parent[i];
        o->owner[i] = owns ? i : parent != NONE ? o->owner[parent] : NONE;
    }
}

/* ---- external ids -------------------------------------------------------------------------------------- */

static void index_reserve(struct id_index *index)
{
    uint64_t range = index->last - index->first;
    if (index->count == 0 || range / 8 >= index->count + 128)
        return;
    index->dense = mem_resize(NULL, range + 1, sizeof *index->dense);
    memset(index->dense, 0xff, (range + 1) * sizeof *index->dense);
}

/* Row of the id; NONE if no device work carries it. */
static uint32_t index_find(const struct id_index *index, uint64_t id)
{
    if (id < index->first || id > index->last || index->count == 0)
        return NONE;
    return index->dense ? index->dense[id - index->first] : map_get(&index->sparse, id);
}

static void index_external_ids(struct operators *o)
{
    const struct run *run = o->run;
    for (uint32_t i = 0; i < run->ops.count; i++) {
        struct id_index *index = &o->rules[op_source(run, i)].ids;
        uint64_t id = run->ops.external[i];
        if (id == 0)
            continue;
        index->first = index->count == 0 || id < index->first ? id : index->first;
        index->last = index->count == 0 || id > index->last ? id : index->last;
        index->count++;
    }
    for (size_t s = 0; s < run->sources.count; s++)
        index_reserve(&o->rules[s].ids);
    for (uint32_t i = 0; i < run->ops.count; i++) {
        struct id_index *index = &o->rules[op_source(run, i)].ids;
        uint64_t id = run->ops.external[i];
        if (id == 0 || index_find(index, id) != NONE)
            continue;
        uint32_t row = (uint32_t)o->by_id.count;
        vec_push(&o->by_id, ((struct id_row){.operator_ = NONE}));
        if (index->dense)
            index->dense[id - index->first] = row;
        else
            map_set(&index->sparse, id, row);
    }
    for (uint32_t i = 0; i < run->spans.count; i++) {
        if (run->spans.kind[i] != SPAN_OP || run->spans.id[i] == 0)
            continue;
        uint32_t row = index_find(&o->rules[span_source(run, i)].ids, run->spans.id[i]);
        if (row != NONE && o->by_id.at[row].operator_ == NONE)
            o->by_id.at[row].operator_ = i;
    }
}

/* External ids are taken at their word only if most launching calls lie inside the operator they name. */
static void judge_external_ids(struct operators *o)
{
    const struct run *run = o->run;
    const struct span_table *spans = &run->spans;
    for (uint32_t i = 0; i < run->ops.count; i++) {
        struct source_rule *rule = &o->rules[op_source(run, i)];
        uint32_t call = run->ops.call[i];
        if (run->ops.external[i] == 0 || call == NONE)
            continue;
        rule->named++;
        uint32_t operator_ = o->by_id.at[index_find(&rule->ids, run->ops.external[i])].operator_;
        rule->matched += operator_ != NONE && spans->thread[operator_] == spans->thread[call] &&
                         spans->start[operator_] <= spans->start[call] &&
                         spans->start[call] <= spans->end[operator_];
    }
    for (size_t s = 0; s < run->sources.count; s++)
        o->rules[s].by_external = o->rules[s].matched > o->rules[s].named / 2;
}

/* ---- device work --------------------------------------------------------------------------------------- */

static void attach_by_external(struct operators *o)
{
    const struct run *run = o->run;
    for (uint32_t i = 0; i < run->ops.count; i++) {
        const struct source_rule *rule = &o->rules[op_source(run, i)];
        uint64_t id = run->ops.external[i];
        if (rule->by_external && id != 0 && o->device_chosen[run_op_device(run, i)])
            o->by_id.at[index_find(&rule->ids, id)].device_ns += run->ops.end[i] - run->ops.start[i];
    }
    for (uint32_t i = 0; i < run->spans.count; i++) {
        const struct source_rule *rule = &o->rules[span_source(run, i)];
        uint8_t kind = run->spans.kind[i];
        if (!rule->by_external || run->spans.id[i] == 0)
            continue;
        if (kind == SPAN_OP || kind == SPAN_ANNOTATION || (kind == SPAN_API && o->owner[i] == NONE)) {
            uint32_t row = index_find(&rule->ids, run->spans.id[i]);
            o->device_ns[i] = row != NONE ? o->by_id.at[row].device_ns : 0;
        }
    }
}

static void attach_by_nesting(struct operators *o)
{
    const struct run *run = o->run;
    for (uint32_t i = 0; i < run->ops.count; i++) {
        uint32_t call = run->ops.call[i];
        if (call == NONE || o->rules[op_source(run, i)].by_external ||
            !o->device_chosen[run_op_device(run, i)])
            continue;
        uint32_t owner = o->owner[call];
        if (owner != NONE)
            o->device_ns[owner] += run->ops.end[i] - run->ops.start[i];
    }
}

static void choose_devices(struct operators *o)
{
    for (size_t d = 0; d < o->run->devices.count; d++)
        o->device_chosen[d] = !o->report->narrowed;
    vec_each (&o->report->devices, device)
        o->device_chosen[device->device] = true;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The bookkeeping operators that torch leaves out of its table. */
static bool is_hidden(const char *name)
{
    static const char *const hidden[] = {
        "[memory]",
        "[OutOfMemory]",
        "aten::_version",
        "aten::is_leaf",
        "aten::output_nr",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strcmp(name, hidden[i]) == 0)
            return true;
    return false;
}

/* A run is read-only here, so the steps' common name is one that the run has: "ProfilerStep*" if an importer
 * put it there, else the first step's own. */
static uint32_t step_key(struct operators *o, uint32_t first)
{
    for (uint32_t id = 1; o->step_key == 0 && id < o->run->strings.count; id++)
        if (strcmp(run_text(o->run, id), "ProfilerStep*") == 0)
            o->step_key = id;
    if (o->step_key == 0)
        o->step_key = first;
    return o->step_key;
}

/* The key of a name; 0 if its spans are no events. */
static uint32_t name_key(struct operators *o, uint32_t name)
{
    if (o->name_class[name] == NAME_UNSEEN) {
        static const char step[] = "ProfilerStep#";
        const char *text = run_text(o->run, name);
        o->key_of[name] = strncmp(text, step, sizeof step - 1) == 0 ? step_key(o, name) : name;
        o->name_class[name] = name == 0 || is_hidden(text) ? NAME_HIDDEN : NAME_PLAIN;
    }
    return o->name_class[name] == NAME_PLAIN ? o->key_of[name] : 0;
}

/* ---- one thread ---------------------------------------------------------------------------------------- */

/* Whether the main thread of its source adopts the span. */
static bool is_orphan(const struct operators *o, uint32_t span)
{
    const struct source_rule *rule = &o->rules[span_source(o->run, span)];
    uint8_t kind = o->run->spans.kind[span];
    return rule->by_external && rule->main_thread != NONE &&
           rule->main_thread != o->run->spans.thread[span] &&
           (kind == SPAN_OVERHEAD || (kind == SPAN_API && o->owner[span] == NONE));
}

static void find_orphans(struct operators *o)
{
    const struct run *run = o->run;
    VEC(uint32_t) found = {0};
    for (uint32_t i = 0; i < run->spans.count; i++)
        if (is_orphan(o, i))
            vec_push(&found, i);
    uint32_t *source = mem_resize(NULL, found.count, sizeof *source);
    int64_t *start = mem_resize(NULL, found.count, sizeof *start);
    for (size_t i = 0; i < found.count; i++) {
        source[i] = span_source(run, found.at[i]);
        start[i] = run->spans.start[found.at[i]];
    }
    uint32_t *order = sort_order(&(struct sort_rows){
        .count = found.count, .group = source, .groups = (uint32_t)run->sources.count, .time = start});
    for (size_t i = 0; i < found.count; i++) {
        uint32_t orphan = found.at[order ? order[i] : i];
        struct source_rule *rule = &o->rules[span_source(run, orphan)];
        if (rule->orphan_count++ == 0)
            rule->first_orphan = i;
        vec_push(&o->orphans, orphan);
    }
    free(order);
    free(source);
    free(start);
    vec_release(&found);
}

static void add_node(struct operators *o, uint32_t span)
{
    uint8_t kind = o->run->spans.kind[span];
    bool is_event = kind == SPAN_OP || kind == SPAN_ANNOTATION || kind == SPAN_API || kind == SPAN_OVERHEAD;
    uint32_t key = is_event ? name_key(o, o->run->spans.name[span]) : 0;
    if (key != 0)
        vec_push(&o->nodes, ((struct node){.span = span,
                                           .key = key,
                                           .parent = NONE,
                                           .own_ns = o->run->spans.end[span] - o->run->spans.start[span],
                                           .device_own_ns = o->device_ns[span]}));
}

/* The events of the thread, and those that it adopts, in order of start and longest first. */
static void collect_nodes(struct operators *o, uint32_t thread)
{
    const struct run *run = o->run;
    const struct span_table *spans = &run->spans;
    const struct thread *t = &run->threads.at[thread];
    const struct source_rule *rule = &o->rules[run->processes.at[t->process].source];
    size_t next = rule->first_orphan;
    size_t last = next + (rule->main_thread == thread ? rule->orphan_count : 0);
    o->nodes.count = 0;
    for (uint32_t i = t->first_span; i < t->first_span + t->span_count; i++) {
        for (; next < last; next++) {
            uint32_t orphan = o->orphans.at[next];
            if (spans->start[orphan] > spans->start[i] ||
                (spans->start[orphan] == spans->start[i] && spans->end[orphan] <= spans->end[i]))
                break;
            add_node(o, orphan);
        }
        if (!is_orphan(o, i))
            add_node(o, i);
    }
    for (; next < last; next++)
        add_node(o, o->orphans.at[next]);
}

static void nest_nodes(struct operators *o)
{
    const struct span_table *spans = &o->run->spans;
    uint32_t top = NONE;
    for (uint32_t n = 0; n < o->nodes.count; n++) {
        struct node *node = &o->nodes.at[n];
        int64_t start = spans->start[node->span], end = spans->end[node->span];
        while (top != NONE) {
            const struct node *outer = &o->nodes.at[top];
            if (start < spans->end[outer->span] && end <= spans->end[outer->span])
                break;
            top = outer->parent;
        }
        node->parent = top;
        if (top != NONE)
            o->nodes.at[top].children++;
        top = n;
    }
}

static void merge_only_children(struct operators *o)
{
    vec_each (&o->nodes, node) {
        if (node->parent == NONE)
            continue;
        if (o->nodes.at[node->parent].merged)
            node->parent = o->nodes.at[node->parent].parent;
        struct node *parent = &o->nodes.at[node->parent];
        if (parent->key != node->key || parent->children != 1)
            continue;
        parent->children = node->children;
        parent->device_own_ns = node->device_own_ns;
        node->merged = true;
    }
}

static struct operator_row *row_for(struct operators *o, const struct node *node)
{
    bool is_range = o->run->spans.kind[node->span] == SPAN_ANNOTATION;
    uint32_t *slot = &o->row_of[is_range][node->key];
    if (*slot == 0) {
        vec_push(&o->report->operators, ((struct operator_row){.name = node->key}));
        *slot = (uint32_t)o->report->operators.count;
    }
    return &o->report->operators.at[*slot - 1];
}

static void count_nodes(struct operators *o)
{
    const struct span_table *spans = &o->run->spans;
    struct interval window = o->report->window;
    for (size_t n = o->nodes.count; n-- > 0;) { /* children before parents */
        struct node *node = &o->nodes.at[n];
        if (node->merged)
            continue;
        int64_t start = spans->start[node->span], total_ns = spans->end[node->span] - start;
        node->device_ns += node->device_own_ns;
        if (node->parent != NONE) {
            o->nodes.at[node->parent].own_ns -= total_ns;
            o->nodes.at[node->parent].device_ns += node->device_ns;
        }
        if (o->report->narrowed && (start < window.start || start >= window.end))
            continue;
        struct operator_row *row = row_for(o, node);
        row->count++;
        row->host_total_ns += total_ns;
        row->host_self_ns += node->own_ns;
        row->device_total_ns += node->device_ns;
        row->device_self_ns += node->device_own_ns;
    }
}

static int largest_first(const void *a, const void *b)
{
    const struct operator_row *left = a, *right = b;
    if (left->device_total_ns != right->device_total_ns)
        return left->device_total_ns < right->device_total_ns ? 1 : -1;
    if (left->host_total_ns != right->host_total_ns)
        return left->host_total_ns < right->host_total_ns ? 1 : -1;
    return (left->name > right->name) - (left->name < right->name);
}

void operators_build(struct report *report)
{
    const struct run *run = report->run;
    struct operators o = {.report = report, .run = run};
    o.rules = mem_zalloc(run->sources.count, sizeof *o.rules);
    o.owner = mem_resize(NULL, run->spans.count, sizeof *o.owner);
    o.device_ns = mem_zalloc(run->spans.count, sizeof *o.device_ns);
    o.device_chosen = mem_zalloc(run->devices.count, sizeof *o.device_chosen);
    o.name_class = mem_zalloc(run->strings.count, sizeof *o.name_class);
    o.key_of = mem_zalloc(run->strings.count, sizeof *o.key_of);
    for (int i = 0; i < 2; i++)
        o.row_of[i] = mem_zalloc(run->strings.count, sizeof *o.row_of[i]);
    for (size_t s = 0; s < run->sources.count; s++)
        o.rules[s].main_thread = NONE;

    choose_devices(&o);
    find_operators(&o);
    find_owners(&o);
    index_external_ids(&o);
    judge_external_ids(&o);
    attach_by_external(&o);
    attach_by_nesting(&o);
    find_orphans(&o);
    for (uint32_t thread = 0; thread < run->threads.count; thread++) {
        if (!o.rules[run->processes.at[run->threads.at[thread].process].source].has_events)
            continue;
        collect_nodes(&o, thread);
        nest_nodes(&o);
        merge_only_children(&o);
        count_nodes(&o);
    }
    if (report->operators.count)
        qsort(report->operators.at, report->operators.count, sizeof *report->operators.at, largest_first);

    for (size_t s = 0; s < run->sources.count; s++) {
        free(o.rules[s].ids.dense);
        map_release(&o.rules[s].ids.sparse);
    }
    free(o.rules);
    free(o.owner);
    free(o.device_ns);
    free(o.device_chosen);
    free(o.name_class);
    free(o.key_of);
    free(o.row_of[0]);
    free(o.row_of[1]);
    vec_release(&o.by_id);
    vec_release(&o.orphans);
    vec_release(&o.nodes);
}
