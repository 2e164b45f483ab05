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
    struct kernel_code *code = vec_new(&reader->run->codes);
    *code = (struct kernel_code){
        .source = reader->source,
        .name = id,
        .demangled = demangled,
        .container = origin->container,
        .sm = (int32_t)origin->sm,
        .is_specific = origin->is_specific,
        .is_family = origin->is_family,
        .registers_per_thread = UNKNOWN,
        .static_shared_bytes = UNKNOWN,
        .dynamic_shared_bytes = UNKNOWN,
        .reserved_shared_bytes = UNKNOWN,
        .barriers = UNKNOWN,
        .stack_bytes = UNKNOWN,
        .parameter_bytes = UNKNOWN,
        .max_threads_per_block = UNKNOWN,
        .min_blocks_per_sm = UNKNOWN,
        .required_block = {UNKNOWN, UNKNOWN, UNKNOWN},
        .cluster = {UNKNOWN, UNKNOWN, UNKNOWN},
        .spill_store_bytes = UNKNOWN,
        .spill_load_bytes = UNKNOWN,
        .local_store_bytes = UNKNOWN,
        .local_load_bytes = UNKNOWN,
        .code_bytes = UNKNOWN,
    };
    return code;
}
