/* The nsys importer on forged and damaged databases: nothing of theirs runs, and damage costs its own rows.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "nsys_case.h"

/* ---- forgeries ----------------------------------------------------------------------------------------- */

static void a_forged_schema_runs_nothing_and_hides_no_sound_row(void **state)
{
    (void)state;
    struct run run;
    load(&run, "hostile");
    assert_int_equal(repair_count(&run, "views stand where tables are expected"), 2);
    assert_int_equal(run.ops.count, 4);
    size_t kernel = op_at(&run, 1000);
    assert_string_equal(run_text(&run, run.ops.name[kernel]), "highest");
    const struct shape *shape = &run.shapes.at[run.ops.shape[kernel]];
    assert_int_equal(shape->regs_per_thread, 0); /* 'many' */
    assert_int_equal(shape->grid[0], 0);         /* -5 */
    assert_int_equal(shape->block[0], 0);        /* more than 32 bits */
    assert_int_equal(shape->block[1], 1);
    size_t extreme = op_at(&run, 3000); /* written as 3000.0 */
    assert_int_equal(device_of(&run, extreme), INT64_MAX);
    assert_int_equal(run.ops.correlation[extreme], INT64_MAX);
    assert_int_equal(pid_of(&run, extreme), 0xffffff);
    assert_string_equal(run_text(&run, run.ops.name[extreme]), "lowest");
    assert_string_equal(run_text(&run, run.ops.name[op_at(&run, 6000)]), "name in place");
    assert_int_equal(run.losses.untimed, 2); /* a NULL, and a time that overflows */
    assert_int_equal(run.losses.malformed,
                     6); /* 3 kernels, an overhead without thread, a message, OSRT_API */
    assert_int_equal(run.losses.dropped, INT64_MAX);
    assert_int_equal(intern_length(&run.strings, run.spans.name[span_at(&run, 10)]), 8); /* a NUL inside */
    run_release(&run);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

/* Imports bytes and checks what must hold however damaged they are. Returns the number of ops, -1 if refused.
 */
static int64_t survive(const char *bytes, size_t length)
{
    struct run run;
    struct err err;
    run_init(&run);
    int code = import_bytes(&run, bytes, length, &err);
    int64_t ops = -1;
    if (code == 0) {
        run_seal(&run);
        ops = (int64_t)run.ops.count;
        for (size_t i = 0; i < run.ops.count; i++)
            assert_true(run.ops.end[i] >= run.ops.start[i]);
    } else {
        assert_int_equal(code, ERR_INPUT);
        assert_true(err.what[0] != '\0');
        assert_int_equal(run.sources.count, 0);
    }
    run_release(&run);
    return ops;
}

static void a_damaged_page_costs_only_its_own_rows(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    place_many(&p);
    struct stat st;
    assert_int_equal(stat(p.path, &st), 0);
    int fd = open(p.path, O_WRONLY);
    char zeros[PAGE] = {0};
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, st.st_size / PAGE / 2 * PAGE), PAGE);
    close(fd);
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
    assert_in_range(run.ops.count, MANY - 400, MANY - 50);
    assert_int_equal(run.losses.malformed, MANY - (int64_t)run.ops.count); /* every lost row is counted */
    assert_int_equal(repair_count(&run, "rows could not be read"), run.losses.malformed);
    assert_non_null(strstr(fact(&run, "database_damage"), "CUPTI_ACTIVITY_KIND_KERNEL: "));
    assert_non_null(strstr(fact(&run, "database_damage"), "malformed"));
    int64_t latest = 0;
    for (size_t i = 0; i < run.ops.count; i++)
        latest = max_ns(latest, run.ops.start[i]);
    assert_int_equal(latest, MANY * 10); /* rows behind the damage too */
    run_release(&run);
    place_remove(&p);
}

static void a_file_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    struct place p;
    struct str bytes = {0};
    place_many(&p);
    read_file(p.path, &bytes);
    place_remove(&p);
    int64_t last = -1;
    int some = 0;
    for (size_t cut = 0; cut < bytes.len; cut += cut < 3 * PAGE ? 511 : bytes.len / 37) {
        if (cut == 0)
            continue;
        int64_t ops = survive(bytes.ptr, cut);
        assert_true(ops <= MANY);
        some += ops > 0;
        last = ops;
    }
    assert_true(some > 20);
    assert_true(last > MANY / 2);
    assert_int_equal(survive(bytes.ptr, bytes.len), MANY);
    str_release(&bytes);
}

static void a_cut_file_says_so(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    place_many(&p);
    struct stat st;
    assert_int_equal(stat(p.path, &st), 0);
    assert_int_equal(truncate(p.path, st.st_size * 9 / 10), 0);
    run_init(&run);
    assert_int_equal(import_path(&run, p.path, NULL, &err), 0);
    assert_in_range(run.ops.count, MANY * 8 / 10, MANY - 1);
    assert_int_equal(repair_count(&run, "the file is shorter than its header says"), 1);
    assert_int_equal(run.losses.malformed, 1); /* how many rows are missing nobody knows */
    run_release(&run);
    place_remove(&p);
}

static uint32_t next_random(uint32_t *seed) /* the same bytes on every machine */
{
    return (*seed = *seed * 1664525u + 1013904223u) >> 8;
}

static void flipped_bytes_never_break_the_reader(void **state)
{
    (void)state;
    static const char *const samples[] = {"schema-2.9", "schema-3.1", "schema-3.16", "schema-3.28",
                                          "hostile"};
    uint32_t seed = 1;
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        struct place p;
        struct str bytes = {0};
        place_sample(&p, samples[s]);
        read_file(p.path, &bytes);
        place_remove(&p);
        char *copy = malloc(bytes.len);
        assert_non_null(copy);
        int read = 0;
        for (int round = 0; round < 300; round++) {
            memcpy(copy, bytes.ptr, bytes.len);
            int flips = 1 + round % 8;
            for (int i = 0; i < flips; i++) {
                /* Half of them in the first page: header and schema. */
                uint32_t at = next_random(&seed) % (uint32_t)(i % 2 ? PAGE : bytes.len);
                copy[at] = (char)next_random(&seed);
            }
            read += survive(copy, bytes.len) >= 0;
        }
        assert_true(read > 100);
        free(copy);
        str_release(&bytes);
    }
}

static void an_overlong_text_costs_its_own_row_alone(void **state)
{
    (void)state;
    struct place p;
    struct run run;
    struct err err;
    place_many(&p);
    run_sql(p.path, "UPDATE StringIds SET value = hex(zeroblob(200000)) WHERE id = 2;"
                    "INSERT INTO StringIds VALUES (3, 'after');"
                    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 3 WHERE rowid = 1");
    run_init(&run);
    struct import_options options = {.max_string_bytes = 64 * 1024};
    assert_int_equal(import_path(&run, p.path, &options, &err), 0);
    assert_int_equal(run.ops.count, MANY);
    assert_string_equal(run_text(&run, run.ops.name[op_at(&run, 10)]), "after");
    assert_string_equal(run_text(&run, run.ops.name[op_at(&run, 20)]), "k");
    assert_int_equal(run.losses.malformed, 1);
    assert_non_null(strstr(fact(&run, "database_damage"), "StringIds: "));
    run_release(&run);
    place_remove(&p);
}

/* Every child of the table's root page becomes its first child: a small file that claims endless rows. */
static void pages_that_are_linked_many_times_do_not_multiply_rows(void **state)
{
    (void)state;
    struct place p;
    struct str bytes = {0};
    place_many(&p);
    read_file(p.path, &bytes);
    place_remove(&p);
    int changed = 0;
    for (size_t page = PAGE; page + PAGE <= bytes.len; page += PAGE) {
        unsigned char *b = (unsigned char *)bytes.ptr + page;
        if (b[0] != 5) /* interior page of a table */
            continue;
        int cells = b[3] << 8 | b[4];
        for (int i = 1; i < cells; i++) {
            size_t first = (size_t)(b[12] << 8 | b[13]), cell = (size_t)(b[12 + 2 * i] << 8 | b[13 + 2 * i]);
            assert_true(first + 4 <= PAGE && cell + 4 <= PAGE);
            memcpy(b + cell, b + first, 4);
            changed++;
        }
    }
    assert_true(changed > 10);
    int64_t ops = survive(bytes.ptr, bytes.len);
    assert_in_range(ops, 1, 1000); /* a leaf or two, not a leaf a link */
    str_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_forged_schema_runs_nothing_and_hides_no_sound_row),
        cmocka_unit_test(a_damaged_page_costs_only_its_own_rows),
        cmocka_unit_test(a_file_cut_anywhere_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_cut_file_says_so),
        cmocka_unit_test(flipped_bytes_never_break_the_reader),
        cmocka_unit_test(an_overlong_text_costs_its_own_row_alone),
        cmocka_unit_test(pages_that_are_linked_many_times_do_not_multiply_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
