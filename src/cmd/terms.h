/* What `warplight explain` knows of metrics, reasons to wait and terms: data/know/terms.tsv, compiled in by
 * tools/embed.py. */
#ifndef WARPLIGHT_CMD_TERMS_H
#define WARPLIGHT_CMD_TERMS_H

#include "base/str.h"
#include "cmd/suggest.h"
#include "view/screen.h"

struct term {
    const char *kind;  /* "metric", "stall", "term"; NULL ends the table */
    const char *terms; /* separated by blanks; the first is its name */
    const char *also;  /* other names, the same way */
    const char *formula, *english, *english_action;
    const char *chinese_formula, *chinese, *chinese_action;
};

extern const struct term terms[];

/* The entry of a name: of the table, of a counter of any tool ("sm__throughput.avg…", "gld_efficiency"),
 * upper or lower case, with blanks, '-' or '_'. NULL: none. */
const struct term *term_find(const char *name);
/* Prints it in the language of i18n. name: as asked for. */
void term_print(struct screen *s, const struct term *term, const char *name);
/* One line: name and beginning of the meaning, from column on. */
void term_list_line(struct screen *s, const struct term *term, int column);
void term_suggest(struct suggestion *best, const char *typed);

#endif
