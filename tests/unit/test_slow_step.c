/* Which ranges are steps, and which of them are slow. */
#include <stdio.h>

#include "cmocka_all.h"
#include "make_run.h"
#include "source/slow_step.h"

enum { MS = 1000 * 1000 };

struct fixture {
    struct run run;
    struct slow_step_watch watch;
    uint32_t thread;
    int64_t now;
};

static void begin(struct fixture *f, struct slow_step_watch watch)
{
    *f = (struct fixture){.watch = watch, .now = 1};
    run_init(&f->run);
    f->thread = run_thread(&f->run, run_process(&f->run, run_add_source(&f->run, "test", "test"), 1), 1);
}

static void end(struct fixture *f)
{
    slow_step_release(&f->watch);
    run_release(&f->run);
}

static bool range(struct fixture *f, const char *name, int64_t start, int64_t length, struct slow_step *slow)
{
    size_t first = f->run.spans.count;
    make_span(&f->run, f->thread, SPAN_ANNOTATION, name, start, start + length, 0);
    return slow_step_look(&f->watch, &f->run, first, slow);
}

static bool step(struct fixture *f, const char *name, int64_t length, struct slow_step *slow)
{
    bool is_slow = range(f, name, f->now, length, slow);
    f->now += length;
    return is_slow;
}

static void a_step_above_the_limit_is_slow_once_it_repeats(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    begin(&f, (struct slow_step_watch){.limit_ns = 10 * MS});
    assert_false(step(&f, "step", 50 * MS, &slow)); /* the first: a warm-up, or no step at all */
    assert_false(step(&f, "step", 10 * MS, &slow));
    assert_true(step(&f, "step", 11 * MS, &slow));
    assert_int_equal(slow.length_ns, 11 * MS);
    assert_int_equal(slow.median_ns, UNKNOWN);
    end(&f);
}

static void a_ratio_needs_a_median_that_has_settled(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    begin(&f, (struct slow_step_watch){.ratio = 2});
    for (int i = 0; i < SLOW_STEP_SETTLED; i++)
        assert_false(step(&f, "step", (i == 3 ? 90 : 10) * MS, &slow));
    assert_false(step(&f, "step", 20 * MS, &slow));
    assert_true(step(&f, "step", 20 * MS + 1, &slow));
    assert_int_equal(slow.median_ns, 10 * MS);
    end(&f);
}

static void the_median_follows_the_last_steps(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    begin(&f, (struct slow_step_watch){.ratio = 2});
    for (int i = 0; i < SLOW_STEP_LAST; i++)
        step(&f, "step", 10 * MS, &slow);
    for (int i = 0; i < SLOW_STEP_LAST; i++)
        step(&f, "step", 100 * MS, &slow);
    assert_false(step(&f, "step", 150 * MS, &slow));
    end(&f);
}

static void parts_of_a_step_are_none(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    begin(&f, (struct slow_step_watch){.limit_ns = 10 * MS});
    for (int i = 0; i < 3; i++) {
        range(&f, "forward", f.now + MS, 2 * MS, &slow);
        assert_false(step(&f, "step", 5 * MS, &slow));
    }
    assert_false(range(&f, "forward", f.now + MS, 50 * MS, &slow));
    assert_true(step(&f, "step", 60 * MS, &slow));
    end(&f);
}

static void a_named_step_is_one_wherever_it_is(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    begin(&f, (struct slow_step_watch){.limit_ns = 10 * MS, .name = "forward"});
    assert_false(step(&f, "step", 60 * MS, &slow));
    assert_true(step(&f, "forward", 11 * MS, &slow));
    end(&f);
}

static void more_names_than_are_watched_cost_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    char name[32];
    begin(&f, (struct slow_step_watch){.limit_ns = 10 * MS});
    step(&f, "step", MS, &slow);
    for (int i = 0; i < 2 * SLOW_STEP_NAMES; i++) {
        snprintf(name, sizeof name, "batch %d", i);
        assert_false(step(&f, name, 50 * MS, &slow));
    }
    assert_int_equal(f.watch.names.count, SLOW_STEP_NAMES);
    assert_true(step(&f, "step", 20 * MS, &slow));
    end(&f);
}

static void a_step_is_still_known_after_the_run_was_compacted(void **state)
{
    (void)state;
    struct fixture f;
    struct slow_step slow;
    struct compaction c;
    begin(&f, (struct slow_step_watch){.limit_ns = 10 * MS});
    intern_puts(&f.run.strings, "used by a row that fell out");
    assert_false(step(&f, "step", 5 * MS, &slow));
    f.run.spans.count = 0;
    compaction_begin(&c, &f.run);
    slow_step_hold(&f.watch, &c);
    compaction_apply(&c, &f.run);
    slow_step_hold(&f.watch, &c);
    compaction_release(&c);
    assert_true(step(&f, "step", 11 * MS, &slow));
    assert_string_equal(run_text(&f.run, slow.name), "step");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_above_the_limit_is_slow_once_it_repeats),
        cmocka_unit_test(a_ratio_needs_a_median_that_has_settled),
        cmocka_unit_test(the_median_follows_the_last_steps),
        cmocka_unit_test(parts_of_a_step_are_none),
        cmocka_unit_test(a_named_step_is_one_wherever_it_is),
        cmocka_unit_test(more_names_than_are_watched_cost_nothing),
        cmocka_unit_test(a_step_is_still_known_after_the_run_was_compacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
