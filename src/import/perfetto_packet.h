/* Packets of a Perfetto trace, decoded: sequences with their interned text and defaults, clocks brought to
 * one, and compressed packets opened. What a track or an event means is the business of whoever handles it.
 *
 * Everything in the file is taken as hostile: lengths, ids and nesting are bounded here. */
#ifndef WARPLIGHT_IMPORT_PERFETTO_PACKET_H
#define WARPLIGHT_IMPORT_PERFETTO_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/proto.h"
#include "import/import.h"
#include "model/run.h"

enum { PERFETTO_ARRAY_MAX = 3 };

/* Times beyond ±146 years are damage. What is below leaves room for one shift of the clock. */
#define PERFETTO_TIME_MAX (INT64_C(1) << 62)

/* A debug annotation. Nested ones other than short arrays of numbers are not read. */
struct perfetto_value {
    enum { VALUE_ABSENT, VALUE_INT, VALUE_DOUBLE, VALUE_TEXT, VALUE_ARRAY } type;
    int64_t number;                    /* VALUE_INT; unsigned ones keep their bits */
    double real;                       /* VALUE_DOUBLE */
    uint32_t text;                     /* VALUE_TEXT: run string */
    int64_t array[PERFETTO_ARRAY_MAX]; /* VALUE_ARRAY, zeros after its end */
};

struct perfetto_event {
    int64_t time; /* ns on the clock that perfetto_packets.clock tells */
    int type;     /* EVENT_* of model/perfetto.h */
    uint64_t track;
    uint32_t name, category;             /* run strings; the first category if there are several */
    double counter;                      /* EVENT_COUNTER */
    const struct perfetto_value *values; /* by key, see perfetto_key() */
};

struct perfetto_descriptor {
    uint64_t uuid, parent;
    uint32_t name;        /* run string; 0: none */
    bool process, thread; /* which of them the track stands for */
    int64_t pid, tid;
    uint32_t system_name; /* of the process or thread */
    bool counter, incremental;
    int64_t multiplier; /* of counter values, never 0 */
    int unit;           /* COUNTER_UNIT_*, 0: none */
    uint32_t unit_name;
};

struct perfetto_handler {
    void (*event)(void *context, const struct perfetto_event *event);
    void (*track)(void *context, const struct perfetto_descriptor *descriptor);
    void *context;
};

struct perfetto_sequence;

struct perfetto_clock {
    uint64_t id;
    int64_t offset_ns; /* to be added to its times to get the times of the trace's clock */
};

struct perfetto_packets {
    struct run *run;
    uint32_t source;
    struct perfetto_handler handler;
    size_t max_string_bytes;
    /* private */
    VEC(const char *) keys; /* the annotation names that the handler asked for */
    struct perfetto_value *values;
    VEC(uint32_t) touched; /* keys of values[] that are set */
    VEC(struct perfetto_sequence *) sequences;
    struct map by_id;
    VEC(struct perfetto_clock) clocks;
    uint64_t clock; /* the id of the trace's clock; 0 before the first snapshot */
    int64_t offset; /* of the packet being read, for repairs */
    bool inside;    /* a compressed packet */
};

/* Names an annotation that the handler wants, with a text that outlives p; returns its key, the same for the
 * same name. Before the first packet only. */
uint32_t perfetto_key(struct perfetto_packets *p, const char *name);
/* Reads the whole stream; losses and repairs go to run. */
int perfetto_packets_read(struct perfetto_packets *p, struct stream *in, const struct import_options *options,
                          struct err *err);
/* What to add to the times of the events to get ns since 1970; 0 if the trace does not tell. */
int64_t perfetto_unix_offset(const struct perfetto_packets *p);
void perfetto_packets_release(struct perfetto_packets *p);

/* Whether the bytes begin like a trace: 0 (no) to 100. */
int perfetto_sniff(const char *head, size_t length);

#endif
