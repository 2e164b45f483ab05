/* What real threads of other processes are doing, as /proc says it. */
#include "cmocka_all.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "source/proc_task.h"

enum { LOOKS = 20000 }; /* more than any machine needs until a child is where it is going */

/* Leaves the CPU to the child. */
static void look_later(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
}

static void read_for_ever(int fd)
{
    char byte;
    while (read(fd, &byte, 1) >= 0)
        ;
}

static void wait_on_futex(int fd)
{
    (void)fd;
    uint32_t word = 0;
    syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void sleep_long(int fd)
{
    (void)fd;
    struct timespec day = {.tv_sec = 86400};
    nanosleep(&day, NULL);
}

static void spin(int fd)
{
    (void)fd;
    for (volatile unsigned i = 0;; i++)
        ;
}

struct child {
    pid_t pid;
    int process, ends[2];
    struct proc_task task;
};

static void child_start(struct child *c, void (*what)(int fd))
{
    assert_int_equal(pipe2(c->ends, O_CLOEXEC), 0);
    c->pid = fork();
    if (c->pid == 0) {
        what(c->ends[0]);
        abort();
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)c->pid);
    c->process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(c->process >= 0);
    assert_int_equal(proc_task_open(&c->task, c->process, (uint32_t)c->pid), 0);
}

static void child_end(struct child *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    int64_t number;
    uint64_t args[PROC_CALL_ARGS];
    assert_int_equal(proc_task_state(&c->task, c->process, &number, args), PROC_GONE);
    proc_task_close(&c->task);
    close(c->process);
    close(c->ends[0]);
    close(c->ends[1]);
}

/* Looks until the child waits in that call. Returns where the call names its file. */
static enum proc_file wait_for_call(const struct child *c, const char *name, uint64_t args[PROC_CALL_ARGS])
{
    int64_t number;
    enum proc_file file = PROC_NO_FILE;
    const char *found = NULL;
    for (int i = 0; i < LOOKS && !(found && strcmp(found, name) == 0); i++) {
        enum proc_state state = proc_task_state(&c->task, c->process, &number, args);
        assert_int_not_equal(state, PROC_GONE);
        found = state == PROC_CALL ? proc_call_name(number, &file) : NULL;
        look_later();
    }
    assert_non_null(found);
    assert_string_equal(found, name);
    return file;
}

static void a_read_is_seen_with_what_it_reads(void **state)
{
    (void)state;
    struct child c;
    uint64_t args[PROC_CALL_ARGS];
    child_start(&c, read_for_ever);
    assert_int_equal(wait_for_call(&c, "read", args), PROC_FD_0);
    assert_int_equal(args[0], c.ends[0]);
    struct str path = {0};
    proc_fd_path(c.process, args[0], &path);
    assert_string_equal(str_text(&path), "pipe");
    str_release(&path);
    proc_fd_path(c.process, UINT64_MAX, &path);
    assert_int_equal(path.len, 0);
    child_end(&c);
}

static void a_futex_and_a_sleep_are_told_apart(void **state)
{
    (void)state;
    struct child c;
    uint64_t args[PROC_CALL_ARGS];
    child_start(&c, wait_on_futex);
    assert_int_equal(wait_for_call(&c, "futex", args), PROC_NO_FILE);
    child_end(&c);
    child_start(&c, sleep_long);
    wait_for_call(&c, "clock_nanosleep", args); /* as which libc makes it */
    child_end(&c);
}

static void a_thread_that_waits_keeps_its_accounts_and_one_that_spins_does_not(void **state)
{
    (void)state;
    struct child c;
    struct proc_accounts before, after = {0};
    uint64_t args[PROC_CALL_ARGS];
    int64_t number;
    child_start(&c, wait_on_futex);
    wait_for_call(&c, "futex", args);
    if (!proc_task_accounts(&c.task, &before)) {
        child_end(&c);
        skip(); /* this kernel keeps none */
    }
    for (int i = 0; i < 20; i++) {
        assert_true(proc_task_accounts(&c.task, &after));
        look_later();
    }
    assert_memory_equal(&before, &after, sizeof after);
    child_end(&c);
    child_start(&c, spin);
    for (int i = 0; i < LOOKS && !proc_task_accounts(&c.task, &before); i++) /* until it has run at all */
        look_later();
    for (int i = 0; i < LOOKS && after.run_ns <= before.run_ns; i++) {
        assert_int_equal(proc_task_state(&c.task, c.process, &number, args), PROC_RUNS);
        assert_true(proc_task_accounts(&c.task, &after));
        look_later();
    }
    assert_true(after.run_ns > before.run_ns);
    child_end(&c);
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    struct proc_task task;
    char name[PROC_NAME_BYTES];
    int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_not_equal(proc_task_open(&task, self, UINT32_MAX), 0);
    assert_false(proc_task_name(-1, -1, name));
    assert_true(proc_task_name(getpid(), getpid(), name));
    assert_true(strlen(name) > 0);
    close(self);
    enum proc_file file;
    assert_null(proc_call_name(1 << 20, &file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_is_seen_with_what_it_reads),
        cmocka_unit_test(a_futex_and_a_sleep_are_told_apart),
        cmocka_unit_test(a_thread_that_waits_keeps_its_accounts_and_one_that_spins_does_not),
        cmocka_unit_test(what_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
