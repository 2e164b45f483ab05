#include "source/host_sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "source/host_process.h"
#include "source/host_spans.h"
#include "source/native_code.h"
#include "source/native_track.h"
#include "source/perf_samples.h"

static const int64_t second_ns = 1000000000;

enum {
    MOST_PROCESSES = 256, /* each takes three descriptors */
    MOST_THREADS = 512,   /* each takes two */
    MOST_TEXTS = 1 << 18,
    LONGEST_GAP = 8,      /* beats between samples that belong together */
    LOOK_FOR_PYTHON = 32, /* beats between looks for the Python state of a thread that had none */
    TRIES = 4,            /* to find a process, half a second apart */
};

enum request_kind { WATCH_PROCESS, WATCH_THREAD, FORGET_PROCESS };

struct request {
    enum request_kind kind;
    uint32_t process, thread; /* of the run */
    int64_t id;               /* pid or tid */
    char mapped[64];
};

struct watched_process {
    struct host_process host;
    struct request wanted;
    bool open;
    struct native_code code;
    int tries;
    int64_t try_at;
};

struct watched_thread {
    uint32_t process; /* of the run */
    struct proc_task task;
    uint64_t python_state;
    int python_pause; /* beats until the next look for it */
    struct host_track track;
    struct perf_thread perf;
    bool perf_refused;
    struct native_track native;
};

struct host_sampler {
    int64_t period_ns;
    uint32_t source;
    pthread_t thread;

    pthread_mutex_t lock; /* for what follows, up to the next line like this */
    pthread_cond_t wake;
    bool stop, paused;
    VEC(struct request) requests;
    host_span_list ready;
    struct str texts; /* that are new, each with its end */
    const char *failure;
    int64_t torn, missed, native_lost;
    int native_errno; /* why native functions are missing; 0 they are not */

    /* of the sampling thread */
    VEC(struct watched_process) processes;
    VEC(struct watched_thread *) threads;
    struct remote_memory memory;
    struct intern names;
    uint32_t names_given; /* to the other side */
    uint32_t no_cpu, fault;
    host_span_list spans;
    const char *new_failure;
    int64_t new_torn, new_missed, new_native_lost;
    int new_native_errno;
    struct python_stack stack;

    /* of the collector's thread */
    VEC(uint32_t) run_names; /* id of a text here → in the run */
};

/* ---- one sample -----------------------------------------------------------------------------------------
 */

static struct watched_process *process_of(struct host_sampler *s, uint32_t process)
{
    vec_each (&s->processes, p)
        if (p->wanted.process == process)
            return p;
    return NULL;
}

static uint32_t add_name(struct host_sampler *s, const char *text, size_t length)
{
    return s->names.count < MOST_TEXTS ? intern_add(&s->names, text, length) : 0;
}

/* A path that the call was given; it is read from the target's memory. */
static void add_path(struct host_sampler *s, uint64_t address, struct str *out)
{
    enum { MOST_PATH = 1024 };
    char path[MOST_PATH];
    size_t length = 0;
    while (length < sizeof path && remote_memory_read(&s->memory, address + length, &path[length], 1) &&
           path[length])
        length++;
    utf8_visible(out, path, length);
}

static void name_call(struct host_sampler *s, const struct host_process *p, struct host_sample *sample,
                      int64_t number, const uint64_t args[PROC_CALL_ARGS])
{
    enum proc_file file;
    const char *name = proc_call_name(number, &file);
    struct str text = {0};
    if (!name) {
        str_addf(&text, "system call %lld", (long long)number);
        sample->call = add_name(s, str_text(&text), text.len);
        str_cut(&text, 0);
    } else {
        sample->call = add_name(s, name, strlen(name));
    }
    if (file == PROC_FD_0 || file == PROC_FD_1)
        proc_fd_path(p->folder, args[file == PROC_FD_1], &text);
    else if (file == PROC_PATH_0 || file == PROC_PATH_1)
        add_path(s, args[file == PROC_PATH_1], &text);
    sample->file = add_name(s, str_text(&text), text.len);
    str_release(&text);
}

/* NULL where there is no telling. */
static const struct python_stack *read_stack(struct host_sampler *s, struct host_process *p,
                                             struct watched_thread *t)
{
    if (!p->has_python || s->names.count >= MOST_TEXTS || t->python_pause-- > 0)
        return NULL;
    t->python_pause = 0;
    enum python_read read = python_reader_stack(&p->python, t->task.tid, &t->python_state, &s->stack);
    if (read == PYTHON_NO_THREAD && t->python_state == 0)
        t->python_pause = LOOK_FOR_PYTHON;
    s->new_torn += read == PYTHON_TORN;
    return read == PYTHON_TORN ? NULL : &s->stack;
}

/* Samples that the kernel has taken of it since. */
static void take_native(struct host_sampler *s, struct watched_process *p, struct watched_thread *t)
{
    struct perf_sample sample;
    enum perf_record found;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (!t->perf.ring && !t->perf_refused) {
        int why = perf_thread_open(&t->perf, t->task.tid, s->period_ns);
        t->perf_refused = why != 0;
        if (why && why != ESRCH)
            s->new_native_errno = why;
    }
    s->memory.fd = p->host.memory;
    while ((found = perf_thread_next(&t->perf, &sample, &s->new_native_lost)) != PERF_NOTHING) {
        struct native_frame frame = {0};
        if (found == PERF_NEW_PROGRAM)
            native_code_forget(&p->code);
        else
            frame = native_code_frame(&p->code, &sample, now);
        if (found == PERF_SAMPLED)
            native_track_add(&t->native, sample.time, t->track.last.accounts.delay_ns, &frame, &s->spans);
    }
    native_track_rest(&t->native, clock_ns(CLOCK_REALTIME), &s->spans);
}

/* False when the thread has ended. */
static bool sample_thread(struct host_sampler *s, struct host_process *p, struct watched_thread *t)
{
    struct host_sample sample = {.time = clock_ns(CLOCK_REALTIME)};
    sample.has_accounts = proc_task_accounts(&t->task, &sample.accounts);
    if (sample.has_accounts && host_track_stood_still(&t->track, &sample.accounts)) {
        sample.call = t->track.last.call;
        sample.file = t->track.last.file;
        host_track_add(&t->track, &sample, NULL, &s->spans);
        return true;
    }
    int64_t number;
    uint64_t args[PROC_CALL_ARGS];
    s->memory.fd = p->memory;
    remote_memory_look(&s->memory);
    switch (proc_task_state(&t->task, p->folder, &number, args)) {
    case PROC_GONE:
        return false;
    case PROC_CALL:
        name_call(s, p, &sample, number, args);
        break;
    case PROC_FAULT:
        sample.call = s->fault;
        break;
    case PROC_RUNS:
        break;
    }
    host_track_add(&t->track, &sample, read_stack(s, p, t), &s->spans);
    return true;
}

/* ---- whom to watch --------------------------------------------------------------------------------------
 */

static void drop_thread(struct host_sampler *s, size_t index)
{
    struct watched_thread *t = s->threads.at[index];
    host_track_end(&t->track, &s->spans);
    native_track_end(&t->native, &s->spans);
    perf_thread_close(&t->perf);
    proc_task_close(&t->task);
    free(t);
    s->threads.at[index] = s->threads.at[--s->threads.count];
}

static void fail(struct host_sampler *s, const char *why)
{
    s->new_failure = s->new_failure ? s->new_failure : why;
}

static void watch_thread(struct host_sampler *s, const struct request *wanted)
{
    const struct watched_process *p = process_of(s, wanted->process);
    if (!p || !p->open || s->threads.count >= MOST_THREADS || wanted->id <= 0 || wanted->id > INT32_MAX)
        return;
    vec_each (&s->threads, other)
        if ((*other)->track.thread == wanted->thread)
            return;
    struct watched_thread *t = mem_zalloc(1, sizeof *t);
    t->process = wanted->process;
    t->track.thread = wanted->thread;
    t->native.thread = wanted->thread;
    t->native.period_ns = s->period_ns;
    t->track.no_cpu = s->no_cpu;
    t->track.longest_gap_ns = s->period_ns * LONGEST_GAP;
    if (proc_task_open(&t->task, p->host.folder, (uint32_t)wanted->id) == 0)
        vec_push(&s->threads, t);
    else
        free(t);
}

/* Says why a process cannot be watched, unless it is only short-lived: then it is forgotten before that. */
static void try_process(struct host_sampler *s, struct watched_process *p, int64_t now)
{
    p->tries++;
    p->try_at = now + second_ns / 2;
    enum host_access access =
        host_process_open(&p->host, p->wanted.id, p->wanted.mapped, &s->memory, &s->names);
    p->open = access == HOST_ACCESS;
    if (p->open)
        native_code_init(&p->code, p->host.folder, &s->memory, &s->names);
    if (p->open && p->host.unknown_python)
        fail(s, N_("Python frames are missing: only those of CPython 3.11 to 3.14 can be read"));
    if (p->open)
        watch_thread(s, &p->wanted);
    else if (access == HOST_ACCESS_REFUSED)
        fail(s, N_("host states and Python frames are missing: this user may not look into the process with "
                   "the program's pid; "
                   "record as the same user, inside its container, with kernel.yama.ptrace_scope at 0 or 1"));
    else if (p->tries == TRIES)
        fail(s,
             N_("host states and Python frames are missing: the program's process is not in /proc under its "
                "own pid; record inside its container, with /proc mounted"));
}

static void forget_process(struct host_sampler *s, uint32_t process)
{
    for (size_t i = s->threads.count; i-- > 0;)
        if (s->threads.at[i]->process == process)
            drop_thread(s, i);
    struct watched_process *p = process_of(s, process);
    if (!p)
        return;
    if (p->open) {
        native_code_release(&p->code);
        host_process_close(&p->host);
    }
    *p = s->processes.at[--s->processes.count];
}

static void obey(struct host_sampler *s, const struct request *wanted, int64_t now)
{
    switch (wanted->kind) {
    case WATCH_PROCESS:
        if (s->processes.count < MOST_PROCESSES) {
            vec_push(&s->processes, ((struct watched_process){.wanted = *wanted}));
            try_process(s, &s->processes.at[s->processes.count - 1], now);
        }
        break;
    case WATCH_THREAD:
        watch_thread(s, wanted);
        break;
    case FORGET_PROCESS:
        forget_process(s, wanted->process);
        break;
    }
}

/* ---- the sampling thread --------------------------------------------------------------------------------
 */

static void rest(struct host_sampler *s)
{
    vec_each (&s->threads, t) {
        host_track_end(&(*t)->track, &s->spans);
        native_track_end(&(*t)->native, &s->spans);
        perf_thread_close(&(*t)->perf); /* opened again when it goes on */
    }
}

static void sample_all(struct host_sampler *s, int64_t now)
{
    vec_each (&s->processes, p)
        if (!p->open && p->tries < TRIES && now >= p->try_at)
            try_process(s, p, now);
    for (size_t i = s->threads.count; i-- > 0;) {
        struct watched_thread *t = s->threads.at[i];
        struct watched_process *p = process_of(s, t->process);
        bool lives = p && sample_thread(s, &p->host, t);
        if (p)
            take_native(s, p, t);
        if (!lives)
            drop_thread(s, i);
    }
}

/* Hands over what is new. With the lock held. */
static void publish(struct host_sampler *s)
{
    vec_each (&s->spans, span)
        vec_push(&s->ready, *span);
    s->spans.count = 0;
    for (; s->names_given < s->names.count; s->names_given++)
        str_add(&s->texts, intern_text(&s->names, s->names_given),
                intern_length(&s->names, s->names_given) + 1);
    s->failure = s->failure ? s->failure : s->new_failure;
    s->torn += s->new_torn;
    s->missed += s->new_missed;
    s->native_lost += s->new_native_lost;
    s->native_errno = s->native_errno ? s->native_errno : s->new_native_errno;
    s->new_torn = s->new_missed = s->new_native_lost = 0;
}

/* Sleeps until it is time or somebody asks for something. With the lock held. */
static void wait_for_beat(struct host_sampler *s, int64_t beat)
{
    struct timespec until = {.tv_sec = beat / second_ns, .tv_nsec = beat % second_ns};
    if (s->processes.count == 0 || s->paused)
        pthread_cond_wait(&s->wake, &s->lock);
    else
        pthread_cond_timedwait(&s->wake, &s->lock, &until);
}

static void *sample_until_stopped(void *context)
{
    struct host_sampler *s = context;
    int64_t beat = clock_ns(CLOCK_MONOTONIC);
    __typeof__(s->requests) asked = {0};
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        __typeof__(s->requests) empty = asked;
        asked = s->requests;
        s->requests = empty;
        bool paused = s->paused;
        pthread_mutex_unlock(&s->lock);
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        vec_each (&asked, request)
            obey(s, request, now);
        asked.count = 0;
        if (paused)
            rest(s);
        if (now >= beat) {
            int64_t late = (now - beat) / s->period_ns;
            s->new_missed += s->threads.count && !paused ? late : 0;
            beat += (late + 1) * s->period_ns;
            if (!paused)
                sample_all(s, now);
        }
        pthread_mutex_lock(&s->lock);
        publish(s);
        if (!s->stop && s->requests.count == 0)
            wait_for_beat(s, beat);
    }
    pthread_mutex_unlock(&s->lock);
    vec_release(&asked);
    return NULL;
}

/* ---- the collector's side -------------------------------------------------------------------------------
 */

static void add_fact(struct run *run, uint32_t source, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    run_fact(run, source, key, text, strlen(text));
}

struct host_sampler *host_sampler_start(struct run *run, uint32_t source, int64_t hz)
{
    struct host_sampler *s = mem_zalloc(1, sizeof *s);
    s->period_ns = second_ns / hz;
    s->source = source;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    remote_memory_init(&s->memory, -1);
    intern_init(&s->names);
    s->no_cpu = intern_puts(&s->names, "waiting for a CPU");
    s->fault = intern_puts(&s->names, "page fault");
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the other thread's business */
    int why = pthread_create(&s->thread, NULL, sample_until_stopped, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why) {
        intern_release(&s->names);
        free(s);
        return NULL;
    }
    add_fact(run, source, "host_sampling_period_ns", s->period_ns);
    return s;
}

static void ask(struct host_sampler *s, const struct request *request)
{
    pthread_mutex_lock(&s->lock);
    vec_push(&s->requests, *request);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

void host_sampler_watch_process(struct host_sampler *s, struct run *run, uint32_t process, int64_t pid,
                                const char *mapped)
{
    char name[PROC_NAME_BYTES];
    struct request request = {
        .kind = WATCH_PROCESS, .process = process, .thread = run_thread(run, process, pid), .id = pid};
    if (proc_task_name(pid, pid, name))
        run->threads.at[request.thread].name = intern_puts(&run->strings, name);
    snprintf(request.mapped, sizeof request.mapped, "%s", mapped);
    ask(s, &request);
}

void host_sampler_watch_thread(struct host_sampler *s, uint32_t process, uint32_t thread, int64_t tid)
{
    ask(s, &(struct request){.kind = WATCH_THREAD, .process = process, .thread = thread, .id = tid});
}

void host_sampler_forget_process(struct host_sampler *s, uint32_t process)
{
    ask(s, &(struct request){.kind = FORGET_PROCESS, .process = process});
}

void host_sampler_pause(struct host_sampler *s, bool paused)
{
    pthread_mutex_lock(&s->lock);
    if (s->paused != paused)
        pthread_cond_signal(&s->wake);
    s->paused = paused;
    pthread_mutex_unlock(&s->lock);
}

static int64_t take(struct host_sampler *s, struct run *run, const host_span_list *spans,
                    const struct str *texts)
{
    for (size_t at = 0; at < texts->len; at += strlen(texts->ptr + at) + 1)
        vec_push(&s->run_names, intern_puts(&run->strings, texts->ptr + at));
    vec_each (spans, span) {
        size_t row = span_table_add(&run->spans);
        run->spans.comm[row] = NONE;
        run->spans.start[row] = span->start;
        run->spans.end[row] = span->end;
        run->spans.id[row] = span->id;
        run->spans.kind[row] = span->kind;
        run->spans.thread[row] = span->thread;
        run->spans.name[row] = s->run_names.at[span->name];
        run->spans.detail[row] = s->run_names.at[span->detail];
    }
    return (int64_t)spans->count;
}

int64_t host_sampler_drain(struct host_sampler *s, struct run *run)
{
    pthread_mutex_lock(&s->lock);
    host_span_list spans = s->ready;
    struct str texts = s->texts;
    s->ready = (host_span_list){0};
    s->texts = (struct str){0};
    pthread_mutex_unlock(&s->lock);
    int64_t count = take(s, run, &spans, &texts);
    vec_release(&spans);
    str_release(&texts);
    return count;
}

void host_sampler_hold(struct host_sampler *s, const struct compaction *c)
{
    vec_each (&s->run_names, name)
        compaction_string(c, name);
}

const char *host_sampler_failure(struct host_sampler *s)
{
    pthread_mutex_lock(&s->lock);
    const char *failure = s->failure;
    pthread_mutex_unlock(&s->lock);
    return failure;
}

static void note_what_is_missing(const struct host_sampler *s, struct run *run)
{
    if (s->failure)
        run_repair(run, s->source, s->failure, 1, -1);
    if (s->torn)
        run_repair(run, s->source, N_("Python stacks that changed while they were read: left out"), s->torn,
                   -1);
    add_fact(run, s->source, "host_samples_missed", s->missed);
    add_fact(run, s->source, "native_samples_lost", s->native_lost);
    if (s->native_errno) {
        char why[128];
        snprintf(why, sizeof why, "perf_event_open(2) failed: error %d", s->native_errno);
        const char *known =
            s->native_errno == EACCES || s->native_errno == EPERM
                ? "perf_event_open(2) is not permitted here: kernel.perf_event_paranoid is above 2, "
                  "memory may not be locked, or a container forbids it"
            : s->native_errno == ENOSYS || s->native_errno == ENOENT
                ? "this kernel has no perf_event_open(2) for it"
                : why;
        run_fact(run, s->source, "native_functions_why", known, strlen(known));
    }
}

int64_t host_sampler_finish(struct host_sampler *s, struct run *run)
{
    if (!s)
        return 0;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    while (s->processes.count)
        forget_process(s, s->processes.at[0].wanted.process);
    publish(s);
    int64_t count = run ? host_sampler_drain(s, run) : 0;
    if (run)
        note_what_is_missing(s, run);
    vec_release(&s->requests);
    vec_release(&s->ready);
    vec_release(&s->processes);
    vec_release(&s->threads);
    vec_release(&s->spans);
    vec_release(&s->run_names);
    str_release(&s->texts);
    intern_release(&s->names);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return count;
}
