/* Measures kernels with hardware counters while the program runs.
 *
 * In a context that is measured every launch becomes a range, which costs about a millisecond, and switching
 * that on and off costs tens of them. So it is on while kernels come that have not been measured often
 * enough, and off while there are none: a training loop soon runs at full speed. Measuring in several passes
 * costs ten milliseconds a pass and launch, so each kernel gets it once. The warp sampler cannot run beside
 * either, and after them it no longer knows the kernels: it gets processes of its own.
 *
 * While a context is measured, one launch at a time goes through it: that is what measuring does anyway, and
 * it tells which range is which launch. What must not wait for itself is never measured: kernels of
 * collectives, which wait for other GPUs. doc/internals/counters.md has the numbers behind the rules. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "inject/cubins.h"
#include "inject/launches.h"
#include "inject/plans.h"
#include "inject/sampling.h"

#define MS INT64_C(1000000)

enum {
    CONTEXTS = 64,
    RANGES = 256,    /* of a session: each takes some 120 KB */
    PATIENCE = 48,   /* launches that need no measuring, until it pays to stop */
    DEEPENING = 256, /* launches without a replay, until others are measured again */
    GRAPH_OFTEN = 3, /* launches of a graph that are measured at most, unless all are */
    BUSY_TRIES = 100,
};
static const int64_t idle_ns = 200 * MS;    /* without a launch, until the helper takes what there is */
static const int64_t tell_ns = 1000 * MS;   /* between totals at least: a program that is killed tells none */
static const int64_t replay_ns = 2500 * MS; /* spent on kernels of which it is not known if they matter */
static const int64_t graphs_ns = 2500 * MS; /* spent on graphs, each of which costs a session of its own */
static const int64_t retry_ns = 100 * MS;   /* until counters that another process has are asked for again */
static const int64_t sampling_ns = 5000 * MS; /* of sampling */
static const double share_that_matters = 0.01;

enum mode { MODE_OFF, MODE_QUICK, MODE_DEEP, MODE_GRAPH };

struct context {
    void *handle; /* NULL: free */
    pthread_mutex_t lock;
    bool dead; /* cannot be measured, or no more */
    uint32_t id;
    int device;
    enum mode mode; /* of the session that is open */
    struct profiler profiler;
    struct plans *plans;
    struct profiler_session session;
    struct kernel *kernels;
    struct launch launches[RANGES]; /* of the session */
    uint32_t launch_count;
    uint32_t idle; /* launches since the last one that was wanted */
    int64_t last_ns, begun_ns;
    struct sampling sampling; /* in place of all that */
    bool settled;             /* there was a launch that needed no measuring: what matters is known */
    uint32_t deepening;       /* launches for which replays go before what costs a switch */
    double total_ns;          /* of all launches whose duration is known */
    int64_t spent_ns;         /* on replays */
    int64_t graphs_ns;        /* on graphs */
    uint32_t busy;            /* times that another process had the counters */
    int64_t retry_ns;         /* not before */
    struct refusal busy_why;
    bool measured;            /* something was */
    int64_t others;           /* launches of kernels that found no place */
    int64_t since_ns;         /* when it was first seen */
    int64_t tell_ns;          /* when totals are handed over next */
    bool has_untold;          /* there were launches since */
    _Atomic bool names_moved; /* a module is gone: another kernel's name may lie where one of its was */
};

static struct {
    pthread_mutex_t lock; /* for new contexts */
    void *subscriber;
    struct driver driver;
    struct context contexts[CONTEXTS];
    _Atomic int64_t launches; /* of the process */
    _Atomic bool gave_up, measured;
} counters = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Set while we call CUPTI ourselves: what that launches is not the application's. */
static __thread bool inside;

/* ---- records --------------------------------------------------------------------------------------------
 */

static void add_device(struct recorder *r, int device)
{
    static char names[CONTEXTS][128]; /* the log knows texts by their address */
    struct activity_device record;
    char *name = names[device % CONTEXTS];
    driver_describe(&counters.driver, device, &record, name);
    record.name = (uint64_t)(uintptr_t)name;
    texts_add_pointer(r, record.name);
    atomic_store(&r->ring->record_bytes[ACTIVITY_DEVICE], (uint32_t)sizeof record);
    records_add(r, &record, sizeof record);
}

static struct ring_launch describe(const struct context *c, const struct kernel *kernel)
{
    struct ring_launch record = {.kind = RING_LAUNCH,
                                 .device = (uint32_t)c->device,
                                 .name = kernel->name,
                                 .context = c->id,
                                 .registers_per_thread = kernel->registers,
                                 .static_shared_bytes = kernel->static_shared_bytes,
                                 .dynamic_shared_bytes = kernel->dynamic_shared_bytes,
                                 .local_bytes_per_thread = kernel->local_bytes};
    if (kernel->is_graph) {
        record.flags = RING_LAUNCH_GRAPH;
        record.kernels = kernel->graph_kernels;
        return record;
    }
    memcpy(record.grid, kernel->grid, sizeof record.grid);
    memcpy(record.block, kernel->block, sizeof record.block);
    return record;
}

static const struct plan *plan_of(const struct context *c, enum mode mode)
{
    return mode == MODE_DEEP ? &c->plans->deep : &c->plans->quick;
}

/* In one piece: the collector reads slots in any order. */
static void add_launch(struct recorder *r, const struct context *c, enum mode mode,
                       const struct launch *launch, const double *values)
{
    enum { MOST = (PROFILER_METRICS + RING_COUNTERS_AT_ONCE - 1) / RING_COUNTERS_AT_ONCE };
    struct {
        struct ring_launch launch;
        struct ring_counters counters[MOST];
    } all;
    const struct plan *plan = plan_of(c, mode);
    size_t records = 0, count = plan->counters.count;
    all.launch = describe(c, launch->kernel);
    all.launch.number = launch->number;
    all.launch.stream = (uint64_t)(uintptr_t)launch->stream;
    all.launch.flags |= launch->flags;
    all.launch.counters = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct ring_counters *record = &all.counters[i / RING_COUNTERS_AT_ONCE];
        if (i % RING_COUNTERS_AT_ONCE == 0) {
            *record = (struct ring_counters){.kind = RING_COUNTERS, .number = launch->number};
            records++;
        }
        record->at[record->count].name = plan->names[i];
        record->at[record->count++].value = values[i];
    }
    records_add(r, &all, sizeof all.launch + records * sizeof *all.counters);
}

/* At the end. */
static void say_if_busy(struct recorder *r, const struct context *c)
{
    if (c->busy && !c->measured)
        recorder_note(r, c->busy_why.why, c->busy_why.detail);
}

static void add_nameless_total(struct recorder *r, const struct context *c, int64_t launches, uint32_t flag)
{
    struct ring_launch record = {.kind = RING_LAUNCH,
                                 .device = (uint32_t)c->device,
                                 .number = launches,
                                 .flags = RING_LAUNCH_TOTAL | flag};
    if (launches)
        records_add(r, &record, sizeof record);
}

/* How many launches there were since the last time: of what was measured, of what never is, and where these
 * are the last ones of what might have been. */
static void add_totals(struct recorder *r, struct context *c, bool last)
{
    int64_t missed = 0;
    for (size_t i = 0; c->kernels && i < KERNELS; i++) {
        struct kernel *kernel = &c->kernels[i];
        bool counts = kernel->measured > 0 || kernel->is_graph || kernel->excluded;
        if (!counts && last && !c->dead) {
            missed += kernel->launches - kernel->told;
            kernel->told = kernel->launches;
        }
        if (!kernel->symbol || !counts || kernel->launches == kernel->told)
            continue;
        struct ring_launch record = describe(c, kernel);
        record.flags |= RING_LAUNCH_TOTAL | (kernel->measured == 0 ? RING_LAUNCH_ALONE : 0);
        record.number = kernel->launches - kernel->told;
        records_add(r, &record, sizeof record);
        kernel->told = kernel->launches;
    }
    add_nameless_total(r, c, c->others, RING_LAUNCH_OTHERS);
    add_nameless_total(r, c, missed, RING_LAUNCH_MISSED);
    c->others = 0;
    c->has_untold = false;
    /* Ever more rarely: what runs for a day has as many kernels to tell of as what runs for a minute. */
    int64_t now = clock_ns(CLOCK_MONOTONIC), tenth = (now - c->since_ns) / 10;
    c->tell_ns = now + (tenth > tell_ns ? tenth : tell_ns);
}

/* ---- sessions -------------------------------------------------------------------------------------------
 */

static void give_up(struct recorder *r, struct context *c, const struct refusal *why)
{
    c->dead = true;
    c->mode = MODE_OFF;
    recorder_note(r, why->why, why->detail);
    atomic_store_explicit(&counters.gave_up, true, memory_order_relaxed);
}

/* Another process of the program may have the GPU's counters just now, for a moment: tries again. */
static void wait_for_hardware(struct recorder *r, struct context *c, const struct refusal *why)
{
    if (c->busy++ == BUSY_TRIES)
        give_up(r, c, why);
    c->mode = MODE_OFF;
    c->busy_why = *why;
    c->retry_ns = clock_ns(CLOCK_MONOTONIC) + retry_ns;
}

static void take_values(struct recorder *r, struct context *c, enum mode mode, struct launch *launch,
                        const double *values)
{
    struct kernel *kernel = launch->kernel;
    add_launch(r, c, mode, launch, values);
    /* The first metric of both sets is the duration, unless the user chose others. */
    kernel->duration_ns = values[0] > 0 ? values[0] : 0;
    c->measured = true;
    atomic_store_explicit(&counters.measured, true, memory_order_relaxed);
}

/* Ranges are numbered in the order of their launches; in replay CUPTI counts on over sessions. */
static bool take_ranges(struct recorder *r, struct context *c, enum mode mode, size_t ranges)
{
    double values[PROFILER_METRICS];
    struct refusal why;
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < ranges; i++) {
        int64_t order = profiler_order(&c->profiler, &c->session, i);
        first = order >= 0 && order < first ? order : first;
    }
    for (size_t i = 0; i < ranges; i++) {
        int64_t order = profiler_order(&c->profiler, &c->session, i) - first;
        if (order < 0 || order >= c->launch_count)
            return false;
        struct launch *launch = &c->launches[order];
        pthread_mutex_lock(&c->plans->evaluating);
        bool known = launch->kernel && profiler_values(&c->profiler, &c->session, i, values, &why);
        pthread_mutex_unlock(&c->plans->evaluating);
        if (known)
            take_values(r, c, mode, launch, values);
        else if (launch->kernel)
            recorder_note(r, why.why, why.detail);
    }
    return true;
}

/* The caller holds the context's lock, and the context is current. */
static void stop(struct recorder *r, struct context *c)
{
    struct refusal why;
    enum mode mode = c->mode;
    if (mode == MODE_OFF)
        return;
    inside = true;
    c->mode = MODE_OFF;
    int64_t ranges = profiler_stop(&c->profiler, &c->session, &why);
    if (ranges < 0) {
        give_up(r, c, &why);
    } else if (mode == MODE_GRAPH && c->launch_count == 0) {
        /* The launch failed: its range holds nothing. */
    } else if (ranges != c->launch_count || !take_ranges(r, c, mode, (size_t)ranges)) {
        refusal_set(&why, N_("some counters were dropped: which launch they belong to is not certain ({0})"),
                    "%u launches, %lld ranges", c->launch_count, (long long)ranges);
        recorder_note(r, why.why, why.detail);
        atomic_fetch_add_explicit(&r->ring->dropped_here, c->launch_count, memory_order_relaxed);
    }
    int64_t spent = clock_ns(CLOCK_MONOTONIC) - c->begun_ns;
    c->spent_ns += mode == MODE_DEEP ? spent : 0;
    c->graphs_ns += mode == MODE_GRAPH ? spent : 0;
    c->launch_count = 0;
    inside = false;
}

/* Ends the sessions of other contexts on the device: there may be one at a time, and one that is only stopped
 * keeps it. False: one is in the middle of a launch. */
static bool have_device(struct recorder *r, const struct context *c)
{
    for (int i = 0; i < CONTEXTS; i++) {
        struct context *other = &counters.contexts[i];
        void *before = NULL;
        if (other == c || !__atomic_load_n(&other->session.object, __ATOMIC_RELAXED) ||
            other->device != c->device)
            continue;
        /* Its holder may be waiting for ours. */
        if (pthread_mutex_trylock(&other->lock) != 0)
            return false;
        if (other->session.object && counters.driver.CtxPushCurrent(other->session.context) == 0) {
            stop(r, other);
            inside = true;
            profiler_leave(&other->profiler, &other->session);
            inside = false;
            counters.driver.CtxPopCurrent(&before);
        }
        pthread_mutex_unlock(&other->lock);
    }
    return true;
}

static int try_start(struct context *c, enum mode mode, struct refusal *why)
{
    static const enum profiler_ranges ranges[] = {
        [MODE_QUICK] = PROFILER_KERNELS, [MODE_DEEP] = PROFILER_REPLAYED, [MODE_GRAPH] = PROFILER_WHOLE};
    return profiler_start(&c->profiler, &c->session, &plan_of(c, mode)->counters, ranges[mode],
                          mode == MODE_QUICK ? RANGES : 1, why);
}

/* A MIG instance has no say over what it shares with others: measures the rest. */
static int start_with_part(struct recorder *r, struct context *c, enum mode mode, struct refusal *why)
{
    struct refusal shared = *why;
    if (why->result != CUPTI_MIG || c->plans->is_part)
        return -1;
    profiler_leave(&c->profiler, &c->session);
    pthread_mutex_lock(&counters.lock);
    struct plans *part = plans_find(r, &c->profiler, true, why);
    pthread_mutex_unlock(&counters.lock);
    if (part)
        c->plans = part;
    if (!part || try_start(c, mode, why) != 0) {
        *why = shared;
        return -1;
    }
    recorder_note(
        r,
        N_("this is a MIG instance ({0}): counters of L2, DRAM and links, which instances share, were left "
           "out; turn MIG off to measure them"),
        shared.detail);
    return 0;
}

static void start(struct recorder *r, struct context *c, enum mode mode)
{
    struct refusal why;
    if ((c->busy && clock_ns(CLOCK_MONOTONIC) < c->retry_ns) || !have_device(r, c))
        return;
    inside = true;
    c->begun_ns = clock_ns(CLOCK_MONOTONIC);
    c->launch_count = c->idle = 0;
    if (try_start(c, mode, &why) == 0 || start_with_part(r, c, mode, &why) == 0)
        c->mode = mode;
    else if (why.result == CUPTI_HARDWARE_BUSY)
        wait_for_hardware(r, c, &why);
    else
        give_up(r, c, &why);
    inside = false;
}

static bool another_is_sampled(const struct context *c)
{
    for (int i = 0; i < CONTEXTS; i++) {
        const struct context *other = &counters.contexts[i];
        if (other != c && other->device == c->device &&
            __atomic_load_n(&other->sampling.is_on, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static void start_sampling(struct recorder *r, struct context *c)
{
    struct refusal why;
    inside = true;
    c->begun_ns = clock_ns(CLOCK_MONOTONIC);
    int rc = sampling_start(&c->sampling, r, c->handle, &why);
    if (rc != 0 && why.result == CUPTI_HARDWARE_BUSY && another_is_sampled(c))
        refusal_set(
            &why,
            N_("one context of a GPU is sampled at a time, the first: why warps wait in others is not "
               "known"),
            "%s", "");
    if (rc != 0)
        give_up(r, c, &why);
    inside = false;
}

/* Once and for all. */
static void stop_sampling(struct recorder *r, struct context *c)
{
    struct refusal why;
    if (!c->sampling.is_on)
        return;
    inside = true;
    if (sampling_stop(&c->sampling, r, &why) != 0)
        recorder_note(r, why.why, why.detail);
    c->dead = true;
    inside = false;
}

/* ---- contexts -------------------------------------------------------------------------------------------
 */

static bool prepare(struct recorder *r, struct context *c, struct refusal *why)
{
    if (counters.driver.CtxGetDevice(&c->device) != 0)
        return false;
    add_device(r, c->device);
    if (r->options.sampler)
        return true;
    if (profiler_open(&c->profiler, &r->cupti, c->device, why) != 0)
        return false;
    c->plans = plans_find(r, &c->profiler, false, why);
    if (!c->plans)
        return false;
    c->kernels = calloc(KERNELS, sizeof *c->kernels);
    refusal_set(why, N_("no hardware counters: no memory is left for them"), "%s", "");
    return c->kernels != NULL;
}

static struct context *add_context(struct recorder *r, void *handle, uint32_t id, struct context *c)
{
    struct refusal why;
    refusal_set(&why, N_("no hardware counters: the driver does not say which device it is"), "%s", "");
    c->id = id;
    c->session.context = handle;
    c->since_ns = clock_ns(CLOCK_MONOTONIC);
    inside = true;
    if (!prepare(r, c, &why))
        give_up(r, c, &why);
    inside = false;
    __atomic_store_n(&c->handle, handle, __ATOMIC_RELEASE);
    return c;
}

static struct context *known_context(const void *handle)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (__atomic_load_n(&counters.contexts[i].handle, __ATOMIC_ACQUIRE) == handle)
            return &counters.contexts[i];
    return NULL;
}

/* The caller holds its lock. Others may wait for that with a pointer that they got before: see on_launch().
 */
static void free_context(struct context *c)
{
    inside = true;
    if (c->plans)
        profiler_release(&c->profiler, &c->session);
    sampling_release(&c->sampling);
    free(c->kernels);
    size_t kept = offsetof(struct context, dead);
    memset((char *)c + kept, 0, sizeof *c - kept);
    __atomic_store_n(&c->handle, NULL, __ATOMIC_RELEASE);
    inside = false;
}

/* NULL: there are too many. */
static struct context *find_context(struct recorder *r, void *handle, uint32_t id)
{
    struct context *found = known_context(handle);
    if (found)
        return found;
    pthread_mutex_lock(&counters.lock);
    found = known_context(handle);
    struct context *place = found ? NULL : known_context(NULL);
    if (place)
        found = add_context(r, handle, id, place);
    pthread_mutex_unlock(&counters.lock);
    if (!found)
        recorder_note(r, N_("more than {0} contexts at a time: what was launched in others was not measured"),
                      "64");
    return found;
}

/* ---- what is measured -----------------------------------------------------------------------------------
 */

static bool matters(const struct context *c, const struct kernel *kernel)
{
    return kernel->launches > 1 && kernel->duration_ns * kernel->launches >= share_that_matters * c->total_ns;
}

static enum mode wanted_mode(const struct recorder *r, const struct context *c, const struct kernel *kernel)
{
    bool deep = r->options.deep && c->plans->deep.counters.passes > 1; /* the user's choice may fit in one */
    if (kernel->excluded)
        return MODE_OFF;
    if (deep && !kernel->deep && (c->spent_ns < replay_ns || (c->settled && matters(c, kernel))))
        return MODE_DEEP;
    /* In a session that is open it costs next to nothing; to open one does, and so waits, unless nothing is
     * known of the kernel. */
    if (c->deepening && kernel->measured && c->mode != MODE_QUICK)
        return MODE_OFF;
    bool often = r->options.launches && kernel->measured >= r->options.launches;
    return often ? MODE_OFF : MODE_QUICK;
}

/* Each costs a session, so that a program with many graphs cannot have them all. */
static enum mode wanted_of_graph(const struct recorder *r, const struct context *c,
                                 const struct kernel *graph)
{
    uint32_t most =
        r->options.launches && r->options.launches < GRAPH_OFTEN ? r->options.launches : GRAPH_OFTEN;
    bool often = r->options.launches && graph->measured >= most;
    bool spent = r->options.launches && c->graphs_ns > graphs_ns;
    return often || spent || graphs_are_excluded() ? MODE_OFF : MODE_GRAPH;
}

/* Opens the session that a launch wants. */
static void open_session(struct recorder *r, struct context *c, enum mode mode)
{
    if (c->mode != MODE_OFF && c->mode != mode)
        stop(r, c);
    if (c->mode == MODE_OFF && !c->dead)
        start(r, c, mode);
}

static void forget_kernels(struct recorder *r, struct context *c)
{
    stop(r, c);
    add_totals(r, c, true);
    memset(c->kernels, 0, KERNELS * sizeof *c->kernels);
}

/* With the context's lock held. Returns whether it stays held until the launch is done. */
static bool enter(struct recorder *r, struct context *c, uint32_t cbid, const struct callback_call *call,
                  int64_t number)
{
    if (atomic_exchange(&c->names_moved, false))
        forget_kernels(r, c);
    if (c->dead)
        return false;
    inside = true;
    struct launch launch = launch_read(r, &counters.driver, c->device, c->kernels, cbid, call);
    inside = false;
    launch.number = number;
    if (launch.is_capture)
        return false;
    c->has_untold = true;
    if (launch.kernel) {
        launch.kernel->launches++;
        c->total_ns += launch.kernel->duration_ns;
    }
    c->others += !launch.kernel && (launch.is_single || launch.flags & RING_LAUNCH_GRAPH);
    enum mode mode = !launch.kernel            ? MODE_OFF
                     : launch.kernel->is_graph ? wanted_of_graph(r, c, launch.kernel)
                                               : wanted_mode(r, c, launch.kernel);
    c->deepening = mode == MODE_DEEP ? DEEPENING : c->deepening - (c->deepening > 0);
    /* A graph, or what waits for other GPUs, in a session of kernels would lose it, or wait for ever. */
    if (!launch.is_single || launch.excluded)
        stop(r, c);
    if (mode != MODE_OFF)
        open_session(r, c, mode);
    else if (launch.kernel)
        c->settled = true;
    if (c->mode == MODE_OFF || (!launch.is_single && mode != MODE_GRAPH))
        return false;
    if (mode == MODE_OFF)
        launch.kernel = NULL;
    c->launches[c->launch_count] = launch;
    if (mode == MODE_GRAPH)
        profiler_push(&c->profiler, &c->session);
    return true;
}

static void leave(struct recorder *r, struct context *c, bool launched)
{
    if (c->mode == MODE_OFF)
        return;
    if (c->mode == MODE_GRAPH)
        profiler_pop(&c->profiler, &c->session);
    if (launched) {
        struct kernel *kernel = c->launches[c->launch_count++].kernel;
        c->idle = kernel ? 0 : c->idle + 1;
        if (kernel)
            kernel->measured++;
        /* Also where no values come: a replay that fails once may do so each time. */
        if (kernel && c->mode == MODE_DEEP)
            kernel->deep = true;
    } else if (c->launches[c->launch_count].kernel) {
        c->launches[c->launch_count].kernel->launches--; /* it was none */
    }
    c->last_ns = clock_ns(CLOCK_MONOTONIC);
    if (c->mode != MODE_QUICK || c->launch_count == RANGES || c->idle >= PATIENCE)
        stop(r, c);
}

/* From the first launch on, for a while. */
static void sample(struct recorder *r, struct context *c)
{
    if (!c->dead && !c->sampling.is_on)
        start_sampling(r, c);
    else if (clock_ns(CLOCK_MONOTONIC) - c->begun_ns > sampling_ns)
        stop_sampling(r, c);
}

/* ---- callbacks ------------------------------------------------------------------------------------------
 */

static void on_launch(struct recorder *r, uint32_t cbid, const struct callback_call *call)
{
    if (call->site == CALLBACK_ENTER)
        *call->correlation_data = 0;
    else if (*call->correlation_data == 0)
        return;
    struct context *c = call->context ? find_context(r, call->context, call->context_id) : NULL;
    if (!c)
        return;
    if (call->site == CALLBACK_EXIT) {
        leave(r, c, *(const int *)call->result == 0);
        pthread_mutex_unlock(&c->lock);
        return;
    }
    int64_t number = atomic_fetch_add_explicit(&counters.launches, 1, memory_order_relaxed);
    if (c->dead)
        return;
    pthread_mutex_lock(&c->lock);
    bool gone = __atomic_load_n(&c->handle, __ATOMIC_RELAXED) != call->context; /* while we waited */
    if (r->options.sampler && !gone)
        sample(r, c);
    if (!c->dead && !gone && !r->options.sampler && enter(r, c, cbid, call, number))
        *call->correlation_data = 1; /* the lock stays held */
    else
        pthread_mutex_unlock(&c->lock);
}

static bool is_instantiation(uint32_t cbid)
{
    return cbid == CALLBACK_GRAPH_INSTANTIATE || cbid == CALLBACK_GRAPH_INSTANTIATE_2 ||
           cbid == CALLBACK_GRAPH_INSTANTIATE_FLAGS || cbid == CALLBACK_GRAPH_INSTANTIATE_PARAMS ||
           cbid == CALLBACK_GRAPH_INSTANTIATE_PARAMS_PTSZ;
}

static void on_instantiation(const struct callback_call *call)
{
    if (call->site != CALLBACK_EXIT || *(const int *)call->result != 0)
        return;
    inside = true;
    graphs_add(&counters.driver, call->params);
    inside = false;
}

static void on_context_end(struct recorder *r, const struct callback_resource_data *data)
{
    struct context *c = data->context ? known_context(data->context) : NULL;
    if (!c)
        return;
    void *before = NULL;
    bool is_current =
        counters.driver.CtxGetCurrent(&before) == 0 && before == data->context; /* it need not be */
    bool pushed = !is_current && counters.driver.CtxPushCurrent(data->context) == 0;
    pthread_mutex_lock(&c->lock);
    if (c->handle == data->context) {
        stop(r, c);
        stop_sampling(r, c);
        add_totals(r, c, true);
        say_if_busy(r, c);
        free_context(c); /* a new one may get its address */
    }
    pthread_mutex_unlock(&c->lock);
    if (pushed)
        counters.driver.CtxPopCurrent(&before);
}

/* In the middle of the driver, which may hold locks that a launch waits for with ours held; and the context
 * need not be current. The next launch does what is to be done. */
static void on_module_end(const struct callback_resource_data *data)
{
    struct context *c = data->context ? known_context(data->context) : NULL;
    if (c)
        atomic_store(&c->names_moved, true);
}

static void on_resource(struct recorder *r, uint32_t cbid, const struct callback_resource_data *data)
{
    switch (cbid) {
    case CALLBACK_CONTEXT_DESTROY:
        on_context_end(r, data);
        break;
    case CALLBACK_MODULE_LOADED:
    case CALLBACK_MODULE_PROFILED:
        cubins_keep(r, data->descriptor);
        break;
    case CALLBACK_MODULE_UNLOAD:
        on_module_end(data);
        break;
    default:
        break;
    }
}

static void on_call(void *user, int domain, uint32_t cbid, const void *data)
{
    struct recorder *r = user;
    if (inside || atomic_load_explicit(&r->closed, memory_order_acquire))
        return;
    if (domain == CALLBACK_DOMAIN_DRIVER && is_instantiation(cbid))
        on_instantiation(data);
    else if (domain == CALLBACK_DOMAIN_DRIVER)
        on_launch(r, cbid, data);
    else if (domain == CALLBACK_DOMAIN_RESOURCE)
        on_resource(r, cbid, data);
}

/* ---- on and off -----------------------------------------------------------------------------------------
 */

static const uint32_t launch_calls[] = {
    CALLBACK_LAUNCH_KERNEL,           CALLBACK_LAUNCH_KERNEL_PTSZ,       CALLBACK_LAUNCH_COOPERATIVE,
    CALLBACK_LAUNCH_COOPERATIVE_PTSZ, CALLBACK_LAUNCH_COOPERATIVE_MULTI, CALLBACK_GRAPH_LAUNCH,
    CALLBACK_GRAPH_LAUNCH_PTSZ,       CALLBACK_LAUNCH_KERNEL_EX,         CALLBACK_LAUNCH_KERNEL_EX_PTSZ};
static const uint32_t instantiate_calls[] = {
    CALLBACK_GRAPH_INSTANTIATE, CALLBACK_GRAPH_INSTANTIATE_2, CALLBACK_GRAPH_INSTANTIATE_FLAGS,
    CALLBACK_GRAPH_INSTANTIATE_PARAMS, CALLBACK_GRAPH_INSTANTIATE_PARAMS_PTSZ};

bool counters_start(struct recorder *r)
{
    struct refusal why;
    refusal_set(&why, N_("no hardware counters: this CUPTI has no callbacks, or the driver is too old"), "%s",
                "");
    const struct cupti *cupti = &r->cupti;
    cupti_result result = -1;
    if (cupti->Subscribe && cupti->EnableCallback && driver_open(&counters.driver))
        result = cupti->Subscribe(&counters.subscriber, on_call, r);
    if (result > CUPTI_OK)
        refusal_explain(&why, result, "cuptiSubscribe");
    if (result != CUPTI_OK) {
        recorder_note(r, why.why, why.detail);
        atomic_store_explicit(&r->ring->state, RING_FAILED, memory_order_release);
        return false;
    }
    plans_read(r->options.words);
    for (size_t i = 0; i < sizeof launch_calls / sizeof *launch_calls; i++)
        cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_DRIVER, launch_calls[i]);
    for (size_t i = 0; i < sizeof instantiate_calls / sizeof *instantiate_calls; i++)
        cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_DRIVER, instantiate_calls[i]);
    cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_RESOURCE, CALLBACK_CONTEXT_DESTROY);
    cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_UNLOAD);
    if (r->options.sampler) {
        cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_LOADED);
        cupti->EnableCallback(1, counters.subscriber, CALLBACK_DOMAIN_RESOURCE, CALLBACK_MODULE_PROFILED);
    }
    return true;
}

/* At the end a launch that is under way is waited for, as long as there is time. */
static bool lock_to_flush(struct context *c, const struct timespec *until)
{
    return (until ? pthread_mutex_timedlock(&c->lock, until) : pthread_mutex_trylock(&c->lock)) == 0;
}

void counters_flush(struct recorder *r, bool all)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    for (int i = 0; i < CONTEXTS; i++) {
        struct context *c = &counters.contexts[i];
        void *before = NULL;
        if (!__atomic_load_n(&c->handle, __ATOMIC_ACQUIRE) || !lock_to_flush(c, all ? &until : NULL))
            continue;
        bool due = c->mode != MODE_OFF && (all || clock_ns(CLOCK_MONOTONIC) - c->last_ns > idle_ns);
        bool sampled = c->sampling.is_on && all;
        if (!c->dead && (due || sampled) && counters.driver.CtxPushCurrent(c->session.context) == 0) {
            if (due)
                stop(r, c);
            if (sampled)
                stop_sampling(r, c);
            counters.driver.CtxPopCurrent(&before);
        }
        if (all || (c->has_untold && clock_ns(CLOCK_MONOTONIC) > c->tell_ns))
            add_totals(r, c, all);
        if (all)
            say_if_busy(r, c);
        pthread_mutex_unlock(&c->lock);
    }
}

void counters_stop(struct recorder *r)
{
    counters_flush(r, true);
    if (counters.subscriber && r->cupti.Unsubscribe)
        r->cupti.Unsubscribe(counters.subscriber);
    counters.subscriber = NULL;
}

void counters_forget(void)
{
    memset(counters.contexts, 0, sizeof counters.contexts); /* locks, too */
    pthread_mutex_init(&counters.lock, NULL);
    counters.subscriber = NULL;
    plans_forget();
    graphs_forget();
    cubins_forget();
}
