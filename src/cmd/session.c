#include "cmd/session.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "source/facts.h"

enum {
    POLL_NS = 20 * 1000 * 1000,
    FLUSH_ROWS = 1 << 16,
    FLUSH_EVERY_NS = 1000 * 1000 * 1000,
    OBEY_NS = 2000 * 1000 * 1000, /* most that a start or stop is waited for */
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void show_progress(const struct session *s)
{
    if (!s->options.live)
        return;
    double seconds = (double)(monotonic_ns() - s->started_ns) / 1e9;
    fprintf(stderr, "\r\033[K");
    fprintf(stderr, _("recording: %.0f s, %lld records of %zu processes"), seconds,
            (long long)s->collect.records, collect_process_count(&s->collect));
    fflush(stderr);
}

static int flush_rows(struct session *s, struct err *err)
{
    s->flushed_ns = monotonic_ns();
    show_progress(s);
    return recording_flush(&s->recording, &s->run, err);
}

/* ---- what ctl asks --------------------------------------------------------------------------------------
 */

static void fill_reply(const struct session *s, struct control_reply *reply)
{
    enum { MOST_COMMAND_BYTES = 4096 };
    *reply = (struct control_reply){.record_pid = getpid(),
                                    .target_pid = s->target.pid,
                                    .state = s->collect.wanted == RING_RECORD  ? CONTROL_RECORDING
                                             : s->collect.wanted == RING_PAUSE ? CONTROL_PAUSED
                                                                               : CONTROL_ENDING,
                                    .elapsed_ns = monotonic_ns() - s->started_ns,
                                    .records = s->collect.records,
                                    .dropped = s->run.losses.dropped,
                                    .processes = (int64_t)collect_process_count(&s->collect),
                                    .bytes = recording_bytes(&s->recording),
                                    .keep_ns = UNKNOWN,
                                    .snapshots = UNKNOWN};
    size_t length = s->command.len < MOST_COMMAND_BYTES ? s->command.len : MOST_COMMAND_BYTES;
    str_add(&reply->target, str_text(&s->command), length);
    str_puts(&reply->file, str_text(&s->recording.path));
}

/* Times between are not idle: nobody looked. */
static void note_switch(struct session *s, const char *text)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    vec_push(&s->run.marks, ((struct mark){.time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                                           .kind = MARK_INSTANT,
                                           .text = intern_puts(&s->run.strings, text),
                                           .thread = NONE,
                                           .device = NONE}));
}

static void want(struct session *s, enum ring_wanted wanted)
{
    if (s->collect.wanted == wanted)
        return;
    collect_want(&s->collect, wanted);
    note_switch(s, wanted == RING_RECORD ? "warplight: recording" : "warplight: paused");
}

/* Does what is asked for; false: it is not done yet, ask again. */
static bool carry_out(struct session *s, struct control_peer *peer, int *rc, struct err *err)
{
    bool start = peer->verb == CONTROL_START;
    if (start || peer->verb == CONTROL_STOP) {
        if (!peer->begun)
            want(s, start ? RING_RECORD : RING_PAUSE);
        peer->begun = true;
        if (!collect_is_obeyed(&s->collect) && monotonic_ns() - peer->since_ns < OBEY_NS)
            return false;
    }
    if (peer->verb == CONTROL_STOP || peer->verb == CONTROL_SNAPSHOT) {
        collect_drain(&s->collect, &s->run);
        *rc = flush_rows(s, err);
    }
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
            str_puts(&reply.written, str_text(&s->recording.path));
        control_answer(peer, &reply);
        control_reply_release(&reply);
    }
    return rc;
}

/* ---- following the program ------------------------------------------------------------------------------
 */

/* Signals are waited for, so that none can be lost between look and sleep. */
static void pass_on_next_signal(const struct session *s, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    siginfo_t info = {0};
    int signal = sigtimedwait(signals, &info, &pause);
    /* What the terminal sends, the kernel has sent to the target, too. */
    bool from_terminal = (signal == SIGINT || signal == SIGQUIT) && info.si_code == SI_KERNEL;
    if (signal > 0 && !from_terminal)
        target_signal(&s->target, signal);
}

static int follow(struct session *s, const sigset_t *signals, struct err *err)
{
    int rc = 0;
    while (rc == 0) {
        target_poll(&s->target);
        if (s->target.ended)
            break;
        pass_on_next_signal(s, signals);
        collect_drain(&s->collect, &s->run);
        gpu_watch_poll(&s->gpus, &s->run);
        if (s->run.ops.count + s->run.spans.count > FLUSH_ROWS ||
            monotonic_ns() - s->flushed_ns > FLUSH_EVERY_NS)
            rc = flush_rows(s, err);
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
    collect_facts(&s->collect, &s->run);
    gpu_watch_finish(&s->gpus, &s->run);
    return flush_rows(s, err);
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
        add_word(&words, s->options.graph_whole, "graph-whole");
        add_word(&words, s->options.no_memory, "no-memory");
        s->started_ns = s->flushed_ns = monotonic_ns();
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
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    run_init(&s->run);
    s->source = run_add_source(&s->run, str_text(&s->recording.path), "warplight recording");
    gpu_watch_open(&s->gpus, s->source);
    /* Before it starts: a signal in between would end only one of us. */
    sigprocmask(SIG_BLOCK, &signals, &before);
    int rc = start_target(s, argv, &before, err);
    if (rc == 0)
        rc = follow(s, &signals, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int ended = recording_end(&s->recording, &s->run, rc == 0 ? err : NULL);
    return rc == 0 ? ended : rc;
}

int session_run(struct session *s, const struct session_options *options, char *const *argv, struct err *err)
{
    *s = (struct session){.options = *options, .control.fd = -1, .collect.folder.fd = -1};
    for (char *const *argument = argv; *argument; argument++)
        str_addf(&s->command, "%s%s", argument == argv ? "" : " ", *argument);
    int rc = recording_open(&s->recording, options->output, options->force, argv[0], err);
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
    str_release(&s->command);
}
