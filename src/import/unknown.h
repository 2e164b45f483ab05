/* What a file that no importer claims looks like, so that the error can say what to do with it. */
#ifndef WARPLIGHT_IMPORT_UNKNOWN_H
#define WARPLIGHT_IMPORT_UNKNOWN_H

#include <stddef.h>

struct unknown_look {
    const char *what; /* translated: "a PNG image" */
    const char *hint; /* translated, or NULL */
};

/* head: the first bytes after decompression, length > 0. path: for names that tell more than the content. */
struct unknown_look unknown_look(const char *path, const char *head, size_t length);

#endif
