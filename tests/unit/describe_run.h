/* A run as sorted lines of text, one a row, so that two runs can be compared whatever the order of their
 * tables, and the first difference can be read. Rows are named by what identifies them, never by number. */
#ifndef WARPLIGHT_TESTS_UNIT_DESCRIBE_RUN_H
#define WARPLIGHT_TESTS_UNIT_DESCRIBE_RUN_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/cells.h"
#include "model/run.h"

enum describe_what {
    DESCRIBE_ALL,    /* everything that a run holds, unless it counts a re-import of its own */
    DESCRIBE_KINETO, /* what Chrome JSON as torch.profiler writes it has a place for */
};

struct describe {
    const struct run *run;
    enum describe_what what;
    VEC(char *) lines;
    struct str line;
};

static inline void describe_end_line(struct describe *d)
{
    vec_push(&d->lines, mem_strdup(str_text(&d->line)));
    str_cut(&d->line, 0);
}

static inline void describe_cells(struct describe *d, const struct cell *cells, const void *row)
{
    for (const struct cell *cell = cells; cell->key; cell++) {
        for (int i = 0; i < cell->count && cell->type != CELL_ROW; i++) {
            int64_t value = cell_get(cell, row, i);
            if (cell->type == CELL_TEXT)
                str_addf(&d->line, " %s=%s", cell->key, run_text(d->run, (uint32_t)value));
            else if (value != cell->absent)
                str_addf(&d->line, " %s=%" PRId64, cell->key, value);
        }
    }
}

static inline void describe_process(struct describe *d, uint32_t process)
{
    if (process == NONE)
        str_puts(&d->line, " process=none");
    else
        str_addf(&d->line, " source=%" PRIu32 " pid=%" PRId64, d->run->processes.at[process].source,
                 d->run->processes.at[process].pid);
}

static inline void describe_thread(struct describe *d, uint32_t thread)
{
    if (thread == NONE)
        return;
    describe_process(d, d->run->threads.at[thread].process);
    str_addf(&d->line, " tid=%" PRId64, d->run->threads.at[thread].tid);
}

static inline void describe_device(struct describe *d, uint32_t device)
{
    if (device != NONE)
        str_addf(&d->line, " device=%" PRIu32 ":%" PRId64, d->run->devices.at[device].source,
                 d->run->devices.at[device].id);
}

static inline void describe_stream(struct describe *d, uint32_t stream)
{
    if (stream == NONE)
        return;
    const struct stream *s = &d->run->streams.at[stream];
    describe_device(d, s->device);
    describe_process(d, s->process);
    str_addf(&d->line, " context=%" PRId64 " stream=%" PRId64, s->context, s->id);
}

static inline void describe_op(struct describe *d, size_t op)
{
    const struct run *run = d->run;
    struct op_row row = op_row(run, op);
    str_addf(&d->line, "op %" PRId64 " %" PRId64 " %s", run->ops.start[op], run->ops.end[op],
             run_text(run, run->ops.name[op]));
    describe_stream(d, run->ops.stream[op]);
    if (d->what == DESCRIBE_KINETO && row.kind == OP_GRAPH)
        row.kind = OP_KERNEL;
    describe_cells(d, op_cells, &row);
    if (run->ops.shape[op] != NONE) {
        struct shape shape = run->shapes.at[run->ops.shape[op]];
        if (d->what == DESCRIBE_KINETO) {
            shape.shared_dynamic_bytes += shape.shared_static_bytes;
            shape.shared_static_bytes = shape.local_bytes_per_thread = 0;
            memset(shape.cluster, 0, sizeof shape.cluster);
        }
        describe_cells(d, shape_cells, &shape);
    }
    if (run->ops.comm[op] != NONE)
        describe_cells(d, comm_cells, &run->comms.at[run->ops.comm[op]]);
    uint32_t call = run->ops.call[op];
    if (call != NONE) {
        str_addf(&d->line, " call=%s@%" PRId64, run_text(run, run->spans.name[call]), run->spans.start[call]);
        describe_thread(d, run->spans.thread[call]);
    }
    describe_end_line(d);
}

static inline void describe_span(struct describe *d, size_t span)
{
    const struct run *run = d->run;
    const struct span_table *spans = &run->spans;
    str_addf(&d->line, "span %" PRId64 " %" PRId64 " %s kind=%s id=%" PRIu64, spans->start[span],
             spans->end[span], run_text(run, spans->name[span]), span_kind_names[spans->kind[span]],
             spans->id[span]);
    const char *detail = run_text(run, spans->detail[span]);
    if (d->what == DESCRIBE_KINETO && spans->kind[span] == SPAN_OTHER && !*detail)
        detail = "other";
    str_addf(&d->line, " detail=%s", detail);
    describe_thread(d, spans->thread[span]);
    if (spans->parent[span] != NONE)
        str_addf(&d->line, " in=%s", run_text(run, spans->name[spans->parent[span]]));
    describe_end_line(d);
}

static inline void describe_places(struct describe *d)
{
    const struct run *run = d->run;
    bool all = d->what == DESCRIBE_ALL;
    for (uint32_t i = 0; i < run->devices.count; i++) {
        struct device row = run->devices.at[i];
        if (!all) /* not in the list that Kineto writes */
            row.memory_bandwidth_bytes_per_s = 0;
        str_addf(&d->line, "device source=%" PRIu32, row.source);
        describe_cells(d, device_cells, &row);
        describe_end_line(d);
    }
    for (uint32_t i = 0; i < run->processes.count; i++) {
        str_addf(&d->line, "process source=%" PRIu32, run->processes.at[i].source);
        describe_cells(d, process_cells, &run->processes.at[i]);
        describe_end_line(d);
    }
    for (uint32_t i = 0; i < run->threads.count; i++) {
        str_puts(&d->line, "thread");
        describe_process(d, run->threads.at[i].process);
        describe_cells(d, thread_cells, &run->threads.at[i]);
        describe_end_line(d);
    }
    for (uint32_t i = 0; i < run->streams.count && all; i++) {
        str_addf(&d->line, "stream %s", run_text(run, run->streams.at[i].name));
        describe_stream(d, i);
        describe_end_line(d);
    }
}

static inline void describe_series(struct describe *d)
{
    const struct run *run = d->run;
    for (size_t i = 0; i < run->samples.count; i++) {
        const struct counter_series *series = &run->series.at[run->samples.series[i]];
        str_addf(&d->line, "sample %" PRId64 " %.17g %s unit=%d", run->samples.time[i], run->samples.value[i],
                 run_text(run, series->name), (int)series->unit);
        describe_device(d, series->device);
        if (series->process != NONE)
            describe_process(d, series->process);
        describe_end_line(d);
    }
}

static inline void describe_moments(struct describe *d)
{
    const struct run *run = d->run;
    vec_each (&run->marks, mark) {
        str_addf(&d->line, "mark %" PRId64 " %s", mark->time, run_text(run, mark->text));
        describe_cells(d, mark_cells, mark);
        describe_thread(d, mark->thread);
        describe_device(d, mark->device);
        describe_end_line(d);
    }
    vec_each (&run->waits, wait) {
        str_addf(&d->line, "wait %" PRId64 " %" PRId64 " %s", wait->start, wait->end,
                 run_text(run, wait->kind));
        describe_stream(d, wait->stream);
        describe_stream(d, wait->on_stream);
        describe_end_line(d);
    }
}

static inline void describe_provenance(struct describe *d)
{
    const struct run *run = d->run;
    vec_each (&run->sources, source) {
        str_addf(&d->line, "source rank=%" PRId32 " of %" PRId32, source->rank, source->world_size);
        if (d->what == DESCRIBE_ALL)
            str_addf(&d->line, " tool=%s", run_text(run, source->tool));
        describe_end_line(d);
        vec_each (&source->repairs, repair) {
            if (d->what != DESCRIBE_ALL)
                break;
            str_puts(&d->line, "repair");
            describe_cells(d, repair_cells, repair);
            describe_end_line(d);
        }
    }
    vec_each (&run->facts, fact) {
        const char *key = run_text(run, fact->key);
        /* What each importer and exporter says of itself. */
        if (strcmp(key, "original_path") == 0 ||
            (d->what != DESCRIBE_ALL && strcmp(key, "schemaVersion") == 0))
            continue;
        str_addf(&d->line, "fact %s=%s source=%" PRIu32, key, run_text(run, fact->value), fact->source);
        describe_end_line(d);
    }
    str_puts(&d->line, "losses");
    if (d->what == DESCRIBE_ALL)
        describe_cells(d, losses_cells, &run->losses);
    str_addf(&d->line, " unlinked=%" PRId64, run->losses.unlinked);
    describe_end_line(d);
}

static inline int describe_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The run must be sealed. */
static inline struct describe describe_run(const struct run *run, enum describe_what what)
{
    struct describe d = {.run = run, .what = what};
    describe_provenance(&d);
    describe_places(&d);
    for (size_t i = 0; i < run->ops.count; i++)
        describe_op(&d, i);
    for (size_t i = 0; i < run->spans.count; i++)
        describe_span(&d, i);
    describe_series(&d);
    describe_moments(&d);
    qsort(d.lines.at, d.lines.count, sizeof *d.lines.at, describe_compare);
    return d;
}

static inline void describe_release(struct describe *d)
{
    vec_each (&d->lines, line)
        free(*line);
    vec_release(&d->lines);
    str_release(&d->line);
}

/* Fails the test at the first line in which the runs differ. */
static inline void assert_runs_equal(const struct run *expected, const struct run *actual,
                                     enum describe_what what)
{
    struct describe a = describe_run(expected, what), b = describe_run(actual, what);
    for (size_t i = 0; i < a.lines.count && i < b.lines.count; i++)
        assert_string_equal(b.lines.at[i], a.lines.at[i]);
    assert_int_equal(b.lines.count, a.lines.count);
    describe_release(&a);
    describe_release(&b);
}

#endif
