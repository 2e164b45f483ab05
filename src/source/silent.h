/* Processes that use CUDA and were to be recorded, but say nothing: they cannot write to the recording's
 * folder (a chroot, a container of their own, another user), or the driver did not load the library. They
 * cannot tell us; /proc can. */
#ifndef WARPLIGHT_SOURCE_SILENT_H
#define WARPLIGHT_SOURCE_SILENT_H

#include <stdbool.h>
#include <stdint.h>

struct silent {
    int64_t look_ns;  /* CLOCK_MONOTONIC: when to look next; 0: at once */
    int64_t pause_ns; /* between two looks; it doubles */
    int64_t suspect;  /* seen silent at the last look; 0. It may just be starting */
    bool has_library; /* the suspect had loaded our library */
};

/* Looks around if it is time. folder: the recording's, which is named in the environment of its processes and
 * is mapped by those that are recorded. Returns a pid that was silent at two looks in a row, else 0. */
int64_t silent_find(struct silent *s, const char *folder);

#endif
