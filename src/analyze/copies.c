/* The table of copies: one row per direction and memory kinds, over all devices of the report. */
#include <math.h>
#include <stdlib.h>

#include "analyze/analyze.h"
#include "analyze/cover.h"
#include "analyze/tally.h"

enum {
    DIRS = COPY_MANAGED_D2D + 1,
    KINDS = MEM_MANAGED + 1,
    KEYS = DIRS * KINDS * KINDS * 2,
    SMALL_BYTES = 64 * 1024,
};

struct amounts {
    int64_t bytes, known_ns; /* of copies whose size is known, and the time those took */
    int64_t unknown_count, small_count;
    int64_t overlapped_ns;
};

struct copies {
    const struct run *run;
    struct tally tally;
    struct amounts *amounts; /* by group */
};

static bool is_copy(const struct op_table *ops, uint32_t op)
{
    return ops->kind[op] == OP_COPY || ops->kind[op] == OP_MEMSET;
}

static uint32_t key_of(const struct op_table *ops, uint32_t op)
{
    bool is_memset = ops->kind[op] == OP_MEMSET;
    uint32_t dir = ops->dir[op] < DIRS && !is_memset ? ops->dir[op] : COPY_UNKNOWN;
    uint32_t src = ops->src[op] < KINDS && !is_memset ? ops->src[op] : MEM_UNKNOWN;
    uint32_t dst = ops->dst[op] < KINDS ? ops->dst[op] : MEM_UNKNOWN;
    return ((dir * KINDS + src) * KINDS + dst) * 2 + is_memset;
}

static void count_copies(struct copies *c, uint32_t device, struct interval window)
{
    const struct op_table *ops = &c->run->ops;
    struct op_range range = ops_in_window(c->run, device, window);
    for (uint32_t op = range.first; op < range.end; op++)
        if (is_copy(ops, op) && op_in_window(ops->start[op], ops->end[op], window))
            tally_count(&c->tally, key_of(ops, op));
}

static void add_amounts(struct amounts *amounts, int64_t bytes, int64_t ns)
{
    if (bytes == UNKNOWN || bytes < 0) {
        amounts->unknown_count++;
        return;
    }
    amounts->small_count += bytes < SMALL_BYTES;
    if (!__builtin_add_overflow(amounts->bytes, bytes, &amounts->bytes))
        amounts->known_ns += ns;
}

static void add_copies(struct copies *c, uint32_t device, struct interval window)
{
    const struct op_table *ops = &c->run->ops;
    struct op_range range = ops_in_window(c->run, device, window);
    struct cover kernels = {0};
    for (uint32_t op = range.first; op < range.end; op++)
        if (!is_copy(ops, op))
            cover_add(&kernels, ops->start[op], ops->end[op]);
    for (uint32_t op = range.first; op < range.end; op++) {
        if (!is_copy(ops, op) || !op_in_window(ops->start[op], ops->end[op], window))
            continue;
        struct interval part = op_clip(c->run, op, window);
        uint32_t key = key_of(ops, op);
        struct amounts *amounts = &c->amounts[c->tally.group_of[key]];
        tally_add(&c->tally, key, part.end - part.start);
        add_amounts(amounts, ops->bytes[op], ops->end[op] - ops->start[op]);
        amounts->overlapped_ns += cover_between(&kernels, part.start, part.end);
    }
    cover_release(&kernels);
}

/* "HtoD pageable", "DtoH pinned", "DtoD", "memset managed": the direction and each kind of memory but the
 * device's own, which is the rule. */
static const char *kind_name(struct report *report, const struct copy_row *row)
{
    static const char *const dirs[DIRS] = {
        [COPY_UNKNOWN] = "copy",
        [COPY_H2D] = "HtoD",
        [COPY_D2H] = "DtoH",
        [COPY_D2D] = "DtoD",
        [COPY_H2H] = "HtoH",
        [COPY_P2P] = "PtoP",
        [COPY_MANAGED_H2D] = "migration HtoD",
        [COPY_MANAGED_D2H] = "migration DtoH",
        [COPY_MANAGED_D2D] = "migration DtoD",
    };
    static const char *const kinds[KINDS] = {
        [MEM_PAGEABLE] = "pageable",
        [MEM_PINNED] = "pinned",
        [MEM_ARRAY] = "array",
        [MEM_MANAGED] = "managed",
    };
    struct str text = {0};
    str_puts(&text, row->is_memset ? "memset" : dirs[row->dir]);
    if (kinds[row->src])
        str_addf(&text, " %s", kinds[row->src]);
    bool joined = kinds[row->src] || (row->dst == MEM_ARRAY && !row->is_memset);
    if (kinds[row->dst])
        str_addf(&text, joined ? " to %s" : " %s", kinds[row->dst]);
    const char *name = arena_text(&report->arena, str_text(&text), text.len);
    str_release(&text);
    return name;
}

static void make_row(struct report *report, struct copies *c, const struct tally_group *group,
                     struct copy_row *row)
{
    const struct amounts *amounts = &c->amounts[c->tally.group_of[group->key]];
    uint32_t key = group->key;
    *row = (struct copy_row){
        .is_memset = key % 2,
        .dst = key / 2 % KINDS,
        .src = key / 2 / KINDS % KINDS,
        .dir = key / 2 / KINDS / KINDS,
        .count = group->count,
        .bytes = amounts->unknown_count == group->count ? UNKNOWN : amounts->bytes,
        .unknown_bytes_count = amounts->unknown_count,
        .total_ns = group->total,
        .min_ns = group->min,
        .median_ns = tally_median(&c->tally, group),
        .max_ns = group->max,
        .rate_bytes_per_s =
            amounts->known_ns > 0 ? (double)amounts->bytes * 1e9 / (double)amounts->known_ns : NAN,
        .overlapped_ratio = group->total > 0 ? (double)amounts->overlapped_ns / (double)group->total : NAN,
        .small_count = amounts->small_count,
    };
    row->kind = kind_name(report, row);
}

static int by_total(const void *a, const void *b)
{
    const struct copy_row *left = a, *right = b;
    if (left->total_ns != right->total_ns)
        return left->total_ns < right->total_ns ? 1 : -1;
    if (left->dir != right->dir)
        return left->dir < right->dir ? -1 : 1;
    return (int)left->src != (int)right->src ? (int)left->src - (int)right->src
                                             : (int)left->dst - (int)right->dst;
}

void copies_build(struct report *report)
{
    struct copies c = {.run = report->run};
    tally_init(&c.tally, KEYS);
    vec_each (&report->devices, device)
        count_copies(&c, device->device, device->window);
    tally_layout(&c.tally);
    c.amounts = mem_zalloc(c.tally.groups.count, sizeof *c.amounts);
    if (c.tally.groups.count > 0)
        vec_each (&report->devices, device)
            add_copies(&c, device->device, device->window);
    vec_each (&c.tally.groups, group)
        make_row(report, &c, group, vec_new(&report->copies));
    if (report->copies.count > 0)
        qsort(report->copies.at, report->copies.count, sizeof *report->copies.at, by_total);
    free(c.amounts);
    tally_release(&c.tally);
}
