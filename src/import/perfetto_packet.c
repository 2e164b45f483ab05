#include "import/perfetto_packet.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "model/perfetto.h"

enum {
    PACKET_MAX =
        64 * 1024 * 1024, /* far above what recorders write; also of what compressed packets unpack to */
    INFLATE_CHUNK = 64 * 1024,
    SNAPSHOT_CLOCKS = 64,
    PROGRESS_BYTES = 4 * 1024 * 1024,
};

/* A clock that means something within one sequence. */
struct sequence_clock {
    uint64_t id;
    uint64_t multiplier; /* ns a unit */
    bool incremental;    /* each time counts from the one before */
    int64_t last_ns;
    int64_t offset_ns; /* as in perfetto_clock */
};

struct perfetto_sequence {
    uint64_t id;
    bool seen;  /* a packet of it has been read */
    bool valid; /* interned text and defaults are complete */
    uint64_t default_clock;
    uint64_t default_track;
    struct map names, categories, keys, strings; /* interning id → run string, or key */
    VEC(struct sequence_clock) clocks;
};

/* The fields of a packet, found first because their order in it says nothing. */
struct packet {
    uint64_t sequence, flags, timestamp, clock;
    bool has_timestamp, has_clock, cleared, dropped, first;
    struct proto_field event, track, interned, defaults, snapshot, compressed, system; /* number 0: absent */
};

static int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void repair(struct perfetto_packets *p, const char *text)
{
    run_repair(p->run, p->source, text, 1, p->offset);
}

static void malformed(struct perfetto_packets *p, const char *text)
{
    p->run->losses.malformed++;
    repair(p, text);
}

static uint32_t add_string(struct perfetto_packets *p, const struct proto_field *field)
{
    size_t length = field->length;
    if (length > p->max_string_bytes) {
        length = p->max_string_bytes;
        repair(p, N_("texts longer than the limit were cut"));
    }
    return field->data ? intern_add(&p->run->strings, (const char *)field->data, length) : 0;
}

/* ---- sequences ----------------------------------------------------------------------------------------- */

static void forget_state(struct perfetto_sequence *s)
{
    map_release(&s->names);
    map_release(&s->categories);
    map_release(&s->keys);
    map_release(&s->strings);
    s->default_track = 0;
    s->default_clock = 0;
}

static struct perfetto_sequence *sequence_find(struct perfetto_packets *p, uint64_t id)
{
    uint32_t at = map_get(&p->by_id, id);
    if (at != MAP_ABSENT)
        return p->sequences.at[at];
    struct perfetto_sequence *s = mem_zalloc(1, sizeof *s);
    s->id = id;
    s->valid = true;
    map_set(&p->by_id, id, (uint32_t)p->sequences.count);
    vec_push(&p->sequences, s);
    return s;
}

static void read_entry(struct perfetto_packets *p, struct map *table, const struct proto_field *entry,
                       bool is_key)
{
    struct proto message = proto_inside(entry);
    struct proto_field field, text = {0};
    uint64_t iid = 0;
    while (proto_next(&message, &field)) {
        if (field.number == Interned_iid)
            iid = field.value;
        else if (field.number == Interned_text)
            text = field;
    }
    if (iid == 0)
        return;
    if (!is_key) {
        map_set(table, iid, add_string(p, &text));
        return;
    }
    for (size_t i = 0; i < p->keys.count; i++)
        if (strlen(p->keys.at[i]) == text.length && memcmp(p->keys.at[i], text.data, text.length) == 0)
            map_set(table, iid, (uint32_t)i);
}

static void read_interned(struct perfetto_packets *p, struct perfetto_sequence *s,
                          const struct proto_field *data)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    while (proto_next(&message, &field)) {
        if (field.number == InternedData_event_names)
            read_entry(p, &s->names, &field, false);
        else if (field.number == InternedData_event_categories)
            read_entry(p, &s->categories, &field, false);
        else if (field.number == InternedData_debug_annotation_names)
            read_entry(p, &s->keys, &field, true);
        else if (field.number == InternedData_debug_annotation_strings)
            read_entry(p, &s->strings, &field, false);
    }
}

static void read_defaults(struct perfetto_sequence *s, const struct proto_field *data)
{
    struct proto message = proto_inside(data), inner;
    struct proto_field field, of_event;
    while (proto_next(&message, &field)) {
        if (field.number == TracePacketDefaults_timestamp_clock_id)
            s->default_clock = field.value;
        if (field.number != TracePacketDefaults_track_event_defaults)
            continue;
        inner = proto_inside(&field);
        while (proto_next(&inner, &of_event))
            if (of_event.number == TrackEventDefaults_track_uuid)
                s->default_track = of_event.value;
    }
}

/* ---- clocks -------------------------------------------------------------------------------------------- */

struct clock_reading {
    uint64_t id, timestamp, multiplier;
    bool incremental;
};

static bool is_sequence_clock(uint64_t id)
{
    return id >= SEQUENCE_CLOCK_FIRST && id <= SEQUENCE_CLOCK_LAST;
}

static const struct perfetto_clock *clock_find(const struct perfetto_packets *p, uint64_t id)
{
    vec_each (&p->clocks, clock)
        if (clock->id == id)
            return clock;
    return NULL;
}

static struct sequence_clock *sequence_clock_find(struct perfetto_sequence *s, uint64_t id)
{
    vec_each (&s->clocks, clock)
        if (clock->id == id)
            return clock;
    return NULL;
}

static int read_snapshot(const struct proto_field *data, struct clock_reading *readings)
{
    struct proto message = proto_inside(data), inner;
    struct proto_field field, part;
    int n = 0;
    while (n < SNAPSHOT_CLOCKS && proto_next(&message, &field)) {
        if (field.number != ClockSnapshot_clocks)
            continue;
        struct clock_reading *r = &readings[n++];
        *r = (struct clock_reading){.multiplier = 1};
        inner = proto_inside(&field);
        while (proto_next(&inner, &part)) {
            if (part.number == Clock_id)
                r->id = part.value;
            else if (part.number == Clock_timestamp)
                r->timestamp = part.value;
            else if (part.number == Clock_is_incremental)
                r->incremental = part.value != 0;
            else if (part.number == Clock_unit_multiplier_ns && part.value > 0)
                r->multiplier = part.value;
        }
    }
    return n;
}

/* The moment of the snapshot on the trace's clock. The first snapshot chooses that clock. */
static bool snapshot_moment(struct perfetto_packets *p, const struct clock_reading *readings, int n,
                            int64_t *moment)
{
    for (int i = 0; i < n && p->clock != BUILTIN_CLOCK_BOOTTIME && p->clocks.count == 0; i++)
        if (readings[i].id == BUILTIN_CLOCK_BOOTTIME || (p->clock == 0 && !is_sequence_clock(readings[i].id)))
            p->clock = readings[i].id;
    for (int i = 0; i < n; i++) {
        const struct perfetto_clock *known = clock_find(p, readings[i].id);
        if (known || (readings[i].id == p->clock && p->clock != 0)) {
            *moment = wrapping_add((int64_t)readings[i].timestamp, known ? known->offset_ns : 0);
            return true;
        }
    }
    return false;
}

static void take_snapshot(struct perfetto_packets *p, struct perfetto_sequence *s,
                          const struct proto_field *data)
{
    struct clock_reading readings[SNAPSHOT_CLOCKS];
    int n = read_snapshot(data, readings);
    int64_t moment;
    if (!snapshot_moment(p, readings, n, &moment))
        return;
    for (int i = 0; i < n; i++) {
        const struct clock_reading *r = &readings[i];
        int64_t reading_ns = (int64_t)(r->timestamp * r->multiplier);
        int64_t offset = wrapping_add(moment, (int64_t)(0 - (uint64_t)reading_ns));
        if (!is_sequence_clock(r->id)) {
            /* The first offset counts: the trace then has one time line even where a clock was adjusted. */
            if (!clock_find(p, r->id) && p->clocks.count < SNAPSHOT_CLOCKS)
                vec_push(&p->clocks, ((struct perfetto_clock){.id = r->id, .offset_ns = offset}));
            continue;
        }
        struct sequence_clock *clock = sequence_clock_find(s, r->id);
        if (!clock)
            clock = vec_new(&s->clocks);
        *clock = (struct sequence_clock){.id = r->id,
                                         .multiplier = r->multiplier,
                                         .incremental = r->incremental,
                                         .last_ns = reading_ns,
                                         .offset_ns = offset};
    }
}

static int64_t packet_time(struct perfetto_packets *p, struct perfetto_sequence *s,
                           const struct packet *packet)
{
    uint64_t id = packet->has_clock ? packet->clock : s->default_clock;
    if (is_sequence_clock(id)) {
        struct sequence_clock *clock = sequence_clock_find(s, id);
        if (clock) {
            int64_t ns = (int64_t)(packet->timestamp * clock->multiplier);
            if (clock->incremental)
                ns = clock->last_ns = wrapping_add(clock->last_ns, ns);
            return wrapping_add(ns, clock->offset_ns);
        }
    } else if (id != 0) {
        const struct perfetto_clock *clock = clock_find(p, id);
        if (clock)
            return wrapping_add((int64_t)packet->timestamp, clock->offset_ns);
    } else {
        return (int64_t)packet->timestamp;
    }
    repair(p, N_("times on a clock that the trace does not relate to the others were taken as they are"));
    return (int64_t)packet->timestamp;
}

int64_t perfetto_unix_offset(const struct perfetto_packets *p)
{
    const struct perfetto_clock *unix_clock = clock_find(p, BUILTIN_CLOCK_REALTIME);
    return unix_clock ? (int64_t)(0 - (uint64_t)unix_clock->offset_ns) : 0;
}

/* ---- events and tracks -----------------------------------------------------------------------------------
 */

static uint32_t lookup(struct perfetto_packets *p, const struct map *table, uint64_t iid)
{
    uint32_t value = map_get(table, iid);
    if (value != MAP_ABSENT)
        return value;
    repair(p, N_("texts that the trace refers to but does not hold were left empty"));
    return 0;
}

static void read_array_element(struct perfetto_value *value, int *count, const struct proto_field *element)
{
    struct proto message = proto_inside(element);
    struct proto_field field;
    while (proto_next(&message, &field)) {
        if ((field.number != DebugAnnotation_uint && field.number != DebugAnnotation_int) ||
            *count >= PERFETTO_ARRAY_MAX)
            continue;
        value->type = VALUE_ARRAY;
        value->array[(*count)++] = (int64_t)field.value;
    }
}

static uint32_t key_named(const struct perfetto_packets *p, const struct proto_field *name)
{
    for (size_t i = 0; i < p->keys.count; i++)
        if (strlen(p->keys.at[i]) == name->length && memcmp(p->keys.at[i], name->data, name->length) == 0)
            return (uint32_t)i;
    return MAP_ABSENT;
}

static void read_annotation(struct perfetto_packets *p, struct perfetto_sequence *s,
                            const struct proto_field *annotation)
{
    struct proto message = proto_inside(annotation);
    struct proto_field field, text = {0};
    struct perfetto_value value = {0};
    uint32_t key = MAP_ABSENT;
    uint64_t string_iid = 0;
    int elements = 0;
    while (proto_next(&message, &field)) {
        switch (field.number) {
        case DebugAnnotation_name_iid:
            key = map_get(&s->keys, field.value);
            break;
        case DebugAnnotation_name:
            key = key_named(p, &field);
            break;
        case DebugAnnotation_bool:
        case DebugAnnotation_uint:
        case DebugAnnotation_int:
        case DebugAnnotation_pointer:
            value.type = VALUE_INT;
            value.number = (int64_t)field.value;
            break;
        case DebugAnnotation_double:
            value.type = VALUE_DOUBLE;
            value.real = proto_double(&field);
            break;
        case DebugAnnotation_string:
            value.type = VALUE_TEXT;
            text = field;
            break;
        case DebugAnnotation_string_iid:
            value.type = VALUE_TEXT;
            string_iid = field.value;
            break;
        case DebugAnnotation_array_values:
            read_array_element(&value, &elements, &field);
            break;
        }
    }
    if (key == MAP_ABSENT || value.type == VALUE_ABSENT)
        return;
    if (value.type == VALUE_TEXT)
        value.text = string_iid ? lookup(p, &s->strings, string_iid) : add_string(p, &text);
    p->values[key] = value;
    vec_push(&p->touched, key);
}

/* Fields of an event that are needed to read the rest of it come with the rest, in any order; none depends on
 * another, so one pass does. */
static void read_event(struct perfetto_packets *p, struct perfetto_sequence *s, const struct packet *packet)
{
    struct proto message = proto_inside(&packet->event);
    struct proto_field field;
    struct perfetto_event event = {.track = s->default_track, .values = p->values};
    event.time = packet->has_timestamp ? packet_time(p, s, packet) : PERFETTO_TIME_MAX;
    if (event.time >= PERFETTO_TIME_MAX || event.time <= -PERFETTO_TIME_MAX) {
        p->run->losses.untimed++;
        return;
    }
    while (proto_next(&message, &field)) {
        switch (field.number) {
        case TrackEvent_type:
            event.type = (int)field.value;
            break;
        case TrackEvent_track_uuid:
            event.track = field.value;
            break;
        case TrackEvent_name_iid:
            event.name = lookup(p, &s->names, field.value);
            break;
        case TrackEvent_name:
            event.name = add_string(p, &field);
            break;
        case TrackEvent_category_iids:
            if (field.type == PROTO_VARINT && !event.category)
                event.category = lookup(p, &s->categories, field.value);
            break;
        case TrackEvent_categories:
            if (!event.category)
                event.category = add_string(p, &field);
            break;
        case TrackEvent_counter_value:
            event.counter = (double)(int64_t)field.value;
            break;
        case TrackEvent_double_counter_value:
            event.counter = proto_double(&field);
            break;
        case TrackEvent_debug_annotations:
            read_annotation(p, s, &field);
            break;
        }
    }
    if (message.damaged)
        malformed(p, N_("events that are no valid protobuf were read as far as possible"));
    p->handler.event(p->handler.context, &event);
    vec_each (&p->touched, key)
        p->values[*key] = (struct perfetto_value){0};
    p->touched.count = 0;
}

static void read_system_track(struct perfetto_packets *p, struct perfetto_descriptor *d,
                              const struct proto_field *data, bool thread)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    while (proto_next(&message, &field)) {
        if (field.number == (thread ? ThreadDescriptor_pid : ProcessDescriptor_pid))
            d->pid = (int32_t)field.value;
        else if (thread && field.number == ThreadDescriptor_tid)
            d->tid = (int64_t)field.value;
        else if (field.number == (thread ? ThreadDescriptor_thread_name : ProcessDescriptor_process_name))
            d->system_name = add_string(p, &field);
        else if (!thread && field.number == ProcessDescriptor_cmdline && d->system_name == 0)
            d->system_name = add_string(p, &field);
    }
}

static void read_counter_track(struct perfetto_packets *p, struct perfetto_descriptor *d,
                               const struct proto_field *data)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    d->counter = true;
    while (proto_next(&message, &field)) {
        if (field.number == CounterDescriptor_unit)
            d->unit = (int)field.value;
        else if (field.number == CounterDescriptor_unit_name)
            d->unit_name = add_string(p, &field);
        else if (field.number == CounterDescriptor_unit_multiplier && field.value != 0)
            d->multiplier = (int64_t)field.value;
        else if (field.number == CounterDescriptor_is_incremental)
            d->incremental = field.value != 0;
    }
}

static void read_track(struct perfetto_packets *p, const struct proto_field *data)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    struct perfetto_descriptor d = {.multiplier = 1};
    while (proto_next(&message, &field)) {
        switch (field.number) {
        case TrackDescriptor_uuid:
            d.uuid = field.value;
            break;
        case TrackDescriptor_parent_uuid:
            d.parent = field.value;
            break;
        case TrackDescriptor_name:
        case TrackDescriptor_static_name:
        case TrackDescriptor_atrace_name:
            d.name = add_string(p, &field);
            break;
        case TrackDescriptor_process:
            d.process = true;
            read_system_track(p, &d, &field, false);
            break;
        case TrackDescriptor_thread:
            d.thread = true;
            read_system_track(p, &d, &field, true);
            break;
        case TrackDescriptor_counter:
            read_counter_track(p, &d, &field);
            break;
        }
    }
    p->handler.track(p->handler.context, &d);
}

/* ---- packets ------------------------------------------------------------------------------------------- */

static void read_system_info(struct perfetto_packets *p, const struct proto_field *data)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    while (proto_next(&message, &field))
        if (field.number == SystemInfo_tracing_service_version)
            p->run->sources.at[p->source].tool = add_string(p, &field);
}

static bool find_fields(struct packet *packet, const struct proto_field *data)
{
    struct proto message = proto_inside(data);
    struct proto_field field;
    *packet = (struct packet){0};
    while (proto_next(&message, &field)) {
        switch (field.number) {
        case TracePacket_sequence_id:
            packet->sequence = field.value;
            break;
        case TracePacket_sequence_flags:
            packet->flags = field.value;
            break;
        case TracePacket_incremental_state_cleared:
            packet->cleared = field.value != 0;
            break;
        case TracePacket_previous_packet_dropped:
            packet->dropped = field.value != 0;
            break;
        case TracePacket_timestamp:
            packet->timestamp = field.value;
            packet->has_timestamp = true;
            break;
        case TracePacket_timestamp_clock_id:
            packet->clock = field.value;
            packet->has_clock = true;
            break;
        case TracePacket_track_event:
            packet->event = field;
            break;
        case TracePacket_track_descriptor:
            packet->track = field;
            break;
        case TracePacket_interned_data:
            packet->interned = field;
            break;
        case TracePacket_defaults:
            packet->defaults = field;
            break;
        case TracePacket_clock_snapshot:
            packet->snapshot = field;
            break;
        case TracePacket_compressed_packets:
            packet->compressed = field;
            break;
        case TracePacket_system_info:
            packet->system = field;
            break;
        }
    }
    return !message.damaged;
}

static void read_packet(struct perfetto_packets *p, const struct proto_field *data);

static void read_packets_inside(struct perfetto_packets *p, const struct str *bytes)
{
    struct proto trace = proto_message(bytes->ptr, bytes->len);
    struct proto_field field;
    p->inside = true;
    while (proto_next(&trace, &field))
        if (field.number == Trace_packet && field.type == PROTO_BYTES)
            read_packet(p, &field);
    p->inside = false;
    if (trace.damaged)
        malformed(p, N_("compressed packets that are damaged were read as far as possible"));
}

static void read_compressed(struct perfetto_packets *p, const struct proto_field *data)
{
    struct str bytes = {0};
    z_stream z = {.next_in = (unsigned char *)data->data, .avail_in = (uInt)data->length};
    unsigned char *chunk = mem_alloc(INFLATE_CHUNK);
    int status = p->inside ? Z_DATA_ERROR : inflateInit(&z);
    bool started = !p->inside && status == Z_OK;
    while (status == Z_OK && bytes.len <= PACKET_MAX) {
        z.next_out = chunk;
        z.avail_out = INFLATE_CHUNK;
        status = inflate(&z, Z_NO_FLUSH);
        str_add(&bytes, (const char *)chunk, INFLATE_CHUNK - z.avail_out);
    }
    if (started)
        inflateEnd(&z);
    free(chunk);
    if (status != Z_STREAM_END)
        malformed(p, N_("compressed packets that are damaged were read as far as possible"));
    if (!p->inside)
        read_packets_inside(p, &bytes);
    str_release(&bytes);
}

static void update_state(struct perfetto_packets *p, struct perfetto_sequence *s, const struct packet *packet)
{
    if (packet->dropped) {
        s->valid = false;
        if (s->seen)
            repair(p, N_("the recorder dropped packets"));
        p->run->losses.dropped += s->seen;
    }
    s->seen = true;
    if (packet->cleared || packet->flags & SEQ_INCREMENTAL_STATE_CLEARED) {
        forget_state(s);
        s->valid = true;
    }
    if (packet->defaults.number)
        read_defaults(s, &packet->defaults);
    if (packet->interned.number)
        read_interned(p, s, &packet->interned);
    if (packet->snapshot.number)
        take_snapshot(p, s, &packet->snapshot);
}

static void read_packet(struct perfetto_packets *p, const struct proto_field *data)
{
    struct packet packet;
    if (!find_fields(&packet, data))
        malformed(p, N_("packets that are no valid protobuf were read as far as possible"));
    if (packet.compressed.number) {
        read_compressed(p, &packet.compressed);
        return;
    }
    struct perfetto_sequence *s = sequence_find(p, packet.sequence);
    update_state(p, s, &packet);
    if (packet.system.number)
        read_system_info(p, &packet.system);
    if (packet.track.number)
        read_track(p, &packet.track);
    if (!packet.event.number)
        return;
    if (!s->valid && packet.flags & SEQ_NEEDS_INCREMENTAL_STATE) {
        p->run->losses.dropped++;
        repair(p, N_("events whose text was in a dropped packet were left out"));
        return;
    }
    read_event(p, s, &packet);
}

uint32_t perfetto_key(struct perfetto_packets *p, const char *name)
{
    for (size_t i = 0; i < p->keys.count; i++)
        if (strcmp(p->keys.at[i], name) == 0)
            return (uint32_t)i;
    vec_push(&p->keys, name);
    return (uint32_t)(p->keys.count - 1);
}

int perfetto_packets_read(struct perfetto_packets *p, struct stream *in, const struct import_options *options,
                          struct err *err)
{
    struct proto_stream trace = {.in = in, .max_length = PACKET_MAX};
    struct proto_field field;
    int64_t reported = 0, packets = 0;
    int status;
    p->max_string_bytes = options->max_string_bytes;
    p->values = mem_zalloc(p->keys.count, sizeof *p->values);
    while ((status = proto_stream_next(&trace, &field, err)) > 0) {
        p->offset = trace.offset;
        if (field.number == Trace_packet && field.type == PROTO_BYTES) {
            read_packet(p, &field);
            packets++;
        }
        if (options->progress && trace.offset - reported >= PROGRESS_BYTES) {
            reported = trace.offset;
            options->progress(options->context, stream_path(in), stream_consumed(in), stream_size(in));
        }
    }
    p->run->losses.malformed += trace.skipped;
    if (trace.skipped)
        run_repair(p->run, p->source, N_("packets of more than 64 MiB were left out"), trace.skipped, -1);
    p->run->losses.truncated_bytes += trace.truncated_bytes;
    if (trace.truncated_bytes)
        run_repair(p->run, p->source,
                   trace.damaged ? N_("the rest of the file is no Perfetto trace")
                                 : N_("the last packet is cut off"),
                   1, trace.offset);
    proto_stream_release(&trace);
    if (status == 0 && packets == 0)
        return err_set(err, ERR_INPUT, stream_path(in), 0, _("let the format be recognised from the content"),
                       _("there is no Perfetto packet in it"));
    return status;
}

void perfetto_packets_release(struct perfetto_packets *p)
{
    vec_each (&p->sequences, s) {
        forget_state(*s);
        vec_release(&(*s)->clocks);
        free(*s);
    }
    vec_release(&p->sequences);
    vec_release(&p->clocks);
    vec_release(&p->keys);
    vec_release(&p->touched);
    map_release(&p->by_id);
    free(p->values);
}

/* ---- sniffing ------------------------------------------------------------------------------------------ */

/* The wire types of fields that packets begin with; -1 for the rest. */
static int packet_type_of(uint32_t number)
{
    switch (number) {
    case 3: /* trusted_uid */
    case TracePacket_timestamp:
    case TracePacket_sequence_id:
    case TracePacket_sequence_flags:
    case TracePacket_timestamp_clock_id:
    case 79: /* trusted_pid */
    case TracePacket_first_packet_on_sequence:
        return PROTO_VARINT;
    case 1: /* ftrace_events */
    case 2: /* process_tree */
    case TracePacket_clock_snapshot:
    case TracePacket_track_event:
    case 33: /* trace_config */
    case 36: /* synchronization_marker */
    case TracePacket_system_info:
    case TracePacket_compressed_packets:
    case TracePacket_defaults:
    case TracePacket_track_descriptor:
        return PROTO_BYTES;
    default:
        return -1;
    }
}

/* Many protobuf files begin with a submessage 1 whose fields have small numbers, so only these tell. */
static bool is_telling(uint32_t number)
{
    return number >= TracePacket_timestamp && packet_type_of(number) >= 0;
}

/* Counts the telling fields of a packet, whose end may be missing; false if one contradicts the format. */
static bool judge_packet(struct proto inside, int *telling)
{
    struct proto_field field;
    while (inside.at < inside.end) {
        struct proto header = inside;
        if (!proto_next_header(&header, &field))
            return true;
        int type = packet_type_of(field.number);
        if (type >= 0 && type != (int)field.type)
            return false;
        *telling += is_telling(field.number);
        if (!proto_next(&inside, &field))
            return true;
    }
    return true;
}

int perfetto_sniff(const char *head, size_t length)
{
    struct proto trace = proto_message(head, length);
    int telling = 0;
    while (trace.at < trace.end) {
        struct proto_field packet;
        struct proto inside = trace;
        if (!proto_next_header(&inside, &packet))
            break;
        if (packet.number != Trace_packet || packet.type != PROTO_BYTES)
            return 0;
        bool whole = proto_next(&trace, &packet);
        if (!judge_packet(whole ? proto_inside(&packet) : inside, &telling))
            return 0;
        if (!whole)
            break;
    }
    return telling >= 2 ? 95 : telling == 1 ? 60 : 0;
}
