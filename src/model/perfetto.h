/* The part of the Perfetto trace format that Warplight writes and reads: field numbers of
 * perfetto_trace.proto (google/perfetto, protos/perfetto/trace), and how a run is laid out in it
 * (doc/formats/exports.md). */
#ifndef WARPLIGHT_MODEL_PERFETTO_H
#define WARPLIGHT_MODEL_PERFETTO_H

/* TraceX_Y is field Y of message TraceX. */
enum perfetto_field {
    Trace_packet = 1,

    TracePacket_clock_snapshot = 6,
    TracePacket_timestamp = 8,
    TracePacket_sequence_id = 10, /* trusted_packet_sequence_id */
    TracePacket_track_event = 11,
    TracePacket_interned_data = 12,
    TracePacket_sequence_flags = 13,
    TracePacket_incremental_state_cleared = 41, /* before sequence_flags there was */
    TracePacket_previous_packet_dropped = 42,
    TracePacket_system_info = 45,
    TracePacket_compressed_packets = 50, /* a zlib stream of Trace_packet fields */
    TracePacket_timestamp_clock_id = 58,
    TracePacket_defaults = 59,
    TracePacket_track_descriptor = 60,
    TracePacket_first_packet_on_sequence = 87,

    SystemInfo_tracing_service_version = 4,

    TracePacketDefaults_track_event_defaults = 11,
    TracePacketDefaults_timestamp_clock_id = 58,
    TrackEventDefaults_track_uuid = 11,

    ClockSnapshot_clocks = 1,
    ClockSnapshot_primary_trace_clock = 2,
    Clock_id = 1,
    Clock_timestamp = 2,
    Clock_is_incremental = 3,
    Clock_unit_multiplier_ns = 4,

    TrackDescriptor_uuid = 1,
    TrackDescriptor_name = 2,
    TrackDescriptor_process = 3,
    TrackDescriptor_thread = 4,
    TrackDescriptor_parent_uuid = 5,
    TrackDescriptor_counter = 8,
    TrackDescriptor_static_name = 10,
    TrackDescriptor_child_ordering = 11,
    TrackDescriptor_sibling_order_rank = 12,
    TrackDescriptor_atrace_name = 13,
    TrackDescriptor_sibling_merge_behavior = 15,
    ProcessDescriptor_pid = 1,
    ProcessDescriptor_cmdline = 2,
    ProcessDescriptor_process_name = 6,
    ThreadDescriptor_pid = 1,
    ThreadDescriptor_tid = 2,
    ThreadDescriptor_thread_name = 5,
    CounterDescriptor_unit = 3,
    CounterDescriptor_unit_multiplier = 4,
    CounterDescriptor_is_incremental = 5,
    CounterDescriptor_unit_name = 6,

    TrackEvent_category_iids = 3,
    TrackEvent_debug_annotations = 4,
    TrackEvent_type = 9,
    TrackEvent_name_iid = 10,
    TrackEvent_track_uuid = 11,
    TrackEvent_categories = 22,
    TrackEvent_name = 23,
    TrackEvent_counter_value = 30,
    TrackEvent_double_counter_value = 44,
    TrackEvent_flow_ids = 47,             /* fixed64 */
    TrackEvent_terminating_flow_ids = 48, /* fixed64 */

    DebugAnnotation_name_iid = 1,
    DebugAnnotation_bool = 2,
    DebugAnnotation_uint = 3,
    DebugAnnotation_int = 4,
    DebugAnnotation_double = 5,
    DebugAnnotation_string = 6,
    DebugAnnotation_pointer = 7,
    DebugAnnotation_name = 10,
    DebugAnnotation_array_values = 12,
    DebugAnnotation_string_iid = 17,

    InternedData_event_categories = 1,
    InternedData_event_names = 2,
    InternedData_debug_annotation_names = 3,
    InternedData_debug_annotation_strings = 29,
    Interned_iid = 1,
    Interned_text = 2, /* name of the three tables of names, str of the strings */
};

enum { SEQ_INCREMENTAL_STATE_CLEARED = 1, SEQ_NEEDS_INCREMENTAL_STATE = 2 };
enum { EVENT_SLICE_BEGIN = 1, EVENT_SLICE_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };
enum {
    BUILTIN_CLOCK_REALTIME = 1,
    BUILTIN_CLOCK_BOOTTIME = 6,
    SEQUENCE_CLOCK_FIRST = 64, /* 64 to 127 mean something within one sequence only */
    SEQUENCE_CLOCK_LAST = 127,
};
enum { CHILDREN_EXPLICIT = 3, SIBLINGS_NOT_MERGED = 2 };
enum { COUNTER_UNIT_COUNT = 2, COUNTER_UNIT_BYTES = 3 };

/* Our own layout. A row of a table of the run is an instant on a track of its own, in the category
 * ROW_CATEGORY "." table, whose debug annotations are the cells of the row (model/cells.h). */
#define PERFETTO_ROW_CATEGORY "warplight"
enum { PERFETTO_LAYOUT_VERSION = 1 };

#endif
