/* A recording of any format, written by every exporter: whole, and cut to its middle. */
#include "fuzz.h"

#include <string.h>

#include "base/json.h"
#include "export/export.h"
#include "import/import.h"

/* One strict JSON document and nothing else. */
static void check_json(const struct str *text)
{
    struct stream *in;
    FUZZ_CHECK(stream_open_memory(&in, "export", str_text(text), text->len, NULL) == 0);
    struct json_reader r;
    json_open(&r, in, NULL, NULL);
    FUZZ_CHECK(json_skip(&r) && json_peek(&r) == JSON_NONE && json_offset(&r) == (int64_t)text->len);
    for (int i = 0; i < JSON_ODD_COUNT; i++)
        FUZZ_CHECK(r.odd[i].count == 0);
    json_close(&r);
    stream_close(in);
}

/* Warplight's own format holds all of a run. */
static void check_whole(const struct run *run, const struct str *text)
{
    struct run again;
    run_init(&again);
    FUZZ_CHECK(import_memory(&again, "export", str_text(text), text->len, "wlt", NULL, NULL) == 0);
    run_seal(&again);
    FUZZ_CHECK(again.ops.count == run->ops.count && again.spans.count == run->spans.count);
    FUZZ_CHECK(again.samples.count == run->samples.count && again.marks.count == run->marks.count);
    FUZZ_CHECK(again.waits.count == run->waits.count && again.profiles.count == run->profiles.count);
    run_release(&again);
}

static void export_with(const struct run *run, const struct exporter *exporter,
                        const struct export_options *options)
{
    struct export_sink sink = {0};
    struct err err = {0};
    bool whole = options->window.start == options->window.end;
    if (exporter->write(run, options, &sink, &err) == 0) {
        if (strcmp(exporter->name, "chrome") == 0)
            check_json(&sink.pending);
        else if (strcmp(exporter->name, "wlt") == 0 && whole)
            check_whole(run, &sink.pending);
    } else {
        FUZZ_CHECK(err.what[0] != '\0');
    }
    sink_close(&sink, true, NULL);
}

static struct interval middle(const struct run *run)
{
    if (run->ops.count == 0)
        return (struct interval){0, 1000};
    size_t half = run->ops.count / 2;
    return (struct interval){run->ops.start[half], run->ops.end[half]};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    run_init(&run);
    if (import_memory(&run, "fuzz", data, size, NULL, NULL, NULL) == 0) {
        run_seal(&run);
        for (size_t i = 0; exporters[i]; i++)
            for (int weight = FOLDED_DEVICE; weight <= FOLDED_HOST; weight++) {
                struct export_options options = {.weight = (enum folded_weight)weight};
                export_with(&run, exporters[i], &options);
                options.window = middle(&run);
                export_with(&run, exporters[i], &options);
            }
    }
    run_release(&run);
    return 0;
}
