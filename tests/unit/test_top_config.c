/* What top remembers: lines that it knows, lines that it does not, and values that cannot be. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/top_config.h"

static const struct top_settings usual = {.interval_ns = 1000000000, .sort = TOP_SORT_MEMORY, .mouse = true};

static void settings_come_back_as_they_were_written(void **state)
{
    struct top_settings all = {.interval_ns = 200000000,
                               .sort = TOP_SORT_CPU,
                               .reversed = true,
                               .tree = true,
                               .chart = TOP_CHART_NVLINK,
                               .size = TOP_SIZE_COMPACT,
                               .colors = TOP_COLORS_SAFE,
                               .symbols = TOP_SYMBOLS_ASCII};
    struct top_settings back = usual;
    struct str text = {0}, warnings = {0};
    (void)state;
    top_config_merge(&text, "", &all);
    top_config_parse(str_text(&text), &back, &warnings);
    assert_int_equal(warnings.len, 0);
    assert_memory_equal(&back, &all, sizeof all);
    str_release(&text);
}

static void what_is_not_known_stays_where_it_is(void **state)
{
    struct str text = {0};
    (void)state;
    top_config_merge(&text, "# mine\nfuture = 7\n sort=pid\nsort = cpu\nnonsense\n", &usual);
    assert_string_equal(
        str_text(&text),
        "# mine\nfuture = 7\nsort = memory\nnonsense\ninterval = 1000ms\nreverse = off\ntree = off\n"
        "chart = load\ngpus = auto\ncolors = default\nsymbols = auto\nmouse = on\n");
    str_release(&text);
}

static void what_cannot_be_is_said_and_left_out(void **state)
{
    struct top_settings s = usual;
    struct str warnings = {0};
    (void)state;
    top_config_parse("interval = 1ms\nsort = size\ntree = perhaps\nchart = power\r\ncolors =\n= 3\n"
                     "mouse = off\ninterval = 99999999999999999999h\n",
                     &s, &warnings);
    assert_non_null(strstr(str_text(&warnings), "'interval' cannot be '1ms'"));
    assert_non_null(strstr(str_text(&warnings), "'sort' cannot be 'size'"));
    assert_non_null(strstr(str_text(&warnings), "'tree' cannot be 'perhaps'"));
    assert_non_null(strstr(str_text(&warnings), "'colors' cannot be ''"));
    assert_int_equal(s.interval_ns, usual.interval_ns);
    assert_int_equal(s.sort, usual.sort);
    assert_int_equal(s.chart, TOP_CHART_POWER);
    assert_false(s.mouse);
    str_release(&warnings);
}

/* ---- the file --------------------------------------------------------------------------------------------
 */

static void read_all(struct str *out, const char *path)
{
    char buffer[1024];
    FILE *file = fopen(path, "r");
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_add(out, buffer, n);
    if (file)
        fclose(file);
}

static void the_file_is_made_when_a_setting_changes(void **state)
{
    char folder[] = "/tmp/warplight-top-XXXXXX";
    struct top_config config = {0};
    struct top_settings s = usual;
    struct str warnings = {0}, text = {0}, path = {0};
    struct err err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    top_config_load(&config, &s, &warnings);
    str_addf(&path, "%s/warplight/top.conf", folder);
    assert_string_equal(str_text(&config.path), str_text(&path));
    assert_int_equal(top_config_save(&config, &s, &err), 0);
    assert_int_not_equal(access(str_text(&path), F_OK), 0); /* nothing changed: nothing is written */
    s.tree = true;
    assert_int_equal(top_config_save(&config, &s, &err), 0);
    read_all(&text, str_text(&path));
    assert_non_null(strstr(str_text(&text), "tree = on\n"));
    top_config_release(&config);
    config = (struct top_config){0};
    s = usual;
    top_config_load(&config, &s, &warnings);
    assert_true(s.tree);
    top_config_release(&config);
    unlink(str_text(&path));
    str_cut(&path, path.len - strlen("/top.conf"));
    rmdir(str_text(&path));
    assert_int_equal(rmdir(folder), 0); /* no temporary file was left */
    str_release(&text);
    str_release(&path);
}

static void what_the_command_line_asked_for_is_not_kept_and_a_link_stays_one(void **state)
{
    char folder[] = "/tmp/warplight-top-XXXXXX";
    struct top_config config = {0};
    struct top_settings s = usual;
    struct str warnings = {0}, text = {0}, path = {0}, real = {0};
    struct err err = {0};
    struct stat status;
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    str_addf(&path, "%s/warplight", folder);
    assert_int_equal(mkdir(str_text(&path), 0700), 0);
    str_puts(&path, "/top.conf");
    str_addf(&real, "%s/mine.conf", folder);
    FILE *file = fopen(str_text(&real), "w");
    assert_non_null(file);
    fputs("interval = 2000ms\n", file);
    fclose(file);
    assert_int_equal(symlink("../mine.conf", str_text(&path)), 0);

    top_config_load(&config, &s, &warnings);
    s.interval_ns = INT64_C(5000000000);
    config.begun = s;
    assert_int_equal(top_config_save(&config, &s, &err), 0);
    s.tree = true;
    assert_int_equal(top_config_save(&config, &s, &err), 0);
    read_all(&text, str_text(&real));
    assert_non_null(strstr(str_text(&text), "interval = 2000ms\n"));
    assert_non_null(strstr(str_text(&text), "tree = on\n"));
    assert_int_equal(lstat(str_text(&path), &status), 0);
    assert_true(S_ISLNK(status.st_mode));

    top_config_release(&config);
    unlink(str_text(&path));
    unlink(str_text(&real));
    str_cut(&path, path.len - strlen("/top.conf"));
    rmdir(str_text(&path));
    assert_int_equal(rmdir(folder), 0);
    str_release(&text);
    str_release(&path);
    str_release(&real);
}

static void a_folder_that_cannot_be_made_is_an_error_with_its_name(void **state)
{
    struct top_config config = {0};
    struct top_settings s = usual;
    struct str warnings = {0};
    struct err err = {0};
    (void)state;
    setenv("XDG_CONFIG_HOME", "/proc/none", 1);
    top_config_load(&config, &s, &warnings);
    s.tree = true;
    assert_true(top_config_save(&config, &s, &err) < 0);
    assert_string_equal(err.where, "/proc/none/warplight/top.conf");
    top_config_release(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_back_as_they_were_written),
        cmocka_unit_test(what_is_not_known_stays_where_it_is),
        cmocka_unit_test(what_cannot_be_is_said_and_left_out),
        cmocka_unit_test(the_file_is_made_when_a_setting_changes),
        cmocka_unit_test(what_the_command_line_asked_for_is_not_kept_and_a_link_stays_one),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error_with_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
