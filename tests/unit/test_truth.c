/* The findings on recordings of planted bottlenecks: the first one must be a right answer.
 * tests/samples/torch/ truth.tsv says which are; recordings that lie only in ../shared are used where that
 * folder is present. */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/analyze.h"
#include "base/i18n.h"
#include "import/import.h"

static bool accepted(const char *list, const char *id)
{
    size_t length = strlen(id);
    for (const char *at = list; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, id, length) == 0 && strchr("|\t\n", at[length]))
            return true;
    return false;
}

static void sums_are_exact(const struct report *report)
{
    vec_each (&report->devices, ledger) {
        int64_t sum = 0, busy = 0;
        for (int a = 0; a < ACCOUNT_COUNT; a++) {
            sum += ledger->ledger_ns[a];
            busy += a < ACCOUNT_BUSY_COUNT ? ledger->ledger_ns[a] : 0;
        }
        assert_int_equal(sum, ledger->wall_ns);
        assert_int_equal(busy, ledger->busy_ns);
    }
}

/* Returns whether the top finding of the recording is on the list; prints what it is when not. */
static bool right_answer(const char *path, const char *list)
{
    struct run run;
    struct report report;
    struct err err = {0};
    run_init(&run);
    if (import_file(&run, path, NULL, &(struct import_options){0}, &err) != 0)
        fail_msg("%s: %s", path, err.what);
    assert_int_equal(run.losses.malformed, 0);
    run_seal(&run);
    report_build(&report, &run, NULL);
    sums_are_exact(&report);
    assert_true(report.findings.count > 0);
    const char *id = report.findings.at[0].id;
    bool right = accepted(list, id);
    if (!right)
        print_message("%s: found %s, expected %s", path, id, list);
    report_release(&report);
    run_release(&run);
    return right;
}

static void the_top_finding_of_every_planted_bottleneck_is_a_right_one(void **state)
{
    (void)state;
    FILE *truth = fopen(SAMPLES "/torch/truth.tsv", "r");
    assert_non_null(truth);
    char line[1024], path[1400];
    int count = 0, wrong = 0;
    assert_non_null(fgets(line, sizeof line, truth)); /* the heading */
    while (fgets(line, sizeof line, truth)) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        snprintf(path, sizeof path, "%s/torch/%s.json.gz", SAMPLES, line);
        if (access(path, R_OK) != 0)
            snprintf(path, sizeof path, "%s/../../../shared/data/torch/%s.json.gz", SAMPLES, line);
        if (access(path, R_OK) != 0)
            continue;
        count++;
        wrong += !right_answer(path, tab + 1);
    }
    fclose(truth);
    assert_true(count >= 38);
    assert_int_equal(wrong, 0);
}

static void every_finding_has_a_meaning_and_a_unique_id(void **state)
{
    (void)state;
    size_t count;
    const struct finding_info *infos = finding_list(&count);
    assert_true(count >= 28);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(infos[i].meaning) > 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(infos[i].id, infos[k].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_top_finding_of_every_planted_bottleneck_is_a_right_one),
        cmocka_unit_test(every_finding_has_a_meaning_and_a_unique_id),
    };
    return cmocka_run_group_tests_name("truth", tests, NULL, NULL);
}
