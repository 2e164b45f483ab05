/* The text of instructions, from what nvdisasm prints of machine code (-c): sections of code, and in them a
 * line with the offset for each instruction.
 *
 *     .section	.text.NAME,"ax",@progbits
 *     /\*0060*\/   LDG.E R4, desc[UR12][R2.64] ;
 *
 * Format: CUDA Binary Utilities, nvdisasm, and its output of 13.1. */
#ifndef WARPLIGHT_SYMBOL_SASS_H
#define WARPLIGHT_SYMBOL_SASS_H

#include "base/str.h"
#include "model/run.h"

/* kernel: mangled, not ended; offset: bytes from its start; text: without the end, not ended. All of them are
 * as long as the line that they are in at most. */
typedef void sass_take(void *context, const char *kernel, size_t kernel_length, uint64_t offset,
                       const char *text, size_t length);
/* Calls take for each instruction; what is none is passed over. */
void sass_read(const char *output, size_t length, sass_take *take, void *context);

/* The functions of an image (run->images) with samples that lack their instruction, by the indices of their
 * symbols, as in "12,57"; nothing where there are none. */
void places_want_sass(const struct run *run, uint32_t image, struct str *symbols);
/* Gives it to those that the output has. */
void places_take_sass(struct run *run, uint32_t image, const char *output, size_t length);

#endif
