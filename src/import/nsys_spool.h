/* SQLite needs a file that it can seek in. This makes one of any stream: the stream's own file where that is
 * what was opened, else an unlinked temporary copy in $TMPDIR. */
#ifndef WARPLIGHT_IMPORT_NSYS_SPOOL_H
#define WARPLIGHT_IMPORT_NSYS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/stream.h"

/* A zeroed struct is empty. */
struct nsys_spool {
    bool own_file; /* stream_path() itself can be opened */
    void *image;   /* else: the whole database, mapped privately */
    size_t size;
};

/* Reads the stream to its end unless own_file comes out true. ERR_INPUT for more than 64 GiB or an empty
 * stream, ERR_ENV where the temporary directory has no room. */
int nsys_spool_open(struct nsys_spool *spool, struct stream *in, struct err *err);
void nsys_spool_close(struct nsys_spool *spool);

#endif
