/* NVTX: ranges, marks, and the names of domains and categories, which may stand behind the rows that use
 * them. */
#include <stdio.h>

#include "base/i18n.h"
#include "import/nsys.h"

enum event_type { /* ENUM_NSYS_EVENT_TYPE */
                  NVTX_CATEGORY = 33,
                  NVTX_MARK = 34,
                  NVTX_THREAD = 39,
                  NVTX_PUSH_POP = 59,
                  NVTX_START_END = 60,
                  NVTX_DOMAIN_CREATE = 75,
                  NVTX_DOMAIN_DESTROY = 76,
};

enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, END_THREAD, DOMAIN_ID, CATEGORY, COLUMNS };

static const char *const columns[COLUMNS] = {"start",     "end",          "eventType", "text",    "textId",
                                             "globalTid", "endGlobalTid", "domainId",  "category"};

/* nsys ends ranges that were open when the recording stopped with a time far beyond it. */
static const int64_t beyond_ns = (int64_t)24 * 3600 * 1000 * 1000 * 1000;

/* A range whose detail waits for the names of its domain and category. */
struct unnamed {
    size_t span;
    uint64_t domain, category; /* keys into the maps below; 0 none */
    int64_t end_thread;        /* tid, or -1: the thread that began it */
};

struct nvtx {
    struct nsys *n;
    struct map domains, categories; /* key → text */
    VEC(struct unnamed) unnamed;
    VEC(size_t) open; /* spans without an end */
};

static uint64_t domain_key(int64_t global, int64_t domain)
{
    return hash_pair((uint64_t)nsys_pid(global), (uint64_t)domain);
}

static uint64_t category_key(int64_t global, int64_t domain, int64_t category)
{
    return hash_pair(domain_key(global, domain), (uint64_t)category);
}

static uint32_t event_text(struct nsys *n, struct nsys_scan *scan)
{
    uint32_t text = nsys_text(n, scan, TEXT);
    return text ? text : nsys_name(n, scan, TEXT_ID);
}

/* The span of a range; an end that is missing or beyond reason is left to close_open(). */
static bool range_times(struct nvtx *v, struct nsys_scan *scan, struct interval *when, bool *open)
{
    struct nsys *n = v->n;
    int64_t end = 0;
    enum nsys_cell cell = nsys_scan_int(scan, END, &end);
    bool beyond = n->duration_ns >= 0 && end > n->duration_ns && end - n->duration_ns > beyond_ns;
    *open = cell == CELL_NULL || (cell == CELL_INT && beyond);
    if (!*open)
        return nsys_interval(n, scan, START, END, when);
    bool timed = nsys_time(n, scan, START, &when->start);
    when->end = when->start;
    return timed;
}

static void add_range(struct nvtx *v, struct nsys_scan *scan, enum event_type type)
{
    struct nsys *n = v->n;
    struct interval when;
    bool open;
    if (!range_times(v, scan, &when, &open))
        return;
    uint32_t thread = nsys_row_thread(n, scan, THREAD);
    if (thread == NONE)
        return;
    size_t span = nsys_add_span(n, SPAN_ANNOTATION, when, thread, event_text(n, scan), 0);
    if (open)
        vec_push(&v->open, span);
    int64_t global = nsys_scan_int_or(scan, THREAD, 0), ends_on = nsys_scan_int_or(scan, END_THREAD, global);
    int64_t domain = nsys_scan_int_or(scan, DOMAIN_ID, 0), category = nsys_scan_int_or(scan, CATEGORY, 0);
    bool elsewhere = type == NVTX_START_END && nsys_thread_key(ends_on) != nsys_thread_key(global);
    if (domain != 0 || category != 0 || elsewhere)
        vec_push(&v->unnamed, ((struct unnamed){
                                  .span = span,
                                  .domain = domain ? domain_key(global, domain) : 0,
                                  .category = category ? category_key(global, domain, category) : 0,
                                  .end_thread = elsewhere ? nsys_tid(ends_on) : -1,
                              }));
}

static void add_mark(struct nvtx *v, struct nsys_scan *scan)
{
    int64_t time;
    if (!nsys_time(v->n, scan, START, &time))
        return;
    uint32_t thread = nsys_row_thread(v->n, scan, THREAD);
    if (thread == NONE)
        return;
    vec_push(&v->n->run->marks, ((struct mark){.time = time,
                                               .kind = MARK_INSTANT,
                                               .text = event_text(v->n, scan),
                                               .thread = thread,
                                               .device = NONE}));
}

static void add_event(struct nvtx *v, struct nsys_scan *scan)
{
    struct nsys *n = v->n;
    int64_t type = nsys_scan_int_or(scan, TYPE, -1);
    if (type < 0) /* exports of scripts: what ends is a range */
        type = nsys_scan_type(scan, END) == CELL_NULL ? NVTX_MARK : NVTX_PUSH_POP;
    int64_t global = nsys_scan_int_or(scan, THREAD, 0), domain = nsys_scan_int_or(scan, DOMAIN_ID, 0);
    switch (type) {
    case NVTX_PUSH_POP:
    case NVTX_START_END:
        add_range(v, scan, (enum event_type)type);
        break;
    case NVTX_MARK:
        add_mark(v, scan);
        break;
    case NVTX_DOMAIN_CREATE:
        map_set(&v->domains, domain_key(global, domain), event_text(n, scan));
        break;
    case NVTX_CATEGORY:
        map_set(&v->categories, category_key(global, domain, nsys_scan_int_or(scan, CATEGORY, 0)),
                event_text(n, scan));
        break;
    case NVTX_THREAD: {
        uint32_t thread = nsys_row_thread(n, scan, THREAD);
        if (thread != NONE)
            n->run->threads.at[thread].name = event_text(n, scan);
        break;
    }
    case NVTX_DOMAIN_DESTROY:
        break;
    default:
        n->run->losses.malformed++;
        nsys_repair(n, N_("NVTX events of an unknown type were left out"), 1);
    }
}

/* Gives a range its detail: "domain / category, ends on thread N", as much of it as there is. */
static void name_range(struct nvtx *v, const struct unnamed *u)
{
    struct run *run = v->n->run;
    uint32_t domain = u->domain ? map_get(&v->domains, u->domain) : 0;
    uint32_t category = u->category ? map_get(&v->categories, u->category) : 0;
    domain = domain == MAP_ABSENT ? 0 : domain;
    category = category == MAP_ABSENT ? 0 : category;
    char detail[1024];
    int length = snprintf(detail, sizeof detail, "%.480s%s%.480s", run_text(run, domain),
                          domain && category ? " / " : "", run_text(run, category));
    if (u->end_thread >= 0)
        length += snprintf(detail + length, sizeof detail - (size_t)length, "%sends on thread %lld",
                           length ? ", " : "", (long long)u->end_thread);
    run->spans.detail[u->span] = intern_add(&run->strings, detail, (size_t)length);
}

/* Ranges that never ended reach to the end of the recording, or to the last thing seen in it. */
static void close_open(struct nvtx *v)
{
    struct nsys *n = v->n;
    int64_t end = n->last_ns, stop;
    if (n->duration_ns != UNKNOWN && !__builtin_add_overflow(n->duration_ns, n->base_ns, &stop) && stop > end)
        end = stop;
    vec_each (&v->open, span)
        n->run->spans.end[*span] = max_ns(end, n->run->spans.start[*span]);
    if (v->open.count)
        nsys_repair(n, N_("NVTX ranges that never ended were closed at the end of the recording"),
                    (int64_t)v->open.count);
}

void nsys_read_nvtx(struct nsys *n)
{
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, "NVTX_EVENTS", columns, COLUMNS))
        return;
    struct nvtx v = {.n = n};
    while (nsys_scan_next(&scan))
        add_event(&v, &scan);
    vec_each (&v.unnamed, u)
        name_range(&v, u);
    close_open(&v);
    map_release(&v.domains);
    map_release(&v.categories);
    vec_release(&v.unnamed);
    vec_release(&v.open);
}
