/* Small files of a machine, below a folder that may stand for its /. Nothing that they say is trusted: they
 * are cut to a limit, and control characters become visible. */
#ifndef WARPLIGHT_SOURCE_SETUP_FILES_H
#define WARPLIGHT_SOURCE_SETUP_FILES_H

#include <dirent.h>

#include "base/str.h"
#include "model/setup.h"

enum { SETUP_PATH_BYTES = 4096, SETUP_TEXT_BYTES = 8 << 20, SETUP_LINE_BYTES = 1024 };

/* root + path. False where it does not fit. */
bool setup_path(const struct setup *s, char out[SETUP_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Replaces text by the file, at most SETUP_TEXT_BYTES of it, as it is. Returns 0 or errno. */
int setup_read_file(const struct setup *s, struct str *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The first line of a file, made visible, without spaces around it; "" where it cannot be read. */
const char *setup_read_line(struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same as a number, with base 0 as strtoll() has it; otherwise where it is none. */
int64_t setup_read_number(struct setup *s, int64_t otherwise, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool setup_exists(const struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
DIR *setup_folder(const struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The last part of what a link leads to; "" where it is none. */
const char *setup_link_name(struct setup *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* length bytes as a text of the machine, made visible and cut to SETUP_LINE_BYTES. */
const char *setup_visible(struct setup *s, const char *text, size_t length);
/* The rest of the line of text that begins with key, after any of ":= \t"; "" where there is none. */
const char *setup_value(struct setup *s, const struct str *text, const char *key);

#endif
