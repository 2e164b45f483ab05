/* The text of machine code, by NVIDIA's nvdisasm where it is there: the instruction set has no public
 * description. */
#ifndef WARPLIGHT_SOURCE_DISASSEMBLER_H
#define WARPLIGHT_SOURCE_DISASSEMBLER_H

#include <stddef.h>

#include "base/str.h"

/* Appends what nvdisasm (WARPLIGHT_NVDISASM, else that of PATH, CUDA_HOME or /usr/local/cuda) prints of a
 * cubin's code: symbol/sass.h reads it. Returns 0, ENOENT where there is none, or why it failed. A cubin
 * comes from the program that was measured, and nvdisasm may do with it what it does with damaged files: the
 * output is no more trustworthy. */
int disassembler_run(struct str *out, const void *cubin, size_t size);

#endif
