#include "cmd/window.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "base/str.h"
#include "cmd/suggest.h"

static int64_t moment_ns(const struct moment *moment, struct interval window)
{
    if (moment->is_share)
        return window.start + (int64_t)llround(moment->share * (double)(window.end - window.start));
    /* Both are far below 2^62. */
    return window.start + moment->ns;
}

static int check_device(const struct run *run, int64_t id, struct err *err)
{
    struct str all = {0};
    for (size_t i = 0; i < run->devices.count; i++) {
        if (run->devices.at[i].id == id)
            return str_release(&all), 0;
        str_addf(&all, "%s%" PRId64, i ? ", " : "", run->devices.at[i].id);
    }
    struct str hint = {0};
    if (all.len)
        str_addf(&hint, _("it has %s"), str_text(&all));
    int rc =
        err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("the recording has no GPU %lld"), (long long)id);
    str_release(&all);
    str_release(&hint);
    return rc;
}

/* The step numbers of the whole run, which the user saw there. */
static int find_step(struct interval *window, const struct run *run, const struct report_options *options,
                     int64_t step, struct err *err)
{
    struct report report;
    report_build(&report, run, options);
    int64_t count = (int64_t)report.steps.rows.count;
    int rc = 0;
    if (step >= 1 && step <= count) {
        const struct step_row *row = &report.steps.rows.at[step - 1];
        *window = (struct interval){row->start, row->end};
    } else {
        char hint[128] = "";
        if (count > 0)
            snprintf(hint, sizeof hint, _("it has steps 1 to %lld"), (long long)count);
        rc = err_set(err, ERR_USAGE, NULL, -1, hint, _("the recording has no step %lld"), (long long)step);
    }
    report_release(&report);
    return rc;
}

/* ---- annotations --------------------------------------------------------------------------------------- */

struct wanted {
    const char *name;
    size_t length;
    int64_t nth; /* from 1; 0: all */
};

static bool is_annotation(const struct run *run, size_t span, const struct wanted *wanted)
{
    return run->spans.kind[span] == SPAN_ANNOTATION &&
           intern_length(&run->strings, run->spans.name[span]) == wanted->length &&
           memcmp(run_text(run, run->spans.name[span]), wanted->name, wanted->length) == 0;
}

static int by_start(const void *a, const void *b)
{
    const struct interval *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Returns how many instances there are; fills window if the wanted one is among them. */
static int64_t search(struct interval *window, const struct run *run, const struct wanted *wanted)
{
    VEC(struct interval) found = {0};
    for (size_t i = 0; i < run->spans.count; i++)
        if (is_annotation(run, i, wanted))
            vec_push(&found, ((struct interval){run->spans.start[i], run->spans.end[i]}));
    int64_t count = (int64_t)found.count;
    if (count > 0) {
        qsort(found.at, found.count, sizeof *found.at, by_start);
        *window = found.at[wanted->nth > 0 && wanted->nth <= count ? wanted->nth - 1 : 0];
        if (wanted->nth == 0)
            vec_each (&found, instance)
                window->end = max_ns(window->end, instance->end);
    }
    vec_release(&found);
    return count;
}

static int no_annotation(const struct run *run, const char *name, struct err *err)
{
    struct suggestion best = {0};
    for (size_t i = 0; i < run->spans.count; i++)
        if (run->spans.kind[i] == SPAN_ANNOTATION)
            suggest_offer(&best, name, run_text(run, run->spans.name[i]));
    struct str hint = {0};
    if (best.text)
        str_addf(&hint, _("did you mean '%s'?"), best.text);
    int rc =
        err_set(err, ERR_USAGE, NULL, -1, str_text(&hint), _("the recording has no annotation '%s'"), name);
    str_release(&hint);
    return rc;
}

static int find_annotation(struct interval *window, const struct run *run, const char *text, struct err *err)
{
    struct wanted wanted = {text, strlen(text), 0};
    if (search(window, run, &wanted) > 0)
        return 0;
    /* "NAME@3", unless a name is spelt like that. */
    const char *at = strrchr(text, '@');
    char *end = NULL;
    int64_t nth = at && at[1] >= '0' && at[1] <= '9' ? strtoll(at + 1, &end, 10) : 0;
    if (nth < 1 || *end)
        return no_annotation(run, text, err);
    wanted = (struct wanted){text, (size_t)(at - text), nth};
    int64_t count = search(window, run, &wanted);
    if (count == 0)
        return no_annotation(run, text, err);
    if (nth > count)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("the annotation '%.*s' occurs only %lld times"),
                       (int)wanted.length, text, (long long)count);
    return 0;
}

/* The end of the GPU work that was launched in the window: a range ends when the host has issued it. */
static int64_t end_of_work(const struct run *run, struct interval window)
{
    int64_t end = window.end;
    for (size_t op = 0; op < run->ops.count; op++) {
        uint32_t call = run->ops.call[op];
        if (call != NONE && run->spans.start[call] >= window.start && run->spans.start[call] < window.end)
            end = max_ns(end, run->ops.end[op]);
    }
    return end;
}

/* ---- the window ---------------------------------------------------------------------------------------- */

static void narrow(struct report_options *options, struct interval window)
{
    options->from_ns = options->has_from ? max_ns(options->from_ns, window.start) : window.start;
    options->to_ns = options->has_to ? min_ns(options->to_ns, window.end) : window.end;
    options->has_from = options->has_to = true;
}

int window_resolve(struct report_options *options, const struct run *run, const struct window_args *args,
                   struct err *err)
{
    *options = (struct report_options){0};
    int rc = 0;
    if (args->device != UNKNOWN) {
        rc = check_device(run, args->device, err);
        options->has_device = true;
        options->device = args->device;
    }
    struct interval window;
    if (rc == 0 && args->step != UNKNOWN && (rc = find_step(&window, run, options, args->step, err)) == 0)
        narrow(options, window);
    if (rc == 0 && args->annotation && (rc = find_annotation(&window, run, args->annotation, err)) == 0) {
        window.end = end_of_work(run, window);
        narrow(options, window);
    }
    if (rc < 0 || (!args->from.given && !args->to.given))
        return rc;
    struct report report = {.run = run};
    ledger_build(&report, NULL);
    struct interval whole = report.window;
    report_release(&report);
    window = whole;
    if (args->from.given)
        window.start = moment_ns(&args->from, whole);
    if (args->to.given)
        window.end = moment_ns(&args->to, whole);
    if (window.start >= window.end)
        return err_set(err, ERR_USAGE, NULL, -1, NULL, _("--from and --to leave nothing of the run"));
    narrow(options, window);
    return 0;
}

int window_report(struct report *report, const struct run *run, const struct window_args *args,
                  struct err *err)
{
    struct report_options options;
    int rc = window_resolve(&options, run, args, err);
    if (rc < 0)
        return rc;
    report_build(report, run, &options);
    return 0;
}
