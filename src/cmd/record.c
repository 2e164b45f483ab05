/* warplight record: what a program did on the GPU, recorded live. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "cmd/read_run.h"
#include "cmd/session.h"
#include "view/view.h"

struct record_args {
    const char *output;
    bool force;
    bool no_report;
    bool paused;
    bool torch_ops;
    int graph_trace;
    bool no_memory;
    int64_t host_sampling;
};

enum graph_trace { GRAPH_AUTO, GRAPH_WHOLE, GRAPH_NODE };
static const char *const graph_trace_names[] = {"auto", "graph", "node", NULL};

#define AT(field) offsetof(struct record_args, field)
static const struct option options[] = {
    {"output", 'o', OPTION_FILE, N_("FILE"),
     N_("write the recording to FILE (default: PROGRAM-TIME.wlt here)"), AT(output), NULL},
    {"force", 0, OPTION_FLAG, NULL, N_("overwrite FILE if it exists"), AT(force), NULL},
    {"no-report", 0, OPTION_FLAG, NULL, N_("only record; print no report at the end"), AT(no_report), NULL},
    {"paused", 0, OPTION_FLAG, NULL, N_("record only once 'warplight ctl start' says so"), AT(paused), NULL},
    {"torch-ops", 0, OPTION_FLAG, NULL, N_("also record PyTorch's operators"), AT(torch_ops), NULL},
    {"graph-trace", 0, OPTION_CHOICE, N_("HOW"),
     N_("CUDA graphs: node records every kernel in them, graph each launch as one, auto the kernels at "
        "first, "
        "then launches (default: auto)"),
     AT(graph_trace), graph_trace_names},
    {"no-memory", 0, OPTION_FLAG, NULL, N_("record no allocations and no traffic of managed memory"),
     AT(no_memory), NULL},
    {"host-sampling", 0, OPTION_COUNT, N_("HZ"),
     N_("look at host threads and Python stacks HZ times a second, 0 to 1000 (default: 200; 0: not at all)"),
     AT(host_sampling), NULL},
    OPTION_END,
};
#undef AT

static const struct record_args defaults = {.host_sampling = 200};

/* ---- the command -----------------------------------------------------------------------------------------
 */

static void say_what_was_recorded(const struct cli *cli, const struct session *s)
{
    if (s->options.live)
        fprintf(stderr, "\r\033[K");
    if (cli->globals.quiet)
        return;
    const char *failure = collect_failure(&s->collect);
    if (failure)
        fprintf(stderr, _("warplight: not everything was recorded: %s\n"), failure);
    if (collect_process_count(&s->collect) == 0)
        fprintf(stderr, "%s", _("warplight: no process used CUDA, so there is nothing to report\n"));
    fprintf(stderr, _("warplight: %lld records in %s\n"), (long long)s->collect.records,
            str_text(&s->recording.path));
}

static int print_report(struct cli *cli, const char *path, struct err *err)
{
    struct run run;
    struct report report = {0};
    struct screen screen;
    char *paths[] = {(char *)path};
    int rc = read_run(&run, cli, paths, 1, "wlt", err);
    if (rc == 0) {
        report_build(&report, &run, NULL);
        cli_screen(cli, &screen, stdout);
        text_report(&screen, &report, &(struct view_options){.limit = UNKNOWN});
        rc = cli_screen_end(&screen, _("standard output"), err);
    }
    report_release(&report);
    run_release(&run);
    return rc;
}

static int run_record(struct cli *cli, const void *values, struct err *err)
{
    const struct record_args *args = values;
    struct session s;
    struct session_options session = {
        .output = args->output,
        .force = args->force,
        .paused = args->paused,
        .torch_ops = args->torch_ops,
        .graph_nodes = args->graph_trace == GRAPH_NODE,
        .graph_whole = args->graph_trace == GRAPH_WHOLE,
        .no_memory = args->no_memory,
        .host_sampling_hz = args->host_sampling,
        .live = isatty(STDERR_FILENO) && !cli->globals.quiet && !cli->globals.no_progress,
    };
    if (args->host_sampling > HOST_SAMPLING_MAX_HZ)
        return err_set(err, ERR_USAGE, "--host-sampling", -1, NULL, _("at most %d times a second"),
                       HOST_SAMPLING_MAX_HZ);
    char **argv = mem_zalloc((size_t)cli->operand_count + 1, sizeof *argv);
    memcpy(argv, cli->operands, (size_t)cli->operand_count * sizeof *argv);
    int rc = session_run(&s, &session, argv, err);
    if (rc == 0) {
        say_what_was_recorded(cli, &s);
        bool report = !args->no_report && s.collect.records > 0;
        rc = report ? print_report(cli, str_text(&s.recording.path), err) : 0;
        rc = rc == 0 ? target_exit_code(&s.target) : rc;
    }
    session_release(&s);
    free(argv);
    return rc;
}

static const struct example examples[] = {
    {"warplight record -- python train.py", N_("record a program, then print the report")},
    {"warplight record -o before.wlt --no-report -- ./app 1024", N_("only record, into before.wlt")},
    {"warplight record --paused -- python train.py", N_("run at full speed until 'warplight ctl start'")},
    {NULL, NULL},
};

static const struct exit_code exit_codes[] = {
    {0, N_("what the program ended with is passed on; 128 + N when signal N ended it")},
    {0, NULL},
};

static const char *const see_also[] = {"ctl", "report", "info", NULL};

const struct command command_record = {
    .name = "record",
    .synopsis = N_("[--] PROGRAM [ARGUMENT…]"),
    .summary = N_("run a program and record what it does on the GPU"),
    .description = N_("Runs PROGRAM unchanged and records its kernels, copies, API calls and waits through "
                      "CUPTI, of all the "
                      "processes that it starts. The recording survives whatever the program does: what it "
                      "handed over is in "
                      "the file even if it is killed. At the end the report is printed."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_min = 1,
    .operands_max = -1,
    .stop_at_operand = true,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_record,
};
