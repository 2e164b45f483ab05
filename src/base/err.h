/* Errors as values. A function that can fail returns 0, or fills a struct err and returns a negative code.
 * Only cmd/ prints one, as a single line: what, where (file and offset), why, and what to do. */
#ifndef WARPLIGHT_BASE_ERR_H
#define WARPLIGHT_BASE_ERR_H

#include <stdint.h>

/* Each code is minus the process exit code that it leads to. */
enum err_code {
    ERR_OK = 0,
    ERR_USAGE = -2,    /* the command line is wrong */
    ERR_INPUT = -3,    /* the input cannot be read or understood */
    ERR_ENV = -4,      /* permission, missing device, full disk */
    ERR_INTERNAL = -5, /* a bug in Warplight */
};

struct err {
    enum err_code code;
    int64_t offset;  /* byte offset in the decompressed input, or -1 */
    char where[512]; /* file or object */
    char what[1024]; /* what went wrong, already translated */
    char hint[512];  /* what to do about it, or empty */
};

/* Fills err (which may be NULL) and returns code, so that "return err_set(...)" works. hint may be NULL. */
int err_set(struct err *err, enum err_code code, const char *where, int64_t offset, const char *hint,
            const char *format, ...) __attribute__((format(printf, 6, 7)));

/* For a file that could not be opened to read it: why is the errno of open(2). */
int err_open(struct err *err, const char *path, int why);

#endif
