/* Steps: the repeated unit of a device's launch sequence, with or without annotation.
 *
 * The sequence is in order of issue, as the order of execution changes with every race between streams. Ops
 * that share a launching call (the nodes of a graph) are one launch. The host's waits for the device take
 * part, since a loop of identical launches often shows its steps only by them. */
#include "analyze/steps.h"

#include <math.h>
#include <string.h>

#include "analyze/annotated.h"
#include "analyze/sequence.h"
#include "base/sort.h"

/* A name-only sequence of at least this quality needs no second look with launch shapes. */
static const double quality_good = 0.8;
/* A step is an outlier beyond median + max(5 × median absolute deviation, 10 % of the median). */
enum { OUTLIER_DEVIATIONS = 5, OUTLIER_SHARE_PERCENT = 10, OUTLIER_STEPS_MIN = 5 };

/* A graph that was recorded whole starts many ops: nobody knows how many. */
enum { GRAPH_OPS = 64 };

/* Launches and waits of one device in order of issue. */
struct issue_order {
    size_t count;
    bool has_calls;     /* times are the host's; else the device's */
    uint32_t *ops;      /* run->ops by issue */
    uint32_t *first_op; /* [count + 1]: first place in ops[] of each element */
    int64_t *issued;    /* when each element was issued */
    int64_t *gap_ns, *wait_ns, *busy_ns;
    uint32_t *op_count; /* 0: a wait; of a graph recorded whole, GRAPH_OPS */
    uint32_t *by_name, *by_shape;
    uint32_t names, shapes; /* number of symbols of each */
};

/* ---- the sequence -------------------------------------------------------------------------------------- */

/* One launch or wait before sorting. */
struct issue_rows {
    size_t count;
    int64_t *time;
    uint32_t *what; /* run->ops, or run->spans with the top bit set: a wait */
};

static const uint32_t is_wait_bit = 1u << 31;

static void add_row(struct issue_rows *rows, int64_t time, uint32_t what)
{
    if ((rows->count & (rows->count - 1)) == 0) {
        size_t cap = rows->count ? rows->count * 2 : 1;
        rows->time = mem_resize(rows->time, cap, sizeof *rows->time);
        rows->what = mem_resize(rows->what, cap, sizeof *rows->what);
    }
    rows->time[rows->count] = time;
    rows->what[rows->count++] = what;
}

static void add_launches(struct issue_rows *rows, const struct run *run, const struct device_report *device,
                         bool *has_calls)
{
    struct op_range range = ops_in_window(run, device->device, device->window);
    size_t called = 0, all = 0;
    for (uint32_t op = range.first; op < range.end; op++) {
        if (!op_in_window(run->ops.start[op], run->ops.end[op], device->window))
            continue;
        called += run->ops.call[op] != NONE;
        all++;
    }
    *has_calls = called > all / 2;
    for (uint32_t op = range.first; op < range.end; op++) {
        uint32_t call = run->ops.call[op];
        if (op_in_window(run->ops.start[op], run->ops.end[op], device->window))
            add_row(rows, *has_calls && call != NONE ? run->spans.start[call] : run->ops.start[op], op);
    }
}

/* The waits of the processes that launch on the device. */
static void add_waits(struct issue_rows *rows, const struct run *run, const struct device_report *device)
{
    uint8_t *is_wait = mem_zalloc(run->strings.count, sizeof *is_wait); /* 0 not yet asked, 1 no, 2 yes */
    bool *launches = mem_zalloc(run->processes.count, sizeof *launches);
    vec_each (&run->streams, stream)
        if (stream->device == device->device && stream->process != NONE)
            launches[stream->process] = true;
    vec_each (&run->threads, thread) {
        if (!launches[thread->process])
            continue;
        for (uint32_t i = thread->first_span; i < thread->first_span + thread->span_count; i++) {
            uint32_t name = run->spans.name[i];
            if (run->spans.kind[i] != SPAN_API ||
                !op_in_window(run->spans.start[i], run->spans.end[i], device->window))
                continue;
            if (is_wait[name] == 0)
                is_wait[name] = call_classify(run_text(run, name)) == CALL_SYNC ? 2 : 1;
            if (is_wait[name] == 2)
                add_row(rows, run->spans.start[i], i | is_wait_bit);
        }
    }
    free(launches);
    free(is_wait);
}

static uint32_t symbol_of(struct map *symbols, uint64_t key)
{
    uint32_t symbol = map_get(symbols, key);
    if (symbol == MAP_ABSENT) {
        symbol = (uint32_t)symbols->count + 1; /* 0 is a wait */
        map_set(symbols, key, symbol);
    }
    return symbol;
}

struct symbol_maps {
    struct map names, shapes;
};

static void name_element(struct issue_order *order, const struct run *run, struct symbol_maps *maps,
                         size_t at, uint32_t op)
{
    const struct op_table *ops = &run->ops;
    bool is_graph = ops->graph[op] != 0 && ops->call[op] != NONE;
    uint64_t what = is_graph ? run->spans.name[ops->call[op]] : ops->name[op];
    /* A graph is the same launch whether it was recorded whole or by its nodes. */
    uint64_t name = hash_pair(what, is_graph ? OP_GRAPH << 8 : (uint64_t)ops->kind[op] << 8 | ops->dir[op]);
    uint64_t shape = is_graph ? ops->graph[op] : ops->kind[op] == OP_KERNEL ? ops->shape[op] : 0;
    order->by_name[at] = symbol_of(&maps->names, name);
    order->by_shape[at] = symbol_of(&maps->shapes, hash_pair(name, shape));
}

static void fold_rows(struct issue_order *order, const struct run *run, const struct issue_rows *rows,
                      const uint32_t *sorted)
{
    struct symbol_maps maps = {0};
    int64_t idle_since = INT64_MIN, waited = 0;
    uint32_t last_call = NONE, ops = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t row = sorted ? sorted[i] : i;
        uint32_t what = rows->what[row];
        bool is_wait = what & is_wait_bit;
        uint32_t call = is_wait ? NONE : run->ops.call[what];
        if (is_wait || call == NONE || call != last_call) {
            size_t at = order->count++;
            order->issued[at] = rows->time[row];
            order->gap_ns[at] = idle_since == INT64_MIN ? 0 : max_ns(rows->time[row] - idle_since, 0);
            order->wait_ns[at] = waited;
            waited = 0;
            order->first_op[at] = ops;
            if (!is_wait)
                name_element(order, run, &maps, at, what);
        }
        last_call = call;
        if (is_wait) {
            int64_t end = run->spans.end[what & ~is_wait_bit];
            waited = max_ns(end - rows->time[row], 0);
            idle_since = max_ns(idle_since, end);
            continue;
        }
        size_t at = order->count - 1;
        order->ops[ops++] = what;
        order->op_count[at] += run->ops.kind[what] == OP_GRAPH ? GRAPH_OPS : 1;
        order->busy_ns[at] += run->ops.end[what] - run->ops.start[what];
        idle_since =
            max_ns(idle_since, order->has_calls && call != NONE ? run->spans.end[call] : run->ops.end[what]);
    }
    order->first_op[order->count] = ops;
    order->names = (uint32_t)maps.names.count + 1;
    order->shapes = (uint32_t)maps.shapes.count + 1;
    map_release(&maps.names);
    map_release(&maps.shapes);
}

static void issue_order_init(struct issue_order *order, const struct run *run,
                             const struct device_report *device)
{
    *order = (struct issue_order){0};
    struct issue_rows rows = {0};
    add_launches(&rows, run, device, &order->has_calls);
    if (order->has_calls)
        add_waits(&rows, run, device);
    size_t n = rows.count;
    order->ops = mem_resize(NULL, n, sizeof *order->ops);
    order->first_op = mem_resize(NULL, n + 1, sizeof *order->first_op);
    order->issued = mem_resize(NULL, n, sizeof *order->issued);
    order->gap_ns = mem_resize(NULL, n, sizeof *order->gap_ns);
    order->wait_ns = mem_resize(NULL, n, sizeof *order->wait_ns);
    order->busy_ns = mem_zalloc(n, sizeof *order->busy_ns);
    order->op_count = mem_zalloc(n, sizeof *order->op_count);
    order->by_name = mem_zalloc(n, sizeof *order->by_name);
    order->by_shape = mem_zalloc(n, sizeof *order->by_shape);
    uint32_t *sorted = sort_order(&(struct sort_rows){.count = n, .time = rows.time});
    fold_rows(order, run, &rows, sorted);
    free(sorted);
    free(rows.time);
    free(rows.what);
}

static void issue_order_release(struct issue_order *order)
{
    free(order->ops);
    free(order->first_op);
    free(order->issued);
    free(order->gap_ns);
    free(order->wait_ns);
    free(order->busy_ns);
    free(order->op_count);
    free(order->by_name);
    free(order->by_shape);
}

/* Names first, since shapes vary with the data; shapes where names do not tell launches apart, as of graphs,
 * which all have the name of the call. */
static void find_sequence(const struct issue_order *order, struct sequence_steps *found)
{
    struct sequence sequence = {.count = order->count,
                                .symbols = order->names,
                                .symbol = order->by_name,
                                .ops = order->op_count,
                                .busy_ns = order->busy_ns,
                                .gap_ns = order->gap_ns,
                                .wait_ns = order->wait_ns};
    sequence_find(&sequence, found);
    if (found->cuts.count && found->quality >= quality_good)
        return;
    struct sequence_steps with_shapes = {0};
    sequence.symbols = order->shapes;
    sequence.symbol = order->by_shape;
    sequence_find(&sequence, &with_shapes);
    bool is_longer = with_shapes.quality == found->quality && with_shapes.period > found->period;
    if (with_shapes.cuts.count &&
        (found->cuts.count == 0 || with_shapes.quality > found->quality || is_longer)) {
        vec_release(&found->cuts);
        *found = with_shapes;
    } else {
        vec_release(&with_shapes.cuts);
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The stream with most work: its first op marks where a step begins on the device, since copies on side
 * streams may run far ahead. */
static uint32_t main_stream(const struct issue_order *order, const struct run *run)
{
    int64_t *busy = mem_zalloc(run->streams.count, sizeof *busy);
    uint32_t best = NONE;
    for (uint32_t i = 0; i < order->first_op[order->count]; i++) {
        uint32_t op = order->ops[i], stream = run->ops.stream[op];
        busy[stream] += run->ops.end[op] - run->ops.start[op];
        if (best == NONE || busy[stream] > busy[best])
            best = stream;
    }
    free(busy);
    return best;
}

/* When the elements [first, end) begin on the device; UNKNOWN if they hold no op. */
static int64_t device_start(const struct issue_order *order, const struct run *run, uint32_t first,
                            uint32_t end, uint32_t stream)
{
    int64_t start = UNKNOWN;
    for (uint32_t i = order->first_op[first]; i < order->first_op[end]; i++) {
        uint32_t op = order->ops[i];
        if (run->ops.stream[op] == stream)
            return run->ops.start[op];
        if (start == UNKNOWN || run->ops.start[op] < start)
            start = run->ops.start[op];
    }
    return start;
}

static int64_t device_end(const struct issue_order *order, const struct run *run, uint32_t first,
                          uint32_t end)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = order->first_op[first]; i < order->first_op[end]; i++)
        last = max_ns(last, run->ops.end[order->ops[i]]);
    return last;
}

/* One row per step that started anything on the device. */
static void make_rows(const struct issue_order *order, const struct run *run, struct interval window,
                      const struct sequence_steps *found, const struct annotated *names,
                      struct step_report *steps)
{
    uint32_t stream = main_stream(order, run);
    int64_t after = window.start;
    for (size_t i = 0; i + 1 < found->cuts.count; i++) {
        uint32_t first = found->cuts.at[i], end = found->cuts.at[i + 1];
        int64_t start = device_start(order, run, first, end, stream);
        if (start == UNKNOWN)
            continue;
        after = max_ns(after, start);
        uint32_t range = names ? annotated_at(names, run, order->issued[first + (end - first) / 2]) : NONE;
        vec_push(&steps->rows,
                 ((struct step_row){.start = after,
                                    .end = min_ns(device_end(order, run, first, end), window.end),
                                    .name = range != NONE ? run->spans.name[range] : 0,
                                    .ops = order->first_op[end] - order->first_op[first]}));
    }
    for (size_t i = 0; i < steps->rows.count; i++) {
        struct step_row *row = &steps->rows.at[i];
        if (i + 1 < steps->rows.count)
            row->end = row[1].start;
        row->end = max_ns(row->end, row->start);
    }
}

static void summarize(struct step_report *steps, const struct device_report *device)
{
    size_t n = steps->rows.count;
    int64_t *durations = mem_resize(NULL, n, sizeof *durations), covered = 0;
    for (size_t i = 0; i < n; i++) {
        durations[i] = steps->rows.at[i].end - steps->rows.at[i].start;
        covered += durations[i];
    }
    steps->count = (int64_t)n;
    steps->median_ns = stat_percentile(durations, n, 0.5);
    steps->min_ns = stat_percentile(durations, n, 0);
    steps->max_ns = stat_percentile(durations, n, 1);
    steps->p95_ns = stat_percentile(durations, n, 0.95);
    steps->coverage_ratio = device->wall_ns > 0 ? (double)covered / (double)device->wall_ns : NAN;
    free(durations);
}

/* ---- where each step's time went ----------------------------------------------------------------------- */

/* Time by account and step: [account * steps + step]. */
struct step_ledger {
    struct step_report *steps;
    int64_t *ns;
    size_t at; /* step that the sweep has reached */
};

static void book(struct step_ledger *ledger, size_t step, struct interval stretch, enum account account)
{
    const struct step_row *row = &ledger->steps->rows.at[step];
    int64_t ns = min_ns(stretch.end, row->end) - max_ns(stretch.start, row->start);
    ledger->ns[(size_t)account * ledger->steps->rows.count + step] += max_ns(ns, 0);
}

static void book_busy(void *context, const struct sweep_stretch *stretch)
{
    struct step_ledger *ledger = context;
    if (!stretch->busy)
        return; /* causes of idle time come from the gaps */
    size_t n = ledger->steps->rows.count;
    const struct step_row *rows = ledger->steps->rows.at;
    while (ledger->at < n && rows[ledger->at].end <= stretch->start)
        ledger->at++;
    for (size_t i = ledger->at; i < n && rows[i].start < stretch->end; i++)
        book(ledger, i, (struct interval){stretch->start, stretch->end}, stretch->account);
}

static void book_idle(struct step_ledger *ledger, const struct report *report, uint32_t device)
{
    size_t n = ledger->steps->rows.count;
    const struct step_row *rows = ledger->steps->rows.at;
    vec_each (&report->gaps, piece) {
        if (piece->device != device)
            continue;
        size_t low = 0, high = n; /* first step that ends after the piece starts */
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (rows[middle].end <= piece->start)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < n && rows[low].start < piece->end; low++)
            book(ledger, low, (struct interval){piece->start, piece->end}, (enum account)piece->cause);
    }
}

/* The account that grew most against its median over all steps. */
static void blame(const struct step_ledger *ledger, const int64_t median[ACCOUNT_COUNT], size_t step)
{
    struct step_row *row = &ledger->steps->rows.at[step];
    row->outlier_cause = IDLE_UNKNOWN;
    for (enum account a = 0; a < ACCOUNT_COUNT; a++) {
        int64_t more = ledger->ns[(size_t)a * ledger->steps->rows.count + step] - median[a];
        if (more > row->outlier_cause_ns) {
            row->outlier_cause_ns = more;
            row->outlier_cause = a;
        }
    }
    row->outlier_cause_ns = min_ns(row->outlier_cause_ns, row->outlier_excess_ns);
}

static void mark_outliers(struct step_ledger *ledger)
{
    struct step_report *steps = ledger->steps;
    size_t n = steps->rows.count;
    if (n < OUTLIER_STEPS_MIN)
        return;
    int64_t *column = mem_resize(NULL, n, sizeof *column);
    for (size_t i = 0; i < n; i++)
        column[i] = llabs(steps->rows.at[i].end - steps->rows.at[i].start - steps->median_ns);
    int64_t deviation = stat_percentile(column, n, 0.5);
    int64_t limit = steps->median_ns +
                    max_ns(OUTLIER_DEVIATIONS * deviation, steps->median_ns / 100 * OUTLIER_SHARE_PERCENT);
    int64_t median[ACCOUNT_COUNT];
    for (size_t a = 0; a < ACCOUNT_COUNT; a++) {
        memcpy(column, ledger->ns + a * n, n * sizeof *column);
        median[a] = stat_percentile(column, n, 0.5);
    }
    for (size_t i = 0; i < n; i++) {
        struct step_row *row = &steps->rows.at[i];
        row->outlier = row->end - row->start > limit;
        if (!row->outlier)
            continue;
        row->outlier_excess_ns = row->end - row->start - steps->median_ns;
        blame(ledger, median, i);
    }
    free(column);
}

static void book_steps(const struct report *report, struct comm_names *names, uint32_t device,
                       struct step_report *steps)
{
    size_t n = steps->rows.count;
    struct step_ledger ledger = {.steps = steps, .ns = mem_zalloc(n * ACCOUNT_COUNT, sizeof *ledger.ns)};
    struct interval range = {steps->rows.at[0].start, steps->rows.at[n - 1].end};
    sweep_device(names, device, range, book_busy, &ledger);
    book_idle(&ledger, report, device);
    for (size_t i = 0; i < n; i++) {
        struct step_row *row = &steps->rows.at[i];
        for (size_t a = 0; a < ACCOUNT_BUSY_COUNT; a++)
            row->busy_ns += ledger.ns[a * n + i];
        row->idle_ns = row->end - row->start - row->busy_ns;
    }
    mark_outliers(&ledger);
    free(ledger.ns);
}

/* ---- putting it together ------------------------------------------------------------------------------- */

/* Cuts where the ranges begin; what is issued between two of them belongs to the one before. */
static void cut_at_ranges(const struct annotated *ranges, const struct run *run,
                          const struct issue_order *order, struct sequence_steps *found)
{
    VEC(int64_t) launches = {0};
    found->cuts.count = 0;
    for (size_t i = 0; i <= ranges->count; i++) {
        uint32_t span = ranges->spans[i < ranges->count ? i : i - 1];
        int64_t moment = i < ranges->count ? run->spans.start[span] : run->spans.end[span];
        uint32_t at = (uint32_t)issued_at_or_after(order->issued, order->count, moment);
        uint32_t last = found->cuts.count ? found->cuts.at[found->cuts.count - 1] : 0;
        if (found->cuts.count && at == last)
            continue;
        if (found->cuts.count) {
            int64_t n = 0;
            for (uint32_t k = last; k < at; k++)
                n += order->op_count[k] > 0;
            vec_push(&launches, n);
        }
        vec_push(&found->cuts, at);
    }
    found->period = launches.count ? (size_t)stat_percentile(launches.at, launches.count, 0.5) : 0;
    vec_release(&launches);
}

void steps_of_device(const struct report *report, struct comm_names *names,
                     const struct device_report *device, struct step_report *steps)
{
    const struct run *run = report->run;
    struct issue_order order;
    struct sequence_steps found = {0};
    struct annotated ranges = {0};
    issue_order_init(&order, run, device);
    find_sequence(&order, &found);
    steps->device = device->device;
    steps->origin = found.cuts.count ? STEPS_SEQUENCE : STEPS_NONE;

    if (order.has_calls)
        annotated_find(run, device->device, order.issued, order.count, &ranges);
    bool named = annotated_match(&ranges, run, order.issued, found.cuts.at, found.cuts.count);
    /* A program that counts its steps knows them better than their pattern tells. */
    bool counted = ranges.numbered && ranges.named_step;
    if (ranges.count && !named && (steps->origin == STEPS_NONE || counted)) {
        cut_at_ranges(&ranges, run, &order, &found);
        steps->origin = STEPS_ANNOTATED;
        named = true;
    }
    make_rows(&order, run, device->window, &found, named ? &ranges : NULL, steps);
    if (steps->rows.count) {
        steps->period_launches = (int64_t)found.period;
        summarize(steps, device);
        book_steps(report, names, device->device, steps);
    } else {
        steps->origin = STEPS_NONE;
    }
    annotated_release(&ranges);
    vec_release(&found.cuts);
    issue_order_release(&order);
}

void steps_build(struct report *report)
{
    const struct device_report *busiest = NULL;
    vec_each (&report->devices, device)
        if (!busiest || device->busy_ns > busiest->busy_ns)
            busiest = device;
    report->steps.device = NONE;
    if (!busiest)
        return;
    struct comm_names names;
    comm_names_init(&names, report->run);
    steps_of_device(report, &names, busiest, &report->steps);
    comm_names_release(&names);
}
