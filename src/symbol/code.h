/* What the readers of machine code and PTX share: where they put what they find, and what they may use up. */
#ifndef WARPLIGHT_SYMBOL_CODE_H
#define WARPLIGHT_SYMBOL_CODE_H

#include "model/run.h"
#include "symbol/fatbin.h"

struct code_reader {
    struct run *run;
    uint32_t source;
    struct fatbin_buffer buffer;
    struct map demangled; /* name → its demangled form */
    uint64_t unpacked;    /* bytes decompressed so far, and the most there may be */
    uint64_t unpacked_max;
};

/* Where a piece of code lay, and what its surroundings say of it. */
struct code_origin {
    uint32_t container; /* text */
    uint32_t sm;        /* 0: they do not say */
    bool is_specific, is_family;
};

/* Adds a kernel of which nothing but its name is known yet. The address is valid until the next call. */
struct kernel_code *code_add(struct code_reader *reader, const struct code_origin *origin, const char *name,
                             size_t name_length);
/* The demangled form of a name, both in run->strings. */
uint32_t code_demangle(struct code_reader *reader, uint32_t name);

/* The kernels of a cubin (EM_CUDA). Damage is counted as repairs of the source. */
void cubin_read(struct code_reader *reader, struct bytes file, const struct code_origin *origin);
/* The entries of a PTX text. */
void ptx_read(struct code_reader *reader, struct bytes text, const struct code_origin *origin);
/* Whether text looks like PTX: comments, then .version. */
bool ptx_is(struct bytes text);

#endif
