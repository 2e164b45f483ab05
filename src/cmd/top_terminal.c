#include "cmd/top_terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/top_terminfo.h"

/* There is one terminal, and ncurses keeps it in variables of its own. */
static struct {
    SCREEN *screen;
    struct canvas shown;
    attr_t attributes[INK_COUNT];
    struct termios before;
    char restore[128]; /* what a crash writes */
    size_t restore_length;
    bool has_colors;
} terminal;

/* ---- crashes ---------------------------------------------------------------------------------------------
 */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction handlers_before[CRASHES];

/* Only what signal-safety(7) allows. */
static void restore_at_once(void)
{
    ssize_t written = write(STDOUT_FILENO, terminal.restore, terminal.restore_length);
    (void)written;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

/* Only what signal-safety(7) allows. A fault happens again when this returns, for whoever handled it before;
 * a signal that somebody sent is sent again. */
static void restore_after_crash(int number, siginfo_t *info, void *context)
{
    restore_at_once();
    (void)context;
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i] == number)
            sigaction(number, &handlers_before[i], NULL);
    if (info->si_code <= 0)
        raise(number);
}

static void add_restore(const char *capability)
{
    const char *text = tigetstr(capability);
    if (!text || text == (char *)-1)
        return;
    size_t length = strlen(text);
    if (terminal.restore_length + length > sizeof terminal.restore)
        return;
    memcpy(terminal.restore + terminal.restore_length, text, length);
    terminal.restore_length += length;
}

static void catch_crashes(void)
{
    static const char no_mouse[] = "\033[?1000l\033[?1006l";
    struct sigaction action = {.sa_sigaction = restore_after_crash, .sa_flags = SA_SIGINFO};
    terminal.restore_length = 0;
    memcpy(terminal.restore, no_mouse, sizeof no_mouse - 1);
    terminal.restore_length = sizeof no_mouse - 1;
    add_restore("sgr0");
    add_restore("cnorm");
    add_restore("rmkx");
    add_restore("rmcup");
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &action, &handlers_before[i]);
    mem_before_end(restore_at_once);
}

static void release_crashes(void)
{
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &handlers_before[i], NULL);
    mem_before_end(NULL);
}

/* ---- opening and closing ---------------------------------------------------------------------------------
 */

/* ncurses writes wide characters in the locale's charset, and asks the locale how wide they are. Only that
 * category is set: numbers stay as they are. */
static bool set_charset(bool utf8)
{
    static const char *const names[] = {"", "C.UTF-8", "en_US.UTF-8", "C.utf8"};
    for (size_t i = 0; utf8 && i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_CTYPE, names[i]) && strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
            return true;
    setlocale(LC_CTYPE, "C");
    return false;
}

/* Arrows as terminals send them that were not told otherwise, or do not listen. */
static void define_arrows(void)
{
    static const struct {
        const char *sequence;
        int code;
    } arrows[] = {{"\033[A", KEY_UP},    {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT},
                  {"\033[H", KEY_HOME},  {"\033[F", KEY_END},  {"\033OA", KEY_UP},    {"\033OB", KEY_DOWN},
                  {"\033OC", KEY_RIGHT}, {"\033OD", KEY_LEFT}, {"\033OH", KEY_HOME},  {"\033OF", KEY_END}};
    for (size_t i = 0; i < sizeof arrows / sizeof *arrows; i++)
        define_key(arrows[i].sequence, arrows[i].code);
}

static void set_modes(void)
{
    raw(); /* Ctrl-C and Ctrl-Z are keys: workers must not get what they would send */
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
}

int top_terminal_open(bool *utf8, struct err *err)
{
    const char *term = getenv("TERM");
    const char *hint = _("set TERM, or use 'warplight sample', which needs no terminal of any kind");
    enum { ESCAPE_MS = 25 };
    if (!term || !*term)
        return err_set(err, ERR_ENV, NULL, -1, hint, _("the kind of the terminal is not known"));
    enum top_terminfo known = top_terminfo_look(term);
    if (known == TOP_TERMINFO_TOO_LITTLE)
        return err_set(err, ERR_ENV, NULL, -1, hint, _("the terminal '%s' cannot show a whole screen"), term);
    *utf8 = set_charset(*utf8);
    tcgetattr(STDIN_FILENO, &terminal.before);
    terminal.screen = known == TOP_TERMINFO_GOOD ? newterm(NULL, stdout, stdin) : NULL;
    if (!terminal.screen)
        return err_set(err, ERR_ENV, NULL, -1, hint, _("there is no description of the terminal '%s'"), term);
    set_escdelay(ESCAPE_MS);
    set_modes();
    define_arrows();
    terminal.has_colors = has_colors() && start_color() == OK && use_default_colors() == OK;
    mouseinterval(0);
    catch_crashes();
    return 0;
}

void top_terminal_close(void)
{
    if (!terminal.screen)
        return;
    release_crashes();
    mousemask(0, NULL);
    endwin();
    delscreen(terminal.screen);
    terminal.screen = NULL;
    canvas_release(&terminal.shown);
}

void top_terminal_suspend(void)
{
    endwin();
}

void top_terminal_resume(void)
{
    int rows, columns;
    top_terminal_size(&rows, &columns);
    refresh();
    set_modes();
    top_terminal_forget();
}

/* ---- looks -----------------------------------------------------------------------------------------------
 */

struct look {
    short few, many; /* colours of terminals with 8 and with 256; -1: the terminal's own */
    attr_t attributes;
};

/* Of 256: the palette of Okabe and Ito, which people with any kind of colour vision tell apart. */
static const struct look looks[TOP_COLOR_SETS][INK_COUNT] = {
    [TOP_COLORS_DEFAULT] = {[INK_PLAIN] = {-1, -1, 0},
                            [INK_BOLD] = {-1, -1, A_BOLD},
                            [INK_DIM] = {-1, -1, A_DIM},
                            [INK_TITLE] = {COLOR_CYAN, 80, A_BOLD},
                            [INK_GOOD] = {COLOR_GREEN, 77, 0},
                            [INK_NOTICE] = {COLOR_YELLOW, 220, 0},
                            [INK_BAD] = {COLOR_RED, 203, A_BOLD},
                            [INK_BAR] = {COLOR_GREEN, 77, 0},
                            [INK_CHART] = {COLOR_GREEN, 77, 0},
                            [INK_LINE] = {COLOR_YELLOW, 220, 0},
                            [INK_HEAD] = {-1, -1, A_BOLD},
                            [INK_MATCH] = {COLOR_YELLOW, 220, A_BOLD}},
    [TOP_COLORS_SAFE] = {[INK_PLAIN] = {-1, -1, 0},
                         [INK_BOLD] = {-1, -1, A_BOLD},
                         [INK_DIM] = {-1, -1, A_DIM},
                         [INK_TITLE] = {COLOR_CYAN, 74, A_BOLD},
                         [INK_GOOD] = {COLOR_CYAN, 74, 0},
                         [INK_NOTICE] = {COLOR_YELLOW, 178, A_BOLD},
                         [INK_BAD] = {COLOR_MAGENTA, 166, A_BOLD | A_UNDERLINE},
                         [INK_BAR] = {COLOR_CYAN, 74, 0},
                         [INK_CHART] = {COLOR_CYAN, 74, 0},
                         [INK_LINE] = {COLOR_YELLOW, 178, 0},
                         [INK_HEAD] = {-1, -1, A_BOLD},
                         [INK_MATCH] = {COLOR_YELLOW, 178, A_BOLD | A_UNDERLINE}},
    [TOP_COLORS_NONE] = {[INK_PLAIN] = {-1, -1, 0},
                         [INK_BOLD] = {-1, -1, A_BOLD},
                         [INK_DIM] = {-1, -1, A_DIM},
                         [INK_TITLE] = {-1, -1, A_BOLD},
                         [INK_GOOD] = {-1, -1, 0},
                         [INK_NOTICE] = {-1, -1, A_BOLD},
                         [INK_BAD] = {-1, -1, A_BOLD | A_UNDERLINE},
                         [INK_BAR] = {-1, -1, 0},
                         [INK_CHART] = {-1, -1, 0},
                         [INK_LINE] = {-1, -1, A_DIM},
                         [INK_HEAD] = {-1, -1, A_BOLD},
                         [INK_MATCH] = {-1, -1, A_BOLD | A_UNDERLINE}},
};

void top_terminal_choose(int colors, bool mouse)
{
    enum { MANY = 256 };
    for (int ink = 0; ink < INK_COUNT; ink++) {
        const struct look *look = &looks[colors][ink];
        terminal.attributes[ink] = look->attributes;
        short color = COLORS >= MANY ? look->many : look->few;
        if (terminal.has_colors && color >= 0 && init_pair((short)(ink + 1), color, -1) == OK)
            terminal.attributes[ink] |= (attr_t)COLOR_PAIR(ink + 1);
    }
    mousemask(mouse ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    top_terminal_forget();
}

void top_terminal_size(int *rows, int *columns)
{
    struct winsize size;
    enum { MOST = 1000 };
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        int new_rows = size.ws_row < MOST ? size.ws_row : MOST,
            new_columns = size.ws_col < MOST ? size.ws_col : MOST;
        if (new_rows != LINES || new_columns != COLS)
            resizeterm(new_rows, new_columns);
    }
    *rows = LINES > 0 ? LINES : 1;
    *columns = COLS > 0 ? COLS : 1;
}

/* ---- showing ---------------------------------------------------------------------------------------------
 */

void top_terminal_forget(void)
{
    canvas_release(&terminal.shown);
    if (stdscr)
        clearok(stdscr, TRUE);
}

static void put_cell(int row, int column, const struct canvas_cell *cell)
{
    wchar_t text[CCHARW_MAX + 1] = {L' '};
    size_t length = strlen(cell->text);
    int count = 0;
    for (size_t at = 0; at < length && count < CCHARW_MAX - 1;) {
        size_t used;
        text[count++] = (wchar_t)utf8_decode(cell->text + at, length - at, &used);
        at += used;
    }
    /* Where the C library knows another width than we do, what follows would be out of place. */
    if (count && wcwidth(text[0]) != cell->columns)
        text[0] = L'?', text[1] = L'\0';
    cchar_t character;
    attr_t attributes = terminal.attributes[cell->ink] | (cell->reversed ? A_REVERSE : 0);
    setcchar(&character, text, attributes & ~(attr_t)A_COLOR, (short)PAIR_NUMBER(attributes), NULL);
    mvadd_wch(row, column, &character);
}

/* The right lower corner is left alone: writing there scrolls some terminals. ncurses knows which, and does
 * it where it can. */
void top_terminal_show(const struct canvas *c)
{
    struct canvas *shown = &terminal.shown;
    bool anew = !shown->cells || shown->rows != c->rows || shown->columns != c->columns;
    if (anew) {
        canvas_clear(shown, c->rows, c->columns);
        erase();
    }
    for (int row = 0; row < c->rows; row++)
        for (int column = 0; column < c->columns; column++) {
            const struct canvas_cell *cell = canvas_at(c, row, column);
            bool same = !anew && memcmp(cell, canvas_at(shown, row, column), sizeof *cell) == 0;
            /* A cell that a wide character covered is written anew when that one goes. */
            if (!same && cell->columns)
                put_cell(row, column, cell);
        }
    memcpy(shown->cells, c->cells, (size_t)c->rows * (size_t)c->columns * sizeof *c->cells);
    refresh();
}

/* ---- keys ------------------------------------------------------------------------------------------------
 */

static struct top_key mouse_key(void)
{
    MEVENT event;
    struct top_key key = {0};
    if (getmouse(&event) != OK)
        return key;
    key.row = event.y;
    key.column = event.x;
    if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
        key.code = TOP_KEY_CLICK;
    else if (event.bstate & BUTTON4_PRESSED)
        key.code = TOP_KEY_WHEEL_UP;
    else if (event.bstate & BUTTON5_PRESSED)
        key.code = TOP_KEY_WHEEL_DOWN;
    return key;
}

static struct top_key special_key(wint_t code)
{
    static const struct {
        wint_t curses;
        int code;
    } keys[] = {
        {KEY_UP, TOP_KEY_UP},       {KEY_DOWN, TOP_KEY_DOWN},     {KEY_LEFT, TOP_KEY_LEFT},
        {KEY_RIGHT, TOP_KEY_RIGHT}, {KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
        {KEY_HOME, TOP_KEY_HOME},   {KEY_END, TOP_KEY_END},       {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
        {KEY_ENTER, TOP_KEY_ENTER},
    };
    enum { FUNCTION_KEYS = 12 };
    if (code == KEY_MOUSE)
        return mouse_key();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].curses == code)
            return (struct top_key){.code = keys[i].code};
    if (code >= KEY_F0 && code <= KEY_F0 + FUNCTION_KEYS)
        return (struct top_key){.code = TOP_KEY_F0 + (int)(code - KEY_F0)};
    return (struct top_key){0};
}

struct top_key top_terminal_key(void)
{
    enum { DELETE = 127 };
    for (;;) {
        wint_t code;
        int kind = get_wch(&code);
        if (kind == ERR)
            return (struct top_key){0};
        struct top_key key = {.code = (int)code};
        if (kind == KEY_CODE_YES)
            key = special_key(code);
        else if (code == '\r')
            key.code = TOP_KEY_ENTER;
        else if (code == DELETE || code == '\b')
            key.code = TOP_KEY_BACKSPACE;
        if (key.code != TOP_KEY_NONE) /* else one that means nothing here: the next one */
            return key;
    }
}
