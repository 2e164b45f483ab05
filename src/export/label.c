#include "export/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STREAMS_COMPARED = 4096 };

static void add_text(struct str *out, const struct run *run, uint32_t text)
{
    str_add(out, run_text(run, text), intern_length(&run->strings, text));
}

void label_process(struct str *out, const struct run *run, uint32_t process)
{
    const struct process *p = &run->processes.at[process];
    if (p->name)
        add_text(out, run, p->name);
    str_addf(out, p->name ? " (pid %" PRId64 ")" : "pid %" PRId64, p->pid);
    if (p->rank >= 0)
        str_addf(out, " rank %" PRId32, p->rank);
}

/* Some tools put the number into the name ("thread 1479 (python3)"): once is enough. */
void label_thread(struct str *out, const struct run *run, uint32_t thread)
{
    const struct thread *t = &run->threads.at[thread];
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, t->tid);
    if (t->name)
        add_text(out, run, t->name);
    if (!t->name)
        str_addf(out, "tid %s", number);
    else if (!strstr(run_text(run, t->name), number))
        str_addf(out, " (tid %s)", number);
}

void label_device(struct str *out, const struct run *run, uint32_t device)
{
    const struct device *d = &run->devices.at[device];
    str_addf(out, "GPU %" PRId64, d->id);
    if (d->name) {
        str_puts(out, ": ");
        add_text(out, run, d->name);
    }
    if (run->sources.count > 1 && run->sources.at[d->source].rank >= 0)
        str_addf(out, " rank %" PRId32, run->sources.at[d->source].rank);
}

void label_stream(struct str *out, const struct run *run, uint32_t stream)
{
    const struct stream *s = &run->streams.at[stream];
    /* Beyond any real number of streams, looking at each pair would take too long: say everything. */
    bool many = run->streams.count > STREAMS_COMPARED;
    bool several_processes = many, several_contexts = many;
    for (size_t i = 0; i < run->streams.count && !many; i++) {
        const struct stream *other = &run->streams.at[i];
        several_processes |= other->device == s->device && other->process != s->process;
        several_contexts |= other->device == s->device && other->context != s->context;
    }
    if (s->name)
        add_text(out, run, s->name);
    else
        str_addf(out, "stream %" PRId64, s->id);
    if (several_processes && s->process != NONE)
        str_addf(out, " (pid %" PRId64 ")", run->processes.at[s->process].pid);
    if (several_contexts && s->context != UNKNOWN)
        str_addf(out, " (context %" PRId64 ")", s->context);
}
