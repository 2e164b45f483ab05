#include "analyze/cover.h"

enum { NEAR = 16 }; /* pieces worth a linear look */

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many pieces start before the moment. Gallops back from the end, where callers that sweep in time ask.
 */
static size_t pieces_before(const struct cover *cover, int64_t moment)
{
    const struct cover_piece *pieces = cover->pieces.at;
    size_t end = cover->pieces.count, step = 1;
    while (step <= end && pieces[end - step].start >= moment) {
        end -= step;
        step *= 2;
    }
    size_t begin = step <= end ? end - step : 0;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (pieces[middle].start < moment)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The same for moments that mostly grow from one question to the next: looks near the last answer first. */
static size_t pieces_before_start(struct cover *cover, int64_t moment)
{
    const struct cover_piece *pieces = cover->pieces.at;
    size_t found = cover->last_start, limit = min_size(cover->pieces.count, found + NEAR);
    if (found > 0 && pieces[found - 1].start >= moment)
        found = pieces_before(cover, moment);
    while (found < limit && pieces[found].start < moment)
        found++;
    if (found == limit && limit < cover->pieces.count)
        found = pieces_before(cover, moment);
    cover->last_start = found;
    return found;
}

/* Covered time before the moment, which has count pieces starting before it. */
static int64_t covered_before(const struct cover *cover, size_t count, int64_t moment)
{
    if (count == 0)
        return 0;
    const struct cover_piece *piece = &cover->pieces.at[count - 1];
    return piece->before + (min_ns(piece->end, moment) - piece->start);
}

int64_t cover_between(struct cover *cover, int64_t start, int64_t end)
{
    if (start >= end)
        return 0;
    return covered_before(cover, pieces_before(cover, end), end) -
           covered_before(cover, pieces_before_start(cover, start), start);
}

void cover_release(struct cover *cover)
{
    vec_release(&cover->pieces);
}
