#include "source/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Closes everything from first on. */
static void close_from(int first)
{
    enum { MOST_FDS = 4096 }; /* on kernels without close_range(): more were not open yet when we started */
    if (close_range((unsigned)first, ~0u, 0) == 0)
        return;
    for (int fd = first; fd < MOST_FDS; fd++)
        close(fd);
}

/* In the child. Nothing of the parent may stay open in it: should a call never return, it lives on. What the
 * terminal sends is not meant for it. It ends by a signal, because neither this program nor the vendor's
 * library has anything left to tidy up there. */
static void be_worker(int fd, const char *name, void (*run)(int fd, const void *context), const void *context)
{
    enum { OWN = STDERR_FILENO + 1 };
    const struct rlimit no_core = {0};
    sigset_t meant_for_others;
    sigemptyset(&meant_for_others);
    sigaddset(&meant_for_others, SIGINT);
    sigaddset(&meant_for_others, SIGQUIT);
    sigaddset(&meant_for_others, SIGTERM);
    sigaddset(&meant_for_others, SIGHUP);
    sigprocmask(SIG_BLOCK, &meant_for_others, NULL);
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        dup2(nothing, standard);
    dup2(fd, OWN);
    close_from(OWN + 1);
    run(OWN, context);
    kill(getpid(), SIGKILL);
}

bool worker_start(struct worker *w, const char *name, void (*run)(int fd, const void *context),
                  const void *context)
{
    int ends[2];
    *w = (struct worker){0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        be_worker(ends[1], name, run, context);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *w = (struct worker){.pid = pid, .fd = ends[0]};
    return true;
}

/* proc_pid_stat(5): the state, and user and system time in ticks. */
static bool read_stat(pid_t pid, char *state, int64_t *ticks)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    long long user, system;
    if (!name_end || sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", state,
                            &user, &system) != 3)
        return false;
    *ticks = user + system;
    return true;
}

bool worker_is_stuck(struct worker *w, int64_t now_ns, int64_t limit_ns)
{
    const int64_t second = 1000000000;
    char state;
    int64_t ticks, per_second = sysconf(_SC_CLK_TCK);
    if (w->pid <= 0 || per_second <= 0 || !read_stat(w->pid, &state, &ticks))
        return false;
    if (w->rest_since_ns == 0 || ticks != w->rest_ticks || strchr("RZX", state)) {
        w->rest_ticks = ticks;
        w->rest_since_ns = now_ns;
    }
    return now_ns - w->rest_since_ns >= limit_ns || ticks * (second / per_second) >= limit_ns;
}

void worker_give_up(struct worker *w)
{
    if (w->pid <= 0)
        return;
    close(w->fd);
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, WNOHANG);
    w->pid = 0;
}
