/* Recordings that were cut, damaged or made to do harm: what is whole is read, what is not is counted, and
 * memory stays bounded. */
#include "wlt_case.h"

enum { PLACES = 200 };

static void assert_sound(const struct run *run)
{
    for (size_t i = 0; i < run->ops.count; i++) {
        assert_true(run->ops.start[i] <= run->ops.end[i]);
        assert_true(run->ops.stream[i] < run->streams.count);
        assert_true(run->ops.name[i] < run->strings.count);
        assert_true(run->ops.kind[i] <= OP_GRAPH);
        assert_true(run->ops.call[i] == NONE || run->ops.call[i] < run->spans.count);
    }
    for (size_t i = 0; i < run->spans.count; i++)
        assert_true(run->spans.thread[i] < run->threads.count);
}

/* ---- cut ----------------------------------------------------------------------------------------------- */

static void every_prefix_is_readable_and_longer_ones_hold_more(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err;
    size_t before = 0;
    wlt_rich(&bytes);
    for (size_t length = WLT_MAGIC_BYTES; length <= bytes.len; length++) {
        char *exact = mem_alloc(length); /* so that a read past the end is seen */
        memcpy(exact, bytes.ptr, length);
        assert_int_equal(wlt_try(&run, exact, length, &err), 0);
        assert_sound(&run);
        size_t rows = run.ops.count + run.spans.count + run.samples.count + run.marks.count + run.waits.count;
        assert_true(rows >= before);
        assert_int_equal(wlt_repaired(&run, "was not closed"), length < bytes.len);
        before = rows;
        run_release(&run);
        free(exact);
    }
    assert_true(before > 50);
    str_release(&bytes);
}

static void what_is_cut_off_is_counted(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct wlt_place places[PLACES];
    struct run run;
    struct err err;
    wlt_rich(&bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES);
    int64_t lost_before = 4; /* that the rich run itself lost */
    for (size_t i = 0; i < count; i++) {
        size_t end = places[i].offset + places[i].length;
        assert_int_equal(wlt_try(&run, bytes.ptr, end - 1, &err), 0);
        int64_t lost = run.losses.truncated_bytes;
        assert_true(lost == (int64_t)places[i].length - 1 ||
                    lost == (int64_t)places[i].length - 1 + lost_before); /* before and after its row */
        assert_int_equal(wlt_repaired(&run, "ends within a part"), 1);
        vec_each (&run.sources.at[0].repairs, repair)
            if (strstr(run_text(&run, repair->text), "ends within a part"))
                assert_int_equal(repair->first_offset, places[i].offset);
        run_release(&run);
        assert_int_equal(wlt_try(&run, bytes.ptr, end, &err), 0);
        assert_int_equal(wlt_repaired(&run, "ends within a part"), 0);
        run_release(&run);
    }
    str_release(&bytes);
}

static void zeros_where_the_disk_never_got_the_data_are_the_end(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct wlt_place places[PLACES];
    struct run run;
    struct err err;
    wlt_rich(&bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES);
    size_t from = places[count - 2].offset;
    memset(bytes.ptr + from, 0, bytes.len - from);
    assert_int_equal(wlt_try(&run, bytes.ptr, bytes.len, &err), 0);
    assert_int_equal(run.losses.truncated_bytes, 4 + (int64_t)(bytes.len - from));
    assert_int_equal(run.ops.count, 13);
    run_release(&run);
    str_release(&bytes);
}

/* ---- damaged ------------------------------------------------------------------------------------------- */

static void every_byte_may_flip(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    struct err err;
    wlt_rich(&bytes);
    for (size_t at = 0; at < bytes.len; at++) {
        bytes.ptr[at] = (char)~bytes.ptr[at];
        assert_int_equal(wlt_try(&run, bytes.ptr, bytes.len, &err), 0);
        assert_sound(&run);
        assert_true(wlt_repaired(&run, "damaged parts of the recording") == 1 ||
                    wlt_repaired(&run, "ends within a part") == 1);
        run_release(&run);
        bytes.ptr[at] = (char)~bytes.ptr[at];
    }
    str_release(&bytes);
}

static size_t rows_of(const struct run *run, uint8_t table)
{
    switch (table) {
    case WLT_OPS:
        return run->ops.count;
    case WLT_SPANS:
        return run->spans.count;
    case WLT_SAMPLES:
        return run->samples.count;
    case WLT_MARKS:
        return run->marks.count;
    case WLT_WAITS:
        return run->waits.count;
    default:
        return 0;
    }
}

static void many_launches(struct str *out)
{
    struct make_run made;
    make_run_init(&made);
    for (int64_t i = 0; i < 3 * WLT_ROWS_MAX; i++)
        make_launch(&made, i % 3 ? "a" : "b", i * 1000, i * 1000 + 100, i * 1000 + 200 + i % 7,
                    i * 1000 + 900 - i % 5);
    run_seal(&made.run);
    wlt_of_run(&made.run, out);
    run_release(&made.run);
}

/* Noise in the payload, in the header and all over a chunk, one chunk after the other. */
static void damage_in_the_middle_costs_the_damaged_chunk_alone(void **state)
{
    (void)state;
    struct str bytes = {0}, damaged = {0};
    struct wlt_place places[PLACES];
    struct run whole, run;
    uint64_t noise = 1;
    many_launches(&bytes);
    wlt_read(&whole, &bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES);
    int damaged_tables = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const struct wlt_place *place = &places[i];
        if (place->chunk.table != WLT_OPS && place->chunk.table != WLT_SPANS)
            continue;
        for (int where = 0; where < 3; where++) {
            size_t from = where == 0 ? WLT_CHUNK_HEADER_BYTES + place->length / 2 : 0;
            size_t to = where == 1 ? WLT_CHUNK_HEADER_BYTES : where == 0 ? from + 1 : place->length;
            str_cut(&damaged, 0);
            str_add(&damaged, bytes.ptr, bytes.len);
            for (size_t k = from; k < to && k < place->length; k++)
                damaged.ptr[place->offset + k] ^= (char)((noise = hash_u64(noise + k)) | 1);
            wlt_read(&run, &damaged);
            assert_int_equal(rows_of(&run, place->chunk.table),
                             rows_of(&whole, place->chunk.table) - place->chunk.rows);
            uint8_t other = place->chunk.table == WLT_OPS ? WLT_SPANS : WLT_OPS;
            assert_int_equal(rows_of(&run, other), rows_of(&whole, other));
            assert_int_equal(wlt_repaired(&run, "damaged parts of the recording"), 1);
            assert_int_equal(wlt_repaired(&run, "parts of the recording are missing"), 1);
            assert_int_equal(run.losses.malformed, place->chunk.rows);
            assert_int_equal(run.losses.truncated_bytes, 0);
            run_release(&run);
        }
        damaged_tables++;
    }
    assert_int_equal(damaged_tables, 6);
    run_release(&whole);
    str_release(&bytes);
    str_release(&damaged);
}

/* Threads, streams and the like lie in the file twice. */
static void small_tables_survive_the_loss_of_one_copy(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct wlt_place places[PLACES];
    struct run expected, run;
    wlt_rich(&bytes);
    wlt_read(&expected, &bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES);
    for (size_t i = 0; i + 1 < count; i++) {
        if (!wlt_has_row_numbers(places[i].chunk.table))
            continue;
        char *byte = &bytes.ptr[places[i].offset + places[i].length - 1];
        *byte ^= 1;
        wlt_read(&run, &bytes);
        assert_int_equal(run.threads.count, expected.threads.count);
        assert_int_equal(run.streams.count, expected.streams.count);
        assert_int_equal(run.losses.unlinked, expected.losses.unlinked);
        assert_int_equal(wlt_repaired(&run, "numbered instead"), 0);
        run_release(&run);
        *byte ^= 1;
    }
    run_release(&expected);
    str_release(&bytes);
}

static void rows_whose_thread_or_name_was_lost_stay_and_stay_apart(void **state)
{
    (void)state;
    struct make_run made;
    struct str bytes = {0};
    struct wlt_place places[PLACES];
    struct run run;
    make_run_init(&made);
    make_launch(&made, "one", 0, 10, 20, 30);
    make_launch(&made, "two", 100, 110, 120, 130);
    make_launch(&made, "two", 200, 210, 220, 230);
    run_seal(&made.run);
    wlt_of_run(&made.run, &bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES);
    for (size_t i = 0; i < count; i++) {
        uint8_t table = places[i].chunk.table;
        if (table == WLT_STRINGS || table == WLT_THREADS || table == WLT_STREAMS)
            bytes.ptr[places[i].offset + places[i].length - 1] ^= 1;
    }
    wlt_read(&run, &bytes);
    assert_int_equal(run.ops.count, 3);
    assert_int_equal(run.spans.count, 3);
    assert_int_equal(run.losses.unlinked, 0); /* all were of the only process */
    assert_true(run.ops.name[0] != run.ops.name[1]);
    assert_int_equal(run.ops.name[1], run.ops.name[2]);
    assert_non_null(strstr(run_text(&run, run.ops.name[0]), "lost name"));
    assert_non_null(strstr(run_text(&run, run.threads.at[0].name), "lost thread"));
    assert_true(wlt_repaired(&run, "texts were lost") > 0);
    assert_int_equal(wlt_repaired(&run, "numbered instead"), 2);
    run_release(&run);
    run_release(&made.run);
    str_release(&bytes);
}

/* A writer that died within a chunk, and another that went on in the same file. */
static void half_a_chunk_does_not_hide_those_after_it(void **state)
{
    (void)state;
    struct str bytes = {0}, torn = {0};
    struct wlt_place places[PLACES];
    struct run run;
    many_launches(&bytes);
    size_t count = wlt_find_chunks(&bytes, places, PLACES), first = 0;
    while (places[first].chunk.table != WLT_OPS)
        first++;
    assert_true(first + 1 < count);
    size_t half = places[first].offset + places[first].length / 2;
    str_add(&torn, bytes.ptr, half);
    str_add(&torn, bytes.ptr + places[first + 1].offset, bytes.len - places[first + 1].offset);
    wlt_read(&run, &torn);
    assert_int_equal(run.ops.count, 2 * WLT_ROWS_MAX);
    assert_int_equal(run.spans.count, 3 * WLT_ROWS_MAX);
    run_release(&run);
    str_release(&bytes);
    str_release(&torn);
}

static void two_recordings_in_one_file_are_told_from_one(void **state)
{
    (void)state;
    struct str first = {0}, bytes = {0};
    struct run run;
    wlt_rich(&first);
    wlt_rich(&bytes);
    str_add(&first, bytes.ptr, bytes.len);
    wlt_read(&run, &first);
    assert_int_equal(run.ops.count, 13);
    assert_int_equal(wlt_repaired(&run, "what follows the end"), 1);
    run_release(&run);
    str_release(&first);
    str_release(&bytes);
}

/* ---- hostile ------------------------------------------------------------------------------------------- */

static void claims_of_size_without_the_bytes_cost_nothing(void **state)
{
    (void)state;
    static const struct wlt_chunk claims[] = {
        {.table = WLT_OPS, .rows = UINT32_MAX, .raw = 40},
        {.table = WLT_OPS, .rows = WLT_ROWS_MAX, .raw = 0},
        {.table = WLT_OPS, .rows = 1, .raw = UINT32_MAX, .flags = WLT_CHUNK_ZSTD},
        {.table = WLT_STRINGS, .rows = WLT_ROWS_MAX, .raw = WLT_RAW_MAX, .flags = WLT_CHUNK_ZSTD},
        {.table = WLT_THREADS, .rows = 65536, .raw = 0},
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct str bytes = {0}, payload = {0};
        struct run run;
        wlt_add_header(&bytes, (struct wlt_header){.major = 1});
        str_pad(&payload, '\x7f', 40);
        wlt_add_chunk(&bytes, claims[i], &payload);
        wlt_read(&run, &bytes);
        assert_int_equal(wlt_repaired(&run, "damaged parts of the recording"), 1);
        assert_int_equal(run.ops.count + run.threads.count, 0);
        run_release(&run);
        str_release(&bytes);
        str_release(&payload);
    }
}

static void a_stored_length_beyond_the_file_is_a_cut(void **state)
{
    (void)state;
    struct str bytes = {0};
    struct run run;
    unsigned char head[WLT_CHUNK_HEADER_BYTES];
    wlt_add_header(&bytes, (struct wlt_header){.major = 1});
    wlt_chunk_pack(head, &(struct wlt_chunk){.table = WLT_OPS, .stored = UINT32_MAX, .raw = 100, .rows = 1});
    str_add(&bytes, (char *)head, sizeof head);
    wlt_read(&run, &bytes);
    assert_int_equal(run.losses.truncated_bytes, WLT_CHUNK_HEADER_BYTES);
    run_release(&run);
    str_release(&bytes);
}

/* Puts rows of ops that refer to what is not there, at times that cannot be, of kinds that there are none. */
static void rows_that_make_no_sense_are_counted_and_left_out(void **state)
{
    (void)state;
    struct str bytes = {0}, payload = {0};
    struct run run;
    const int64_t start[] = {1, INT64_MAX - 1, 5, 6}, length[] = {1, 100, -3, 1}, stream[] = {77, 1, 1, 0};
    const int64_t kind[] = {0, 0, 0, 0}, dir[] = {250, 0, 0, 0}, shape[] = {1234567, 0, 0, 0};
    wlt_add_header(&bytes, (struct wlt_header){.major = 1});
    wlt_columns_begin(&payload, 6);
    wlt_column_put(&payload, "start", WLT_DELTA, start, 4);
    wlt_column_put(&payload, "duration", WLT_ZIGZAG, length, 4);
    wlt_column_put(&payload, "stream", WLT_VARINT, stream, 4);
    wlt_column_put(&payload, "kind", WLT_VARINT, kind, 4);
    wlt_column_put(&payload, "dir", WLT_VARINT, dir, 4);
    wlt_column_put(&payload, "shape", WLT_VARINT, shape, 4);
    wlt_add_chunk(&bytes, (struct wlt_chunk){.table = WLT_OPS, .rows = 4}, &payload);
    wlt_read(&run, &bytes);
    assert_sound(&run);
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.ops.shape[0], NONE);
    assert_int_equal(run.ops.dir[0], COPY_UNKNOWN);
    assert_int_equal(run.losses.untimed, 2);
    assert_int_equal(run.losses.malformed, 1);
    assert_int_equal(wlt_repaired(&run, "do not fit"), 1);
    run_release(&run);
    str_release(&bytes);
    str_release(&payload);
}

/* Compressed zeros: rows that take no bytes. What they may become is bounded by the size of the file. */
static void a_small_file_does_not_expand_without_end(void **state)
{
    (void)state;
    struct str bytes = {0}, one = {0};
    struct wlt_place places[PLACES];
    struct make_run made;
    struct run run;
    make_run_init(&made);
    for (int64_t i = 0; i < WLT_ROWS_MAX; i++)
        make_kernel(&made.run, made.stream, "k", 7, 7, 0);
    run_seal(&made.run);
    wlt_of_run(&made.run, &one);
    size_t count = wlt_find_chunks(&one, places, PLACES), at = 0;
    while (at < count && places[at].chunk.table != WLT_OPS)
        at++;
    assert_true(at < count && places[at].length < 1000);
    wlt_add_header(&bytes, (struct wlt_header){.major = 1});
    enum { COPIES = 300 };
    for (int i = 0; i < COPIES; i++)
        str_add(&bytes, one.ptr + places[at].offset, places[at].length);
    wlt_read(&run, &bytes);
    assert_true(run.ops.count <= WLT_EXPANSION_FREE + WLT_EXPANSION_MAX * bytes.len);
    assert_true(run.ops.count < (size_t)COPIES * WLT_ROWS_MAX);
    assert_int_equal(run.ops.count % WLT_ROWS_MAX, 0);
    run_release(&run);
    run_release(&made.run);
    str_release(&bytes);
    str_release(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_readable_and_longer_ones_hold_more),
        cmocka_unit_test(what_is_cut_off_is_counted),
        cmocka_unit_test(zeros_where_the_disk_never_got_the_data_are_the_end),
        cmocka_unit_test(every_byte_may_flip),
        cmocka_unit_test(damage_in_the_middle_costs_the_damaged_chunk_alone),
        cmocka_unit_test(small_tables_survive_the_loss_of_one_copy),
        cmocka_unit_test(rows_whose_thread_or_name_was_lost_stay_and_stay_apart),
        cmocka_unit_test(half_a_chunk_does_not_hide_those_after_it),
        cmocka_unit_test(two_recordings_in_one_file_are_told_from_one),
        cmocka_unit_test(claims_of_size_without_the_bytes_cost_nothing),
        cmocka_unit_test(a_stored_length_beyond_the_file_is_a_cut),
        cmocka_unit_test(rows_that_make_no_sense_are_counted_and_left_out),
        cmocka_unit_test(a_small_file_does_not_expand_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
