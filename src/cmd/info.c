/* warplight info: what a recording holds. */
#include <inttypes.h>
#include <string.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "cmd/info.h"
#include "cmd/read_run.h"
#include "know/xid_text.h"
#include "source/machine_series.h"

enum format { FORMAT_TEXT, FORMAT_JSON };
enum {
    INDENT = INFO_INDENT,
    TITLE_COLUMNS = INFO_TITLE_COLUMNS,
    SPAN_KINDS = SPAN_NATIVE + 1,
    OP_KINDS = OP_GRAPH + 1
};

static const char *const format_names[] = {"text", "json", NULL};

struct info_args {
    int format;
    const char *output;
    const char *input_format;
};

static const struct info_args defaults;

#define AT(field) offsetof(struct info_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text or json (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
    {"input-format", 0, OPTION_TEXT, N_("NAME"),
     N_("read the files as this format instead of looking: chrome, nsys, wlt, …"), AT(input_format), NULL},
    OPTION_END,
};
#undef AT

/* ---- counting ------------------------------------------------------------------------------------------ */

enum counted {
    COUNT_DEVICES,
    COUNT_PROCESSES,
    COUNT_THREADS,
    COUNT_STREAMS,
    COUNT_OPS,
    COUNT_KERNELS,
    COUNT_COPIES,
    COUNT_MEMSETS,
    COUNT_GRAPHS,
    COUNT_SHAPES,
    COUNT_COMMS,
    COUNT_SPANS,
    COUNT_API,
    COUNT_OPERATORS,
    COUNT_ANNOTATIONS,
    COUNT_PYTHON,
    COUNT_OS,
    COUNT_OVERHEAD,
    COUNT_OTHER,
    COUNT_NATIVE,
    COUNT_SERIES,
    COUNT_SAMPLES,
    COUNT_MARKS,
    COUNT_WAITS,
    COUNT_PROFILES,
    COUNT_COUNTERS,
    COUNT_PLACES,
    COUNT_ADVICES,
    COUNT_IMAGES,
    COUNTED
};

static const struct {
    const char *key, *title;
    int level; /* 1: part of the one before it of level 0 */
} counted[COUNTED] = {
    [COUNT_DEVICES] = {"devices", N_("GPUs"), 0},
    [COUNT_PROCESSES] = {"processes", N_("processes"), 0},
    [COUNT_THREADS] = {"threads", N_("threads"), 0},
    [COUNT_STREAMS] = {"streams", N_("streams"), 0},
    [COUNT_OPS] = {"gpu_operations", N_("GPU operations"), 0},
    [COUNT_KERNELS] = {"kernels", N_("kernels"), 1},
    [COUNT_COPIES] = {"copies", N_("copies"), 1},
    [COUNT_MEMSETS] = {"memsets", N_("memsets"), 1},
    [COUNT_GRAPHS] = {"graphs", N_("whole graphs"), 1},
    [COUNT_SHAPES] = {"launch_shapes", N_("distinct launch shapes"), 0},
    [COUNT_COMMS] = {"collectives", N_("descriptions of collectives"), 0},
    [COUNT_SPANS] = {"host_spans", N_("host spans"), 0},
    [COUNT_API] = {"api_calls", N_("API calls"), 1},
    [COUNT_OPERATORS] = {"operators", N_("framework operators"), 1},
    [COUNT_ANNOTATIONS] = {"annotations", N_("annotations"), 1},
    [COUNT_PYTHON] = {"python_frames", N_("Python frames"), 1},
    [COUNT_OS] = {"os_calls", N_("operating-system calls"), 1},
    [COUNT_OVERHEAD] = {"overheads", N_("profiler overhead"), 1},
    [COUNT_OTHER] = {"other_spans", N_("other spans"), 1},
    [COUNT_NATIVE] = {"native_frames", N_("native functions"), 1},
    [COUNT_SERIES] = {"counters", N_("counters"), 0},
    [COUNT_SAMPLES] = {"counter_samples", N_("counter samples"), 0},
    [COUNT_MARKS] = {"marks", N_("marks"), 0},
    [COUNT_WAITS] = {"waits", N_("GPU waits"), 0},
    [COUNT_PROFILES] = {"kernel_profiles", N_("profiled kernel launches"), 0},
    [COUNT_COUNTERS] = {"kernel_counters", N_("values of counters"), 1},
    [COUNT_PLACES] = {"code_places", N_("instructions and source lines"), 1},
    [COUNT_ADVICES] = {"advices", N_("results of the tool's own rules"), 1},
    [COUNT_IMAGES] = {"code_images", N_("GPU binaries"), 1},
};

static const struct {
    const char *key, *title;
    size_t offset;
} losses[] = {
    {"dropped", N_("records that the recording tool dropped"), offsetof(struct losses, dropped)},
    {"untimed", N_("records without a possible time"), offsetof(struct losses, untimed)},
    {"unlinked", N_("GPU operations whose launching call is not in the recording"),
     offsetof(struct losses, unlinked)},
    {"malformed", N_("records that could not be understood"), offsetof(struct losses, malformed)},
    {"truncated_bytes", N_("bytes after the last complete record"), offsetof(struct losses, truncated_bytes)},
};
enum { LOSSES = sizeof losses / sizeof *losses };

struct info {
    const struct run *run;
    int64_t bytes; /* UNKNOWN */
    int64_t counts[COUNTED];
    struct interval extent; /* UNKNOWN where nothing has a time */
};

static void extend(struct info *info, int64_t start, int64_t end)
{
    bool first = info->extent.start == UNKNOWN;
    info->extent.start = first ? start : min_ns(info->extent.start, start);
    info->extent.end = first ? end : max_ns(info->extent.end, end);
}

static void find_extent(struct info *info)
{
    const struct run *run = info->run;
    info->extent = (struct interval){UNKNOWN, UNKNOWN};
    for (size_t i = 0; i < run->ops.count; i++)
        extend(info, run->ops.start[i], run->ops.end[i]);
    for (size_t i = 0; i < run->spans.count; i++)
        extend(info, run->spans.start[i], run->spans.end[i]);
    for (size_t i = 0; i < run->samples.count; i++)
        extend(info, run->samples.time[i], run->samples.time[i]);
    vec_each (&run->marks, mark)
        extend(info, mark->time, mark->time);
    vec_each (&run->waits, wait)
        extend(info, wait->start, wait->end);
}

static void info_of_run(struct info *info, const struct run *run)
{
    *info = (struct info){.run = run, .bytes = run->sources.count ? run->sources.at[0].bytes : UNKNOWN};
    int64_t *counts = info->counts;
    for (size_t i = 0; i < run->ops.count; i++)
        counts[COUNT_KERNELS + run->ops.kind[i]]++;
    for (size_t i = 0; i < run->spans.count; i++)
        counts[COUNT_API + run->spans.kind[i]]++;
    counts[COUNT_DEVICES] = (int64_t)run->devices.count;
    counts[COUNT_PROCESSES] = (int64_t)run->processes.count;
    counts[COUNT_THREADS] = (int64_t)run->threads.count;
    counts[COUNT_STREAMS] = (int64_t)run->streams.count;
    counts[COUNT_OPS] = (int64_t)run->ops.count;
    counts[COUNT_SHAPES] = (int64_t)run->shapes.count;
    counts[COUNT_COMMS] = (int64_t)run->comms.count;
    counts[COUNT_SPANS] = (int64_t)run->spans.count;
    counts[COUNT_SERIES] = (int64_t)run->series.count;
    counts[COUNT_SAMPLES] = (int64_t)run->samples.count;
    counts[COUNT_MARKS] = (int64_t)run->marks.count;
    counts[COUNT_WAITS] = (int64_t)run->waits.count;
    counts[COUNT_PROFILES] = (int64_t)run->profiles.count;
    counts[COUNT_COUNTERS] = (int64_t)run->counters.count;
    counts[COUNT_PLACES] = (int64_t)run->places.count;
    counts[COUNT_ADVICES] = (int64_t)run->advices.count;
    counts[COUNT_IMAGES] = (int64_t)run->images.count;
    find_extent(info);
}

_Static_assert(COUNT_GRAPHS == COUNT_KERNELS + OP_GRAPH && COUNT_NATIVE == COUNT_API + SPAN_NATIVE,
               "one count for each kind");

static int64_t loss(const struct info *info, int i)
{
    int64_t count;
    memcpy(&count, (const char *)&info->run->losses + losses[i].offset, sizeof count);
    return count;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

void info_put_heading(struct screen *s, const char *text)
{
    screen_puts(s, STYLE_HEADING, text);
    screen_newline(s);
}

void info_put_line(struct screen *s, int indent, const char *title, const char *text)
{
    struct str visible = {0};
    utf8_visible(&visible, text, strlen(text));
    str_pad(&s->text, ' ', (size_t)indent);
    screen_cell(s, STYLE_DIM, title, TITLE_COLUMNS - indent, false);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, STYLE_PLAIN, str_text(&visible), TITLE_COLUMNS + INDENT, TITLE_COLUMNS + INDENT);
    str_release(&visible);
}

static void put_msg(struct screen *s, const char *title, const struct msg *msg)
{
    struct str text = {0};
    msg_render(&text, msg, true, 0);
    info_put_line(s, INDENT, title, str_text(&text));
    str_release(&text);
}

static void put_value(struct screen *s, int indent, const char *title, struct value value)
{
    struct str text = {0};
    value_render(&text, &value, true, 0);
    info_put_line(s, indent, title, str_text(&text));
    str_release(&text);
}

/* The size, and what a GPU operation and a call take of it: the whole file over their number. */
static void put_size(struct screen *s, const struct info *info)
{
    int64_t ops = info->counts[COUNT_OPS], calls = info->counts[COUNT_API];
    if (info->bytes == UNKNOWN)
        return;
    double bytes = (double)info->bytes;
    if (ops > 0 && calls > 0)
        put_msg(s, _("size"),
                &msg_make(N_("{0}: {1} bytes for each GPU operation, {2} for each API call"),
                          value_bytes(info->bytes), value_number(bytes / (double)ops),
                          value_number(bytes / (double)calls)));
    else if (ops > 0)
        put_msg(s, _("size"),
                &msg_make(N_("{0}: {1} bytes for each GPU operation"), value_bytes(info->bytes),
                          value_number(bytes / (double)ops)));
    else
        put_value(s, INDENT, _("size"), value_bytes(info->bytes));
}

static void put_sources(struct screen *s, const struct run *run)
{
    vec_each (&run->sources, source) {
        if (source->tool)
            info_put_line(s, INDENT, _("made by"), run_text(run, source->tool));
        if (source->rank >= 0)
            put_msg(s, _("rank"),
                    &msg_make(N_("{0} of {1}"), value_id(source->rank), value_id(source->world_size)));
    }
}

static void put_devices(struct screen *s, const struct run *run)
{
    vec_each (&run->devices, device) {
        struct str title = {0};
        str_addf(&title, "GPU %" PRId64, device->id);
        if (device->name)
            info_put_line(s, 2 * INDENT, str_text(&title), run_text(run, device->name));
        str_release(&title);
    }
}

static void put_counts(struct screen *s, const struct info *info)
{
    for (int i = 0; i < COUNTED; i++) {
        if (info->counts[i] == 0)
            continue;
        put_value(s, INDENT + INDENT * counted[i].level, _(counted[i].title), value_count(info->counts[i]));
        if (i == COUNT_DEVICES)
            put_devices(s, info->run);
    }
}

static bool is_process_fact(const struct run *run, const struct fact *fact)
{
    return strncmp(run_text(run, fact->key), MACHINE_FACT_PROCESS, strlen(MACHINE_FACT_PROCESS)) == 0;
}

static void put_facts(struct screen *s, const struct run *run)
{
    bool any = false;
    vec_each (&run->facts, fact) {
        /* Who the sampled processes were is for `top --replay`: a list that is long and tells nothing here.
         */
        if (info_is_gpu_fact(run, fact) || is_process_fact(run, fact))
            continue;
        if (!any)
            info_put_heading(s, _("Facts"));
        any = true;
        struct str key = {0};
        utf8_visible(&key, run_text(run, fact->key), intern_length(&run->strings, fact->key));
        info_put_line(s, INDENT, str_text(&key), run_text(run, fact->value));
        str_release(&key);
    }
}

static void put_xid(struct screen *s, const struct info *info, const struct mark *mark, int64_t code,
                    const char *process)
{
    struct value time = value_time(mark->time);
    struct msg msg = *process ? msg_make(N_("{0}: {1}"), value_xid(code), value_text(process))
                              : msg_make("{0}", value_xid(code));
    struct str at = {0}, text = {0};
    value_render(&at, &time, true, info->extent.start);
    if (mark->device != NONE)
        str_addf(&text, _("GPU %lld: "), (long long)info->run->devices.at[mark->device].id);
    msg_render(&text, &msg, true, 0);
    info_put_line(s, INDENT, str_text(&at), str_text(&text));
    str_release(&at);
    str_release(&text);
}

static void put_xids(struct screen *s, const struct info *info)
{
    enum { SHOWN = 20 };
    int64_t count = 0;
    vec_each (&info->run->marks, mark) {
        int64_t code;
        const char *process;
        if (mark->kind != MARK_XID || !xid_text_parse(run_text(info->run, mark->text), &code, &process))
            continue;
        if (count == 0)
            info_put_heading(s, _("Errors of GPUs"));
        if (count++ < SHOWN)
            put_xid(s, info, mark, code, process);
    }
    if (count > SHOWN)
        put_msg(s, "", &msg_make(N_("{0} more (--format json)"), value_count(count - SHOWN)));
}

static void put_loss(struct screen *s, const struct msg *msg, bool *any)
{
    struct str text = {0}, visible = {0};
    if (!*any)
        info_put_heading(s, _("Lost or mended"));
    *any = true;
    msg_render(&text, msg, true, 0);
    utf8_visible(&visible, str_text(&text), text.len);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, STYLE_NOTICE, str_text(&visible), INDENT, INDENT);
    str_release(&text);
    str_release(&visible);
}

static void put_losses(struct screen *s, const struct info *info)
{
    const struct run *run = info->run;
    bool any = false;
    for (int i = 0; i < LOSSES; i++)
        if (loss(info, i) > 0)
            put_loss(s, &msg_make(N_("{0}: {1}"), value_term(losses[i].title), value_count(loss(info, i))),
                     &any);
    vec_each (&run->sources, source) {
        vec_each (&source->repairs, repair) {
            struct value text = value_term(run_text(run, repair->text)), count = value_count(repair->count);
            put_loss(s,
                     repair->first_offset >= 0 ? &msg_make(N_("{0} ({1}×, first at byte {2})"), text, count,
                                                           value_id(repair->first_offset))
                                               : &msg_make(N_("{0} ({1}×)"), text, count),
                     &any);
        }
    }
}

static void put_file(struct screen *s, const struct info *info, bool first)
{
    const struct run *run = info->run;
    struct str path = {0};
    const struct source *source = &run->sources.at[0];
    if (!first)
        screen_newline(s);
    utf8_visible(&path, run_text(run, source->path), intern_length(&run->strings, source->path));
    info_put_heading(s, str_text(&path));
    info_put_line(s, INDENT, _("format"), run_text(run, source->format));
    put_size(s, info);
    if (info->extent.start != UNKNOWN)
        put_value(s, INDENT, _("duration"), value_ns(info->extent.end - info->extent.start));
    put_sources(s, run);
    put_counts(s, info);
    put_xids(s, info);
    put_facts(s, run);
    info_put_gpus(s, run);
    put_losses(s, info);
    str_release(&path);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void json_text(struct json_writer *w, const struct run *run, const char *key, uint32_t id)
{
    json_key(w, key);
    json_string(w, run_text(run, id), intern_length(&run->strings, id));
}

/* bytes over count, or null and why. */
static void json_share(struct json_writer *w, const struct info *info, const char *key, const char *why_key,
                       int64_t count)
{
    json_key(w, key);
    if (info->bytes != UNKNOWN && count > 0) {
        json_double(w, (double)info->bytes / (double)count);
        return;
    }
    json_null(w);
    json_key_text(w, why_key, info->bytes == UNKNOWN ? "it was read from a pipe" : "there are none");
}

static void json_sources(struct json_writer *w, const struct run *run)
{
    json_key(w, "sources");
    json_array_begin(w);
    vec_each (&run->sources, source) {
        json_object_begin(w);
        json_text(w, run, "path", source->path);
        json_text(w, run, "format", source->format);
        json_text(w, run, "tool", source->tool);
        json_key_int(w, "clock_offset_ns", source->base_ns);
        json_key_int(w, "rank", source->rank >= 0 ? source->rank : UNKNOWN);
        if (source->rank < 0)
            json_key_text(w, "rank_why", "the recording does not tell");
        json_key(w, "repairs");
        json_array_begin(w);
        vec_each (&source->repairs, repair) {
            json_object_begin(w);
            json_text(w, run, "text", repair->text);
            json_key_int(w, "count", repair->count);
            json_key_int(w, "first_offset", repair->first_offset >= 0 ? repair->first_offset : UNKNOWN);
            if (repair->first_offset < 0)
                json_key_text(w, "first_offset_why", "it has no one place");
            json_object_end(w);
        }
        json_array_end(w);
        json_object_end(w);
    }
    json_array_end(w);
}

static void json_facts(struct json_writer *w, const struct run *run)
{
    json_key(w, "facts");
    json_array_begin(w);
    vec_each (&run->facts, fact) {
        json_object_begin(w);
        json_key_int(w, "source", fact->source);
        json_text(w, run, "key", fact->key);
        json_text(w, run, "value", fact->value);
        json_object_end(w);
    }
    json_array_end(w);
}

static void json_xids(struct json_writer *w, const struct run *run)
{
    json_key(w, "xids");
    json_array_begin(w);
    vec_each (&run->marks, mark) {
        int64_t code;
        const char *process;
        if (mark->kind != MARK_XID || !xid_text_parse(run_text(run, mark->text), &code, &process))
            continue;
        json_object_begin(w);
        json_key_int(w, "time_ns", mark->time);
        json_key_int(w, "xid", code);
        json_key_int(w, "device", mark->device != NONE ? run->devices.at[mark->device].id : UNKNOWN);
        if (mark->device == NONE)
            json_key_text(w, "device_why", "it is of none of the recording's");
        json_text(w, run, "text", mark->text);
        json_object_end(w);
    }
    json_array_end(w);
}

static void json_file(struct json_writer *w, const struct info *info)
{
    const struct run *run = info->run;
    json_object_begin(w);
    json_text(w, run, "path", run->sources.at[0].path);
    json_text(w, run, "format", run->sources.at[0].format);
    json_key_int(w, "bytes", info->bytes);
    if (info->bytes == UNKNOWN)
        json_key_text(w, "bytes_why", "it was read from a pipe");
    json_share(w, info, "bytes_per_gpu_operation", "bytes_per_gpu_operation_why", info->counts[COUNT_OPS]);
    json_share(w, info, "bytes_per_api_call", "bytes_per_api_call_why", info->counts[COUNT_API]);
    bool timed = info->extent.start != UNKNOWN;
    json_key_int(w, "origin_ns", info->extent.start);
    if (!timed)
        json_key_text(w, "origin_ns_why", "nothing in it has a time");
    json_key_int(w, "wall_ns", timed ? info->extent.end - info->extent.start : UNKNOWN);
    if (!timed)
        json_key_text(w, "wall_ns_why", "nothing in it has a time");
    json_sources(w, run);
    json_key(w, "counts");
    json_object_begin(w);
    for (int i = 0; i < COUNTED; i++)
        json_key_int(w, counted[i].key, info->counts[i]);
    json_object_end(w);
    json_facts(w, run);
    json_xids(w, run);
    json_key(w, "losses");
    json_object_begin(w);
    for (int i = 0; i < LOSSES; i++)
        json_key_int(w, losses[i].key, loss(info, i));
    json_object_end(w);
    json_object_end(w);
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Files one by one, because each is asked for what it holds itself. */
static int print_files(struct cli *cli, const struct info_args *args, struct screen *s, struct json_writer *w,
                       struct err *err)
{
    int rc = 0;
    for (int i = 0; i < cli->operand_count && rc == 0; i++) {
        struct run run;
        struct info info;
        rc = read_run(&run, cli, cli->operands + i, 1, args->input_format, err);
        if (rc == 0) {
            info_of_run(&info, &run);
            if (args->format == FORMAT_JSON)
                json_file(w, &info);
            else
                put_file(s, &info, i == 0);
        }
        run_release(&run);
    }
    return rc;
}

/* Gathers everything first: no file is written if one of the inputs cannot be read. */
static int run_info(struct cli *cli, const void *values, struct err *err)
{
    const struct info_args *args = values;
    FILE *out = NULL;
    struct screen s;
    cli_screen(cli, &s, stdout);
    struct json_writer w = {.out = &s.text, .indent = 1};
    if (args->format == FORMAT_JSON) {
        json_object_begin(&w);
        json_key(&w, "schema");
        json_puts(&w, "warplight.info/1");
        json_key(&w, "files");
        json_array_begin(&w);
    }
    int rc = print_files(cli, args, &s, &w, err);
    if (rc == 0 && args->format == FORMAT_JSON) {
        json_array_end(&w);
        json_object_end(&w);
        str_putc(&s.text, '\n');
    }
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        s.out = out;
        s.utf8 |= args->format == FORMAT_JSON;
        screen_flush(&s);
        rc = close_output(out, args->output, err);
    }
    screen_release(&s);
    return rc;
}

static const struct example examples[] = {
    {"warplight info trace.json.gz", N_("what the recording holds, and what was lost or mended")},
    {"warplight info run.wlt --format json", N_("the same, for a program")},
    {"warplight info profile.ncu-rep", N_("of a report of Nsight Compute: kernels, counters, rules")},
    {NULL, NULL},
};

static const char *const see_also[] = {"report", "export", NULL};

const struct command command_info = {
    .name = "info",
    .synopsis = N_("FILE…"),
    .summary = N_("say what a recording holds, and what was lost"),
    .description = N_("Reads recordings of any known format and says of each how large it is, what it holds "
                      "and how much of it, where it came from, and what was lost, damaged or mended."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_min = 1,
    .operands_max = -1,
    .examples = examples,
    .see_also = see_also,
    .run = run_info,
};
