/* Everything about one profiled kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/occupancy.h"
#include "base/i18n.h"
#include "view/profiles.h"
#include "view/text.h"

enum { INDENT = 2, LABEL = 28, BAR = 20, VALUE_WIDTH = 9, LINES = 8, STALLS = 8, EVIDENCE = 8 };

const char *metric_title(enum metric id)
{
    switch ((int)id) {
    case METRIC_DRAM_THROUGHPUT:
        return N_("device memory (DRAM)");
    case METRIC_L2_THROUGHPUT:
        return N_("L2 cache");
    case METRIC_L1_THROUGHPUT:
        return N_("L1 cache, shared memory");
    case METRIC_MEMORY_PIPES:
        return N_("issue of memory accesses");
    case METRIC_ISSUE_ACTIVE:
        return N_("schedulers issue");
    case METRIC_SM_ACTIVE:
        return N_("SMs with work");
    case METRIC_ACHIEVED_OCCUPANCY:
        return N_("warps resident");
    case METRIC_L1_HIT:
        return N_("L1 hit rate");
    case METRIC_L2_HIT:
        return N_("L2 hit rate");
    case METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST:
        return N_("sectors of a global load");
    case METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST:
        return N_("sectors of a global store");
    case METRIC_SHARED_CONFLICT:
        return N_("bank conflicts");
    case METRIC_THREADS_PER_INSTRUCTION:
        return N_("threads of an instruction");
    case METRIC_DRAM_READ_BYTES:
        return N_("DRAM bytes read");
    case METRIC_DRAM_WRITE_BYTES:
        return N_("DRAM bytes written");
    case METRIC_INSTRUCTIONS:
        return N_("instructions");
    case METRIC_THEORETICAL_OCCUPANCY:
        return N_("theoretical occupancy");
    case METRIC_PIPE_ALU:
        return N_("ALU (integer, logic)");
    case METRIC_PIPE_FMA:
        return N_("FMA (fp32)");
    case METRIC_PIPE_FP16:
        return N_("FP16");
    case METRIC_PIPE_FP64:
        return N_("FP64");
    case METRIC_PIPE_TENSOR:
        return N_("tensor cores");
    case METRIC_PIPE_LSU:
        return N_("LSU (loads, stores)");
    case METRIC_PIPE_TEX:
        return N_("TEX (textures)");
    case METRIC_PIPE_XU:
        return N_("XU (sin, sqrt, conversions)");
    case METRIC_PIPE_TMA:
        return N_("TMA");
    default:
        return NULL;
    }
}

static void label(struct screen *s, const char *text)
{
    str_pad(&s->text, ' ', INDENT);
    screen_cell(s, STYLE_PLAIN, text, LABEL, false);
    str_pad(&s->text, ' ', INDENT);
}

static void put_line(struct screen *s, const struct report *report, const char *title, struct msg msg)
{
    struct str text = {0};
    text_msg(&text, &msg, report);
    label(s, title);
    screen_wrap(s, STYLE_PLAIN, str_text(&text), LABEL + 2 * INDENT, LABEL + 2 * INDENT);
    str_release(&text);
}

static void put_bar(struct screen *s, const struct report *report, const char *title, double share)
{
    struct str text = {0};
    if (isnan(share))
        return;
    label(s, title);
    text_value(&text, value_ratio(share), report);
    screen_cell(s, STYLE_PLAIN, str_text(&text), VALUE_WIDTH, true);
    str_pad(&s->text, ' ', INDENT);
    screen_bar(s, share >= 0.8 ? STYLE_NOTICE : STYLE_GOOD, fmin(share, 1), BAR);
    screen_newline(s);
    str_release(&text);
}

static void put_heading(struct screen *s, const char *title)
{
    text_heading(s, title);
    screen_newline(s);
}

static double metric(const struct profile_row *row, enum metric id)
{
    return row->metrics[id].value;
}

static struct value metric_value_of(const struct profile_row *row, enum metric id)
{
    return metric_cell(id, metric(row, id));
}

/* ---- launch and occupancy ------------------------------------------------------------------------------ */

static const char *dims(struct str *out, const uint32_t d[3])
{
    str_cut(out, 0);
    if (d[2] > 1)
        str_addf(out, "%u × %u × %u", d[0], d[1], d[2]);
    else if (d[1] > 1)
        str_addf(out, "%u × %u", d[0], d[1]);
    else
        str_addf(out, "%u", d[0]);
    return str_text(out);
}

static void put_launch(struct screen *s, const struct report *report, const struct profile_row *row)
{
    struct str grid = {0}, block = {0};
    put_heading(s, _("Launch"));
    const struct metric_stat *time = &row->metrics[METRIC_DURATION];
    if (time->state == COUNTER_VALUE && row->profiled > 1)
        put_line(s, report, _("time"),
                 msg_make(N_("{0} on average of {1} launches, {2} to {3}"),
                          metric_value_of(row, METRIC_DURATION), value_count(row->profiled),
                          metric_cell(METRIC_DURATION, time->min), metric_cell(METRIC_DURATION, time->max)));
    else if (time->state == COUNTER_VALUE)
        put_line(s, report, _("time"), msg_make("{0}", metric_value_of(row, METRIC_DURATION)));
    if (!isnan(row->share_ratio))
        put_line(s, report, _("share of all kernels"), msg_make("{0}", value_ratio(row->share_ratio)));
    uint32_t graph_kernels = report->run->profiles.at[row->profile].graph_kernels;
    if (graph_kernels)
        put_line(s, report, _("kernels in the graph"),
                 msg_make(N_("{0}, measured together, with the way to the GPU"), value_count(graph_kernels)));
    if (row->shape != NONE) {
        const struct shape *shape = &report->run->shapes.at[row->shape];
        put_line(
            s, report, _("grid of blocks"),
            msg_make(N_("{0}, {1} waves"), value_text(dims(&grid, shape->grid)), value_number(row->waves)));
        put_line(s, report, _("block of threads"), msg_make("{0}", value_text(dims(&block, shape->block))));
        put_line(s, report, _("registers of a thread"), msg_make("{0}", value_count(shape->regs_per_thread)));
        put_line(s, report, _("shared memory of a block"),
                 msg_make(N_("{0} static, {1} dynamic"), value_bytes(shape->shared_static_bytes),
                          value_bytes(shape->shared_dynamic_bytes)));
    }
    if (row->code != NONE) {
        const struct kernel_code *code = &report->run->codes.at[row->code];
        put_line(s, report, _("spills of a thread"),
                 msg_make(N_("{0} stored, {1} loaded"), value_bytes(code->spill_store_bytes),
                          value_bytes(code->spill_load_bytes)));
    }
    str_release(&grid);
    str_release(&block);
}

static void put_occupancy(struct screen *s, const struct report *report, const struct profile_row *row)
{
    struct str limits = {0};
    if (isnan(row->occupancy_ratio) && isnan(metric(row, METRIC_ACHIEVED_OCCUPANCY)))
        return;
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (row->limiters >> i & 1)
            str_addf(&limits, "%s%s", limits.len ? _(", ") : "",
                     _(occupancy_limit_title((enum occupancy_limit)i)));
    put_heading(s, _("Occupancy"));
    if (limits.len)
        put_line(s, report, _("theoretical"),
                 msg_make(N_("{0}; limited by: {1}"), value_ratio(row->occupancy_ratio),
                          value_text(str_text(&limits))));
    else
        put_line(s, report, _("theoretical"), msg_make("{0}", value_ratio(row->occupancy_ratio)));
    put_line(s, report, _("achieved"), msg_make("{0}", metric_value_of(row, METRIC_ACHIEVED_OCCUPANCY)));
    if (!isnan(metric(row, METRIC_WARPS_ELIGIBLE)))
        put_line(s, report, _("warps ready to issue"),
                 msg_make(N_("{0} of {1} resident in a scheduler"),
                          metric_value_of(row, METRIC_WARPS_ELIGIBLE),
                          metric_value_of(row, METRIC_WARPS_ACTIVE)));
    str_release(&limits);
}

/* ---- how busy, memory, pipes --------------------------------------------------------------------------- */

/* Those below least are left out. */
static void put_bars(struct screen *s, const struct report *report, const struct profile_row *row,
                     const char *title, const enum metric *ids, size_t count, double least)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        double share = metric(row, ids[i]);
        if (!(share >= least))
            continue;
        if (!any)
            put_heading(s, title);
        any = true;
        put_bar(s, report, _(metric_title(ids[i])), share);
    }
}

enum { CELLS = 4, CELL_WIDTH = 13 };

static void put_cells(struct screen *s, enum style style, const char *title, const char *const cells[CELLS])
{
    label(s, title);
    for (int i = 0; i < CELLS; i++)
        screen_cell(s, style, cells[i], CELL_WIDTH, true);
    screen_newline(s);
}

/* One kind of access: what each SM asked for, and what that took. METRIC_COUNT: there is no such number. */
static const struct access {
    const char *title; /* msgid */
    enum metric requests, parts, per_request, hit;
} accesses[] = {
    {N_("global loads"), METRIC_GLOBAL_LOAD_REQUESTS, METRIC_GLOBAL_LOAD_SECTORS,
     METRIC_GLOBAL_LOAD_SECTORS_PER_REQUEST, METRIC_L1_GLOBAL_LOAD_HIT},
    {N_("global stores"), METRIC_GLOBAL_STORE_REQUESTS, METRIC_GLOBAL_STORE_SECTORS,
     METRIC_GLOBAL_STORE_SECTORS_PER_REQUEST, METRIC_COUNT},
    {N_("global atomics"), METRIC_GLOBAL_ATOMIC_REQUESTS, METRIC_GLOBAL_ATOMIC_SECTORS, METRIC_COUNT,
     METRIC_COUNT},
    {N_("local loads"), METRIC_LOCAL_LOAD_REQUESTS, METRIC_LOCAL_LOAD_SECTORS, METRIC_COUNT,
     METRIC_L1_LOCAL_LOAD_HIT},
    {N_("local stores"), METRIC_LOCAL_STORE_REQUESTS, METRIC_LOCAL_STORE_SECTORS, METRIC_COUNT, METRIC_COUNT},
    {N_("shared loads"), METRIC_SHARED_LOAD_REQUESTS, METRIC_SHARED_LOAD_WAVEFRONTS, METRIC_COUNT,
     METRIC_COUNT},
    {N_("shared stores"), METRIC_SHARED_STORE_REQUESTS, METRIC_SHARED_STORE_WAVEFRONTS, METRIC_COUNT,
     METRIC_COUNT},
};

static double metric_or_nan(const struct profile_row *row, enum metric id)
{
    return id == METRIC_COUNT ? NAN : metric(row, id);
}

static void put_access(struct screen *s, const struct report *report, const struct profile_row *row,
                       const struct access *access)
{
    struct str texts[CELLS] = {0};
    double requests = metric_or_nan(row, access->requests), parts = metric_or_nan(row, access->parts);
    double each = metric_or_nan(row, access->per_request);
    if (!(requests > 0) && !(parts > 0))
        return;
    if (isnan(each) && requests > 0)
        each = parts / requests;
    text_value(&texts[0], metric_cell(access->requests, requests), report);
    text_value(&texts[1], metric_cell(access->parts, parts), report);
    text_value(&texts[2], value_number(each), report);
    text_value(&texts[3], value_ratio(metric_or_nan(row, access->hit)), report);
    put_cells(s, STYLE_PLAIN, _(access->title),
              (const char *const[]){str_text(&texts[0]), str_text(&texts[1]), str_text(&texts[2]),
                                    str_text(&texts[3])});
    for (int i = 0; i < CELLS; i++)
        str_release(&texts[i]);
}

static void put_memory(struct screen *s, const struct report *report, const struct profile_row *row)
{
    put_heading(s, _("Memory access"));
    put_line(s, report, "DRAM",
             msg_make(N_("{0} read, {1} written, {2}"), metric_value_of(row, METRIC_DRAM_READ_BYTES),
                      metric_value_of(row, METRIC_DRAM_WRITE_BYTES),
                      metric_value_of(row, METRIC_DRAM_BYTES_PER_S)));
    put_line(s, report, _("hit rates"),
             msg_make(N_("L1 {0}, L2 {1}"), metric_value_of(row, METRIC_L1_HIT),
                      metric_value_of(row, METRIC_L2_HIT)));
    put_cells(s, STYLE_DIM, "",
              (const char *const[]){_("requests"), _("sectors"), _("a request"), _("L1 hits")});
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        put_access(s, report, row, &accesses[i]);
    put_line(s, report, "", msg_make(N_("shared memory: passes through the banks in place of sectors")));
}

/* ---- stalls, roofline, lines --------------------------------------------------------------------------- */

static void put_stalls(struct screen *s, const struct report *report, const struct profile_row *row)
{
    if (row->stall_source == STALLS_UNKNOWN)
        return;
    put_heading(s, row->stall_source == STALLS_SAMPLED ? _("Why warps wait (sampled)") : _("Why warps wait"));
    bool shown[STALL_COUNT] = {false};
    for (int n = 0; n < STALLS; n++) {
        int best = -1;
        for (int i = 0; i < STALL_COUNT; i++)
            if (!shown[i] && row->stalls[i] >= 0.01 && (best < 0 || row->stalls[i] > row->stalls[best]))
                best = i;
        if (best < 0)
            break;
        shown[best] = true;
        put_bar(s, report, stall_keys[best], row->stalls[best]);
    }
}

static void put_roofline(struct screen *s, const struct report *report, const struct profile_row *row)
{
    const struct roofline *r = &row->roofline;
    if (isnan(r->reached_ratio))
        return;
    put_heading(s, _("Roofline"));
    put_line(s, report, "DRAM",
             msg_make(N_("{0} of {1} (peak by: {2})"), value_rate(r->bytes_per_s),
                      value_rate(r->peak_bytes_per_s), value_term(peak_source_name(r->bytes_source))));
    if (r->flop_per_s > 0)
        put_line(s, report, r->is_fp64 ? _("fp64 arithmetic") : _("fp32 arithmetic"),
                 msg_make(N_("{0} of {1} GFLOP/s (peak by: {2})"), value_number(r->flop_per_s / 1e9),
                          value_number(r->peak_flop_per_s / 1e9),
                          value_term(peak_source_name(r->flop_source))));
    if (r->flop_per_byte > 0 && !r->has_tensor)
        put_line(
            s, report, _("intensity"),
            msg_make(r->is_memory_side ? N_("{0} FLOP/B: under the memory roof, which ends at {1} FLOP/B")
                                       : N_("{0} FLOP/B: under the compute roof, which begins at {1} FLOP/B"),
                     value_number(r->flop_per_byte), value_number(r->peak_flop_per_s / r->peak_bytes_per_s)));
    if (r->has_tensor)
        put_line(s, report, _("intensity"),
                 msg_make(N_("not shown: the FLOP of tensor cores are not counted")));
    put_bar(s, report, _("reached of the roof"), r->reached_ratio);
}

static void line_name(struct str *out, const struct report *report, uint32_t place)
{
    const struct run *run = report->run;
    const struct place_table *places = &run->places;
    str_cut(out, 0);
    if (places->line[place]) {
        const char *path = run_text(run, places->file[place]), *slash = strrchr(path, '/');
        str_addf(out, "%s:%u", slash ? slash + 1 : path, places->line[place]);
    } else {
        const char *sass = run_text(run, places->sass[place]);
        if (places->pc[place] != UINT64_MAX)
            str_addf(out, "+0x%" PRIx64 "  ", places->pc[place]);
        if (*sass)
            text_value(out, value_text(sass + strspn(sass, " ")), report);
    }
}

/* "long_scoreboard 75 %, wait 25 %": what warps wait for at a line, most first. */
static void add_reasons(struct str *out, const struct report *report, const struct hot_line *line)
{
    enum { REASONS = 2 };
    static const double least = 0.1;
    int last = -1;
    str_cut(out, 0);
    for (int n = 0; n < REASONS; n++) {
        int best = -1;
        for (int i = 0; i < STALL_COUNT; i++)
            if (i != STALL_SELECTED && i != last && line->stalls[i] > 0 &&
                (best < 0 || line->stalls[i] > line->stalls[best]))
                best = i;
        double share = best < 0 ? 0 : line->stalls[best] / line->values[PLACE_STALL_SAMPLES];
        if (best < 0 || (n > 0 && share < least))
            break;
        str_addf(out, "%s%s ", n ? ", " : "", stall_keys[best]);
        text_value(out, value_ratio(share), report);
        last = best;
    }
}

/* The call in the kernel that a place was inlined at, if it was: the place itself is in another function. */
static void put_call(struct screen *s, const struct report *report, uint32_t place)
{
    enum { DEEPEST = 64 };
    const struct place_table *places = &report->run->places;
    uint32_t call = places->inlined[place];
    struct str text = {0};
    if (call == NONE)
        return;
    for (int i = 0; places->inlined[call] != NONE && i < DEEPEST; i++)
        call = places->inlined[call];
    line_name(&text, report, call);
    struct msg msg = msg_make(N_("inlined at {0}"), value_text(str_text(&text)));
    text_put_msg(s, report, STYLE_DIM, &msg, VALUE_WIDTH + 3 * INDENT);
    str_release(&text);
}

/* Where warps wait within a line. */
static void put_instruction(struct screen *s, const struct report *report, uint32_t place)
{
    const struct place_table *places = &report->run->places;
    const char *sass = run_text(report->run, places->sass[place]);
    struct str text = {0};
    if (!*sass || !places->line[place])
        return;
    if (places->pc[place] != UINT64_MAX)
        str_addf(&text, "+0x%" PRIx64 "  ", places->pc[place]);
    text_value(&text, value_text(sass + strspn(sass, " ")), report);
    struct msg msg = msg_make(N_("mostly at {0}"), value_text(str_text(&text)));
    text_put_msg(s, report, STYLE_DIM, &msg, VALUE_WIDTH + 3 * INDENT);
    str_release(&text);
}

static void put_hot_line(struct screen *s, const struct report *report, const struct hot_line *line,
                         double share)
{
    enum { REASONS_WIDTH = 36 };
    struct str text = {0};
    text_value(&text, value_ratio(share), report);
    str_pad(&s->text, ' ', INDENT);
    screen_cell(s, STYLE_PLAIN, str_text(&text), VALUE_WIDTH, true);
    str_pad(&s->text, ' ', INDENT);
    add_reasons(&text, report, line);
    screen_cell(s, STYLE_DIM, str_text(&text), REASONS_WIDTH, false);
    str_pad(&s->text, ' ', INDENT);
    line_name(&text, report, line->place);
    screen_cell(s, STYLE_PLAIN, str_text(&text), s->width - VALUE_WIDTH - REASONS_WIDTH - 4 * INDENT, false);
    screen_newline(s);
    put_call(s, report, line->place);
    put_instruction(s, report, line->hottest);
    str_release(&text);
}

static void put_lines(struct screen *s, const struct report *report, const struct profile_row *row)
{
    double samples = 0;
    for (uint32_t i = 0; i < row->line_count; i++)
        samples += report->lines.at[row->first_line + i].values[PLACE_SAMPLES];
    if (samples == 0)
        return;
    put_heading(s, _("Hottest lines, by samples"));
    for (uint32_t i = 0; i < row->line_count && i < LINES; i++) {
        const struct hot_line *line = &report->lines.at[row->first_line + i];
        put_hot_line(s, report, line, line->values[PLACE_SAMPLES] / samples);
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

void profile_counters(struct screen *s, const struct report *report, const struct profile_row *row)
{
    const struct raw_counter *counters = report->counters.at + row->first_counter;
    int widest = 0;
    for (uint32_t i = 0; i < row->counter_count; i++) {
        int columns = screen_columns(run_text(report->run, counters[i].name));
        widest = columns > widest ? columns : widest;
    }
    for (uint32_t i = 0; i < row->counter_count; i++) {
        const char *name = run_text(report->run, counters[i].name);
        double value = counters[i].value;
        bool is_whole = value == round(value) && fabs(value) < 1e15;
        struct str text = {0};
        text_value(&text, is_whole ? value_count((int64_t)value) : value_number(value), report);
        str_pad(&s->text, ' ', INDENT);
        screen_puts(s, STYLE_PLAIN, name);
        str_pad(&s->text, ' ', (size_t)(widest - screen_columns(name) + INDENT));
        screen_puts(s, STYLE_PLAIN, str_text(&text));
        screen_newline(s);
        str_release(&text);
    }
}

void profile_detail(struct screen *s, const struct report *report, const struct profile_row *row,
                    const struct view_options *options)
{
    static const enum metric units[] = {METRIC_DRAM_THROUGHPUT, METRIC_L2_THROUGHPUT, METRIC_L1_THROUGHPUT,
                                        METRIC_MEMORY_PIPES,    METRIC_ISSUE_ACTIVE,  METRIC_SM_ACTIVE};
    static const enum metric pipes[] = {METRIC_PIPE_ALU,  METRIC_PIPE_FMA,    METRIC_PIPE_FP16,
                                        METRIC_PIPE_FP64, METRIC_PIPE_TENSOR, METRIC_PIPE_LSU,
                                        METRIC_PIPE_TEX,  METRIC_PIPE_XU,     METRIC_PIPE_TMA};
    struct str name = {0};
    struct cell cell = {CELL_VALUE, {.value = value_kernel(run_text(report->run, row->name))}};
    cell_text(&name, &cell, report,
              &(struct cell_style){.translate = true, .full_names = options->full_names});
    screen_newline(s);
    screen_wrap(s, STYLE_HEADING, str_text(&name), 0, INDENT);
    str_release(&name);
    vec_each (&row->findings, finding) {
        screen_newline(s);
        text_finding(s, report, finding, EVIDENCE);
    }
    put_launch(s, report, row);
    put_occupancy(s, report, row);
    put_bars(s, report, row, _("How busy the units are"), units, sizeof units / sizeof *units, 0);
    put_memory(s, report, row);
    put_bars(s, report, row, _("Pipes"), pipes, sizeof pipes / sizeof *pipes, 0.005);
    put_stalls(s, report, row);
    put_roofline(s, report, row);
    if (row->counter_count) {
        put_heading(s, _("Counters"));
        profile_counters(s, report, row);
    }
    put_lines(s, report, row);
}
