/* Machine code that the program loads, kept in files beside the ring, so that the collector finds the source
 * lines of sampled instructions: PID-CRC.cubin, CRC being what samples name their code by. */
#ifndef WARPLIGHT_INJECT_CUBINS_H
#define WARPLIGHT_INJECT_CUBINS_H

#include "capture/profiler.h"
#include "inject/recorder.h"

/* Keeps a module's code, unless it is there or there is too much. Thread-safe. */
void cubins_keep(struct recorder *r, const struct callback_module *module);
/* In the child of a fork. */
void cubins_forget(void);

#endif
