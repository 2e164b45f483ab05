/* Symbols of a program or library as it lies in another process's memory, found through its own dynamic
 * symbol table (System V ABI, chapter 5) and GNU hash table: no file is opened, so that it works across
 * containers and after an upgrade of the file. */
#ifndef WARPLIGHT_SOURCE_REMOTE_SYMBOL_H
#define WARPLIGHT_SOURCE_REMOTE_SYMBOL_H

#include "source/remote_memory.h"

struct remote_image {
    uint64_t bias; /* added to the addresses in the file */
    uint64_t symbols, strings, hash;
};

/* Understands the ELF image (64 bits, of this machine's byte order) whose first page is mapped at start.
 * False if there is none, or it exports nothing. */
bool remote_image_open(struct remote_image *image, struct remote_memory *m, uint64_t start);
/* The address of a symbol that the image defines, or 0. */
uint64_t remote_image_symbol(const struct remote_image *image, struct remote_memory *m, const char *name);

#endif
