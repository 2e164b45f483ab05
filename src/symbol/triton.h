/* What Triton writes beside a kernel in its cache: NAME.json says how the kernel will be launched. */
#ifndef WARPLIGHT_SYMBOL_TRITON_H
#define WARPLIGHT_SYMBOL_TRITON_H

#include "model/run.h"

/* Completes run->codes from row `first` on, read from path, with the file beside it, if there is one: the
 * block size (warps × 32) and the shared memory that the launcher asks for. */
void triton_read(struct run *run, const char *path, size_t first);

#endif
