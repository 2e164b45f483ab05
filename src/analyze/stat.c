#include "analyze/analyze.h"

enum { SMALL = 16 }; /* below this many values insertion sort is fastest */

static void swap(int64_t *a, int64_t *b)
{
    int64_t t = *a;
    *a = *b;
    *b = t;
}

static void sort_small(int64_t *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median_of_three(int64_t a, int64_t b, int64_t c)
{
    if (a > b)
        swap(&a, &b);
    return c < a ? a : c > b ? b : c;
}

/* Brings the value of rank k to values[k], smaller ones before it and larger ones after it. Quickselect with
 * three-way partition, as durations repeat a lot; a run of bad pivots falls back to sorting. */
static void select_rank(int64_t *values, size_t n, size_t k)
{
    int patience = 64;
    while (n > SMALL && patience-- > 0) {
        int64_t pivot = median_of_three(values[n / 4], values[n / 2], values[n - 1 - n / 8]);
        size_t less = 0, at = 0, greater = n;
        while (at < greater) {
            if (values[at] < pivot)
                swap(&values[less++], &values[at++]);
            else if (values[at] > pivot)
                swap(&values[at], &values[--greater]);
            else
                at++;
        }
        if (k < less) {
            n = less;
        } else if (k < greater) {
            return;
        } else {
            values += greater;
            n -= greater;
            k -= greater;
        }
    }
    if (n > SMALL)
        qsort(values, n, sizeof *values, ascending);
    else
        sort_small(values, n);
}

int64_t stat_percentile(int64_t *values, size_t n, double p)
{
    if (n == 0)
        return UNKNOWN;
    double rank = p <= 0 ? 0 : p >= 1 ? (double)(n - 1) : p * (double)(n - 1);
    size_t below = (size_t)rank;
    double part = rank - (double)below;
    select_rank(values, n, below);
    int64_t low = values[below];
    if (part <= 0 || below + 1 >= n)
        return low;
    int64_t high = values[below + 1];
    for (size_t i = below + 2; i < n; i++)
        high = min_ns(high, values[i]);
    uint64_t apart = (uint64_t)high - (uint64_t)low;
    return (int64_t)((uint64_t)low + (uint64_t)(part * (double)apart + 0.5));
}
