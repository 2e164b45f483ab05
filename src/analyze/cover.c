#include "analyze/cover.h"

/* Covered time before the moment. Gallops back from the end, where callers that sweep in time ask. */
static int64_t covered_before(const struct cover *cover, int64_t moment)
{
    const struct cover_piece *pieces = cover->pieces.at;
    size_t end = cover->pieces.count, step = 1;
    while (step <= end && pieces[end - step].start >= moment) {
        end -= step;
        step *= 2;
    }
    size_t begin = step <= end ? end - step : 0;
    while (begin < end) { /* how many pieces start before the moment */
        size_t middle = begin + (end - begin) / 2;
        if (pieces[middle].start < moment)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == 0)
        return 0;
    const struct cover_piece *piece = &pieces[begin - 1];
    return piece->before + (min_ns(piece->end, moment) - piece->start);
}

int64_t cover_between(const struct cover *cover, int64_t start, int64_t end)
{
    return start >= end ? 0 : covered_before(cover, end) - covered_before(cover, start);
}

void cover_release(struct cover *cover)
{
    vec_release(&cover->pieces);
}
