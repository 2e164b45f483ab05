/* The GPUs: blocks of gauges with a chart, or a line for each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "view/gpu_text.h"
#include "view/machine.h"
#include "view/top.h"

#define DASH "–"

void top_add_pair(struct str *out, enum gpu_unit unit, struct reading part, struct reading whole)
{
    struct str left = {0}, right = {0};
    if (reading_has_value(part))
        gpu_text_add(&left, unit, part.value);
    if (reading_has_value(whole))
        gpu_text_add(&right, unit, whole.value);
    const char *left_unit = strchr(str_text(&left), ' '), *right_unit = strchr(str_text(&right), ' ');
    if (left_unit && right_unit && strcmp(left_unit, right_unit) == 0)
        str_cut(&left, (size_t)(left_unit - str_text(&left)));
    str_puts(out, left.len ? str_text(&left) : DASH);
    if (right.len)
        str_addf(out, " / %s", str_text(&right));
    if (part.state == READING_STALE || part.state == READING_ALTERED)
        str_puts(out, part.state == READING_STALE ? "?" : "!");
    str_release(&left);
    str_release(&right);
}

/* Of what is not known there is no share: below 0. */
static double share_of(struct reading part, struct reading whole)
{
    bool known = reading_has_value(part) && reading_has_value(whole) && whole.value > 0;
    return known ? (double)part.value / (double)whole.value : -1;
}

/* ---- gauges ----------------------------------------------------------------------------------------------
 */

enum gauge {
    GAUGE_SM,
    GAUGE_POWER,
    GAUGE_USE,
    GAUGE_TEMPERATURE,
    GAUGE_MEMORY,
    GAUGE_CLOCK,
    GAUGE_BANDWIDTH,
    GAUGE_PCIE,
    GAUGE_TENSOR,
    GAUGE_NVLINK,
    GAUGES
};
enum { GAUGE_ROWS = GAUGES / 2 };

static const char *const gauge_titles[GAUGES] = {
    [GAUGE_SM] = N_("SMs"),        [GAUGE_USE] = N_("in use"),
    [GAUGE_MEMORY] = N_("memory"), [GAUGE_BANDWIDTH] = N_("bandwidth"),
    [GAUGE_TENSOR] = N_("tensor"), [GAUGE_POWER] = N_("power"),
    [GAUGE_CLOCK] = N_("clock"),   [GAUGE_TEMPERATURE] = N_("temperature"),
    [GAUGE_PCIE] = "PCIe",         [GAUGE_NVLINK] = "NVLink",
};

/* What decides whether a gauge shows a value or a reason. */
static struct reading gauge_reading(const struct machine_device *d, enum gauge gauge)
{
    const struct machine_detail *t = &d->detail;
    switch (gauge) {
    case GAUGE_SM:
        return t->sm_active;
    case GAUGE_POWER:
        return d->sample.power;
    case GAUGE_USE:
        return d->sample.utilization;
    case GAUGE_TEMPERATURE:
        return d->sample.temperature;
    case GAUGE_MEMORY:
        return d->sample.memory_used;
    case GAUGE_CLOCK:
        return d->sample.sm_clock;
    case GAUGE_BANDWIDTH:
        return t->memory_bandwidth;
    case GAUGE_PCIE:
        return reading_has_value(t->pcie_receive) ? t->pcie_receive
               : reading_has_value(t->pcie_send)  ? t->pcie_send
                                                  : d->sample.pcie_generation;
    case GAUGE_TENSOR:
        return t->tensor_active;
    case GAUGE_NVLINK:
        return reading_has_value(t->nvlink_receive) ? t->nvlink_receive : t->nvlink_send;
    case GAUGES:
        break;
    }
    return reading_missing(READING_UNREAD);
}

/* A link has no bar: what its limit is depends on both ends. */
static bool is_link(enum gauge gauge)
{
    return gauge == GAUGE_PCIE || gauge == GAUGE_NVLINK;
}

static double gauge_share(const struct machine_device *d, enum gauge gauge)
{
    const int64_t hundred = 100, thousand = 1000;
    struct reading r = gauge_reading(d, gauge);
    switch (gauge) {
    case GAUGE_POWER:
        return share_of(r, reading_has_value(d->sample.power_limit) ? d->sample.power_limit
                                                                    : d->facts.power_limit_max);
    case GAUGE_TEMPERATURE:
        return share_of(r, reading_has_value(d->facts.slowdown_temperature) ? d->facts.slowdown_temperature
                                                                            : reading_of(hundred));
    case GAUGE_MEMORY:
        return share_of(r, d->facts.memory);
    case GAUGE_CLOCK:
        return share_of(r, d->facts.sm_clock_max);
    case GAUGE_USE:
        return share_of(r, reading_of(hundred));
    default:
        return share_of(r, reading_of(thousand));
    }
}

/* A full memory and a temperature close to where the GPU slows down. */
static enum ink gauge_ink(const struct machine_device *d, enum gauge gauge)
{
    const double full = 0.95, hot = 0.95, too_hot = 1;
    double share = gauge_share(d, gauge);
    if (gauge == GAUGE_MEMORY && share >= full)
        return INK_NOTICE;
    if (gauge == GAUGE_TEMPERATURE && share >= hot)
        return share >= too_hot ? INK_BAD : INK_NOTICE;
    return INK_BAR;
}

static void add_rates(struct str *out, struct reading receive, struct reading send)
{
    if (!reading_has_value(receive) && !reading_has_value(send))
        return;
    str_puts(out, reading_has_value(receive) ? "↓" : "↓" DASH);
    machine_add_reading(out, GPU_BYTES_PER_S, receive);
    str_puts(out, reading_has_value(send) ? " ↑" : " ↑" DASH);
    machine_add_reading(out, GPU_BYTES_PER_S, send);
}

static void add_link(struct str *out, const struct machine_device *d)
{
    if (reading_has_value(d->sample.pcie_generation) && reading_has_value(d->sample.pcie_width))
        str_addf(out, "%" PRId64 ".0 ×%" PRId64, d->sample.pcie_generation.value, d->sample.pcie_width.value);
}

static void add_gauge_value(struct str *out, const struct machine_device *d, enum gauge gauge)
{
    struct reading r = gauge_reading(d, gauge);
    switch (gauge) {
    case GAUGE_POWER:
        top_add_pair(out, GPU_MILLIWATTS, r, d->sample.power_limit);
        break;
    case GAUGE_TEMPERATURE:
        top_add_pair(out, GPU_CELSIUS, r, d->facts.slowdown_temperature);
        break;
    case GAUGE_MEMORY:
        top_add_pair(out, GPU_BYTES, r, d->facts.memory);
        break;
    case GAUGE_CLOCK:
        top_add_pair(out, GPU_HZ, r, d->facts.sm_clock_max);
        break;
    case GAUGE_USE:
        machine_add_reading(out, GPU_PERCENT, r);
        break;
    case GAUGE_PCIE:
        add_rates(out, d->detail.pcie_receive, d->detail.pcie_send);
        break;
    case GAUGE_NVLINK:
        add_rates(out, d->detail.nvlink_receive, d->detail.nvlink_send);
        break;
    default:
        machine_add_reading(out, GPU_PERMILLE, r);
        break;
    }
}

/* The reason stands where the gauge would. */
static void put_gauge(struct canvas *c, const struct machine_device *d, enum gauge gauge, int row, int column,
                      int width, int title_width)
{
    enum { VALUE_WIDTH = 17, LINK_GAP = 2 };
    int at = column + title_width + 1, left = width - title_width - 2;
    struct reading r = gauge_reading(d, gauge);
    struct str value = {0};
    canvas_put(c, row, column, title_width, INK_DIM, _(gauge_titles[gauge]));
    if (!reading_has_value(r)) {
        str_addf(&value, DASH " %s", _(reading_state_meaning(r.state)));
        canvas_put(c, row, at, left, INK_DIM, str_text(&value));
    } else if (is_link(gauge)) {
        add_gauge_value(&value, d, gauge);
        int used = canvas_put(c, row, at, left, INK_PLAIN, str_text(&value));
        str_cut(&value, 0);
        if (gauge == GAUGE_PCIE)
            add_link(&value, d);
        if (canvas_width(c, str_text(&value)) + LINK_GAP <= left - used)
            canvas_put(c, row, used ? at + used + LINK_GAP : at, left - used, INK_DIM, str_text(&value));
    } else {
        double share = gauge_share(d, gauge);
        int bar = share < 0 ? 0 : left - VALUE_WIDTH - 1;
        add_gauge_value(&value, d, gauge);
        if (bar > 2)
            canvas_bar(c, row, at, bar, gauge_ink(d, gauge), share);
        canvas_put_right(c, row, bar > 2 ? at + bar + 1 : at, bar > 2 ? VALUE_WIDTH : left, INK_PLAIN,
                         str_text(&value));
    }
    str_release(&value);
}

/* Rows of gauges of which some GPU has something to tell. */
static int useful_rows(const struct machine_sample *sample, int rows[GAUGE_ROWS])
{
    int count = 0;
    for (int row = 0; row < GAUGE_ROWS; row++) {
        bool useful = row < 3; /* these are what everybody looks for */
        vec_each (&sample->devices, d)
            useful = useful || reading_has_value(gauge_reading(d, (enum gauge)(2 * row))) ||
                     reading_has_value(gauge_reading(d, (enum gauge)(2 * row + 1)));
        if (useful)
            rows[count++] = row;
    }
    return count;
}

/* ---- a block ---------------------------------------------------------------------------------------------
 */

static bool has_sample(const struct machine_device *d)
{
    return d->state == READING_KNOWN || d->state == READING_STALE;
}

static const char *why_silent(const struct top_view *view, const struct machine_device *d)
{
    return view->waiting && d->state == READING_UNREAD ? _("the drivers are being asked")
                                                       : _(reading_state_meaning(d->state));
}

static void add_trouble(struct str *out, struct msg msg)
{
    str_puts(out, out->len ? "; " : "");
    msg_render(out, &msg, true, 0);
}

static void add_bad_link(struct str *out, const char *name, struct reading link)
{
    struct str verdict = {0};
    if (!reading_is_known(link) || !(link.value & ~GPU_LINK_UNUSED))
        return;
    gpu_text_add(&verdict, GPU_LINK, link.value & ~GPU_LINK_UNUSED);
    add_trouble(out, msg_make("{0}: {1}", value_text(name), value_text(str_text(&verdict))));
    str_release(&verdict);
}

/* What is wrong with it, apart from clocks: links under traffic, what the driver asks for, memory that waits.
 */
static void add_troubles(struct str *out, const struct machine_device *d)
{
    const struct reading waits[] = {d->sample.remap_pending, d->detail.retirement_pending};
    struct str action = {0};
    if (reading_is_known(d->detail.recovery) && d->detail.recovery.value > 0) {
        gpu_text_add(&action, GPU_RECOVERY, d->detail.recovery.value);
        add_trouble(out, msg_make(N_("the driver asks for {0}"), value_text(str_text(&action))));
    }
    add_bad_link(out, "PCIe", d->detail.pcie_link);
    add_bad_link(out, "NVLink", d->detail.nvlink_link);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (reading_is_known(waits[i]) && waits[i].value > 0) {
            add_trouble(out, msg_make(N_("memory waits for a reset")));
            break;
        }
    str_release(&action);
}

/* "slowed by heat 3 %"; nothing where nothing holds the clocks down. */
static void add_slowed_by(struct str *out, const struct machine_device *d)
{
    struct str slowed = {0};
    machine_add_slowed(&slowed, d);
    if (slowed.len && strcmp(str_text(&slowed), _("nothing")) != 0)
        add_trouble(out, msg_make(N_("slowed by {0}"), value_text(str_text(&slowed))));
    str_release(&slowed);
}

/* What slows it down is worth more room than its address. */
static void put_title(struct canvas *c, const struct machine_device *d, int row, int width)
{
    enum { GAP = 2 };
    struct str text = {0}, slowed = {0};
    str_puts(&text, "GPU ");
    machine_add_device(&text, d);
    str_puts(&text, "  ");
    machine_add_name(&text, d);
    if (has_sample(d))
        add_troubles(&slowed, d);
    bool is_bad = slowed.len > 0;
    if (has_sample(d))
        add_slowed_by(&slowed, d);
    int used = canvas_put(c, row, 0, width, INK_TITLE, str_text(&text)) + GAP;
    int needed = canvas_width(c, str_text(&slowed));
    int room = needed < width - used ? needed : width - used;
    canvas_put_right(c, row, width - room, room, is_bad ? INK_BAD : INK_NOTICE, str_text(&slowed));
    str_cut(&text, 0);
    if (d->state == READING_STALE)
        str_puts(&text, _(reading_state_meaning(d->state)));
    else if (d->id != UNKNOWN && d->parent == NONE)
        str_puts(&text, d->facts.bus);
    if (used + canvas_width(c, str_text(&text)) + GAP <= width - room)
        canvas_put(c, row, used, width - used - room, INK_DIM, str_text(&text));
    str_release(&text);
    str_release(&slowed);
}

/* The widest title of one side. */
static int title_width(const struct canvas *c, int side)
{
    int widest = 0;
    for (int gauge = side; gauge < GAUGES; gauge += 2) {
        int width = canvas_width(c, _(gauge_titles[gauge]));
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void put_block(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                      const struct top_gpu_plan *plan)
{
    int rows[GAUGE_ROWS];
    int count = useful_rows(view->sample, rows);
    int width = plan->chart_column ? plan->chart_column : c->columns;
    put_title(c, d, row, width - (plan->chart_column ? 2 : 0));
    if (!has_sample(d)) {
        struct str why = {0};
        str_addf(&why, DASH " %s%s%s", why_silent(view, d), d->driver[0] ? "; " : "", d->driver);
        canvas_put(c, row + 1, 2, width - 2, INK_DIM, str_text(&why));
        str_release(&why);
        return;
    }
    for (int i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            put_gauge(c, d, (enum gauge)(2 * rows[i] + side), row + 1 + i, side * (width / 2) + 1,
                      width / 2 - 1, title_width(c, side));
    if (plan->chart_column)
        top_put_chart(c, view, d, row, plan->chart_column, 1 + count, c->columns - plan->chart_column);
    else if (plan->chart_rows)
        top_put_chart(c, view, d, row + 1 + count, 0, plan->chart_rows, c->columns);
}

/* ---- a line ----------------------------------------------------------------------------------------------
 */

struct part {
    const char *title; /* msgid */
    int width, rank;   /* columns of the highest rank go first */
    bool right;
    void (*add)(struct str *out, const struct machine_device *d);
};

static void add_use(struct str *out, const struct machine_device *d)
{
    machine_add_reading(out, GPU_PERCENT, d->sample.utilization);
}
static void add_sm(struct str *out, const struct machine_device *d)
{
    machine_add_reading(out, GPU_PERMILLE, d->detail.sm_active);
}
static void add_memory(struct str *out, const struct machine_device *d)
{
    add_gauge_value(out, d, GAUGE_MEMORY);
}
static void add_power(struct str *out, const struct machine_device *d)
{
    add_gauge_value(out, d, GAUGE_POWER);
}
static void add_temperature(struct str *out, const struct machine_device *d)
{
    machine_add_reading(out, GPU_CELSIUS, d->sample.temperature);
}
static void add_clock(struct str *out, const struct machine_device *d)
{
    machine_add_reading(out, GPU_HZ, d->sample.sm_clock);
}
static void add_pcie(struct str *out, const struct machine_device *d)
{
    add_rates(out, d->detail.pcie_receive, d->detail.pcie_send);
}
static void add_nvlink(struct str *out, const struct machine_device *d)
{
    add_rates(out, d->detail.nvlink_receive, d->detail.nvlink_send);
}
/* Troubles first: the column may be narrow. */
static void add_slowed(struct str *out, const struct machine_device *d)
{
    struct str slowed = {0};
    add_troubles(out, d);
    machine_add_slowed(&slowed, d);
    if (slowed.len && strcmp(str_text(&slowed), _("nothing")) != 0)
        str_addf(out, "%s%s", out->len ? "; " : "", str_text(&slowed));
    str_release(&slowed);
}

/* Without the vendor, which says nothing in a column of names. */
static void add_short_name(struct str *out, const struct machine_device *d)
{
    static const char vendor[] = "NVIDIA ";
    struct str name = {0};
    machine_add_name(&name, d);
    bool is_prefixed = strncmp(str_text(&name), vendor, sizeof vendor - 1) == 0;
    str_puts(out, str_text(&name) + (is_prefixed ? sizeof vendor - 1 : 0));
    str_release(&name);
}

static const struct part parts[] = {
    {N_("GPU"), 4, 0, true, machine_add_device}, {N_("name"), 12, 0, false, add_short_name},
    {N_("in use"), 6, 0, true, add_use},         {N_("SMs"), 6, 0, true, add_sm},
    {N_("memory"), 15, 0, true, add_memory},     {N_("power"), 11, 2, true, add_power},
    {N_("temp."), 6, 1, true, add_temperature},  {N_("clock"), 9, 4, true, add_clock},
    {N_("slowed by"), 12, 3, false, add_slowed}, {"PCIe", 22, 5, false, add_pcie},
    {"NVLink", 22, 6, false, add_nvlink},
};
enum {
    PARTS = sizeof parts / sizeof *parts,
    PART_GAP = 1,
    NAME_PART = 1,
    SLOWED_PART = 8,
    WIDEST_NAME = 30,
    WIDEST_SLOWED = 44,
};

static int part_total(const int widths[PARTS])
{
    int sum = 0;
    for (int i = 0; i < PARTS; i++)
        sum += widths[i] ? widths[i] + PART_GAP : 0;
    return sum;
}

/* To what is wanted, as far as there is room. */
static void widen(int *width, int wanted, int most, int room)
{
    int more = (wanted < most ? wanted : most) - *width;
    if (room > 0 && more > 0)
        *width += more < room ? more : room;
}

/* Columns that no GPU fills go; then those that do not fit. What is left is the chart's. */
static void choose_parts(const struct canvas *c, const struct machine_sample *sample, int widths[PARTS])
{
    int wanted[PARTS];
    for (int i = 0; i < PARTS; i++) {
        int needed = 0;
        vec_each (&sample->devices, d) {
            struct str cell = {0};
            parts[i].add(&cell, d);
            int width = canvas_width(c, str_text(&cell));
            needed = width > needed ? width : needed;
            str_release(&cell);
        }
        int title = canvas_width(c, _(parts[i].title));
        widths[i] = parts[i].right ? (needed > title ? needed : title) : parts[i].width;
        if (needed == 0 && parts[i].rank && i != SLOWED_PART)
            widths[i] = 0;
        wanted[i] = needed;
    }
    while (part_total(widths) > c->columns) {
        int worst = -1;
        for (int i = 0; i < PARTS; i++)
            if (widths[i] && parts[i].rank && (worst < 0 || parts[i].rank > parts[worst].rank))
                worst = i;
        if (worst < 0)
            break;
        widths[worst] = 0;
    }
    widen(&widths[NAME_PART], wanted[NAME_PART], WIDEST_NAME, c->columns - part_total(widths));
    if (widths[SLOWED_PART])
        widen(&widths[SLOWED_PART], wanted[SLOWED_PART], WIDEST_SLOWED, c->columns - part_total(widths));
}

static void put_heads(struct canvas *c, const int widths[PARTS], int row)
{
    int at = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!widths[i])
            continue;
        if (parts[i].right)
            canvas_put_right(c, row, at, widths[i], INK_DIM, _(parts[i].title));
        else
            canvas_put(c, row, at, widths[i], INK_DIM, _(parts[i].title));
        at += widths[i] + PART_GAP;
    }
}

static void put_line(struct canvas *c, const struct top_view *view, const struct machine_device *d,
                     const int widths[PARTS], int row)
{
    enum { LEAST_CHART = 6 };
    int at = 0;
    for (int i = 0; i < PARTS; i++) {
        struct str cell = {0};
        if (!widths[i])
            continue;
        if (i > NAME_PART && !has_sample(d)) { /* why there is nothing takes the rest of the line */
            str_addf(&cell, DASH " %s", why_silent(view, d));
            canvas_put(c, row, at, c->columns - at, INK_DIM, str_text(&cell));
            str_release(&cell);
            return;
        }
        parts[i].add(&cell, d);
        const char *text = cell.len ? str_text(&cell) : i == SLOWED_PART ? "" : DASH;
        enum ink ink = i == SLOWED_PART                  ? INK_NOTICE
                       : i == NAME_PART                  ? INK_TITLE
                       : parts[i].add == add_temperature ? gauge_ink(d, GAUGE_TEMPERATURE)
                                                         : INK_PLAIN;
        ink = ink == INK_BAR ? INK_PLAIN : ink;
        if (parts[i].right)
            canvas_put_right(c, row, at, widths[i], ink, text);
        else
            canvas_put(c, row, at, widths[i], ink, text);
        at += widths[i] + PART_GAP;
        str_release(&cell);
    }
    if (c->columns - at >= LEAST_CHART)
        top_put_spark(c, view, d, row, at, c->columns - at);
}

/* ---- all of them -----------------------------------------------------------------------------------------
 */

/* A GPU that tells nothing needs no more than its name and the reason. */
enum { SILENT_ROWS = 2 };

static int rows_of(const struct machine_device *d, const struct top_gpu_plan *plan)
{
    return plan->compact ? 1 : has_sample(d) ? plan->block : SILENT_ROWS;
}

/* Rows of all GPUs, and how many of them tell something. */
static int all_rows(const struct top_view *view, const struct top_gpu_plan *plan, int *telling)
{
    int rows = 0;
    *telling = 0;
    vec_each (&view->sample->devices, d) {
        rows += rows_of(d, plan);
        *telling += has_sample(d);
    }
    return rows;
}

struct top_gpu_plan top_gpu_plan(const struct top_view *view, int columns, int rows)
{
    enum { BESIDE = 130, GAUGES_WIDTH = 84, LEAST_CHART = 3, MOST_CHART = 8, LEAST_GAUGES = 64 };
    int useful[GAUGE_ROWS], telling;
    struct top_gpu_plan plan = {.block = 1 + useful_rows(view->sample, useful)};
    plan.chart_column = columns >= BESIDE ? GAUGES_WIDTH : 0;
    int needed = all_rows(view, &plan, &telling);
    bool wants_compact = view->settings.size == TOP_SIZE_COMPACT || columns < LEAST_GAUGES;
    if (wants_compact || (needed > rows && view->settings.size != TOP_SIZE_FULL))
        return (struct top_gpu_plan){.compact = true, .block = 1};
    if (!plan.chart_column && telling) {
        int more = (rows - needed) / telling;
        plan.chart_rows = more >= LEAST_CHART ? (more > MOST_CHART ? MOST_CHART : more) : 0;
        plan.block += plan.chart_rows;
    }
    return plan;
}

/* The GPUs that fit, the chosen one among them: fills the layout with where each begins. */
static void place_gpus(const struct top_view *view, const struct top_gpu_plan *plan, int row, int rows,
                       struct top_layout *l)
{
    int count = (int)view->sample->devices.count, used = 0;
    l->first_gpu = 0;
    for (int i = view->gpu; i >= 0; i--) { /* as many as fit above the chosen one */
        used += rows_of(&view->sample->devices.at[i], plan);
        if (used > rows)
            break;
        l->first_gpu = i;
    }
    l->shown_gpus = 0;
    l->gpu_row[0] = row;
    for (int i = l->first_gpu; i < count && l->shown_gpus < TOP_GPUS_SHOWN; i++) {
        int end = l->gpu_row[l->shown_gpus] + rows_of(&view->sample->devices.at[i], plan);
        if (end > row + rows)
            break;
        l->gpu_row[++l->shown_gpus] = end;
    }
}

/* The others are a key away. */
static void put_hidden(struct canvas *c, const struct top_view *view, int row)
{
    int count = (int)view->sample->devices.count;
    struct str more = {0};
    struct msg msg = msg_make(
        N_("GPUs {0} to {1} of {2}; Tab and arrows show others"), value_count(view->layout.first_gpu + 1),
        value_count(view->layout.first_gpu + view->layout.shown_gpus), value_count(count));
    msg_render(&more, &msg, true, 0);
    int width = canvas_width(c, str_text(&more));
    width = width < c->columns ? width : c->columns;
    canvas_put_right(c, row, c->columns - width, width, INK_NOTICE, str_text(&more));
    str_release(&more);
}

int top_draw_gpus(struct canvas *c, struct top_view *view, int row, int rows)
{
    int widths[PARTS];
    struct top_gpu_plan plan = top_gpu_plan(view, c->columns, rows);
    int head = plan.compact ? TOP_COMPACT_HEAD : 0;
    struct top_layout *l = &view->layout;
    place_gpus(view, &plan, row + head, rows - head, l);
    if (l->shown_gpus == 0)
        return 0;
    if (plan.compact) {
        choose_parts(c, view->sample, widths);
        put_heads(c, widths, row);
    }
    for (int i = 0; i < l->shown_gpus; i++) {
        const struct machine_device *d = &view->sample->devices.at[l->first_gpu + i];
        if (plan.compact)
            put_line(c, view, d, widths, l->gpu_row[i]);
        else
            put_block(c, view, d, l->gpu_row[i], &plan);
        if (view->focus == TOP_FOCUS_GPUS && l->first_gpu + i == view->gpu)
            canvas_reverse(c, l->gpu_row[i], 0, plan.chart_column ? plan.chart_column - 1 : c->columns);
    }
    if (l->shown_gpus < (int)view->sample->devices.count)
        put_hidden(c, view, row);
    return l->gpu_row[l->shown_gpus] - row;
}
