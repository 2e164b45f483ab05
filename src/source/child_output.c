#include "source/child_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const int64_t millisecond = 1000000;

extern char **environ;

/* In a process group of its own, so that what it starts can be ended with it. */
static int start(pid_t *pid, const char *program, const char *const arguments[], int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int why = posix_spawnp(pid, program, &files, &attributes, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return why;
}

static int take(struct str *out, int fd, size_t most_bytes, int64_t until_ns)
{
    char bytes[16 << 10];
    size_t start = out->len;
    while (out->len - start < most_bytes) {
        struct pollfd in = {.fd = fd, .events = POLLIN};
        int64_t left = until_ns - clock_ns(CLOCK_MONOTONIC);
        if (left <= 0)
            return ETIMEDOUT;
        if (poll(&in, 1, (int)(left / millisecond) + 1) <= 0)
            continue; /* interrupted, or late: that is seen above */
        ssize_t got = read(fd, bytes, sizeof bytes);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            str_add(out, bytes, (size_t)got);
    }
    return out->len > start ? 0 : ENODATA;
}

int child_output(struct str *out, const char *program, const char *const arguments[], size_t most_bytes,
                 int64_t deadline_ns)
{
    int ends[2];
    pid_t pid;
    int64_t until = clock_ns(CLOCK_MONOTONIC) + deadline_ns;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int why = start(&pid, program, arguments, ends[1]);
    close(ends[1]);
    if (why == 0) {
        why = take(out, ends[0], most_bytes, until);
        kill(-pid, SIGKILL); /* its number is still its own: it was not waited for yet */
        waitpid(pid, NULL, WNOHANG);
    }
    close(ends[0]);
    return why;
}
