#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*before_end)(void);

void mem_before_end(void (*run)(void))
{
    before_end = run;
}

static _Noreturn void mem_exhausted(void)
{
    static const char line[] =
        "warplight: out of memory: analyse a shorter window (--from, --to) or free memory\n";
    if (before_end)
        before_end();
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(5);
}

void *mem_alloc(size_t size)
{
    void *ptr = malloc(size ? size : 1);
    if (!ptr)
        mem_exhausted();
    return ptr;
}

void *mem_zalloc(size_t count, size_t size)
{
    void *ptr = calloc(count ? count : 1, size ? size : 1);
    if (!ptr)
        mem_exhausted();
    return ptr;
}

void *mem_resize(void *ptr, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_exhausted();
    void *grown = realloc(ptr, bytes ? bytes : 1);
    if (!grown)
        mem_exhausted();
    return grown;
}

char *mem_strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(mem_alloc(length), text, length);
}
