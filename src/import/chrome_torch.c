/* Events of torch.profiler (Kineto), by category: libkineto/src/ActivityType.cpp and output_json.cpp, with
 * the spellings of its vintages (2021: "Kernel", "Runtime", "Operator") and of its back ends (ROCm, XPU,
 * MTIA, HPU, PrivateUse1). What an event is comes from its category, never from its pid: a process may have
 * the number of a device. */
#include "base/i18n.h"
#include "import/chrome.h"

enum category {
    CATEGORY_KERNEL,
    CATEGORY_COPY,
    CATEGORY_MEMSET,
    CATEGORY_COLLECTIVE,
    CATEGORY_API,
    CATEGORY_OP,
    CATEGORY_LEGACY_OP,
    CATEGORY_ANNOTATION,
    CATEGORY_PYTHON,
    CATEGORY_OVERHEAD,
    CATEGORY_SYNC,
    CATEGORY_INSTANT,
    CATEGORY_DERIVED, /* repeats or sums up other events */
};

static const struct chrome_word category_list[] = {
    {"kernel", CATEGORY_KERNEL},
    {"Kernel", CATEGORY_KERNEL},
    {"concurrent_kernel", CATEGORY_KERNEL},
    {"mtia_ccp_events", CATEGORY_KERNEL},
    {"gpu_memcpy", CATEGORY_COPY},
    {"Memcpy", CATEGORY_COPY},
    {"gpu_memset", CATEGORY_MEMSET},
    {"Memset", CATEGORY_MEMSET},
    {"collective_comm", CATEGORY_COLLECTIVE},
    {"cuda_runtime", CATEGORY_API},
    {"Runtime", CATEGORY_API},
    {"cuda_driver", CATEGORY_API},
    {"hip_runtime", CATEGORY_API},
    {"xpu_runtime", CATEGORY_API},
    {"xpu_driver", CATEGORY_API},
    {"mtia_runtime", CATEGORY_API},
    {"glow_runtime", CATEGORY_API},
    {"hpu_op", CATEGORY_API},
    {"privateuse1_runtime", CATEGORY_API},
    {"privateuse1_driver", CATEGORY_API},
    {"cpu_op", CATEGORY_OP},
    {"Operator", CATEGORY_LEGACY_OP},
    {"user_annotation", CATEGORY_ANNOTATION},
    {"python_function", CATEGORY_PYTHON},
    {"overhead", CATEGORY_OVERHEAD},
    {"cuda_sync", CATEGORY_SYNC},
    {"xpu_sync", CATEGORY_SYNC},
    {"cpu_instant_event", CATEGORY_INSTANT},
    {"gpu_user_annotation", CATEGORY_DERIVED},
    {"external_correlation", CATEGORY_DERIVED},
    {"cuda_event", CATEGORY_DERIVED},
    {"cuda_profiler_range", CATEGORY_DERIVED},
    {"xpu_scope_profiler", CATEGORY_DERIVED},
    {"Trace", CATEGORY_DERIVED},
};

void chrome_torch_init(struct chrome *c)
{
    chrome_words_init(&c->categories, category_list, sizeof category_list / sizeof *category_list);
}

/* ---- GPU work ------------------------------------------------------------------------------------------ */

static bool contains(struct json_text text, const char *word)
{
    return memmem(text.at, text.length, word, strlen(word)) != NULL;
}

static enum mem_kind memory_kind(struct json_text name)
{
    static const struct {
        const char *word;
        enum mem_kind kind;
    } kinds[] = {{"Pageable", MEM_PAGEABLE}, {"Pinned", MEM_PINNED},   {"Device", MEM_DEVICE},
                 {"Array", MEM_ARRAY},       {"Managed", MEM_MANAGED}, {"Unified", MEM_MANAGED}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (contains(name, kinds[i].word))
            return kinds[i].kind;
    return MEM_UNKNOWN;
}

void chrome_copy_kinds(struct json_text name, uint8_t *dir, uint8_t *src, uint8_t *dst)
{
    static const struct {
        const char *spellings[4];
        enum copy_dir dir;
    } directions[] = {{{"HtoD", "H2D", "HostToDevice", "HtoA"}, COPY_H2D},
                      {{"DtoH", "D2H", "DeviceToHost", "AtoH"}, COPY_D2H},
                      {{"DtoD", "D2D", "DeviceToDevice", "DtoA"}, COPY_D2D},
                      {{"PtoP", "P2P", "PeerToPeer", "AtoD"}, COPY_P2P},
                      {{"HtoH", "H2H", "HostToHost", "H2H"}, COPY_H2H}};
    for (size_t i = 0; i < sizeof directions / sizeof *directions && *dir == COPY_UNKNOWN; i++)
        for (size_t s = 0; s < 4 && *dir == COPY_UNKNOWN; s++)
            if (contains(name, directions[i].spellings[s]))
                *dir = (uint8_t)directions[i].dir;
    const char *open = memchr(name.at, '(', name.length);
    const char *arrow = memmem(name.at, name.length, "->", 2);
    if (open && arrow && arrow > open) {
        *src = (uint8_t)memory_kind((struct json_text){open, (size_t)(arrow - open)});
        *dst = (uint8_t)memory_kind((struct json_text){arrow, (size_t)(name.at + name.length - arrow)});
    }
}

static uint32_t clamp_uint(int64_t value)
{
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint32_t event_shape(struct chrome *c, const struct chrome_event *event)
{
    struct shape shape = {.occupancy_percent = -1};
    if (!event_triple(event, ARG_GRID, shape.grid) || !event_triple(event, ARG_BLOCK, shape.block))
        return NONE;
    shape.regs_per_thread = clamp_uint(event_int(event, ARG_REGISTERS, 0));
    shape.shared_dynamic_bytes = clamp_uint(event_int(event, ARG_SHARED, 0));
    double percent;
    if (event_has(event, ARG_OCCUPANCY) && json_to_double(event->text[ARG_OCCUPANCY], &percent) &&
        percent >= 0 && percent <= 100)
        shape.occupancy_percent = (int32_t)percent;
    return run_shape(c->run, &shape);
}

static struct comm event_comm(struct chrome *c, const struct chrome_event *event)
{
    struct json_text group = event_text(event, ARG_GROUP_TEXT);
    if (group.length == 0 || json_text_is(group, "undefined"))
        group = event_text(event, ARG_GROUP_NAME);
    return (struct comm){.collective = chrome_name(c, event_text(event, ARG_COLLECTIVE)),
                         .group = chrome_name(c, group),
                         .ranks = chrome_name(c, event_text(event, ARG_GROUP_RANKS)),
                         .dtype = chrome_name(c, event_text(event, ARG_DTYPE)),
                         .in_elements = event_int(event, ARG_IN_ELEMENTS, UNKNOWN),
                         .out_elements = event_int(event, ARG_OUT_ELEMENTS, UNKNOWN),
                         .group_size = event_int(event, ARG_GROUP_SIZE, UNKNOWN),
                         .seq = event_int(event, ARG_SEQUENCE, UNKNOWN)};
}

/* args.device, else the pid: both are the profiler's device index. */
static uint32_t event_queue(struct chrome *c, const struct chrome_event *event)
{
    struct json_text pid = event_text(event, FIELD_PID);
    struct json_text tid = event_text(event, FIELD_TID);
    int64_t device = event_int(event, ARG_DEVICE, UNKNOWN), stream = event_int(event, ARG_STREAM, UNKNOWN);
    if (device == UNKNOWN)
        device = chrome_last_number(pid, 0);
    if (stream == UNKNOWN)
        stream = chrome_last_number(tid, 0);
    return chrome_queue(c, device, event_int(event, ARG_CONTEXT, UNKNOWN), stream);
}

static void add_op(struct chrome *c, const struct chrome_event *event, enum op_kind kind)
{
    struct op_table *ops = &c->run->ops;
    struct interval at;
    if (!chrome_interval(c, event, true, &at))
        return;
    size_t row = op_table_add(ops);
    ops->start[row] = at.start;
    ops->end[row] = at.end;
    ops->kind[row] = (uint8_t)kind;
    ops->name[row] = chrome_name(c, event_text(event, FIELD_NAME));
    ops->correlation[row] = event_id(event, ARG_CORRELATION);
    ops->external[row] = event_id(event, ARG_EXTERNAL);
    ops->stream[row] = event_queue(c, event);
    ops->graph[row] = clamp_uint(event_int(event, ARG_GRAPH, 0));
    ops->call[row] = NONE;
    ops->shape[row] = kind == OP_KERNEL ? event_shape(c, event) : NONE;
    ops->bytes[row] = kind == OP_KERNEL ? UNKNOWN : event_int(event, ARG_BYTES, UNKNOWN);
    ops->comm[row] = NONE;
    if (kind == OP_COPY) {
        chrome_copy_kinds(event_text(event, FIELD_NAME), &ops->dir[row], &ops->src[row], &ops->dst[row]);
        if (ops->dir[row] == COPY_UNKNOWN) {
            uint8_t ignored = 0;
            chrome_copy_kinds(event_text(event, ARG_KIND), &ops->dir[row], &ignored, &ignored);
        }
    } else if (kind == OP_MEMSET) {
        ops->dst[row] = (uint8_t)memory_kind(event_text(event, FIELD_NAME));
    }
    if (event_has(event, ARG_COLLECTIVE)) {
        ops->comm[row] = (uint32_t)c->run->comms.count;
        vec_push(&c->run->comms, event_comm(c, event));
    }
}

/* Waits are no work: they say which stream held up which. */
static void add_wait(struct chrome *c, const struct chrome_event *event)
{
    struct interval at;
    if (!chrome_interval(c, event, true, &at))
        return;
    int64_t device = event_int(event, ARG_DEVICE, chrome_last_number(event_text(event, FIELD_PID), 0));
    int64_t context = event_int(event, ARG_CONTEXT, UNKNOWN);
    int64_t stream = event_int(event, ARG_STREAM, -1), on = event_int(event, ARG_WAIT_STREAM, -1);
    struct json_text kind = event_text(event, ARG_SYNC_KIND);
    bool whole = stream < 0 || stream == UINT32_MAX;
    bool nothing = on < 0 || on == UINT32_MAX;
    vec_push(&c->run->waits,
             ((struct wait){.start = at.start,
                            .end = at.end,
                            .kind = chrome_name(c, kind.length ? kind : event_text(event, FIELD_NAME)),
                            .stream = whole ? NONE : chrome_queue(c, device, context, stream),
                            .on_stream = nothing ? NONE : chrome_queue(c, device, context, on)}));
}

/* ---- the host ------------------------------------------------------------------------------------------ */

static size_t add_span(struct chrome *c, const struct chrome_event *event, enum span_kind kind, uint64_t id,
                       uint32_t thread)
{
    struct interval at;
    if (!chrome_interval(c, event, true, &at))
        return SIZE_MAX;
    size_t row = chrome_add_span(c, kind, chrome_name(c, event_text(event, FIELD_NAME)), thread, at);
    c->run->spans.id[row] = id;
    if (event_has(event, ARG_STACK))
        c->run->spans.detail[row] = chrome_name(c, event->text[ARG_STACK]);
    return row;
}

static void add_call(struct chrome *c, const struct chrome_event *event)
{
    uint32_t thread = chrome_thread(c, event);
    uint64_t correlation = event_id(event, ARG_CORRELATION);
    add_span(c, event, SPAN_API, correlation, thread);
    if (correlation && event_has(event, ARG_GRID)) {
        uint32_t shape = event_shape(c, event);
        if (shape != NONE)
            vec_push(&c->launches, ((struct chrome_launch){correlation, thread, shape}));
    }
}

static void add_operator(struct chrome *c, const struct chrome_event *event, enum span_kind kind)
{
    uint64_t external = event_id(event, ARG_EXTERNAL);
    add_span(c, event, kind, external, chrome_thread(c, event));
    if (external && event_has(event, ARG_COLLECTIVE)) {
        map_set(&c->op_comm_index, external, (uint32_t)c->op_comms.count);
        vec_push(&c->op_comms, event_comm(c, event));
    }
}

/* In 2021 annotations were operators too. Those that PyTorch makes itself are told by their '#':
 * "ProfilerStep#3", "Optimizer.step#SGD.step", "enumerate(DataLoader)#…". */
static enum span_kind legacy_kind(const struct chrome_event *event)
{
    struct json_text name = event_text(event, FIELD_NAME);
    return memchr(name.at, '#', name.length) && !contains(name, "::") ? SPAN_ANNOTATION : SPAN_OP;
}

static void add_overhead(struct chrome *c, const struct chrome_event *event)
{
    struct json_text pid = event_text(event, FIELD_PID);
    if (!json_text_is(pid, "-1")) {
        add_span(c, event, SPAN_OVERHEAD, 0, chrome_thread(c, event));
        return;
    }
    size_t row = add_span(c, event, SPAN_OVERHEAD, 0, NONE);
    if (row == SIZE_MAX)
        return;
    vec_push(&c->stray_spans, (uint32_t)row);
    vec_push(&c->stray_tids, chrome_lane_id(c, event_text(event, FIELD_TID)));
}

/* ---- the caching allocator ----------------------------------------------------------------------------- */

static struct chrome_memory_series *memory_series(struct chrome *c, const struct chrome_event *event,
                                                  bool totals)
{
    int64_t type = event_int(event, ARG_DEVICE_TYPE, 0), id = event_int(event, ARG_DEVICE_ID, -1);
    int64_t pid = chrome_lane_id(c, event_text(event, FIELD_PID));
    uint64_t key = hash_pair(hash_pair((uint64_t)pid, (uint64_t)type), hash_pair((uint64_t)id, totals));
    uint32_t found = map_get(&c->memory_index, key);
    if (found != MAP_ABSENT)
        return &c->memory.at[found];
    if (c->run->series.count >= CHROME_SERIES_MAX)
        return NULL;
    enum { DEVICE_TYPE_CPU = 0 }; /* c10/core/DeviceType.h */
    uint32_t device = type == DEVICE_TYPE_CPU || id < 0 ? NONE : run_device(c->run, c->source, id);
    uint32_t process = run_process(c->run, c->source, pid);
    struct chrome_memory_series series = {.allocated = NONE, .reserved = NONE};
    if (totals) {
        series.allocated = run_series(c->run, "memory allocated", device, process, UNIT_BYTES);
        series.reserved = run_series(c->run, "memory reserved", device, process, UNIT_BYTES);
    } else {
        series.allocated = run_series(c->run, "memory change", device, process, UNIT_BYTES);
    }
    map_set(&c->memory_index, key, (uint32_t)c->memory.count);
    vec_push(&c->memory, series);
    return &c->memory.at[c->memory.count - 1];
}

/* Early files give only the change of each call: their sum counts from the start of the recording, so it gets
 * a name of its own. */
static void add_memory(struct chrome *c, const struct chrome_event *event)
{
    int64_t time;
    if (!chrome_moment(c, event, &time))
        return;
    int64_t allocated = event_int(event, ARG_ALLOCATED, UNKNOWN);
    int64_t reserved = event_int(event, ARG_RESERVED, UNKNOWN);
    struct chrome_memory_series *series =
        memory_series(c, event, allocated != UNKNOWN || reserved != UNKNOWN);
    if (!series) {
        run_repair(c->run, c->source, N_("values of counters beyond the first 10,000 left out"), 1,
                   event->offset);
        return;
    }
    if (series->reserved == NONE) {
        int64_t change = event_int(event, ARG_MEMORY_BYTES, 0);
        if (!__builtin_add_overflow(series->sum, change, &series->sum))
            chrome_add_sample(c, time, series->allocated, (double)series->sum);
        return;
    }
    if (allocated != UNKNOWN)
        chrome_add_sample(c, time, series->allocated, (double)allocated);
    if (reserved != UNKNOWN)
        chrome_add_sample(c, time, series->reserved, (double)reserved);
}

static bool starts_with(struct json_text text, const char *start)
{
    size_t length = strlen(start);
    return text.length >= length && memcmp(text.at, start, length) == 0;
}

static bool instant_event(struct chrome *c, const struct chrome_event *event, uint8_t category)
{
    struct json_text name = event_text(event, FIELD_NAME);
    if (json_text_is(name, "[memory]")) {
        add_memory(c, event);
        return true;
    }
    int64_t time;
    if (category != CATEGORY_INSTANT)
        return false;
    if (chrome_moment(c, event, &time))
        vec_push(&c->run->marks,
                 ((struct mark){.time = time,
                                .kind = contains(name, "OutOfMemory") ? MARK_OOM : MARK_INSTANT,
                                .text = chrome_name(c, name),
                                .thread = chrome_thread(c, event),
                                .device = NONE}));
    return true;
}

/* ---- by category --------------------------------------------------------------------------------------- */

/* Other tools call their categories "kernel" too. */
static bool is_on_device(const struct chrome_event *event)
{
    uint64_t any = UINT64_C(1) << ARG_DEVICE | UINT64_C(1) << ARG_STREAM | UINT64_C(1) << ARG_CORRELATION;
    return (event->has & any) != 0;
}

static bool complete_event(struct chrome *c, const struct chrome_event *event, uint8_t category)
{
    switch (category) {
    case CATEGORY_KERNEL:
    case CATEGORY_COLLECTIVE:
        if (!is_on_device(event))
            return false;
        add_op(c, event, OP_KERNEL);
        return true;
    case CATEGORY_COPY:
        add_op(c, event, OP_COPY);
        return true;
    case CATEGORY_MEMSET:
        add_op(c, event, OP_MEMSET);
        return true;
    case CATEGORY_API:
        add_call(c, event);
        return true;
    case CATEGORY_OP:
        add_operator(c, event, SPAN_OP);
        return true;
    case CATEGORY_LEGACY_OP:
        add_operator(c, event, legacy_kind(event));
        return true;
    case CATEGORY_ANNOTATION:
        add_operator(c, event, SPAN_ANNOTATION);
        return true;
    case CATEGORY_PYTHON:
        add_span(c, event, SPAN_PYTHON, event_id(event, ARG_PYTHON), chrome_thread(c, event));
        return true;
    case CATEGORY_OVERHEAD:
        add_overhead(c, event);
        return true;
    case CATEGORY_SYNC:
        add_wait(c, event);
        return true;
    default:
        return category == CATEGORY_DERIVED;
    }
}

/* What the profiler says about itself. The end of the window may lie years ahead. */
static bool is_own_mark(const struct chrome_event *event)
{
    struct json_text name = event_text(event, FIELD_NAME);
    return !event_has(event, FIELD_CATEGORY) &&
           (starts_with(name, "Iteration Start") || json_text_is(name, "Record Window End"));
}

bool chrome_torch_event(struct chrome *c, const struct chrome_event *event)
{
    uint8_t category = chrome_words_find(&c->categories, event_text(event, FIELD_CATEGORY));
    bool known = false;
    if (event->phase != 'M' && is_own_mark(event))
        known = true;
    else if (event->phase == 'X')
        known = category != CHROME_WORD_NONE && complete_event(c, event, category);
    else if (event->phase == 'i')
        known = instant_event(c, event, category);
    c->torch_events += known;
    return known;
}

/* ---- in the end ---------------------------------------------------------------------------------------- */

/* Kernels without a launch configuration get that of their launch call (ROCm), kernels without collective
 * that of their operator (Kineto until 2024 links only some). */
void chrome_torch_finish(struct chrome *c)
{
    struct op_table *ops = &c->run->ops;
    const struct run *run = c->run;
    struct map shapes = {0};
    vec_each (&c->launches, launch) {
        uint32_t process = run->threads.at[launch->thread].process;
        map_set(&shapes, hash_pair(process, launch->correlation), launch->shape);
    }
    uint32_t *comms = mem_alloc(c->op_comms.count * sizeof *comms);
    memset(comms, 0xff, c->op_comms.count * sizeof *comms);
    for (size_t i = c->first_op; i < ops->count; i++) {
        if (ops->kind[i] != OP_KERNEL)
            continue;
        uint32_t process = run->streams.at[ops->stream[i]].process;
        if (ops->shape[i] == NONE && process != NONE)
            ops->shape[i] = map_get(&shapes, hash_pair(process, ops->correlation[i]));
        uint32_t comm = ops->comm[i] == NONE ? map_get(&c->op_comm_index, ops->external[i]) : MAP_ABSENT;
        if (comm == MAP_ABSENT)
            continue;
        if (comms[comm] == NONE) {
            comms[comm] = (uint32_t)run->comms.count;
            vec_push(&c->run->comms, c->op_comms.at[comm]);
        }
        ops->comm[i] = comms[comm];
    }
    free(comms);
    map_release(&shapes);
}

void chrome_torch_release(struct chrome *c)
{
    vec_release(&c->launches);
    vec_release(&c->op_comms);
    map_release(&c->op_comm_index);
    vec_release(&c->memory);
    map_release(&c->memory_index);
}
