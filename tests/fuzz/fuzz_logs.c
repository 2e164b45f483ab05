#include "analyze/diagnose.h"
#include "fuzz.h"
#include "import/logs/logs.h"
#include "model/redact.h"

/* Whatever is pasted: no crash, bounded, and every check has a title and evidence that redaction survives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"node7"};
    struct logbook book = {0};
    struct diagnosis d = {0};
    struct err err = {0};
    if (logs_read_memory(&book, "fuzz", data, size, &err) == 0) {
        FUZZ_CHECK(book.sightings.count <= LOGBOOK_SIGHTINGS_MAX);
        diagnose_logbook(&d, &book);
        FUZZ_CHECK(book.sightings.count == 0 || d.checks.count > 0); /* something is the root */
        redact_diagnosis(&d, hosts, 1);
        vec_each (&d.checks, check) {
            FUZZ_CHECK(check->title.plain && check->title.local);
            FUZZ_CHECK(check->evidence.count > 0 && check->evidence.count <= CHECK_EVIDENCE_MAX);
        }
    }
    diagnosis_release(&d);
    logbook_release(&book);
    return 0;
}
