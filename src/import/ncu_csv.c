/* Nsight Compute's CSV, every vintage: the details page (a row for each counter), the raw page (a row for
 * each launch, units in a row of their own), summaries, and tables that others derived from them. Columns are
 * found by name. */
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "import/ncu.h"

enum page { PAGE_NONE, PAGE_DETAILS, PAGE_RAW, PAGE_DERIVED, PAGE_SOURCE };

enum column {
    COL_ID,
    COL_PID,
    COL_PROCESS,
    COL_HOST,
    COL_KERNEL,
    COL_TIME,
    COL_CONTEXT,
    COL_STREAM,
    COL_BLOCK,
    COL_GRID,
    COL_DEVICE,
    COL_CC,
    COL_INVOCATIONS,
    COL_NVTX,
    COL_SECTION,
    COL_METRIC,
    COL_UNIT,
    COL_VALUE,
    COL_AVERAGE,
    COL_MIN,
    COL_MAX,
    COL_RULE,
    COL_RULE_TYPE,
    COL_RULE_TEXT,
    COL_SPEEDUP_TYPE,
    COL_SPEEDUP,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {
    [COL_ID] = "ID",
    [COL_PID] = "Process ID",
    [COL_PROCESS] = "Process Name",
    [COL_HOST] = "Host Name",
    [COL_KERNEL] = "Kernel Name",
    [COL_TIME] = "Kernel Time",
    [COL_CONTEXT] = "Context",
    [COL_STREAM] = "Stream",
    [COL_BLOCK] = "Block Size",
    [COL_GRID] = "Grid Size",
    [COL_DEVICE] = "Device",
    [COL_CC] = "CC",
    [COL_INVOCATIONS] = "Invocations",
    [COL_NVTX] = "NVTX Range",
    [COL_SECTION] = "Section Name",
    [COL_METRIC] = "Metric Name",
    [COL_UNIT] = "Metric Unit",
    [COL_VALUE] = "Metric Value",
    [COL_AVERAGE] = "Average",
    [COL_MIN] = "Minimum",
    [COL_MAX] = "Maximum",
    [COL_RULE] = "Rule Name",
    [COL_RULE_TYPE] = "Rule Type",
    [COL_RULE_TEXT] = "Rule Description",
    [COL_SPEEDUP_TYPE] = "Estimated Speedup Type",
    [COL_SPEEDUP] = "Estimated Speedup",
};

struct raw_column {
    uint32_t name; /* 0: not a counter */
    struct csv_cell unit;
};

struct ncu_table {
    struct run *run;
    struct profiles profiles;
    struct csv csv;
    enum page page;
    enum number_style style;
    int columns[COLUMNS];
    size_t column_count;
    struct csv_cell first_title;
    VEC(struct raw_column) raw;
    struct map by_launch; /* hash of what identifies a launch → row of run->profiles */
    uint64_t table;       /* how many tables came before in the file */
    int64_t unread;       /* rows that begin as a row and are none */
    bool units_done;
    bool own_counters; /* some counter is one of Nsight Compute's */
};

/* ---- finding the table --------------------------------------------------------------------------------- */

/* What page the row just read is the header of. */
static enum page header_page(const struct csv *c)
{
    bool kernel = csv_find(c, "Kernel Name") >= 0;
    if (kernel && csv_find(c, "Metric Name") >= 0 &&
        (csv_find(c, "Metric Value") >= 0 || csv_find(c, "Average") >= 0))
        return PAGE_DETAILS;
    size_t counters = 0;
    vec_each (&c->cells, cell)
        counters += ncu_is_counter_name(cell->at, cell->length);
    if (kernel && (counters > 0 || (csv_find(c, "ID") >= 0 && csv_find(c, "Process ID") >= 0)))
        return PAGE_RAW;
    if (kernel && csv_is(c->cells.at[0], "Kernel Name") && c->cells.count <= 3)
        return PAGE_SOURCE;
    return counters > 0 && counters * 2 >= c->cells.count ? PAGE_DERIVED : PAGE_NONE;
}

struct header {
    enum page page;
    size_t offset;
    char separator;
};

/* Program output may stand before the table, but not before a derived one. */
static struct header find_header(const char *text, size_t length)
{
    static const char separators[] = ",;\t";
    bool first = true;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) + 1 : length;
        bool candidate =
            memmem(text + at, end - at, "Kernel Name", 11) || (first && memmem(text + at, end - at, "__", 2));
        for (int i = 0; candidate && separators[i]; i++) {
            struct csv c;
            csv_open(&c, text + at, end - at, separators[i]);
            enum page page = csv_next(&c) ? header_page(&c) : PAGE_NONE;
            bool alone = c.cells.count < 2;
            csv_close(&c);
            if (page != PAGE_NONE && !alone && (page != PAGE_DERIVED || first))
                return (struct header){page, at, separators[i]};
        }
        first = first && strspn(text + at, " \t\r\n") >= end - at;
        at = end;
    }
    return (struct header){0};
}

static int sniff(const char *head, size_t length)
{
    struct str text = {0};
    csv_to_utf8(&text, head, length);
    struct header header = find_header(str_text(&text), text.len);
    str_release(&text);
    return header.page == PAGE_DERIVED ? 60 : header.page != PAGE_NONE ? 85 : 0;
}

static void read_header(struct ncu_table *t)
{
    struct csv *c = &t->csv;
    t->table++;
    t->units_done = false;
    t->column_count = c->cells.count;
    t->first_title = c->cells.at[0];
    for (int i = 0; i < COLUMNS; i++)
        t->columns[i] = csv_find(c, column_names[i]);
    t->raw.count = 0;
    for (size_t i = 0; i < c->cells.count; i++) {
        struct raw_column *column = vec_new(&t->raw);
        bool fixed = false;
        for (int k = 0; k < COLUMNS; k++)
            fixed |= t->columns[k] == (int)i;
        if (!fixed && c->cells.at[i].length > 0)
            column->name = intern_add(&t->run->strings, c->cells.at[i].at, c->cells.at[i].length);
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static struct csv_cell cell(const struct ncu_table *t, enum column column)
{
    return csv_get(&t->csv, t->columns[column]);
}

static bool row_has_numbers(const struct csv *c)
{
    vec_each (&c->cells, item) {
        double ignored;
        if (number_read(*item, NUMBERS_POINT, &ignored))
            return true;
    }
    return false;
}

/* Units stand in a row whose identifying cells are empty; in a derived table, in the first row. */
static bool is_units_row(const struct ncu_table *t)
{
    if (t->units_done || t->page == PAGE_DETAILS || t->csv.cells.count != t->column_count)
        return false;
    if (t->page == PAGE_DERIVED)
        return !row_has_numbers(&t->csv);
    return cell(t, COL_ID).length == 0 && cell(t, COL_KERNEL).length == 0;
}

static bool is_data_row(const struct ncu_table *t)
{
    const struct csv *c = &t->csv;
    uint64_t id;
    if (t->page == PAGE_DERIVED)
        return c->cells.count == t->column_count && row_has_numbers(c);
    if (c->cells.count > t->column_count || cell(t, COL_KERNEL).length == 0)
        return false;
    if (t->page == PAGE_RAW && c->cells.count != t->column_count)
        return false;
    if (t->columns[COL_ID] >= 0)
        return csv_uint(cell(t, COL_ID), &id);
    return cell(t, COL_METRIC).length > 0 || t->page == PAGE_RAW;
}

/* Goes to the next row of data; headers and units on the way are taken in. */
static bool next_row(struct ncu_table *t)
{
    while (csv_next(&t->csv)) {
        if (t->csv.cells.count == t->column_count && csv_get(&t->csv, 0).length == t->first_title.length &&
            memcmp(csv_get(&t->csv, 0).at, t->first_title.at, t->first_title.length) == 0 &&
            header_page(&t->csv) == t->page) {
            read_header(t);
        } else if (is_units_row(t)) {
            for (size_t i = 0; i < t->raw.count; i++)
                t->raw.at[i].unit = csv_get(&t->csv, (int)i);
            t->units_done = true;
        } else if (is_data_row(t)) {
            t->units_done = true;
            return true;
        } else if (*t->csv.line == '"') {
            t->unread++;
        }
    }
    return false;
}

static void gather_evidence(struct ncu_table *t, struct number_evidence *evidence)
{
    while (next_row(t)) {
        number_evidence_add(evidence, cell(t, COL_VALUE));
        number_evidence_add(evidence, cell(t, COL_AVERAGE));
        for (size_t i = 0; t->page != PAGE_DETAILS && i < t->raw.count; i++)
            if (t->raw.at[i].name)
                number_evidence_add(evidence, csv_get(&t->csv, (int)i));
    }
}

/* ---- launches ------------------------------------------------------------------------------------------ */

static void describe_launch(struct ncu_table *t, uint32_t row)
{
    struct run *run = t->run;
    struct profiles *p = &t->profiles;
    struct draft *draft = profiles_draft(p, row);
    struct csv_cell block = cell(t, COL_BLOCK), grid = cell(t, COL_GRID), cc = cell(t, COL_CC);
    uint64_t number;
    draft->has_shape = profiles_read_dim(block.at, block.length, draft->shape.block) &&
                       profiles_read_dim(grid.at, grid.length, draft->shape.grid);
    if (!draft->has_shape)
        draft->shape = (struct shape){.occupancy_percent = -1};
    if (csv_uint(cell(t, COL_DEVICE), &number) && number <= INT32_MAX)
        profiles_set_device(p, row, (int64_t)number);
    if (cc.length > 0)
        profiles_set_cc(p, row, cc.at, cc.length);
    if (csv_uint(cell(t, COL_PID), &number) && number <= INT64_MAX) {
        uint32_t process = run_process(run, p->source, (int64_t)number);
        struct csv_cell name = cell(t, COL_PROCESS);
        run->processes.at[process].name = intern_add(&run->strings, name.at, name.length);
        run->profiles.at[row].process = process;
    }
    if (csv_uint(cell(t, COL_ID), &number) && number <= INT64_MAX)
        run->profiles.at[row].launch = (int64_t)number;
    if (csv_uint(cell(t, COL_INVOCATIONS), &number) && number > 0 && number <= INT64_MAX)
        run->profiles.at[row].launches = (int64_t)number;
    struct csv_cell range = cell(t, COL_NVTX);
    run->profiles.at[row].range = intern_add(&run->strings, range.at, range.length);
}

/* The profile that the row is about: each row has its own on the raw page, else what names the launch counts.
 */
static uint32_t launch_of(struct ncu_table *t)
{
    static const enum column names[] = {COL_ID,    COL_PID,  COL_KERNEL, COL_CONTEXT, COL_STREAM,
                                        COL_BLOCK, COL_GRID, COL_DEVICE, COL_NVTX};
    struct csv_cell kernel = cell(t, COL_KERNEL);
    uint64_t key = t->table;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct csv_cell part = cell(t, names[i]);
        key = hash_pair(key, hash_bytes(part.at, part.length));
    }
    uint32_t row = t->page == PAGE_DETAILS ? map_get(&t->by_launch, key) : MAP_ABSENT;
    if (row != MAP_ABSENT)
        return row;
    row = profiles_add(&t->profiles, kernel.at, kernel.length);
    map_set(&t->by_launch, key, row);
    describe_launch(t, row);
    return row;
}

static void take_rule(struct ncu_table *t, uint32_t profile)
{
    struct run *run = t->run;
    struct csv_cell rule = cell(t, COL_RULE), section = cell(t, COL_SECTION), text = cell(t, COL_RULE_TEXT);
    double percent;
    bool estimated = number_read(cell(t, COL_SPEEDUP), t->style, &percent);
    vec_push(&run->advices,
             ((struct advice){.profile = profile,
                              .rule = intern_add(&run->strings, rule.at, rule.length),
                              .section = intern_add(&run->strings, section.at, section.length),
                              .text = intern_add(&run->strings, text.at, text.length),
                              .kind = ncu_advice_kind(cell(t, COL_RULE_TYPE)),
                              .speedup_ratio = estimated ? percent / 100 : NAN,
                              .is_local_speedup = csv_is(cell(t, COL_SPEEDUP_TYPE), "local")}));
}

static void take_counter(struct ncu_table *t, uint32_t profile, uint32_t name, struct csv_cell unit,
                         struct csv_cell value)
{
    t->own_counters |= strstr(run_text(t->run, name), "__") || strchr(run_text(t->run, name), '/');
    ncu_take_value(&t->profiles, profile, name, unit, value, t->style);
}

static void take_row(struct ncu_table *t)
{
    uint32_t profile = launch_of(t);
    if (cell(t, COL_RULE).length > 0)
        take_rule(t, profile);
    if (t->page == PAGE_DETAILS) {
        struct csv_cell label = cell(t, COL_METRIC);
        if (label.length > 0)
            take_counter(t, profile, ncu_counter_name(t->run, cell(t, COL_SECTION), label), cell(t, COL_UNIT),
                         cell(t, t->columns[COL_VALUE] >= 0 ? COL_VALUE : COL_AVERAGE));
        return;
    }
    for (size_t i = 0; i < t->raw.count; i++)
        if (t->raw.at[i].name)
            take_counter(t, profile, t->raw.at[i].name, t->raw.at[i].unit, csv_get(&t->csv, (int)i));
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void rewind_table(struct ncu_table *t, const struct str *text, const struct header *header)
{
    csv_close(&t->csv);
    csv_open(&t->csv, str_text(text) + header->offset, text->len - header->offset, header->separator);
    t->table = 0;
    t->unread = 0;
    if (csv_next(&t->csv))
        read_header(t);
}

static void report(struct ncu_table *t, uint32_t source)
{
    struct run *run = t->run;
    if (t->unread) {
        run->losses.malformed += t->unread;
        run_repair(run, source, N_("rows that do not fit the table were left out"), t->unread, -1);
    }
    if (!t->own_counters)
        run_repair(
            run, source,
            N_("none of the counters is one of Nsight Compute's: it is a table of another tool in its form"),
            1, -1);
    if (t->page != PAGE_DERIVED && t->style == NUMBERS_COMMA)
        run_repair(run, source, N_("numbers with a decimal comma were read as such"), 1, -1);
}

static int read_table(struct run *run, struct stream *in, const struct str *text, const struct header *header,
                      struct err *err)
{
    struct ncu_table t = {.run = run, .page = header->page};
    struct number_evidence evidence = {0};
    rewind_table(&t, text, header);
    gather_evidence(&t, &evidence);
    const char *doubt = number_style_of(&evidence, &t.style);
    int code = doubt ? ncu_refuse_numbers(stream_path(in), doubt, err) : 0;
    if (code == 0) {
        uint32_t source = run_add_source(run, stream_path(in),
                                         header->page == PAGE_DETAILS ? "ncu CSV, details page"
                                         : header->page == PAGE_RAW   ? "ncu CSV, raw page"
                                                                      : "table of ncu counters");
        run->sources.at[source].bytes = stream_size(in);
        profiles_begin(&t.profiles, run, source);
        size_t before = run->profiles.count;
        rewind_table(&t, text, header);
        while (next_row(&t))
            take_row(&t);
        profiles_end(&t.profiles);
        report(&t, source);
        if (run->profiles.count == before)
            code = ncu_refuse(stream_path(in), str_text(text), text->len, err);
    }
    csv_close(&t.csv);
    vec_release(&t.raw);
    map_release(&t.by_launch);
    return code;
}

static int read_csv(struct run *run, struct stream *in, const struct import_options *options, struct err *err)
{
    (void)options;
    struct str text = {0};
    int code = csv_read_text(&text, in, err);
    if (code == 0) {
        struct header header = find_header(str_text(&text), text.len);
        if (header.page == PAGE_NONE)
            code = ncu_refuse(stream_path(in), str_text(&text), text.len, err);
        else if (header.page == PAGE_SOURCE)
            code = ncu_read_source(run, in, &text, header.offset, header.separator, err);
        else
            code = read_table(run, in, &text, &header, err);
    }
    str_release(&text);
    return code;
}

const struct importer import_ncu_csv = {
    .name = "ncu-csv",
    .title = N_("Nsight Compute tables (CSV)"),
    .sniff = sniff,
    .read = read_csv,
};
