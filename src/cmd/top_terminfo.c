#include "cmd/top_terminfo.h"

#include <unistd.h>

#include <curses.h>

#include <term.h>

enum top_terminfo top_terminfo_look(const char *term)
{
    int found;
    if (setupterm(term, STDOUT_FILENO, &found) != OK)
        return TOP_TERMINFO_ABSENT;
    const char *move = tigetstr("cup");
    del_curterm(cur_term);
    return move && move != (char *)-1 ? TOP_TERMINFO_GOOD : TOP_TERMINFO_TOO_LITTLE;
}
