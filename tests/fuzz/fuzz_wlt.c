/* Checksums keep a fuzzer out. So one that is zero, which no real one is, is made right before the recording
 * is read; the others are left as they are. */
#include <string.h>

#include "base/hash.h"
#include "fuzz_import.h"
#include "model/wlt.h"

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
    free(bytes);
    return 0;
}
