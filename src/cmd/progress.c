#include "cmd/progress.h"

#include <stdlib.h>
#include <unistd.h>

#include "analyze/msg.h"
#include "base/clock.h"
#include "base/i18n.h"

void progress_open(struct progress *p, const struct cli *cli)
{
    *p = (struct progress){.cli = cli,
                           .live = isatty(STDERR_FILENO) && !cli->globals.quiet && !cli->globals.no_progress,
                           .since_ns = clock_ns(CLOCK_MONOTONIC)};
}

static int by_start(const void *a, const void *b)
{
    const struct progress_op *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

void progress_add(struct progress *p, const struct run *run, size_t first)
{
    if (!p->live)
        return;
    p->ops.count = 0;
    for (size_t op = first; op < run->ops.count; op++) {
        p->launches += run->ops.kind[op] == OP_KERNEL || run->ops.kind[op] == OP_GRAPH;
        vec_push(&p->ops,
                 ((struct progress_op){run->ops.start[op], run->ops.end[op], run_op_device(run, op)}));
    }
    if (p->ops.count)
        qsort(p->ops.at, p->ops.count, sizeof *p->ops.at, by_start);
    while (p->devices.count < run->devices.count)
        vec_push(&p->devices, ((struct progress_device){INT64_MIN}));
    vec_each (&p->ops, op) {
        int64_t *covered = &p->devices.at[op->device].covered_ns;
        int64_t start = max_ns(op->start, *covered);
        p->busy_ns += max_ns(op->end - start, 0);
        *covered = max_ns(*covered, op->end);
    }
}

static double busy_ratio(const struct progress *p, int64_t length_ns)
{
    double whole = (double)length_ns * (double)(p->devices.count ? p->devices.count : 1);
    double ratio = whole > 0 ? (double)p->busy_ns / whole : 0;
    return ratio < 1 ? ratio : 1;
}

static void render(struct str *out, const struct progress *p, const struct progress_facts *f,
                   int64_t length_ns)
{
    const int64_t second = 1000 * 1000 * 1000;
    struct msg msg;
    if (f->paused)
        msg = msg_make(N_("paused · {0} s · {1} processes · 'warplight ctl start' records"),
                       value_count(f->elapsed_ns / second), value_count(f->processes));
    else
        msg = msg_make(
            f->keeps ? N_("recording · {0} s · {1} launches/s · GPU {2} busy · {3} processes · {4} dropped · "
                          "{5} kept")
                     : N_("recording · {0} s · {1} launches/s · GPU {2} busy · {3} processes · {4} dropped · "
                          "{5} written"),
            value_count(f->elapsed_ns / second),
            value_count((int64_t)((double)p->launches * (double)second / (double)length_ns)),
            value_ratio(busy_ratio(p, length_ns)), value_count(f->processes), value_count(f->dropped),
            value_bytes(f->bytes));
    msg_render(out, &msg, true, 0);
}

void progress_show(struct progress *p, const struct progress_facts *facts)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC), length_ns = now - p->since_ns;
    if (!p->live || length_ns <= 0)
        return;
    struct str text = {0};
    struct screen screen;
    render(&text, p, facts, length_ns);
    cli_screen(p->cli, &screen, stderr); /* anew: the window may have changed */
    fputs("\r\033[K", stderr);
    screen_cell(&screen, STYLE_DIM, str_text(&text),
                screen_columns(str_text(&text)) < screen.width ? screen_columns(str_text(&text))
                                                               : screen.width - 1,
                false);
    screen_flush(&screen);
    screen_release(&screen);
    fflush(stderr);
    str_release(&text);
    p->shown = true;
    p->since_ns = now;
    p->launches = p->busy_ns = 0;
}

void progress_erase(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

void progress_release(struct progress *p)
{
    vec_release(&p->devices);
    vec_release(&p->ops);
}
