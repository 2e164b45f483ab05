/* counter_unit(): what Nsight Compute prints beside a name, for every name that is known, but for meant ones.
 */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/counter_unit.h"

enum { NAME, THEIRS, OURS, FIELDS };

static void every_known_name_has_the_unit_of_the_golden_file(void **state)
{
    (void)state;
    FILE *file = fopen(SAMPLES "/../golden/counter_units.tsv", "r");
    assert_non_null(file);
    char *line = NULL;
    size_t size = 0, count = 0, different = 0;
    for (ssize_t length; (length = getline(&line, &size, file)) > 0;) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *rest = line, *fields[FIELDS];
        for (int i = 0; i < FIELDS; i++)
            fields[i] = strsep(&rest, "\t");
        assert_non_null(fields[THEIRS]);
        const char *expected = fields[OURS] ? fields[OURS] : fields[THEIRS],
                   *unit = counter_unit(fields[NAME]);
        if (strcmp(*unit ? unit : "-", expected) != 0)
            fail_msg("%s: %s, not %s", fields[NAME], *unit ? unit : "-", expected);
        different += fields[OURS] != NULL;
        count++;
    }
    assert_true(count > 1200);
    assert_true(different < 160);
    free(line);
    fclose(file);
}

static void the_rollup_and_the_prefix_of_a_group_do_not_matter(void **state)
{
    (void)state;
    static const char *const rollups[] = {"avg", "sum", "min", "max"};
    for (size_t i = 0; i < sizeof rollups / sizeof *rollups; i++) {
        char name[96];
        snprintf(name, sizeof name, "TPC.TriageCompute.sm__cycles_active.%s", rollups[i]);
        assert_string_equal(counter_unit(name), "cycle");
        snprintf(name, sizeof name, "dram__bytes_read.%s.per_second", rollups[i]);
        assert_string_equal(counter_unit(name), "byte/s");
    }
}

static void what_is_no_counter_has_no_unit(void **state)
{
    (void)state;
    assert_string_equal(counter_unit(""), "");
    assert_string_equal(counter_unit("gld_efficiency"), "");
    assert_string_equal(counter_unit("Launch Statistics/Waves Per SM"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_known_name_has_the_unit_of_the_golden_file),
        cmocka_unit_test(the_rollup_and_the_prefix_of_a_group_do_not_matter),
        cmocka_unit_test(what_is_no_counter_has_no_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
