/* Names of kernels and calls: demangling, shortening and classification of whatever a file calls them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyze.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "symbol/demangle.h"

static void check_short_form(const char *name)
{
    static const size_t widths[] = {0, 1, 2, 9, 40, 72};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct str out = {0};
        kernel_shorten(&out, name, widths[i]);
        FUZZ_CHECK((size_t)utf8_width(str_text(&out), out.len) <= widths[i]);
        FUZZ_CHECK(utf8_valid(str_text(&out), out.len) == out.len);
        str_release(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = mem_alloc(size + 1);
    memcpy(name, data, size);
    name[size] = '\0';
    call_classify(name);
    kernel_classify(name);
    check_short_form(name);
    struct str full = {0};
    if (demangle(&full, name))
        check_short_form(full.ptr);
    str_release(&full);
    free(name);
    return 0;
}
