/* The recording format (doc/formats/wlt.md): a whole run, as if it had been recorded in one go. */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "export/export.h"
#include "export/select.h"
#include "export/wlt_encode.h"
#include "model/used.h"

struct wlt_export {
    struct wlt_encoder encoder;
    struct selection selection;
    /* rows that gather until they make a chunk */
    struct op_table ops;
    struct span_table spans;
    struct sample_table samples;
    VEC(struct mark) marks;
    VEC(struct wait) waits;
};

static int to_sink(void *context, const void *data, size_t length)
{
    struct export_sink *sink = context;
    str_add(&sink->pending, data, length);
    sink_poll(sink);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define COPY_CELL(type, name) to->name[at] = from->name[row];

static void export_ops(struct wlt_export *x, const struct run *run)
{
    const struct op_table *from = &run->ops;
    struct op_table *to = &x->ops;
    for (size_t row = 0; row < from->count; row++) {
        if (!selects_op(&x->selection, row))
            continue;
        size_t at = op_table_add(to);
        RUN_OPS(COPY_CELL)
        if (to->count == WLT_ROWS_MAX) {
            wlt_encode_ops(&x->encoder, to);
            to->count = 0;
        }
    }
    wlt_encode_ops(&x->encoder, to);
}

static void export_spans(struct wlt_export *x, const struct run *run)
{
    const struct span_table *from = &run->spans;
    struct span_table *to = &x->spans;
    for (size_t row = 0; row < from->count; row++) {
        struct interval shown;
        if (!selects_span(&x->selection, row, &shown))
            continue;
        size_t at = span_table_add(to);
        RUN_SPANS(COPY_CELL)
        to->start[at] = shown.start;
        to->end[at] = shown.end;
        if (to->count == WLT_ROWS_MAX) {
            wlt_encode_spans(&x->encoder, to);
            to->count = 0;
        }
    }
    wlt_encode_spans(&x->encoder, to);
}

static void export_samples(struct wlt_export *x, const struct run *run)
{
    const struct sample_table *from = &run->samples;
    struct sample_table *to = &x->samples;
    for (size_t row = 0; row < from->count; row++) {
        if (!selects_moment(&x->selection, from->time[row]))
            continue;
        size_t at = sample_table_add(to);
        RUN_SAMPLES(COPY_CELL)
        if (to->count == WLT_ROWS_MAX) {
            wlt_encode_samples(&x->encoder, to);
            to->count = 0;
        }
    }
    wlt_encode_samples(&x->encoder, to);
}

static void export_moments(struct wlt_export *x, const struct run *run)
{
    struct interval shown;
    vec_each (&run->marks, mark)
        if (selects_moment(&x->selection, mark->time))
            vec_push(&x->marks, *mark);
    vec_each (&run->waits, wait) {
        if (!selects_interval(&x->selection, interval_of(wait->start, wait->end), &shown))
            continue;
        vec_push(&x->waits, *wait);
        x->waits.at[x->waits.count - 1].start = shown.start;
        x->waits.at[x->waits.count - 1].end = shown.end;
    }
    wlt_encode_marks(&x->encoder, x->marks.at, x->marks.count);
    wlt_encode_waits(&x->encoder, x->waits.at, x->waits.count);
}

static int wlt_write(const struct run *run, const struct export_options *options, struct export_sink *sink,
                     struct err *err)
{
    (void)err;
    struct wlt_export *x = mem_zalloc(1, sizeof *x);
    bool *used = used_strings(run);
    selection_init(&x->selection, run, options);
    wlt_encoder_init(&x->encoder, to_sink, sink);
    wlt_encode_strings(&x->encoder, &run->strings, used);
    wlt_encode_small(&x->encoder, run);
    export_ops(x, run);
    export_spans(x, run);
    export_samples(x, run);
    export_moments(x, run);
    wlt_encode_small_again(&x->encoder, run);
    wlt_encode_end(&x->encoder);
    wlt_encoder_release(&x->encoder);
    selection_release(&x->selection);
    op_table_release(&x->ops);
    span_table_release(&x->spans);
    sample_table_release(&x->samples);
    vec_release(&x->marks);
    vec_release(&x->waits);
    free(used);
    free(x);
    return 0;
}

const struct exporter export_wlt = {
    .name = "wlt",
    .title = N_("Warplight recording"),
    .extension = ".wlt",
    .write = wlt_write,
};
