/* What the tests of the recording format share: runs to bytes and back, and chunks made by hand. */
#ifndef WARPLIGHT_TESTS_UNIT_WLT_CASE_H
#define WARPLIGHT_TESTS_UNIT_WLT_CASE_H

#include "cmocka_all.h"

#include "base/hash.h"
#include "describe_run.h"
#include "export/export.h"
#include "import/import.h"
#include "make_run.h"
#include "model/wlt.h"
#include "rich_run.h"

static inline void wlt_of_run(const struct run *run, struct str *out)
{
    struct export_sink sink = {0};
    struct export_options options = {0};
    struct err err = {0};
    assert_int_equal(exporter_named("wlt")->write(run, &options, &sink, &err), 0);
    *out = sink.pending;
}

/* Reads and seals; run is to be released whatever comes back. */
static inline int wlt_try(struct run *run, const void *data, size_t length, struct err *err)
{
    *err = (struct err){0};
    run_init(run);
    int code = import_memory(run, "a.wlt", data, length, "wlt", NULL, err);
    run_seal(run);
    return code;
}

static inline void wlt_read(struct run *run, const struct str *bytes)
{
    struct err err;
    if (wlt_try(run, str_text(bytes), bytes->len, &err) != 0)
        fail_msg("%s", err.what);
}

static inline int64_t wlt_repaired(const struct run *run, const char *part)
{
    vec_each (&run->sources.at[0].repairs, repair)
        if (strstr(run_text(run, repair->text), part))
            return repair->count;
    return 0;
}

static inline void wlt_rich(struct str *out)
{
    struct run run;
    rich_run(&run);
    wlt_of_run(&run, out);
    run_release(&run);
}

/* Where the chunks of a whole recording lie. */
struct wlt_place {
    size_t offset, length; /* with its header */
    struct wlt_chunk chunk;
};

static inline size_t wlt_find_chunks(const struct str *bytes, struct wlt_place *places, size_t max)
{
    size_t count = 0;
    for (size_t at = WLT_HEADER_BYTES; at < bytes->len; count++) {
        assert_true(count < max);
        struct wlt_place *place = &places[count];
        place->offset = at;
        assert_true(wlt_chunk_parse(&place->chunk, (const unsigned char *)bytes->ptr + at));
        place->length = WLT_CHUNK_HEADER_BYTES + place->chunk.stored;
        at += place->length;
        assert_true(at <= bytes->len);
    }
    return count;
}

/* Appends a chunk of a payload that was made by hand. */
static inline void wlt_add_chunk(struct str *out, struct wlt_chunk chunk, const struct str *payload)
{
    unsigned char head[WLT_CHUNK_HEADER_BYTES];
    chunk.stored = (uint32_t)payload->len;
    chunk.raw = chunk.raw ? chunk.raw : (uint32_t)payload->len;
    chunk.checksum = hash_bytes(str_text(payload), payload->len);
    wlt_chunk_pack(head, &chunk);
    str_add(out, (char *)head, sizeof head);
    str_add(out, str_text(payload), payload->len);
}

static inline void wlt_add_header(struct str *out, struct wlt_header header)
{
    unsigned char bytes[WLT_HEADER_BYTES];
    wlt_header_pack(bytes, &header);
    str_add(out, (char *)bytes, sizeof bytes);
}

#endif
