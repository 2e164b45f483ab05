/* Rows to chunks of the recording format (model/wlt.h, doc/formats/wlt.md): what the writer for a program
 * that runs (export/wlt_write.h) and the exporter of whole runs (export/wlt.c) share.
 *
 * Rows must be written after those that they refer to: strings, then small tables in the order of enum
 * wlt_table, then ops, spans and the rest. Then whatever part of the file survives makes sense. */
#ifndef WARPLIGHT_EXPORT_WLT_ENCODE_H
#define WARPLIGHT_EXPORT_WLT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/run.h"
#include "model/wlt.h"

struct ZSTD_CCtx_s;

struct wlt_encoder {
    /* Gets the header and then each whole chunk. Returns 0 or an errno, after which nothing more comes. */
    int (*write)(void *context, const void *data, size_t length);
    void *context;
    int failed; /* what write returned */
    /* private */
    uint64_t offset, raw_bytes; /* written so far; decompressed payloads */
    uint32_t sequence;
    uint32_t strings; /* those below this id were written */
    struct ZSTD_CCtx_s *zstd;
    struct str raw, columns, stored;
    int64_t *values;
    VEC(uint32_t) changed;
    VEC(uint64_t) known[WLT_TABLES]; /* hash of each small row as written last */
    VEC(struct wlt_repair_row) repairs;
    VEC(struct wlt_index_row) index;
};

/* Writes the header. */
void wlt_encoder_init(struct wlt_encoder *e, int (*write)(void *, const void *, size_t), void *context);
void wlt_encoder_release(struct wlt_encoder *e);

/* Strings that were not written yet; used (by id) says which of them are wanted, NULL: all. */
void wlt_encode_strings(struct wlt_encoder *e, const struct intern *strings, const bool *used);
/* Rows of the small tables that are new or changed since the last call. */
void wlt_encode_small(struct wlt_encoder *e, const struct run *run);
/* All rows of the small tables once more, so that the loss of the first copy does no harm. */
void wlt_encode_small_again(struct wlt_encoder *e, const struct run *run);

void wlt_encode_ops(struct wlt_encoder *e, const struct op_table *ops);
void wlt_encode_spans(struct wlt_encoder *e, const struct span_table *spans);
void wlt_encode_samples(struct wlt_encoder *e, const struct sample_table *samples);
void wlt_encode_marks(struct wlt_encoder *e, const struct mark *marks, size_t count);
void wlt_encode_waits(struct wlt_encoder *e, const struct wait *waits, size_t count);
void wlt_encode_clock(struct wlt_encoder *e, const struct wlt_clock_row *row);
/* The index and the chunk that says that the recording is whole. */
void wlt_encode_end(struct wlt_encoder *e);

#endif
