/* A Perfetto export holds the whole run: read back, it is the run that was exported. */
#include "cmocka_all.h"

#include <dirent.h>
#include <stdio.h>

#include "base/proto.h"
#include "describe_run.h"
#include "export/export.h"
#include "import/import.h"
#include "make_run.h"
#include "model/perfetto.h"
#include "rich_run.h"

static void export_to(const struct run *run, const struct interval window, struct export_sink *sink)
{
    struct err err = {0};
    struct export_options options = {.window = window};
    assert_int_equal(exporter_named("perfetto")->write(run, &options, sink, &err), 0);
}

static void import_from(struct run *run, const struct export_sink *sink)
{
    struct err err = {0};
    run_init(run);
    int status = import_memory(run, "export.pftrace", sink->pending.ptr, sink->pending.len, NULL, NULL, &err);
    if (status != 0)
        print_error("%s\n", err.what);
    assert_int_equal(status, 0);
    run_seal(run);
}

static void assert_survives(const struct run *run)
{
    struct export_sink sink = {0};
    struct run again;
    export_to(run, (struct interval){0, 0}, &sink);
    import_from(&again, &sink);
    assert_runs_equal(run, &again, DESCRIBE_ALL);
    run_release(&again);
    str_release(&sink.pending);
}

static void every_column_of_every_table_survives(void **state)
{
    (void)state;
    struct run run;
    rich_run(&run);
    assert_survives(&run);
    run_release(&run);
}

static void an_empty_run_survives(void **state)
{
    (void)state;
    struct run run;
    run_init(&run);
    run_add_source(&run, "nothing", "made by hand");
    run_seal(&run);
    assert_survives(&run);
    run_release(&run);
}

static void times_before_zero_and_since_1970_survive(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct make_run made;
        int64_t t = i == 0 ? -5000000000 : 1790857026123456789;
        make_run_init(&made);
        make_launch(&made, "k", t, t + 10, t + 20, t + 31);
        make_launch(&made, "k", t + 40, t + 50, t + 60, t + 60);
        run_seal(&made.run);
        assert_survives(&made.run);
        run_release(&made.run);
    }
}

static void samples_survive(void **state)
{
    (void)state;
    DIR *dir = opendir(SAMPLES "/torch");
    int read = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        struct run run;
        struct err err = {0};
        if (!strstr(entry->d_name, ".json.gz"))
            continue;
        snprintf(path, sizeof path, SAMPLES "/torch/%s", entry->d_name);
        run_init(&run);
        assert_int_equal(import_file(&run, path, NULL, NULL, &err), 0);
        run_seal(&run);
        assert_true(run.ops.count > 0 && run.spans.count > 0);
        assert_survives(&run);
        run_release(&run);
        read++;
    }
    closedir(dir);
    assert_true(read > 0);
}

static void output_is_the_same_each_time(void **state)
{
    (void)state;
    struct run run;
    struct export_sink first = {0}, second = {0};
    rich_run(&run);
    export_to(&run, (struct interval){0, 0}, &first);
    export_to(&run, (struct interval){0, 0}, &second);
    assert_int_equal(first.pending.len, second.pending.len);
    assert_memory_equal(first.pending.ptr, second.pending.ptr, first.pending.len);
    str_release(&first.pending);
    str_release(&second.pending);
    run_release(&run);
}

/* ---- what viewers require
 * ---------------------------------------------------------------------------------- */

struct slices_open {
    VEC(int64_t) starts;
    int64_t last;
};

/* Walks all events; fails where a track's slices do not nest or its times go backwards. Returns the slices.
 */
static size_t assert_tracks_nest(const struct export_sink *sink)
{
    struct proto trace = proto_message(sink->pending.ptr, sink->pending.len), packet, event;
    struct proto_field field, inner, part;
    enum { TRACKS = 256 };
    static struct slices_open tracks[TRACKS];
    size_t slices = 0;
    memset(tracks, 0, sizeof tracks);
    while (proto_next(&trace, &field)) {
        int64_t time = 0;
        uint64_t type = 0, track = 0;
        packet = proto_inside(&field);
        while (proto_next(&packet, &inner)) {
            if (inner.number == TracePacket_timestamp)
                time = (int64_t)inner.value;
            if (inner.number != TracePacket_track_event)
                continue;
            event = proto_inside(&inner);
            while (proto_next(&event, &part)) {
                type = part.number == TrackEvent_type ? part.value : type;
                track = part.number == TrackEvent_track_uuid ? part.value : track;
            }
        }
        assert_in_range(track, 0, TRACKS - 1);
        struct slices_open *open = &tracks[track];
        if (type == EVENT_SLICE_BEGIN || type == EVENT_SLICE_END) {
            assert_true(time >= open->last);
            open->last = time;
        }
        if (type == EVENT_SLICE_BEGIN)
            vec_push(&open->starts, time);
        if (type != EVENT_SLICE_END)
            continue;
        assert_true(open->starts.count > 0);
        open->starts.count--;
        slices++;
    }
    assert_false(trace.damaged);
    for (int i = 0; i < TRACKS; i++) {
        assert_int_equal(tracks[i].starts.count, 0);
        vec_release(&tracks[i].starts);
    }
    return slices;
}

static void slices_of_every_track_nest(void **state)
{
    (void)state;
    struct run run;
    struct export_sink sink = {0};
    rich_run(&run);
    export_to(&run, (struct interval){0, 0}, &sink);
    assert_int_equal(assert_tracks_nest(&sink), run.ops.count + run.spans.count + run.waits.count);
    str_release(&sink.pending);
    run_release(&run);
}

struct arrow {
    uint64_t id;
    int64_t time;
};

struct arrows {
    VEC(struct arrow) starts;
    VEC(struct arrow) ends;
};

static void collect_arrows(const struct export_sink *sink, struct arrows *arrows)
{
    struct proto trace = proto_message(sink->pending.ptr, sink->pending.len), packet, event;
    struct proto_field field, inner, part;
    while (proto_next(&trace, &field)) {
        int64_t time = 0;
        packet = proto_inside(&field);
        while (proto_next(&packet, &inner)) {
            if (inner.number == TracePacket_timestamp)
                time = (int64_t)inner.value;
            event = proto_inside(&inner);
            while (inner.number == TracePacket_track_event && proto_next(&event, &part)) {
                if (part.number == TrackEvent_flow_ids)
                    vec_push(&arrows->starts, ((struct arrow){part.value, time}));
                if (part.number == TrackEvent_terminating_flow_ids)
                    vec_push(&arrows->ends, ((struct arrow){part.value, time}));
            }
        }
    }
}

static void an_arrow_leads_from_every_call_to_each_op_that_it_launched(void **state)
{
    (void)state;
    struct make_run made;
    struct export_sink sink = {0};
    struct arrows arrows = {0};
    make_run_init(&made);
    make_launch(&made, "k", 10, 20, 30, 40);
    make_span(&made.run, made.thread, SPAN_API, "cudaGraphLaunch", 50, 60, 77);
    make_kernel(&made.run, made.stream, "node", 70, 80, 77);
    make_kernel(&made.run, made.stream, "node", 90, 95, 77);
    make_launch(&made, "before its call: the clocks disagree", 110, 120, 100, 105);
    make_kernel(&made.run, made.stream, "launched by nobody", 130, 140, 0);
    run_seal(&made.run);
    export_to(&made.run, (struct interval){0, 0}, &sink);
    collect_arrows(&sink, &arrows);
    static const int64_t from[] = {10, 50, 50}, to[] = {30, 70, 90};
    assert_int_equal(arrows.starts.count, 3);
    assert_int_equal(arrows.ends.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(arrows.starts.at[i].id, arrows.ends.at[i].id);
        assert_int_equal(arrows.starts.at[i].time, from[i]);
        assert_int_equal(arrows.ends.at[i].time, to[i]);
        assert_true(i == 0 || arrows.starts.at[i].id != arrows.starts.at[i - 1].id);
    }
    vec_release(&arrows.starts);
    vec_release(&arrows.ends);
    str_release(&sink.pending);
    run_release(&made.run);
}

/* ---- the layout is a format -------------------------------------------------------------------------------
 */

static struct str read_text(const char *path)
{
    struct str text = {0};
    char buffer[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_add(&text, buffer, n);
    fclose(file);
    return text;
}

/* Readers outside this tree rely on the spellings in the document. */
static void every_annotation_is_documented(void **state)
{
    (void)state;
    static const struct cell *const all[] = {
        op_cells,     shape_cells,   comm_cells,   source_cells, repair_cells, fact_cells, losses_cells,
        device_cells, process_cells, thread_cells, stream_cells, series_cells, mark_cells, wait_cells};
    struct str doc = read_text(SAMPLES "/../../doc/formats/exports.md");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (const struct cell *cell = all[i]; cell->key; cell++) {
            char quoted[64];
            snprintf(quoted, sizeof quoted, "`%s`", cell->key);
            if (!strstr(doc.ptr, quoted))
                fail_msg("%s is not in doc/formats/exports.md", cell->key);
        }
    }
    str_release(&doc);
}

static void documented_names_are_those_that_are_written(void **state)
{
    (void)state;
    static const char *const names[] = {
        "warplight.run",
        "warplight.source",
        "warplight.repair",
        "warplight.fact",
        "warplight.losses",
        "warplight.process",
        "warplight.thread",
        "warplight.device",
        "warplight.stream",
        "warplight.counter",
        "layout_version",
        "time_offset_ns",
        "track",
        "source_row",
        "process_row",
        "registers_per_thread",
        "grid",
        "external_id",
        "host to device",
        "pageable",
        "kernel",
        "operator",
        "out of memory",
        "on_stream_row",
        "Warplight recording",
        "detail",
        "lane 2",
        "memory_bandwidth_bytes_per_s",
    };
    struct run run;
    struct export_sink sink = {0};
    rich_run(&run);
    export_to(&run, (struct interval){0, 0}, &sink);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!memmem(sink.pending.ptr, sink.pending.len, names[i], strlen(names[i])))
            fail_msg("%s is not in the export", names[i]);
    str_release(&sink.pending);
    run_release(&run);
}

/* ---- windows ------------------------------------------------------------------------------------------- */

static void a_window_keeps_what_overlaps_it_and_the_calls_that_launched_it(void **state)
{
    (void)state;
    struct make_run made;
    struct run cut;
    struct export_sink sink = {0};
    make_run_init(&made);
    make_span(&made.run, made.thread, SPAN_ANNOTATION, "all", 0, 10000, 0);
    make_launch(&made, "before", 100, 110, 200, 300);
    make_launch(&made, "queued long ago", 400, 410, 1500, 1600);
    make_launch(&made, "across the edge", 450, 460, 1900, 2500);
    make_launch(&made, "after", 2100, 2110, 2600, 2700);
    run_seal(&made.run);
    export_to(&made.run, (struct interval){1000, 2000}, &sink);
    import_from(&cut, &sink);
    assert_int_equal(cut.ops.count, 2);
    assert_string_equal(run_text(&cut, cut.ops.name[0]), "queued long ago");
    assert_int_equal(cut.ops.end[1], 2500);
    assert_int_equal(cut.losses.unlinked, 0);
    assert_int_equal(cut.spans.count, 3);
    assert_string_equal(run_text(&cut, cut.spans.name[0]), "all");
    assert_int_equal(cut.spans.start[0], 400);
    assert_int_equal(cut.spans.end[0], 2000);
    run_release(&cut);
    str_release(&sink.pending);
    run_release(&made.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_every_table_survives),
        cmocka_unit_test(an_empty_run_survives),
        cmocka_unit_test(times_before_zero_and_since_1970_survive),
        cmocka_unit_test(samples_survive),
        cmocka_unit_test(output_is_the_same_each_time),
        cmocka_unit_test(slices_of_every_track_nest),
        cmocka_unit_test(an_arrow_leads_from_every_call_to_each_op_that_it_launched),
        cmocka_unit_test(every_annotation_is_documented),
        cmocka_unit_test(documented_names_are_those_that_are_written),
        cmocka_unit_test(a_window_keeps_what_overlaps_it_and_the_calls_that_launched_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
