/* What changed between two measurements, and what is only noise. */
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#include "analyze/changes.h"
#include "analyze/profiles.h"

struct side {
    struct run run;
    struct report report;
};

struct fixture {
    struct side before, after;
};

static void begin_side(struct side *s)
{
    *s = (struct side){0};
    run_init(&s->run);
    uint32_t source = run_add_source(&s->run, "test", "made by hand");
    uint32_t id = run_device(&s->run, source, 0);
    struct device *device = &s->run.devices.at[id];
    device->cc_major = 9;
    device->sm_count = 132;
}

static void begin(struct fixture *f)
{
    begin_side(&f->before);
    begin_side(&f->after);
}

static void counter(struct side *s, const char *name, const char *unit, double value)
{
    struct counter_table *counters = &s->run.counters;
    size_t row = counter_table_add(counters);
    counters->profile[row] = (uint32_t)s->run.profiles.count - 1;
    counters->name[row] = intern_puts(&s->run.strings, name);
    counters->unit[row] = intern_puts(&s->run.strings, unit);
    counters->value[row] = value;
    counters->state[row] = COUNTER_VALUE;
}

static void launch(struct side *s, const char *name, uint32_t grid, double ns)
{
    struct shape shape = {
        .grid = {grid, 1, 1}, .block = {256, 1, 1}, .regs_per_thread = 32, .occupancy_percent = -1};
    *vec_new(&s->run.profiles) = (struct kernel_profile){
        .process = NONE,
        .name = intern_puts(&s->run.strings, name),
        .shape = run_shape(&s->run, &shape),
        .code = NONE,
        .image = NONE,
        .launches = 1,
    };
    counter(s, "gpu__time_duration.sum", "ns", ns);
}

static const struct profile_change *compare(struct fixture *f)
{
    struct side *sides[] = {&f->before, &f->after};
    for (int i = 0; i < 2; i++) {
        run_seal(&sides[i]->run);
        profiles_build(&sides[i]->report, &sides[i]->run, &(struct profile_options){0});
    }
    changes_build(&f->after.report, &f->before.report);
    return f->after.report.changes.at;
}

static void end(struct fixture *f)
{
    report_release(&f->after.report);
    report_release(&f->before.report);
    run_release(&f->before.run);
    run_release(&f->after.run);
}

static void a_single_launch_is_not_known_better_than_5_percent(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    launch(&f.before, "k", 1000, 100000);
    launch(&f.after, "k", 1000, 106000);
    const struct profile_change *change = compare(&f);
    assert_true(change->is_noise);
    assert_true(fabs(change->change_ratio - 0.06) < 1e-9);
    assert_false(changes_exceed(&f.after.report, 0.02));
    end(&f);
}

static void many_launches_make_a_small_change_certain(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 25; i++) {
        launch(&f.before, "k", 1000, 100000 + (i % 5 - 2) * 500);
        launch(&f.after, "k", 1000, 103000 + (i % 5 - 2) * 500);
    }
    const struct profile_change *change = compare(&f);
    assert_false(change->is_noise);
    assert_true(changes_exceed(&f.after.report, 0.02));
    assert_false(changes_exceed(&f.after.report, 0.05));
    end(&f);
}

static void scattered_launches_hide_a_change(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i < 4; i++) {
        launch(&f.before, "k", 1000, 100000 + i * 20000);
        launch(&f.after, "k", 1000, 110000 + i * 20000);
    }
    assert_true(compare(&f)->is_noise);
    end(&f);
}

static void kernels_are_matched_by_launch_then_by_name(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    launch(&f.before, "void k<int>(float *, int)", 1000, 100000);
    launch(&f.before, "gone", 10, 1000);
    launch(&f.before, "two", 10, 1000);
    launch(&f.before, "two", 20, 2000);
    launch(&f.after, "k<int>(float*, int)", 500, 50000); /* another tool's spelling, another grid */
    launch(&f.after, "two", 20, 2000);
    launch(&f.after, "two", 30, 3000);
    compare(&f);
    const struct report *report = &f.after.report;
    assert_int_equal(report->changes.count, 5);
    int matched = 0, came = 0, went = 0;
    vec_each (&report->changes, change) {
        matched += change->before != NONE && change->after != NONE;
        came += change->before == NONE;
        went += change->after == NONE;
    }
    assert_int_equal(matched, 2); /* k, and "two" with a grid of 20 */
    assert_int_equal(came, 1);
    assert_int_equal(went, 2);
    const struct profile_change *first = report->changes.at; /* the largest change of time */
    assert_int_equal(first->after_ns, 50000);
    assert_int_equal(first->notes.count, 1); /* the grid is another */
    double before, after;
    changes_total(report, &before, &after);
    assert_true(before == 102000 && after == 52000);
    end(&f);
}

static void findings_go_and_come(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct side *sides[] = {&f.before, &f.after};
    for (int i = 0; i < 2; i++) {
        launch(sides[i], "k", 132 * 8 * 20, i ? 50000 : 100000);
        counter(sides[i], "smsp__issue_active.avg.pct_of_peak_sustained_active", "%", 10);
        counter(sides[i], "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", 85);
        counter(sides[i], "memory_l2_theoretical_sectors_global", "", 2e6);
        counter(sides[i], "memory_l2_theoretical_sectors_global_ideal", "", i ? 2e6 : 5e5);
        counter(sides[i], "l1tex__t_sector_hit_rate.pct", "%", i ? 50.2 : 50);
    }
    const struct profile_change *change = compare(&f);
    assert_string_equal(change->before_finding, "kernel-uncoalesced");
    assert_string_equal(change->after_finding, "kernel-memory-bound");
    assert_int_equal(change->finding_count, 2);
    const struct finding_change *went = &f.after.report.finding_changes.at[change->first_finding];
    assert_false(went[0].came);
    assert_string_equal(went[0].id, "kernel-uncoalesced");
    assert_true(went[1].came);
    for (uint32_t i = 0; i < change->metric_count; i++) /* a fifth of a point is nothing */
        assert_int_not_equal(f.after.report.metric_changes.at[change->first_metric + i].id, METRIC_L1_HIT);
    end(&f);
}

static bool notes_say(const struct profile_change *change, const char *part)
{
    vec_each (&change->notes, note)
        if (strstr(note->format, part))
            return true;
    return false;
}

static void more_occupancy_that_hurts_is_named(void **state)
{
    (void)state;
    for (int slower = 0; slower < 2; slower++) {
        struct fixture f;
        begin(&f);
        struct side *sides[] = {&f.before, &f.after};
        for (int i = 0; i < 2; i++) {
            launch(sides[i], "k", 10000, i ? (slower ? 115000 : 80000) : 100000);
            counter(sides[i], "sm__warps_active.avg.pct_of_peak_sustained_active", "%", i ? 93 : 67);
            counter(sides[i], "l1tex__t_sector_hit_rate.pct", "%", i ? 20 : 60);
        }
        assert_int_equal(notes_say(compare(&f), "crowd each other"), slower);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_launch_is_not_known_better_than_5_percent),
        cmocka_unit_test(many_launches_make_a_small_change_certain),
        cmocka_unit_test(scattered_launches_hide_a_change),
        cmocka_unit_test(kernels_are_matched_by_launch_then_by_name),
        cmocka_unit_test(findings_go_and_come),
        cmocka_unit_test(more_occupancy_that_hurts_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
