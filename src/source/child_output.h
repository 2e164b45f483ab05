/* What another program prints: one that helps where it is there, and must not hold anybody up. */
#ifndef WARPLIGHT_SOURCE_CHILD_OUTPUT_H
#define WARPLIGHT_SOURCE_CHILD_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Runs program (looked for in PATH unless it has a slash) with arguments, the first of which is its name, and
 * appends what it prints, at most most_bytes. It reads nothing of ours, and what it complains of is lost. It
 * is ended, with all that it started, when it has printed so much or deadline_ns have passed. Returns 0,
 * ENODATA where it printed nothing, ETIMEDOUT, or why it could not be run (ENOENT: it is not there); what
 * came until then is in out. */
int child_output(struct str *out, const char *program, const char *const arguments[], size_t most_bytes,
                 int64_t deadline_ns);

#endif
