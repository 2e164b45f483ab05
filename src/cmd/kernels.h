/* What `warplight kernels` reads: code, and what was measured of it. */
#ifndef WARPLIGHT_CMD_KERNELS_H
#define WARPLIGHT_CMD_KERNELS_H

#include "cmd/command.h"
#include "model/run.h"

struct kernels_input {
    struct run run;    /* sealed */
    bool has_profiles; /* else it holds nothing but code */
};

/* Reads programs, libraries and folders of code as such, all else as recordings, into one run. Fails where
 * none of it holds code or counters of kernels. Returns 0, or fills err; release input->run in either case.
 */
int kernels_read(struct kernels_input *input, struct cli *cli, char *const *paths, int count,
                 const char *importer, struct err *err);

#endif
