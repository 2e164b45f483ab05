/* What the commands about code in binaries share. */
#ifndef WARPLIGHT_CMD_CODES_H
#define WARPLIGHT_CMD_CODES_H

#include "cmd/command.h"
#include "model/run.h"

/* Reads "9.0", "sm_90" and "sm_90a" as 90. text NULL: *cc becomes 0. Returns 0, or fills err. */
int capability_parse(const char *option, const char *text, int32_t *cc, struct err *err);
/* Reads the files and folders into a run that run_init() made. Fails if there is no kernel in any of them. */
int codes_read(struct run *run, char *const *paths, int count, struct err *err);
/* Fills err: no kernel is called like pattern. */
int codes_none(const char *pattern, struct err *err);

#endif
