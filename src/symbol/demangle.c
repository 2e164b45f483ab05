#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

static bool is_mangled(const char *name)
{
    return name[0] == '_' && name[1] == 'Z';
}

#ifdef HAVE_LIBIBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>

enum {
    NAME_LIMIT = 8 * 1024, /* libiberty takes 80 bytes of stack a character */
    TEXT_LIMIT = 64 * 1024,
};

struct output {
    struct str *out;
    size_t start;
    jmp_buf too_long;
};

/* Leaves libiberty from within when there is too much. That is safe: on this path it keeps everything on the
 * stack and owns nothing. */
static void add_text(const char *text, size_t length, void *context)
{
    struct output *output = context;
    if (output->out->len - output->start + length > TEXT_LIMIT)
        longjmp(output->too_long, 1);
    str_add(output->out, text, length);
}

bool demangle_available(void)
{
    return true;
}

bool demangle(struct str *out, const char *name)
{
    size_t length = strnlen(name, NAME_LIMIT);
    if (!is_mangled(name) || length == NAME_LIMIT)
        return false;
    if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
        length -= 3;
    char mangled[NAME_LIMIT];
    memcpy(mangled, name, length);
    mangled[length] = '\0';
    struct output output = {.out = out, .start = out->len};
    if (setjmp(output.too_long) == 0 &&
        cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, add_text,
                                   &output))
        return true;
    str_cut(out, output.start);
    return false;
}

#else

bool demangle_available(void)
{
    return false;
}

bool demangle(struct str *out, const char *name)
{
    (void)out;
    (void)name;
    return false;
}

#endif

void demangle_run(struct run *run)
{
    uint32_t known = run->strings.count;
    uint32_t *renamed = mem_zalloc(known, sizeof *renamed); /* by name id; 0: not yet asked */
    struct str text = {0};
    for (size_t op = 0; op < run->ops.count; op++) {
        uint32_t name = run->ops.name[op];
        if (run->ops.kind[op] != OP_KERNEL || name >= known)
            continue;
        if (renamed[name] == 0) {
            str_cut(&text, 0);
            renamed[name] =
                demangle(&text, run_text(run, name)) ? intern_add(&run->strings, text.ptr, text.len) : name;
        }
        run->ops.name[op] = renamed[name];
    }
    str_release(&text);
    free(renamed);
}
