/* warplight report: where the GPU's time went, why, and what to change. */
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "cmd/read_run.h"
#include "cmd/suggest.h"
#include "cmd/window.h"
#include "view/view.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const char *const format_names[] = {"text", "json", "csv", NULL};

struct report_args {
    int format;
    const char *output;
    uint64_t sections;
    int64_t limit;
    struct window_args window;
    const char *input_format;
    bool full_names;
    bool list_findings;
    const char *fail_on;
};

static const struct report_args defaults = {.limit = UNKNOWN, .window = WINDOW_ARGS_DEFAULT};

#define AT(field) offsetof(struct report_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text, json or csv (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
    {"section", 's', OPTION_SET, N_("NAME,…"),
     N_("print whole sections: ledger, findings, gaps, culprits, kernels, copies, calls, launches, "
        "operators, steps, "
        "streams, concurrency, memory, comms, ranks, amdahl, sources, losses, facts, or all"),
     AT(sections), section_names},
    {"limit", 'n', OPTION_COUNT, N_("ROWS"), N_("at most that many rows of a table"), AT(limit), NULL},
    WINDOW_OPTIONS(struct report_args, window),
    {"full-names", 0, OPTION_FLAG, NULL, N_("kernel names as recorded, not shortened"), AT(full_names), NULL},
    {"input-format", 0, OPTION_TEXT, N_("NAME"),
     N_("read the files as this format instead of looking: chrome, nsys, wlt, …"), AT(input_format), NULL},
    {"fail-on", 0, OPTION_TEXT, N_("WHAT"),
     N_("exit with 1 if this was found: the id of a finding, or warn or critical for any of that severity"),
     AT(fail_on), NULL},
    {"list-findings", 0, OPTION_FLAG, NULL, N_("list what can be found, and stop"), AT(list_findings), NULL},
    OPTION_END,
};
#undef AT

/* ---- findings ------------------------------------------------------------------------------------------ */

static int list_findings(const struct cli *cli, struct err *err)
{
    size_t count;
    const struct finding_info *list = finding_list(&count);
    struct screen s;
    cli_screen(cli, &s, stdout);
    for (size_t i = 0; i < count; i++) {
        screen_cell(&s, STYLE_BOLD, list[i].id, 26, false);
        str_pad(&s.text, ' ', 2);
        screen_wrap(&s, STYLE_PLAIN, _(list[i].meaning), 28, 28);
    }
    return cli_screen_end(&s, _("standard output"), err);
}

static int check_fail_on(const char *what, struct err *err)
{
    if (!what || strcmp(what, "warn") == 0 || strcmp(what, "critical") == 0)
        return 0;
    struct suggestion best = {0};
    size_t count;
    const struct finding_info *list = finding_list(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].id, what) == 0)
            return 0;
        suggest_offer(&best, what, list[i].id);
    }
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else
        str_puts(&hint, _("'warplight report --list-findings' lists them"));
    int rc = err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("there is no finding '%s'"), what);
    str_release(&hint);
    return rc;
}

static bool fails(const struct report *report, const char *what)
{
    if (!what)
        return false;
    vec_each (&report->findings, finding) {
        if (strcmp(what, finding->id) == 0)
            return true;
        if (strcmp(what, "warn") == 0 && finding->severity >= SEVERITY_WARN)
            return true;
        if (strcmp(what, "critical") == 0 && finding->severity == SEVERITY_CRITICAL)
            return true;
    }
    return false;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static void print(const struct cli *cli, FILE *out, const struct report *report,
                  const struct report_args *args)
{
    /* "all" stands behind the last section. */
    uint64_t chosen = args->sections & SECTION_BIT(SECTION_COUNT) ? SECTIONS_ALL : args->sections;
    struct view_options view = {.sections = chosen, .limit = args->limit, .full_names = args->full_names};
    struct screen s;
    switch ((enum format)args->format) {
    case FORMAT_TEXT:
        cli_screen(cli, &s, out);
        text_report(&s, report, &view);
        screen_flush(&s);
        screen_release(&s);
        break;
    case FORMAT_JSON:
        json_report(out, report, &view);
        break;
    case FORMAT_CSV:
        csv_report(out, report, &view);
        break;
    }
}

static int run_report(struct cli *cli, const void *values, struct err *err)
{
    const struct report_args *args = values;
    if (args->list_findings)
        return list_findings(cli, err);
    if (cli->operand_count == 0)
        return command_missing(cli->command, err);
    int rc = check_fail_on(args->fail_on, err);
    if (rc < 0)
        return rc;
    struct run run;
    struct report report = {0};
    FILE *out = NULL;
    rc = read_run(&run, cli, cli->operands, cli->operand_count, args->input_format, err);
    if (rc == 0)
        rc = check_timeline(&run, cli->operands[0], err);
    if (rc == 0)
        rc = window_report(&report, &run, &args->window, err);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print(cli, out, &report, args);
        rc = close_output(out, args->output, err);
    }
    if (rc == 0 && fails(&report, args->fail_on))
        rc = 1;
    report_release(&report);
    run_release(&run);
    return rc;
}

static const struct example examples[] = {
    {"warplight report trace.json.gz", N_("the answer, and where the time went, on one screen")},
    {"warplight report trace.json.gz --section kernels --limit 50", N_("the 50 kernels that took most time")},
    {"warplight report trace.json.gz --from 20% --to 80%", N_("without the start and the end of the run")},
    {"warplight report trace.json.gz --format json -o report.json", N_("everything, for a program")},
    {"warplight report trace.json.gz --fail-on warn --quiet",
     N_("in a test: fail if something is badly wrong")},
    {NULL, NULL},
};

static const struct exit_code exit_codes[] = {{1, N_("--fail-on: it was found")}, {0, NULL}};
static const char *const see_also[] = {"explain", "export", NULL};

const struct command command_report = {
    .name = "report",
    .synopsis = N_("FILE…"),
    .summary = N_("say where the GPU's time went, why, and what to change"),
    .description = N_(
        "Reads recordings of torch.profiler, Nsight Systems and other tools, compressed or not, and says "
        "what "
        "costs most time, who causes it, what fixing it would save and how. Every nanosecond of the GPU's "
        "time is "
        "booked to exactly one account. Several files are taken as one run, such as one file for each rank."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_max = -1,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_report,
};
