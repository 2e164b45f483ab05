#include "symbol/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "model/native_name.h"

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

struct renaming {
    struct run *run;
    uint32_t known;    /* names above were made by renaming */
    uint32_t *renamed; /* by name id; 0: not yet asked */
};

static uint32_t rename_kernel(struct renaming *r, uint32_t name)
{
    if (name >= r->known)
        return name;
    if (r->renamed[name] == 0) {
        struct str text = {0};
        r->renamed[name] =
            demangle(&text, run_text(r->run, name)) ? intern_add(&r->run->strings, text.ptr, text.len) : name;
        str_release(&text);
    }
    return r->renamed[name];
}

/* "OBJECT: _Z…", see source/native_code.h. */
static uint32_t rename_function(struct renaming *r, uint32_t name)
{
    if (name >= r->known)
        return name;
    if (r->renamed[name] == 0) {
        struct str text = {0};
        const char *whole = run_text(r->run, name), *function = native_name_function(whole);
        str_add(&text, whole, function ? (size_t)(function - whole) : 0);
        r->renamed[name] =
            function && demangle(&text, function) ? intern_add(&r->run->strings, text.ptr, text.len) : name;
        str_release(&text);
    }
    return r->renamed[name];
}

static void rename_functions(struct renaming *r)
{
    struct span_table *spans = &r->run->spans;
    for (size_t i = 0; i < spans->count; i++)
        if (spans->kind[i] == SPAN_NATIVE) {
            spans->name[i] = rename_function(r, spans->name[i]);
            spans->detail[i] = rename_function(r, spans->detail[i]);
        }
}

void demangle_run(struct run *run)
{
    struct renaming r = {run, run->strings.count, mem_zalloc(run->strings.count, sizeof *r.renamed)};
    for (size_t op = 0; op < run->ops.count; op++)
        if (run->ops.kind[op] == OP_KERNEL)
            run->ops.name[op] = rename_kernel(&r, run->ops.name[op]);
    vec_each (&run->profiles, profile) {
        uint32_t name = rename_kernel(&r, profile->name);
        if (name != profile->name && !profile->mangled)
            profile->mangled = profile->name;
        profile->name = name;
    }
    rename_functions(&r);
    free(r.renamed);
}
