/* A fuzz target is one file fuzz_NAME.c that defines LLVMFuzzerTestOneInput(). With clang and -Dfuzz=true it
 * becomes the libFuzzer program fuzz_NAME; always, it becomes the test regress_NAME, which replays
 * corpus/NAME. */
#ifndef WARPLIGHT_TESTS_FUZZ_FUZZ_H
#define WARPLIGHT_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Promises of the code under test; unlike assert() they hold in every build. */
#define FUZZ_CHECK(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            abort();                                                                                         \
    } while (0)

#endif
