#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

/* ---- arena --------------------------------------------------------------------------------------------- */

static void arena_memory_is_aligned_apart_and_stays(void **state)
{
    (void)state;
    struct arena arena = {0};
    enum { COUNT = 5000 };
    unsigned char **blocks = mem_zalloc(COUNT, sizeof *blocks);
    for (int i = 0; i < COUNT; i++) {
        size_t size = (size_t)i * 37 % 1000;
        blocks[i] = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], i & 0xff, size);
        if (i % 3 == 0)
            assert_string_equal(arena_text(&arena, "odd length", 3), "odd"); /* breaks the alignment */
    }
    for (int i = 0; i < COUNT; i++)
        for (size_t byte = 0; byte < (size_t)i * 37 % 1000; byte++)
            assert_int_equal(blocks[i][byte], i & 0xff);
    free(blocks);
    arena_release(&arena);
    assert_null(arena.blocks);
}

static void arena_takes_objects_larger_than_its_blocks(void **state)
{
    (void)state;
    struct arena arena = {0};
    size_t size = 3 << 20;
    char *small = arena_alloc(&arena, 8), *large = arena_alloc(&arena, size);
    memset(large, 1, size);
    memset(small, 2, 8);
    assert_int_equal(large[0] + large[size - 1], 2);
    arena_release(&arena);
    arena_release(&arena); /* an empty one too */
}

static void arena_text_is_a_terminated_copy(void **state)
{
    (void)state;
    struct arena arena = {0};
    char source[] = "a\0b";
    char *copy = arena_text(&arena, source, 3);
    source[0] = 'x';
    assert_memory_equal(copy, "a\0b\0", 4);
    assert_string_equal(arena_text(&arena, NULL, 0), "");
    arena_release(&arena);
}

/* ---- str ----------------------------------------------------------------------------------------------- */

static void an_untouched_str_prints_as_nothing(void **state)
{
    (void)state;
    struct str s = {0};
    assert_string_equal(str_text(&s), "");
    str_cut(&s, 0);
    str_add(&s, NULL, 0);
    assert_string_equal(str_text(&s), "");
    str_release(&s);
    assert_null(s.ptr);
}

static void every_addition_leaves_a_terminated_str(void **state)
{
    (void)state;
    struct str s = {0};
    for (int i = 0; i < 1000; i++) {
        str_putc(&s, 'a');
        assert_int_equal(strlen(s.ptr), s.len);
        str_addf(&s, "%d;", i);
        assert_int_equal(strlen(s.ptr), s.len);
        str_pad(&s, '-', (size_t)i % 7);
        assert_int_equal(strlen(s.ptr), s.len);
        str_puts(&s, "text");
        assert_int_equal(strlen(s.ptr), s.len);
    }
    str_cut(&s, 5);
    assert_string_equal(s.ptr, "a0;te");
    str_cut(&s, 100); /* no shortening, no effect */
    assert_int_equal(s.len, 5);
    str_add(&s, "\0z", 2);
    assert_int_equal(s.len, 7);
    assert_memory_equal(s.ptr, "a0;te\0z\0", 8);
    str_release(&s);
}

static void a_long_format_fits(void **state)
{
    (void)state;
    struct str s = {0};
    str_addf(&s, "%*s|%s", 5000, "right", "end");
    assert_int_equal(s.len, 5004);
    assert_string_equal(s.ptr + 4995, "right|end");
    str_release(&s);
}

/* ---- vec ----------------------------------------------------------------------------------------------- */

static void a_vec_grows_and_hands_out_zeroed_elements(void **state)
{
    (void)state;
    struct pair {
        int64_t a, b;
    };
    VEC(struct pair) vec = {0};
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(vec_new(&vec)->b, 0);
        vec.at[i].a = i;
        vec.at[i].b = -1;
    }
    assert_int_equal(vec.count, 1000);
    int64_t sum = 0;
    vec_each (&vec, item)
        sum += item->a;
    assert_int_equal(sum, 999 * 1000 / 2);
    vec_release(&vec);
    assert_null(vec.at);
    assert_int_equal(vec.count + vec.cap, 0);
}

static void reserving_makes_room_at_once(void **state)
{
    (void)state;
    VEC(int) vec = {0};
    vec_reserve(&vec, 100);
    assert_true(vec.cap >= 100);
    const int *before = vec.at;
    for (int i = 0; i < 100; i++)
        vec_push(&vec, i);
    assert_ptr_equal(vec.at, before);
    assert_int_equal(vec.at[99], 99);
    vec_release(&vec);
}

/* ---- map ----------------------------------------------------------------------------------------------- */

static void a_map_finds_what_was_set_and_nothing_else(void **state)
{
    (void)state;
    struct map map = {0};
    assert_int_equal(map_get(&map, 0), MAP_ABSENT);
    /* Dense keys, keys that differ in high bits only, and the extremes. */
    for (uint32_t i = 0; i < 20000; i++) {
        map_set(&map, i, i);
        map_set(&map, (uint64_t)(i + 1) << 44, i + 1);
    }
    map_set(&map, UINT64_MAX, 7);
    assert_int_equal(map.count, 40001);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(map_get(&map, i), i);
        assert_int_equal(map_get(&map, (uint64_t)(i + 1) << 44), i + 1);
        assert_int_equal(map_get(&map, i + 20000), MAP_ABSENT);
    }
    assert_int_equal(map_get(&map, UINT64_MAX), 7);
    map_set(&map, 5, 99);
    assert_int_equal(map_get(&map, 5), 99);
    assert_int_equal(map.count, 40001);
    map_release(&map);
    assert_int_equal(map_get(&map, 5), MAP_ABSENT);
}

static void the_hash_of_bytes_depends_on_every_byte(void **state)
{
    (void)state;
    char bytes[300] = {0};
    for (size_t length = 1; length <= sizeof bytes; length = length * 2 + 1) {
        uint64_t plain = hash_bytes(bytes, length);
        assert_true(plain == hash_bytes(bytes, length));
        assert_true(plain != hash_bytes(bytes, length - 1));
        for (size_t i = 0; i < length; i++) {
            bytes[i] = 1;
            assert_true(hash_bytes(bytes, length) != plain);
            bytes[i] = 0;
        }
    }
    assert_true(hash_pair(1, 2) != hash_pair(2, 1));
}

/* ---- err and mem --------------------------------------------------------------------------------------- */

static void an_error_carries_all_its_parts_and_returns_its_code(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(err_set(&err, ERR_INPUT, "file.json", 42, "try again", "line %d", 7), ERR_INPUT);
    assert_int_equal(err.code, ERR_INPUT);
    assert_int_equal(err.offset, 42);
    assert_string_equal(err.where, "file.json");
    assert_string_equal(err.what, "line 7");
    assert_string_equal(err.hint, "try again");
    assert_int_equal(err_set(&err, ERR_ENV, NULL, -1, NULL, "x"), ERR_ENV);
    assert_string_equal(err.where, "");
    assert_string_equal(err.hint, "");
    assert_int_equal(err_set(NULL, ERR_USAGE, "w", 0, "h", "nobody listens"), ERR_USAGE);
}

static void an_overlong_error_is_cut_not_overrun(void **state)
{
    (void)state;
    struct str text = {0};
    str_pad(&text, 'x', 5000);
    struct err err;
    err_set(&err, ERR_INPUT, text.ptr, 0, text.ptr, "%s", text.ptr);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_int_equal(strlen(err.what), sizeof err.what - 1);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
    str_release(&text);
}

static void an_impossible_size_ends_the_process_with_code_5(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        volatile size_t count = SIZE_MAX / 4;
        free(mem_resize(NULL, count, 16)); /* the product does not fit */
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 5);
}

static void say_goodbye(void)
{
    static const char text[] = "goodbye";
    ssize_t written = write(STDOUT_FILENO, text, sizeof text);
    (void)written;
}

static void what_is_to_do_before_the_end_is_done(void **state)
{
    (void)state;
    int ends[2];
    char said[16] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        mem_before_end(say_goodbye);
        volatile size_t count = SIZE_MAX / 4;
        free(mem_resize(NULL, count, 16));
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(read(ends[0], said, sizeof said) > 0);
    assert_string_equal(said, "goodbye");
    close(ends[0]);
}

static void memory_of_no_bytes_is_memory(void **state)
{
    (void)state;
    void *a = mem_alloc(0), *b = mem_zalloc(0, 8), *c = mem_resize(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    free(a), free(b), free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_aligned_apart_and_stays),
        cmocka_unit_test(arena_takes_objects_larger_than_its_blocks),
        cmocka_unit_test(arena_text_is_a_terminated_copy),
        cmocka_unit_test(an_untouched_str_prints_as_nothing),
        cmocka_unit_test(every_addition_leaves_a_terminated_str),
        cmocka_unit_test(a_long_format_fits),
        cmocka_unit_test(a_vec_grows_and_hands_out_zeroed_elements),
        cmocka_unit_test(reserving_makes_room_at_once),
        cmocka_unit_test(a_map_finds_what_was_set_and_nothing_else),
        cmocka_unit_test(the_hash_of_bytes_depends_on_every_byte),
        cmocka_unit_test(an_error_carries_all_its_parts_and_returns_its_code),
        cmocka_unit_test(an_overlong_error_is_cut_not_overrun),
        cmocka_unit_test(an_impossible_size_ends_the_process_with_code_5),
        cmocka_unit_test(what_is_to_do_before_the_end_is_done),
        cmocka_unit_test(memory_of_no_bytes_is_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
