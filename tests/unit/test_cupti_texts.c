#include <string.h>

#include "cmocka_all.h"
#include "source/cupti_texts.h"

/* A log as the injected library writes it. */
struct log {
    char bytes[4096];
    uint64_t used;
};

static void add(struct log *log, enum ring_text_kind kind, uint64_t key, const char *text)
{
    struct ring_text entry = {.key = key, .kind = kind, .length = (uint32_t)strlen(text)};
    memcpy(log->bytes + log->used, &entry, sizeof entry);
    memcpy(log->bytes + log->used + sizeof entry, text, entry.length);
    log->used += ring_text_size(entry.length);
}

static const char *at(struct cupti_texts *texts, struct run *run, uint64_t address, uint64_t length)
{
    return run_text(run, cupti_texts_at(texts, address, length, run, "(none)"));
}

static void test_a_reused_address_means_what_lay_there_then(void **state)
{
    (void)state;
    struct log log = {.used = 0};
    struct cupti_texts texts = {0};
    struct run run;
    uint64_t lengths[4];
    run_init(&run);
    static const char *const names[] = {"first", "second", "first", "third"};
    for (int i = 0; i < 4; i++) {
        add(&log, RING_TEXT_POINTER, 0x1000, names[i]);
        add(&log, RING_TEXT_POINTER, 0x2000, "other");
        lengths[i] = log.used;
    }
    cupti_texts_read(&texts, log.bytes, log.used, &run); /* all at once: the collector was late */
    for (int i = 0; i < 4; i++) {
        assert_string_equal(at(&texts, &run, 0x1000, lengths[i]), names[i]);
        assert_string_equal(at(&texts, &run, 0x2000, lengths[i]), "other");
    }
    assert_string_equal(at(&texts, &run, 0x1000, RING_TEXT_BYTES), "third");
    assert_string_equal(at(&texts, &run, 0x3000, RING_TEXT_BYTES), "(none)");
    cupti_texts_release(&texts);
    run_release(&run);
}

static void test_an_incomplete_entry_is_not_read(void **state)
{
    (void)state;
    struct log log = {.used = 0};
    struct cupti_texts texts = {0};
    struct run run;
    run_init(&run);
    add(&log, RING_TEXT_HASH, 7, "whole");
    uint64_t whole = log.used;
    add(&log, RING_TEXT_HASH, 8, "cut");
    cupti_texts_read(&texts, log.bytes, log.used - 1, &run);
    assert_int_equal(texts.read, whole);
    assert_string_equal(run_text(&run, cupti_texts_hashed(&texts, 7, &run, "")), "whole");
    assert_string_equal(run_text(&run, cupti_texts_hashed(&texts, 8, &run, "?")), "?");
    cupti_texts_release(&texts);
    run_release(&run);
}

static void test_calls_are_named_without_their_version(void **state)
{
    (void)state;
    struct log log = {.used = 0};
    struct cupti_texts texts = {0};
    struct run run;
    run_init(&run);
    add(&log, RING_TEXT_RUNTIME, 211, "cudaLaunchKernel_v7000");
    add(&log, RING_TEXT_DRIVER, 211, "cuLaunchKernel");
    cupti_texts_read(&texts, log.bytes, log.used, &run);
    assert_string_equal(run_text(&run, cupti_texts_call(&texts, true, 211, &run)), "cudaLaunchKernel");
    assert_string_equal(run_text(&run, cupti_texts_call(&texts, false, 211, &run)), "cuLaunchKernel");
    assert_string_equal(run_text(&run, cupti_texts_call(&texts, true, 5, &run)), "CUDA runtime call 5");
    cupti_texts_release(&texts);
    run_release(&run);
}

static void test_names_outlive_the_compaction_of_a_run(void **state)
{
    (void)state;
    struct log log = {.used = 0};
    struct cupti_texts texts = {0};
    struct compaction c;
    struct run run;
    run_init(&run);
    intern_puts(&run.strings, "used by a row that fell out");
    add(&log, RING_TEXT_POINTER, 0x1000, "before");
    uint64_t before = log.used;
    add(&log, RING_TEXT_POINTER, 0x1000, "kernel");
    add(&log, RING_TEXT_HASH, 7, "range");
    add(&log, RING_TEXT_CATEGORY, ring_category_key(1, 2), "category");
    add(&log, RING_TEXT_RUNTIME, 211, "cudaLaunchKernel_v7000");
    cupti_texts_read(&texts, log.bytes, log.used, &run);
    uint32_t count = run.strings.count;
    compaction_begin(&c, &run);
    cupti_texts_hold(&texts, &c);
    compaction_apply(&c, &run);
    cupti_texts_hold(&texts, &c);
    compaction_release(&c);
    assert_int_equal(run.strings.count, count - 1);
    assert_string_equal(at(&texts, &run, 0x1000, before), "before");
    assert_string_equal(at(&texts, &run, 0x1000, log.used), "kernel");
    assert_string_equal(run_text(&run, cupti_texts_hashed(&texts, 7, &run, "")), "range");
    assert_string_equal(run_text(&run, cupti_texts_category(&texts, 1, 2, &run)), "category");
    assert_string_equal(run_text(&run, cupti_texts_call(&texts, true, 211, &run)), "cudaLaunchKernel");
    cupti_texts_release(&texts);
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reused_address_means_what_lay_there_then),
        cmocka_unit_test(test_an_incomplete_entry_is_not_read),
        cmocka_unit_test(test_calls_are_named_without_their_version),
        cmocka_unit_test(test_names_outlive_the_compaction_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
