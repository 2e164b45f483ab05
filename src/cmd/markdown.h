/* Manual pages, which are Markdown, in the terminal. */
#ifndef WARPLIGHT_CMD_MARKDOWN_H
#define WARPLIGHT_CMD_MARKDOWN_H

#include "base/str.h"
#include "view/screen.h"

/* Prints the page: paragraphs wrapped, code and tables as they stand. */
void markdown_print(struct screen *s, const char *text);

/* Appends one line of running text without its marks of emphasis and code. */
void markdown_strip(struct str *out, const char *line, size_t length);

#endif
