#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- making and reading data --------------------------------------------------------------------------- */

/* Text that compresses a little, different at every place. */
static struct str make_text(size_t length)
{
    struct str text = {0};
    for (uint64_t n = 1; text.len < length; n = n * 6364136223846793005u + 1442695040888963407u)
        str_addf(&text, "{\"ts\": %llu},\n", (unsigned long long)(n >> 20));
    str_cut(&text, length);
    return text;
}

static void add_gzip(struct str *out, const void *data, size_t length)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)length};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&z, (uLong)length);
    size_t before = out->len;
    str_pad(out, 0, bound);
    z.next_out = (Bytef *)out->ptr + before;
    z.avail_out = (uInt)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    str_cut(out, before + z.total_out);
    deflateEnd(&z);
}

static void add_zstd(struct str *out, const void *data, size_t length)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t bound = ZSTD_compressBound(length), before = out->len;
    str_pad(out, 0, bound);
    size_t written = ZSTD_compress2(context, out->ptr + before, bound, data, length);
    assert_false(ZSTD_isError(written));
    str_cut(out, before + written);
    ZSTD_freeCCtx(context);
}

/* All that a stream delivers, read in pieces of at most `piece` bytes. */
static struct str drain(struct stream *s, size_t piece)
{
    struct str all = {0};
    struct err err = {0};
    char *buf = mem_alloc(piece);
    int64_t got;
    while ((got = stream_read(s, buf, piece, &err)) > 0) {
        assert_true((size_t)got <= piece);
        str_add(&all, buf, (size_t)got);
    }
    assert_int_equal(got, 0);
    assert_int_equal(stream_read(s, buf, piece, &err), 0);
    free(buf);
    return all;
}

static struct stream *open_memory(const struct str *data)
{
    struct stream *s = NULL;
    struct err err = {0};
    assert_int_equal(stream_open_memory(&s, "memory", data->ptr, data->len, &err), 0);
    return s;
}

static void assert_text(const struct str *got, const struct str *wanted)
{
    assert_int_equal(got->len, wanted->len);
    assert_memory_equal(str_text(got), str_text(wanted), wanted->len);
}

/* data must decode to text, in this encoding and with this damage. */
static void assert_decodes(const struct str *data, const struct str *text, const char *encoding,
                           const char *damage)
{
    struct stream *s = open_memory(data);
    struct str got = drain(s, 10000);
    assert_text(&got, text);
    assert_string_equal(stream_encoding(s), encoding);
    if (damage)
        assert_string_equal(stream_damage(s), damage);
    else
        assert_null(stream_damage(s));
    str_release(&got);
    stream_close(s);
}

static char *temporary(const void *data, size_t length)
{
    char *path = mem_strdup("/tmp/warplight-stream-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), length);
    close(fd);
    return path;
}

static void remove_temporary(char *path)
{
    unlink(path);
    free(path);
}

static struct err open_fails(const char *path, int code)
{
    struct stream *s = NULL;
    struct err err = {0};
    assert_int_equal(stream_open(&s, path, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(err.where, path);
    assert_true(err.what[0] != '\0');
    return err;
}

/* ---- what comes out ------------------------------------------------------------------------------------ */

static void each_encoding_is_found_by_content_and_decoded(void **state)
{
    (void)state;
    struct str text = make_text(3 * MIB), gzip = {0}, zstd = {0}, both = {0}, twice = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    add_gzip(&twice, gzip.ptr, gzip.len);
    add_zstd(&both, gzip.ptr, gzip.len);
    assert_decodes(&text, &text, "plain", NULL);
    assert_decodes(&gzip, &text, "gzip", NULL);
    assert_decodes(&zstd, &text, "zstd", NULL);
    assert_decodes(&twice, &text, "gzip in gzip", NULL);
    assert_decodes(&both, &text, "gzip in zstd", NULL);
    str_release(&text), str_release(&gzip), str_release(&zstd), str_release(&both), str_release(&twice);
}

static void a_third_level_of_compression_is_an_error(void **state)
{
    (void)state;
    struct str once = {0}, twice = {0}, thrice = {0};
    add_gzip(&once, "text", 4);
    add_zstd(&twice, once.ptr, once.len);
    add_gzip(&thrice, twice.ptr, twice.len);
    struct stream *s;
    struct err err = {0};
    assert_int_equal(stream_open_memory(&s, "m", thrice.ptr, thrice.len, &err), ERR_INPUT);
    assert_string_equal(err.what, "the file is compressed more than 2 times");
    assert_true(err.hint[0] != '\0');
    str_release(&once), str_release(&twice), str_release(&thrice);
}

static void members_and_frames_follow_each_other(void **state)
{
    (void)state;
    struct str text = make_text(500 * KIB), gzip = {0}, zstd = {0};
    static const char skippable[] = "\x50\x2a\x4d\x18\x03\0\0\0abc";
    add_gzip(&gzip, text.ptr, 200 * KIB);
    add_gzip(&gzip, "", 0);
    add_gzip(&gzip, text.ptr + 200 * KIB, text.len - 200 * KIB);
    str_add(&zstd, skippable, sizeof skippable - 1);
    add_zstd(&zstd, text.ptr, 200 * KIB);
    str_add(&zstd, skippable, sizeof skippable - 1);
    add_zstd(&zstd, text.ptr + 200 * KIB, text.len - 200 * KIB);
    assert_decodes(&gzip, &text, "gzip", NULL);
    assert_decodes(&zstd, &text, "zstd", NULL);
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void compressed_nothing_is_empty_and_undamaged(void **state)
{
    (void)state;
    struct str nothing = {0}, gzip = {0}, zstd = {0};
    add_gzip(&gzip, "", 0);
    add_zstd(&zstd, "", 0);
    assert_decodes(&gzip, &nothing, "gzip", NULL);
    assert_decodes(&zstd, &nothing, "zstd", NULL);
    str_release(&gzip), str_release(&zstd);
}

static void pieces_of_any_size_add_up_to_the_same(void **state)
{
    (void)state;
    struct str text = make_text(70 * KIB), gzip = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    const struct str *inputs[] = {&text, &gzip, &zstd};
    for (int i = 0; i < 3; i++) {
        for (size_t piece = 1; piece < 200 * KIB; piece = piece * 3 + 1) {
            struct stream *s = open_memory(inputs[i]);
            struct str got = drain(s, piece);
            assert_text(&got, &text);
            str_release(&got);
            stream_close(s);
        }
    }
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void peek_shows_what_read_will_deliver(void **state)
{
    (void)state;
    struct str text = make_text(300 * KIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    const struct str *inputs[] = {&text, &gzip};
    char *peeked = mem_alloc(64 * KIB), *read = mem_alloc(64 * KIB);
    for (int i = 0; i < 2; i++) {
        struct stream *s = open_memory(inputs[i]);
        for (size_t at = 0, step = 1; at < text.len; step = step * 5 % 65521 + 1) {
            int64_t seen = stream_peek(s, peeked, 64 * KIB, NULL);
            size_t left = text.len - at;
            assert_int_equal(seen, left < 64 * KIB ? left : 64 * KIB);
            assert_memory_equal(peeked, text.ptr + at, seen);
            int64_t got = stream_read(s, read, step, NULL);
            assert_true(got > 0 && (size_t)got <= step);
            assert_memory_equal(read, text.ptr + at, got);
            at += (size_t)got;
        }
        assert_int_equal(stream_peek(s, peeked, 10, NULL), 0);
        stream_close(s);
    }
    free(peeked), free(read);
    str_release(&text), str_release(&gzip);
}

static void a_long_stream_passes_the_queue_many_times(void **state)
{
    (void)state;
    struct str text = make_text(12 * MIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    assert_decodes(&gzip, &text, "gzip", NULL);
    str_release(&text), str_release(&gzip);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static void a_cut_delivers_what_came_before_it(void **state)
{
    (void)state;
    struct str text = make_text(2000), gzip = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, 1500);
    add_gzip(&gzip, text.ptr + 1500, 500);
    add_zstd(&zstd, text.ptr, 1500);
    add_zstd(&zstd, text.ptr + 1500, 500);
    const struct {
        const struct str *data;
        size_t magic, first; /* where the encoding shows; length of the first member */
        const char *damage;
    } cases[] = {{&gzip, 2, 0, "the gzip data end early"}, {&zstd, 4, 0, "the zstd data end early"}};
    for (int i = 0; i < 2; i++) {
        size_t ends_well = 0;
        for (size_t cut = cases[i].magic; cut < cases[i].data->len; cut++) {
            struct stream *s = open_memory(&(struct str){.ptr = cases[i].data->ptr, .len = cut});
            struct str got = drain(s, 333);
            assert_true(got.len <= text.len);
            assert_memory_equal(str_text(&got), text.ptr, got.len);
            if (stream_damage(s))
                assert_string_equal(stream_damage(s), cases[i].damage);
            else
                ends_well += got.len == 1500;
            str_release(&got);
            stream_close(s);
        }
        assert_int_equal(ends_well, 1); /* only the cut between the two members is no damage */
    }
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void a_late_cut_loses_little(void **state)
{
    (void)state;
    struct str text = make_text(4 * MIB), gzip = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    struct {
        struct str data;
        size_t may_lose;
    } cases[] = {
        {{.ptr = gzip.ptr, .len = gzip.len - 100}, 4 * KIB}, /* zstd loses its last block of 128 KiB */
        {{.ptr = zstd.ptr, .len = zstd.len - 100}, 256 * KIB}};
    for (int i = 0; i < 2; i++) {
        struct stream *s = open_memory(&cases[i].data);
        struct str got = drain(s, 64 * KIB);
        assert_true(got.len < text.len && got.len + cases[i].may_lose >= text.len);
        assert_memory_equal(got.ptr, text.ptr, got.len);
        assert_non_null(stream_damage(s));
        assert_int_equal(stream_consumed(s), cases[i].data.len);
        str_release(&got);
        stream_close(s);
    }
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void no_flipped_bit_goes_unnoticed(void **state)
{
    (void)state;
    struct str text = make_text(1500), gzip = {0}, zstd = {0}, twice = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    add_gzip(&twice, zstd.ptr, zstd.len);
    struct str *inputs[] = {&gzip, &zstd, &twice};
    for (int i = 0; i < 3; i++) {
        for (size_t bit = 0; bit < inputs[i]->len * 8; bit++) {
            inputs[i]->ptr[bit / 8] ^= (char)(1 << bit % 8);
            struct stream *s = open_memory(inputs[i]);
            struct str got = drain(s, 700);
            if (!stream_damage(s) && strcmp(stream_encoding(s), "plain") != 0)
                assert_text(&got, &text); /* bits of the header that mean nothing, as its time */
            str_release(&got);
            stream_close(s);
            inputs[i]->ptr[bit / 8] ^= (char)(1 << bit % 8);
        }
    }
    str_release(&text), str_release(&gzip), str_release(&zstd), str_release(&twice);
}

static void a_fault_keeps_what_was_decoded_before_it(void **state)
{
    (void)state;
    struct str text = make_text(4 * MIB), gzip = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    struct str *inputs[] = {&gzip, &zstd};
    for (int i = 0; i < 2; i++) {
        memset(inputs[i]->ptr + inputs[i]->len / 2, 0xff, 64 * KIB);
        struct stream *s = open_memory(inputs[i]);
        struct str got = drain(s, 64 * KIB);
        assert_true(got.len > text.len / 3);
        assert_memory_equal(got.ptr, text.ptr, text.len / 3);
        assert_non_null(strstr(stream_damage(s), "corrupt"));
        assert_true(stream_consumed(s) < stream_size(s));
        str_release(&got);
        stream_close(s);
    }
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void a_wrong_checksum_is_named(void **state)
{
    (void)state;
    struct str text = make_text(200 * KIB), gzip = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, text.len);
    add_zstd(&zstd, text.ptr, text.len);
    gzip.ptr[gzip.len - 6] ^= 1;
    zstd.ptr[zstd.len - 1] ^= 1;
    assert_decodes(&gzip, &text, "gzip", "the gzip checksum does not match: some bytes are wrong");
    struct stream *s = open_memory(&zstd);
    struct str got = drain(s, 1000);
    assert_string_equal(stream_damage(s), "the zstd checksum does not match: some bytes are wrong");
    str_release(&got);
    stream_close(s);
    str_release(&text), str_release(&gzip), str_release(&zstd);
}

static void bytes_after_the_end_are_reported_and_padding_is_not(void **state)
{
    (void)state;
    struct str text = make_text(100 * KIB), gzip = {0}, padded = {0}, fake = {0}, zstd = {0};
    add_gzip(&gzip, text.ptr, text.len);
    str_add(&padded, gzip.ptr, gzip.len);
    str_pad(&padded, 0, 300 * KIB);
    assert_decodes(&padded, &text, "gzip", NULL);
    str_add(&fake, gzip.ptr, gzip.len);
    str_puts(&fake, "\x1f\x8b\x08\xff garbage that looks like a member");
    assert_decodes(&fake, &text, "gzip", "bytes after the end of the gzip data were ignored");
    size_t good = gzip.len;
    str_puts(&gzip, "garbage");
    assert_decodes(&gzip, &text, "gzip", "bytes after the end of the gzip data were ignored");
    struct stream *s = open_memory(&gzip);
    struct str got = drain(s, 1000);
    assert_int_equal(stream_consumed(s), good);
    str_release(&got);
    stream_close(s);
    add_zstd(&zstd, text.ptr, text.len);
    str_puts(&zstd, "garbage");
    assert_decodes(&zstd, &text, "zstd", "bytes after the end of the zstd data were ignored");
    str_release(&text), str_release(&gzip), str_release(&padded), str_release(&fake), str_release(&zstd);
}

static void the_outer_damage_is_the_one_reported(void **state)
{
    (void)state;
    struct str text = make_text(300 * KIB), inner = {0}, outer = {0};
    add_zstd(&inner, text.ptr, text.len);
    add_gzip(&outer, inner.ptr, inner.len);
    str_cut(&outer, outer.len / 2);
    struct stream *s = open_memory(&outer);
    struct str got = drain(s, 1000);
    assert_string_equal(stream_damage(s), "the gzip data end early");
    assert_string_equal(stream_encoding(s), "zstd in gzip");
    str_release(&got);
    stream_close(s);
    str_release(&text), str_release(&inner), str_release(&outer);
}

static void a_frame_that_asks_for_a_huge_window_is_refused(void **state)
{
    (void)state;
    /* Frame header with window descriptor 0x98: 2^29 bytes; then one raw block of the byte 'a'. */
    static char frame[] = "\x28\xb5\x2f\xfd\x00\x98\x09\x00\x00"
                          "a";
    struct stream *s = open_memory(&(struct str){.ptr = frame, .len = sizeof frame - 1});
    struct str got = drain(s, 100);
    assert_int_equal(got.len, 0);
    assert_non_null(strstr(stream_damage(s), "window"));
    stream_close(s);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

static long resident_kib(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    char *end;
    strtol(text, &end, 10);
    return strtol(end, NULL, 10) * sysconf(_SC_PAGESIZE) / KIB;
}

static int64_t count_all(struct stream *s)
{
    char *buf = mem_alloc(MIB);
    int64_t total = 0, got;
    while ((got = stream_read(s, buf, MIB, NULL)) > 0)
        total += got;
    assert_int_equal(got, 0);
    free(buf);
    return total;
}

static void a_decompression_bomb_takes_constant_memory(void **state)
{
    (void)state;
    struct str zeros = {0}, member = {0}, inner = {0}, bomb = {0};
    str_pad(&zeros, 0, 16 * MIB);
    add_gzip(&member, zeros.ptr, zeros.len);
    for (int i = 0; i < 32; i++)
        str_add(&inner, member.ptr, member.len);
    add_gzip(&bomb, inner.ptr, inner.len);
    long before = resident_kib();
    struct stream *s = open_memory(&bomb);
    assert_int_equal(count_all(s), INT64_C(32) * 16 * MIB);
    assert_true(resident_kib() - before < 32 * KIB);
    stream_close(s);
    str_release(&zeros), str_release(&member), str_release(&inner), str_release(&bomb);
}

static void a_large_sparse_file_takes_constant_memory(void **state)
{
    (void)state;
    char *path = temporary("", 0);
    int64_t size = INT64_C(256) * MIB;
    assert_int_equal(truncate(path, size), 0);
    long before = resident_kib();
    struct stream *s;
    assert_int_equal(stream_open(&s, path, NULL), 0);
    assert_int_equal(stream_size(s), size);
    assert_int_equal(count_all(s), size);
    assert_int_equal(stream_consumed(s), size);
    assert_true(resident_kib() - before < 32 * KIB);
    stream_close(s);
    remove_temporary(path);
}

static void a_file_that_shrinks_while_it_is_read_ends_early(void **state)
{
    (void)state;
    struct str text = make_text(MIB);
    char *path = temporary(text.ptr, text.len);
    struct stream *s;
    assert_int_equal(stream_open(&s, path, NULL), 0);
    char first[10];
    assert_int_equal(stream_read(s, first, sizeof first, NULL), sizeof first);
    assert_int_equal(truncate(path, 100 * KIB), 0);
    assert_int_equal(count_all(s), 100 * KIB - sizeof first);
    stream_close(s);
    remove_temporary(path);
    str_release(&text);
}

/* ---- files and pipes ----------------------------------------------------------------------------------- */

static void a_file_tells_its_path_size_and_progress(void **state)
{
    (void)state;
    struct str text = make_text(5 * MIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    char *path = temporary(gzip.ptr, gzip.len);
    struct stream *s;
    assert_int_equal(stream_open(&s, path, NULL), 0);
    assert_string_equal(stream_path(s), path);
    assert_int_equal(stream_size(s), gzip.len);
    assert_null(stream_damage(s));
    int64_t consumed = 0, got;
    char buf[4096];
    while ((got = stream_read(s, buf, sizeof buf, NULL)) > 0) {
        assert_true(stream_consumed(s) >= consumed);
        consumed = stream_consumed(s);
    }
    assert_int_equal(got, 0);
    assert_int_equal(stream_consumed(s), gzip.len);
    stream_close(s);
    remove_temporary(path);
    str_release(&text), str_release(&gzip);
}

static void what_cannot_be_read_is_a_clear_error(void **state)
{
    (void)state;
    struct err err = open_fails("/tmp", ERR_INPUT);
    assert_string_equal(err.what, "this is a directory");
    assert_true(err.hint[0] != '\0');
    err = open_fails("/tmp/warplight/does/not/exist.json", ERR_INPUT);
    assert_string_equal(err.what, "no such file");
    assert_true(err.hint[0] != '\0');
    err = open_fails("/dev/null", ERR_INPUT);
    assert_string_equal(err.what, "the file is empty");
    assert_true(err.hint[0] != '\0');
    open_fails("/dev/null/x", ERR_INPUT);
    err = open_fails("", ERR_USAGE);
    assert_string_equal(err.what, "the file name is empty");
    char *path = temporary("", 0);
    err = open_fails(path, ERR_INPUT);
    assert_string_equal(err.what, "the file is empty");
    remove_temporary(path);
    struct stream *s;
    assert_int_equal(stream_open_memory(&s, "m", "", 0, NULL), ERR_INPUT);
}

static void a_file_of_someone_else_is_a_permission_error(void **state)
{
    (void)state;
    char *path = temporary("data", 4);
    assert_int_equal(chmod(path, 0), 0);
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    struct err err = open_fails(path, ERR_ENV);
    if (user == 0)
        assert_int_equal(seteuid(user), 0);
    assert_string_equal(err.what, "no permission to read the file");
    assert_true(err.hint[0] != '\0');
    remove_temporary(path);
}

static void a_file_of_proc_has_content_though_its_size_is_zero(void **state)
{
    (void)state;
    struct stream *s;
    assert_int_equal(stream_open(&s, "/proc/self/maps", NULL), 0);
    assert_true(stream_size(s) == UNKNOWN);
    assert_true(count_all(s) > 0);
    stream_close(s);
}

struct writer {
    int fd;
    struct str data;
};

static void *write_slowly(void *arg)
{
    struct writer *writer = arg;
    for (size_t at = 0; at < writer->data.len;) {
        size_t part = writer->data.len - at < 7001 ? writer->data.len - at : 7001;
        ssize_t wrote = write(writer->fd, writer->data.ptr + at, part);
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    close(writer->fd);
    return NULL;
}

static void standard_input_and_pipes_are_read_to_their_end(void **state)
{
    (void)state;
    struct str text = make_text(2 * MIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    const struct str *inputs[] = {&text, &gzip};
    for (int i = 0; i < 2; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        int saved = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        struct writer writer = {ends[1], *inputs[i]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_slowly, &writer), 0);
        struct stream *s;
        assert_int_equal(stream_open(&s, "-", NULL), 0);
        assert_true(stream_size(s) == UNKNOWN);
        struct str got = drain(s, 10000);
        assert_text(&got, &text);
        assert_int_equal(stream_consumed(s), inputs[i]->len);
        str_release(&got);
        stream_close(s);
        pthread_join(thread, NULL);
        assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* still open */
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    str_release(&text), str_release(&gzip);
}

static void closing_early_ends_the_thread_wherever_it_is(void **state)
{
    (void)state;
    struct str text = make_text(8 * MIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    char buf[1000];
    for (int reads = 0; reads < 40; reads++) {
        struct stream *s = open_memory(&gzip);
        for (int i = 0; i < reads * reads; i++)
            assert_true(stream_read(s, buf, sizeof buf, NULL) > 0);
        stream_close(s);
    }
    str_release(&text), str_release(&gzip);
}

/* The writer never closes its end: only stream_close() can end the wait of the thread. */
static void closing_does_not_wait_for_a_silent_pipe(void **state)
{
    (void)state;
    struct str text = make_text(MIB), gzip = {0};
    add_gzip(&gzip, text.ptr, text.len);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], gzip.ptr, 30 * KIB), 30 * KIB);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    struct stream *s;
    assert_int_equal(stream_open(&s, path, NULL), 0);
    char first[100];
    assert_int_equal(stream_read(s, first, sizeof first, NULL), sizeof first);
    assert_memory_equal(first, text.ptr, sizeof first);
    stream_close(s);
    close(ends[0]);
    close(ends[1]);
    str_release(&text), str_release(&gzip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_encoding_is_found_by_content_and_decoded),
        cmocka_unit_test(a_third_level_of_compression_is_an_error),
        cmocka_unit_test(members_and_frames_follow_each_other),
        cmocka_unit_test(compressed_nothing_is_empty_and_undamaged),
        cmocka_unit_test(pieces_of_any_size_add_up_to_the_same),
        cmocka_unit_test(peek_shows_what_read_will_deliver),
        cmocka_unit_test(a_long_stream_passes_the_queue_many_times),
        cmocka_unit_test(a_cut_delivers_what_came_before_it),
        cmocka_unit_test(a_late_cut_loses_little),
        cmocka_unit_test(no_flipped_bit_goes_unnoticed),
        cmocka_unit_test(a_fault_keeps_what_was_decoded_before_it),
        cmocka_unit_test(a_wrong_checksum_is_named),
        cmocka_unit_test(bytes_after_the_end_are_reported_and_padding_is_not),
        cmocka_unit_test(the_outer_damage_is_the_one_reported),
        cmocka_unit_test(a_frame_that_asks_for_a_huge_window_is_refused),
        cmocka_unit_test(a_decompression_bomb_takes_constant_memory),
        cmocka_unit_test(a_large_sparse_file_takes_constant_memory),
        cmocka_unit_test(a_file_that_shrinks_while_it_is_read_ends_early),
        cmocka_unit_test(a_file_tells_its_path_size_and_progress),
        cmocka_unit_test(what_cannot_be_read_is_a_clear_error),
        cmocka_unit_test(a_file_of_someone_else_is_a_permission_error),
        cmocka_unit_test(a_file_of_proc_has_content_though_its_size_is_zero),
        cmocka_unit_test(standard_input_and_pipes_are_read_to_their_end),
        cmocka_unit_test(closing_early_ends_the_thread_wherever_it_is),
        cmocka_unit_test(closing_does_not_wait_for_a_silent_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
