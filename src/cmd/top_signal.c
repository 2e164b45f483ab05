/* Signals to processes. Whoever is asked for, confirmed and signalled is one and the same process: a
 * descriptor (pidfd) is opened before the question, its start time is compared with the sample's then and
 * again before the signal leaves, and the signal goes through the descriptor. Kernels before 5.3 have none:
 * there the start time alone decides. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyze/msg.h"
#include "base/i18n.h"
#include "cmd/top_state.h"

const struct top_signal top_signals[] = {
    {SIGTERM, "SIGTERM", N_("asks it to end")},
    {SIGINT, "SIGINT", N_("as Ctrl-C does")},
    {SIGHUP, "SIGHUP", N_("as a terminal that is closed does")},
    {SIGQUIT, "SIGQUIT", N_("ends it with a core dump")},
    {SIGKILL, "SIGKILL", N_("ends it at once; it cannot tidy up")},
    {SIGSTOP, "SIGSTOP", N_("halts it; its memory on the GPU stays in use")},
    {SIGCONT, "SIGCONT", N_("lets it go on")},
    {SIGUSR1, "SIGUSR1", N_("what the program makes of it")},
    {SIGUSR2, "SIGUSR2", N_("what the program makes of it")},
    {0, NULL, NULL},
};

void top_signal_cancel(struct top *t)
{
    if (t->target.pidfd >= 0)
        close(t->target.pidfd);
    t->target = (struct top_target){.pidfd = -1};
    t->view.window = TOP_WINDOW_NONE;
}

/* Whether it is still the process that was in the sample. */
static bool is_same(const struct top *t)
{
    return t->target.start_unix_ns != UNKNOWN &&
           machine_process_started(t->machine, t->target.pid) == t->target.start_unix_ns;
}

static const struct machine_process *chosen(const struct top *t)
{
    if (t->view.entry >= (int)t->list.entries.count)
        return NULL;
    return &t->sample.processes.at[t->list.entries.at[t->view.entry].process];
}

static const char *why_not(const struct top *t, const struct machine_process *p)
{
    if (t->view.read_only)
        return _("signals are off: --read-only");
    if (!t->machine)
        return _("these processes are of a recording");
    if (t->root)
        return _("these processes are not of this machine");
    if (!p)
        return _("no process is chosen");
    if (p->state != READING_KNOWN || p->start_unix_ns == UNKNOWN)
        return _("it is not a process of this PID namespace");
    return NULL;
}

void top_signal_begin(struct top *t)
{
    const struct machine_process *p = chosen(t);
    const char *why = why_not(t, p);
    if (why) {
        top_say(t, true, why);
        return;
    }
    t->target = (struct top_target){.pidfd = (int)syscall(SYS_pidfd_open, (pid_t)p->pid, 0),
                                    .pid = p->pid,
                                    .start_unix_ns = p->start_unix_ns};
    memcpy(t->target.command, p->command[0] ? p->command : "", sizeof t->target.command);
    if (!p->command[0])
        snprintf(t->target.command, sizeof t->target.command, "%s", p->name);
    memcpy(t->target.user, p->user, sizeof t->target.user);
    if (!is_same(t)) {
        top_signal_cancel(t);
        top_say(t, true, _("this process has ended"));
        return;
    }
    t->view.signal = 0;
    t->view.window_first = 0;
    t->view.window = TOP_WINDOW_SIGNAL;
}

void top_signal_confirm(struct top *t)
{
    t->view.confirm_pid = t->target.pid;
    t->view.confirm_start_unix_ns = t->target.start_unix_ns;
    t->view.confirm_command = t->target.command;
    t->view.confirm_user = t->target.user;
    t->view.window = TOP_WINDOW_CONFIRM;
}

void top_signal_send(struct top *t)
{
    const struct top_signal *s = &top_signals[t->view.signal];
    struct str text = {0};
    int failed = ESRCH;
    if (t->machine && !t->view.read_only && is_same(t)) {
        long rc = t->target.pidfd >= 0 ? syscall(SYS_pidfd_send_signal, t->target.pidfd, s->number, NULL, 0)
                                       : kill((pid_t)t->target.pid, s->number);
        failed = rc == 0 ? 0 : errno;
    }
    struct msg msg =
        failed == 0
            ? msg_make(N_("{0} was sent to process {1}"), value_text(s->name), value_id(t->target.pid))
        : failed == ESRCH
            ? msg_make(N_("process {0} has ended already; nothing was sent"), value_id(t->target.pid))
            : msg_make(N_("{0} cannot be sent to process {1}: {2}"), value_text(s->name),
                       value_id(t->target.pid), value_text(strerror(failed)));
    msg_render(&text, &msg, true, 0);
    top_signal_cancel(t);
    top_say(t, failed != 0, str_text(&text));
    str_release(&text);
}
