/* Charts of what GPUs did lately. */
#include <string.h>

#include "base/i18n.h"
#include "view/chart.h"
#include "view/gpu_text.h"
#include "view/machine.h"
#include "view/top.h"

enum { MOST_COLUMNS = HISTORY_POINTS / 2 };

static const struct {
    enum history_metric area, line;
    const char *title; /* msgid */
} charts[TOP_CHARTS] = {
    [TOP_CHART_LOAD] = {HISTORY_SM, HISTORY_USE, N_("SMs")},
    [TOP_CHART_MEMORY] = {HISTORY_MEMORY, HISTORY_METRICS, N_("memory")},
    [TOP_CHART_POWER] = {HISTORY_POWER, HISTORY_METRICS, N_("power")},
    [TOP_CHART_TEMPERATURE] = {HISTORY_TEMPERATURE, HISTORY_METRICS, N_("temperature")},
    [TOP_CHART_CLOCK] = {HISTORY_CLOCK, HISTORY_METRICS, N_("clock")},
    [TOP_CHART_PCIE] = {HISTORY_PCIE_RECEIVE, HISTORY_PCIE_SEND, "PCIe"},
    [TOP_CHART_NVLINK] = {HISTORY_NVLINK_RECEIVE, HISTORY_NVLINK_SEND, "NVLink"},
};
const char *const top_chart_names[] = {"load",  "memory", "power",  "temperature",
                                       "clock", "pcie",   "nvlink", NULL};

static int32_t highest(const int32_t *values, int count)
{
    int32_t most = 0;
    for (int i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static bool is_known(const int32_t *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != HISTORY_GAP)
            return true;
    return false;
}

/* 1, 2 or 5 times a power of ten, not below value. */
static int64_t round_up(int64_t value)
{
    enum { LEAST = 100 };
    static const int steps[] = {1, 2, 5};
    for (int64_t power = LEAST; power < INT32_MAX; power *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            if (power * steps[i] >= value)
                return power * steps[i];
    return INT32_MAX;
}

/* The value at the upper edge, and how it is written. */
static int64_t chart_top(const struct machine_device *d, int chart, int32_t most, struct str *text)
{
    const int64_t thousand = 1000, million = 1000000, hundred = 100;
    int64_t top = thousand;
    struct reading limit =
        reading_has_value(d->sample.power_limit) ? d->sample.power_limit : d->facts.power_limit_max;
    switch (chart) {
    case TOP_CHART_POWER:
        top = reading_has_value(limit) ? limit.value / thousand : round_up(most);
        gpu_text_add(text, GPU_MILLIWATTS, top * thousand);
        break;
    case TOP_CHART_TEMPERATURE:
        top =
            reading_has_value(d->facts.slowdown_temperature) ? d->facts.slowdown_temperature.value : hundred;
        gpu_text_add(text, GPU_CELSIUS, top);
        break;
    case TOP_CHART_CLOCK:
        top =
            reading_has_value(d->facts.sm_clock_max) ? d->facts.sm_clock_max.value / million : round_up(most);
        gpu_text_add(text, GPU_HZ, top * million);
        break;
    case TOP_CHART_PCIE:
    case TOP_CHART_NVLINK:
        top = round_up(most);
        gpu_text_add(text, GPU_BYTES_PER_S, top * million);
        break;
    default:
        gpu_text_add(text, GPU_PERMILLE, top);
        break;
    }
    return top;
}

struct series {
    int32_t area[HISTORY_POINTS], line[HISTORY_POINTS];
    bool has_line;
    int64_t top;
    const char *title; /* translated */
};

static void take_series(const struct top_view *view, const struct machine_device *d, int count,
                        struct series *s, struct str *top)
{
    int chart = view->settings.chart;
    history_take(view->history, d->key, charts[chart].area, s->area, count);
    s->has_line = charts[chart].line != HISTORY_METRICS;
    if (s->has_line)
        history_take(view->history, d->key, charts[chart].line, s->line, count);
    s->title = _(charts[chart].title);
    /* Not every GPU tells how many SMs are busy. */
    if (chart == TOP_CHART_LOAD && !is_known(s->area, count)) {
        memcpy(s->area, s->line, sizeof s->area);
        s->has_line = false;
        s->title = _("in use");
    }
    int32_t most = highest(s->area, count);
    if (s->has_line && highest(s->line, count) > most)
        most = highest(s->line, count);
    s->top = chart_top(d, chart, most, top);
}

void top_put_chart(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                   int column, int rows, int columns)
{
    enum { SCALE = 12 };
    struct series series;
    struct str text = {0};
    int width = columns - SCALE < MOST_COLUMNS ? columns - SCALE : MOST_COLUMNS;
    if (width < 4 || rows < 1)
        return;
    int points = chart_points(c, width);
    take_series(view, d, points, &series, &text);
    canvas_put_right(c, row, column, SCALE - 1, INK_DIM, str_text(&text));
    if (rows > 1)
        canvas_put_right(c, row + 1, column, SCALE - 1, INK_DIM, series.title);
    str_cut(&text, 0);
    gpu_text_add(&text, GPU_NS,
                 points * (view->replay ? view->sample->interval_ns : view->settings.interval_ns));
    if (rows > 2)
        canvas_put_right(c, row + rows - 1, column, SCALE - 1, INK_DIM, str_text(&text));
    chart_draw(c, &(struct chart){row, column + SCALE, rows, width, series.top, series.area,
                                  series.has_line ? series.line : NULL});
    str_release(&text);
}

void top_put_spark(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                   int column, int columns)
{
    struct series series;
    struct str top = {0};
    columns = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
    take_series(view, d, chart_points(c, columns), &series, &top);
    chart_draw(c, &(struct chart){row, column, 1, columns, series.top, series.area, NULL});
    str_release(&top);
}

/* ---- one for each GPU ------------------------------------------------------------------------------------
 */

enum { CHART_WIDTH = 40, CHART_LEAST = 3, CHART_MOST = 8 };

static void put_titled(struct canvas *c, const struct top_view *view, const struct machine_device *d, int row,
                       int column, int rows, int columns)
{
    struct str title = {0};
    str_puts(&title, "GPU ");
    machine_add_device(&title, d);
    canvas_put(c, row, column, columns, INK_TITLE, str_text(&title));
    top_put_chart(c, view, d, row + 1, column, rows - 1, columns - 1);
    str_release(&title);
}

int top_draw_charts(struct canvas *c, const struct top_view *view, int row, int rows)
{
    int count = (int)view->sample->devices.count, across = c->columns / CHART_WIDTH;
    if (across < 1 || count == 0)
        return 0;
    across = across < count ? across : count;
    int down = (count + across - 1) / across, each = rows / down;
    across = (count + down - 1) / down; /* as many in each row */
    if (each < 1 + CHART_LEAST) {       /* no room for all: the chosen one */
        if (rows < 1 + CHART_LEAST)
            return 0;
        each = rows < 1 + CHART_MOST ? rows : 1 + CHART_MOST;
        put_titled(c, view, &view->sample->devices.at[view->gpu], row, 0, each, c->columns);
        return each;
    }
    each = each < 1 + CHART_MOST ? each : 1 + CHART_MOST;
    for (int i = 0; i < count; i++)
        put_titled(c, view, &view->sample->devices.at[i], row + i / across * each,
                   i % across * (c->columns / across), each, c->columns / across);
    return down * each;
}
