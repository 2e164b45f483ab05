/* What terminfo knows of a kind of terminal. Apart from top_terminal.c because <term.h> takes words like
 * `lines` and `columns` for itself. */
#ifndef WARPLIGHT_CMD_TOP_TERMINFO_H
#define WARPLIGHT_CMD_TOP_TERMINFO_H

enum top_terminfo {
    TOP_TERMINFO_GOOD,
    TOP_TERMINFO_ABSENT,    /* there is no description */
    TOP_TERMINFO_TOO_LITTLE /* the cursor cannot be moved */
};

enum top_terminfo top_terminfo_look(const char *term);

#endif
