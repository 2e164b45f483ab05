/* nvprof's CSV output: metrics and events of kernels, traces of GPU activities and API calls, summaries.
 * Several tables may follow each other, between banner lines "==pid== …". Format: doc/formats/nvprof.md. */
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/json.h"
#include "import/csv.h"
#include "import/import.h"
#include "import/profiles.h"

enum table { TABLE_NONE, TABLE_COUNTERS, TABLE_LAUNCH_COUNTERS, TABLE_TRACE, TABLE_SUMMARY };

enum { COLUMNS_MAX = 4096 };

struct nvprof {
    struct run *run;
    struct profiles profiles;
    struct csv csv;
    enum table table;
    bool units_next; /* the next row holds the units of its columns */
    VEC(uint32_t) titles;
    VEC(uint32_t) units;
    struct map by_kernel;           /* hash of device and kernel → profile, of the table */
    double kilo;                    /* what K, M and G stand for: 1000, or 1024 from CUDA 7 on */
    bool sizes_only;                /* first pass: find out kilo */
    int64_t whole_1000, whole_1024; /* sizes in KB that are whole bytes with either */
    int64_t pid;
    int64_t untimed, unread;
};

/* ---- cells --------------------------------------------------------------------------------------------- */

static int column(const struct nvprof *n, const char *title)
{
    for (size_t i = 0; i < n->titles.count; i++)
        if (strcmp(run_text(n->run, n->titles.at[i]), title) == 0)
            return (int)i;
    return -1;
}

static struct csv_cell cell(const struct nvprof *n, const char *title)
{
    return csv_get(&n->csv, column(n, title));
}

static double unit_factor(const struct nvprof *n, struct csv_cell unit, const char **base)
{
    static const struct {
        const char *text, *base;
        double factor;
        int kilos; /* powers of K */
    } units[] = {
        {"s", "ns", 1e9, 0},      {"ms", "ns", 1e6, 0},     {"us", "ns", 1e3, 0},
        {"ns", "ns", 1, 0},       {"%", "%", 1, 0},         {"B", "byte", 1, 0},
        {"KB", "byte", 1, 1},     {"MB", "byte", 1, 2},     {"GB", "byte", 1, 3},
        {"TB", "byte", 1, 4},     {"B/s", "byte/s", 1, 0},  {"KB/s", "byte/s", 1, 1},
        {"MB/s", "byte/s", 1, 2}, {"GB/s", "byte/s", 1, 3}, {"TB/s", "byte/s", 1, 4},
    };
    *base = "";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!csv_is(unit, units[i].text))
            continue;
        *base = units[i].base;
        return units[i].factor * pow(n->kilo, units[i].kilos);
    }
    return 1;
}

/* A number with its unit behind it ("12.5GB/s", "100.00%"), or the level of "High (7)". */
static bool read_value(const struct nvprof *n, struct csv_cell text, double *value, const char **unit)
{
    const char *open = memchr(text.at, '(', text.length);
    bool level = open && text.length > 0 && text.at[text.length - 1] == ')';
    size_t digits = 0;
    if (level)
        text = (struct csv_cell){open + 1, text.length - (size_t)(open - text.at) - 2};
    while (digits < text.length && strchr("+-0123456789.eE", text.at[digits]))
        digits++;
    *unit = "";
    if (!json_to_double((struct json_text){text.at, digits}, value))
        return false;
    *value *= unit_factor(n, (struct csv_cell){text.at + digits, text.length - digits}, unit);
    return true;
}

/* The value of a column in the unit that stands below its title. */
static bool read_column(const struct nvprof *n, const char *title, double *value)
{
    int at = column(n, title);
    struct csv_cell text = csv_get(&n->csv, at);
    const char *ignored;
    if (text.length == 0 || !read_value(n, text, value, &ignored))
        return false;
    if ((size_t)at < n->units.count) {
        const char *unit = run_text(n->run, n->units.at[at]);
        *value *= unit_factor(n, (struct csv_cell){unit, strlen(unit)}, &ignored);
    }
    return isfinite(*value);
}

static uint32_t read_uint(const struct nvprof *n, const char *title)
{
    double value;
    return read_column(n, title, &value) && value >= 0 && value <= UINT32_MAX ? (uint32_t)(value + 0.5) : 0;
}

/* "Tesla K20c (0)" */
static uint32_t read_device(const struct nvprof *n)
{
    struct csv_cell text = cell(n, "Device");
    const char *open = text.length ? memrchr(text.at, '(', text.length) : NULL;
    int64_t id = 0;
    if (open && !json_to_int((struct json_text){open + 1, text.length - (size_t)(open - text.at) - 2}, &id))
        open = NULL;
    if (text.length == 0)
        return NONE;
    uint32_t device = run_device(n->run, n->profiles.source, open && id >= 0 && id <= INT32_MAX ? id : 0);
    size_t length = open ? (size_t)(open - text.at) : text.length;
    while (length > 0 && text.at[length - 1] == ' ')
        length--;
    n->run->devices.at[device].name = intern_add(&n->run->strings, text.at, length);
    n->run->devices.at[device].vendor = VENDOR_NVIDIA;
    return device;
}

/* ---- counters ------------------------------------------------------------------------------------------ */

static uint32_t profile_of(struct nvprof *n, struct csv_cell kernel, bool fresh)
{
    struct csv_cell device = cell(n, "Device");
    uint64_t key = hash_pair(hash_bytes(kernel.at, kernel.length), hash_bytes(device.at, device.length));
    uint32_t row = fresh ? MAP_ABSENT : map_get(&n->by_kernel, key);
    if (row != MAP_ABSENT)
        return row;
    row = profiles_add(&n->profiles, kernel.at, kernel.length);
    map_set(&n->by_kernel, key, row);
    struct kernel_profile *profile = &n->run->profiles.at[row];
    profile->device = read_device(n);
    if (n->pid != UNKNOWN)
        profile->process = run_process(n->run, n->profiles.source, n->pid);
    return row;
}

static void add_value(struct nvprof *n, uint32_t profile, uint32_t name, struct csv_cell text)
{
    double value;
    const char *unit;
    if (read_value(n, text, &value, &unit))
        profiles_value(&n->profiles, profile, name, unit, strlen(unit), value);
    else
        profiles_no_value(&n->profiles, profile, name,
                          csv_is(text, "<OVERFLOW>") || csv_is(text, "<UNDERFLOW>") ? COUNTER_IMPLAUSIBLE
                                                                                    : COUNTER_NOT_MEASURED);
}

/* A kernel's row for each counter: the mean over its launches. */
static void take_counter(struct nvprof *n)
{
    struct csv_cell kernel = cell(n, "Kernel"), name = cell(n, "Metric Name");
    uint64_t launches;
    name = name.length ? name : cell(n, "Event Name");
    if (kernel.length == 0 || name.length == 0) {
        n->unread++;
        return;
    }
    uint32_t profile = profile_of(n, kernel, false);
    if (csv_uint(cell(n, "Invocations"), &launches) && launches > 0 && launches <= INT64_MAX)
        n->run->profiles.at[profile].launches = (int64_t)launches;
    add_value(n, profile, intern_add(&n->run->strings, name.at, name.length), cell(n, "Avg"));
}

/* A launch's row with a column for each counter. */
static void take_launch(struct nvprof *n)
{
    static const char *const fixed[] = {"Device", "Context", "Stream", "Kernel", "Correlation_ID"};
    struct csv_cell kernel = cell(n, "Kernel");
    if (kernel.length == 0 || n->csv.cells.count != n->titles.count) {
        n->unread++;
        return;
    }
    uint32_t profile = profile_of(n, kernel, true);
    for (size_t i = 0; i < n->titles.count; i++) {
        const char *title = run_text(n->run, n->titles.at[i]);
        bool counter = *title != '\0';
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
            counter &= strcmp(title, fixed[k]) != 0;
        if (counter)
            add_value(n, profile, n->titles.at[i], csv_get(&n->csv, (int)i));
    }
}

static void take_summary(struct nvprof *n)
{
    struct csv_cell name = cell(n, "Name"), type = cell(n, "Type");
    uint64_t calls;
    double mean;
    bool is_call =
        csv_is(type, "API calls") || (name.length > 2 && memcmp(name.at, "cu", 2) == 0 && type.length == 0);
    if (name.length == 0 || is_call || *name.at == '[' || !csv_uint(cell(n, "Calls"), &calls) || calls == 0 ||
        calls > INT64_MAX || !read_column(n, "Avg", &mean))
        return;
    uint32_t profile = profile_of(n, name, true);
    n->run->profiles.at[profile].launches = (int64_t)calls;
    profiles_value(&n->profiles, profile, intern_puts(&n->run->strings, "nvprof summary/Avg"), "ns", 2, mean);
}

/* ---- the trace ----------------------------------------------------------------------------------------- */

static bool read_interval(struct nvprof *n, int64_t *start, int64_t *end)
{
    double from, length;
    if (!read_column(n, "Start", &from) || !read_column(n, "Duration", &length) || from < 0 || length < 0 ||
        from > 4e18 || length > 4e18)
        return false;
    *start = (int64_t)(from + 0.5);
    *end = *start + (int64_t)(length + 0.5);
    return true;
}

static enum mem_kind read_memory(struct csv_cell text)
{
    return csv_is(text, "Pageable")  ? MEM_PAGEABLE
           : csv_is(text, "Pinned")  ? MEM_PINNED
           : csv_is(text, "Device")  ? MEM_DEVICE
           : csv_is(text, "Array")   ? MEM_ARRAY
           : csv_is(text, "Managed") ? MEM_MANAGED
                                     : MEM_UNKNOWN;
}

static const struct {
    const char *name;
    enum op_kind kind;
    enum copy_dir dir;
} activities[] = {
    {"[CUDA memcpy HtoD]", OP_COPY, COPY_H2D},
    {"[CUDA memcpy DtoH]", OP_COPY, COPY_D2H},
    {"[CUDA memcpy DtoD]", OP_COPY, COPY_D2D},
    {"[CUDA memcpy HtoH]", OP_COPY, COPY_H2H},
    {"[CUDA memcpy PtoP]", OP_COPY, COPY_P2P},
    {"[CUDA memcpy HtoA]", OP_COPY, COPY_H2D},
    {"[CUDA memcpy AtoH]", OP_COPY, COPY_D2H},
    {"[CUDA memcpy DtoA]", OP_COPY, COPY_D2D},
    {"[CUDA memcpy AtoD]", OP_COPY, COPY_D2D},
    {"[CUDA memcpy AtoA]", OP_COPY, COPY_D2D},
    {"[CUDA memset]", OP_MEMSET, COPY_UNKNOWN},
    {"[Unified Memory Memcpy HtoD]", OP_COPY, COPY_MANAGED_H2D},
    {"[Unified Memory Memcpy DtoH]", OP_COPY, COPY_MANAGED_D2H},
    {"[Unified Memory Memcpy DtoD]", OP_COPY, COPY_MANAGED_D2D},
};

/* Names of kernels end with a number in brackets in older versions: the correlation. */
static void take_correlation(struct nvprof *n, struct csv_cell *name, uint64_t *correlation)
{
    *correlation = 0;
    csv_uint(cell(n, "Correlation_ID"), correlation);
    const char *open = memrchr(name->at, '[', name->length);
    if (!open || open == name->at || open[-1] != ' ' || name->at[name->length - 1] != ']')
        return;
    uint64_t number;
    if (!json_to_uint((struct json_text){open + 1, name->length - (size_t)(open - name->at) - 2}, &number))
        return;
    *correlation = number;
    name->length = (size_t)(open - name->at) - 1;
}

static void add_call(struct nvprof *n, struct csv_cell name, int64_t start, int64_t end, uint64_t correlation)
{
    struct run *run = n->run;
    uint32_t process = run_process(run, n->profiles.source, n->pid == UNKNOWN ? 0 : n->pid);
    size_t row = span_table_add(&run->spans);
    run->spans.start[row] = start;
    run->spans.end[row] = end;
    run->spans.id[row] = correlation;
    run->spans.name[row] = intern_add(&run->strings, name.at, name.length);
    run->spans.thread[row] = run_thread(run, process, n->pid == UNKNOWN ? 0 : n->pid);
    run->spans.kind[row] = SPAN_API;
    run->spans.comm[row] = NONE;
}

static uint32_t read_shape(struct nvprof *n)
{
    struct shape shape = {
        .grid = {read_uint(n, "Grid X"), read_uint(n, "Grid Y"), read_uint(n, "Grid Z")},
        .block = {read_uint(n, "Block X"), read_uint(n, "Block Y"), read_uint(n, "Block Z")},
        .regs_per_thread = read_uint(n, "Registers Per Thread"),
        .shared_static_bytes = read_uint(n, "Static SMem"),
        .shared_dynamic_bytes = read_uint(n, "Dynamic SMem"),
        .occupancy_percent = -1,
    };
    return shape.grid[0] && shape.block[0] ? run_shape(n->run, &shape) : NONE;
}

static void take_activity(struct nvprof *n)
{
    struct run *run = n->run;
    struct csv_cell name = cell(n, "Name"), size = cell(n, "Size");
    int64_t start, end;
    uint64_t correlation, context, stream;
    double bytes;
    if (name.length == 0) {
        n->unread++;
        return;
    }
    if (!read_interval(n, &start, &end)) { /* page faults have a moment only */
        n->untimed++;
        return;
    }
    take_correlation(n, &name, &correlation);
    uint32_t device = read_device(n);
    if (device == NONE) {
        add_call(n, name, start, end, correlation);
        return;
    }
    bool has_context = csv_uint(cell(n, "Context"), &context),
         has_stream = csv_uint(cell(n, "Stream"), &stream);
    uint32_t process = run_process(run, n->profiles.source, n->pid == UNKNOWN ? 0 : n->pid);
    size_t op = op_table_add(&run->ops);
    run->ops.start[op] = start;
    run->ops.end[op] = end;
    run->ops.bytes[op] = UNKNOWN;
    run->ops.correlation[op] = correlation;
    run->ops.name[op] = intern_add(&run->strings, name.at, name.length);
    run->ops.stream[op] =
        run_stream(run, process, device, has_context ? (int64_t)(context & INT64_MAX) : UNKNOWN,
                   has_stream ? (int64_t)(stream & INT64_MAX) : 0);
    run->ops.shape[op] = NONE;
    run->ops.comm[op] = NONE;
    run->ops.kind[op] = OP_KERNEL;
    for (size_t i = 0; i < sizeof activities / sizeof *activities; i++) {
        if (csv_is(name, activities[i].name)) {
            run->ops.kind[op] = (uint8_t)activities[i].kind;
            run->ops.dir[op] = (uint8_t)activities[i].dir;
        }
    }
    if (run->ops.kind[op] == OP_KERNEL) {
        run->ops.shape[op] = read_shape(n);
        return;
    }
    if (size.length && read_column(n, "Size", &bytes) && bytes >= 0 && bytes < 9e15)
        run->ops.bytes[op] = (int64_t)(bytes + 0.5);
    run->ops.src[op] = (uint8_t)read_memory(cell(n, "SrcMemType"));
    run->ops.dst[op] = (uint8_t)read_memory(cell(n, "DstMemType"));
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static enum table header_table(const struct csv *c)
{
    bool kernel = csv_find(c, "Kernel") >= 0, device = csv_find(c, "Device") >= 0;
    if (kernel && (csv_find(c, "Metric Name") >= 0 || csv_find(c, "Event Name") >= 0) &&
        csv_find(c, "Avg") >= 0)
        return TABLE_COUNTERS;
    if (kernel && device && csv_find(c, "Context") >= 0 && csv_find(c, "Stream") >= 0)
        return TABLE_LAUNCH_COUNTERS;
    if (csv_find(c, "Start") >= 0 && csv_find(c, "Duration") >= 0 && csv_find(c, "Name") >= 0)
        return TABLE_TRACE;
    if (csv_find(c, "Time(%)") >= 0 && csv_find(c, "Calls") >= 0 && csv_find(c, "Name") >= 0)
        return TABLE_SUMMARY;
    return TABLE_NONE;
}

/* "==1234== NVPROF is profiling process 1234, command: ./app", "======== Profiling result:" */
static void take_banner(struct nvprof *n)
{
    const char *line = n->csv.line, *end = line + n->csv.line_length;
    const char *close = end - line > 4 ? memmem(line + 2, (size_t)(end - line) - 2, "==", 2) : NULL;
    int64_t pid;
    n->table = TABLE_NONE;
    if (close && json_to_int((struct json_text){line + 2, (size_t)(close - line) - 2}, &pid) && pid > 0)
        n->pid = pid;
    const char *command = memmem(line, (size_t)(end - line), ", command: ", 11);
    if (command && !n->sizes_only)
        run_fact(n->run, n->profiles.source, "command", command + 11, (size_t)(end - command) - 11);
}

static void take_header(struct nvprof *n, enum table table)
{
    n->table = table;
    n->units_next = table == TABLE_TRACE || table == TABLE_SUMMARY;
    n->titles.count = n->units.count = 0;
    map_release(&n->by_kernel);
    for (size_t i = 0; i < n->csv.cells.count && i < COLUMNS_MAX; i++)
        vec_push(&n->titles, intern_add(&n->run->strings, n->csv.cells.at[i].at, n->csv.cells.at[i].length));
}

static void take_units(struct nvprof *n)
{
    for (size_t i = 0; i < n->csv.cells.count && i < n->titles.count; i++)
        vec_push(&n->units, intern_add(&n->run->strings, n->csv.cells.at[i].at, n->csv.cells.at[i].length));
}

/* Six decimals of a size in KB tell whether 1000 or 1024 makes it whole bytes. */
static void weigh_size(struct nvprof *n)
{
    int at = column(n, "Size");
    double size;
    const char *unit;
    if (at < 0 || (size_t)at >= n->units.count || strcmp(run_text(n->run, n->units.at[at]), "KB") != 0 ||
        !read_value(n, csv_get(&n->csv, at), &size, &unit))
        return;
    n->whole_1000 += fabs(size * 1000 - round(size * 1000)) < 0.002;
    n->whole_1024 += fabs(size * 1024 - round(size * 1024)) < 0.002;
}

static void take_row(struct nvprof *n)
{
    if (n->sizes_only) {
        if (n->table == TABLE_TRACE)
            weigh_size(n);
        return;
    }
    switch (n->table) {
    case TABLE_NONE:
        break;
    case TABLE_COUNTERS:
        take_counter(n);
        break;
    case TABLE_LAUNCH_COUNTERS:
        take_launch(n);
        break;
    case TABLE_TRACE:
        take_activity(n);
        break;
    case TABLE_SUMMARY:
        take_summary(n);
        break;
    }
}

/* Returns how many tables there were. */
static int read_tables(struct nvprof *n, const struct str *text, bool sizes_only)
{
    int tables = 0;
    n->sizes_only = sizes_only;
    n->table = TABLE_NONE;
    n->pid = UNKNOWN;
    csv_open(&n->csv, str_text(text), text->len, ',');
    while (csv_next(&n->csv)) {
        enum table header = header_table(&n->csv);
        if (n->csv.line_length >= 4 && memcmp(n->csv.line, "==", 2) == 0) {
            take_banner(n);
        } else if (header != TABLE_NONE) {
            take_header(n, header);
            tables++;
        } else if (n->csv.cells.count < 2 || n->table == TABLE_NONE) {
            continue; /* what the program printed */
        } else if (n->units_next) {
            n->units_next = false;
            take_units(n);
        } else {
            take_row(n);
        }
    }
    csv_close(&n->csv);
    return tables;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static bool has_header(const char *text, size_t length)
{
    struct csv c;
    bool found = false;
    csv_open(&c, text, length, ',');
    while (!found && csv_next(&c))
        found = c.cells.count > 2 && header_table(&c) != TABLE_NONE;
    csv_close(&c);
    return found;
}

/* Other tools have columns of the same names; nvprof's banner stands before its table. */
static int sniff(const char *head, size_t length)
{
    struct str text = {0};
    csv_to_utf8(&text, head, length);
    const char *at = str_text(&text);
    bool banner = memmem(at, text.len, "NVPROF is profiling", 19) ||
                  memmem(at, text.len, "= Profiling result:", 19) ||
                  memmem(at, text.len, "= Metric result:", 16) || memmem(at, text.len, "= Event result:", 15);
    bool bare = memmem(at, text.len, "\"Device\",\"Kernel\",\"Invocations\"", 31) != NULL;
    int sure = !banner && !bare ? 0 : has_header(at, text.len) ? 85 : banner ? 40 : 0;
    str_release(&text);
    return sure;
}

static int refuse(const char *path, struct err *err)
{
    return err_set(err, ERR_INPUT, path, -1,
                   _("print it as CSV: nvprof --csv …, or: nvprof --import-profile FILE --csv …"),
                   _("this printed output of nvprof holds no table that can be read"));
}

static void report(struct nvprof *n)
{
    struct run *run = n->run;
    uint32_t source = n->profiles.source;
    if (n->untimed) {
        run->losses.untimed += n->untimed;
        run_repair(run, source, N_("activities without a duration, such as page faults, were left out"),
                   n->untimed, -1);
    }
    if (n->unread) {
        run->losses.malformed += n->unread;
        run_repair(run, source, N_("rows that do not fit the table were left out"), n->unread, -1);
    }
    if (n->kilo == 1000)
        run_repair(run, source, N_("sizes were printed in units of 1000 bytes, as old versions do"), 1, -1);
}

static int read_nvprof(struct run *run, struct stream *in, const struct import_options *options,
                       struct err *err)
{
    (void)options;
    struct str text = {0};
    struct nvprof n = {.run = run, .kilo = 1};
    int code = csv_read_text(&text, in, err);
    if (code == 0 && !has_header(str_text(&text), text.len))
        code = refuse(stream_path(in), err);
    if (code == 0) {
        uint32_t source = run_add_source(run, stream_path(in), "nvprof CSV");
        run->sources.at[source].bytes = stream_size(in);
        profiles_begin(&n.profiles, run, source);
        read_tables(&n, &text, true);
        n.kilo = n.whole_1000 > n.whole_1024 ? 1000 : 1024;
        read_tables(&n, &text, false);
        profiles_end(&n.profiles);
        report(&n);
    }
    vec_release(&n.titles);
    vec_release(&n.units);
    map_release(&n.by_kernel);
    str_release(&text);
    return code;
}

const struct importer import_nvprof = {
    .name = "nvprof",
    .title = N_("nvprof tables (CSV)"),
    .sniff = sniff,
    .read = read_nvprof,
};
