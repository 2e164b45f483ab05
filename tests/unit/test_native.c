/* Native functions of real children, and of samples that are made up. Run under ThreadSanitizer as well. */
#include "cmocka_all.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/sampled.h"
#include "source/host_sampler.h"
#include "source/native_track.h"

enum { MS = 1000000, MOST_ROUNDS = 5000 };

/* ---- what samples say -----------------------------------------------------------------------------------
 */

static void assert_track(const host_span_list *out, size_t i, uint32_t name, uint32_t inside, int64_t start,
                         int64_t end)
{
    assert_true(i < out->count);
    assert_int_equal(out->at[i].name, name);
    assert_int_equal(out->at[i].detail, inside);
    assert_int_equal(out->at[i].start, start);
    assert_int_equal(out->at[i].end, end);
    assert_int_equal(out->at[i].kind, SPAN_NATIVE);
}

static void consecutive_samples_of_a_function_are_one_span(void **state)
{
    (void)state;
    struct native_track t = {.period_ns = 5 * MS};
    host_span_list out = {0};
    struct native_frame f = {7, 0, false}, f_inside = {7, 9, false}, g = {8, 0, false}, none = {0};
    native_track_add(&t, 10 * MS, 0, &f_inside, &out);
    native_track_add(&t, 15 * MS, 0, &f_inside, &out);
    native_track_add(&t, 20 * MS, 0, &f_inside, &out);
    assert_int_equal(out.count, 0);
    native_track_add(&t, 24 * MS, 0, &g, &out);
    assert_track(&out, 0, 7, 9, 10 * MS, 20 * MS);
    assert_int_equal(out.at[0].id, sampled_native_id(5000, 4000, false));
    native_track_add(&t, 30 * MS, 0, &none, &out);
    assert_track(&out, 1, 8, 0, 24 * MS, 24 * MS);
    native_track_add(&t, 35 * MS, 0, &f_inside, &out);
    native_track_add(&t, 40 * MS, 0, &f, &out); /* nothing is said of time that it was not seen in */
    assert_track(&out, 2, 7, 9, 35 * MS, 35 * MS);
    native_track_end(&t, &out);
    assert_track(&out, 3, 7, 0, 40 * MS, 40 * MS);
    assert_int_equal(out.count, 4);
    vec_release(&out);
}

static void a_wait_parts_samples_and_waiting_for_a_cpu_does_not(void **state)
{
    (void)state;
    struct native_track t = {.period_ns = 5 * MS};
    host_span_list out = {0};
    struct native_frame f = {7, 0, false}, in_driver = {7, 9, true};
    native_track_add(&t, 0, 0, &f, &out);
    native_track_add(&t, 100 * MS, 95 * MS, &f, &out);
    assert_int_equal(out.count, 0);
    native_track_add(&t, 200 * MS, 95 * MS, &f, &out);
    assert_track(&out, 0, 7, 0, 0, 100 * MS);
    native_track_add(&t, 205 * MS, 95 * MS, &in_driver, &out);
    assert_track(&out, 1, 7, 0, 200 * MS, 200 * MS);
    native_track_add(&t, 204 * MS, 95 * MS, &f, &out); /* the clock was set */
    assert_track(&out, 2, 7, 9, 205 * MS, 205 * MS);
    native_track_rest(&t, 210 * MS, &out);
    assert_int_equal(out.count, 3);
    native_track_rest(&t, 2000 * MS, &out);
    assert_track(&out, 3, 7, 0, 204 * MS, 204 * MS);
    vec_release(&out);
}

/* ---- real ones ------------------------------------------------------------------------------------------
 */

static volatile uint64_t result;

static __attribute__((noinline)) void grind(void)
{
    for (uint64_t i = 0;; i++)
        result = result * 31 + i;
}

static pid_t start_grinding(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        grind();
    }
    return pid;
}

static const char *fact(const struct run *run, const char *key)
{
    vec_each (&run->facts, fact)
        if (strcmp(run_text(run, fact->key), key) == 0)
            return run_text(run, fact->value);
    return NULL;
}

static size_t count_named(const struct run *run, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < run->spans.count; i++)
        count += run->spans.kind[i] == SPAN_NATIVE && strcmp(run_text(run, run->spans.name[i]), name) == 0;
    return count;
}

/* Samples a child that grinds, for a while or until its function is named. */
static void sample(struct run *run, int rounds)
{
    pid_t pid = start_grinding();
    uint32_t source = run_add_source(run, "test", "test");
    uint32_t process = run_process(run, source, pid);
    struct host_sampler *s = host_sampler_start(run, source, HOST_SAMPLING_MAX_HZ);
    assert_non_null(s);
    host_sampler_watch_process(s, run, process, pid, "/test_native");
    for (int round = 0; round < rounds; round++) {
        nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
        if (round % 100 == 99) { /* what is open is told of */
            host_sampler_pause(s, true);
            nanosleep(&(struct timespec){.tv_nsec = 10 * MS}, NULL);
            host_sampler_drain(s, run);
            host_sampler_pause(s, false);
            if (count_named(run, "test_native: grind"))
                break;
        }
    }
    assert_null(host_sampler_failure(s));
    host_sampler_finish(s, run);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_function_that_runs_is_named(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    sample(&run, MOST_ROUNDS);
    const char *why = fact(&run, "native_functions_why");
    bool named = count_named(&run, "test_native: grind") > 0;
    if (why)
        print_message("skipped: %s\n", why);
    else
        assert_true(named);
    bool refused = why != NULL;
    run_release(&run);
    if (refused)
        skip();
}

/* The last test: from here on this process may not use perf_event_open(2). */
static void where_it_is_refused_recording_goes_on_and_says_so(void **state)
{
    (void)state;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        print_message("skipped: no seccomp here\n");
        skip();
    }
    struct run run;
    run_init(&run);
    sample(&run, 150);
    assert_non_null(fact(&run, "native_functions_why"));
    assert_non_null(strstr(fact(&run, "native_functions_why"), "perf_event_paranoid"));
    assert_int_equal(count_named(&run, "test_native: grind"), 0);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consecutive_samples_of_a_function_are_one_span),
        cmocka_unit_test(a_wait_parts_samples_and_waiting_for_a_cpu_does_not),
        cmocka_unit_test(a_function_that_runs_is_named),
        cmocka_unit_test(where_it_is_refused_recording_goes_on_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
