/* The lines of a kernel in our own JSON (warplight.kernels/1). */
#ifndef WARPLIGHT_IMPORT_KERNELS_JSON_LINES_H
#define WARPLIGHT_IMPORT_KERNELS_JSON_LINES_H

#include "base/json.h"
#include "import/profiles.h"

/* Reads the value of "lines": places of the profile, with the calls around them, and their counters by the
 * names of the report ("samples"); a reason to wait becomes "stall_REASON". What is none is passed over. */
void kernels_json_lines(struct json_reader *r, struct profiles *p, uint32_t profile);

#endif
