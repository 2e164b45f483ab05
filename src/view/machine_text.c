/* Samples of a machine as text. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "view/gpu_text.h"
#include "view/machine.h"

#define DASH "–"

/* ---- a grid of texts -------------------------------------------------------------------------------------
 */

enum { GRID_COLUMNS = 12, GAP = 2 };

struct grid_column {
    const char *head;
    bool right;    /* aligned */
    bool flexible; /* gives room when the line is too long */
    bool optional; /* goes where no row has a value */
};

struct grid {
    const struct grid_column *columns;
    int count;
    VEC(char *) cells; /* row by row */
};

static void grid_add(struct grid *g, struct str *cell)
{
    vec_push(&g->cells, mem_strdup(cell->len ? str_text(cell) : DASH));
    str_cut(cell, 0);
}

static int column_width(const struct grid *g, int column)
{
    int width = 0;
    bool any = false;
    for (size_t at = (size_t)column; at < g->cells.count; at += (size_t)g->count) {
        int columns = screen_columns(g->cells.at[at]);
        any = any || strcmp(g->cells.at[at], DASH) != 0;
        width = columns > width ? columns : width;
    }
    if (g->columns[column].optional && !any)
        return 0;
    int head = screen_columns(g->columns[column].head);
    return head > width ? head : width;
}

static void fit(const struct screen *s, const struct grid *g, int widths[GRID_COLUMNS])
{
    enum { FLEXIBLE_LEAST = 8 };
    int total = 0;
    for (int c = 0; c < g->count; c++)
        total += widths[c] ? widths[c] + GAP : 0;
    for (int c = 0; c < g->count; c++) {
        int over = total - GAP - s->width;
        if (over <= 0 || !g->columns[c].flexible || widths[c] <= FLEXIBLE_LEAST)
            continue;
        int less = over < widths[c] - FLEXIBLE_LEAST ? over : widths[c] - FLEXIBLE_LEAST;
        widths[c] -= less;
        total -= less;
    }
}

static void put_row(struct screen *s, const struct grid *g, const int widths[GRID_COLUMNS], size_t row,
                    enum style style)
{
    int owed = 0; /* blanks before the next cell: none at the end of a line */
    for (int c = 0; c < g->count; c++) {
        const char *text = row ? g->cells.at[(row - 1) * (size_t)g->count + (size_t)c] : g->columns[c].head;
        if (!widths[c])
            continue;
        int used = screen_columns(text) < widths[c] ? screen_columns(text) : widths[c];
        screen_printf(s, STYLE_PLAIN, "%*s", owed + (g->columns[c].right ? widths[c] - used : 0), "");
        screen_cell(s, style, text, used, false);
        owed = GAP + (g->columns[c].right ? 0 : widths[c] - used);
    }
    screen_newline(s);
}

static void grid_put(struct screen *s, struct grid *g, bool header)
{
    int widths[GRID_COLUMNS];
    for (int c = 0; c < g->count; c++)
        widths[c] = column_width(g, c);
    fit(s, g, widths);
    if (header)
        put_row(s, g, widths, 0, STYLE_DIM);
    for (size_t row = 1; row <= g->cells.count / (size_t)g->count; row++)
        put_row(s, g, widths, row, STYLE_PLAIN);
    vec_each (&g->cells, cell)
        free(*cell);
    vec_release(&g->cells);
}

/* ---- cells -----------------------------------------------------------------------------------------------
 */

/* Nothing where it is not known; an old value is marked, and one that is not the device's own. */
void machine_add_reading(struct str *out, enum gpu_unit unit, struct reading r)
{
    if (reading_has_value(r))
        gpu_text_add(out, unit, r.value);
    if (r.state == READING_STALE || r.state == READING_ALTERED)
        str_puts(out, r.state == READING_STALE ? "?" : "!");
}

/* "12 GiB / 141 GiB", or the part that is known. */
void machine_add_of(struct str *out, enum gpu_unit unit, struct reading part, struct reading whole)
{
    machine_add_reading(out, unit, part);
    if (!reading_is_known(whole) && whole.state != READING_ALTERED)
        return;
    str_puts(out, out->len ? " / " : DASH " / ");
    machine_add_reading(out, unit, whole);
}

static void add_held(struct str *out, const char *title, struct reading share)
{
    if (!reading_is_known(share) || share.value == 0)
        return;
    str_addf(out, "%s%s ", out->len ? ", " : "", title);
    gpu_text_add(out, GPU_PERMILLE, share.value);
}

/* Of the time since the sample before; without one, what the driver says of the moment. */
void machine_add_slowed(struct str *out, const struct machine_device *d)
{
    const int64_t harmless = GPU_CLOCK_IDLE | GPU_CLOCK_SETTING | GPU_CLOCK_DISPLAY;
    const struct machine_detail *t = &d->detail;
    add_held(out, _("power limit"), t->power_cap);
    add_held(out, _("heat"), t->heat);
    add_held(out, _("power brake"), t->power_brake);
    bool rated = reading_is_known(t->power_cap) || reading_is_known(t->heat);
    if (out->len == 0 && !rated && reading_is_known(d->sample.clock_reasons))
        gpu_text_add(out, GPU_REASONS, d->sample.clock_reasons.value & ~harmless);
    else if (out->len == 0 && rated)
        str_puts(out, _("nothing"));
}

void machine_add_name(struct str *out, const struct machine_device *d)
{
    if (d->parent != NONE)
        str_puts(out, "└ ");
    str_puts(out, d->facts.name[0] ? d->facts.name : d->driver[0] ? d->driver : _("no driver"));
}

void machine_add_device(struct str *out, const struct machine_device *d)
{
    if (d->id != UNKNOWN)
        str_addf(out, "%" PRId64, d->id);
    else
        str_puts(out, d->facts.bus);
}

/* The load that says most: SMs with work, where the GPU tells. */
static void add_row(struct grid *g, const struct machine_device *d)
{
    struct str cell = {0};
    machine_add_device(&cell, d);
    grid_add(g, &cell);
    machine_add_name(&cell, d);
    grid_add(g, &cell);
    if (d->state != READING_KNOWN && d->state != READING_STALE)
        str_puts(&cell, _(reading_state_meaning(d->state)));
    else
        machine_add_reading(&cell, GPU_PERCENT, d->sample.utilization);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_PERMILLE, d->detail.sm_active);
    grid_add(g, &cell);
    machine_add_of(&cell, GPU_BYTES, d->sample.memory_used, d->facts.memory);
    grid_add(g, &cell);
    machine_add_of(&cell, GPU_MILLIWATTS, d->sample.power, d->sample.power_limit);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_CELSIUS, d->sample.temperature);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_HZ, d->sample.sm_clock);
    grid_add(g, &cell);
    machine_add_slowed(&cell, d);
    grid_add(g, &cell);
    str_release(&cell);
}

enum { DEVICE_COLUMNS = 9 };
static void device_columns(struct grid_column columns[DEVICE_COLUMNS])
{
    const struct grid_column all[DEVICE_COLUMNS] = {
        {.head = _("GPU")},
        {.head = _("name"), .flexible = true},
        {.head = _("in use"), .right = true},
        {.head = _("SMs"), .right = true, .optional = true},
        {.head = _("memory"), .right = true, .optional = true},
        {.head = _("power"), .right = true, .optional = true},
        {.head = _("temperature"), .right = true, .optional = true},
        {.head = _("clock"), .right = true, .optional = true},
        {.head = _("slowed by"), .flexible = true, .optional = true},
    };
    memcpy(columns, all, sizeof all);
}

/* ---- parts of the page -----------------------------------------------------------------------------------
 */

/* The value, or a dash. text keeps it. */
static struct value text_of(struct str *text)
{
    return value_text(text->len ? str_text(text) : DASH);
}

static void put_host(struct screen *s, const struct machine_host *host)
{
    const struct reading loads[] = {host->load_1, host->load_5, host->load_15};
    struct str load = {0}, cpu = {0}, memory = {0}, swap = {0}, line = {0};
    for (int i = 0; i < 3 && reading_is_known(loads[i]); i++) {
        str_puts(&load, i ? " " : "");
        gpu_text_add(&load, GPU_HUNDREDTHS, loads[i].value);
    }
    machine_add_reading(&cpu, GPU_PERMILLE, host->cpu_busy);
    machine_add_of(&memory, GPU_BYTES, host->memory_used, host->memory);
    machine_add_of(&swap, GPU_BYTES, host->swap_used, host->swap);
    struct msg msg = msg_make(N_("{0}: load {1}; CPUs {2} busy; host memory {3}; swap {4}"),
                              value_text(host->name[0] ? host->name : DASH), text_of(&load), text_of(&cpu),
                              text_of(&memory), text_of(&swap));
    msg_render(&line, &msg, true, 0);
    screen_wrap(s, STYLE_PLAIN, str_text(&line), 0, GAP);
    str_release(&load);
    str_release(&cpu);
    str_release(&memory);
    str_release(&swap);
    str_release(&line);
}

static void put_devices(struct screen *s, const struct machine_sample *sample)
{
    struct grid_column columns[DEVICE_COLUMNS];
    struct grid grid = {.columns = columns, .count = DEVICE_COLUMNS};
    device_columns(columns);
    vec_each (&sample->devices, device)
        add_row(&grid, device);
    grid_put(s, &grid, true);
}

void machine_add_place(struct str *out, const struct machine_process *p)
{
    enum { SHORT_ID = 12 };
    if (p->job[0])
        str_addf(out, _("job %s"), p->job);
    if (p->pod[0])
        str_addf(out, "%s%s", out->len ? ", " : "", p->pod);
    if (p->container[0])
        str_addf(out, "%s%.*s", out->len ? ", " : "", SHORT_ID, p->container);
}

static void add_process(struct grid *g, const struct machine_sample *sample, const struct machine_process *p)
{
    struct str cell = {0};
    machine_add_device(&cell, &sample->devices.at[p->device]);
    grid_add(g, &cell);
    str_addf(&cell, "%" PRId64, p->pid);
    grid_add(g, &cell);
    str_puts(&cell, p->user);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_BYTES, p->memory);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_PERMILLE, p->sm);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_PERMILLE, p->encoder);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_PERMILLE, p->decoder);
    grid_add(g, &cell);
    machine_add_reading(&cell, GPU_PERMILLE, p->cpu);
    grid_add(g, &cell);
    machine_add_place(&cell, p);
    grid_add(g, &cell);
    str_puts(&cell, p->state != READING_KNOWN ? _("not a process of this PID namespace")
                    : p->command[0]           ? p->command
                                              : p->name);
    grid_add(g, &cell);
    str_release(&cell);
}

static void put_processes(struct screen *s, const struct machine_sample *sample)
{
    const struct grid_column columns[] = {
        {.head = _("GPU")},
        {.head = _("pid"), .right = true},
        {.head = _("user"), .optional = true},
        {.head = _("memory"), .right = true},
        {.head = _("SMs"), .right = true, .optional = true},
        {.head = _("encoder"), .right = true, .optional = true},
        {.head = _("decoder"), .right = true, .optional = true},
        {.head = _("CPU"), .right = true, .optional = true},
        {.head = _("where"), .flexible = true, .optional = true},
        {.head = _("command"), .flexible = true},
    };
    struct grid grid = {.columns = columns, .count = sizeof columns / sizeof *columns};
    if (sample->processes.count == 0)
        return;
    screen_newline(s);
    vec_each (&sample->processes, process)
        add_process(&grid, sample, process);
    grid_put(s, &grid, true);
}

static void put_message(struct screen *s, struct msg msg)
{
    struct str text = {0};
    msg_render(&text, &msg, true, 0);
    screen_wrap(s, STYLE_DIM, str_text(&text), 0, GAP);
    str_release(&text);
}

/* Memory that the listed processes do not account for; little of it is the driver's own. */
static void put_unseen(struct screen *s, const struct machine_sample *sample)
{
    const int64_t little = INT64_C(64) << 20;
    vec_each (&sample->devices, device) {
        struct reading unseen = device->detail.memory_unseen;
        if (reading_is_known(unseen) && unseen.value > little)
            put_message(
                s, msg_make(N_("GPU {0}: {1} of memory in use belong to no process that can be seen here"),
                            device->id == UNKNOWN ? value_text(device->facts.bus) : value_id(device->id),
                            value_bytes(unseen.value)));
    }
}

static struct value name_of(const struct machine_device *d)
{
    return d->id == UNKNOWN ? value_text(d->facts.bus) : value_id(d->id);
}

/* "3", or a dash; text keeps it. */
static struct value number_of(struct str *text, struct reading r)
{
    if (reading_is_known(r))
        gpu_text_add(text, GPU_COUNT, r.value);
    return text_of(text);
}

static void put_pcie(struct screen *s, const struct machine_device *d)
{
    struct str verdict = {0}, texts[5] = {0};
    gpu_text_add(&verdict, GPU_LINK, d->detail.pcie_link.value & ~GPU_LINK_UNUSED);
    put_message(
        s, msg_make(N_("GPU {0}, PCIe: {1} (generation {2} of {3}, {4} of {5} lanes, {6} replays in the last "
                       "minute)"),
                    name_of(d), text_of(&verdict), number_of(&texts[0], d->sample.pcie_generation),
                    number_of(&texts[1], d->facts.pcie_generation_max),
                    number_of(&texts[2], d->sample.pcie_width), number_of(&texts[3], d->facts.pcie_width_max),
                    number_of(&texts[4], d->detail.pcie_replays_lately)));
    str_release(&verdict);
    for (int i = 0; i < 5; i++)
        str_release(&texts[i]);
}

static void put_nvlink(struct screen *s, const struct machine_device *d)
{
    struct str verdict = {0}, texts[3] = {0};
    gpu_text_add(&verdict, GPU_LINK, d->detail.nvlink_link.value & ~GPU_LINK_UNUSED);
    put_message(s, msg_make(N_("GPU {0}, NVLink: {1} ({2} of {3} links up, {4} errors so far)"), name_of(d),
                            text_of(&verdict), number_of(&texts[0], d->detail.nvlinks_active),
                            number_of(&texts[1], d->detail.nvlinks),
                            number_of(&texts[2], d->detail.nvlink_errors)));
    str_release(&verdict);
    for (int i = 0; i < 3; i++)
        str_release(&texts[i]);
}

static bool is_bad(struct reading link)
{
    return reading_is_known(link) && (link.value & ~GPU_LINK_UNUSED);
}

/* Links that are not as they should be, what the driver asks for, and numbers that are not the GPU's own. */
static void put_health(struct screen *s, const struct machine_sample *sample)
{
    vec_each (&sample->devices, d) {
        struct str text = {0};
        if (is_bad(d->detail.pcie_link))
            put_pcie(s, d);
        if (is_bad(d->detail.nvlink_link))
            put_nvlink(s, d);
        if (reading_is_known(d->detail.recovery) && d->detail.recovery.value > 0) {
            gpu_text_add(&text, GPU_RECOVERY, d->detail.recovery.value);
            put_message(s, msg_make(N_("GPU {0}: the driver asks for {1}"), name_of(d), text_of(&text)));
        }
        if (d->interposer[0])
            put_message(
                s, msg_make(N_("GPU {0}: the library {1} stands between this program and the driver; values "
                               "with ! are what it says, mostly a quota of this container"),
                            name_of(d), value_text(d->interposer)));
        str_release(&text);
    }
}

/* What the page shows of every device. */
static const size_t shown[] = {
    offsetof(struct machine_device, sample.utilization), offsetof(struct machine_device, sample.memory_used),
    offsetof(struct machine_device, sample.power),       offsetof(struct machine_device, sample.temperature),
    offsetof(struct machine_device, sample.sm_clock),    offsetof(struct machine_device, detail.sm_active),
    offsetof(struct machine_device, detail.power_cap),
};

/* One line for each reason: what it keeps from us. */
static void put_missing(struct screen *s, const struct machine_device *d, const machine_columns *columns)
{
    for (int state = 0; state < READING_STATES; state++) {
        struct str titles = {0};
        vec_each (columns, column) {
            size_t offset = column->base + column->field->offset;
            bool is_shown = false;
            for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
                is_shown = is_shown || shown[i] == offset;
            if (is_shown && state != READING_KNOWN &&
                machine_cell(d, column).state == (enum reading_state)state)
                str_addf(&titles, "%s%s", titles.len ? _(", ") : "", _(column->field->title));
        }
        if (titles.len)
            put_message(s, msg_make(N_("GPU {0}, {1}: {2}"),
                                    d->id == UNKNOWN ? value_text(d->facts.bus) : value_id(d->id),
                                    value_term(reading_state_meaning((enum reading_state)state)),
                                    value_text(str_text(&titles))));
        str_release(&titles);
    }
}

static void put_why(struct screen *s, const struct machine_sample *sample)
{
    machine_columns columns = {0};
    machine_columns_all(&columns, MACHINE_ROWS_DEVICES);
    vec_each (&sample->devices, device)
        if (device->parent == NONE && (device->state == READING_KNOWN || device->state == READING_STALE))
            put_missing(s, device, &columns);
    vec_release(&columns);
}

static void put_events(struct screen *s, const struct machine_sample *sample, const char *before)
{
    vec_each (&sample->events, event) {
        struct str text = {0};
        str_puts(&text, before);
        machine_event_add(&text, sample, event);
        screen_wrap(s, STYLE_BAD, str_text(&text), 0, GAP);
        str_release(&text);
    }
}

/* Why Xids may be missing; only who asks why wants to know, and only where a GPU of NVIDIA could have any. */
static void put_log(struct screen *s, const struct machine_sample *sample)
{
    enum reading_state state = sample->sources[MACHINE_KERNEL_LOG].state;
    if (state != READING_KNOWN && sample->sources[0].state == READING_KNOWN)
        put_message(s, msg_make(N_("the kernel log, {0}: only the Xids that NVML tells of are shown"),
                                value_term(reading_state_meaning(state))));
}

static void put_stuck(struct screen *s, const struct machine_sample *sample)
{
    for (int i = 0; i < MACHINE_SOURCES; i++) {
        const struct machine_source *source = &sample->sources[i];
        const int64_t second = 1000000000;
        if (source->state == READING_NO_ANSWER)
            put_message(s, msg_make(N_("{0} has not answered for {1} s; its values are old"),
                                    value_text(source->name),
                                    value_count((sample->time_unix_ns - source->since_unix_ns) / second)));
        else if (source->state == READING_FAILED)
            put_message(s, msg_make(N_("{0} failed; it will be tried again"), value_text(source->name)));
    }
}

/* No GPU is an answer, too: with what was looked for. */
static void put_nothing(struct screen *s, const struct machine_sample *sample)
{
    screen_puts(s, STYLE_PLAIN, _("no GPU"));
    screen_newline(s);
    put_message(
        s, msg_make(
               N_("looked for: display controllers of NVIDIA, AMD and Intel on the PCI bus (none); NVIDIA's "
                  "library NVML ({0}); cards of the kernel's graphics drivers ({1})"),
               value_term(reading_state_meaning(sample->sources[0].state)),
               value_term(sample->sources[1].state == READING_NO_DRIVER
                              ? N_("none")
                              : reading_state_meaning(sample->sources[1].state))));
}

void machine_text(struct screen *s, const struct machine_sample *sample)
{
    put_host(s, &sample->host);
    screen_newline(s);
    if (sample->devices.count == 0) {
        put_nothing(s, sample);
    } else {
        put_devices(s, sample);
        put_processes(s, sample);
        struct screen notes = {.out = s->out, .width = s->width, .color = s->color, .utf8 = s->utf8};
        put_health(&notes, sample);
        put_unseen(&notes, sample);
        put_why(&notes, sample);
        if (notes.text.len)
            screen_newline(s);
        str_puts(&s->text, str_text(&notes.text));
        screen_release(&notes);
    }
    put_events(s, sample, "");
    put_stuck(s, sample);
}

/* ---- other shapes ----------------------------------------------------------------------------------------
 */

void machine_text_fields(struct screen *s, const struct machine_sample *sample,
                         const machine_columns *columns)
{
    int width = 0;
    vec_each (columns, column) {
        int title = screen_columns(_(column->field->title));
        width = title > width ? title : width;
    }
    vec_each (&sample->devices, device) {
        struct str text = {0};
        str_puts(&text, "GPU ");
        machine_add_device(&text, device);
        str_puts(&text, ": ");
        machine_add_name(&text, device);
        screen_puts(s, STYLE_BOLD, str_text(&text));
        screen_newline(s);
        vec_each (columns, column) {
            struct reading r = machine_cell(device, column);
            str_cut(&text, 0);
            machine_add_reading(&text, column->field->unit, r);
            if (!reading_is_known(r))
                str_addf(&text, "%s(%s)", text.len ? " " : DASH " ", _(reading_state_meaning(r.state)));
            screen_printf(s, STYLE_PLAIN, "%*s", GAP, "");
            screen_cell(s, STYLE_DIM, _(column->field->title), width + GAP, false);
            screen_wrap(s, STYLE_PLAIN, str_text(&text), width + 2 * GAP, width + 2 * GAP);
        }
        str_release(&text);
    }
    if (sample->devices.count == 0)
        put_nothing(s, sample);
    put_events(s, sample, "");
    put_log(s, sample);
    put_stuck(s, sample);
}

/* The moment with its tenths, in the time zone of who reads. */
static void add_moment(struct str *out, int64_t unix_ns)
{
    const int64_t second = 1000000000, tenth = 100000000;
    time_t seconds = (time_t)(unix_ns / second);
    struct tm local;
    char text[16] = "";
    if (localtime_r(&seconds, &local))
        strftime(text, sizeof text, "%H:%M:%S", &local);
    str_addf(out, "%s.%d", text, (int)(unix_ns % second / tenth));
}

static void put_fixed(struct screen *s, const char *const texts[], const int widths[], int count)
{
    for (int i = 0; i < count; i++)
        screen_cell(s, STYLE_PLAIN, texts[i], i + 1 < count ? widths[i] + GAP : screen_columns(texts[i]),
                    false);
    screen_newline(s);
}

/* Fixed widths: the lines of different samples stand below each other. */
void machine_text_line(struct screen *s, const struct machine_sample *sample, bool header)
{
    enum { COLUMNS = 9 };
    static const int widths[COLUMNS] = {10, 4, 6, 6, 19, 13, 11, 9, 0};
    if (header) {
        const char *const heads[COLUMNS] = {_("time"),        _("GPU"),    _("in use"),
                                            _("SMs"),         _("memory"), _("power"),
                                            _("temperature"), _("clock"),  _("slowed by")};
        put_fixed(s, heads, widths, COLUMNS);
    }
    vec_each (&sample->devices, d) {
        struct str cells[COLUMNS] = {0};
        const char *texts[COLUMNS];
        add_moment(&cells[0], sample->time_unix_ns);
        machine_add_device(&cells[1], d);
        machine_add_reading(&cells[2], GPU_PERCENT, d->sample.utilization);
        machine_add_reading(&cells[3], GPU_PERMILLE, d->detail.sm_active);
        machine_add_of(&cells[4], GPU_BYTES, d->sample.memory_used, d->facts.memory);
        machine_add_of(&cells[5], GPU_MILLIWATTS, d->sample.power, d->sample.power_limit);
        machine_add_reading(&cells[6], GPU_CELSIUS, d->sample.temperature);
        machine_add_reading(&cells[7], GPU_HZ, d->sample.sm_clock);
        machine_add_slowed(&cells[8], d);
        if (d->state != READING_KNOWN && d->state != READING_STALE) {
            str_cut(&cells[8], 0);
            str_puts(&cells[8], _(reading_state_meaning(d->state)));
        }
        for (int i = 0; i < COLUMNS; i++)
            texts[i] = cells[i].len ? str_text(&cells[i]) : DASH;
        put_fixed(s, texts, widths, COLUMNS);
        for (int i = 0; i < COLUMNS; i++)
            str_release(&cells[i]);
    }
    struct str moment = {0};
    add_moment(&moment, sample->time_unix_ns);
    str_puts(&moment, "  ");
    put_events(s, sample, str_text(&moment));
    str_release(&moment);
    if (sample->devices.count == 0 && header)
        put_nothing(s, sample);
}
