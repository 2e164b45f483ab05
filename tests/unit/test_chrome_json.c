/* What the Chrome importer makes of damaged documents and impossible times. */
#include "chrome_trace.h"

#include "base/mem.h"

/* ---- times that are wrong ---------------------------------------------------------------------------- */

static void import_timed(struct run *run, const char *times)
{
    struct str event = {0};
    str_addf(&event,
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7%s,\"args\":{\"device\":0,"
             "\"stream\":7}}",
             times);
    import_events(run, event.ptr);
    str_release(&event);
}

static void test_records_without_a_time_are_counted(void **state)
{
    (void)state;
    static const char *const wrong[] = {",\"ts\":0,\"dur\":0",
                                        ",\"ts\":0.000,\"dur\":0.000",
                                        ",\"dur\":5",
                                        ",\"ts\":1e30,\"dur\":1",
                                        ",\"ts\":NaN,\"dur\":1",
                                        ",\"ts\":1,\"dur\":1e18",
                                        ",\"ts\":1,\"dur\":18446744073709551000",
                                        ",\"ts\":\"never\",\"dur\":1",
                                        ",\"ts\":null,\"dur\":1",
                                        ",\"ts\":[1],\"dur\":1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run;
        import_timed(&run, wrong[i]);
        assert_int_equal(run.ops.count, 0);
        assert_int_equal(run.losses.untimed, 1);
        run_release(&run);
    }
}

static void test_negative_durations_become_zero_and_are_reported(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":5,\"dur\":-2");
    assert_int_equal(run.ops.start[0], 5000);
    assert_int_equal(run.ops.end[0], 5000);
    assert_int_equal(repairs(&run, "negative durations"), 1);
    assert_int_equal(run.losses.untimed, 0);
    run_release(&run);
}

static void test_a_missing_duration_is_a_moment(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":5");
    assert_int_equal(run.ops.end[0], 5000);
    assert_int_equal(repairs(&run, "without a duration"), 1);
    run_release(&run);
}

static void test_zero_length_work_at_a_real_time_is_kept(void **state)
{
    (void)state;
    struct run run;
    import_timed(&run, ",\"ts\":7,\"dur\":0");
    assert_int_equal(run.ops.count, 1);
    assert_int_equal(run.losses.untimed, 0);
    run_release(&run);
}

/* ---- documents that are wrong ------------------------------------------------------------------------ */

static void test_unescaped_quotes_in_names(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, OP("one") "," OP("foo(\"a\", \"b\")") "," OP("say \"hi\"") "," OP("four"));
    assert_int_equal(run.spans.count, 4);
    assert_name(&run, run.spans.name[1], "foo(\"a\", \"b\")");
    assert_name(&run, run.spans.name[2], "say \"hi\"");
    assert_name(&run, run.spans.name[3], "four");
    assert_int_equal(run.spans.id[3], 1);
    assert_int_equal(repairs(&run, "unescaped quotes"), 2);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_a_hopeless_event_costs_only_itself(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{\"ph\": \"X\", \"name\": never}",
        "{\"ph\": \"X\", \"name\": \"a\" \"b\" \"c\"",
        "{\"ph\": \"X\", \"name\": \"unterminated, \"pid\": 1",
        "{\"ph\" \"X\"}",
        "{\"ph\": \"X\", \"args\": {\"a\": [1, 2}}",
        "{\"ph\": \"X\", \"args\": [[[[[[}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run;
        struct str events = {0};
        str_addf(&events, OP("one") ", %s, " OP("two") ", " OP("three"), wrong[i]);
        import_events(&run, events.ptr);
        assert_int_equal(run.spans.count, 3);
        assert_name(&run, run.spans.name[1], "two");
        assert_name(&run, run.spans.name[2], "three");
        assert_int_equal(run.losses.malformed, 1);
        assert_int_equal(run.losses.truncated_bytes, 0);
        const struct repair *repair = &run.sources.at[0].repairs.at[0];
        assert_int_equal(repair->first_offset,
                         strlen("{\"schemaVersion\": 1, \"traceEvents\": [") + strlen(OP("one") ", "));
        str_release(&events);
        run_release(&run);
    }
}

static void test_junk_between_events_costs_nothing(void **state)
{
    (void)state;
    static const char *const junk[] = {
        ",, ", " ", " , junk, ", "]", "}, ", ", {}, ", ", null, 17, \"text\", [1, {\"a\": 2}], "};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        struct run run;
        struct str events = {0};
        str_addf(&events, OP("one") "%s" OP("two"), junk[i]);
        import_events(&run, events.ptr);
        assert_int_equal(run.spans.count, 2);
        assert_name(&run, run.spans.name[1], "two");
        str_release(&events);
        run_release(&run);
    }
}

static void test_what_follows_a_broken_list_is_still_read(void **state)
{
    (void)state;
    struct run run;
    import_text(&run,
                "{\"traceEvents\": [" OP("one") ", {\"ph\": \"X\", \"name\": oops], \"traceName\": \"t\", "
                                                "\"baseTimeNanoseconds\": 1000}");
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.malformed, 1);
    assert_int_equal(run.sources.at[0].base_ns, 1000);
    assert_int_equal(run.losses.truncated_bytes, 0);
    run_release(&run);
}

static void test_broken_metadata_costs_no_events(void **state)
{
    (void)state;
    static const char *const metadata[] = {
        "\"INFO\": [\"a log line with \"quotes\" in it\", \"another\nover two lines\"]",
        "\"note\": N/A",
        "\"note\": \"say \"hi\"\"",
        "\"note\": foo bar",
        "\"note\": {\"a\": [}",
        "\"note\" \"x\"",
        "\"\xff\": \"\xfe\"",
        "\"note\": NaN,",
    };
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
        struct run run;
        struct str json = {0};
        str_addf(
            &json,
            "{\"schemaVersion\": 1, %s, \"baseTimeNanoseconds\": 5000, \"traceEvents\": [" OP("one") "]}",
            metadata[i]);
        import_text(&run, json.ptr);
        assert_int_equal(run.spans.count, 1);
        assert_int_equal(run.sources.at[0].base_ns, 5000);
        assert_nothing_lost(&run);
        assert_true(run.sources.at[0].repairs.count > 0);
        str_release(&json);
        run_release(&run);
    }
}

static void test_broken_device_properties_are_reported(void **state)
{
    (void)state;
    struct run run;
    import_text(&run,
                "{\"deviceProperties\": [{\"id\": 0, \"numSms\": oops}], \"traceEvents\": [" OP("one") "]}");
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(repairs(&run, "metadata that could not be understood"), 1);
    run_release(&run);
}

static void test_quotes_in_metadata_are_understood(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "{\"title\": \"say \"hi\" twice\", \"traceEvents\": []}");
    assert_string_equal(fact(&run, "title"), "say \"hi\" twice");
    run_release(&run);
}

static void test_byte_order_mark_and_documents_in_a_row(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "\xef\xbb\xbf{\"traceEvents\": [" OP("one") "]}\n[" OP("two") "]\ngarbage");
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(repairs(&run, "byte order mark"), 1);
    assert_int_equal(repairs(&run, "further JSON documents"), 1);
    assert_int_equal(repairs(&run, "text around"), 1);
    assert_nothing_lost(&run);
    run_release(&run);
}

static void test_a_bare_list_needs_no_end(void **state)
{
    (void)state;
    struct run run;
    import_text(&run, "[" OP("one") ",\n" OP("two") ",\n");
    assert_int_equal(run.spans.count, 2);
    assert_nothing_lost(&run);
    assert_int_equal(run.sources.at[0].repairs.count, 0);
    run_release(&run);
}

static void test_depth_bombs_cost_one_event(void **state)
{
    (void)state;
    struct run run;
    struct str json = {0};
    str_puts(&json, "{\"traceEvents\": [" OP("one") ", {\"ph\": \"X\", \"args\": {\"a\": ");
    str_pad(&json, '[', 1 << 20);
    str_puts(&json, ", " OP("two") "]}");
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 2);
    assert_int_equal(run.losses.malformed, 1);
    run_release(&run);
    str_release(&json);
}

static void test_many_broken_events_take_linear_time(void **state)
{
    (void)state;
    struct run run;
    struct str json = {0};
    str_puts(&json, "[");
    for (int i = 0; i < 50000; i++)
        str_puts(&json, "{\"ph\": \"X\", \"name\": \"\"\"\"\"}, ");
    str_puts(&json, OP("last") "]");
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 1 + 50000 - run.losses.malformed - run.losses.untimed);
    run_release(&run);
    str_release(&json);
}

static void test_events_without_a_phase_are_malformed(void **state)
{
    (void)state;
    struct run run;
    import_events(&run, "{\"name\": \"x\", \"ts\": 1}, {}, " OP("one"));
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.malformed, 1);
    run_release(&run);
}

static void test_other_json_is_an_error(void **state)
{
    (void)state;
    static const char *const others[] = {"{}", "{\"a\": [1, 2]}", "17", "hello", "\"traceEvents\""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct run run;
        struct err err = {0};
        assert_int_equal(import_bytes(&run, others[i], strlen(others[i]), &err), ERR_INPUT);
        assert_true(err.what[0] != '\0');
        run_release(&run);
    }
}

/* ---- real files, damaged ----------------------------------------------------------------------------- */

/* The beginning of a real recording: metadata and whole events, up to about the given size, then closed. */
static struct str real_excerpt(const char *name, size_t size)
{
    struct str path = {0}, text = {0};
    struct stream *in;
    str_addf(&path, "%s/torch/%s", SAMPLES, name);
    assert_int_equal(stream_open(&in, path.ptr, NULL), 0);
    char *buffer = mem_alloc(size + 1);
    size_t have = 0;
    for (int64_t got; have < size && (got = stream_read(in, buffer + have, size - have, NULL)) > 0;)
        have += (size_t)got;
    buffer[have] = '\0';
    char *end = NULL;
    for (char *p = buffer; (p = strstr(p, "\n  },")) != NULL; p++)
        end = p;
    assert_non_null(end);
    str_add(&text, buffer, (size_t)(end - buffer));
    str_puts(&text, "\n  }\n  ],\n  \"traceName\": \"x.json\"\n}\n");
    stream_close(in);
    free(buffer);
    str_release(&path);
    return text;
}

static size_t rows_of(const struct run *run)
{
    return run->ops.count + run->spans.count + run->samples.count + run->marks.count + run->waits.count;
}

static void test_every_prefix_of_a_real_file_yields_its_complete_events(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 6000);
    size_t rows = 0;
    for (size_t length = (size_t)(strchr(text.ptr, '{') - text.ptr) + 1; length <= text.len; length++) {
        struct run run;
        char *prefix = malloc(length); /* so that reading behind it is noticed */
        memcpy(prefix, text.ptr, length);
        assert_int_equal(import_bytes(&run, prefix, length, NULL), 0);
        assert_true(rows_of(&run) >= rows);
        assert_true(rows_of(&run) <= rows + 1);
        rows = rows_of(&run);
        assert_int_equal(run.losses.malformed, 0);
        assert_int_equal(run.losses.untimed, 0);
        assert_in_range(run.losses.truncated_bytes, 0, 1000);
        /* all that may be missing is the final line end */
        assert_int_equal(repairs(&run, "ends early"), length + 1 < text.len);
        run_seal(&run);
        run_release(&run);
        free(prefix);
    }
    assert_true(rows > 10);
    str_release(&text);
}

static void test_truncated_bytes_count_from_the_last_complete_event(void **state)
{
    (void)state;
    static const char tail[] = ", {\"ph\": \"X\", \"name\": \"br";
    struct run run;
    struct str json = {0};
    str_puts(&json, "{\"traceEvents\": [" OP("one"));
    str_puts(&json, tail);
    import_text(&run, json.ptr);
    assert_int_equal(run.spans.count, 1);
    assert_int_equal(run.losses.truncated_bytes, sizeof tail - 1);
    run_release(&run);
    str_release(&json);
}

static void test_a_flipped_byte_costs_few_events(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 12000);
    struct run whole;
    import_text(&whole, text.ptr);
    size_t rows = rows_of(&whole);
    run_release(&whole);
    char *events = strstr(text.ptr, "\"traceEvents\"") + 20;
    uint64_t random = 1;
    for (int i = 0; i < 6000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        char *at = events + (random >> 33) % (size_t)(text.ptr + text.len - events);
        char kept = *at;
        *at = (char)(random >> 24);
        struct run run;
        assert_int_equal(import_bytes(&run, text.ptr, text.len, NULL), 0);
        assert_true(rows_of(&run) + 3 >= rows);
        run_seal(&run);
        run_release(&run);
        *at = kept;
    }
    str_release(&text);
}

/* Deletes, doubles and overwrites pieces at random: nothing is promised but that reading ends in good order.
 */
static void test_mangled_files_do_no_harm(void **state)
{
    (void)state;
    struct str text = real_excerpt("strided_copy.json.gz", 5000);
    uint64_t random = 7;
    for (int i = 0; i < 3000; i++) {
        struct str mangled = {0};
        str_add(&mangled, text.ptr, text.len);
        for (int edit = 0; edit < 4; edit++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t from = (random >> 33) % mangled.len, length = (random >> 20) % 40;
            if (from + length > mangled.len)
                continue;
            if (random >> 63)
                memmove(mangled.ptr + from, mangled.ptr + mangled.len / 2,
                        length < mangled.len / 2 ? length : 0);
            else
                memset(mangled.ptr + from, "\"{}[],:\\ \0019"[random >> 60 & 7], length);
        }
        struct run run;
        import_bytes(&run, mangled.ptr, mangled.len, NULL);
        run_seal(&run);
        run_release(&run);
        str_release(&mangled);
    }
    str_release(&text);
}

/* ---- files -------------------------------------------------------------------------------------------- */

static void test_two_files_make_one_run(void **state)
{
    (void)state;
    struct run run;
    struct stream *in;
    static const char second[] = "{\"traceEvents\":[" KERNEL "," CALL "],\"baseTimeNanoseconds\":5000}";
    import_events(&run, KERNEL "," CALL);
    assert_int_equal(stream_open_memory(&in, "two.json", second, sizeof second - 1, NULL), 0);
    assert_int_equal(import_chrome_json.read(&run, in, NULL, NULL), 0);
    stream_close(in);
    assert_int_equal(run.sources.count, 2);
    assert_int_equal(run.devices.count, 2);
    assert_int_equal(run.ops.start[0], 10001);
    assert_int_equal(run.ops.start[1], 15001);
    run_seal(&run);
    assert_int_equal(run.losses.unlinked, 0);
    assert_int_equal(run.processes.count, 2);
    run_release(&run);
}

static void test_sniffing(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        bool ours;
    } cases[] = {{"{\"traceEvents\": [", true},
                 {"\xef\xbb\xbf \n{\n  \"schemaVersion\": 1, \"deviceProperties\": [", true},
                 {"[{\"ph\": \"X\"", true},
                 {"[1, 2]", false},
                 {"{\"a\": 1}", false},
                 {"", false},
                 {"SQLite format 3", false},
                 {"  ", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(import_chrome_json.sniff(cases[i].head, strlen(cases[i].head)) > 0, cases[i].ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_without_a_time_are_counted),
        cmocka_unit_test(test_negative_durations_become_zero_and_are_reported),
        cmocka_unit_test(test_a_missing_duration_is_a_moment),
        cmocka_unit_test(test_zero_length_work_at_a_real_time_is_kept),
        cmocka_unit_test(test_unescaped_quotes_in_names),
        cmocka_unit_test(test_a_hopeless_event_costs_only_itself),
        cmocka_unit_test(test_junk_between_events_costs_nothing),
        cmocka_unit_test(test_what_follows_a_broken_list_is_still_read),
        cmocka_unit_test(test_broken_metadata_costs_no_events),
        cmocka_unit_test(test_broken_device_properties_are_reported),
        cmocka_unit_test(test_quotes_in_metadata_are_understood),
        cmocka_unit_test(test_byte_order_mark_and_documents_in_a_row),
        cmocka_unit_test(test_a_bare_list_needs_no_end),
        cmocka_unit_test(test_depth_bombs_cost_one_event),
        cmocka_unit_test(test_many_broken_events_take_linear_time),
        cmocka_unit_test(test_events_without_a_phase_are_malformed),
        cmocka_unit_test(test_other_json_is_an_error),
        cmocka_unit_test(test_every_prefix_of_a_real_file_yields_its_complete_events),
        cmocka_unit_test(test_truncated_bytes_count_from_the_last_complete_event),
        cmocka_unit_test(test_a_flipped_byte_costs_few_events),
        cmocka_unit_test(test_mangled_files_do_no_harm),
        cmocka_unit_test(test_two_files_make_one_run),
        cmocka_unit_test(test_sniffing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
