/* The live half of doctor: this machine, and a program on it. */
#ifndef WARPLIGHT_CMD_DOCTOR_LIVE_H
#define WARPLIGHT_CMD_DOCTOR_LIVE_H

#include <stdint.h>

#include "model/diagnosis.h"
#include "model/logbook.h"

/* Adds the checks of this machine and, where asked, of a program: pid of a running one, or 0; argv[0] of one
 * that would be started, or NULL. What the kernel log shows goes into book. Opens no device and wakes no GPU.
 */
void doctor_live(struct diagnosis *d, struct logbook *book, int64_t pid, const char *program);

#endif
