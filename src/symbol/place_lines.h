/* Source lines of what was measured by instruction. */
#ifndef WARPLIGHT_SYMBOL_PLACE_LINES_H
#define WARPLIGHT_SYMBOL_PLACE_LINES_H

#include "model/run.h"

/* Gives the places of run->place_counters that know their instruction and no line the line that the machine
 * code beside them (run->images, by the profile's mangled name) has in its line table: the innermost one, as
 * the hardware ran it, with its function and the calls that it was inlined into. Code without lines
 * (-lineinfo was not given) or that cannot be read leaves them as they are. */
void places_find_lines(struct run *run);

#endif
