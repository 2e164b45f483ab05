/* Samples go into a run as counters and facts, and come out of it as samples. */
#include "cmocka_all.h"

#include "make_machine.h"
#include "source/machine_replay.h"
#include "source/machine_series.h"

enum { SECOND = 1000000000 };

struct recorded {
    struct run run;
    struct machine_series series;
    uint32_t source;
    struct machine_sample sample;
    struct machine_replay *replay;
};

static void begin(struct recorded *r)
{
    *r = (struct recorded){0};
    run_init(&r->run);
    r->source = run_add_source(&r->run, "x.wlt", "test");
}

static void begin_with_gpu(struct recorded *r)
{
    begin(r);
    make_machine_host(&r->sample);
    make_machine_gpu(&r->sample, 0, 3);
}

static void add(struct recorded *r, int moment)
{
    struct machine_sample *s = &r->sample;
    s->time_unix_ns = MADE_TIME + moment * (int64_t)SECOND;
    vec_each (&s->devices, d)
        d->sample.time_ns = s->time_unix_ns - 1000000;
    machine_series_add(&r->series, &r->run, r->source, s);
}

static void play(struct recorded *r)
{
    run_seal(&r->run);
    r->replay = machine_replay_open(&r->run);
    assert_non_null(r->replay);
}

static void end(struct recorded *r)
{
    machine_replay_close(r->replay);
    machine_series_release(&r->series);
    machine_sample_release(&r->sample);
    run_release(&r->run);
}

static void assert_readings(const void *a, const void *b, const struct gpu_field *fields)
{
    enum counter_unit unit;
    for (const struct gpu_field *field = fields; field->key; field++) {
        if (field->kind == GPU_TOTAL || machine_series_scale(field->unit, &unit) == 0)
            continue;
        if (gpu_get(a, field).state != gpu_get(b, field).state ||
            gpu_get(a, field).value != gpu_get(b, field).value)
            print_message("%s\n", field->key);
        assert_int_equal(gpu_get(a, field).state, gpu_get(b, field).state);
        assert_int_equal(gpu_get(a, field).value, gpu_get(b, field).value);
    }
}

static void a_sample_comes_out_as_it_went_in(void **state)
{
    struct recorded r;
    (void)state;
    begin_with_gpu(&r);
    make_machine_gpu(&r.sample, 1, 4)->sample.power = reading_missing(READING_NO_PERMISSION);
    struct machine_process *p = make_machine_process(&r.sample, 1, 4242, 17, "ann", "python3 train.py 模型");
    for (const struct gpu_field *field = machine_process_fields; field->key; field++)
        gpu_reading(p, field)->state =
            gpu_get(p, field).state == READING_KNOWN ? READING_KNOWN : READING_UNREAD;
    snprintf(p->job, sizeof p->job, "4711.0");
    for (int moment = 0; moment < 3; moment++)
        add(&r, moment);
    play(&r);
    assert_int_equal(machine_replay_count(r.replay), 3);
    const struct machine_sample *s = machine_replay_take(r.replay, 2);
    assert_int_equal(s->time_unix_ns, MADE_TIME + 2 * (int64_t)SECOND);
    assert_int_equal(s->interval_ns, SECOND);
    assert_string_equal(s->host.name, "node7");
    assert_int_equal(s->host.memory_used.value, INT64_C(97) << 30);
    assert_int_equal(s->host.load_1.value, 1250);
    assert_int_equal(s->devices.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(s->devices.at[i].key, r.sample.devices.at[i].key);
        assert_string_equal(s->devices.at[i].facts.bus, r.sample.devices.at[i].facts.bus);
        assert_int_equal(s->devices.at[i].state, READING_KNOWN);
        assert_readings(&s->devices.at[i].sample, &r.sample.devices.at[i].sample, gpu_sample_fields);
        assert_int_equal(s->devices.at[i].detail.sm_active.value,
                         r.sample.devices.at[i].detail.sm_active.value);
    }
    assert_int_equal(s->processes.count, 1);
    assert_int_equal(s->processes.at[0].pid, 4242);
    assert_int_equal(s->processes.at[0].parent_pid, 17);
    assert_int_equal(s->processes.at[0].start_unix_ns, p->start_unix_ns);
    assert_int_equal(s->processes.at[0].device, 1);
    assert_int_equal(s->processes.at[0].type, MACHINE_COMPUTE);
    assert_string_equal(s->processes.at[0].user, "ann");
    assert_string_equal(s->processes.at[0].command, "python3 train.py 模型");
    assert_string_equal(s->processes.at[0].job, "4711.0");
    assert_readings(&s->processes.at[0], p, machine_process_fields);
    end(&r);
}

static void what_changes_shows_at_its_time(void **state)
{
    struct recorded r;
    (void)state;
    begin_with_gpu(&r);
    add(&r, 0);
    make_machine_process(&r.sample, 0, 55, 1, "ann", "first");
    add(&r, 1);
    r.sample.processes.count = 0; /* the number of a process that ended names another one */
    make_machine_process(&r.sample, 0, 55, 1, "bob", "second")->start_unix_ns = MADE_TIME + SECOND;
    r.sample.devices.at[0].state = READING_LOST;
    add(&r, 2);
    r.sample.processes.count = 0;
    r.sample.devices.at[0].state = READING_KNOWN;
    add(&r, 3);
    play(&r);
    assert_int_equal(machine_replay_take(r.replay, 0)->processes.count, 0);
    assert_string_equal(machine_replay_take(r.replay, 1)->processes.at[0].command, "first");
    const struct machine_sample *s = machine_replay_take(r.replay, 2);
    assert_string_equal(s->processes.at[0].command, "second");
    assert_string_equal(s->processes.at[0].user, "bob");
    assert_int_equal(s->devices.at[0].state, READING_LOST);
    assert_int_equal(s->devices.at[0].sample.power.state, READING_LOST);
    s = machine_replay_take(r.replay, 3);
    assert_int_equal(s->processes.count, 0);
    assert_int_equal(s->devices.at[0].sample.power.state, READING_KNOWN);
    end(&r);
}

static void samples_go_on_where_the_clock_was_set_back(void **state)
{
    struct recorded r;
    (void)state;
    begin_with_gpu(&r);
    add(&r, 0);
    add(&r, 1);
    r.sample.devices.at[0].sample.power = reading_of(123000);
    add(&r, -100);
    play(&r);
    assert_int_equal(machine_replay_count(r.replay), 3);
    const struct machine_sample *s = machine_replay_take(r.replay, 0);
    assert_int_equal(s->time_unix_ns, MADE_TIME - 100 * (int64_t)SECOND);
    assert_int_equal(s->devices.at[0].sample.power.state, READING_KNOWN);
    assert_int_equal(s->devices.at[0].sample.power.value, 123000);
    end(&r);
}

static void xids_come_in_the_sample_after_them(void **state)
{
    struct recorded r;
    (void)state;
    begin_with_gpu(&r);
    add(&r, 0);
    struct machine_event *event = vec_new(&r.sample.events);
    *event = (struct machine_event){
        .time_unix_ns = MADE_TIME + SECOND / 2, .code = 31, .count = 1, .process = "python3 (4711)"};
    add(&r, 1);
    r.sample.events.count = 0;
    add(&r, 2);
    play(&r);
    assert_int_equal(machine_replay_take(r.replay, 0)->events.count, 0);
    const struct machine_sample *s = machine_replay_take(r.replay, 1);
    assert_int_equal(s->events.count, 1);
    assert_int_equal(s->events.at[0].code, 31);
    assert_int_equal(s->events.at[0].device, 0);
    assert_int_equal(s->events.at[0].time_unix_ns, MADE_TIME + SECOND / 2);
    assert_string_equal(s->events.at[0].process, "python3 (4711)");
    assert_int_equal(machine_replay_take(r.replay, 2)->events.count, 0);
    end(&r);
}

static void a_moment_is_found_by_time(void **state)
{
    struct recorded r;
    (void)state;
    begin(&r);
    make_machine_host(&r.sample);
    for (int moment = 0; moment < 5; moment++)
        add(&r, moment);
    play(&r);
    assert_int_equal(machine_replay_at(r.replay, MADE_TIME - 1), 0);
    assert_int_equal(machine_replay_at(r.replay, MADE_TIME + 2 * (int64_t)SECOND), 2);
    assert_int_equal(machine_replay_at(r.replay, MADE_TIME + 3 * (int64_t)SECOND - 1), 2);
    assert_int_equal(machine_replay_at(r.replay, INT64_MAX), 4);
    assert_int_equal(machine_replay_time(r.replay, 4), MADE_TIME + 4 * (int64_t)SECOND);
    end(&r);
}

/* What `record` and other tools write: counters of a device, no marks of samples. */
static void counters_of_another_recording_play_too(void **state)
{
    struct recorded r;
    (void)state;
    begin(&r);
    uint32_t device = run_device(&r.run, r.source, 0),
             power = run_series(&r.run, "power", device, NONE, UNIT_WATTS);
    uint32_t odd = run_series(&r.run, "power", 7000, NONE, UNIT_WATTS);
    for (int i = 0; i < 4; i++) {
        size_t row = sample_table_add(&r.run.samples);
        r.run.samples.time[row] = i * (int64_t)SECOND;
        r.run.samples.value[row] = i == 3 ? 1e300 : 100.5 + i;
        r.run.samples.series[row] = i == 2 ? odd : power;
    }
    play(&r);
    const struct machine_sample *s = machine_replay_take(r.replay, 1);
    assert_int_equal(s->devices.at[0].sample.power.value, 101500);
    assert_int_equal(s->devices.at[0].state, READING_KNOWN);
    s = machine_replay_take(r.replay, machine_replay_count(r.replay) - 1);
    assert_int_equal(s->devices.at[0].sample.power.state, READING_UNREAD); /* no such power */
    end(&r);
}

static void a_run_without_counters_has_no_samples(void **state)
{
    struct recorded r;
    (void)state;
    begin(&r);
    run_seal(&r.run);
    assert_null(machine_replay_open(&r.run));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_comes_out_as_it_went_in),
        cmocka_unit_test(what_changes_shows_at_its_time),
        cmocka_unit_test(samples_go_on_where_the_clock_was_set_back),
        cmocka_unit_test(xids_come_in_the_sample_after_them),
        cmocka_unit_test(a_moment_is_found_by_time),
        cmocka_unit_test(counters_of_another_recording_play_too),
        cmocka_unit_test(a_run_without_counters_has_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
