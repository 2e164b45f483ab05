#include "cmd/session.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "model/cells.h"
#include "model/compact.h"
#include "source/facts.h"

enum {
    POLL_NS = 20 * 1000 * 1000,
    FLUSH_EVERY_NS = 1000 * 1000 * 1000,
    SHOW_EVERY_NS = 1000 * 1000 * 1000,
    OBEY_NS = 2000 * 1000 * 1000, /* most that a start or stop is waited for */
    ARRIVE_NS =
        200 * 1000 * 1000, /* in which what happened before is handed over: twice the library's period */
    MOST_AUTOMATIC = 100,
};

static void show_progress(struct session *s)
{
    progress_show(&s->progress,
                  &(struct progress_facts){.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - s->started_ns,
                                           .processes = (int64_t)collect_process_count(&s->collect),
                                           .dropped = s->run.losses.dropped,
                                           .bytes = recording_bytes(&s->recording, &s->run),
                                           .paused = s->collect.wanted == RING_PAUSE,
                                           .keeps = s->options.recording.keep_ns > 0});
}

static void hold(struct session *s, const struct compaction *c)
{
    collect_hold(&s->collect, c);
    slow_step_hold(&s->steps, c);
}

/* A flight recorder may go on for months. */
static void compact(struct session *s)
{
    struct compaction compaction;
    compaction_begin(&compaction, &s->run);
    hold(s, &compaction);
    compaction_apply(&compaction, &s->run);
    hold(s, &compaction);
    compaction_release(&compaction);
    retain_compacted(&s->recording.retain, &s->run);
}

static int take_rows(struct session *s, struct err *err)
{
    s->flushed_ns = clock_ns(CLOCK_MONOTONIC);
    int rc = recording_take(&s->recording, &s->run, err);
    if (s->options.recording.keep_ns > 0 && retain_is_bloated(&s->recording.retain, &s->run))
        compact(s);
    return rc;
}

/* ---- snapshots ------------------------------------------------------------------------------------------
 */

static int snapshot(struct session *s, const char *reason, struct err *err)
{
    size_t facts = s->run.facts.count;
    collect_facts(&s->collect, &s->run);
    int rc = recording_snapshot(&s->recording, &s->run, s->source, reason, err);
    s->run.facts.count = facts;
    if (s->progress.cli->globals.quiet || s->options.recording.keep_ns == 0)
        return rc;
    progress_erase(&s->progress);
    if (rc == 0)
        fprintf(stderr, _("warplight: snapshot %s: %s\n"), recording_file(&s->recording), reason);
    else
        fprintf(stderr, _("warplight: no snapshot: %s: %s\n"), err->where, err->what);
    return rc;
}

/* Automatic ones are as far apart as they reach back, so that no moment is in two of them. */
static bool may_be_automatic(const struct session *s)
{
    const struct automatic *a = &s->automatic;
    return a->count < MOST_AUTOMATIC &&
           (a->last_ns == 0 || clock_ns(CLOCK_MONOTONIC) - a->last_ns >= s->options.recording.keep_ns);
}

/* Spans from `first` on are new. */
static void look_for_slow_steps(struct session *s, size_t first)
{
    const int64_t settle_ns =
        500 * 1000 * 1000; /* for what the GPU still does for the step, and its way here */
    struct automatic *a = &s->automatic;
    struct slow_step slow;
    if (!slow_step_look(&s->steps, &s->run, first, &slow) || a->due_ns != 0)
        return;
    if (!may_be_automatic(s)) {
        a->left_out++;
        return;
    }
    a->due_ns = clock_ns(CLOCK_MONOTONIC) + settle_ns;
    str_cut(&a->reason, 0);
    str_addf(&a->reason, "slow step: %s took %lld us", run_text(&s->run, slow.name),
             (long long)slow.length_ns / 1000);
    if (slow.median_ns != UNKNOWN)
        str_addf(&a->reason, ", the median is %lld us", (long long)slow.median_ns / 1000);
}

/* A snapshot that cannot be written is no reason to end: the next may work. */
static void write_snapshots(struct session *s)
{
    struct automatic *a = &s->automatic;
    struct err err = {0};
    if (s->asked)
        snapshot(s, "signal", &err);
    s->asked = false;
    if (a->due_ns == 0 || clock_ns(CLOCK_MONOTONIC) < a->due_ns)
        return;
    a->due_ns = 0;
    a->last_ns = clock_ns(CLOCK_MONOTONIC);
    a->count++;
    snapshot(s, str_text(&a->reason), &err);
}

/* At the end. */
static int last_snapshot(struct session *s, struct err *err)
{
    char reason[64];
    int status = s->target.status;
    if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "end: signal %d", WTERMSIG(status));
    else
        snprintf(reason, sizeof reason, "end: exit code %d", WEXITSTATUS(status));
    return snapshot(s, reason, err);
}

static void drain(struct session *s)
{
    size_t spans = s->run.spans.count, ops = s->run.ops.count;
    collect_drain(&s->collect, &s->run);
    progress_add(&s->progress, &s->run, ops);
    look_for_slow_steps(s, spans);
}

/* ---- what ctl asks --------------------------------------------------------------------------------------
 */

static void fill_reply(const struct session *s, struct control_reply *reply)
{
    enum { MOST_COMMAND_BYTES = 4096 };
    int64_t keep_ns = s->options.recording.keep_ns;
    *reply = (struct control_reply){.record_pid = getpid(),
                                    .target_pid = s->target.pid,
                                    .state = s->collect.wanted == RING_RECORD  ? CONTROL_RECORDING
                                             : s->collect.wanted == RING_PAUSE ? CONTROL_PAUSED
                                                                               : CONTROL_ENDING,
                                    .elapsed_ns = clock_ns(CLOCK_MONOTONIC) - s->started_ns,
                                    .records = s->collect.records,
                                    .dropped = s->run.losses.dropped,
                                    .processes = (int64_t)collect_process_count(&s->collect),
                                    .bytes = recording_bytes(&s->recording, &s->run),
                                    .keep_ns = keep_ns > 0 ? keep_ns : UNKNOWN,
                                    .snapshots = keep_ns > 0 ? s->recording.snapshots : UNKNOWN};
    size_t length = s->command.len < MOST_COMMAND_BYTES ? s->command.len : MOST_COMMAND_BYTES;
    str_add(&reply->target, str_text(&s->command), length);
    str_puts(&reply->file, str_text(&s->recording.path));
}

/* Times between are not idle: nobody looked. */
static void note_switch(struct session *s, enum mark_kind kind)
{
    vec_push(&s->run.marks, ((struct mark){.time = clock_ns(CLOCK_REALTIME),
                                           .kind = kind,
                                           .text = intern_puts(&s->run.strings, mark_kind_names[kind]),
                                           .thread = NONE,
                                           .device = NONE}));
}

static void want(struct session *s, enum ring_wanted wanted)
{
    if (s->collect.wanted == wanted)
        return;
    collect_want(&s->collect, wanted);
    note_switch(s, wanted == RING_RECORD ? MARK_RESUMED : MARK_PAUSED);
}

/* Does what is asked for; false: it is not done yet, ask again. */
static bool carry_out(struct session *s, struct control_peer *peer, int *rc, struct err *err)
{
    bool start = peer->verb == CONTROL_START;
    if (start || peer->verb == CONTROL_STOP) {
        if (!peer->begun)
            want(s, start ? RING_RECORD : RING_PAUSE);
        peer->begun = true;
        if (!collect_is_obeyed(&s->collect) && clock_ns(CLOCK_MONOTONIC) - peer->since_ns < OBEY_NS)
            return false;
    }
    if (peer->verb == CONTROL_SNAPSHOT && clock_ns(CLOCK_MONOTONIC) - peer->since_ns < ARRIVE_NS)
        return false;
    if (peer->verb == CONTROL_STOP || peer->verb == CONTROL_SNAPSHOT)
        drain(s);
    if (peer->verb == CONTROL_STOP)
        *rc = take_rows(s, err);
    else if (peer->verb == CONTROL_SNAPSHOT)
        *rc = snapshot(s, "ctl", err);
    return true;
}

static int answer_peers(struct session *s, struct err *err)
{
    int rc = 0;
    control_poll(&s->control);
    for (int i = 0; i < CONTROL_PEERS && rc == 0; i++) {
        struct control_peer *peer = &s->control.peers[i];
        if (peer->fd < 0 || peer->verb == CONTROL_NONE)
            continue;
        enum control_verb verb = peer->verb;
        if (!carry_out(s, peer, &rc, err))
            continue;
        struct control_reply reply;
        fill_reply(s, &reply);
        if (rc < 0)
            str_puts(&reply.why, err->what);
        else if (verb == CONTROL_SNAPSHOT)
            str_puts(&reply.written, recording_file(&s->recording));
        control_answer(peer, &reply);
        control_reply_release(&reply);
        if (s->options.recording.keep_ns > 0)
            rc = 0; /* the next snapshot may work */
    }
    return rc;
}

/* ---- following the program ------------------------------------------------------------------------------
 */

/* Stops where the program does: a process group without a shell is not stopped. Goes on when somebody says
 * so. */
static void stop_too(struct session *s, bool from_terminal)
{
    sigset_t stop;
    if (!from_terminal)
        target_signal(&s->target, SIGTSTP);
    progress_erase(&s->progress);
    fflush(stderr);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here we stand */
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

/* Signals are waited for, so that none can be lost between look and sleep. */
static void pass_on_next_signal(struct session *s, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    siginfo_t info = {0};
    int signal = sigtimedwait(signals, &info, &pause);
    /* What the terminal sends, the kernel has sent to the target, too. */
    bool from_terminal =
        (signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP) && info.si_code == SI_KERNEL;
    if (signal == SIGUSR2 && s->options.recording.keep_ns > 0)
        s->asked = true;
    else if (signal == SIGTSTP)
        stop_too(s, from_terminal);
    else if (signal > 0 && !from_terminal)
        target_signal(&s->target, signal);
}

/* What came when the program had just ended was meant for it: Ctrl-C goes to both, and must not end us before
 * the recording has its end. */
static void drop_pending(const sigset_t *signals)
{
    const struct timespec none = {0};
    while (sigtimedwait(signals, NULL, &none) > 0)
        ;
}

/* Those that are waited for: what asks for an end, what stops and continues a job, and what the user defines.
 */
static void choose_signals(sigset_t *signals)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction before;
        bool ignored = sigaction(all[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!ignored) /* by whoever started us, and so by the program */
            sigaddset(signals, all[i]);
    }
}

static int follow(struct session *s, const sigset_t *signals, struct err *err)
{
    int rc = 0;
    while (rc == 0) {
        target_poll(&s->target);
        if (s->target.ended)
            break;
        pass_on_next_signal(s, signals);
        drain(s);
        gpu_watch_poll(&s->gpus, &s->run);
        if (recording_is_due(&s->recording, &s->run) ||
            clock_ns(CLOCK_MONOTONIC) - s->flushed_ns > FLUSH_EVERY_NS)
            rc = take_rows(s, err);
        write_snapshots(s);
        if (clock_ns(CLOCK_MONOTONIC) - s->progress.since_ns > SHOW_EVERY_NS)
            show_progress(s);
        if (rc == 0)
            rc = answer_peers(s, err);
    }
    if (rc < 0) { /* the disk is full, say: the program goes on, unrecorded */
        collect_want(&s->collect, RING_STOP);
        control_close(&s->control);
        while (target_poll(&s->target), !s->target.ended)
            pass_on_next_signal(s, signals);
        return rc;
    }
    collect_finish(&s->collect, &s->run);
    gpu_watch_finish(&s->gpus, &s->run);
    if (s->options.recording.keep_ns > 0)
        return last_snapshot(s, err);
    collect_facts(&s->collect, &s->run);
    return take_rows(s, err);
}

/* ---- beginning and end ----------------------------------------------------------------------------------
 */

/* Of RING_ENV_OPTIONS. */
static void add_word(struct str *words, bool wanted, const char *word)
{
    if (wanted)
        str_addf(words, "%s%s", words->len ? "," : "", word);
}

static int start_target(struct session *s, char *const *argv, const sigset_t *mask, struct err *err)
{
    struct str library = {0}, words = {0};
    int rc = target_find_library(&library, err);
    if (rc == 0)
        rc = collect_open(&s->collect, s->source, err);
    if (rc == 0) {
        s->collect.wanted = s->options.paused ? RING_PAUSE : RING_RECORD;
        control_open(&s->control, &s->collect.folder);
        facts_add(&s->run, s->source, argv);
        if (s->options.host_sampling_hz)
            collect_sample_hosts(&s->collect, &s->run, s->options.host_sampling_hz);
        add_word(&words, s->options.paused, "paused");
        add_word(&words, s->options.torch_ops, "torch-ops");
        add_word(&words, s->options.graph_nodes, "graph-nodes");
        add_word(&words, s->options.no_memory, "no-memory");
        s->started_ns = s->flushed_ns = clock_ns(CLOCK_MONOTONIC);
        rc = target_start(&s->target, argv, str_text(&library), str_text(&s->collect.folder.path),
                          str_text(&words), mask, err);
    }
    str_release(&words);
    str_release(&library);
    return rc;
}

static int record(struct session *s, char *const *argv, struct err *err)
{
    sigset_t signals, before;
    choose_signals(&signals);
    run_init(&s->run);
    s->source = run_add_source(&s->run, str_text(&s->recording.path), "warplight recording");
    gpu_watch_open(&s->gpus, s->source);
    /* Before it starts: a signal in between would end only one of us. */
    sigprocmask(SIG_BLOCK, &signals, &before);
    int rc = start_target(s, argv, &before, err);
    if (rc == 0)
        rc = follow(s, &signals, err);
    drop_pending(&signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int ended = recording_end(&s->recording, &s->run, rc == 0 ? err : NULL);
    return rc == 0 ? ended : rc;
}

int session_run(struct session *s, const struct cli *cli, const struct session_options *options,
                char *const *argv, struct err *err)
{
    *s = (struct session){
        .options = *options, .control.fd = -1, .collect.folder.fd = -1, .gpus.events.log.fd = -1};
    progress_open(&s->progress, cli);
    for (char *const *argument = argv; *argument; argument++)
        str_addf(&s->command, "%s%s", argument == argv ? "" : " ", *argument);
    s->steps = (struct slow_step_watch){
        .name = options->step, .limit_ns = options->slow_ns, .ratio = options->slow_ratio};
    int rc = recording_open(&s->recording, &options->recording, argv[0], err);
    if (rc == 0)
        rc = record(s, argv, err);
    if (rc < 0 && s->target.pid == 0)
        recording_discard(&s->recording); /* nothing was started: leave nothing behind */
    return rc;
}

void session_release(struct session *s)
{
    if (s->control.fd >= 0)
        control_close(&s->control);
    collect_close(&s->collect);
    gpu_watch_close(&s->gpus);
    run_release(&s->run);
    recording_release(&s->recording);
    slow_step_release(&s->steps);
    progress_release(&s->progress);
    str_release(&s->automatic.reason);
    str_release(&s->command);
}
