/* Where the machine code of a kernel touches local memory, and which of it are spills. */
#ifndef WARPLIGHT_SYMBOL_LOCAL_H
#define WARPLIGHT_SYMBOL_LOCAL_H

#include "symbol/code.h"
#include "symbol/line_places.h"

struct local_scan {
    struct code_reader *reader;
    const struct elf *elf;
    bool has_lines;
    bool lines_read;
    struct line_table lines;
    struct line_places places;
};

/* elf must stay open. */
void local_open(struct local_scan *scan, struct code_reader *reader, const struct elf *elf);
void local_close(struct local_scan *scan);
/* Fills the spill and local fields of code, the last of run->codes, and adds its places. section holds its
 * code; annotations are its records of type and pc; is_annotated: without any there are no spills. */
void local_read(struct local_scan *scan, struct kernel_code *code, uint32_t section, struct bytes annotations,
                bool is_annotated);

#endif
