/* Files with GPU code: ELF, archives, fatbins, cubins, PTX; and what the analysis makes of them. */
#include "analyze/codes.h"
#include "fuzz.h"
#include "symbol/binary.h"
#include "symbol/images.h"

enum { DEEPEST = 64 }; /* calls that a place was inlined into, as line_places.c keeps them */

static void check_places(const struct run *run)
{
    const struct place_table *places = &run->places;
    for (size_t i = 0; i < places->count; i++) {
        FUZZ_CHECK(places->code[i] < run->codes.count);
        uint32_t call = places->inlined[i];
        for (int depth = 0; call != NONE; call = places->inlined[call])
            FUZZ_CHECK(call < places->count && depth++ < DEEPEST);
    }
    for (size_t i = 0; i < run->place_counters.count; i++)
        FUZZ_CHECK(run->place_counters.place[i] < places->count);
}

static void check_images(const uint8_t *data, size_t size)
{
    struct images images;
    struct kernel_code code;
    size_t count = 0;
    if (images_open_memory(&images, data, size))
        for (; images_next(&images, &code); count++)
            FUZZ_CHECK(code.sm > 0 && count < IMAGES_MAX);
    images_close(&images);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    run_init(&run);
    int rc = binary_read_memory(&run, "fuzz", data, size, NULL);
    FUZZ_CHECK((rc == 0) == binary_is(data, size));
    check_places(&run);
    check_images(data, size);
    struct report report = {0};
    codes_build(&report, &run, &(struct code_options){.cc = 90, .block = UNKNOWN, .shared = UNKNOWN});
    FUZZ_CHECK(report.codes.count <= run.codes.count);
    report_release(&report);
    run_release(&run);
    return 0;
}
