/* warplight occupancy: how many blocks fit on an SM, what stops one more, and what would change it. */
#include <string.h>

#include "analyze/codes.h"
#include "base/i18n.h"
#include "cmd/codes.h"
#include "cmd/read_run.h"
#include "view/view.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *const format_names[] = {"text", "json", NULL};

struct occupancy_args {
    int format;
    const char *output;
    const char *block;
    int64_t registers;
    int64_t shared;
    int64_t barriers;
    int64_t cluster;
    const char *gpu;
    const char *cc;
    const char *kernel;
};

static const struct occupancy_args defaults = {.registers = UNKNOWN, .shared = UNKNOWN, .cluster = UNKNOWN};

#define AT(field) offsetof(struct occupancy_args, field)
static const struct option options[] = {
    {"block", 'b', OPTION_TEXT, N_("THREADS"), N_("threads of a block: 256, 16x16 or 8x8x4"), AT(block),
     NULL},
    {"regs", 'r', OPTION_COUNT, N_("COUNT"), N_("registers of a thread"), AT(registers), NULL},
    {"shared", 's', OPTION_BYTES, N_("BYTES"),
     N_("shared memory of a block, static and dynamic; with FILE: dynamic (default: 0)"), AT(shared), NULL},
    {"barriers", 0, OPTION_COUNT, N_("COUNT"), N_("named barriers of a block (default: 0)"), AT(barriers),
     NULL},
    {"cluster", 0, OPTION_COUNT, N_("BLOCKS"), N_("blocks of a cluster"), AT(cluster), NULL},
    {"cc", 0, OPTION_TEXT, N_("X.Y"), N_("compute capability of the GPU (default: all that are known)"),
     AT(cc), NULL},
    {"gpu", 'g', OPTION_TEXT, N_("ARCH"), N_("the same as --cc: sm_90"), AT(gpu), NULL},
    {"kernel", 'k', OPTION_TEXT, N_("PATTERN"),
     N_("with FILE: only kernels whose name holds PATTERN, or is like it if it has * or ?"), AT(kernel),
     NULL},
    {"format", 'f', OPTION_CHOICE, N_("FORMAT"), N_("text or json (default: text)"), AT(format),
     format_names},
    {"output", 'o', OPTION_FILE, N_("FILE"), N_("write to FILE, not to standard output"), AT(output), NULL},
    OPTION_END,
};
#undef AT

struct reports {
    VEC(struct occupancy_report) list;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "256", "16x16", "8x8x4"; text NULL: UNKNOWN. */
static int parse_block(const char *text, int64_t *threads, struct err *err)
{
    enum { AXES = 3, LIMIT = 1 << 16 };
    const char *p = text;
    *threads = text ? 1 : UNKNOWN;
    for (int axis = 0; text && axis < AXES; axis++) {
        int64_t number = 0;
        while (is_digit(*p) && number < LIMIT)
            number = number * 10 + (*p++ - '0');
        *threads = number < LIMIT && *threads < LIMIT ? *threads * number : 0;
        if (*p != 'x' || !is_digit(p[1]))
            break;
        p++;
    }
    if (text && (*p || *threads == 0))
        return err_set(err, ERR_USAGE, NULL, -1, _("give a number of threads, such as 256 or 16x16"),
                       _("--%s cannot be '%s'"), "block", text);
    return 0;
}

static int unknown_capability(int32_t cc, struct err *err)
{
    return err_set(err, ERR_USAGE, NULL, -1, _("known are those from 5.0 to 12.1"),
                   _("the limits of compute capability %d.%d are not known"), cc / 10, cc % 10);
}

/* ---- numbers on the command line ----------------------------------------------------------------------- */

static int build_from_numbers(struct reports *reports, const struct occupancy_args *args, int64_t block,
                              int32_t cc, struct err *err)
{
    if (block == UNKNOWN || args->registers == UNKNOWN || args->registers == 0)
        return err_set(err, ERR_USAGE, NULL, -1,
                       _("'warplight kernels FILE' lists what the kernels of a program take"),
                       _("--block and --regs are needed, or a FILE"));
    struct occupancy_launch launch = {block, args->registers, args->shared == UNKNOWN ? 0 : args->shared,
                                      args->barriers};
    int count;
    const int32_t *all = occupancy_capabilities(&count);
    for (int i = 0; i < (cc ? 1 : count); i++) {
        struct occupancy_report *report = vec_new(&reports->list);
        if (!occupancy_build(report, cc ? cc : all[i], &launch))
            return unknown_capability(cc, err);
        report->cluster = args->cluster;
    }
    return 0;
}

/* ---- kernels of a binary ------------------------------------------------------------------------------- */

/* A kernel on the GPU that was asked for, if its code runs there, else on that of its code. */
static int add_code(struct reports *reports, const struct run *run, const struct code_row *row,
                    const struct occupancy_args *args, const struct code_options *wanted, struct err *err)
{
    const struct kernel_code *code = &row->kernel;
    const char *origin;
    struct occupancy_launch launch = code_launch(code, wanted, &origin);
    if (code->is_ptx || code->registers_per_thread == UNKNOWN || row->fit == FIT_NO)
        return 0;
    struct occupancy_report *report = vec_new(&reports->list);
    int32_t cc = wanted->cc ? wanted->cc : code->sm;
    if (!occupancy_build(report, cc, &launch))
        return unknown_capability(cc, err);
    report->name = run_text(run, code->demangled);
    report->architecture = row->architecture;
    report->cluster = args->cluster;
    for (int i = 0; i < 3 && args->cluster == UNKNOWN && code->cluster[0] != UNKNOWN; i++)
        report->cluster = (report->cluster == UNKNOWN ? 1 : report->cluster) * (code->cluster[i] & UINT8_MAX);
    return 0;
}

static int build_from_files(struct reports *reports, struct run *run, struct report *codes, struct cli *cli,
                            const struct occupancy_args *args, const struct code_options *wanted,
                            struct err *err)
{
    int rc = codes_read(run, cli->operands, cli->operand_count, err);
    if (rc < 0)
        return rc;
    codes_build(codes, run, wanted);
    if (codes->codes.count == 0)
        return codes_none(wanted->kernel, err);
    vec_each (&codes->codes, row) {
        rc = add_code(reports, run, row, args, wanted, err);
        if (rc < 0)
            return rc;
    }
    if (reports->list.count == 0)
        return err_set(err, ERR_INPUT, cli->operands[0], -1, _("PTX gets its registers when it is compiled"),
                       _("there is no machine code that this GPU runs"));
    return 0;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static void print(const struct cli *cli, FILE *out, const struct reports *reports,
                  const struct occupancy_args *args)
{
    if (args->format == FORMAT_JSON) {
        json_occupancies(out, reports->list.at, reports->list.count);
        return;
    }
    struct screen s;
    cli_screen(cli, &s, out);
    if (cli->operand_count == 0 && reports->list.count > 1)
        text_occupancies(&s, reports->list.at, reports->list.count);
    else
        for (size_t i = 0; i < reports->list.count; i++) {
            if (i > 0)
                screen_newline(&s);
            text_occupancy(&s, &reports->list.at[i]);
        }
    screen_flush(&s);
    screen_release(&s);
}

static int run_occupancy(struct cli *cli, const void *values, struct err *err)
{
    const struct occupancy_args *args = values;
    struct code_options wanted = {.kernel = args->kernel, .shared = args->shared};
    struct reports reports = {0};
    struct report codes = {0};
    struct run run;
    FILE *out = NULL;
    int rc = args->gpu ? capability_parse("gpu", args->gpu, &wanted.cc, err)
                       : capability_parse("cc", args->cc, &wanted.cc, err);
    if (rc == 0)
        rc = parse_block(args->block, &wanted.block, err);
    if (rc < 0)
        return rc;
    run_init(&run);
    if (cli->operand_count > 0)
        rc = build_from_files(&reports, &run, &codes, cli, args, &wanted, err);
    else
        rc = build_from_numbers(&reports, args, wanted.block, wanted.cc, err);
    if (rc == 0)
        rc = open_output(&out, args->output, cli->operands, cli->operand_count, err);
    if (rc == 0) {
        print(cli, out, &reports, args);
        rc = close_output(out, args->output, err);
    }
    vec_each (&reports.list, report)
        occupancy_release(report);
    vec_release(&reports.list);
    report_release(&codes);
    run_release(&run);
    return rc;
}

static const struct example examples[] = {
    {"warplight occupancy --block 256 --regs 40 --shared 8192 --cc 9.0",
     N_("what limits this launch on an H100, and what one more block takes")},
    {"warplight occupancy --block 256 --regs 40", N_("the same launch on every GPU")},
    {"warplight occupancy ./app --kernel reduce --block 256", N_("a kernel of a program")},
    {NULL, NULL},
};

static const char *const see_also[] = {"kernels", NULL};

const struct command command_occupancy = {
    .name = "occupancy",
    .synopsis = N_("[FILE…]"),
    .summary = N_("say how many blocks fit on an SM, and what would change it"),
    .description =
        N_("Theoretical occupancy of a launch by the rules of CUDA's occupancy calculator, for compute "
           "capabilities 5.0 to 12.1: every limit, the next step that lets one more block in, and the "
           "curves over block size, registers and shared memory. The launch comes from numbers, or from "
           "the kernels of a program. Occupancy is capacity, not efficiency."),
    .options = options,
    .defaults = &defaults,
    .defaults_size = sizeof defaults,
    .operand_kind = OPERAND_FILE,
    .operands_max = -1,
    .examples = examples,
    .see_also = see_also,
    .run = run_occupancy,
};
