/* Files with GPU code: ELF, archives, fatbins, cubins, PTX; and what the analysis makes of them. */
#include "analyze/codes.h"
#include "fuzz.h"
#include "symbol/binary.h"

static void check_places(const struct run *run)
{
    const struct place_table *places = &run->places;
    for (size_t i = 0; i < places->count; i++) {
        FUZZ_CHECK(places->code[i] < run->codes.count);
        /* Chains end: a place is made after those that it was inlined into. */
        FUZZ_CHECK(places->inlined[i] == NONE || places->inlined[i] < i);
    }
    for (size_t i = 0; i < run->place_counters.count; i++)
        FUZZ_CHECK(run->place_counters.place[i] < places->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    run_init(&run);
    int rc = binary_read_memory(&run, "fuzz", data, size, NULL);
    FUZZ_CHECK((rc == 0) == binary_is(data, size));
    check_places(&run);
    struct report report = {0};
    codes_build(&report, &run, &(struct code_options){.cc = 90, .block = UNKNOWN, .shared = UNKNOWN});
    FUZZ_CHECK(report.codes.count <= run.codes.count);
    report_release(&report);
    run_release(&run);
    return 0;
}
