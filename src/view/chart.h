/* Charts of a series over time, in braille dots (2 × 4 a cell) or, without UTF-8, in ASCII. */
#ifndef WARPLIGHT_VIEW_CHART_H
#define WARPLIGHT_VIEW_CHART_H

#include "view/canvas.h"

struct chart {
    int row, column, rows, columns;
    int64_t top;         /* the value at the upper edge; the lower one is 0 */
    const int32_t *area; /* chart_points() values, the newest last; CHART_GAP where there is none */
    const int32_t *line; /* the same, drawn as a line over the area; may be NULL */
};

#define CHART_GAP INT32_MIN

/* How many values a chart of so many columns shows. */
int chart_points(const struct canvas *c, int columns);
/* Values above the top are drawn at it. A value above 0 shows. */
void chart_draw(struct canvas *c, const struct chart *chart);

#endif
