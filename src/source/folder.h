/* The private folder of a running recording: the rings of its processes and the socket that controls it. Only
 * its owner can enter it; it is locked for as long as the recording lasts, so that what a killed one left
 * behind is known by its missing lock. */
#ifndef WARPLIGHT_SOURCE_FOLDER_H
#define WARPLIGHT_SOURCE_FOLDER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

#define FOLDER_SOCKET "control"

struct folder {
    struct str path;
    int fd; /* -1: there is none */
};

/* Makes it in memory where it can be: /dev/shm, else TMPDIR, else /tmp. Removes those of recordings that were
 * killed.
 */
int folder_make(struct folder *folder, struct err *err);
/* Empties and removes it. */
void folder_remove(struct folder *folder);

/* Names of files in it: PID-MOMENT.ring, PID-MOMENT.failed, PID-CRC.cubin. */
bool folder_is_ring(const char *name);
bool folder_is_failure(const char *name);
bool folder_is_cubin(const char *name);

/* Calls visit() for the folder of each recording that seems to run: its path, the pid in its name, and
 * whether it is this user's, so that it may be entered. */
void folder_each(void (*visit)(void *context, const char *path, int64_t pid, bool ours), void *context);

#endif
