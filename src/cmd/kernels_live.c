#include "cmd/kernels_live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "source/counter_plan.h"
#include "source/disassembler.h"
#include "source/measure.h"
#include "symbol/binary.h"
#include "symbol/demangle.h"
#include "symbol/place_lines.h"
#include "symbol/sass.h"

/* ---- measuring ------------------------------------------------------------------------------------------
 */

/* What hardware showed, on an H200: doc/measured/kernels.md. */
enum { REPLAY_MS = 40, PASS_MS = 6 };

enum { DISASSEMBLY_S = 20 }; /* of all modules at most: a framework has dozens */

static void say_plan(const struct ring_plan *plan)
{
    struct str chip = {0};
    utf8_visible(&chip, plan->chip, strlen(plan->chip));
    fprintf(stderr,
            _("warplight: --deep on %s: %u counters in %u passes; each kernel that matters is run once for "
              "each pass, "
              "in about %u ms, and 5 ms more for each GB of device memory in use\n"),
            str_text(&chip), plan->counters, plan->passes, REPLAY_MS + PASS_MS * plan->passes);
    str_release(&chip);
}

static void say_what_was_measured(const struct cli *cli, const struct measure *m, const struct run *run)
{
    const char *failure = collect_failure(&m->collect);
    if (failure) {
        fprintf(stderr, _("warplight: not everything was measured: %s\n"), failure);
        if (run->profiles.count == 0)
            fputs(_("warplight: without counters: 'warplight record -- PROGRAM' times the kernels and needs "
                    "no permission for counters; what the program's own code says of them is shown\n"),
                  stderr);
    } else if (collect_process_count(&m->collect) == 0) {
        fputs(_("warplight: no process used CUDA, so there is nothing to measure\n"), stderr);
    } else if (!cli->globals.quiet && collect_process_count(&m->collect) == 1) {
        fprintf(stderr, _("warplight: launches measured: %zu\n"), run->profiles.count);
    } else if (!cli->globals.quiet) {
        fprintf(stderr, _("warplight: launches measured: %zu, of %zu processes\n"), run->profiles.count,
                collect_process_count(&m->collect));
    }
}

/* Of what the user asked for: the chip does not know it, or it does not fit. */
static void say_what_is_missing(struct run *run, const char *metrics)
{
    struct str missing = {0};
    for (const char *metric = metrics; metric && *metric && run->counters.count;) {
        size_t length = strcspn(metric, ","), row = 0;
        uint32_t name = intern_add(&run->strings, metric, length);
        while (row < run->counters.count && run->counters.name[row] != name)
            row++;
        if (length && row == run->counters.count)
            str_addf(&missing, "%s%.*s", missing.len ? ", " : "", (int)length, metric);
        metric += length + (metric[length] == ',');
    }
    if (missing.len)
        fprintf(stderr,
                _("warplight: not measured, for the GPU has none of that name or they do not fit in one pass "
                  "('warplight kernels --plan --metrics' tells which, --deep takes several): %s\n"),
                str_text(&missing));
    str_release(&missing);
}

/* The driver knows kernels as the linker does. */
static void demangle_profiles(struct run *run)
{
    struct map known = {0}; /* name → demangled */
    struct str text = {0};
    vec_each (&run->profiles, profile) {
        uint32_t name = map_get(&known, profile->name);
        if (name == MAP_ABSENT) {
            str_cut(&text, 0);
            name = demangle(&text, run_text(run, profile->name))
                       ? intern_add(&run->strings, text.ptr, text.len)
                       : profile->name;
            map_set(&known, profile->name, name);
        }
        profile->mangled = profile->name;
        profile->name = name;
    }
    map_release(&known);
    str_release(&text);
}

/* What the program's own file says of its kernels; that of libraries, and what is compiled as it runs, is not
 * known. */
static void read_own_code(struct run *run, const char *program)
{
    struct str path = {0};
    const char *folders = strchr(program, '/') ? NULL : getenv("PATH");
    if (!folders)
        str_puts(&path, program);
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        str_cut(&path, 0);
        str_addf(&path, "%.*s/%s", (int)length, folders, program);
        if (access(str_text(&path), X_OK) == 0)
            break;
        folders += length + (folders[length] == ':');
    }
    binary_read(run, str_text(&path), NULL); /* a script has none */
    str_release(&path);
}

/* Counters and sampler exclude each other: what sampled a kernel must not have counted it. */
static int sample_again(struct run *run, char *const *argv, struct err *err)
{
    struct measure measure;
    int rc = measure_run(&measure, run, &(struct measure_options){.stalls = true, .again = true}, argv, err);
    const char *failure = rc == 0 ? collect_failure(&measure.collect) : NULL;
    if (failure)
        fprintf(stderr, _("warplight: not everything was measured: %s\n"), failure);
    measure_release(&measure);
    return rc;
}

/* Without it samples have their lines and offsets all the same. */
static void say_why_without_text(int why)
{
    if (why == ENOENT)
        fprintf(stderr, "%s",
                _("warplight: without the text of instructions: nvdisasm of the CUDA toolkit was not "
                  "found (WARPLIGHT_NVDISASM names it)\n"));
    else if (why == ETIMEDOUT)
        fprintf(stderr, _("warplight: not all instructions have their text: nvdisasm took more than %d s\n"),
                DISASSEMBLY_S);
    else if (why)
        fprintf(stderr, _("warplight: not all instructions have their text: nvdisasm failed (%s)\n"),
                strerror(why));
}

static void disassemble(struct run *run, const struct cli *cli)
{
    uint32_t count = (uint32_t)run->images.count, wanted = 0;
    struct disassembly *all = mem_zalloc(count, sizeof *all);
    bool is_live = isatty(STDERR_FILENO) && !cli->globals.quiet && !cli->globals.no_progress;
    int why = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = run->images.at[i].bytes;
        all[i].cubin = run_text(run, code);
        all[i].size = intern_length(&run->strings, code);
        places_want_sass(run, i, &all[i].symbols);
        wanted += all[i].symbols.len > 0;
    }
    if (is_live && wanted)
        fprintf(stderr, _("warplight: nvdisasm reads the code of the kernels (%u)"), wanted);
    disassembler_run(all, count, DISASSEMBLY_S * INT64_C(1000000000));
    for (uint32_t i = 0; i < count; i++) {
        places_take_sass(run, i, str_text(&all[i].text), all[i].text.len);
        why = all[i].why ? all[i].why : why;
        str_release(&all[i].symbols);
        str_release(&all[i].text);
    }
    free(all);
    if (is_live && wanted)
        fputs("\r\x1b[K", stderr);
    if (!cli->globals.quiet)
        say_why_without_text(why);
}

int live_measure(struct run *run, const struct cli *cli, const struct live_options *options, int *exit_code,
                 struct err *err)
{
    struct measure measure;
    struct measure_options wanted = {
        .metrics = options->metrics,
        .deep = options->deep,
        .on_plan = cli->globals.quiet ? NULL : say_plan,
        .launches = (uint32_t)(options->launches < UINT32_MAX ? options->launches : UINT32_MAX),
    };
    char **argv = mem_zalloc((size_t)cli->operand_count + 1, sizeof *argv);
    memcpy(argv, cli->operands, (size_t)cli->operand_count * sizeof *argv);
    int rc = measure_run(&measure, run, &wanted, argv, err);
    if (rc == 0) {
        say_what_was_measured(cli, &measure, run);
        say_what_is_missing(run, options->metrics);
        *exit_code = target_exit_code(&measure.target);
    }
    measure_release(&measure);
    if (rc == 0 && options->stalls)
        rc = sample_again(run, argv, err);
    if (rc == 0) {
        demangle_profiles(run);
        read_own_code(run, argv[0]);
        binary_read_images(run);
        places_find_lines(run);
        disassemble(run, cli);
        run_seal(run);
    }
    free(argv);
    return rc;
}

/* ---- the plan -------------------------------------------------------------------------------------------
 */

/* What hardware showed, on an H200: doc/measured/kernels.md. */
static void explain_cost(struct screen *s, bool deep)
{
    screen_newline(s);
    screen_wrap(
        s, STYLE_PLAIN,
        _("One pass: kernels run once, as they are; each launch that is measured takes about 1 ms more, and "
          "the start 0.4 s. What does not fit in the pass is left out."),
        0, 0);
    if (deep)
        screen_wrap(
            s, STYLE_PLAIN,
            _("--deep: kernels that matter run once for each pass, with their memory restored in between: "
              "some 40 ms, 6 ms a pass and 5 ms for each GB of device memory in use."),
            0, 0);
    screen_wrap(
        s, STYLE_PLAIN,
        _("--stalls: the program runs a second time, while the warp sampler looks on, which costs little."),
        0, 0);
}

/* What stands beside the metrics of one pass. */
static void add_rest(struct str *text, const struct counter_chip *chip)
{
    if (chip->deep_passes) {
        str_addf(text, _("%zu metrics in %zu passes"), chip->deep_count, chip->deep_passes);
        return;
    }
    if (chip->quick_passes > 1)
        str_addf(text, _("all would take %zu passes"), chip->quick_passes);
    vec_each (&chip->missing, metric)
        str_addf(text, "%s%s", metric == chip->missing.at ? (text->len ? "; " : "") : ", ", *metric);
    if (chip->missing.count)
        str_addf(text, " %s", _("(not on this chip)"));
}

static void print_text(struct screen *s, const struct counter_plan *plan)
{
    enum { CHIP_COLUMNS = 8, METRICS_COLUMNS = 18 };
    bool deep = plan->chips.at[0].deep_passes > 0;
    screen_cell(s, STYLE_HEADING, _("chip"), CHIP_COLUMNS, false);
    screen_cell(s, STYLE_HEADING, _("in one pass"), METRICS_COLUMNS, false);
    screen_puts(s, STYLE_HEADING, deep ? "--deep" : "");
    screen_newline(s);
    vec_each (&plan->chips, chip) {
        struct str text = {0};
        str_addf(&text, _("%zu metrics"), chip->quick_count);
        screen_cell(s, STYLE_PLAIN, chip->name, CHIP_COLUMNS, false);
        screen_cell(s, STYLE_PLAIN, str_text(&text), METRICS_COLUMNS, false);
        str_cut(&text, 0);
        add_rest(&text, chip);
        screen_wrap(s, STYLE_PLAIN, str_text(&text), CHIP_COLUMNS + METRICS_COLUMNS,
                    CHIP_COLUMNS + METRICS_COLUMNS);
        str_release(&text);
    }
    explain_cost(s, deep);
}

static void add_chip(struct json_writer *w, const struct counter_chip *chip)
{
    json_object_begin(w);
    json_key_text(w, "name", chip->name);
    json_key_int(w, "passes_of_all", (int64_t)chip->quick_passes);
    json_key_int(w, "metrics_in_one_pass", (int64_t)chip->quick_count);
    if (chip->deep_passes) {
        json_key_int(w, "deep_passes", (int64_t)chip->deep_passes);
        json_key_int(w, "deep_metrics", (int64_t)chip->deep_count);
    }
    json_key(w, "missing");
    json_array_begin(w);
    vec_each (&chip->missing, metric)
        json_puts(w, *metric);
    json_array_end(w);
    json_object_end(w);
}

static void print_json(FILE *out, const struct counter_plan *plan)
{
    struct str text = {0};
    struct json_writer w = {.out = &text, .indent = 1};
    json_object_begin(&w);
    json_key_text(&w, "schema", "warplight.kernels-plan/1");
    json_key_text(&w, "cupti", str_text(&plan->library));
    json_key(&w, "chips");
    json_array_begin(&w);
    vec_each (&plan->chips, chip)
        add_chip(&w, chip);
    json_array_end(&w);
    json_object_end(&w);
    str_putc(&text, '\n');
    fwrite(text.ptr, 1, text.len, out);
    str_release(&text);
}

/* Cuts the list at its commas. */
static size_t split(char *list, char ***parts)
{
    VEC(char *) all = {0};
    for (char *part = list; part && *part;) {
        char *comma = strchr(part, ',');
        if (comma)
            *comma = '\0';
        if (*part)
            vec_push(&all, part);
        part = comma ? comma + 1 : NULL;
    }
    *parts = all.at;
    return all.count;
}

int live_plan(const struct cli *cli, FILE *out, const struct live_options *options, bool json,
              struct err *err)
{
    struct counter_plan plan;
    struct screen s;
    char *list = options->metrics ? strdup(options->metrics) : NULL, **metrics = NULL;
    size_t count = split(list, &metrics);
    int rc = counter_plan_make(&plan, options->chip, metrics, count, err);
    if (rc == 0 && json) {
        print_json(out, &plan);
    } else if (rc == 0) {
        cli_screen(cli, &s, out);
        print_text(&s, &plan);
        screen_flush(&s);
        screen_release(&s);
    }
    counter_plan_release(&plan);
    free(metrics);
    free(list);
    return rc;
}
