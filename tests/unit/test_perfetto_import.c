/* Perfetto traces of other tools: what their tracks and events mean in a run, in whatever order and encoding
 * they come, and what happens to files that are damaged. */
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/proto.h"
#include "import/import.h"
#include "model/perfetto.h"
#include "model/run.h"

#define SHARED SAMPLES "/../../../shared/data/foreign/rocprof/"

/* ---- making traces
 * ----------------------------------------------------------------------------------------- */

struct trace {
    struct str bytes;
    size_t packet, part;
};

static void open_packet(struct trace *t, uint64_t sequence)
{
    t->packet = proto_open(&t->bytes, Trace_packet);
    proto_put_uint(&t->bytes, TracePacket_sequence_id, sequence);
}

static void close_packet(struct trace *t)
{
    proto_close(&t->bytes, t->packet);
}

static void open_event(struct trace *t, int type, uint64_t track, uint64_t time)
{
    open_packet(t, 1);
    proto_put_uint(&t->bytes, TracePacket_timestamp, time);
    t->part = proto_open(&t->bytes, TracePacket_track_event);
    proto_put_uint(&t->bytes, TrackEvent_type, (uint64_t)type);
    proto_put_uint(&t->bytes, TrackEvent_track_uuid, track);
}

static void close_event(struct trace *t)
{
    proto_close(&t->bytes, t->part);
    close_packet(t);
}

static void begin(struct trace *t, uint64_t track, uint64_t time, const char *name, const char *category)
{
    open_event(t, EVENT_SLICE_BEGIN, track, time);
    proto_put_text(&t->bytes, TrackEvent_name, name);
    proto_put_text(&t->bytes, TrackEvent_categories, category);
    close_event(t);
}

static void end(struct trace *t, uint64_t track, uint64_t time)
{
    open_event(t, EVENT_SLICE_END, track, time);
    close_event(t);
}

static void open_track(struct trace *t, uint64_t uuid, uint64_t parent, const char *name)
{
    open_packet(t, 1);
    t->part = proto_open(&t->bytes, TracePacket_track_descriptor);
    proto_put_uint(&t->bytes, TrackDescriptor_uuid, uuid);
    if (parent)
        proto_put_uint(&t->bytes, TrackDescriptor_parent_uuid, parent);
    if (name)
        proto_put_text(&t->bytes, TrackDescriptor_name, name);
}

static void close_track(struct trace *t)
{
    proto_close(&t->bytes, t->part);
    close_packet(t);
}

static void put_thread(struct trace *t, uint64_t uuid, int64_t pid, int64_t tid, const char *name)
{
    open_track(t, uuid, 0, NULL);
    size_t mark = proto_open(&t->bytes, TrackDescriptor_thread);
    proto_put_int(&t->bytes, ThreadDescriptor_pid, pid);
    proto_put_int(&t->bytes, ThreadDescriptor_tid, tid);
    proto_put_text(&t->bytes, ThreadDescriptor_thread_name, name);
    proto_close(&t->bytes, mark);
    close_track(t);
}

static void put_process(struct trace *t, uint64_t uuid, int64_t pid, const char *name)
{
    open_track(t, uuid, 0, NULL);
    size_t mark = proto_open(&t->bytes, TrackDescriptor_process);
    proto_put_int(&t->bytes, ProcessDescriptor_pid, pid);
    proto_put_text(&t->bytes, ProcessDescriptor_process_name, name);
    proto_close(&t->bytes, mark);
    close_track(t);
}

static void put_int(struct trace *t, const char *key, int64_t value)
{
    size_t mark = proto_open(&t->bytes, TrackEvent_debug_annotations);
    proto_put_text(&t->bytes, DebugAnnotation_name, key);
    proto_put_int(&t->bytes, DebugAnnotation_int, value);
    proto_close(&t->bytes, mark);
}

static void put_text(struct trace *t, const char *key, const char *value)
{
    size_t mark = proto_open(&t->bytes, TrackEvent_debug_annotations);
    proto_put_text(&t->bytes, DebugAnnotation_name, key);
    proto_put_text(&t->bytes, DebugAnnotation_string, value);
    proto_close(&t->bytes, mark);
}

static int try_read(struct run *run, const struct trace *t)
{
    struct err err = {0};
    run_init(run);
    int status = import_memory(run, "t.pftrace", str_text(&t->bytes), t->bytes.len, "perfetto", NULL, &err);
    run_seal(run);
    return status;
}

static void read_trace(struct run *run, struct trace *t)
{
    assert_int_equal(try_read(run, t), 0);
    str_release(&t->bytes);
}

static void assert_span(const struct run *run, size_t span, const char *name, int64_t start, int64_t stop)
{
    assert_true(span < run->spans.count);
    assert_string_equal(run_text(run, run->spans.name[span]), name);
    assert_int_equal(run->spans.start[span], start);
    assert_int_equal(run->spans.end[span], stop);
}

static int64_t repaired(const struct run *run, const char *part)
{
    vec_each (&run->sources.at[0].repairs, repair)
        if (strstr(run_text(run, repair->text), part))
            return repair->count;
    return 0;
}

/* ---- tracks and slices -----------------------------------------------------------------------------------
 */

static void slices_of_thread_tracks_are_spans_of_threads(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_process(&t, 5, 42, "app");
    put_thread(&t, 6, 42, 43, "worker");
    begin(&t, 6, 100, "outer", "user");
    begin(&t, 6, 120, "inner", "hip_api");
    end(&t, 6, 130);
    end(&t, 6, 200);
    read_trace(&run, &t);
    assert_int_equal(run.spans.count, 2);
    assert_span(&run, 0, "outer", 100, 200);
    assert_span(&run, 1, "inner", 120, 130);
    assert_int_equal(run.spans.parent[1], 0);
    assert_int_equal(run.spans.kind[0], SPAN_OTHER);
    assert_int_equal(run.spans.kind[1], SPAN_API);
    const struct thread *thread = &run.threads.at[run.spans.thread[0]];
    assert_int_equal(thread->tid, 43);
    assert_string_equal(run_text(&run, thread->name), "worker");
    assert_int_equal(run.processes.at[thread->process].pid, 42);
    assert_string_equal(run_text(&run, run.processes.at[thread->process].name), "app");
    run_release(&run);
}

static void order_in_the_file_means_nothing(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    end(&t, 6, 200);
    begin(&t, 6, 150, "second", "");
    end(&t, 6, 140);
    begin(&t, 6, 100, "first", "");
    put_thread(&t, 6, 42, 43, "described last");
    read_trace(&run, &t);
    assert_span(&run, 0, "first", 100, 140);
    assert_span(&run, 1, "second", 150, 200);
    assert_int_equal(run.threads.at[run.spans.thread[0]].tid, 43);
    run_release(&run);
}

static void other_tracks_are_threads_of_their_own_and_children_belong_to_their_thread(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_process(&t, 5, 42, "app");
    put_thread(&t, 6, 42, 43, "worker");
    open_track(&t, 7, 6, "lane");
    close_track(&t);
    open_track(&t, 8, 5, "queue of the app");
    close_track(&t);
    begin(&t, 7, 10, "in a lane", "");
    end(&t, 7, 20);
    begin(&t, 8, 10, "in the queue", "");
    end(&t, 8, 20);
    begin(&t, 99, 10, "nowhere", "");
    end(&t, 99, 20);
    read_trace(&run, &t);
    assert_int_equal(run.spans.count, 3);
    assert_int_equal(run.processes.count, 1);
    for (size_t i = 0; i < 3; i++) {
        const struct thread *thread = &run.threads.at[run.spans.thread[i]];
        const char *name = run_text(&run, run.spans.name[i]);
        if (strcmp(name, "in a lane") == 0)
            assert_int_equal(thread->tid, 43);
        else
            assert_true(thread->tid < 0);
        if (strcmp(name, "in the queue") == 0)
            assert_string_equal(run_text(&run, thread->name), "queue of the app");
    }
    run_release(&run);
}

static void slices_without_an_end_last_until_the_trace_ends(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    end(&t, 1, 5);
    begin(&t, 1, 10, "open", "");
    begin(&t, 2, 20, "closed", "");
    end(&t, 2, 90);
    read_trace(&run, &t);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(run.spans.end[i], 90);
    assert_int_equal(repaired(&run, "without an end"), 1);
    assert_int_equal(repaired(&run, "without a beginning"), 1);
    run_release(&run);
}

/* ---- encodings ----------------------------------------------------------------------------------------- */

static void put_interned(struct trace *t, uint32_t table, uint64_t iid, const char *text)
{
    size_t mark = proto_open(&t->bytes, table);
    proto_put_uint(&t->bytes, Interned_iid, iid);
    proto_put_text(&t->bytes, Interned_text, text);
    proto_close(&t->bytes, mark);
}

static void put_state(struct trace *t, uint64_t sequence, uint64_t flags, const char *name)
{
    open_packet(t, sequence);
    proto_put_uint(&t->bytes, TracePacket_sequence_flags, flags);
    size_t mark = proto_open(&t->bytes, TracePacket_interned_data);
    put_interned(t, InternedData_event_names, 1, name);
    put_interned(t, InternedData_event_categories, 1, "rccl_api");
    put_interned(t, InternedData_debug_annotation_names, 9, "corr_id");
    proto_close(&t->bytes, mark);
    mark = proto_open(&t->bytes, TracePacket_defaults);
    size_t inner = proto_open(&t->bytes, TracePacketDefaults_track_event_defaults);
    proto_put_uint(&t->bytes, TrackEventDefaults_track_uuid, sequence + 100);
    proto_close(&t->bytes, inner);
    proto_close(&t->bytes, mark);
    close_packet(t);
}

static void put_interned_event(struct trace *t, uint64_t sequence, int type, uint64_t time)
{
    open_packet(t, sequence);
    proto_put_uint(&t->bytes, TracePacket_sequence_flags, SEQ_NEEDS_INCREMENTAL_STATE);
    proto_put_uint(&t->bytes, TracePacket_timestamp, time);
    size_t event = proto_open(&t->bytes, TracePacket_track_event);
    proto_put_uint(&t->bytes, TrackEvent_type, (uint64_t)type);
    if (type == EVENT_SLICE_BEGIN) {
        proto_put_uint(&t->bytes, TrackEvent_name_iid, 1);
        proto_put_uint(&t->bytes, TrackEvent_category_iids, 1);
        size_t mark = proto_open(&t->bytes, TrackEvent_debug_annotations);
        proto_put_uint(&t->bytes, DebugAnnotation_name_iid, 9);
        proto_put_uint(&t->bytes, DebugAnnotation_uint, time);
        proto_close(&t->bytes, mark);
    }
    proto_close(&t->bytes, event);
    close_packet(t);
}

static void interned_text_and_defaults_belong_to_their_sequence(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_state(&t, 1, SEQ_INCREMENTAL_STATE_CLEARED, "of sequence 1");
    put_state(&t, 2, SEQ_INCREMENTAL_STATE_CLEARED, "of sequence 2");
    put_interned_event(&t, 1, EVENT_SLICE_BEGIN, 10);
    put_interned_event(&t, 2, EVENT_SLICE_BEGIN, 11);
    put_interned_event(&t, 1, EVENT_SLICE_END, 20);
    put_interned_event(&t, 2, EVENT_SLICE_END, 21);
    put_state(&t, 1, SEQ_INCREMENTAL_STATE_CLEARED, "after a reset");
    put_interned_event(&t, 1, EVENT_SLICE_BEGIN, 30);
    put_interned_event(&t, 1, EVENT_SLICE_END, 40);
    read_trace(&run, &t);
    assert_int_equal(run.spans.count, 3);
    assert_span(&run, 0, "of sequence 1", 10, 20);
    assert_span(&run, 1, "after a reset", 30, 40);
    assert_span(&run, 2, "of sequence 2", 11, 21);
    assert_int_equal(run.spans.kind[0], SPAN_API);
    assert_int_equal(run.spans.id[2], 11);
    run_release(&run);
}

static void events_behind_a_dropped_packet_wait_for_the_next_reset(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_state(&t, 1, SEQ_INCREMENTAL_STATE_CLEARED, "before");
    put_interned_event(&t, 1, EVENT_SLICE_BEGIN, 10);
    put_interned_event(&t, 1, EVENT_SLICE_END, 20);
    open_packet(&t, 1);
    proto_put_uint(&t.bytes, TracePacket_previous_packet_dropped, 1);
    close_packet(&t);
    put_interned_event(&t, 1, EVENT_SLICE_BEGIN, 30);
    put_interned_event(&t, 1, EVENT_SLICE_END, 40);
    put_state(&t, 1, SEQ_INCREMENTAL_STATE_CLEARED, "behind");
    put_interned_event(&t, 1, EVENT_SLICE_BEGIN, 50);
    put_interned_event(&t, 1, EVENT_SLICE_END, 60);
    read_trace(&run, &t);
    assert_int_equal(run.spans.count, 2);
    assert_span(&run, 0, "before", 10, 20);
    assert_span(&run, 1, "behind", 50, 60);
    assert_int_equal(run.losses.dropped, 3);
    run_release(&run);
}

static void put_clock(struct trace *t, uint64_t id, uint64_t time, bool incremental, uint64_t multiplier)
{
    size_t mark = proto_open(&t->bytes, ClockSnapshot_clocks);
    proto_put_uint(&t->bytes, Clock_id, id);
    proto_put_uint(&t->bytes, Clock_timestamp, time);
    if (incremental)
        proto_put_uint(&t->bytes, Clock_is_incremental, 1);
    if (multiplier)
        proto_put_uint(&t->bytes, Clock_unit_multiplier_ns, multiplier);
    proto_close(&t->bytes, mark);
}

static void put_timed(struct trace *t, int type, uint64_t time, uint64_t clock)
{
    open_packet(t, 1);
    proto_put_uint(&t->bytes, TracePacket_timestamp, time);
    if (clock)
        proto_put_uint(&t->bytes, TracePacket_timestamp_clock_id, clock);
    size_t mark = proto_open(&t->bytes, TracePacket_track_event);
    proto_put_uint(&t->bytes, TrackEvent_type, (uint64_t)type);
    proto_close(&t->bytes, mark);
    close_packet(t);
}

/* As the Perfetto SDK writes: a boot-time clock, a wall clock, and an incremental clock as the default. */
static void all_clocks_come_to_one_that_counts_from_1970(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    const uint64_t wall = 1785255096000000000;
    open_packet(&t, 1);
    size_t snapshot = proto_open(&t.bytes, TracePacket_clock_snapshot);
    put_clock(&t, 3, 400, false, 0);
    put_clock(&t, BUILTIN_CLOCK_BOOTTIME, 1000, false, 0);
    put_clock(&t, BUILTIN_CLOCK_REALTIME, wall, false, 0);
    put_clock(&t, 64, 7, true, 10);
    proto_close(&t.bytes, snapshot);
    size_t defaults = proto_open(&t.bytes, TracePacket_defaults);
    proto_put_uint(&t.bytes, TracePacketDefaults_timestamp_clock_id, 64);
    proto_close(&t.bytes, defaults);
    close_packet(&t);
    put_timed(&t, EVENT_SLICE_BEGIN, 5, 0); /* 50 ns after the snapshot */
    put_timed(&t, EVENT_SLICE_END, 3, 0);   /* 30 ns after that */
    put_timed(&t, EVENT_SLICE_BEGIN, 1100, BUILTIN_CLOCK_BOOTTIME);
    put_timed(&t, EVENT_SLICE_END, wall + 200, BUILTIN_CLOCK_REALTIME);
    put_timed(&t, EVENT_SLICE_BEGIN, 400 + 300, 3);
    put_timed(&t, EVENT_SLICE_END, 400 + 310, 3);
    read_trace(&run, &t);
    static const int64_t expected[][2] = {{50, 80}, {100, 200}, {300, 310}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(run.spans.start[i] - (int64_t)wall, expected[i][0]);
        assert_int_equal(run.spans.end[i] - (int64_t)wall, expected[i][1]);
    }
    assert_int_equal(run.sources.at[0].base_ns, (int64_t)wall - 1000);
    run_release(&run);
}

static void put_compressed(struct trace *out, const struct trace *in)
{
    uLongf length = compressBound(in->bytes.len);
    unsigned char *data = malloc(length);
    assert_int_equal(compress2(data, &length, (const unsigned char *)in->bytes.ptr, in->bytes.len, 9), Z_OK);
    size_t mark = proto_open(&out->bytes, Trace_packet);
    proto_put_bytes(&out->bytes, TracePacket_compressed_packets, data, length);
    proto_close(&out->bytes, mark);
    free(data);
}

static void compressed_packets_are_read_once_but_not_inside_each_other(void **state)
{
    (void)state;
    struct trace plain = {0}, packed = {0}, twice = {0};
    struct run run;
    begin(&plain, 1, 10, "inside", "");
    end(&plain, 1, 20);
    put_compressed(&packed, &plain);
    put_compressed(&twice, &packed);
    begin(&packed, 1, 30, "outside", "");
    end(&packed, 1, 40);
    read_trace(&run, &packed);
    assert_span(&run, 0, "inside", 10, 20);
    assert_span(&run, 1, "outside", 30, 40);
    run_release(&run);
    read_trace(&run, &twice);
    assert_int_equal(run.spans.count, 0);
    assert_int_equal(run.losses.malformed, 1);
    run_release(&run);
    str_release(&plain.bytes);
}

/* ---- other events -------------------------------------------------------------------------------------- */

static void put_value(struct trace *t, uint64_t track, uint64_t time, int64_t value)
{
    open_event(t, EVENT_COUNTER, track, time);
    proto_put_int(&t->bytes, TrackEvent_counter_value, value);
    close_event(t);
}

static void counters_become_series_in_base_units(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_process(&t, 5, 42, "app");
    open_track(&t, 6, 5, "copied");
    size_t mark = proto_open(&t.bytes, TrackDescriptor_counter);
    proto_put_uint(&t.bytes, CounterDescriptor_unit, COUNTER_UNIT_BYTES);
    proto_put_uint(&t.bytes, CounterDescriptor_unit_multiplier, 1024);
    proto_put_uint(&t.bytes, CounterDescriptor_is_incremental, 1);
    proto_close(&t.bytes, mark);
    close_track(&t);
    put_value(&t, 6, 10, 3);
    put_value(&t, 6, 20, -1);
    open_event(&t, EVENT_COUNTER, 7, 15);
    proto_put_double(&t.bytes, TrackEvent_double_counter_value, 0.25);
    close_event(&t);
    read_trace(&run, &t);
    assert_int_equal(run.samples.count, 3);
    assert_true(run.samples.value[0] == 3072 && run.samples.value[1] == 0.25 && run.samples.value[2] == 2048);
    const struct counter_series *series = &run.series.at[run.samples.series[0]];
    assert_string_equal(run_text(&run, series->name), "copied");
    assert_int_equal(series->unit, UNIT_BYTES);
    assert_int_equal(run.processes.at[series->process].pid, 42);
    run_release(&run);
}

static void instants_become_marks_of_their_thread(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_thread(&t, 6, 42, 43, "worker");
    open_event(&t, EVENT_INSTANT, 6, 10);
    proto_put_text(&t.bytes, TrackEvent_name, "here");
    close_event(&t);
    read_trace(&run, &t);
    assert_int_equal(run.marks.count, 1);
    assert_int_equal(run.marks.at[0].time, 10);
    assert_string_equal(run_text(&run, run.marks.at[0].text), "here");
    assert_int_equal(run.threads.at[run.marks.at[0].thread].tid, 43);
    run_release(&run);
}

/* ---- rocprofv3 ----------------------------------------------------------------------------------------- */

static void kernels_and_copies_of_rocprofv3_are_ops_linked_to_their_calls(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    put_process(&t, 5, 42, "app");
    put_thread(&t, 6, 42, 42, "app");
    open_track(&t, 7, 0, "COMPUTE AGENT [4] STREAM [2] (GPU)");
    close_track(&t);
    open_track(&t, 8, 0, "COPY to AGENT [0] STREAM [2] (CPU)");
    close_track(&t);
    open_event(&t, EVENT_SLICE_BEGIN, 6, 100);
    proto_put_text(&t.bytes, TrackEvent_name, "hipLaunchKernel");
    proto_put_text(&t.bytes, TrackEvent_categories, "hip_api");
    put_int(&t, "corr_id", 17);
    close_event(&t);
    end(&t, 6, 110);
    open_event(&t, EVENT_SLICE_BEGIN, 7, 200);
    proto_put_text(&t.bytes, TrackEvent_name, "add(float*)");
    proto_put_text(&t.bytes, TrackEvent_categories, "kernel_dispatch");
    put_int(&t, "corr_id", 17);
    put_text(&t, "agent", "Agent 4");
    put_int(&t, "queue", 1);
    put_int(&t, "workgroup_size", 256);
    put_int(&t, "grid_size", 1024);
    put_int(&t, "group_segment_size", 512);
    close_event(&t);
    end(&t, 7, 300);
    open_event(&t, EVENT_SLICE_BEGIN, 8, 310);
    proto_put_text(&t.bytes, TrackEvent_name, "MEMORY_COPY_DEVICE_TO_HOST");
    proto_put_text(&t.bytes, TrackEvent_categories, "memory_copy");
    put_text(&t, "src_agent", "Agent 4");
    put_text(&t, "dst_agent", "Agent 0");
    put_int(&t, "copy_bytes", 4096);
    close_event(&t);
    end(&t, 8, 320);
    read_trace(&run, &t);
    assert_int_equal(run.ops.count, 2);
    assert_int_equal(run.devices.count, 1);
    assert_int_equal(run.devices.at[0].id, 4);
    assert_int_equal(run.devices.at[0].vendor, VENDOR_AMD);
    assert_int_equal(run.ops.start[0], 200);
    assert_int_equal(run.ops.end[0], 300);
    assert_int_equal(run.streams.at[run.ops.stream[0]].id, 2);
    assert_int_equal(run.ops.call[0], 0);
    const struct shape *shape = &run.shapes.at[run.ops.shape[0]];
    assert_int_equal(shape->grid[0], 4);
    assert_int_equal(shape->block[0], 256);
    assert_int_equal(shape->shared_dynamic_bytes, 512);
    assert_int_equal(run.ops.kind[1], OP_COPY);
    assert_int_equal(run.ops.dir[1], COPY_D2H);
    assert_int_equal(run.ops.bytes[1], 4096);
    run_release(&run);
}

static void a_real_rocprofv3_trace_has_the_slices_that_its_oracle_counts(void **state)
{
    (void)state;
    struct run run;
    struct err err = {0};
    run_init(&run);
    if (import_file(&run, SHARED "v3-julia-api-only.pftrace", NULL, NULL, &err) != 0) {
        print_message("skipped: ../shared/data/foreign is absent\n");
        run_release(&run);
        return;
    }
    run_seal(&run);
    int64_t sum = 0;
    for (size_t i = 0; i < run.spans.count; i++) {
        sum += run.spans.end[i] - run.spans.start[i];
        assert_int_equal(run.spans.kind[i], SPAN_API);
    }
    assert_int_equal(run.spans.count, 1132);
    assert_int_equal(sum, 439494339);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    assert_int_equal(run.processes.count, 1);
    assert_int_equal(run.processes.at[0].pid, 3635359);
    run_release(&run);
    run_init(&run);
    assert_int_equal(import_file(&run, SHARED "v3-empty.pftrace", NULL, NULL, &err), 0);
    run_seal(&run);
    assert_int_equal(run.spans.count + run.ops.count + run.samples.count + run.marks.count, 0);
    run_release(&run);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static void make_some_trace(struct trace *t)
{
    struct trace inner = {0};
    put_process(t, 5, 42, "app");
    put_thread(t, 6, 42, 43, "worker");
    put_state(t, 1, SEQ_INCREMENTAL_STATE_CLEARED, "name");
    for (uint64_t i = 0; i < 5; i++) {
        begin(t, 6, 100 * i, "slice", "hip_api");
        end(t, 6, 100 * i + 50);
        put_interned_event(t, 1, EVENT_SLICE_BEGIN, 100 * i + 10);
        put_interned_event(t, 1, EVENT_SLICE_END, 100 * i + 20);
        put_value(t, 9, 100 * i, (int64_t)i);
    }
    begin(&inner, 6, 1000, "packed", "");
    end(&inner, 6, 1001);
    put_compressed(t, &inner);
    str_release(&inner.bytes);
}

static void every_prefix_of_a_trace_keeps_its_whole_packets(void **state)
{
    (void)state;
    struct trace t = {0};
    size_t spans = 0;
    make_some_trace(&t);
    for (size_t length = 1; length <= t.bytes.len; length++) {
        struct trace cut = {.bytes = {.ptr = t.bytes.ptr, .len = length}};
        struct run run;
        int status = try_read(&run, &cut);
        assert_true(status == 0 || spans == 0);
        assert_true(run.spans.count >= spans);
        spans = run.spans.count;
        assert_int_equal(run.losses.malformed, 0);
        run_release(&run);
    }
    assert_int_equal(spans, 11);
    str_release(&t.bytes);
}

/* Not a search for bugs, which is the fuzzer's: a promise that changed bytes cost at most records. */
static void changed_bytes_never_break_the_importer(void **state)
{
    (void)state;
    struct trace t = {0};
    make_some_trace(&t);
    uint64_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct trace changed = {0};
        struct run run;
        str_add(&changed.bytes, t.bytes.ptr, t.bytes.len);
        for (int i = 0; i < 1 + round % 4; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            changed.bytes.ptr[(seed >> 33) % t.bytes.len] = (char)(seed >> 25);
        }
        try_read(&run, &changed);
        for (size_t i = 0; i < run.spans.count; i++)
            assert_true(run.spans.thread[i] < run.threads.count && run.spans.end[i] >= run.spans.start[i]);
        run_release(&run);
        str_release(&changed.bytes);
    }
    str_release(&t.bytes);
}

static void only_traces_are_taken_for_traces(void **state)
{
    (void)state;
    struct trace t = {0};
    struct str other = {0};
    make_some_trace(&t);
    extern const struct importer import_perfetto;
    assert_true(import_perfetto.sniff(t.bytes.ptr, t.bytes.len) > 90);
    assert_true(import_perfetto.sniff(t.bytes.ptr, 20) > 0);
    size_t plane = proto_open(&other, 1); /* an XSpace of one plane: id, name, a line */
    proto_put_uint(&other, 1, 2);
    proto_put_text(&other, 2, "/device:GPU:0");
    proto_put_text(&other, 3, "line");
    proto_close(&other, plane);
    assert_int_equal(import_perfetto.sniff(other.ptr, other.len), 0);
    str_cut(&other, 0);
    plane = proto_open(&other, 1); /* a pprof profile: sample types, then samples */
    proto_put_uint(&other, 1, 1);
    proto_put_uint(&other, 2, 2);
    proto_close(&other, plane);
    assert_int_equal(import_perfetto.sniff(other.ptr, other.len), 0);
    assert_int_equal(import_perfetto.sniff("\n{\"traceEvents\": []}", 19), 0);
    assert_int_equal(import_perfetto.sniff("\n\n\n", 3), 0);
    str_release(&other);
    str_release(&t.bytes);
}

static void a_file_without_a_packet_is_an_error(void **state)
{
    (void)state;
    struct trace t = {0};
    struct run run;
    str_puts(&t.bytes, "this is a text about traces, and a long one");
    assert_int_equal(try_read(&run, &t), ERR_INPUT);
    run_release(&run);
    str_release(&t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_thread_tracks_are_spans_of_threads),
        cmocka_unit_test(order_in_the_file_means_nothing),
        cmocka_unit_test(other_tracks_are_threads_of_their_own_and_children_belong_to_their_thread),
        cmocka_unit_test(slices_without_an_end_last_until_the_trace_ends),
        cmocka_unit_test(interned_text_and_defaults_belong_to_their_sequence),
        cmocka_unit_test(events_behind_a_dropped_packet_wait_for_the_next_reset),
        cmocka_unit_test(all_clocks_come_to_one_that_counts_from_1970),
        cmocka_unit_test(compressed_packets_are_read_once_but_not_inside_each_other),
        cmocka_unit_test(counters_become_series_in_base_units),
        cmocka_unit_test(instants_become_marks_of_their_thread),
        cmocka_unit_test(kernels_and_copies_of_rocprofv3_are_ops_linked_to_their_calls),
        cmocka_unit_test(a_real_rocprofv3_trace_has_the_slices_that_its_oracle_counts),
        cmocka_unit_test(every_prefix_of_a_trace_keeps_its_whole_packets),
        cmocka_unit_test(changed_bytes_never_break_the_importer),
        cmocka_unit_test(only_traces_are_taken_for_traces),
        cmocka_unit_test(a_file_without_a_packet_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
