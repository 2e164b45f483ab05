#include "symbol/code.h"

#include "symbol/demangle.h"

uint32_t code_demangle(struct code_reader *reader, uint32_t name)
{
    uint32_t known = map_get(&reader->demangled, name);
    if (known != MAP_ABSENT)
        return known;
    struct intern *strings = &reader->run->strings;
    struct str text = {0};
    uint32_t id =
        demangle(&text, intern_text(strings, name)) ? intern_add(strings, text.ptr, text.len) : name;
    str_release(&text);
    map_set(&reader->demangled, name, id);
    return id;
}

struct kernel_code *code_add(struct code_reader *reader, const struct code_origin *origin, const char *name,
                             size_t name_length)
{
    uint32_t id = intern_add(&reader->run->strings, name, name_length);
    uint32_t demangled = code_demangle(reader, id);
    struct kernel_code *code = run_add_code(reader->run, reader->source, id);
    code->demangled = demangled;
    code->container = origin->container;
    code->sm = (int32_t)origin->sm;
    code->is_specific = origin->is_specific;
    code->is_family = origin->is_family;
    return code;
}
