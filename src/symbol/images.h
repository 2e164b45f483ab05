/* Which architectures a file holds GPU code for: the headers of its fatbins alone, so that a library of a
 * gigabyte takes milliseconds. */
#ifndef WARPLIGHT_SYMBOL_IMAGES_H
#define WARPLIGHT_SYMBOL_IMAGES_H

#include <stddef.h>

#include "model/profile.h"

/* Fills at most `most` codes, one of each architecture and kind, of which only sm, is_ptx, is_specific and
 * is_family are set. Returns how many; 0 also for files that cannot be read and for others than ELF. */
size_t images_read(const char *path, struct kernel_code *codes, size_t most);

#endif
