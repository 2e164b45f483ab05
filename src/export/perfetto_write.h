/* Packets of a Perfetto trace: tracks, track events and interned text, on one packet sequence. Knows the wire
 * format and nothing of how a run is laid out. Times are int64_t ns of the run's clock. */
#ifndef WARPLIGHT_EXPORT_PERFETTO_WRITE_H
#define WARPLIGHT_EXPORT_PERFETTO_WRITE_H

#include <stdint.h>

#include "base/intern.h"
#include "base/str.h"
#include "export/sink.h"

struct perfetto_writer {
    struct export_sink *sink;
    const struct intern *strings; /* the run's: their ids serve as interning ids, too */
    int64_t time_offset_ns;       /* added to every time, so that none is negative */
    /* private */
    bool began;
    struct intern keys; /* annotation names and categories that were sent; ids are interning ids */
    struct intern categories;
    unsigned char *names_sent; /* a bit for each string of the run */
    unsigned char *texts_sent;
    struct str interned; /* entries that the packet being written needs */
    struct str repaired;
    size_t packet, event; /* marks of the open messages */
};

struct perfetto_track {
    uint64_t uuid;
    uint64_t parent;     /* 0: none */
    const char *name;    /* NULL: the viewer makes one from the thread or process */
    int32_t rank;        /* place among its siblings */
    bool ranked;         /* whether rank says anything */
    bool explicit_order; /* its children are ordered by rank */
    bool not_merged;     /* stands apart from siblings of the same name */
    /* a process or thread track */
    int32_t pid; /* 0: neither */
    int64_t tid; /* 0: a process */
    const char *system_name;
    /* a counter track */
    const char *counter_unit; /* NULL: none; "bytes" and "" (a plain number) have a meaning in the format */
};

/* first_ns is the first moment of the trace; unix_time: whether the run's clock counts from 1970. */
void perfetto_begin(struct perfetto_writer *w, struct export_sink *sink, const struct intern *strings,
                    int64_t first_ns, bool unix_time);
void perfetto_release(struct perfetto_writer *w);

void perfetto_put_track(struct perfetto_writer *w, const struct perfetto_track *track);

/* An event is opened, described by the calls below, and closed. type is EVENT_* of model/perfetto.h. */
void perfetto_open(struct perfetto_writer *w, int type, uint64_t track, int64_t time);
void perfetto_close(struct perfetto_writer *w);
void perfetto_end_slice(struct perfetto_writer *w, uint64_t track, int64_t time);
void perfetto_counter(struct perfetto_writer *w, uint64_t track, int64_t time, double value);

void perfetto_category(struct perfetto_writer *w, const char *category);
void perfetto_name(struct perfetto_writer *w, uint32_t string);
void perfetto_name_text(struct perfetto_writer *w, const char *name);
void perfetto_flow(struct perfetto_writer *w, uint64_t id);
void perfetto_flow_end(struct perfetto_writer *w, uint64_t id);
void perfetto_arg_int(struct perfetto_writer *w, const char *key, int64_t value);
void perfetto_arg_uint(struct perfetto_writer *w, const char *key, uint64_t value);
void perfetto_arg_uints(struct perfetto_writer *w, const char *key, const uint64_t *values, int count);
void perfetto_arg_string(struct perfetto_writer *w, const char *key, uint32_t string);
void perfetto_arg_text(struct perfetto_writer *w, const char *key, const char *text);

#endif
