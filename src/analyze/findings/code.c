#include "analyze/findings/code.h"

#include "analyze/occupancy.h"
#include "base/i18n.h"

enum { SITES = 5, CHAIN_MAX = 8, FIRST_DECODED_SM = 70 };

static struct finding *add(struct code_row *row, const char *id, enum severity severity)
{
    struct finding *finding = vec_new(&row->findings);
    finding->id = id;
    finding->class_ = "kernel";
    finding->severity = severity;
    finding->confidence_ratio = 1;
    finding->lost_ns = finding->saving_ns[0] = finding->saving_ns[1] = UNKNOWN;
    finding->device = NONE;
    return finding;
}

/* "file.cu:12 ‹ 30": the line, and the lines that it was inlined into, with their files where those differ.
 */
static const char *site_text(struct report *report, uint32_t place)
{
    const struct place_table *places = &report->run->places;
    struct str text = {0};
    uint32_t file = 0;
    for (int depth = 0; place != NONE && depth < CHAIN_MAX; depth++, place = places->inlined[place]) {
        str_puts(&text, depth ? " ‹ " : "");
        if (places->file[place] != file)
            str_addf(&text, "%s:", run_text(report->run, places->file[place]));
        str_addf(&text, "%u", places->line[place]);
        file = places->file[place];
    }
    const char *kept = arena_text(&report->arena, str_text(&text), text.len);
    str_release(&text);
    return kept;
}

static void add_sites(struct report *report, const struct code_row *row, bool spills, struct finding *finding)
{
    const struct run *run = report->run;
    int shown = 0;
    bool any = false;
    for (uint32_t i = 0; i < row->site_count; i++) {
        const struct code_site *site = &report->sites.at[row->first_site + i];
        if (site->is_spill != spills)
            continue;
        any = true;
        if (run->places.line[site->place] == 0 || shown++ >= SITES)
            continue;
        vec_push(&finding->evidence,
                 msg_make(N_("{0}: {1} stored, {2} loaded"), value_text(site_text(report, site->place)),
                          value_bytes(site->store_bytes), value_bytes(site->load_bytes)));
    }
    if (shown > SITES)
        vec_push(&finding->evidence, msg_make(N_("{0} more lines"), value_count(shown - SITES)));
    if (any && !run->codes.at[row->code].has_lines)
        vec_push(&finding->evidence, msg_make(N_("it was compiled without -lineinfo: no source lines")));
}

static void find_spills(struct report *report, struct code_row *row, const struct kernel_code *code)
{
    struct finding *finding = add(row, "kernel-register-spill", SEVERITY_WARN);
    finding->title = msg_make(N_("{0} spills registers: each thread stores {1} and loads {2}"),
                              value_kernel(run_text(report->run, code->demangled)),
                              value_bytes(code->spill_store_bytes), value_bytes(code->spill_load_bytes));
    add_sites(report, row, true, finding);
    if (code->registers_per_thread >= OCCUPANCY_REGISTERS - 1)
        finding->action =
            msg_make(N_("it has all {0} registers that a thread can have: keep fewer values alive, "
                        "unroll less, or split the kernel"),
                     value_count(code->registers_per_thread));
    else
        finding->action = msg_make(
            N_("launch bounds or -maxrregcount hold it at {0} registers: let it have more and measure "
               "both, or keep fewer values alive (unroll less, recompute, split the kernel)"),
            value_count(code->registers_per_thread));
}

static void find_local(struct report *report, struct code_row *row, const struct kernel_code *code)
{
    struct finding *finding = add(row, "kernel-local-memory", SEVERITY_INFO);
    struct value name = value_kernel(run_text(report->run, code->demangled));
    struct value stored = value_bytes(code->local_store_bytes), loaded = value_bytes(code->local_load_bytes);
    if (code->spill_store_bytes == UNKNOWN) {
        finding->title =
            msg_make(N_("{0} uses local memory: its code stores {1} and loads {2}"), name, stored, loaded);
        add_sites(report, row, false, finding);
        finding->action = msg_make(N_("its assembler is older than that of CUDA 12.6 and does not mark what "
                                      "are spilled registers and what are arrays: 'ptxas -v' tells"));
    } else {
        finding->title = msg_make(
            N_("{0} keeps data in local memory that are no spills: its code stores {1} and loads {2}"), name,
            stored, loaded);
        add_sites(report, row, false, finding);
        finding->action =
            msg_make(N_("index arrays of a thread by constants (unroll the loop) or put them into "
                        "shared memory; inline the functions that it calls"));
    }
}

static void find_stack(struct report *report, struct code_row *row, const struct kernel_code *code)
{
    struct finding *finding = add(row, "kernel-local-memory", SEVERITY_INFO);
    finding->title =
        msg_make(N_("{0} has a stack of {1} a thread"), value_kernel(run_text(report->run, code->demangled)),
                 value_bytes(code->stack_bytes));
    finding->action = msg_make(N_("instructions of this architecture are not decoded here: 'ptxas -v' tells "
                                  "whether these are spilled registers or arrays"));
}

void code_findings(struct report *report, struct code_row *row)
{
    const struct kernel_code *code = &report->run->codes.at[row->code];
    if (code->is_ptx)
        return;
    if (code->spill_store_bytes != UNKNOWN && code->spill_store_bytes + code->spill_load_bytes > 0)
        find_spills(report, row, code);
    if (code->local_store_bytes != UNKNOWN && code->local_store_bytes + code->local_load_bytes > 0)
        find_local(report, row, code);
    if (code->local_store_bytes == UNKNOWN && code->sm < FIRST_DECODED_SM && code->stack_bytes > 0)
        find_stack(report, row, code);
}
