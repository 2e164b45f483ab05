/* ops_in_window(), op_in_window(), op_clip(): which ops belong to a window, and how much of them. */
#include "cmocka_all.h"
#include "make_run.h"

#include "analyze/analyze.h"

static int64_t count_in_window(const struct run *run, uint32_t device, struct interval window)
{
    struct op_range range = ops_in_window(run, device, window);
    int64_t count = 0;
    for (uint32_t op = range.first; op < range.end; op++)
        count += op_in_window(run->ops.start[op], run->ops.end[op], window);
    return count;
}

static void a_long_op_from_before_the_window_is_found(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    make_kernel(&m.run, m.stream, "long", 0, 1000, 0);
    for (int64_t i = 1; i < 90; i++)
        make_kernel(&m.run, m.stream, "short", i * 10, i * 10 + 5, 0);
    run_seal(&m.run);
    struct interval window = {503, 518};
    assert_int_equal(count_in_window(&m.run, m.device, window), 3); /* long, 500–505, 510–515 */
    struct interval part = op_clip(&m.run, 0, window);
    assert_int_equal(part.start, 503);
    assert_int_equal(part.end, 518);
    run_release(&m.run);
}

static void ranges_agree_with_asking_every_op(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    uint32_t second = run_device(&m.run, m.source, 1);
    uint32_t stream = run_stream(&m.run, m.process, second, 1, 8), seed = 7;
    for (int i = 0; i < 300; i++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t start = seed >> 22, length = (seed >> 8) % 17 == 0 ? 400 : (seed >> 8) % 9;
        make_kernel(&m.run, seed & 0x10000 ? stream : m.stream, "k", start, start + length, 0);
    }
    run_seal(&m.run);
    for (int64_t from = -50; from < 1500; from += 37) {
        for (int64_t length = 0; length < 900; length = length * 3 + 1) {
            struct interval window = {from, from + length};
            for (uint32_t d = 0; d < 2; d++) {
                int64_t expected = 0;
                for (size_t op = 0; op < m.run.ops.count; op++)
                    expected += run_op_device(&m.run, op) == d &&
                                op_in_window(m.run.ops.start[op], m.run.ops.end[op], window);
                assert_int_equal(count_in_window(&m.run, d, window), expected);
            }
        }
    }
    run_release(&m.run);
}

static void edges_belong_to_ops_without_length_only(void **state)
{
    (void)state;
    struct interval window = {10, 20};
    assert_true(op_in_window(10, 10, window));
    assert_true(op_in_window(20, 20, window));
    assert_true(op_in_window(15, 15, window));
    assert_false(op_in_window(9, 9, window));
    assert_false(op_in_window(21, 21, window));
    assert_false(op_in_window(5, 10, window));
    assert_false(op_in_window(20, 25, window));
    assert_true(op_in_window(19, 25, window));
    assert_true(op_in_window(0, 100, window));
}

static void extreme_windows_and_times_do_not_overflow(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    const int64_t far = INT64_C(1) << 55; /* well within what sealing keeps */
    make_kernel(&m.run, m.stream, "ancient", -far, far, 0);
    make_kernel(&m.run, m.stream, "late", far - 1, far, 0);
    run_seal(&m.run);
    assert_int_equal(count_in_window(&m.run, m.device, (struct interval){INT64_MIN + 1, INT64_MAX}), 2);
    assert_int_equal(count_in_window(&m.run, m.device, (struct interval){0, 1}), 1);
    run_release(&m.run);
}

static void a_device_without_ops_has_an_empty_range(void **state)
{
    (void)state;
    struct make_run m;
    make_run_init(&m);
    run_seal(&m.run);
    struct op_range range = ops_in_window(&m.run, m.device, (struct interval){0, 100});
    assert_int_equal(range.first, range.end);
    run_release(&m.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_op_from_before_the_window_is_found),
        cmocka_unit_test(ranges_agree_with_asking_every_op),
        cmocka_unit_test(edges_belong_to_ops_without_length_only),
        cmocka_unit_test(extreme_windows_and_times_do_not_overflow),
        cmocka_unit_test(a_device_without_ops_has_an_empty_range),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
