/* The terminal of `top`: shows a canvas and reads keys. The one user of ncursesw. */
#ifndef WARPLIGHT_CMD_TOP_TERMINAL_H
#define WARPLIGHT_CMD_TOP_TERMINAL_H

#include <stdbool.h>

#include "base/err.h"
#include "view/canvas.h"
#include "view/top.h"

/* Keys are code points, or one of these. */
enum {
    TOP_KEY_NONE,
    TOP_KEY_TAB = '\t',
    TOP_KEY_ENTER = '\n',
    TOP_KEY_ESCAPE = 27,
    TOP_KEY_SPECIAL = 0x110000,
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_BACKSPACE,
    TOP_KEY_CLICK, /* the first button; with its place, as the two below */
    TOP_KEY_WHEEL_UP,
    TOP_KEY_WHEEL_DOWN,
    TOP_KEY_F0, /* F1 is one more */
};
#define TOP_KEY_CONTROL(letter) ((letter)&0x1f)

struct top_key {
    int code;
    int row, column; /* of the mouse */
};

/* Takes the terminal over. *utf8 asks for UTF-8, and says whether it can be shown. Fails with ERR_ENV where
 * the terminal is not known or cannot move its cursor. From then on the terminal is restored whenever the
 * process runs out of memory or crashes. */
int top_terminal_open(bool *utf8, struct err *err);
/* Restores it. */
void top_terminal_close(void);
/* Leaves it to the shell, and takes it over again. */
void top_terminal_suspend(void);
void top_terminal_resume(void);

/* colors: enum top_colors. */
void top_terminal_choose(int colors, bool mouse);
/* Its size now; at least 1 × 1. */
void top_terminal_size(int *rows, int *columns);
void top_terminal_show(const struct canvas *c);
/* Makes the next showing draw everything: others may have written to the terminal. */
void top_terminal_forget(void);
/* The next key that was pressed, or TOP_KEY_NONE. Never waits. */
struct top_key top_terminal_key(void);

#endif
