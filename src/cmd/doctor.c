/* warplight doctor: what is wrong with the GPUs, from what people paste. */
#include <string.h>

#include "analyze/diagnose.h"
#include "base/i18n.h"
#include "cmd/command.h"
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
    bool redact;
};

#define AT(field) offsetof(struct doctor_args, field)
static const struct option options[] = {
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text or json (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
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

static int diagnose_files(struct diagnosis *d, struct logbook *book, const struct cli *cli, struct err *err)
{
    for (int i = 0; i < cli->operand_count; i++) {
        int rc = logs_read(book, cli->operands[i], err);
        if (rc < 0)
            return rc;
    }
    diagnose_logbook(d, book);
    return 0;
}

static int run_doctor(struct cli *cli, const void *values, struct err *err)
{
    const struct doctor_args *args = values;
    struct diagnosis d = {0};
    struct logbook book = {0};
    FILE *out = NULL;
    if (cli->operand_count == 0)
        return command_missing(cli->command, err);
    int rc = diagnose_files(&d, &book, cli, err);
    if (rc == 0 && args->redact)
        redact_diagnosis(&d, book.hosts.at, book.hosts.count);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print(cli, out, &d, args->format);
        rc = close_output(out, args->output, err);
    }
    if (rc == 0 && diagnosis_count(&d, CHECK_FAIL) > 0)
        rc = EXIT_FAILURE_FOUND;
    diagnosis_release(&d);
    logbook_release(&book);
    return rc;
}

static const struct exit_code exit_codes[] = {
    {EXIT_FAILURE_FOUND, N_("something fails")},
    {0, NULL},
};

static const struct example examples[] = {
    {"sudo dmesg | warplight doctor -", N_("what the kernel log says of the GPUs")},
    {"warplight doctor nvidia-bug-report.log.gz job.log", N_("several files at once: one answer")},
    {"nvidia-smi -q | warplight doctor - --redact", N_("an answer that can be shown to others")},
    {NULL, NULL},
};

static const char *const see_also[] = {"explain", "info", NULL};

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = N_("FILE…"),
    .summary = N_("say what is wrong with the GPUs, from logs and output of nvidia-smi"),
    .description =
        N_("Reads what people paste: kernel logs and journals with Xid errors, nvidia-smi (the table, -q as "
           "text and XML, --query-gpu, dmon), nvidia-bug-report.log, messages of CUDA, PyTorch and NCCL, "
           "kubectl describe, chrome://gpu and GPU-Z logs, in any mixture; '-' is standard input. Says what "
           "is the cause and what only follows from it, shows the lines that prove it, and what to do."),
    .options = options,
    .defaults_size = sizeof(struct doctor_args),
    .operand_kind = OPERAND_FILE,
    .operands_max = -1,
    .examples = examples,
    .exit_codes = exit_codes,
    .see_also = see_also,
    .run = run_doctor,
};
