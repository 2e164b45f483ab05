#include "view/chart.h"

#include "base/utf8.h"

enum { DOTS_ACROSS = 2, DOTS_DOWN = 4, BRAILLE = 0x2800 };

/* Unicode 14, "Braille Patterns": the bit of each dot, from the top. */
static const unsigned dots[DOTS_ACROSS][DOTS_DOWN] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

int chart_points(const struct canvas *c, int columns)
{
    return c->utf8 ? columns * DOTS_ACROSS : columns;
}

/* In steps from the bottom, of so many; 0: there is nothing to draw. */
static int height_of(int32_t value, int64_t top, int steps)
{
    if (value == CHART_GAP || value <= 0 || top <= 0)
        return 0;
    int64_t height = ((int64_t)value * steps + top / 2) / top;
    return height < 1 ? 1 : height > steps ? steps : (int)height;
}

/* The dots of one cell. from_bottom: steps below the cell. */
static void put_braille(struct canvas *c, const struct chart *chart, int row, int column, int from_bottom)
{
    const int steps = chart->rows * DOTS_DOWN;
    unsigned area = 0, line = 0;
    for (int x = 0; x < DOTS_ACROSS; x++) {
        int point = column * DOTS_ACROSS + x;
        int filled = height_of(chart->area[point], chart->top, steps);
        int other = chart->line ? height_of(chart->line[point], chart->top, steps) : 0;
        for (int y = 0; y < DOTS_DOWN; y++) {
            int step = from_bottom + DOTS_DOWN - y; /* 1: the lowest */
            if (step <= filled)
                area |= dots[x][y];
            if (step == other && other > filled)
                line |= dots[x][y];
        }
    }
    if (!(area | line))
        return;
    struct str text = {0};
    utf8_add(&text, BRAILLE | area | line);
    canvas_put(c, chart->row + row, chart->column + column, 1, area ? INK_CHART : INK_LINE, str_text(&text));
    str_release(&text);
}

static void put_ascii(struct canvas *c, const struct chart *chart, int row, int column, int from_bottom)
{
    static const char *const parts[] = {"", ".", ":", "|", "#"}; /* quarters of a cell */
    const int steps = chart->rows * DOTS_DOWN;
    int filled = height_of(chart->area[column], chart->top, steps) - from_bottom;
    int other = chart->line ? height_of(chart->line[column], chart->top, steps) - from_bottom : 0;
    filled = filled < 0 ? 0 : filled > DOTS_DOWN ? DOTS_DOWN : filled;
    if (filled)
        canvas_put(c, chart->row + row, chart->column + column, 1, INK_CHART, parts[filled]);
    else if (other > 0 && other <= DOTS_DOWN)
        canvas_put(c, chart->row + row, chart->column + column, 1, INK_LINE, "-");
}

void chart_draw(struct canvas *c, const struct chart *chart)
{
    for (int row = 0; row < chart->rows; row++) {
        int from_bottom = (chart->rows - 1 - row) * DOTS_DOWN;
        for (int column = 0; column < chart->columns; column++) {
            if (c->utf8)
                put_braille(c, chart, row, column, from_bottom);
            else
                put_ascii(c, chart, row, column, from_bottom);
        }
    }
}
