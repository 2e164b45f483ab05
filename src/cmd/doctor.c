/* warplight doctor: what is wrong with the GPUs, of this machine or from what people paste. */
#include <string.h>

#include "analyze/diagnose.h"
#include "base/i18n.h"
#include "cmd/command.h"
#include "cmd/doctor_live.h"
#include "cmd/read_run.h"
#include "import/logs/logs.h"
#include "model/redact.h"
#include "view/view.h"

enum format { FORMAT_TEXT, FORMAT_JSON };
enum { EXIT_FAILURE_FOUND = 1 };

static const char *const format_names[] = {"text", "json", NULL};

struct doctor_args {
    int format;
    const char *output;
    int64_t pid;
    bool redact;
};

static const struct doctor_args defaults = {.pid = UNKNOWN};

#define AT(field) offsetof(struct doctor_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text or json (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
    {"pid", 'p', OPTION_COUNT, N_("PID"), N_("examine the running program PID, too"), AT(pid), NULL},
    {"redact", 0, OPTION_FLAG, NULL,
     N_("leave out serial numbers, UUIDs, host and user names, IP and MAC addresses"), AT(redact), NULL},
    OPTION_END,
};
#undef AT

static void print(const struct cli *cli, FILE *out, const struct diagnosis *d, int format)
{
    if (format == FORMAT_JSON) {
        json_diagnosis(out, d);
        return;
    }
    struct screen s;
    cli_screen(cli, &s, out);
    text_diagnosis(&s, d);
    screen_flush(&s);
    screen_release(&s);
}

/* A file that cannot be read is part of the answer, as long as another one can; *unread counts them. */
static int diagnose_files(struct diagnosis *d, struct logbook *book, const struct cli *cli, int *unread,
                          struct err *err)
{
    for (int i = 0; i < cli->operand_count; i++) {
        struct err why = {0};
        if (logs_read(book, cli->operands[i], &why) == 0)
            continue;
        diagnose_unread(d, &why);
        if (++*unread == 1 && err)
            *err = why;
        if (*unread == cli->operand_count)
            return err ? (int)err->code : ERR_INPUT;
    }
    diagnose_logbook(d, book);
    return 0;
}

/* This machine, and the program that is named. */
static int diagnose_machine(struct diagnosis *d, struct logbook *book, const struct cli *cli,
                            const struct doctor_args *args, struct err *err)
{
    if (args->pid != UNKNOWN && cli->operand_count > 0)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--pid goes with no FILE and no PROGRAM"));
    if (args->pid == 0 || args->pid > INT32_MAX)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("PID is the number of a process"));
    doctor_live(d, book, args->pid == UNKNOWN ? 0 : args->pid,
                cli->operand_count > 0 ? cli->operands[0] : NULL);
    diagnose_logbook(d, book);
    return 0;
}

static int run_doctor(struct cli *cli, const void *values, struct err *err)
{
    const struct doctor_args *args = values;
    struct diagnosis d = {0};
    struct logbook book = {0};
    FILE *out = NULL;
    bool live = cli->operand_count == 0 || cli->dashes == 0 || args->pid != UNKNOWN;
    int unread = 0;
    int rc =
        live ? diagnose_machine(&d, &book, cli, args, err) : diagnose_files(&d, &book, cli, &unread, err);
    if (rc == 0 && args->redact)
        redact_diagnosis(&d, book.hosts.at, book.hosts.count);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print(cli, out, &d, args->format);
        rc = close_output(out, args->output, err);
    }
    if (rc == 0)
        rc = diagnosis_count(&d, CHECK_FAIL) > 0 ? EXIT_FAILURE_FOUND : unread > 0 ? -ERR_INPUT : 0;
    diagnosis_release(&d);
    logbook_release(&book);
    return rc;
}

static const struct exit_code exit_codes[] = {
    {EXIT_FAILURE_FOUND, N_("something fails")},
    {0, NULL},
};

static const struct example examples[] = {
    {"warplight doctor", N_("what is wrong with this machine's GPUs, or why none can be used")},
    {"warplight doctor -- python train.py", N_("what would keep that program from a GPU")},
    {"warplight doctor --pid 4711", N_("what keeps a running program from its GPU")},
    {"sudo dmesg | warplight doctor -", N_("what the kernel log says of the GPUs")},
    {"warplight doctor nvidia-bug-report.log.gz job.log", N_("several files at once: one answer")},
    {"nvidia-smi -q | warplight doctor - --redact", N_("an answer that can be shown to others")},
    {NULL, NULL},
};

static const char *const see_also[] = {"explain", "info", NULL};

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = N_("[FILE… | -- PROGRAM]"),
    .summary = N_("say what is wrong with the GPUs of this machine, or in logs"),
    .description = N_(
        "Without FILE looks at this machine: its GPUs, drivers, libraries and limits, and what of them "
        "keeps a program from a GPU; as any user, within a second, and without waking a GPU. After '--' a "
        "PROGRAM is named, which is looked at and not started. Of FILEs reads what people paste: kernel "
        "logs and journals with Xid errors, nvidia-smi (the table, -q as "
        "text and XML, --query-gpu, dmon, pmon), nvidia-bug-report.log, messages of CUDA, PyTorch and NCCL, "
        "kubectl describe, chrome://gpu, GPU-Z and Afterburner logs, in any mixture; '-' is standard "
        "input. Says what "
        "is the cause and what only follows from it, shows the lines that prove it, and what to do."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof(struct doctor_args),
    .operand_kind = OPERAND_FILE,
    .operands_max = -1,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_doctor,
};
