/* Everything behind the importers: a recording of any format, analysed and printed as JSON, text and CSV. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "analyze/report.h"
#include "base/json.h"
#include "import/import.h"
#include "view/view.h"

static void check_ledger(const struct report *report)
{
    vec_each (&report->devices, device) {
        int64_t sum = 0, busy = 0;
        for (int account = 0; account < ACCOUNT_COUNT; account++) {
            FUZZ_CHECK(device->ledger_ns[account] >= 0);
            sum += device->ledger_ns[account];
            busy += account < ACCOUNT_BUSY_COUNT ? device->ledger_ns[account] : 0;
        }
        FUZZ_CHECK(sum == device->wall_ns && busy == device->busy_ns);
    }
}

static void check_findings(const struct report *report)
{
    vec_each (&report->findings, finding) {
        FUZZ_CHECK(finding->confidence_ratio >= 0 && finding->confidence_ratio <= 1);
        FUZZ_CHECK(finding->saving_ns[0] <= finding->saving_ns[1] && finding->lost_ns >= 0);
    }
}

/* One strict JSON document and nothing else. */
static void check_json(const char *text, size_t length)
{
    struct stream *in;
    FUZZ_CHECK(stream_open_memory(&in, "report", text, length, NULL) == 0);
    struct json_reader r;
    json_open(&r, in, NULL, NULL);
    FUZZ_CHECK(json_skip(&r) && json_peek(&r) == JSON_NONE && json_offset(&r) == (int64_t)length);
    for (int i = 0; i < JSON_ODD_COUNT; i++)
        FUZZ_CHECK(r.odd[i].count == 0);
    json_close(&r);
    stream_close(in);
}

static void print_all(const struct report *report)
{
    struct view_options options = {.limit = UNKNOWN};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    FUZZ_CHECK(out);
    json_report(out, report, &options);
    FUZZ_CHECK(fclose(out) == 0);
    check_json(text, length);
    free(text);

    out = open_memstream(&text, &length);
    FUZZ_CHECK(out);
    struct screen screen = {.out = out, .width = 80, .utf8 = true};
    text_report(&screen, report, &options);
    screen_flush(&screen);
    screen_release(&screen);
    options.sections = SECTIONS_ALL;
    csv_report(out, report, &options);
    FUZZ_CHECK(fclose(out) == 0);
    FUZZ_CHECK(memchr(text, 0x1b, length) == NULL); /* nothing from the input commands the terminal */
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    run_init(&run);
    if (import_memory(&run, "fuzz", data, size, NULL, NULL, NULL) == 0) {
        run_seal(&run);
        struct report report;
        report_build(&report, &run, &(struct report_options){0});
        check_ledger(&report);
        check_findings(&report);
        print_all(&report);
        report_release(&report);
    }
    run_release(&run);
    return 0;
}
