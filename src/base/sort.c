#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, KEY_BITS = 64 };

static uint32_t row_group(const struct sort_rows *rows, uint32_t row)
{
    return rows->group ? rows->group[row] : 0;
}

static bool out_of_order(const struct sort_rows *rows, uint32_t a, uint32_t b)
{
    uint32_t group_a = row_group(rows, a), group_b = row_group(rows, b);
    if (group_a != group_b)
        return group_b < group_a;
    if (rows->time[a] != rows->time[b])
        return rows->time[b] < rows->time[a];
    return rows->swap && rows->swap(rows->context, a, b);
}

static bool sorted_already(const struct sort_rows *rows)
{
    for (size_t i = 1; i < rows->count; i++)
        if (out_of_order(rows, (uint32_t)(i - 1), (uint32_t)i))
            return false;
    return true;
}

/* One stable counting pass over the digit of keys[] at shift; false if all rows share that digit. */
static bool radix_pass(size_t count, int shift, const uint64_t *keys, const uint32_t *order,
                       uint64_t *keys_out, uint32_t *order_out)
{
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        starts[keys[i] >> shift & (DIGITS - 1)]++;
    if (starts[keys[0] >> shift & (DIGITS - 1)] == count)
        return false;
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = starts[keys[i] >> shift & (DIGITS - 1)]++;
        keys_out[at] = keys[i];
        order_out[at] = order[i];
    }
    return true;
}

/* Sorts order[] by time alone. */
static uint32_t *order_by_time(const struct sort_rows *rows)
{
    size_t n = rows->count;
    uint64_t *keys = mem_resize(NULL, n, sizeof *keys), *keys_out = mem_resize(NULL, n, sizeof *keys);
    uint32_t *order = mem_resize(NULL, n, sizeof *order), *order_out = mem_resize(NULL, n, sizeof *order);
    int64_t first = rows->time[0], last = rows->time[0];
    for (size_t i = 1; i < n; i++) {
        first = rows->time[i] < first ? rows->time[i] : first;
        last = rows->time[i] > last ? rows->time[i] : last;
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint64_t)rows->time[i] - (uint64_t)first;
        order[i] = (uint32_t)i;
    }
    uint64_t range = (uint64_t)last - (uint64_t)first;
    for (int shift = 0; shift < KEY_BITS && range >> shift; shift += DIGIT_BITS) {
        if (!radix_pass(n, shift, keys, order, keys_out, order_out))
            continue;
        uint64_t *keys_swap = keys;
        keys = keys_out;
        keys_out = keys_swap;
        uint32_t *order_swap = order;
        order = order_out;
        order_out = order_swap;
    }
    free(keys);
    free(keys_out);
    free(order_out);
    return order;
}

/* Stable pass that brings the groups together. */
static uint32_t *order_by_group(const struct sort_rows *rows, uint32_t *order)
{
    if (!rows->group || rows->groups < 2)
        return order;
    size_t *starts = mem_zalloc((size_t)rows->groups + 1, sizeof *starts);
    for (size_t i = 0; i < rows->count; i++)
        starts[rows->group[i] + 1]++;
    for (uint32_t g = 0; g < rows->groups; g++)
        starts[g + 1] += starts[g];
    uint32_t *grouped = mem_resize(NULL, rows->count, sizeof *grouped);
    for (size_t i = 0; i < rows->count; i++)
        grouped[starts[rows->group[order[i]]]++] = order[i];
    free(starts);
    free(order);
    return grouped;
}

static void merge_ties(const struct sort_rows *rows, uint32_t *ties, size_t count, uint32_t *scratch)
{
    if (count < 2)
        return;
    size_t half = count / 2;
    merge_ties(rows, ties, half, scratch);
    merge_ties(rows, ties + half, count - half, scratch);
    memcpy(scratch, ties, half * sizeof *ties);
    size_t left = 0, right = half, out = 0;
    while (left < half && right < count)
        ties[out++] = rows->swap(rows->context, scratch[left], ties[right]) ? ties[right++] : scratch[left++];
    memcpy(ties + out, scratch + left, (half - left) * sizeof *ties);
}

/* Puts rows of equal group and time in the order that swap() wants. */
static void order_ties(const struct sort_rows *rows, uint32_t *order)
{
    uint32_t *scratch = NULL;
    for (size_t begin = 0, end; rows->swap && begin < rows->count; begin = end) {
        for (end = begin + 1; end < rows->count; end++)
            if (rows->time[order[end]] != rows->time[order[begin]] ||
                row_group(rows, order[end]) != row_group(rows, order[begin]))
                break;
        if (end - begin == 1)
            continue;
        scratch = mem_resize(scratch, end - begin, sizeof *scratch);
        merge_ties(rows, order + begin, end - begin, scratch);
    }
    free(scratch);
}

uint32_t *sort_order(const struct sort_rows *rows)
{
    if (rows->count < 2 || sorted_already(rows))
        return NULL;
    uint32_t *order = order_by_group(rows, order_by_time(rows));
    order_ties(rows, order);
    return order;
}
