#include "analyze/findings/counters.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

double counter_value(const struct counter_finder *f, enum metric id)
{
    return f->row->metrics[id].value;
}

int64_t counter_block_threads(const struct counter_finder *f)
{
    return f->shape ? (int64_t)f->shape->block[0] * f->shape->block[1] * f->shape->block[2] : 0;
}

int64_t counter_block_warps(const struct counter_finder *f)
{
    return (counter_block_threads(f) + 31) / 32;
}

int64_t counter_grid_blocks(const struct counter_finder *f)
{
    return f->shape ? (int64_t)f->shape->grid[0] * f->shape->grid[1] * f->shape->grid[2] : 0;
}

double counter_weight(double pressure)
{
    static const double full = 0.8;
    return isnan(pressure) ? NAN : fmin(1, pressure / full);
}

double counter_share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

double counter_known(double value)
{
    return isnan(value) ? 0 : value;
}

/* ---- adding -------------------------------------------------------------------------------------------- */

static enum severity severity_of(double saved_share_of_run)
{
    return saved_share_of_run >= 0.25   ? SEVERITY_CRITICAL
           : saved_share_of_run >= 0.05 ? SEVERITY_WARN
                                        : SEVERITY_INFO;
}

static int64_t share_of_time(const struct profile_row *row, double share)
{
    return row->total_ns == UNKNOWN ? UNKNOWN : (int64_t)((double)row->total_ns * share + 0.5);
}

struct finding *counter_add(struct counter_finder *f, const char *id, double low, double high,
                            double confidence)
{
    if (!(high >= counter_least))
        return NULL;
    high = fmin(high, 1);
    low = fmax(0, fmin(low, high));
    struct finding *finding = vec_new(&f->row->findings);
    finding->id = id;
    finding->class_ = "kernel";
    finding->confidence_ratio = confidence;
    finding->device = f->row->device;
    finding->lost_ns = share_of_time(f->row, high);
    finding->saving_ns[0] = share_of_time(f->row, low);
    finding->saving_ns[1] = share_of_time(f->row, high);
    finding->saving_ratio[0] = low;
    finding->saving_ratio[1] = high;
    double share = isnan(f->row->share_ratio) ? 1 : f->row->share_ratio;
    finding->severity = severity_of((low + high) / 2 * share);
    return finding;
}

void counter_evidence(struct finding *finding, struct msg evidence)
{
    vec_push(&finding->evidence, evidence);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "reduce.cu:42", or the instruction where no line is known. */
static const char *place_text(struct report *report, uint32_t place)
{
    const struct run *run = report->run;
    const struct place_table *places = &run->places;
    struct str text = {0};
    if (places->line[place])
        str_addf(&text, "%s:%u", base_name(run_text(run, places->file[place])), places->line[place]);
    else if (places->sass[place])
        str_puts(&text, run_text(run, places->sass[place]) + strspn(run_text(run, places->sass[place]), " "));
    else if (places->pc[place] != UINT64_MAX)
        str_addf(&text, "+0x%" PRIx64, places->pc[place]);
    const char *kept = text.len ? arena_text(&report->arena, text.ptr, text.len) : NULL;
    str_release(&text);
    return kept;
}

/* The call that a place was inlined into, outermost; NONE: it was not. */
static uint32_t outermost(const struct place_table *places, uint32_t place)
{
    enum { DEEPEST = 64 };
    uint32_t outer = places->inlined[place];
    for (int i = 0; outer != NONE && places->inlined[outer] != NONE && i < DEEPEST; i++)
        outer = places->inlined[outer];
    return outer;
}

/* Says that share of what the title names is at a line; reason: of waiting for that; NULL. */
static void point_at(struct counter_finder *f, struct finding *finding, const struct hot_line *line,
                     double share, const char *reason)
{
    const struct place_table *places = &f->run->places;
    const char *place = line ? place_text(f->report, line->place) : NULL;
    if (!place)
        return;
    uint32_t outer = outermost(places, line->place), own = outer == NONE ? line->place : outer;
    const char *call = outer == NONE ? NULL : place_text(f->report, outer);
    struct value of = value_ratio(fmin(share, 1)), at = value_text(place);
    if (reason && call)
        counter_evidence(finding, msg_make(N_("{0} of the waiting ({1}) is at {2}, inlined at {3}"), of,
                                           value_text(reason), at, value_text(call)));
    else if (reason)
        counter_evidence(finding,
                         msg_make(N_("{0} of the waiting ({1}) is at {2}"), of, value_text(reason), at));
    else if (call)
        counter_evidence(finding, msg_make(N_("{0} of it at {1}, inlined at {2}"), of, at, value_text(call)));
    else
        counter_evidence(finding, msg_make(N_("{0} of it at {1}"), of, at));
    if (!finding->file && places->line[own]) {
        finding->file = run_text(f->run, places->file[own]);
        finding->line = places->line[own];
    }
}

static double line_amount(const struct hot_line *line, enum place_metric what, enum place_metric ideal)
{
    return line->values[what] - (ideal == PLACE_OTHER ? 0 : line->values[ideal]);
}

static const struct hot_line *line_of(const struct counter_finder *f, uint32_t i)
{
    return &f->report->lines.at[f->row->first_line + i];
}

void counter_line(struct counter_finder *f, struct finding *finding, enum place_metric what,
                  enum place_metric ideal, unsigned waits)
{
    const struct hot_line *most = NULL;
    double sum = 0;
    for (uint32_t i = 0; i < f->row->line_count; i++) {
        double amount = line_amount(line_of(f, i), what, ideal);
        if (!(amount > 0))
            continue;
        sum += amount;
        if (!most || amount > line_amount(most, what, ideal))
            most = line_of(f, i);
    }
    if (most)
        point_at(f, finding, most, line_amount(most, what, ideal) / sum, NULL);
    else
        counter_stall_line(f, finding, waits);
}

static double line_waits(const struct hot_line *line, unsigned waits)
{
    double sum = 0;
    for (int s = 0; s < STALL_COUNT; s++)
        sum += waits >> s & 1 ? line->stalls[s] : 0;
    return sum;
}

void counter_stall_line(struct counter_finder *f, struct finding *finding, unsigned waits)
{
    const struct hot_line *most = NULL;
    double sum = 0;
    for (uint32_t i = 0; i < f->row->line_count; i++) {
        double amount = line_waits(line_of(f, i), waits);
        sum += amount;
        if (amount > 0 && (!most || amount > line_waits(most, waits)))
            most = line_of(f, i);
    }
    int reason = -1;
    for (int s = 0; most && s < STALL_COUNT; s++)
        if (waits >> s & 1 && (reason < 0 || most->stalls[s] > most->stalls[reason]))
            reason = s;
    if (most)
        point_at(f, finding, most, line_waits(most, waits) / sum, stall_keys[reason]);
}

/* ---- ranking ------------------------------------------------------------------------------------------- */

static double middle(const struct finding *finding)
{
    return (finding->saving_ratio[0] + finding->saving_ratio[1]) / 2;
}

static int most_saved_first(const void *a, const void *b)
{
    double left = middle(a), right = middle(b);
    if (left != right)
        return left > right ? -1 : 1;
    return strcmp(((const struct finding *)a)->id, ((const struct finding *)b)->id);
}

void counter_findings(struct report *report, struct profile_row *row)
{
    const struct run *run = report->run;
    struct counter_finder f = {
        .report = report,
        .run = run,
        .row = row,
        .device = row->device == NONE ? NULL : &run->devices.at[row->device],
        .shape = row->shape == NONE ? NULL : &run->shapes.at[row->shape],
        .code = row->code == NONE ? NULL : &run->codes.at[row->code],
        .pressure = pressure_of(row),
        .cycles = row->metrics[METRIC_ELAPSED_CYCLES].value,
    };
    find_global_access(&f);
    find_local_access(&f);
    find_atomics(&f);
    find_shared_access(&f);
    find_idle_lanes(&f);
    find_idle_sms(&f);
    find_pipes(&f);
    find_advised(&f);
    find_bound(&f);
    if (row->findings.count)
        qsort(row->findings.at, row->findings.count, sizeof *row->findings.at, most_saved_first);
}
