/* Chrome traces written by hand, imported from memory: for the unit tests of the Chrome importer. */
#ifndef WARPLIGHT_TESTS_UNIT_CHROME_TRACE_H
#define WARPLIGHT_TESTS_UNIT_CHROME_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "import/import.h"

extern const struct importer import_chrome_json;

static inline int import_bytes(struct run *run, const char *data, size_t length, struct err *err)
{
    struct stream *in;
    run_init(run);
    assert_int_equal(stream_open_memory(&in, "test.json", data, length, err), 0);
    int code = import_chrome_json.read(run, in, NULL, err);
    stream_close(in);
    return code;
}

/* Imports a whole document. */
static inline void import_text(struct run *run, const char *json)
{
    struct err err = {0};
    int code = import_bytes(run, json, strlen(json), &err);
    if (code != 0)
        fail_msg("%s", err.what);
}

/* Imports {"traceEvents": [events]}. */
static inline void import_events(struct run *run, const char *events)
{
    struct str json = {0};
    str_addf(&json, "{\"schemaVersion\": 1, \"traceEvents\": [%s]}", events);
    import_text(run, json.ptr);
    str_release(&json);
}

static inline int64_t repairs(const struct run *run, const char *word)
{
    int64_t count = 0;
    vec_each (&run->sources.at[0].repairs, repair) {
        if (strstr(run_text(run, repair->text), word))
            count += repair->count;
    }
    return count;
}

static inline void assert_nothing_lost(const struct run *run)
{
    assert_int_equal(run->losses.malformed, 0);
    assert_int_equal(run->losses.untimed, 0);
    assert_int_equal(run->losses.truncated_bytes, 0);
}

static inline void assert_name(const struct run *run, uint32_t id, const char *expected)
{
    assert_string_equal(run_text(run, id), expected);
}

static inline const char *fact(const struct run *run, const char *key)
{
    vec_each (&run->facts, entry) {
        if (strcmp(run_text(run, entry->key), key) == 0)
            return run_text(run, entry->value);
    }
    return NULL;
}

static inline const struct device *device_of(const struct run *run, int64_t id)
{
    vec_each (&run->devices, device) {
        if (device->id == id)
            return device;
    }
    return NULL;
}

#define KERNEL                                                                                               \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 10.001, "         \
    "\"dur\": 2.5, \"args\": {\"External id\": 3, \"device\": 0, \"context\": 1, \"stream\": 7, "            \
    "\"correlation\": 5, \"registers per thread\": 32, \"shared memory\": 1024, \"grid\": [4, 5, 6], "       \
    "\"block\": [128, 2, 1], \"est. achieved occupancy %\": 37}}"
#define CALL                                                                                                 \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 100, \"tid\": "     \
    "101, "                                                                                                  \
    "\"ts\": 1, \"dur\": 4, \"args\": {\"External id\": 3, \"cbid\": 211, \"correlation\": 5}}"

#define OP(name)                                                                                             \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name                                                 \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1, "                                                    \
    "\"args\": {\"External id\": 1}}"

#endif
