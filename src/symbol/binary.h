/* GPU code in files: programs, libraries, PyTorch extensions, objects, archives, fatbins, cubins, PTX, and
 * what Triton keeps in its cache. Fills run->codes, run->places and run->place_counters.
 *
 * Files are mapped, never read whole, and not trusted: what they say is checked before it is used, and what
 * could not be read is a repair of the source. Formats: doc/formats/cubin.md. */
#ifndef WARPLIGHT_SYMBOL_BINARY_H
#define WARPLIGHT_SYMBOL_BINARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/run.h"

/* Whether the first bytes of a file are of one of the formats above. A few hundred suffice, for PTX up to
 * 64 KiB of comments. */
bool binary_is(const void *data, size_t size);
/* Adds the file as a source with its kernels. A file without any is no error. Returns 0, or fills err if it
 * cannot be opened or is of another format. */
int binary_read(struct run *run, const char *path, struct err *err);
/* The same for a file in memory, without what lies beside it. */
int binary_read_memory(struct run *run, const char *path, const void *data, size_t size, struct err *err);
/* The same for the machine code that recordings brought along (run->images): its kernels belong to the
 * sources of the images. */
void binary_read_images(struct run *run);

#endif
