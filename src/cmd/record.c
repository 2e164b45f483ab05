/* warplight record: what a program did on the GPU, recorded live. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/json.h"
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
    int64_t keep_ns;
    const char *on_slow_step;
    const char *step;
};

enum graph_trace { GRAPH_WHOLE, GRAPH_NODE };
static const char *const graph_trace_names[] = {"graph", "node", NULL};

#define AT(field) offsetof(struct record_args, field)
static const struct option options[] = {
    {"output", 'o', OPTION_FILE, N_("FILE"),
     N_("write the recording to FILE (default: PROGRAM-TIME.wlt here)"), AT(output), NULL},
    {"force", 0, OPTION_FLAG, NULL, N_("overwrite FILE if it exists"), AT(force), NULL},
    {"no-report", 0, OPTION_FLAG, NULL, N_("only record; print no report at the end"), AT(no_report), NULL},
    {"paused", 0, OPTION_FLAG, NULL, N_("record only once 'warplight ctl start' says so"), AT(paused), NULL},
    {"torch-ops", 0, OPTION_FLAG, NULL, N_("also record PyTorch's operators"), AT(torch_ops), NULL},
    {"graph-trace", 0, OPTION_CHOICE, N_("HOW"),
     N_("CUDA graphs: graph records each launch as one, node every kernel in them (default: graph)"),
     AT(graph_trace), graph_trace_names},
    {"no-memory", 0, OPTION_FLAG, NULL, N_("record no allocations and no traffic of managed memory"),
     AT(no_memory), NULL},
    {"host-sampling", 0, OPTION_COUNT, N_("HZ"),
     N_("look at host threads and Python stacks HZ times a second, 0 to 1000 (default: 200; 0: not at all)"),
     AT(host_sampling), NULL},
    {"keep", 0, OPTION_DURATION, N_("TIME"),
     N_("flight recorder: keep only the last TIME, in memory, and write snapshots of it"), AT(keep_ns), NULL},
    {"on-slow-step", 0, OPTION_TEXT, N_("RATIO|TIME"),
     N_("with --keep: a snapshot when a step takes longer than TIME (500ms) or RATIO (2x) times the median"),
     AT(on_slow_step), NULL},
    {"step", 0, OPTION_TEXT, N_("NAME"), N_("which NVTX range is a step (default: those that repeat)"),
     AT(step), NULL},
    OPTION_END,
};
#undef AT

static const struct record_args defaults = {.keep_ns = UNKNOWN, .host_sampling = 200};

/* ---- the command -----------------------------------------------------------------------------------------
 */

static void say_why_nothing(const struct session *s, const char *program)
{
    if (target_is_privileged(program))
        fprintf(stderr,
                _("warplight: %s runs with other rights than yours (set-user-ID or capabilities), so the "
                  "system loads no "
                  "library into it: run it as its owner, or a copy without them\n"),
                program);
    else if (!collect_failure(&s->collect))
        fprintf(stderr, "%s", _("warplight: no process used CUDA, so there is nothing to report\n"));
}

static void say_what_was_recorded(const struct cli *cli, struct session *s)
{
    progress_erase(&s->progress);
    if (cli->globals.quiet)
        return;
    const char *failure = collect_failure(&s->collect);
    if (failure)
        fprintf(stderr, _("warplight: not everything was recorded: %s\n"), failure);
    if (s->automatic.left_out > 0)
        fprintf(stderr, _("warplight: %lld more slow steps came too soon after a snapshot to get one\n"),
                (long long)s->automatic.left_out);
    if (collect_process_count(&s->collect) == 0)
        say_why_nothing(s, cli->operands[0]);
    fprintf(stderr, _("warplight: %lld records in %s\n"), (long long)s->collect.records,
            recording_file(&s->recording));
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

/* "2x" or "500ms". */
static bool read_slow_step(const char *text, struct session_options *session)
{
    size_t length = strlen(text);
    if (length > 1 && text[length - 1] == 'x')
        return json_to_double((struct json_text){text, length - 1}, &session->slow_ratio) &&
               session->slow_ratio >= 1;
    return option_duration(text, &session->slow_ns) && session->slow_ns > 0;
}

static int take_slow_step(const struct record_args *args, struct session_options *session, struct err *err)
{
    if (args->step && !args->on_slow_step)
        return err_set(err, ERR_USAGE, NULL, -1, _("give --on-slow-step too"),
                       _("--step alone does nothing"));
    if (!args->on_slow_step)
        return 0;
    if (args->keep_ns == UNKNOWN)
        return err_set(err, ERR_USAGE, NULL, -1, _("give --keep too, such as --keep 30s"),
                       _("--on-slow-step writes snapshots of what is kept"));
    if (read_slow_step(args->on_slow_step, session))
        return 0;
    return err_set(err, ERR_USAGE, NULL, -1, _("give a ratio, such as 2x, or a time, such as 500ms"),
                   _("--%s cannot be '%s'"), "on-slow-step", args->on_slow_step);
}

static int run_record(struct cli *cli, const void *values, struct err *err)
{
    const struct record_args *args = values;
    struct session s;
    struct session_options session = {
        .recording = {.output = args->output,
                      .force = args->force,
                      .keep_ns = args->keep_ns == UNKNOWN ? 0 : args->keep_ns},
        .step = args->step,
        .paused = args->paused,
        .torch_ops = args->torch_ops,
        .graph_nodes = args->graph_trace == GRAPH_NODE,
        .no_memory = args->no_memory,
        .host_sampling_hz = args->host_sampling,
    };
    if (args->host_sampling > HOST_SAMPLING_MAX_HZ)
        return err_set(err, ERR_USAGE, "--host-sampling", -1, NULL, _("at most %d times a second"),
                       HOST_SAMPLING_MAX_HZ);
    if (args->keep_ns == 0)
        return err_set(err, ERR_USAGE, NULL, -1, _("give a time, such as 30s"), _("--%s cannot be '%s'"),
                       "keep", "0");
    if (take_slow_step(args, &session, err) < 0)
        return ERR_USAGE;
    char **argv = mem_zalloc((size_t)cli->operand_count + 1, sizeof *argv);
    memcpy(argv, cli->operands, (size_t)cli->operand_count * sizeof *argv);
    int rc = session_run(&s, cli, &session, argv, err);
    if (rc == 0) {
        say_what_was_recorded(cli, &s);
        bool report = !args->no_report && s.collect.records > 0;
        rc = report ? print_report(cli, recording_file(&s.recording), err) : 0;
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
    {"warplight record --keep 30s --on-slow-step 2x -- python train.py",
     N_("keep the last 30 s, and write them when a step takes twice as long as usual")},
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
