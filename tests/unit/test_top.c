/* The screen of top, read from the canvas: what a person sees. The frames are in tests/golden/top;
 * WARPLIGHT_UPDATE=1 writes them anew. */
#include "cmocka_all.h"

#include <stdlib.h>
#include <time.h>

#include "base/i18n.h"
#include "make_machine.h"
#include "view/chart.h"
#include "view/top.h"

/* ---- a screen --------------------------------------------------------------------------------------------
 */

static const struct top_help keys[] = {{N_("what to look at"), NULL, NULL},
                                       {"h ?", N_("this help"), N_("help")},
                                       {"w", N_("why values of what is chosen are not known"), N_("why")},
                                       {"q", N_("quit"), N_("quit")},
                                       {0}};
static const struct top_signal signals[] = {
    {15, "SIGTERM", N_("asks it to end")}, {9, "SIGKILL", N_("ends it at once; it cannot tidy up")}, {0}};

struct shown {
    struct machine_sample sample;
    struct history history;
    struct top_list list;
    struct canvas canvas;
    struct top_view view;
};

static void begin(struct shown *s, int rows, int columns)
{
    *s = (struct shown){0};
    s->canvas.utf8 = true;
    canvas_clear(&s->canvas, rows, columns);
    s->view = (struct top_view){.sample = &s->sample, .history = &s->history, .list = &s->list};
    s->view.settings = (struct top_settings){.interval_ns = 1000000000, .sort = TOP_SORT_MEMORY};
    s->view.help = keys;
    s->view.signals = signals;
    s->view.typed = "";
    make_machine_host(&s->sample);
}

static void end(struct shown *s)
{
    machine_sample_release(&s->sample);
    history_clear(&s->history);
    top_list_release(&s->list);
    canvas_release(&s->canvas);
}

/* That many GPUs, as they were for two minutes. */
static void add_gpus(struct shown *s, int count)
{
    enum { MOMENTS = 120 };
    for (int moment = 0; moment < MOMENTS; moment++) {
        s->sample.devices.count = 0;
        for (int i = 0; i < count; i++)
            make_machine_gpu(&s->sample, i, moment);
        history_push(&s->history, &s->sample);
    }
}

static void add_processes(struct shown *s)
{
    struct machine_process *p =
        make_machine_process(&s->sample, 0, 4242, 1, "ann", "python3 train.py --model 大模型 --epochs 30");
    snprintf(p->job, sizeof p->job, "4711.0");
    make_machine_process(&s->sample, 0, 4250, 4242, "ann", "python3 loader.py");
    make_machine_process(&s->sample, 0, 900, 1, "root", "nvidia-persistenced --verbose");
    p = make_machine_process(&s->sample, s->sample.devices.count > 1, 5151, 1, "bob", "serve --port 8000");
    snprintf(p->pod, sizeof p->pod, "6e2b0a1c-1111-4222-8333-944455556666");
    p->sm = reading_missing(READING_NO_PERMISSION);
    p = make_machine_process(&s->sample, 0, 77, UNKNOWN, "", "");
    p->state = READING_NO_PERMISSION;
    p->start_unix_ns = UNKNOWN;
    p->cpu = p->host_memory = reading_missing(READING_NO_PERMISSION);
}

static void draw(struct shown *s)
{
    top_list_build(&s->list, &s->sample, &s->view.settings, s->view.filter);
    top_draw(&s->canvas, &s->view);
}

static void read_golden(struct str *out, const char *path)
{
    char buffer[4096];
    FILE *file = fopen(path, "r");
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_add(out, buffer, n);
    if (file)
        fclose(file);
}

static void assert_golden(struct shown *s, const char *name)
{
    struct str path = {0}, expected = {0}, real = {0};
    str_addf(&path, SAMPLES "/../golden/top/%s.txt", name);
    draw(s);
    canvas_dump(&s->canvas, &real);
    if (getenv("WARPLIGHT_UPDATE")) {
        FILE *file = fopen(str_text(&path), "w");
        assert_non_null(file);
        fwrite(str_text(&real), 1, real.len, file);
        fclose(file);
    }
    read_golden(&expected, str_text(&path));
    if (strcmp(str_text(&expected), str_text(&real)) != 0)
        print_message("%s:\n%s", name, str_text(&real));
    assert_string_equal(str_text(&real), str_text(&expected));
    str_release(&path);
    str_release(&expected);
    str_release(&real);
    end(s);
}

static bool shows(const struct shown *s, const char *text)
{
    struct str all = {0};
    canvas_dump(&s->canvas, &all);
    bool found = strstr(str_text(&all), text);
    str_release(&all);
    return found;
}

/* ---- frames ----------------------------------------------------------------------------------------------
 */

static void one_gpu_has_gauges_a_chart_and_its_processes(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 1);
    add_processes(&s);
    assert_golden(&s, "one-80x24");
}

/* Read by people who do not know it yet: README.md, README.zh-CN.md. */
static void the_screens_of_the_readme_are_real(void **state)
{
    struct shown s;
    (void)state;
    for (int lang = LANG_EN; lang <= LANG_ZH; lang++) {
        i18n_set((enum lang)lang);
        begin(&s, 28, 96);
        add_gpus(&s, 2);
        add_processes(&s);
        s.sample.processes.count--;
        assert_golden(&s, lang == LANG_ZH ? "readme-zh" : "readme");
    }
    i18n_set(LANG_EN);
}

static void the_same_stands_there_in_chinese(void **state)
{
    struct shown s;
    (void)state;
    i18n_set(LANG_ZH);
    begin(&s, 24, 80);
    add_gpus(&s, 1);
    add_processes(&s);
    assert_golden(&s, "one-80x24-zh");
    i18n_set(LANG_EN);
}

static void ascii_alone_holds_no_other_character(void **state)
{
    struct shown s;
    struct str all = {0};
    (void)state;
    begin(&s, 24, 80);
    s.canvas.utf8 = false;
    add_gpus(&s, 1);
    add_processes(&s);
    draw(&s);
    canvas_dump(&s.canvas, &all);
    for (size_t i = 0; i < all.len; i++)
        assert_true((unsigned char)all.ptr[i] < 0x80);
    str_release(&all);
    assert_golden(&s, "one-80x24-ascii");
}

static void eight_gpus_have_charts_beside_them(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 60, 200);
    add_gpus(&s, 8);
    add_processes(&s);
    assert_golden(&s, "eight-200x60");
}

static void sixteen_gpus_are_lines(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 30, 160);
    add_gpus(&s, 16);
    add_processes(&s);
    assert_golden(&s, "sixteen-160x30");
}

static void a_large_screen_has_a_chart_for_each_of_sixteen_gpus(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 56, 200);
    add_gpus(&s, 16);
    add_processes(&s);
    assert_golden(&s, "sixteen-200x56");
}

static void sixteen_gpus_fit_into_80_columns(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 16);
    add_processes(&s);
    s.view.focus = TOP_FOCUS_GPUS;
    s.view.gpu = 15;
    assert_golden(&s, "sixteen-80x24");
}

static void every_state_says_why_there_is_no_value(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 40, 100);
    add_gpus(&s, 5);
    s.sample.devices.at[0].state = READING_ASLEEP;
    s.sample.devices.at[1].state = READING_LOST;
    s.sample.devices.at[2].state = READING_STALE;
    s.sample.devices.at[2].sample.power.state = READING_STALE;
    s.sample.devices.at[3].sample.power = reading_missing(READING_NO_PERMISSION);
    s.sample.devices.at[3].detail.sm_active = reading_missing(READING_UNSUPPORTED);
    s.sample.devices.at[4].sample.temperature = reading_of(88);
    s.sample.devices.at[4].detail.heat = reading_of(333);
    s.sample.devices.at[3].detail.pcie_link = reading_of(GPU_LINK_NARROW);
    s.sample.devices.at[3].sample.remap_pending = reading_of(1);
    s.sample.sources[0].state = READING_NO_ANSWER;
    s.sample.sources[0].since_unix_ns = MADE_TIME - INT64_C(7000000000);
    s.sample.devices.at[1].detail.memory_unseen = reading_of(INT64_C(3) << 30);
    assert_golden(&s, "states-100x40");
}

static void no_gpu_is_an_answer(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 16, 80);
    s.sample.sources[0] = (struct machine_source){.name = "NVML", .state = READING_NO_DRIVER};
    assert_golden(&s, "none-80x16");
}

static void small_terminals_show_what_fits(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 10, 40);
    add_gpus(&s, 2);
    add_processes(&s);
    assert_golden(&s, "two-40x10");
    for (int rows = 1; rows < 30; rows += 2)
        for (int columns = 1; columns < 140; columns += 7)
            for (int window = TOP_WINDOW_NONE; window <= TOP_WINDOW_CONFIRM; window++) {
                begin(&s, rows, columns);
                make_machine_gpu(&s.sample, 0, 5);
                make_machine_gpu(&s.sample, 1, 6);
                history_push(&s.history, &s.sample);
                add_processes(&s);
                s.view.window = (enum top_window)window;
                s.view.confirm_command = s.view.confirm_user = "x";
                s.view.confirm_start_unix_ns = MADE_TIME;
                draw(&s);
                assert_int_equal(s.canvas.rows, rows);
                end(&s);
            }
}

static void a_replay_says_where_it_stands(void **state)
{
    struct shown s;
    const struct top_replay replay = {.frame = 29,
                                      .frames = 120,
                                      .first_ns = MADE_TIME - INT64_C(29000000000),
                                      .last_ns = MADE_TIME + INT64_C(90000000000),
                                      .speed_hundredths = 200,
                                      .name = "night.wlt"};
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 1);
    s.view.replay = &replay;
    s.view.paused = true;
    assert_golden(&s, "replay-80x24");
}

/* ---- windows ---------------------------------------------------------------------------------------------
 */

static void the_reason_of_each_value_is_a_key_away(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 30, 90);
    add_gpus(&s, 1);
    s.sample.devices.at[0].sample.power = reading_missing(READING_NO_PERMISSION);
    s.view.focus = TOP_FOCUS_GPUS;
    s.view.window = TOP_WINDOW_WHY;
    assert_golden(&s, "why-90x30");
}

static void errors_stand_at_the_top_and_in_a_window(void **state)
{
    static const struct top_event events[] = {
        {MADE_TIME - INT64_C(900000000000), "GPU 0: Xid 31, python3 (4711)"},
        {MADE_TIME - INT64_C(7000000000), "GPU 0: Xid 79"}};
    struct shown s;
    (void)state;
    begin(&s, 24, 90);
    add_gpus(&s, 1);
    s.view.events = events;
    s.view.event_count = 1; /* long ago */
    draw(&s);
    assert_false(shows(&s, "Xid 31"));
    s.view.event_count = 2;
    draw(&s);
    assert_true(shows(&s, "14:13:13 GPU 0: Xid 79"));
    s.view.window = TOP_WINDOW_EVENTS;
    draw(&s);
    assert_true(shows(&s, "13:58:20  GPU 0: Xid 31, python3 (4711)"));
    s.view.event_count = 0;
    draw(&s);
    assert_true(shows(&s, "none since this program began to look"));
    end(&s);
}

static void help_and_values_are_windows(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 90);
    add_gpus(&s, 1);
    s.view.window = TOP_WINDOW_HELP;
    assert_golden(&s, "help-90x24");
    begin(&s, 30, 90);
    add_gpus(&s, 1);
    add_processes(&s);
    s.view.window = TOP_WINDOW_VALUES;
    assert_golden(&s, "values-90x30");
}

static void a_window_scrolls_to_its_end_and_no_further(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 20, 90);
    add_gpus(&s, 1);
    s.view.focus = TOP_FOCUS_GPUS;
    s.view.window = TOP_WINDOW_VALUES;
    s.view.window_first = 1000000;
    draw(&s);
    assert_true(shows(&s, _("virtualization")));
    assert_false(shows(&s, "UUID"));
    s.view.window_first = 0;
    draw(&s);
    assert_true(shows(&s, "UUID"));
    end(&s);
}

static void a_signal_asks_first_with_pid_and_command(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 1);
    add_processes(&s);
    s.view.window = TOP_WINDOW_CONFIRM;
    s.view.signal = 1;
    s.view.confirm_pid = 4242;
    s.view.confirm_start_unix_ns = MADE_TIME;
    s.view.confirm_command = "python3 train.py";
    s.view.confirm_user = "ann";
    assert_golden(&s, "confirm-80x24");
}

/* ---- the list --------------------------------------------------------------------------------------------
 */

static void assert_pids(struct shown *s, const char *filter, const char *expected)
{
    struct str pids = {0};
    top_list_build(&s->list, &s->sample, &s->view.settings, filter);
    vec_each (&s->list.entries, entry)
        str_addf(&pids, "%*s%lld ", entry->depth, "", (long long)s->sample.processes.at[entry->process].pid);
    assert_string_equal(str_text(&pids), expected);
    str_release(&pids);
}

static void processes_are_sorted_by_any_column_both_ways(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 2);
    add_processes(&s);
    assert_pids(&s, "", "5151 900 4250 77 4242 ");
    s.view.settings.reversed = true;
    assert_pids(&s, "", "77 4242 4250 900 5151 ");
    s.view.settings.reversed = false;
    s.view.settings.sort = TOP_SORT_PID;
    assert_pids(&s, "", "77 900 4242 4250 5151 ");
    s.view.settings.sort = TOP_SORT_USER;
    assert_pids(&s, "", "77 4242 4250 5151 900 ");
    s.view.settings.sort = TOP_SORT_SM; /* what is not known comes last */
    assert_pids(&s, "", "900 4242 4250 77 5151 ");
    s.view.settings.sort = TOP_SORT_GPU;
    assert_pids(&s, "", "77 900 4242 4250 5151 ");
    s.view.settings.sort = TOP_SORT_COMMAND;
    assert_pids(&s, "", "77 900 4250 4242 5151 ");
    s.view.settings.sort = TOP_SORT_CPU;
    assert_pids(&s, "", "4242 5151 900 4250 77 ");
    end(&s);
}

static void a_filter_takes_words_and_columns(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 2);
    add_processes(&s);
    s.view.settings.sort = TOP_SORT_PID;
    assert_pids(&s, "python3", "4242 4250 ");
    assert_pids(&s, "PYTHON3 train", "4242 ");
    assert_pids(&s, "user:ann", "4242 4250 ");
    assert_pids(&s, "gpu:1", "5151 ");
    assert_pids(&s, "pid:900", "900 ");
    assert_pids(&s, "90", "");
    assert_pids(&s, "job:4711", "4242 ");
    assert_pids(&s, "pod:6e2b", "5151 ");
    assert_pids(&s, "大模型", "4242 ");
    assert_pids(&s, " ann  loader ", "4250 ");
    assert_pids(&s, "user:", "");
    end(&s);
}

static void a_tree_puts_children_under_their_parents(void **state)
{
    struct shown s;
    (void)state;
    begin(&s, 24, 80);
    add_gpus(&s, 2);
    add_processes(&s);
    s.view.settings.sort = TOP_SORT_PID;
    s.view.settings.tree = true;
    assert_pids(&s, "", "77 900 4242  4250 5151 ");
    s.sample.processes.at[0].parent_pid = 4250; /* a ring: both are still there, once */
    assert_pids(&s, "", "77 900 5151 4242 4250 ");
    end(&s);
}

/* ---- history and charts ----------------------------------------------------------------------------------
 */

static void history_keeps_the_newest_and_knows_gaps(void **state)
{
    struct history h = {0};
    struct machine_sample s = {0};
    int32_t values[4];
    (void)state;
    history_take(&h, "GPU-00000000", HISTORY_SM, values, 4);
    assert_int_equal(values[3], HISTORY_GAP);
    for (int moment = 0; moment < HISTORY_POINTS + 3; moment++) {
        s.devices.count = 0;
        make_machine_gpu(&s, moment % 2, moment)->detail.sm_active = reading_of(moment % 1000);
        history_push(&h, &s);
    }
    history_take(&h, "GPU-00000000", HISTORY_SM, values, 4);
    assert_int_equal(values[3], (HISTORY_POINTS + 2) % 1000);
    assert_int_equal(values[2], HISTORY_GAP); /* it was not there */
    assert_int_equal(values[1], HISTORY_POINTS % 1000);
    history_clear(&h);
    machine_sample_release(&s);
}

static void history_is_bounded_however_many_devices_come_and_go(void **state)
{
    struct history h = {0};
    struct machine_sample s = {0};
    int32_t value;
    (void)state;
    for (int number = 0; number < 3 * HISTORY_DEVICES; number++) {
        s.devices.count = 0;
        make_machine_gpu(&s, number, 7);
        history_push(&h, &s);
    }
    assert_int_equal(h.tracks.count, HISTORY_DEVICES);
    history_take(&h, s.devices.at[0].key, HISTORY_TEMPERATURE, &value, 1);
    assert_int_equal(value, 41 + 3 * (3 * HISTORY_DEVICES - 1));
    history_clear(&h);
    machine_sample_release(&s);
}

static void assert_chart(bool utf8, const int32_t *area, const int32_t *line, const char *expected)
{
    struct canvas c = {.utf8 = utf8};
    struct str text = {0};
    canvas_clear(&c, 2, 2);
    chart_draw(&c, &(struct chart){0, 0, 2, 2, 8, area, line});
    canvas_dump(&c, &text);
    assert_string_equal(str_text(&text), expected);
    str_release(&text);
    canvas_release(&c);
}

static void charts_are_as_high_as_their_values(void **state)
{
    const int32_t dots[] = {1, 4, 8, 100}, gaps[] = {CHART_GAP, 0, CHART_GAP, 5}, plain[] = {3, 8};
    const int32_t other[] = {8, 8, 1, 1}, over[] = {6, 1};
    (void)state;
    assert_chart(true, dots, NULL, " ⣿\n⣸⣿\n");
    assert_chart(true, gaps, NULL, " ⢀\n ⢸\n");
    assert_chart(true, gaps, other, "⠉⢀\n ⣸\n");
    assert_chart(false, plain, NULL, " #\n|#\n");
    assert_chart(false, plain, over, "-#\n|#\n");
}

/* ---- the canvas ------------------------------------------------------------------------------------------
 */

static void wide_characters_are_never_halved(void **state)
{
    struct canvas c = {.utf8 = true};
    struct str text = {0};
    (void)state;
    canvas_clear(&c, 1, 6);
    assert_int_equal(canvas_put(&c, 0, 0, 6, INK_PLAIN, "显存"), 4);
    canvas_put(&c, 0, 1, 1, INK_PLAIN, "x"); /* takes a half: the other goes, too */
    canvas_dump(&c, &text);
    assert_string_equal(str_text(&text), " x存\n");
    str_cut(&text, 0);
    canvas_clear(&c, 1, 6);
    assert_int_equal(canvas_put(&c, 0, 0, 4, INK_PLAIN, "显存用"), 3);
    canvas_dump(&c, &text);
    assert_string_equal(str_text(&text), "显…\n");
    canvas_put(&c, 0, 5, 5, INK_PLAIN, "存"); /* no room for it */
    canvas_put(&c, 7, 0, 5, INK_PLAIN, "outside");
    canvas_put(&c, 0, -1, 3, INK_PLAIN, "ab");
    str_cut(&text, 0);
    canvas_dump(&c, &text);
    assert_string_equal(str_text(&text), "b …  …\n");
    str_release(&text);
    canvas_release(&c);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    i18n_set(LANG_EN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gpu_has_gauges_a_chart_and_its_processes),
        cmocka_unit_test(the_same_stands_there_in_chinese),
        cmocka_unit_test(the_screens_of_the_readme_are_real),
        cmocka_unit_test(ascii_alone_holds_no_other_character),
        cmocka_unit_test(eight_gpus_have_charts_beside_them),
        cmocka_unit_test(sixteen_gpus_are_lines),
        cmocka_unit_test(a_large_screen_has_a_chart_for_each_of_sixteen_gpus),
        cmocka_unit_test(sixteen_gpus_fit_into_80_columns),
        cmocka_unit_test(every_state_says_why_there_is_no_value),
        cmocka_unit_test(no_gpu_is_an_answer),
        cmocka_unit_test(small_terminals_show_what_fits),
        cmocka_unit_test(a_replay_says_where_it_stands),
        cmocka_unit_test(the_reason_of_each_value_is_a_key_away),
        cmocka_unit_test(errors_stand_at_the_top_and_in_a_window),
        cmocka_unit_test(help_and_values_are_windows),
        cmocka_unit_test(a_window_scrolls_to_its_end_and_no_further),
        cmocka_unit_test(a_signal_asks_first_with_pid_and_command),
        cmocka_unit_test(processes_are_sorted_by_any_column_both_ways),
        cmocka_unit_test(a_filter_takes_words_and_columns),
        cmocka_unit_test(a_tree_puts_children_under_their_parents),
        cmocka_unit_test(history_keeps_the_newest_and_knows_gaps),
        cmocka_unit_test(history_is_bounded_however_many_devices_come_and_go),
        cmocka_unit_test(charts_are_as_high_as_their_values),
        cmocka_unit_test(wide_characters_are_never_halved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
