/* Named cells: they hold every value of their type, refuse others, and miss no member of the tables that they
 * describe, since a member without a cell is one that exports lose. */
#include "cmocka_all.h"

#include <string.h>

#include "model/cells.h"

static size_t width(const struct cell *cell)
{
    bool wide = cell->type == CELL_INT64 || cell->type == CELL_UINT64;
    return cell->count * (wide ? sizeof(int64_t) : sizeof(int32_t));
}

static size_t bytes_of(const struct cell *cells)
{
    size_t sum = 0;
    for (const struct cell *cell = cells; cell->key; cell++)
        sum += width(cell);
    return sum;
}

/* Who adds a member gives it a cell or adds it to what is left out here. */
static void no_member_of_a_table_is_forgotten(void **state)
{
    (void)state;
    enum { PADDING = 4 };
    const size_t rows_of_seal = 2 * sizeof(uint32_t), longest_op = sizeof(int64_t);
    assert_int_equal(sizeof(struct device), bytes_of(device_cells) + 2 * PADDING + rows_of_seal + longest_op);
    assert_int_equal(sizeof(struct process), bytes_of(process_cells) + 2 * PADDING);
    assert_int_equal(sizeof(struct thread), bytes_of(thread_cells) + 2 * PADDING + rows_of_seal);
    assert_int_equal(sizeof(struct stream), bytes_of(stream_cells) + PADDING);
    assert_int_equal(sizeof(struct shape), bytes_of(shape_cells));
    assert_int_equal(sizeof(struct comm), bytes_of(comm_cells));
    assert_int_equal(sizeof(struct counter_series), bytes_of(series_cells));
    assert_int_equal(sizeof(struct repair), bytes_of(repair_cells) + PADDING);
    assert_int_equal(sizeof(struct fact), bytes_of(fact_cells));
    assert_int_equal(sizeof(struct losses), bytes_of(losses_cells) + sizeof(int64_t) /* unlinked */);
    assert_int_equal(sizeof(struct op_row), bytes_of(op_cells) + PADDING);
}

#define COUNT_COLUMN(type, name) +1

static void no_column_of_ops_and_spans_is_forgotten(void **state)
{
    (void)state;
    /* start, end, name, stream, shape, call, comm have places of their own; 8 are cells of op_row */
    assert_int_equal(RUN_OPS(COUNT_COLUMN), 15);
    /* start, end, id, name, thread, parent, detail, kind: written one by one by each exporter; comm is in the
     * ops already */
    assert_int_equal(RUN_SPANS(COUNT_COLUMN), 9);
    assert_int_equal(RUN_SAMPLES(COUNT_COLUMN), 3);
}

static void enums_are_spelled_to_their_last_value(void **state)
{
    (void)state;
    assert_string_equal(op_kind_names[OP_GRAPH], "graph");
    assert_string_equal(copy_dir_names[COPY_MANAGED_D2D], "managed device to device");
    assert_string_equal(mem_kind_names[MEM_MANAGED], "managed");
    assert_string_equal(span_kind_names[SPAN_NATIVE], "native");
    assert_string_equal(mark_kind_names[MARK_LOST], "lost");
    assert_null(op_kind_names[OP_GRAPH + 1]);
    assert_null(copy_dir_names[COPY_MANAGED_D2D + 1]);
    assert_null(mem_kind_names[MEM_MANAGED + 1]);
    assert_null(span_kind_names[SPAN_NATIVE + 1]);
    assert_null(mark_kind_names[MARK_RESUMED + 1]);
    assert_int_equal(cell_name_find(span_kind_names, "python", 6), SPAN_PYTHON);
    assert_int_equal(cell_name_find(span_kind_names, "pytho", 5), -1);
}

static const struct cell *cell_of(const struct cell *cells, const char *key)
{
    while (strcmp(cells->key, key) != 0)
        cells++;
    return cells;
}

static void cells_keep_their_values_and_refuse_what_does_not_fit(void **state)
{
    (void)state;
    struct device device = {0};
    struct shape shape = {0};
    struct op_row row = {0};
    assert_true(cell_set(cell_of(device_cells, "memory_bytes"), &device, 0, INT64_MIN));
    assert_int_equal(device.memory_bytes, INT64_MIN);
    assert_true(cell_set(cell_of(device_cells, "sm_count"), &device, 0, INT32_MIN));
    assert_int_equal(cell_get(cell_of(device_cells, "sm_count"), &device, 0), INT32_MIN);
    assert_false(cell_set(cell_of(device_cells, "sm_count"), &device, 0, (int64_t)INT32_MAX + 1));
    assert_int_equal(device.sm_count, INT32_MIN);
    assert_true(cell_set(cell_of(device_cells, "vendor"), &device, 0, VENDOR_META));
    assert_false(cell_set(cell_of(device_cells, "vendor"), &device, 0, VENDOR_META + 1));
    assert_false(cell_set(cell_of(device_cells, "vendor"), &device, 0, -1));
    assert_int_equal(device.vendor, VENDOR_META);
    assert_true(cell_set(cell_of(shape_cells, "grid"), &shape, 2, UINT32_MAX));
    assert_false(cell_set(cell_of(shape_cells, "grid"), &shape, 1, -1));
    assert_int_equal(cell_get(cell_of(shape_cells, "grid"), &shape, 2), UINT32_MAX);
    assert_true(cell_set(cell_of(op_cells, "correlation"), &row, 0, -1));
    assert_true(row.correlation == UINT64_MAX);
}

static void cleared_rows_have_nothing_that_would_be_written(void **state)
{
    (void)state;
    static const struct cell *const all[] = {shape_cells,   comm_cells,   source_cells, device_cells,
                                             process_cells, thread_cells, stream_cells, series_cells,
                                             wait_cells,    losses_cells};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        union {
            char bytes[256];
            int64_t aligned;
        } row;
        memset(&row, 0xa5, sizeof row);
        cells_clear(all[i], &row);
        for (const struct cell *cell = all[i]; cell->key; cell++)
            for (int e = 0; e < cell->count; e++)
                assert_int_equal(cell_get(cell, &row, e), cell->absent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_member_of_a_table_is_forgotten),
        cmocka_unit_test(no_column_of_ops_and_spans_is_forgotten),
        cmocka_unit_test(enums_are_spelled_to_their_last_value),
        cmocka_unit_test(cells_keep_their_values_and_refuse_what_does_not_fit),
        cmocka_unit_test(cleared_rows_have_nothing_that_would_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
