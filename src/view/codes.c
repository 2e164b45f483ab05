/* Kernels as binaries hold them, for people and machines. */
#include <string.h>

#include "analyze/codes.h"
#include "base/i18n.h"
#include "view/json_report.h"
#include "view/section_columns.h"
#include "view/table.h"
#include "view/text.h"

enum { ROWS = 40, FINDINGS = 6, INDENT = 2, ARCHITECTURES = 32 };

#define WHY_BINARY "the binary does not say"
#define WHY_PTX    "the driver decides when it compiles the PTX"
#define WHY_NO_RUN "nothing was run"

/* ---- columns ------------------------------------------------------------------------------------------- */

static void get_limiters(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct code_row *code = row;
    unsigned limiters = code->occupancy_ratio < 1 ? code->limiters : 0;
    for (int i = 0; i < LIMIT_COUNT; i++) /* the one that a person can change most easily comes last */
        if (limiters >> i & 1)
            cell_set_text(cell, VALUE_TERM, occupancy_limit_title((enum occupancy_limit)i));
}

static const char *fit_name(enum code_fit fit)
{
    static const char *const names[] = {NULL, "machine code", "PTX", "no"};
    return names[fit];
}

static void get_fit(const struct report *report, const void *row, struct cell *cell)
{
    static const char *const titles[] = {NULL, N_("yes"), N_("compiled"), N_("no")};
    (void)report;
    cell_set_text(cell, VALUE_TERM, titles[((const struct code_row *)row)->fit]);
}

static void get_sum(struct cell *cell, int64_t a, int64_t b)
{
    if (a != UNKNOWN && b != UNKNOWN)
        cell_set(cell, value_bytes(a + b));
}

static void get_spills(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct kernel_code *k = &((const struct code_row *)row)->kernel;
    get_sum(cell, k->spill_store_bytes, k->spill_load_bytes);
}

static void get_local(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    const struct kernel_code *k = &((const struct code_row *)row)->kernel;
    get_sum(cell, k->local_store_bytes, k->local_load_bytes);
}

static void get_container(const struct report *report, const void *row, struct cell *cell)
{
    cell_set_text(cell, VALUE_TEXT, run_text(report->run, ((const struct code_row *)row)->kernel.container));
}

#define AT(field) offsetof(struct code_row, field)
#define K(field)  offsetof(struct code_row, kernel.field)
static const struct column code_columns[] = {
    {"name", N_("kernel"), COLUMN_KERNEL, K(demangled), COLUMN_FLEXIBLE, 0, NULL, NULL},
    {"mangled_name", NULL, COLUMN_STRING, K(name), COLUMN_MACHINE, 0, NULL, NULL},
    {"architecture", N_("arch"), COLUMN_LITERAL, AT(architecture), 0, 0, NULL, NULL},
    {"registers_per_thread", N_("regs"), COLUMN_COUNT, K(registers_per_thread), 0, 0, WHY_PTX, NULL},
    {"spills", N_("spills"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_RIGHT, 1, NULL, get_spills},
    {"local", N_("local"), COLUMN_GET, 0, COLUMN_PEOPLE | COLUMN_RIGHT, 3, NULL, get_local},
    {"static_shared_bytes", N_("shared"), COLUMN_BYTES, K(static_shared_bytes), 0, 2, WHY_PTX, NULL},
    {"dynamic_shared_bytes", N_("dynamic"), COLUMN_BYTES, K(dynamic_shared_bytes), 0, 3,
     "only a launch says how much", NULL},
    {"reserved_shared_bytes", NULL, COLUMN_BYTES, K(reserved_shared_bytes), COLUMN_MACHINE, 0, WHY_PTX, NULL},
    {"barriers", N_("barriers"), COLUMN_COUNT, K(barriers), 0, 5, WHY_PTX, NULL},
    {"stack_bytes", N_("stack"), COLUMN_BYTES, K(stack_bytes), 0, 4, WHY_PTX, NULL},
    {"parameter_bytes", N_("parameters"), COLUMN_BYTES, K(parameter_bytes), 0, 7, WHY_BINARY, NULL},
    {"spill_store_bytes", NULL, COLUMN_BYTES, K(spill_store_bytes), COLUMN_MACHINE, 0,
     "PTX, or the assembler does not mark spills", NULL},
    {"spill_load_bytes", NULL, COLUMN_BYTES, K(spill_load_bytes), COLUMN_MACHINE, 0,
     "PTX, or the assembler does not mark spills", NULL},
    {"local_store_bytes", NULL, COLUMN_BYTES, K(local_store_bytes), COLUMN_MACHINE, 0,
     "PTX, or instructions of this architecture are not decoded", NULL},
    {"local_load_bytes", NULL, COLUMN_BYTES, K(local_load_bytes), COLUMN_MACHINE, 0,
     "PTX, or instructions of this architecture are not decoded", NULL},
    {"max_threads_per_block", NULL, COLUMN_COUNT, K(max_threads_per_block), COLUMN_MACHINE, 0,
     "the kernel has no launch bounds", NULL},
    {"min_blocks_per_sm", NULL, COLUMN_COUNT, K(min_blocks_per_sm), COLUMN_MACHINE, 0, "only PTX says", NULL},
    {"occupancy_block_threads", N_("block"), COLUMN_COUNT, AT(block_threads), 0, 2, NULL, NULL},
    {"occupancy_block_origin", N_("block is"), COLUMN_TERM, AT(block_origin), 0, 6, NULL, NULL},
    {"theoretical_occupancy_ratio", N_("occupancy"), COLUMN_RATIO, AT(occupancy_ratio), 0, 1, WHY_PTX, NULL},
    {"blocks_per_sm", N_("blocks/SM"), COLUMN_COUNT, AT(blocks_per_sm), 0, 6, WHY_PTX, NULL},
    {"limited", N_("limited by"), COLUMN_GET, 0, COLUMN_PEOPLE, 2, NULL, get_limiters},
    {"fits", N_("runs"), COLUMN_GET, 0, COLUMN_PEOPLE, 1, NULL, get_fit},
    {"code_bytes", N_("code"), COLUMN_BYTES, K(code_bytes), 0, 5, WHY_PTX, NULL},
    {"copies", N_("copies"), COLUMN_COUNT, AT(copies), 0, 7, NULL, NULL},
    {"toolkit", NULL, COLUMN_STRING, K(toolkit), COLUMN_MACHINE, 0, WHY_BINARY, NULL},
    {"container", NULL, COLUMN_GET, 0, COLUMN_MACHINE, 0, WHY_BINARY, get_container},
    COLUMN_END,
};
#undef K
#undef AT

static const struct section code_section = {
    .name = "kernels",
    .key = "kernels",
    .title = N_("Kernels"),
    .empty = N_("no kernels"),
    .columns = code_columns,
    .vec = offsetof(struct report, codes),
    .row_size = sizeof(struct code_row),
};

void csv_codes(FILE *out, const struct report *report, const struct view_options *options)
{
    csv_section(out, &code_section, report, options->limit);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* Distinct architectures in the order of the rows, those without an image only where `missing`. */
static size_t list_architectures(const struct report *report, bool missing, const struct code_row **list)
{
    size_t count = 0;
    vec_each (&report->codes, row) {
        bool known = missing && row->fit != FIT_NO;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(list[i]->architecture, row->architecture) == 0;
        if (!known && count < ARCHITECTURES)
            list[count++] = row;
    }
    return count;
}

static void put_summary(struct screen *s, const struct report *report)
{
    const struct code_row *list[ARCHITECTURES];
    size_t count = list_architectures(report, false, list);
    struct str all = {0};
    for (size_t i = 0; i < count; i++)
        str_addf(&all, "%s%s", i ? ", " : "", list[i]->architecture);
    struct map names = {0};
    vec_each (&report->codes, row)
        map_set(&names, row->kernel.demangled, 0);
    text_put_msg(s, report, STYLE_BOLD,
                 &msg_make(names.count == 1 ? N_("one kernel, for {1}") : N_("{0} kernels, for {1}"),
                           value_count((int64_t)names.count), value_text(str_text(&all))),
                 0);
    map_release(&names);
    str_release(&all);
}

/* What the GPU that was asked about would do with the file. */
static void put_images(struct screen *s, const struct report *report, int32_t cc)
{
    int64_t counts[FIT_NO + 1] = {0};
    struct value all = value_count((int64_t)report->images.count);
    vec_each (&report->images, image)
        counts[image->fit]++;
    struct str title = {0};
    str_addf(&title, _("On compute capability %d.%d"), cc / 10, cc % 10);
    text_heading(s, str_text(&title));
    screen_newline(s);
    str_release(&title);
    if (counts[FIT_RUNS])
        text_put_msg(s, report, STYLE_PLAIN,
                     &msg_make(N_("machine code: {0} of {1} kernels"), value_count(counts[FIT_RUNS]), all),
                     INDENT);
    if (counts[FIT_COMPILES])
        text_put_msg(s, report, STYLE_NOTICE,
                     &msg_make(N_("only PTX: {0} of {1} kernels; the driver compiles it when a program first "
                                  "loads it, which "
                                  "costs start-up time and needs a driver at least as new as the toolkit"),
                               value_count(counts[FIT_COMPILES]), all),
                     INDENT);
    if (counts[FIT_NO]) {
        const struct code_row *list[ARCHITECTURES];
        text_put_msg(
            s, report, STYLE_BAD,
            &msg_make(N_("nothing: {0} of {1} kernels, \"no kernel image is available for execution on "
                         "the device\""),
                      value_count(counts[FIT_NO]), all),
            INDENT);
        size_t count = list_architectures(report, true, list);
        for (size_t i = 0; i < count; i++) {
            struct msg reason = code_reason_msg(list[i]);
            text_put_msg(s, report, STYLE_PLAIN, &reason, 2 * INDENT);
        }
    }
    if (counts[FIT_NO] || counts[FIT_COMPILES])
        text_put_msg(s, report, STYLE_PLAIN,
                     &msg_make(N_("→ compile with -gencode arch=compute_{0},code=sm_{0}"), value_id(cc)),
                     INDENT);
}

/* Findings of one kind about one kernel, with the architecture that it is worst on. */
struct group {
    const struct code_row *row;
    const struct finding *finding;
    int64_t bytes; /* stored and loaded */
    size_t others; /* architectures besides */
};

static void put_group(struct screen *s, const struct report *report, const struct group *group)
{
    struct str text = {0};
    str_addf(&text, "%s: ", group->row->architecture);
    text_msg(&text, &group->finding->title, report);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, group->finding->severity == SEVERITY_INFO ? STYLE_PLAIN : STYLE_NOTICE, str_text(&text),
                INDENT, 2 * INDENT);
    vec_each (&group->finding->evidence, evidence)
        text_put_msg(s, report, STYLE_DIM, evidence, 2 * INDENT);
    if (group->others)
        text_put_msg(s, report, STYLE_DIM,
                     &msg_make(N_("also in {0} more codes of it"), value_count((int64_t)group->others)),
                     2 * INDENT);
    str_cut(&text, 0);
    str_puts(&text, "→ ");
    text_msg(&text, &group->finding->action, report);
    str_pad(&s->text, ' ', 2 * INDENT);
    screen_wrap(s, STYLE_PLAIN, str_text(&text), 2 * INDENT, 3 * INDENT);
    str_release(&text);
}

/* Worst severity first, then most bytes. */
static int by_weight(const void *a, const void *b)
{
    const struct group *left = a, *right = b;
    if (left->finding->severity != right->finding->severity)
        return left->finding->severity > right->finding->severity ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

static int64_t moved_bytes(const struct code_row *row, const struct finding *finding)
{
    const struct kernel_code *k = &row->kernel;
    bool spills = strcmp(finding->id, "kernel-register-spill") == 0;
    int64_t stored = spills ? k->spill_store_bytes : k->local_store_bytes;
    int64_t loaded = spills ? k->spill_load_bytes : k->local_load_bytes;
    return stored == UNKNOWN || loaded == UNKNOWN ? k->stack_bytes : stored + loaded;
}

static void put_findings(struct screen *s, const struct report *report)
{
    VEC(struct group) groups = {0};
    struct map known = {0};
    vec_each (&report->codes, row) {
        vec_each (&row->findings, finding) {
            uint64_t key = hash_pair(row->kernel.demangled, hash_bytes(finding->id, strlen(finding->id)));
            struct group group = {row, finding, moved_bytes(row, finding), 0};
            uint32_t at = map_get(&known, key);
            if (at == MAP_ABSENT) {
                map_set(&known, key, (uint32_t)groups.count);
                vec_push(&groups, group);
                continue;
            }
            group.others = groups.at[at].others + 1;
            groups.at[at].others++;
            if (group.bytes > groups.at[at].bytes)
                groups.at[at] = group;
        }
    }
    if (groups.count) {
        qsort(groups.at, groups.count, sizeof *groups.at, by_weight);
        text_heading(s, _("Findings"));
        screen_newline(s);
    }
    for (size_t i = 0; i < groups.count && i < FINDINGS; i++)
        put_group(s, report, &groups.at[i]);
    if (groups.count > FINDINGS)
        text_put_msg(s, report, STYLE_DIM,
                     &msg_make(N_("{0} more: --kernel NAME, or --format json for all"),
                               value_count((int64_t)(groups.count - FINDINGS))),
                     INDENT);
    vec_release(&groups);
    map_release(&known);
}

static bool any_assumed(const struct report *report)
{
    vec_each (&report->codes, row)
        if (strcmp(row->block_origin, "assumed") == 0 && row->blocks_per_sm != UNKNOWN)
            return true;
    return false;
}

static void put_notes(struct screen *s, const struct report *report)
{
    screen_newline(s);
    if (any_assumed(report))
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("Where the code names no block size, occupancy is that of {0} threads a block "
                         "(--block says another)."),
                      value_count(CODE_BLOCK_ASSUMED)),
            0);
    text_put_msg(
        s, report, STYLE_DIM,
        &msg_make(N_("Occupancy is capacity, not efficiency: 'warplight occupancy' says what limits it.")),
        0);
}

void text_codes(struct screen *s, const struct report *report, const struct view_options *options, int32_t cc)
{
    put_summary(s, report);
    if (cc)
        put_images(s, report, cc);
    screen_newline(s);
    struct table_options table = {
        .limit = options->limit == UNKNOWN ? ROWS : (size_t)options->limit,
        .max_rank = RANK_ALL,
        .full_names = options->full_names,
    };
    size_t shown = table_print(s, &code_section, report, &table);
    if (shown < report->codes.count)
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("{0} more rows (--limit)"), value_count((int64_t)(report->codes.count - shown))), 0);
    put_findings(s, report);
    text_losses(s, report);
    put_notes(s, report);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void write_null(struct json_report *j, const char *key, const char *why)
{
    struct str name = {0};
    json_key(&j->w, key);
    json_null(&j->w);
    str_addf(&name, "%s_why", key);
    json_key(&j->w, str_text(&name));
    json_puts(&j->w, why);
    str_release(&name);
}

static void write_triple(struct json_report *j, const char *key, const int64_t *triple, const char *why)
{
    if (triple[0] == UNKNOWN) {
        write_null(j, key, why);
        return;
    }
    json_key(&j->w, key);
    json_array_begin(&j->w);
    for (int i = 0; i < 3; i++)
        json_int(&j->w, triple[i]);
    json_array_end(&j->w);
}

static void write_limiters(struct json_report *j, const struct code_row *row)
{
    json_key(&j->w, "occupancy_limiters");
    json_array_begin(&j->w);
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (row->limiters >> i & 1)
            json_puts(&j->w, occupancy_limit_name((enum occupancy_limit)i));
    json_array_end(&j->w);
}

static void write_line(struct json_report *j, uint32_t place)
{
    const struct run *run = j->report->run;
    const struct place_table *places = &run->places;
    if (places->line[place]) {
        json_key(&j->w, "file");
        json_puts(&j->w, run_text(run, places->file[place]));
        json_key(&j->w, "line");
        json_uint(&j->w, places->line[place]);
    } else {
        write_null(j, "file", "there is no line table");
        write_null(j, "line", "there is no line table");
    }
    if (places->function[place]) {
        json_key(&j->w, "function");
        json_puts(&j->w, run_text(run, places->function[place]));
    } else {
        write_null(j, "function", "the line table does not say");
    }
}

static void write_sites(struct json_report *j, const struct code_row *row)
{
    struct json_writer *w = &j->w;
    const uint32_t *inlined = j->report->run->places.inlined;
    json_key(w, "sites");
    json_array_begin(w);
    for (uint32_t i = 0; i < row->site_count; i++) {
        const struct code_site *site = &j->report->sites.at[row->first_site + i];
        json_object_begin(w);
        write_line(j, site->place);
        json_key(w, "inlined_into");
        json_array_begin(w);
        for (uint32_t place = inlined[site->place]; place != NONE; place = inlined[place]) {
            json_object_begin(w);
            write_line(j, place);
            json_object_end(w);
        }
        json_array_end(w);
        json_key(w, "kind");
        json_puts(w, site->is_spill                             ? "spill"
                     : row->kernel.spill_store_bytes == UNKNOWN ? "spill or array"
                                                                : "array or saved registers");
        json_key(w, "store_bytes");
        json_int(w, site->store_bytes);
        json_key(w, "load_bytes");
        json_int(w, site->load_bytes);
        json_object_end(w);
    }
    json_array_end(w);
}

static void write_fit(struct json_report *j, const struct code_row *row)
{
    json_key(&j->w, "runs_as");
    if (row->fit == FIT_RUNS || row->fit == FIT_COMPILES) {
        json_puts(&j->w, fit_name(row->fit));
        return;
    }
    json_null(&j->w);
    json_key(&j->w, "runs_as_why");
    struct msg reason = code_reason_msg(row);
    if (reason.format)
        json_msg(j, &reason);
    else
        json_puts(&j->w, "no GPU was named");
}

/* What a static report cannot know is there as null, so that readers need not tell reports apart. */
static void write_row(struct json_report *j, const struct code_row *row)
{
    struct json_writer *w = &j->w;
    json_object_begin(w);
    json_cells(j, code_columns, row);
    write_null(j, "launches", WHY_NO_RUN);
    write_null(j, "grid", WHY_NO_RUN);
    write_triple(j, "block", row->kernel.required_block, "the kernel takes any block size");
    write_triple(j, "cluster", row->kernel.cluster, "the kernel names no cluster size");
    write_limiters(j, row);
    write_fit(j, row);
    json_key(w, "has_lines");
    json_bool(w, row->kernel.has_lines);
    json_key(w, "is_relocatable");
    json_bool(w, row->kernel.is_object);
    json_key(w, "metrics");
    json_object_begin(w);
    json_object_end(w);
    json_key(w, "stalls");
    json_array_begin(w);
    json_array_end(w);
    write_sites(j, row);
    json_findings(j, row->findings.at, row->findings.count);
    json_object_end(w);
    json_drain(j, JSON_FLUSH_BYTES);
}

static void write_images(struct json_report *j)
{
    struct json_writer *w = &j->w;
    const struct run *run = j->report->run;
    json_key(w, "images");
    json_array_begin(w);
    vec_each (&j->report->images, image) {
        json_object_begin(w);
        json_key(w, "name");
        json_puts(w, run_text(run, image->name));
        json_key(w, "path");
        json_puts(w, run_text(run, run->sources.at[image->source].path));
        json_key(w, "runs_as");
        if (image->fit == FIT_NO) {
            json_null(w);
            json_key(w, "runs_as_why");
            json_puts(w, "no kernel image is available for execution on the device");
        } else {
            json_puts(w, fit_name(image->fit));
        }
        json_object_end(w);
    }
    json_array_end(w);
}

void json_codes(FILE *out, const struct report *report, const struct view_options *options, int32_t cc)
{
    struct str text = {0}, version = {0};
    struct json_report j = {{.out = &text, .indent = 1}, out, report, options};
    json_object_begin(&j.w);
    json_key(&j.w, "schema");
    json_puts(&j.w, "warplight.kernels/1");
    json_key(&j.w, "warplight_version");
    json_puts(&j.w, WARPLIGHT_VERSION);
    if (cc) {
        str_addf(&version, "%d.%d", cc / 10, cc % 10);
        json_key(&j.w, "device");
        json_object_begin(&j.w);
        json_key(&j.w, "compute_capability");
        json_puts(&j.w, str_text(&version));
        json_object_end(&j.w);
        write_images(&j);
    } else {
        write_null(&j, "device", "no GPU was named");
    }
    json_sources(&j);
    json_key(&j.w, "kernels");
    json_array_begin(&j.w);
    size_t limit = options->limit == UNKNOWN ? SIZE_MAX : (size_t)options->limit;
    for (size_t i = 0; i < report->codes.count && i < limit; i++)
        write_row(&j, &report->codes.at[i]);
    json_array_end(&j.w);
    if (report->codes.count > limit) {
        json_key(&j.w, "kernels_omitted");
        json_uint(&j.w, report->codes.count - limit);
    }
    json_object_end(&j.w);
    str_putc(&text, '\n');
    json_drain(&j, 0);
    str_release(&text);
    str_release(&version);
}
