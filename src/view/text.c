#include "view/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"
#include "view/table.h"

enum {
    SECTION_ROWS = 20,
    INDENT = 2,
    BAR_WIDTH = 14,
    BAR_LEAST = 6,
    TIME_WIDTH = 9,
    SHARE_WIDTH = 8,
    MEANING_LEAST = 20
};

void text_heading(struct screen *s, const char *title)
{
    screen_newline(s);
    screen_puts(s, STYLE_HEADING, title);
}

void text_value(struct str *out, struct value value, const struct report *report)
{
    struct cell cell = {CELL_VALUE, {.value = value}};
    cell_text(out, &cell, report, &(struct cell_style){.translate = true});
}

void text_msg(struct str *out, const struct msg *msg, const struct report *report)
{
    struct cell cell = {CELL_MSG, {.msg = msg}};
    cell_text(out, &cell, report, &(struct cell_style){.translate = true});
}

void text_put_msg(struct screen *s, const struct report *report, enum style style, const struct msg *msg,
                  int indent)
{
    enum { DEEPER = 2 };
    struct str text = {0};
    text_msg(&text, msg, report);
    str_pad(&s->text, ' ', (size_t)indent);
    screen_wrap(s, style, str_text(&text), indent, indent + DEEPER);
    str_release(&text);
}

/* ---- ledger -------------------------------------------------------------------------------------------- */

static const char rest_title[] = N_("the rest");

static enum style account_style(enum account account)
{
    switch (account) {
    case ACCOUNT_COMPUTE:
    case ACCOUNT_COMPUTE_COPY:
    case ACCOUNT_COMPUTE_COMM:
        return STYLE_GOOD;
    case ACCOUNT_COMM:
    case ACCOUNT_COPY:
        return STYLE_NOTICE;
    default:
        return STYLE_BAD;
    }
}

struct ledger_layout {
    int account; /* columns of the account's name */
    int bar;     /* 0: no room */
    int meaning; /* 0: no room */
};

static bool is_small(const struct device_report *device, int account, double least_share)
{
    return (double)device->ledger_ns[account] < least_share * (double)device->wall_ns;
}

static const char *meaning_of(int account, const struct report *steady)
{
    return steady && account == IDLE_STARTUP ? _("before the first ordinary step")
                                             : _(account_meaning((enum account)account));
}

static const char *rest_meaning(void)
{
    return _("the other accounts: --section ledger");
}

/* The bar gives way to what the accounts mean; what still does not fit goes on below. */
static struct ledger_layout lay_out_ledger(const struct screen *s, const struct device_report *device,
                                           const struct report *steady, double least_share)
{
    struct ledger_layout layout = {.account = screen_columns(_(rest_title))};
    int meaning = screen_columns(rest_meaning());
    for (int a = 0; a < ACCOUNT_COUNT; a++) {
        if (device->ledger_ns[a] == 0 || is_small(device, a, least_share))
            continue;
        int width = screen_columns(_(account_title((enum account)a)));
        layout.account = width > layout.account ? width : layout.account;
        width = screen_columns(meaning_of(a, steady));
        meaning = width > meaning ? width : meaning;
    }
    int left = s->width - INDENT - layout.account - TIME_WIDTH - SHARE_WIDTH;
    if (left >= BAR_WIDTH + 2) {
        int bar = left - 2 - meaning - 2;
        layout.bar = bar > BAR_WIDTH || left - 2 - BAR_LEAST - 2 < MEANING_LEAST ? BAR_WIDTH
                     : bar > BAR_LEAST                                           ? bar
                                                                                 : BAR_LEAST;
        left -= layout.bar + 2;
    }
    layout.meaning = left - 2 >= MEANING_LEAST ? left - 2 : 0;
    return layout;
}

static void ledger_line(struct screen *s, const struct report *report, const struct ledger_layout *layout,
                        enum style style, const char *title, int64_t ns, double share, const char *meaning)
{
    struct str text = {0};
    str_pad(&s->text, ' ', INDENT);
    screen_cell(s, STYLE_PLAIN, title, layout->account, false);
    text_value(&text, value_ns(ns), report);
    screen_cell(s, STYLE_PLAIN, str_text(&text), TIME_WIDTH, true);
    str_cut(&text, 0);
    text_value(&text, value_ratio(share), report);
    screen_cell(s, STYLE_PLAIN, str_text(&text), SHARE_WIDTH, true);
    if (layout->bar) {
        str_pad(&s->text, ' ', 2);
        screen_bar(s, style, share, layout->bar);
    }
    if (layout->meaning) {
        str_pad(&s->text, ' ', 2);
        screen_wrap(s, STYLE_DIM, meaning, s->width - layout->meaning, s->width - layout->meaning);
    } else {
        screen_newline(s);
    }
    str_release(&text);
}

/* Idle time before and after the steady part is one account each, whatever is known about it. */
static struct device_report fold(const struct device_report *device, const struct report *steady)
{
    struct device_report folded = *device;
    if (!steady)
        return folded;
    vec_each (&steady->devices, part) {
        if (part->device != device->device)
            continue;
        for (int a = ACCOUNT_BUSY_COUNT; a < ACCOUNT_COUNT; a++)
            folded.ledger_ns[a] = part->ledger_ns[a];
        int64_t after = device->window.end - part->window.end; /* the GPU's last work is behind it */
        folded.ledger_ns[IDLE_SHUTDOWN] += after;
        folded.ledger_ns[IDLE_STARTUP] +=
            device->wall_ns - part->wall_ns - after - (device->busy_ns - part->busy_ns);
    }
    return folded;
}

/* What the GPU did in the order of the accounts, then why it was idle, most first. */
static void order_accounts(const struct device_report *device, enum account order[ACCOUNT_COUNT])
{
    for (int a = 0; a < ACCOUNT_COUNT; a++) {
        int at = a;
        for (; at > ACCOUNT_BUSY_COUNT && device->ledger_ns[a] > device->ledger_ns[order[at - 1]]; at--)
            order[at] = order[at - 1];
        order[at] = (enum account)a;
    }
}

void text_ledger(struct screen *s, const struct report *report, const struct device_report *device,
                 const struct report *steady, double least_share)
{
    struct device_report shown = fold(device, steady);
    struct ledger_layout layout = lay_out_ledger(s, &shown, steady, least_share);
    double wall = shown.wall_ns > 0 ? (double)shown.wall_ns : 1;
    int64_t rest = 0;
    enum account order[ACCOUNT_COUNT];
    order_accounts(&shown, order);
    for (int i = 0; i < ACCOUNT_COUNT; i++) {
        enum account a = order[i];
        int64_t ns = shown.ledger_ns[a];
        if (is_small(&shown, a, least_share))
            rest += ns;
        else if (ns != 0)
            ledger_line(s, report, &layout, account_style(a), _(account_title(a)), ns, (double)ns / wall,
                        meaning_of(a, steady));
    }
    if (rest > 0)
        ledger_line(s, report, &layout, STYLE_PLAIN, _(rest_title), rest, (double)rest / wall,
                    rest_meaning());
}

static void ledgers(struct screen *s, const struct report *report)
{
    struct str text = {0};
    vec_each (&report->devices, device) {
        if (report->devices.count > 1) {
            str_cut(&text, 0);
            device_label(&text, report, device->device);
            str_pad(&s->text, ' ', INDENT);
            screen_puts(s, STYLE_BOLD, str_text(&text));
            screen_newline(s);
        }
        text_ledger(s, report, device, NULL, 0);
    }
    str_release(&text);
}

/* ---- the steady part -----------------------------------------------------------------------------------
 */

/* The account that most of what lies outside the steady part is booked to. */
static enum account most_outside(const struct report *report)
{
    int64_t outside[ACCOUNT_COUNT] = {0};
    enum account most = IDLE_STARTUP;
    vec_each (&report->devices, device)
        for (int a = 0; a < ACCOUNT_COUNT; a++)
            outside[a] += device->ledger_ns[a];
    vec_each (&report->steady->devices, device)
        for (int a = 0; a < ACCOUNT_COUNT; a++)
            outside[a] -= device->ledger_ns[a];
    for (int a = 0; a < ACCOUNT_COUNT; a++)
        if (outside[a] > outside[most])
            most = (enum account)a;
    return most;
}

void text_steady(struct screen *s, const struct report *report)
{
    if (!report->steady)
        return;
    struct interval all = report->window, part = report->steady->window;
    int64_t before = part.start - all.start, after = all.end - part.end;
    struct msg msg = msg_make(
        N_("Start-up: {0} before the first ordinary step and {1} after the last GPU work ({2} in all), "
           "mostly: {3}. Findings are about the {4} between (--from 0: about all)"),
        value_ns(before), value_ns(after),
        value_ratio((double)(before + after) / (double)(all.end - all.start)),
        value_term(account_meaning(most_outside(report))), value_ns(part.end - part.start));
    text_put_msg(s, report, STYLE_DIM, &msg, 0);
}

/* ---- findings ------------------------------------------------------------------------------------------ */

enum style text_severity_style(const struct finding *finding)
{
    if (strcmp(finding->id, "healthy") == 0)
        return STYLE_GOOD;
    return finding->severity == SEVERITY_CRITICAL ? STYLE_BAD
           : finding->severity == SEVERITY_WARN   ? STYLE_NOTICE
                                                  : STYLE_PLAIN;
}

static void add_part(struct str *out, const struct report *report, struct msg msg)
{
    str_puts(out, " · ");
    text_msg(out, &msg, report);
}

/* "idle-host-sync · loses 906 ms · fixing it saves 700 ms to 880 ms · confidence 95 %", as far as it is
 * known. */
static void finding_cost(struct str *out, const struct report *report, const struct finding *finding)
{
    int64_t low = finding->saving_ns[0], high = finding->saving_ns[1];
    str_puts(out, finding->id);
    if (finding->lost_ns != UNKNOWN && finding->lost_ns > 0)
        add_part(out, report, msg_make(N_("loses {0}"), value_ns(finding->lost_ns)));
    if (low != UNKNOWN && high > 0 && low <= 0)
        add_part(out, report, msg_make(N_("fixing it saves up to {0}"), value_ns(high)));
    else if (low != UNKNOWN && high > 0)
        add_part(out, report, msg_make(N_("fixing it saves {0} to {1}"), value_ns(low), value_ns(high)));
    add_part(out, report,
             msg_make(N_("confidence {0} %"), value_number(round(finding->confidence_ratio * 100))));
}

static void labelled(struct screen *s, enum style style, const char *mark, const char *text)
{
    str_pad(&s->text, ' ', INDENT);
    screen_puts(s, style, mark);
    int column = INDENT + screen_columns(mark);
    screen_wrap(s, STYLE_PLAIN, text, column, column);
}

void text_title(struct str *out, const struct finding *finding, const struct report *report)
{
    size_t from = out->len;
    text_msg(out, &finding->title, report);
    /* Titles are sentences; only one that begins with a name keeps its first letter. */
    if (finding->title.format && finding->title.format[0] != '{' && out->len > from)
        out->ptr[from] = (char)toupper((unsigned char)out->ptr[from]);
}

void text_finding(struct screen *s, const struct report *report, const struct finding *finding,
                  size_t max_evidence)
{
    struct str text = {0};
    text_title(&text, finding, report);
    screen_wrap(s, text_severity_style(finding), str_text(&text), 0, 0);
    str_cut(&text, 0);
    finding_cost(&text, report, finding);
    str_pad(&s->text, ' ', INDENT);
    screen_wrap(s, STYLE_DIM, str_text(&text), INDENT, INDENT);
    for (size_t i = 0; i < finding->evidence.count && i < max_evidence; i++) {
        str_cut(&text, 0);
        text_msg(&text, &finding->evidence.at[i], report);
        labelled(s, STYLE_DIM, "• ", str_text(&text));
    }
    if (finding->action.format) {
        str_cut(&text, 0);
        text_msg(&text, &finding->action, report);
        labelled(s, STYLE_BOLD, "→ ", str_text(&text));
    }
    str_release(&text);
}

static void findings(struct screen *s, const struct report *report, size_t limit)
{
    for (size_t i = 0; i < report->findings.count && i < limit; i++) {
        const struct finding *finding = &report->findings.at[i];
        if (i > 0)
            screen_newline(s);
        text_finding(s, report, finding, SIZE_MAX);
    }
}

/* ---- steps and losses ---------------------------------------------------------------------------------- */

void text_steps(struct screen *s, const struct report *report)
{
    const struct step_report *steps = &report->steps;
    const char *title = _(sections[SECTION_STEPS].title);
    struct str text = {0};
    struct msg msg =
        msg_make(steps->origin == STEPS_ANNOTATED
                     ? N_("{0} by annotation: median {1}, {2} to {3}, 95th percentile {4}")
                     : N_("{0} in the launch sequence: median {1}, {2} to {3}, 95th percentile {4}"),
                 value_count(steps->count), value_ns(steps->median_ns), value_ns(steps->min_ns),
                 value_ns(steps->max_ns), value_ns(steps->p95_ns));
    text_msg(&text, &msg, report);
    screen_puts(s, STYLE_HEADING, title);
    str_pad(&s->text, ' ', 2);
    screen_wrap(s, STYLE_PLAIN, str_text(&text), screen_columns(title) + 2, screen_columns(title) + 2);
    str_release(&text);
}

static void loss_line(struct screen *s, const struct report *report, struct msg msg)
{
    struct str text = {0};
    text_msg(&text, &msg, report);
    labelled(s, STYLE_NOTICE, "! ", str_text(&text));
    str_release(&text);
}

/* Whether an earlier source, or an earlier repair of this one, has the same text. */
static bool seen_before(const struct run *run, const struct source *last, const struct repair *end,
                        uint32_t text)
{
    vec_each (&run->sources, source) {
        vec_each (&source->repairs, repair) {
            if (source == last && repair == end)
                return false;
            if (repair->text == text)
                return true;
        }
    }
    return false;
}

/* One line for each kind of repair, over all files. */
static void repairs(struct screen *s, const struct report *report)
{
    const struct run *run = report->run;
    vec_each (&run->sources, source) {
        vec_each (&source->repairs, repair) {
            if (seen_before(run, source, repair, repair->text))
                continue;
            int64_t count = 0, files = 0;
            vec_each (&run->sources, other) {
                vec_each (&other->repairs, same) {
                    count += same->text == repair->text ? same->count : 0;
                    files += same->text == repair->text;
                }
            }
            struct value what = value_term(run_text(run, repair->text));
            if (files > 1)
                loss_line(
                    s, report,
                    msg_make(N_("{0} ({1}×, in {2} files)"), what, value_count(count), value_count(files)));
            else
                loss_line(s, report,
                          msg_make(N_("{0} ({1}×, in {2})"), what, value_count(count),
                                   value_text(run_text(run, source->path))));
        }
    }
}

void text_losses(struct screen *s, const struct report *report)
{
    union section_scratch scratch;
    const struct section *losses = &sections[SECTION_LOSSES];
    for (size_t i = 0; i < section_count(losses, report); i++) {
        const struct loss_row *row = section_row(losses, report, i, &scratch);
        if (row->count > 0)
            loss_line(s, report, msg_make(N_("{0}: {1}"), value_term(row->title), value_count(row->count)));
    }
    repairs(s, report);
}

/* ---- sections ------------------------------------------------------------------------------------------ */

static void section_print(struct screen *s, const struct report *report, enum section_id id,
                          const struct view_options *options)
{
    const struct section *section = &sections[id];
    size_t all = section_count(section, report);
    size_t limit = options->limit == UNKNOWN ? SECTION_ROWS : (size_t)options->limit;
    if (all == 0) {
        str_pad(&s->text, ' ', INDENT);
        screen_wrap(s, STYLE_PLAIN, _(section->empty), INDENT, INDENT);
        return;
    }
    size_t shown = all;
    if (id == SECTION_LEDGER) {
        ledgers(s, report);
    } else if (id == SECTION_FINDINGS) {
        text_steady(s, report);
        findings(s, report, limit);
        shown = all < limit ? all : limit;
    } else if (section->single) {
        table_print_single(s, section, report);
    } else {
        if (id == SECTION_STEPS)
            text_steps(s, report);
        shown = table_print(s, section, report,
                            &(struct table_options){.limit = limit,
                                                    .max_rank = RANK_ALL,
                                                    .by_weight = id == SECTION_GAPS,
                                                    .full_names = options->full_names,
                                                    .indent = INDENT});
    }
    if (shown < all) {
        struct msg more = msg_make(N_("… and {0} more: --limit {1} shows all"),
                                   value_count((int64_t)(all - shown)), value_id((int64_t)all));
        struct str text = {0};
        text_msg(&text, &more, report);
        str_pad(&s->text, ' ', INDENT);
        screen_wrap(s, STYLE_DIM, str_text(&text), INDENT, INDENT);
        str_release(&text);
    }
}

void text_report(struct screen *s, const struct report *report, const struct view_options *options)
{
    if (options->sections == 0) {
        summary_print(s, report, options);
        return;
    }
    bool first = true;
    for (int id = 0; id < SECTION_COUNT; id++) {
        if (!(options->sections & SECTION_BIT(id)))
            continue;
        if (!first)
            screen_newline(s);
        first = false;
        if (id != SECTION_STEPS || report->steps.count == 0)
            screen_wrap(s, STYLE_HEADING, _(sections[id].title), 0, 0);
        section_print(s, report, (enum section_id)id, options);
    }
}
