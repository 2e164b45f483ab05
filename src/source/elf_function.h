/* The function at an address of a program or library, from its file: the symbol table, else the separate one
 * of the same build, else the exported symbols; what has no name is at least bounded by the table for
 * unwinding, so that two places of one function are one.
 *
 * The file is whatever a recorded process has mapped: nothing in it is trusted. It is read in pieces, never
 * mapped, so that a file that shrinks is an error and no signal; tables have limits, and names are cut.
 *
 * Sources: System V ABI, chapters 4 and 5; LSB 5.0, "Exception Frames" (.eh_frame_hdr). */
#ifndef WARPLIGHT_SOURCE_ELF_FUNCTION_H
#define WARPLIGHT_SOURCE_ELF_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

enum { ELF_NAME_BYTES = 1024, ELF_SEGMENTS = 64, ELF_BUILD_ID_BYTES = 64 };

struct elf_function {
    uint64_t start, end;       /* addresses as in the file; what lies between is alike */
    char name[ELF_NAME_BYTES]; /* terminated; empty: not known */
    bool bounded;              /* start is where a function begins */
};

struct elf_table {
    uint64_t symbols, count, names, names_bytes; /* offsets in the file */
};

struct elf_file {
    int fd; /* the caller's */
    struct {
        uint64_t offset, bytes, address;
    } segments[ELF_SEGMENTS]; /* that are loaded */
    unsigned segment_count;
    struct elf_table all, exported;
    uint64_t unwind, unwind_address, unwind_bytes; /* .eh_frame_hdr: offset, address, length */
    unsigned char build_id[ELF_BUILD_ID_BYTES];
    unsigned build_id_bytes;
};

/* False if the file cannot be read as a 64-bit ELF file of this machine's byte order. */
bool elf_file_open(struct elf_file *file, int fd);
/* The address at which that offset of the file is loaded, before relocation. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address);
/* What is at the address. *out is always filled in; nameless and unbounded it is the address alone. */
void elf_file_function(const struct elf_file *file, uint64_t address, struct elf_function *out);

#endif
