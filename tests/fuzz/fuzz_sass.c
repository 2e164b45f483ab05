/* What a disassembler prints of code that a program brought along. */
#include "fuzz.h"
#include "symbol/sass.h"

struct bounds {
    const char *first, *end;
};

static void take(void *context, const char *kernel, size_t kernel_length, uint64_t offset, const char *text,
                 size_t length)
{
    const struct bounds *b = context;
    (void)offset;
    FUZZ_CHECK(kernel >= b->first && kernel + kernel_length <= b->end && kernel_length > 0);
    FUZZ_CHECK(text >= b->first && text + length <= b->end && length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bounds bounds = {(const char *)data, (const char *)data + size};
    sass_read((const char *)data, size, take, &bounds);
    return 0;
}
