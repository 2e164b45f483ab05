/* Places of a run for rows of a line table: the line, its function, and the calls that it was inlined into.
 */
#ifndef WARPLIGHT_SYMBOL_LINE_PLACES_H
#define WARPLIGHT_SYMBOL_LINE_PLACES_H

#include "symbol/code.h"
#include "symbol/lines.h"

struct line_places {
    struct code_reader *reader; /* whose run gets the places */
    const struct line_table *lines;
    uint32_t *files;    /* by file of the table: text; NONE not yet asked */
    struct map callers; /* hash of (kernel, call that it was inlined into, line) → run->places */
};

/* The kernel whose instructions are looked up. */
struct line_owner {
    uint32_t code; /* run->codes; NONE */
    uint32_t name; /* text, demangled */
};

/* lines must stay as it is. */
void line_places_init(struct line_places *p, struct code_reader *reader, const struct line_table *lines);
void line_places_release(struct line_places *p);
/* Fills line, file, function and calls of run->places[place] from a row of the table; NONE: only the
 * function, which is then the kernel. May add places for the calls, one for all instructions. */
void line_places_fill(struct line_places *p, const struct line_owner *owner, uint32_t row, uint32_t place);

#endif
