/* warplight export: the run in the format of another tool. */
#include "export/export.h"

#include <string.h>

#include "base/i18n.h"
#include "cmd/read_run.h"
#include "cmd/suggest.h"
#include "cmd/window.h"

struct export_args {
    const char *format;
    const char *output;
    struct window_args window;
    const char *input_format;
    int weight; /* enum folded_weight */
};

static const struct export_args defaults = {.output = "-", .window = WINDOW_ARGS_DEFAULT};
static const char *const weight_names[] = {"device", "host", NULL};

#define AT(field) offsetof(struct export_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_TEXT, N_("FORMAT"),
     N_("perfetto (ui.perfetto.dev), chrome (chrome://tracing, Perfetto), folded (flame graphs, speedscope) "
        "or wlt (Warplight itself); default: what the name of the output says"),
     AT(format), NULL},
    {"output", 'o', OPTION_FILE, N_("FILE"),
     N_("write to FILE, not to standard output; gzip-compressed if it ends in .gz"), AT(output), NULL},
    WINDOW_OPTIONS(struct export_args, window),
    {"weight", 0, OPTION_CHOICE, N_("WHAT"),
     N_("folded only: the width of a frame is device time or host time (default: device)"), AT(weight),
     weight_names},
    {"input-format", 0, OPTION_TEXT, N_("NAME"),
     N_("read the files as this format instead of looking: chrome, nsys, wlt, …"), AT(input_format), NULL},
    OPTION_END,
};
#undef AT

static void list_exporters(struct str *out)
{
    for (size_t i = 0; exporters[i]; i++)
        str_addf(out, "%s%s", i ? ", " : "", exporters[i]->name);
}

static int choose_exporter(const struct exporter **out, const struct export_args *args, struct err *err)
{
    *out = args->format ? exporter_named(args->format) : exporter_for_path(args->output);
    if (*out)
        return 0;
    struct suggestion best = {0};
    for (size_t i = 0; args->format && exporters[i]; i++)
        suggest_offer(&best, args->format, exporters[i]->name);
    struct str hint = {0}, names = {0};
    list_exporters(&names);
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    else
        str_addf(&hint, args->format ? _("choose from %s") : _("add --format with one of %s"),
                 str_text(&names));
    int rc = args->format ? err_set(err, ERR_USAGE, NULL, -1, str_text(&hint),
                                    _("there is no export format '%s'"), args->format)
                          : err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("no export format given"));
    str_release(&hint);
    str_release(&names);
    return rc;
}

static int run_export(struct cli *cli, const void *values, struct err *err)
{
    const struct export_args *args = values;
    const struct exporter *exporter;
    int rc = choose_exporter(&exporter, args, err);
    if (rc == 0)
        rc = check_output(args->output, cli->operands, cli->operand_count, err);
    if (rc < 0)
        return rc;
    struct run run;
    struct report_options window;
    rc = read_run(&run, cli, cli->operands, cli->operand_count, args->input_format, err);
    if (rc == 0)
        rc = check_timeline(&run, cli->operands[0], err);
    if (rc == 0)
        rc = window_resolve(&window, &run, &args->window, err);
    if (rc == 0) {
        struct export_options export = {.weight = (enum folded_weight)args->weight};
        if (window.has_from || window.has_to)
            export.window = (struct interval){window.from_ns, window.to_ns};
        rc = export_file(&run, exporter, &export, args->output, err);
    }
    run_release(&run);
    return rc;
}

static const struct example examples[] = {
    {"warplight export trace.json.gz -o trace.pftrace", N_("a Perfetto trace, for ui.perfetto.dev")},
    {"warplight export trace.json.gz --format chrome -o clean.json.gz",
     N_("strict Chrome JSON: what other tools choke on is repaired")},
    {"warplight export trace.json.gz --format folded", N_("folded stacks of GPU time, for a flame graph")},
    {NULL, NULL},
};

static const char *const see_also[] = {"report", "info", NULL};

const struct command command_export = {
    .name = "export",
    .synopsis = N_("FILE…"),
    .summary = N_("write the run for another tool: Perfetto, Chrome, flame graphs"),
    .description =
        N_("Reads recordings as 'warplight report' does and writes them as one trace for another tool. "
           "Several files become one trace on one clock."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_min = 1,
    .operands_max = -1,
    .examples = examples,
    .see_also = see_also,
    .run = run_export,
};
