/* What the host did: CUDA calls, operating-system calls, overhead, and calls into libraries. */
#include "base/i18n.h"
#include "import/nsys.h"

enum { START, END, THREAD, NAME, CORRELATION, STACK, COLUMNS };

static const char *const columns[COLUMNS] = {
    "start", "end", "globalTid", "nameId|textId|name|text", "correlationId", "callchainId"};

/* A table whose rows are spans of a thread. */
struct span_source {
    const char *table;
    enum span_kind kind;
    const char *detail; /* NULL: none */
    const char *stacks; /* the table of call stacks, or NULL */
};

static const struct span_source calls[] = {
    /* Driver calls stand in the first table too, told apart by eventClass. */
    {"CUPTI_ACTIVITY_KIND_RUNTIME", SPAN_API, NULL, "CUDA_CALLCHAINS"},
    {"CUPTI_ACTIVITY_KIND_DRIVER", SPAN_API, NULL, "CUDA_CALLCHAINS"},
};

static const struct span_source others[] = {
    {"OSRT_API", SPAN_OS, NULL, "OSRT_CALLCHAINS"},
    {"PROFILER_OVERHEAD", SPAN_OVERHEAD, NULL, NULL},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", SPAN_OVERHEAD, NULL, NULL},
    {"CUPTI_ACTIVITY_KIND_JIT", SPAN_OVERHEAD, "JIT", NULL},
    {"CUDA_HOST_CALLBACK", SPAN_OTHER, "CUDA host callback", NULL},
    {"CUDNN_EVENTS", SPAN_OTHER, "cuDNN", NULL},
    {"CUBLAS_EVENTS", SPAN_OTHER, "cuBLAS", NULL},
    {"MPI_P2P_EVENTS", SPAN_OTHER, "MPI point-to-point", NULL},
    {"MPI_COLLECTIVES_EVENTS", SPAN_OTHER, "MPI collective", NULL},
    {"MPI_START_WAIT_EVENTS", SPAN_OTHER, "MPI wait", NULL},
    {"MPI_OTHER_EVENTS", SPAN_OTHER, "MPI", NULL},
    {"UCP_SUBMIT_EVENTS", SPAN_OTHER, "UCP submit", NULL},
    {"UCP_PROGRESS_EVENTS", SPAN_OTHER, "UCP progress", NULL},
    {"UCP_EVENTS", SPAN_OTHER, "UCP", NULL},
    {"OPENMP_EVENTS", SPAN_OTHER, "OpenMP", NULL},
    {"OPENACC_LAUNCH_EVENTS", SPAN_OTHER, "OpenACC launch", NULL},
    {"OPENACC_DATA_EVENTS", SPAN_OTHER, "OpenACC data", NULL},
    {"OPENACC_OTHER_EVENTS", SPAN_OTHER, "OpenACC", NULL},
};

static bool read_spans(struct nsys *n, const struct span_source *source, const struct map *stacks)
{
    struct nsys_scan scan;
    if (!nsys_scan_begin(&scan, &n->db, source->table, columns, COLUMNS))
        return false;
    uint32_t detail = source->detail ? intern_puts(&n->run->strings, source->detail) : 0;
    while (nsys_scan_next(&scan)) {
        struct interval when;
        if (!nsys_interval(n, &scan, START, END, &when))
            continue;
        uint32_t thread = nsys_row_thread(n, &scan, THREAD);
        if (thread == NONE)
            continue;
        bool api = source->kind == SPAN_API;
        uint32_t name = api ? nsys_api_name(n, &scan, NAME) : nsys_name(n, &scan, NAME);
        if (stacks->count) {
            uint32_t stack = map_get(stacks, (uint64_t)nsys_scan_int_or(&scan, STACK, UNKNOWN));
            detail = stack == MAP_ABSENT ? 0 : stack;
        }
        size_t row = nsys_add_span(n, source->kind, when, thread, name ? name : detail, detail);
        if (api)
            n->run->spans.id[row] = (uint64_t)nsys_scan_int_or(&scan, CORRELATION, 0);
    }
    return true;
}

static bool read_group(struct nsys *n, const struct span_source *sources, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        struct map stacks = {0};
        if (sources[i].stacks && nsys_db_has(&n->db, sources[i].table))
            stacks = nsys_read_stacks(n, sources[i].stacks);
        any |= read_spans(n, &sources[i], &stacks);
        map_release(&stacks);
    }
    return any;
}

void nsys_read_api(struct nsys *n)
{
    if (!read_group(n, calls, NSYS_COUNT(calls)))
        nsys_repair(
            n, N_("no table of CUDA calls: CUDA was not traced, so GPU work has no cause on the host"), 1);
    read_group(n, others, NSYS_COUNT(others));
}
