/* The kernel's log as it stands (Linux Documentation/ABI/testing/dev-kmsg). */
#ifndef WARPLIGHT_SOURCE_KMSG_H
#define WARPLIGHT_SOURCE_KMSG_H

#include "base/str.h"
#include "model/reading.h"

/* Appends the records of path (/dev/kmsg, or a copy of it), one a line, the newest KMSG_BYTES of them. Never
 * waits for new ones. Returns 0 or errno: mostly EPERM or EACCES, where only administrators may read it. */
enum { KMSG_BYTES = 8 << 20 };
int kmsg_read(struct str *out, const char *path);

/* The log from now on. */
struct kmsg_follow {
    int fd;                   /* -1: it cannot be read */
    enum reading_state state; /* KNOWN, or why not */
    struct str rest;          /* the beginning of a line that has not ended */
};

/* A record: "PRIORITY,NUMBER,TIME,FLAGS;text", without its newline. */
typedef void kmsg_line(void *context, int64_t time_ns, const char *text, size_t length);

/* Only the kernel's own device or a file is opened: what a container has in its place may be a console. */
void kmsg_follow_open(struct kmsg_follow *f, const char *path);
/* Calls take() with each record that is new, at most KMSG_LINES of them; time_ns is the record's, on the
 * clock of the log (about CLOCK_MONOTONIC). Never waits. */
enum { KMSG_LINES = 4096 };
void kmsg_follow_read(struct kmsg_follow *f, kmsg_line *take, void *context);
void kmsg_follow_close(struct kmsg_follow *f);

#endif
