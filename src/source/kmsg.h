/* The kernel's log as it stands (Linux Documentation/ABI/testing/dev-kmsg). */
#ifndef WARPLIGHT_SOURCE_KMSG_H
#define WARPLIGHT_SOURCE_KMSG_H

#include "base/str.h"

/* Appends the records of path (/dev/kmsg, or a copy of it), one a line, the newest KMSG_BYTES of them. Never
 * waits for new ones. Returns 0 or errno: mostly EPERM or EACCES, where only administrators may read it. */
enum { KMSG_BYTES = 8 << 20 };
int kmsg_read(struct str *out, const char *path);

#endif
