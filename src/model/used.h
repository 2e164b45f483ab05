/* Which strings of a run some row refers to. */
#ifndef WARPLIGHT_MODEL_USED_H
#define WARPLIGHT_MODEL_USED_H

#include "model/run.h"

/* By string id; run->strings.count entries, free() them. The run may be sealed or not. */
bool *used_strings(const struct run *run);

#endif
