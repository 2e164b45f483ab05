/* Starting the program that is recorded, and following it to its end. */
#ifndef WARPLIGHT_SOURCE_TARGET_H
#define WARPLIGHT_SOURCE_TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct target {
    pid_t pid;
    bool ended;
    int status; /* as waitpid() gives it */
};

/* Finds the injected library: WARPLIGHT_INJECT, else beside the program, in the build tree, or installed. */
int target_find_library(struct str *path, struct err *err);
/* Starts argv (NULL-terminated) with the library injected, folder as the place of its rings, options as the
 * words of RING_ENV_OPTIONS, and mask as the signals that it blocks. A program that cannot be started is an
 * error. While it runs, an interrupt from the terminal is the target's business. */
int target_start(struct target *t, char *const *argv, const char *library, const char *folder,
                 const char *options, const sigset_t *mask, struct err *err);
/* Looks whether it has ended. Never blocks. */
void target_poll(struct target *t);
/* Passes a signal on. */
void target_signal(const struct target *t, int signal);
/* Does the system run this program with more rights than ours, and so without the injected library? */
bool target_is_privileged(const char *program);
/* The exit code to end with: the target's own, or 128 + the signal that ended it. */
int target_exit_code(const struct target *t);

#endif
