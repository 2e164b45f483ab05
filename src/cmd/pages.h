/* The manual pages of the findings, doc/findings/ID.md and ID.zh_CN.md, compiled in by tools/embed.py. */
#ifndef WARPLIGHT_CMD_PAGES_H
#define WARPLIGHT_CMD_PAGES_H

struct page {
    const char *id; /* NULL ends the table; sorted */
    const char *english;
    const char *chinese; /* NULL: not translated yet */
};

extern const struct page pages[];

#endif
