/* What changed between two measurements of kernels. */
#include <math.h>

#include "analyze/changes.h"
#include "base/i18n.h"
#include "view/json_report.h"
#include "view/profiles.h"
#include "view/section_columns.h"
#include "view/table.h"
#include "view/text.h"

enum { INDENT = 2, KERNELS = 6, METRICS_SHOWN = 8, NAME_WIDTH = 40, LABEL = 28, CELL = 12 };

/* ---- columns ------------------------------------------------------------------------------------------- */

static void get_name(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_KERNEL, ((const struct profile_change *)row)->name);
}

/* "+12.3 %", and "=" where it is no more than noise. */
static const char *state_of(const struct profile_change *change)
{
    if (change->before == NONE)
        return N_("new");
    if (change->after == NONE)
        return N_("gone");
    if (isnan(change->change_ratio))
        return N_("not timed");
    return change->is_noise ? N_("same") : change->change_ratio > 0 ? N_("slower") : N_("faster");
}

static void get_state(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TERM, state_of(row));
}

static void get_before_finding(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TEXT, ((const struct profile_change *)row)->before_finding);
}

static void get_after_finding(const struct report *report, const void *row, struct cell *cell)
{
    (void)report;
    cell_set_text(cell, VALUE_TEXT, ((const struct profile_change *)row)->after_finding);
}

#define AT(field) offsetof(struct profile_change, field)
static const struct column change_columns[] = {
    {"name", N_("kernel"), COLUMN_GET, 0, COLUMN_FLEXIBLE, 0, NULL, get_name},
    {"before_ns", N_("before"), COLUMN_NS, AT(before_ns), 0, 0, "it is not in the baseline, or was not timed",
     NULL},
    {"after_ns", N_("after"), COLUMN_NS, AT(after_ns), 0, 0, "it is not there any more, or was not timed",
     NULL},
    {"change_ratio", N_("change"), COLUMN_RATIO, AT(change_ratio), 0, 0, "there is nothing to compare with",
     NULL},
    {"noise_ratio", N_("noise"), COLUMN_RATIO, AT(noise_ratio), 0, 3, "there is nothing to compare with",
     NULL},
    {"state", N_("is"), COLUMN_GET, 0, 0, 1, NULL, get_state},
    {"before_total_ns", NULL, COLUMN_NS, AT(before_total_ns), COLUMN_MACHINE, 0,
     "not in the baseline, or not timed", NULL},
    {"after_total_ns", NULL, COLUMN_NS, AT(after_total_ns), COLUMN_MACHINE, 0,
     "not there any more, or not timed", NULL},
    {"before_finding", N_("first finding before"), COLUMN_GET, 0, 0, 2, "nothing was found",
     get_before_finding},
    {"after_finding", N_("after"), COLUMN_GET, 0, 0, 2, "nothing was found", get_after_finding},
    COLUMN_END,
};
#undef AT

static const struct section change_section = {
    .name = "changes",
    .key = "changes",
    .title = N_("Changes"),
    .empty = N_("no kernels"),
    .columns = change_columns,
    .vec = offsetof(struct report, changes),
    .row_size = sizeof(struct profile_change),
};

void csv_changes(FILE *out, const struct report *report, const struct view_options *options)
{
    csv_section(out, &change_section, report, options->limit);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void put_total(struct screen *s, const struct report *report)
{
    double before, after;
    changes_total(report, &before, &after);
    if (!(before > 0))
        return;
    text_put_msg(s, report, STYLE_BOLD,
                 &msg_make(after > before ? N_("kernels on both sides: {0} before, {1} after, {2} more")
                                          : N_("kernels on both sides: {0} before, {1} after, {2} less"),
                           value_ns((int64_t)before), value_ns((int64_t)after),
                           value_ratio(fabs(after / before - 1))),
                 0);
}

static bool has_news(const struct profile_change *change)
{
    return change->before != NONE && change->after != NONE &&
           (!change->is_noise || change->finding_count || change->notes.count);
}

static void put_findings(struct screen *s, const struct report *report, const struct profile_change *change)
{
    for (uint32_t i = 0; i < change->finding_count; i++) {
        const struct finding_change *finding = &report->finding_changes.at[change->first_finding + i];
        text_put_msg(s, report, finding->came ? STYLE_NOTICE : STYLE_GOOD,
                     &msg_make(finding->came ? N_("came: {0}") : N_("went: {0}"), value_text(finding->id)),
                     INDENT);
    }
    vec_each (&change->notes, note)
        text_put_msg(s, report, STYLE_NOTICE, note, INDENT);
}

/* Those that people know by name first; machine output holds all. */
static void put_metrics(struct screen *s, const struct report *report, const struct profile_change *change)
{
    struct str text = {0};
    int shown = 0;
    for (uint32_t i = 0; i < change->metric_count && shown < METRICS_SHOWN; i++) {
        const struct metric_change *metric = &report->metric_changes.at[change->first_metric + i];
        const char *title = metric_title(metric->id);
        if (!title)
            continue;
        shown++;
        str_pad(&s->text, ' ', 2 * INDENT);
        screen_cell(s, STYLE_PLAIN, _(title), LABEL, false);
        str_cut(&text, 0);
        text_value(&text, metric_cell(metric->id, metric->before), report);
        screen_cell(s, STYLE_PLAIN, str_text(&text), CELL, true);
        screen_puts(s, STYLE_DIM, " → ");
        str_cut(&text, 0);
        text_value(&text, metric_cell(metric->id, metric->after), report);
        screen_puts(s, STYLE_PLAIN, str_text(&text));
        screen_newline(s);
    }
    str_release(&text);
}

static void put_change(struct screen *s, const struct report *report, const struct profile_change *change,
                       const struct view_options *options)
{
    struct str text = {0};
    struct cell name = {CELL_VALUE, {.value = value_kernel(change->name)}};
    screen_newline(s);
    cell_text(
        &text, &name, report,
        &(struct cell_style){.translate = true, .full_names = options->full_names, .width = NAME_WIDTH});
    screen_wrap(s, STYLE_BOLD, str_text(&text), 0, INDENT);
    str_release(&text);
    put_findings(s, report, change);
    put_metrics(s, report, change);
}

void text_changes(struct screen *s, const struct report *report, const struct view_options *options)
{
    put_total(s, report);
    screen_newline(s);
    struct table_options table = {
        .limit = options->limit == UNKNOWN ? 20 : (size_t)options->limit,
        .max_rank = 3,
        .full_names = options->full_names,
    };
    size_t shown = table_print(s, &change_section, report, &table);
    if (shown < report->changes.count)
        text_put_msg(
            s, report, STYLE_DIM,
            &msg_make(N_("{0} more rows (--limit)"), value_count((int64_t)(report->changes.count - shown))),
            0);
    int left = KERNELS;
    vec_each (&report->changes, change)
        if (has_news(change) && left-- > 0)
            put_change(s, report, change, options);
    screen_newline(s);
    text_put_msg(
        s, report, STYLE_DIM,
        &msg_make(
            N_("A change below the noise is none: three standard errors of the launches measured, 5 % for a "
               "single one.")),
        0);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void write_metrics(struct json_report *j, const struct profile_change *change)
{
    json_key(&j->w, "metrics");
    json_array_begin(&j->w);
    for (uint32_t i = 0; i < change->metric_count; i++) {
        const struct metric_change *metric = &j->report->metric_changes.at[change->first_metric + i];
        json_object_begin(&j->w);
        json_key(&j->w, "metric");
        json_puts(&j->w, metric_infos[metric->id].key);
        json_key(&j->w, "before");
        json_double(&j->w, metric->before);
        json_key(&j->w, "after");
        json_double(&j->w, metric->after);
        json_key(&j->w, "change_ratio");
        json_double(&j->w, metric->change_ratio);
        json_object_end(&j->w);
    }
    json_array_end(&j->w);
}

static void write_findings(struct json_report *j, const struct profile_change *change, const char *key,
                           bool came)
{
    json_key(&j->w, key);
    json_array_begin(&j->w);
    for (uint32_t i = 0; i < change->finding_count; i++) {
        const struct finding_change *finding = &j->report->finding_changes.at[change->first_finding + i];
        if (finding->came == came)
            json_puts(&j->w, finding->id);
    }
    json_array_end(&j->w);
}

static void write_change(struct json_report *j, const struct profile_change *change)
{
    json_object_begin(&j->w);
    json_cells(j, change_columns, change);
    write_findings(j, change, "findings_gone", false);
    write_findings(j, change, "findings_new", true);
    write_metrics(j, change);
    json_key(&j->w, "notes");
    json_array_begin(&j->w);
    vec_each (&change->notes, note)
        json_msg(j, note);
    json_array_end(&j->w);
    json_object_end(&j->w);
    json_drain(j, JSON_FLUSH_BYTES);
}

void json_changes(FILE *out, const struct report *report, const struct view_options *options)
{
    struct str text = {0};
    struct json_report j = {{.out = &text, .indent = 1}, out, report, options};
    double before, after;
    size_t limit = options->limit == UNKNOWN ? SIZE_MAX : (size_t)options->limit;
    changes_total(report, &before, &after);
    json_object_begin(&j.w);
    json_key(&j.w, "schema");
    json_puts(&j.w, "warplight.kernel-changes/1");
    json_key(&j.w, "warplight_version");
    json_puts(&j.w, WARPLIGHT_VERSION);
    json_key(&j.w, "before_ns");
    json_int(&j.w, (int64_t)before);
    json_key(&j.w, "after_ns");
    json_int(&j.w, (int64_t)after);
    json_sources(&j);
    json_key(&j.w, "kernels");
    json_array_begin(&j.w);
    for (size_t i = 0; i < report->changes.count && i < limit; i++)
        write_change(&j, &report->changes.at[i]);
    json_array_end(&j.w);
    json_object_end(&j.w);
    str_putc(&text, '\n');
    json_drain(&j, 0);
    str_release(&text);
}
