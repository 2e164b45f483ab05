/* Checksums keep a fuzzer out. So one that is zero, which no real one is, is made right before the recording
 * is read; the others are left as they are. */
#include <string.h>

#include "base/hash.h"
#include "fuzz_import.h"
#include "import/import.h"
#include "model/wlt.h"
#include "source/machine_replay.h"

static bool is_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static void put_hash(uint8_t *at, const uint8_t *data, size_t length)
{
    uint64_t hash = hash_bytes(data, length);
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(hash >> (8 * i));
}

static void mend_chunk(uint8_t *chunk, size_t length)
{
    size_t stored = chunk[8] | (size_t)chunk[9] << 8 | (size_t)chunk[10] << 16 | (size_t)chunk[11] << 24;
    if (is_zero(chunk + 24, 8) && stored <= length - WLT_CHUNK_HEADER_BYTES)
        put_hash(chunk + 24, chunk + WLT_CHUNK_HEADER_BYTES, stored);
    if (is_zero(chunk + 32, 8))
        put_hash(chunk + 32, chunk, 32);
}

/* What `top --replay` makes of it. */
static void play(const uint8_t *data, size_t size)
{
    static const struct import_options options;
    struct run run;
    run_init(&run);
    if (import_memory(&run, "fuzz", data, size, "wlt", &options, NULL) == 0) {
        run_seal(&run);
        struct machine_replay *r = machine_replay_open(&run);
        size_t count = r ? machine_replay_count(r) : 0;
        for (size_t i = 0; i < count; i += count / 3 + 1)
            FUZZ_CHECK(machine_replay_take(r, i)->time_unix_ns == machine_replay_time(r, i));
        machine_replay_close(r);
    }
    run_release(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);
    FUZZ_CHECK(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    if (size >= WLT_HEADER_BYTES && is_zero(bytes + 24, 8))
        put_hash(bytes + 24, bytes, 24);
    for (size_t at = 0; at + WLT_CHUNK_HEADER_BYTES <= size; at++)
        if (memcmp(bytes + at, WLT_CHUNK_MAGIC, 4) == 0)
            mend_chunk(bytes + at, size - at);
    fuzz_import("wlt", bytes, size);
    play(bytes, size);
    free(bytes);
    return 0;
}
