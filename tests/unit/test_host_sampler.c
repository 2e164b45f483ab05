/* The sampler's two sides at once, on real children. Run under ThreadSanitizer as well. */
#include "cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "source/host_sampler.h"

enum { CHILDREN = 4, MOST_ROUNDS = 5000 };

struct child {
    pid_t pid;
    int ends[2];
    uint32_t process;
};

/* A child that reads a byte after the other, and the name of a file that it has mapped: its program. */
static void child_start(struct child *c, struct run *run, uint32_t source)
{
    assert_int_equal(pipe2(c->ends, O_CLOEXEC), 0);
    c->pid = fork();
    if (c->pid == 0) {
        char byte;
        close(c->ends[1]);
        while (read(c->ends[0], &byte, 1) == 1)
            ;
        kill(getpid(), SIGKILL);
    }
    close(c->ends[0]);
    c->process = run_process(run, source, c->pid);
}

static void child_end(struct child *c)
{
    close(c->ends[1]);
    kill(c->pid, SIGKILL); /* those forked after it hold the end, too */
    waitpid(c->pid, NULL, 0);
}

static const char *own_program(char path[static 4096])
{
    ssize_t length = readlink("/proc/self/exe", path, 4095);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return slash ? slash : path;
}

static size_t count_spans(const struct run *run, uint32_t process, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < run->spans.count; i++)
        count += run->threads.at[run->spans.thread[i]].process == process &&
                 strcmp(run_text(run, run->spans.name[i]), name) == 0;
    return count;
}

static void children_that_wait_are_seen_waiting(void **state)
{
    (void)state;
    struct run run;
    struct child children[CHILDREN];
    char path[4096];
    run_init(&run);
    uint32_t source = run_add_source(&run, "test", "test");
    for (int i = 0; i < CHILDREN; i++)
        child_start(&children[i], &run, source); /* before there are threads here */
    struct host_sampler *s = host_sampler_start(&run, source, HOST_SAMPLING_MAX_HZ);
    assert_non_null(s);
    for (int i = 0; i < CHILDREN; i++)
        host_sampler_watch_process(s, &run, children[i].process, children[i].pid, own_program(path));
    host_sampler_watch_thread(s, children[0].process, 0, INT64_MAX); /* none that there is */
    const struct timespec moment = {.tv_nsec = 1000000};
    bool all = false;
    for (int round = 0; round < MOST_ROUNDS && !all; round++) {
        all = true;
        nanosleep(&moment, NULL); /* or nobody waits */
        host_sampler_drain(s, &run);
        for (int i = 0; i < CHILDREN; i++) {
            all = all && count_spans(&run, children[i].process, "read") > 0;
            assert_int_equal(write(children[i].ends[1], "x", 1), 1);
        }
    }
    assert_true(all);
    host_sampler_pause(s, true);
    child_end(&children[0]);
    host_sampler_forget_process(s, children[0].process);
    host_sampler_pause(s, false);
    for (int i = 1; i < CHILDREN; i++)
        child_end(&children[i]);
    assert_null(host_sampler_failure(s));
    host_sampler_finish(s, &run);
    for (size_t i = 0; i < run.spans.count; i++) {
        assert_true(run.spans.start[i] <= run.spans.end[i]);
        assert_true(run.spans.kind[i] == SPAN_OS || run.spans.kind[i] == SPAN_NATIVE);
    }
    assert_string_equal(run_text(&run, run.facts.at[0].key), "host_sampling_period_ns");
    assert_string_equal(run_text(&run, run.facts.at[0].value), "1000000");
    run_release(&run);
}

static void one_that_is_not_in_proc_is_told_of_and_a_short_lived_one_is_not(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    uint32_t source = run_add_source(&run, "test", "test");
    struct host_sampler *s = host_sampler_start(&run, source, 100);
    uint32_t process = run_process(&run, source, getpid());
    host_sampler_watch_process(s, &run, process, getpid(), "/no such file is mapped");
    const struct timespec moment = {.tv_nsec = 10000000};
    for (int round = 0; round < MOST_ROUNDS && !host_sampler_failure(s); round++)
        nanosleep(&moment, NULL);
    assert_non_null(host_sampler_failure(s));
    host_sampler_finish(s, &run);
    assert_int_equal(run.sources.at[0].repairs.count, 1);
    s = host_sampler_start(&run, source, 100);
    host_sampler_watch_process(s, &run, process, -1, "/gone");
    host_sampler_forget_process(s, process);
    host_sampler_finish(s, &run);
    assert_int_equal(run.sources.at[0].repairs.count, 1);
    run_release(&run);
}

static void it_ends_when_nobody_was_watched(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    uint32_t source = run_add_source(&run, "test", "test");
    assert_int_equal(host_sampler_finish(host_sampler_start(&run, source, 1), &run), 0);
    assert_int_equal(host_sampler_finish(host_sampler_start(&run, source, 1), NULL), 0);
    assert_int_equal(host_sampler_finish(NULL, &run), 0);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_that_wait_are_seen_waiting),
        cmocka_unit_test(one_that_is_not_in_proc_is_told_of_and_a_short_lived_one_is_not),
        cmocka_unit_test(it_ends_when_nobody_was_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
