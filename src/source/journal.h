/* The kernel's messages since it started, as systemd's journal keeps them: for users who may read the journal
 * but not /dev/kmsg. */
#ifndef WARPLIGHT_SOURCE_JOURNAL_H
#define WARPLIGHT_SOURCE_JOURNAL_H

#include <stdint.h>

#include "base/str.h"

/* Runs program (NULL: the journalctl of PATH) and appends what it prints: the newest 50,000 messages,
 * at most JOURNAL_BYTES. It is ended, with all that it started, when deadline_ns have passed. Returns 0,
 * ENODATA where it printed nothing (this user sees no messages of the kernel), ETIMEDOUT, or why it could not
 * be run; what came until then is in out. */
enum { JOURNAL_BYTES = 8 << 20 };
int journal_read(struct str *out, const char *program, int64_t deadline_ns);

#endif
