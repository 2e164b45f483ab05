/* Xids of two tellers: what is one event, and what a hostile log cannot do. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/machine_driver.h"
#include "source/machine_events.h"

#define LINE_31 "3,1,10,-;NVRM: Xid (PCI:0000:3B:00 GPU-I:05): 31, pid=7, name=train, MMU Fault\n"

struct fixture {
    char path[64];
    FILE *log;
    struct machine_events events;
    struct machine_sample sample;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/warplight-kmsg-XXXXXX");
    f->log = fdopen(mkstemp(f->path), "w");
    fputs("3,0,1,-;NVRM: Xid (PCI:0000:3b:00): 79, of before\n", f->log);
    fflush(f->log);
    machine_events_open(&f->events, f->path);
    struct machine_device *device = vec_new(&f->sample.devices);
    device->parent = NONE;
    snprintf(device->facts.bus, sizeof device->facts.bus, "0000:3b:00.0");
    f->sample.interval_ns = 1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    machine_events_close(&f->events);
    machine_sample_release(&f->sample);
    fclose(f->log);
    unlink(f->path);
    free(f);
    return 0;
}

static void write_log(struct fixture *f, const char *text)
{
    fputs(text, f->log);
    fflush(f->log);
}

static void nvml_tells(struct fixture *f, int64_t code)
{
    struct machine_event event = {.time_unix_ns = driver_unix_ns(), .code = code, .bus = "0000:3b:00.0"};
    machine_events_add(&f->events, &event);
}

static void take(struct fixture *f)
{
    f->sample.time_unix_ns = driver_unix_ns();
    machine_events_take(&f->events, &f->sample);
}

static void what_both_tell_at_once_counts_once(void **state)
{
    struct fixture *f = *state;
    nvml_tells(f, 31);
    write_log(f, LINE_31 LINE_31);
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    const struct machine_event *event = &f->sample.events.at[0];
    assert_int_equal(event->code, 31);
    assert_int_equal(event->count, 2);
    assert_int_equal(event->device, 0);
    assert_int_equal(event->told_by, MACHINE_TOLD_BY_NVML | MACHINE_TOLD_BY_KERNEL_LOG);
    assert_string_equal(event->process, "train (7)");
    take(f);
    assert_int_equal(f->sample.events.count, 0);
}

/* As on an H200, but for the clock. */
#define LINES_13                                                                                             \
    "3,4,20,-;NVRM: Xid (PCI:0000:3b:00): 13, Graphics SM Warp Exception on (GPC 0, TPC 2, SM 0): "          \
    "Misaligned Address\n"                                                                                   \
    "3,5,21,-;NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception: ESR 0x507730=0x500000f 0x507734=0x0\n"     \
    "3,6,22,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=8, name=faults, Graphics Exception: channel 0x0000000a, "  \
    "Class 0\n"

static void lines_of_one_graphics_exception_count_once(void **state)
{
    struct fixture *f = *state;
    write_log(f, LINES_13 LINES_13);
    nvml_tells(f, 13);
    nvml_tells(f, 13);
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    assert_int_equal(f->sample.events.at[0].count, 2);
    assert_string_equal(f->sample.events.at[0].process, "faults (8)");
    /* The rest of a burst that a sample cut in two. */
    write_log(f,
              "3,7,23,-;NVRM: Xid (PCI:0000:3b:00): 13, Graphics SM Global Exception on (GPC 1, TPC 0): x\n");
    take(f);
    assert_int_equal(f->sample.events.at[0].count, 1);
    write_log(f, "3,8,24,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=9, name=faults, Graphics Exception: channel "
                 "0x0000000b\n");
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    write_log(f, "3,9,25,-;NVRM: Xid (PCI:0000:3b:00): 13, pid=9, name=faults, Graphics Exception: channel "
                 "0x0000000b\n");
    take(f);
    assert_int_equal(f->sample.events.count, 1);
}

static void who_is_late_tells_nothing_new(void **state)
{
    struct fixture *f = *state;
    nvml_tells(f, 31);
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    write_log(f, LINE_31);
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    /* A second one is one, whoever tells it first. */
    write_log(f, LINE_31);
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    nvml_tells(f, 31);
    take(f);
    assert_int_equal(f->sample.events.count, 0);
}

static void another_code_or_gpu_is_another_event(void **state)
{
    struct fixture *f = *state;
    nvml_tells(f, 31);
    nvml_tells(f, 43);
    write_log(f, "3,2,11,-;NVRM: Xid (PCI:0000:5e:00): 31, pid=7, name=train, MMU Fault\n");
    take(f);
    assert_int_equal(f->sample.events.count, 3);
    assert_int_equal(f->sample.events.at[2].device, NONE);
    assert_string_equal(f->sample.events.at[2].bus, "0000:5e:00.0");
}

static void the_first_sample_leaves_events_to_the_second(void **state)
{
    struct fixture *f = *state;
    nvml_tells(f, 31);
    f->sample.interval_ns = 0;
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    assert_int_equal(f->sample.sources[MACHINE_KERNEL_LOG].state, READING_KNOWN);
    f->sample.interval_ns = 1;
    take(f);
    assert_int_equal(f->sample.events.count, 1);
}

static void a_line_that_comes_in_pieces_is_read_when_it_ends(void **state)
{
    struct fixture *f = *state;
    write_log(f, "3,1,10,-;NVRM: Xid (PCI:0000:3b:00): 3");
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    write_log(f, "1, pid=7\n");
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    assert_int_equal(f->sample.events.at[0].code, 31);
}

static void nonsense_is_no_event(void **state)
{
    struct fixture *f = *state;
    write_log(f, ";\n,;Xid\n\n ,,,;NVRM: Xid\n3,1;NVRM: Xid (PCI:0000:3b:00): 31, x\n"
                 "3,1,99999999999999999999,-;NVRM: Xid (PCI:0000:3b:00): 9999999, too long\n"
                 "3,1,1,-;NVRM: SXid (PCI:0000:3b:00): 12028, a switch\n");
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    for (int i = 0; i < 40; i++) /* no end of a line */
        write_log(f, "Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid "
                     "Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid Xid ");
    take(f);
    assert_int_equal(f->sample.events.count, 0);
    for (int code = 1; code <= 600; code++) {
        char line[80];
        snprintf(line, sizeof line, "\n3,1,1,-;NVRM: Xid (PCI:0000:3b:00): %d, x", code);
        write_log(f, line);
    }
    take(f);
    assert_in_range(f->sample.events.count, 1, 256);
}

static bool wants_this_gpu(void *context, const struct machine_event *event)
{
    int *offered = context;
    ++*offered;
    return strcmp(event->bus, "0000:3b:00.0") == 0;
}

static void what_is_not_wanted_yet_is_offered_again_and_what_was_taken_is_not(void **state)
{
    struct fixture *f = *state;
    int offered = 0;
    write_log(f, LINE_31 "3,9,20,-;NVRM: Xid (PCI:0000:5e:00): 13, pid=1, name=a, of another GPU\n");
    machine_events_read(&f->events);
    machine_events_offer(&f->events, driver_unix_ns(), wants_this_gpu, &offered);
    assert_int_equal(offered, 2);
    nvml_tells(f, 31);
    machine_events_offer(&f->events, driver_unix_ns(), wants_this_gpu, &offered);
    assert_int_equal(offered, 3);
    take(f);
    assert_int_equal(f->sample.events.count, 1);
    assert_int_equal(f->sample.events.at[0].code, 13);
}

static void what_is_no_log_is_not_opened(void **state)
{
    (void)state;
    struct kmsg_follow log;
    kmsg_follow_open(&log, "/dev/null");
    assert_int_equal(log.state, READING_UNSUPPORTED);
    kmsg_follow_close(&log);
    kmsg_follow_open(&log, "/nonexistent/kmsg");
    assert_int_equal(log.state, READING_UNSUPPORTED);
    kmsg_follow_close(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_both_tell_at_once_counts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_of_one_graphics_exception_count_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_late_tells_nothing_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_code_or_gpu_is_another_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_sample_leaves_events_to_the_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_comes_in_pieces_is_read_when_it_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_no_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_wanted_yet_is_offered_again_and_what_was_taken_is_not,
                                        set_up, tear_down),
        cmocka_unit_test(what_is_no_log_is_not_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
