/* What `warplight explain` offers when nothing has the name that was asked for. */
#ifndef WARPLIGHT_CMD_EXPLAIN_SEARCH_H
#define WARPLIGHT_CMD_EXPLAIN_SEARCH_H

#include <stdbool.h>

#include "view/screen.h"

/* Lists the findings, terms and errors whose name or text, in either language, has every word of asked: those
 * that have them in their name come first. Prints nothing and returns false if there is none. */
bool explain_search(struct screen *s, const char *asked, int column);

#endif
