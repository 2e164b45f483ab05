/* doctor on what people paste: each case of tests/samples/logs/truth.tsv is own-written after a public report
 * and says what the reporter should have been told. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diagnose.h"
#include "analyze/nvlink.h"
#include "import/logs/encoding.h"
#include "import/logs/logs.h"
#include "know/know.h"
#include "model/redact.h"

static void diagnose_text(struct diagnosis *d, const char *text, size_t length)
{
    struct logbook book = {0};
    struct err err = {0};
    *d = (struct diagnosis){0};
    assert_int_equal(logs_read_memory(&book, "log", text, length, &err), 0);
    diagnose_logbook(d, &book);
    logbook_release(&book);
}

static const struct check *find(const struct diagnosis *d, const char *id)
{
    vec_each (&d->checks, check)
        if (strcmp(check->id, id) == 0)
            return check;
    return NULL;
}

/* Exactly the ids of the list are not fine. */
static bool says(const struct diagnosis *d, const char *list)
{
    size_t wanted = 0, found = 0;
    for (const char *at = list + strspn(list, " "); *at; at += strspn(at, " ")) {
        at += strcspn(at, " ");
        wanted++;
    }
    vec_each (&d->checks, check) {
        if (check->status == CHECK_OK)
            continue;
        found++;
        if (!know_list_has(list, check->id))
            return false;
        assert_non_null(check->title.plain);
        assert_true(check->evidence.count > 0);
    }
    return wanted == found;
}

/* The text in UTF-16, as PowerShell writes it (little endian), with a byte order mark or without. */
static size_t widen(char *out, const char *text, bool big, bool mark)
{
    size_t length = 0;
    if (mark) {
        out[length++] = (char)(big ? 0xfe : 0xff);
        out[length++] = (char)(big ? 0xff : 0xfe);
    }
    for (; *text; text++) {
        out[length + !big] = 0;
        out[length + big] = *text;
        length += 2;
    }
    return length;
}

static void files_of_windows_are_read_as_well(void **state)
{
    (void)state;
    static const char text[] =
        "[  1.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\r\n";
    char wide[2 * sizeof text + 2];
    for (int variant = 0; variant < 4; variant++) {
        struct diagnosis d;
        diagnose_text(&d, wide, widen(wide, text, variant & 1, variant & 2));
        assert_true(says(&d, "xid-79"));
        assert_string_equal(d.events.at[0].first, "1.5");
        diagnosis_release(&d);
    }
    struct diagnosis d;
    static const char marked[] = "\xef\xbb\xbf"
                                 "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
    diagnose_text(&d, marked, sizeof marked - 1);
    assert_true(says(&d, "xid-79"));
    diagnosis_release(&d);
}

static void an_odd_byte_or_half_a_pair_of_utf16_is_no_character(void **state)
{
    (void)state;
    struct encoding e;
    struct str out = {0};
    encoding_find(&e, "\xff\xfe", 2);
    /* A pair (U+1F600) that pieces cut apart, a first half alone, a letter, an odd byte. */
    static const char bytes[] = "\xff\xfe\x3d\xd8\x00\xde\x3d\xd8\x61\x00\x62";
    for (size_t i = 0; i < sizeof bytes - 1; i++)
        encoding_decode(&e, &out, bytes + i, 1);
    assert_string_equal(str_text(&out), "\xf0\x9f\x98\x80\xef\xbf\xbd"
                                        "a");
    str_release(&out);
}

static void registers_of_an_nvlink_error_are_explained(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"link 5(0x20000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", "Link 5, register 1, bits 17: check the seating"},
        {"link 3(0x30, 0x0, 0x4, 0x0, 0x0, 0x0, 0x0)", "Link 3, register 1, bits 4, 5: a memory error"},
        {"link 3(0x30, 0x0, 0x4, 0x0, 0x0, 0x0, 0x0)", "Link 3, register 3, bits 2: defective hardware"},
        {"link 3(0x100000)", "register 1, bits 20: a consequence"},
        {"link 3(0x40, 0x0, 0x8)", NULL},
        {"link 3(0xfffffffffffffffff, 0x0)", NULL},
        {"link 3", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct diagnosis d = {0};
        char line[200];
        snprintf(line, sizeof line, "NVLink: fatal error detected on %s", lines[i][0]);
        const char *said = nvlink_words(&d, line).plain;
        assert_true(lines[i][1] ? said && strstr(said, lines[i][1]) : !said);
        diagnosis_release(&d);
    }
}

static bool right_diagnosis(const char *file, const char *expected)
{
    struct logbook book = {0};
    struct diagnosis d = {0};
    struct err err = {0};
    struct str path = {0};
    str_addf(&path, "%s/logs/%s", SAMPLES, file);
    if (logs_read(&book, str_text(&path), &err) != 0)
        fail_msg("%s: %s", file, err.what);
    diagnose_logbook(&d, &book);
    bool right = says(&d, expected);
    if (!right) {
        print_message("%s: expected '%s', found", file, expected);
        vec_each (&d.checks, check)
            print_message(" %s(%s)", check->id, check_status_name(check->status));
        print_message("\n");
    }
    diagnosis_release(&d);
    logbook_release(&book);
    str_release(&path);
    return right;
}

static void every_public_report_gets_the_diagnosis_that_its_reporter_needed(void **state)
{
    (void)state;
    FILE *truth = fopen(SAMPLES "/logs/truth.tsv", "r");
    char line[512];
    int count = 0, wrong = 0;
    assert_non_null(truth);
    assert_non_null(fgets(line, sizeof line, truth)); /* the heading */
    while (fgets(line, sizeof line, truth)) {
        char *expected = strchr(line, '\t');
        assert_non_null(expected);
        *expected++ = '\0';
        char *end = strchr(expected, '\t');
        assert_non_null(end);
        *end = '\0';
        count++;
        wrong += !right_diagnosis(line, expected);
    }
    fclose(truth);
    assert_true(count >= 40);
    assert_int_equal(wrong, 0);
}

static void repeats_are_counted_with_first_and_last_time(void **state)
{
    (void)state;
    static const char text[] =
        "[   10.5] NVRM: Xid (PCI:0000:3B:00): 95, pid=88, name=a:b [c], Uncontained: x\n"
        "[   20.5] NVRM: Xid (PCI:0000:3b:00): 95, pid=88, name=a:b [c], Uncontained: x\n"
        "[   30.5] NVRM: Xid (PCI:0000:3c:00): 95, Uncontained: x\n";
    struct diagnosis d;
    diagnose_text(&d, text, sizeof text - 1);
    assert_int_equal(d.events.count, 2);
    assert_int_equal(d.checks.count, 1);
    const struct event *event = &d.events.at[0];
    assert_int_equal(event->xid, 95);
    assert_int_equal(event->count, 2);
    assert_string_equal(event->device, "0000:3b:00");
    assert_string_equal(event->first, "10.5");
    assert_string_equal(event->last, "20.5");
    assert_string_equal(event->process, "a:b [c] (88)");
    assert_string_equal(event->evidence.where, "log:1");
    assert_true(event->root);
    diagnosis_release(&d);
}

/* As an H200 logs them; the clock of a syslog has seconds. */
static void lines_of_one_graphics_exception_are_one_event(void **state)
{
    (void)state;
#define LINES_13(time, pid)                                                                                  \
    time " NVRM: Xid (PCI:0000:00:06): 13, Graphics SM Warp Exception on (GPC 0, TPC 2, SM 0): Misaligned "  \
         "Address\n" time                                                                                    \
         " NVRM: Xid (PCI:0000:00:06): 13, Graphics Exception: ESR 0x507730=0x500000f\n" time                \
         " NVRM: Xid (PCI:0000:00:06): 13, pid=" pid                                                         \
         ", name=faults, Graphics Exception: channel 0x0000000a\n"
    static const char *const texts[] = {LINES_13("[  287.83]", "5") LINES_13("[  287.84]", "6"),
                                        LINES_13("May  3 10:00:01 n1 kernel:", "5")
                                            LINES_13("May  3 10:00:01 n1 kernel:", "6"),
                                        LINES_13("", "5") LINES_13("", "6")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct diagnosis d;
        diagnose_text(&d, texts[i], strlen(texts[i]));
        assert_int_equal(d.events.count, 1);
        assert_int_equal(d.events.at[0].count, 2);
        assert_int_equal(d.checks.at[0].evidence.count + d.checks.at[0].evidence_left_out, 6);
        diagnosis_release(&d);
    }
}

static void an_event_long_after_another_is_no_consequence(void **state)
{
    (void)state;
    static const char text[] = "[   10.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=a, x\n"
                               "[   10.1] NVRM: Xid (PCI:0000:3b:00): 43, pid=1, name=a, x\n"
                               "[ 9000.0] NVRM: Xid (PCI:0000:3b:00): 43, pid=2, name=b, x\n"
                               "[ 9000.1] NVRM: Xid (PCI:0000:99:00): 31, pid=3, name=c, x\n"
                               "[ 9000.2] NVRM: Xid (PCI:0000:3b:00): 43, pid=2, name=b, x\n";
    struct diagnosis d;
    diagnose_text(&d, text, sizeof text - 1);
    assert_int_equal(d.events.count, 4);
    assert_false(d.events.at[1].root);
    assert_int_equal(d.events.at[1].count, 1);
    assert_true(d.events.at[2].root); /* another day; and the fault of another GPU explains nothing */
    assert_int_equal(d.events.at[2].count, 2);
    diagnosis_release(&d);
}

static void the_line_of_an_xid_adds_to_its_meaning(void **state)
{
    (void)state;
    static const char text[] =
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=a, Ch 1. MMU Fault: ENGINE GRAPHICS faulted "
        "@ 0x0_00000010. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n";
    struct diagnosis d;
    diagnose_text(&d, text, sizeof text - 1);
    assert_int_equal(d.checks.count, 1);
    assert_non_null(strstr(d.checks.at[0].meaning.plain, "null pointer"));
    diagnosis_release(&d);
}

static void times_of_every_logger_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *line, *time;
    } cases[] = {
        {"[  171.620114] NVRM: Xid (PCI:0000:3b:00): 79, x", "171.620114"},
        {"[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:3b:00): 79, x", "Sun Feb 23 16:24:18 2025"},
        {"kern  :err   : 2025-01-21T04:41:44,283302+00:00 NVRM: Xid (PCI:0000:3b:00): 79, x",
         "2025-01-21T04:41:44,283302+00:00"},
        {"May  6 00:38:27 node7 kernel: [ 4909.9] NVRM: Xid (PCI:0000:3b:00): 79, x", "May  6 00:38:27"},
        {"2025-05-06T00:38:27.114209+02:00 node7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x",
         "2025-05-06T00:38:27.114209+02:00"},
        {"5月 06 00:38:27 node7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x", "5月 06 00:38:27"},
        {"<3>[ 1126.600412] NVRM: Xid (PCI:0000:3b:00): 79, x", "1126.600412"},
        {"3,1021,1126600412,-;NVRM: Xid (PCI:0000:3b:00): 79, x", "1126.600412"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        diagnose_text(&d, cases[i].line, strlen(cases[i].line));
        assert_int_equal(d.events.count, 1);
        assert_non_null(d.events.at[0].first);
        assert_string_equal(d.events.at[0].first, cases[i].time);
        diagnosis_release(&d);
    }
}

static void records_of_the_kernel_are_shown_as_dmesg_does(void **state)
{
    (void)state;
    static const struct {
        const char *line, *shown;
    } cases[] = {
        {"4,361,78556614,c;NVRM: Xid (PCI:0000:3b:00): 31, x",
         "[   78.556614] NVRM: Xid (PCI:0000:3b:00): 31, x"},
        {"3,1,8640123000001,-,caller=T123;NVRM: Xid (PCI:0000:3b:00): 31, x; y",
         "[8640123.000001] NVRM: Xid (PCI:0000:3b:00): 31, x; y"},
        {"4,361,999999999999999999,c;NVRM: Xid (PCI:0000:3b:00): 31, x", NULL}, /* no time of this world */
        {"4,361,7,c NVRM: Xid (PCI:0000:3b:00): 31, x", NULL},
        {"4,,7,c;NVRM: Xid (PCI:0000:3b:00): 31, x", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis d;
        diagnose_text(&d, cases[i].line, strlen(cases[i].line));
        assert_int_equal(d.events.count, 1);
        assert_string_equal(d.events.at[0].evidence.text, cases[i].shown ? cases[i].shown : cases[i].line);
        diagnosis_release(&d);
    }
}

static void times_since_boot_are_dates_where_the_boot_is_known(void **state)
{
    (void)state;
    static const char text[] = "4,361,78556614,c;NVRM: Xid (PCI:0000:3b:00): 31, x\n"
                               "4,370,95757332,c;NVRM: Xid (PCI:0000:3b:00): 31, x\n";
    const int64_t boot = INT64_C(1700000000000000000);
    for (int known = 0; known < 2; known++) {
        struct logbook book = {0};
        struct diagnosis d = {.boot_unix_ns = known ? boot : 0};
        assert_int_equal(logs_read_memory(&book, "/dev/kmsg", text, sizeof text - 1, NULL), 0);
        diagnose_logbook(&d, &book);
        const struct event *event = &d.events.at[0];
        assert_int_equal(event_since_boot(event->last), INT64_C(95757332000));
        assert_true(event->first_unix_ns == (known ? boot + INT64_C(78556614000) : UNKNOWN));
        assert_true(event->last_unix_ns == (known ? boot + INT64_C(95757332000) : UNKNOWN));
        diagnosis_release(&d);
        logbook_release(&book);
    }
    assert_true(event_since_boot("May  6 00:38:27") == UNKNOWN);
    assert_true(event_since_boot("9999999999999999999.000000") == UNKNOWN);
    assert_true(event_since_boot(NULL) == UNKNOWN);
}

static void text_that_only_looks_like_an_xid_is_none(void **state)
{
    (void)state;
    static const char text[] = "Xid (PCI:0000:3b:00)\nXid (PCI:0000:3b:00): \nNVRM: Xid (: 79,\nXid 79\n"
                               "NVRM: Xid (PCI:0000:3b:00): 99999999999999, x\nXid (function): 79, x\n"
                               "NVRM: Xid (PCI:0000:3b:00";
    struct diagnosis d;
    diagnose_text(&d, text, sizeof text - 1);
    assert_int_equal(d.events.count, 0);
    diagnosis_release(&d);
}

static void a_million_kinds_of_events_and_endless_lines_stay_bounded(void **state)
{
    (void)state;
    struct str text = {0};
    for (int i = 0; i < 5000; i++)
        str_addf(&text, "[%d.0] NVRM: Xid (PCI:%04x:3b:00): 31, x\n", i, i);
    str_pad(&text, 'x', 3 << 20);
    str_puts(&text, "\n[9999.0] NVRM: Xid (PCI:0000:3b:00): 31, x");
    struct diagnosis d;
    diagnose_text(&d, text.ptr, text.len);
    assert_int_equal(d.events.count, LOGBOOK_SIGHTINGS_MAX);
    assert_int_equal(d.checks.count, 1);
    assert_true(d.checks.at[0].evidence.count <= CHECK_EVIDENCE_MAX);
    diagnosis_release(&d);
    str_release(&text);
}

static void nuls_in_a_log_do_not_end_it_and_a_program_is_refused(void **state)
{
    (void)state;
    struct str text = {0};
    str_puts(&text, "a log with a few torn blocks, as after a power cut, and enough of text around them\n");
    str_add(&text, "\0\0\0", 3);
    str_puts(&text, "\n[1.0] NVRM: Xid (PCI:0000:3b:00): 79, x\n");
    struct diagnosis d;
    diagnose_text(&d, text.ptr, text.len);
    assert_non_null(find(&d, "xid-79"));
    diagnosis_release(&d);
    str_release(&text);

    struct logbook book = {0};
    struct err err = {0};
    static const char binary[256] = "\177ELF\2\1\1";
    assert_int_equal(logs_read_memory(&book, "program", binary, sizeof binary, &err), ERR_INPUT);
    logbook_release(&book);
}

static void silence_about_unknown_text_is_not_health(void **state)
{
    (void)state;
    static const char text[] = "Dear diary,\ntoday the fan was loud.\n";
    struct diagnosis d;
    diagnose_text(&d, text, sizeof text - 1);
    assert_int_equal(d.checks.count, 1);
    assert_string_equal(d.checks.at[0].id, "input-unknown");
    assert_int_equal(d.checks.at[0].status, CHECK_UNKNOWN);
    diagnosis_release(&d);
}

static void private_words_are_taken_out_and_needed_ones_stay(void **state)
{
    (void)state;
    static const char *const hosts[] = {"node7"};
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"GPU-00000000-1111-2222-3333-444444444444", "GPU-<uuid>"},
        {"GPU Board Serial Number: 1320221013579", "GPU Board Serial Number: <serial>"},
        {"<serial>1320221013579</serial>", "<serial><serial></serial>"},
        {"May  6 00:38:27 node7 kernel: node77", "May  6 00:38:27 <host> kernel: node77"},
        {"C:\\Users\\alice\\train.py", "C:\\Users\\<user>\\train.py"},
        {"from 192.168.1.20:29500 and 2001:db8::1", "from <ip>:29500 and <ip>"},
        {"0c:42:a1:00:11:22", "<mac>"},
        {"driver 535.154.05 at 0000:3b:00.0, 12:30:45", "driver 535.154.05 at 0000:3b:00.0, 12:30:45"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = {0};
        redact_text(&out, cases[i].in, hosts, 1);
        assert_string_equal(str_text(&out), cases[i].out);
        str_release(&out);
    }
}

static void tables_refer_to_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < know_xid_count; i++) {
        assert_non_null(know_action_find(know_xids[i].now));
        assert_non_null(know_action_find(know_xids[i].repeat));
        assert_true(*know_xids[i].zh != '\0' && *know_xids[i].en != '\0');
        assert_ptr_equal(know_xid_find(know_xids[i].code), &know_xids[i]); /* no code twice */
    }
    for (size_t i = 0; i < know_sxid_count; i++)
        assert_non_null(know_action_find(know_sxids[i].now));
    for (size_t i = 0; i < know_smi_count; i++)
        assert_true(strcmp(know_smis[i].test, "bits") == 0 || know_sign_find(know_smis[i].sign) != NULL);
    for (size_t i = 0; i < know_detail_count; i++)
        assert_non_null(know_xid_find(strtol(know_details[i].of + strlen("xid-"), NULL, 10)));
    for (size_t i = 0; i < know_throttle_count; i++)
        assert_true(!*know_throttles[i].sign || know_sign_find(know_throttles[i].sign) != NULL);
    for (size_t i = 0; i < know_error_count; i++)
        assert_true(!*know_errors[i].sign || know_sign_find(know_errors[i].sign) != NULL);
    for (size_t i = 0; i < know_sign_count; i++) {
        assert_ptr_equal(know_sign_find(know_signs[i].id), &know_signs[i]);
        assert_true(*know_signs[i].title_zh && *know_signs[i].do_en && *know_signs[i].do_zh);
        for (const char *at = know_signs[i].follows; *at; at += strspn(at, " ")) {
            char word[64];
            size_t length = strcspn(at, " ");
            assert_true(length < sizeof word);
            memcpy(word, at, length);
            word[length] = '\0';
            at += length;
            bool is_xid = strncmp(word, "xid-", 4) == 0 && know_xid_find(strtol(word + 4, NULL, 10)) != NULL;
            if (!is_xid && !know_sign_find(word))
                fail_msg("%s follows %s, which is in no table", know_signs[i].id, word);
        }
    }
    assert_string_equal(know_cuda_find(12, 8)->linux_exact, "570.26");
    assert_null(know_cuda_find(99, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_windows_are_read_as_well),
        cmocka_unit_test(an_odd_byte_or_half_a_pair_of_utf16_is_no_character),
        cmocka_unit_test(registers_of_an_nvlink_error_are_explained),
        cmocka_unit_test(every_public_report_gets_the_diagnosis_that_its_reporter_needed),
        cmocka_unit_test(repeats_are_counted_with_first_and_last_time),
        cmocka_unit_test(lines_of_one_graphics_exception_are_one_event),
        cmocka_unit_test(an_event_long_after_another_is_no_consequence),
        cmocka_unit_test(the_line_of_an_xid_adds_to_its_meaning),
        cmocka_unit_test(times_of_every_logger_are_kept),
        cmocka_unit_test(records_of_the_kernel_are_shown_as_dmesg_does),
        cmocka_unit_test(times_since_boot_are_dates_where_the_boot_is_known),
        cmocka_unit_test(text_that_only_looks_like_an_xid_is_none),
        cmocka_unit_test(a_million_kinds_of_events_and_endless_lines_stay_bounded),
        cmocka_unit_test(nuls_in_a_log_do_not_end_it_and_a_program_is_refused),
        cmocka_unit_test(silence_about_unknown_text_is_not_health),
        cmocka_unit_test(private_words_are_taken_out_and_needed_ones_stay),
        cmocka_unit_test(tables_refer_to_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
