/* Reading recordings from the command line. */
#ifndef WARPLIGHT_CMD_READ_RUN_H
#define WARPLIGHT_CMD_READ_RUN_H

#include "cmd/command.h"
#include "model/run.h"

/* Reads the files, which together are one run, and seals it. importer: name, or NULL to look. Shows progress
 * on standard error when that is a terminal and it takes over a second. Returns 0, or fills err; release run
 * in either case. */
int read_run(struct run *run, const struct cli *cli, char *const *paths, int count, const char *importer,
             struct err *err);

/* Fails if the run holds only what was measured inside of kernels, which no view of time can show. path: of
 * the first input. */
int check_timeline(const struct run *run, const char *path, struct err *err);

/* Fails if path is one of the inputs. */
int check_output(const char *path, char *const *inputs, int count, struct err *err);
/* Opens path for writing, or standard output for NULL and "-". Refuses to overwrite one of the inputs. */
int open_output(FILE **out, const char *path, char *const *inputs, int count, struct err *err);
/* Checks that all was written, and closes. */
int close_output(FILE *out, const char *path, struct err *err);

#endif
