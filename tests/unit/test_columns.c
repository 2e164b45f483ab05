/* Columns, sections, tables and the text layer, on a report filled by hand. */
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "make_run.h"
#include "view/table.h"
#include "view/view.h"

/* A run with one device and two kernels' names, and a report whose numbers are made up. */
struct made {
    struct make_run made;
    struct report report;
};

static void add_kernel(struct made *m, const char *name, int64_t total)
{
    vec_push(&m->report.kernels, ((struct kernel_row){.name = intern_puts(&m->made.run.strings, name),
                                                      .short_name = name,
                                                      .count = 2,
                                                      .total_ns = total,
                                                      .min_ns = 1,
                                                      .median_ns = total / 2,
                                                      .max_ns = total,
                                                      .busy_share_ratio = 0.5,
                                                      .shape = NONE,
                                                      .occupancy_ratio = (double)NAN,
                                                      .sm_fill_ratio = (double)NAN}));
}

static void add_step(struct made *m, int64_t start, int64_t length)
{
    vec_push(&m->report.steps.rows, ((struct step_row){.start = start, .end = start + length}));
}

static int set_up(void **state)
{
    struct made *m = mem_zalloc(1, sizeof *m);
    make_run_init(&m->made);
    m->report.run = &m->made.run;
    m->report.window = (struct interval){1000, 1000000};
    vec_push(&m->report.devices,
             ((struct device_report){
                 .device = m->made.device,
                 .window = m->report.window,
                 .wall_ns = 1000,
                 .busy_ns = 300,
                 .ledger_ns = {[ACCOUNT_COMPUTE] = 300, [IDLE_HOST_SYNC] = 697, [IDLE_QUEUE] = 3}}));
    add_kernel(m, "gemm", 4000000);
    add_kernel(m, "softmax_with_a_name_that_is_longer_than_any_column_could_ever_be_on_a_narrow_screen",
               1000);
    int64_t lengths[] = {10, 50, 20, 40, 30};
    for (int i = 0; i < 5; i++)
        add_step(m, 1000 + 100 * i, lengths[i]);
    *state = m;
    return 0;
}

static int tear_down(void **state)
{
    struct made *m = *state;
    report_release(&m->report);
    run_release(&m->made.run);
    free(m);
    return 0;
}

static const struct column *column_named(const struct section *section, const char *key)
{
    const struct column *c = section->columns;
    while (c->key && strcmp(c->key, key) != 0)
        c++;
    assert_non_null(c->key);
    return c;
}

static struct cell cell_of(struct made *m, enum section_id id, size_t row, const char *key)
{
    union section_scratch scratch;
    struct cell cell;
    column_cell(column_named(&sections[id], key), &m->report,
                section_row(&sections[id], &m->report, row, &scratch), &cell);
    return cell;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static void every_section_is_named_and_titled_and_its_columns_are_sound(void **state)
{
    (void)state;
    for (int id = 0; id < SECTION_COUNT; id++) {
        const struct section *s = &sections[id];
        assert_string_equal(s->name, section_names[id]);
        assert_non_null(s->title);
        assert_true(s->single || s->count || s->row_size > 0);
        for (const struct column *c = s->columns; c->key; c++) {
            assert_true(c->title || c->flags & COLUMN_MACHINE);
            assert_true(c->type != COLUMN_GET || c->get);
            for (const struct column *other = s->columns; other < c; other++)
                assert_string_not_equal(other->key, c->key);
        }
    }
    assert_string_equal(section_names[SECTION_COUNT], "all");
    assert_null(section_names[SECTION_COUNT + 1]);
}

static void cells_carry_the_value_of_their_row(void **state)
{
    struct made *m = *state;
    struct cell cell = cell_of(m, SECTION_KERNELS, 1, "total_ns");
    assert_int_equal(cell.kind, CELL_VALUE);
    assert_int_equal(cell.value.type, VALUE_NS);
    assert_int_equal(cell.value.i, 1000);
    cell = cell_of(m, SECTION_LEDGER, IDLE_HOST_SYNC, "account");
    assert_string_equal(cell.value.s, "idle:host-sync");
    assert_int_equal(cell_of(m, SECTION_LEDGER, IDLE_HOST_SYNC, "ns").value.i, 697);
}

static void what_nobody_knows_is_an_unknown_cell_that_says_why(void **state)
{
    struct made *m = *state;
    const char *const keys[] = {"grid", "registers_per_thread", "sm_fill_ratio",
                                "theoretical_occupancy_ratio"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_int_equal(cell_of(m, SECTION_KERNELS, 0, keys[i]).kind, CELL_UNKNOWN);
        assert_non_null(column_named(&sections[SECTION_KERNELS], keys[i])->why);
    }
}

static void names_cannot_drive_the_terminal(void **state)
{
    struct made *m = *state;
    struct str text = {0};
    struct cell cell = {CELL_VALUE, {.value = value_text("a\x1b[2J\nb\xff\xe2\x80\xae")}};
    cell_text(&text, &cell, &m->report, &(struct cell_style){.translate = true});
    assert_string_equal(str_text(&text), "a␛[2J␊b��");
    str_release(&text);
}

static void paths_lose_their_middle_and_keep_both_ends(void **state)
{
    struct made *m = *state;
    struct str text = {0};
    struct cell cell = {CELL_PATH, {.path = {"outer_annotation", NULL, "aten::linear", "cudaLaunchKernel"}}};
    cell_text(&text, &cell, &m->report, &(struct cell_style){.translate = true});
    assert_string_equal(str_text(&text), "outer_annotation › aten::linear › cudaLaunchKernel");
    str_cut(&text, 0);
    cell_text(&text, &cell, &m->report, &(struct cell_style){.translate = true, .width = 30});
    assert_string_equal(str_text(&text), "outer_ann…r › cudaLaunchKernel");
    assert_int_equal(screen_columns(str_text(&text)), 30);
    str_release(&text);
}

/* ---- sections ------------------------------------------------------------------------------------------ */

static void when_rows_must_go_the_heaviest_stay(void **state)
{
    struct made *m = *state;
    size_t count;
    size_t *rows = section_pick(&sections[SECTION_STEPS], &m->report, 3, true, &count);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 3);
    assert_int_equal(rows[2], 4);
    free(rows);
}

static void rows_that_stay_keep_their_order_unless_weight_decides(void **state)
{
    struct made *m = *state;
    size_t count;
    size_t *rows = section_pick(&sections[SECTION_STEPS], &m->report, 2, false, &count);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 3);
    free(rows);
    rows = section_pick(&sections[SECTION_STEPS], &m->report, SIZE_MAX, false, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i], i);
    free(rows);
}

/* ---- screens ------------------------------------------------------------------------------------------- */

/* What was printed, in a buffer that the caller frees. */
struct printed {
    struct screen screen;
    char *text;
    size_t length;
};

static void print_begin(struct printed *p, int width)
{
    *p = (struct printed){0};
    p->screen = (struct screen){.out = open_memstream(&p->text, &p->length), .width = width, .utf8 = true};
}

static void print_end(struct printed *p)
{
    screen_flush(&p->screen);
    screen_release(&p->screen);
    fclose(p->screen.out);
}

static int widest_line(const char *text)
{
    int widest = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        int columns = screen_columns(line);
        widest = columns > widest ? columns : widest;
        free(line);
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void a_cell_is_padded_or_cut_to_its_width(void **state)
{
    (void)state;
    struct printed p;
    print_begin(&p, 80);
    screen_cell(&p.screen, STYLE_PLAIN, "ab", 4, false);
    screen_cell(&p.screen, STYLE_PLAIN, "ab", 4, true);
    screen_cell(&p.screen, STYLE_PLAIN, "abcdef", 4, false);
    screen_cell(&p.screen, STYLE_PLAIN, "中文字", 4, false);
    print_end(&p);
    assert_string_equal(p.text, "ab    ababc…中… ");
    free(p.text);
}

static void a_bar_is_as_long_as_its_share_and_never_vanishes(void **state)
{
    (void)state;
    struct printed p;
    print_begin(&p, 80);
    screen_bar(&p.screen, STYLE_PLAIN, 0.5, 4);
    str_putc(&p.screen.text, '|');
    screen_bar(&p.screen, STYLE_PLAIN, 0.0001, 4);
    str_putc(&p.screen.text, '|');
    screen_bar(&p.screen, STYLE_PLAIN, 0, 4);
    str_putc(&p.screen.text, '|');
    screen_bar(&p.screen, STYLE_PLAIN, 7, 4);
    str_putc(&p.screen.text, '|');
    p.screen.utf8 = false;
    screen_bar(&p.screen, STYLE_PLAIN, 0.5, 4);
    p.screen.utf8 = true;
    print_end(&p);
    assert_string_equal(p.text, "██  |▏   |    |████|##  ");
    free(p.text);
}

static void text_wraps_at_blanks_and_between_chinese_characters(void **state)
{
    (void)state;
    struct printed p;
    print_begin(&p, 12);
    screen_wrap(&p.screen, STYLE_PLAIN, "one two three four", 0, 2);
    screen_wrap(&p.screen, STYLE_PLAIN, "内核在运行，拷贝被掩盖。", 0, 0);
    screen_wrap(&p.screen, STYLE_PLAIN, "word_longer_than_a_line end", 0, 2);
    print_end(&p);
    assert_string_equal(p.text, "one two\n  three four\n"
                                "内核在运行，\n拷贝被掩盖。\n"
                                "word_longer_\n  than_a_lin\n  e end\n");
    free(p.text);
}

static void a_terminal_without_utf8_gets_ascii_in_the_same_columns(void **state)
{
    (void)state;
    struct printed p;
    print_begin(&p, 80);
    p.screen.utf8 = false;
    screen_cell(&p.screen, STYLE_PLAIN, "1.00 µs", 8, false);
    screen_cell(&p.screen, STYLE_PLAIN, "a…b", 5, false);
    screen_cell(&p.screen, STYLE_PLAIN, "—", 2, false);
    screen_puts(&p.screen, STYLE_PLAIN, "FILE… 2×2 ∆");
    print_end(&p);
    assert_string_equal(p.text, "1.00 us a~b  - FILE... 2x2 ?");
    free(p.text);
}

static void colour_appears_only_where_it_was_asked_for(void **state)
{
    (void)state;
    struct printed p;
    print_begin(&p, 80);
    screen_puts(&p.screen, STYLE_BAD, "a");
    p.screen.color = true;
    screen_puts(&p.screen, STYLE_BAD, "b");
    print_end(&p);
    assert_string_equal(p.text, "a\x1b[31mb\x1b[0m");
    free(p.text);
}

static void tables_fit_every_width_in_both_languages(void **state)
{
    struct made *m = *state;
    for (int width = SCREEN_WIDTH_MIN; width <= 160; width += 7) {
        for (int lang = LANG_EN; lang <= LANG_ZH; lang++) {
            struct printed p;
            i18n_set((enum lang)lang);
            print_begin(&p, width);
            text_report(&p.screen, &m->report,
                        &(struct view_options){.sections = SECTIONS_ALL, .limit = UNKNOWN});
            text_report(&p.screen, &m->report, &(struct view_options){.limit = UNKNOWN});
            print_end(&p);
            i18n_set(LANG_EN);
            assert_in_range(widest_line(p.text), 1, width);
            free(p.text);
        }
    }
}

static void columns_unknown_everywhere_and_the_only_device_are_not_shown(void **state)
{
    struct made *m = *state;
    struct printed p;
    print_begin(&p, 200);
    table_print(&p.screen, &sections[SECTION_KERNELS], &m->report,
                &(struct table_options){.limit = 10, .max_rank = RANK_ALL});
    print_end(&p);
    assert_non_null(strstr(p.text, "median"));
    assert_null(strstr(p.text, "grid"));
    assert_null(strstr(p.text, "SM fill"));
    assert_null(strstr(p.text, "device"));
    free(p.text);
}

static void small_accounts_are_one_line_and_nothing_is_lost(void **state)
{
    struct made *m = *state;
    struct printed p;
    print_begin(&p, 100);
    text_report(&p.screen, &m->report, &(struct view_options){.limit = UNKNOWN});
    print_end(&p);
    assert_non_null(strstr(p.text, "idle: host sync   697 ns  69.7 %"));
    assert_non_null(strstr(p.text, "the rest            3 ns  0.30 %"));
    assert_null(strstr(p.text, "queue full"));
    free(p.text);
}

/* ---- machine output ------------------------------------------------------------------------------------ */

static char *machine_output(struct made *m,
                            void (*print)(FILE *, const struct report *, const struct view_options *),
                            uint64_t wanted, int64_t limit)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    print(out, &m->report, &(struct view_options){.sections = wanted, .limit = limit});
    fclose(out);
    return text;
}

static void json_is_the_same_in_every_language(void **state)
{
    struct made *m = *state;
    char *english = machine_output(m, json_report, 0, UNKNOWN);
    i18n_set(LANG_ZH);
    char *chinese = machine_output(m, json_report, 0, UNKNOWN);
    i18n_set(LANG_EN);
    assert_string_equal(english, chinese);
    free(english);
    free(chinese);
}

static void json_gives_unknown_values_as_null_with_a_reason(void **state)
{
    struct made *m = *state;
    char *text = machine_output(m, json_report, SECTION_BIT(SECTION_KERNELS), UNKNOWN);
    assert_non_null(strstr(text, "\"grid\": null"));
    assert_non_null(strstr(text, "\"grid_why\": \"the recording holds no launch configuration\""));
    free(text);
}

static void json_says_how_many_rows_were_left_out(void **state)
{
    struct made *m = *state;
    char *text = machine_output(m, json_report, SECTION_BIT(SECTION_KERNELS), 1);
    assert_non_null(strstr(text, "\"kernels_omitted\": 1"));
    free(text);
    text = machine_output(m, json_report, SECTION_BIT(SECTION_KERNELS), UNKNOWN);
    assert_null(strstr(text, "omitted"));
    free(text);
}

static void moments_for_machines_count_from_the_window(void **state)
{
    struct made *m = *state;
    char *text = machine_output(m, csv_report, SECTION_BIT(SECTION_STEPS), 1);
    assert_non_null(strstr(text, "\r\n2,,100,150,50,"));
    free(text);
}

static void csv_quotes_and_disarms_text(void **state)
{
    struct made *m = *state;
    m->report.kernels.at[0].name = intern_puts(&m->made.run.strings, "f<a, \"b\">");
    m->report.kernels.at[0].short_name = "=1+1";
    char *text = machine_output(m, csv_report, SECTION_BIT(SECTION_KERNELS), 1);
    assert_non_null(strstr(text, "\r\n\"f<a, \"\"b\"\">\",\"'=1+1\",4000000,0.5,2,1,2000000,4000000,,,"));
    free(text);
}

static void csv_names_its_sections_when_there_are_several(void **state)
{
    struct made *m = *state;
    char *text =
        machine_output(m, csv_report, SECTION_BIT(SECTION_KERNELS) | SECTION_BIT(SECTION_LOSSES), UNKNOWN);
    assert_ptr_equal(strstr(text, "# kernels\r\nname,"), text);
    assert_non_null(strstr(text, "\r\n\r\n# losses\r\nloss,count\r\ndropped,0\r\n"));
    free(text);
    text = machine_output(m, csv_report, SECTION_BIT(SECTION_LOSSES), UNKNOWN);
    assert_ptr_equal(strstr(text, "loss,count\r\n"), text);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_section_is_named_and_titled_and_its_columns_are_sound),
        TEST(cells_carry_the_value_of_their_row),
        TEST(what_nobody_knows_is_an_unknown_cell_that_says_why),
        TEST(names_cannot_drive_the_terminal),
        TEST(paths_lose_their_middle_and_keep_both_ends),
        TEST(when_rows_must_go_the_heaviest_stay),
        TEST(rows_that_stay_keep_their_order_unless_weight_decides),
        TEST(a_cell_is_padded_or_cut_to_its_width),
        TEST(a_bar_is_as_long_as_its_share_and_never_vanishes),
        TEST(text_wraps_at_blanks_and_between_chinese_characters),
        TEST(a_terminal_without_utf8_gets_ascii_in_the_same_columns),
        TEST(colour_appears_only_where_it_was_asked_for),
        TEST(tables_fit_every_width_in_both_languages),
        TEST(columns_unknown_everywhere_and_the_only_device_are_not_shown),
        TEST(small_accounts_are_one_line_and_nothing_is_lost),
        TEST(json_is_the_same_in_every_language),
        TEST(json_gives_unknown_values_as_null_with_a_reason),
        TEST(json_says_how_many_rows_were_left_out),
        TEST(moments_for_machines_count_from_the_window),
        TEST(csv_quotes_and_disarms_text),
        TEST(csv_names_its_sections_when_there_are_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
