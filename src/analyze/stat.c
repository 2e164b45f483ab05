#include "analyze/analyze.h"

enum {
    SMALL = 16,  /* below this many values insertion sort is fastest */
    MANY = 8192, /* from this many on a histogram is */
};

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

/* ---- many values --------------------------------------------------------------------------------------- */

/* Buckets a 64th of their value wide, in ascending order, so that a long tail does not crowd the rest. */
enum { MANTISSA_BITS = 6, MANTISSAS = 1 << MANTISSA_BITS, BUCKETS = (64 - MANTISSA_BITS + 1) * MANTISSAS };

static unsigned bucket_of(uint64_t value)
{
    if (value < MANTISSAS)
        return (unsigned)value;
    unsigned shift = 63 - MANTISSA_BITS - (unsigned)__builtin_clzll(value);
    return (shift + 1) * MANTISSAS + (unsigned)(value >> shift & (MANTISSAS - 1));
}

static int64_t smallest(const int64_t *values, size_t n)
{
    int64_t least = values[0];
    for (size_t i = 1; i < n; i++)
        least = min_ns(least, values[i]);
    return least;
}

/* The values of rank k and k + 1 of n (the second equal to the first if there is none). A histogram finds the
 * few values that can have the rank; only those are looked at closely. */
static void find_ranks(const int64_t *values, size_t n, size_t k, int64_t *low, int64_t *high)
{
    size_t *counts = mem_zalloc(BUCKETS, sizeof *counts);
    uint64_t least = (uint64_t)smallest(values, n);
    for (size_t i = 0; i < n; i++)
        counts[bucket_of((uint64_t)values[i] - least)]++;
    unsigned bucket = 0;
    size_t before = 0;
    while (before + counts[bucket] <= k)
        before += counts[bucket++];
    size_t count = counts[bucket], kept = 0;
    int64_t *close = mem_resize(NULL, count, sizeof *close), above = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        unsigned here = bucket_of((uint64_t)values[i] - least);
        if (here == bucket)
            close[kept++] = values[i];
        else if (here > bucket)
            above = min_ns(above, values[i]);
    }
    size_t rank = k - before;
    select_rank(close, count, rank);
    *low = close[rank];
    *high = rank + 1 < count ? smallest(close + rank + 1, count - rank - 1) : k + 1 < n ? above : *low;
    free(close);
    free(counts);
}

int64_t stat_percentile(int64_t *values, size_t n, double p)
{
    if (n == 0)
        return UNKNOWN;
    double rank = p <= 0 ? 0 : p >= 1 ? (double)(n - 1) : p * (double)(n - 1);
    size_t below = (size_t)rank;
    double part = rank - (double)below;
    int64_t low, high;
    if (n < MANY) {
        select_rank(values, n, below);
        low = values[below];
        high = below + 1 < n ? smallest(values + below + 1, n - below - 1) : low;
    } else {
        find_ranks(values, n, below, &low, &high);
    }
    uint64_t apart = (uint64_t)high - (uint64_t)low;
    return part <= 0 ? low : (int64_t)((uint64_t)low + (uint64_t)(part * (double)apart + 0.5));
}
