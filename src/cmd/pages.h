/* The manual pages of the findings, doc/findings/ID.md and ID.zh_CN.md, compiled in by tools/embed.py. */
#ifndef WARPLIGHT_CMD_PAGES_H
#define WARPLIGHT_CMD_PAGES_H

#include "base/str.h"

struct page {
    const char *id; /* NULL ends the table; sorted */
    const char *english;
    const char *chinese; /* NULL: not translated yet */
};

extern const struct page pages[];

/* The page of an id, in any case, with '-', '_' or blanks between its words. NULL: none. */
const struct page *page_find(const char *id);
/* The only page whose id ends with those words: "launch bound" is idle-launch-bound. NULL: none, or several.
 */
const struct page *page_find_ending(const char *words);

/* In the language of i18n: the whole page, and what stands after the id in its first heading, which is
 * "ID — what it is". */
const char *page_text(const struct page *page);
void page_title(struct str *out, const struct page *page);

#endif
