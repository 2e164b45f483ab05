/* Which architectures a program or library holds GPU code for, and no more: headers of its fatbins are read
 * one after another, so that who has seen enough can stop, and only small images are unpacked, to see whether
 * there is any code in them. A library of a gigabyte takes milliseconds. */
#ifndef WARPLIGHT_SYMBOL_IMAGES_H
#define WARPLIGHT_SYMBOL_IMAGES_H

#include <stddef.h>

#include "model/profile.h"
#include "symbol/fatbin.h"

enum { IMAGES_MAX = 64 };

struct images {
    int32_t later_sm; /* the oldest GPU for which there is code to be compiled as the program runs (LTO-IR);
                         0: none */
    bool is_cut;      /* a part of the code could not be seen: it is damaged, or a limit was reached */
    /* Its own: */
    void *map; /* NULL: the bytes are somebody else's */
    size_t size;
    struct elf elf;
    enum fatbin_place place; /* that is looked through */
    uint32_t section;        /* the next one */
    struct fatbin_walk walk;
    struct fatbin_buffer buffer;
    uint64_t unpacked;
    struct kernel_code found[IMAGES_MAX];
    size_t count;
};

/* False where the file cannot be read, is no ELF file, or has no section for GPU code. Call images_close() in
 * either case. */
bool images_open(struct images *images, const char *path);
/* The same for a file in memory, which must stay there. */
bool images_open_memory(struct images *images, const void *data, size_t size);
/* The next architecture and kind that was not there before, of which only sm, is_ptx, is_specific and
 * is_family are set. Images without code, as the linker leaves them, do not count. later_sm and is_cut hold
 * for the whole file when it returns false. */
bool images_next(struct images *images, struct kernel_code *code);
void images_close(struct images *images);

#endif
