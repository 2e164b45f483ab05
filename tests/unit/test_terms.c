/* What explain knows: every metric and reason to wait of our reports, by every name that tools give it. */
#include "cmocka_all.h"

#include <string.h>

#include "analyze/metrics.h"
#include "cmd/terms.h"

static void every_metric_is_explained(void **state)
{
    (void)state;
    for (int id = 0; id < METRIC_COUNT; id++) {
        const struct term *term = term_find(metric_infos[id].key);
        if (!term)
            fail_msg("no entry for %s", metric_infos[id].key);
        assert_string_equal(term->kind, "metric");
    }
}

static void every_reason_to_wait_is_explained(void **state)
{
    (void)state;
    for (int i = 0; i < STALL_COUNT; i++) {
        const struct term *term = term_find(stall_keys[i]);
        if (!term)
            fail_msg("no entry for %s", stall_keys[i]);
        assert_string_equal(term->kind, "stall");
        assert_string_equal(term->terms, stall_keys[i]);
    }
}

static void every_entry_is_in_both_languages(void **state)
{
    (void)state;
    for (const struct term *term = terms; term->kind; term++) {
        assert_true(*term->terms && *term->english && *term->chinese);
        assert_true(!*term->english_action == !*term->chinese_action);
        assert_true(!*term->formula == !*term->chinese_formula);
        if (!strchr(term->terms, ' '))
            assert_ptr_equal(term_find(term->terms), term); /* no name stands for two things */
    }
}

static void assert_explains(const char *asked, const char *first)
{
    const struct term *term = term_find(asked);
    if (!term)
        fail_msg("no entry for %s", asked);
    size_t length = strcspn(term->terms, " ");
    if (strlen(first) != length || memcmp(term->terms, first, length) != 0)
        fail_msg("%s is explained as %s", asked, term->terms);
}

static void names_of_all_tools_lead_there(void **state)
{
    (void)state;
    assert_explains("sm__throughput…", "compute_throughput_ratio");
    assert_explains("sm__throughput...", "compute_throughput_ratio");
    assert_explains("sm__throughput.avg.pct_of_peak_sustained_elapsed", "compute_throughput_ratio");
    assert_explains("gld_efficiency", "global_load_requests");
    assert_explains("gst_transactions", "global_store_requests");
    assert_explains("achieved_occupancy", "achieved_occupancy_ratio");
    assert_explains("l1tex__t_sector_hit_rate.pct", "l1_hit_ratio");
    assert_explains("dram__bytes_read.sum", "dram_read_bytes");
    assert_explains("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
                    "long_scoreboard");
    assert_explains("smsp__pcsamp_warps_issue_stalled_no_instructions", "no_instruction");
    assert_explains("stall_memory_dependency", "long_scoreboard");
    assert_explains("CTA", "block");
    assert_explains("Bank Conflict", "bank-conflict");
    assert_explains("tail effect", "wave");
    assert_explains("sectors", "sector");
    assert_explains("Stall Long Scoreboard", "long_scoreboard");
    assert_explains("L1/TEX Hit Rate", "l1_hit_ratio");
    assert_explains("占用率", "achieved_occupancy_ratio");
}

static void no_name_stands_for_two_terms(void **state)
{
    (void)state;
    for (const struct term *term = terms; term->kind; term++) {
        char names[512], *rest = names;
        if (*term->kind != 't')
            continue;
        assert_true(strlen(term->also) < sizeof names);
        memcpy(names, term->also, strlen(term->also) + 1);
        for (char *name; (name = strsep(&rest, " "));)
            if (*name && term_find(name) != term)
                fail_msg("%s is said of %s, too", name, term->terms);
    }
}

static void what_is_not_known_is_not_guessed(void **state)
{
    (void)state;
    char endless[4096];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(term_find(endless));
    assert_null(term_find(""));
    assert_null(term_find("..."));
    assert_null(term_find("nonsense"));
    assert_null(term_find("s"));
    assert_null(term_find("stall_"));
    assert_null(term_find("cycles")); /* a word of many formulas */
    assert_null(term_find("sm__no_such_counter.sum"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_explained),
        cmocka_unit_test(every_reason_to_wait_is_explained),
        cmocka_unit_test(every_entry_is_in_both_languages),
        cmocka_unit_test(names_of_all_tools_lead_there),
        cmocka_unit_test(no_name_stands_for_two_terms),
        cmocka_unit_test(what_is_not_known_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
