/* Sections and symbols of 64-bit little-endian ELF files: programs, libraries, objects, cubins. Nothing is
 * copied but the table of sections; names and data point into the file.
 *
 * Source: System V ABI, chapters 4 and 5 (gABI 4.1). */
#ifndef WARPLIGHT_SYMBOL_ELF_H
#define WARPLIGHT_SYMBOL_ELF_H

#include "symbol/bytes.h"

enum {
    ELF_RELOCATABLE = 1, /* elf.type */
    ELF_MACHINE_CUDA = 190,
    ELF_PROGBITS = 1, /* elf_section.type */
    ELF_SYMTAB = 2,
    ELF_RELA = 4,
    ELF_NOBITS = 8,
    ELF_REL = 9,
    ELF_ALLOC = 2, /* elf_section.flags */
    ELF_EXECUTABLE = 4,
    ELF_FUNCTION = 2, /* elf_symbol.type */
};

struct elf_section {
    const char *name; /* never NULL */
    uint32_t type, link, info;
    uint64_t flags, size;
    struct bytes data; /* empty for ELF_NOBITS, and where it does not lie inside the file */
};

struct elf_symbol {
    const char *name;
    uint8_t type, other;
    uint32_t section; /* 0: none */
    uint64_t value, size;
};

struct elf {
    struct bytes file;
    uint8_t os_abi, abi_version;
    uint16_t type, machine;
    uint32_t flags;
    struct elf_section *sections;
    uint32_t section_count;
    uint32_t symbol_count; /* of the first symbol table */
    struct bytes symbols, symbol_names, symbol_sections;
};

bool elf_is(struct bytes file);
/* False, with an English msgid in *why, if the file cannot be read at all. Call elf_close() in either case.
 */
bool elf_open(struct elf *elf, struct bytes file, const char **why);
void elf_close(struct elf *elf);
/* The first section of that name, or NULL. */
const struct elf_section *elf_find(const struct elf *elf, const char *name);
/* index below symbol_count */
struct elf_symbol elf_symbol(const struct elf *elf, uint32_t index);

#endif
