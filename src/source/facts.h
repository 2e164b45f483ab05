/* What a recording is worthless without years later: machine, program, versions, settings. Never a secret:
 * only environment variables that steer CUDA, NCCL, ROCm and the frameworks are kept. */
#ifndef WARPLIGHT_SOURCE_FACTS_H
#define WARPLIGHT_SOURCE_FACTS_H

#include "model/run.h"

/* Adds host, kernel, CPU count, command line, working directory, git commit and dirtiness, time and the
 * steering environment variables as facts of the source. */
void facts_add(struct run *run, uint32_t source, char *const *argv);

#endif
