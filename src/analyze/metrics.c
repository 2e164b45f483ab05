#include "analyze/metrics.h"

#include <math.h>
#include <string.h>

#include "analyze/analyze.h"
#include "base/json.h"

#define METRIC_INFO_(id, key, unit, max) [METRIC_##id] = {key, unit, max},
const struct metric_info metric_infos[METRIC_COUNT] = {METRICS(METRIC_INFO_)};

/* ---- counters by name ---------------------------------------------------------------------------------- */

static uint64_t row_key(uint32_t profile, uint32_t name)
{
    return (uint64_t)profile << 32 | name;
}

void metrics_init(struct metrics *m, const struct run *run)
{
    *m = (struct metrics){.run = run};
    const struct counter_table *counters = &run->counters;
    for (size_t i = 0; i < counters->count; i++)
        map_set(&m->rows, row_key(counters->profile[i], counters->name[i]), (uint32_t)i);
}

void metrics_release(struct metrics *m)
{
    map_release(&m->rows);
}

static struct metric_value no_value(enum counter_state state)
{
    return (struct metric_value){.value = NAN, .state = state};
}

static struct metric_value find_counter(const struct metrics *m, uint32_t profile, const char *name,
                                        size_t length)
{
    const struct run *run = m->run;
    uint32_t id = intern_find(&run->strings, name, length);
    uint32_t row = id == INTERN_ABSENT ? MAP_ABSENT : map_get(&m->rows, row_key(profile, id));
    if (row == MAP_ABSENT)
        return no_value(COUNTER_NOT_MEASURED);
    enum counter_state state = run->counters.state[row];
    if (state != COUNTER_VALUE && state != COUNTER_IMPLAUSIBLE)
        return no_value(state);
    double value = run->counters.value[row];
    if (strcmp(run_text(run, run->counters.unit[row]), "%") == 0)
        value /= 100;
    return (struct metric_value){.value = value, .state = state};
}

struct metric_value counter_get(const struct metrics *m, uint32_t profile, const char *name)
{
    return find_counter(m, profile, name, strlen(name));
}

/* ---- formulas ------------------------------------------------------------------------------------------ */

/* A formula is evaluated as it is read. state tells why there is no value as soon as there is none. */
struct formula {
    const struct metrics *m;
    uint32_t profile;
    const char *at;
    enum counter_state state;
};

static double read_largest(struct formula *f);

static bool accept(struct formula *f, char c)
{
    f->at += strspn(f->at, " ");
    if (*f->at != c)
        return false;
    f->at++;
    return true;
}

static double read_counter(struct formula *f)
{
    const char *name = f->at;
    size_t length;
    if (*name == '\'') {
        length = strcspn(++name, "'");
        f->at = name + length + 1;
    } else {
        length = strcspn(name, " )?");
        f->at = name + length;
    }
    struct metric_value counter = find_counter(f->m, f->profile, name, length);
    bool optional = *f->at == '?';
    f->at += optional;
    if (counter.state == COUNTER_VALUE)
        return counter.value;
    if (!(optional && counter.state == COUNTER_NOT_MEASURED) && f->state == COUNTER_VALUE)
        f->state = counter.state;
    return 0;
}

static double read_factor(struct formula *f)
{
    if (accept(f, '(')) {
        double value = read_largest(f);
        accept(f, ')');
        return value;
    }
    double number;
    size_t length = strcspn(f->at, " )");
    if (json_to_double((struct json_text){f->at, length}, &number)) {
        f->at += length;
        return number;
    }
    return read_counter(f);
}

static double read_product(struct formula *f)
{
    double value = read_factor(f);
    for (;;) {
        if (accept(f, '*')) {
            value *= read_factor(f);
        } else if (accept(f, '/')) {
            double by = read_factor(f);
            if (by == 0 && f->state == COUNTER_VALUE)
                f->state = COUNTER_UNDEFINED;
            value = by == 0 ? 0 : value / by;
        } else {
            return value;
        }
    }
}

static double read_sum(struct formula *f)
{
    double value = read_product(f);
    for (;;) {
        if (accept(f, '+'))
            value += read_product(f);
        else if (accept(f, '-'))
            value -= read_product(f);
        else
            return value;
    }
}

static double read_largest(struct formula *f)
{
    double value = read_sum(f);
    while (accept(f, '|'))
        value = fmax(value, read_sum(f));
    return value;
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

static struct metric_value plausible(enum metric id, double value, const char *formula)
{
    double max = metric_infos[id].max;
    bool possible = isfinite(value) && value >= 0 && (max == 0 || value <= max);
    return (struct metric_value){value, possible ? COUNTER_VALUE : COUNTER_IMPLAUSIBLE, formula};
}

/* What follows from the launch alone. */
static struct metric_value from_shape(const struct metrics *m, uint32_t profile, enum metric id)
{
    const struct run *run = m->run;
    const struct kernel_profile *p = &run->profiles.at[profile];
    if (p->shape == NONE || p->device == NONE)
        return no_value(COUNTER_NOT_MEASURED);
    const struct shape *shape = &run->shapes.at[p->shape];
    const struct device *device = &run->devices.at[p->device];
    int32_t blocks;
    double occupancy = occupancy_of(device, shape, &blocks);
    if (isnan(occupancy) || blocks <= 0)
        return no_value(COUNTER_NOT_MEASURED);
    if (id == METRIC_THEORETICAL_OCCUPANCY)
        return plausible(id, occupancy, "occupancy(shape)");
    double grid = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
    if (id != METRIC_WAVES || device->sm_count <= 0 || grid == 0)
        return no_value(COUNTER_NOT_MEASURED);
    return plausible(id, grid / blocks / device->sm_count, "blocks / (SMs * resident blocks)");
}

/* ncu prints 0 % of uniform branches where there was none to judge. */
static bool is_share_of_nothing(const struct metrics *m, uint32_t profile, enum metric id, double value)
{
    return id == METRIC_BRANCH_UNIFORM && value == 0 &&
           metric_get(m, profile, METRIC_BRANCH_DIVERGENT).value == 0;
}

struct metric_value metric_get(const struct metrics *m, uint32_t profile, enum metric id)
{
    enum counter_state why = COUNTER_NOT_MEASURED;
    for (const char *const *formula = metric_formulas[id]; formula && *formula; formula++) {
        struct formula f = {.m = m, .profile = profile, .at = *formula};
        double value = read_largest(&f);
        if (f.state == COUNTER_UNDEFINED ||
            (f.state == COUNTER_VALUE && is_share_of_nothing(m, profile, id, value)))
            return no_value(COUNTER_UNDEFINED);
        if (f.state == COUNTER_VALUE)
            return plausible(id, value, *formula);
        if (why == COUNTER_NOT_MEASURED)
            why = f.state;
    }
    /* Our own reports name what they hold. */
    struct metric_value own = counter_get(m, profile, metric_infos[id].key);
    if (own.state == COUNTER_VALUE)
        return plausible(id, own.value, metric_infos[id].key);
    if (own.state != COUNTER_NOT_MEASURED)
        return no_value(own.state);
    struct metric_value derived = from_shape(m, profile, id);
    return derived.state == COUNTER_VALUE ? derived : no_value(why);
}
