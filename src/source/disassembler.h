/* The text of machine code, by NVIDIA's nvdisasm where it is there: the instruction set has no public
 * description. */
#ifndef WARPLIGHT_SOURCE_DISASSEMBLER_H
#define WARPLIGHT_SOURCE_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct disassembly {
    const void *cubin;
    size_t size;
    struct str symbols; /* indices of the functions' symbols: "12,57"; empty: it is passed over */
    struct str text;    /* what is printed of them; symbol/sass.h reads it */
    int why;            /* 0, ENOENT: there is no nvdisasm, ETIMEDOUT, or why it failed */
};

/* Fills text and why of each by nvdisasm (WARPLIGHT_NVDISASM, else that of PATH, CUDA_HOME or
 * /usr/local/cuda), several at a time, for at most for_ns in all. A cubin comes from the program that was
 * measured, and nvdisasm may do with it what it does with damaged files: the text is no more trustworthy. */
void disassembler_run(struct disassembly *all, size_t count, int64_t for_ns);

#endif
