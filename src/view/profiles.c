/* The first screen about profiled kernels: what each does with its time, the one thing that matters for it,
 * and what to look at next. */
#include "view/profiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "view/table.h"
#include "view/text.h"

enum { ROWS = 12, FINDINGS = 6, INDENT = 2, NAME_WIDTH = 40, DETAILS = 3, NAMES = 4 };

/* "NVIDIA H200 · cc 9.0 · 132 SMs · 15 kernels in 20.9 ms" */
static void put_device(struct screen *s, const struct report *report)
{
    const struct run *run = report->run;
    struct str text = {0};
    uint32_t device = report->profiles.at[0].device;
    if (device != NONE) {
        const struct device *d = &run->devices.at[device];
        text_value(&text, value_text(d->name ? run_text(run, d->name) : _("unknown model")), report);
        if (d->cc_major > 0 && d->vendor != VENDOR_AMD)
            str_addf(&text, " · cc %d.%d", d->cc_major, d->cc_minor);
        if (d->sm_count > 0)
            str_addf(&text, " · %d SMs", d->sm_count);
        str_puts(&text, " · ");
    }
    int64_t total = 0, launches = 0, measured = 0;
    vec_each (&report->profiles, row) {
        total += row->total_ns == UNKNOWN ? 0 : row->total_ns;
        launches += row->launches;
        measured += row->profiled;
    }
    const char *text_of_all = N_("kernels: {0} · launches measured: {1} · GPU time: {2}");
    const char *text_of_some = N_("kernels: {0} · launches: {3}, of them measured: {1} · GPU time: {2}");
    struct msg msg = msg_make(launches > measured ? text_of_some : text_of_all,
                              value_count((int64_t)report->profiles.count), value_count(measured),
                              value_ns(total > 0 ? total : UNKNOWN), value_count(launches));
    text_msg(&text, &msg, report);
    screen_wrap(s, STYLE_BOLD, str_text(&text), 0, INDENT);
    str_release(&text);
}

/* What was asked for by name, of the kernels that the table shows. */
static void put_counters(struct screen *s, const struct report *report, size_t shown,
                         const struct view_options *options)
{
    if (report->counters.count)
        text_heading(s, _("Counters"));
    for (size_t i = 0; report->counters.count && i < shown; i++) {
        const struct profile_row *row = &report->profiles.at[i];
        struct cell name = {CELL_VALUE, {.value = value_kernel(run_text(report->run, row->name))}};
        struct str text = {0};
        cell_text(
            &text, &name, report,
            &(struct cell_style){.translate = true, .full_names = options->full_names, .width = NAME_WIDTH});
        screen_newline(s);
        screen_puts(s, STYLE_BOLD, str_text(&text));
        screen_newline(s);
        profile_counters(s, report, row);
        str_release(&text);
    }
}

/* ---- findings ------------------------------------------------------------------------------------------ */

struct pick {
    const struct profile_row *row;
    double weight; /* middle of what its best change saves, in ns; where nothing was timed, of its time */
};

static int heaviest_first(const void *a, const void *b)
{
    const struct pick *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

static void saving_text(struct str *out, const struct report *report, const struct finding *finding)
{
    const int64_t *ns = finding->saving_ns;
    const double *ratio = finding->saving_ratio;
    struct msg msg;
    if (ratio[1] < 0.05)
        msg = msg_make(N_("nothing much to gain"));
    else if (ns[1] == UNKNOWN)
        msg = msg_make(N_("could save {0} to {1} of its time"), value_ratio(ratio[0]), value_ratio(ratio[1]));
    else if (ns[0] <= 0)
        msg = msg_make(N_("could save up to {0}"), value_ns(ns[1]));
    else
        msg = msg_make(N_("could save {0} to {1}"), value_ns(ns[0]), value_ns(ns[1]));
    text_msg(out, &msg, report);
}

static void put_finding(struct screen *s, const struct report *report, const struct profile_row *row,
                        const struct view_options *options)
{
    const struct finding *finding = &row->findings.at[0];
    struct cell name = {CELL_VALUE, {.value = value_kernel(run_text(report->run, row->name))}};
    struct str text = {0};
    screen_newline(s);
    cell_text(
        &text, &name, report,
        &(struct cell_style){.translate = true, .full_names = options->full_names, .width = NAME_WIDTH});
    screen_puts(s, STYLE_BOLD, str_text(&text));
    int column = screen_columns(str_text(&text)) + INDENT;
    str_pad(&s->text, ' ', INDENT);
    str_cut(&text, 0);
    str_addf(&text, "%s · ", finding->id);
    saving_text(&text, report, finding);
    screen_wrap(s, STYLE_DIM, str_text(&text), column, INDENT);
    str_cut(&text, 0);
    text_title(&text, finding, report);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, text_severity_style(finding), str_text(&text), INDENT, INDENT);
    str_cut(&text, 0);
    str_puts(&text, "→ ");
    text_msg(&text, &finding->action, report);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, STYLE_PLAIN, str_text(&text), INDENT, 2 * INDENT);
    str_release(&text);
}

static void put_findings(struct screen *s, const struct report *report, const struct view_options *options)
{
    VEC(struct pick) picks = {0};
    vec_each (&report->profiles, row) {
        if (row->findings.count == 0)
            continue;
        const struct finding *best = &row->findings.at[0];
        double time = row->total_ns == UNKNOWN ? 1 : (double)row->total_ns;
        vec_push(&picks, ((struct pick){row, (best->saving_ratio[0] + best->saving_ratio[1]) / 2 * time}));
    }
    if (picks.count)
        qsort(picks.at, picks.count, sizeof *picks.at, heaviest_first);
    size_t shown = picks.count < FINDINGS ? picks.count : FINDINGS;
    if (shown) {
        text_heading(s, _("What to change, most saved first"));
        screen_newline(s);
    }
    for (size_t i = 0; i < shown; i++)
        put_finding(s, report, picks.at[i].row, options);
    if (picks.count > shown) {
        screen_newline(s);
        text_put_msg(s, report, STYLE_DIM,
                     &msg_make(N_("{0} more kernels with findings: --kernel NAME shows one in full"),
                               value_count((int64_t)(picks.count - shown))),
                     0);
    }
    vec_release(&picks);
}

/* ---- what next ----------------------------------------------------------------------------------------- */

static void undecided_list(struct str *out, unsigned undecided)
{
    str_cut(out, 0);
    for (int i = 0; i < UNDECIDED_COUNT; i++)
        if (undecided >> i & 1)
            str_addf(out, "%s%s", out->len ? _(", ") : "", _(undecided_title((enum undecided)i)));
}

/* The first few kernels of which some of that is not known. Returns how many there are. */
static size_t lacking_list(struct str *out, const struct report *report, unsigned undecided,
                           const struct view_options *options)
{
    size_t count = 0;
    vec_each (&report->profiles, row) {
        if (!(row->undecided & undecided) || count++ >= NAMES)
            continue;
        struct cell name = {CELL_VALUE, {.value = value_kernel(run_text(report->run, row->name))}};
        str_puts(out, out->len ? _(", ") : "");
        cell_text(
            out, &name, report,
            &(struct cell_style){.translate = true, .full_names = options->full_names, .width = NAME_WIDTH});
    }
    if (count > NAMES)
        str_addf(out, "%s…", _(", "));
    return count;
}

/* What the counters leave open: of every kernel, and of those that were counted less than others. False:
 * nothing.
 */
static bool put_undecided(struct screen *s, const struct report *report, const struct view_options *options)
{
    unsigned of_all = ~0u, of_some = 0;
    struct str list = {0}, names = {0};
    vec_each (&report->profiles, row) {
        of_all &= row->undecided;
        of_some |= row->undecided;
    }
    of_some &= ~of_all & ~(1u << UNDECIDED_STALLS); /* short kernels are not sampled */
    if (!of_some && !of_all)
        return false;
    screen_newline(s);
    if (of_some) {
        size_t count = lacking_list(&names, report, of_some, options);
        undecided_list(&list, of_some);
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("Counted less than the others: {0} of {1} kernels ({2}). Not measured of them: "
                         "{3}."),
                      value_count((int64_t)count), value_count((int64_t)report->profiles.count),
                      value_text(str_text(&names)), value_text(str_text(&list))),
            0);
    }
    undecided_list(&list, of_all);
    if (list.len)
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("Not measured: {0}. --deep and --stalls measure them (Nsight Compute: --set full)."),
                      value_text(str_text(&list))),
            0);
    str_release(&names);
    str_release(&list);
    return true;
}

static void put_next(struct screen *s, const struct report *report)
{
    text_put_msg(
        s, report, STYLE_DIM,
        &msg_make(
            N_("Next: --kernel NAME for everything about one kernel; 'warplight explain {0}' for what it "
               "means; keep --format json -o before.json and compare with --baseline before.json."),
            value_text(report->profiles.at[0].findings.count ? report->profiles.at[0].findings.at[0].id
                                                             : "occupancy")),
        0);
}

void text_profiles(struct screen *s, const struct report *report, const struct view_options *options,
                   bool in_full)
{
    put_device(s, report);
    if (in_full && report->profiles.count <= DETAILS) {
        vec_each (&report->profiles, row)
            profile_detail(s, report, row, options);
        text_losses(s, report);
        put_undecided(s, report, options);
        return;
    }
    screen_newline(s);
    struct table_options table = {
        .limit = options->limit == UNKNOWN ? ROWS : (size_t)options->limit,
        .max_rank = 4,
        .full_names = options->full_names,
    };
    size_t shown = table_print(s, &profile_section, report, &table);
    if (shown < report->profiles.count)
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("{0} more rows (--limit)"), value_count((int64_t)(report->profiles.count - shown))),
            0);
    put_counters(s, report, shown, options);
    put_findings(s, report, options);
    text_losses(s, report);
    if (!put_undecided(s, report, options))
        screen_newline(s);
    put_next(s, report);
}
