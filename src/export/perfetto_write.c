#include "export/perfetto_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/proto.h"
#include "base/utf8.h"
#include "model/perfetto.h"

enum { SEQUENCE = 1 };

/* Doubles count integers exactly up to here. */
#define EXACT_INTEGER 9007199254740992.0

static uint64_t written_time(const struct perfetto_writer *w, int64_t time)
{
    return (uint64_t)time + (uint64_t)w->time_offset_ns;
}

/* Texts reach viewers as UTF-8, whatever a kernel or a path is called. */
static void put_text(struct perfetto_writer *w, struct str *out, uint32_t field, const char *text,
                     size_t length)
{
    if (utf8_valid(text, length) == length) {
        proto_put_bytes(out, field, text, length);
        return;
    }
    str_cut(&w->repaired, 0);
    utf8_repair(&w->repaired, text, length);
    proto_put_bytes(out, field, w->repaired.ptr, w->repaired.len);
}

/* ---- packets ------------------------------------------------------------------------------------------- */

static void open_packet(struct perfetto_writer *w)
{
    struct str *out = &w->sink->pending;
    w->packet = proto_open(out, Trace_packet);
    proto_put_uint(out, TracePacket_sequence_id, SEQUENCE);
    proto_put_uint(out, TracePacket_sequence_flags,
                   w->began ? SEQ_NEEDS_INCREMENTAL_STATE
                            : SEQ_NEEDS_INCREMENTAL_STATE | SEQ_INCREMENTAL_STATE_CLEARED);
    w->began = true;
}

static void close_packet(struct perfetto_writer *w)
{
    struct str *out = &w->sink->pending;
    if (w->interned.len > 0)
        proto_put_bytes(out, TracePacket_interned_data, w->interned.ptr, w->interned.len);
    str_cut(&w->interned, 0);
    proto_close(out, w->packet);
    sink_poll(w->sink);
}

static void put_clock(struct str *out, int clock, uint64_t time)
{
    size_t mark = proto_open(out, ClockSnapshot_clocks);
    proto_put_uint(out, Clock_id, (uint64_t)clock);
    proto_put_uint(out, Clock_timestamp, time);
    proto_close(out, mark);
}

/* Viewers count in the boot-time clock of the traced machine unless told otherwise. Which moment that machine
 * started is not known, so that clock is declared equal to the run's; a run that counts from 1970 says so,
 * and viewers can show the date. */
static void put_clocks(struct perfetto_writer *w, int64_t first_ns, bool unix_time)
{
    struct str *out = &w->sink->pending;
    int clock = unix_time ? BUILTIN_CLOCK_REALTIME : BUILTIN_CLOCK_BOOTTIME;
    size_t snapshot = proto_open(out, TracePacket_clock_snapshot);
    put_clock(out, BUILTIN_CLOCK_BOOTTIME, written_time(w, first_ns));
    if (unix_time)
        put_clock(out, BUILTIN_CLOCK_REALTIME, written_time(w, first_ns));
    proto_put_uint(out, ClockSnapshot_primary_trace_clock, (uint64_t)clock);
    proto_close(out, snapshot);
    size_t defaults = proto_open(out, TracePacket_defaults);
    proto_put_uint(out, TracePacketDefaults_timestamp_clock_id, (uint64_t)clock);
    proto_close(out, defaults);
}

void perfetto_begin(struct perfetto_writer *w, struct export_sink *sink, const struct intern *strings,
                    int64_t first_ns, bool unix_time)
{
    *w = (struct perfetto_writer){.sink = sink, .strings = strings};
    if (first_ns < 0)
        w->time_offset_ns = (int64_t)(0 - (uint64_t)first_ns);
    intern_init(&w->keys);
    intern_init(&w->categories);
    w->names_sent = mem_zalloc(strings->count / 8 + 1, 1);
    w->texts_sent = mem_zalloc(strings->count / 8 + 1, 1);
    open_packet(w);
    proto_put_uint(&sink->pending, TracePacket_first_packet_on_sequence, 1);
    put_clocks(w, first_ns, unix_time);
    close_packet(w);
}

void perfetto_release(struct perfetto_writer *w)
{
    intern_release(&w->keys);
    intern_release(&w->categories);
    free(w->names_sent);
    free(w->texts_sent);
    str_release(&w->interned);
    str_release(&w->repaired);
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

static void put_system_track(struct str *out, const struct perfetto_track *track)
{
    bool thread = track->tid != 0;
    size_t mark = proto_open(out, thread ? TrackDescriptor_thread : TrackDescriptor_process);
    proto_put_int(out, thread ? ThreadDescriptor_pid : ProcessDescriptor_pid, track->pid);
    if (thread)
        proto_put_int(out, ThreadDescriptor_tid, track->tid);
    if (track->system_name)
        proto_put_text(out, thread ? ThreadDescriptor_thread_name : ProcessDescriptor_process_name,
                       track->system_name);
    proto_close(out, mark);
}

static void put_counter_track(struct str *out, const char *unit)
{
    size_t mark = proto_open(out, TrackDescriptor_counter);
    if (strcmp(unit, "bytes") == 0)
        proto_put_uint(out, CounterDescriptor_unit, COUNTER_UNIT_BYTES);
    else if (unit[0])
        proto_put_text(out, CounterDescriptor_unit_name, unit);
    proto_close(out, mark);
}

void perfetto_put_track(struct perfetto_writer *w, const struct perfetto_track *track)
{
    struct str *out = &w->sink->pending;
    open_packet(w);
    size_t mark = proto_open(out, TracePacket_track_descriptor);
    proto_put_uint(out, TrackDescriptor_uuid, track->uuid);
    if (track->parent)
        proto_put_uint(out, TrackDescriptor_parent_uuid, track->parent);
    if (track->name)
        put_text(w, out, TrackDescriptor_name, track->name, strlen(track->name));
    if (track->pid)
        put_system_track(out, track);
    if (track->counter_unit)
        put_counter_track(out, track->counter_unit);
    if (track->explicit_order)
        proto_put_uint(out, TrackDescriptor_child_ordering, CHILDREN_EXPLICIT);
    if (track->ranked)
        proto_put_int(out, TrackDescriptor_sibling_order_rank, track->rank);
    if (track->not_merged)
        proto_put_uint(out, TrackDescriptor_sibling_merge_behavior, SIBLINGS_NOT_MERGED);
    proto_close(out, mark);
    close_packet(w);
}

/* ---- events -------------------------------------------------------------------------------------------- */

void perfetto_open(struct perfetto_writer *w, int type, uint64_t track, int64_t time)
{
    struct str *out = &w->sink->pending;
    open_packet(w);
    proto_put_uint(out, TracePacket_timestamp, written_time(w, time));
    w->event = proto_open(out, TracePacket_track_event);
    proto_put_uint(out, TrackEvent_type, (uint64_t)type);
    proto_put_uint(out, TrackEvent_track_uuid, track);
}

void perfetto_close(struct perfetto_writer *w)
{
    proto_close(&w->sink->pending, w->event);
    close_packet(w);
}

void perfetto_end_slice(struct perfetto_writer *w, uint64_t track, int64_t time)
{
    perfetto_open(w, EVENT_SLICE_END, track, time);
    perfetto_close(w);
}

void perfetto_counter(struct perfetto_writer *w, uint64_t track, int64_t time, double value)
{
    struct str *out = &w->sink->pending;
    perfetto_open(w, EVENT_COUNTER, track, time);
    if (fabs(value) < EXACT_INTEGER && value == trunc(value) && !(value == 0 && signbit(value)))
        proto_put_int(out, TrackEvent_counter_value, (int64_t)value);
    else
        proto_put_double(out, TrackEvent_double_counter_value, value);
    perfetto_close(w);
}

static void intern_entry(struct perfetto_writer *w, uint32_t table, uint64_t iid, const char *text,
                         size_t length)
{
    size_t mark = proto_open(&w->interned, table);
    proto_put_uint(&w->interned, Interned_iid, iid);
    put_text(w, &w->interned, Interned_text, text, length);
    proto_close(&w->interned, mark);
}

/* The interning id of a fixed text; the entry itself goes with the packet that first needs it. */
static uint64_t fixed_iid(struct perfetto_writer *w, struct intern *sent, uint32_t table, const char *text)
{
    uint32_t before = sent->count;
    uint32_t iid = intern_puts(sent, text);
    if (iid >= before)
        intern_entry(w, table, iid, text, strlen(text));
    return iid;
}

static uint64_t string_iid(struct perfetto_writer *w, unsigned char *sent, uint32_t table, uint32_t string)
{
    unsigned char bit = (unsigned char)(1 << string % 8);
    if (!(sent[string / 8] & bit))
        intern_entry(w, table, string, intern_text(w->strings, string), intern_length(w->strings, string));
    sent[string / 8] |= bit;
    return string;
}

void perfetto_category(struct perfetto_writer *w, const char *category)
{
    proto_put_uint(&w->sink->pending, TrackEvent_category_iids,
                   fixed_iid(w, &w->categories, InternedData_event_categories, category));
}

/* Interning id 0 means "none" in the format, as string 0, the empty one, does in a run. */
void perfetto_name(struct perfetto_writer *w, uint32_t string)
{
    if (string)
        proto_put_uint(&w->sink->pending, TrackEvent_name_iid,
                       string_iid(w, w->names_sent, InternedData_event_names, string));
}

void perfetto_name_text(struct perfetto_writer *w, const char *name)
{
    put_text(w, &w->sink->pending, TrackEvent_name, name, strlen(name));
}

void perfetto_flow(struct perfetto_writer *w, uint64_t id)
{
    proto_put_fixed64(&w->sink->pending, TrackEvent_flow_ids, id);
}

void perfetto_flow_end(struct perfetto_writer *w, uint64_t id)
{
    proto_put_fixed64(&w->sink->pending, TrackEvent_terminating_flow_ids, id);
}

static size_t open_arg(struct perfetto_writer *w, const char *key)
{
    struct str *out = &w->sink->pending;
    uint64_t iid = fixed_iid(w, &w->keys, InternedData_debug_annotation_names, key);
    size_t mark = proto_open(out, TrackEvent_debug_annotations);
    proto_put_uint(out, DebugAnnotation_name_iid, iid);
    return mark;
}

void perfetto_arg_int(struct perfetto_writer *w, const char *key, int64_t value)
{
    size_t mark = open_arg(w, key);
    proto_put_int(&w->sink->pending, DebugAnnotation_int, value);
    proto_close(&w->sink->pending, mark);
}

void perfetto_arg_uint(struct perfetto_writer *w, const char *key, uint64_t value)
{
    size_t mark = open_arg(w, key);
    proto_put_uint(&w->sink->pending, DebugAnnotation_uint, value);
    proto_close(&w->sink->pending, mark);
}

void perfetto_arg_uints(struct perfetto_writer *w, const char *key, const uint64_t *values, int count)
{
    struct str *out = &w->sink->pending;
    size_t mark = open_arg(w, key);
    for (int i = 0; i < count; i++) {
        size_t element = proto_open(out, DebugAnnotation_array_values);
        proto_put_uint(out, DebugAnnotation_uint, values[i]);
        proto_close(out, element);
    }
    proto_close(out, mark);
}

void perfetto_arg_string(struct perfetto_writer *w, const char *key, uint32_t string)
{
    size_t mark = open_arg(w, key);
    if (string)
        proto_put_uint(&w->sink->pending, DebugAnnotation_string_iid,
                       string_iid(w, w->texts_sent, InternedData_debug_annotation_strings, string));
    else
        proto_put_text(&w->sink->pending, DebugAnnotation_string, "");
    proto_close(&w->sink->pending, mark);
}

void perfetto_arg_text(struct perfetto_writer *w, const char *key, const char *text)
{
    size_t mark = open_arg(w, key);
    put_text(w, &w->sink->pending, DebugAnnotation_string, text, strlen(text));
    proto_close(&w->sink->pending, mark);
}
