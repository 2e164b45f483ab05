/* Line tables of cubins: from an instruction to the source line, and to the calls that it was inlined from.
 *
 * DWARF 2 line programs with one opcode of NVIDIA's own; doc/formats/cubin.md describes it. Texts point into
 * the ELF file. */
#ifndef WARPLIGHT_SYMBOL_LINES_H
#define WARPLIGHT_SYMBOL_LINES_H

#include "base/vec.h"
#include "symbol/elf.h"

struct line_file {
    const char *folder, *name; /* folder "" where the name is whole */
};

struct line_row {
    uint64_t pc;       /* bytes from the start of the section; up to the next row's */
    uint32_t file;     /* table->files; NONE */
    uint32_t line;     /* 0: the code has no line */
    uint32_t caller;   /* table->rows: the line that this was inlined into; NONE */
    uint32_t function; /* offset in .debug_str of the function that was inlined; NONE */
};

struct line_sequence { /* consecutive rows of one section, ascending pc */
    uint32_t section;  /* of the ELF file */
    uint32_t first, count;
    uint64_t end; /* pc behind the last row's code */
};

struct line_table {
    VEC(struct line_row) rows;
    VEC(struct line_sequence) sequences; /* by section */
    VEC(struct line_file) files;
    struct bytes names; /* .debug_str */
};

/* True if there are lines. Else *why is an English msgid if there is a table that could not be used, or NULL
 * if there is none. What was read before a damaged place stays. Call lines_close() in either case; elf must
 * stay open. */
bool lines_open(struct line_table *table, const struct elf *elf, const char **why);
void lines_close(struct line_table *table);
/* The row of the innermost line of an instruction, or NONE. */
uint32_t lines_find(const struct line_table *table, uint32_t section, uint64_t pc);
/* Mangled; "" if it is the function that the section holds. */
const char *lines_function(const struct line_table *table, const struct line_row *row);

#endif
