/* warplight kernels: what limits a kernel and what to change. */
#include <math.h>
#include <string.h>

#include "analyze/changes.h"
#include "analyze/codes.h"
#include "analyze/profiles.h"
#include "base/i18n.h"
#include "base/json.h"
#include "cmd/codes.h"
#include "cmd/kernels.h"
#include "cmd/kernels_live.h"
#include "cmd/read_run.h"
#include "view/view.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const char *const format_names[] = {"text", "json", "csv", NULL};
/* In the order of enum code_sort. */
static const char *const sort_names[] = {"name",   "registers", "shared", "stack",
                                         "spills", "occupancy", "size",   NULL};

struct kernels_args {
    int format;
    const char *output;
    const char *kernel;
    const char *gpu;
    const char *cc;
    int64_t block;
    int64_t shared;
    int sort;
    int64_t limit;
    bool full_names;
    const char *input_format;
    const char *metrics;
    int64_t launches;
    const char *chip;
    bool deep;
    bool stalls;
    bool plan;
    const char *baseline;
    const char *fail_over;
};

static const struct kernels_args defaults = {
    .launches = 8, .block = UNKNOWN, .shared = UNKNOWN, .limit = UNKNOWN};

#define AT(field) offsetof(struct kernels_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text, json or csv (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
    {"kernel", 'k', OPTION_TEXT, N_("PATTERN"),
     N_("only kernels whose name holds PATTERN, or is like it if it has * or ?"), AT(kernel), NULL},
    {"gpu", 'g', OPTION_TEXT, N_("ARCH"),
     N_("say whether a GPU of that architecture can run them: sm_120, 12.0"), AT(gpu), NULL},
    {"cc", 0, OPTION_TEXT, N_("X.Y"), N_("the same as --gpu"), AT(cc), NULL},
    {"block", 'b', OPTION_COUNT, N_("THREADS"),
     N_("occupancy of that many threads a block (default: what the code says, else 256)"), AT(block), NULL},
    {"shared", 0, OPTION_BYTES, N_("BYTES"), N_("occupancy with that much dynamic shared memory a block"),
     AT(shared), NULL},
    {"sort", 0, OPTION_CHOICE, N_("WHAT"),
     N_("what comes first: name, registers, shared, stack, spills, occupancy (lowest first) or size "
        "(default: name)"),
     AT(sort), sort_names},
    {"limit", 'n', OPTION_COUNT, N_("ROWS"), N_("at most that many rows of a table"), AT(limit), NULL},
    {"full-names", 0, OPTION_FLAG, NULL, N_("kernel names as they are, not shortened"), AT(full_names), NULL},
    {"input-format", 0, OPTION_TEXT, N_("NAME"),
     N_("read the reports as this format instead of looking: ncu, ncu-csv, nvprof, …"), AT(input_format),
     NULL},
    {"deep", 0, OPTION_FLAG, NULL,
     N_("PROGRAM: also count what takes several passes, of kernels that matter"), AT(deep), NULL},
    {"stalls", 0, OPTION_FLAG, NULL,
     N_("PROGRAM: run it a second time, to sample where its warps wait and why"), AT(stalls), NULL},
    {"launches", 0, OPTION_COUNT, N_("COUNT"),
     N_("PROGRAM: measure so many launches of each kernel, grid and block; 0: all (default: 8)"),
     AT(launches), NULL},
    {"metrics", 'm', OPTION_TEXT, N_("LIST"),
     N_("PROGRAM: measure these counters, by their PerfWorks names, separated by commas"), AT(metrics), NULL},
    {"plan", 0, OPTION_FLAG, NULL, N_("run nothing: say what measuring costs on each GPU"), AT(plan), NULL},
    {"chip", 0, OPTION_TEXT, N_("NAME"), N_("--plan: only of that chip: GH100"), AT(chip), NULL},
    {"baseline", 0, OPTION_FILE, N_("FILE"),
     N_("say what changed since FILE: a report in JSON that was kept, or what another tool wrote"),
     AT(baseline), NULL},
    {"fail-over", 0, OPTION_TEXT, N_("PERCENT"),
     N_("with --baseline: exit with 1 if a kernel got slower by more than that, and by more than noise"),
     AT(fail_over), NULL},
    OPTION_END,
};
#undef AT

static void print_codes(const struct cli *cli, FILE *out, const struct report *report,
                        const struct kernels_args *args, int32_t cc)
{
    struct view_options view = {.limit = args->limit, .full_names = args->full_names};
    struct screen s;
    switch ((enum format)args->format) {
    case FORMAT_TEXT:
        cli_screen(cli, &s, out);
        text_codes(&s, report, &view, cc);
        screen_flush(&s);
        screen_release(&s);
        break;
    case FORMAT_JSON:
        json_codes(out, report, &view, cc);
        break;
    case FORMAT_CSV:
        csv_codes(out, report, &view);
        break;
    }
}

static bool lacks_image(const struct report *report)
{
    vec_each (&report->images, image)
        if (image->fit == FIT_NO)
            return true;
    return false;
}

/* ---- kernels in code ----------------------------------------------------------------------------------- */

static int show_codes(struct cli *cli, const struct kernels_args *args, const struct kernels_input *input,
                      struct err *err)
{
    struct code_options wanted = {
        .kernel = args->kernel,
        .block = args->block,
        .shared = args->shared,
        .sort = (enum code_sort)args->sort,
    };
    struct report report = {0};
    FILE *out = NULL;
    int rc = args->gpu ? capability_parse("gpu", args->gpu, &wanted.cc, err)
                       : capability_parse("cc", args->cc, &wanted.cc, err);
    if (rc < 0)
        return rc;
    codes_build(&report, &input->run, &wanted);
    if (report.codes.count == 0)
        rc = codes_none(args->kernel, err);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print_codes(cli, out, &report, args, wanted.cc);
        rc = close_output(out, args->output, err);
    }
    if (rc == 0 && lacks_image(&report))
        rc = 1;
    report_release(&report);
    return rc;
}

/* ---- kernels that ran ---------------------------------------------------------------------------------- */

static void print_profiles(const struct cli *cli, FILE *out, const struct report *report,
                           const struct kernels_args *args)
{
    struct view_options view = {.limit = args->limit, .full_names = args->full_names};
    struct screen s;
    switch ((enum format)args->format) {
    case FORMAT_TEXT:
        cli_screen(cli, &s, out);
        if (report->baseline)
            text_changes(&s, report, &view);
        else
            text_profiles(&s, report, &view, args->kernel != NULL);
        screen_flush(&s);
        screen_release(&s);
        break;
    case FORMAT_JSON:
        (report->baseline ? json_changes : json_profiles)(out, report, &view);
        break;
    case FORMAT_CSV:
        (report->baseline ? csv_changes : csv_profiles)(out, report, &view);
        break;
    }
}

/* Everything from a baseline to the exit code that it leads to. */
struct comparison {
    struct kernels_input input;
    struct report report;
    double fail_over; /* ratio; INFINITY: never */
};

static int read_percent(const char *text, double *ratio, struct err *err)
{
    *ratio = INFINITY;
    if (!text)
        return 0;
    struct json_text number = {text, strcspn(text, "%")};
    if (!json_to_double(number, ratio) || *ratio < 0)
        return err_set(err, ERR_USAGE, NULL, -1, _("give a number of percent, such as 5"),
                       _("--%s cannot be '%s'"), "fail-over", text);
    *ratio /= 100;
    return 0;
}

static int begin_comparison(struct comparison *c, struct cli *cli, const struct kernels_args *args,
                            struct err *err)
{
    int rc = read_percent(args->fail_over, &c->fail_over, err);
    if (rc == 0 && args->fail_over && !args->baseline)
        rc = err_set(err, ERR_USAGE, NULL, -1, NULL, _("--fail-over needs --baseline"));
    run_init(&c->input.run);
    if (rc < 0 || !args->baseline)
        return rc;
    char *path = (char *)args->baseline;
    run_release(&c->input.run);
    rc = kernels_read(&c->input, cli, &path, 1, args->input_format, err);
    if (rc == 0 && !c->input.has_profiles)
        rc = err_set(err, ERR_INPUT, path, -1, NULL, _("there are no counters of kernels in it"));
    if (rc == 0)
        profiles_build(&c->report, &c->input.run, &(struct profile_options){.kernel = args->kernel});
    return rc;
}

static int show_profiles(struct cli *cli, const struct kernels_args *args, const struct kernels_input *input,
                         struct err *err)
{
    struct report report = {0};
    struct comparison baseline = {0};
    FILE *out = NULL;
    int rc = begin_comparison(&baseline, cli, args, err);
    if (rc == 0)
        profiles_build(
            &report, &input->run,
            &(struct profile_options){.kernel = args->kernel, .has_raw = args->metrics && *args->metrics});
    if (rc == 0 && report.profiles.count == 0)
        rc = codes_none(args->kernel, err);
    if (rc == 0 && args->baseline)
        changes_build(&report, &baseline.report);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print_profiles(cli, out, &report, args);
        rc = close_output(out, args->output, err);
    }
    if (rc == 0 && args->baseline && changes_exceed(&report, baseline.fail_over))
        rc = 1;
    report_release(&report);
    report_release(&baseline.report);
    run_release(&baseline.input.run);
    return rc;
}

/* ---- kernels of a program that is started ---------------------------------------------------------------
 */

static int show_plan(struct cli *cli, const struct kernels_args *args, const struct live_options *live,
                     struct err *err)
{
    FILE *out = NULL;
    if (args->format == FORMAT_CSV)
        return err_set(err, ERR_USAGE, NULL, -1, _("use --format json"), _("a plan is no table of kernels"));
    int rc = open_output(&out, args->output, cli->operands, 0, err);
    if (rc == 0)
        rc = live_plan(cli, out, live, args->format == FORMAT_JSON, err);
    return rc == 0 ? close_output(out, args->output, err) : rc;
}

/* The program's own exit code is passed on. */
static int measure(struct cli *cli, const struct kernels_args *args, const struct live_options *live,
                   struct err *err)
{
    struct kernels_input input = {.has_profiles = true};
    int exit_code = 0;
    run_init(&input.run);
    int rc = live_measure(&input.run, cli, live, &exit_code, err);
    cli->operand_count = 0; /* they are no files */
    if (rc == 0 && input.run.profiles.count)
        rc = show_profiles(cli, args, &input, err);
    else if (rc == 0 && input.run.codes.count && !args->baseline) /* counters are locked, say */
        rc = show_codes(cli, args, &input, err);
    run_release(&input.run);
    return rc == 0 ? exit_code : rc;
}

static int run_kernels(struct cli *cli, const void *values, struct err *err)
{
    const struct kernels_args *args = values;
    struct live_options live = {.metrics = args->metrics,
                                .chip = args->chip,
                                .launches = args->launches,
                                .deep = args->deep,
                                .stalls = args->stalls};
    if (args->block == 0)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("a block has at least one thread"));
    if (args->plan)
        return show_plan(cli, args, &live, err);
    if (cli->operand_count == 0)
        return command_missing(cli->command, err);
    if (cli->dashes == 0)
        return measure(cli, args, &live, err);
    struct kernels_input input;
    int rc = kernels_read(&input, cli, cli->operands, cli->operand_count, args->input_format, err);
    if (rc == 0 && args->baseline && !input.has_profiles)
        rc = err_set(err, ERR_USAGE, NULL, -1, NULL, _("--baseline compares kernels that ran, not code"));
    else if (rc == 0)
        rc = input.has_profiles ? show_profiles(cli, args, &input, err) : show_codes(cli, args, &input, err);
    run_release(&input.run);
    return rc;
}

static const struct example examples[] = {
    {"warplight kernels ./app", N_("every kernel in a program: registers, spills, shared memory, occupancy")},
    {"warplight kernels ./app --gpu sm_120", N_("why a new GPU says \"no kernel image\"")},
    {"warplight kernels -- ./app 1024", N_("run a program and say what limits its kernels")},
    {"warplight kernels --deep --stalls -- ./app 1024",
     N_("the same with all counters, and where warps wait")},
    {"warplight kernels --plan", N_("what measuring costs on each GPU, without one")},
    {"warplight kernels report.ncu-rep", N_("what limits the kernels that ran, and what to change")},
    {"warplight kernels report.ncu-rep ./app --kernel reduce", N_("everything about one of them")},
    {"warplight kernels report.ncu-rep --format json -o before.json", N_("keep it, to compare with")},
    {"warplight kernels --baseline before.json after.ncu-rep --fail-over 5",
     N_("what changed; in a test: fail if a kernel got slower by more than 5 %")},
    {"warplight kernels ~/.triton/cache --sort spills", N_("what Triton compiled, most spilled first")},
    {"warplight kernels lib.so --kernel '*gemm*' --format json",
     N_("some kernels of a library, for a program")},
    {NULL, NULL},
};

static const struct exit_code exit_codes[] = {
    {1, N_("--gpu: it cannot run some of the kernels; --fail-over: one got slower")},
    {0, N_("with PROGRAM: what it ended with is passed on; 128 + N when signal N ended it")},
    {0, NULL},
};
static const char *const see_also[] = {"occupancy", "report", "explain", NULL};

const struct command command_kernels = {
    .name = "kernels",
    .synopsis = N_("FILE… | -- PROGRAM [ARGUMENT…]"),
    .summary = N_("say what kernels take of a GPU, and what in them is slow"),
    .description = N_(
        "Reads the GPU code of programs, libraries, PyTorch extensions, objects, archives, fatbins, "
        "cubins and PTX, or of a folder such as Triton's cache, without a GPU and without NVIDIA's "
        "tools: for each kernel and architecture its registers, shared memory, barriers, stack, "
        "register spills with the source lines, theoretical occupancy, and which GPUs can run it. Of "
        "reports of Nsight Compute and nvprof it says what limits each kernel that ran and what to change; a "
        "program named beside them adds what its code says. With -- it runs PROGRAM unchanged, measures its "
        "kernels with hardware counters in one pass, without replay, and says the same of them."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_max = -1,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_kernels,
};
