#include "source/measure.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "source/counter_sets.h"
#include "source/facts.h"
#include "source/kept_code.h"

/* Those that the user chose. Which kernels matter enough to be replayed, their duration says: it is the
 * first. */
static void add_chosen(struct str *words, const char *metrics, bool deep)
{
    const char *duration = counters_quick[0];
    if (deep)
        str_addf(words, ",metric=%s", duration);
    for (const char *metric = metrics; *metric;) {
        size_t length = strcspn(metric, ",");
        bool is_there = deep && length == strlen(duration) && memcmp(metric, duration, length) == 0;
        if (length && !is_there)
            str_addf(words, ",metric=%.*s", (int)length, metric);
        metric += length + (metric[length] == ',');
    }
}

static void add_words(struct str *words, const struct measure_options *options)
{
    str_addf(words, "counters%s%s,launches=%u", options->stalls ? ",sampler" : "",
             options->deep ? ",deep" : "", options->launches);
    if (options->metrics) {
        add_chosen(words, options->metrics, options->deep);
        return;
    }
    for (size_t i = 0; i < counters_quick_count; i++)
        str_addf(words, ",metric=%s", counters_quick[i]);
    for (size_t i = 0; i < counters_deep_count && options->deep; i++)
        str_addf(words, ",deep=%s", counters_deep[i]);
}

/* The signals that ask for an end. They are waited for, so that none can be lost between look and sleep. */
static void choose_signals(sigset_t *signals)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction before;
        bool ignored = sigaction(all[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN;
        if (!ignored) /* by whoever started us, and so by the program */
            sigaddset(signals, all[i]);
    }
}

static void pass_on_next_signal(struct measure *m, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    siginfo_t info = {0};
    int signal = sigtimedwait(signals, &info, &pause);
    /* What the terminal sends, the kernel has sent to the target, too. */
    bool from_terminal = (signal == SIGINT || signal == SIGQUIT) && info.si_code == SI_KERNEL;
    if (signal > 0 && !from_terminal)
        target_signal(&m->target, signal);
}

static void tell_plan(struct measure *m, const struct measure_options *options)
{
    if (m->collect.plan.kind && options->on_plan)
        options->on_plan(&m->collect.plan);
    m->collect.plan.kind = 0;
}

static void follow(struct measure *m, struct run *run, const struct measure_options *options,
                   const sigset_t *signals)
{
    while (target_poll(&m->target), !m->target.ended) {
        pass_on_next_signal(m, signals);
        collect_drain(&m->collect, run);
        tell_plan(m, options);
    }
    collect_finish(&m->collect, run);
    tell_plan(m, options);
    kept_code_read(&m->collect.folder, run, m->collect.source);
    counters_prefer_unreplayed(run);
    counters_assign_samples(run);
    if (!options->again)
        collect_facts(&m->collect, run);
}

int measure_run(struct measure *m, struct run *run, const struct measure_options *options, char *const *argv,
                struct err *err)
{
    struct str library = {0}, words = {0};
    sigset_t signals, before;
    *m = (struct measure){.collect.folder.fd = -1};
    uint32_t source = options->again ? (uint32_t)run->sources.count - 1
                                     : run_add_source(run, argv[0], "warplight counters");
    choose_signals(&signals);
    /* Before it starts: a signal in between would end only one of us. */
    sigprocmask(SIG_BLOCK, &signals, &before);
    int rc = target_find_library(&library, err);
    if (rc == 0)
        rc = collect_open(&m->collect, source, err);
    if (rc == 0) {
        if (!options->again)
            facts_add(run, source, argv);
        add_words(&words, options);
        rc = target_start(&m->target, argv, str_text(&library), str_text(&m->collect.folder.path),
                          str_text(&words), &before, err);
    }
    if (rc == 0)
        follow(m, run, options, &signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    str_release(&words);
    str_release(&library);
    return rc;
}

void measure_release(struct measure *m)
{
    collect_close(&m->collect);
}
