/* Events of any Chrome trace, by phase. Complete and paired events become host spans; chrome_lanes_gpu.c
 * looks at them once more when all names are known. */
#include "base/i18n.h"
#include "base/str.h"
#include "import/chrome.h"
#include "import/chrome_time.h"

/* Times beyond ±146 years are damage. */
#define TIME_MAX (INT64_C(1) << 62)

uint32_t chrome_name(struct chrome *c, struct json_text text)
{
    return intern_add(&c->run->strings, text.at, text.length);
}

size_t chrome_add_span(struct chrome *c, enum span_kind kind, uint32_t name, uint32_t thread,
                       struct interval at)
{
    struct span_table *spans = &c->run->spans;
    size_t row = span_table_add(spans);
    spans->comm[row] = NONE;
    spans->start[row] = at.start;
    spans->end[row] = at.end;
    spans->name[row] = name;
    spans->thread[row] = thread;
    spans->kind[row] = (uint8_t)kind;
    return row;
}

void chrome_add_sample(struct chrome *c, int64_t time, uint32_t series, double value)
{
    struct sample_table *samples = &c->run->samples;
    size_t row = sample_table_add(samples);
    samples->time[row] = time;
    samples->series[row] = series;
    samples->value[row] = value;
}

bool chrome_moment(struct chrome *c, const struct chrome_event *event, int64_t *time)
{
    int64_t ns;
    if (!event_has(event, FIELD_TIME) || !chrome_time_ns(event->text[FIELD_TIME], &ns) || ns >= TIME_MAX ||
        ns <= -TIME_MAX || (ns += c->base_ns) >= TIME_MAX || ns <= -TIME_MAX) {
        c->run->losses.untimed++;
        return false;
    }
    *time = ns;
    return true;
}

bool chrome_interval(struct chrome *c, const struct chrome_event *event, bool zero_is_unset,
                     struct interval *out)
{
    int64_t duration = 0;
    if (!event_has(event, FIELD_DURATION)) {
        run_repair(c->run, c->source, N_("events without a duration taken as moments"), 1, event->offset);
    } else if (!chrome_time_ns(event->text[FIELD_DURATION], &duration) || duration >= TIME_MAX) {
        c->run->losses.untimed++;
        return false;
    }
    if (!chrome_moment(c, event, &out->start))
        return false;
    if (duration < 0) {
        run_repair(c->run, c->source, N_("negative durations taken as zero"), 1, event->offset);
        duration = 0;
    }
    out->end = out->start + duration;
    if (out->end >= TIME_MAX || (zero_is_unset && duration == 0 && out->start == c->base_ns)) {
        c->run->losses.untimed++;
        return false;
    }
    return true;
}

/* ---- complete events ----------------------------------------------------------------------------------- */

/* "key:" followed by a number in a text such as "regs:32 grid:1,1,1", or NULL. */
static const char *detail(struct json_text text, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i + length <= text.length; i++)
        if ((i == 0 || text.at[i - 1] == ' ') && memcmp(text.at + i, key, length) == 0)
            return text.at + i + length;
    return NULL;
}

static uint32_t detail_uint(struct json_text text, const char *key)
{
    const char *p = detail(text, key), *end = text.at + text.length;
    uint64_t value = 0;
    for (; p && p < end && *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void detail_triple(struct json_text text, const char *key, uint32_t triple[3])
{
    const char *p = detail(text, key), *end = text.at + text.length;
    for (int i = 0; p && i < 3; i++) {
        uint64_t value = 0;
        for (; p < end && *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
            value = value * 10 + (uint64_t)(*p - '0');
        triple[i] = value <= UINT32_MAX ? (uint32_t)value : 0;
        p += p < end && *p == ',';
    }
}

static enum mem_kind detail_memory(struct json_text text, const char *key)
{
    static const struct {
        const char *name;
        enum mem_kind kind;
    } kinds[] = {{"pageable", MEM_PAGEABLE},
                 {"pinned", MEM_PINNED},
                 {"device", MEM_DEVICE},
                 {"array", MEM_ARRAY},
                 {"managed", MEM_MANAGED}};
    const char *p = detail(text, key);
    size_t left = p ? (size_t)(text.at + text.length - p) : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (left >= strlen(kinds[i].name) && memcmp(p, kinds[i].name, strlen(kinds[i].name)) == 0)
            return kinds[i].kind;
    return MEM_UNKNOWN;
}

/* XLA's GPU rows carry their launch configuration as one text
 * (xla/backends/profiler/gpu/cupti_collector.h, ToXStat()):
 * "regs:32 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 occ_pct:100" and
 * "kind_src:pinned kind_dst:device size:4096 dest:0 async:1". */
static void add_hint(struct chrome *c, const struct chrome_event *event, size_t span)
{
    struct json_text kernel = event_text(event, ARG_KERNEL_DETAILS);
    struct json_text copy = event_text(event, ARG_MEMCPY_DETAILS);
    if (kernel.length == 0 && copy.length == 0)
        return;
    struct chrome_hint hint = {.span = (uint32_t)span, .shape = NONE, .bytes = UNKNOWN};
    if (kernel.length) {
        struct shape shape = {.regs_per_thread = detail_uint(kernel, "regs:"),
                              .shared_static_bytes = detail_uint(kernel, "static_shared:"),
                              .shared_dynamic_bytes = detail_uint(kernel, "dynamic_shared:"),
                              .occupancy_percent = -1};
        detail_triple(kernel, "grid:", shape.grid);
        detail_triple(kernel, "block:", shape.block);
        if (detail(kernel, "occ_pct:"))
            shape.occupancy_percent = (int32_t)detail_uint(kernel, "occ_pct:");
        hint.shape = run_shape(c->run, &shape);
    }
    if (copy.length) {
        hint.bytes = detail(copy, "size:") ? detail_uint(copy, "size:") : UNKNOWN;
        hint.src = (uint8_t)detail_memory(copy, "kind_src:");
        hint.dst = (uint8_t)detail_memory(copy, "kind_dst:");
    }
    vec_push(&c->hints, hint);
}

static void complete_event(struct chrome *c, const struct chrome_event *event)
{
    struct interval at;
    if (!chrome_interval(c, event, false, &at))
        return;
    size_t row = chrome_add_span(c, SPAN_OTHER, chrome_name(c, event_text(event, FIELD_NAME)),
                                 chrome_thread(c, event), at);
    c->run->spans.id[row] = event_id(event, ARG_CORRELATION);
    c->run->spans.detail[row] = chrome_name(c, event_text(event, FIELD_CATEGORY));
    add_hint(c, event, row);
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

/* open_stacks maps a lane to the number of its innermost open span, counted from 1; 0 is none. */
static uint32_t open_top(const struct chrome *c, uint64_t lane)
{
    uint32_t top = map_get(&c->open_stacks, lane);
    return top == MAP_ABSENT ? 0 : top;
}

static void push_open(struct chrome *c, uint64_t lane, size_t span)
{
    vec_push(&c->open, ((struct chrome_open_span){.span = (uint32_t)span, .below = open_top(c, lane)}));
    map_set(&c->open_stacks, lane, (uint32_t)c->open.count);
}

/* Takes the innermost open span of the lane, or returns NONE. */
static uint32_t pop_open(struct chrome *c, uint64_t lane)
{
    uint32_t top = open_top(c, lane);
    if (top == 0)
        return NONE;
    struct chrome_open_span *open = &c->open.at[top - 1];
    uint32_t span = open->span;
    open->span = NONE;
    map_set(&c->open_stacks, lane, open->below);
    while (c->open.count && c->open.at[c->open.count - 1].span == NONE)
        c->open.count--;
    return span;
}

/* Async events overlap freely, so each kind gets a lane of its own beside the threads. */
static uint32_t async_thread(struct chrome *c, const struct chrome_event *event, uint32_t category)
{
    int64_t pid = chrome_lane_id(c, event_text(event, FIELD_PID));
    uint32_t thread = run_thread(c->run, run_process(c->run, c->source, pid), -(INT64_C(1) << 40) - category);
    c->run->threads.at[thread].name = category;
    return thread;
}

static void begin_event(struct chrome *c, const struct chrome_event *event, uint64_t lane, uint32_t thread)
{
    int64_t time;
    if (!chrome_moment(c, event, &time))
        return;
    size_t row = chrome_add_span(c, SPAN_OTHER, chrome_name(c, event_text(event, FIELD_NAME)), thread,
                                 (struct interval){time, time});
    c->run->spans.detail[row] = chrome_name(c, event_text(event, FIELD_CATEGORY));
    push_open(c, lane, row);
}

static void end_event(struct chrome *c, const struct chrome_event *event, uint64_t lane)
{
    int64_t time;
    if (!chrome_moment(c, event, &time))
        return;
    uint32_t span = pop_open(c, lane);
    if (span == NONE) {
        run_repair(c->run, c->source, N_("ends of spans that never began left out"), 1, event->offset);
        return;
    }
    if (time < c->run->spans.start[span]) {
        run_repair(c->run, c->source, N_("negative durations taken as zero"), 1, event->offset);
        return;
    }
    c->run->spans.end[span] = time;
}

static void paired_event(struct chrome *c, const struct chrome_event *event)
{
    bool async = event->phase != 'B' && event->phase != 'E';
    bool begin = event->phase == 'B' || event->phase == 'b' || event->phase == 'S';
    uint32_t thread;
    uint64_t lane;
    if (async) {
        struct json_text id = event_text(event, FIELD_ID);
        uint32_t category = chrome_name(c, event_text(event, FIELD_CATEGORY));
        thread = async_thread(c, event, category);
        lane = hash_pair(hash_bytes(id.at, id.length), UINT64_C(1) << 32 | thread);
    } else {
        thread = chrome_thread(c, event);
        lane = hash_pair(0, thread);
    }
    if (begin)
        begin_event(c, event, lane, thread);
    else
        end_event(c, event, lane);
}

/* ---- moments and counters ---------------------------------------------------------------------------- */

static void instant_event(struct chrome *c, const struct chrome_event *event)
{
    int64_t time;
    if (!chrome_moment(c, event, &time))
        return;
    vec_push(&c->run->marks, ((struct mark){.time = time,
                                            .kind = MARK_INSTANT,
                                            .text = chrome_name(c, event_text(event, FIELD_NAME)),
                                            .thread = chrome_thread(c, event),
                                            .device = NONE}));
}

/* "GPU 0 Counters" is the pid of Kineto's hardware counters. */
static uint32_t counter_device(struct chrome *c, struct json_text pid)
{
    static const char start[] = "GPU ", end[] = " Counters";
    if (pid.length <= strlen(start) + strlen(end) || memcmp(pid.at, start, strlen(start)) != 0 ||
        memcmp(pid.at + pid.length - strlen(end), end, strlen(end)) != 0)
        return NONE;
    int64_t id = chrome_last_number((struct json_text){pid.at, pid.length - strlen(end)}, -1);
    return id < 0 ? NONE : run_device(c->run, c->source, id);
}

/* One series for each key of args, named "event" where the key says no more, else "event: key". NONE if there
 * are too many. */
static uint32_t counter_series(struct chrome *c, const struct chrome_event *event, struct json_text key)
{
    struct json_text name = event_text(event, FIELD_NAME), id = event_text(event, FIELD_ID);
    struct json_text lane = event_text(event, FIELD_PID);
    int64_t pid = chrome_lane_id(c, lane);
    uint64_t hash = hash_pair(hash_pair(hash_bytes(name.at, name.length), hash_bytes(key.at, key.length)),
                              hash_pair((uint64_t)pid, hash_bytes(id.at, id.length)));
    uint32_t series = map_get(&c->counters, hash);
    if (series != MAP_ABSENT)
        return series;
    if (c->run->series.count >= CHROME_SERIES_MAX)
        return NONE;
    struct str title = {0};
    str_add(&title, name.at, name.length);
    if (id.length) {
        str_putc(&title, ' ');
        str_add(&title, id.at, id.length);
    }
    if (!json_text_is(key, "value") &&
        (key.length != name.length || memcmp(key.at, name.at, key.length) != 0)) {
        str_puts(&title, title.len ? ": " : "");
        str_add(&title, key.at, key.length);
    }
    uint32_t device = counter_device(c, lane);
    uint32_t process = device == NONE ? run_process(c->run, c->source, pid) : NONE;
    series = run_series(c->run, str_text(&title), device, process, UNIT_NONE);
    map_set(&c->counters, hash, series);
    str_release(&title);
    return series;
}

static void counter_event(struct chrome *c, const struct chrome_event *event)
{
    int64_t time;
    struct json_text key, text;
    struct json_reader args;
    if (!event_has(event, FIELD_ARGS) || !chrome_moment(c, event, &time))
        return;
    json_open_text(&args, event->text[FIELD_ARGS]);
    json_hold(&args);
    json_enter(&args, JSON_OBJECT);
    while (json_next_key(&args, &key)) {
        double value;
        if (!json_read_scalar(&args, &text) || !json_to_double(text, &value))
            continue;
        uint32_t series = counter_series(c, event, key);
        if (series == NONE)
            run_repair(c->run, c->source, N_("values of counters beyond the first 10,000 left out"), 1,
                       event->offset);
        else
            chrome_add_sample(c, time, series, value);
    }
    json_close(&args);
}

void chrome_generic_event(struct chrome *c, const struct chrome_event *event)
{
    switch (event->phase) {
    case 'X':
        complete_event(c, event);
        break;
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'S':
    case 'F':
        paired_event(c, event);
        break;
    case 'i':
    case 'I':
    case 'n':
    case 'R':
        instant_event(c, event);
        break;
    case 'C':
        counter_event(c, event);
        break;
    case 'M':
        chrome_label(c, event);
        break;
    default: /* flows, objects and their snapshots, clock syncs, samples: nothing that the run models */
        break;
    }
}

/* Spans that never ended are taken to last until the file's last moment. */
void chrome_generic_finish(struct chrome *c)
{
    struct span_table *spans = &c->run->spans;
    int64_t last = INT64_MIN, open = 0;
    for (size_t i = c->first_span; i < spans->count; i++)
        last = max_ns(last, spans->end[i]);
    vec_each (&c->open, entry) {
        if (entry->span == NONE)
            continue;
        spans->end[entry->span] = last;
        open++;
    }
    if (open)
        run_repair(c->run, c->source, N_("spans without an end taken to last until the end of the recording"),
                   open, -1);
    vec_release(&c->open);
    map_release(&c->open_stacks);
    map_release(&c->counters);
}
