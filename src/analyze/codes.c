#include "analyze/codes.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/findings/code.h"
#include "base/i18n.h"

/* ---- which GPUs run it --------------------------------------------------------------------------------- */

/* Chips of Tegra, whose machine code is apart from that of the cards. */
static bool is_embedded(int32_t cc)
{
    return cc == 32 || cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 110;
}

enum code_fit code_fit(const struct kernel_code *code, int32_t cc, enum code_reason *reason)
{
    int32_t sm = code->sm == 101 ? 110 : code->sm; /* renamed in CUDA 13 */
    enum code_fit yes = code->is_ptx ? FIT_COMPILES : FIT_RUNS;
    *reason = REASON_NONE;
    if (sm == cc)
        return yes;
    if (sm == 0)
        *reason = REASON_UNKNOWN;
    else if (code->is_specific)
        *reason = REASON_SPECIFIC;
    else if (code->is_family && sm / 10 != cc / 10)
        *reason = REASON_FAMILY;
    else if (code->is_ptx)
        *reason = sm > cc ? REASON_PTX_NEWER : REASON_NONE;
    else if (sm / 10 != cc / 10)
        *reason = REASON_OTHER_MAJOR;
    else if (sm > cc)
        *reason = REASON_LATER_MINOR;
    else if (is_embedded(sm) || is_embedded(cc))
        *reason = REASON_EMBEDDED;
    return *reason == REASON_NONE ? yes : FIT_NO;
}

struct msg code_reason_msg(const struct code_row *row)
{
    const struct kernel_code *code = &row->kernel;
    struct value name = value_text(row->architecture), major = value_id(code->sm / 10);
    struct value minor = value_id(code->sm % 10);
    switch (row->reason) {
    case REASON_NONE:
        break;
    case REASON_OTHER_MAJOR:
        return msg_make(N_("{0}: machine code runs on compute capability {1}.x only"), name, major);
    case REASON_LATER_MINOR:
        return msg_make(N_("{0}: machine code runs on {1}.{2} and later ones of {1}.x only"), name, major,
                        minor);
    case REASON_SPECIFIC:
        return msg_make(N_("{0}: code with the suffix 'a' runs on compute capability {1}.{2} alone"), name,
                        major, minor);
    case REASON_FAMILY:
        return msg_make(N_("{0}: code with the suffix 'f' runs within its family, {1}.x, only"), name, major);
    case REASON_EMBEDDED:
        return msg_make(N_("{0}: machine code of cards and of Tegra is not exchangeable"), name);
    case REASON_PTX_NEWER:
        return msg_make(N_("{0}: PTX can be compiled for {1}.{2} or later only"), name, major, minor);
    case REASON_UNKNOWN:
        return msg_make(N_("{0}: the architecture is not known"), name);
    }
    return (struct msg){0};
}

/* Machine code before PTX, the nearest architecture before earlier ones, one made for it alone before all. */
static bool is_better(const struct kernel_code *a, const struct kernel_code *b)
{
    if (a->is_ptx != b->is_ptx)
        return !a->is_ptx;
    if (a->sm != b->sm)
        return a->sm > b->sm;
    return a->is_specific > b->is_specific;
}

static int by_image(const void *a, const void *b, void *context)
{
    const struct run *run = context;
    const struct image_row *left = a, *right = b;
    int order = strcmp(run_text(run, left->name), run_text(run, right->name));
    return order ? order : left->source < right->source ? -1 : left->source > right->source;
}

static void choose_images(struct report *report, const struct code_options *options)
{
    const struct run *run = report->run;
    struct map known = {0};
    vec_each (&report->codes, row) {
        const struct kernel_code *code = &run->codes.at[row->code];
        uint64_t key = (uint64_t)code->source << 32 | code->name;
        uint32_t at = map_get(&known, key);
        if (at == MAP_ABSENT) {
            at = (uint32_t)report->images.count;
            map_set(&known, key, at);
            vec_push(&report->images, ((struct image_row){code->source, code->demangled, FIT_NO, NONE}));
        }
        struct image_row *image = &report->images.at[at];
        row->fit = code_fit(code, options->cc, &row->reason);
        if (row->fit == FIT_NO || (image->code != NONE && !is_better(code, &run->codes.at[image->code])))
            continue;
        image->fit = row->fit;
        image->code = row->code;
    }
    map_release(&known);
    if (report->images.count)
        qsort_r(report->images.at, report->images.count, sizeof *report->images.at, by_image, (void *)run);
}

/* ---- occupancy ----------------------------------------------------------------------------------------- */

struct occupancy_launch code_launch(const struct kernel_code *code, const struct code_options *options,
                                    const char **block_origin)
{
    int64_t threads = options->block;
    *block_origin = N_("given");
    if (threads == UNKNOWN && code->required_block[0] != UNKNOWN) {
        *block_origin = N_("required");
        threads = 1;
        for (int i = 0; i < 3; i++)
            threads = threads > OCCUPANCY_BLOCK_THREADS ? threads : threads * code->required_block[i];
    } else if (threads == UNKNOWN && code->max_threads_per_block != UNKNOWN) {
        *block_origin = N_("launch bounds");
        threads = code->max_threads_per_block;
    } else if (threads == UNKNOWN) {
        *block_origin = N_("assumed");
        threads = CODE_BLOCK_ASSUMED;
    }
    int64_t dynamic = options->shared != UNKNOWN ? options->shared : code->dynamic_shared_bytes;
    return (struct occupancy_launch){
        .threads = threads,
        .registers = code->registers_per_thread,
        .shared_bytes = (code->static_shared_bytes == UNKNOWN ? 0 : code->static_shared_bytes) +
                        (dynamic == UNKNOWN ? 0 : dynamic),
        .barriers = code->barriers == UNKNOWN ? 0 : code->barriers,
    };
}

/* On the GPU that is asked about, if the code runs there, else on its own architecture. */
static void find_occupancy(struct code_row *row, const struct kernel_code *code,
                           const struct code_options *options)
{
    struct occupancy_launch launch = code_launch(code, options, &row->block_origin);
    struct device device = occupancy_device(row->fit == FIT_RUNS ? options->cc : code->sm);
    struct occupancy occupancy;
    row->block_threads = launch.threads;
    row->occupancy_ratio = NAN;
    row->blocks_per_sm = UNKNOWN;
    if (code->is_ptx || code->registers_per_thread == UNKNOWN ||
        !occupancy_find(&occupancy, &device, &launch))
        return;
    row->occupancy_ratio = occupancy.ratio;
    row->blocks_per_sm = occupancy.blocks;
    row->limiters = occupancy.limiters;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

bool code_matches(const char *name, const char *pattern)
{
    return strpbrk(pattern, "*?") ? fnmatch(pattern, name, 0) == 0 : strstr(name, pattern) != NULL;
}

static uint64_t identity(const struct kernel_code *code)
{
    uint64_t key =
        hash_pair((uint64_t)code->source << 32 | code->name,
                  (uint64_t)code->sm << 8 | code->is_ptx | code->is_specific << 1 | code->is_family << 2);
    const int64_t facts[] = {code->registers_per_thread, code->static_shared_bytes, code->barriers,
                             code->stack_bytes,          code->spill_store_bytes,   code->spill_load_bytes,
                             code->local_store_bytes,    code->local_load_bytes,    code->code_bytes,
                             code->max_threads_per_block};
    return hash_pair(key, hash_bytes(facts, sizeof facts));
}

static const char *architecture(struct report *report, const struct kernel_code *code)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%s_%d%s", code->is_ptx ? "compute" : "sm", code->sm,
                          code->is_specific ? "a"
                          : code->is_family ? "f"
                                            : "");
    return arena_text(&report->arena, text, (size_t)length);
}

static void add_rows(struct report *report, const struct code_options *options, uint32_t *row_of)
{
    const struct run *run = report->run;
    struct map known = {0};
    for (uint32_t i = 0; i < run->codes.count; i++) {
        const struct kernel_code *code = &run->codes.at[i];
        row_of[i] = NONE;
        if (options->kernel && !code_matches(run_text(run, code->demangled), options->kernel) &&
            !code_matches(run_text(run, code->name), options->kernel))
            continue;
        uint64_t key = identity(code);
        uint32_t at = map_get(&known, key);
        if (at != MAP_ABSENT) {
            report->codes.at[at].copies++;
            continue;
        }
        row_of[i] = (uint32_t)report->codes.count;
        map_set(&known, key, row_of[i]);
        struct code_row *row = vec_new(&report->codes);
        *row = (struct code_row){
            .code = i, .kernel = *code, .copies = 1, .architecture = architecture(report, code)};
    }
    map_release(&known);
}

/* ---- local memory -------------------------------------------------------------------------------------- */

struct site { /* with the row that it belongs to */
    uint32_t row;
    struct code_site site;
};

static int by_row_and_bytes(const void *a, const void *b)
{
    const struct site *left = a, *right = b;
    int64_t l = left->site.store_bytes + left->site.load_bytes;
    int64_t r = right->site.store_bytes + right->site.load_bytes;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    if (l != r)
        return l > r ? -1 : 1;
    return left->site.place < right->site.place ? -1 : left->site.place > right->site.place;
}

static void add_to_site(struct code_site *site, const char *name, int64_t bytes)
{
    if (strstr(name, "load"))
        site->load_bytes += bytes;
    else
        site->store_bytes += bytes;
}

/* Instructions of one line that was inlined from one place, and of one kind, are one site. */
static void gather_sites(struct report *report, const uint32_t *row_of)
{
    const struct run *run = report->run;
    const struct place_table *places = &run->places;
    struct map known = {0};
    VEC(struct site) sites = {0};
    for (size_t i = 0; i < run->place_counters.count; i++) {
        uint32_t place = run->place_counters.place[i];
        const char *name = run_text(run, run->place_counters.name[i]);
        uint32_t row = places->code[place] < run->codes.count ? row_of[places->code[place]] : NONE;
        bool is_spill = strncmp(name, "spill_", 6) == 0;
        if (run->place_counters.profile[i] != NONE || row == NONE ||
            (!is_spill && strncmp(name, "local_", 6)))
            continue;
        uint64_t key = hash_pair(
            hash_pair((uint64_t)row << 1 | is_spill, places->inlined[place]),
            hash_pair((uint64_t)places->file[place] << 32 | places->line[place], places->function[place]));
        uint32_t at = map_get(&known, key);
        if (at == MAP_ABSENT) {
            at = (uint32_t)sites.count;
            map_set(&known, key, at);
            vec_push(&sites, ((struct site){row, {.place = place, .is_spill = is_spill}}));
        }
        add_to_site(&sites.at[at].site, name, (int64_t)run->place_counters.value[i]);
    }
    if (sites.count)
        qsort(sites.at, sites.count, sizeof *sites.at, by_row_and_bytes);
    vec_each (&sites, site) {
        struct code_row *row = &report->codes.at[site->row];
        if (row->site_count++ == 0)
            row->first_site = (uint32_t)report->sites.count;
        vec_push(&report->sites, site->site);
    }
    vec_release(&sites);
    map_release(&known);
}

/* ---- order --------------------------------------------------------------------------------------------- */

struct order {
    const struct run *run;
    enum code_sort sort;
};

/* What comes first has the larger weight; unknown values come last. */
static double weight(const struct order *order, const struct code_row *row)
{
    const struct kernel_code *code = &order->run->codes.at[row->code];
    switch (order->sort) {
    case CODE_SORT_NAME:
        return 0;
    case CODE_SORT_REGISTERS:
        return (double)code->registers_per_thread;
    case CODE_SORT_SHARED:
        return (double)code->static_shared_bytes;
    case CODE_SORT_STACK:
        return (double)code->stack_bytes;
    case CODE_SORT_SPILLS:
        return code->spill_load_bytes == UNKNOWN ? (double)UNKNOWN
                                                 : (double)(code->spill_load_bytes + code->spill_store_bytes);
    case CODE_SORT_OCCUPANCY:
        return isnan(row->occupancy_ratio) ? (double)UNKNOWN : -row->occupancy_ratio;
    case CODE_SORT_SIZE:
        return (double)code->code_bytes;
    }
    return 0;
}

static int by_order(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct code_row *left = a, *right = b;
    double l = weight(order, left), r = weight(order, right);
    if (l != r)
        return l > r ? -1 : 1;
    const struct kernel_code *x = &order->run->codes.at[left->code], *y = &order->run->codes.at[right->code];
    int names = strcmp(run_text(order->run, x->demangled), run_text(order->run, y->demangled));
    if (names)
        return names;
    if (x->is_ptx != y->is_ptx)
        return x->is_ptx ? 1 : -1;
    if (x->sm != y->sm)
        return x->sm < y->sm ? -1 : 1;
    return left->code < right->code ? -1 : left->code > right->code;
}

void codes_build(struct report *report, const struct run *run, const struct code_options *options)
{
    report->run = run;
    uint32_t *row_of = mem_alloc(run->codes.count * sizeof *row_of + 1);
    add_rows(report, options, row_of);
    gather_sites(report, row_of);
    free(row_of);
    if (options->cc)
        choose_images(report, options);
    vec_each (&report->codes, row) {
        find_occupancy(row, &run->codes.at[row->code], options);
        code_findings(report, row);
    }
    struct order order = {run, options->sort};
    if (report->codes.count)
        qsort_r(report->codes.at, report->codes.count, sizeof *report->codes.at, by_order, &order);
}

void codes_release(struct report *report)
{
    vec_each (&report->codes, row) {
        vec_each (&row->findings, finding)
            vec_release(&finding->evidence);
        vec_release(&row->findings);
    }
    vec_release(&report->codes);
    vec_release(&report->sites);
    vec_release(&report->images);
}
