/* gzip, zstd, both in each other, and plain data, read in pieces whose sizes the input itself chooses. */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "base/stream.h"

/* A small input can hold gigabytes; what comes after this is left unread, which tests closing early. */
enum { READ_MAX = 8 << 20, PIECE_MAX = 64 * 1024 };

static void check_open_error(const struct err *err, int code)
{
    FUZZ_CHECK(code == ERR_INPUT || code == ERR_ENV);
    FUZZ_CHECK((int)err->code == code && err->what[0] != '\0' && err->where[0] != '\0');
}

static void read_all(struct stream *s, uint64_t choice, char *peeked, char *read)
{
    int64_t total = 0, got = 1;
    while (got > 0 && total < READ_MAX) {
        choice = choice * 6364136223846793005u + 1442695040888963407u;
        size_t piece = (choice >> 40) % (choice & 1 << 20 ? PIECE_MAX : 100) + 1;
        int64_t seen = stream_peek(s, peeked, piece, NULL);
        FUZZ_CHECK(seen >= 0 && (size_t)seen <= piece);
        got = stream_read(s, read, piece, NULL);
        FUZZ_CHECK(got >= 0 && (size_t)got <= piece && (got > 0) == (seen > 0));
        FUZZ_CHECK(memcmp(read, peeked, (size_t)(got < seen ? got : seen)) == 0);
        total += got;
    }
    FUZZ_CHECK(stream_consumed(s) >= 0 && stream_consumed(s) <= stream_size(s));
    if (got > 0)
        return;
    FUZZ_CHECK(stream_read(s, read, 1, NULL) == 0);
    if (!stream_damage(s))
        FUZZ_CHECK(stream_consumed(s) == stream_size(s));
    if (strcmp(stream_encoding(s), "plain") == 0)
        FUZZ_CHECK(total == stream_size(s) && !stream_damage(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream *s;
    struct err err = {0};
    int code = stream_open_memory(&s, "fuzz", data, size, &err);
    if (code < 0) {
        check_open_error(&err, code);
        return 0;
    }
    char *peeked = mem_alloc(PIECE_MAX), *read = mem_alloc(PIECE_MAX);
    read_all(s, size ? data[size - 1] + size : 0, peeked, read);
    free(peeked);
    free(read);
    stream_close(s);
    return 0;
}
