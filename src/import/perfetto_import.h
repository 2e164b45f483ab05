/* What the parts of the Perfetto importer share: perfetto.c (tracks, spans, matching), perfetto_own.c (what
 * our own export wrote) and perfetto_rocprof.c (ops of rocprofv3). */
#ifndef WARPLIGHT_IMPORT_PERFETTO_IMPORT_H
#define WARPLIGHT_IMPORT_PERFETTO_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "import/perfetto_packet.h"
#include "model/cells.h"
#include "model/run.h"

enum { CELLS_MAX = 24 };

/* The tables whose rows our own export writes; the first are instants, see perfetto_own.c. */
enum perfetto_table {
    TABLE_RUN,
    TABLE_SOURCE,
    TABLE_REPAIR,
    TABLE_FACT,
    TABLE_LOSSES,
    TABLE_DEVICE,
    TABLE_PROCESS,
    TABLE_THREAD,
    TABLE_STREAM,
    TABLE_SERIES,
    TABLE_INSTANTS,
    TABLE_OP = TABLE_INSTANTS,
    TABLE_SHAPE,
    TABLE_COMM,
    TABLE_MARK,
    TABLE_WAIT,
    TABLE_COUNT,
};

struct track {
    uint64_t uuid, parent;
    uint32_t name, system_name, unit_name;
    bool process, thread, incremental;
    int64_t pid, tid;
    int64_t tid_hint; /* of events that name their thread, 0: none did */
    int64_t multiplier;
    int unit;
    double sum;                      /* of an incremental counter so far */
    enum perfetto_table table;       /* of which our own export says that the track is row `row` */
    uint32_t row;                    /* of the run; NONE: it says nothing */
    uint32_t run_thread, run_series; /* found when first needed, NONE before */
};

enum slice_what { SLICE_SPAN, SLICE_OP, SLICE_WAIT, SLICE_END };

/* Begins and ends of slices, to be matched. row is that of run->spans, ops or waits. */
#define SLICE_EVENTS(X) X(int64_t, time) X(uint32_t, track) X(uint32_t, row) X(uint8_t, what)
TABLE_DECLARE(slice_table, SLICE_EVENTS)

struct perfetto_import {
    struct run *run;
    uint32_t source;
    struct perfetto_packets packets;
    VEC(struct track) tracks;
    struct map by_uuid;
    struct slice_table slices;
    VEC(uint32_t) mark_tracks; /* of the marks of this file, NONE where the mark itself tells */
    uint32_t process;          /* the first that the trace describes, NONE before */
    size_t first_span, first_op, first_sample, first_mark, first_wait; /* of this file */
    uint32_t key_tid, key_corr_id;                                     /* of foreign slices */
    /* perfetto_own.c */
    bool own;                           /* our own export wrote the trace */
    int64_t time_offset_ns;             /* that it added to the times */
    VEC(uint32_t) rows[TABLE_INSTANTS]; /* row in the exported run → row in this run */
    uint32_t keys[TABLE_COUNT][CELLS_MAX];
    uint32_t key_track, key_source_row, key_time_offset, key_correlation, key_external, key_detail;
    /* perfetto_rocprof.c */
    uint32_t key_agent, key_queue, key_workgroup_size, key_grid_size, key_private_size, key_group_size,
        key_copy_bytes, key_src_agent, key_dst_agent;
};

/* perfetto.c */
struct track *perfetto_track(struct perfetto_import *in, uint64_t uuid);
/* The nearest of the track and its parents that our own export declared to be a row of the table; NONE if
 * none. */
uint32_t perfetto_track_row(const struct perfetto_import *in, const struct track *track,
                            enum perfetto_table table);
void perfetto_add_slice(struct perfetto_import *in, const struct track *track, int64_t time,
                        enum slice_what what, size_t row);
/* Adds an op that begins with the event; returns its row. */
size_t perfetto_add_op(struct perfetto_import *in, const struct perfetto_event *event,
                       const struct track *track, uint32_t stream, const struct op_row *row);

/* perfetto_own.c. The take functions return false, having done nothing, if the event is none of theirs. */
void perfetto_own_init(struct perfetto_import *in);
bool perfetto_own_instant(struct perfetto_import *in, const struct perfetto_event *event,
                          const char *category);
bool perfetto_own_slice(struct perfetto_import *in, const struct perfetto_event *event,
                        const struct track *track, const char *category);
void perfetto_own_release(struct perfetto_import *in);

/* perfetto_rocprof.c */
void perfetto_rocprof_init(struct perfetto_import *in);
bool perfetto_rocprof_slice(struct perfetto_import *in, const struct perfetto_event *event,
                            const struct track *track, const char *category);

static inline int64_t perfetto_int_or(const struct perfetto_event *event, uint32_t key, int64_t otherwise)
{
    const struct perfetto_value *value = &event->values[key];
    return value->type == VALUE_INT ? value->number : otherwise;
}

#endif
