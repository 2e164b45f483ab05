/* What `warplight explain` knows of errors: Xids, CUDA's errors, and texts that people paste (know/know.h).
 */
#ifndef WARPLIGHT_CMD_EXPLAIN_KNOW_H
#define WARPLIGHT_CMD_EXPLAIN_KNOW_H

#include <stdbool.h>

#include "view/screen.h"

/* Prints every entry that asked may mean: "xid 79", "79", "sxid 12028", "error 43", "cudaErrorAssert",
 * "no kernel image", a whole message, the id of a check of doctor, "cuda 12.8", "sm_90", "sw_power_cap".
 * Returns false if there is none. */
bool know_explain(struct screen *s, const char *asked);

#endif
